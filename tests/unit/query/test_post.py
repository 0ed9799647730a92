"""What is computed from released numbers has a value for every number: after the charge nothing may fail."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.reference.planning import Fixed, catalog_of, planned

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import Unlocked
from sfumato.release.answer import Answer

SAID = {"source": "a test"}
CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Groups",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {
            "t": {
                "columns": {
                    "u": {"type": "int"},
                    "g": {"type": "int", "between": [0, 3], "nullable": True, **SAID},
                    "f": {"type": "str"},
                    "x": {"type": "float", "between": [-4, 6], **SAID},
                    "y": {"type": "int", "between": [0, 10], **SAID},
                }
            }
        },
    }
)
LEAVES = (
    "COUNT(*)", "COUNT(DISTINCT u)", "SUM(y)", "SUM(x)", "AVG(y)", "VAR_SAMP(x)", "STDDEV(y)", "CORR(x, y)", "0", "2.5",
)  # fmt: skip
ALONE = ("SQRT({})", "LN({})", "EXP({})", "ABS({})", "FLOOR({})", "ROUND({})", "CLAMP({}, 0, 9)", "(- {})")
PAIRS = (
    "({} + {})", "({} - {})", "({} * {})", "({} / {})", "COALESCE({}, {})", "NULLIF({}, {})", "LEAST({}, {})",
    "GREATEST({}, {})",
)  # fmt: skip


def number(choose: random.Random, depth: int) -> str:
    """Gives a number made of released ones, at random."""
    if not depth or choose.random() < 0.2:
        return choose.choice(LEAVES)
    shape = choose.choice((*ALONE, *PAIRS, "CASE WHEN {} < {} THEN {} ELSE {} END"))
    return shape.format(*(number(choose, depth - 1) for _ in range(shape.count("{}"))))


def answered(ready: CompiledQuery, groups: int, exact: int) -> Answer:
    numbers = [exact] * len(ready.levels[0].cells.tallies)
    drawn = ready.draw(Unlocked(Fixed(groups, numbers), CATALOG), ReplayEntropy(groups))
    return ready.answer(drawn, Fraction(95, 100))


SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(40, 200))]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_is_released_makes_it_fail(seed: int) -> None:
    choose = random.Random(seed)
    key, groups = choose.choice([("g", 5), ("f", 0), ("f", 1), ("f", 3)])
    column, condition = (number(choose, 3) for _ in range(2))
    exact, epsilon = choose.choice([0, 1, 400, 2**60]), choose.choice([Fraction(1, 2), Fraction(2), Fraction(10**4)])
    text = (
        f"SELECT {key}, COUNT(*) AS rows, {column} + COUNT(*) AS n FROM t GROUP BY {key} "
        f"HAVING {condition} > COUNT(*) OR 1 = 1 ORDER BY n"
    )
    ready = planned(text, CATALOG, loss=sf.Approx(epsilon, "1e-6"), limit=sf.Approx, max_groups=2, max_rows_per_group=2)
    answer = answered(ready, groups, exact)
    found = answer["n"]
    if found.low is not None and found.high is not None:
        for value, low, high in zip(found.values, found.low, found.high, strict=True):
            assert (low is None) == (high is None) and (low is None or low <= high)
            assert value is None or low is not None  # bounds may hold where there is no answer
            assert value is None or not np.isnan(value)


def test_keys_stay_whole_numbers_where_some_are_missing() -> None:
    ready = planned(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)", CATALOG, loss=sf.Pure(1), max_rows_per_group=1
    )
    drawn = ready.draw(Unlocked(Fixed(5, [3]), CATALOG), ReplayEntropy(1))
    keys = ready.answer(drawn, Fraction(1, 2))["g"].values
    assert list(keys) == [None, 0, 1, 2, 3, None] and {type(key) for key in keys} == {int, type(None)}


@pytest.mark.parametrize(
    "text", ["SELECT COUNT(*) % 2 AS n FROM t", "SELECT f, COUNT(*) AS n FROM t GROUP BY f HAVING COUNT(*) % 2 = 1"]
)
def test_what_is_not_on_file_is_refused_before_it_is_charged(text: str) -> None:
    with pytest.raises(sf.errors.QueryRefused, match="mod cannot be applied to released numbers"):
        planned(text, CATALOG, loss=sf.Approx(1, 1e-6), limit=sf.Approx, max_groups=1, max_rows_per_group=1)
