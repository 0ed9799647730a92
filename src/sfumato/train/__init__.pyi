from .adaptive import Adaptive
from .advising import Advice, advise
from .audit import audit_training
from .batches import FixedBatches, PoissonBatches, TruncatedPoissonBatches
from .canaries import Canaries, GradientCanaries, RowCanaries, Task
from .checks import replaced
from .clipping import Automatic, Flat, PerGroup, PerLayer
from .correlated_noise import Correlated
from .cyclic import CyclicBatches
from .epochs import AllocatedBatches, ShuffledBatches
from .estimators import Classifier, Regressor
from .exact_noise import Exact
from .huggingface import PrivateTrainer
from .lightning import fit_lightning
from .noise import Independent
from .optimizers import LAMB, AdamBC
from .origins import Origin, Origins
from .pate.advice import recommend_framework
from .pate.aggregators import ConfidentGNMax, GNMax, GumbelMax, LNMax
from .pate.ensemble import PATE
from .pate.estimators import TorchClassifier
from .plan import TrainingPlan
from .reports import History, Reports
from .searching import Tuned
from .start import private, resume
from .sweeps import Sweep, sweep
from .together import Together
from .trainer import Private
from .tuning import tune

__all__ = [
    "LAMB",
    "PATE",
    "AdamBC",
    "Adaptive",
    "Advice",
    "AllocatedBatches",
    "Automatic",
    "Canaries",
    "Classifier",
    "ConfidentGNMax",
    "Correlated",
    "CyclicBatches",
    "Exact",
    "FixedBatches",
    "Flat",
    "GNMax",
    "GradientCanaries",
    "GumbelMax",
    "History",
    "Independent",
    "LNMax",
    "Origin",
    "Origins",
    "PerGroup",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "PrivateTrainer",
    "Regressor",
    "Reports",
    "RowCanaries",
    "ShuffledBatches",
    "Sweep",
    "Task",
    "Together",
    "TorchClassifier",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "Tuned",
    "advise",
    "audit_training",
    "fit_lightning",
    "private",
    "recommend_framework",
    "replaced",
    "resume",
    "sweep",
    "tune",
]
