"""Slots: losses fixed before the first answer; what runs in each is chosen as one goes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import final

from sfumato.accounting.adaptive.filters import may_interleave, same_kind
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, Exhausted, QueryRefused
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("Slots")
class Slots:
    """A row of losses, each of which pays for one mechanism, in this order.

    Since the losses are fixed in advance, every kind that composes may be used.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> slots = Slots([Pure(0.3), Pure(0.2)])
    >>> slots.limit, slots.after(Pure(0.1)).left
    (Pure(epsilon=0.5), (Pure(epsilon=0.2),))
    """

    slices: tuple[Loss, ...]
    used: int

    def __init__(self, slices: Iterable[Loss], *, used: int = 0) -> None:
        parts = tuple(slices) if isinstance(slices, Iterable) and not isinstance(slices, str | bytes) else ()
        if not parts or not all(isinstance(part, Loss) for part in parts):
            raise BadArgument("slices", "a list of one or more privacy losses, such as [sf.Pure(0.5)]", slices)
        for part in parts:
            same_kind(part, parts[0], "slice")
        count = integer(used, "used", least=0)
        if count > len(parts):
            raise BadArgument("used", "at most the number of slices", used)
        object.__setattr__(self, "slices", parts)
        object.__setattr__(self, "used", count)
        if count == 0:
            composed(parts)  # refuses kinds that do not compose now, rather than after the first answer

    @property
    def limit(self) -> Loss:
        """What the whole interaction costs at most: all slices composed, used or not."""
        return composed(self.slices)

    @property
    def spent(self) -> Loss:
        """The composed slices that were used; a slice counts in full."""
        return composed(self.slices[: self.used]) if self.used else type(self.slices[0]).nothing()

    @property
    def left(self) -> tuple[Loss, ...]:
        """The slices that were not used yet, the next one first."""
        return self.slices[self.used :]

    @property
    def guarantee(self) -> str:
        """Says in one sentence what is promised, and where it is proved."""
        return f"{self.limit} for the whole interaction, however it goes (proofs/privacy_filters.md#slots)"

    @property
    def interleaves(self) -> bool:
        """Tells whether mechanisms that answer many questions may be admitted and then asked in turns."""
        return may_interleave(type(self.slices[0]))

    def admits(self, loss: Loss) -> bool:
        """Tells whether a mechanism of this loss may run in the next slot."""
        asked = same_kind(loss, self.slices[0], "loss")
        return self.used < len(self.slices) and asked.within(self.slices[self.used])

    def after(self, loss: Loss) -> Slots:
        """Charges a mechanism to the next slot and returns the slots that follow; refuses what may not run."""
        if not self.admits(loss):
            if self.used == len(self.slices):
                raise Exhausted("all slots are used: the limit is spent, and nothing more may run.")
            raise QueryRefused(
                f"{loss} does not fit into the next slot, {self.slices[self.used]}. Nothing ran and nothing was spent; "
                "ask for something that costs no more than the slot."
            )
        following = object.__new__(Slots)  # the slices were read when the first was made
        object.__setattr__(following, "slices", self.slices)
        object.__setattr__(following, "used", self.used + 1)
        return following


@guarantee(
    claim="mechanisms chosen as one goes, each within a loss that was fixed in advance, compose to those losses",
    proof="proofs/privacy_filters.md#slots",
    reviewed="60742288e494",
)
def composed(slices: tuple[Loss, ...]) -> Loss:
    """Composes losses that were fixed in advance."""
    return reduce(lambda so_far, part: so_far.then(part), slices)
