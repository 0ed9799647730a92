"""Models of other libraries as models that take the parts of rows by position and give one tensor, rows first."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn


def positional(inner: nn.Module, names: Sequence[str], run: Callable[..., Any], *, needed: int) -> nn.Module:
    """A model that gives ``run(inner, *parts)``; checks on made-up rows know by its names how many it needs.

    >>> both = positional(nn.Linear(2, 1), ["x", "y"], lambda model, x, y: model(x) + y, needed=2)
    >>> list(inspect.signature(both.forward).parameters)
    ['x', 'y']
    """
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    asked = [
        inspect.Parameter(name, own.kind, default=own.empty if place < needed else None)
        for place, name in enumerate(names)
    ]

    def forward(self: Any, *parts: Any) -> Any:
        return run(self.inner, *parts)

    forward.__signature__ = inspect.Signature([own, *asked])  # type: ignore[attr-defined]
    made: nn.Module = type(type(inner).__name__, (nn.Module,), {"forward": forward})()
    made.inner = inner
    return made
