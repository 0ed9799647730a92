"""Made-up tables for the tests of the SQL front end, and a short text for every node."""

from __future__ import annotations

import datetime
from functools import cache

from sfumato.codebook import Codebook
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.questions import Histogram, Item, Quantile, Question, Statistic, StatisticValue, TopValues
from sfumato.query.nodes.relations import (
    Join,
    Keep,
    Listed,
    Meet,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)
from sfumato.query.sql import read_sql

SOURCE = "made up"

BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a visitor", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "str"},
                "site": {"type": "categories", "categories": ["a", "b", "c"], "nullable": False, "source": SOURCE},
                "day": {
                    "type": "date",
                    "between": ["2024-01-01", "2024-12-31"],
                    "nullable": False,
                    "source": SOURCE,
                },
                "began": {"type": "time", "nullable": True},
                "minutes": {"type": "float", "between": [0, 90], "nullable": True, "source": SOURCE},
                "age": {"type": "int", "between": [0, 120], "source": SOURCE},
                "weight": {"type": "float"},
                "first": {"type": "bool"},
                "note": {"type": "str", "nullable": True},
            },
        },
        "accounts": {
            "columns": {
                "user_id": {"type": "str"},
                "plan": {"type": "categories", "categories": ["free", "paid"], "source": SOURCE},
                "age": {"type": "int", "between": [0, 120], "source": SOURCE},
            },
        },
        "sites": {
            "public": True,
            "columns": {
                "site": {"type": "str"},
                "region": {"type": "str"},
                "beds": {"type": "int"},
            },
        },
    },
}


@cache
def catalog() -> Catalog:
    """Gives the catalog of the made-up tables."""
    return Catalog(Codebook.read(BOOK))


def question(text: str, parameters: object = ()) -> Question:
    """Gives the question that a text asks."""
    found = read_sql(text, catalog(), parameters).question  # type: ignore[arg-type]
    assert found is not None
    return found


def shown(node: object) -> str:
    """Gives a compact text of a node."""
    match node:
        case Question():
            return _question(node)
        case Relation():
            return _relation(node)
        case Statistic():
            return _statistic(node)
        case Expression():
            return _expression(node)
    raise TypeError(type(node))


def _question(node: Question) -> str:
    parts = [_relation(node.source)]
    if node.keys:
        parts.append("by " + _named(node.keys))
    if node.sets != (tuple(range(len(node.keys))),):
        parts.append("sets " + " ".join("".join(map(str, one)) or "-" for one in node.sets))
    parts.append("give " + _named(node.columns))
    if node.having is not None:
        parts.append("having " + shown(node.having))
    if node.order:
        parts.append("order " + ", ".join(shown(one.by) + " desc" * one.descending for one in node.order))
    if node.limit is not None:
        parts.append(f"limit {node.limit}")
    return " | ".join(parts)


def _named(columns: tuple[tuple[str, Expression], ...]) -> str:
    return ", ".join(name if shown(made) == name else f"{name}={shown(made)}" for name, made in columns)


def _relation(node: Relation) -> str:
    match node:
        case Scan(table, columns):
            return f"{table}[{' '.join(column.name for column in columns)}]"
        case Where(source, condition):
            return f"where({shown(source)}, {shown(condition)})"
        case Select(source, columns):
            return f"select({shown(source)}, {_named(columns)})"
        case Join(left, right, on, match, compared):
            equal = " ".join(
                [*(f"{one}={other}" for one, other in on), *(f"{one} {how} {other}" for one, how, other in compared)]
            )
            return f"{match.value}({shown(left)}, {shown(right)}, {equal})"
        case Meet(left, right, on, most):
            equal = " ".join(f"{one}={other}" for one, other in on)
            return f"meet({shown(left)}, {shown(right)}, {equal}, {most})"
        case Listed(columns, listed):
            return f"values({' '.join(column.name for column in columns)}: {' '.join(map(str, listed))})"
        case Keep(source, rows):
            return f"keep({shown(source)}, {rows})"
        case Union(parts):
            return f"union({', '.join(map(shown, parts))})"
        case Windowed(source, by, order, added):
            said = [shown(one) for one in by] + [f"order {shown(one)}{' desc' * down}" for one, down in order]
            words = [getattr(one, "placing", None) or one.fold for one in added]  # type: ignore[union-attr]
            said += [
                f"{one.column.name}={word.value}({'' if one.of is None else shown(one.of)})"
                for one, word in zip(added, words, strict=True)
            ]
            return f"windowed({shown(source)}, {', '.join(said)})"
        case PerUnit(source, by, folds):
            made = [f"{one.column.name}={one.fold.value}({'' if one.of is None else shown(one.of)})" for one in folds]
            return f"perunit({shown(source)}, {_named(by)}{''.join(', ' + one for one in made)})"
    raise TypeError(type(node))


def _statistic(node: Statistic) -> str:
    said = [shown(operand) for operand in node.operands]
    if isinstance(node, Quantile):
        said.append(f"at {node.at}")
    if isinstance(node, Histogram):
        said.append(f"edges {' '.join(map(str, node.edges))}")
    if isinstance(node, TopValues):
        said.append(f"most {node.most}")
    if isinstance(node, Item):
        said.append(f"place {node.place}")
    said += [word for word in ("root", "scaled") if getattr(node, word, False)]
    said += ["of all"] * (getattr(node, "sample", True) is False)
    said += [] if node.where is None else [f"where {shown(node.where)}"]
    return f"{node.name.replace(' ', '_').upper()}({', '.join(said)})"


def _expression(node: Expression) -> str:
    match node:
        case Column(name):
            return name
        case Literal(value):
            return value.isoformat() if isinstance(value, datetime.date) else repr(value)
        case Call(operator, parts):
            return f"{operator}({', '.join(map(shown, parts))})"
        case StatisticValue(statistic):
            return shown(statistic)
    raise TypeError(type(node))
