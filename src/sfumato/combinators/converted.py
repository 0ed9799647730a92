"""Conversion: a measurement's price in another kind of loss."""

from __future__ import annotations

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.core.measurement import Measurement
from sfumato.core.plan import constructor
from sfumato.core.restating import restate
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.guarantee import guarantee


@constructor
@guarantee(
    claim="the same measurement, at the loss that its map or its event has in another kind",
    proof="proofs/interaction.md#restated",
    reviewed="1d334f8f33d5",
)
def convert_measure(measurement: Measurement, kind: type[Loss], *, delta: Number | None = None) -> Measurement:
    """Restates what a measurement costs in another kind of loss; nothing else about it changes.

    Compose first and restate once, last: every lossy step costs something each time.

    Takes:      any measurement, interactive or not; a kind of loss to which there is a proven route (`sf.convert`), and
                a δ where (ε, δ) is asked of a loss that has an ε for each δ
    Gives:      the same measurement, with another map
    Guarantee:  what the conversion proves  (proofs/interaction.md#restated, proofs/conversions.md)
    Cost:       nothing

    >>> from sfumato.accounting.losses.measures import Approx
    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> convert_measure(scalar(int) >> laplace(scale=10), Approx).map(1)
    Approx(epsilon=0.1, delta=0.0)
    """
    if not isinstance(measurement, Measurement):
        raise BadArgument("measurement", "a measurement: a space, a chain and a mechanism", measurement)
    if not (isinstance(kind, type) and issubclass(kind, Loss)):
        raise BadArgument("kind", "a kind of loss such as sf.ZCDP or sf.Approx", kind)
    if delta is not None and kind is not Approx:
        raise BadArgument("delta", "left out, for only sf.Approx is stated at one δ", delta)
    return restate(measurement, kind, None if delta is None else probability(delta, "delta"))
