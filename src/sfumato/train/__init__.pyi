from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .plan import TrainingPlan
from .trainer import Private, private

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
]
