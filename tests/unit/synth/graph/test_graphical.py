"""Models answer any marginal exactly, and survive being written down."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from tests.unit.synth.graph.joints import SHAPES, SMALL, joint, normal, summed

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.graphical import GraphicalModel


def model_of(shape: str, total: float = 50.0) -> GraphicalModel:
    potentials = {
        SMALL.sorted(columns): normal(place, SMALL.shape(SMALL.sorted(columns)))
        for place, columns in enumerate(SHAPES[shape])
    }
    return GraphicalModel(SMALL, total, potentials)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_marginal_is_that_of_the_whole_table(shape: str, size: int) -> None:
    model = model_of(shape)
    table = joint(SMALL, model.potentials, 50.0)
    asked = list(combinations(SMALL.names, size))
    for columns, counts in zip(asked, model.marginals(asked), strict=True):
        assert counts.shape == SMALL.shape(columns)
        np.testing.assert_allclose(counts, summed(SMALL, table, columns), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(counts, model.marginal(columns))


def test_the_order_of_columns_is_that_of_the_question() -> None:
    model = model_of("chain")
    table = joint(SMALL, model.potentials, 50.0)
    for columns in permutations(("a", "e", "f", "c")):
        np.testing.assert_allclose(model.marginal(columns), summed(SMALL, table, columns), rtol=1e-9)


def test_marginals_where_some_cells_are_forbidden() -> None:
    potentials = dict(model_of("chain").potentials)
    potentials["a", "b"] = np.where(np.eye(2, 3) > 0, -np.inf, potentials["a", "b"])
    potentials["c", "d"] = np.where(np.eye(4, 2) > 0, -np.inf, potentials["c", "d"])
    model = GraphicalModel(SMALL, 50.0, potentials)
    for columns in combinations(SMALL.names, 3):
        np.testing.assert_allclose(
            model.marginal(columns), summed(SMALL, joint(SMALL, potentials, 50.0), columns), rtol=1e-9, atol=1e-12
        )


def test_answers_are_the_callers_own() -> None:
    model = model_of("chain")
    first = model.marginal(("a", "b"))
    first[:] = 0
    assert model.marginal(("a", "b")).sum() == pytest.approx(50.0)


def test_what_would_take_too_many_cells_is_refused() -> None:
    wide = Domain(tuple(f"c{place}" for place in range(12)), (10,) * 12)
    chain = {pair: np.zeros((10, 10)) for pair in zip(wide.names, wide.names[1:], strict=False)}
    model = GraphicalModel(wide, 1.0, chain)
    np.testing.assert_allclose(model.marginal(("c0", "c11")), 0.01)
    with pytest.raises(BadArgument, match="cells on the way"):
        model.marginal(wide.names)


def test_columns_are_asked_once() -> None:
    with pytest.raises(BadArgument, match="different columns"):
        model_of("chain").marginal(("a", "a"))
    with pytest.raises(BadArgument, match="some of a"):
        model_of("chain").marginal(("z",))


def test_written_down_and_read_again_a_model_is_the_same() -> None:
    model = model_of("two loops", total=1 / 3)
    potentials = {**model.potentials, ("a",): np.array([-np.inf, 0.1])}
    model = GraphicalModel(SMALL, 1 / 3, potentials)
    again = GraphicalModel.from_plain(json.loads(json.dumps(model.plain(), allow_nan=False)))
    assert again.plain() == model.plain() and again.domain == model.domain and again.total == model.total
    for columns, table in model.potentials.items():
        np.testing.assert_array_equal(again.potentials[columns], table)


@pytest.mark.parametrize(
    "wrong", [{}, {"names": ["a"], "sizes": [2], "total": 1.0, "most_cells": 9, "potentials": [{}]}]
)
def test_what_is_no_model_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadArgument, match=r"GraphicalModel\.plain"):
        GraphicalModel.from_plain(wrong)
