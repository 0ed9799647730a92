"""Matrices by which noise is spread along a stream of steps, how often one unit may take part, and how far it reaches.

Released is C·G + Z: a public matrix C times the vectors of the steps, plus independent Gaussian noise Z. A unit's
vectors, each of norm at most 1, stand at the steps of a *pattern*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import lcm
from typing import Any, final

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, rational
from sfumato.guarantee import guarantee
from sfumato.plain import record

Wholes = NDArray[Any]

MOST_STEPS = 1 << 24
"""The most steps of a matrix that has the same numbers down every column."""

MOST_WRITTEN = 1 << 10
"""The most steps of a matrix that is written out."""

GRID_BITS = 20
"""The entries of a square root are whole numbers of 2⁻²⁰."""

SAFE = 1 << 61
"""Sums of magnitudes below this stay exact in 64 bits."""


class Participation(ABC):
    """At which steps one unit may take part; every part of a pattern is one too."""

    @property
    @abstractmethod
    def apart(self) -> int:
        """The least distance between two steps of a pattern."""

    @abstractmethod
    def most(self, steps: int) -> int:
        """The most steps of a pattern, among so many."""

    @abstractmethod
    def allows(self, places: Sequence[int]) -> bool:
        """Tells whether these places, in rising order, lie in one pattern."""


@final
@record("MinSeparation")
class MinSeparation(Participation):
    """At most ``times`` steps, any two of them at least ``separation`` apart; by itself: once."""

    separation: int
    times: int

    def __init__(self, separation: int = 1, *, times: int = 1) -> None:
        object.__setattr__(self, "separation", integer(separation, "separation", least=1))
        object.__setattr__(self, "times", integer(times, "times", least=1))

    @property
    def apart(self) -> int:
        """The separation."""
        return self.separation

    def most(self, steps: int) -> int:
        """The most steps of a pattern."""
        return min(self.times, -(-steps // self.separation))

    def allows(self, places: Sequence[int]) -> bool:
        """Tells whether these places, in rising order, lie in one pattern."""
        return len(places) <= self.times and all(later - one >= self.separation for one, later in pairwise(places))


@final
@record("Cyclic")
class Cyclic(Participation):
    """Every ``period``-th step from one of the first ``period`` on: epochs in the same order."""

    period: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", integer(self.period, "period", least=1))

    @property
    def apart(self) -> int:
        """The period."""
        return self.period

    def most(self, steps: int) -> int:
        """The most steps of a pattern."""
        return -(-steps // self.period)

    def allows(self, places: Sequence[int]) -> bool:
        """Tells whether these places, in rising order, lie in one pattern."""
        return len({place % self.period for place in places}) <= 1


class Strategy(ABC):
    """A public matrix C of rationals with one column for each step."""

    @property
    @abstractmethod
    def length(self) -> int:
        """How many columns there are."""


@final
@record("Toeplitz")
class Toeplitz(Strategy):
    """The lower triangular square matrix with ``coefficients`` from the diagonal down in every column, and 0 below.

    With fewer coefficients than steps it is banded.
    """

    coefficients: tuple[Fraction, ...]
    steps: int

    def __init__(self, coefficients: Iterable[Number], *, steps: int) -> None:
        if isinstance(coefficients, str) or not isinstance(coefficients, Iterable):
            raise BadArgument("coefficients", "a list of numbers", coefficients)
        with elements():
            read = tuple(rational(each, "each of the coefficients") for each in coefficients)
        object.__setattr__(self, "coefficients", read)
        object.__setattr__(self, "steps", integer(steps, "steps", least=1))
        if self.steps > MOST_STEPS or not 1 <= len(read) <= self.steps:
            raise BadArgument("steps", f"at least the number of coefficients, and at most {MOST_STEPS}", steps)
        if read[0] == 0:
            raise BadArgument("coefficients", "other than 0 on the diagonal", read[0])

    @property
    def length(self) -> int:
        """How many columns there are."""
        return self.steps


@final
@record("SquareRoot")
class SquareRoot(Strategy):
    """The square root of the matrix of running totals, on a grid of 2⁻²⁰; only the first ``band`` coefficients.

    >>> [float(each) for each in SquareRoot(4).coefficients[:3]]
    [1.0, 0.5, 0.375]
    """

    steps: int
    band: int

    def __init__(self, steps: int, *, band: int | None = None) -> None:
        object.__setattr__(self, "steps", integer(steps, "steps", least=1))
        object.__setattr__(self, "band", integer(steps if band is None else band, "band", least=1))
        if self.steps > MOST_STEPS or self.band > self.steps:
            raise BadArgument("steps", f"at least the band, and at most {MOST_STEPS}", steps)

    @property
    def length(self) -> int:
        """How many columns there are."""
        return self.steps

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        """What stands in the first column, down to where it is 0."""
        return tuple(Fraction(each, 1 << GRID_BITS) for each in root_weights(self.band).tolist())


@final
@record("Dense")
class Dense(Strategy):
    """A matrix written out by its rows; what a row leaves out at its end is 0."""

    rows: tuple[tuple[Fraction, ...], ...]

    def __init__(self, rows: Iterable[Iterable[Number]]) -> None:
        if isinstance(rows, str) or not isinstance(rows, Iterable):
            raise BadArgument("rows", "a list of rows of numbers", rows)
        with elements():
            read = tuple(tuple(rational(each, "each entry of the rows") for each in row) for row in rows)
        object.__setattr__(self, "rows", read)
        if not 1 <= self.length <= MOST_WRITTEN:
            raise BadArgument("rows", f"of 1 to {MOST_WRITTEN} entries; for more, use sf.events.Toeplitz", "others")

    @property
    def length(self) -> int:
        """How many columns there are."""
        return max(map(len, self.rows), default=0)


def root_weights(count: int) -> NDArray[np.int64]:
    """The first coefficients of (1 − x)^(−1/2), rounded to whole numbers of 2⁻²⁰: the same on every machine."""
    later = np.arange(1, count)
    root = np.concatenate(([1.0], np.cumprod(1 - 1 / (2 * later))))
    whole: NDArray[np.int64] = np.rint(root * 2**GRID_BITS).astype(np.int64)
    return whole


@lru_cache(maxsize=64)
@guarantee(
    claim="at least the largest squared L2 norm of C·u over vectors u of norm at most 1 on the steps of a pattern; "
    "equal where separated columns are orthogonal, for one step, and for falling coefficients of at least 0",
    proof="proofs/factorization.md#sensitivity",
    reviewed="a63bfa97de1a",
)
def reach_square(strategy: Strategy, participation: Participation) -> Fraction:
    """How far one unit moves what is released, squared, where each of its vectors has norm at most 1.

    >>> reach_square(Toeplitz([1, "1/2"], steps=4), MinSeparation(2, times=2))
    Fraction(5, 2)
    >>> reach_square(Toeplitz([1, "1/2"], steps=4), MinSeparation(1, times=2))
    Fraction(7, 2)
    """
    if isinstance(strategy, Dense):
        whole, bottom = _rows_in_wholes(strategy)
        return Fraction(written_square(whole, participation), bottom**2)
    column, bottom = column_in_wholes(strategy)
    if _starts_worst(column, participation):
        return Fraction(falling_square(column, strategy.length, participation), bottom**2)
    if strategy.length <= MOST_WRITTEN:
        return Fraction(written_square(_square_matrix(column, strategy.length), participation), bottom**2)
    above = np.maximum.accumulate(np.abs(column)[::-1])[::-1]
    return Fraction(falling_square(above, strategy.length, participation), bottom**2)


def _starts_worst(column: Wholes, participation: Participation) -> bool:
    """Tells whether no pattern moves more than the one that starts at once and waits as little as it may."""
    falling = bool(np.all(column[:-1] >= column[1:])) and column[-1] >= 0
    return falling or len(column) <= participation.apart


@guarantee(
    claim="where it says yes, some vectors of norm 1 on a pattern move what is released by the root of `reach_square`",
    proof="proofs/factorization.md#attained",
    reviewed="b0aea63453b0",
)
def is_reached(strategy: Strategy, participation: Participation) -> bool:
    """Tells whether `reach_square` is known to be exact."""
    if participation.most(strategy.length) == 1:
        return True
    return not isinstance(strategy, Dense) and _starts_worst(column_in_wholes(strategy)[0], participation)


@guarantee(
    claim="the squared norm of the sum of columns 0, b, 2b, …: no pattern has more, where the coefficients fall and "
    "are at least 0, or there are at most b of them",
    proof="proofs/factorization.md#toeplitz",
    reviewed="559949273c41",
)
def falling_square(column: Wholes, steps: int, participation: Participation) -> int:
    """The reach of a matrix that has the same whole numbers down every column."""
    apart, times = participation.apart, participation.most(steps)
    length = -(-steps // apart) * apart
    padded = np.zeros(length, dtype=object)
    padded[: len(column)] = column
    totals = np.cumsum(padded.reshape(-1, apart), axis=0)
    totals[times:] = totals[times:] - totals[:-times]
    return sum(int(total) ** 2 for total in totals.reshape(-1)[:steps].tolist())


@guarantee(
    claim="at least the largest sum of |X_ij| over the steps i, j of a pattern, X the inner products of the columns; "
    "equal for cycles, for one step, and where X_ij = 0 for all i, j as far apart as steps of a pattern are",
    proof="proofs/factorization.md#written",
    reviewed="6858d8a16f86",
)
def written_square(rows: fmpz_mat, participation: Participation) -> int:
    """The reach of a matrix of whole numbers that is written out."""
    products = rows.transpose() * rows
    steps, apart, times = products.ncols(), participation.apart, participation.most(products.ncols())
    inner = np.abs(np.array([[int(each) for each in row] for row in products.tolist()], dtype=object))
    if isinstance(participation, Cyclic):
        return max(int(inner[first::apart, first::apart].sum()) for first in range(min(apart, steps)))
    if int(inner.max()) * times**2 < SAFE:
        inner = inner.astype(np.int64)
    places = np.arange(steps)
    far = np.where(np.abs(places[:, None] - places) >= apart, inner, 0)
    shares = np.diagonal(inner) + best_sums(far, apart, times - 1)
    return int(best_sums(shares[None, :], apart, times)[0])


@guarantee(
    claim="for each row of weights of at least 0 the largest sum of at most so many of them, any two so far apart",
    proof="proofs/factorization.md#written",
    reviewed="036e4db82dae",
)
def best_sums(weights: Wholes, apart: int, times: int) -> Wholes:
    """The best choices of separated places, one for each row."""
    best = np.zeros_like(weights)
    for _ in range(times):
        before = np.zeros_like(weights)
        before[:, apart:] = best[:, : max(0, weights.shape[1] - apart)]
        best = np.maximum.accumulate(weights + before, axis=1)
    return best[:, -1]


@lru_cache(maxsize=64)
@guarantee(
    claim="the largest squared norm of a column, and the number of steps from the first row in which a column is not 0 "
    "to the last",
    proof="proofs/factorization.md#sampled",
    reviewed="ef4a7e9fde71",
)
def column_square(strategy: Strategy) -> tuple[Fraction, int]:
    """How far one step moves what is released, squared, and how many rows it moves: the width of the band."""
    if isinstance(strategy, Dense):
        columns = list(
            zip(*(row + (Fraction(0),) * (strategy.length - len(row)) for row in strategy.rows), strict=True)
        )
        largest = max(sum((entry**2 for entry in column), Fraction(0)) for column in columns)
        filled = [(step, row) for step, column in enumerate(columns) for row, entry in enumerate(column) if entry]
        if any(row < step for step, row in filled):
            raise BadArgument("strategy", "lower triangular: a row moves with its own step and earlier ones", "another")
        return largest, max((row - step + 1 for step, row in filled), default=0)
    column, bottom = column_in_wholes(strategy)
    return Fraction(sum(int(each) ** 2 for each in column.tolist()), bottom**2), int(np.flatnonzero(column)[-1]) + 1


def column_in_wholes(strategy: Strategy) -> tuple[Wholes, int]:
    """The numbers down a column as whole numbers, and what they are to be divided by."""
    if isinstance(strategy, SquareRoot):
        return root_weights(strategy.band).astype(object), 1 << GRID_BITS
    if not isinstance(strategy, Toeplitz):
        raise BadArgument("strategy", "a matrix such as sf.events.SquareRoot(1000)", strategy)
    bottom = lcm(*(each.denominator for each in strategy.coefficients))
    return np.array([int(each * bottom) for each in strategy.coefficients], dtype=object), bottom


def _rows_in_wholes(strategy: Dense) -> tuple[fmpz_mat, int]:
    bottom = lcm(*(each.denominator for row in strategy.rows for each in row))
    filled = [[int(each * bottom) for each in row] + [0] * (strategy.length - len(row)) for row in strategy.rows]
    return fmpz_mat(filled), bottom


def _square_matrix(column: Wholes, steps: int) -> fmpz_mat:
    padded = [*map(int, column), *[0] * (steps - len(column))]
    return fmpz_mat([[padded[row - step] if row >= step else 0 for step in range(steps)] for row in range(steps)])
