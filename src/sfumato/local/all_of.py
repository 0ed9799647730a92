"""All of several questions answered by each person, in one report: the losses of the answers add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sfumato.accounting.events.hiding import Hiding, HidingAllOf
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.local.one_of import columns_of, one_each, read_parts
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.written_bits import sums_of_parts, written

MOST_BITS = 1 << 20
"""A report of several questions has at most so many bits."""


@guarantee(
    claim="independent reports on all questions: the sum of their losses",
    proof="proofs/local_several.md#all-of",
    reviewed="5e6f26e23884",
)
def total_loss(parts: Sequence[LocalProtocol[Any]]) -> Pure:
    """The loss of a report that answers each of several questions."""
    return Pure(sum((Fraction(part.loss.epsilon) for part in parts), Fraction(0)))


@final
@dataclass(frozen=True)
class AllOf(LocalProtocol[tuple[Any, ...]]):
    """Each report answers every one of several questions, each with randomness of its own.

    Takes:      a protocol for each question
    Guarantee:  the sum of the losses of the questions  (proofs/local_several.md#all-of)
    Cost:       that of all reports; a message has a bit for each cell of a question that has several, and its bits
    Best:       questions of which each has a loss of its own to spend; to share one loss, `OneOf` errs less

    >>> from sfumato.local.response import Response
    >>> from sfumato.local.values import Values
    >>> both = AllOf((Response(Values(["yes", "no"]), Pure(1)), Response(Values(range(5)), Pure(1))))
    >>> both.loss, both.layout.bits
    (Pure(epsilon=2.0), 7)
    """

    parts: tuple[LocalProtocol[Any], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", read_parts(self.parts))
        together(self.parts)

    @property
    def loss(self) -> Pure:
        """The sum of the losses."""
        return total_loss(self.parts)

    @property
    def layout(self) -> Layout:
        """The reports of all questions in bits, one after the other."""
        return together(self.parts)

    @property
    @guarantee(
        claim="the products of the kinds of reports of all questions, where each one's own sets are known",
        proof="proofs/shuffling.md#several",
        reviewed="cfc7c8aef9ee",
    )
    def hiding(self) -> HidingAllOf | None:
        """All kinds together; none where it is not known of a question, or there are too many kinds."""
        known = tuple(part.hiding for part in self.parts if isinstance(part.hiding, Hiding))
        try:
            return HidingAllOf(known) if len(known) == len(self.parts) else None
        except BadArgument:
            return None

    def randomizer(self) -> dict[str, Any]:
        """The recipes of all questions."""
        return {
            "kind": "all of",
            "cells": 1,
            "bits": self.layout.bits,
            "parts": [part.recipe() for part in self.parts],
        }

    def domain(self) -> dict[str, Any] | None:
        """The domains of all questions; none where one has none."""
        domains = [part.domain() for part in self.parts]
        return None if None in domains else {"each": domains}

    def input_of(self, value: Any) -> list[Any]:
        """What each question's randomizer is given: a person's answers, in the order of the questions."""
        answers = one_each(value, len(self.parts))
        return [part.input_of(answer) for part, answer in zip(self.parts, answers, strict=True)]

    def inputs_of(self, values: Any) -> tuple[Any, ...]:
        """The same for many people: a column of answers for each question."""
        return columns_of(values, self.parts)

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws reports of every question for everybody."""
        drawn = [part.draw(own, entropy) for part, own in zip(self.parts, inputs, strict=True)]
        return written_together(self.layout, drawn)

    def split(self, tally: Tally) -> tuple[Tally, ...]:
        """The tallies of the questions."""
        return split_tally(self.parts, tally)

    def estimate(self, tally: Tally) -> tuple[Any, ...]:
        """The estimate of each question, of all people."""
        return tuple(part.estimate(own) for part, own in zip(self.parts, self.split(tally), strict=True))


def together(parts: Sequence[LocalProtocol[Any]]) -> Layout:
    """The layout of reports of all questions, written out in bits; refuses what would be too long."""
    layouts = tuple(part.layout for part in parts)
    bits = sum(one.written_out for one in layouts)
    if bits > MOST_BITS:
        raise BadArgument("parts", f"protocols whose reports fit {MOST_BITS} bits: a bit for each cell and value", bits)
    return Layout(1, bits, together=layouts)


def written_together(layout: Layout, drawn: Sequence[Drawn]) -> Drawn:
    """Reports of all questions, as reports of one cell."""
    rows = written(layout.words, layout.together, drawn)
    return np.zeros(len(rows), dtype=np.int64), rows


def split_tally(parts: Sequence[LocalProtocol[Any]], tally: Tally) -> tuple[Tally, ...]:
    """The tallies of questions that were all answered."""
    sums = sums_of_parts(tally.sums[0], tally.layout.together)
    return tuple(Tally(part.head, layout, own, tally.rejected) for part, (layout, own) in zip(parts, sums, strict=True))
