from .desk import Foretold
from .forms import Datasheet, Forms, PreferenceStudy, forms_of, keep_forms
from .limits import LimitAdvice, delta_for, limit_advice
from .making import plan
from .record import Dropped, Plan, Step
from .statistics import default_release, table
from .wanted import Target, Wanted, wanted

__all__ = [
    "Datasheet",
    "Dropped",
    "Foretold",
    "Forms",
    "LimitAdvice",
    "Plan",
    "PreferenceStudy",
    "Step",
    "Target",
    "Wanted",
    "default_release",
    "delta_for",
    "forms_of",
    "keep_forms",
    "limit_advice",
    "plan",
    "table",
    "wanted",
]
