from .aim import AIM
from .independent import Independent
from .mst import MST
from .public import PMWPub
from .rap import RAP
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "MST",
    "RAP",
    "Independent",
    "PMWPub",
    "Synthesizer",
    "Synthetic",
]
