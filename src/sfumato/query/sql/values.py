"""VALUES in FROM: rows that the question itself states, as a public relation."""

from __future__ import annotations

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import listed
from sfumato.query.nodes.expressions import Literal
from sfumato.query.nodes.relations import Listed
from sfumato.query.sql.constants import constant
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import only, refused


def listed_values(node: exp.Values, parameters: Parameters) -> Listed:
    """Reads VALUES (1, 'a'), (2, 'b'), with columns as its alias names them, or else col0, col1 and so on."""
    only(node, "expressions", "alias")
    rows = [
        [_constant(cell, parameters) for cell in (row.expressions if isinstance(row, exp.Tuple) else [row])]
        for row in node.expressions
    ]
    if not rows or len({len(row) for row in rows}) > 1:
        raise QueryRefused("the rows of VALUES must have equally many values.")
    alias = node.args.get("alias")
    given = [] if alias is None else [column.name for column in alias.args.get("columns") or ()]
    if len(given) > len(rows[0]):
        raise QueryRefused(f"{len(given)} columns are named, and there are {len(rows[0])}.")
    return listed([*given, *(f"col{place}" for place in range(len(given), len(rows[0])))], rows)


def _constant(node: exp.Expr, parameters: Parameters) -> Literal | None:
    """A constant; None for NULL, which has the kind of whatever else stands in its column."""
    cell = constant(node, parameters)
    if cell is None:
        raise refused("an expression in VALUES", "write numbers, texts in single quotes, DATE '2024-01-31' or NULL")
    return None if cell.value is None else cell
