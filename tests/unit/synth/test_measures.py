"""Measures between tables of codes: exact small cases, what copies score, and the mark of what may not leave."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.associating import associations, correlation, cramers_v
from sfumato.synth.collapse import collapse
from sfumato.synth.comparing import marginal_errors
from sfumato.synth.counting import Rows, differences, marginals_of
from sfumato.synth.graph.domain import Domain
from sfumato.synth.holder import NOT_PRIVATE, Basis, Judgement
from sfumato.synth.learning_from import area_under, trained_on_synthetic
from sfumato.synth.nearest import PROVES_NOTHING, distances, nearest_records
from sfumato.synth.telling_apart import propensity

PAIR = Domain(("a", "b"), (2, 3))
MIXED = Domain(("a", "b", "c", "d"), (2, 3, 4, 2))


def correlated(rows: int, seed: int) -> Rows:
    """Rows in which b and c follow a, and d follows b."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 3, rows))
    c = np.where(rng.random(rows) < 0.6, a * 2, rng.integers(0, 4, rows))
    return Rows(MIXED, np.stack([a, b, c, (b + rng.integers(0, 2, rows)) % 2], axis=1))


def shuffled(table: Rows, seed: int) -> Rows:
    """The same columns, each in an order of its own: nothing hangs together any more."""
    rng = np.random.default_rng(seed)
    return Rows(table.domain, np.stack([rng.permutation(column) for column in table.codes.T], axis=1))


def test_marginals_of_rows_are_plain_counts_in_the_order_that_was_asked() -> None:
    table = Rows(PAIR, np.array([[0, 2], [1, 0], [1, 2], [1, 2]]))
    assert table.marginal(("a", "b")).tolist() == [[0, 0, 1], [1, 0, 2]]
    assert table.marginal(("b", "a")).tolist() == [[0, 1], [0, 0], [1, 2]]
    assert table.marginal(("b",)).tolist() == [1, 0, 3]


def test_errors_of_marginals_are_those_worked_out_by_hand() -> None:
    real = Rows(PAIR, np.array([[0, 0], [0, 1], [1, 2], [1, 2]]))
    made = Rows(PAIR, np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 2], [1, 2], [1, 2], [1, 2]]))
    one = marginal_errors(real, made, ways=1)
    assert one.of("a").total_variation == pytest.approx(1 / 8)
    assert one.of("b").total_variation == pytest.approx(1 / 8)
    assert one.of("b").range == pytest.approx(1 / 8)
    two = marginal_errors(real, made)
    # shares: real 1/4 (0,0), 1/4 (0,1), 1/2 (1,2); made 3/8 (0,0), 1/8 (1,1), 1/2 (1,2)
    assert two.worst.total_variation == two.mean == pytest.approx(1 / 4)
    assert two.worst.l1 == pytest.approx(1 / 2)
    assert two.largest == pytest.approx(1 / 4)


def test_the_error_of_a_workload_weighs_its_marginals() -> None:
    real, made = correlated(500, 1), shuffled(correlated(500, 1), 2)
    heavy = marginal_errors(real, made, workload={("a", "b"): 3.0, ("a",): 1.0})
    assert heavy.of("a").total_variation == 0
    assert heavy.mean == pytest.approx(0.75 * marginal_errors(real, made).of("b", "a").total_variation)


def test_all_pairs_agree_with_the_slow_and_obvious_way() -> None:
    real, made = correlated(300, 1), correlated(200, 2)
    found = marginal_errors(real, made)
    for (i, left), (j, right) in combinations(enumerate(MIXED.names), 2):
        cells = {(x, y) for x in range(MIXED.sizes[i]) for y in range(MIXED.sizes[j])}
        shares = [
            {cell: np.mean((table.codes[:, i] == cell[0]) & (table.codes[:, j] == cell[1])) for cell in cells}
            for table in (real, made)
        ]
        apart = sum(abs(shares[0][cell] - shares[1][cell]) for cell in cells) / 2
        assert found.of(left, right).total_variation == pytest.approx(apart)


def test_huge_marginals_are_compared_by_the_cells_that_have_rows() -> None:
    wide = Domain(("a", "b", "c"), (3000, 3000, 2))
    real, made = (Rows(wide, np.array([[5, 7, 0], [9, row, 1]])) for row in (2999, 3))
    assert marginal_errors(real, made, workload=[("a", "b")]).mean == 0.5
    assert np.abs(differences(real, made, ("a", "b", "c"))).sum() == 1.0


def test_associations_are_those_of_textbooks() -> None:
    table = np.array([[10.0, 20.0], [30.0, 40.0]])
    # chi-square = n (ad - bc)^2 / (row and column sums): 100 (400 - 600)^2 / (30 * 70 * 40 * 60)
    assert cramers_v(table) == pytest.approx(np.sqrt((400 - 600) ** 2 / (30 * 70 * 40 * 60)))
    assert correlation(table) == pytest.approx((400 - 600) / np.sqrt(30 * 70 * 40 * 60))
    assert cramers_v(np.array([[5.0, 7.0], [0.0, 0.0]])) == correlation(np.array([[5.0, 7.0]])) == 0
    real = correlated(2000, 3)
    lost = associations(real, shuffled(real, 4), ordered={"a": 2, "b": 3})
    codes = real.codes.astype(float)
    by_pair = {each.columns: each for each in lost.pairs}
    assert by_pair["a", "b"].real == pytest.approx(np.corrcoef(codes[:, 0], codes[:, 1])[0, 1])
    assert by_pair["a", "b"].ordered and not by_pair["a", "c"].ordered
    assert lost.worst.lost > 0.4
    assert associations(real, real).mean == 0


def test_a_stray_row_with_a_value_that_the_real_table_has_not_hardly_moves_an_association() -> None:
    real = Rows(Domain(("a", "b"), (3, 3)), np.array([[0, 0], [1, 1]] * 500))
    stray = Rows(real.domain, np.vstack([real.codes, [[2, 2]]]))
    assert associations(real, stray).worst.lost < 0.01
    missing = {"a": 2, "b": 2}  # the last code is what is missing, and in no order
    assert associations(real, stray, ordered=missing).worst.synthetic == pytest.approx(1.0)


def test_propensities_of_two_samples_of_one_population_are_as_theory_says() -> None:
    standing = [
        propensity(correlated(1500, seed), correlated(1500, seed + 1000), ways=2).standardized for seed in range(30)
    ]
    assert abs(np.mean(standing)) < 0.6  # three deviations of the mean of thirty, and a little
    assert 0.6 < np.std(standing) < 1.5


def test_propensities_of_pairs_see_what_those_of_columns_cannot() -> None:
    real = correlated(2000, 5)
    blind, seeing = (propensity(real, shuffled(real, 6), ways=ways) for ways in (1, 2))
    assert blind.ratio < 0.1  # one-way counts are equal
    assert seeing.ratio > 20


def test_propensities_of_tables_that_never_meet_are_a_quarter() -> None:
    one, other = (Rows(Domain(("a",), (2,)), np.full((100, 1), code)) for code in (0, 1))
    assert propensity(one, other).error == pytest.approx(0.25, abs=1e-3)


def test_the_area_under_a_curve_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 7, 200).astype(float), rng.random(200) < 0.3
    assert area_under(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
    assert area_under(scores, np.zeros(200, dtype=bool)) == 0.5


@pytest.mark.parametrize("classifier", [None, HistGradientBoostingClassifier(max_iter=20, random_state=0)])
def test_training_on_good_rows_is_as_good_as_on_real_ones_and_on_shuffled_ones_it_is_not(classifier: Any) -> None:
    real, tested = correlated(2000, 7), correlated(2000, 8)
    good = trained_on_synthetic(correlated(2000, 9), tested, "b", trained=real, classifier=classifier)
    bad = trained_on_synthetic(shuffled(real, 10), tested, "b", trained=real, classifier=classifier)
    assert good.on_real is not None and bad.on_real is not None
    assert abs(good.on_synthetic.area - good.on_real.area) < 0.03
    assert bad.on_synthetic.area < 0.6 < 0.75 < bad.on_real.area
    assert bad.on_synthetic.accuracy <= bad.guess + 0.03


def test_a_synthetic_table_of_one_class_teaches_nothing() -> None:
    constant = Rows(PAIR, np.zeros((20, 2), dtype=int))
    learnt = trained_on_synthetic(constant, Rows(PAIR, np.array([[0, 0], [1, 1], [1, 2]])), "a").on_synthetic
    assert learnt.area == 0.5
    assert learnt.accuracy == pytest.approx(1 / 3)


def test_nearest_records_count_the_columns_that_differ_and_say_that_it_proves_nothing() -> None:
    real = correlated(400, 11)
    copied = nearest_records(real, Rows(MIXED, real.codes[:50]), held_out=correlated(100, 12))
    assert copied.copies == 1
    assert PROVES_NOTHING in copied.to_text().replace("\n  ", " ") and "proves no privacy" in copied.to_html()
    asked, known = Rows(MIXED, np.array([[0, 2, 3, 1]])), Rows(MIXED, np.array([[1, 1, 3, 1], [0, 2, 0, 0]]))
    assert distances(asked, known).tolist() == [2]


def test_collapse_is_seen_in_rows_alone_and_not_where_releases_say_that_it_is_so() -> None:
    fine = correlated(500, 13)
    assert not collapse(fine).collapsed
    constant = Rows(MIXED, np.zeros((500, 4), dtype=int))
    assert len(collapse(constant).flags) == 4
    alone = {"a": np.array([0.999, 0.001])}
    spread = collapse(Rows(Domain(("a",), (2,)), np.zeros((100, 1), dtype=int)), shares=alone)
    assert not spread.collapsed
    wide = Domain(tuple("abcdefgh"), (6,) * 8)
    few = np.random.default_rng(1).integers(0, 6, (12, 8))
    assert any("repeat" in flag for flag in collapse(Rows(wide, np.repeat(few, 100, axis=0))).flags)


JUDGED: list[Callable[[Rows, Rows, Basis], Judgement]] = [
    lambda real, made, basis: marginal_errors(real, made, basis=basis),
    lambda real, made, basis: associations(real, made, basis=basis),
    lambda real, made, basis: propensity(real, made, basis=basis),
    lambda real, made, basis: trained_on_synthetic(made, real, "a", basis=basis),
    lambda real, made, basis: nearest_records(real, made, basis=basis, entropy=ReplayEntropy(1)),
]


@pytest.mark.parametrize("judge", JUDGED)
def test_whatever_was_computed_from_real_rows_says_so_in_every_form(judge: Callable[..., Judgement]) -> None:
    real, made = correlated(200, 14), correlated(200, 15)
    held, public = judge(real, made, Basis.HELD), judge(real, made, Basis.PUBLIC)
    assert not held.private and public.private
    assert "for the holder's eyes: not private" in repr(held)
    assert "holder" not in repr(public)
    for form in (held.to_text(), held.to_html().replace("&#x27;", "'"), held.to_markdown()):
        assert "For the holder's eyes: not private" in form
    assert "holder" not in public.to_text()
    assert NOT_PRIVATE in held.document().warnings


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Rows(PAIR, np.array([[0, 3]])),
        lambda: Rows(PAIR, np.array([[-1, 0]])),
        lambda: Rows(PAIR, np.array([[0.5, 1.0]])),
        lambda: Rows(PAIR, np.array([0, 1])),
        lambda: marginals_of(PAIR, [("a", "z")]),
        lambda: marginals_of(PAIR, []),
        lambda: marginals_of(PAIR, {("a",): -1.0}),
        lambda: marginals_of(Domain(tuple(f"c{place}" for place in range(200)), (2,) * 200), ways=4),
        lambda: marginal_errors(Rows(PAIR, np.zeros((0, 2), dtype=int)), Rows(PAIR, np.zeros((1, 2), dtype=int))),
        lambda: propensity(correlated(50, 1), correlated(50, 2), ways=3),
        lambda: collapse(Rows(PAIR, np.zeros((0, 2), dtype=int))),
        lambda: trained_on_synthetic(correlated(9, 1), correlated(9, 1), "a", features=["a"]),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(wrong: Callable[[], object]) -> None:
    with pytest.raises(BadArgument):
        wrong()
