"""The privacy profile as a loss: finitely many (ε, δ) promises that hold together, and everything between them.

Where one pair (ε, δ) is a point, a profile is the curve: the δ for every ε at once. It composes by products of finite
distributions, which is exact for few promises; for thousands of uses of continuous noise, `PLD` is the tool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import TypeVar, final

from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.profile_points import (
    NOTHING,
    Promises,
    coarse,
    delta_at,
    epsilon_at,
    grouped,
    hull,
    largest,
)
from sfumato.accounting.pld.finite_law import composed, law_of
from sfumato.accounting.pld.pairs.finite import FinitePair
from sfumato.errors import BadArgument, Unseen, elements
from sfumato.exact import (
    Extended,
    Number,
    Root,
    as_distance,
    digits_up,
    integer,
    non_negative,
    probability,
    text,
    up,
)
from sfumato.guarantee import guarantee
from sfumato.plain import record

Kind = TypeVar("Kind", bound=Loss)

GAUSSIAN_POINTS = 256
"""How many promises stand for the profile of a Gaussian, unless the caller wants more or fewer."""

SHOWN = 6
"""A profile with more promises than this is printed with the first and the last ones only."""


@final
@record("Profile", repr=False)
class Profile(Loss):
    """A privacy profile: promises (ε, δ) that hold together, for both orders of any two neighbours.

    Promises that follow from others are left out, and what all of them imply for ε = 0 is written down first.

    >>> profile = Profile([(1, 0), (0.5, 0.1)])
    >>> profile.delta(0.5), profile.epsilon(0)
    (Fraction(1, 10), Fraction(1, 1))
    >>> round(float(profile.delta(0.75)), 6)
    0.056218
    """

    points: Promises

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        object.__setattr__(self, "points", hull([_read(point) for point in _listed(points)]))

    @classmethod
    def of(cls, *losses: Pure | Approx) -> Profile:
        """The profile that pure or approximate losses promise together.

        >>> Profile.of(Pure(1)).epsilon(0)
        Fraction(1, 1)
        """
        if not losses or not all(isinstance(loss, Pure | Approx) for loss in losses):
            raise BadArgument("losses", "one or more Pure or Approx losses", losses)
        return cls([_promise(loss) for loss in losses])

    @classmethod
    def gaussian(cls, shift: Number | Root, *, points: int = GAUSSIAN_POINTS) -> Profile:
        """The profile between two unit Gaussians at most a shift apart (sensitivity over σ), from above.

        >>> 0.1269367 < Profile.gaussian(1).delta(1) < 0.1271
        True
        """
        apart = as_distance(shift, "shift")
        if apart == math.inf:
            raise BadArgument("shift", "finite; bound the sensitivity first", shift)
        return cls(gaussian_promises(apart, integer(points, "points", least=2)))

    def delta(self, epsilon: Number) -> Fraction:
        """The δ that is promised at an ε, rounded up."""
        return delta_at(self.points, non_negative(epsilon, "epsilon"))

    def epsilon(self, delta: Number) -> Extended:
        """The least ε that is promised at a δ, rounded up; ``math.inf`` where none is."""
        return epsilon_at(self.points, probability(delta, "delta"))

    def pair(self) -> FinitePair:
        """Two finite distributions that are at least as easy to tell apart as this profile allows."""
        return law_of(self.points).pair()

    def then(self, other: Profile) -> Profile:
        self._same(other)
        return Profile(composed(self.points, other.points))

    def within(self, limit: Profile) -> bool:
        self._same(limit)
        return kept(self.points, limit.points)

    @classmethod
    def nothing(cls) -> Profile:
        return cls(NOTHING)

    @classmethod
    def widest(cls, losses: Sequence[Profile], *, count: int = 1) -> Profile:
        parts, meeting = cls._read(losses, count)
        return widest_of(parts, meeting, cls.nothing(), lambda some: Profile(largest([one.points for one in some])))

    def group(self, size: int) -> Profile:
        whole = integer(size, "size", least=1)
        return self if whole == 1 else Profile(grouped(self.points, whole))

    def __repr__(self) -> str:
        many = len(self.points) > SHOWN
        shown = [f"({text(epsilon)}, {text(delta)})" for epsilon, delta in self.points]
        return f"Profile([{', '.join([*shown[:2], '…', *shown[-2:]] if many else shown)}])"

    def __str__(self) -> str:
        (first, least), (last, final_delta) = self.points[0], self.points[-1]
        start = f"δ = {digits_up(least)} at ε = {digits_up(first)}"
        end = f", to δ = {digits_up(final_delta)} at ε = {digits_up(last)}" if len(self.points) > 1 else ""
        return f"{start}{end} (profile)"


@guarantee(
    claim="one profile is below another everywhere if it is at every corner of the other",
    proof="proofs/profile.md#within",
    reviewed="673892a18db3",
)
def kept(promises: Promises, limit: Promises) -> bool:
    """Tells whether promises keep all promises of a limit; true only where that is certain."""
    return all(delta_at(promises, epsilon) <= delta for epsilon, delta in limit)


@guarantee(
    claim="a member that is as large as every other can be counted first; the rest by an envelope of all",
    proof="proofs/profile.md#widest",
    reviewed="3b0636c2ec43",
)
def widest_of(losses: Sequence[Kind], count: int, nothing: Kind, envelope: Callable[[list[Kind]], Kind]) -> Kind:
    """A loss that no composition of ``count`` different ones of these losses exceeds."""
    wanted, left = min(integer(count, "count", least=1), len(losses)), list(losses)
    taken: list[Kind] = []
    while len(taken) < wanted:
        place = next((place for place, loss in enumerate(left) if all(one.within(loss) for one in left)), None)
        if len(left) <= wanted - len(taken):
            taken += left
        elif place is not None:
            taken.append(left.pop(place))
        else:
            taken += [envelope(left)] * (wanted - len(taken))
    return reduce(lambda one, other: one.then(other), taken, nothing)


@guarantee(
    claim="delta(eps) = Phi(m/2 - eps/m) - exp(eps) Phi(-m/2 - eps/m), at chosen places, for shifts up to m",
    proof="proofs/profile.md#gaussian",
    reviewed="1ef4d9b8be0b",
)
def gaussian_promises(shift: Fraction | Root | float, points: int) -> list[tuple[Fraction, Fraction]]:
    """Promises for two unit Gaussians at most a finite shift apart, evenly from ε = 0 to a negligible δ."""
    if shift == 0:
        return list(NOTHING)
    # At ε = m²/2 + 12m, δ is below P(Z > 12) < 2**-100: beyond, nobody looks.
    size = up(shift)
    far = Fraction(size) ** 2 / 2 + 12 * Fraction(size)
    places = [Fraction(math.ceil(far * step * 2**24), (points - 1) * 2**24) for step in range(points)]
    return [(place, coarse(exact_gaussian_delta(place, shift, Fraction(1)))) for place in places]


def _listed(points: object) -> list[object]:
    listed = list(points) if isinstance(points, Iterable) and not isinstance(points, str | bytes) else []
    if not listed:
        raise BadArgument("points", "one or more pairs (ε, δ), such as [(1, 1e-6), (2, 1e-9)]", points)
    return listed


def _read(point: object) -> tuple[Fraction, Fraction]:
    if not isinstance(point, Sequence) or isinstance(point, str) or len(point) != 2:
        raise BadArgument("a point of a profile", "a pair (ε, δ)", Unseen())
    with elements():
        return non_negative(point[0], "epsilon"), probability(point[1], "delta")


def _promise(loss: Pure | Approx) -> tuple[Fraction, Fraction]:
    if loss.epsilon == math.inf:
        return Fraction(0), Fraction(1)
    return Fraction(loss.epsilon), loss.delta if isinstance(loss, Approx) else Fraction(0)
