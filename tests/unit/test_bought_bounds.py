"""Bounds that are bought: of people by one row each; where rows are the units, by all of them."""

from __future__ import annotations

from typing import Any

import polars
import pytest

import sfumato as sf
from sfumato.errors import QueryRefused


def session(unit: dict[str, Any], **table: Any) -> sf.Session:
    """Opens a thousand numbers between 3 and 12, of which a person has two."""
    columns = {"id": {"type": "int"}, "x": {"type": "float"}}
    book = {"codebook": 1, "title": "Weights", "unit": unit, "tables": {"t": {"columns": columns, **table}}}
    data = polars.DataFrame(
        {"id": [place // 2 for place in range(1000)], "x": [3.0 + place % 10 for place in range(1000)]}
    )
    return sf.Dataset({"t": data}, codebook=book).session(limit=sf.Pure(9), ledger="memory:")


@pytest.mark.parametrize("rows", [1, 2])
def test_where_rows_are_the_units_bounds_are_bought_of_all_of_them(rows: int) -> None:
    """With noise of scale rows / 5 in a band of some hundreds; a band is off by so much once in 10²⁰ times."""
    asked = session({"protects": "a weight"}, contributions={"rows": rows, "source": "the scale", "by": "fact"})
    bought = asked.buy_bounds("t", ["x"], loss=sf.Pure(5))["x"]
    assert (bought.lower, bought.upper) == (2, 16) and "release" not in repr(bought)
    assert f"Laplace, scale {rows / 5:g}" in bought.release.to_text()
    assert asked.spent == sf.Pure(5)
    with pytest.raises(QueryRefused, match="nothing to buy"):
        asked.contributions("t", upto=9, loss=sf.Pure(1))


def test_of_people_one_row_each_counts() -> None:
    asked = session({"protects": "a person", "id": "id"})
    bought = asked.buy_bounds("t", ["x"], loss=sf.Pure(5))["x"]
    assert (bought.lower, bought.upper) == (2, 16) and sum(bought.release.value["people"].values) < 750
