"""Naive Bayes: sums by class move as far as stated and no further, counts agree, and both ways in give one model."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.naive_bayes import GaussianNB

import sfumato as sf
from sfumato.core.domains import Floats, Matrix
from sfumato.core.metrics import L1, L2, AddRemove, LInf, VectorMetric
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import squared
from sfumato.learn import NaiveBayes
from sfumato.learn.columns import Bins, Category, Number, Square
from sfumato.learn.naive_bayes import log_density, merged_counts, normal_by_class, pulled
from sfumato.learn.noising import least_noise
from sfumato.learn.sources import Asked, Held, Source
from sfumato.transforms.gram import gram

ANY = Floats(nan=True, infinite=True)
KINDS, PAIRS = (0, 2, 3), ((0, 3), (1, 3), (2, 3))
"""A number, a category of two values, and three classes."""


@pytest.mark.parametrize("metric", [L1(), L2(), LInf(), PiecewiseLInf(3)], ids=str)
def test_no_row_moves_sums_by_class_further_than_stated_and_one_moves_them_as_far(metric: VectorMetric) -> None:
    """Every row of a small domain; in pieces also every pair of rows, which is one exchanged for another."""
    exact = Space(Matrix(3, ANY), AddRemove()) >> gram(KINDS, pairs=PAIRS, metric=metric)
    rows = list(product([-inf, -1.0, -0.3, 1.0, nan], [-1.0, 0, 1, nan], [-1.0, 0, 1, 2, nan]))
    values = [[Fraction(int(cell), 1 << 40) for cell in exact.image(np.array([row]))] for row in rows]
    nothing = [Fraction(0)] * 12
    moved = [metric.distance(cells, nothing) for cells in values]
    assert max(moved, key=squared) == exact.map(1)
    if isinstance(metric, PiecewiseLInf):
        assert exact.map(1) == 1 and max(metric.distance(a, b) for a in values for b in values) == exact.map(2) == 2


def test_pieces_are_refused_where_they_are_not_those_of_classes() -> None:
    space = Space(Matrix(3, ANY), AddRemove())
    for pairs, pieces in ((PAIRS, 2), (((0, 2), (1, 3)), 3), (None, 3), (((0, 3), (3, 3)), 3)):
        with pytest.raises(BadArgument, match="as many pieces as the last column has values"):
            space >> gram(KINDS, pairs=pairs, metric=PiecewiseLInf(pieces))
    for wrong in ((), ((2, 1),), ((0, 4),), ((0, 1), (0, 1))):
        with pytest.raises(BadArgument, match="pairs"):
            space >> gram(KINDS, pairs=wrong)


X_BOUNDS = Number("x", Fraction(0), Fraction(4))
TARGET = Category("k", ("p", "q", "r"))
MADE = [
    (0, X_BOUNDS),
    (0, Square(X_BOUNDS)),
    (0, Bins.read(X_BOUNDS, [1, 3])),
    (1, Category("c", ("a", "b"))),
    (2, TARGET),
]
MADE_PAIRS = [(place, 5) for place in range(5)]


def both(rows: list[tuple[int, float | None, str, str]]) -> tuple[Source, Source]:
    """Rows behind a ledger, and in arrays."""
    schema = {"id": pl.Int64, "x": pl.Float64, "c": pl.String, "k": pl.String}
    data = sf.Dataset(pl.DataFrame(rows, schema=schema, orient="row"), unit="id", between={"x": (0, 4)})
    columns = (X_BOUNDS, Category("c", ("a", "b")), TARGET)
    values = list(zip(*rows, strict=True))[1:] or [[], [], []]
    held = Held(columns, tuple(np.array(part, dtype=object) for part in values))
    return Asked(columns, data.session(limit=sf.Pure(10**12), ledger="memory:").table(), 2), held


def sums_of(source: Source, metric: VectorMetric) -> sf.Transformation:
    return source.chosen(MADE).gram(metric, pairs=MADE_PAIRS)


def exact_sums(source: Source) -> list[Fraction]:
    """The sums themselves, taken out by a measurement that claims whatever it likes."""
    exact = sums_of(source, L1())
    taken = sf.measurement(
        exact.target, sf.Pure, function=lambda held, _: held, map=lambda d_in: sf.Pure(d_in), claim=sf.claim("a test")
    )
    return [Fraction(float(cell)) for cell in source.chosen(MADE).run(exact >> taken, loss=sf.Pure(10**6)).value]


def test_engine_and_arrays_add_up_the_same_and_no_person_moves_the_engine_further() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (person, float(rng.uniform(-1, 5)), str(rng.choice(["a", "b", "z"])), str(rng.choice(["p", "q", "?"])))
        for person in range(200)
    ]
    asked, held = both([*rows, (900, None, "a", "p")])
    assert exact_sums(asked) == exact_sums(held)
    furthest = dict.fromkeys((L1(), L2(), PiecewiseLInf(3)), Fraction(0))
    few = [(4.0, "a", "p"), (0.0, "b", "q"), (9.0, "z", "q"), (2.0, "a", "?")]
    for chosen in [[one] for one in few] + [[few[0], few[1]], [few[1], few[2]], [few[0]] * 3, [few[0], few[1], few[2]]]:
        moved = exact_sums(both([(7, *row) for row in chosen])[0])
        for metric, most in furthest.items():
            furthest[metric] = max(most, Fraction(squared(metric.distance(moved, [0] * len(moved)))))
    for metric, most in furthest.items():
        assert most == squared(sums_of(asked, metric).map(1))
    assert sums_of(asked, PiecewiseLInf(3)).map(1) == 2


def test_noise_by_class_spreads_less_than_noise_on_all() -> None:
    """13 sums in each of 3 classes: a cube for each class, against Laplace noise and one cube for all."""
    source = Held((*(Number(f"x{i}", Fraction(0), Fraction(1)) for i in range(12)), TARGET), ())
    pairs = [(place, 13) for place in range(13)]
    apart = least_noise(lambda norm: source.gram(norm, pairs=pairs), sf.Pure(1), source.unit, pieces=3)
    whole = least_noise(lambda norm: source.gram(norm, pairs=pairs), sf.Pure(1), source.unit)
    assert apart.deviation == pytest.approx((14 * 15 / 3) ** 0.5) and whole.deviation == pytest.approx(13 * 2**0.5)
    assert apart.measurement.map(1) == sf.Pure(1)


CITY = ["Las Vegas", "Las Vegas", "Las Vegas", "Boston", "Boston", "Boston", "Boston"]
MONTH = ["December", "December", "June", "December", "June", "June", "June"]
RAIN = ["yes", "yes", "no", "no", "yes", "no", "no"]


def test_A2_066_naive_bayes_of_table_8_1() -> None:
    """Classes 3/7 and 4/7, shares 2/3 and 1/4: 0.190476 against 0.035714, posterior 0.8421."""
    listed = {"city": ["Las Vegas", "Boston"], "month": ["December", "June"]}
    model = NaiveBayes(epsilon=10**9, classes=["yes", "no"], smoothing=1e-9, categories=listed)
    model.fit(pl.DataFrame({"city": CITY, "month": MONTH}), np.array(RAIN))
    row = pl.DataFrame({"city": ["Las Vegas"], "month": ["December"]})
    assert np.exp(model.predict_joint_log_proba(row))[0] == pytest.approx([0.190476, 0.035714], abs=1e-6)
    assert model.predict_proba(row)[0, 0] == pytest.approx(0.8421, abs=1e-4) and model.predict(row).tolist() == ["yes"]


def test_A2_067_the_density_at_the_mean_with_a_deviation_of_2_is_0_199471() -> None:
    assert np.exp(log_density(np.array(5.0), np.array(5.0), np.array(4.0))) == pytest.approx(0.199471, abs=1e-6)
    assert np.exp(log_density(np.array(1.0), np.array(0.3), np.array(0.7))) == pytest.approx(norm.pdf(1, 0.3, 0.7**0.5))


def test_A2_072_a_loss_of_a_hundredth_is_what_the_release_states() -> None:
    X, y = load_wine(return_X_y=True)  # noqa: N806
    model = NaiveBayes(epsilon="0.01", between=(0, 2000), classes=[0, 1, 2]).fit(X, y)
    assert model.release_.loss == sf.Pure("0.01") and "one row" in str(model.release_)
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_counts_agree_and_are_the_weighted_least_squares_fit() -> None:
    """P2-103: against the normal equations, solved here."""
    rng = np.random.default_rng(4)
    counts, tables = rng.normal(size=2), [rng.normal(size=(2, 3)), rng.normal(size=(2, 2))]
    total, fitted = merged_counts(counts, tables)
    for row in range(2):  # unknown: 3 + 2 cells with equal sums; the last cell of the second table is what is left
        design = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, -1]])
        seen = np.concatenate([[counts[row]], tables[0][row], tables[1][row]])
        best = np.linalg.lstsq(design, seen, rcond=None)[0]
        assert [*fitted[0][row], fitted[1][row, 0]] == pytest.approx(best)
        assert total[row] == pytest.approx(fitted[0][row].sum()) == pytest.approx(fitted[1][row].sum())


@pytest.mark.parametrize("loss", [sf.Pure(10**7), sf.ZCDP(10**12), sf.Approx(10**5, 1e-6)], ids=str)
def test_with_hardly_any_noise_it_is_gaussian_naive_bayes(loss: sf.Loss) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)  # noqa: N806
    between = {name: (float(part.min()), float(part.max())) for name, part in X.items()}
    model, plain = (
        NaiveBayes(loss=loss, between=between, classes=[0, 1, 2]).fit(X, y),
        GaussianNB(var_smoothing=0).fit(X, y),
    )
    assert model.theta_ == pytest.approx(plain.theta_, rel=1e-3) and model.var_ == pytest.approx(plain.var_, rel=1e-2)
    assert (model.predict(X) == plain.predict(X)).mean() > 0.99


def test_a_table_behind_a_ledger_gives_the_same_model_and_is_charged() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)  # noqa: N806
    between = {name: (0.0, float(part.max())) for name, part in X.iloc[:, :4].items()}
    table = pl.DataFrame(X[list(between)].assign(kind=y, id=range(len(X))))
    data = sf.Dataset(table, unit="id", between=between, categories={"kind": [0, 1]})
    session = data.session(limit=sf.Pure(10**9), ledger="memory:")
    bins = {"mean radius": [8, 12, 16, 20]}
    asked = NaiveBayes(epsilon=10**6, bins=bins).fit(session.table(), target="kind", max_rows=1)
    held = NaiveBayes(epsilon=10**6, bins=bins, between=between, classes=[0, 1]).fit(X[list(between)], y)
    assert session.spent == sf.Pure(10**6) and list(asked.feature_names_in_) == list(between)
    assert asked.theta_[:, 1:] == pytest.approx(held.theta_[:, 1:], rel=1e-4) and np.isnan(asked.theta_[:, 0]).all()
    assert asked.probabilities_["mean radius"] == pytest.approx(held.probabilities_["mean radius"], abs=1e-4)
    shares = np.histogram(X["mean radius"][y == 0], [0, 8, 12, 16, 20, 99])[0] / (y == 0).sum()
    assert held.probabilities_["mean radius"][0] == pytest.approx(shares, abs=0.02)


@pytest.mark.parametrize("rows", [0, 1, 40], ids=["no rows", "one row", "one class, constant"])
@pytest.mark.parametrize("epsilon", [10**9, "0.001"], ids=["no noise", "all noise"])
def test_degenerate_data_gives_a_finite_model(rows: int, epsilon: Any) -> None:
    X = np.full((rows, 2), 0.5)  # noqa: N806
    for bins in (None, 3):
        model = NaiveBayes(epsilon=epsilon, between=(0, 1), classes=["a", "b"], bins=bins).fit(X, ["a"] * rows)
        said = model.predict_proba([[0.5, 0.5], [nan, 9.0], [nan, nan]])
        assert np.isfinite(said).all() and said.sum(axis=1) == pytest.approx(1)
        assert rows < 40 or epsilon == "0.001" or model.predict([[0.5, 0.5]]).tolist() == ["a"]


def test_what_noise_hides_is_pulled_together() -> None:
    even = np.array([[0.5], [0.5]])
    assert pulled(np.array([[0.1], [-0.1]]), np.array([[1.0], [1.0]]), even).tolist() == [[0.0], [0.0]]
    assert pulled(np.array([[0.1], [-0.1]]), np.zeros((2, 1)), even) == pytest.approx(np.array([[0.1], [-0.1]]))
    means, variances = normal_by_class(np.array([-5.0, 2.0]), np.ones((2, 1)), np.ones((2, 1)), 1e6)
    assert np.isfinite(means).all() and (variances >= 0.9).all()  # so flat that it says nothing


def test_what_is_not_stated_is_refused_with_the_line_to_write() -> None:
    X, y = np.zeros((5, 2)), np.zeros(5)  # noqa: N806
    stated: dict[str, Any] = {"epsilon": 1, "between": (0, 1)}
    for model, words in (
        (NaiveBayes(**stated), r"classes=\['no', 'yes'\]"),
        (NaiveBayes(epsilon=1, classes=[0, 1]), r"between=\{'x0'"),
        (NaiveBayes(**stated, classes=[0, 1], smoothing=0), "smoothing"),
        (NaiveBayes(**stated, classes=[0, 1], bins=0), "bins"),
        (NaiveBayes(**stated, classes=[0, 1], bins={"x9": [1]}), "x9"),
        (NaiveBayes(**stated, classes=[0, 1], bins={"x0": [2, 1]}), "rising"),
    ):
        with pytest.raises(BadArgument, match=words):
            model.fit(X, y)
