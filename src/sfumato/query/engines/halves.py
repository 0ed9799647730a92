"""Opens a source as two engines: one on its public tables alone, for the planner; one on all tables, for permits.

They share no connection. A plan is made with an engine that could not find a private row if it tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, final

from sfumato.core.sealed import sealed
from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.tables import is_lazy
from sfumato.query.engines.needs import needs_of_cells, needs_of_expressions, needs_of_relation, refuse_lacking
from sfumato.query.engines.protocol import Given, PrivateTables, PublicTables
from sfumato.query.engines.registry import EngineChoice, opener_of
from sfumato.query.engines.written_tables import TableWriter
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Marginals


def open_halves(data: Given, catalog: Catalog, engine: EngineChoice = None) -> tuple[PublicTables, PrivateTables]:
    """Opens the public half, and the private one, which has the public tables too: questions join with them.

    A number of matches that is counted in one half bounds what happens in the other, so both must hold the same.
    """
    opener = opener_of(data, engine)
    public = [name for name, scan in catalog.tables.items() if not scan.private]
    data = _read_once(data, public)
    private = opener.open(data, catalog)
    held = private.held
    if not public:  # most questions on private tables alone never ask, so nothing is opened yet
        shared = opener.public_part(data)
        return PlannerTables(sealed(lambda: opener.open_public(shared, catalog, held))), private
    shown = opener.open_public(data, catalog, held)
    once, twice = (engine.fingerprints(b"") for engine in (private, shown))
    if any(once[name] != twice[name] for name in public):
        raise BadArgument("data", "public tables that stay as they are while they are opened", "others")
    return PlannerTables(lambda: shown), private


@final
class PlannerTables(PublicTables):
    """The public half, opened when it is first asked something. What the engine lacks is refused here, always."""

    name: ClassVar[str] = "planner"

    def __init__(self, opening: Callable[[], PublicTables]) -> None:
        self._opening = opening

    @cached_property
    def _engine(self) -> PublicTables:
        return self._opening()

    def prepare(self, cells: Cells) -> None:
        self._able(needs_of_cells(cells)).prepare(cells)

    def prepare_marginals(self, marginals: Marginals) -> None:
        self._able(needs_of_relation(marginals.source)).prepare_marginals(marginals)

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return self._able(needs_of_expressions(made)).images(made, leaves)

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        return self._able(needs_of_relation(relation)).rows(relation)

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        needed = (*needs_of_relation(relation), *needs_of_expressions(keys))
        return self._able(needed).matches(relation, keys)

    @property
    def writer(self) -> TableWriter:
        return self._engine.writer

    def _able(self, needed: Iterable[str]) -> PublicTables:
        """The engine, if it lacks nothing that is needed."""
        refuse_lacking(self._engine.name, self._engine.lacks, needed)
        return self._engine


def _read_once(data: Given, public: Collection[str]) -> Given:
    """Reads streams of Arrow, and lazy frames, with public rows into tables: both halves read these, a stream can be
    read once, and a plan may give something else the next time."""
    if not isinstance(data, Mapping) or not any(_is_fleeting(data.get(name)) for name in public):
        return data
    return {name: _table(part) if name in public and _is_fleeting(part) else part for name, part in data.items()}


def _is_fleeting(part: object) -> bool:
    return _is_stream(part) or is_lazy(part)


def _is_stream(part: object) -> bool:
    return hasattr(part, "__arrow_c_stream__") and not hasattr(part, "__len__")


def _table(stream: Given) -> Given:
    import pyarrow as pa

    if is_lazy(stream):
        return _worked_out(stream)
    try:
        return pa.table(stream)
    except (pa.ArrowException, TypeError, ValueError):  # which is refused when it is opened
        return stream


def _worked_out(frame: Given) -> Given:
    try:
        return frame.collect()
    except Exception:  # whatever another library does, it is refused when it is opened
        return frame
