"""What of some data did not read by its codebook: for the holder of the data, and for nobody else.

Everything here looks at data for nothing, so nothing here is reachable from a data set or a session. It is called while
a source is opened, and what it finds goes to whoever opened it.
"""

from __future__ import annotations

import polars as pl

from sfumato.errors import BadArgument
from sfumato.query.engines.data_check import FORMS, ColumnCheck, TableCheck
from sfumato.query.engines.polars.held import Held
from sfumato.query.engines.polars.reading import as_kind, is_text, is_value
from sfumato.query.engines.polars.running import collected
from sfumato.query.engines.polars.scope import Names, Piece, Scope, chosen, column
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan


def checked_table(name: str, scan: Scan, held: Held, rows: pl.LazyFrame, lost: int) -> TableCheck:
    """Counts what of a table does not read."""
    scope, made = Scope(Names()), {}
    for place, of in enumerate(scan.columns):
        value, does_read, outside = _told(of, held, scope)
        made[f"value{place}"] = value.made
        made[f"unread{place}"] = scope.fill(lambda one, reads: one & ~reads, value, does_read, times=1).made
        made[f"outside{place}"] = outside.made
    sums = [pl.col(one).fill_null(False).cast(pl.Int64).sum() for one in made]
    numbers = collected(chosen(scope.over(rows), made).select(pl.len().cast(pl.Int64).alias("rows"), *sums)).row(
        0, named=True
    )
    columns = []
    for place, of in enumerate(scan.columns):
        values, unread, beyond = (int(numbers[f"{what}{place}"]) for what in ("value", "unread", "outside"))
        columns.append(ColumnCheck(of.name, of.kind.value, values, int(numbers["rows"]) - values, unread, beyond))
    return TableCheck(name, int(numbers["rows"]), lost, tuple(columns))


def refuse_columns(name: str, scan: Scan, held: Held, rows: pl.LazyFrame, lost: int) -> None:
    """Refuses texts of which none reads by the codebook's type.

    This is the one thing about values that opening tells, to whoever opens: every question about such a column would
    be paid for, and answered by noise.
    """
    for of in scan.columns:
        _, kept_as, kind = held.columns[of.name]
        if (kind is Kind.TEXT and of.name not in held.loose) or not is_text(kept_as):
            continue
        scope = Scope(Names())
        value, does_read, _ = _told(of, held, scope)
        made = {"reads": does_read.made, "unread": scope.fill(lambda one, it: one & ~it, value, does_read).made}
        looked = chosen(scope.over(rows), made).select(pl.col(*made).fill_null(False).any())
        told = collected(looked).row(0, named=True)
        if told["unread"] and not told["reads"]:
            raise BadArgument(
                "data",
                f"a source in which {name}.{of.name} reads as {kind.value}: {FORMS[kind]} ('sfumato codebook check' "
                "tells how many values of each column do not read); or without this column",
                "values of which none does",
            )


def _told(of: Column, held: Held, scope: Scope) -> tuple[Piece, Piece, Piece]:
    """Tells of each row whether a value is held, whether it reads as its type, and whether it lies outside."""
    raw, kept_as, kind = held.columns[of.name]
    value = is_value(column(raw), kept_as, kind, scope)
    before = scope.named(as_kind(column(raw), kept_as, kind, scope, of.facts.written, loose=of.name in held.loose))
    does_read = scope.fill(lambda one: one.is_not_null(), before, times=1)
    if of.facts.keys is None and of.facts.between is None:
        return value, does_read, Piece(pl.lit(False))
    after = held.read(of, scope)
    return value, does_read, scope.fill(lambda one, other: one.is_not_null() & one.ne_missing(other), before, after)
