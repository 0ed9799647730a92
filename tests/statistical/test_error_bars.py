"""Error bars hold as often as they say, and hardly more often: averages, ratios, variances, correlations, cubes.

One draw answers thousands of groups with the same exact numbers. What lies within 5 standard deviations is accepted.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.reference.planning import Fixed, catalog_of, planned

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Rows
from sfumato.query.plan.open_tables import OpenTables

GROUPS = 2500
SURE = 0.95
SAID = {"source": "a test", "nullable": False}
CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Groups",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {
            "t": {
                "contributions": {"rows": 1, "source": "a test"},
                "columns": {
                    "u": {"type": "int"},
                    "g": {"type": "int", "between": [0, GROUPS - 1], **SAID},
                    "x": {"type": "float", "between": [-4, 6], **SAID},
                    "y": {"type": "float", "between": [0, 10], **SAID},
                },
            }
        },
    }
)
ROWS = 6000
SUMS = {"x": 4000, "y": -9000, "xx": 50_000, "yy": 60_000, "xy": 25_000}
"""Around the centres 1 and 5."""


def moments() -> tuple[float, float, float]:
    averages = SUMS["x"] / ROWS, SUMS["y"] / ROWS
    return (
        SUMS["xx"] / ROWS - averages[0] ** 2,
        SUMS["yy"] / ROWS - averages[1] ** 2,
        SUMS["xy"] / ROWS - averages[0] * averages[1],
    )


VX, VY, VXY = moments()
ALL = [ROWS, SUMS["x"], SUMS["y"], SUMS["xy"]]
CASES: dict[str, tuple[list[int], float, float]] = {
    # column: exact numbers, exact value, and how often it may hold at most
    "AVG(x)": ([ROWS, SUMS["x"]], 1 + SUMS["x"] / ROWS, 0.97),
    "100.0 * SUM(x) / COUNT(*)": ([ROWS, SUMS["x"]], 100 * (1 + SUMS["x"] / ROWS), 0.975),
    "COUNT(*) / SUM(y)": ([ROWS, SUMS["y"]], ROWS / (SUMS["y"] + 5 * ROWS), 0.975),
    "COUNT_IF(x > 1) * 1.0 / NULLIF(COUNT(*), 0)": ([1500, ROWS], 0.25, 0.975),
    "VAR_POP(x)": ([ROWS, SUMS["x"], SUMS["xx"]], VX, 0.982),
    "STDDEV(x)": ([ROWS, SUMS["x"], SUMS["xx"]], math.sqrt(VX * ROWS / (ROWS - 1)), 0.982),
    "COVAR_POP(x, y)": (ALL, VXY, 0.982),
    "CORR(x, y)": ([*ALL, SUMS["xx"], SUMS["yy"]], VXY / math.sqrt(VX * VY), 0.99),
}
LOSSES = {"laplace": sf.Pure(Fraction(1, 2)), "gaussian": sf.ZCDP(Fraction(1, 50))}


def ends(ready: CompiledQuery, numbers: list[int], *, seed: int, groups: int = GROUPS) -> tuple[Any, Any]:
    opened = OpenTables(Fixed(groups, numbers), CATALOG)
    column = ready.answer(ready.draw(opened, ReplayEntropy(seed)), Fraction(SURE))["n"]
    assert column.low is not None and column.high is not None
    return column.low.astype(float), column.high.astype(float)


@pytest.mark.parametrize("kind", sorted(LOSSES))
@pytest.mark.parametrize("column", sorted(CASES))
def test_what_is_made_of_several_numbers_holds_as_often_as_it_says_and_hardly_more(column: str, kind: str) -> None:
    numbers, exact, most = CASES[column]
    ready = planned(f"SELECT g, {column} AS n FROM t GROUP BY g", CATALOG, loss=LOSSES[kind], limit=sf.Pure)
    low, high = ends(ready, numbers, seed=1)
    share = float(((low <= exact) & (exact <= high)).mean())
    assert share >= SURE - 5 * math.sqrt(SURE * (1 - SURE) / GROUPS)
    assert share <= most


@pytest.mark.parametrize("column", sorted(CASES))
@pytest.mark.parametrize("rows", [0, 1, 20])
def test_small_groups_are_covered_too(column: str, rows: int) -> None:
    """Where next to nothing is known, intervals are wide; they are never narrow by mistake."""
    x, y, xx, yy, xy = (round(SUMS[name] * rows / ROWS) for name in ("x", "y", "xx", "yy", "xy"))
    if rows == 0 and column != "AVG(x)":
        return
    sums = {"AVG(x)": [rows, x], "VAR_POP(x)": [rows, x, xx], "CORR(x, y)": [rows, x, y, xy, xx, yy]}
    exacts = {"AVG(x)": 1 + x / max(rows, 1), "VAR_POP(x)": xx / max(rows, 1) - (x / max(rows, 1)) ** 2}
    spread = (xx * rows - x * x) * (yy * rows - y * y)
    exacts["CORR(x, y)"] = (xy * rows - x * y) / math.sqrt(spread) if spread > 0 else 0.0
    if column not in sums:
        return
    ready = planned(f"SELECT g, {column} AS n FROM t GROUP BY g", CATALOG, loss=LOSSES["laplace"], limit=sf.Pure)
    low, high = ends(ready, sums[column], seed=2)
    share = float(((low <= exacts[column]) & (exacts[column] <= high)).mean())
    assert rows == 0 or share >= SURE - 5 * math.sqrt(SURE * (1 - SURE) / GROUPS)
    assert (low <= high).all()


# Cubes: the same exact number in every cell, so that totals are multiples of it.

A, B = 6, 4
CUBE = catalog_of(
    {
        "codebook": 1,
        "title": "Cube",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {
            "t": {
                "contributions": {"rows": 1, "source": "a test"},
                "columns": {
                    "u": {"type": "int"},
                    "a": {"type": "int", "between": [0, A - 1], **SAID},
                    "b": {"type": "int", "between": [0, B - 1], **SAID},
                    "x": {"type": "float", "between": [-4, 6], **SAID},
                },
            }
        },
    }
)
EACH, SUM_EACH = 500, 700


def cube_keys(*, hole: bool) -> sf.KeySet:
    keys = sf.KeySet.of(a=list(range(A))) * sf.KeySet.of(b=list(range(B)))
    return keys - sf.KeySet.of(a=[1]) * sf.KeySet.of(b=[2]) if hole else keys


@pytest.mark.parametrize("hole", [False, True], ids=["product", "no product"])
@pytest.mark.parametrize("kind", sorted(LOSSES))
def test_totals_that_agree_have_the_error_bars_of_what_was_made_to_agree(kind: str, hole: bool) -> None:
    """Narrower than the noise of any one number, and as wide as the estimates are off: over many draws."""
    ready = planned(
        "SELECT a, b, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY CUBE(a, b)",
        CUBE,
        loss=LOSSES[kind],
        limit=sf.Pure,
        keys=cube_keys(hole=hole),
    )
    cells = A * B - hole
    opened = OpenTables(Fixed(cells, [EACH, SUM_EACH]), CUBE)
    held: dict[str, list[Any]] = {"n": [], "s": [], "m": []}
    own = next(part.noise.half_width(Fraction(SURE)) for tally, part in ready.noises[0].items() if tally == Rows())
    draws = 6 if hole else 24
    for seed in range(draws):
        answer = ready.answer(ready.draw(opened, ReplayEntropy(seed)), Fraction(SURE))
        parts = [list(answer[name].values) for name in "ab"]
        size = np.array([_cells_of(a, b, hole=hole) for a, b in zip(*parts, strict=True)])
        exact = {"n": EACH * size, "s": (SUM_EACH + EACH) * size, "m": np.full(len(size), 1 + SUM_EACH / EACH)}
        for name, found in held.items():
            column = answer[name]
            assert column.low is not None and column.high is not None
            found.append((column.low <= exact[name]) & (exact[name] <= column.high))
        low, high = answer["n"].low, answer["n"].high
        assert low is not None and high is not None
        assert (high - low).max() < 2 * 0.85 * own
    for found in held.values():
        shares = np.array(found).mean(axis=1)  # cells of one draw hang together; draws do not
        chance = 5 * max(float(shares.std()), 0.02) / math.sqrt(draws)
        assert SURE - chance <= shares.mean() <= SURE + 0.02 + chance


def _cells_of(a: Any, b: Any, *, hole: bool) -> int:
    size = (A if a is None else 1) * (B if b is None else 1)
    return size - (hole and a in (None, 1) and b in (None, 2))
