"""RAPPOR: texts that nobody has listed, as Bloom filters with two layers of coins (Erlingsson, Pihur, Korolova 2014).

Each device is in one of a few public *cohorts*, drawn once, each with hash functions of its own. The bits that they put
a text to are told by a permanent randomized response, which is remembered, and that by an instantaneous one each time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, final, overload

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, ball, integer, probability
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import LONGEST_TEXT, WHOLE
from sfumato.local.filter_counts import FilterCounts
from sfumato.local.lasting import LastingProtocol
from sfumato.local.memoised import Memoised, memoised, smaller_epsilon
from sfumato.local.protocol import Drawn, Tally
from sfumato.local.reports import Layout
from sfumato.local.stages import Again, BitsAgain, SameAgain, again, largest_weight, seen_bits_loss
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

MOST_SUMS = 1 << 24
"""A tally has a sum for each bit of each cohort: no more of them than this."""


@guarantee(
    claim="two filters differ in at most h bits each way: ((1 - f/2) / (f/2))^(2h) = e^epsilon",
    proof="proofs/local_again.md#rappor",
    reviewed="ac01047901ab",
)
def kept_weight(epsilon: Fraction, hashes: int) -> int:
    """The chance that a permanent bit is told as it is, 1 − f/2, rounded down, in 53 binary digits."""
    return weight_below(lambda: 1 / ((-ball(epsilon) / (2 * hashes)).exp() + 1))


@final
@dataclass(frozen=True)
class Rappor(LastingProtocol[FilterCounts]):
    """Texts as Bloom filters of ``bits`` bits by ``hashes`` functions, in public cohorts, under two layers of coins.

    Takes:      the sizes, powers of 2 but the number of functions; the chance ``kept`` / 2⁵³ = 1 − f/2 that a permanent
                bit is told as it is; what is done before each message; and the name of the family of hash functions
    Guarantee:  permanent loss 2h ln((1 − f/2) / (f/2)), loss of a message h ln(q*(1 − p*) / ((1 − q*) p*)), whatever
                the texts; reached by two texts of one cohort that have all their bits for themselves
                (proofs/local_again.md#rappor)
    Cost:       about 0.5 µs a report for many, and 2 µs for each text in each cohort that it is met in
    Best:       texts that nobody can list beforehand, reported often

    >>> Rappor.published(f=Fraction(1, 2), p=Fraction(1, 2), q=Fraction(3, 4), bits=128, hashes=2, cohorts=8).loss
    Pure(epsilon=1.074285864166728…)
    """

    bits: int
    hashes: int
    cohorts: int
    kept: int
    again: Again = SameAgain()  # noqa: RUF009  (frozen, without content)
    key: str = "rappor"
    longest: int = 256

    def __post_init__(self) -> None:
        for name, number in (("bits", self.bits), ("cohorts", self.cohorts)):
            if integer(number, name, least=2 if name == "bits" else 1) & (number - 1):
                raise BadArgument(name, "a power of 2", number)
        if self.bits * self.cohorts > MOST_SUMS:
            raise BadArgument("bits times cohorts", f"at most {MOST_SUMS}", self.bits * self.cohorts)
        if integer(self.hashes, "hashes", least=1) > self.bits:
            raise BadArgument("hashes", "at most the number of bits", self.hashes)
        if not WHOLE < 2 * integer(self.kept, "kept", least=0) < 2 * WHOLE:
            raise BadArgument("kept", "a weight between 2^52 and 2^53", self.kept)
        if not isinstance(self.again, SameAgain | BitsAgain):
            raise BadArgument("again", "a BitsAgain, or SameAgain", self.again)
        if not isinstance(self.key, str):
            raise BadArgument("key", "a text, the name of the family of hash functions", self.key)
        integer(self.longest, "longest", least=1, most=LONGEST_TEXT)

    @classmethod
    def published(
        cls,
        *,
        f: Number,
        p: Number | None = None,
        q: Number | None = None,
        bits: int = 128,
        hashes: int = 2,
        cohorts: int = 64,
        key: str = "rappor",
    ) -> Rappor:
        """By the parameters of the paper, rounded to multiples of 2⁻⁵³; one-time RAPPOR where p and q are left out."""
        share = probability(f, "f")
        if not 0 < share < 1:
            raise BadArgument("f", "greater than 0 and less than 1", f)
        if (p is None) != (q is None):
            raise BadArgument("p and q", "stated both, or neither for one-time RAPPOR", "one of them")
        stage: Again = SameAgain()
        if p is not None and q is not None:
            stage = BitsAgain(round(probability(q, "q") * WHOLE), round(probability(p, "p") * WHOLE))
        return cls(bits, hashes, cohorts, round((1 - share / 2) * WHOLE), stage, key)

    @property
    def layout(self) -> Layout:
        """A cell for each cohort, and the bits of a filter."""
        return Layout(self.cohorts, self.bits)

    @property
    def one(self) -> Fraction:
        """The chance of a 1 in a message, for a bit that a text has: q* of the paper."""
        return self.again.chance(Fraction(self.kept, WHOLE))

    @property
    def zero(self) -> Fraction:
        """The chance of a 1 in a message, for a bit that a text does not have: p* of the paper."""
        return self.again.chance(1 - Fraction(self.kept, WHOLE))

    @property
    @guarantee(
        claim="two filters differ in at most h bits one way and h the other: 2h ln((1 - f/2) / (f/2)), rounded up",
        proof="proofs/local_again.md#rappor",
        reviewed="0330990dce8f",
    )
    def permanent_loss(self) -> Pure:
        """The loss of a permanent report, ε_∞ of the paper."""
        kept = Fraction(self.kept, WHOLE)
        return seen_bits_loss(kept, 1 - kept, self.hashes)

    @property
    def loss(self) -> Pure:
        """The loss of one message, ε_1 of the paper."""
        return seen_bits_loss(self.one, self.zero, self.hashes)

    @property
    def most_values(self) -> int:
        """As many as there are filters of up to h bits."""
        return sum(comb(self.bits, ones) for ones in range(1, self.hashes + 1))

    def domain(self) -> dict[str, Any]:
        """Any text of at most so many letters."""
        return {"texts": {"longest": self.longest}}

    def input_of(self, value: Any) -> str:
        """The text itself: its filter depends on the cohort."""
        return self._texts([value])[0]

    def inputs_of(self, values: Any) -> NDArray[Any]:
        """The texts of many people."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        try:
            self._texts(dict.fromkeys(listed))
        except TypeError:  # a list, say: nothing that is a text
            self._texts([None])
        texts = np.empty(len(listed), dtype=object)
        texts[:] = listed
        return texts

    def _texts(self, values: Any) -> list[str]:
        listed = list(values)
        longest = 2 * self.longest  # bytes of UTF-16, as JavaScript counts letters
        if not all(isinstance(one, str) and len(one.encode("utf-16-le", "surrogatepass")) <= longest for one in listed):
            raise BadArgument("the value", f"a text of at most {self.longest} letters", Unseen())
        return listed

    def permanent_recipe(self) -> dict[str, Any]:
        """The cohort is settled once; a filter is remembered as it was first told."""
        own = {"kind": "bits again", "cells": 1, "bits": self.bits, "truth": self.kept, "lie": WHOLE - self.kept}
        settled = {"kind": "settled", "cells": self.cohorts, "bits": self.bits, "choices": self.cohorts, "of": own}
        return {**settled, "view": "filter", "hashes": self.hashes, "key": self.key}

    def filled(self, text: str, cohort: int) -> list[int]:
        """The bits that a text has in a cohort, one for each hash function."""
        return self._filled(text, [cohort])[0]

    def _filled(self, text: str, cohorts: list[int]) -> list[list[int]]:
        """The same for several cohorts: what `device.text_bucket` says, with the text written once."""
        start = f"[{json.dumps(self.key)},".encode()
        end, digest = f",{json.dumps(text)}]".encode(), hashlib.sha256
        every = [
            digest(b"%b%d%b" % (start, row, end)).digest()[:8]
            for cohort in cohorts
            for row in range(cohort * self.hashes, (cohort + 1) * self.hashes)
        ]
        places = [int.from_bytes(one, "little") & (self.bits - 1) for one in every]
        return [places[at : at + self.hashes] for at in range(0, len(places), self.hashes)]

    def draw_permanent(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws cohorts, and permanent reports on filters; no text is hashed twice in a cohort."""
        people, width = len(inputs), self.layout.words
        cohorts = below_many(self.cohorts, count=people, entropy=entropy)
        listed = inputs.tolist()
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        texts = np.fromiter(map(places.__getitem__, listed), dtype=np.int64, count=people)
        met, which = np.unique(texts * self.cohorts + cohorts, return_inverse=True)
        ends = np.searchsorted(met, np.arange(1, len(places) + 1) * self.cohorts).tolist()
        asked, first, bits = (met % self.cohorts).tolist(), 0, []
        for text, end in zip(places, ends, strict=True):
            bits += self._filled(text, asked[first:end])
            first = end
        filters = np.zeros((len(met), width), dtype=np.uint64)
        for column in np.array(bits, dtype=np.int64).reshape(-1, self.hashes).T:
            filters[np.arange(len(met)), column >> 6] |= np.uint64(1) << (column & 63).astype(np.uint64)
        words = again(filters[which], self.kept, WHOLE - self.kept, self.layout, entropy)
        return cohorts, words

    def estimate(self, tally: Tally) -> FilterCounts:
        """Unbiased counts of the bits of each cohort, of which counts of candidate texts are made."""
        chances = (self.one, self.zero)
        return FilterCounts(self.filled, self.hashes, chances, tally.sums, self.loss, tally.rejected)


@overload
def rappor(
    values: None = None,
    *,
    lifetime: Pure | Number,
    report: Pure | Number | None = None,
    bits: int = 128,
    hashes: int = 2,
    cohorts: int = 64,
    key: str = "rappor",
    longest: int = 256,
) -> Rappor: ...
@overload
def rappor(values: Sequence[Hashable], *, lifetime: Pure | Number, report: Pure | Number | None = None) -> Memoised: ...
def rappor(
    values: Sequence[Hashable] | None = None,
    *,
    lifetime: Pure | Number,
    report: Pure | Number | None = None,
    bits: int = 128,
    hashes: int = 2,
    cohorts: int = 64,
    key: str = "rappor",
    longest: int = 256,
) -> Rappor | Memoised:
    """RAPPOR at a loss ``lifetime`` for a text that never changes, and ``report`` for one message.

    Without ``report`` it is one-time RAPPOR. With ``values`` listed it is basic RAPPOR: one bit for each value, and
    nothing hashed.

    >>> rappor(lifetime=4, report=1).layout.size
    17
    """
    epsilon = read_epsilon(lifetime)
    if values is not None:
        return memoised(UnaryEncoding.symmetric(Values(values), Pure(epsilon)), report=report)
    functions = integer(hashes, "hashes", least=1)
    kept = kept_weight(epsilon, functions)
    plain = Rappor(bits, functions, cohorts, kept, key=key, longest=longest)
    if report is None:
        return plain
    least = smaller_epsilon(report, plain.permanent_loss)

    def ratio(weight: int) -> Fraction:
        if 2 * weight <= WHOLE:
            return Fraction(1)
        one = BitsAgain(weight, WHOLE - weight).chance(Fraction(kept, WHOLE))
        return (one / (1 - one)) ** (2 * functions)

    weight = largest_weight(ratio, least)
    if ratio(weight) <= 1:
        raise BadArgument("report", "so large that a message tells anything at all", float(least))
    return Rappor(bits, functions, cohorts, kept, BitsAgain(weight, WHOLE - weight), key, longest)
