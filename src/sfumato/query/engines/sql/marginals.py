"""Contingency tables as SQL: the rows are coded and bounded once, and every table is counted from what that gave."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from sfumato.query.engines.sql.relations import Relations
from sfumato.query.engines.sql.statement import listing
from sfumato.query.plan.engine_plan import Marginals

FEW = 64
"""So many tables are counted one after another; of more, a SELECT for each takes much memory, and long to plan."""


def marginals_statement(marginals: Marginals, relations: Relations) -> str:
    """The statement: cells of all tables, numbered through, in which there are rows, and how many.

    Cells are worked out from codes alone, so that no count depends on what an engine believes of a column.
    """
    source, dialect = relations.source(marginals.source), relations.statement.dialect
    widest = dialect.whole_type(sum(marginals.sizes))
    names = [source.fields[field.name] for field in marginals.source.fields]
    coded = listing(
        f"CAST({name} AS {dialect.narrow_type(size)}) AS c{place}"
        for place, (name, size) in enumerate(zip(names, marginals.codes, strict=True))
    )
    cells = list(_cells(marginals, widest))
    if len(cells) <= FEW or not dialect.each_of:
        tables = " UNION ALL ".join(
            f"SELECT {cell} AS cell, count(*) AS n FROM coded GROUP BY {cell}" for cell in cells
        )
    else:
        each = dialect.each_of.format(listing(cells))
        tables = f"SELECT cell, count(*) AS n FROM (SELECT {each} AS cell FROM coded) AS q GROUP BY cell"
    return f"WITH coded AS {dialect.once} (SELECT {coded or '1 AS one'} FROM ({source.text}) AS q) {tables}"


def _cells(marginals: Marginals, kind: str) -> Iterator[str]:
    """The cell of a row in each table: its number among the cells of all of them."""
    for clique, first in zip(marginals.cliques, accumulate(marginals.sizes, initial=0), strict=False):
        text = "0"
        for place in clique:
            text = f"CAST(c{place} AS {kind})" if text == "0" else f"({text}) * {marginals.codes[place]} + c{place}"
        yield f"{text} + {first}"
