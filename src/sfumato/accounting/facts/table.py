"""The table from (kind of noise, kind of loss) to the theorem that gives the loss of a shift."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from sfumato.accounting.measures import Loss
from sfumato.errors import NoProvenRoute
from sfumato.exact import Distance

Fact = Callable[..., Loss]
"""Takes the noise and the largest shift between neighbours, in the noise's own unit; gives the loss."""

F = TypeVar("F", bound=Fact)

FACTS: dict[tuple[type, type[Loss]], Fact] = {}
"""Every fact on file; filled at import."""


def fact(noise: type, measure: type[Loss]) -> Callable[[F], F]:
    """Files a theorem under the kinds of noise and loss it relates."""

    def file(function: F) -> F:
        FACTS[noise, measure] = function
        return function

    return file


def loss_of(noise: object, measure: type[Loss], shift: Distance) -> Loss:
    """Gives the loss of adding a noise when neighbours differ by at most a shift."""
    found = FACTS.get((type(noise), measure))
    if found is None:
        raise NoProvenRoute(
            f"there is no theorem on file that gives the {measure.__name__} loss of {type(noise).__name__} noise."
        )
    if shift == 0:
        return measure.nothing()
    if shift == math.inf:
        raise NoProvenRoute(
            "neighbours may differ without limit here, so no noise protects them. Bound the values first."
        )
    return found(noise, shift)
