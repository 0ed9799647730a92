"""One of several questions, drawn at random for each person: the whole loss goes into the answer to that one.

Asking everybody one question in d beats asking all d at an ε/d each, since errors fall with the root of the number of
people but rise faster than in proportion as ε falls (Nguyên et al. 2016; Arcolezi et al. 2021, "sample").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sfumato.accounting.events.hiding import Hiding, HidingOneOf
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.local.protocol import Drawn, LocalProtocol, Tally, a_protocol
from sfumato.local.reports import Layout
from sfumato.noise.uniform import below_many


@guarantee(
    claim="a public choice of a question, then a report on it: the largest loss of the questions",
    proof="proofs/local.md#one-of",
    reviewed="c4c39b9bd22a",
)
def largest_loss(parts: Sequence[LocalProtocol[Any]]) -> Pure:
    """The loss of a report on one of several questions."""
    return Pure(max(part.loss.epsilon for part in parts))


@final
@dataclass(frozen=True)
class OneOf(LocalProtocol[tuple[Any, ...]]):
    """Each report answers one of several questions, drawn with chances in proportion to public weights.

    Takes:      a protocol for each question; whole weights, all alike unless given
    Guarantee:  the largest loss of the questions  (proofs/local.md#one-of)
    Cost:       that of one report; cells and bits of all questions in a tally
    Best:       several questions to the same people; estimates are those of each question, from whom it was asked

    >>> from sfumato.local.response import Response
    >>> from sfumato.local.values import Values
    >>> both = OneOf((Response(Values(["yes", "no"]), Pure(1)), Response(Values(range(5)), Pure(1))))
    >>> both.loss, both.layout.cells
    (Pure(epsilon=1.0), 7)
    """

    parts: tuple[LocalProtocol[Any], ...]
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        parts = read_parts(self.parts)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "weights", read_weights(self.weights, parts))

    @property
    def loss(self) -> Pure:
        """The largest loss of the questions."""
        return largest_loss(self.parts)

    @property
    def layout(self) -> Layout:
        """The cells of all questions, one after the other; as many bits as the longest has."""
        layouts = tuple(part.layout for part in self.parts)
        return Layout(sum(one.cells for one in layouts), max(one.bits for one in layouts), parts=layouts)

    @property
    @guarantee(
        claim="the kinds of reports of each question, as likely as it is; an unknown one like binary response",
        proof="proofs/shuffling.md#several",
        reviewed="71a207675b03",
    )
    def hiding(self) -> HidingOneOf:
        """The kinds of reports of all questions; where how one hides is not known, the worst that its loss allows."""
        known = [(part.hiding, Fraction(part.loss.epsilon)) for part in self.parts]
        return HidingOneOf(
            tuple(Hiding.of_epsilon(loss) if hiding is None else hiding for hiding, loss in known), self.weights
        )

    def randomizer(self) -> dict[str, Any]:
        """The recipes of all questions, and their weights."""
        layout, parts = self.layout, [part.recipe() for part in self.parts]
        return {
            "kind": "one of",
            "cells": layout.cells,
            "bits": layout.bits,
            "parts": parts,
            "weights": list(self.weights),
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
        """Draws the question of each person, and reports of each question for those who were asked it."""
        people, layout = people_of(inputs), self.layout
        drawn = below_many(sum(self.weights), count=people, entropy=entropy)
        asked = np.searchsorted(np.cumsum(self.weights), drawn, side="right")
        cells, bits = np.zeros(people, dtype=np.int64), np.zeros((people, layout.words), dtype=np.uint64)
        for number, (first, part) in enumerate(self._placed()):
            here = np.flatnonzero(asked == number)
            own, own_bits = part.draw(rows_of(inputs[number], here), entropy)
            cells[here] = first + own
            bits[here, : own_bits.shape[1]] = own_bits
        return cells, bits

    def split(self, tally: Tally) -> tuple[Tally, ...]:
        """The tallies of the questions."""
        return tuple(
            Tally(
                part.head,
                part.layout,
                tally.sums[first : first + part.layout.cells, : 1 + part.layout.bits],
                tally.rejected,
            )
            for first, part in self._placed()
        )

    def estimate(self, tally: Tally) -> tuple[Any, ...]:
        """The estimate of each question, of those who were asked it."""
        return tuple(part.estimate(own) for part, own in zip(self.parts, self.split(tally), strict=True))

    def _placed(self) -> Iterator[tuple[int, LocalProtocol[Any]]]:
        first = 0
        for part in self.parts:
            yield first, part
            first += part.layout.cells


def read_parts(parts: Iterable[LocalProtocol[Any]]) -> tuple[LocalProtocol[Any], ...]:
    """The protocols of several questions; at least one."""
    listed = tuple(a_protocol(part) for part in parts)
    if not listed:
        raise BadArgument("parts", "local protocols, one for each question", listed)
    return listed


def read_weights(weights: Sequence[int], parts: Sequence[LocalProtocol[Any]]) -> tuple[int, ...]:
    """A whole weight for each question, all alike unless given."""
    read = tuple(integer(one, "a weight", least=1) for one in weights or (1,) * len(parts))
    if len(read) != len(parts) or sum(read) > 1 << 53:
        raise BadArgument("weights", "one for each question, with a sum up to 2^53", read)
    return read


def rows_of(inputs: Any, places: Any) -> Any:
    """The inputs of some people: of an array, or of each array of a tuple."""
    return tuple(rows_of(one, places) for one in inputs) if isinstance(inputs, tuple) else inputs[places]


def people_of(inputs: Any) -> int:
    """How many people the inputs are of."""
    return people_of(inputs[0]) if isinstance(inputs, tuple) else len(inputs)


def one_each(answers: Any, questions: int) -> Sequence[Any]:
    """One answer to each question, or a column of them."""
    if isinstance(answers, str | bytes) or not hasattr(answers, "__len__") or len(answers) != questions:
        raise BadArgument("the answers", f"a list of {questions}: one for each question", Unseen())
    listed: Sequence[Any] = list(answers)
    return listed


def columns_of(values: Any, parts: Sequence[LocalProtocol[Any]]) -> tuple[Any, ...]:
    """The inputs of many people: a column of answers for each question."""
    columns = one_each(values, len(parts))
    inputs = tuple(part.inputs_of(column) for part, column in zip(parts, columns, strict=True))
    if len({people_of(own) for own in inputs}) > 1:
        raise BadArgument("the answers", "as many to each question: one of each person", Unseen())
    return inputs
