"""Joins: two parts of FROM put together, so that each row of the result belongs to one unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple, TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import FLIPPED, all_of, full_join, joined, kept, selected, unused
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import COMPARISONS, Join, Match, Relation
from sfumato.query.sql.aggregates import is_aggregate
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.scalars import Scalars
from sfumato.query.sql.scopes import Scope, Source

Pairs: TypeAlias = list[tuple[Expression, Expression]]
Compared: TypeAlias = list[tuple[Expression, str, Expression]]


class Joining(NamedTuple):
    """How two parts are joined: what becomes of unmatched rows, and what says which rows match."""

    match: Match = Match.INNER
    right: bool = False
    full: bool = False
    natural: bool = False
    plain: bool = False

    @staticmethod
    def read(node: exp.Expr) -> Joining:
        """Reads the words of a join; ``plain`` is one by a comma, or CROSS JOIN, whose condition stands in WHERE."""
        only(node, "this", "on", "side", "kind", "using", "method")
        method, side, kind = (str(node.args.get(name) or "").upper() for name in ("method", "side", "kind"))
        if method not in ("", "NATURAL"):
            raise refused(f"{method} JOIN", "write JOIN … ON with the columns that are equal")
        if kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
            raise refused(f"{kind} JOIN", "write JOIN … ON with the columns that are equal")
        match = {"SEMI": Match.SEMI, "ANTI": Match.ANTI}.get(kind) or (Match.LEFT if side else Match.INNER)
        if match.filters and side == "RIGHT":
            raise refused(f"RIGHT {kind} JOIN", "write the tables the other way round")
        said = bool(node.args.get("on") or node.args.get("using") or method)
        if not said and match is not Match.INNER:
            raise refused(
                "a join without ON or USING", "every row would meet every other. Write JOIN … ON with equal columns"
            )
        return Joining(match, side == "RIGHT", side == "FULL", method == "NATURAL", not said)


def row_reader(scope: Scope, parameters: Parameters) -> Scalars:
    """Builds the reader of expressions of rows, where no aggregate may stand."""

    def leaf(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return scope.column(node)
        if isinstance(node, exp.AggFunc) or is_aggregate(node):
            raise refused(
                "an aggregate among the values of a row",
                "it may stand in SELECT, HAVING and ORDER BY. Aggregate in an inner query first, or write HAVING",
            )
        return None

    return Scalars(leaf, parameters)


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND puts together."""
    match node:
        case exp.Paren():
            yield from conjuncts(node.this)
        case exp.And():
            yield from conjuncts(node.this)
            yield from conjuncts(node.expression)
        case _:
            yield node


def joined_scopes(
    left: Scope, right: Scope, node: exp.Expr, parameters: Parameters, equal: Sequence[exp.Expr] = ()
) -> Scope:
    """Joins two parts of FROM as a node says; ``equal`` are equalities that WHERE says of them."""
    how, right = Joining.read(node), apart(left, right)
    both = Scope(Join(left.relation, right.relation, ()), (*left.sources, *right.sources))
    condition = _Condition(left.relation, right.relation)
    merged: list[tuple[str, Column, Column]] = []
    if node.args.get("using") or how.natural:
        names = _common(left, right) if how.natural else [part.name for part in node.args["using"]]
        columns = [exp.column(name, quoted=True) for name in names]
        merged = [(column.name, left.column(column), right.column(column)) for column in columns]
        condition = condition.equal([(one, other) for _, one, other in merged])
    else:
        parts = [*(conjuncts(node.args["on"]) if node.args.get("on") else ()), *equal]
        reader = row_reader(both, parameters)
        for part in parts:
            pair = _pair(part, both, condition)
            condition = condition.also(reader.condition(part), how) if pair is None else condition.equal([pair])
    if how.full:
        return _full(condition, left, right, merged)
    relation = condition.joined(how)
    if how.match.filters:
        return left.over(relation)
    hidden = {(one if how.right else other).name for _, one, other in merged}
    sources = tuple(source.hiding(hidden) for source in (*left.sources, *right.sources))
    return Scope(relation, sources)


def matching(left: Scope, right: Relation, pairs: Pairs, compared: Compared, match: Match) -> Scope:
    """Keeps the rows of one part that match rows of a relation, or those that match none."""
    other = apart(left, Scope(right, (Source("", {column.name: column.name for column in right.fields}),)))
    fields = {column.name: other.relation.fields[place] for place, column in enumerate(right.fields)}
    condition = _Condition(left.relation, other.relation)
    condition = condition.equal([(one, _told(two, fields)) for one, two in pairs])
    for one, operator, two in compared:
        condition = condition.compare(one, operator, _told(two, fields))
    return left.over(condition.joined(Joining(match)))


def apart(left: Scope, right: Scope) -> Scope:
    """Renames fields of the right part that the left one has too, also if only the case differs."""
    if clash := {source.name.casefold() for source in left.sources} & {
        source.name.casefold() for source in right.sources if source.name
    }:
        name = next(source.name for source in right.sources if source.name.casefold() in clash)
        raise QueryRefused(f"two tables are called {name!r}: give one of them an alias.")
    taken = {column.name.casefold() for column in left.relation.fields}
    owners = {field: source.name for source in right.sources for field in source.fields.values()}
    chosen: dict[str, str] = {}
    for column in right.relation.fields:
        name = column.name
        while name.casefold() in taken:
            name = f"{owners.get(column.name) or 'right'}.{name}"
        taken.add(name.casefold())
        chosen[column.name] = name
    if all(before == after for before, after in chosen.items()):
        return right
    relation = selected(right.relation, [(chosen[column.name], column) for column in right.relation.fields])
    return Scope(relation, tuple(source.renamed(chosen) for source in right.sources))


@final
@dataclass(frozen=True)
class _Condition:
    """Which rows of two relations match: pairs of equal columns, comparisons of columns, and what else is said."""

    left: Relation
    right: Relation
    pairs: tuple[tuple[str, str], ...] = ()
    compared: tuple[tuple[str, str, str], ...] = ()
    rest: tuple[Expression, ...] = ()

    def also(self, said: Expression, how: Joining) -> _Condition:
        """Adds a condition: where unmatched rows stay, only by what can be decided of two rows side by side."""
        if said == Literal(True, Kind.BOOL):
            return self
        if isinstance(said, Call) and said.operator == "and":
            return reduce(lambda made, part: made.also(part, how), said.parts, self)
        if how.match is Match.INNER and not how.right and not how.full:
            return replace(self, rest=(*self.rest, said))
        side = self.side(said)
        if side == "left" and how.right:
            return replace(self, left=kept(self.left, said))
        if side == "right" and not how.right and not how.full:
            return replace(self, right=kept(self.right, said))
        if side != "both":
            sure = Literal(1, Kind.INT)
            flag = call("case", said, sure, Literal(None, Kind.INT))
            return self.equal([(sure, flag) if side == "right" else (flag, sure)])
        match said:
            case Call("eq" | "ne" | "lt" | "le" | "gt" | "ge" as operator, (one, other)):
                match self.side(one), self.side(other):
                    case ("left", "right"):
                        return self.compare(one, operator, other)
                    case ("right", "left"):
                        return self.compare(other, FLIPPED.get(operator, operator), one)
        raise refused(
            "this condition of an outer join",
            "each part of it must compare something of one table with something of the other. Put others into WHERE",
        )

    def equal(self, pairs: Pairs) -> _Condition:
        """Adds pairs that must be equal, the left one first."""
        made = self
        for one, other in pairs:
            left, ours = made._held(made.left, one)
            made = replace(made, left=left)
            right, theirs = made._held(made.right, other)
            made = replace(made, right=right, pairs=(*made.pairs, (ours, theirs)))
        return made

    def compare(self, one: Expression, operator: str, other: Expression) -> _Condition:
        """Adds a comparison, the left side first."""
        made = self.equal([(one, other)])
        if operator not in COMPARISONS:
            return made
        ours, theirs = made.pairs[-1]
        return replace(made, pairs=made.pairs[:-1], compared=(*made.compared, (ours, operator, theirs)))

    def joined(self, how: Joining) -> Relation:
        """The join; an inner one has its private side on the left, and says the rest above."""
        left, right, pairs, compared = self.left, self.right, self.pairs, self.compared
        inner = how.match is Match.INNER
        if inner and not pairs:
            return self._by_equal_values().joined(how) if self._equal_values() else self._above(left, right, pairs)
        if how.right or (inner and right.private and not left.private):
            flipped = tuple((other, FLIPPED[operator], one) for one, operator, other in compared)
            left, right, pairs, compared = right, left, tuple((two, one) for one, two in pairs), flipped
        if inner:
            return self._above(left, right, pairs)
        return joined(left, right, pairs, how.match, compared)

    def _above(self, left: Relation, right: Relation, pairs: tuple[tuple[str, str], ...]) -> Relation:
        if right.private and not left.private:
            left, right = right, left
        relation: Relation = joined(left, right, pairs)
        return kept(relation, all_of(self.rest)) if self.rest else relation

    def _equal_values(self) -> list[Expression]:
        """What else is said to be equal of the two sides: values that are computed."""
        return [
            one
            for one in self.rest
            if isinstance(one, Call) and one.operator == "eq" and {*map(self.side, one.parts)} == {"left", "right"}
        ]

    def _by_equal_values(self) -> _Condition:
        values = self._equal_values()
        pairs = [(one, two) if self.side(one) == "left" else (two, one) for one, two in (v.parts for v in values)]
        return replace(self, rest=tuple(one for one in self.rest if one not in values)).equal(pairs)

    def side(self, made: Expression) -> str:
        """Which side an expression looks at: left, right, both, or none of them."""
        theirs = {column.name for column in self.right.fields}
        sides = {"right" if column.name in theirs else "left" for column in made.columns()}
        return "both" if len(sides) > 1 else "".join(sides)

    def _held(self, relation: Relation, made: Expression) -> tuple[Relation, str]:
        """A relation with a column for an expression, and the column's name."""
        if isinstance(made, Column) and relation.field(made.name) is not None:
            return relation, made.name
        taken = {column.name.casefold() for side in (self.left, self.right) for column in side.fields}
        name = unused("joined", taken)
        return selected(relation, [*((column.name, column) for column in relation.fields), (name, made)]), name


def _pair(part: exp.Expr, both: Scope, condition: _Condition) -> tuple[Column, Column] | None:
    """The columns of two sides that a condition says are equal, the left one first; None where it says other things."""
    match part:
        case exp.EQ(this=exp.Column() as one, expression=exp.Column() as other):
            left, right = sorted((both.column(one), both.column(other)), key=condition.side)
            return (left, right) if (condition.side(left), condition.side(right)) == ("left", "right") else None
    return None


def _full(condition: _Condition, left: Scope, right: Scope, merged: list[tuple[str, Column, Column]]) -> Scope:
    """A full join: columns of USING have the value of whichever side is there."""
    if condition.rest:
        raise TypeError(condition)
    taken = {column.name.casefold() for side in (condition.left, condition.right) for column in side.fields}
    either = {name: (unused(name, taken), one.name, other.name) for name, one, other in merged}
    relation = full_join(
        condition.left, condition.right, condition.pairs, condition.compared, either=tuple(either.values())
    )
    hidden = {one for _, *names in either.values() for one in names}
    sources = tuple(source.hiding(hidden) for source in (*left.sources, *right.sources))
    own = [Source("", {name: field for name, (field, _, _) in either.items()})] if either else []
    return Scope(relation, (*own, *sources))


def _common(left: Scope, right: Scope) -> list[str]:
    """The names that both parts have, for NATURAL JOIN."""
    ours = {name.casefold() for source in left.sources for name in source.open}
    return [name for source in right.sources for name in source.open if name.casefold() in ours]


def _told(made: Expression, fields: dict[str, Column]) -> Expression:
    """An expression with its columns under other names."""
    match made:
        case Column(name=name):
            return fields[name]
        case Call(parts=parts):
            return replace(made, parts=tuple(_told(part, fields) for part in parts))
    return made
