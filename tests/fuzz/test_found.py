"""What fuzzing has found: each case once, as small as it goes."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from tests.reference.duck import computed
from tests.reference.planning import catalog_of
from tests.reference.worlds import PERSON, World

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Numbers",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {"t": {"columns": {"u": {"type": "int"}, "x": {"type": "float"}}}},
    }
)
LEAST, MOST = -(2**63), 2**63 - 1
FIRST, LAST = datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
ENDS = (LEAST, LEAST + 1, LEAST + 2, 0, MOST - 1, MOST)


@dataclass(frozen=True)
class Column64:
    """Is a table with one person for each value, given in 64 bits."""

    kind: pa.DataType
    values: tuple[int, ...]

    def arrow(self) -> pa.Table:
        held = pa.py_buffer(np.array(self.values, dtype=np.int64))
        times = pa.Array.from_buffers(self.kind, len(self.values), [None, held])
        return pa.table({"u": np.arange(len(self.values)), "x": times})


def moments(kind: pa.DataType, values: tuple[int, ...]) -> list[datetime.datetime | None]:
    """Gives the groups of a table by its moments, as the engine sees them."""
    user, when = Column("u", Kind.INT, Facts(), "t.u", 0), Column("x", Kind.TIME, Facts(), "t.x")
    scan = Scan("t", (user, when), Owner("u"))
    here = World({"t": scan}, {"t": Column64(kind, values)}, PERSON)  # type: ignore[dict-item]
    return [key[0] for key, _ in computed(here, Cells(scan, (when,), (Rows(), Units()), Bound(1, 1)))]


def test_no_two_moments_make_the_engine_forget_which_years_there_are() -> None:
    """Nanoseconds of -2⁶³ and -2⁶³ + 1, which is minus infinity to DuckDB, in one column: its statistics forgot the
    latter, the check of years was left out, and the answer failed for whoever asked (DuckDB 2.0)."""
    for pair in itertools.combinations(ENDS, 2):
        found = moments(pa.timestamp("ns"), pair)
        assert all(moment is None or FIRST <= moment <= LAST for moment in found)


def test_nanoseconds_are_rounded_as_before() -> None:
    assert moments(pa.timestamp("ns"), (-1500, 1499, 2500)) == [
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999998),
        datetime.datetime(1970, 1, 1, 0, 0, 0, 1),
        datetime.datetime(1970, 1, 1, 0, 0, 0, 3),
    ]


def test_types_that_the_engine_does_not_know_are_refused_in_our_words() -> None:
    """DuckDB's own error came through, which is no `SfumatoError`."""
    numbers = pa.table({"u": pa.array([1]), "x": pa.nulls(1, pa.decimal256(70))})
    with pytest.raises(BadArgument, match="types that DuckDB knows"):
        open_source(numbers, CATALOG)
