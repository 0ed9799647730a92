"""The pair of a Laplace mechanism on one number: Laplace noise about 0 against the same about a shift."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines, Pair
from sfumato.exact import Number, ball, positive, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

HINTS = 32
"""How many hints lie between the two ends."""


@final
@record("LaplacePair")
class LaplacePair(Pair):
    """Laplace noise of scale 1 about 0 against the same about ``ratio`` (shift over scale).

    >>> LaplacePair(0.5).reversed() == LaplacePair(0.5)
    True
    """

    ratio: Fraction

    def __init__(self, ratio: Number) -> None:
        object.__setattr__(self, "ratio", positive(ratio, "ratio"))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return laplace_lines(self.ratio)

    def reversed(self) -> LaplacePair:
        """Itself: reflecting the axis exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses from end to end."""
        end = up(self.ratio)
        return [end * (2 * place / HINTS - 1) for place in range(HINTS + 1)]

    @property
    def smooth(self) -> bool:
        """No: both ends carry mass."""
        return False

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None

    @property
    def largest(self) -> Fraction:
        """The upper end."""
        return self.ratio

    @property
    def anchor(self) -> Fraction:
        """The end of that interval: both ends carry mass."""
        return self.ratio


@guarantee(
    claim="between -r and r the best test rejects below t = (r-l)/2: masses 1 - exp(-t)/2 and exp(t-r)/2",
    proof="proofs/pairs.md#laplace",
    reviewed="bfe7e3393ab1",
)
def laplace_lines(ratio: Fraction) -> Lines:
    """Prepares the lines of Laplace noise about 0 against the same about the ratio."""
    end = ball(ratio)
    scale = (-end).exp() / 2

    def line(loss: arb) -> Line:
        if loss > end:
            return NONE
        if loss < -end:
            return ALL
        cut = ((end - loss) / 2).nonnegative_part().exp()
        return Line(1 - 1 / (2 * cut), scale * cut)

    return line
