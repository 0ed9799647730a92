"""Calibration: the least noise (or the most use) that keeps a promise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from sfumato.accounting.calibrate import greatest, least
from sfumato.accounting.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.spread import Stated
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.guarantee import guarantee

Parameter = TypeVar("Parameter", Fraction, int)


@guarantee(
    claim="the measurement built from the answer keeps the loss at d_in",
    proof="proofs/framework.md#calibration",
    reviewed="999cdff2d353",
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

    if not callable(build) or isinstance(build, Measurement | Transformation | Partial):
        wanted = "a function from a scale to a measurement: lambda scale: … >> laplace(scale)"
        raise BadArgument("what calibrate() is given", wanted, type(build).__name__)

    def good(parameter: Fraction) -> bool:
        made = build(parameter)
        if not isinstance(made, Measurement):
            wanted = "a measurement; begin its chain with a space"
            raise BadArgument("what the function builds", wanted, type(made).__name__)
        return made.check(d_in, loss)

    return greatest(good) if largest else least(good)


def calibrate(
    build: Callable[[Fraction], Measurement], *, d_in: Stated | Unit, loss: Loss, largest: bool = False
) -> Measurement:
    """Builds the measurement with the least noise that keeps a loss.

    ``build`` takes one positive parameter and gives a measurement whose loss falls as the parameter grows (with
    ``largest``: rises, and the greatest parameter is sought).
    """
    return build(calibrate_parameter(build, d_in=d_in, loss=loss, largest=largest))
