"""What a device does to a permanent report before each message: nothing, or coins thrown anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import exp_down, integer, log_up
from sfumato.guarantee import guarantee
from sfumato.local.device import BITS, WHOLE
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.response import respond
from sfumato.noise.coin_words import coin_words


@guarantee(
    claim="of two values, one owns a bit that the other does not, and it may be so the other way round, `bits` times: "
    "bits ln(p (1 - q) / ((1 - p) q)), rounded up",
    proof="proofs/local_again.md#one-report",
    reviewed="bafebd0e4b3f",
)
def seen_bits_loss(truth: Fraction, other: Fraction, bits: int = 1) -> Pure:
    """The loss of bits that are 1 with chance ``truth`` where the value has a 1, with chance ``other`` elsewhere."""
    return Pure(bits * Fraction(log_up(truth * (1 - other) / ((1 - truth) * other))))


@guarantee(
    claim="one of g options, the true one with chance p and the others alike: ln(p (g - 1) / (1 - p)), rounded up",
    proof="proofs/local_again.md#one-report",
    reviewed="c955d75f2b11",
)
def seen_number_loss(truth: Fraction, options: int) -> Pure:
    """The loss of a number that is the true one of some options with chance ``truth``, else any other alike."""
    return Pure(log_up(truth * (options - 1) / (1 - truth)))


@final
@dataclass(frozen=True)
class SameAgain:
    """The permanent report as it is, in every message: whoever sees two messages knows that they are of one device."""

    def recipe(self, layout: Layout) -> dict[str, Any]:
        """What a device needs to know."""
        return {"kind": "same again", "cells": layout.cells, "bits": layout.bits}

    def chance(self, before: Fraction) -> Fraction:
        """The chance that a message supports what a permanent report supports with chance ``before``."""
        return before

    def between(self, layout: Layout) -> Pure | None:
        """The loss of a message between two permanent reports; None where it tells them apart."""
        return None

    def draw(self, drawn: Drawn, layout: Layout, entropy: Entropy) -> Drawn:
        """The messages of permanent reports."""
        return drawn


@final
@dataclass(frozen=True)
class BitsAgain:
    """Each bit anew: 1 with chance ``truth`` / 2⁵³ where the permanent one is 1, and ``lie`` / 2⁵³ elsewhere."""

    truth: int
    lie: int

    def __post_init__(self) -> None:
        truth, lie = (integer(one, "a chance", least=1, most=WHOLE - 1) for one in (self.truth, self.lie))
        if lie >= truth:
            raise BadArgument("the chances", "0 < lie < truth < 2^53", (self.lie, self.truth))

    def recipe(self, layout: Layout) -> dict[str, Any]:
        """What a device needs to know."""
        return {
            "kind": "bits again",
            "cells": layout.cells,
            "bits": layout.bits,
            "truth": self.truth,
            "lie": self.lie,
        }

    def chance(self, before: Fraction) -> Fraction:
        """The chance of a 1 in a message, for a bit that is 1 in the permanent report with chance ``before``."""
        return (before * self.truth + (1 - before) * self.lie) / WHOLE

    @guarantee(
        claim="a bit tells two permanent bits apart by a factor of t/l or (1 - l)/(1 - t); all bits may differ",
        proof="proofs/local_again.md#histories",
        reviewed="5fd4c413fd29",
    )
    def between(self, layout: Layout) -> Pure | None:
        """The loss of a message between any two permanent reports, which may differ in every bit."""
        truth, lie = Fraction(self.truth, WHOLE), Fraction(self.lie, WHOLE)
        return Pure(layout.bits * Fraction(log_up(max(truth / lie, (1 - lie) / (1 - truth)))))

    def draw(self, drawn: Drawn, layout: Layout, entropy: Entropy) -> Drawn:
        """The messages of permanent reports."""
        cells, bits = drawn
        return cells, again(bits, self.truth, self.lie, layout, entropy)


@final
@dataclass(frozen=True)
class NumberAgain:
    """The number anew, by randomized response within its block of ``options``: kept with chance ``truth`` / 2⁵³."""

    options: int
    truth: int

    def __post_init__(self) -> None:
        integer(self.options, "options", least=2)
        integer(self.truth, "truth", least=1, most=WHOLE - 1)

    def recipe(self, layout: Layout) -> dict[str, Any]:
        """What a device needs to know."""
        return {
            "kind": "number again",
            "cells": layout.cells,
            "bits": layout.bits,
            "options": self.options,
            "truth": self.truth,
        }

    def chance(self, before: Fraction) -> Fraction:
        """The chance that a message is what the permanent report is with chance ``before``."""
        kept = Fraction(self.truth, WHOLE)
        return kept * before + (1 - kept) / self.options

    @guarantee(
        claim="randomized response over g options between two permanent numbers: ln(1 + g t / (1 - t)), rounded up",
        proof="proofs/local_again.md#histories",
        reviewed="ee6ec4c00e92",
    )
    def between(self, layout: Layout) -> Pure | None:
        """The loss of a message between any two permanent reports with the same public choice."""
        return Pure(log_up(1 + Fraction(self.options * self.truth, WHOLE - self.truth)))

    def draw(self, drawn: Drawn, layout: Layout, entropy: Entropy) -> Drawn:
        """The messages of permanent reports."""
        cells, bits = drawn
        block, number = np.divmod(cells, self.options)
        return block * self.options + respond(number, self.options, self.truth, entropy), bits


Again: TypeAlias = SameAgain | BitsAgain | NumberAgain
"""What comes between a permanent report and a message."""


def again(bits: NDArray[np.uint64], truth: int, lie: int, layout: Layout, entropy: Entropy) -> NDArray[np.uint64]:
    """Draws each bit anew: 1 with one chance where it is 1, with another where it is 0."""
    ones, zeros = (
        coin_words(weight, bits=BITS, count=bits.size, entropy=entropy).reshape(bits.shape) for weight in (truth, lie)
    )
    words: NDArray[np.uint64] = (bits & ones) | (~bits & zeros)
    if layout.bits % 64:
        words[:, -1] &= np.uint64((1 << layout.bits % 64) - 1)
    return words


@guarantee(
    claim="the largest weight whose ratio, which rises with it, is at most e^epsilon",
    proof="proofs/local_again.md#one-report",
    reviewed="ce3da01d75f4",
)
def largest_weight(ratio: Callable[[int], Fraction], epsilon: Fraction) -> int:
    """The largest chance, of more than ½ in multiples of 2⁻⁵³ unless ½ is too much, that keeps ε."""
    limit, least, most = exp_down(epsilon), 0, WHOLE - 1
    while least < most:
        tried = (least + most + 1) >> 1
        least, most = (tried, most) if ratio(tried) <= limit else (least, tried - 1)
    return least
