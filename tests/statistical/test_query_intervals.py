"""Intervals of the answers to questions hold as often as they say: over thousands of groups with the same numbers.

An engine that gives fixed numbers stands in for data, so the exact value of every column is known. One draw answers all
groups, each with noise of its own. A test accepts what lies within 5 standard deviations: a false alarm in 10⁶.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.reference.planning import Fixed, catalog_of, planned

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import Unlocked
from sfumato.query.plan.parts import PricedCells

GROUPS = 4000
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
                    "g": {"type": "int", "between": [0, GROUPS - 1], "nullable": False, **SAID},
                    "f": {"type": "str"},
                    "x": {"type": "int", "between": [-4, 6], "nullable": False, **SAID},
                    "y": {"type": "int", "between": [0, 10], "nullable": False, **SAID},
                }
            }
        },
    }
)
BOUNDS = {"max_groups": 2, "max_rows_per_group": 2}


def covered(ready: CompiledQuery, numbers: list[int], name: str, exact: float, *, confidence: Any, seed: int) -> float:
    """Gives how often the interval of a column holds the exact value."""
    opened = Unlocked(Fixed(GROUPS, numbers), CATALOG)
    answer = ready.answer(ready.draw(opened, ReplayEntropy(seed)), Fraction(confidence))
    column = answer[name]
    assert column.low is not None and column.high is not None
    low, high = (
        np.array([np.nan if one is None else one for one in ends], float) for ends in (column.low, column.high)
    )
    held = ((low <= exact) & (exact <= high))[~np.isnan(low)]
    assert len(held) > 0.9 * GROUPS
    return float(held.mean())


def enough(share: float, confidence: Any) -> bool:
    """Tells whether intervals hold as often as they say, but for chance."""
    return share >= confidence - 5 * math.sqrt(confidence * (1 - confidence) / GROUPS)


def close(share: float, confidence: Any, slack: float) -> bool:
    """Tells whether they hold hardly more often than they say: noise is in whole steps, so that some slack remains."""
    return share <= confidence + slack + 5 * math.sqrt(confidence * (1 - confidence) / GROUPS)


LOSSES = {"laplace": sf.Pure(Fraction(1, 2)), "gaussian": sf.ZCDP(Fraction(1, 50))}
WIDE = {"laplace": sf.Pure(Fraction(1, 50)), "gaussian": sf.ZCDP(Fraction(1, 20_000))}
KINDS = pytest.mark.parametrize("kind", sorted(LOSSES))
SURE = pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])


@KINDS
@SURE
@pytest.mark.parametrize(
    "column, numbers, exact",
    [("COUNT(*)", [700], 700), ("COUNT(DISTINCT u)", [300], 300), ("SUM(y)", [2500], 2500)],
    ids=["count", "people", "sum"],
)
def test_one_noisy_number_is_where_it_says_no_more_and_no_less_often(
    column: str, numbers: list[int], exact: float, kind: str, confidence: float
) -> None:
    ready = planned(f"SELECT g, {column} AS n FROM t GROUP BY g", CATALOG, loss=WIDE[kind], **BOUNDS)
    share = covered(ready, numbers, "n", exact, confidence=confidence, seed=1)
    assert enough(share, confidence) and close(share, confidence, 0.02)


# Of 1,000 rows: sum of x around its centre 1, and of its squares; y likewise, around 5.
ROWS, X, XX = 1000, 600, 5000
XXX, XXXX = 10_000, 90_000
M2 = XX / ROWS - (X / ROWS) ** 2
SKEW = (XXX / ROWS - 3 * (X / ROWS) * (XX / ROWS) + 2 * (X / ROWS) ** 3) / M2**1.5
TAILS = (XXXX - 4 * XXX * (X / ROWS) + 6 * XX * (X / ROWS) ** 2 - 3 * X * (X / ROWS) ** 3) / ROWS / M2**2 - 3


@KINDS
@SURE
@pytest.mark.parametrize(
    "column, numbers, exact",
    [
        ("AVG(x)", [ROWS, X], 1 + X / ROWS),
        ("VAR_POP(x)", [ROWS, X, XX], XX / ROWS - (X / ROWS) ** 2),
        ("VAR_SAMP(x)", [ROWS, X, XX], (XX / ROWS - (X / ROWS) ** 2) * ROWS / (ROWS - 1)),
        ("STDDEV_POP(x)", [ROWS, X, XX], math.sqrt(XX / ROWS - (X / ROWS) ** 2)),
        ("REGR_SXX(y, x)", [ROWS, X, XX], XX - X**2 / ROWS),
        ("COUNT(*) / COUNT(DISTINCT u)", [ROWS, 400], ROWS / 400),
        ("COUNT(*) - COUNT(DISTINCT u)", [ROWS, 400], ROWS - 400),
        ("SQRT(COUNT(*)) * 2", [ROWS], 2 * math.sqrt(ROWS)),
        ("ABS(SUM(x))", [-300], 300),
        ("SUM(x) * SUM(y)", [300, 500], 150_000),
    ],
)
def test_what_is_made_of_several_is_where_it_says_at_least_as_often(
    column: str, numbers: list[int], exact: float, kind: str, confidence: float
) -> None:
    ready = planned(f"SELECT g, {column} AS n FROM t GROUP BY g", CATALOG, loss=LOSSES[kind], **BOUNDS)
    assert enough(covered(ready, numbers, "n", exact, confidence=confidence, seed=2), confidence)


@KINDS
@pytest.mark.parametrize("column, exact", [("SKEWNESS_POP(x)", SKEW), ("KURTOSIS_POP(x)", TAILS)])
def test_higher_moments_are_where_they_say(column: str, exact: float, kind: str) -> None:
    """Of 100,000 rows in each group; another skewness, or kurtosis, is not there."""
    numbers = [100 * one for one in (ROWS, X, XX, XXX, XXXX)][: 4 if "SKEW" in column else 5]
    ready = planned(f"SELECT g, {column} AS n FROM t GROUP BY g", CATALOG, loss=LOSSES[kind], **BOUNDS)
    assert enough(covered(ready, numbers, "n", exact, confidence=0.9, seed=8), 0.9)
    assert covered(ready, numbers, "n", exact + 0.2, confidence=0.9, seed=8) < 0.5


@SURE
def test_a_sum_beside_a_count_is_made_around_the_middle_and_holds(confidence: float) -> None:
    text = "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY g"
    ready = planned(text, CATALOG, loss=sf.Pure(1), **BOUNDS)
    for name, exact in (("n", ROWS), ("s", X + ROWS), ("m", 1 + X / ROWS)):
        assert enough(covered(ready, [ROWS, X], name, exact, confidence=confidence, seed=3), confidence)


@SURE
def test_counts_of_people_by_which_keys_were_chosen_hold(confidence: float) -> None:
    text = "SELECT f, COUNT(DISTINCT u) AS n FROM t GROUP BY f"
    ready = planned(text, CATALOG, loss=sf.Approx(1, 1e-6), limit=sf.Approx, max_groups=2)
    for people in (60, 400):
        share = covered(ready, [people], "n", people, confidence=confidence, seed=4)
        assert enough(share, confidence)


def test_keys_of_few_people_are_shown_and_counted_within_the_noise() -> None:
    text = "SELECT f, COUNT(DISTINCT u) AS n FROM t GROUP BY f"
    ready = planned(text, CATALOG, loss=sf.Approx(1, 1e-6), limit=sf.Approx, max_groups=2)
    (selection,) = ready.pricing.selections
    people = selection.noise.least_shown
    opened = Unlocked(Fixed(GROUPS, [people]), CATALOG)
    (drawn,) = ready.draw(opened, ReplayEntropy(5))
    shown, kept = len(drawn.keys[0]), float(selection.noise.chance_shown(people))
    assert abs(shown - GROUPS * kept) <= 5 * math.sqrt(GROUPS * kept * (1 - kept)) + 1
    column = ready.answer([drawn], Fraction(1, 2))["n"]
    assert column.low is not None and column.high is not None
    assert (column.low <= people).all() and (people <= column.high).all()


@KINDS
def test_noise_of_another_scale_is_rejected(kind: str) -> None:
    ready = planned("SELECT g, COUNT(*) AS n FROM t GROUP BY g", CATALOG, loss=WIDE[kind], **BOUNDS)
    (part,) = ready.pricing.parts
    assert isinstance(part, PricedCells)
    opened = Unlocked(Fixed(GROUPS, [700]), CATALOG)
    for factor in (Fraction(5, 4), Fraction(3, 4)):
        wrong = replace(part, noise=_scaled(part.noise, factor))
        drawn = replace(ready, pricing=replace(ready.pricing, parts=(wrong,))).draw(opened, ReplayEntropy(6))
        column = ready.answer(drawn, Fraction(9, 10))["n"]
        assert column.low is not None and column.high is not None
        share = float(((column.low <= 700) & (column.high >= 700)).mean())
        assert enough(share, 0.9) != (factor > 1) and close(share, 0.9, 0.02) != (factor < 1)


def _scaled(noise: Any, factor: Fraction) -> Any:
    if isinstance(noise, DiscreteLaplace):
        return DiscreteLaplace(noise.scale * factor)
    return type(noise).from_square(Fraction(float(noise.variance().mid())) * factor**2)


def test_answers_at_another_confidence_are_made_of_the_same_numbers() -> None:
    from sfumato.query.answer.assemble import drawn_from

    text = "SELECT g, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY g"
    ready = planned(text, CATALOG, loss=sf.Pure(1), **BOUNDS)
    drawn = ready.draw(Unlocked(Fixed(GROUPS, [ROWS, X]), CATALOG), ReplayEntropy(7))
    first = ready.answer(drawn, Fraction(9, 10))
    again = ready.answer(drawn_from(ready, first), Fraction(99, 100))
    assert [list(one.values) for one in first.columns] == [list(one.values) for one in again.columns]
    for one, other in zip(first.values, again.values, strict=True):
        assert (np.asarray(other.low) < np.asarray(one.low)).all()
