from .aim import AIM
from .independent import Independent
from .mst import MST
from .related import RelatedSynthetic, RelatedTables
from .saving import load
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "MST",
    "Independent",
    "RelatedSynthetic",
    "RelatedTables",
    "Synthesizer",
    "Synthetic",
    "load",
]
