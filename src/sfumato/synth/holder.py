"""What a judgement of synthetic data rests on, and the mark of one that may not leave: real rows without a payment."""

from __future__ import annotations

from enum import Enum
from typing import final

from sfumato.release.render.displayed import Displayed


@final
class Basis(Enum):
    """What synthetic data was held against."""

    HELD = "real rows, unpaid"
    PUBLIC = "public rows"
    MADE_UP = "made-up rows"
    PAID = "noisy counts that were paid for"
    FREE = "what was released already"

    @property
    def marks(self) -> tuple[str, ...]:
        """The warning that a reader must see: one for real rows that nobody paid for, else none."""
        return (NOT_PRIVATE,) if self is Basis.HELD else ()


NOT_PRIVATE = (
    "For the holder's eyes: not private. This was computed from real rows and nothing was paid for it: "
    "do not publish it, and do not choose by it what is published."
)


class Judgement(Displayed):
    """Something that was found out about synthetic data; it says in every form whether it may be shown to others."""

    basis: Basis

    @property
    def private(self) -> bool:
        """Whether it may leave: true unless it was computed from real rows that nobody paid for."""
        return self.basis is not Basis.HELD

    def __repr__(self) -> str:
        mark = "" if self.private else "; for the holder's eyes: not private"
        return f"{type(self).__name__}({self.document().headline}{mark})"
