"""Facts: what one use of a noise costs, one file for each noise. `loss_of` looks them up; a missing fact is refused."""

from sfumato.accounting.facts import (
    discrete_gaussian,
    discrete_laplace,
    log_concave,
    selection,
    staircase,
    truncated_laplace,
)
from sfumato.accounting.facts.table import FACTS, fact, loss_of

__all__ = [
    "FACTS",
    "discrete_gaussian",
    "discrete_laplace",
    "fact",
    "log_concave",
    "loss_of",
    "selection",
    "staircase",
    "truncated_laplace",
]
