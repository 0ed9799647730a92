"""What a device remembers from one report to the next, so that a value costs no more the tenth time than the first."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from .messages import tag
from .randomizers import Drawn, Recipe

MEMORY_FORMAT = 1
"""The version of memories; a device refuses any other."""

BROKEN = (
    "this memory cannot be trusted ({}). Restore it as it was saved. To begin anew means to draw new permanent "
    "reports, which costs the loss of a lifetime once more"
)


@final
class Memory:
    """What a device has drawn once and keeps for one protocol: permanent reports, public choices, how far it has come.

    A device stores it as text (`text`, `read`), or in a file (`at`). ``save`` is given the text whenever something was
    drawn, *before* the report leaves: if it raises, no report leaves. A memory holds what its owner's values have been,
    so it is as private as they are, and it never leaves the device.
    """

    def __init__(self, *, save: Callable[[str], None] | None = None) -> None:
        self._owner = ""
        self._kept: dict[str, str] = {}
        self._save, self._saved = save, True

    @classmethod
    def read(cls, text: str, *, save: Callable[[str], None] | None = None) -> Memory:
        """Reads what `text` gave; refuses what is not whole, rather than draw anything anew."""
        try:
            stated = json.loads(text)
        except ValueError:
            raise ValueError(BROKEN.format("it is no whole JSON text")) from None
        if not isinstance(stated, dict) or stated.get("memory") != MEMORY_FORMAT:
            raise ValueError(BROKEN.format(f"it is not of format {MEMORY_FORMAT}"))
        owner, kept = stated.get("of"), stated.get("kept")
        if not isinstance(owner, str) or not isinstance(kept, dict) or not all(type(v) is str for v in kept.values()):
            raise ValueError(BROKEN.format("it does not hold what a memory holds"))
        if stated.get("check") != _check(owner, kept):
            raise ValueError(BROKEN.format("its content is not what was saved"))
        memory = cls(save=save)
        memory._owner, memory._kept = owner, dict(kept)
        return memory

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Memory:
        """The memory in a file, saved there by replacing it whole; a new one where there is no file yet."""
        file = Path(path)

        def save(text: str) -> None:
            beside = file.with_name(file.name + ".new")
            with beside.open("w", encoding="ascii") as written:
                written.write(text)
                written.flush()
                os.fsync(written.fileno())
            beside.replace(file)

        return cls.read(file.read_text(encoding="utf-8"), save=save) if file.exists() else cls(save=save)

    @property
    def text(self) -> str:
        """What to store: a JSON text, in ASCII."""
        stated = {
            "memory": MEMORY_FORMAT,
            "of": self._owner,
            "kept": self._kept,
            "check": _check(self._owner, self._kept),
        }
        return json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    def open(self, recipe: Recipe) -> None:
        """Makes sure that this is the memory of a recipe; a new one becomes that of the first it is used with."""
        owner = tag(lasting(recipe)).hex()
        if self._owner and self._owner != owner:
            raise ValueError(
                "this memory is that of another protocol: keep one for each, under the tag of what is remembered. A "
                "new one draws new permanent reports, which cost the loss of a lifetime besides what the old ones cost"
            )
        self._owner = owner

    def save(self) -> None:
        """Hands over what was drawn since it was last saved."""
        if self._save is not None and not self._saved:
            self._save(self.text)
        self._saved = True

    def recall(self, name: str) -> str | None:
        """What is kept under a name."""
        return self._kept.get(name)

    def keep(self, name: str, what: str) -> None:
        """Keeps a text under a name, in place of what was there."""
        if self._kept.get(name) != what:
            self._kept[name], self._saved = what, False

    def number(self, name: str, bound: int, make: Callable[[], int]) -> int:
        """The whole number below a bound that is kept under a name; made, and kept, the first time."""
        kept = self._kept.get(name)
        if kept is None:
            kept = str(make())
            self.keep(name, kept)
        return _whole(kept, bound)

    def report(self, recipe: Recipe, given: Any, make: Callable[[], Drawn]) -> Drawn:
        """The report of a recipe that is kept for an input of its randomizer; drawn, and kept, the first time."""
        name = json.dumps(given, separators=(",", ":"), ensure_ascii=True)
        kept = self._kept.get(name)
        if kept is None:
            number, bits = make()
            kept = f"{number} {bits}"
            self.keep(name, kept)
        return self.report_of(recipe, name)

    def report_of(self, recipe: Recipe, name: str) -> Drawn:
        """The report of a recipe that is kept under a name."""
        number, _, bits = self._kept.get(name, "").partition(" ")
        return _whole(number, recipe["cells"]), _whole(bits, 1 << recipe["bits"])


def _whole(text: str, bound: int) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < bound):
        raise ValueError(BROKEN.format("it holds what its protocol cannot have drawn"))
    return int(text)


def lasting(recipe: Recipe) -> Recipe:
    """The part of a recipe that a memory belongs to: what is drawn anew each time may change without it."""
    part: Recipe = recipe["permanent"] if recipe["kind"] == "twice" else recipe
    return part


def _check(owner: str, kept: dict[str, str]) -> str:
    """Some digits that change whenever anything else in a memory does."""
    text = json.dumps([MEMORY_FORMAT, owner, kept], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
