"""The figure of the benchmark for stored reports: the slowest store over the plain query, where both found the same."""

from __future__ import annotations

import pytest

import local as benchmark
from side_by_side.contest import Contest, Facts


def summed(case: str, contender: str, seconds: float, checksum: int = 5) -> Facts:
    return {
        "contender": contender,
        "kind": "stored",
        "case": case,
        "seconds": seconds,
        "checksum": checksum,
        "people": 10,
    }


def test_the_slowest_store_counts() -> None:
    facts = [
        summed("a", benchmark.COLLECTOR, 1.2),
        summed("a", benchmark.BY_HAND, 1.0),
        summed("b", benchmark.COLLECTOR, 1.0),
        summed("b", benchmark.BY_HAND, 4.0),
    ]
    assert benchmark.against_sql(Contest(tuple(facts), ())) == pytest.approx(1.2)
    assert benchmark.against_sql(Contest(tuple(facts[:3]), ())) is None
    assert benchmark.against_sql(Contest((), ())) is None
    assert benchmark.stores(Contest(tuple(facts), ())).row_count == 4


def test_sums_that_differ_are_no_figure() -> None:
    facts = (summed("a", benchmark.COLLECTOR, 1.2), summed("a", benchmark.BY_HAND, 1.0, checksum=6))
    assert benchmark.against_sql(Contest(facts, ())) is None
