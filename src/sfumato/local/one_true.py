"""One true answer among made-up ones: nobody sees which question was asked (RS+FD).

A device draws a question unseen, answers it, and makes up values for all others, which it reports in the same way
(Arcolezi, Couchot, Al Bouna and Xiao 2021, arXiv 2109.07269). They spend ln(d (e^ε − 1) + 1) on the answer, since "the
question was drawn". That protects one answer from somebody who knows all others. Between two people who differ in all
answers it is the whole loss that shows: every part of a report may be the likelier one for the same of the two, and
then it does not matter which of them is true (proofs/local_several.md#one-true, and the enumeration in tests/exact).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import log_up
from sfumato.guarantee import guarantee
from sfumato.local.all_of import split_tally, together, written_together
from sfumato.local.frequency import Frequencies, FrequencyProtocol
from sfumato.local.one_of import columns_of, largest_loss, one_each, people_of, read_parts, read_weights
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.response import Response
from sfumato.noise.uniform import below_many


@guarantee(
    claim="one question drawn unseen, reports of made-up values on the others: the largest loss of the questions",
    proof="proofs/local_several.md#one-true",
    reviewed="19e40e5331f2",
)
def unseen_loss(parts: Sequence[LocalProtocol[Any]]) -> Pure:
    """The loss of a report with one true answer, between any two people's answers to all questions."""
    return largest_loss(parts)


@guarantee(
    claim="between answers that differ in one of d questions alike: ln(1 + (e^epsilon - 1) / d) by randomized response",
    proof="proofs/local_several.md#one-answer",
    reviewed="2a45e4ec9b4b",
)
def one_answer_loss(parts: Sequence[FrequencyProtocol], weights: Sequence[int]) -> Pure:
    """What a report tells of one answer to somebody who knows all the other answers, for randomized response.

    >>> from sfumato.local.response import Response
    >>> from sfumato.local.values import Values
    >>> round(float(one_answer_loss([Response(Values(range(3)), Pure(2))] * 4, [1] * 4).epsilon), 4)
    0.9545
    """
    least = [weight * len(part.values) * part.supports_other for part, weight in zip(parts, weights, strict=True)]
    most = [weight * len(part.values) * part.supports_truth for part, weight in zip(parts, weights, strict=True)]
    ratios = [(high - low) / sum(least) + 1 for low, high in zip(least, most, strict=True)]
    return Pure(log_up(max(ratios)))


@final
@dataclass(frozen=True)
class OneTrue(LocalProtocol[tuple[Frequencies, ...]]):
    """Each report answers every question, one truly, drawn unseen by public weights; the others of made-up values.

    Takes:      a protocol for counts for each question; whole weights, all alike unless given
    Guarantee:  the largest loss of the questions  (proofs/local_several.md#one-true); `one_answer` is what is told of
                one answer to who knows the others
    Cost:       as `AllOf`; made-up values add noise, so that errors are above those of `OneOf`
    Best:       where it must not show which question a person was asked

    >>> from sfumato.local.values import Values
    >>> hidden = OneTrue((Response(Values(["yes", "no"]), Pure(1)), Response(Values(range(5)), Pure(1))))
    >>> hidden.loss, round(float(hidden.one_answer.epsilon), 3)
    (Pure(epsilon=1.0), 0.692)
    """

    parts: tuple[FrequencyProtocol, ...]
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        parts = _counting(self.parts)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "weights", read_weights(self.weights, parts))
        together(parts)

    @property
    def loss(self) -> Pure:
        """The largest loss of the questions."""
        return unseen_loss(self.parts)

    @property
    def one_answer(self) -> Pure:
        """What is told of one answer to somebody who knows all others: less, where all are by randomized response."""
        if all(isinstance(part, Response) for part in self.parts):
            return one_answer_loss(self.parts, self.weights)
        return self.loss

    @property
    def layout(self) -> Layout:
        """The reports of all questions in bits, one after the other."""
        return together(self.parts)

    def randomizer(self) -> dict[str, Any]:
        """The recipes of all questions, their weights, and how many values each has."""
        return {
            "kind": "one true",
            "cells": 1,
            "bits": self.layout.bits,
            "parts": [part.recipe() for part in self.parts],
            "options": [len(part.values) for part in self.parts],
            "weights": list(self.weights),
        }

    def domain(self) -> dict[str, Any]:
        """The domains of all questions."""
        return {"each": [part.domain() for part in self.parts]}

    def input_of(self, value: Any) -> list[Any]:
        """The place of each answer, in the order of the questions."""
        answers = one_each(value, len(self.parts))
        return [part.input_of(answer) for part, answer in zip(self.parts, answers, strict=True)]

    def inputs_of(self, values: Any) -> tuple[Any, ...]:
        """The same for many people: a column of places for each question."""
        return columns_of(values, self.parts)

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws the question of each person, makes up the other values, and draws reports of all."""
        people = people_of(inputs)
        drawn = below_many(sum(self.weights), count=people, entropy=entropy)
        asked = np.searchsorted(np.cumsum(self.weights), drawn, side="right")
        reports = []
        for number, (part, places) in enumerate(zip(self.parts, inputs, strict=True)):
            made_up = below_many(len(part.values), count=people, entropy=entropy)
            reports.append(part.draw(np.where(asked == number, places, made_up), entropy))
        return written_together(self.layout, reports)

    def chances(self, number: int) -> tuple[Fraction, Fraction]:
        """The chances that a report supports, for one question, the true value of its sender, and another value."""
        return mixed_chances(self.parts[number], Fraction(self.weights[number], sum(self.weights)))

    def estimate(self, tally: Tally) -> tuple[Frequencies, ...]:
        """Unbiased counts for each question, of all people."""
        return tuple(
            Frequencies(
                part.values, tally.users, part.support(own.sums), *self.chances(number), self.loss, tally.rejected
            )
            for number, (part, own) in enumerate(zip(self.parts, split_tally(self.parts, tally), strict=True))
        )


def mixed_chances(part: FrequencyProtocol, weight: Fraction) -> tuple[Fraction, Fraction]:
    """The chances of support for the true value and another one, if with one less ``weight`` the value is made up."""
    truth, other, size = part.supports_truth, part.supports_other, len(part.values)
    made_up = (truth + (size - 1) * other) / size
    return weight * truth + (1 - weight) * made_up, weight * other + (1 - weight) * made_up


def _counting(parts: Iterable[LocalProtocol[Any]]) -> tuple[FrequencyProtocol, ...]:
    listed: list[FrequencyProtocol] = []
    for part in read_parts(parts):
        if FrequencyProtocol not in type(part).__mro__:
            raise BadArgument("parts", "protocols for counts: a device makes up values of a list only", part)
        counting: Any = part
        listed.append(counting)
    return tuple(listed)
