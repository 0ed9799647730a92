"""Advice follows from public facts, says why, and knows when synthetic data is the wrong answer."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.synth.advising import Scenario, advise
from sfumato.synth.graph.domain import Domain

FEW = {"sex": 2, "age": 9, "income": 5}
MANY = {f"c{place}": 6 for place in range(60)}


@pytest.mark.parametrize(
    ("columns", "said", "method", "also"),
    [
        (FEW, {}, "AIM", "MWEM"),
        ({**FEW, "height": "number"}, {}, "AIM", "DPCTGAN"),
        (MANY, {}, "MST", "PrivBayes"),
        ({f"c{place}": 4 for place in range(300)}, {}, "RAP", "PrivBayes"),
        (FEW, {"institutions": 3}, "PATECTGAN", "AIM"),
        (FEW, {"rows": 50, "loss": sf.Pure("0.01")}, "Independent", "AIM"),
        (FEW, {"rows": 50_000, "loss": sf.Approx(1, 1e-9)}, "AIM", "MST"),
        (Domain(("a", "b"), (3, 4)), {}, "AIM", "MWEM"),
    ],
)
def test_P3_044_methods_follow_from_columns_rows_loss_and_places(
    columns: Any, said: dict[str, Any], method: str, also: str
) -> None:
    advice = advise(columns, **said)
    assert advice.method == method
    assert also in [one.method for one in advice.choices]
    assert all(one.reasons for one in advice.choices) and method in advice.to_text()


@pytest.mark.parametrize("scenario", list(Scenario))
def test_P3_044_four_scenarios_each_with_its_words(scenario: Scenario) -> None:
    advice = advise(FEW, scenario=scenario.value)
    assert advice.scenario is scenario
    assert scenario.words in " ".join(advice.to_text().split())


def test_few_tables_are_better_asked_as_queries() -> None:
    known = advise(FEW, workload=[("sex", "age")])
    assert "asked as queries, each with its error bar" in " ".join(known.to_text().split())
    assert known.workload == {("sex", "age"): 1.0}
    assert "queries" not in " ".join(advise(FEW).notes)


def test_a_target_makes_a_workload_of_its_pairs() -> None:
    advice = advise(FEW, scenario="eyes-off learning", target="income")
    assert advice.workload == {("sex", "income"): 1.0, ("age", "income"): 1.0}


def test_noise_is_told_before_anything_is_paid() -> None:
    small, large = (advise(FEW, rows=1000, loss=sf.ZCDP(rho)).noise for rho in ("0.001", "1"))
    assert small is not None and large is not None and small > 5 * large
    assert any("Many values" in note for note in advise({"city": 5000, "sex": 2}).notes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": {}},
        {"columns": {"a": 0}},
        {"scenario": "fun"},
        {"target": "agee"},
        {"institutions": 0},
        {"workload": [("age", "town")]},
    ],
)
def test_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        advise(wrong.pop("columns", FEW), **wrong)
