from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .optimizers import LAMB, AdamBC
from .plan import TrainingPlan
from .start import private
from .trainer import Private

__all__ = [
    "LAMB",
    "AdamBC",
    "Automatic",
    "FixedBatches",
    "Flat",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "TrainingPlan",
    "private",
    "replaced",
]
