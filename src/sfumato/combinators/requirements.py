"""What combinators ask of a measurement that they wrap."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.errors import BadArgument, NoProvenRoute

Component = Measurement | Partial[Measurement]
"""A measurement, or one that waits for its space."""


def components(measurements: object) -> list[Component]:
    """Reads a list of one or more measurements."""
    listed = list(measurements) if isinstance(measurements, Sequence) else []
    if not listed or not all(isinstance(component, Measurement | Partial) for component in listed):
        raise BadArgument("measurements", "a list of one or more measurements", measurements)
    return listed


def one_shot(inner: object, verb: str) -> Measurement:
    """Passes on a measurement that answers once; refuses anything else in the name of the verb."""
    if not isinstance(inner, Measurement):
        raise BadArgument(f"what {verb}() takes", "a measurement: end the chain with a mechanism", "a transformation")
    if inner.interactive:
        raise BadArgument(f"what {verb}() takes", "a measurement that answers once", "an interactive one")
    return inner


def require_theorem(inner: object, verb: str) -> Measurement:
    """Passes on a measurement that answers once, of a loss for which the verb has theorems: Pure, Approx, Renyi."""
    checked = one_shot(inner, verb)
    if checked.measure not in (Pure, Approx, Renyi):
        raise NoProvenRoute(
            f"no theorem says what {verb}() costs in {checked.measure.__name__}. Restate the loss of the measurement "
            "first: sf.convert_measure(measurement, sf.Renyi), or sf.Approx with a delta."
        )
    return checked
