from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .correlated_noise import Correlated
from .cyclic import CyclicBatches
from .exact_noise import Exact
from .noise import Independent
from .plan import TrainingPlan
from .start import private
from .trainer import Private

__all__ = [
    "Automatic",
    "Correlated",
    "CyclicBatches",
    "Exact",
    "FixedBatches",
    "Flat",
    "Independent",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "TrainingPlan",
    "private",
    "replaced",
]
