"""MWEM: round after round, the question that the model so far gets most wrong is chosen, answered, and learnt from.

After Hardt, Ligett and McSherry 2012 (arXiv 1012.4763). The book's form asks for single cells of marginals and moves a
cube of all columns by multiplicative weights. Whole marginals cost no more than one of their cells, and a graphical
model keeps more columns than a cube: that is what is done unless it is said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal, TypeAlias, final

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.release.progress import Progress
from sfumato.stats.shares import Spendable
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.cube import require_room
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import MOST_CELLS as ON_THE_WAY
from sfumato.synth.graph.measured import Floats
from sfumato.synth.mwem_rounds import MOST_CELLS, CellRounds, MarginalRounds
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer
from sfumato.synth.workloads import Workload, read_workload

Split: TypeAlias = "int | Sequence[Sequence[str]]"
"""How many groups columns are cut into, in their order; or the groups."""

BEFORE = Fraction(1, 5)
"""The part of the loss that buys columns by themselves before the first round, unless it is said otherwise."""

COUNTING = Fraction(1, 20)
"""The part of the loss that buys the number of rows where cells are asked for and it is not stated."""


@final
@dataclass(frozen=True)
class MWEMPlan:
    """What each question of MWEM may cost: a loss, less what is spent before, in equal parts for 2 T questions.

    >>> plan = MWEMPlan(Pure(1), rounds=10)
    >>> plan.each, plan.laplace_scale, plan.temperature, plan.total
    (Pure(epsilon=0.05), Fraction(20, 1), Fraction(40, 1), Pure(epsilon=1.0))
    >>> MWEMPlan(Pure(1), rounds=10, before=Fraction("0.2")).model
    Pure(epsilon=0.8)
    """

    loss: Spendable
    rounds: int
    before: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        integer(self.rounds, "rounds", least=1)
        if not 0 <= self.before < 1:
            raise BadArgument("before", "a part of the loss: at least 0 and below 1", self.before)

    @property
    def preprocessing(self) -> Spendable:
        """What is spent before the first round."""
        return self.loss.scaled(self.before)

    @property
    def model(self) -> Spendable:
        """What the rounds spend together."""
        return self.loss.scaled(1 - self.before)

    @property
    def each(self) -> Spendable:
        """What a choice costs, and what an answer costs."""
        return self.model.scaled(Fraction(1, 2 * self.rounds))

    @property
    def total(self) -> Spendable:
        """All of it, added up again."""
        spent = self.preprocessing.amounts[0] + 2 * self.rounds * self.each.amounts[0]
        return type(self.loss)(spent)

    @property
    def temperature(self) -> Fraction:
        """The temperature of a choice in pure ε, for one row a person: weights are exp(score / temperature)."""
        return 2 / self._epsilon

    @property
    def laplace_scale(self) -> Fraction:
        """The scale of the noise on an answer in pure ε, for one row a person."""
        return 1 / self._epsilon

    @property
    def zcdp(self) -> ZCDP:
        """What rounds in pure ε cost in ρ: e² / 8 a choice and e² / 2 an answer; nothing is spent before them."""
        if self.before:
            raise BadArgument("before", "0, for what rounds alone cost", self.before)
        return ZCDP(self.rounds * (self._epsilon**2 / 8 + self._epsilon**2 / 2))

    @property
    def _epsilon(self) -> Fraction:
        if not isinstance(self.each, Pure):
            raise BadArgument("loss", "Pure(ε), for what an ε buys", self.loss)
        return Fraction(self.each.epsilon)


@final
@dataclass(frozen=True, kw_only=True)
class MWEM(Synthesizer):
    """Tables of a workload, or single cells of them, round after round the one that the model so far gets most wrong.

    ``queries`` are "marginals" (the usual ones) or "cells", the book's form: that keeps a cube with a cell for every
    combination of codes, which is refused where it would be too large. ``rounds`` is how many questions are chosen
    (left out: as public numbers suggest; 10 of cells). ``preprocessing`` is the part of the loss that is spent before
    the first round, on columns by themselves: 1/5; of cells nothing, or 1/20 for the number of rows where that is not
    stated. ``split`` fits groups of columns one by one, each for its part of the loss: what columns of different groups
    have to do with each other is lost.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``; ``workload``, the tables that matter: 2 for all pairs
                (the usual one), or a list of sets of columns; ``most_cells`` that a model may have
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss  (proofs/mwem.md#rounds)
    Cost:       the tables of the workload, counted once in the engine; a fit of the model each round
    """

    name: ClassVar[str] = "MWEM"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    rounds: int | None = None
    queries: Literal["marginals", "cells"] = "marginals"
    workload: Workload | None = None
    preprocessing: Number | None = None
    split: Split | None = None
    most_cells: int = MOST_CELLS

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses columns that there are not, groups that overlap, no rounds, and cubes that are too large."""
        super().check(schema, loss)
        if self.queries not in ("marginals", "cells"):
            raise BadArgument("queries", "'marginals' or 'cells'", self.queries)
        if self.rounds is not None:
            integer(self.rounds, "rounds", least=1)
        if self.preprocessing is not None and not 0 <= rational(self.preprocessing, "preprocessing") < 1:
            raise BadArgument("preprocessing", "a part of the loss: at least 0 and below 1", self.preprocessing)
        if self.queries == "marginals" and self.preprocessing is not None and not rational(self.preprocessing, ""):
            raise BadArgument("preprocessing", "above 0: columns by themselves are what rounds begin with", 0)
        integer(self.most_cells, "most_cells", least=1)
        workload = read_workload(self.workload, schema.domain)
        for group in groups_of(self.split, schema.domain):
            domain = schema.domain.project(group)
            within(workload, domain)
            if self.queries == "cells":
                require_room(domain)

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Fits each group of columns for its part of the loss, and multiplies the models."""
        domain, groups = questions.domain, groups_of(self.split, questions.domain)
        workload, before = read_workload(self.workload, domain), self._before(questions)
        notes, potentials, totals = list[str](), dict[Clique, Floats](), list[float]()
        for number, group in enumerate(groups):
            inside = domain.project(group)
            plan = MWEMPlan(questions.share(Fraction(1, len(groups))), self.rounds or 1, before)
            rounds = self._rounds(questions, inside, within(workload, inside), plan)
            model, told = rounds.run(_told(progress, number, len(groups)))
            potentials.update(model.potentials)
            totals.append(model.total)
            notes.append(told if len(groups) == 1 else f"{', '.join(group)}: {told}")
        if len(groups) > 1:
            notes.append(f"{len(groups)} groups of columns by themselves: no correlation across groups is kept")
        # Marginals of columns that are far apart take larger tables on the way than the model has.
        most = max(ON_THE_WAY, self.most_cells, *(table.size for table in potentials.values()))
        return Made(GraphicalModel(domain, sum(totals) / len(totals), potentials, most), tuple(notes))

    def _before(self, questions: Questions) -> Fraction:
        if self.preprocessing is not None:
            part = rational(self.preprocessing, "preprocessing")
            if part or (self.queries == "cells" and questions.rows is not None):
                return part
            raise BadArgument("preprocessing", "above 0: the number of rows is not stated, and must be bought", part)
        if self.queries == "marginals":
            return BEFORE
        return COUNTING if questions.rows is None else Fraction(0)

    def _rounds(
        self, questions: Questions, domain: Domain, cliques: Sequence[Clique], plan: MWEMPlan
    ) -> CellRounds | MarginalRounds:
        if self.queries == "cells":
            return CellRounds(questions, domain, cliques, plan.preprocessing, plan.model, self.rounds)
        return MarginalRounds(questions, domain, cliques, plan.preprocessing, plan.model, self.rounds, self.most_cells)


def _told(progress: Progress, number: int, of: int) -> Progress:
    """Tells the progress of one of several groups as that of all."""
    return lambda done, total: progress(1000 * number + round(1000 * done / max(total, 1)), 1000 * of)


def groups_of(split: Split | None, domain: Domain) -> list[Clique]:
    """The groups of columns that are fitted one by one: all columns once, each group in the order of the domain.

    >>> groups_of(2, Domain(("a", "b", "c"), (2, 2, 2)))
    [('a', 'b'), ('c',)]
    """
    names = domain.names
    if split is None:
        return [names]
    if isinstance(split, int):
        many = integer(split, "split", least=1, most=len(names))
        ends = [round(place * len(names) / many) for place in range(many + 1)]
        return [names[start:end] for start, end in pairwise(ends)]
    if isinstance(split, str) or any(isinstance(group, str) for group in split):
        raise BadArgument("split", "a number, or groups of columns: [('age', 'sex'), ('region',)]", split)
    groups = [domain.sorted(group) for group in split]
    together = [name for group in groups for name in group]
    if sorted(together) != sorted(names) or not all(groups):
        raise BadArgument("split", f"groups in which each of {', '.join(names)} is once", [list(g) for g in groups])
    return groups


def within(workload: dict[Clique, float], domain: Domain) -> list[Clique]:
    """The tables of a workload that a group of columns has: what it has of each, and each once."""
    inside = set(domain.names)
    kept = dict.fromkeys(domain.sorted([name for name in one if name in inside]) for one in workload)
    found = [one for one in kept if one]
    if not found:
        raise BadArgument(
            "workload", f"about some of {', '.join(domain.names)}, a group of columns of its own", "others"
        )
    largest = [one for one in found if not any(set(one) < set(other) for other in found)]
    return sorted(largest, key=domain.axes)
