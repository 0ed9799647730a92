"""The figures of the accounting benchmark: what they compare, and what the last line says."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import pytest

import accounting as benchmark
from contenders.accounting.answers import cold, timed
from contenders.accounting.cases import DPSGD, EXACT, EXCHANGE, GAUSS, GRID, HETERO, QUESTIONS, SWEEP, Question
from sfumato.accounting.facts.gaussian import gaussian_epsilon
from sfumato.exact import Root, up
from side_by_side.contest import Contest, Facts

NAMES = (
    *("gauss_err", "dpsgd_low", "dpsgd_high", "dpsgd_time"),
    *("hetero_high", "hetero_width", "hetero_time", "sigma", "sigma_time"),
    *("grid_worst_width", "grid_worst_vs_peer", "grid_worst_s", "calibrate_worst_s"),
)


def answered(contender: str, question: Question, way: str, ends: tuple[float | None, float], seconds: float) -> Facts:
    facts = {"contender": contender, "kind": "epsilon", "way": way, "lower": ends[0], "upper": ends[1]}
    return {**facts, **benchmark.asked(question), "seconds": seconds}


def calibrated(contender: str, way: str, sigma: float, seconds: float) -> Facts:
    return {"contender": contender, "kind": "sigma", "case": "sigma", "way": way, "upper": sigma, "seconds": seconds}


RIVALS = (
    answered("dp_accounting", DPSGD, "PLD 0.001", (None, 6.19098), 0.1),
    answered("dp_accounting", DPSGD, "PLD 0.0001", (None, 6.18775), 0.5),
    answered("dp_accounting", DPSGD, "RDP", (None, 6.7), 0.01),
)


@pytest.mark.parametrize("question", GAUSS, ids=lambda question: f"{question.delta:g}")
def test_the_exact_references_are_exact(question: Question) -> None:
    delta = Fraction(f"{question.delta:g}")
    found = up(gaussian_epsilon(delta, scale=30, sensitivity=Root(Fraction(1000))))
    assert found == pytest.approx(EXACT[question.delta], rel=1e-14)


def test_the_rival_is_the_fastest_that_is_as_tight_as_our_bracket_is_wide() -> None:
    def ratio(lower: float, upper: float) -> float | None:
        ours = answered("sfumato", DPSGD, "bracket", (lower, upper), 0.25)
        return benchmark.time_ratio(Contest((ours, *RIVALS), ()), DPSGD)

    assert ratio(6.1875, 6.1878) == pytest.approx(0.5), "only the fine grid is within our width of our upper end"
    assert ratio(6.184, 6.188) == pytest.approx(2.5), "a wide bracket has to beat a coarse grid"
    assert ratio(6.1876, 6.1876) == pytest.approx(0.5), "if none is as tight as we are, the tightest counts"


def test_calibration_is_compared_with_noise_as_small_as_ours() -> None:
    ours = calibrated("sfumato", "bracket", 1.41463, 0.5)
    theirs = (calibrated("dp_accounting", "PLD 0.001", 1.41576, 0.3), calibrated("dp_accounting", "PLD", 1.414631, 2.5))
    assert benchmark.sigma_figures(Contest((ours, *theirs), ())) == {"sigma": 1.41463, "sigma_time": 0.2}


def test_the_error_on_gaussians_is_the_worst_over_all_deltas() -> None:
    ours = [answered("sfumato", asked, "bracket", (0, EXACT[asked.delta] + 1e-9), 1) for asked in GAUSS[1:]]
    worst = answered("sfumato", GAUSS[0], "bracket", (0, EXACT[GAUSS[0].delta] - 1e-3), 1)
    assert benchmark.gaussian_error(Contest((*ours, worst), ())) == pytest.approx(1e-3)
    assert benchmark.gaussian_error(Contest(tuple(ours), ())) is None


def test_the_last_line_has_the_agreed_names_and_the_digits_of_a_bracket() -> None:
    ours = answered("sfumato", DPSGD, "bracket", (6.187701, 6.187723), 0.25)
    mixed = answered("sfumato", HETERO, "bracket", (1.95, 1.9504), 0.5)
    exchanged = answered("sfumato", EXCHANGE, "bracket", (10, 11), 0.5)
    line = benchmark.last_line(Contest((exchanged, ours, mixed, *RIVALS), ()))
    assert re.fullmatch("ratios: " + " ".join(rf"{name}=[\d.e?-]+" for name in NAMES), line)
    assert "dpsgd_low=6.187701 dpsgd_high=6.187723 dpsgd_time=0.5 " in line
    assert "hetero_width=0.0004 hetero_time=? sigma=?" in line


def test_the_grid_is_judged_by_its_worst() -> None:
    def at(contender: str, case: str, ends: tuple[float | None, float], seconds: float, kind: str = "grid") -> Facts:
        facts = {"contender": contender, "kind": kind, "way": "any", "case": case, "delta": 1e-6, "seconds": seconds}
        return {**facts, "lower": ends[0], "upper": ends[1]}

    ours = (at("sfumato", "a", (0.99, 1.0), 0.1), at("sfumato", "b", (2.0, 2.0), 0.4), at("sfumato", "c", (0, 0), 0.2))
    theirs = (at("dp_accounting", "a", (None, 0.98), 9), at("dp_accounting", "b", (None, 1.25 * 2), 9))
    search = at("sfumato", "noise", (None, 0.7), 1.5, kind="calibration")
    worst = benchmark.grid_figures(Contest((*ours, *theirs, search), ()))
    assert worst == pytest.approx(
        {"grid_worst_width": 0.01, "grid_worst_vs_peer": 0.8, "grid_worst_s": 0.4, "calibrate_worst_s": 1.5}
    ), "an answer of the peer below what is certain is no rival"
    assert benchmark.worst_settings(Contest((*ours, *theirs, search), ())).row_count == 7


def test_the_grid_fills_the_range() -> None:
    assert len(set(GRID)) == 200
    rates = [setting.training.rate for setting in GRID]
    assert min(rates) < 1.1e-6 and max(rates) > 0.9 and all(0 < rate <= 1 for rate in rates)
    assert max(setting.training.steps for setting in GRID) > 9e8 and min(setting.delta for setting in GRID) < 1.3e-20


def test_every_answer_and_refusal_is_in_the_table() -> None:
    refusal = {**benchmark.asked(GAUSS[-1]), "contender": "prv_accountant", "kind": "refusal", "way": "PRV 0.01"}
    table = benchmark.answers(Contest((*RIVALS, refusal), ()))
    assert table.row_count == 4
    assert "refused" in list(table.columns[6].cells)


def test_the_questions_are_the_agreed_ones() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) == 13
    assert {question.delta for question in (DPSGD, *SWEEP)} == {1e-4, 1e-5, 1e-6, 1e-8, 1e-10}


def test_rounds_start_without_what_earlier_ones_remembered() -> None:
    calls: list[int] = []

    @cache
    def remembered() -> int:
        calls.append(1)
        return 7

    again = cold(remembered)
    assert [again(), again(), remembered()] == [7, 7, 7]
    assert len(calls) == 2


def test_a_single_round_is_the_one_that_counts() -> None:
    calls: list[int] = []

    def work() -> int:
        calls.append(1)
        return sum(range(200_000))

    assert timed(work, rounds=1)[1] == sum(range(200_000))
    assert len(calls) <= 5, "one, or a few more if the machine was busy"
