"""Connections to DuckDB: one place says what every one of them may do, and what its optimiser may look at.

An answer must be a function of the rows. DuckDB plans with what files and tables state *about* their rows: the least
and the greatest value of a column, how many are missing, Bloom filters. Such statements may be wrong (writers leave NaN
out of minimum and maximum, others count missing values wrongly), and they are about everybody's rows: a check of one
row that is dropped because "all values lie between 0 and 1" is dropped or not by whether somebody else's row was added.
So no step of the optimiser may look at them (docs/semantics.md, Reading a table).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.errors import MissingExtra

if TYPE_CHECKING:
    import duckdb

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # Nothing is written once a source is open, so that what DuckDB takes for fatal has harmed one question only.
    "disable_database_invalidation": "true",
    "ieee_floating_point_ops": "true",
    "preserve_insertion_order": "false",
    "python_enable_replacements": "false",
}
"""What every connection has: nothing is loaded, floats are IEEE's, the order of rows is nobody's."""

BLIND = frozenset(
    {
        "build_side_probe_side",
        "column_lifetime",
        "common_aggregate",
        "common_subexpressions",
        "cte_inlining",
        "deliminator",
        "distinct_aggregate_rewrite",
        "duplicate_groups",
        "expression_rewriter",
        "in_clause",
        "join_order",
        "materialized_cte",
        "unnest_rewriter",
        "unused_columns",
    }
)
"""The steps of the optimiser that are left on: they look at the text of a query, and at guesses of how many rows there
are, which decide in what order things are done and never what is left out. All others are off, also those that a later
version brings. Off are above all `statistics_propagation`, which folds conditions by minimum and maximum (and gives the
numbers that `compressed_materialization` packs values by), and whatever hands conditions to a scan, which then leaves
out parts of a file by what they state: `filter_pushdown`, `join_filter_pushdown`, `top_n`, `late_materialization`,
`row_group_pruner`."""


def duckdb_module() -> Any:
    """The package, or says how to install it."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("queries on DuckDB", "sql") from None
    return duckdb


def connected(**limits: str) -> duckdb.DuckDBPyConnection:
    """A new, empty database that plans by the text of a query alone; ``limits`` are further settings."""
    connection: duckdb.DuckDBPyConnection = duckdb_module().connect(":memory:", config={**SETTINGS, **limits})
    known = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    off = ",".join(sorted(name for (name,) in known if name not in BLIND))
    connection.execute(f"SET GLOBAL disabled_optimizers = '{off}'")
    return connection
