"""What an attack achieves: rates, intervals, baselines, and what is drawn of them."""

from __future__ import annotations

import pytest
from tests.unit.chart_reading import headline, tables

from sfumato.attacks.result import Attack, Comparison, Success, Violation, sweep
from sfumato.errors import BadArgument


def made(against: str, hits: int, epsilon: float | None = None) -> Attack:
    return Attack("Reconstruction", Violation.RECONSTRUCTION, against, Success(hits, 100), 0.5, epsilon)


def test_P3_072_levels_go_from_membership_to_names() -> None:
    assert Violation.MEMBERSHIP < Violation.RECONSTRUCTION < Violation.REIDENTIFICATION
    assert [level.meaning for level in Violation][-1] == "puts names to records"


def test_success_has_an_exact_interval() -> None:
    assert (Success(75, 100).rate, Success(0, 0).rate) == (0.75, 0.0)
    low, high = Success(75, 100).interval()
    assert (low, high) == pytest.approx((0.6534, 0.8312), abs=1e-4)  # Clopper and Pearson's
    assert Success(0, 0).interval() == (0.0, 1.0)
    with pytest.raises(BadArgument, match="at most the number of trials"):
        Success(3, 2)
    with pytest.raises(BadArgument, match="whole number"):
        Success(1.0, 2)  # type: ignore[arg-type]


def test_an_advantage_is_over_guessing() -> None:
    assert made("exact answers", 90).advantage == pytest.approx(0.4)
    said = str(made("exact answers", 90))
    assert "exact answers" in said
    assert "0.9 (90 of 100)" in said
    assert "+0.4" in said
    assert "recovers records" in said


def test_a_sweep_is_drawn_against_epsilon() -> None:
    told: list[tuple[int, int]] = []
    found = sweep(
        lambda epsilon: made(f"ε = {epsilon}", 50 + int(epsilon), epsilon),
        [1, 10, 40],
        besides=[made("exact answers", 100), made("rounding", 95)],
        progress=lambda done, steps: told.append((done, steps)),
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    shown = tables(found.chart())
    assert [(row["epsilon"], row["y"]) for row in shown["success"]] == [(1.0, 0.51), (10.0, 0.6), (40.0, 0.9)]
    assert all(row["low"] < row["y"] < row["high"] for row in shown["success"])
    assert {row["series"]: row["y"] for row in shown["levels"]} == {
        "exact answers": 1.0,
        "rounding": 0.95,
        "guessing": 0.5,
    }
    assert headline(found.chart()).startswith("Reconstruction")


def test_few_outcomes_are_bars() -> None:
    shown = tables(Comparison((made("exact answers", 100), made("ε = 1", 50, 1.0))).chart())
    assert [(row["against"], row["y"], row["baseline"]) for row in shown["success"]] == [
        ("exact answers", 1.0, 0.5),
        ("ε = 1", 0.5, 0.5),
    ]
    assert "levels" not in shown


def test_a_sweep_says_at_which_epsilon_it_was_run() -> None:
    found = sweep(lambda epsilon: made("exact answers", 50), [1, 10])
    assert [(one.against, one.epsilon) for one in found.attacks] == [("ε = 1", 1.0), ("ε = 10", 10.0)]


def test_outcomes_that_are_called_alike_have_bars_of_their_own() -> None:
    shown = tables(Comparison((made("exact answers", 100), made("exact answers", 35))).chart())
    assert [(row["place"], row["y"]) for row in shown["success"]] == [(0, 1.0), (1, 0.35)]


def test_protections_that_do_alike_share_a_line() -> None:
    outcomes = [made(name, 100) for name in ("exact answers", "rounding", "offset")]
    outcomes += [made("", 50, epsilon) for epsilon in (1.0, 10.0)]
    levels = tables(Comparison(tuple(outcomes)).chart())["levels"]
    assert [(row["series"], row["y"]) for row in levels] == [
        ("exact answers, rounding, offset", 1.0),
        ("guessing", 0.5),
    ]


def test_several_attacks_are_all_named() -> None:
    other = Attack("Linkage", Violation.REIDENTIFICATION, "rows", Success(1, 2), 0.1, found="x" * 10_000)
    both = Comparison((made("exact answers", 100), other))
    assert headline(both.chart()).startswith("Reconstruction, Linkage")
    assert "puts names to records" in str(both)
    assert len(repr(both)) < 1000


def test_nothing_is_refused() -> None:
    with pytest.raises(BadArgument, match="one or more"):
        Comparison(())
    with pytest.raises(BadArgument, match="greater than 0"):
        sweep(lambda epsilon: made("", 1), [0])
