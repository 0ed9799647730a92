"""Rounds of choices: which tables of a workload a model so far gets most wrong, several of them a round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias, final

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.release.progress import Progress
from sfumato.stats.shares import Spendable
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.transforms.contingency import MOST_CELLS

ALONE, CHOOSING = Fraction(1, 10), Fraction(15, 100)
"""The parts of the loss that columns by themselves get, and the choice of tables; the tables get the rest."""

ROUNDS, TABLES_A_COLUMN = 4, 2
"""Tables are chosen in so many rounds, unless said otherwise; and in all so many of them for each column."""


class Foretelling(Protocol):
    """A model that says what it expects of many tables at once."""

    def marginals(self, asked: Sequence[Sequence[str]]) -> list[Floats]:
        """The expected counts of many sets of columns."""


Sketch: TypeAlias = Callable[[Sequence[Measured]], Foretelling]
"""Makes a model of what was measured so far."""


@final
class Rounds:
    """Measures columns by themselves, and then in rounds the tables that a model gets most wrong."""

    def __init__(
        self,
        questions: Questions,
        workload: Mapping[Clique, float],
        sketch: Sketch,
        *,
        rounds: int,
        alone: Fraction = ALONE,
    ) -> None:
        self._questions, self._workload, self._sketch = questions, workload, sketch
        self._tables = [clique for clique in workload if len(clique) > 1]
        self._many = min(len(self._tables), max(rounds, TABLES_A_COLUMN * len(questions.domain.names)))
        self._rounds = min(rounds, self._many)
        # What is left for tables is split between choosing and measuring as it is with the usual share for columns.
        self._alone, self._choosing = alone, CHOOSING * (1 - alone) / (1 - ALONE)

    @property
    def _measuring(self) -> Fraction:
        return 1 - self._alone - self._choosing

    @property
    def words(self) -> str:
        """What was measured."""
        return f"every column by itself, and in {self._rounds} rounds {self._many:,} of {len(self._tables):,} tables"

    def run(self, measured: Sequence[Measured], progress: Progress) -> list[Measured]:
        """All that was measured, before and now; whatever is left of the loss goes into the last round."""
        questions, known, left = self._questions, list(measured), list(self._tables)
        used = 1 - Fraction(questions.left.amounts[0]) / Fraction(questions.loss.amounts[0])
        alone = questions.share(self._alone - used) if self._many else questions.left
        known += questions.noisy([(name,) for name in questions.domain.names], alone)
        for place in range(self._rounds):
            part = self._many * (place + 1) // self._rounds - self._many * place // self._rounds
            chosen = self._worst(self._sketch(known), left, part)
            share = questions.share(self._measuring * Fraction(part, self._many))
            last = place + 1 == self._rounds
            known += questions.noisy(sorted(chosen, key=questions.domain.axes), questions.left if last else share)
            left = [clique for clique in left if clique not in chosen]
            progress(place + 1, self._rounds + 1)
        return known

    def _worst(self, model: Foretelling, candidates: Sequence[Clique], part: int) -> list[Clique]:
        """Chooses some tables that the model gets wrong by more than noise will; each by a choice of its own."""
        questions, left = self._questions, list(candidates)
        deviation = questions.deviation(questions.share(self._measuring / self._many))
        noise = mean_noise(questions.loss) * deviation
        expected = dict(zip(left, model.marginals(left), strict=True))
        heaviest, chosen = max(self._workload.values()), list[Clique]()
        for _ in range(part):
            place = questions.worst(
                left,
                [expected[one] for one in left],
                questions.share(self._choosing / self._many),
                weights=[self._workload[one] / heaviest for one in left],
                penalties=[noise * questions.domain.size(one) for one in left],
            )
            chosen.append(left.pop(place))
        return chosen


def check_tables(domain: Domain, workload: Mapping[Clique, float]) -> None:
    """Refuses a workload whose tables do not fit into memory."""
    cells = sum(domain.size(clique) for clique in workload)
    if cells > MOST_CELLS:
        raise BadArgument("workload", f"tables of at most {MOST_CELLS:,} cells together: state fewer bins", cells)


def noise_of_all(questions: Questions, workload: Mapping[Clique, float]) -> float:
    """How far, in rows, noise alone puts a table on average if all are measured: half the L1 distance, by weight."""
    many = len(workload)
    one = questions.deviation(questions.left)
    deviation = one * (many if isinstance(questions.loss, Pure) else math.sqrt(many))
    cells = sum(weight * questions.domain.size(clique) for clique, weight in workload.items()) / sum(workload.values())
    return mean_noise(questions.loss) * deviation * cells / 2


def mean_noise(loss: Spendable) -> float:
    """The mean distance of noise from 0, for a deviation of 1: Laplace or Gaussian."""
    return math.sqrt(0.5) if isinstance(loss, Pure) else math.sqrt(2 / math.pi)
