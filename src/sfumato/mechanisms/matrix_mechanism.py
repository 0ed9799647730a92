"""Finite mechanisms as matrices: row x lists the probability of each output on input x.

Whatever a finite mechanism does, its matrix says exactly what it costs: ε is the logarithm of the largest ratio between
two neighbouring rows, δ(ε) the largest part of one row that exp(ε) times the other does not cover.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.core.domains import Categories, Data, Domain, categories
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Discrete, Metric
from sfumato.core.plan import constructor
from sfumato.core.rows import canonical
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NoDistance, Several, elements
from sfumato.exact import (
    BITS,
    Distance,
    Extended,
    Number,
    ball,
    log_up,
    non_negative,
    precision,
    probability,
    up,
    upper,
)
from sfumato.guarantee import guarantee
from sfumato.noise.categorical import Categorical
from sfumato.release.record import Failure, How

Edges = frozenset[tuple[int, int]]
"""Neighbouring inputs, by their places in the list of inputs, in both directions."""

EPSILON_PROOF = "proofs/matrix_mechanism.md#epsilon"
DELTA_PROOF = "proofs/matrix_mechanism.md#delta"


@final
@dataclass(frozen=True)
class StepsBetween(Metric):
    """Counts the steps from neighbour to neighbour between two inputs; infinite where no path leads."""

    inputs: tuple[Hashable, ...]
    edges: Edges

    def distance(self, left: Data, right: Data) -> Distance:
        steps = steps_between(len(self.inputs), self.edges)[self._place(left)][self._place(right)]
        return math.inf if steps is None else Fraction(steps)

    def misfit(self, domain: Domain) -> str | None:
        return None if domain == Categories(self.inputs) else "it counts steps between the inputs it was made for."

    def unit(self, distance: Distance) -> str:
        return "one step to a neighbouring input" if distance == 1 else f"{distance} steps between neighbouring inputs"

    def _place(self, value: Data) -> int:
        for place, known in enumerate(self.inputs):
            if canonical(known) == canonical(value):
                return place
        raise NoDistance(self, "it is none of the inputs.")

    def __str__(self) -> str:
        return "the number of steps between neighbouring inputs"


@final
@dataclass(frozen=True)
class Channel:
    """A finite randomized function: a matrix of probabilities, names of rows and columns, and who is neighbour."""

    rows: tuple[tuple[Fraction, ...], ...]
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    edges: Edges | None = None

    @property
    def space(self) -> Space:
        """The inputs, under the discrete distance or the steps between neighbours."""
        metric = Discrete() if self.edges is None else StepsBetween(self.inputs, self.edges)
        return Space(Categories(self.inputs), metric)

    def pairs(self, d_in: Distance = Fraction(1)) -> Iterator[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
        """Rows of every ordered pair of different inputs at most a distance apart."""
        if self.edges is None:
            close = [(a, b) for a in range(len(self.rows)) for b in range(len(self.rows)) if a != b and d_in >= 1]
        else:
            steps = steps_between(len(self.rows), self.edges)
            with_steps = ((a, b, steps[a][b]) for a in range(len(self.rows)) for b in range(len(self.rows)))
            close = [(a, b) for a, b, count in with_steps if a != b and count is not None and count <= d_in]
        return ((self.rows[a], self.rows[b]) for a, b in close)


@lru_cache(maxsize=64)
def steps_between(count: int, edges: Edges) -> tuple[tuple[int | None, ...], ...]:
    """Counts the least steps between every two inputs, breadth first; None where no path leads."""
    beside: list[list[int]] = [[] for _ in range(count)]
    for left, right in edges:
        beside[left].append(right)
    table: list[tuple[int | None, ...]] = []
    for start in range(count):
        reached: list[int | None] = [None] * count
        reached[start] = 0
        frontier = [start]
        for step in range(1, count):
            frontier = [there for here in frontier for there in beside[here] if reached[there] is None]
            for there in frontier:
                reached[there] = step
        table.append(tuple(reached))
    return tuple(table)


def channel(
    rows: Sequence[Sequence[Number]],
    *,
    inputs: Sequence[Hashable] | None = None,
    outputs: Sequence[Hashable] | None = None,
    adjacency: Iterable[tuple[Hashable, Hashable]] | None = None,
) -> Channel:
    """Reads a matrix of probabilities; rows that do not sum to exactly 1 and negative entries are refused.

    ``adjacency`` lists the neighbouring pairs of inputs; without it every two inputs are neighbours.

    >>> channel([["3/4", "1/4"], ["1/4", "3/4"]]).rows[0][0]
    Fraction(3, 4)
    """
    with elements():
        matrix = tuple(tuple(probability(entry, "an entry of the matrix") for entry in row) for row in rows)
    if not matrix or not matrix[0] or len({len(row) for row in matrix}) != 1:
        raise BadArgument("the matrix", "rows of one length, at least one, none empty", [len(row) for row in matrix])
    for place, row in enumerate(matrix):
        if sum(row) != 1:
            raise BadArgument(
                f"row {place} of the matrix", "numbers that sum to exactly 1 (write thirds as '1/3')", sum(row)
            )
    names = categories(range(len(matrix)) if inputs is None else inputs).values
    answers = categories(range(len(matrix[0])) if outputs is None else outputs).values
    if len(names) != len(matrix) or len(answers) != len(matrix[0]):
        raise BadArgument(
            "inputs and outputs", "as many as the matrix has rows and columns", (len(names), len(answers))
        )
    return Channel(matrix, names, answers, None if adjacency is None else read_edges(names, adjacency))


def read_edges(names: tuple[Hashable, ...], adjacency: Iterable[tuple[Hashable, Hashable]]) -> Edges:
    """Reads neighbouring pairs of inputs, by their names."""
    place = {name: index for index, name in enumerate(names)}
    edges: set[tuple[int, int]] = set()
    for left, right in adjacency:
        if left not in place or right not in place:
            raise BadArgument("adjacency", "pairs of inputs", Several(left, right))
        edges |= {(place[left], place[right]), (place[right], place[left])}
    return frozenset(edges)


@guarantee(
    claim="epsilon = ln of the largest ratio of two entries of a column, pairs at most d_in apart; 0 / 0 says nothing",
    proof=EPSILON_PROOF,
    reviewed="98de854ac362",
)
def channel_epsilon(channel: Channel, d_in: Distance = Fraction(1)) -> Extended:
    """The pure loss between inputs at most a distance apart, rounded up."""
    worst = Fraction(1)
    for row, neighbour in channel.pairs(d_in):
        for mass, against in zip(row, neighbour, strict=True):
            if mass and not against:
                return math.inf
            if mass:
                worst = max(worst, mass / against)
    return log_up(worst)


@guarantee(
    claim="delta at exp(epsilon) = ratio is the largest sum of max(0, P(y|x) − ratio P(y|x')), pairs d_in apart",
    proof=DELTA_PROOF,
    reviewed="1a80331b2a72",
)
def channel_delta_at(channel: Channel, ratio: Fraction, d_in: Distance = Fraction(1)) -> Fraction:
    """The exact δ for a rational exp(ε)."""
    return max((_uncovered(row, neighbour, ratio) for row, neighbour in channel.pairs(d_in)), default=Fraction(0))


@guarantee(
    claim="delta(epsilon), rounded up",
    proof=DELTA_PROOF,
    reviewed="fa060a7ca677",
)
def channel_delta(channel: Channel, epsilon: Extended, d_in: Distance = Fraction(1)) -> Fraction:
    """The least δ for which (ε, δ) holds between inputs at most a distance apart, rounded up."""
    worst = Fraction(0)
    for row, neighbour in channel.pairs(d_in):
        if epsilon == math.inf:
            here: Extended = sum(
                (mass for mass, against in zip(row, neighbour, strict=True) if not against), Fraction(0)
            )
        elif epsilon == 0:
            here = _uncovered(row, neighbour, Fraction(1))
        else:
            here = _uncovered_up(row, neighbour, Fraction(epsilon))
        worst = max(worst, Fraction(here))
    return min(worst, Fraction(1))


def _uncovered(row: Sequence[Fraction], neighbour: Sequence[Fraction], ratio: Fraction) -> Fraction:
    return sum(
        (max(Fraction(0), mass - ratio * against) for mass, against in zip(row, neighbour, strict=True)), Fraction(0)
    )


def _uncovered_up(row: Sequence[Fraction], neighbour: Sequence[Fraction], epsilon: Fraction) -> Extended:
    with precision(BITS):
        factor = ball(epsilon).exp()
        parts = [
            (ball(mass) - factor * ball(against)).nonnegative_part()
            for mass, against in zip(row, neighbour, strict=True)
        ]
        return upper(lambda: sum(parts, ball(0)))


@constructor
def matrix_mechanism(
    rows: Sequence[Sequence[Number]],
    *,
    inputs: Sequence[Hashable] | None = None,
    outputs: Sequence[Hashable] | None = None,
    adjacency: Iterable[tuple[Hashable, Hashable]] | None = None,
    epsilon: Number | None = None,
) -> Measurement:
    """Draws an output with the probabilities in the input's row of a matrix.

    Takes:      one of the inputs, under the discrete distance or, with ``adjacency``, the steps between neighbours
    Gives:      one of the outputs
    Guarantee:  Pure(epsilon = ln of the largest ratio between neighbouring rows), or with ``epsilon`` given
                Approx(epsilon, δ(epsilon))  (proofs/matrix_mechanism.md#epsilon, #delta)
    Cost:       one look-up

    >>> matrix_mechanism([[0.75, 0.25], [0.25, 0.75]]).map(1)
    Pure(epsilon=1.0986122886681096…)
    """
    table = channel(rows, inputs=inputs, outputs=outputs, adjacency=adjacency)
    fixed = None if epsilon is None else non_negative(epsilon, "epsilon")
    noises = {name: Categorical(row) for name, row in zip(table.inputs, table.rows, strict=True)}

    def privacy_map(d_in: Distance) -> Loss:
        if fixed is None:
            return Pure(channel_epsilon(table, d_in))
        return Approx(fixed, channel_delta(table, fixed, d_in)) if d_in >= 1 else Approx(0, 0)

    def draw(data: Data, entropy: Entropy) -> Data:
        return table.outputs[noises[data].sample(entropy)]

    shown = () if fixed is None else (("epsilon", f"{up(fixed):.6g}"),)
    certain = channel_epsilon(table, math.inf) == math.inf
    return Measurement(
        source=table.space,
        measure=Pure if fixed is None else Approx,
        function=draw,
        privacy_map=privacy_map,
        how=How(
            "matrix mechanism",
            (("inputs", str(len(table.inputs))), ("outputs", str(len(table.outputs))), *shown),
            proofs=(EPSILON_PROOF if fixed is None else DELTA_PROOF,),
            failure=Failure.NONE if fixed is None else Failure.DISTINGUISHING if certain else Failure.GRACEFUL,
        ),
        law=lambda data: channel_law(table, data),
    ).recorded()


def channel_law(channel: Channel, data: Data) -> FiniteLaw:
    """The exact distribution of the output on one input."""
    row = channel.rows[channel.inputs.index(data)]
    with precision(BITS):
        return FiniteLaw({output: ball(mass) for output, mass in zip(channel.outputs, row, strict=True)})
