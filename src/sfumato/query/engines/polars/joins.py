"""Joins in Polars: of rows of one unit, with public rows, and of rows of different units that meet."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sfumato.query.engines.polars.expressions import COMPARED, key
from sfumato.query.engines.polars.scope import Scope, chosen
from sfumato.query.engines.polars.source import Source
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Join, Match, Meet, Relation

PLACE = "place_"
OURS, THEIRS = "l_", "r_"


def joined(join: Join, left: Source, right: Source) -> Source:
    """Rows of the left, each with every match; in a left join also with none."""
    matched, renamed = _matched(join, left, right, how="inner")
    shown = [*left.columns, *renamed.values()]
    if join.match is Match.LEFT and join.compared:
        rows = left.frame.with_row_index(PLACE).cache()
        matched, renamed = _matched(join, _numbered(left, rows), right, how="inner")
        alone = rows.join(matched.select(PLACE).unique(), on=PLACE, how="anti")
        matched = pl.concat([matched.select(shown), alone], how="diagonal")
    elif join.match is Match.LEFT:
        matched, renamed = _matched(join, left, right, how="left")
    fields = {name: f"f{place}" for place, name in enumerate((*left.fields, *right.fields))}
    moved = dict(zip(shown[left.units :], fields.values(), strict=True))
    frame = chosen(matched, {}, shown).rename({old: f"g{new}" for old, new in moved.items()})
    frame = frame.rename({f"g{name}": name for name in fields.values()})
    return Source(frame, left.units, fields, {**left.held, **right.held})


def filtered(join: Join, left: Source, right: Source) -> Source:
    """The rows of the left that match something on the right, or nothing."""
    how = "semi" if join.match is Match.SEMI else "anti"
    if join.compared:
        rows = left.frame.with_row_index(PLACE).cache()
        matched, _ = _matched(join, _numbered(left, rows), right, how="inner")
        kept = rows.join(matched.select(PLACE).unique(), on=PLACE, how=how)  # type: ignore[arg-type]
    else:
        kept, _ = _matched(join, left, right, how=how)
    return Source(chosen(kept, {}, left.columns), left.units, left.fields, left.held)


def _numbered(left: Source, rows: pl.LazyFrame) -> Source:
    """The rows of the left, each with its place: they are made once, so that every part sees the same places."""
    return Source(rows, left.units, {**left.fields, PLACE: PLACE}, left.held)


def _matched(join: Join, left: Source, right: Source, *, how: str) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Rows that match, and what the fields of the right are called in them."""
    pairs = _pairs(join, left, right)
    ours = left.frame.with_columns(**{f"{OURS}{place}": one for place, (one, _) in enumerate(pairs)})
    renamed = {name: f"b{name}" for name in right.fields.values()}
    theirs = chosen(
        right.frame, {f"{THEIRS}{place}": other for place, (_, other) in enumerate(pairs)}, list(right.fields.values())
    ).rename(renamed)
    if pairs:
        keys = [[f"{side}{place}" for place in range(len(pairs))] for side in (OURS, THEIRS)]
        rows = ours.join(theirs, left_on=keys[0], right_on=keys[1], how=how)  # type: ignore[arg-type]
    elif how in ("semi", "anti"):
        one = theirs.select(pl.len().alias(PLACE)).filter(pl.col(PLACE) > 0 if how == "semi" else pl.col(PLACE) == 0)
        rows = ours.join(one, how="cross").drop(PLACE)
    else:
        rows = _crossed(ours, theirs, how)
    moved = replace(right, fields={name: renamed[held] for name, held in right.fields.items()})
    for ours_named, name, theirs_named in join.compared:
        rows = rows.filter(COMPARED[name](*_sides(join, left, moved, ours_named, theirs_named)))
    return rows, renamed


def _crossed(ours: pl.LazyFrame, theirs: pl.LazyFrame, how: str) -> pl.LazyFrame:
    """Every row with every other; in a left join with none, where there is none."""
    if how == "inner":
        return ours.join(theirs, how="cross")
    keyed = pl.lit(1, dtype=pl.Int8).alias(PLACE)
    return ours.with_columns(keyed).join(theirs.with_columns(keyed), on=PLACE, how="left").drop(PLACE)


def _pairs(join: Join, left: Source, right: Source) -> list[tuple[pl.Expr, pl.Expr]]:
    """What must be equal on both sides."""
    pairs = [(pl.col(name), pl.col(name)) for name in right.identity]
    for one, other in join.on:
        if _is_id(join.left, one) and _is_id(join.right, other):
            continue  # the identities are equal already, and what was read of them may not be
        pairs.append(_sides(join, left, right, one, other))
    return pairs


def _sides(join: Join, left: Source, right: Source, one: str, other: str) -> tuple[pl.Expr, pl.Expr]:
    """Two columns as they are compared: of different kinds, as floats; zeros have no sign."""
    kinds = [_kind(join.left, one), _kind(join.right, other)]
    sides = [pl.col(left.fields[one]), pl.col(right.fields[other])]
    if kinds[0] is not kinds[1]:
        sides = [side.cast(pl.Float64) for side in sides]
    if kinds[0] is not kinds[1] or kinds[0] is Kind.FLOAT:
        sides = [side + 0.0 for side in sides]
    return sides[0], sides[1]


def met_rows(
    meet: Meet, below: Source, side: Relation, place: int, scope: Scope
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """The rows of one side of a meeting that have a key, with their keys m0, m1 and so on."""
    fields, made = {column.name: column for column in side.fields}, {}
    for number, pair in enumerate(meet.on):
        alike = _kind(meet.left, pair[0]) is _kind(meet.right, pair[1])  # else they are compared as floats
        compared: Expression = fields[pair[place]] if alike else call("to_float", fields[pair[place]])
        made[f"m{number}"] = key(compared, scope).made
    rows = chosen(scope.over(below.frame), made, list(below.fields.values()))
    return rows.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in made)), tuple(made)


def _is_id(relation: Relation, name: str) -> bool:
    column = relation.field(name)
    return column is not None and column.unit == 0


def _kind(relation: Relation, name: str) -> Kind | None:
    column = relation.field(name)
    return None if column is None else column.kind
