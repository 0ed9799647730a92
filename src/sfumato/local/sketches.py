"""Sketches: counts of texts that nobody can list, from a public row and a report of the text's bucket there."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hides
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.device import LONGEST_TEXT
from sfumato.local.frequency import FrequencyProtocol, support_variance
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.signs import HadamardSign, sign_support
from sfumato.local.text_counts import TextCounts
from sfumato.local.text_rows import Rows, Texts
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

MOST = 1 << 25
"""A tally has at most so many sums."""


@guarantee(
    claim="a public row, the bucket of a text in it, and a report of the bucket: at most the loss of that report",
    proof="proofs/local_sketches.md#rows",
    reviewed="058f8ed7e91d",
)
def bucket_loss(part: FrequencyProtocol) -> Pure:
    """The loss of a report on a bucket of a public row, whatever the hash functions."""
    return part.loss


class SketchProtocol(LocalProtocol[TextCounts], Protocol):
    """A protocol that counts texts, of which it knows no list."""

    if TYPE_CHECKING:  # fields of each protocol

        @property
        def key(self) -> str:
            """What names the hash functions."""

        @property
        def rows(self) -> int:
            """The number of hash functions."""

        @property
        def buckets(self) -> int:
            """The number of buckets of a row."""

        @property
        def longest(self) -> int:
            """The most letters of a text."""

    @property
    @abstractmethod
    def part(self) -> FrequencyProtocol:
        """How a bucket of a row is reported."""

    @abstractmethod
    def bucket_supports(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each bucket of each row, from the sums of a tally."""

    @property
    def hashing(self) -> Rows:
        """The hash functions, one for each row."""
        return Rows(self.key, self.rows, self.buckets)

    @property
    def layout(self) -> Layout:
        """The cells of all rows, one after the other."""
        return Layout(self.rows * self.part.layout.cells, self.part.layout.bits)

    @property
    @guarantee(
        claim="a text owns, in each row, what its bucket owns; two texts of one bucket share it all",
        proof="proofs/local_sketches.md#shuffling",
        reviewed="c27187638b08",
    )
    def hiding(self) -> Hides | None:
        """As the buckets of one row."""
        return self.part.hiding

    def randomizer(self) -> dict[str, Any]:
        """The hash functions, and the recipe of a row."""
        layout = self.layout
        shape = {"kind": "rows", "cells": layout.cells, "bits": layout.bits}
        return {**shape, "rows": self.rows, "buckets": self.buckets, "key": self.key, "part": self.part.recipe()}

    def domain(self) -> dict[str, Any]:
        """Any text that is not too long."""
        return {"texts": {"longest": self.longest}}

    def input_of(self, value: Any) -> str:
        """The text itself."""
        if not isinstance(value, str) or len(value.encode("utf-16-le", "surrogatepass")) > 2 * self.longest:
            raise BadArgument("the value", f"a text of at most {self.longest} letters (UTF-16 units)", Unseen())
        return value

    def inputs_of(self, values: Any) -> Texts:
        """The different texts of many people, and who has which."""
        texts = Texts.of(values)
        for text in texts.distinct:
            self.input_of(text)
        return texts

    def draw(self, inputs: Texts, entropy: Entropy) -> Drawn:
        """Draws rows, hashes each text in the rows that it is asked in, and reports the buckets."""
        rows = below_many(self.rows, count=len(inputs), entropy=entropy)
        cells, bits = self.part.draw(self.hashing.bucket_of_each(inputs, rows), entropy)
        return rows * self.part.layout.cells + cells, bits

    def variance(self, *, users: int, count: Number = 0, pairs: Number = 0) -> Fraction:
        """The variance of the estimated count of a text that ``count`` of ``users`` people have.

        ``pairs`` is the number of ordered pairs of the others that have the same text: the sum of c (c − 1) over all
        other texts, and at most (users − count) (users − count − 1). It is exact over the reports and over hash
        functions that are drawn at random.
        """
        same, apart = self.part.supports_truth, self.part.supports_other
        noise = support_variance(same, apart + (same - apart) / self.buckets, users, Fraction(count))
        return noise + Fraction(pairs) / (self.rows * (self.buckets - 1))

    def estimate(self, tally: Tally) -> TextCounts:
        """Counts of whatever texts are asked for."""
        people = tally.sums[:, 0].reshape(self.rows, -1).sum(axis=1)
        supports, part = self.bucket_supports(tally.sums), self.part
        chances = (part.supports_truth, part.supports_other)
        return TextCounts(self.hashing, people, supports, *chances, self.loss, tally.rejected)


def _settle(sketch: SketchProtocol) -> None:
    """Reads the fields of a sketch that is made, and refuses what no sketch has."""
    integer(sketch.longest, "longest", least=1, most=LONGEST_TEXT)
    object.__setattr__(sketch, "loss", Pure(read_epsilon(sketch.loss)))
    integer(len(sketch.hashing) * sketch.part.layout.cells * (1 + sketch.part.layout.bits), "rows × buckets", most=MOST)
    object.__setattr__(sketch, "loss", bucket_loss(sketch.part))


@final
@dataclass(frozen=True)
class CountMeanSketch(SketchProtocol):
    """Apple's count-mean sketch: a public row, and a bit for each of its buckets, each of them randomized by itself.

    Takes:      key, a text that names the hash functions, chosen without a look at anybody's text; the loss of a
                report; the number of rows, and of buckets of a row, a power of 2; how long texts may be
    Guarantee:  P(report | text) ≤ e^ε P(report | other text), whatever the hash functions: nothing rests on them
                (proofs/local_sketches.md#rows); reached up to 2⁻⁵³ if two texts are apart in some row
    Cost:       about 2.5 ns a bit and 1 µs for each text in each sixteen rows; messages of a bit for each bucket
    Best:       from ε = 2 on, where messages may be long; variance 4 e^ε / (e^ε − 1)² a person, plus collisions

    >>> CountMeanSketch("names", Pure(1)).layout.size
    33
    """

    key: str
    loss: Pure
    rows: int = 256
    buckets: int = 256
    longest: int = 256

    def __post_init__(self) -> None:
        _settle(self)

    @cached_property
    def part(self) -> FrequencyProtocol:
        """A bit for each bucket, with the chances of optimized unary encoding."""
        return UnaryEncoding.optimized(Values(range(self.buckets)), self.loss)

    def bucket_supports(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the buckets whose bits are set."""
        return sums[:, 1:]


@final
@dataclass(frozen=True)
class HadamardSketch(SketchProtocol):
    """Apple's Hadamard count-mean sketch: a public row and column, and one randomized sign, in messages of a few bytes.

    The column is one of a Hadamard matrix, whose rows stand for the buckets. The constant column, which tells nothing,
    is not drawn.

    Takes:      key, a text that names the hash functions, chosen without a look at anybody's text; the loss of a
                report; the number of rows, and of buckets of a row, a power of 2; how long texts may be
    Guarantee:  P(report | text) ≤ e^ε P(report | other text), whatever the hash functions: nothing rests on them
                (proofs/local_sketches.md#rows); reached up to 2⁻⁵³ if two texts are apart in some row
    Cost:       about 0.3 µs a report for many, and 1 µs for each text in each sixteen rows; messages of 8 bytes
    Best:       for short messages; variance ((e^ε + 1) / (e^ε − 1))² a person, plus that of collisions

    >>> HadamardSketch("names", Pure(1)).layout.size
    3
    """

    key: str
    loss: Pure
    rows: int = 256
    buckets: int = 1024
    longest: int = 256

    def __post_init__(self) -> None:
        _settle(self)

    @cached_property
    def part(self) -> FrequencyProtocol:
        """A sign in a column of a Hadamard matrix."""
        return HadamardSign(Values(range(self.buckets)), self.loss)

    def bucket_supports(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A report supports the buckets that have its sign in its column."""
        return sign_support(sums[:, 0].reshape(self.rows, -1), self.buckets)
