"""Relations in Polars: a lazy frame with the unit's identity as u0, u1 and the fields as f0, f1 and so on.

Names of the query never reach a frame, so that none can clash with another one or with the identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import polars as pl

from sfumato.query.engines.bounding import FirstRows, Incoming
from sfumato.query.engines.operands import constant
from sfumato.query.engines.polars.bounding import kept_rows
from sfumato.query.engines.polars.expressions import cast, value
from sfumato.query.engines.polars.folds import per_unit
from sfumato.query.engines.polars.held import Held
from sfumato.query.engines.polars.joins import filtered, joined, met_rows
from sfumato.query.engines.polars.ranking import Hashing
from sfumato.query.engines.polars.scans import Scanned
from sfumato.query.engines.polars.scope import TYPES, Names, chosen
from sfumato.query.engines.polars.source import Source, numbered
from sfumato.query.engines.polars.windows import windowed
from sfumato.query.engines.sizes import ends
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import (
    Join,
    Keep,
    Listed,
    Match,
    Meet,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)


@final
@dataclass(frozen=True)
class Relations:
    """Makes relations on the tables of a source into lazy frames."""

    tables: Mapping[str, Held]
    frames: Mapping[str, pl.LazyFrame]
    names: Names
    hashing: Hashing

    def source(self, relation: Relation) -> Source:
        """The frame of a relation."""
        match relation:
            case Scan():
                return self._scan(relation)
            case Listed():
                return self._listed(relation)
            case Where():
                return self._where(relation)
            case Select():
                return self._select(relation)
            case Join():
                return self._join(relation)
            case Meet():
                return self._meet(relation)
            case Union():
                return self._union(relation)
            case Keep():
                return self._keep(relation)
            case PerUnit():
                return per_unit(relation, self.source(relation.source), self.names)
            case Windowed():
                return windowed(relation, self.source(relation.source), self.names)
        raise TypeError(relation)

    def _scan(self, scan: Scan, conditions: Sequence[Expression] = ()) -> Source:
        return Scanned(self.tables, self.frames, self.names, scan).source(conditions)

    def _listed(self, listed: Listed) -> Source:
        """Rows that the question states, as a frame of public values."""
        columns = list(zip(*listed.rows, strict=True)) or [()] * len(listed.columns)
        kinds = [column.kind for column in listed.columns]
        made = [
            pl.Series(f"f{place}", [constant(one, kind) for one in values], dtype=TYPES[kind])
            for place, (kind, values) in enumerate(zip(kinds, columns, strict=True))
        ]
        return Source(pl.LazyFrame(made), 0, numbered(listed.columns))

    def _where(self, where: Where) -> Source:
        conditions: list[Expression] = [where.condition]
        source = where.source
        while isinstance(source, Where):
            conditions, source = [source.condition, *conditions], source.source
        if isinstance(source, Scan):
            return self._scan(source, conditions)
        below = self.source(where.source)
        scope = below.scope(self.names)
        condition = cast(where.condition, Kind.BOOL, scope)
        kept = scope.over(below.frame).filter(condition.made)
        return Source(chosen(kept, {}, below.columns), below.units, below.fields, below.held)

    def _select(self, select: Select) -> Source:
        below = self.source(select.source)
        scope = below.scope(self.names)
        made = {f"g{place}": value(of, scope).made for place, (_, of) in enumerate(select.columns)}
        frame = chosen(scope.over(below.frame), made, below.identity)
        frame = frame.rename({f"g{place}": f"f{place}" for place in range(len(made))})
        within = {name: between for name, of in select.columns if (between := ends(of, scope)) is not None}
        return Source(frame, below.units, numbered(select.fields), within)

    def _join(self, join: Join) -> Source:
        left, right = self.source(join.left), self.source(join.right)
        if join.right.private and not (left.units and left.units == right.units):
            raise TypeError(join)
        make = filtered if join.match in (Match.SEMI, Match.ANTI) else joined
        return make(join, left, right)

    def _meet(self, meet: Meet) -> Source:
        """Joins the first rows of each key on both sides; nothing says any more whose a row is."""
        if meet.most is None:
            raise TypeError(meet)
        left, ours = self._met(meet, meet.left, 0)
        right, theirs = self._met(meet, meet.right, 1)
        renamed = {name: f"f{len(left.fields) + place}" for place, name in enumerate(right.fields.values())}
        apart = {name: f"b{name}" for name in renamed}
        on = [f"m{place}" for place in range(len(meet.on))]
        frame = ours.join(theirs.rename(apart), on=on, how="inner").select(*left.fields.values(), *apart.values())
        frame = frame.rename({apart[old]: new for old, new in renamed.items()})
        return Source(frame, 0, numbered(meet.fields), {**left.held, **right.held})

    def _met(self, meet: Meet, side: Relation, place: int) -> tuple[Source, pl.LazyFrame]:
        """One side of a meeting: its first rows of each key m0, m1 …, in an order of values, whoever's they are."""
        below = self.source(side)
        rows, keys = met_rows(meet, below, side, place, below.scope(self.names))
        fields = tuple(below.fields.values())
        plan = FirstRows(Incoming(keys + fields), (), keys, fields, meet.most or 0)
        return below, kept_rows(plan, rows, self.hashing)

    def _union(self, union: Union) -> Source:
        below = [self.source(part) for part in union.parts]
        fields = numbered(union.fields)
        frames = []
        for one in below:
            moved = dict(zip(one.fields.values(), fields.values(), strict=True))
            frames.append(chosen(one.frame, {}, one.columns).rename({old: f"g{new}" for old, new in moved.items()}))
        stacked = pl.concat(frames).rename({f"g{name}": name for name in fields.values()})
        return Source(stacked, below[0].units, fields)

    def _keep(self, keep: Keep) -> Source:
        """Leaves out rows of a unit beyond the bound; where that is for the sake of work, hardly anybody has more."""
        below = self.source(keep.source)
        if not below.units:
            raise TypeError(keep)
        units, values = tuple(below.identity), tuple(below.fields.values())
        plan = FirstRows(Incoming(units + values), units, units, values, keep.rows, rarely=keep.work)
        return Source(kept_rows(plan, below.frame, self.hashing), below.units, below.fields, below.held)
