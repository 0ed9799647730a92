"""A few bits of a histogram from each device, remembered: Microsoft's telemetry (Ding, Kulkarni, Yekhanin 2017)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon, weight_below
from sfumato.local.device import BITS, WHOLE
from sfumato.local.lasting import LastingProtocol
from sfumato.local.linear_counts import LinearCounts
from sfumato.local.memoised import smaller_epsilon
from sfumato.local.protocol import Drawn, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import Layout
from sfumato.local.stages import Again, BitsAgain, SameAgain, largest_weight, seen_bits_loss
from sfumato.local.values import Values
from sfumato.noise.coin_words import coin_words
from sfumato.noise.uniform import below_many

MOST_SUMS = 1 << 26
"""A tally has a sum for each window and each of its bits: no more of them than this."""


@guarantee(
    claim="two values differ in two bits of a window, in one where it has only one: e^(epsilon / 2) or e^epsilon a bit",
    proof="proofs/local_again.md#windows",
    reviewed="c008457208bb",
)
def window_weight(epsilon: Fraction, bits: int) -> int:
    """The chance that a bit is told as it is, rounded down, in 53 binary digits."""
    return weight_below(lambda: 1 / ((-ball(epsilon) / min(bits, 2)).exp() + 1))


@final
@dataclass(frozen=True)
class DBitFlip(LastingProtocol[LinearCounts]):
    """A device answers for a window of ``bits`` values in a row, drawn once: a bit for each, which it remembers.

    Takes:      the values, in a public order that goes round; the number of bits; the chance ``truth`` / 2⁵³ that a
                permanent bit is told as it is; and what is done before each message (nothing, as published)
    Guarantee:  permanent loss 2 ln(t/(1 − t)), once that for a single bit; one message as stated, both reached
                (proofs/local_again.md#windows); `lifetime_loss` of at most bits + 1 different values
    Cost:       about 1.5 ns a bit for many; messages of a number and so many bits
    Best:       values that seldom change, on devices that answer for few bits; variance k/d of unary encoding's

    >>> round(float(dbitflip(range(16), bits=4, lifetime=1).lifetime_loss(values=16).epsilon), 6)
    5.0
    """

    values: Values
    bits: int
    truth: int
    again: Again = SameAgain()  # noqa: RUF009  (frozen, without content)

    def __post_init__(self) -> None:
        size = len(self.values)
        integer(self.bits, "bits", least=1)
        if self.bits > size or size * (self.bits + 1) > MOST_SUMS:
            raise BadArgument("bits", f"at most the number of values, and at most {MOST_SUMS // size - 1}", self.bits)
        if not WHOLE < 2 * integer(self.truth, "truth", least=0) < 2 * WHOLE:
            raise BadArgument("truth", "a weight between 2^52 and 2^53", self.truth)
        symmetric = isinstance(self.again, BitsAgain) and self.again.truth + self.again.lie == WHOLE
        if not symmetric and not isinstance(self.again, SameAgain):
            raise BadArgument("again", "a BitsAgain with chances that add up to 1, or SameAgain", self.again)

    @property
    def layout(self) -> Layout:
        """A cell for each window, by the value that it begins with, and its bits."""
        return Layout(len(self.values), self.bits)

    @property
    def permanent_loss(self) -> Pure:
        """The loss of a permanent report."""
        return self._loss(SameAgain())

    @property
    def loss(self) -> Pure:
        """The loss of one message."""
        return self._loss(self.again)

    @guarantee(
        claim="two values differ in two bits of some window of two or more, in one of a window of one",
        proof="proofs/local_again.md#windows",
        reviewed="fa3ffb88733f",
    )
    def _loss(self, again: Again) -> Pure:
        truth = again.chance(Fraction(self.truth, WHOLE))
        if self.bits == 1:  # one bit, with chances that add up to 1: the square root of the ratio for two of them
            return Pure(Fraction(seen_bits_loss(truth, 1 - truth).epsilon) / 2)
        return seen_bits_loss(truth, 1 - truth)

    @property
    def most_values(self) -> int:
        """A place in the window, or none of them."""
        return min(self.bits + 1, len(self.values))

    def domain(self) -> dict[str, Any]:
        """The public list of values."""
        return listed_domain(self.values)

    def input_of(self, value: Any) -> int:
        """The place of a value in the list."""
        return self.values.place(value)

    def inputs_of(self, values: Any) -> NDArray[Any]:
        """The places of many values."""
        return self.values.places(values)

    def permanent_recipe(self) -> dict[str, Any]:
        """The window is settled once; a bit pattern of it is remembered as it was first told."""
        size, lie = len(self.values), WHOLE - self.truth
        own = {"kind": "bits again", "cells": 1, "bits": self.bits, "truth": self.truth, "lie": lie}
        return {"kind": "settled", "cells": size, "bits": self.bits, "choices": size, "view": "window", "of": own}

    def draw_permanent(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws windows, coins for all their bits, and the bit of the value anew where the window has it."""
        people, size, width = len(inputs), len(self.values), self.layout.words
        starts = below_many(size, count=people, entropy=entropy)
        words = coin_words(WHOLE - self.truth, bits=BITS, count=people * width, entropy=entropy).reshape(people, width)
        if self.bits % 64:
            words[:, -1] &= np.uint64((1 << self.bits % 64) - 1)
        off = (inputs - starts) % size
        rows = np.flatnonzero(off < self.bits)
        columns, own = off[rows] >> 6, np.uint64(1) << (off[rows] & 63).astype(np.uint64)
        told = entropy.words(len(rows)) >> np.uint64(64 - BITS) < np.uint64(self.truth)
        words[rows, columns] = (words[rows, columns] & ~own) | np.where(told, own, np.uint64(0))
        return starts, words

    def variance(self, *, users: int, count: Number = 0) -> Fraction:
        """The exact variance of the estimated count of a value that ``count`` of ``users`` people have."""
        counted, uncounted = self._variances()
        return counted * Fraction(count) + uncounted * (users - Fraction(count))

    def estimate(self, tally: Tally) -> LinearCounts:
        """Unbiased counts, of the bits of those whose windows have a value."""
        sums, size = tally.sums, len(self.values)
        truth = self.again.chance(Fraction(self.truth, WHOLE))
        other, centred = float(1 - truth), np.zeros(size)
        for place in range(self.bits):
            centred += np.roll(sums[:, 1 + place] - other * sums[:, 0], place)
        counts = centred * size / self.bits / float(2 * truth - 1)
        counted, uncounted = (np.full(size, float(one)) for one in self._variances())
        return LinearCounts(
            self.values.listed, tally.users, counts, counted, uncounted, self.loss, rejected=tally.rejected
        )

    def _variances(self) -> tuple[Fraction, Fraction]:
        """The variance of a person's term: k/d times a centred bit where the window has the value, else 0."""
        truth, rarity = self.again.chance(Fraction(self.truth, WHOLE)), Fraction(len(self.values), self.bits)
        coin = truth * (1 - truth) / (2 * truth - 1) ** 2
        return rarity * (coin + 1) - 1, rarity * coin


def dbitflip(
    values: Sequence[Hashable] | Values,
    *,
    bits: int,
    lifetime: Pure | Number,
    report: Pure | Number | None = None,
) -> DBitFlip:
    """dBitFlipPM: permanent bits for a window of values, at a loss ``lifetime`` for a value that never changes.

    As published a device sends its permanent report every time; with ``report`` every message is randomized anew, and
    costs that by itself.

    >>> dbitflip(range(8), bits=1, lifetime=2).loss.epsilon <= 2
    True
    """
    listed = values if isinstance(values, Values) else Values(values)
    epsilon, bits = read_epsilon(lifetime), integer(bits, "bits", least=1)
    permanent = DBitFlip(listed, bits, window_weight(epsilon, bits))
    if report is None:
        return permanent
    least = smaller_epsilon(report, permanent.permanent_loss)

    def ratio(weight: int) -> Fraction:
        if 2 * weight <= WHOLE:
            return Fraction(1)
        truth = BitsAgain(weight, WHOLE - weight).chance(Fraction(permanent.truth, WHOLE))
        return (truth / (1 - truth)) ** min(bits, 2)

    weight = largest_weight(ratio, least)
    if ratio(weight) <= 1:
        raise BadArgument("report", "so large that a message tells anything at all", float(least))
    return DBitFlip(listed, bits, permanent.truth, BitsAgain(weight, WHOLE - weight))
