"""Public rows with weights: marginals and slopes by brute force, rows, PMWPub held and behind a ledger, refusals."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, ClaimRequired
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured
from sfumato.synth.graph.mixture import Mixture
from sfumato.synth.graph.reweighted import Reweighting, WeightedRows, reweighted, rows_of
from sfumato.synth.independent import Independent
from sfumato.synth.public import PMWPub

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
KEYS = {"a": [0, 1], "b": [0, 1, 2], "c": [0, 1, 2, 3]}
PAIRS = list(combinations(DOMAIN.names, 2))
CLAIM = sf.claim("published by the office of statistics")


def rows(count, seed, shift=0.0):
    draw = np.random.default_rng(seed)
    a = (draw.random(count) < 0.4 + shift).astype(int)
    b = np.where(draw.random(count) < 0.8, a, draw.integers(0, 3, count))
    c = np.where(draw.random(count) < 0.7, a + b, draw.integers(0, 4, count))
    return np.stack([a, b, c], axis=1)


def frame(count, seed, shift=0.0):
    return pl.DataFrame(rows(count, seed, shift), schema=list(DOMAIN.names))


def table_of(codes, columns):
    counts = np.zeros(DOMAIN.shape(columns))
    np.add.at(counts, tuple(codes[:, axis] for axis in DOMAIN.axes(columns)), 1)
    return counts


def uniform_mixture(total=100.0):
    return Mixture(DOMAIN, total, np.ones(1), np.ones((1, 9)))


def distance(model, codes):
    """The mean total variation distance of pairs; what has no code of its own comes last, and is nothing here."""
    apart = []
    for pair in PAIRS:
        expected = model.marginal(pair)
        counts = np.zeros(expected.shape)
        np.add.at(counts, tuple(codes[:, axis] for axis in DOMAIN.axes(pair)), 1)
        apart.append(np.abs(expected / expected.sum() - counts / len(codes)).sum() / 2)
    return np.mean(apart)


def test_marginals_are_weighted_counts_and_a_share_of_the_rest():
    codes = rows(50, 1).astype(np.uint8)
    plain = rows_of(DOMAIN, codes, uniform_mixture(), smoothing=0.0)
    assert np.allclose(plain.marginal(("c", "a")), 2 * table_of(codes, ("c", "a")))
    mixed = rows_of(DOMAIN, codes, uniform_mixture(), smoothing=0.25)
    assert np.allclose(mixed.marginal(("a", "b")), 1.5 * table_of(codes, ("a", "b")) + 25 / 6)
    assert len(np.unique(plain.codes, axis=0)) == len(plain.codes)


def test_slopes_are_differences_of_the_misfit():
    model = rows_of(DOMAIN, rows(50, 1).astype(np.uint8), uniform_mixture(), smoothing=0.1)
    ranges = np.tril(np.ones((6, 6)))
    measured = [
        Measured(("a", "c"), table_of(rows(100, 2), ("a", "c")), 2.0),
        Measured(("a", "b"), ranges @ table_of(rows(100, 2), ("a", "b")).ravel(), 3.0, ranges),
    ]
    fit = Reweighting.of(model, measured, 100.0)
    start = np.log(model.weights)
    _, slope = fit.at(start)
    for place in range(len(start)):
        ahead, behind = start.copy(), start.copy()
        ahead[place] += 1e-5
        behind[place] -= 1e-5
        by_logarithm = (fit.at(ahead)[0] - fit.at(behind)[0]) / 2e-5
        assert np.isclose(by_logarithm, model.weights[place] * slope[place], atol=1e-4)


def test_weights_fit_exact_tables_that_they_can_fit():
    private = rows(5000, 2, shift=0.3)
    start = rows_of(DOMAIN, rows(500, 1).astype(np.uint8), uniform_mixture(), smoothing=0.0)
    exact = [Measured(pair, table_of(private, pair), 0.0) for pair in PAIRS]
    fitted = reweighted(start, exact, sweeps=3000)
    assert fitted.total == pytest.approx(5000)
    assert distance(start, private) > 0.2
    assert distance(fitted, private) < 0.01


def test_weights_stop_where_noise_begins():
    public, noise = rows(2000, 1), np.random.default_rng(3)
    start = rows_of(DOMAIN, public.astype(np.uint8), uniform_mixture(2000), smoothing=0.0)
    noisy = [
        Measured(pair, table_of(public, pair) + 30 * noise.normal(size=DOMAIN.shape(pair)), 30.0) for pair in PAIRS
    ]
    fitted = reweighted(start, noisy, total=2000)
    fit = Reweighting.of(fitted, noisy, 2000)
    assert fit.at(np.log(fitted.weights))[0] <= 1.01 * fit.noise or np.array_equal(fitted.weights, start.weights)
    assert distance(fitted, public) < 0.02


def test_rows_come_as_often_as_their_weight_says():
    model = rows_of(DOMAIN, rows(50, 1).astype(np.uint8), uniform_mixture(), smoothing=0.0)
    drawn = model.sample(1000, ReplayEntropy(1))
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert set(map(tuple, found)) <= set(map(tuple, model.codes))
    expected = {tuple(row): 1000 * weight for row, weight in zip(model.codes, model.weights, strict=True)}
    assert all(abs(count - expected[tuple(row)]) <= 1 for row, count in zip(found, counts, strict=True))
    assert model.sample(0, ReplayEntropy(1)).shape == (0, 3)
    mixed = rows_of(DOMAIN, rows(50, 1).astype(np.uint8), uniform_mixture(), smoothing=0.5)
    assert len(np.unique(mixed.sample(5000, ReplayEntropy(1)), axis=0)) == 24


def test_given_codes_choose_among_the_rows_and_else_among_the_rest():
    model = rows_of(DOMAIN, np.array([[0, 0, 1], [0, 1, 2], [1, 1, 3]], np.uint8), uniform_mixture(), smoothing=0.0)
    drawn = model.sample(100, ReplayEntropy(1), {"a": 0})
    assert set(map(tuple, drawn)) == {(0, 0, 1), (0, 1, 2)}
    lacking = model.sample(100, ReplayEntropy(1), {"b": 2})
    assert (lacking[:, 1] == 2).all()
    each = model.sample(4, ReplayEntropy(1), {"a": np.array([0, 1, 1, 0])})
    assert each[1].tolist() == each[2].tolist() == [1, 1, 3]
    with pytest.raises(BadArgument):
        model.sample(4, ReplayEntropy(1), {"a": 7})


def test_a_model_comes_back_from_its_plain_form_to_the_bit():
    model = rows_of(DOMAIN, rows(50, 1).astype(np.uint8), uniform_mixture(), smoothing=0.1)
    again = WeightedRows.from_plain(model.plain())
    assert np.array_equal(again.weights, model.weights)
    assert np.array_equal(again.sample(100, ReplayEntropy(1)), model.sample(100, ReplayEntropy(1)))
    with pytest.raises(BadArgument):
        WeightedRows.from_plain({})


def test_public_rows_that_are_alike_beat_independent_columns_within_the_loss():
    data, public, loss = frame(3000, 5, shift=0.1), frame(3000, 6), sf.ZCDP(0.01)
    made = PMWPub(public=public, claim=CLAIM, loss=loss).fit(data, categories=KEYS, entropy=ReplayEntropy(1))
    alone = Independent(loss=loss).fit(data, categories=KEYS, entropy=ReplayEntropy(1))
    assert sum((one.amounts[0] for _, one in made.spent), Fraction(0)) == Fraction(1, 100)
    assert distance(made, data.to_numpy()) < 0.4 * distance(alone, data.to_numpy())
    assert "public rows" in made.notes[1]
    assert made.sample(10).shape == (10, 3)


def test_a_session_is_charged_and_its_release_shows_the_claim():
    data = frame(2000, 5).with_columns(id=pl.Series(np.arange(2000)))
    session = sf.Dataset(data, unit="id", categories=KEYS).session(limit=sf.ZCDP(2), ledger="memory:")
    with pytest.raises(ClaimRequired, match="public"):
        PMWPub(public=frame(100, 6), loss=sf.ZCDP(1)).fit(session.table(), max_rows=1)
    assert session.spent == sf.ZCDP(0)
    made = PMWPub(public=frame(100, 6), claim=CLAIM, loss=sf.ZCDP(1)).fit(session.table(), max_rows=1, key="weights")
    again = PMWPub(public=frame(100, 6), claim=CLAIM, loss=sf.ZCDP(1)).fit(session.table(), max_rows=1, key="weights")
    assert session.spent == sf.ZCDP(1)
    assert np.array_equal(made.model.weights, again.model.weights)
    assert CLAIM.text in [one.text for one in made.release.how.claims]


@pytest.mark.parametrize(
    "settings",
    [
        {"public": frame(5, 1).select("a", "b")},
        {"public": frame(5, 1)[:0]},
        {"smoothing": 2},
        {"smoothing": "much"},
        {"rounds": 0},
        {"workload": [("a", "z")]},
    ],
    ids=lambda one: next(iter(one)),
)
def test_what_cannot_be_is_refused(settings):
    with pytest.raises(BadArgument):
        PMWPub(**{"public": frame(5, 1), "claim": CLAIM, "loss": sf.ZCDP(1), **settings}).fit(
            frame(50, 2), categories=KEYS
        )


def test_values_without_a_code_share_the_last_one_and_one_public_row_is_enough():
    public = pl.DataFrame({"a": [0, 9], "b": [1, 1], "c": [2, 2]})
    recipe = PMWPub(public=public, claim=CLAIM, loss=sf.ZCDP(1))
    made = recipe.fit(frame(50, 2), categories=KEYS, entropy=ReplayEntropy(1))
    assert made.model.codes.tolist() == [[0, 1, 2], [2, 1, 2]]
    for count in (0, 1):
        few = PMWPub(public=public[:1], claim=CLAIM, loss=sf.ZCDP(1)).fit(frame(50, 2)[:count], categories=KEYS)
        assert few.sample(3).shape == (3, 3)
