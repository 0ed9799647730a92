"""Curves of classifiers from one private histogram: what plain counts say, but for noise; both ways in, charged."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, SfumatoError
from sfumato.learn import LinearRegression, LinearSVC, LogisticRegression
from sfumato.learn.columns import Floats
from sfumato.learn.curves import Curves, read_edges, rising

SURE = sf.ZCDP(10**9)
KNOWN: dict[str, Any] = {"between": [(-3, 3), (-3, 3)], "classes": ["no", "yes"]}


def drawn(rows: int, seed: int = 0) -> tuple[Floats, np.ndarray[Any, Any]]:
    """Rows of two numbers, and a class that follows from them with some doubt."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, (rows, 2))
    return x, np.where(rng.random(rows) < 1 / (1 + np.exp(1.0 - 1.5 * x[:, 0])), "yes", "no")


def fitted() -> LogisticRegression:
    return LogisticRegression(loss=SURE, **KNOWN).fit(*drawn(800))


def test_without_noise_the_counts_are_those_of_bins_and_all_follows_from_them() -> None:
    model, (x, y) = fitted(), drawn(400, 1)
    seen = model.private_curves(x, y, loss=SURE)
    chances, edges = model.predict_proba(x)[:, 1], np.array(seen.edges)
    bins = np.searchsorted(edges, chances, side="right")
    for place, label in enumerate(("no", "yes")):
        expected = np.bincount(bins[y == label], minlength=len(edges) + 1)
        assert np.allclose(seen.noisy[place], expected, atol=0.01)
    assert seen.auc == pytest.approx(roc_auc_score(y == "yes", bins), abs=1e-3)
    threshold, table, _ = seen.confusion(0.5)
    assert threshold == 0.5 and np.allclose(table, confusion_matrix(y == "yes", chances >= 0.5), atol=0.1)
    false, true, thresholds = seen.roc()
    assert (false[0], true[0], thresholds[0]) == (0, 0, np.inf) and (false[-1], true[-1]) == pytest.approx((1, 1))
    for one in seen.calibration():
        inside = (chances >= one.low) & (chances < one.high)
        assert one.share == pytest.approx(np.mean(y[inside] == "yes"), abs=0.01) and one.least <= one.share <= one.most


def test_a_table_gives_the_same_counts_and_is_charged_once() -> None:
    model, (x, y) = fitted(), drawn(60, 2)
    table = pl.DataFrame({"id": range(60), "x0": x[:, 0], "x1": x[:, 1], "y": y}).with_columns(
        x0=pl.when(pl.col("id") == 7).then(None).otherwise(pl.col("x0"))  # left out, either way
    )
    data = sf.Dataset(table, unit="id", between={"x0": (-3, 3), "x1": (-3, 3)}, categories={"y": ["no", "yes"]})
    session = data.session(limit=sf.ZCDP(10**10), ledger="memory:")
    asked = model.private_curves(session.table(), loss=SURE, max_rows=1)
    held = model.private_curves(table.select("x0", "x1"), table["y"], loss=SURE)
    assert np.array_equal(asked.noisy.round(1), held.noisy.round(1)) and asked.deviation == held.deviation
    assert session.spent == asked.release.loss == SURE and "uncharged" in str(held)
    assert asked.noisy.sum() == pytest.approx(59, abs=0.1)
    for wrong in ({"y": y}, {"max_rows": 0}, {"loss": None}, {"of": "ye"}, {"bins": 1}, {"bins": [0.5, 0.2]}):
        with pytest.raises(SfumatoError):
            model.private_curves(session.table(), **{"loss": SURE, "max_rows": 1, **wrong})
    assert session.spent == SURE


def test_a_row_is_in_one_cell_so_a_person_of_two_rows_moves_two() -> None:
    """The noise on each count is that of one count of at most so many rows of a person."""
    model, (x, y) = fitted(), drawn(40, 3)
    table = pl.DataFrame({"id": [place // 2 for place in range(40)], "x0": x[:, 0], "x1": x[:, 1], "y": y})
    data = sf.Dataset(table, unit="id", between={"x0": (-3, 3), "x1": (-3, 3)}, categories={"y": ["no", "yes"]})
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    one, two = (model.private_curves(session.table(), epsilon=1, max_rows=rows) for rows in (1, 2))
    assert "laplace(scale 1," in one.release.how.made and "laplace(scale 2," in two.release.how.made


def test_the_interval_of_the_area_covers_by_noise_and_by_drawing() -> None:
    """At level 90 % of 300 draws at least 247 cover: fewer have a probability below 10⁻⁵, and the draws are fixed."""
    edges, rng = read_edges(24), np.random.default_rng(5)
    odds = np.log(np.array(edges) / (1 - np.array(edges)))
    release: Any = None

    def counts(mean: float, rows: int) -> Floats:
        places = np.searchsorted(odds, rng.normal(mean, 1.5, rows), side="right")
        return np.bincount(places, minlength=24).astype(np.float64)

    truth = roc_auc_of(counts(-0.8, 200_000), counts(0.8, 200_000))
    covered, widths = 0, []
    for _ in range(300):
        noisy = np.stack([counts(-0.8, 900), counts(0.8, 300)]) + rng.normal(0, 6, (2, 24))
        seen = Curves("yes", edges, noisy, 6.0, True, release)
        low, high = seen.auc_interval(0.9)
        covered += low <= truth <= high
        widths.append(high - low)
    assert covered >= 247 and np.mean(widths) < 0.25


def roc_auc_of(rest: Floats, held: Floats) -> float:
    """The share of pairs in which the class is above the rest, ties half, written out."""
    above = np.array([rest[:place].sum() + rest[place] / 2 for place in range(len(rest))])
    return float(held @ above / held.sum() / rest.sum())


def test_running_totals_never_fall_and_keep_their_end() -> None:
    made = rising(np.array([5.0, -3.0, 4.0, -1.0, 2.0]))
    assert (made >= 0).all() and made.sum() == pytest.approx(7.0)
    assert rising(np.array([-5.0, 1.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("rows", [0, 1, 30], ids=["no rows", "one row", "one class"])
def test_nothing_in_the_data_makes_it_fail(rows: int) -> None:
    model, x = fitted(), np.zeros((rows, 2))
    seen = model.private_curves(x, np.full(rows, "yes"), epsilon=1, entropy=ReplayEntropy(4))
    assert 0 <= seen.auc <= 1 and seen.auc_interval() == (0.0, 1.0)  # it may be anything
    assert np.isfinite(seen.counts).all() and str(seen) and seen.plot().to_dict() and seen.calibration()


def test_scores_that_are_no_chances_have_a_curve_and_no_calibration() -> None:
    x, y = drawn(600)
    seen = LinearSVC(loss=SURE, **KNOWN).fit(x, y).private_curves(x, y, loss=SURE)
    assert 0.7 < seen.auc < 1 and "Calibration" not in str(seen)
    with pytest.raises(BadArgument, match="predicts chances"):
        seen.calibration()
    back = LinearSVC(loss=SURE, **KNOWN).fit(x, y).private_curves(x, y, of="no", loss=SURE)
    assert back.auc == pytest.approx(seen.auc, abs=0.01)  # the other class, from the other end


def test_of_three_classes_one_is_named() -> None:
    x, _ = drawn(300)
    y = np.where(x[:, 0] < -1, "low", np.where(x[:, 0] > 1, "high", "mid"))
    model = LogisticRegression(loss=SURE, between=(-3, 3), classes=["low", "mid", "high"]).fit(x, y)
    assert model.private_curves(x, y, of="high", loss=SURE).auc > 0.9
    with pytest.raises(BadArgument, match="one of low, mid, high"):
        model.private_curves(x, y, loss=SURE)
    line = LinearRegression(epsilon=1, between=(-3, 3), target_between=(-3, 3)).fit(x, x[:, 0])
    with pytest.raises(BadArgument, match="a classifier"):
        line.private_curves(x, x[:, 0], epsilon=1)


def test_each_row_is_predicted_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other rows there are must not move a score, even in its last bit."""
    model, (x, y) = fitted(), drawn(20, 6)
    predict, sizes = LogisticRegression.predict_proba, []

    def alone(self: LogisticRegression, X: Any) -> Floats:  # noqa: N803
        sizes.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(LogisticRegression, "predict_proba", alone)
    model.private_curves(x, y, epsilon=1)
    assert sizes == [1] * 20
