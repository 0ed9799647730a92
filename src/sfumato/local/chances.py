"""Chances as multiples of 2⁻⁵³, rounded to the side on which a report tells less than it may."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.losses.stated import needed_loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, lower, rational, upper
from sfumato.local.device import WHOLE

LEAST = Fraction(1, 10**9)
"""The smallest ε of one report: with less, chances differ by not much more than the 2⁻⁵³ that they are multiples of."""

MOST = 24
"""The largest ε of one report: with more, a report is the truth but once in ten thousand million times."""


def read_epsilon(loss: object, epsilon: Number | None = None) -> Fraction:
    """The ε of a report, stated as a pure loss, a number or an ε; refuses what hides nothing and what tells nothing."""
    stated = needed_loss(loss, epsilon, None) if loss is None or epsilon is not None else loss
    if isinstance(stated, Pure):
        read = stated.epsilon
    elif isinstance(stated, int | float | str | Fraction) and not isinstance(stated, bool):
        read = rational(stated, "loss")
    else:
        raise BadArgument("loss", "a pure loss such as sf.Pure(1): a report on a device has no δ", loss)
    if not LEAST <= read <= MOST:
        raise BadArgument(
            "the epsilon of a report",
            f"above 0 (at least 1e-9), where reports tell something, and at most {MOST}, where they hide it",
            float(read),
        )
    return Fraction(read)


def weight_below(compute: Callable[[], Any]) -> int:
    """The largest chance that is not above a real number, which balls enclose."""
    return max(0, math.floor(Fraction(lower(compute)) * WHOLE))


def weight_above(compute: Callable[[], Any]) -> int:
    """The smallest chance that is not below a real number, which balls enclose."""
    return min(WHOLE, math.ceil(Fraction(upper(compute)) * WHOLE))
