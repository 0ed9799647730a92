"""The page on scale: its tables are written between their marks, and what is on paper follows from the measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contenders.engines.page import MEASURED_CORES, ON_PAPER, Cluster, curves, filled, models, on_paper, paper
from contenders.engines.sizes import HELD_BACK, CostModel, Point, fitted, points

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
MODEL = CostModel(0.5, 2e-7, 3e-8, 1e-6)
MEASURED = {"spark": {point: MODEL.seconds(point) for point in points("spark")}}


def test_the_page_has_a_place_for_every_table() -> None:
    parts = {"curves": curves(MEASURED), "models": models(MEASURED), "paper": paper(MODEL, Cluster())}
    made = filled(PAGE, parts)
    assert "Not measured yet" not in made and "1.00 |" in made
    assert filled(made, parts) == made
    outside = re.compile(r"<!-- (\w+) -->.*?<!-- /\1 -->", re.DOTALL)
    assert outside.sub("", made) == outside.sub("", PAGE)


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for curves"):
        filled("<!-- curves -->\n", {"curves": []})


def test_the_costs_that_were_put_in_are_found() -> None:
    kept = {point: spent for point, spent in MEASURED["spark"].items() if point.rows != HELD_BACK}
    found = fitted(kept)
    for cost in ("question", "row", "number", "group"):
        assert getattr(found, cost) == pytest.approx(getattr(MODEL, cost), rel=1e-6)


def test_a_cluster_like_the_machine_takes_as_long() -> None:
    one = Cluster(1, MEASURED_CORES, 1e18, 1e18, 1e18, 1e18, 1.0)
    for point in ON_PAPER:
        assert on_paper(MODEL, point, one).total == pytest.approx(MODEL.seconds(point))


def test_the_parts_grow_as_the_page_says() -> None:
    cluster = Cluster()
    small, large = (on_paper(MODEL, Point(rows, 1_000, 1), cluster) for rows in (10**9, 10**12))
    assert (small.spill, small.scan) == (0, pytest.approx(10**9 * 24 / (100 * 2e9)))
    assert large.shuffle == pytest.approx(10**12 * 32 / (100 * 3e9))
    assert large.spill == pytest.approx(2 * (10**12 * 32 / 100 - 128e9) / 2e9)
    assert large.compute == pytest.approx((MODEL.seconds(Point(10**12, 1_000, 1)) - 0.5) * 2 / (100 * 64 * 0.7))


def test_the_page_says_what_is_assumed() -> None:
    cluster = Cluster()
    assumed = f"| nodes | {cluster.nodes}, each with {cluster.cores} cores, {cluster.memory / 1e9:.0f} GB of memory"
    assert assumed in PAGE and f"({cluster.network / 1e9:.0f} GB/s)" in PAGE
    assert f"| cores at work | {100 * cluster.efficiency:.0f} %" in PAGE
