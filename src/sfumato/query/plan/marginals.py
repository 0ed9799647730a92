"""Contingency tables of private tables: exact counts of codes, bounded unit by unit, for mechanisms to follow.

The engine codes and bounds rows once, and counts every set of columns from them; nothing is counted before it is paid
for. Tables that one question counted are kept for the next ones on the same data, where only permits reach them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Data, Integers, Vector
from sfumato.core.pieces import LargestL1
from sfumato.core.plan import Plan, planned, record_of
from sfumato.core.sealed import sealed
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import QueryRefused
from sfumato.guarantee import guarantee
from sfumato.plain import Plain
from sfumato.query.answer.normal_text import rows_text
from sfumato.query.build.relation import all_of, kept, selected
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Keep, Relation
from sfumato.query.plan.engine_plan import Marginals
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.stable import endless, rows_planned, units_moved
from sfumato.transforms.contingency import CodedTables

Clique: TypeAlias = tuple[int, ...]
"""Places of columns, in rising order."""

KEPT = 20_000_000
"""So many cells are kept between questions; beyond that, tables are counted again."""


@final
@dataclass(frozen=True)
class Code:
    """A whole number of each row, from 0 to a number of ``codes`` less 1; where it is missing the row is left out."""

    of: Expression
    codes: int


@final
@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of a table as codes, of which a unit has at most so many; what a question on their tables begins with."""

    source: Relation
    codes: tuple[Code, ...]
    opened: OpenTables
    bounded: Relation
    most: Fraction
    words: tuple[str, ...]
    count: Callable[[Data, tuple[Clique, ...]], Array]

    @staticmethod
    def of(source: Relation, codes: Sequence[Code], opened: OpenTables, *, max_rows: int | None) -> CodedRows:
        """Plans how much of each unit is kept; refuses what the engine cannot code, whatever the data."""
        coded = selected(source, [(f"code {place}", code.of) for place, code in enumerate(codes)])
        there = kept(coded, all_of([call("not", call("is_null", field)) for field in coded.fields]))
        plan = rows_planned(there, opened, Settings(max_rows=None if opened.catalog.by_rows else max_rows))
        if plan.reach.rows == inf:
            raise QueryRefused(endless(opened.catalog.codebook.protects))
        bounded = plan.question.source
        sizes = tuple(code.codes for code in codes)
        opened.engine.prepare_marginals(Marginals(bounded, sizes, tuple((place,) for place in range(len(sizes)))))
        rows = bounded.rows if isinstance(bounded, Keep) else None
        cut = () if rows is None else (f"at most {rows:,} row{'s' * (rows > 1)} of {opened.catalog.codebook.protects}",)
        words = (rows_text(coded, opened.catalog.tables), *cut)
        return CodedRows(
            source, tuple(codes), opened, bounded, Fraction(plan.reach.rows), words, _counting(bounded, sizes)
        )

    def tables(self, cliques: Sequence[Clique]) -> Transformation:
        """The contingency tables of sets of columns, exact, under the largest L1 distance of any of them."""
        listed = CodedTables(tuple(code.codes for code in self.codes), tuple(cliques))
        made = Transformation(
            self.opened.space,
            Space(Vector(Integers(), sum(listed.sizes)), LargestL1(listed.sizes)),
            lambda data, _: self.count(data, listed.cliques),
            lambda d_in: units_moved(d_in, self.most),
            (*self.words, f"{len(listed.cliques)} contingency tables"),
            ("proofs/contingency.md#tables", "proofs/query.md#gram"),
        )
        return planned(made, self._plan(listed))

    def _plan(self, tables: CodedTables) -> Plan | None:
        begun, said = self.opened.space.plan, record_of(self.bounded)
        if begun is None or said is None:
            return None
        cliques: list[Plain] = [list(clique) for clique in tables.cliques]
        arguments: dict[str, Plain] = {"source": said, "codes": list(tables.codes), "cliques": cliques}
        return {"space": begun["space"], "steps": [{"make": "contingency of tables", "with": arguments}]}


@guarantee(
    claim="the counts of each set of columns among the bounded rows of the tables that are handed over, and no others",
    proof="proofs/contingency.md#tables",
    reviewed="1bb3bcd94d1b",
)
def _counting(bounded: Relation, codes: tuple[int, ...]) -> Callable[[Data, tuple[Clique, ...]], Array]:
    """Counts tables that were not counted before on the same data; what was is kept, and reached in no other way."""
    kept_of: list[object] = [None]
    tables: dict[Clique, Array] = {}

    def count(data: Data, cliques: tuple[Clique, ...]) -> Array:
        if kept_of[0] is not data.engine:
            kept_of[0] = data.engine
            tables.clear()
        new = tuple(clique for clique in dict.fromkeys(cliques) if clique not in tables)
        if new:
            asked = Marginals(bounded, codes, new)
            parts = np.split(data.engine.marginals(asked), np.cumsum(asked.sizes)[:-1])
            tables.update(zip(new, parts, strict=True))
        counts = np.concatenate([tables[clique] for clique in cliques])
        if sum(map(len, tables.values())) > KEPT:
            tables.clear()
        return counts

    return sealed(count)
