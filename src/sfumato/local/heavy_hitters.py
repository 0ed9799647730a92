"""Values that many people have, found among more than anybody can list, by prefixes that many people's values have.

Each person is asked, by chance, for a prefix of one length. Whoever reads the reports goes from short prefixes to long
ones, and looks only at what continues a prefix that was common itself (Bassily, Nissim, Stemmer, Thakurta 2017; Wang,
Li, Jha 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Any, final

import numpy as np

from sfumato.accounting.events.hiding import Hides
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.device import FIELDS
from sfumato.local.fields import LARGEST_TABLE, length_for, orders
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.hashing import LocalHashing
from sfumato.local.heavy_values import MOST_CANDIDATES, MOST_KEPT, HeavyValues, Level, found, sorted_values
from sfumato.local.intervals import least_support, read_confidence
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.signs import HadamardSign
from sfumato.local.sketches import MOST, bucket_loss
from sfumato.local.spelled import Spelling, a_spelling, prefix_lengths
from sfumato.local.text_counts import TextCounts
from sfumato.local.text_rows import Rows, Texts
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

FIRST_CANDIDATES = 1 << 18
"""Prefixes of the first length are all looked at: at most so many."""

LEAST_BUCKETS, LARGEST_BUCKETS = 1 << 8, 1 << 14
"""How many buckets a row may have."""

MOST_CELLS = 1 << 22
"""Buckets are so few that a tally has at most so many sums."""

ALIKE = 200
"""One pair of people in so many is taken to have the same prefix, once those that stand out are set aside."""


@final
@dataclass(frozen=True)
class HeavyHitters(LocalProtocol[HeavyValues]):
    """Finds values that many people have: a report is a sketch's report on a prefix of one of several lengths.

    Takes:      how values are spelled; a key for hash functions, chosen without a look at anybody's value; lengths of
                prefixes, the last one that of whole values; how one of the buckets of a row is reported; the number of
                rows for each length; with what confidence nothing is found that nobody has
    Guarantee:  P(report | value) ≤ e^ε P(report | other value), whatever the hash functions
                (proofs/local_sketches.md#rows)
    Cost:       about 0.4 µs a report, and 3 µs for each different value; 1 µs for each prefix looked at; 8 bytes
    Best:       values that are too many to be listed; `least_share` says from which share on they are found: a multiple
                of the root of (number of lengths) / (number of people), which is the best rate but for a logarithm

    >>> heavy_hitters(bits=32, loss=1, users=10**6, key="example").lengths
    (18, 31, 32)
    """

    spelling: Spelling
    key: str
    lengths: tuple[int, ...]
    part: FrequencyProtocol
    rows: int = FIELDS
    confidence: Fraction = Fraction(95, 100)

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", read_confidence(self.confidence))
        lengths = tuple(integer(one, "a length", least=1) for one in self.lengths)
        if not lengths or list(lengths) != sorted(set(lengths)) or lengths[-1] != self.spelling.length:
            raise BadArgument("lengths", f"rising, up to {self.spelling.length}, the length of whole values", lengths)
        object.__setattr__(self, "lengths", lengths)
        integer(len(self._hashing) * self.part.layout.cells, "the number of cells", most=MOST)
        if self.part.layout.bits:
            raise BadArgument("part", "a protocol whose reports are numbers", "one with bits")

    @property
    def loss(self) -> Pure:
        """That of a report on one bucket."""
        return bucket_loss(self.part)

    @property
    def buckets(self) -> int:
        """The number of buckets of a row."""
        return len(self.part.values)

    @property
    def _hashing(self) -> Rows:
        return Rows(self.key, self.rows * len(self.lengths), self.buckets)

    @property
    def layout(self) -> Layout:
        """The cells of all rows of all lengths, one after the other."""
        return Layout(len(self._hashing) * self.part.layout.cells)

    @property
    @guarantee(
        claim="a value owns, in each row, what the bucket of its prefix owns; what falls together is shared",
        proof="proofs/local_sketches.md#shuffling",
        reviewed="c27187638b08",
    )
    def hiding(self) -> Hides | None:
        """As the buckets of one row."""
        return self.part.hiding

    def randomizer(self) -> dict[str, Any]:
        """The hash functions, the lengths, and the recipe of a row."""
        shape = {"kind": "prefixes", "cells": self.layout.cells, "bits": 0, "rows": self.rows, "buckets": self.buckets}
        return {**shape, "key": self.key, "lengths": list(self.lengths), "part": self.part.recipe()}

    def domain(self) -> dict[str, Any]:
        """How values are spelled."""
        return {"spelled": self.spelling.published()}

    def input_of(self, value: Any) -> str:
        """The value in letters."""
        return self.spelling.spell(value)

    def inputs_of(self, values: Any) -> Texts:
        """The different values of many people in letters, and who has which."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise BadArgument("values", "a list of values, one of each person", Unseen())
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if set(map(type, listed)) - {str, int}:
            raise BadArgument("values", "all texts, or all whole numbers", Unseen())
        distinct = list(dict.fromkeys(listed))
        numbers = {value: at for at, value in enumerate(distinct)}
        places = np.fromiter(map(numbers.__getitem__, listed), dtype=np.int64, count=len(listed))
        return Texts(tuple(map(self.spelling.spell, distinct)), places)

    def draw(self, inputs: Texts, entropy: Entropy) -> Drawn:
        """Draws rows, cuts each value to the prefix that its row asks for, and reports the bucket of that."""
        rows = below_many(len(self._hashing), count=len(inputs), entropy=entropy)
        different = max(len(inputs.distinct), 1)
        pairs, back = np.unique(rows // self.rows * different + inputs.places, return_inverse=True)
        prefixes = tuple(
            inputs.distinct[place][: self.lengths[level]]
            for level, place in zip(*(part.tolist() for part in np.divmod(pairs, different)), strict=True)
        )
        buckets = self._hashing.bucket_of_each(Texts(prefixes, back), rows)
        cells, bits = self.part.draw(buckets, entropy)
        return rows * self.part.layout.cells + cells, bits

    def levels(self, tally: Tally) -> list[Level]:
        """The sketch of each length of prefixes."""
        sums = tally.sums[:, 0].reshape(len(self.lengths), self.rows, -1)
        chances = (self.part.supports_truth, self.part.supports_other)
        return [
            Level(
                length,
                TextCounts(
                    Rows(self.key, self.rows, self.buckets, number * self.rows),
                    own.sum(axis=1),
                    np.stack([self.part.support(row[:, None]) for row in own]),
                    *chances,
                    self.loss,
                ),
            )
            for number, (length, own) in enumerate(zip(self.lengths, sums, strict=True))
        ]

    def estimate(self, tally: Tally) -> HeavyValues:
        """The values that stand out, with the shares of people who have them."""
        values, least = found(self.spelling, self.levels(tally), 1 - self.confidence)
        return HeavyValues(sorted_values(values), tally.users, least, self.loss, tally.rejected)

    def least_share(self, *, users: int, power: Number = Fraction(95, 100)) -> float:
        """The share of people from which on a value is found with chance ``power``, by the normal law; 1 for none.

        Whoever is not found has less than that share, so that collisions with these add at most what they would if all
        had it.
        """
        people, many = integer(users, "users", least=1), len(self.lengths)
        other = self.part.supports_other + (self.part.supports_truth - self.part.supports_other) / self.buckets
        gain = float((self.part.supports_truth - other) ** 2)
        steady = many * float(other * (1 - other)) / gain / people
        own = many * float(self.part.supports_truth * (1 - self.part.supports_truth)) / gain / people
        each, chance = max(people // many, 1), float(other)
        needed = least_support(each, chance, float((1 - self.confidence) / many / self._most_candidates()))
        high = (needed - each * chance) / math.sqrt(each * chance * (1 - chance))
        sure = NormalDist().inv_cdf(float(1 - (1 - read_confidence(power)) / many))

        def missed(share: float) -> bool:
            level = steady + share / (self.rows * (self.buckets - 1))
            spread = level + share * (own - steady + (many - 1) / people)
            return share < high * math.sqrt(level) + sure * math.sqrt(max(spread, 0.0))

        low, far = 0.0, 1.0
        for _ in range(50):
            middle = (low + far) / 2
            low, far = (middle, far) if missed(middle) else (low, middle)
        return far

    def _most_candidates(self) -> int:
        """The most prefixes of one length that can be looked at."""
        steps = [after - before for before, after in pairwise(self.lengths)]
        later = [min(MOST_KEPT * self.spelling.endings(step), MOST_CANDIDATES) for step in steps]
        return max(self.spelling.endings(self.lengths[0]), *later, 1)


def heavy_hitters(
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    key: str,
    alphabet: str | None = None,
    longest: int | None = None,
    bits: int | None = None,
    confidence: Number = Fraction(95, 100),
) -> HeavyHitters:
    """The protocol that finds values that many people have: words of an alphabet, or whole numbers of some bits.

    Everybody reports once. With the stated confidence nothing is found that nobody has; `least_share` says what is
    found. ``key`` names the hash functions: any text, chosen without a look at anybody's value.

    >>> heavy_hitters(alphabet="abc", longest=20, loss=2, users=10**6, key="example").lengths
    (10, 17, 21)
    """
    spelling, people = a_spelling(alphabet, longest, bits), integer(users, "users", least=1)
    cost = read_epsilon(loss, epsilon)
    lengths = prefix_lengths(
        spelling, first=FIRST_CANDIDATES, candidates=MOST_CANDIDATES, kept=_standing_out(people // 4, float(cost))
    )
    part = bucket_part(Pure(cost), users=people // len(lengths), rows=FIELDS * len(lengths))
    return HeavyHitters(spelling, key, lengths, part, confidence=read_confidence(confidence))


def _standing_out(users: int, epsilon: float) -> int:
    """About twice as many prefixes as can stand out of the noise by five deviations."""
    return int(min(max(0.4 * users**0.5 * math.tanh(epsilon / 2), 16), 1 << 12))


def bucket_part(loss: Pure, *, users: int, rows: int) -> FrequencyProtocol:
    """How buckets are reported with the least error: a sign, or local hashing, for as many buckets as a tally has room.

    The error is that of so many reports on a text that nobody has, where one pair of people in `ALIKE` has one text.

    >>> [type(bucket_part(Pure(e), users=10**5, rows=64)).__name__ for e in ("0.01", 3)]
    ['HadamardSign', 'LocalHashing']
    """
    odds, best = math.exp(float(loss.epsilon)), (math.inf, 2, LEAST_BUCKETS)
    for bits in range(LEAST_BUCKETS.bit_length() - 1, LARGEST_BUCKETS.bit_length()):
        collisions = users * users / ALIKE / (FIELDS * ((1 << bits) - 1))
        for order in (one for one in orders() if one <= LARGEST_TABLE):
            cells = 2 << bits if order == 2 else order ** (length_for(order, 1 << bits) + 1)
            truth, other = odds / (odds + order - 1), 1 / order
            error = users * other * (1 - other) / (truth - other) ** 2 + collisions
            if rows * cells <= MOST_CELLS and error < 0.99 * best[0]:
                best = (error, order, 1 << bits)
    values = Values(range(best[2]))
    return HadamardSign(values, loss) if best[1] == 2 else LocalHashing(values, loss, best[1])
