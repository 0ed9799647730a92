"""Functions that cannot be opened: what their closures hold is reached by calling them, and in no other way."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def sealed(function: Callable[P, R]) -> Callable[P, R]:
    """Wraps a function so that no attribute leads to the cells of its closure; it does the same.

    A cache that keeps nothing is written in C: it calls what it wraps, and shows it under one name, which is taken off.

    >>> kept = "secret"
    >>> def tell() -> str:
    ...     return kept
    >>> sealed(tell)(), hasattr(sealed(tell), "__closure__"), hasattr(sealed(tell), "__wrapped__")
    ('secret', False, False)
    """
    shut = lru_cache(maxsize=0)(function)
    del shut.__wrapped__
    return cast("Callable[P, R]", shut)
