"""What somebody is right about who never saw a release: the measure of every attack."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.reading import floats
from sfumato.attacks.result import Success
from sfumato.errors import BadArgument
from sfumato.exact import Number, non_negative, probability


def best_guess_rate(values: ArrayLike, *, within: Number = 0) -> float:
    """The share of values that the best single guess for all of them comes close to.

    Where targets are some of the people, the values are everybody's: whoever never saw a release does not know how the
    targets differ from the rest, and one target alone would be guessed for certain.

    >>> best_guess_rate([1, 0, 1, 1]), best_guess_rate([10, 12, 30], within=1)
    (0.75, 0.6666666666666666)
    """
    ordered = np.sort(floats(values, "the values to be guessed").ravel())
    if not ordered.size:
        return 0.0
    ends = np.searchsorted(ordered, ordered + 2 * float(non_negative(within, "within")), side="right")
    return float((ends - np.arange(len(ordered))).max() / len(ordered))


def stated_baseline(baseline: Number | None, values: ArrayLike, *, within: Number = 0, alone: float = 0.0) -> float:
    """The baseline that was stated, or else the best guess where nobody but the targets is known.

    One target says nothing about what is common, so it is not guessed from itself: the rate is then ``alone``.
    """
    if baseline is not None:
        return float(probability(baseline, "baseline"))
    return best_guess_rate(values, within=within) if np.size(values) > 1 else alone


def hits(guesses: NDArray[np.float64], values: ArrayLike, *, within: Number = 0) -> Success:
    """Counts the guesses that come close to the values; one that is NaN is no guess."""
    truth, width = floats(values, "the values that were guessed"), float(non_negative(within, "within"))
    if guesses.shape != truth.shape:
        raise BadArgument("the values that were guessed", f"of shape {guesses.shape}, like the guesses", truth.shape)
    return Success(int((np.abs(guesses - truth) <= width).sum()), truth.size)
