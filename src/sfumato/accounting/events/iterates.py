"""Training of which only the last iterate is published."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, integer, non_negative, positive
from sfumato.plain import record


@final
@record("LastIterate")
class LastIterate(Event):
    """Projected noisy gradient descent on a convex, smooth loss over all data, of which only the last iterate is seen.

    Each of the ``steps`` moves by the ``learning_rate`` times the gradient plus Gaussian noise of ``scale``, then into
    a convex set. The gradient of the loss over all data moves by at most ``shift`` in L2 at every point, when one unit
    changes. What must hold of the loss is in ``assumptions``; nothing here can check it.
    """

    scale: Fraction
    steps: int
    learning_rate: Fraction
    smoothness: Fraction
    strong_convexity: Fraction
    diameter: Extended
    shift: Fraction

    def __init__(
        self,
        scale: Number,
        *,
        steps: int,
        learning_rate: Number,
        smoothness: Number,
        strong_convexity: Number = 0,
        diameter: Number = math.inf,
        shift: Number = 1,
    ) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "steps", integer(steps, "steps", least=1))
        object.__setattr__(self, "learning_rate", positive(learning_rate, "learning_rate"))
        object.__setattr__(self, "smoothness", positive(smoothness, "smoothness"))
        object.__setattr__(self, "strong_convexity", non_negative(strong_convexity, "strong_convexity"))
        unbounded = isinstance(diameter, float) and diameter == math.inf
        object.__setattr__(self, "diameter", math.inf if unbounded else non_negative(diameter, "diameter"))
        object.__setattr__(self, "shift", non_negative(shift, "shift"))
        if self.learning_rate * self.smoothness > 2:
            raise BadArgument("learning_rate", "at most 2 / smoothness, or steps may lead apart", learning_rate)
        if self.strong_convexity > self.smoothness:
            raise BadArgument("strong_convexity", "at most the smoothness", strong_convexity)

    @property
    def contraction(self) -> Fraction:
        """By which factor one step brings two points closer, at least."""
        return max(abs(1 - self.learning_rate * each) for each in (self.strong_convexity, self.smoothness))

    @property
    def assumptions(self) -> str:
        """What must hold of the training for the loss to hold, in words."""
        convex = f"{self.strong_convexity}-strongly convex" if self.strong_convexity else "convex"
        inside = "" if self.diameter == math.inf else f", iterates are projected into a set of diameter {self.diameter}"
        return (
            f"the loss over all data is {convex} and {self.smoothness}-smooth whatever the data{inside}, and nothing "
            "but the last iterate is ever seen; clipped gradients are in general those of no convex loss"
        )
