from .audit import audit_training
from .batches import FixedBatches, PoissonBatches
from .canaries import Canaries, GradientCanaries, RowCanaries, Task
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .plan import TrainingPlan
from .start import private
from .together import Together
from .trainer import Private

__all__ = [
    "Automatic",
    "Canaries",
    "FixedBatches",
    "Flat",
    "GradientCanaries",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "RowCanaries",
    "Task",
    "Together",
    "TrainingPlan",
    "audit_training",
    "private",
    "replaced",
]
