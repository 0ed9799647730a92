from .interaction import concurrent_composition
from .odometer import Odometer
from .sampling import amplified_by_known_sample
from .tuning import best_of_all, random_candidate

__all__ = [
    "Odometer",
    "amplified_by_known_sample",
    "best_of_all",
    "concurrent_composition",
    "random_candidate",
]
