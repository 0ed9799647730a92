"""How many rows of each unit to keep: what a bound costs in bias and in noise, on data that need not be protected.

Nothing here is private. What takes columns is for public or made-up data that is like the data in question: on the
data itself every number below is one more release that nobody pays for. To find a bound with a part of the loss, see
`Session.contributions`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import ZCDP
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, probability


def mape(truth: ArrayLike, released: ArrayLike) -> float:
    """The mean of |released − truth| / |truth|, over the entries where the truth is not 0. Not private.

    >>> mape([100, 50, 0], [90, 55, 3])
    0.1
    """
    true, answers = np.asarray(truth, dtype=np.float64), np.asarray(released, dtype=np.float64)
    if true.shape != answers.shape or true.ndim != 1:
        raise BadArgument("truth and released", "two lists of one length", Several(true.shape, answers.shape))
    defined = true != 0
    if not defined.any():
        raise BadArgument("the truth", "other than 0 somewhere: an error has no share of nothing", "zeros alone")
    return float(np.mean(np.abs(answers - true)[defined] / np.abs(true[defined])))


@final
@dataclass(frozen=True)
class TruncationError:
    """What keeping at most ``rows`` rows of each unit does to counts by group. Not private.

    ``kept`` is the share of all rows that stay, ``scale`` that of the Gaussian noise, ``mape`` the expected error.
    """

    rows: int
    kept: float
    scale: float
    mape: float


def truncation_errors(
    units: ArrayLike, groups: ArrayLike, *, rows: Sequence[int], loss: ZCDP
) -> tuple[TruncationError, ...]:
    """Compares bounds on the rows of a unit by how far private counts by group would be off. Not private.

    Takes the unit and the group of each row, of *public or made-up* data. For each bound k a random k of the
    rows of each unit are kept, which is bias; all k may be in one group, so the noise is Gaussian of scale k / √(2ρ)
    for a loss of ρ, which is variance. The error is against the counts of all rows, in expectation: of a folded normal
    around the expected bias.

    >>> made = truncation_errors(["a", "a", "a", "b"], ["x", "x", "x", "x"], rows=[1, 3], loss=ZCDP(2))
    >>> [(one.rows, one.kept, one.scale) for one in made]
    [(1, 0.5, 0.5), (3, 1.0, 1.5)]
    """
    for data in (units, groups):
        if not isinstance(data, Sequence | np.ndarray) or isinstance(data, str):
            raise BadArgument("units and groups", "plain lists or arrays of public or made-up data", type(data))
    if not isinstance(loss, ZCDP) or not 0 < loss.rho < math.inf:
        raise BadArgument("the loss", "a ZCDP greater than 0", loss)
    _, owner, owned = np.unique(np.asarray(units), return_inverse=True, return_counts=True)
    _, where, truth = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    if len(owner) != len(where) or not len(owner):
        raise BadArgument("units and groups", "of one length, and not empty", (len(owner), len(where)))
    return tuple(_error(integer(most, "rows", least=1), owned[owner], where, truth, loss) for most in rows)


def _error(
    most: int, owned: NDArray[np.intp], where: NDArray[np.intp], truth: NDArray[np.intp], loss: ZCDP
) -> TruncationError:
    stays = np.minimum(1.0, most / owned)
    counts = np.bincount(where, weights=stays)
    scale = math.sqrt(Fraction(most**2) / (2 * Fraction(loss.rho)))
    off = np.array([folded_normal_mean(float(gap), scale) for gap in truth - counts])
    return TruncationError(most, float(stays.mean()), scale, mape(truth, truth + off))


def folded_normal_mean(mean: float, scale: float) -> float:
    """The expectation of |mean + Z| for a normal Z of a scale."""
    density = scale * math.sqrt(2 / math.pi) * math.exp(-(mean**2) / (2 * scale**2))
    return density + mean * math.erf(mean / (scale * math.sqrt(2)))


def covering(ends: Sequence[int], counts: Sequence[int], *, share: Number) -> int:
    """The first end of a band up to which counts hold a share of all of them; the last where there are none.

    It looks at counts alone: of private data, at noisy ones that have been released. A count below 0 is read as 0.

    >>> covering([10, 20, 30, 40, 50], [273449, 118348, 43548, 15783, 5960], share=0.95)
    30
    """
    wanted = read_share(share)
    if len(ends) == 0 or len(ends) != len(counts):
        raise BadArgument("counts", "one for each band", len(counts))
    held = list(accumulate(max(0, int(count)) for count in counts))
    covered = (end for end, below in zip(ends, held, strict=True) if below and below >= wanted * held[-1])
    return int(next(covered, ends[-1]))


def read_share(share: Number) -> Fraction:
    """Reads the share of units that a bound should cover: some of them, and not all, which is infinitely many rows."""
    wanted = probability(share, "share")
    if not 0 < wanted < 1:
        raise BadArgument("share", "between 0 and 1", share)
    return wanted
