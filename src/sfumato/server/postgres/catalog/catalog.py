"""The catalog of one person: what tools ask of a database before anybody asks of data.

Which data sets there are, their tables, columns and keys are answered from codebooks, in the words of PostgreSQL's own
catalog. No data is opened, nothing is charged, and nobody sees a data set that they may not.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

from sqlglot import exp

from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.catalog.described import Database, Described
from sfumato.server.postgres.catalog.engine import Engine
from sfumato.server.postgres.catalog.expressions import folded
from sfumato.server.postgres.catalog.objects import Objects
from sfumato.server.postgres.catalog.queries import Binder
from sfumato.server.postgres.catalog.reading import read
from sfumato.server.postgres.catalog.refusals import NO_TABLE, UNSUPPORTED, CatalogRefused, refused
from sfumato.server.postgres.catalog.relations import CATALOG, INFORMATION, Relation, relations
from sfumato.server.postgres.catalog.scopes import Output, Query
from sfumato.server.postgres.catalog.showing import settings, shown, version
from sfumato.server.postgres.catalog.types import array_text, oid_of
from sfumato.server.postgres.catalog.writing import writer, written

OWN = (CATALOG, INFORMATION)


@final
@dataclass(frozen=True)
class Visit:
    """What a question may ask of the connection: settings beside the usual ones, the number of its process.

    ``change`` is how it may set one, by `set_config` with a name and a value that are written out.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    process: int = 0
    change: Callable[[str, str], None] | None = None


NOWHERE = Visit()


@final
class Catalog:
    """Answers questions to the catalog, for one person and the data sets that they may see.

    ``path`` are the schemas in which names without one are looked up, in all of them where none is said.
    """

    def __init__(
        self,
        visible: Iterable[Described],
        person: str,
        database: str,
        *,
        path: Sequence[str] = (),
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._database = Database(tuple(visible), person, database, tuple(path))
        self._clock = clock
        self._started = clock()

    def answer(self, sql: str, parameters: Sequence[object] = (), *, visit: Visit = NOWHERE) -> Answer | None:
        """Answers a text, or says with None that it is no question to the catalog: it names tables of data sets.

        What asks the catalog and data sets at once is refused, and so is what PostgreSQL could answer and this cannot
        (`CatalogRefused`, with PostgreSQL's code).
        """
        if (answer := shown(self._database, sql, visit.settings)) is not None:
            return answer
        values = [parameter_text(one) for one in parameters]
        bound = self._bound(sql, values)
        if bound is None:
            return None
        query, binder = bound
        self._change(binder.changes, visit)
        rows = self._engine.run(query.sql, list(binder.used.values()), self._said(visit))
        write = [writer(self._objects, one.type) for one in query.outputs]
        texts = tuple(tuple(one(cell) for one, cell in zip(write, row, strict=True)) for row in rows)
        return Answer(columns_of(query.outputs), texts, f"SELECT {len(texts)}")

    def describe(self, sql: str, declared: Sequence[int] = ()) -> Description | None:
        """Says which columns the answer to a text has and of which types its parameters are, as far as it follows.

        Nothing is worked out; ``declared`` are types of parameters that are known, 0 where one is not.
        """
        if (answer := shown(self._database, sql, {})) is not None:
            return Description(answer.columns, ())
        many = max([len(declared), *parameters_in(sql)])
        bound = self._bound(sql, [None] * many)
        if bound is None:
            return None
        query, binder = bound
        said = [*declared, *[0] * (many - len(declared))]
        oids = tuple(one or oid_of(binder.noted.get(number, "text")) for number, one in enumerate(said, 1))
        return Description(columns_of(query.outputs), oids)

    def close(self) -> None:
        """Ends the engine, if there is one."""
        if "_engine" in self.__dict__:
            self._engine.close()

    @cached_property
    def _objects(self) -> Objects:
        return Objects(self._database)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self._database, self._objects)

    def _bound(self, sql: str, parameters: Sequence[str | None]) -> tuple[Query, Binder] | None:
        try:
            tree = read(sql)
        except CatalogRefused:
            if any(word in sql.lower() for word in ("pg_", INFORMATION)):
                raise
            return None  # it may be a question in words that PostgreSQL does not have
        if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery | exp.Values):
            return None
        own, others = _named(tree)
        if others and not own:
            return None
        if others:
            raise refused(UNSUPPORTED, "one question asks either the catalog or a data set, and this asks both")
        binder = Binder(self._objects, self._relation, parameters)
        return binder.statement(tree), binder

    @staticmethod
    def _relation(name: str, schema: str) -> Relation:
        relation = relations().get((schema or CATALOG, name))
        if relation is None:
            raise refused(NO_TABLE, f'relation "{name[:63]}" does not exist')
        return relation

    @staticmethod
    def _change(changes: Sequence[tuple[str, str]], visit: Visit) -> None:
        """Sets settings of the connection, as SET would; where none can be set, those that mean nothing here may be."""
        for name, value in changes:
            if visit.change is not None:
                visit.change(name, value)
            elif name.lower().startswith("sfumato."):
                raise refused(UNSUPPORTED, "set_config does not set what a question may cost; write SET")

    def _said(self, visit: Visit) -> dict[str, Mapping[str, str] | str]:
        """What the engine looks up for this question alone."""
        database, known = self._database, settings(self._database, visit.settings)
        said = {
            "version": version(known),
            "person": database.person,
            "database": database.name,
            "schema": database.path[0],
            "process": str(visit.process),
            "started": self._started.replace(tzinfo=None).isoformat(sep=" "),
        }
        now = self._clock().replace(tzinfo=None).isoformat(sep=" ")
        return {"now": now, "said": said, "settings": {name: value for name, (_, value) in known.items()}}


@final
@dataclass(frozen=True)
class Description:
    """What is known of a question before it is asked: its columns, and the types of its parameters."""

    columns: tuple[Column, ...]
    parameters: tuple[int, ...]


def columns_of(outputs: Sequence[Output]) -> tuple[Column, ...]:
    """Columns of an answer, as the wire takes them."""
    return tuple(Column(one.name, 2249 if one.type.startswith("(") else oid_of(one.type)) for one in outputs)


def _named(tree: exp.Expr) -> tuple[set[str], set[str]]:
    """The relations that a text names: the catalog's own, and others."""
    queries = {folded(one.args["alias"].this) for one in tree.find_all(exp.CTE)}
    own: set[str] = set()
    others: set[str] = set()
    for name, schema in _tables(tree):
        if schema in OWN or (not schema and (CATALOG, name) in relations()):
            own.add(name)
        elif schema or name not in queries:
            others.add(name)
    return own, others


def _tables(tree: exp.Expr) -> Iterator[tuple[str, str]]:
    for one in tree.find_all(exp.Table):
        if isinstance(one.this, exp.Identifier):
            yield folded(one.this), folded(one.args.get("db"))


def parameter_text(value: object) -> str | None:
    """The text of a parameter, however it came."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return array_text([parameter_text(one) for one in value])
    return written(value)


def parameters_in(sql: str) -> list[int]:
    """The numbers of the parameters of a text, of which there are no more than PostgreSQL takes."""
    try:
        tree = read(sql)
    except CatalogRefused:
        return []
    names = [str(one.name) for one in tree.find_all(exp.Parameter)]
    return [min(int(name), 65_535) for name in names if name.isdecimal()]
