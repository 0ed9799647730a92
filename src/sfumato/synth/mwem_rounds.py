"""The rounds of MWEM: what was asked, what was answered, and the model after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.core.metrics import L1, L2
from sfumato.mechanisms.selection import exponential
from sfumato.release.progress import Progress
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.cube import Cube
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import cells_of
from sfumato.synth.graph.measured import Measured
from sfumato.synth.multiplicative import Cell, cells_of_marginals, multiplicative_weights
from sfumato.transforms.cells import cell_at, cell_misfits
from sfumato.transforms.contingency import MOST_CELLS as MOST_COUNTED
from sfumato.transforms.contingency import STEPS

CELL_ROUNDS = 10
"""So many cells are asked for, unless it is said how many: as the book has it."""

CHOOSING = Fraction(1, 5)
"""The part of a round's loss that its choice gets where whole marginals are measured."""

MOST_CELLS = 250_000
"""The tables of a model have at most so many cells, unless more are asked for: it is fitted anew in every round."""

MOST_ROUNDS = 40
"""So many marginals are chosen at most, unless more are asked for."""

FEW, MANY = 0.2, 0.06
"""Noise, as total variation in a marginal of median size, that is borne where a tree of them is bought, and beyond."""


@final
class CellRounds:
    """Rounds of single cells on a cube: half of each for the choice, half for the answer."""

    def __init__(
        self,
        questions: Questions,
        domain: Domain,
        cliques: Sequence[Clique],
        before: Spendable,
        loss: Spendable,
        rounds: int | None,
    ) -> None:
        self._questions, self._domain, self._cliques = questions, domain, list(cliques)
        self._before, self._queries = before, cells_of_marginals(domain, cliques)
        self._rounds = rounds or min(CELL_ROUNDS, len(self._queries))
        self._each = loss.scaled(Fraction(1, 2 * self._rounds))

    def run(self, progress: Progress) -> tuple[GraphicalModel, str]:
        """Starts from even counts, and learns from answer after answer; all of them are gone through each time."""
        cube = Cube.uniform(self._domain, self._counted())
        asked, answers = list[Cell](), list[float]()
        for number in range(self._rounds):
            if self._questions.left.amounts[0] < 2 * self._each.amounts[0]:
                break  # a run that broke off lost an answer: what is left pays for fewer rounds
            place = self._chosen(cube)
            asked.append(self._queries[place])
            answers.append(self._answer(place))
            places = [one.within(self._domain) for one in asked]
            cube = Cube(self._domain, multiplicative_weights(cube.counts, places, answers).table)
            progress(number + 1, self._rounds)
        return cube.graphical(), f"{len(asked)} cells of {len(self._queries)}, by multiplicative weights on a cube"

    def _counted(self) -> float:
        """The number of rows: stated, or bought."""
        if self._questions.rows is not None:
            return self._questions.rows
        [counted] = self._questions.noisy([()], self._before)
        return max(1.0, float(counted.counts.sum()))

    def _chosen(self, cube: Cube) -> int:
        expected = np.concatenate([cube.marginal(one).ravel() for one in self._cliques])
        steps = np.rint(np.clip(expected, 0, 2.0**50) * STEPS).astype(np.int64)
        scores, kind = self._questions.tables(self._cliques) >> cell_misfits(steps), type(self._each)
        worth, unit = self._questions.worth(self._each), self._questions.unit
        heat = parameter_for(lambda one: scores >> exponential(one, measure=kind), worth, unit)
        return int(self._questions.ask(scores >> exponential(heat, measure=kind), self._each, "a choice"))

    def _answer(self, place: int) -> float:
        kind, norm = type(self._each), L1() if isinstance(self._each, Pure) else L2()
        count = self._questions.tables(self._cliques) >> cell_at(place, metric=norm)
        worth = self._questions.worth(self._each)
        scale = parameter_for(lambda one: count >> noise_of(kind, one), worth, self._questions.unit)
        [answer] = np.asarray(self._questions.ask(count >> noise_of(kind, scale), self._each, "a cell"), np.float64)
        query = self._queries[place]
        mask = np.zeros(self._domain.shape(query.columns))
        mask[query.codes] = 1.0
        answered = Measured(query.columns, np.array([answer]), deviation_of(kind, scale), mask.reshape(1, -1))
        self._questions.measured.append(answered)
        return float(answer)


@final
class MarginalRounds:
    """Rounds of whole marginals on a graphical model, which is kept small."""

    def __init__(
        self,
        questions: Questions,
        domain: Domain,
        cliques: Sequence[Clique],
        before: Spendable,
        loss: Spendable,
        rounds: int | None,
        most_cells: int,
    ) -> None:
        self._questions, self._domain, self._before, self._loss = questions, domain, before, loss
        self._asked, self._most = rounds, most_cells
        self._candidates = countable([one for one in cliques if len(one) > 1], domain, most_cells)
        self._measured: list[Measured] = []

    def run(self, progress: Progress) -> tuple[GraphicalModel, str]:
        """Measures columns by themselves, then marginal after marginal."""
        alone = [(name,) for name in self._domain.names]
        if not self._candidates:
            self._measured = self._questions.noisy(alone, together(self._before, self._loss))
            return self._fitted(None), "every column by itself: there is no pair to ask for"
        self._measured = self._questions.noisy(alone, self._before)
        model = self._fitted(None)
        rounds = min(self._asked or self._planned(model.total), len(self._candidates))
        if not rounds:
            self._measured += self._questions.noisy(alone, self._loss)
            return self._fitted(None), "every column by itself, twice: a pair would have been noise"
        each = self._loss.scaled(Fraction(1, rounds))
        for number in range(rounds):
            if self._questions.left.amounts[0] < each.amounts[0]:
                break  # a run that broke off lost an answer: what is left pays for fewer rounds
            chosen = self._chosen(model, each)
            if chosen is None:
                break
            self._candidates.remove(chosen)
            self._measured += self._questions.noisy([chosen], each.scaled(1 - CHOOSING))
            model = self._fitted(model)
            progress(number + 1, rounds)
        tables = [one.columns for one in self._measured[len(alone) :]]
        return model, f"{len(tables)} marginals: " + ", ".join(" × ".join(one) for one in tables)

    def _fitted(self, start: GraphicalModel | None) -> GraphicalModel:
        return estimate(self._domain, self._measured, total=self._questions.rows, start=start, most_cells=self._most)

    def _planned(self, total: float) -> int:
        """How many marginals the loss can bear, each noisier the more there are; of less than half a tree, none."""
        cells = float(np.median([self._domain.size(one) for one in self._candidates]))
        tree = len(self._domain.names) - 1
        planned = 0
        for rounds in range(1, min(len(self._candidates), 3 * tree, max(tree, MOST_ROUNDS)) + 1):
            each = self._loss.scaled(Fraction(1, rounds)).scaled(1 - CHOOSING)
            if 0.5 * self._noise(each, cells) <= (FEW if rounds <= tree else MANY) * total:
                planned = rounds
        return planned if 2 * planned >= min(tree, len(self._candidates)) else 0

    def _chosen(self, model: GraphicalModel, each: Spendable) -> Clique | None:
        """Chooses a marginal of those with which the model stays small; none, if there is no such one."""
        cliques = [one.columns for one in self._measured]
        fitting = [one for one in self._candidates if cells_of(self._domain, [*cliques, one]) <= self._most]
        if not fitting:
            return None
        noise = [self._noise(each.scaled(1 - CHOOSING), self._domain.size(one)) for one in fitting]
        place = self._questions.worst(fitting, model.marginals(fitting), each.scaled(CHOOSING), penalties=noise)
        return fitting[place]

    def _noise(self, loss: Spendable, cells: float) -> float:
        """How far noise alone takes a marginal, on average, in L1."""
        mean = math.sqrt(0.5) if isinstance(loss, Pure) else math.sqrt(2 / math.pi)
        return mean * self._questions.deviation(loss) * cells


def together(one: Spendable, other: Spendable) -> Spendable:
    """Two losses of one kind, added up."""
    return type(one)(one.amounts[0] + other.amounts[0])


def countable(cliques: Sequence[Clique], domain: Domain, most_cells: int) -> list[Clique]:
    """The tables that a model may have, the smallest first as long as all can be counted at once; in their order."""
    kept, cells = set[Clique](), 0
    for one in sorted(cliques, key=domain.size):
        size = domain.size(one)
        if size <= most_cells and cells + size <= MOST_COUNTED:
            kept.add(one)
            cells += size
    return [one for one in cliques if one in kept]
