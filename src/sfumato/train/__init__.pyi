from .adaptive import Adaptive
from .batches import FixedBatches, PoissonBatches, TruncatedPoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerGroup, PerLayer
from .epochs import AllocatedBatches, ShuffledBatches
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
    "FixedBatches",
    "Flat",
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
