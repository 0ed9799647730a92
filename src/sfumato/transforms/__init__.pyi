from .bernstein import bernstein_counts
from .casts import absolute, log
from .cells import cell_at, cell_misfits
from .confusion import positives, true_positives
from .contingency import contingency, misfits, tables_at
from .dependence import Departure, SharedBits, Sides, dependence_scores
from .filters import mark
from .gradients import gradients
from .gram import gram
from .histogram import count_each, rows_from_counts
from .keyed import sizes, sums
from .mode_gap import mode_gap
from .moments import vector_variance
from .parts import equal_parts, random_parts
from .reshape import repeat
from .scalars import lipschitz, round_to, scale_by, shift_by, square
from .scores import accuracy_scores, as_range, mode_scores, quantile_scores, revenue_scores, threshold_accuracy_scores
from .slopes import pair_slopes
from .streams import negated, sum_stream
from .summaries import summarize
from .vectors import vector_mean, vector_sum

__all__ = [
    "Departure",
    "SharedBits",
    "Sides",
    "absolute",
    "accuracy_scores",
    "as_range",
    "bernstein_counts",
    "cell_at",
    "cell_misfits",
    "contingency",
    "count_each",
    "dependence_scores",
    "equal_parts",
    "gradients",
    "gram",
    "lipschitz",
    "log",
    "mark",
    "misfits",
    "mode_gap",
    "mode_scores",
    "negated",
    "pair_slopes",
    "positives",
    "quantile_scores",
    "random_parts",
    "repeat",
    "revenue_scores",
    "round_to",
    "rows_from_counts",
    "scale_by",
    "shift_by",
    "sizes",
    "square",
    "sum_stream",
    "summarize",
    "sums",
    "tables_at",
    "threshold_accuracy_scores",
    "true_positives",
    "vector_mean",
    "vector_sum",
    "vector_variance",
]
