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
from .pate.advice import recommend_framework
from .pate.aggregators import ConfidentGNMax, GNMax, GumbelMax, LNMax
from .pate.ensemble import PATE
from .pate.estimators import TorchClassifier
from .plan import TrainingPlan
from .start import private
from .together import Together
from .trainer import Private

__all__ = [
    "LAMB",
    "PATE",
    "AdamBC",
    "Adaptive",
    "AllocatedBatches",
    "Automatic",
    "Canaries",
    "ConfidentGNMax",
    "Correlated",
    "CyclicBatches",
    "Exact",
    "FixedBatches",
    "Flat",
    "GNMax",
    "GradientCanaries",
    "GumbelMax",
    "Independent",
    "LNMax",
    "PerGroup",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "RowCanaries",
    "ShuffledBatches",
    "Task",
    "Together",
    "TorchClassifier",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "audit_training",
    "private",
    "recommend_framework",
    "replaced",
]
