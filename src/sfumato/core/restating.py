"""What a measurement costs in another kind of loss: from the loss that its map gives, or from what it runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.compose import total
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Event, Noise, Stated
from sfumato.accounting.facts.gaussian import discrete_gaussian_epsilon, exact_discrete_delta
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure, lesser
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.core.grouped_distance import AnyDistance, DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit
from sfumato.errors import NoProvenRoute
from sfumato.exact import rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.release.record import Failure

GAIN = Fraction(1, 1 << 16)
"""The ε of discrete noise is looked for where it is below what its Gaussian loss says by this much, relatively."""

ALIKE = Fraction(1, 10**6)
"""Where ρ is half of μ² but for this much, relatively, the ε of ρ is above that of μ, and is not looked for."""

ADDED = (Pure, ZCDP, GDP, Renyi)
"""Kinds with losses that are numbers, or curves kept exactly: for these an event is counted anew."""


def cost_of(measurement: Measurement, d_in: DistanceLike | Unit, price: Loss) -> Cost:
    """What a measurement costs at a distance: a price that covers it, and the event that it runs."""
    if measurement.event is None or isinstance(event := measurement.event_at(d_in), Stated):
        return Cost.of(price)
    return Cost(price, event, relation_of(measurement))


def relation_of(measurement: Measurement) -> Relation:
    """Which data sets are neighbours to a measurement, in the words of the accountant."""
    return Relation.ADD_REMOVE if isinstance(measurement.source.metric, AddRemove) else Relation.CHANGE_ONE


def restate(measurement: Measurement, kind: type[Loss], delta: Fraction | None = None) -> Measurement:
    """The same measurement with its price in another kind of loss; refuses where no theorem gives one."""
    relation = relation_of(measurement)

    def privacy_map(d_in: AnyDistance) -> Loss:
        event = None if measurement.event is None else measurement.event(d_in)
        return restated_loss(measurement.privacy_map(d_in), event, kind, delta, relation)

    privacy_map(measurement.source.metric.read(0))  # refuses now what there is no route for
    failure = measurement.how.failure
    if kind is Approx and delta and failure is Failure.NONE:
        failure = Failure.GRACEFUL
    return replace(measurement, measure=kind, privacy_map=privacy_map, how=replace(measurement.how, failure=failure))


@guarantee(
    claim="an ε at which δ(ε), by the Gaussian loss of the event or by the exact profile of its noise, is at most δ",
    proof="proofs/interaction.md#restated",
    reviewed="79ca26116692",
)
def gaussian_loss_at(event: Event, delta: Fraction, relation: Relation) -> Approx:
    """The ε at a δ of an event with a Gaussian loss; of discrete noise on one number nearly the least there is."""
    bound = convert(total(event, GDP, relation=relation), Approx, delta=delta)
    match event:
        case Noise(noise=DiscreteGaussian() as noise, shift=shift, coordinates=1) if 0 < bound.epsilon < math.inf:
            whole, high = math.floor(rational_up(shift)), Fraction(bound.epsilon)
            if exact_discrete_delta(noise, whole, high * (1 - GAIN)) > delta:
                return bound
            return Approx(min(high, discrete_gaussian_epsilon(noise, shift=whole, delta=delta)), delta)
        case _:
            return bound


@guarantee(
    claim="the lesser of the loss that the map gives, converted, and that of the event, counted in the kind; at a δ, "
    "by way of its Gaussian loss",
    proof="proofs/interaction.md#restated",
    reviewed="dd494b37f7b4",
)
def restated_loss(
    loss: Loss, event: Event | None, kind: type[Loss], delta: Fraction | None, relation: Relation
) -> Loss:
    """A loss in another kind, from the loss itself or from the event that has it."""
    ways: list[Callable[[], Loss]] = [lambda: convert(loss, kind, delta=delta)]
    if event is not None and kind is Approx and delta:
        ways = [] if _is_gaussian(event, loss, relation) else ways
        ways.append(lambda: gaussian_loss_at(event, delta, relation))
    elif event is not None and kind in ADDED:
        ways.append(lambda: total(event, kind, relation=relation))
    losses: list[Loss] = []
    refused: NoProvenRoute | None = None
    for way in ways:
        try:
            losses.append(way())
        except NoProvenRoute as refusal:
            refused = refused or refusal
    if not losses:
        raise refused or NoProvenRoute("no theorem gives this loss.")
    return lesser(losses[-1], losses[0])


def _is_gaussian(event: Event, loss: Loss, relation: Relation) -> bool:
    """Tells whether a loss is the ρ of the Gaussian loss that an event has."""
    try:
        return isinstance(loss, ZCDP) and total(event, GDP, relation=relation).square <= 2 * loss.rho * (1 + ALIKE)
    except NoProvenRoute:
        return False
