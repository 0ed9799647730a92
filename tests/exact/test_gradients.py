"""Sums of gradients: each row by itself, none longer than 1, all of them exact."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.mechanisms.certified_minimum import split_sums
from sfumato.mechanisms.risks import CappedPoisson, Huber, Logistic, SmoothHinge, Softmax
from sfumato.transforms.gradients import (
    STEP,
    Squares,
    Tangent,
    gradient_sums,
    gradient_totals,
    rounded_weights,
    row_gradients,
)
from sfumato.transforms.gram import Coordinates

RISKS: list[Any] = [
    Logistic(),
    Softmax(4),
    Softmax(11),
    SmoothHinge(),
    Huber(Fraction(2, 5)),
    CappedPoisson(),
    Squares(),
]
ODD = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, 2.0, -1.0]


def rows_of(count: int, seed: int) -> Any:
    """Rows of two numbers, a category of three and a target, with everything that data can hold."""
    rng = np.random.default_rng(seed)
    made = np.column_stack(
        [rng.uniform(-1.2, 1.2, (count, 2)), rng.integers(-1, 4, count), rng.integers(0, 4, count)]
    ).astype(np.float64)
    places = rng.random(made.shape) < 0.05
    made[places] = rng.choice(ODD, int(places.sum()))
    return made


def tangent_of(risk: Any, seed: int, *, size: float = 1.0) -> Tangent:
    rng = np.random.default_rng(seed)
    layout = Coordinates((0, 0, 3))
    basis = rng.normal(size=(layout.size, layout.size)) * size
    return Tangent.read(risk, layout, rng.normal(size=(risk.scores, layout.size)) * 3, basis)


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_every_row_adds_the_same_whole_numbers_whatever_stands_beside_it_and_is_at_most_1_long(risk: Any) -> None:
    longest = 0
    for size in (0.05, 1.0, 1e4):
        rows, tangent = rows_of(150, 1), tangent_of(risk, 2, size=size)
        alone = [gradient_totals(rows[place : place + 1], tangent) for place in range(len(rows))]
        assert gradient_totals(rows, tangent).tolist() == np.sum(alone, axis=0).tolist()
        assert gradient_totals(rows[::-1][:77], tangent).tolist() == np.sum(alone[::-1][:77], axis=0).tolist()
        squares = [sum(int(one) ** 2 for one in row) for row in alone]
        longest = max(longest, *squares)
        assert max(squares) * STEP**2 <= 1
    assert longest * STEP**2 > Fraction(9999, 10000)  # some were cut, and to 1
    rows = rows_of(150, 3)
    weights = np.random.default_rng(4).normal(size=(risk.scores, 4))
    assert np.array_equal(
        row_gradients(rows, weights, risk),
        np.concatenate([row_gradients(rows[place : place + 1], weights, risk) for place in range(len(rows))]),
    )
    assert np.all(np.isfinite(row_gradients(rows * 1e300, weights, risk)))


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_short_gradients_are_those_of_the_risk(risk: Any) -> None:
    rng = np.random.default_rng(7)
    layout = Coordinates((0, 0))
    columns = np.column_stack([rng.uniform(-1, 1, (40, 2)), rng.integers(0, 2, 40)]).astype(np.float64)
    basis, theta = rng.normal(size=(3, 3)) * 0.05, rng.normal(size=(risk.scores, 3)) * 0.3
    found = gradient_totals(columns, Tangent.read(risk, layout, theta, basis)).astype(np.float64) * float(STEP)
    z = layout.rows(columns[:, :-1])
    slopes = np.clip(risk.slopes(z @ theta.T, risk.targets(columns[:, -1])[1]), -1, 1)
    assert np.allclose(found, (slopes.T @ (z @ basis)).ravel(), atol=40 * 2.0**-14)


def test_neighbours_on_a_small_domain_are_at_most_their_distance_apart_and_reach_it() -> None:
    """All data sets of up to two rows out of six, and all that have one row more."""
    tangent = Tangent.read(Logistic(), Coordinates((0,)), [0, 40], [[1, 0], [0, 2]])
    domain = [[x, y] for x in (-1.0, 0.25, 1.0) for y in (0.0, 1.0)]
    worst = Fraction(0)
    for count in range(3):
        for rows in product(domain, repeat=count):
            first = gradient_totals(np.array(rows, dtype=np.float64).reshape(-1, 2), tangent)
            for row in domain:
                moved = gradient_totals(np.array([*rows, row]), tangent) - first
                worst = max(worst, sum((int(one) * STEP) ** 2 for one in moved))
    made = sf.matrix(2) >> gradient_sums(tangent)
    assert Fraction(99999, 100000) < worst <= 1 == made.map(1) and made.map(3) == 3
    exchanged = sf.matrix(2, size=9, metric=sf.ChangeOne()) >> gradient_sums(tangent)
    assert exchanged.map(1) == 2


def test_products_with_rounded_weights_are_exact() -> None:
    rng = np.random.default_rng(3)
    for size in (1e-30, 1.0, 1023.9999, 1e25):
        weights = rounded_weights(rng.normal(size=(5, 40)) * size)
        rows = np.rint(rng.uniform(-1, 1, (9, 40)) * 2**20) / 2**20
        found = rows @ weights.T
        for row, made in zip(rows, found, strict=True):
            truth = [sum(Fraction(w) * Fraction(z) for w, z in zip(one, row, strict=True)) for one in weights]
            assert [Fraction(one) for one in made] == truth


def test_split_sums_add_up_to_the_sums_of_products() -> None:
    rng = np.random.default_rng(5)
    slopes = rng.uniform(-1, 1, (9000, 2))
    rows = np.rint(rng.uniform(-1, 1, (9000, 3)) * 2**20) / 2**20
    found = split_sums(slopes, rows)
    for score, place in np.ndindex(2, 3):
        truth = sum(Fraction(a) * Fraction(b) for a, b in zip(slopes[:, score], rows[:, place], strict=True))
        near = sum(Fraction(one) for one in found[:, score, place])
        assert abs(truth - near) <= Fraction(9000, 2**53)
        coarse = np.rint(slopes[:, score] * 2**19)
        exact = sum(int(a) * int(b) for a, b in zip(coarse[:4096], rows[:4096, place] * 2**20, strict=True))
        assert Fraction(found[0, score, place]) * 2**39 == exact
    assert split_sums(slopes[:0], rows[:0]).shape == (0, 2, 3)


def test_what_has_other_columns_or_no_finite_weights_is_refused() -> None:
    for weights, match in (([0, math.inf], "finite"), ([0, 1, 2], "features"), ([[0, 1], [0, 1]], "scores")):
        with pytest.raises(BadArgument, match=match):
            sf.matrix(2) >> sf.transforms.gradients(weights)
    with pytest.raises(BadArgument, match="matrix of floats"):
        sf.vector(float) >> sf.transforms.gradients([0, 1])
    with pytest.raises(BadArgument, match="basis"):
        Tangent.read(Logistic(), Coordinates((0,)), [0, 1], [[1, 0]])
