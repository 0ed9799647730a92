"""The pair of Gaussian noise on a random subset of fixed size, one unit's record blanked."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.pairs.gaussian import GaussianPair, gaussian_lines
from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.accounting.pld.pairs.sampled import removed_lines, sampled_hints
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, positive, probability, up
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("BlankedGaussianPair")
class BlankedGaussianPair(Pair):
    """Unit Gaussian noise on a subset that has a unit with a chance, the unit moving the sum by μ against by nothing.

    In a sample without the unit another takes its place, and moves the sum by up to μ in any direction: the bound is
    for the worst, in each direction and at each loss. ``turned`` is the blank record first.
    """

    square: Fraction
    rate: Fraction
    turned: bool

    def __init__(self, square: Number, rate: Number, *, turned: bool = False) -> None:
        object.__setattr__(self, "square", positive(square, "square"))
        object.__setattr__(self, "rate", probability(rate, "rate"))
        object.__setattr__(self, "turned", bool(turned))
        if not 0 < self.rate < 1:
            raise BadArgument("rate", "greater than 0 and less than 1", rate)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return blanked_lines(self.square, self.rate, turned=self.turned)

    def reversed(self) -> BlankedGaussianPair:
        """The same two, the other first."""
        return BlankedGaussianPair(self.square, self.rate, turned=not self.turned)

    def hints(self, tail: float) -> list[float]:
        """The losses of sampled noise for an exchange, and their mirror images: they reach as far."""
        above = [loss for loss in sampled_hints(GaussianPair(4 * self.square), up(self.rate), tail) if loss > 0]
        return sorted({-loss for loss in above} | {0.0, *above})

    @property
    def smooth(self) -> bool:
        """Yes: the profile bends smoothly but for a kink at 1."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


@guarantee(
    claim="the unit first, x >= 1: masses of half-lines at s, s - mu (blank), s - 2 mu (another), exp(mu s) the "
    "positive root of (1-q)(x-1) exp(-2mu²) u² + q x exp(-mu²/2) u = q; the blank first: (1-q)Q + qP against Q; below "
    "1 the mirror image of the other",
    proof="proofs/pairs.md#blanked",
    reviewed="a9307eb29aba",
)
def blanked_lines(square: Fraction, rate: Fraction, *, turned: bool) -> Lines:
    """Prepares the lines of a random subset with a unit against one with its record blank, or back."""
    mu, taken, kept = ball(square).sqrt(), ball(rate), ball(1 - rate)
    near, far = (-ball(square) / 2).exp(), (-2 * ball(square)).exp()
    blank_first = removed_lines(gaussian_lines(square), rate)

    def unit_first(loss: arb) -> Line:
        ratio = loss.exp()
        steep, straight = kept * loss.expm1() * far, taken * ratio * near
        # This form of the root does not cancel, and holds at a loss of 0 too.
        root = 2 * taken / (straight + (straight**2 + 4 * steep * taken).sqrt())
        cut = root.log() / mu
        with_unit, blank, another = (gaussian_upper_tail(away * mu - cut) for away in (0, 1, 2))
        return Line(kept * another + taken * with_unit, kept * another + taken * blank)

    def line(loss: arb) -> Line:
        if loss >= 0:
            return blank_first(loss) if turned else unit_first(loss)
        here, there = unit_first(-loss) if turned else blank_first(-loss)
        return Line(1 - there, 1 - here)

    return line
