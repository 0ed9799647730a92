"""Sets of pairs of a key and a number: how many people have each key, and the mean of their numbers.

A device draws one of its pairs, out of as many as everybody seems to have, rounds the number to one of two ends at
random, and randomizes the key with its end as one option of a list (after PCKV: Gu, Li, Cheng, Xiong and Cao 2020,
arXiv 1911.12834).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, ball, integer, rational
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.device.pairs import high_chance
from sfumato.local.pair_estimates import KeyValueEstimate, PairLaw
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import Layout
from sfumato.local.response import respond
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

WAYS = ("response", "bits")


@guarantee(
    claim="no option is drawn with more than 1 / most: 1 + options t / (most (1 - t)) <= e^epsilon",
    proof="proofs/local_several.md#pairs-response",
    reviewed="6d9d8d10d31f",
)
def pair_weight(epsilon: Fraction, options: int, most: int) -> int:
    """The chance of the truth, of an option that was drawn out of at least ``most``; rounded down, in 53 digits."""
    return weight_below(lambda: most * ball(epsilon).expm1() / (most * ball(epsilon).expm1() + options))


@guarantee(
    claim="a mixture over the options that may be drawn: the loss of a bit for each option",
    proof="proofs/local_several.md#pairs-bits",
    reviewed="bfe52056e2ec",
)
def pair_bits(epsilon: Fraction, options: int) -> UnaryEncoding:
    """A bit for each option, of the option that was drawn."""
    return UnaryEncoding.optimized(Values(range(options)), Pure(epsilon))


@final
@dataclass(frozen=True, eq=False)
class PairColumns:
    """Many people's pairs: where those of each begin and how many they are; places of keys, chances of high ends."""

    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    keys: NDArray[np.int64]
    chances: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, places: NDArray[np.int64]) -> PairColumns:
        return PairColumns(self.starts[places], self.counts[places], self.keys, self.chances)


@final
@dataclass(frozen=True)
class KeyValues(LocalProtocol[KeyValueEstimate]):
    """One pair of each person, drawn and randomized; `key_values` makes one.

    Takes:      the keys, bounds of the numbers, how many pairs a person has at most, the loss, and the way: a
                ``"response"`` with one option, or ``"bits"`` for all
    Guarantee:  P(report | pairs) ≤ e^ε P(report | other pairs), however many they are
                (proofs/local_several.md#pairs-response, #pairs-bits)
    Cost:       messages of a byte or a few, or of two bits for each key
    Best:       response for few keys and many pairs: that no key is drawn for sure lets it tell more of what is drawn

    >>> KeyValues(Values(["a", "b"]), (0.0, 1.0), 3, Pure(1)).layout.cells
    7
    """

    keys: Values
    between: tuple[float, float]
    most: int
    loss: Pure
    way: str = "response"

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", Pure(read_epsilon(self.loss)))
        object.__setattr__(self, "most", integer(self.most, "most", least=1, most=1 << 20))
        low, high = (float(rational(end, "between")) for end in self.between)
        if not 0 < high - low < math.inf:
            raise BadArgument("between", "two bounds, the lower one first, less than 1e308 apart", self.between)
        object.__setattr__(self, "between", (low, high))
        if self.way not in WAYS:
            raise BadArgument("way", f"one of {', '.join(WAYS)}", self.way)

    @property
    def options(self) -> int:
        """Low and high of each key, and as many dummies as pairs may be missing."""
        return 2 * len(self.keys) + self.most

    @cached_property
    def _weight(self) -> int:
        return pair_weight(Fraction(self.loss.epsilon), self.options, self.most)

    @cached_property
    def _bits(self) -> UnaryEncoding:
        return pair_bits(Fraction(self.loss.epsilon), self.options)

    @property
    def law(self) -> PairLaw:
        """How often a report supports the ends of keys."""
        if self.way == "bits":
            truth, other = self._bits.supports_truth, self._bits.supports_other
            return PairLaw(truth, other, truth * other, other * other, self.most)
        other = Fraction(WHOLE - self._weight, WHOLE * self.options)
        return PairLaw(Fraction(self._weight, WHOLE) + other, other, Fraction(0), Fraction(0), self.most)

    @property
    def layout(self) -> Layout:
        """A cell, or a bit, for each option."""
        return Layout(1, self.options) if self.way == "bits" else Layout(self.options)

    def randomizer(self) -> dict[str, Any]:
        """How many keys and pairs there are, the bounds, and the recipe for the option that is drawn."""
        response = {"kind": "response", "cells": self.options, "bits": 0, "truth": self._weight}
        part = self._bits.recipe() if self.way == "bits" else response
        return {
            "kind": "pairs",
            "cells": part["cells"],
            "bits": part["bits"],
            "keys": len(self.keys),
            "most": self.most,
            "between": [repr(end) for end in self.between],
            "part": part,
        }

    def domain(self) -> dict[str, Any]:
        """The public list of keys."""
        return {"pairs": listed_domain(self.keys)}

    def input_of(self, value: Any) -> list[list[int]]:
        """The place of each key and the chance of the high end, of a mapping from keys to numbers."""
        given = [[self.keys.place(key), self._chance(number)] for key, number in _pairs_of(value)]
        if len({key for key, _ in given}) < len(given):
            raise BadArgument("the pairs of a person", "with no key twice", Unseen())
        return given

    def _chance(self, number: Any) -> int:
        plain = number.item() if isinstance(number, np.generic) else number
        try:
            return high_chance(plain, *self.between)
        except ValueError:
            raise BadArgument(
                "each number", f"between {self.between[0]} and {self.between[1]}: cut it to them first", Unseen()
            ) from None

    def inputs_of(self, values: Any) -> PairColumns:
        """The same for many people: their mappings; or, faster, a tuple of three arrays.

        The three are: how many pairs each person has, and the keys and the numbers of all pairs, person after person.
        """
        if isinstance(values, tuple) and len(values) == 3 and all(isinstance(one, np.ndarray) for one in values):
            return self._columns(*values)
        given = [self.input_of(value) for value in values]
        flat = np.array([pair for own in given for pair in own], dtype=np.int64).reshape(-1, 2)
        counts = np.array([len(own) for own in given], dtype=np.int64)
        return PairColumns(np.cumsum(counts) - counts, counts, flat[:, 0], flat[:, 1])

    def _columns(self, counts: NDArray[Any], keys: NDArray[Any], numbers: NDArray[Any]) -> PairColumns:
        low, high = self.between
        wide = np.asarray(numbers, dtype=np.float64)
        if counts.dtype.kind not in "iu" or (counts < 0).any() or not len(keys) == len(wide) == counts.sum():
            raise BadArgument("the pairs", "how many each person has, and so many keys and numbers", Unseen())
        if not ((wide >= low) & (wide <= high)).all():
            raise BadArgument("each number", f"between {low} and {high}: cut it to them first", Unseen())
        places = self.keys.places(keys)
        owners = np.repeat(np.arange(len(counts)), counts)
        if len(np.unique(owners * len(self.keys) + places)) < len(places):
            raise BadArgument("the pairs of a person", "with no key twice", Unseen())
        chances = np.floor((wide - low) / (high - low) * WHOLE).astype(np.int64)
        many = counts.astype(np.int64)
        return PairColumns(np.cumsum(many) - many, many, places, chances)

    def draw(self, inputs: PairColumns, entropy: Entropy) -> Drawn:
        """Draws a pair or a dummy of each person, its end, and a report on the option."""
        bounds = np.maximum(inputs.counts, self.most)
        drawn = np.empty(len(inputs), dtype=np.int64)
        for bound in np.unique(bounds).tolist():
            here = np.flatnonzero(bounds == bound)
            drawn[here] = below_many(bound, count=len(here), entropy=entropy)
        options = 2 * len(self.keys) + drawn
        real = np.flatnonzero(drawn < inputs.counts)
        taken = inputs.starts[real] + drawn[real]
        high = (entropy.words(len(real)) >> np.uint64(64 - BITS)).astype(np.int64) < inputs.chances[taken]
        options[real] = 2 * inputs.keys[taken] + high
        if self.way == "bits":
            return self._bits.draw(options, entropy)
        return respond(options, self.options, self._weight, entropy), np.zeros((len(inputs), 0), dtype=np.uint64)

    def estimate(self, tally: Tally) -> KeyValueEstimate:
        """Counts of keys and means of numbers."""
        ends = tally.sums[0, 1:] if self.way == "bits" else tally.sums[:, 0]
        low, high = ends[: 2 * len(self.keys)].reshape(-1, 2).T
        return KeyValueEstimate(self.keys, self.between, tally.users, low, high, self.law, self.loss, tally.rejected)


def key_values(
    keys: Sequence[Hashable],
    *,
    between: tuple[Number, Number],
    most: int,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    way: str | None = None,
) -> KeyValues:
    """The protocol for keys with numbers between two bounds, of people who have at most so many, with the least error.

    Who has more may report too: each pair then counts for less (`KeyValueEstimate`).

    >>> key_values(["rent", "food"], between=(0, 1000), most=2, loss=Pure(1)).way
    'response'
    """
    listed, cost = Values(keys), Pure(read_epsilon(loss, epsilon))
    bounds = (float(rational(between[0], "between")), float(rational(between[1], "between")))
    built = [KeyValues(listed, bounds, most, cost, one) for one in (WAYS if way is None else (way,))]
    return min(built, key=lambda one: _spread(one.law))


def _spread(law: PairLaw) -> Fraction:
    """About what a person without a key adds to the variances of its count and of the sum of its numbers."""
    return (law.sum_variances[0] + law.difference_squares[0]) / law.gain**2


def _pairs_of(value: Any) -> Iterable[tuple[Any, Any]]:
    listed: Any = list(value.items()) if isinstance(value, Mapping) else value
    pairs = isinstance(listed, list | tuple) and all(isinstance(one, list | tuple) and len(one) == 2 for one in listed)
    if not pairs:
        raise BadArgument("the pairs of a person", "a mapping from keys to numbers, or a list of pairs", Unseen())
    given: Iterable[tuple[Any, Any]] = listed
    return given
