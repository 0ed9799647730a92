from .aim import AIM
from .independent import Independent
from .mst import MST
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "MST",
    "Independent",
    "Synthesizer",
    "Synthetic",
]
