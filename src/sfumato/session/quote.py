"""What a question would cost, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.measures import Loss
from sfumato.core.domains import Data
from sfumato.ledger.remaining import floored
from sfumato.release.record import How
from sfumato.release.render.words import percent, width


@final
@dataclass(frozen=True)
class Quote:
    """Is what a question would cost, how far off its answer would be, and whether it can be paid. Nothing is spent.

    ``known`` says that the answer is in the book already; then it ``costs`` only where this account has not counted it.
    """

    how: How
    price: Loss
    unit: str
    half_width: Data
    confidence: Fraction
    left: Loss
    known: bool
    costs: bool
    refusal: str | None = None

    @property
    def fits(self) -> bool:
        """Tells whether the question can be asked now."""
        return self.refusal is None

    def __str__(self) -> str:
        lines = [f"how    {self.how}", f"price  {self.price} for {self.unit}"]
        if self.half_width is not None:
            lines.append(f"error  ± {width(self.half_width)} ({percent(self.confidence)})")
        lines.append(f"left   {floored(self.left)}")
        if self.known:
            paid = "and counts for this account" if self.costs else "and costs nothing"
            lines.append(f"known  this was asked before: the answer is in the book, {paid}")
        if self.refusal is not None:
            lines.append(f"no     {self.refusal}")
        lines += [f"claim  {claim}" for claim in self.how.claims]
        return "\n".join(lines)

    __repr__ = __str__
