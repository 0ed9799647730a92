from .choosing import Candidate, candidates, frequencies, why
from .frequency import Frequencies, FrequencyProtocol
from .protocol import LocalProtocol, Tally
from .reports import Layout, Rejected, Reports
from .response import Response
from .unary import UnaryEncoding
from .values import Values

__all__ = [
    "Candidate",
    "Frequencies",
    "FrequencyProtocol",
    "Layout",
    "LocalProtocol",
    "Rejected",
    "Reports",
    "Response",
    "Tally",
    "UnaryEncoding",
    "Values",
    "candidates",
    "frequencies",
    "why",
]
