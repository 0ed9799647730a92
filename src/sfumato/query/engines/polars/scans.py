"""Tables in Polars: each value is read by the codebook, and each row has the identity of its unit beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import polars as pl

from sfumato.query.engines.polars.expressions import cast
from sfumato.query.engines.polars.held import Held, item_type
from sfumato.query.engines.polars.identity import common
from sfumato.query.engines.polars.moments import truncated
from sfumato.query.engines.polars.reading import as_kind, read
from sfumato.query.engines.polars.scope import Names, Piece, Scope, chosen, column
from sfumato.query.engines.polars.source import Source, numbered
from sfumato.query.engines.sizes import Ends, enforced
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan

LEAVES, ARRIVES = "leaves_", "arrives_"


@final
@dataclass(frozen=True)
class Scanned:
    """A scan of a table in the making."""

    tables: Mapping[str, Held]
    frames: Mapping[str, pl.LazyFrame]
    names: Names
    scan: Scan

    @property
    def table(self) -> Held:
        """The table that is scanned."""
        return self.tables[self.scan.table]

    def source(self, conditions: Sequence[Expression] = ()) -> Source:
        """The rows of a table for which conditions are true: what these look at is read before all else.

        Polars is not let to do that by itself: it would hand conditions to the scan, which believes what a file states.
        """
        scan, owner, fields = self.scan, self.scan.owner or Owner(), numbered(self.scan.fields)
        first = {one.name for condition in conditions for one in condition.columns()}
        frame = self._chosen(self._rows(), conditions, first) if conditions else self._rows()
        scope = Scope(self.names)
        made = {
            fields[of.name]: self._read(place, scope) for place, of in enumerate(scan.fields) if of.name not in first
        }
        kept = [fields[of.name] for of in scan.fields if of.name in first]
        units: list[str] = []
        if owner.id:
            units = ["u0"] if owner.window is None else ["u0", "u1"]
        way = [self.table, *(self.tables[hop.table] for hop in owner.hops)]
        places = [scope, *(Scope(self.names) for _ in owner.hops)]
        identities = self._identities(owner, way, places) if units else [{} for _ in way]
        made |= identities[0]
        exprs = {name: piece.made for name, piece in made.items()}
        rows = chosen(scope.over(frame), exprs, kept)
        for place, hop in enumerate(owner.hops, start=1):
            there = {name: piece.made for name, piece in identities[place].items()}
            right = chosen(places[place].over(self.frames[hop.table]), there)
            rows = rows.join(right, left_on=f"{LEAVES}{place - 1}", right_on=f"{ARRIVES}{place}", how="inner")
        if units:
            rows = rows.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in units))
        return Source(chosen(rows, {}, [*units, *fields.values()]), len(units), fields, _bounds(scan))

    def _rows(self) -> pl.LazyFrame:
        """The rows of a table as they are held, or one for each item of lists: i0, i1, …, the first ones of a row."""
        frame = self.frames[self.scan.table]
        for place, items in enumerate(self.scan.unnested):
            raw, held, _ = self.table.columns[items.column]
            listed = pl.col(raw).arr.to_list() if isinstance(held, pl.Array) else pl.col(raw)
            name = f"i{place}"
            frame = frame.with_columns((listed if items.most is None else listed.list.head(items.most)).alias(name))
            if not items.kept:
                frame = frame.filter(pl.col(name).list.len() > 0)
            frame = frame.explode(name, empty_as_null=True, keep_nulls=True)
        return frame

    def _chosen(self, rows: pl.LazyFrame, conditions: Sequence[Expression], first: set[str]) -> pl.LazyFrame:
        """The rows of a table, as they are held and with the columns that conditions look at, that meet these."""
        scope, fields = Scope(self.names), numbered(self.scan.fields)
        made = {
            fields[of.name]: self._read(place, scope).made
            for place, of in enumerate(self.scan.fields)
            if of.name in first
        }
        held = scope.over(rows).with_columns(**made)
        seen = Scope(self.names, {name: fields[name] for name in first}, _bounds(self.scan))
        kept = [cast(condition, Kind.BOOL, seen).made for condition in conditions]
        filtered = seen.over(held)
        for condition in kept:
            filtered = filtered.filter(condition)
        return filtered

    def _read(self, place: int, scope: Scope) -> Piece:
        """Reads a field of a table, or an item of a list of it."""
        of, item = self.scan.fields[place], place - len(self.scan.columns)
        if item < 0:
            return self.table.read(of, scope)
        name = self.scan.unnested[item].column
        held = item_type(self.table.columns[name][1])
        if held is None:
            raise TypeError(name)
        return read(column(f"i{item}"), held, of.kind, of.facts, scope, loose=name in self.table.loose)

    def _identities(self, owner: Owner, way: list[Held], scopes: list[Scope]) -> list[dict[str, Piece]]:
        """The id, the window and the two sides of each foreign key, as they are read of the tables on the way."""
        made: list[dict[str, Piece]] = [{} for _ in way]
        made[-1]["u0"] = way[-1].identity(owner.id, self._form_of_ids(way[-1].form(owner.id)), scopes[-1])
        for place, hop in enumerate(owner.hops):
            ours, theirs = way[place], way[place + 1]
            wanted = common((ours.form(hop.column), theirs.form(hop.key)))
            made[place][f"{LEAVES}{place}"] = ours.identity(hop.column, wanted, scopes[place])
            made[place + 1][f"{ARRIVES}{place + 1}"] = theirs.identity(hop.key, wanted, scopes[place + 1])
        if owner.window is not None:
            name, word = owner.window
            part = next(place for place, table in enumerate(way) if name in table.columns)
            raw, held, kind = way[part].columns[name]
            scope, written = scopes[part], way[part].written.get(name, "")
            when = as_kind(column(raw), held, kind, scope, written, loose=name in way[part].loose)
            made[part]["u1"] = scope.fill(lambda moment: truncated(moment, word, kind), when, times=6)
        return made

    def _form_of_ids(self, ours: pl.DataType) -> pl.DataType:
        """The form of ids, the same in all tables: rows of two of them may meet in a join."""
        owners = [(table, table.owner) for table in self.tables.values() if table.owner is not None and table.owner.id]
        forms = [
            (self.tables[owner.hops[-1].table] if owner.hops else table).form(owner.id)
            for table, owner in owners
            if not owner.hops or owner.hops[-1].table in self.tables
        ]
        return common([ours, *forms])


def _bounds(scan: Scan) -> dict[str, Ends]:
    """What reading moves the numbers of columns into."""
    bounds = {one.name: enforced(one.kind, one.facts) for one in scan.fields}
    return {name: ends for name, ends in bounds.items() if ends is not None}
