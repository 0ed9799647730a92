"""The registry of engines: who opens what, and that an engine is asked for nothing that it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query.engines import registry
from sfumato.query.engines.duckdb.opening import DuckDB
from sfumato.query.engines.protocol import Engine, Given
from sfumato.query.engines.registry import ENGINES, EngineEntry, is_tabular, opener_of
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Cells, Computed

BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user"},
    "tables": {
        "visits": {
            "columns": {
                "user": {"type": "int"},
                "site": {"type": "categories", "categories": ["a", "b"], "source": "the contract"},
            }
        }
    },
}


class Lacking(Engine):
    """DuckDB without some of its words. A test fails if one of them reaches it."""

    name: ClassVar[str] = "a plain engine"
    lacks: ClassVar[frozenset[str]] = frozenset({"like", "Distinct", "mode"})

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def held(self) -> Mapping[str, Any]:
        return self.engine.held

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return self.engine.schema()

    def prepare(self, cells: Cells) -> None:
        self.engine.prepare(cells)

    def run(self, cells: Cells) -> Computed:
        return self.engine.run(cells)

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return self.engine.images(made, leaves)

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        return self.engine.rows(relation)

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        return self.engine.matches(relation, keys)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        return self.engine.fingerprints(key)

    def close(self) -> None:
        self.engine.close()


class LackingOpener(DuckDB):  # type: ignore[misc]  # final for the package, not for a stand-in
    """Opens the engine above, in the place of DuckDB."""

    def open(self, data: Given, catalog: Catalog) -> Engine:  # type: ignore[override]
        return Lacking(super().open(data, catalog))

    def open_public(self, data: Given, catalog: Catalog, held: Mapping[str, Any]) -> Engine:  # type: ignore[override]
        return Lacking(super().open_public(data, catalog, held))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> sf.Session:
    """Asks an engine that lacks something, found by the registry from what its data is."""
    lacking = EngineEntry("plain", f"{__name__}:LackingOpener", packages=frozenset({"pyarrow"}))
    monkeypatch.setattr(registry, "ENGINES", (lacking, *ENGINES))
    table = pa.table({"user": np.arange(60) % 20, "site": ["a", "b", "a"] * 20})
    return sf.Dataset(table, name="visits", codebook=BOOK).session(limit=sf.Pure(10), ledger="memory:")


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("SELECT COUNT(*) AS n FROM visits WHERE site LIKE 'a%'", "like"),
        ("SELECT site LIKE 'a%' AS begins, COUNT(*) AS n FROM visits GROUP BY begins", "like"),
        ("SELECT COUNT(DISTINCT site) AS n FROM visits", "Distinct"),
        ("SELECT COUNT(*) FILTER (WHERE site LIKE '%a') AS n FROM visits", "like"),
    ],
)
def test_what_an_engine_lacks_is_refused_before_it_is_paid_for(session: sf.Session, text: str, lacking: str) -> None:
    message = f"a plain engine cannot compute {lacking}, which this question needs. Nothing was charged."
    with pytest.raises(sf.errors.QueryRefused, match=message):
        session.sql(text, loss=sf.Pure(1), max_groups=2, max_rows_per_group=2)
    assert session.spent == sf.Pure(0)
    with pytest.raises(sf.errors.QueryRefused, match=message):
        session.explain(text, loss=sf.Pure(1), max_groups=2, max_rows_per_group=2)


def test_what_it_has_is_answered(session: sf.Session) -> None:
    release = session.sql("SELECT COUNT(*) AS n FROM visits WHERE site = 'a'", loss=sf.Pure(1), max_rows_per_group=2)
    assert session.spent == sf.Pure(1)
    assert list(release.value.to_dict()) == ["n"]


def test_engines_are_found_by_scheme_suffix_and_package() -> None:
    entry = EngineEntry("nobody", "nobody:Nobody", frozenset({"mem"}), frozenset({".xyz"}), frozenset({"pyarrow"}))
    table = pa.table({"x": [1]})
    assert all(map(entry.claims, ["mem://host/book", "a/b.XYZ", Path("b.xyz"), table, {"a": table, "b": "b.xyz"}]))
    assert not any(map(entry.claims, ["b.csv", "xyz", "other://b.xyz", {"a": table, "b": "b.csv"}, {}, {"x": [1]}]))


def test_an_engine_is_chosen_by_its_name() -> None:
    with pytest.raises(sf.errors.BadArgument, match=r"engine must be one of .*duckdb"):
        sf.Dataset(pa.table({"user": [1]}), unit="user", engine="mainframe")
    with pytest.raises(sf.errors.BadArgument, match="engine must be left out"):
        sf.Dataset([1.0], name="x", space=sf.vector(float, size=1), engine="duckdb")
    chosen = sf.Dataset(pa.table({"user": [1]}), unit="user", engine="duckdb")
    assert chosen.session(limit=sf.Pure(1), ledger="memory:").sql(
        "SELECT COUNT(*) FROM data", loss=sf.Pure(1), max_rows=1
    )


def test_an_engine_with_settings_can_be_chosen() -> None:
    table = pa.table({"user": [1, 2]})
    chosen = sf.Dataset(table, unit="user", engine=sf.engines.DuckDB(memory="1GB", threads=1))
    assert chosen.session(limit=sf.Pure(1), ledger="memory:").sql(
        "SELECT COUNT(*) FROM data", loss=sf.Pure(1), max_rows=1
    )
    assert sf.engines.DuckDB(threads=1) == sf.engines.DuckDB(threads=1) != sf.engines.DuckDB()


def test_settings_of_an_engine_reach_it() -> None:
    catalog: Any = SimpleNamespace(tables={})
    with closing(sf.engines.DuckDB(memory="300 MiB", threads=3).open({}, catalog)) as engine:
        names = "'memory_limit', 'threads'"
        asked = f"SELECT value FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name"
        assert engine._connection.execute(asked).fetchall() == [("300.0 MiB",), ("3",)]


@pytest.mark.parametrize(
    "settings",
    [{"memory": "4"}, {"memory": "'; SET x"}, {"memory": 4}, {"threads": 0}, {"threads": True}, {"threads": "2"}],
)
def test_settings_that_are_none_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(sf.errors.BadArgument, match=f"{next(iter(settings))} must be"):
        sf.engines.DuckDB(**settings)


def test_packages_are_whole_names() -> None:
    entry = EngineEntry("nobody", "nobody:Nobody", packages=frozenset({"pyarrow.lib", "py"}))
    assert entry.claims(pa.table({}))
    assert not EngineEntry("nobody", "nobody:Nobody", packages=frozenset({"py", "pyarrow.li"})).claims(pa.table({}))


def test_what_nobody_claims_is_opened_by_the_last() -> None:
    assert isinstance(opener_of({"x": [1]}), DuckDB)
    assert isinstance(opener_of("visits.parquet"), DuckDB)
    assert [is_tabular(data) for data in ("a.csv", pa.table({}), {"t": "a.csv"}, {}, {"x": [1]}, [1])] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
