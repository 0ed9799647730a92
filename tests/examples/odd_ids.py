"""Ids as sources hold them: texts that are numbers, numbers of all types, and tables that they lead through."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from sfumato.codebook import Codebook
from sfumato.query.nodes.catalog import Catalog


def catalog(type_: str, *, bounded: bool = False) -> Catalog:
    """Gives visits that belong to people, and orders and lines of orders that lead to them."""
    bounds = {"between": [0, 3], "source": "made up"} if bounded else {}
    key = {"type": type_, **bounds}
    tables = {
        "visits": {"columns": {"u": key, "x": {"type": "str"}}},
        "people": {"key": ["k"], "columns": {"u": key, "k": key}},
        "orders": {"id": {"through": "k", "of": "people"}, "columns": {"k": key}},
    }
    unit = {"protects": "a person", "id": "u"}
    return Catalog(Codebook.read({"codebook": 1, "title": "People", "unit": unit, "tables": tables}))


TEXTS = ["2", "2.4", "02", "2.0", "+2", " 2", "2e0", "20e-1", "2.40", "x", "X", "NA", "", "1" * 40, "1" * 39 + "2"]
"""Seven people: 2, 2.4, x, X, and two with long numbers; and rows of nobody."""

HELD = {
    "texts": lambda numbers: [str(one) for one in numbers],
    "padded": lambda numbers: [f" {one:+}.00" for one in numbers],
    "whole": lambda numbers: pa.array(numbers, pa.int64()),
    "floats": lambda numbers: pa.array([float(one) for one in numbers]),
    "decimals": lambda numbers: pa.array([Decimal(one) for one in numbers], pa.decimal128(20, 3)),
    "wide": lambda numbers: pa.array(numbers, pa.uint64()),
}
