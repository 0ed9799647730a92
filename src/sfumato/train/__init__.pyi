from .adaptive import Adaptive
from .batches import FixedBatches, PoissonBatches, TruncatedPoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerGroup, PerLayer
from .correlated_noise import Correlated
from .cyclic import CyclicBatches
from .epochs import AllocatedBatches, ShuffledBatches
from .exact_noise import Exact
from .noise import Independent
from .optimizers import LAMB, AdamBC
from .plan import TrainingPlan
from .start import private
from .trainer import Private

__all__ = [
    "LAMB",
    "AdamBC",
    "Adaptive",
    "AllocatedBatches",
    "Automatic",
    "Correlated",
    "CyclicBatches",
    "Exact",
    "FixedBatches",
    "Flat",
    "Independent",
    "PerGroup",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "ShuffledBatches",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "private",
    "replaced",
]
