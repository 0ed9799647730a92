"""Cases of the book about plans: grids of cells, grouped tables, training in slots, and losses on a line."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import sfumato as sf
from sfumato.accounting.meaning.realised_loss import gaussian_realised

e = sf.events
AR = sf.accounting.Relation.ADD_REMOVE


def test_A1_119_cells_of_one_table_cost_one_cell() -> None:
    table = e.Parallel(*(e.Laplace(10) for _ in range(2 * 4)))
    assert sf.total(table, sf.Pure, relation=AR) == sf.Pure("1/10")


def test_A1_120_two_tables_of_the_same_rows_cost_both() -> None:
    sizes, schools = (e.Parallel(*(e.Laplace(10) for _ in range(count))) for count in (2, 5))
    assert sf.total(e.Sequence(sizes, schools), sf.Pure, relation=AR) == sf.Pure("1/5")


def test_A1_126_losses_of_different_kinds_do_not_add_up() -> None:
    with pytest.raises(sf.errors.NoProvenRoute, match="different kinds"):
        sf.Pure(1).then(sf.Approx(1, 1e-6))  # type: ignore[arg-type]
    both = e.Sequence(e.Response(1, options=4), e.Stated(sf.Approx(1, 1e-6)))
    with pytest.raises(sf.errors.NoProvenRoute):
        sf.total(both, sf.Pure)
    assert sf.total(both, sf.Approx) == sf.Approx(2, 1e-6)


@pytest.mark.parametrize(("outcome", "loss"), [(-3, "3.5"), (0, "0.5"), (3, "-2.5")])
def test_A2_004_the_loss_of_gaussian_noise_is_a_line(outcome: int, loss: str) -> None:
    assert gaussian_realised(outcome, here=0, there=1, scale=1) == Fraction(loss)


def test_A3_002_003_004_training_by_twenty_gradients() -> None:
    """The price is known before the first gradient."""
    plan = e.Repeat(e.Gaussian(scale=100, shift=2), 20)
    whole = sf.total(plan, sf.ZCDP)
    assert whole == sf.ZCDP("0.004")
    assert float(sf.accounting.zcdp_epsilon(whole.rho, delta=1e-8)) == pytest.approx(0.465965, abs=1e-6)
    assert float(sf.textbook.zcdp_epsilon_simple(whole.rho, delta=1e-8)) == pytest.approx(0.546891, abs=1e-6)
    assert sf.account(plan, delta=1e-8).epsilon.upper < sf.accounting.zcdp_epsilon(whole.rho, delta=1e-8)


def test_A3_007_the_slot_after_the_last() -> None:
    slots = sf.accounting.Slots([sf.ZCDP("0.0002")] * 20)
    for _ in range(20):
        slots = slots.after(sf.ZCDP("0.0002"))
    with pytest.raises(sf.errors.Exhausted):
        slots.after(sf.ZCDP(0))
    assert slots.used == 20


def test_A3_093_ranges_of_choices() -> None:
    """Weights exp(score): how far losses of one choice lie apart, for scores that move either way, or one way."""

    def span(scores: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
        moves = [Fraction(one - two) for one, two in zip(scores, other, strict=True)]
        return max(one - two for one, two in product(moves, repeat=2))

    assert span((0, 1, 2), (1, 0, 2)) == 2 and span((0, 1, 2), (0, 1, 3)) == 1
    chosen = e.Selection(e.ExponentialSelection(1), shift=2)
    assert sf.total(chosen, sf.accounting.BoundedRange) == sf.accounting.BoundedRange(2)
    assert sf.total(
        e.Selection(e.ExponentialSelection(2), shift=2), sf.accounting.BoundedRange
    ) == sf.accounting.BoundedRange(1)
