"""What the one-liners have in common: whom they protect, public bounds, and the least noise for an ε."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Bounds, Data, Floats, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive
from sfumato.release.record import Release
from sfumato.stats.shares import parameter_for
from sfumato.transforms.filters import drop_nan
from sfumato.transforms.rowwise import clamp

SURE = Fraction(95, 100)
"""The confidence of error bars, where nothing else is said."""

ENTRY = Unit("a person with one entry", AddRemove(), 1)
"""Who is protected: whoever has one entry, by its being there at all."""

COLUMN = Space(Vector(Floats(nan=True, infinite=True)), AddRemove())
"""Any column of numbers, of which some may be missing."""

Between: TypeAlias = tuple[Number, Number] | None
"""Public bounds, lower and upper; they must be given, which a message says better than Python would."""


def read_bounds(between: Between, verb: str) -> Bounds:
    """Reads public bounds; says why there must be some."""
    if between is None:
        must = (
            f"given: without bounds one entry could move the {verb} without limit. Write between=(lower, upper), from "
            "what anybody knows and never from the data, such as between=(0, 120) for ages"
        )
        raise BadArgument("between", must, None)
    return Bounds.read(between)


def bounded(between: Between, verb: str) -> Transformation:
    """Leaves out what is missing, and moves the rest into public bounds."""
    bounds = read_bounds(between, verb)
    return COLUMN >> drop_nan() >> clamp(bounds.lower, bounds.upper)


def least_noise(build: Callable[[Fraction], Measurement], epsilon: Number) -> Measurement:
    """Builds the measurement with the least noise that keeps ε for one entry."""
    return build(parameter_for(build, Pure(positive(epsilon, "epsilon")), 1))


def released(measurement: Measurement, data: Data, confidence: Number, entropy: Entropy | None) -> Release:
    """Runs a measurement for those who have one entry each."""
    return measurement(data, d_in=ENTRY, confidence=confidence, entropy=entropy)
