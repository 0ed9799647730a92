"""What a measurement costs in another kind of loss: from the loss that its map gives, or from what it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sfumato.accounting.compose import total
from sfumato.accounting.concentrated import GDP
from sfumato.accounting.convert import convert
from sfumato.accounting.events import Event
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure, lesser
from sfumato.accounting.relation import Relation
from sfumato.accounting.renyi import Renyi
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.spread import Gap
from sfumato.errors import NoProvenRoute
from sfumato.guarantee import guarantee
from sfumato.release.record import Failure

ADDED = (Pure, ZCDP, GDP, Renyi)
"""Kinds whose losses are numbers, or curves that are kept exactly: for these an event is counted anew."""


def restated(measurement: Measurement, kind: type[Loss], delta: Fraction | None = None) -> Measurement:
    """Gives the same measurement with its price in another kind of loss; refuses where no theorem gives one."""
    relation = Relation.ADD_REMOVE if isinstance(measurement.source.metric, AddRemove) else Relation.CHANGE_ONE

    def privacy(d_in: Gap) -> Loss:
        event = None if measurement.event is None else measurement.event(d_in)
        return restated_loss(measurement.privacy(d_in), event, kind, delta, relation)

    privacy(measurement.source.metric.read(0))  # refuses now what there is no route for
    failure = measurement.how.failure
    if kind is Approx and delta and failure is Failure.NONE:
        failure = Failure.GRACEFUL
    return replace(measurement, measure=kind, privacy=privacy, how=replace(measurement.how, failure=failure))


@guarantee(
    claim="the lesser of the loss that the map gives, converted, and that of the event, counted in the kind; at a δ, "
    "by way of its Gaussian loss",
    proof="proofs/interaction.md#restated",
    reviewed="55a57fc93222",
)
def restated_loss(
    loss: Loss, event: Event | None, kind: type[Loss], delta: Fraction | None, relation: Relation
) -> Loss:
    """Gives a loss in another kind, from the loss itself or from the event that has it."""
    ways: list[Callable[[], Loss]] = [lambda: convert(loss, kind, delta=delta)]
    if event is not None and kind is Approx and delta:
        ways.append(lambda: convert(total(event, GDP, relation=relation), Approx, delta=delta))
    elif event is not None and kind in ADDED:
        ways.append(lambda: total(event, kind, relation=relation))
    found: list[Loss] = []
    refused: NoProvenRoute | None = None
    for way in ways:
        try:
            found.append(way())
        except NoProvenRoute as refusal:
            refused = refused or refusal
    if not found:
        raise refused or NoProvenRoute("no theorem gives this loss.")
    return lesser(found[-1], found[0])
