"""Opens a source as two engines: one on its public tables alone, for the planner; one on all tables, for permits.

They share no connection. A plan is made with an engine that could not find a private row if it tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, final

from sfumato.errors import BadArgument
from sfumato.query.catalog import Catalog
from sfumato.query.cells import Cells
from sfumato.query.engines.checking import refuse_columns
from sfumato.query.engines.engine import PrivateTables, PublicTables
from sfumato.query.engines.sources import Given, open_source
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Value
from sfumato.query.relations import Relation


def open_halves(data: Given, catalog: Catalog) -> tuple[PublicTables, PrivateTables]:
    """Opens the public half, and the private one, which has the public tables too: questions join with them.

    A number of matches that is counted in one half bounds what happens in the other, so both must hold the same.
    """
    public = [name for name, scan in catalog.tables.items() if not scan.private]
    data = _read_once(data, public)
    private = open_source(data, catalog, look=refuse_columns)
    held = private.held
    if not public:
        return Later(lambda: open_source({}, catalog, public=held)), private
    shown = open_source(data, catalog, public=held)
    once, twice = (one.fingerprints(b"") for one in (private, shown))
    if any(once[name] != twice[name] for name in public):
        raise BadArgument("data", "public tables that stay as they are while they are opened", "others")
    return shown, private


@final
class Later(PublicTables):
    """Opens an engine when it is first asked something: most questions on private tables alone never ask."""

    name: ClassVar[str] = "later"

    def __init__(self, opening: Callable[[], PublicTables]) -> None:
        self._opening = opening

    @cached_property
    def _engine(self) -> PublicTables:
        return self._opening()

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return self._engine.images(made, leaves)

    def prepare(self, cells: Cells) -> None:
        self._engine.prepare(cells)

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        return self._engine.rows(relation)

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        return self._engine.matches(relation, keys)


def _read_once(data: Given, public: Collection[str]) -> Given:
    """Gives data whose public tables can be read twice: a stream of Arrow is read into a table, as it is only once."""
    if not isinstance(data, Mapping) or not any(_is_stream(data.get(name)) for name in public):
        return data
    return {name: _table(part) if name in public and _is_stream(part) else part for name, part in data.items()}


def _is_stream(part: object) -> bool:
    return hasattr(part, "__arrow_c_stream__") and not hasattr(part, "__len__")


def _table(stream: Given) -> Given:
    import pyarrow as pa

    try:
        return pa.table(stream)
    except (pa.ArrowException, TypeError, ValueError):  # which is refused when it is opened
        return stream
