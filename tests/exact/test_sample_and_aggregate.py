"""Sample and aggregate, enumerated: every label and order, functions that look at the order of rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.examples.couplings import coupled, outcomes

import sfumato as sf
from sfumato.transforms.parts import split_rows

VOUCHED = sf.claim("for this test")
LETTERS = ["a", "b", "c", "d", "none"]


def first(rows: Any) -> Any:
    """Looks at the order of rows, which no distance between unordered data sees."""
    return rows[0]


def hamming(most: int) -> Any:
    return lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)) <= most


def aggregated(size: int | None = None, count: int = 2) -> sf.Transformation:
    wanted = sf.sample_and_aggregate(first, LETTERS, parts=count, default="none", claim=VOUCHED)
    return sf.vector(LETTERS, size=size) >> wanted


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    ("left", "right", "apart"),
    [("", "a", 1), ("a", "ab", 1), ("ab", "bac", 1), ("ab", "", 2), ("ab", "ba", 0), ("abc", "cab", 0), ("a", "b", 2)],
)
def test_as_many_aggregates_move_as_rows_differ(
    count: int, left: str, right: str, apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = aggregated(count=count)
    laws = [outcomes(made, list(rows), monkeypatch, len(rows), count) for rows in (left, right)]
    assert made.map(apart) == apart
    assert coupled(*laws, hamming(apart))


@pytest.mark.parametrize(("left", "right"), [("a", "b"), ("ab", "cb"), ("abc", "bdc")])
def test_an_exchanged_row_moves_one_aggregate(left: str, right: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = aggregated(size=len(left))
    laws = [outcomes(made, list(rows), monkeypatch, len(rows), 2) for rows in (left, right)]
    assert made.map(1) == 1
    assert coupled(*laws, hamming(1)) and not coupled(*laws, hamming(0))


def test_without_the_shuffle_the_order_of_rows_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    made = aggregated()
    laws = []
    for rows in ("ab", "ba"):
        monkeypatch.setattr(
            "sfumato.transforms.parts.split_rows",
            lambda data, domain, codes, count, order: split_rows(data, domain, codes, count),
        )
        laws.append(outcomes(made, list(rows), monkeypatch, 2, 2))
    assert not coupled(*laws, hamming(0))


PEOPLE = sf.frame({"id": ["u", "v"], "value": ["a", "b", "c", "none"]})


def people(*rows: tuple[str, str]) -> dict[str, list[str]]:
    return {"id": [who for who, _ in rows], "value": [value for _, value in rows]}


def test_a_unit_moves_one_aggregate_however_many_rows_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"parts": 2, "default": "none", "claim": VOUCHED}
    made = PEOPLE >> sf.sample_and_aggregate(lambda part: part["value"][0], LETTERS, by="id", **wanted)
    loose = PEOPLE >> sf.sample_and_aggregate(lambda part: part["value"][0], LETTERS, **wanted)
    left, right = people(("v", "a")), people(("v", "a"), ("u", "b"), ("u", "c"))
    assert made.map(2) == made.map(10**6) == made.map(float("inf")) == 1
    laws = [outcomes(made, data, monkeypatch, len(set(data["id"])), 2) for data in (left, right)]
    assert coupled(*laws, hamming(1))
    spread = [outcomes(loose, data, monkeypatch, len(data["id"]), 2) for data in (left, right)]
    assert not coupled(*spread, hamming(1)) and coupled(*spread, hamming(int(loose.map(2))))


@pytest.mark.parametrize("b_in", [1, 3, 100])
def test_A2_036_fifty_parts(b_in: int) -> None:
    space = sf.frame({"id": int, "value": float})
    facts: dict[str, Any] = {"parts": 50, "between": (0, 10), "default": 5, "claim": VOUCHED}

    def middle(part: Any) -> Any:
        return np.median(part["value"])

    one = space >> sf.sample_and_aggregate(middle, by="id", **facts) >> sf.mean()
    assert one.map(b_in) == Fraction(1, 5)
    several = space >> sf.sample_and_aggregate(middle, **facts) >> sf.mean()
    assert several.map(3) == Fraction(3, 5)
    assert (one >> sf.laplace(scale="0.2")).map(b_in) == sf.Pure(1)
    assert several.map(10**9) == 10  # never more than all of them


def test_E2_19_the_second_stage_takes_the_spread_and_uses_how_many_parts_differ() -> None:
    made = aggregated(count=50)
    assert made.source.metric == sf.AddRemove() and made.target.metric == sf.ChangeOne()
    assert made.target.domain == sf.domains.Vector(sf.Categories(tuple(LETTERS)), 50)
