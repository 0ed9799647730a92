"""PrivBayes: a Bayesian network whose structure is chosen privately, and whose tables are measured all at once.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017 (ACM TODS 42(4)). Scores have a sensitivity for rows that are
added or removed (`sfumato.transforms.dependence`), the first choice is that of a pair instead of a random column, and
the noisy tables are made to agree with each other before rows are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar, Literal, TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.release.progress import Progress
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.bayesian_network import BayesianNetwork, Network, Part
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.junction import MOST_CELLS, cells_of
from sfumato.synth.graph.measured import Measured, total_of
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer
from sfumato.transforms.contingency import MOST_CELLS as MOST_COUNTED
from sfumato.transforms.dependence import Departure, Dependence, SharedBits, Sides, dependence_scores
from sfumato.transforms.split_criteria import MOST_ROWS

Structure: TypeAlias = "Mapping[str, Sequence[str]] | Sequence[Part]"
"""The parents of columns; or parts of a network, in the order in which rows are drawn."""

ALONE = Fraction(1, 10)
"""The part of the loss that columns by themselves get, where a structure is to be chosen: they tell how many rows."""

MOST_PARENTS = 3
"""Columns have no more parents than this, unless more are asked for."""

MOST_TABLES = 2000
"""So many tables are looked at in one choice, at most: there are fewer parents where there would be more tables."""


@final
@dataclass(frozen=True, kw_only=True)
class PrivBayes(Synthesizer):
    """A Bayesian network: each column given the few that say most of it, chosen privately.

    ``share`` is the part of the loss that the choice of a structure gets. With a ``structure`` from public knowledge
    nothing is chosen, and all of the loss goes to the tables. ``parents`` is how many a column may have, at most; of
    sets of parents only those are looked at whose tables are useful: with ``useful`` times as many rows in a cell, on
    average, as the noise has deviation. ``score`` is "departure" from independence, or mutual "information", whose
    sensitivity grows with the number of rows.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss  (proofs/privbayes.md#cost)
    Cost:       for each column the tables that it could have, counted in the engine; one fit
    """

    name: ClassVar[str] = "PrivBayes"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    structure: Structure | None = None
    share: Number = Fraction(3, 10)
    parents: int | None = None
    score: Literal["departure", "information"] = "departure"
    useful: Number = 4
    most_cells: int = MOST_CELLS

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses circles, columns that there are not, tables that are too large, and shares of all or nothing."""
        super().check(schema, loss)
        if not 0 < rational(self.share, "share") < 1 - ALONE:
            raise BadArgument("share", "a part of the loss: above 0 and below 9/10", self.share)
        if self.parents is not None:
            integer(self.parents, "parents", least=1)
        if self.score not in ("departure", "information"):
            raise BadArgument("score", "'departure' or 'information'", self.score)
        if rational(self.useful, "useful") < 0:
            raise BadArgument("useful", "at least 0", self.useful)
        integer(self.most_cells, "most_cells", least=1)
        largest = max(schema.domain.sizes)
        if self.structure is not None:
            largest = read_structure(self.structure, schema.domain).largest
        if largest > self.most_cells:
            raise BadArgument("the tables", f"of at most {self.most_cells:,} cells: state fewer bins", f"{largest:,}")

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Chooses a structure, unless there is one, and measures its tables."""
        domain, steps = questions.domain, len(questions.domain.names) + 1
        measured = list[Measured]()
        if self.structure is not None:
            network = read_structure(self.structure, domain)
        elif len(domain.names) == 1:
            network = Network(domain, (Part(domain.names),))
        else:
            measured = questions.noisy([(name,) for name in domain.names], questions.share(ALONE))
            choosing = Choosing(questions, self, questions.rows or total_of(measured))
            network = choosing.run(lambda done: progress(done, steps))
        tables = _maximal([domain.sorted(part.columns) for part in network.parts])
        measured = measured + questions.noisy(tables, questions.left)
        model = fitted_network(network, measured, questions.rows, self.most_cells)
        progress(steps, steps)
        return Made(model, (f"a Bayesian network: {network.words()}",))


def read_structure(structure: Structure, domain: Domain) -> Network:
    """The network of a structure that is public."""
    if isinstance(structure, Mapping):
        return Network.of(domain, structure)
    if isinstance(structure, str) or not all(isinstance(part, Part) for part in structure):
        raise BadArgument(
            "structure", "parents by column, or parts: {'income': ['age', 'sex']}", type(structure).__name__
        )
    return Network(domain, tuple(structure))


@final
class Choosing:
    """Chooses columns with their parents, one after another; each choice sees public numbers and earlier choices."""

    def __init__(self, questions: Questions, recipe: PrivBayes, rows: float) -> None:
        self._questions, self._domain = questions, questions.domain
        columns = len(self._domain.names)
        self._each = questions.share(rational(recipe.share, "share") / (columns - 1))
        self._most_parents = MOST_PARENTS if recipe.parents is None else recipe.parents
        tables = questions.share(1 - ALONE - rational(recipe.share, "share")).scaled(Fraction(1, columns))
        room = rows / max(float(rational(recipe.useful, "useful")) * questions.deviation(tables), 1e-9)
        self._cells = min(int(min(max(room, 1.0), 1e18)), recipe.most_cells)
        counted = min(max(int(rows), 1), MOST_ROWS)
        self._criterion: Dependence = Departure() if recipe.score == "departure" else SharedBits(counted)

    def run(self, tell: object) -> Network:
        """Begins with the pair that hangs together most, then places column after column."""
        parts = list[Part]()
        while len(parts) < len(self._domain.names):
            placed = [name for part in parts for name in part.new]
            candidates = self._pairs() if not placed else self._candidates(placed)
            if not candidates:  # nothing is useful any more: the others stand alone, and nothing is spent on that
                parts += [Part((name,)) for name in self._domain.names if name not in placed]
                break
            chosen = self._chosen(candidates)
            parts += [Part(chosen.given), chosen] if not placed else [chosen]
            tell(len(parts))  # type: ignore[operator]
        return Network(self._domain, tuple(parts))

    def _pairs(self) -> list[Part]:
        """All useful pairs: the second column given the first."""
        pairs = combinations(self._domain.names, 2)
        return [
            Part((second,), (first,)) for first, second in pairs if self._domain.size((first, second)) <= self._cells
        ]

    def _candidates(self, placed: Sequence[str]) -> list[Part]:
        """Every column that has no place, with every set of placed ones that is useful and cannot be made larger."""
        left = [name for name in self._domain.names if name not in placed]
        most = min(self._most_parents, len(placed))
        while most > 1 and len(left) * comb(len(placed), most) > MOST_TABLES:
            most -= 1
        made = [Part((name,), given) for name in left for given in self._useful(name, placed, most)]
        ranked = sorted(made, key=lambda part: self._domain.size(part.columns))
        kept, cells = set[Part](), 0
        for part in ranked:
            cells += self._domain.size(part.columns)
            if cells <= MOST_COUNTED:
                kept.add(part)
        return [part for part in made if part in kept]

    def _useful(self, name: str, placed: Sequence[str], most: int) -> list[Clique]:
        """The largest sets of placed columns, up to a number of them, with which a column's table is useful."""
        kept = list[Clique]()
        for many in range(most, 0, -1):
            for given in combinations(self._domain.sorted(placed), many):
                useful = self._domain.size((name, *given)) <= self._cells
                if useful and not any(set(given) < set(larger) for larger in kept):
                    kept.append(given)
        return kept

    def _chosen(self, candidates: Sequence[Part]) -> Part:
        cliques = list(dict.fromkeys(self._domain.sorted(part.columns) for part in candidates))
        places = {clique: place for place, clique in enumerate(cliques)}
        sides = []
        for part in candidates:
            clique = self._domain.sorted(part.columns)
            axis = clique.index(part.new[0])
            before, after = self._domain.size(clique[:axis]), self._domain.size(clique[axis + 1 :])
            sides.append(Sides(places[clique], before, self._domain.size(part.new), after))
        scores = self._questions.tables(cliques) >> dependence_scores(sides, criterion=self._criterion)
        return candidates[int(self._questions.choose(scores, self._each))]


def fitted_network(
    network: Network, measured: Sequence[Measured], rows: float | None, most_cells: int = MOST_CELLS
) -> BayesianNetwork:
    """Makes noisy tables agree, and reads the tables of a network from what they agree on.

    All of them at once, where a model of all is small enough; else each part from what was measured of its own columns.
    """
    domain = network.domain
    total = rows or total_of(measured)
    if cells_of(domain, [one.columns for one in measured]) <= most_cells:
        model = estimate(domain, measured, total=total, most_cells=most_cells)
        tables = [model.marginal(part.columns) for part in network.parts]
        return BayesianNetwork(network, tuple(tables), total, most_cells)
    tables = []
    for part in network.parts:
        inside = [one for one in measured if set(one.columns) <= set(part.columns)]
        around = [one for one in measured if set(part.columns) < set(one.columns)]
        columns = domain.sorted(around[0].columns if around else part.columns)
        own = estimate(domain.project(columns), [*inside, *around[:1]], total=total, most_cells=max(most_cells, 1))
        tables.append(own.marginal(part.columns))
    return BayesianNetwork(network, tuple(tables), total, most_cells)


def _maximal(cliques: Sequence[Clique]) -> list[Clique]:
    """Sets of columns that are in no other one."""
    return [one for one in dict.fromkeys(cliques) if not any(set(one) < set(other) for other in cliques)]
