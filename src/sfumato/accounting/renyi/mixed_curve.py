"""The Rényi curve of a mechanism that is drawn from several with public weights."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import final

from flint import arb

from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.errors import BadArgument
from sfumato.exact import Extended, ball, positive, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("MixedCurve")
class MixedCurve(Curve):
    """What one of several losses comes to, each with a weight; the weights add up to 1."""

    parts: tuple[Renyi, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(positive(weight, "each weight") for weight in self.weights))
        if not self.parts or not all(isinstance(part, Renyi) for part in self.parts):
            raise BadArgument("parts", "one or more Rényi losses", self.parts)
        if len(self.weights) != len(self.parts) or sum(self.weights) != 1:
            raise BadArgument("weights", "one for each part, adding up to 1", self.weights)

    @guarantee(
        claim="ln(sum of weight exp((order - 1) D)) / (order - 1), rounded up",
        proof="proofs/plan_loss.md#mixture",
        reviewed="11dbff88a8af",
    )
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at an order."""
        losses = [part.at(order) for part in self.parts]
        most = max(losses)
        if most == math.inf:
            return math.inf
        powers = [(order - 1) * (Fraction(loss) - Fraction(most)) for loss in losses]

        def enclosed() -> arb:
            # The largest comes out of the sum, so that nothing overflows; the weights make up 1.
            rest = [ball(weight) * ball(power).expm1() for weight, power in zip(self.weights, powers, strict=True)]
            return ball(Fraction(most)) + sum(rest, arb(0)).log1p() / ball(order - 1)

        return max(Fraction(0), min(most, upper(enclosed)))

    def orders(self) -> Orders:
        """Orders at which all parts answer."""
        return reduce(Orders.both, (part.orders().between() for part in self.parts))

    def ceiling(self) -> Extended:
        """The largest pure loss of all."""
        return max(part.ceiling() for part in self.parts)

    def near(self, order: float) -> float:
        """A float near the bound."""
        losses = [part.near(order) for part in self.parts]
        most = max(losses)
        rest = (
            up(weight) * math.expm1((order - 1) * (loss - most))
            for weight, loss in zip(self.weights, losses, strict=True)
        )
        return most + math.log1p(math.fsum(rest)) / (order - 1)
