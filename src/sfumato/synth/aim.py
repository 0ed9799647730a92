"""AIM: tables of a workload chosen one after another, each the one that the model so far gets most wrong.

After McKenna, Mullins, Sheldon and Miklau 2022 (arXiv 2201.12677): adaptive and iterative, with noise that is made less
once the tables that are chosen tell no more than noise (budget annealing), and a model that is kept small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.exact import Number
from sfumato.release.progress import Progress
from sfumato.stats.shares import Spendable
from sfumato.synth.asking import Clique, Questions, check_cells
from sfumato.synth.graph.junction import cells_of
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer
from sfumato.synth.workloads import Workload, read_workload, subsets_of

ROUNDS = 4
"""So many rounds for each column are planned at first; annealing makes them fewer and larger. The paper has 16, which
spends much on rounds that tell little (by simulation on made-up and real tables of 5,000 to 43,000 rows)."""

ALONE = Fraction(1, 10)
"""The part of the loss that columns by themselves get."""

USUAL_CELLS = 200_000
"""A model of more cells takes long to fit each round, and brings little."""

CHOOSING = Fraction(1, 10)
"""The part of each round's loss that its choice gets."""


@final
@dataclass(frozen=True, kw_only=True)
class AIM(Synthesizer):
    """Tables of a workload, round after round the one that the model so far gets most wrong.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``; ``workload``, the tables that matter: 2 for all pairs
                (the usual one), a list of sets of columns, or weights for them; ``most_cells`` that the model may have
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss (proofs/synthesis.md#methods)
    Cost:       the tables of the workload, counted once in the engine; a fit of the model each round
    """

    name: ClassVar[str] = "AIM"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    workload: Workload | None = None
    most_cells: int = USUAL_CELLS

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses a workload of columns that there are not, or of tables that are larger than memory."""
        super().check(schema, loss)
        check_cells(schema.domain, subsets_of(read_workload(self.workload, schema.domain), schema.domain))

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Asks round after round, until the loss is spent."""
        workload = read_workload(self.workload, questions.domain)
        rounds = Rounds(questions, subsets_of(workload, questions.domain), self.most_cells)
        return rounds.run(progress)


@final
class Rounds:
    """The rounds of one run: what was measured, the model that fits it, and how much the next round may spend."""

    def __init__(self, questions: Questions, candidates: Mapping[Clique, float], most_cells: int) -> None:
        self._questions, self._candidates, self._most = questions, candidates, most_cells
        self._largest = max(candidates.values())
        self._domain = questions.domain
        self._each = questions.share((1 - ALONE) / (ROUNDS * len(self._domain.names)))

    def run(self, progress: Progress) -> Made:
        """Measures columns by themselves, then table after table while anything is left."""
        alone = [(name,) for name in self._domain.names]
        self._questions.noisy(alone, self._questions.share(ALONE))
        model = self._questions.fitted()
        while (left := self._questions.left.amounts[0]) > 0:
            last = left < 2 * self._each.amounts[0]
            each = type(self._each)(left) if last else self._each
            chosen = self._chosen(model, each)
            before = model.marginal(chosen)
            [new] = self._questions.noisy([chosen], self._measuring(each))
            model = self._questions.fitted(model)
            if np.abs(model.marginal(chosen) - before).sum() <= self._noise(new.deviation, new.counts.size):
                self._each = _more(self._each)
            progress(round(1000 * (1 - float(self._questions.left.amounts[0] / self._questions.loss.amounts[0]))), 1000)
        tables_measured = sorted({one.columns for one in self._questions.measured}, key=lambda one: (len(one), one))
        return Made(model, (f"{len(self._questions.measured)} tables, {len(tables_measured)} of them different",))

    def _measuring(self, each: Spendable) -> Spendable:
        return each.scaled(1 - CHOOSING)

    def _chosen(self, model: Model, each: Spendable) -> Clique:
        """Chooses a table of those with which the model stays small."""
        spent = 1 - self._questions.left.amounts[0] / self._questions.loss.amounts[0]
        cliques = [one.columns for one in self._questions.measured]
        allowed = max(float(spent) * self._most, cells_of(self._domain, cliques))
        fitting = [one for one in self._candidates if cells_of(self._domain, [*cliques, one]) <= allowed]
        deviation = self._questions.deviation(self._measuring(each))
        place = self._questions.worst(
            fitting,
            [model.marginal(one) for one in fitting],
            each.scaled(CHOOSING),
            weights=[self._candidates[one] / self._largest for one in fitting],
            penalties=[self._noise(deviation, self._domain.size(one)) for one in fitting],
        )
        return fitting[place]

    def _noise(self, deviation: float, cells: int) -> float:
        """How far noise alone takes a table, on average, in L1."""
        mean = math.sqrt(0.5) if isinstance(self._each, Pure) else math.sqrt(2 / math.pi)
        return mean * deviation * cells


def _more(each: Spendable) -> Spendable:
    """A loss that halves the noise."""
    return each.scaled(Fraction(4 if isinstance(each, ZCDP) else 2))
