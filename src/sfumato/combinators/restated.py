"""Conversion: a measurement's price in another kind of loss."""

from __future__ import annotations

from dataclasses import replace

from sfumato.accounting.convert import convert
from sfumato.accounting.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.plan import constructor
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.guarantee import guarantee


@constructor
@guarantee(
    claim="the loss that the map gives, converted by a proven route",
    proof="proofs/interaction.md#restated",
    reviewed="59f8f22fee64",
)
def measured_in(measurement: Measurement, kind: type[Loss], *, delta: Number | None = None) -> Measurement:
    """Restates what a measurement costs in another kind of loss; nothing else about it changes.

    Compose first and restate once, last: every lossy step costs something each time.

    Takes:      any measurement, interactive or not; a kind of loss to which there is a proven route (`sf.convert`), and
                a δ where (ε, δ) is asked of a loss that has an ε for each δ
    Gives:      the same measurement, with another map
    Guarantee:  what the conversion proves  (proofs/interaction.md#restated, proofs/conversions.md)
    Cost:       nothing

    >>> from sfumato.accounting.measures import Approx
    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> measured_in(scalar(int) >> laplace(scale=10), Approx).map(1)
    Approx(epsilon=0.1, delta=0.0)
    """
    if not isinstance(measurement, Measurement):
        raise BadArgument("measurement", "a measurement: a space, a chain and a mechanism", measurement)
    convert(measurement.measure.nothing(), kind, delta=delta)  # refuses now what there is no route for
    return replace(measurement, measure=kind, privacy=lambda d_in: convert(measurement.map(d_in), kind, delta=delta))
