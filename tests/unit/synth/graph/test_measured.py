"""Domains and noisy marginals: what they are, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import MOST_COUNT, Measured, deviations

VISITS = Domain(("sex", "age", "day"), (2, 10, 7))


def test_domains_answer_for_columns_in_any_order() -> None:
    assert VISITS.size() == 140 and VISITS.size(["age", "day"]) == 70 and VISITS.size([]) == 1
    assert VISITS.shape(["day", "sex"]) == (7, 2) and VISITS.axes(["day", "sex"]) == (2, 0)
    assert VISITS.project(["day", "sex"]) == Domain(("day", "sex"), (7, 2))
    assert VISITS.sorted(["day", "sex", "day"]) == ("sex", "day")
    assert Domain(tuple(map(str, range(100))), (10,) * 100).size() == 10**100


@pytest.mark.parametrize(
    ("names", "sizes"),
    [(("a", "a"), (1, 2)), (("a",), (1, 2)), (("a",), (0,)), (("a",), (1.5,)), ((1,), (2,))],
)
def test_what_is_no_domain_is_refused(names: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    with pytest.raises(BadArgument):
        Domain(names, sizes)


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(BadArgument, match="some of sex, age, day"):
        VISITS.shape(["height"])


def test_answers_that_are_no_counts_are_defined() -> None:
    one = Measured(("sex",), np.array([math.nan, -math.inf]), 1.0)
    assert one.counts.tolist() == [0.0, -MOST_COUNT]
    assert Measured(("sex",), np.array([math.inf, 1e300]), 1.0).counts.tolist() == [MOST_COUNT, MOST_COUNT]


def test_the_callers_array_may_change_later() -> None:
    counts = np.ones(2)
    one = Measured(("sex",), counts, 1.0)
    counts[0] = 5
    assert one.counts.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("deviation", [-1.0, math.nan, math.inf])
def test_deviations_are_public_and_must_be_sound(deviation: float) -> None:
    with pytest.raises(BadArgument, match="deviation"):
        Measured(("sex",), np.ones(2), deviation)


def test_queries_must_be_a_matrix_with_an_answer_for_each_row() -> None:
    with pytest.raises(BadArgument, match="queries"):
        Measured(("sex",), np.ones(2), 1.0, queries=np.ones(2))
    with pytest.raises(BadArgument, match="queries"):
        Measured(("sex",), np.ones(2), 1.0, queries=np.full((2, 2), math.nan))
    with pytest.raises(BadArgument, match="3 answers"):
        Measured(("sex",), np.ones(2), 1.0, queries=np.ones((3, 2)))
    with pytest.raises(BadArgument, match="different columns"):
        Measured(("sex", "sex"), np.ones((2, 2)), 1.0)


def test_weights_never_drown_other_answers() -> None:
    def of(*numbers: float) -> list[float]:
        return deviations([Measured(("sex",), np.ones(2), number) for number in numbers])

    assert of(0.0, 10.0, 1.0) == [0.01, 10.0, 1.0]
    assert of(0.0, 0.0) == [1.0, 1.0] and of() == []
    assert of(1e-200) == [1e-6] and of(1e300) == [MOST_COUNT]
