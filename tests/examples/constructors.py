"""Every function of the package that makes a component and describes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import sfumato as sf
from sfumato.core.plan import Described

ROOT = Path(sf.__file__).parent
FOLDERS = ("transforms", "mechanisms", "combinators", "stats")


def modules() -> list[Any]:
    names = [m.name for m in pkgutil.walk_packages([str(ROOT)], "sfumato.") if m.name.split(".")[1] in FOLDERS]
    return [importlib.import_module(name) for name in names]


def constructors() -> dict[str, Callable[..., Described]]:
    """Finds every function that `constructor` has wrapped, by module and name."""
    wrapper = sf.laplace.__code__
    return {
        f"{module.__name__}.{name}": thing
        for module in modules()
        for name, thing in vars(module).items()
        if isinstance(thing, FunctionType) and thing.__code__ is wrapper and thing.__module__ == module.__name__
    }
