"""Everything that is public: the names of the package, and those of its named modules."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import sfumato as sf

MODULES = ("accounting", "codebook", "combinators", "meaning", "mechanisms", "release", "textbook", "transforms")
"""The modules that hold what people type less often; each name has one home."""


def public_names() -> Iterator[tuple[str, object]]:
    """Every public name as it is written after ``sf.``, and what it stands for; modules themselves are left out."""
    for home in (sf, *(getattr(sf, name) for name in MODULES)):
        prefix = "" if home is sf else home.__name__.rpartition(".")[2] + "."
        for name in home.__all__:
            if not isinstance(thing := getattr(home, name), ModuleType):
                yield prefix + name, thing


def short_names() -> dict[str, object]:
    """The same without the modules' names."""
    return {name.rpartition(".")[2]: thing for name, thing in public_names()}
