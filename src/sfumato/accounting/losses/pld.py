"""The privacy-loss distribution as a loss: dominating pairs and how often each is used, evaluated with a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Self, TypeAlias, TypeVar, final

from sfumato.accounting.facts.gaussian import TINY, epsilon_near, exact_gaussian_delta
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import Promise
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.plans.search import least
from sfumato.accounting.pld.evaluate import TOLERANCE, delta_bracket, end_of, epsilon_bracket
from sfumato.accounting.pld.leaks import last_epsilon
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.grouped import grouped_pair
from sfumato.accounting.pld.pairs.order import dominates, either
from sfumato.accounting.pld.pairs.pair import Pair, rank
from sfumato.accounting.pld.pairs.table import TablePair
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Number, integer, non_negative, positive, rational, root
from sfumato.guarantee import guarantee
from sfumato.plain import record

Composition = tuple[tuple[Pair, int], ...]
"""Distinct dominating pairs and how often each is used; the order carries no meaning."""

DOUBT = Fraction(1, 1 << 60)
"""More than the relative doubt that `exact_gaussian_delta` leaves, above `TINY`."""

L = TypeVar("L", bound=Loss)

Ask: TypeAlias = Callable[[Composition, float, Bracket | None], Bracket]
"""Encloses what is asked of a composition, to a width, where a wider bracket may be known."""

ROUGH = 1e-2
"""How wide a first look at several directions is, unless wider brackets are asked for."""

WANTED = "one or more lists of (pair, count)"

LONGEST = 4096
"""Squares with denominators of more bits than this are rounded up; brackets then speak of the rounded plan."""

HALVINGS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48)
"""A distribution becomes a profile by its δ at ε = 0, and its ε where δ is one half to each of these powers."""

FINEST = 1e-8
"""No narrower bracket than this is aimed at."""

MOST_ALTERNATIVES, MOST_GROUPS = 64, 1024
"""More alternatives, or groups of parallel parts, are not kept apart: pairs that dominate all stand for them."""


@final
@record("PLD", repr=False)
class PLD(Loss):
    """A privacy-loss distribution, by the dominating pairs that make it up.

    Nothing is worked out until δ or ε is asked for, and then as a certified bracket: what is composed, and in what
    order, leaves no trace in the answer. Of several alternatives (parallel parts) the worst counts; so does the worse
    direction of each. In a composition every use may meet another one: there, pairs that dominate all stand for them.
    All pairs are the same way round: where one unit is added or removed, the first side has it.

    >>> PLD.of(GaussianPair(Fraction(1, 900)), 1000).epsilon(1e-6)
    Bracket(5.18903..., 5.18903...)
    """

    alternatives: tuple[Composition, ...]

    def __init__(self, alternatives: Iterable[Iterable[tuple[Pair, int]]]) -> None:
        made = {merged(parts) for parts in _listed(alternatives)}
        if not made:
            raise BadArgument("alternatives", WANTED, alternatives)
        kept: list[Composition] = []
        for one in sorted(made, key=rank) if len(made) > 1 else made:
            if not any(_included(one, other) for other in kept):
                kept = [other for other in kept if not _included(other, one)] + [one]
        object.__setattr__(self, "alternatives", tuple(kept))

    @classmethod
    def of(cls, pair: Pair, count: int = 1) -> PLD:
        """The loss of one pair, used ``count`` times."""
        return cls([[(pair, count)]])

    @classmethod
    def of_table(cls, here: Iterable[Number], there: Iterable[Number]) -> PLD:
        """The loss of a mechanism whose outcomes are listed: their probabilities on two neighbours, each adding to 1.

        Both ways round are covered. Of several pairs of neighbours take `PLD.widest`.

        >>> round(float(PLD.of_table([0.5, 0.4, 0.1], [0.4, 0.5, 0.1]).delta(0).upper), 9)
        0.1
        """
        return cls.of(TablePair(here, there))

    @classmethod
    def nothing(cls) -> PLD:
        return cls([[]])

    def then(self, other: PLD) -> PLD:
        self._same(other)
        if () in (self.alternatives[0], other.alternatives[0]):
            return self if other.alternatives[0] == () else other
        return PLD([[*covering(self.alternatives), *covering(other.alternatives)]])

    def within(self, limit: PLD) -> bool:
        """Tells whether this loss is certainly no more than the limit: each alternative is part of one of the limit's.

        Other pairs are compared only by what they dominate for certain; where that cannot be told, the answer is no.
        """
        self._same(limit)
        return all(any(_included(one, other) for other in limit.alternatives) for one in self.alternatives)

    @classmethod
    def widest(cls, losses: Sequence[Self], *, count: int = 1) -> Self:
        """A loss that no composition of ``count`` of these exceeds."""
        whole = integer(count, "count", least=1)
        if not isinstance(losses, Iterable):
            raise BadArgument("losses", "a list of losses", losses)
        for loss in losses:
            cls.nothing()._same(loss)
        if not losses:
            return cls.nothing()
        many = min(whole, len(losses))
        if many == 1:
            worst = cls(one for loss in losses for one in loss.alternatives)
            return worst if len(worst.alternatives) <= MOST_ALTERNATIVES else cls([covering(worst.alternatives)])
        # A unit that is exchanged leaves some parts and enters others: each may be met either way round.
        both = [cls.widest([loss, loss.turned()]) for loss in losses]
        if math.comb(len(losses), many) * 2**many > MOST_GROUPS:
            return cls.widest(both).times(many)
        groups = set(combinations(sorted(losses, key=rank), many))
        turned = {way for group in groups for way in product(*({loss, loss.turned()} for loss in group))}
        return cls.widest([_composed(way, cls.nothing()) for way in sorted(turned, key=rank)])

    @guarantee(
        claim="of each pair that of its group, or the pair of its trade-off curve chained with itself",
        proof="proofs/group_privacy.md#pairs",
        reviewed="f99332c4c0a4",
    )
    def group(self, size: int) -> PLD:
        """The loss for groups: exact for noise of a shift and pure losses, else by the trade-off curve of each pair."""
        whole = integer(size, "size", least=1)
        if whole == 1:
            return self
        parts = [
            (grouped_pair(pair, whole) or _chained(pair, whole), count) for pair, count in covering(self.alternatives)
        ]
        return PLD([parts])

    def times(self, count: int) -> PLD:
        """Composes a loss with itself, ``count`` times in all."""
        whole = integer(count, "count", least=0)
        if whole == 1:
            return self
        return PLD([[(pair, uses * whole) for pair, uses in covering(self.alternatives)]])

    def epsilon(self, delta: Number, *, tolerance: float = TOLERANCE) -> Bracket:
        """Encloses the least ε at which (ε, δ) holds."""
        allowed = rational(delta, "delta")
        if not 0 < allowed < 1:
            raise BadArgument("delta", "greater than 0 and less than 1", delta)
        return _worst(
            self._directions(), lambda parts, width, near: _epsilon(parts, allowed, width, near), _width(tolerance)
        )

    def delta(self, epsilon: Number, *, tolerance: float = TOLERANCE) -> Bracket:
        """Encloses the least δ at which (ε, δ) holds."""
        at = non_negative(epsilon, "epsilon")
        return _worst(self._directions(), lambda parts, width, _: _delta(parts, at, width), _width(tolerance))

    @guarantee(
        claim="promises at chosen deltas, each the upper end of a bracket, and where all finite losses end",
        proof="proofs/conversions.md#distribution-approximate",
        reviewed="e0ae91b60d3c",
    )
    def promises(self) -> list[Promise]:
        """Pairs (ε, δ) that hold together, by which the distribution becomes a profile."""
        kept = [(Fraction(0), min(Fraction(1), Fraction(self.delta(0).upper))), *self.end()]
        for power in HALVINGS:
            delta = Fraction(1, 2**power)
            epsilon = self.epsilon(delta).upper
            kept += [] if epsilon == math.inf else [(Fraction(epsilon), delta)]
        return kept

    @guarantee(
        claim="an epsilon that no finite loss exceeds, either way round, with the chance of an infinite one",
        proof="proofs/pairs.md#largest",
        reviewed="464da140a874",
    )
    def end(self) -> list[Promise]:
        """The promise at which the finite losses end; none where they do not."""
        ends = [end_of(composition) for composition in self._directions()]
        known = [(end[0], end[2]) for end in ends if end is not None]
        return [(max(end for end, _ in known), max(leak for _, leak in known))] if len(known) == len(ends) else []

    def turned(self) -> Self:
        """The same loss the other way round."""
        return type(self)([(pair.reversed(), count) for pair, count in one] for one in self.alternatives)

    def _directions(self) -> list[Composition]:
        """Lists what must be looked at: every alternative, both ways round where that makes a difference."""
        known = set(self.alternatives)
        return [*self.alternatives, *(one for one in self.turned().alternatives if one not in known)]

    def __repr__(self) -> str:
        return f"PLD({list(map(list, self.alternatives))!r})"

    def __str__(self) -> str:
        uses = max(sum(count for _, count in one) for one in self.alternatives)
        return f"privacy-loss distribution of {uses} use{'' if uses == 1 else 's'}"


def _chained(pair: Pair, size: int) -> Pair:
    """A pair for groups from the trade-off curve of one pair, both ways round."""
    return TradeOff.of(Profile(PLD.of(pair).promises())).group(size).profile().pair()


def _listed(alternatives: object) -> Iterable[Iterable[tuple[Pair, int]]]:
    """Reads lists of (pair, count)."""
    try:
        return [[(pair, count) for pair, count in parts] for parts in alternatives]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise BadArgument("alternatives", WANTED, alternatives) from None


def _composed(losses: Sequence[L], start: L) -> L:
    for loss in losses:
        start = start.then(loss)
    return start


@guarantee(
    claim="each alternative is, step by step, dominated by this composition",
    proof="proofs/pairs.md#either",
    reviewed="2ea733ccc052",
)
def covering(alternatives: Sequence[Composition]) -> Composition:
    """One composition that dominates each of several, also where answers decide which of them is met."""
    if len(alternatives) == 1:
        return alternatives[0]
    waiting = [list(reversed(one)) for one in alternatives]
    steps_of_all: list[tuple[Pair, int]] = []
    while waiting := [steps for steps in waiting if steps]:
        uses = min(steps[-1][1] for steps in waiting)
        steps_of_all.append((either(*(steps[-1][0] for steps in waiting)), uses))
        for steps in waiting:
            pair, count = steps.pop()
            steps.extend([(pair, count - uses)] if count > uses else [])
    return merged(steps_of_all)


@guarantee(
    claim="Gaussian pairs compose by adding their squares; equal pairs by adding their counts",
    proof="proofs/pairs.md#merge",
    reviewed="395ee806691b",
)
def merged(parts: Iterable[tuple[Pair, int]]) -> Composition:
    """Puts equal pairs together, and all Gaussian ones into one."""
    counts: dict[Pair, int] = {}
    square = Fraction(0)
    for pair, count in parts:
        uses = integer(count, "count", least=0)
        if not isinstance(pair, Pair):
            raise BadArgument("pair", "a dominating pair, as those that sf.total(event, sf.PLD) is made of", pair)
        if isinstance(pair, GaussianPair):
            square += pair.square * uses
        elif uses:
            counts[pair] = counts.get(pair, 0) + uses
    if square:
        counts[GaussianPair(shortened(square))] = 1
    return tuple(sorted(counts.items(), key=rank))


def shortened(value: Fraction) -> Fraction:
    """A rational itself, unless it has very many digits: then one just above it, by less than 2⁻²⁵⁰ of it."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    if value.denominator.bit_length() <= LONGEST:
        return value
    unit = Fraction(2) ** (size - 256)
    return math.ceil(value / unit) * unit


def _included(one: Composition, other: Composition) -> bool:
    """Tells whether every pair of one composition is dominated by one of another that is used at least as often.

    Two pairs of the first may not rely on the same one of the second.
    """
    left = dict(other)
    for pair, count in one:
        cover = next((large for large, uses in left.items() if uses >= count and dominates(large, pair)), None)
        if cover is None:
            return False
        left[cover] -= count
    return True


def _width(tolerance: float) -> float:
    return max(float(positive(tolerance, "tolerance")), FINEST)


def _worst(directions: Sequence[Composition], ask: Ask, tolerance: float) -> Bracket:
    """The largest of several brackets; those that a rough look shows to be below another are left at that."""
    if len(directions) == 1:
        return ask(directions[0], tolerance, None)
    wide = max(tolerance, ROUGH)
    rough = sorted(((ask(parts, wide, None), parts) for parts in directions), key=lambda it: -it[0].upper)
    best: Bracket | None = None
    for bracket, parts in rough:
        if best is None or bracket.upper > best.lower:
            narrow = bracket.upper != math.inf and bracket.upper - bracket.lower <= tolerance * bracket.upper
            bracket = bracket if narrow else ask(parts, tolerance, bracket)
        best = bracket if best is None else Bracket(max(best.lower, bracket.lower), max(best.upper, bracket.upper))
    return best or Bracket(Fraction(0), Fraction(0))


def _epsilon(parts: Composition, delta: Fraction, tolerance: float, near: Bracket | None) -> Bracket:
    if not parts:
        return Bracket(Fraction(0), Fraction(0))
    if len(parts) == 1 and isinstance(parts[0][0], GaussianPair):
        return gaussian_epsilon_bracket(parts[0][0].square, delta)
    bracket = epsilon_bracket(parts, delta, tolerance=tolerance, near=near)
    return bracket if bracket.upper < math.inf else Bracket(bracket.lower, last_epsilon(parts, delta))


def _delta(parts: Composition, epsilon: Fraction, tolerance: float) -> Bracket:
    if not parts:
        return Bracket(Fraction(0), Fraction(0))
    if len(parts) == 1 and isinstance(parts[0][0], GaussianPair):
        high = exact_gaussian_delta(epsilon, root(parts[0][0].square), Fraction(1))
        return Bracket(high * (1 - DOUBT) if high > TINY else Fraction(0), high)
    return delta_bracket(parts, epsilon, tolerance=tolerance)


@guarantee(
    claim="floats at which the exact delta(eps) of N(mu, 1) against N(0, 1) is at most and above the wanted one",
    proof="proofs/pairs.md#gaussian-closed",
    reviewed="e1bea20ef9d9",
)
def gaussian_epsilon_bracket(square: Fraction, delta: Fraction) -> Bracket:
    """Encloses ε(δ) of a Gaussian pair by its closed form."""
    shift = root(square)
    if exact_gaussian_delta(Fraction(0), shift, Fraction(1)) <= delta:
        return Bracket(Fraction(0), Fraction(0))
    try:
        near = epsilon_near(shift, delta) if delta else None
        upper = least(lambda epsilon: exact_gaussian_delta(epsilon, shift, Fraction(1)) <= delta, near=near)
    except CannotCalibrate:  # no float is large enough
        return Bracket(Fraction(0), math.inf)
    for bits in (50, 40, 30, 20):
        lower = upper * (1 - Fraction(1, 1 << bits))
        reached = exact_gaussian_delta(lower, shift, Fraction(1))
        if reached > TINY and reached * (1 - DOUBT) > delta:
            return Bracket(lower, upper)
    return Bracket(Fraction(0), upper)
