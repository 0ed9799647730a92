from .bounds import BoundsAdvice, bounds_advice, rows_advice
from .desk import Foretold
from .forms import Datasheet, Forms, PreferenceStudy, forms_of, keep_forms
from .limits import LimitAdvice, delta_for, limit_advice
from .made_up import made_up_rows
from .making import plan
from .over_time import OverTime, plan_over_time
from .overlapping import Overlap, overlap
from .record import Dropped, Plan, Step
from .rehearsing import DryRun, dry_run
from .statistics import default_release, table
from .wishes import Target, Wanted, wanted

__all__ = [
    "BoundsAdvice",
    "Datasheet",
    "Dropped",
    "DryRun",
    "Foretold",
    "Forms",
    "LimitAdvice",
    "OverTime",
    "Overlap",
    "Plan",
    "PreferenceStudy",
    "Step",
    "Target",
    "Wanted",
    "bounds_advice",
    "default_release",
    "delta_for",
    "dry_run",
    "forms_of",
    "keep_forms",
    "limit_advice",
    "made_up_rows",
    "overlap",
    "plan",
    "plan_over_time",
    "rows_advice",
    "table",
    "wanted",
]
