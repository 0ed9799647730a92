from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .estimators import Classifier, Regressor
from .huggingface import PrivateTrainer
from .lightning import fit_lightning
from .optimizers import LAMB, AdamBC
from .plan import TrainingPlan
from .start import private, resume
from .trainer import Private

__all__ = [
    "LAMB",
    "AdamBC",
    "Automatic",
    "Classifier",
    "FixedBatches",
    "Flat",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "PrivateTrainer",
    "Regressor",
    "TrainingPlan",
    "fit_lightning",
    "private",
    "replaced",
    "resume",
]
