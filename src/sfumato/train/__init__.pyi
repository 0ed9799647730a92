from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .plan import TrainingPlan
from .start import private, resume
from .trainer import Private

__all__ = [
    "Automatic",
    "FixedBatches",
    "Flat",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "TrainingPlan",
    "private",
    "replaced",
    "resume",
]
