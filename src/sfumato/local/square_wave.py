"""How numbers are distributed, from reports that lie near the own one with some chance: square waves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.exact import Number, ball, floor_of, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.distributions import Distribution
from sfumato.local.numbers import MOST_BUCKETS, Buckets, read_bounds
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.windows import Window


def wave_width(epsilon: Fraction, buckets: int) -> int:
    """How many cells a wave is wide, for the most information on a flat distribution.

    A wave of half-width b = (ε e^ε − e^ε + 1) / (2 e^ε (e^ε − 1 − ε)) of the range maximises a bound on the mutual
    information of number and report (Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li 2020, arXiv 1912.01229);
    rounded to whole cells. The range is that between the middles of the first and the last bucket.

    >>> wave_width(Fraction(1), 1000), wave_width(Fraction(1, 10**9), 1000), wave_width(Fraction(24), 1000)
    (512, 999, 1)
    """

    def twice_half_width() -> Any:
        grown, rest = ball(epsilon).exp(), ball(epsilon).expm1() - ball(epsilon)
        return (ball(epsilon) * grown - ball(epsilon).expm1()) / (grown * rest)

    return max(1, floor_of(lambda: (buckets - 1) * twice_half_width() + ball(Fraction(1, 2))))


@final
@dataclass(frozen=True)
class SquareWave(LocalProtocol[Distribution]):
    """A report is a cell: with some chance one of those around the bucket of the number, else any.

    Takes:      buckets of equal width, and the loss of a report
    Guarantee:  P(report | number) ≤ e^ε P(report | other), reached up to 2⁻⁵³  (proofs/local_numbers.md#window)
    Cost:       about 20 ns a report for many; messages of two bytes
    Best:       the shape of a distribution, its quantiles, and shares of ranges that are known only afterwards

    >>> SquareWave(Buckets(0, 100, 100), Pure(1)).layout.cells
    150
    """

    buckets: Buckets
    loss: Pure

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))

    @cached_property
    def window(self) -> Window:
        """A wave for each bucket, one cell after the one before."""
        epsilon, count = Fraction(self.loss.epsilon), self.buckets.count
        return Window.of(epsilon, steps=count - 1, stride=1, width=wave_width(epsilon, count))

    @property
    def layout(self) -> Layout:
        """The buckets, and half a wave more on either side."""
        return Layout(self.window.cells)

    @property
    def hiding(self) -> Hiding:
        """A bucket owns its wave."""
        return self.window.hiding

    def randomizer(self) -> dict[str, Any]:
        """That of the windows."""
        return self.window.randomizer()

    def domain(self) -> dict[str, Any]:
        """The public buckets."""
        return self.buckets.domain()

    def input_of(self, value: Any) -> int:
        """The bucket of a number."""
        return self.buckets.bucket(value)

    def inputs_of(self, values: Any) -> NDArray[np.int64]:
        """The buckets of many numbers."""
        return self.buckets.buckets(values)

    def draw(self, inputs: NDArray[np.int64], entropy: Entropy) -> Drawn:
        """Draws a cell for each bucket."""
        return self.window.draw(inputs, entropy), np.zeros((len(inputs), 0), dtype=np.uint64)

    def estimate(self, tally: Tally) -> Distribution:
        """The likeliest smooth distribution, with intervals that suppose no smoothness."""
        return Distribution(self.buckets, self.window, tally.sums[:, 0], self.loss, tally.rejected)


def distribution(
    *,
    between: tuple[Number, Number],
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    buckets: int | None = None,
) -> SquareWave:
    """The protocol for the distribution of numbers between public bounds, in buckets of equal width.

    Unless told how many buckets, the power of 2 below √users is taken, from 16 up to 1,024: more show nothing more
    (Li et al. 2020).

    >>> ages = distribution(between=(0, 100), loss=2, users=100_000)
    >>> ages.buckets.count, ages.window.width
    (256, 66)
    """
    people = integer(users, "users", least=1)
    count = min(max(1 << (math.isqrt(people).bit_length() - 1), 16), MOST_BUCKETS)
    count = count if buckets is None else integer(buckets, "buckets", least=2)
    return SquareWave(Buckets(*read_bounds(between, count), count), Pure(read_epsilon(loss, epsilon)))
