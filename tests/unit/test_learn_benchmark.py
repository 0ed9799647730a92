"""The figures of the benchmark of models: how wrong a fit is, what is compared, and what the last line says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

import learn as benchmark
from contenders.learn.cases import COMPONENTS, LINEAR, Components, Linear, drawn
from side_by_side.contest import Contest, Facts


def answered(kind: str, case: str, contender: str, error: float) -> Facts:
    return {"contender": contender, "kind": kind, "case": case, "way": "", "error": error, "spread": 0.1}


def test_the_fit_without_privacy_has_no_excess_and_a_worse_one_has() -> None:
    line, many = Linear("diabetes 4", 1.0), Components("wine", 2, 1.0)
    rows, target = line.held
    plain = LinearRegression().fit(rows, target)
    answer = np.append(plain.intercept_, plain.coef_)
    assert line.excess(answer) == pytest.approx(0, abs=1e-12)
    assert line.excess(answer + 0.1 * np.eye(5)[0]) == pytest.approx(0.01)
    best = PCA(2).fit(many.held).components_
    assert many.excess(best) == pytest.approx(0, abs=1e-9) and many.excess(np.eye(13)[:2]) > 0.1


@pytest.mark.parametrize("data", ["diabetes 4", "wine", "1000×3", "california"])
def test_data_are_within_their_bounds_and_the_same_for_everybody(data: str) -> None:
    rows, target = drawn(data)
    assert np.abs(rows).max() <= 1 and np.abs(target).max() <= 1
    drawn.cache_clear()
    assert np.array_equal(drawn(data)[0], rows)


def test_ratios_are_ours_over_the_best_other_one() -> None:
    facts = [answered(case.kind, case.name, "sfumato", 1.0) for case in (*LINEAR, *COMPONENTS)]
    facts += [answered(case.kind, case.name, "diffprivlib", 2.0) for case in (*LINEAR, *COMPONENTS[1:])]
    facts.append(answered("pca", COMPONENTS[0].name, "diffprivlib", 0.5))
    told = benchmark.figures(Contest(tuple(facts), ()))
    assert told["linear"] == pytest.approx(0.5) and told["worst"] == pytest.approx(2.0)
    assert 0.5 < (told["pca"] or 0) < 1
    assert benchmark.figures(Contest(tuple(facts[1:]), ()))["linear"] is None  # a case is missing


def test_the_largest_share_of_true_hypotheses_that_were_rejected_counts() -> None:
    facts = tuple(
        {"contender": "tests", "kind": "type1", "case": name, "rate": rate} for name, rate in (("a", 0.04), ("b", 0.05))
    )
    assert benchmark.type1(Contest(facts, ())) == {"type1": 0.05} and benchmark.type1(Contest((), ())) == {
        "type1": None
    }
