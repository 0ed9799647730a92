"""Brute force over small domains: slow, obvious oracles that anyone can run to check a claimed map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import reduce

from flint import arb

from sfumato.accounting.losses.divergence import Probabilities, hockey_stick, loss_tail, max_divergence, renyi
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike, GroupedDistance
from sfumato.core.law import Remembered, endless
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import BITS, Extended, precision


def neighbours(space: Space, members: Iterable[Data], *, d_in: DistanceLike | Unit = 1) -> Iterator[tuple[Data, Data]]:
    """Lists every ordered pair of the members that are at most ``d_in`` apart."""
    listed, allowed = list(members), space.metric.read(d_in)
    for left in listed:
        for right in listed:
            try:
                close = space.distance(left, right) <= allowed
            except NoDistance:
                close = False
            if close:
                yield left, right


def brute_sensitivity(
    transformation: Transformation, members: Iterable[Data], *, d_in: DistanceLike | Unit = 1
) -> AnyDistance:
    """Finds the largest distance between images of neighbours among some members: a lower bound on any valid map."""
    listed = list(members)  # holds each member, so that its id stays its own
    images = {id(member): transformation.image(member) for member in listed}
    pairs = neighbours(transformation.source, listed, d_in=d_in)
    nearest = transformation.target.metric.read(0)
    distances = (transformation.target.distance(images[id(left)], images[id(right)]) for left, right in pairs)
    return reduce(
        lambda most, far: most.wider(far) if isinstance(most, GroupedDistance) else max(most, far), distances, nearest
    )


def outcome_probabilities(measurement: Measurement, member: Data, *, missed: Fraction = Fraction(0)) -> dict[Data, arb]:
    """Lists the exact distribution of a measurement's outcome on one member, up to a missed mass."""
    law = _law(measurement, member)
    return _chances(law, law, missed)


def _law(measurement: Measurement, member: Data) -> Remembered:
    """Asks for the law on one member, which many neighbours are compared with."""
    if measurement.law is None:
        raise BadArgument("the measurement", "one with a known exact law", measurement.how.mechanism)
    with precision(BITS):
        return Remembered(measurement.law(member))


def _chances(law: Remembered, lister: Remembered, missed: Fraction) -> dict[Data, arb]:
    """The probabilities under a law of the outcomes that another one (or the same) lists."""
    if missed == 0 and endless(lister.law):
        raise BadArgument("missed", "greater than 0: this noise has no end", missed)
    with precision(BITS):
        return {outcome: law.probability(outcome) for outcome in lister.outcomes(missed)}


def brute_epsilon(
    measurement: Measurement, members: Iterable[Data], *, d_in: DistanceLike | Unit = 1, missed: Fraction = Fraction(0)
) -> tuple[Extended, Extended]:
    """Encloses the true pure-DP loss over all neighbouring pairs of some members."""
    return _worst(measurement, members, d_in, missed, max_divergence)


def brute_delta(
    measurement: Measurement,
    members: Iterable[Data],
    *,
    epsilon: Extended,
    d_in: DistanceLike | Unit = 1,
    missed: Fraction = Fraction(0),
) -> tuple[Extended, Extended]:
    """Encloses the true δ at an ε over all neighbouring pairs of some members (outcomes in ``missed`` left out)."""
    return _worst(measurement, members, d_in, missed, lambda p, q: hockey_stick(p, q, epsilon))


def brute_tail(
    measurement: Measurement,
    members: Iterable[Data],
    *,
    epsilon: Extended,
    d_in: DistanceLike | Unit = 1,
    missed: Fraction = Fraction(0),
) -> tuple[Extended, Extended]:
    """Encloses how likely a privacy loss above ε is, over all neighbouring pairs of some members.

    With that as δ the measurement keeps (ε, δ) (see `outside_bad_outcomes`). It is a step of proofs, never a measure to
    report: it does not survive post-processing, and the least δ may be far smaller.
    """
    return _worst(measurement, members, d_in, missed, lambda p, q: loss_tail(p, q, epsilon))


def brute_renyi(
    measurement: Measurement,
    members: Iterable[Data],
    *,
    order: Fraction,
    d_in: DistanceLike | Unit = 1,
    missed: Fraction = Fraction(0),
) -> tuple[Extended, Extended]:
    """Encloses the true Rényi divergence of an order over all neighbouring pairs of some members."""
    return _worst(measurement, members, d_in, missed, lambda p, q: renyi(p, q, order))


def _worst(
    measurement: Measurement,
    members: Iterable[Data],
    d_in: DistanceLike | Unit,
    missed: Fraction,
    divergence: Callable[[Probabilities, Probabilities], tuple[Extended, Extended]],
) -> tuple[Extended, Extended]:
    listed = list(members)  # holds each member, so that its id stays its own
    laws = {id(member): _law(measurement, member) for member in listed}
    low: Extended = Fraction(0)
    high: Extended = Fraction(0)
    for left, right in neighbours(measurement.source, listed, d_in=d_in):
        here, there = (_chances(laws[id(side)], laws[id(left)], missed) for side in (left, right))
        a, b = divergence(here, there)
        low, high = max(low, a), max(high, b)
    return low, high
