"""Calibration: the least noise (or the most use) that keeps a promise, and the most noise that keeps an error bar."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.accounting.plans.search import about, greatest, least
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.restating import restate
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Extended, Number, positive, probability, up
from sfumato.guarantee import guarantee

Parameter = TypeVar("Parameter", Fraction, int)


@guarantee(
    claim="the measurement built from the answer keeps the loss at d_in",
    proof="proofs/framework.md#calibration",
    reviewed="d36f66b4abb7",
)
def calibrate_parameter(
    build: Callable[[Fraction], Measurement],
    *,
    d_in: DistanceLike | Unit,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    largest: bool = False,
) -> Fraction:
    """Finds the least parameter (with ``largest``, the greatest) at which the loss is kept at distance ``d_in``.

    The search runs over all positive floats and the answer itself satisfies the bound: rounding can only cost accuracy.
    """
    stated = needed_loss(loss, epsilon, delta)
    if stated == type(stated).nothing():
        raise CannotCalibrate(
            "a loss of nothing leaves room for no answer that depends on the data; ask for more than 0."
        )

    builder = _priced_builder(_builder(build, "calibrate()"), stated)

    @lru_cache
    def price(parameter: Fraction) -> Loss:
        return _apart(builder(parameter), d_in).map(d_in)

    sign = -1 if largest else 1
    near = about(lambda parameter: sign * _log_above(price(Fraction(parameter)), stated), start=1.0)
    return (greatest if largest else least)(lambda parameter: price(parameter).within(stated), near=near)


def _log_above(price: Loss, stated: Loss) -> float:
    """About the logarithm of how far an (ε, δ) is above another at the same δ; no number for other losses."""
    match price, stated:
        case Approx(), Approx() if price.delta == stated.delta and 0 < price.epsilon < math.inf:
            return math.log(up(price.epsilon / stated.epsilon)) if stated.epsilon else math.nan
    return math.nan


def _apart(measurement: Measurement, d_in: DistanceLike | Unit) -> Measurement:
    """Refuses a distance at which no two data sets differ, where noise of any scale would do."""
    closest, stated = measurement.source.closest, measurement.source.metric.read(d_in)
    if closest > 1 and 0 < stated < closest:
        raise BadArgument(
            "d_in",
            f"at least {closest}: the number of rows is public, so none differ by one row added or removed, "
            "and no noise would be needed. Declare the data under sf.ChangeOne(), where 1 is one row changed",
            stated,
        )
    return measurement


def _builder(build: Callable[[Fraction], Measurement], verb: str) -> Callable[[Fraction], Measurement]:
    """Checks what people give for a function from a parameter to a measurement, and what it builds."""
    if not callable(build) or isinstance(build, Measurement | Transformation | Partial):
        wanted = "a function from a scale to a measurement: lambda scale: … >> laplace(scale)"
        raise BadArgument(f"what {verb} is given", wanted, type(build).__name__)

    def checked(parameter: Fraction) -> Measurement:
        built = build(parameter)
        if not isinstance(built, Measurement):
            wanted = "a measurement; begin its chain with a space"
            raise BadArgument("what the function builds", wanted, type(built).__name__)
        return built

    return checked


def calibrate(
    build: Callable[[Fraction], Measurement],
    *,
    d_in: DistanceLike | Unit,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    largest: bool = False,
) -> Measurement:
    """Builds the measurement with the least noise that keeps a loss, or an ``epsilon`` (and ``delta``).

    ``build`` takes one positive parameter and returns a measurement; its loss falls as the parameter grows (with
    ``largest``: rises, and the greatest parameter is sought). A chain that ends in noise without a scale says the same
    in fewer words: ``(space >> … >> sf.laplace()).with_loss(…)``.
    """
    stated = needed_loss(loss, epsilon, delta)
    return _priced_builder(build, stated)(calibrate_parameter(build, d_in=d_in, loss=stated, largest=largest))


def _priced_builder(build: Callable[[Fraction], Measurement], loss: Loss) -> Callable[[Fraction], Measurement]:
    """Wraps a builder so that its measurements are priced in the kind of a loss, restated where they are not."""

    def priced(parameter: Fraction) -> Measurement:
        built = build(parameter)
        if built.measure is type(loss):
            return built
        return restate(built, type(loss), loss.delta if isinstance(loss, Approx) else None)

    return priced


def calibrate_to_accuracy(
    build: Callable[[Fraction], Measurement], *, half_width: Number, confidence: Number = 0.95
) -> Measurement:
    """Builds the measurement with the most noise that keeps its error bar within a half-width.

    ``build`` takes one positive parameter and returns a measurement; its error grows with it. What it costs follows
    from its map; the error is that of the mechanism and says nothing of clamping or sampling.

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> count = calibrate_to_accuracy(lambda scale: scalar(int) >> laplace(scale), half_width=10)
    >>> str(count.map(1))
    'ε = 0.284349'
    """
    checked = _builder(build, "calibrate_to_accuracy()")
    width, sure = positive(half_width, "half_width"), probability(confidence, "confidence")
    return checked(greatest(lambda parameter: error_bar(checked(parameter), sure) <= width))


def accuracy(measurement: Measurement, *, confidence: Number = 0.95) -> Data:
    """Half-width of a measurement's error bar: its outcome is that close to the exact one with the confidence.

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> accuracy(scalar(int) >> laplace(scale=1))
    3
    """
    if measurement.error is None:
        raise BadArgument("the measurement", "a mechanism with a known error", measurement.how.mechanism)
    return measurement.error(probability(confidence, "confidence"))


def error_bar(measurement: Measurement, confidence: Fraction) -> Extended:
    """The half-width of a measurement's one error bar; refuses one without."""
    half_width = None if measurement.error is None else measurement.error(confidence)
    if isinstance(half_width, bool) or not isinstance(half_width, int | float | Fraction):
        wanted = "a mechanism with one known error bar: additive noise, before any post-processing"
        raise BadArgument("the measurement", wanted, measurement.how.mechanism)
    return half_width if half_width == math.inf else Fraction(half_width)
