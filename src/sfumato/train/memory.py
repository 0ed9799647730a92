"""What the parts of a run remember from step to step."""

from __future__ import annotations

from abc import ABC
from typing import Any


class Memory(ABC):  # noqa: B024  (nothing has to be remembered)
    """A part of a run that may have to remember something: most draw everything anew, and have nothing to save."""

    def check(self, taken: int) -> None:  # noqa: B027  # most have nothing to check
        """Refuses to go on after so many steps, where it does not have what it must remember of them."""

    def state(self) -> dict[str, Any]:
        """What later steps need of those before, in tensors and plain values, to be saved: as secret as the data."""
        return {}

    def load(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Goes on from a saved state."""
