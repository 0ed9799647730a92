"""The planner's half on PostgreSQL: a connection that nothing but questions about public tables can use.

A connection to a server could read private tables, whoever made it, and so could an address with its password. So
neither is an attribute of anything that a planner holds: they lie in the cells of sealed functions (`core.sealed`),
which take typed plans and no text. A plan names tables as the half knows them, and it knows copies of public ones only:
a private table is none of its words (`PostgresEngine.held`), and a text that names one is refused before it is sent
(`PostgresEngine._check`). With ``planner=`` the server sees to it as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, final

from sfumato.core.sealed import sealed
from sfumato.query.engines.postgres.engine import LACKS, PostgresEngine
from sfumato.query.engines.protocol import Engine
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Computed, Marginals


@final
class PlannerEngine(Engine):
    """Answers from copies of public tables and from lists, on a server, and leads to no connection."""

    name: ClassVar[str] = "PostgreSQL"
    lacks: ClassVar[frozenset[str]] = LACKS

    def __init__(self, engine: PostgresEngine) -> None:
        self._prepare, self._prepare_marginals = sealed(engine.prepare), sealed(engine.prepare_marginals)
        self._images, self._rows, self._matches = sealed(engine.images), sealed(engine.rows), sealed(engine.matches)
        self._fingerprints, self._close = sealed(engine.fingerprints), sealed(engine.close)

    def prepare(self, cells: Cells) -> None:
        self._prepare(cells)

    def prepare_marginals(self, marginals: Marginals) -> None:
        self._prepare_marginals(marginals)

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return self._images(made, leaves)

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        return self._rows(relation)

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        return self._matches(relation, keys)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        return self._fingerprints(key)

    def close(self) -> None:
        self._close()

    @property
    def held(self) -> Mapping[str, Any]:
        return self._private()

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return self._private()

    def run(self, cells: Cells) -> Computed:
        return self._private()

    def _private(self) -> NoReturn:
        raise TypeError("this half has no private tables")
