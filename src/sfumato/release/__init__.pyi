from .checklist import Checklist
from .claim import Claim
from .combined import combine, inverse_variance
from .context import ContextRecord
from .estimate import Estimate
from .interval import Interval
from .publication import missing_for_publication
from .record import Failure, How
from .registry import RegistryEntry, find_entries
from .table import ReleaseTable
from .written import WrittenTable, read_release

__all__ = [
    "Checklist",
    "Claim",
    "ContextRecord",
    "Estimate",
    "Failure",
    "How",
    "Interval",
    "RegistryEntry",
    "ReleaseTable",
    "WrittenTable",
    "combine",
    "find_entries",
    "inverse_variance",
    "missing_for_publication",
    "read_release",
]
