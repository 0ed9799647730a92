"""Calibration: the least noise (or the most use) that keeps a promise, and the most noise that keeps an error bar."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from sfumato.accounting.calibrate import greatest, least
from sfumato.accounting.measures import Approx, Loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.restating import restated
from sfumato.core.spread import Stated
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Extended, Number, positive, probability
from sfumato.guarantee import guarantee

Parameter = TypeVar("Parameter", Fraction, int)


@guarantee(
    claim="the measurement built from the answer keeps the loss at d_in",
    proof="proofs/framework.md#calibration",
    reviewed="77a9a6096c8f",
)
def calibrate_parameter(
    build: Callable[[Fraction], Measurement], *, d_in: Stated | Unit, loss: Loss, largest: bool = False
) -> Fraction:
    """Finds the least parameter (with ``largest``, the greatest) whose measurement keeps the loss at distance ``d_in``.

    The search runs over all positive floats and the answer itself satisfies the bound: rounding can only cost accuracy.
    """
    if not isinstance(loss, Loss):
        raise BadArgument("loss", "a privacy loss such as sf.Pure(0.5)", loss)
    if loss == type(loss).nothing():
        raise CannotCalibrate(
            "a loss of nothing leaves room for no answer that depends on the data; ask for more than 0."
        )

    made = _priced(_builder(build, "calibrate()"), loss)

    def good(parameter: Fraction) -> bool:
        return _apart(made(parameter), d_in).check(d_in, loss)

    return greatest(good) if largest else least(good)


def _apart(made: Measurement, d_in: Stated | Unit) -> Measurement:
    """Refuses a distance at which no two data sets differ, where noise of any scale would do."""
    closest, stated = made.source.closest, made.source.metric.read(d_in)
    if closest > 1 and 0 < stated < closest:
        raise BadArgument(
            "d_in",
            f"at least {closest}: the number of rows is public, so none differ by one row added or removed, "
            "and no noise would be needed. Declare the data under sf.ChangeOne(), where 1 is one row changed",
            stated,
        )
    return made


def _builder(build: Callable[[Fraction], Measurement], verb: str) -> Callable[[Fraction], Measurement]:
    """Checks what people give for a function from a parameter to a measurement, and what it builds."""
    if not callable(build) or isinstance(build, Measurement | Transformation | Partial):
        wanted = "a function from a scale to a measurement: lambda scale: … >> laplace(scale)"
        raise BadArgument(f"what {verb} is given", wanted, type(build).__name__)

    def made(parameter: Fraction) -> Measurement:
        built = build(parameter)
        if not isinstance(built, Measurement):
            wanted = "a measurement; begin its chain with a space"
            raise BadArgument("what the function builds", wanted, type(built).__name__)
        return built

    return made


def calibrate(
    build: Callable[[Fraction], Measurement], *, d_in: Stated | Unit, loss: Loss, largest: bool = False
) -> Measurement:
    """Builds the measurement with the least noise that keeps a loss.

    ``build`` takes one positive parameter and gives a measurement whose loss falls as the parameter grows (with
    ``largest``: rises, and the greatest parameter is sought).
    """
    return _priced(build, loss)(calibrate_parameter(build, d_in=d_in, loss=loss, largest=largest))


def _priced(build: Callable[[Fraction], Measurement], loss: Loss) -> Callable[[Fraction], Measurement]:
    """Gives a function whose measurements are priced in the kind of a loss, restated where they are not."""

    def made(parameter: Fraction) -> Measurement:
        built = build(parameter)
        if built.measure is type(loss):
            return built
        return restated(built, type(loss), loss.delta if isinstance(loss, Approx) else None)

    return made


def calibrate_to_accuracy(
    build: Callable[[Fraction], Measurement], *, half_width: Number, confidence: Number = 0.95
) -> Measurement:
    """Builds the measurement with the most noise whose error bar is still within a half-width.

    ``build`` takes one positive parameter and gives a measurement whose error grows with it. What it costs follows from
    its map; the error is that of the mechanism and says nothing of clamping or sampling.

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> count = calibrate_to_accuracy(lambda scale: scalar(int) >> laplace(scale), half_width=10)
    >>> str(count.map(1))
    'ε = 0.284349'
    """
    made = _builder(build, "calibrate_to_accuracy()")
    width, sure = positive(half_width, "half_width"), probability(confidence, "confidence")
    return made(greatest(lambda parameter: error_bar(made(parameter), sure) <= width))


def error_bar(made: Measurement, confidence: Fraction) -> Extended:
    """Gives the half-width of a measurement's one error bar, or says that it has none."""
    found = None if made.error is None else made.error(confidence)
    if isinstance(found, bool) or not isinstance(found, int | float | Fraction):
        wanted = "with one error bar on file: additive noise, before any post-processing"
        raise BadArgument("the measurement", wanted, made.how.mechanism)
    return found if found == math.inf else Fraction(found)
