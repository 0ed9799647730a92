"""The open tables of the accountant: what one use of an event costs, filed by kinds of event and of loss.

`leaves`, `repeat_select` and `amplify` fill them at import; `compose` is the only reader. A row answers for one use and
never sees a count: how often something runs is the business of the fold alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias, TypeVar

from sfumato.accounting.events import Event, Runs, Sampling
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument

Row: TypeAlias = Callable[..., Loss]
"""A theorem: takes the parts of one event and gives its loss, or raises `NoProvenRoute` where it does not apply."""

Total: TypeAlias = Callable[[Event], Loss]
"""Takes an event inside another and gives its loss, of the kind that the row is filed under."""

F = TypeVar("F", bound=Row)
Key = TypeVar("Key", bound=Hashable)

LEAVES: dict[tuple[type[Event], type[Loss]], Row] = {}
"""f(event): filled at import."""

AMPLIFIERS: dict[tuple[type[Sampling], type[Loss]], Row] = {}
"""f(inner, sampling, relation, total): filled at import."""

SHUFFLERS: dict[type[Loss], Row] = {}
"""f(inner, reports, relation, total): filled at import."""

ALLOCATORS: dict[type[Loss], Row] = {}
"""f(event, relation, total): filled at import."""

SELECTORS: dict[tuple[type[Runs], type[Loss]], Row] = {}
"""f(inner, runs, total): filled at import."""


def leaf(event: type[Event], kind: type[Loss]) -> Callable[[F], F]:
    """Files what one use of a basic event costs: ``f(event) -> Loss``."""
    return _filed(LEAVES, (event, kind))


def amplifier(sampling: type[Sampling], kind: type[Loss]) -> Callable[[F], F]:
    """Files what an event on a secret sample costs: ``f(inner, sampling, relation, total) -> Loss``.

    ``relation`` is what the whole plan is held to. ``total(inner)`` is the loss of the inner event when one unit is
    there or not (add/remove), since that is what the shifts inside `Sampled` speak of; a replacement is a group of two.
    """
    return _filed(AMPLIFIERS, (sampling, kind))


def shuffler(kind: type[Loss]) -> Callable[[F], F]:
    """Files what shuffled reports of a local event cost: ``f(inner, reports, relation, total) -> Loss``.

    ``total(inner)`` is the loss of the local event between any two inputs of one unit. For a `ShuffledProtocol` the
    row is also given how well its reports hide each other.
    """
    return _filed(SHUFFLERS, kind)


def allocator(kind: type[Loss]) -> Callable[[F], F]:
    """Files what an `Allocated` event costs: ``f(event, relation, total) -> Loss``; ``total`` is as in `amplifier`."""
    return _filed(ALLOCATORS, kind)


def selector(runs: type[Runs], kind: type[Loss]) -> Callable[[F], F]:
    """Files what the best of a random number of runs costs: ``f(inner, runs, total) -> Loss``.

    ``total(inner)`` is the loss of one run, under the relation that the whole plan is held to.
    """
    return _filed(SELECTORS, (runs, kind))


def _filed(table: dict[Key, Row], key: Key) -> Callable[[F], F]:
    def file(function: F) -> F:
        if key in table:
            raise BadArgument("a row of the accountant's tables", "filed once; this one exists already", key)
        table[key] = function
        return function

    return file
