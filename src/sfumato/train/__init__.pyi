from .advising import Advice, advise
from .batches import FixedBatches, PoissonBatches
from .checks import replaced
from .clipping import Automatic, Flat, PerLayer
from .origins import Origin, Origins
from .plan import TrainingPlan
from .reports import History, Reports
from .searching import Tuned
from .start import private
from .sweeps import Sweep, sweep
from .trainer import Private
from .tuning import tune

__all__ = [
    "Advice",
    "Automatic",
    "FixedBatches",
    "Flat",
    "History",
    "Origin",
    "Origins",
    "PerLayer",
    "PoissonBatches",
    "Private",
    "Reports",
    "Sweep",
    "TrainingPlan",
    "Tuned",
    "advise",
    "private",
    "replaced",
    "sweep",
    "tune",
]
