"""What combinators ask of a measurement that they wrap."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.accounting.measures import Approx, Pure
from sfumato.accounting.renyi import Renyi
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.errors import BadArgument, NoProvenRoute

Component = Measurement | Partial[Measurement]
"""A measurement, or one that waits for its space."""


def components(measurements: object) -> list[Component]:
    """Gives a list of measurements, or says that one is needed."""
    given = list(measurements) if isinstance(measurements, Sequence) else []
    if not given or not all(isinstance(one, Measurement | Partial) for one in given):
        raise BadArgument("measurements", "a list of one or more measurements", measurements)
    return given


def answering(inner: object, verb: str) -> Measurement:
    """Gives a measurement that answers once, or says what the verb needs."""
    if not isinstance(inner, Measurement):
        raise BadArgument(f"what {verb}() takes", "a measurement: end the chain with a mechanism", "a transformation")
    if inner.interactive:
        raise BadArgument(f"what {verb}() takes", "a measurement that answers once", "an interactive one")
    return inner


def proven(inner: object, verb: str) -> Measurement:
    """Gives a measurement that answers once and of a loss for which the verb has theorems: Pure, Approx, Renyi."""
    found = answering(inner, verb)
    if found.measure not in (Pure, Approx, Renyi):
        raise NoProvenRoute(
            f"no theorem says what {verb}() costs in {found.measure.__name__}. Restate the loss of the measurement "
            "first: sf.measured_in(measurement, sf.Renyi), or sf.Approx with a delta."
        )
    return found
