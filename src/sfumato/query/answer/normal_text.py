"""What was asked: a question as one SELECT, in normal form: the same question gives the same text, however it was put.

Constants stand where parameters were bound, names that were given to inner queries are gone, and what can be said in
several ways is said in one. Where the front end for SQL can say a question, reading its text gives the question again;
what only data frames can say is written in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.query.answer.spelled import Leaf, Piece, constant, named, spelled, statistic_text
from sfumato.query.answer.unit_column import Tables, with_unit
from sfumato.query.answer.window_text import fold_text, over_text, placed_text
from sfumato.query.build.question import cube, rollup
from sfumato.query.build.relation import unused
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.operators.record import NOT
from sfumato.query.nodes.questions import Question, StatisticValue
from sfumato.query.nodes.relations import (
    COMPARISONS,
    Folded,
    Join,
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
from sfumato.query.nodes.worked_out import WorkedOut

Item = tuple[str, Piece, Expression | None]
"""A column of a SELECT: what it is called, what it is, and which column of rows that is, if it is just that."""


def normal_text(question: Question, tables: Tables) -> str:
    """Writes a question.

    >>> from sfumato.query.nodes.kinds import Kind
    >>> from sfumato.query.nodes.questions import Count
    >>> day = Column("day", Kind.DATE)
    >>> counted = Question(Scan("visits", (day,)), (("day", day),), (("day", day), ("n", StatisticValue(Count()))))
    >>> normal_text(counted, {})
    'SELECT day, COUNT(*) AS n FROM visits GROUP BY day'
    """
    source, unit = with_unit(question, tables)
    inner, where = (source.source, source.condition) if isinstance(source, Where) else (source, None)
    keys = dict(question.keys)
    rows = [keys.get(made.name) if isinstance(made, Column) else None for _, made in question.columns]
    names = [name for name, _ in question.columns]
    scope = _from(inner, tables).qualified(zip(names, rows, strict=True))
    counted = "" if unit is None else scope.leaf(unit).text

    def released(one: Expression) -> Piece:
        if isinstance(one, StatisticValue):
            return Piece(statistic_text(one.statistic, scope.leaf, counted))
        return spelled(keys[one.name] if isinstance(one, Column) else one, scope.leaf)

    pieces = [spelled(made, released) for _, made in question.columns]
    selected = _select(list(zip(names, pieces, rows, strict=True)))
    before = [selected, scope.clause, *_where(where, scope.leaf), *_group(question, scope.leaf)]
    return " ".join([*before, *_after(question, released)])


def rows_text(relation: Relation, tables: Tables) -> str:
    """Writes what gives the rows of a relation."""
    return _query(relation, tables)[0]


def whole_text(worked: WorkedOut, tables: Tables) -> str:
    """Writes a question of several blocks: every finished answer under its name, then what is worked out."""
    parts = []
    for one in worked.answers:
        shown = one.question.columns[:-1] if one.keys_only else one.question.columns  # the last one only counts
        parts.append(f"{named(one.name)} AS ({normal_text(replace(one.question, columns=shown), tables)})")
    if not parts:
        return worked.text
    rest = worked.text.removeprefix("WITH ")
    return f"WITH {', '.join(parts)}{', ' if rest != worked.text else ' '}{rest}"


def _after(question: Question, released: Leaf) -> Iterator[str]:
    """Writes what is made of the released numbers."""
    if question.having is not None:
        yield f"HAVING {spelled(question.having, released).text}"
    if question.order:
        by = (_ordered(spelled(one.by, released), one.by) + " DESC" * one.descending for one in question.order)
        yield f"ORDER BY {', '.join(by)}"
    if question.limit is not None:
        yield f"LIMIT {question.limit}"


def _select(items: Sequence[Item]) -> str:
    """Writes SELECT: a column of rows under its own name by itself, all else with the name that it gets."""
    written = (
        piece.text
        if isinstance(row, Column) and row.name == name and piece.text.endswith(named(name))
        else f"{piece.text} AS {named(name)}"
        for name, piece, row in items
    )
    return f"SELECT {', '.join(written) or '1 AS one'}"


def _where(condition: Expression | None, leaf: Leaf) -> list[str]:
    return [] if condition is None else [f"WHERE {spelled(condition, leaf).text}"]


def _ordered(piece: Piece, by: Expression) -> str:
    return f"({piece.text})" if isinstance(by, Literal) else piece.text  # a plain number is the place of a column


def _group(question: Question, leaf: Leaf) -> list[str]:
    texts = [spelled(key, leaf).text for _, key in question.keys]
    every = tuple(range(len(texts)))
    sets = question.sets or (every,)
    if not texts:
        return []
    listed = ", ".join(texts)
    if sets == (every,):
        return [f"GROUP BY {listed}"]
    if sets == rollup(len(texts)):
        return [f"GROUP BY ROLLUP ({listed})"]
    if len(sets) == 2 ** len(texts) and sets == cube(len(texts)):
        return [f"GROUP BY CUBE ({listed})"]
    chosen = ", ".join(f"({', '.join(texts[place] for place in one)})" for one in sets)
    return [f"GROUP BY GROUPING SETS ({chosen})"]


@final
@dataclass(frozen=True)
class _Source:
    """One table of a FROM clause: its text, what it is called, and the field of the relation that each column is.

    ``every`` has also the columns that nothing looks at: they are not there for the question, but names may clash.
    """

    text: str
    name: str
    fields: Mapping[str, str]
    every: Mapping[str, str]
    columns: str = ""

    @property
    def listed(self) -> str:
        """The table as FROM names it: with AS only where its name is not its text."""
        return self.text if self.text == named(self.name) else f"{self.text} AS {named(self.name)}{self.columns}"


@final
@dataclass(frozen=True)
class _From:
    """A FROM clause: its text with and without the names of tables, and what columns are called in it."""

    sources: tuple[_Source, ...]
    joins: str = ""
    full: bool = False

    @property
    def clause(self) -> str:
        first = self.sources[0]
        return f"FROM {first.listed if self.full or first.columns else first.text}{self.joins}"

    def leaf(self, column: Expression) -> Piece:
        """Names a column, with its table where it might be another one."""
        if not isinstance(column, Column):
            raise TypeError(type(column))
        for source in self.sources:
            for visible, field in source.fields.items():
                if field == column.name:
                    return Piece(f"{named(source.name)}.{named(visible)}" if self.full else named(visible))
        raise KeyError(column.name)

    def qualified(self, items: Iterable[tuple[str, Expression | None]]) -> _From:
        """Puts tables' names before columns if a name given in SELECT would otherwise be taken for another column."""
        taken = {visible.casefold() for source in self.sources for visible in source.every}
        clash = any(
            name.casefold() in taken and not (isinstance(row, Column) and row.name == name) for name, row in items
        )
        return replace(self, full=self.full or clash)


def _from(relation: Relation, tables: Tables) -> _From:
    """Writes what stands in FROM: tables and inner queries, joined one after another."""
    first, steps = _chain(relation)
    wished = [_alias(_right(join)[0]) for join, _ in steps]
    taken = {name.casefold() for name in wished if name}
    sources = [_source(first, unused(_usual(first), taken), tables)]
    texts = []
    for (join, extra), name in zip(steps, wished, strict=True):
        right, own = _right(join)
        source = _renamed(right, name, sources, tables) if name else None
        source = source or _source(right, unused(_usual(right), taken), tables)
        scope = _From((*sources, source), full=True)
        compared = (*((ours, "=", theirs) for ours, theirs in join.on),)
        compared += tuple((ours, COMPARISONS[how], theirs) for ours, how, theirs in join.compared)
        pairs = [
            f"{scope.leaf(_named(join.left, ours)).text} {symbol} {scope.leaf(_named(right, theirs)).text}"
            for ours, symbol, theirs in compared
        ]
        conditions = [spelled(one, scope.leaf).at(NOT) for one in (*_conjuncts(own), *_conjuncts(extra))]
        texts.append(_join_text(join.match, source.listed, [*pairs, *conditions]))
        sources += [] if join.match.filters else [source]
    return _From(tuple(sources), "".join(texts), full=bool(steps))


def _join_text(match: Match, right: str, conditions: Sequence[str]) -> str:
    """Writes a join; one without a condition is of every row with every public one."""
    word = "" if match is Match.INNER else f"{match.value.upper()} "
    if not conditions and match is Match.INNER:
        return f" CROSS JOIN {right}"
    return f" {word}JOIN {right} ON {' AND '.join(conditions) or 'TRUE'}"


def _chain(relation: Relation) -> tuple[Relation, list[tuple[Join, Expression | None]]]:
    """Takes joins apart, from left to right, each with what else its condition says."""
    match relation:
        case Meet(left, right, on):
            return _chain(Join(left, right, on))
        case Where(Meet(left, right, on), condition):
            return _chain(Where(Join(left, right, on), condition))
        case Join(left=left):
            first, steps = _chain(left)
            return first, [*steps, (relation, None)]
        case Where(Join(match=Match.INNER) as join, condition) if not any(
            _is_pair(one, join) for one in _conjuncts(condition)
        ):
            first, steps = _chain(join.left)
            return first, [*steps, (join, condition)]
    return relation, []


def _right(join: Join) -> tuple[Relation, Expression | None]:
    """The right side of a join, and what the condition of a left join says of it alone."""
    match join:
        case Join(right=Where(source, condition), match=match) if match is not Match.INNER:
            return source, condition
    return join.right, None


def _conjuncts(condition: Expression | None) -> Sequence[Expression]:
    match condition:
        case None:
            return ()
        case Call("and", parts):
            return parts
    return (condition,)


def _is_pair(condition: Expression, join: Join) -> bool:
    """Tells whether a condition would be read as one of the equalities that make the join."""
    match condition:
        case Call("eq", (Column(name=one), Column(name=other))):
            theirs = {column.name for column in join.right.fields}
            return (one in theirs) != (other in theirs)
    return False


def _named(relation: Relation, name: str) -> Column:
    column = relation.field(name)
    if column is None:
        raise KeyError(name)
    return column


def _usual(relation: Relation) -> str:
    return relation.table if isinstance(relation, Scan) else "t"


def _source(relation: Relation, name: str, tables: Tables) -> _Source:
    """Writes one table of a FROM clause; its fields keep their names."""
    fields = {column.name: column.name for column in relation.fields}
    if isinstance(relation, Scan) and not relation.unnested:
        visible = [column.name for column in tables.get(relation.table, relation).columns]
        return _Source(named(relation.table), name, fields, {one: one for one in visible})
    if isinstance(relation, Listed):
        rows = (f"({', '.join(constant(value).text for value in row)})" for row in relation.rows)
        own = f"({', '.join(map(named, fields))})"
        return _Source(f"(VALUES {', '.join(rows)})", name, fields, fields, own)
    text, visible = _items(relation, tables) if isinstance(relation, Scan) else _query(relation, tables)
    return _Source(f"({text})", name, fields, {one: one for one in visible})


def _items(scan: Scan, tables: Tables) -> tuple[str, list[str]]:
    """Writes the rows of a table for each item of its lists, and gives the names of their columns."""
    visible = [column.name for column in tables.get(scan.table, scan).columns]
    lists = []
    for place, items in enumerate(scan.unnested):
        most = "" if items.most is None else f"[:{items.most}]"
        join, on = ("LEFT JOIN", " ON TRUE") if items.kept else ("CROSS JOIN", "")
        lists.append(f" {join} UNNEST({named(items.column)}{most}) AS items_{place} ({named(items.item.name)}){on}")
    return f"SELECT * FROM {named(scan.table)}{''.join(lists)}", [*visible, *(one.item.name for one in scan.unnested)]


def _alias(right: Relation) -> str:
    """The name that the right side of a join was given, where fields of it have that in front: ``a.day``."""
    if isinstance(right, Select):
        for name, made in right.columns:
            if isinstance(made, Column) and name != made.name and name.endswith(f".{made.name}"):
                return name.removesuffix(f".{made.name}").rpartition(".")[2] or ""
    return ""


def _renamed(right: Relation, name: str, before: Sequence[_Source], tables: Tables) -> _Source | None:
    """Writes a right side as SQL does, where its name stands before fields because the left side has the same ones.

    None where the fields were renamed in any other way.
    """
    if not isinstance(right, Select) or any(source.name.casefold() == name.casefold() for source in before):
        return None
    source = _source(right.source, name, tables)
    taken = {field.casefold() for one in before for field in one.every.values()}
    every = {}
    for visible in source.every:
        chosen = visible
        while chosen.casefold() in taken:
            chosen = f"{name}.{chosen}"
        taken.add(chosen.casefold())
        every[visible] = chosen
    if any(not isinstance(made, Column) or every.get(made.name) != field for field, made in right.columns):
        return None
    fields = {visible: field for visible, field in every.items() if right.field(field) is not None}
    return replace(source, fields=fields, every=every)


def _query(relation: Relation, tables: Tables) -> tuple[str, list[str]]:
    """Writes an inner query, and gives the names of its columns."""
    if isinstance(relation, Union):
        texts = (
            _query(part, tables)[0] if not isinstance(part, Union) else f"({_query(part, tables)[0]})"
            for part in relation.parts
        )
        return " UNION ALL ".join(texts), [column.name for column in relation.fields]
    if isinstance(relation, Windowed):
        return _windowed(relation, tables)
    select, inner = (relation, relation.source) if isinstance(relation, Select) else (None, relation)
    below, condition = (inner.source, inner.condition) if isinstance(inner, Where) else (inner, None)
    if isinstance(below, PerUnit):
        return _per_unit(below, select, condition, tables)
    columns = [(column.name, column) for column in inner.fields] if select is None else list(select.columns)
    scope = _from(below, tables).qualified(columns)
    items = [(name, spelled(made, scope.leaf), made) for name, made in columns]
    return " ".join((_select(items), scope.clause, *_where(condition, scope.leaf))), [name for name, _ in columns]


def _per_unit(made: PerUnit, select: Select | None, having: Expression | None, tables: Tables) -> tuple[str, list[str]]:
    """Writes sums within each unit; what they are called inside is said too, where nothing else says it."""
    inner, where = (
        (made.source.source, made.source.condition) if isinstance(made.source, Where) else (made.source, None)
    )
    own = [*(name for name, _ in made.by), *(folded.column.name for folded in made.folds)]
    fields = {column.name: column for column in made.fields}
    chosen = [] if select is None else list(select.columns)
    known = {name.casefold() for name, _ in chosen}
    columns = [*((name, fields[name]) for name in own if name.casefold() not in known), *chosen]
    by, folds = dict(made.by), {folded.column.name: folded for folded in made.folds}
    rows = [(name, by.get(one.name) if isinstance(one, Column) else None) for name, one in columns]
    scope = _from(inner, tables).qualified(rows)

    def leaf(one: Expression) -> Piece:
        name = one.name if isinstance(one, Column) else ""
        return Piece(fold_text(folds[name], scope.leaf)) if name in folds else spelled(by[name], scope.leaf)

    items = [(name, spelled(one, leaf), row) for (name, one), (_, row) in zip(columns, rows, strict=True)]
    by_text = ", ".join(spelled(one, scope.leaf).text for _, one in made.by)
    grouped = [f"GROUP BY {by_text}"] if by_text or made.private else []
    kept = [] if having is None else [f"HAVING {spelled(having, leaf).text}"]
    return " ".join((_select(items), scope.clause, *_where(where, scope.leaf), *grouped, *kept)), [
        name for name, _ in columns
    ]


def _windowed(window: Windowed, tables: Tables) -> tuple[str, list[str]]:
    """Writes rows with columns by the other rows of their unit, whose id is among them."""
    source = window.source
    inner, where = (source.source, source.condition) if isinstance(source, Where) else (source, None)
    columns = [(column.name, column) for column in source.fields]
    scope = _from(inner, tables).qualified([*columns, *((one.column.name, None) for one in window.added)])
    items: list[Item] = [(name, scope.leaf(column), column) for name, column in columns]

    def spell(made: Expression) -> str:
        return spelled(made, scope.leaf).text

    over = over_text(window, spell)
    for one in window.added:
        of = fold_text(one, scope.leaf) if isinstance(one, Folded) else placed_text(one, spell)
        items.append((one.column.name, Piece(f"{of} OVER ({over(one)})"), None))
    return " ".join((_select(items), scope.clause, *_where(where, scope.leaf))), [name for name, *_ in items]
