"""The SQL that is written for other databases, run in DuckDB: read back by sqlglot, from the words of each.

What is read back is what the database would be handed, so that whatever a template, a constant or a step of the
translation gets wrong shows in the numbers, as far as sqlglot knows the words. Functions that it takes for the
database's own are said here, as its documentation has them; types of wide numbers are DuckDB's, of 128 bits. A hash is
always 0, so that units are bounded by value, as the reference does it.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers
from tests.reference.worlds import World

from sfumato.query.engines.duckdb.connection import connected
from sfumato.query.engines.elsewhere.database import Database
from sfumato.query.engines.elsewhere.writing import Writer
from sfumato.query.engines.sql.arrow import ArrowColumns
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.engine_plan import Cells, Computed

WIDE = ("DECIMAL", "BIGDECIMAL", "INT256", "DECIMAL256", "BIGNUMERIC")

OTHER_TYPES = {
    "FLOAT": "DOUBLE",
    "CHARACTER_SET": "VARCHAR",
    "VARBINARY": "VARCHAR",
    "DATE32": "DATE",
    "DATETIME64": "TIMESTAMP",
    "BIT": "BOOLEAN",
}

MACROS = """
CREATE MACRO rint(x) AS round_even(x, 0);
CREATE MACRO roundBankers(x) AS round_even(x, 0);
CREATE MACRO TRUNCATE(x) AS trunc(x), (x, places) AS trunc(x);
CREATE MACRO json_of(x) AS coalesce(CAST(to_json(x) AS VARCHAR), 'null');
CREATE MACRO datalength(x) AS length(x);
CREATE MACRO safe_add(x, y) AS x + y;
CREATE MACRO safe_subtract(x, y) AS x - y;
CREATE MACRO safe_multiply(x, y) AS x * y;
CREATE MACRO safe_divide(x, y) AS CASE WHEN y <> 0 THEN x / y END;
CREATE MACRO try_divide(x, y) AS CASE WHEN y <> 0 THEN x / y END;
CREATE MACRO intDiv(x, y) AS x // y;
CREATE MACRO accurateCastOrNull(x, type) AS TRY_CAST(x AS HUGEINT);
CREATE MACRO div(x, y) AS x // y;
CREATE MACRO equal_null(x, y) AS x IS NOT DISTINCT FROM y;
CREATE MACRO infinity() AS CAST('inf' AS DOUBLE);
CREATE MACRO lengthUTF8(x) AS length(x);
CREATE MACRO lowerUTF8(x) AS lower(x);
CREATE MACRO upperUTF8(x) AS upper(x);
CREATE MACRO substringUTF8(x, first, many) AS substring(x, first, many);
CREATE MACRO dayofweekiso(x) AS isodow(x);
CREATE MACRO toDayOfWeek(x) AS isodow(x);
CREATE MACRO day_of_week(x) AS isodow(x);
CREATE MACRO tuple_of(x, y) AS row(x, y);
"""


def without_hash(database: Database) -> Database:
    """A database in which every hash is 0."""
    return replace(database, words=replace(database.words, hashed="0"))


def in_duckdb(text: str, database: Database) -> str:
    """A statement of a database in the words of DuckDB."""
    tree = sqlglot.parse_one(text, read=database.language)
    tree.set("settings", None)
    for node in reversed(list(tree.walk())):
        if (other := _of_duckdb(node)) is not node:
            node.replace(other)
    return tree.sql("duckdb")


def _of_duckdb(node: exp.Expression) -> exp.Expression:
    match node:
        case exp.DataType() if node.this.name in WIDE:
            return exp.DataType.build("HUGEINT", dialect="duckdb")
        case exp.DataType() if node.this.name in OTHER_TYPES:
            return exp.DataType.build(OTHER_TYPES[node.this.name], dialect="duckdb")
        case exp.JSONFormat():
            return exp.Anonymous(this="json_of", expressions=[node.this])
        case exp.Var() | exp.Literal() if node.name.upper() in ("ISO_WEEK", "ISOWEEK", "WEEK(MONDAY)"):
            return exp.Literal.string("WEEK")
        case exp.Round() if node.args.get("truncate"):
            return exp.Anonymous(this="trunc", expressions=[node.this])
        case exp.Struct():
            return exp.Anonymous(this="row", expressions=[_plain(part) for part in node.expressions])
        case exp.Div() if node.left.unnest().find(exp.Mod) is not None:
            return exp.IntDiv(this=node.left, expression=node.right)  # what is left to divide has no remainder
        case exp.Collate():
            return node.this
        case exp.Anonymous() if node.name.lower() == "tuple":
            return exp.Anonymous(this="row", expressions=node.expressions)
    return node


def _plain(part: exp.Expression) -> exp.Expression:
    return part.expression if isinstance(part, exp.PropertyEQ) else part


@lru_cache(None)
def connection() -> duckdb.DuckDBPyConnection:
    """The one connection that all cases share."""
    made = connected(threads="1")
    for macro in filter(str.strip, MACROS.split(";")):
        made.execute(macro)
    atexit.register(made.close)
    return made


def held_by(database: Database, world: World) -> World:
    """A world as a database can hold it: some have no floats that are no numbers."""
    if database.words.infinity is not None:
        return world
    rows = {
        name: [{column: None if _no_number(value) else value for column, value in row.items()} for row in held]
        for name, held in world.rows.items()
    }
    return world.with_rows(rows)


def _no_number(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def hold(world: World, known: Mapping[str, Scan]) -> None:
    """Makes the tables of a world, with the types of their kinds."""
    for name in known:
        connection().register("given", world.held[name].arrow())
        connection().execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM given')
        connection().unregister("given")


def computed_elsewhere(database: Database) -> Callable[[World, Cells], Answers]:
    """Computes cells by the SQL of a database."""
    return partial(_computed, without_hash(database))


def _computed(database: Database, world: World, cells: Cells) -> Answers:
    known = tables(world, cells)
    text = Writer(database, known).text(cells)
    hold(world, known)
    return answers(_answer(in_duckdb(text, database), cells), cells)


def _answer(text: str, cells: Cells) -> Computed:
    found: Any = connection().sql(text).to_arrow_table()
    answer = ArrowColumns(found)
    numbers = tuple(answer.numbers(f"n{place}") for place in range(len(cells.tallies)))
    inner = tuple(answer.values(f"i{place}", of.kind) for place, of in enumerate(cells.inner))
    if cells.listed is not None and cells.keys:
        return Computed(numbers, answer.numbers("place"), inner=inner)
    keys = tuple(answer.values(f"k{place}", of.kind) for place, of in enumerate(cells.keys))
    return Computed(numbers, keys=keys, inner=inner)
