"""Counts under a bound on rows in all: computed without picking rows, while everything else is of the rows kept."""

from __future__ import annotations

import pytest
from tests.unit.query.opened import MUCH, ready, session_of

import sfumato as sf
from sfumato.query.nodes.relations import Keep
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

HEAVY = {"who": ["a"] * 500 + ["b", "c", "d"], "minutes": [50.0] * 500 + [10.0, 10.0, 10.0]}
PAID = {"loss": sf.Approx(10**5, "0.1"), "max_rows": 2}


@pytest.fixture(scope="module")
def session() -> Session:
    made = Dataset(HEAVY, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")
    return session_of(made, MUCH)


def sources(compiled: CompiledQuery) -> list[bool]:
    """Tells of what each level is planned, and of what each of its specials is found, whether rows are picked there."""
    cells = [one for level in compiled.levels for one in (level.cells, *(run.cells for run in level.runs))]
    return [isinstance(one.source, Keep) for one in cells]


@pytest.mark.parametrize(
    ("shown", "picked"),
    [
        ("COUNT(*) AS n", False),
        ("COUNT(DISTINCT who) AS n", False),
        ("COUNT(*) AS n, MEDIAN(minutes) AS m", False),
        ("COUNT(*) AS n, AVG(minutes) AS m", True),
        ("COUNT(*) AS n, COUNT_IF(minutes > 20) AS m", True),
    ],
)
def test_only_what_the_engine_counts_is_of_all_rows(session: Session, shown: str, picked: bool) -> None:
    compiled = ready(session, f"SELECT {shown} FROM visits", **PAID)
    assert all(sources(compiled))
    assert [isinstance(level.computed.source, Keep) for level in compiled.levels] == [picked]
    assert compiled.levels[0].placed.spread.rows <= 2


def test_quantiles_beside_a_count_are_of_the_rows_that_are_kept(session: Session) -> None:
    """Of 503 rows five are kept: the one who has 500 of them does not decide what the median is."""
    release = session.sql("SELECT COUNT(*) AS n, MEDIAN(minutes) AS m FROM visits", **PAID)
    assert release.value["n"].values[0] == pytest.approx(5, abs=0.5)
    assert release.value["m"].values[0] == pytest.approx(10, abs=2)


def test_counts_are_those_of_the_rows_that_are_kept(session: Session) -> None:
    text = "SELECT COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM visits WHERE minutes > 20"
    release = session.sql(text, **PAID)
    assert (round(release.value["n"].values[0]), round(release.value["people"].values[0])) == (2, 1)
    without = session.sql("SELECT COUNT(*) AS n FROM visits WHERE minutes < 20", **PAID)
    assert round(without.value["n"].values[0]) == 3


def test_totals_agree_with_their_groups(session: Session) -> None:
    keys = sf.KeySet.of(long=[True, False])
    text = "SELECT minutes > 20 AS long, COUNT(*) AS n FROM visits GROUP BY ROLLUP (1)"
    release = session.sql(text, keys=keys, max_groups=2, **PAID)
    numbers = {key: round(n) for key, n in zip(release.value["long"].values, release.value["n"].values, strict=True)}
    assert numbers == {True: 2, False: 3, None: 5}
