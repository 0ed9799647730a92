"""Finished answers: which inner queries are answers by themselves, so that all that is done with them is free.

A query is *rows*, where each row of it is one unit's: it looks at a private table and sums nothing up, or sums up
within each unit, GROUP BY the id. It is an *answer*, where it sums up over people: then it is released first, and
whatever stands around it is post-processing. And it is *public*, where it looks at public tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.answer.released_expressions import check_released
from sfumato.query.build.relation import owner_of, unused
from sfumato.query.nodes.catalog import name_in
from sfumato.query.nodes.questions import CountUnits, Question, StatisticValue
from sfumato.query.nodes.relations import Relation
from sfumato.query.nodes.worked_out import Finished
from sfumato.query.sql.lifting import is_all_of, is_grouped, is_plain, keys_of, lifted, over
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.syntax import QUERIES, identifier, queries_in, sources_of, tables_in
from sfumato.query.sql.tables import Tables

Ask: TypeAlias = Callable[[exp.Select, Tables], Question | Relation]
"""Reads a SELECT about rows as a question."""

MIXED = "rows are looked at before noise, answers after it. Aggregate the rows in an inner query of their own first"


ROWS_LEAVE = ("rows of a private table as an answer", "they never leave. Ask for an aggregate: COUNT, SUM, AVG …")


class State(IntEnum):
    """What the rows of a query are: public, released numbers, or rows of people; of several, the most private."""

    PUBLIC = 0
    ANSWER = 1
    ROWS = 2


@final
@dataclass(frozen=True)
class Names:
    """What names mean at one place: tables to read rows from, and the state of every name of WITH."""

    tables: Tables
    states: Mapping[str, State]

    def state(self, table: exp.Expr) -> State:
        """The state of a table that is named in FROM."""
        if not isinstance(table.this, exp.Identifier):
            raise refused(
                "a function or a parameter in FROM", "only tables of the codebook are asked. Name one of them"
            )
        known = None if table.args.get("db") else name_in(table.name, self.states)
        if known is not None:
            return self.states[known]
        return State.ROWS if self.tables.catalog.table(table.name).private else State.PUBLIC


@final
class Splitter:
    """Takes the finished answers out of a query: what is left is over their names, and over public tables."""

    def __init__(self, tree: exp.Expr, tables: Tables, ask: Ask) -> None:
        self._ask, self._outermost = ask, Names(tables, {})
        self._held = list(tree.walk())  # nodes are known by where they are: none may go before the others
        self._taken = {node.name.casefold() for node in self._held if isinstance(node, exp.Identifier)}
        nested = [node for node in self._held if isinstance(node, exp.CTE | exp.Subquery)]
        aliases = [str(node.alias).casefold() for node in nested if node.alias]
        tables_there = {name.casefold() for name in tables.catalog.tables}
        self._clear = {name for name in aliases if aliases.count(name) == 1} - tables_there
        self._names: dict[int, Names] = {}
        self._states: dict[int, State] = {}
        self._root = self._tree = tree
        while isinstance(self._root, exp.Subquery):
            self._root = self._root.this
        self.answers: dict[tuple[Question, bool], Finished] = {}
        self.tables: dict[str, Relation] = {}
        self.question: Question | None = None

    @property
    def whole(self) -> State:
        """The state of the whole query."""
        return self.state(self._tree, self._outermost)

    def split(self) -> exp.Expr:
        """The whole query over finished answers and public tables; `answers` and `tables` then hold these."""
        return self._split(self._tree, self._outermost)

    def state(self, query: exp.Expr, names: Names) -> State:
        """Tells what the rows of a query are; it is asked before anything of the query is replaced."""
        if id(query) not in self._states:
            self._held.append(query)
            self._states[id(query)] = self._state(query, self._named(query, names))
        return self._states[id(query)]

    def _state(self, query: exp.Expr, names: Names) -> State:
        match query:
            case exp.Values():
                return State.PUBLIC
            case exp.Table():
                return max([names.state(query), *(self.state(one, names) for one in sources_of(query))])
            case exp.Subquery():
                return self.state(query.this, names)
            case exp.SetOperation():
                sides = {self.state(side, names) for side in (query.this, query.expression)}
                if {State.ROWS, State.ANSWER} <= sides:
                    raise refused(f"{query.key.upper()} of rows and a finished answer", MIXED)
                return max(sides)
            case exp.Select():
                return self._of_select(query, names)
        return State.ROWS

    def _of_select(self, select: exp.Select, names: Names) -> State:
        sources = [self.state(source, names) for source in sources_of(select)]
        if State.ROWS in sources:
            if State.ANSWER in sources:
                raise refused("a join of private rows with a finished answer", MIXED)
            finished = select is self._root or (is_grouped(select) and not _by_unit(select, names.tables))
            return State.ANSWER if finished else State.ROWS
        inside = [self.state(inner, names) for inner in queries_in(select)]
        if State.ROWS in inside:
            raise refused("rows of a private table inside an expression", "they never leave. Aggregate them there")
        return max([State.PUBLIC, *sources, *inside])

    def _named(self, query: exp.Expr, names: Names) -> Names:
        """Adds what WITH names: relations, where it names rows or public tables, and the state of each."""
        clause = query.args.get("with_")
        if clause is None:
            return names
        if id(query) not in self._names:
            only(clause, "expressions")
            for part in clause.expressions:
                self._names[id(part)] = names
                names = self._with(part, names)
            given = [str(part.alias) for part in clause.expressions]
            for place, name in enumerate(given):
                if name_in(name, given[:place]) is not None:
                    raise QueryRefused(f"two tables are called {name!r}: give one of them another name.")
            self._names[id(query)] = names
        return self._names[id(query)]

    def _with(self, part: exp.Expr, names: Names) -> Names:
        only(part, "this", "alias")
        name, state = str(part.alias), self.state(part.this, names)
        others = {one: made for one, made in names.tables.named.items() if one.casefold() != name.casefold()}
        tables = replace(names.tables, named=others)
        if state is not State.ANSWER:
            try:
                tables = replace(tables, named={**others, name: names.tables.part(part)})
            except QueryRefused:  # sums of public rows, say, which only what is worked out can look at
                if state is State.ROWS:
                    raise
        return Names(tables, {**names.states, name: state})

    def _split(self, query: exp.Expr, names: Names, wish: str = "") -> exp.Expr:
        """Puts names in the place of finished answers, from the inside out."""
        here = self._named(query, names)
        clause = query.args.get("with_")
        parts = [] if clause is None else [one for one in map(self._part, clause.expressions) if one is not None]
        query.set("with_", None)
        if isinstance(query, exp.Select) and any(self.state(one, here) is State.ROWS for one in sources_of(query)):
            made = self._answered(query, here, wish)
        else:
            for table in tables_in(query):
                self._public(table, here)
            for inner in queries_in(query, everywhere=True):
                inner.replace(self._in_place(inner, here, wish if isinstance(query, exp.Subquery) else ""))
            made = query
        if used := _used(parts, made):
            made.set("with_", exp.With(expressions=used))
        return made

    def _part(self, part: exp.Expr) -> exp.Expr | None:
        """A part of WITH as it stays: rows are none of it, and an answer that has the part's name needs no words."""
        names = self._names[id(part)]
        if self.state(part.this, names) is State.ROWS:
            return None
        made, name = self._split(part.this, names, str(part.alias)), str(part.alias)
        if only_table(made) == name and not part.args["alias"].args.get("columns"):
            return None
        return exp.CTE(this=made, alias=part.args["alias"])

    def _in_place(self, inner: exp.Expr, names: Names, wish: str) -> exp.Expr:
        """An inner query over names; one that is an answer in FROM is just its name."""
        alias = inner.args.get("alias")
        made = self._split(inner, names, str(inner.alias or wish))
        if isinstance(made, exp.Subquery) and isinstance(inner.parent, exp.From | exp.Join):
            name = only_table(made.this)
            if name and not made.args.get("with_"):
                same = alias is not None and alias.name == name and not alias.args.get("columns")
                return exp.Table(this=identifier(name), alias=None if same else alias)
        return made

    def _answered(self, select: exp.Select, names: Names, wish: str) -> exp.Expr:
        """A SELECT about rows as its finished answer, or as a SELECT over that, where a question cannot say it."""
        if is_plain(select) or not is_grouped(select):
            question = self._question(select, names)
            if all(map(_is_released, question.released)):
                return over(self._finished(question, wish))
            self.question = question if select is self._root else None
        apart = lifted(select, names.tables.scope(select))
        question = self._question(apart.inner, names)
        if apart.keys_only:
            owner, (*keys, (counted, rows)) = owner_of(question.source), question.columns
            units = StatisticValue(CountUnits()) if owner is not None and owner.id else rows
            question = replace(question, columns=(*keys, (counted, units)))
        name = self._finished(question, wish, keys_only=apart.keys_only)
        if apart.keys_only and is_all_of(apart.outer, [key for key, _ in question.keys]):
            return over(name)
        for inner in queries_in(apart.outer, everywhere=True):
            self.state(inner, names)
            inner.replace(self._in_place(inner, names, ""))
        return over(name, apart.outer)

    def _question(self, select: exp.Select, names: Names) -> Question:
        question = self._ask(select, names.tables)
        if not isinstance(question, Question):
            raise TypeError(type(question))
        return question

    def _finished(self, question: Question, wish: str, *, keys_only: bool = False) -> str:
        """The name of a finished answer; the same question is one answer, however often it stands there."""
        known = self.answers.get((question, keys_only))
        if known is None:
            used = {one.name.casefold() for one in self.answers.values()}
            clear = wish.casefold() in self._clear - used  # nothing else has this name, wherever it is looked for
            name = wish if clear else unused("answer", used | self._taken)
            known = self.answers[question, keys_only] = Finished(name, question, keys_only)
        return known.name

    def _public(self, table: exp.Table, names: Names) -> None:
        """Names a public table of the catalog, whatever else its name was written with."""
        named = name_in(table.name, names.states) is not None and not table.args.get("db")
        if named or not isinstance(table.this, exp.Identifier):
            return
        scan = names.tables.catalog.table(table.name)
        if scan.private:
            raise refused(*ROWS_LEAVE)
        self.tables[scan.table] = scan
        if not table.alias and table.name != scan.table:
            table.set("alias", exp.TableAlias(this=identifier(table.name)))
        table.set("this", identifier(scan.table))
        table.set("db", None)
        table.set("catalog", None)


def _used(parts: list[exp.Expr], query: exp.Expr) -> list[exp.Expr]:
    """The parts of WITH that a query, or a later part that it uses, looks at: of others only rows made use."""
    kept: list[exp.Expr] = []
    for part in reversed(parts):
        names = {table.name.casefold() for one in (query, *kept) for table in one.find_all(exp.Table)}
        kept += [part] if part.alias.casefold() in names else []
    return kept[::-1]


def _is_released(made: object) -> bool:
    try:
        check_released(made)  # type: ignore[arg-type]
    except QueryRefused:
        return False
    return True


def _by_unit(select: exp.Select, tables: Tables) -> bool:
    """Tells whether each group of a SELECT is within one unit: the id is among what it groups by."""
    scope = tables.scope(select)
    keys = keys_of(select)
    if any(isinstance(key, exp.Star) for key in keys):
        return any(column.unit == 0 for column in scope.relation.fields)
    return any(scope.column(key).unit == 0 for key in keys if isinstance(key, exp.Column))


def only_table(made: exp.Expr) -> str | None:
    """The name of the table that a query gives as it is; None for any other query."""
    if isinstance(made, exp.Select) and set(made.args) >= {"from_"} and made.is_star:
        rest = {name for name, value in made.args.items() if value and name not in ("expressions", "from_")}
        if not rest and len(made.expressions) == 1 and isinstance(made.args["from_"].this, exp.Table):
            return str(made.args["from_"].this.name)
    return None


def is_by_rows(query: exp.Expr) -> bool:
    """Tells whether a query of public tables is a SELECT of rows: nothing is summed up, sorted, cut or put together."""
    if not isinstance(query, exp.Select) or is_grouped(query) or any(query.args.get(one) for one in ("order", "limit")):
        return False
    if any(isinstance(one, exp.Values) for one in query.find_all(*QUERIES)) or query.find(exp.Window):
        return False
    late = ("qualify", "windows", "offset", "having")
    return query.args.get("from_") is not None and not any(query.args.get(one) for one in late)
