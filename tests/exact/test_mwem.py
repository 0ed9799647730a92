"""MWEM: how far single cells move, the exact law of a choice, and that of a whole round."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.audit.brute_force import brute_epsilon
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import privacy_filter
from sfumato.core.domains import Array, Floats, Integers, Matrix, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, AddRemove, LInf
from sfumato.core.pieces import LargestL1
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.learn.sources import ROW
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.selection import exponential
from sfumato.synth.asking import Questions
from sfumato.synth.graph.domain import Domain
from sfumato.synth.mwem import MWEMPlan
from sfumato.synth.mwem_rounds import CellRounds, MarginalRounds
from sfumato.transforms.cells import cell_at, cell_misfits
from sfumato.transforms.contingency import contingency

ROWS = Space(Matrix(2, Floats()), AddRemove())
SIZES, CLIQUES = (2, 2), ((0,), (0, 1))
SLACK = Fraction(1, 10**9)


def tables(most: int) -> list[Array]:
    kinds = list(product((0.0, 1.0), repeat=2))
    chosen = (rows for size in range(most + 1) for rows in combinations_with_replacement(kinds, size))
    return [np.array(rows, dtype=np.float64).reshape(-1, 2) for rows in chosen]


def test_a_row_moves_every_gap_and_every_cell_by_one_at_most_and_some_by_one() -> None:
    expected = np.array([16, 0, 8, 3, 0, 40])
    gaps = ROWS >> contingency(SIZES, CLIQUES) >> cell_misfits(expected)
    cells = [ROWS >> contingency(SIZES, CLIQUES) >> cell_at(place) for place in range(6)]
    moved, moved_cells = Fraction(0), Fraction(0)
    for table in tables(3):
        for row in product((0.0, 1.0), repeat=2):
            more = np.concatenate([table, [row]])
            moved = max(moved, gaps.target.distance(gaps(table), gaps(more)))
            moved_cells = max([moved_cells, *(one.target.distance(one(table), one(more)) for one in cells)])
    assert moved == gaps.map(1) == moved_cells == cells[0].map(1) == 1
    assert gaps.map(3) == 3 and isinstance(gaps.target.metric, LInf) and not gaps.target.metric.monotonic


def test_gaps_are_exact_however_large() -> None:
    made = Space(Vector(Integers(), size=2), LargestL1((2,))) >> cell_misfits(np.array([3, -(2**62)]))
    assert made.image([2**60, 2**61]).tolist() == [2**64 - 3, 2**65 + 2**62]
    assert made.image(np.array([1, -1])).tolist() == [13, 2**62 - 16]


def test_A3_041_each_choice_and_each_answer_cost_a_twentieth_of_a_tenth() -> None:
    """ε = 1 and T = 10: 0.05 each, Laplace noise of scale 20, weights exp(score / 40), and 1 for all."""
    plan = MWEMPlan(Pure(1), rounds=10)
    counts = ROWS >> contingency(SIZES, CLIQUES)
    assert plan.each == Pure("0.05") and plan.laplace_scale == 20 and plan.temperature == 40
    choice = counts >> cell_misfits(np.zeros(6, dtype=np.int64)) >> exponential(plan.temperature)
    assert choice.map(1) == (counts >> cell_at(0) >> laplace(plan.laplace_scale)).map(1) == plan.each
    assert plan.total == Pure(1)
    as_zcdp = counts >> cell_misfits(np.zeros(6, dtype=np.int64)) >> exponential(plan.temperature, measure=ZCDP)
    assert as_zcdp.map(1) == ZCDP(Fraction(1, 3200)) and plan.zcdp == ZCDP(10 * Fraction(5, 8) * Fraction(1, 400))


def test_the_law_of_a_choice_keeps_its_loss_and_comes_near_it() -> None:
    made = ROWS >> contingency(SIZES, CLIQUES) >> cell_misfits(np.array([0, 16, 0, 0, 32, 0])) >> exponential(2)
    low, high = brute_epsilon(made, tables(3), missed=Fraction(0))
    assert made.map(1) == Pure(1)
    assert Fraction(1, 2) < low <= high <= 1 + SLACK


def rounds(kind: str, loss: Pure | ZCDP, d_in: int = 1, rounds_asked: int = 1) -> Measurement:
    """All that MWEM does with rows of two columns, as one measurement of what it released."""
    domain = Domain(("a", "b"), SIZES)

    def run(ask: Queryable, entropy: Entropy) -> tuple[Any, ...]:
        questions = Questions(domain, loss, ROW, lambda places: ROWS >> contingency(SIZES, places), ask, 2.0)
        if kind == "cells":
            CellRounds(questions, domain, [("a", "b")], loss.scaled(Fraction(0)), loss, rounds_asked).run(
                lambda *_: None
            )
        else:
            before, left = loss.scaled(Fraction(1, 5)), loss.scaled(Fraction(4, 5))
            MarginalRounds(questions, domain, [("a", "b")], before, left, rounds_asked, 100).run(lambda *_: None)
        return tuple((one.columns, *one.counts.ravel().tolist()) for one in questions.measured)

    return analysis(ROWS >> privacy_filter(loss, d_in=d_in), run, name="MWEM")


@pytest.mark.parametrize("kind", ["cells", "marginals"])
@pytest.mark.parametrize("loss", [Pure(1), ZCDP("0.5")], ids=str)
def test_rounds_cost_the_stated_loss(kind: str, loss: Pure | ZCDP) -> None:
    made = rounds(kind, loss, rounds_asked=2)
    assert made.map(1) == loss
    assert len(made(tables(2)[-1]).value) == (2 if kind == "cells" else 3)


def test_the_whole_law_of_a_round_of_cells_keeps_its_loss() -> None:
    """Choice and answer together; at a large loss there are few outcomes, but for some of a chance below 2⁻⁵⁰."""
    made = rounds("cells", Pure(60))
    assert made.law is not None
    laws = [made.law(table) for table in tables(1)]
    found = []
    for one, other in product(laws, repeat=2):
        shared = set(one.outcomes(Fraction(0))) & set(other.outcomes(Fraction(0)))
        found += [(one.probability(outcome) / other.probability(outcome)).log() for outcome in shared]
    assert max(float(ratio.upper()) for ratio in found) <= 60 + 1e-9
    assert max(float(ratio.lower()) for ratio in found) > 28


def test_what_has_no_cells_is_refused() -> None:
    counts = ROWS >> contingency(SIZES, CLIQUES)
    with pytest.raises(BadArgument, match="below 6"):
        counts >> cell_at(6)
    with pytest.raises(BadArgument, match="each of 6 cells"):
        counts >> cell_misfits(np.zeros(5, dtype=np.int64))
    with pytest.raises(BadArgument, match="int64"):
        cell_misfits(np.zeros(6))
    with pytest.raises(BadArgument, match="L1 or L2"):
        cell_at(0, metric=LInf())
    with pytest.raises(BadArgument, match="one after another"):
        Space(Vector(Integers(), size=2), L1()) >> cell_at(0, metric=L2())
