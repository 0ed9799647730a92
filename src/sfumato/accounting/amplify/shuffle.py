"""What it saves that the reports of many units are put in random order before anyone sees them.

Each unit runs the same kind of local randomizer on its own data, pure at ε0 or (ε0, δ0), and sends one report that
carries nothing else. The neighbours exchange one unit's data; the number of reports is public. If the shuffler fails,
what one report keeps remains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from sfumato.accounting.amplify.blanket import LEAST
from sfumato.accounting.amplify.epsilon_search import least_epsilon
from sfumato.accounting.amplify.protocols import generic_delta, protocol_delta, protocol_spread
from sfumato.accounting.amplify.tilted_sum import NOISE, ROUGH
from sfumato.accounting.events import Event
from sfumato.accounting.events.hiding import Hides
from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import Promise, Promises
from sfumato.accounting.relation import Relation
from sfumato.accounting.tables import shuffler
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, ball, integer, lower, non_negative, rational, up, upper
from sfumato.guarantee import guarantee

POINTS = 96
"""How many promises stand for the profile of shuffled reports."""

REACH = 8
"""They lie evenly up to so many times the spread of the privacy loss."""


FLOOR = Fraction(1, 1 << 64)
"""A δ of the profile of shuffled reports below this need not be sharp."""

BASES = 4
"""How many promises of a local randomizer that is not pure are built on."""


def shuffled_delta(epsilon0: Number | Hides, *, reports: int, epsilon: Number) -> Fraction:
    """A δ at an ε for shuffled reports, rounded up: of any local randomizer that is pure at ε0, or of one protocol.

    >>> round(float(shuffled_delta(1, reports=1000, epsilon=0.1)) * 1e4, 4)
    0.8201
    """
    local, count = _local(epsilon0), integer(reports, "reports", least=1)
    return _delta_at(local, count, non_negative(epsilon, "epsilon"), LEAST)


def shuffled_epsilon(epsilon0: Number | Hides, *, reports: int, delta: Number) -> Fraction:
    """An ε at a δ for shuffled reports of any local randomizer that is pure at ε0, or of one protocol.

    It is never more than ε0; that of a protocol is never more than that of its ε0.

    >>> round(float(shuffled_epsilon(1, reports=10_000, delta=1e-6)), 5)
    0.04321
    >>> from sfumato.accounting.events import Hiding
    >>> round(float(shuffled_epsilon(Hiding.of_response(10, "1/4"), reports=10_000, delta=1e-6)), 5)
    0.02705
    """
    local, count, allowed = _local(epsilon0), integer(reports, "reports", least=1), _delta(delta)
    most = Fraction(local.epsilon0) if isinstance(local, Hides) else local
    wide = protocol_spread(local, count) if isinstance(local, Hides) else _spread(local, count)
    return least_epsilon(
        lambda epsilon, noise: _delta_at(local, count, epsilon, allowed, noise), allowed, most=most, wide=wide
    )


def _local(value: Number | Hides) -> Fraction | Hides:
    return value if isinstance(value, Hides) else non_negative(value, "epsilon0")


def _delta_at(
    local: Fraction | Hides, reports: int, epsilon: Fraction, least: Fraction, noise: float = NOISE
) -> Fraction:
    if isinstance(local, Hides):
        return protocol_delta(local, reports, epsilon, least, noise=noise)
    return generic_delta(local, reports, epsilon, least, noise=noise)


def _spread(epsilon0: Fraction, reports: int) -> float:
    """About how far the privacy loss of shuffled reports spreads, in floats."""
    grown = math.expm1(min(50.0, up(epsilon0)))
    return min(up(epsilon0), 2 * grown / math.sqrt((grown + 2) * reports))


@guarantee(
    claim="ln(1 + (e^e0 - 1)/(e^e0 + 1) (8 sqrt(e^e0 ln(4/delta)/n) + 8 e^e0/n)) where e0 <= ln(n/(16 ln(2/delta))), "
    "rounded up; never more than e0",
    proof="proofs/shuffling.md#closed-form",
    reviewed="e3d1c0191444",
)
def shuffled_epsilon_closed(epsilon0: Number, *, reports: int, delta: Number) -> Fraction:
    """The closed-form ε of Feldman, McMillan and Talwar (2021), and ε0 itself outside its range.

    `shuffled_epsilon` is several times smaller.

    >>> round(float(shuffled_epsilon_closed(1, reports=10_000, delta=1e-6)), 5)
    0.21403
    """
    local, count, allowed = non_negative(epsilon0, "epsilon0"), integer(reports, "reports", least=2), _delta(delta)
    if not local <= lower(lambda: (count / (16 * ball(2 / allowed).log())).log()):
        return local

    def enclosed() -> arb:
        grown = ball(local).exp()
        root = (grown * ball(4 / allowed).log() / count).sqrt()
        closed: arb = (ball(local).expm1() / (grown + 1) * (8 * root + 8 * grown / count)).log1p()
        return closed

    return min(local, Fraction(upper(enclosed)))


@shuffler(Pure)
@guarantee(
    claim="one unit exchanged: the loss of its own report, since shuffling is post-processing",
    proof="proofs/shuffling.md#pure",
    reviewed="83dfe1485f54",
)
def shuffled_pure(
    inner: Event, reports: int, relation: Relation, total: Callable[[Event], Pure], hiding: Hides | None = None
) -> Pure:
    """The pure loss of shuffled reports: without a δ, that of one report."""
    _exchanged_only(relation)
    return total(inner)


@shuffler(Profile)
@guarantee(
    claim="one unit exchanged: the certified delta at each of some epsilons, by the numbers of the protocol or by some "
    "promises of the local randomizer, and what one report keeps",
    proof="proofs/shuffling.md#profile",
    reviewed="5f52f0f26f86",
)
def shuffled_profile(
    inner: Event, reports: int, relation: Relation, total: Callable[[Event], Profile], hiding: Hides | None = None
) -> Profile:
    """The profile of shuffled reports of a local randomizer."""
    _exchanged_only(relation)
    local = total(inner)
    promises = list(local.points)
    if hiding is not None:
        steps = _steps(Fraction(hiding.epsilon0), protocol_spread(hiding, reports))
        return Profile(promises + [(step, protocol_delta(hiding, reports, step, FLOOR, noise=ROUGH)) for step in steps])
    for epsilon0, delta0 in _bases(local.points, reports):
        steps = _steps(epsilon0, _spread(epsilon0, reports))
        promises += [(epsilon, approximate_delta(epsilon0, delta0, reports, epsilon)) for epsilon in steps]
    return Profile(promises)


def _steps(epsilon0: Fraction, spread: float) -> list[Fraction]:
    """At which ε the profile promises a δ."""
    return sorted({min(epsilon0, Fraction(spread * REACH * step / POINTS)) for step in range(POINTS)} | {epsilon0})


def _bases(points: Promises, reports: int) -> list[Promise]:
    """Which promises of a local randomizer to build on: a few of those whose δ, n times over, is small."""
    useful = [(epsilon, delta) for epsilon, delta in points if 8 * delta * reports < math.exp(min(up(epsilon), 40.0))]
    return sorted({*useful[:: -(-len(useful) // BASES) or 1], *useful[-1:]})


@guarantee(
    claim="delta of shuffled reports that are pure, and (1 + e^epsilon) (1 + 3 (n - 1) e^(-e0)) delta0; at most 1",
    proof="proofs/shuffling.md#approximate",
    reviewed="211310a8094a",
)
def approximate_delta(epsilon0: Fraction, delta0: Fraction, reports: int, epsilon: Fraction) -> Fraction:
    """A δ at an ε for shuffled reports of any local randomizer that keeps (ε0, δ0), rounded up."""
    pure = generic_delta(epsilon0, reports, epsilon, FLOOR, noise=ROUGH)
    if delta0 == 0:
        return pure
    others = 3 * (reports - 1)
    more = upper(lambda: (1 + ball(epsilon).exp()) * (1 + others * ball(-epsilon0).exp()) * ball(delta0))
    return min(Fraction(1), pure + Fraction(more))


def _exchanged_only(relation: Relation) -> None:
    if relation is not Relation.CHANGE_ONE:
        raise NoProvenRoute(
            "the number of shuffled reports is public, so one unit more or fewer would show. "
            "Ask under sf.accounting.Relation.CHANGE_ONE."
        )


def _delta(value: Number) -> Fraction:
    read = rational(value, "delta")
    if not 0 < read < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", value)
    return read
