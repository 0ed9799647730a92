"""The figures of the benchmark of algorithms: how wrong an answer is, what is compared, and what the last line says."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pytest

import algorithms as benchmark
from contenders.algorithms import textbook, trials
from contenders.algorithms.cases import (
    CASES,
    KEYS,
    MEAN,
    QUANTILE,
    QUANTILES,
    RANGES,
    SAMPLES,
    SETS,
    Array,
    Case,
    Quantiles,
    Ranges,
)
from side_by_side.contest import Contest, Facts

MEDIAN = QUANTILE[0]
WIDE = Ranges("uniform", 1024, 1.0)
ROWS = np.arange(1, 11, dtype=float)


def answered(case: Case, contender: str, error: float, *, way: str = "", slack: float | None = None) -> list[Facts]:
    facts = {
        "contender": contender,
        "kind": case.kind,
        "case": case.name,
        "way": way,
        "spread": 0.021,
        "seconds": 0.004,
    }
    slacks = case.slack if slack is None else dict.fromkeys(case.slack, slack)
    return [{**facts, "measure": measure, "error": error, "slack": each} for measure, each in slacks.items()]


def everywhere(ours: float, theirs: float) -> tuple[Facts, ...]:
    """Gives one answer of ours and one of another to every case, without slack."""
    found = []
    for case in CASES:
        found += answered(case, "sfumato", ours, slack=0) + answered(case, "OpenDP", theirs, slack=0)
    return tuple(found)


def test_the_error_in_rank_is_what_lies_between_an_answer_and_its_share_of_the_rows() -> None:
    case = Quantiles("uniform", 10, (Fraction(1, 2),), 1.0)
    ranks = [case.errors(np.array([point]), ROWS)["rank"] for point in (5, 5.5, 6, 6.5, 10.5, 0)]
    assert ranks == pytest.approx([0, 0, 0, 0.1, 0.5, 0.5])
    assert case.errors(np.array([7.5]), ROWS)["value"] == 2


def test_errors_of_many_quantiles_are_averaged() -> None:
    case = Quantiles("uniform", 10, (Fraction(1, 4), Fraction(3, 4)), 1.0)
    found = case.errors(np.array([3.25, 9.75]), ROWS)
    assert found == pytest.approx({"rank": (0.05 + 0.15) / 2, "value": 1.0})


def test_the_error_of_ranges_is_a_root_mean_square() -> None:
    rows = WIDE.sets[0]
    truth = WIDE.sums(WIDE.counts(rows))
    off = np.where(np.arange(len(truth)) % 2, 3, -4)
    assert WIDE.errors(truth + off, rows)["count"] == pytest.approx((12.5) ** 0.5)
    first, last = WIDE.asked[7]
    assert truth[7] == np.sum((rows >= first) & (rows < last))


def test_missed_and_made_up_keys_count() -> None:
    rows = np.array([3, 3, 5, 8])
    assert KEYS[0].errors(frozenset({3, 5, 8}), rows) == {"missed": 0}
    assert KEYS[0].errors(frozenset({3, 7}), rows) == {"missed": 3}


def test_a_mean_is_compared_with_that_of_its_rows() -> None:
    assert MEAN[0].errors(5.0, ROWS) == {"mean": 0.5}


def test_the_cases_are_the_agreed_ones() -> None:
    assert [len(cases) for cases in (QUANTILE, QUANTILES, RANGES, KEYS, MEAN)] == [24, 18, 6, 4, 16]
    assert len({(case.kind, case.name) for case in CASES}) == len(CASES) == 68
    assert {case.kind for case in CASES} == set(benchmark.TITLES)


def test_data_are_the_same_every_time_and_within_their_bounds() -> None:
    again = Quantiles(MEDIAN.sample, MEDIAN.size, MEDIAN.alphas, MEDIAN.epsilon)
    assert len(MEDIAN.sets) == SETS
    for one, other in zip(MEDIAN.sets, again.sets, strict=True):
        assert np.array_equal(one, other)
    for name, sample in SAMPLES.items():
        lower, upper = sample.bounds
        assert all(lower <= rows.min() and rows.max() <= upper for rows in sample.sets(1000)), name
    medians = [np.median(rows) for rows in MEDIAN.sets]
    assert max(medians) - min(medians) > 5, "data sets lie at different places, so that no grid fits them all"


def test_errors_are_averaged_with_their_power() -> None:
    assert trials.average(np.array([1.0, 3.0]), 1) == pytest.approx((2, 0.5))
    mean, share = trials.average(np.array([3.0, 4.0]), 2)
    assert mean == pytest.approx(12.5**0.5)
    assert share == pytest.approx(3.5 / 12.5 / 2)
    assert trials.average(np.zeros(3), 2) == (0, 0)


def test_a_trial_sees_every_data_set_and_reports_every_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trials, "SECONDS", {MEDIAN.kind: 0.0})
    monkeypatch.setattr(trials, "LEAST", {})
    seen: list[Array] = []

    def exact(rows: Array) -> Array:
        seen.append(rows)
        return np.quantile(rows, MEDIAN.shares)

    trials.trial(MEDIAN, way="exact", work=exact)
    assert all(one is other for one, other in zip(seen, MEDIAN.sets, strict=True))
    rank, value = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (rank["measure"], rank["error"], rank["slack"]) == ("rank", 0, 0.5 / MEDIAN.size)
    assert (value["measure"], value["error"], value["runs"]) == ("value", 0, SETS)


def test_the_best_of_all_other_ways_is_the_rival() -> None:
    ours = answered(WIDE, "sfumato", 2.0)
    others = answered(WIDE, "OpenDP", 9.5, way="bins") + answered(WIDE, "OpenDP", 4.5, way="tree")
    worse = answered(WIDE, "textbook", 50.0)
    whole = Contest((*ours, *others, *worse), ())
    assert benchmark.ratios(whole, WIDE) == {"count": 0.5}, "half a row is added to both"


def test_half_a_row_keeps_a_perfect_answer_finite() -> None:
    perfect = answered(MEDIAN, "OpenDP", 0.0)
    found = benchmark.ratios(Contest((*answered(MEDIAN, "sfumato", 0.0005), *perfect), ()), MEDIAN)
    assert found == {"rank": 2, "value": None}


def test_the_figure_is_the_geometric_mean_and_needs_every_case_and_contender() -> None:
    whole = Contest(everywhere(2.0, 4.0), ())
    assert [benchmark.figure(whole, kind) for kind in benchmark.TITLES] == pytest.approx([0.5] * 5)
    ours_there = {"contender": "sfumato", "case": WIDE.name}
    better = [facts | {"error": 1.0} if facts | ours_there == facts else facts for facts in whole.measurements]
    assert benchmark.figure(Contest(tuple(better), ()), "ranges") == pytest.approx(0.5 * 0.5 ** (1 / len(RANGES)))
    assert benchmark.figure(Contest(whole.measurements, ("diffprivlib",)), "ranges") is None
    fewer = tuple(facts for facts in whole.measurements if facts["case"] != WIDE.name)
    assert benchmark.figure(Contest(fewer, ()), "ranges") is None


def test_the_last_line_has_the_agreed_names() -> None:
    whole = Contest(everywhere(2.0, 4.0), ())
    line = benchmark.ratios_line({kind: benchmark.figure(whole, kind) for kind in benchmark.TITLES})
    assert line == "ratios: quantile=0.5 quantiles=0.5 ranges=0.5 keys=0.5 mean=0.5"
    assert re.fullmatch(r"ratios:( \w+=[\d.?]+)+", line)


def test_the_table_has_every_case_and_contender() -> None:
    extra = answered(WIDE, "textbook", 3.21, way="binary tree", slack=0)
    table = benchmark.errors(Contest((*everywhere(2.0, 4.0), *extra), ()), "ranges")
    assert table.row_count == len(RANGES)
    headings = [str(column.header) for column in table.columns]
    assert headings[2:] == ["sfumato", "OpenDP", "textbook binary tree", "ours / best"]
    assert "3.21 ±3" in list(table.columns[4].cells)
    assert benchmark.times(Contest(tuple(extra), ())).row_count == 1


def test_the_textbook_answers_are_right_without_noise() -> None:
    # At an enormous ε the noise is gone, so that a slip in the baseline would show.
    case = Quantiles("lognormal", 1000, (Fraction(1, 10), Fraction(1, 2), Fraction(3, 4)), 1e9)
    for way in (textbook.independent, textbook.recursive):
        assert case.errors(way(case, case.sets[0]), case.sets[0])["rank"] <= 0.001
    ranges = Ranges("Gaussian", 1024, 1e9)
    assert ranges.errors(textbook.binary_tree(ranges, ranges.sets[0]), ranges.sets[0])["count"] < 1e-3
    assert textbook.bounds_by_exponents(np.array([-3.0, 0.0, 5.0]), 1e9) == (-4, 8)
    assert textbook.bounds_by_exponents(np.array([5.0, 3.0]), 1e9) == (2, 8)
    assert textbook.bounds_by_exponents(np.array([-5.0, -3.0]), 1e9) == (-8, -2)
    assert textbook.bounds_by_exponents(np.zeros(2), 1e9) == (-(2.0**-20), 2.0**-20)
    assert textbook.clamped_mean(np.array([1.0, 2.0, 30.0]), 1e9, 0, 3) == pytest.approx(2)
