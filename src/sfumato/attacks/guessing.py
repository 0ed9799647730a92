"""What somebody is right about who never saw a release: the measure of every attack."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.result import Success
from sfumato.errors import BadArgument


def best_guess_rate(values: ArrayLike, *, within: float = 0) -> float:
    """Gives the share of values that the best single guess for all of them comes close to.

    >>> best_guess_rate([1, 0, 1, 1]), best_guess_rate([10, 12, 30], within=1)
    (0.75, 0.6666666666666666)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not ordered.size:
        return 0.0
    ends = np.searchsorted(ordered, ordered + 2 * within, side="right")
    return float((ends - np.arange(len(ordered))).max() / len(ordered))


def hits(guesses: NDArray[np.float64], values: ArrayLike, *, within: float = 0) -> Success:
    """Counts the guesses that come close to the values; one that is NaN is no guess."""
    truth = np.asarray(values, dtype=np.float64)
    if guesses.shape != truth.shape:
        raise BadArgument("the values that were guessed", f"of shape {guesses.shape}, like the guesses", truth.shape)
    return Success(int((np.abs(guesses - truth) <= within).sum()), truth.size)
