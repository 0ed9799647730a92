"""Two output laws side by side: the probability of every outcome on one data set and on its neighbour.

Noise without end is handled in one of two ways. Beyond the centres of Laplace noise all outcomes tell the neighbours
apart equally well, so they are counted as one, and nothing is lost. Other noise is listed up to a missed mass, and what
is missed is bounded on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import prod
from typing import final

from flint import arb

from sfumato.accounting.losses.divergence import Probabilities
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law, MixtureLaw, ProductLaw, Remembered, ShiftedLaw, distinct, endless, leaves
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, endpoints, precision
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace

MISSED = Fraction(1, 10**9)
"""What is left out of a law that has no end, unless the caller says otherwise."""

MOST_OUTCOMES = 100_000
"""Laws of more outcomes than this are not listed: it would take minutes, and on a fine grid for ever."""


@final
@dataclass(frozen=True)
class Rest:
    """The mass of all outcomes that are not listed, under both laws: bounds from below and from above."""

    left: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    right: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


@final
@dataclass(frozen=True)
class LawPair:
    """Two laws side by side; ``rest`` is None where every outcome is listed."""

    outcomes: tuple[Data, ...]
    left: tuple[arb, ...]
    right: tuple[arb, ...]
    rest: Rest | None = None

    @property
    def complete(self) -> bool:
        return self.rest is None

    def listed(self) -> tuple[Probabilities, Probabilities]:
        """Both laws on what is listed, by place."""
        return dict(enumerate(self.left)), dict(enumerate(self.right))

    def lumped(self) -> tuple[Probabilities, Probabilities]:
        """Both laws with the rest as one more outcome, so that no divergence comes out too large."""
        left, right = self.listed()
        if self.rest is None:
            return left, right
        with precision(BITS):
            return {**left, -1: ball(self.rest.left[0])}, {**right, -1: ball(self.rest.right[1])}

    def turned(self) -> LawPair:
        rest = None if self.rest is None else Rest(self.rest.right, self.rest.left)
        return LawPair(self.outcomes, self.right, self.left, rest)


@guarantee(
    claim="the mass that is not listed, between the two bounds; 0 from below at the least",
    proof="proofs/audit.md#truncated",
    reviewed="fb629b6528a5",
)
def unlisted(listed: Sequence[arb]) -> tuple[Fraction, Fraction]:
    """Bounds what a law has left beside the outcomes that are listed."""
    with precision(BITS):
        low, high = endpoints(1 - sum(listed, ball(0)))
    return max(Fraction(0), Fraction(low)), max(Fraction(0), Fraction(high))


def remembered(law: Law) -> Law:
    """Makes a law cheap to ask again and again; those of known shape are so already."""
    return law if isinstance(law, FiniteLaw | ShiftedLaw | ProductLaw | MixtureLaw) else Remembered(law)


def side_by_side(left: Law, right: Law, missed: Fraction | None) -> LawPair:
    """Lists what two laws can give, with the probabilities under both."""
    here, there = folded((left, right))
    share = _share((here, there), missed)
    for law in (here, there):
        _check_size(outcomes_of(law, share))
    with precision(BITS):
        outcomes = tuple(distinct(chain(here.outcomes(share), there.outcomes(share))))
        table = LawPair(
            outcomes,
            tuple(here.probability(outcome) for outcome in outcomes),
            tuple(there.probability(outcome) for outcome in outcomes),
        )
        for masses in (table.left, table.right):
            _check(sum(masses, ball(0)), share)
    rest = None if share == 0 else Rest(unlisted(table.left), unlisted(table.right))
    return LawPair(table.outcomes, table.left, table.right, rest)


def outcomes_of(law: Law, missed: Fraction) -> int:
    """Counts the outcomes that carry all but a mass, without listing them; 0 for a law of a kind that does not tell."""
    match law:
        case FiniteLaw(probabilities=probabilities):
            return len(probabilities)
        case ShiftedLaw(noise=noise):
            return noise.quantile(1 - missed / 2) - noise.quantile(missed / 2) + 1
        case ProductLaw(parts=parts):
            return prod(outcomes_of(part, missed) for part in parts)
        case MixtureLaw(parts=weighed):
            return sum(outcomes_of(part, missed) for _, part in weighed)
    return 0


def _check_size(count: int) -> None:
    if count > MOST_OUTCOMES:
        raise BadArgument(
            "the outcomes of a pair",
            f"at most {MOST_OUTCOMES}, to be listed: audit it on a coarser grid, or with sf.audit.grey_box",
            count,
        )


def _share(laws: Sequence[Law], missed: Fraction | None) -> Fraction:
    """Decides what may be missed: nothing where all outcomes can be listed."""
    if any(endless(law) for law in laws):
        if missed == 0:
            raise BadArgument("missed", "greater than 0: this noise has no end", 0)
        return missed or MISSED
    if all(isinstance(leaf, FiniteLaw | ShiftedLaw) for law in laws for leaf in leaves(law)):
        return Fraction(0)
    return MISSED if missed is None else missed


def _check(total: arb, share: Fraction) -> None:
    low, high = endpoints(total)
    if low > 1 or high < 1 - share:
        raise BadArgument(
            "the known law", "a distribution, of total 1: an audit of anything else would mean nothing", float(total)
        )


@guarantee(
    claim="clamping to the centres is sufficient for discrete Laplace laws of one scale: no divergence moves",
    proof="proofs/audit.md#folding",
    reviewed="8ae149268db9",
)
def clamped_mass(noise: DiscreteLaplace, centre: int, value: int, low: int, high: int) -> arb:
    """Encloses the chance that a centre plus noise, clamped to [low, high], is a value; the centre is in there too."""
    if low == high:
        return ball(1)
    if value == low:
        return noise.cdf(low - centre)
    return noise.upper_tail(high - centre) if value == high else noise.pmf(value - centre)


def folded(laws: Sequence[Law]) -> list[Law]:
    """Laws of finitely many outcomes that are as far apart, where Laplace noise is all that has no end."""
    if any(isinstance(law, MixtureLaw) for law in laws):
        parts = [list(_weighed(law)) for law in laws]
        inner = iter(folded([part for some in parts for _, part in some]))
        return [MixtureLaw(tuple((weight, next(inner)) for weight, _ in some)) for some in parts]
    products = [law for law in laws if isinstance(law, ProductLaw)]
    if len(products) == len(laws) and len({len(law.parts) for law in products}) == 1:
        columns = [folded(column) for column in zip(*(law.parts for law in products), strict=True)]
        return [ProductLaw(parts) for parts in zip(*columns, strict=True)] if columns else list(laws)
    return _clamped(laws)


def _weighed(law: Law) -> Iterator[tuple[Fraction, Law]]:
    if isinstance(law, MixtureLaw):
        for weight, part in law.parts:
            yield from ((weight * inner, leaf) for inner, leaf in _weighed(part))
    else:
        yield Fraction(1), law


def _clamped(laws: Sequence[Law]) -> list[Law]:
    shifted = [law for law in laws if isinstance(law, ShiftedLaw)]
    noises = {law.noise for law in shifted if isinstance(law.noise, DiscreteLaplace)}
    if len(shifted) < len(laws) or len(noises) != 1 or any(law.noise not in noises for law in shifted):
        return list(laws)
    noise, centres = noises.pop(), [law.centre for law in shifted]
    low, high = min(centres), max(centres)
    _check_size(high - low + 1)
    with precision(BITS):
        return [
            FiniteLaw({value: clamped_mass(noise, centre, value, low, high) for value in range(low, high + 1)})
            for centre in centres
        ]
