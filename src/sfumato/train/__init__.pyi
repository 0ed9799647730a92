from .adaptive import Adaptive
from .audit import audit_training
from .batches import FixedBatches, PoissonBatches, TruncatedPoissonBatches
from .canaries import Canaries, GradientCanaries, RowCanaries, Task
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
from .together import Together
from .trainer import Private

__all__ = [
    "LAMB",
    "AdamBC",
    "Adaptive",
    "AllocatedBatches",
    "Automatic",
    "Canaries",
    "Correlated",
    "CyclicBatches",
    "Exact",
    "FixedBatches",
    "Flat",
    "GradientCanaries",
    "Independent",
    "PerGroup",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "RowCanaries",
    "ShuffledBatches",
    "Task",
    "Together",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "audit_training",
    "private",
    "replaced",
]
