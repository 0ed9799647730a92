"""A device that has read what a protocol publishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final, overload

from .again import REMEMBERING
from .coins import OctetCoins
from .domains import Reader, reader_of
from .memory import Memory
from .messages import FORMAT, message, packed, tag
from .randomizers import KINDS, Recipe


@final
@dataclass(frozen=True)
class Client:
    """Randomizes values by what a protocol has published (`read`), on a device that has this folder only."""

    recipe: Recipe
    reader: Reader

    @classmethod
    def read(cls, text: str) -> Client:
        """Reads the text of ``protocol.publish()``; refuses what this folder cannot follow to the letter."""
        stated = json.loads(text)
        if not isinstance(stated, dict) or stated.get("format") != FORMAT:
            raise ValueError(f"this device reads format {FORMAT} of what a protocol publishes, and no other")
        recipe = stated.get("recipe")
        kind = recipe.get("kind") if isinstance(recipe, dict) else None
        if not isinstance(recipe, dict) or not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"this device knows recipes of the kinds {', '.join(sorted(KINDS))}, not {kind!r}")
        if stated.get("tag") != tag(recipe).hex():
            raise ValueError("the tag is not that of the recipe: it was changed on its way, or misread")
        return cls(recipe, reader_of(stated.get("domain"), recipe))

    @overload
    def randomize(self, value: Any, *, octets: Callable[[int], bytes], memory: None = None) -> bytes: ...
    @overload
    def randomize(self, value: Any, *, octets: Callable[[int], bytes], memory: Memory) -> bytes | None: ...
    def randomize(self, value: Any, *, octets: Callable[[int], bytes], memory: Memory | None = None) -> bytes | None:
        """The message of one value; one that is not listed stands as ``other``, or is refused where there is none.

        Protocols with a loss for a lifetime need the device's ``memory``: without one, every report draws all anew and
        is charged by itself. With one there may be nothing to send now: then the message is None.
        """
        if memory is None:
            return message(self.recipe, self.reader(value), octets=octets)
        if self.recipe["kind"] not in REMEMBERING:
            raise ValueError("this protocol remembers nothing: leave memory out, and count each report by itself")
        memory.open(self.recipe)
        drawn = REMEMBERING[self.recipe["kind"]](self.recipe, self.reader(value), OctetCoins(octets), memory)
        memory.save()
        return None if drawn is None else packed(self.recipe, drawn)
