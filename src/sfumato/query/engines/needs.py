"""What a plan needs of an engine, by name: operators of expressions, and the records that plans are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Call, Expression
from sfumato.query.nodes.relations import Folded, PerUnit, Relation, Scan, Select, Where, Windowed
from sfumato.query.plan.engine_plan import Cells, Distinct, Rows, Total


def refuse_lacking(name: str, lacks: frozenset[str], needed: Iterable[str]) -> None:
    """Refuses what an engine lacks, before anything is charged or looked at."""
    lacking = sorted(lacks.intersection(needed)) if lacks else []
    if lacking:
        raise QueryRefused(
            f"{name} cannot compute {' and '.join(lacking)}, which this question needs. Nothing was charged. Ask "
            "without it, or open the data in an engine that has it."
        )


def needs_of_cells(cells: Cells) -> Iterator[str]:
    """Names what cells need: aggregates, relations, folds and operators."""
    yield from (type(tally).__name__ for tally in cells.tallies)
    yield from needs_of_expressions([*cells.keys, *cells.inner, *_looked_at(cells)])
    yield from needs_of_relation(cells.source)


def _looked_at(cells: Cells) -> Iterator[Expression]:
    for tally in cells.tallies:
        if tally.where is not None:
            yield tally.where
        match tally:
            case Total(terms):
                yield from (term.of for term in terms)
            case Rows(Expression() as of):
                yield of
            case Distinct(operands=operands):
                yield from operands


def needs_of_relation(relation: Relation) -> Iterator[str]:
    """Names what a relation needs."""
    yield type(relation).__name__
    match relation:
        case Scan(unnested=unnested):
            yield from (type(items).__name__ for items in unnested)
        case Where(condition=condition):
            yield from needs_of_expressions([condition])
        case Select(columns=columns):
            yield from needs_of_expressions(of for _, of in columns)
        case Windowed(added=added):
            yield from needs_of_expressions(relation.expressions)
            yield from (f"{one.fold.value} over rows" for one in added if isinstance(one, Folded))
        case PerUnit(by=by, folds=folds):
            yield from needs_of_expressions(of for _, of in by)
            yield from needs_of_expressions(folded.of for folded in folds if folded.of is not None)
            yield from (folded.fold.value for folded in folds)
    for source in relation.sources:
        yield from needs_of_relation(source)


def needs_of_expressions(expressions: Iterable[Expression]) -> Iterator[str]:
    """Names the operators in expressions; parts that are shared are looked at once."""
    waiting, seen = list(expressions), set[int]()
    while waiting:
        expression = waiting.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            waiting += expression.parts
            if isinstance(expression, Call):
                yield expression.operator
