"""Sets of items: padded to one public size, so that one thing of each can be reported at full loss.

A person who reported every item would pay for each. One thing, drawn from her set, is as good as a value of its own;
padding makes the chance of each item the same for all, so that counts can be read (Qin et al. 2016; Wang, Li and Jha
2018).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hides, Hiding
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, ball, integer, log_up, lower
from sfumato.guarantee import guarantee
from sfumato.local.chances import MOST, read_epsilon
from sfumato.local.frequency import Frequencies, FrequencyProtocol, support_variance
from sfumato.local.hashing import LocalHashing
from sfumato.local.item_counts import ItemCounts
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import Layout
from sfumato.local.response import Response
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many


@guarantee(
    claim="one of `most` different things: ln(1 + (p/q - 1) / most) by randomized response, else that of the report",
    proof="proofs/local_sketches.md#padded",
    reviewed="b96d62ce66de",
)
def padded_loss(part: FrequencyProtocol, most: int) -> Pure:
    """The loss of a report on a padded set."""
    if not isinstance(part, Response):
        return part.loss
    odds = part.supports_truth / part.supports_other
    return Pure(min(log_up(1 + (odds - 1) / most), Fraction(part.loss.epsilon)))


def _response(values: Values, loss: Pure, most: int) -> FrequencyProtocol:
    """Randomized response at ln(most (e^ε − 1) + 1), rounded down: sampling brings that down to ε."""
    inner = Fraction(lower(lambda: (ball(Fraction(loss.epsilon)).expm1() * most + 1).log()))
    return Response(values, Pure(min(inner, Fraction(MOST))))


PARTS: dict[str, Callable[[Values, Pure, int], FrequencyProtocol]] = {
    "response": _response,
    "local hashing": lambda values, loss, _: LocalHashing(values, loss),
    "optimized unary encoding": lambda values, loss, _: UnaryEncoding.optimized(values, loss),
}
"""How the thing that was drawn can be reported."""


CLOSE = Fraction(51, 50)
"""Variances within 2 % of the least count as equal (errors within 1 %); then the shortest message decides."""


@final
@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of many people, as places of items: those of one person follow each other."""

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, people: Any) -> Sets:
        return Sets(self.starts[people], self.sizes[people], self.places)


@final
@dataclass(frozen=True)
class ItemSets(LocalProtocol[ItemCounts]):
    """Padding and sampling: a set is padded with dummies to a public size, and one thing of it is reported.

    Takes:      the items; the size; the loss of a report; how the thing is reported (`PARTS`); and whether things that
                are not listed are left out of sets, or refused
    Guarantee:  P(report | set) ≤ e^ε P(report | other set), for sets of any sizes  (proofs/local_sketches.md#padded)
    Cost:       that of a report on one value, and 0.1 µs for each item of a set
    Best:       a size that few sets exceed: errors grow with it, and larger sets count for less

    >>> ItemSets(Values(["tea", "milk", "bread"]), 2, Pure(1)).loss
    Pure(epsilon=1.0)
    """

    items: Values
    most: int
    loss: Pure
    method: str = "response"
    only_listed: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        integer(self.most, "most", least=1, most=1 << 16)
        if self.items.other is not None:
            raise BadArgument("items", "without other=…: of a set, things not listed are refused or left out", "other")
        if self.method not in PARTS:
            raise BadArgument("method", f"one of {', '.join(PARTS)}", self.method)
        if padded_loss(self.part, self.most).epsilon > self.loss.epsilon:
            raise AssertionError("a part is built to keep the loss")

    @cached_property
    def part(self) -> FrequencyProtocol:
        """How one thing is reported: an item, or a dummy after them."""
        return PARTS[self.method](Values(range(len(self.items) + self.most)), self.loss, self.most)

    @property
    def layout(self) -> Layout:
        """That of a report on one thing."""
        return self.part.layout

    @property
    def supports_truth(self) -> Fraction:
        """The chance that a report supports an item of a set that is not too large."""
        part = self.part
        return part.supports_other + (part.supports_truth - part.supports_other) / self.most

    @property
    @guarantee(
        claim="a padded set owns its `most` reports by randomized response; else it is a random value of the part",
        proof="proofs/local_sketches.md#shuffling",
        reviewed="6937d538de88",
    )
    def hiding(self) -> Hides | None:
        """By randomized response, a set owns what is in it; else it hides as the values do of which one is drawn."""
        part, options = self.part, len(self.items) + self.most
        if not isinstance(part, Response):
            return part.hiding
        share = Fraction(self.most, options)
        return Hiding(self.most * self.supports_truth, share=share, overlap=max(Fraction(0), 2 * share - 1))

    def variance(self, *, users: int, count: Number = 0) -> Fraction:
        """The exact variance of the count of an item that ``count`` of ``users`` people have, in sets not too large."""
        return support_variance(self.supports_truth, self.part.supports_other, users, Fraction(count))

    def randomizer(self) -> dict[str, Any]:
        """The size, the number of items, and how one thing is reported."""
        shape = {"kind": "padded", "cells": self.layout.cells, "bits": self.layout.bits}
        return {**shape, "most": self.most, "items": len(self.items), "part": self.part.recipe()}

    def domain(self) -> dict[str, Any]:
        """The public list of items, and what becomes of others."""
        return {"sets": listed_domain(self.items), "unlisted": "refused" if self.only_listed else "left out"}

    def input_of(self, value: Any) -> list[int]:
        """The places of the items of a set, in order."""
        return [int(place) for place in self.inputs_of([value]).places]

    def inputs_of(self, values: Any) -> Sets:
        """The places of the items of each set: of collections, or of a row of true and false for each person."""
        if isinstance(values, np.ndarray) and values.dtype == np.bool_ and values.ndim == 2:
            return self._of_table(values)
        listed = [_collection(one) for one in values]
        sizes = np.fromiter(map(len, listed), dtype=np.int64, count=len(listed))
        owners = np.repeat(np.arange(len(listed)), sizes)
        things = chain.from_iterable(listed)
        if self.only_listed:
            return self._gathered(owners, self.items.places(list(things)), len(listed))
        places = np.fromiter(map(self._place_or_none, things), dtype=np.int64, count=len(owners))
        kept = places >= 0
        return self._gathered(owners[kept], places[kept], len(listed))

    def _place_or_none(self, thing: Any) -> int:
        try:
            return self.items.place(thing)
        except BadArgument:
            return -1

    def _of_table(self, table: NDArray[np.bool_]) -> Sets:
        if table.shape[1] != len(self.items):
            raise BadArgument("a table of sets", "one column of true and false for each item", table.shape)
        owners, places = np.nonzero(table)
        return self._gathered(owners, places.astype(np.int64), len(table))

    def _gathered(self, owners: NDArray[np.int64], places: NDArray[np.int64], people: int) -> Sets:
        keys = np.sort(owners * len(self.items) + places)
        if np.any(keys[1:] == keys[:-1]):
            raise BadArgument("a set", "of different items", Unseen())
        sizes = np.bincount(owners, minlength=people)
        return Sets(np.cumsum(sizes) - sizes, sizes, keys % len(self.items))

    def draw(self, inputs: Sets, entropy: Entropy) -> Drawn:
        """Draws one thing of each set, or a dummy of what fills it up, and reports it."""
        drawn = below_many(self.most, count=len(inputs), entropy=entropy)
        for size in np.unique(inputs.sizes[inputs.sizes > self.most]).tolist():
            here = np.flatnonzero(inputs.sizes == size)
            drawn[here] = below_many(size, count=len(here), entropy=entropy)
        own = drawn < inputs.sizes
        things = len(self.items) + drawn - inputs.sizes
        things[own] = inputs.places[inputs.starts[own] + drawn[own]]
        return self.part.draw(things, entropy)

    def estimate(self, tally: Tally) -> ItemCounts:
        """Counts of the items, and of the sizes of sets."""
        support, size = self.part.support(tally.sums), len(self.items)
        chances = (self.supports_truth, self.part.supports_other)
        listed = Frequencies(self.items, tally.users, support[:size], *chances, self.loss, tally.rejected)
        return ItemCounts(listed, support[size:])


def _collection(one: Any) -> Collection[Any]:
    if not isinstance(one, list | tuple | set | frozenset | np.ndarray):
        raise BadArgument("the value", "a list or a set of listed items", Unseen())
    items: Collection[Any] = one
    return items


def itemsets(
    items: Sequence[Hashable],
    *,
    most: int,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    method: str | None = None,
    only_listed: bool = True,
) -> ItemSets:
    """The protocol that counts items of people's sets with the least error, or that of a given name.

    Sets are padded to ``most`` items. With ``only_listed=False`` things that are not listed are left out of sets; else
    they are refused.

    >>> itemsets(["tea", "milk", "bread"], most=2, loss=1, users=1000).method
    'response'
    """
    people, cost = integer(users, "users", least=1), Pure(read_epsilon(loss, epsilon))
    names = list(PARTS) if method is None else [method]
    built = [ItemSets(Values(items), most, cost, name, only_listed) for name in names]
    least = min(one.variance(users=people) for one in built)
    close = [one for one in built if one.variance(users=people) <= CLOSE * least]
    return min(close, key=lambda one: one.layout.size)
