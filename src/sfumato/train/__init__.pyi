from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .pate.advice import advise
from .pate.aggregators import ConfidentGNMax, GNMax, GumbelMax, LNMax
from .pate.ensemble import PATE
from .pate.estimators import TorchClassifier
from .plan import TrainingPlan
from .start import private
from .trainer import Private

__all__ = [
    "PATE",
    "Automatic",
    "ConfidentGNMax",
    "FixedBatches",
    "Flat",
    "GNMax",
    "GumbelMax",
    "LNMax",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "TorchClassifier",
    "TrainingPlan",
    "advise",
    "private",
    "replaced",
]
