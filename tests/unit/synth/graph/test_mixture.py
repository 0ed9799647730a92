"""Mixtures of products: marginals and slopes by brute force, fits with and without noise, rows by exact rounding."""

from itertools import combinations

import numpy as np
import pytest

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured
from sfumato.synth.graph.misfit import merged, misfit_of
from sfumato.synth.graph.mixing import Descent, Fitter, blocks_of, fit_mixture, normal
from sfumato.synth.graph.mixture import Mixture, joined

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 1, 4))


def uniform(shape, seed):
    words = ReplayEntropy(seed).words(int(np.prod(shape)))
    return ((words >> np.uint64(11)).astype(float) * 2.0**-53).reshape(shape)


def made_up(domain=DOMAIN, components=5, total=1000.0, seed=1, power=2.0):
    weights, shares = uniform(components, seed), uniform((components, sum(domain.sizes)), seed + 1) ** power + 1e-3
    return Mixture(domain, total, weights, shares)


def whole(mixture):
    """The table of all columns, cell by cell."""
    table = np.zeros(mixture.domain.sizes)
    for weight, shares in zip(mixture.weights, mixture.shares, strict=True):
        cells = np.array(weight)
        for part in mixture.parts:
            cells = np.multiply.outer(cells, shares[part])
        table += cells
    return mixture.total * table


def brute(mixture, columns):
    axes = mixture.domain.axes(columns)
    others = tuple(axis for axis in range(len(mixture.domain.names)) if axis not in axes)
    summed = whole(mixture).sum(axis=others)
    return summed.transpose(np.argsort(np.argsort(axes)))


def noisy(mixture, cliques, deviation, seed=7):
    source = ReplayEntropy(seed)
    tables = [mixture.marginal(clique) for clique in cliques]
    return [
        Measured(clique, table + deviation * normal(table.size, source).reshape(table.shape), deviation)
        for clique, table in zip(cliques, tables, strict=True)
    ]


def distance(mixture, other, cliques):
    """The mean total variation distance of tables."""
    apart = [
        np.abs(mixture.marginal(clique) / mixture.total - other.marginal(clique) / other.total).sum() / 2
        for clique in cliques
    ]
    return np.mean(apart)


@pytest.mark.parametrize("columns", [("a",), ("d", "a"), ("b", "d"), ("d", "b", "a"), ("a", "b", "c", "d"), ("c",)])
def test_marginals_are_sums_of_the_whole_table(columns):
    mixture = made_up()
    assert np.allclose(mixture.marginal(columns), brute(mixture, columns))
    assert np.isclose(mixture.marginal(columns).sum(), 1000)
    asked = [columns, *combinations(DOMAIN.names, 2)]
    for one, table in zip(asked, mixture.marginals(asked), strict=True):
        assert np.allclose(table, brute(mixture, one))
    assert mixture.marginal(()) == 1000


def measurements():
    other = made_up(seed=20)
    ranges = np.tril(np.ones((6, 6)))
    return [
        *noisy(other, [("a",), ("b",), ("d",)], 3.0),
        *noisy(other, [("a", "b"), ("a", "d"), ("b", "c"), ("b", "d")], 5.0),
        *noisy(other, [("a", "b", "d"), ("a", "b", "c"), ("a", "b", "c", "d")], 8.0),
        Measured(("a", "b"), ranges @ other.marginal(("a", "b")).ravel(), 4.0, ranges),
        Measured(("d",), np.ones((1, 4)) @ other.marginal(("d",)), 4.0, np.ones((1, 4))),
    ]


@pytest.mark.parametrize("at_once", [True, False], ids=["pairs at once", "pair by pair"])
def test_the_misfit_is_the_weighted_sum_of_squares(at_once, monkeypatch):
    monkeypatch.setattr("sfumato.synth.graph.misfit.LEAST_SHARE", 0.0 if at_once else 2.0)
    mixture, measured = made_up(), measurements()
    misfit = misfit_of(DOMAIN, measured, mixture.total)
    assert (misfit.pairs is not None) == at_once
    expected = 0.0
    for one in measured:
        table = brute(mixture, one.columns)
        answers = table if one.queries is None else one.queries @ table.ravel()
        expected += ((answers - one.counts) ** 2).sum() / (2 * one.deviation**2)
    value, _, _ = misfit.at(mixture.weights.astype(np.float32), mixture.shares.astype(np.float32))
    assert np.isclose(value, expected, rtol=1e-4)


@pytest.mark.parametrize("at_once", [True, False], ids=["pairs at once", "pair by pair"])
def test_slopes_are_differences_of_the_misfit(at_once, monkeypatch):
    monkeypatch.setattr("sfumato.synth.graph.misfit.LEAST_SHARE", 0.0 if at_once else 2.0)
    misfit = misfit_of(DOMAIN, measurements(), 1000.0)
    descent = Descent(misfit, np.zeros(10, np.float32), 0.0, blocks_of(DOMAIN))
    point = (uniform((5, 11), 3) * 2 - 1).astype(np.float32)
    slope, moved = descent.slope(point.copy()), 2e-2
    for place in np.ndindex(*point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[place] += moved
        behind[place] -= moved
        difference = (misfit.at(*descent.shown(ahead))[0] - misfit.at(*descent.shown(behind))[0]) / (2 * moved)
        assert np.isclose(difference, slope[place], rtol=2e-2, atol=2e-3 * np.abs(slope).max())


def test_the_pull_draws_logarithms_to_the_columns_by_themselves():
    nothing = misfit_of(DOMAIN, [Measured(("a",), np.full(2, 500.0), 1e9)], 1000.0)
    descent = Descent(nothing, np.zeros(10, np.float32), 3.0, blocks_of(DOMAIN))
    point = np.ones((2, 11), np.float32)
    assert np.allclose(descent.slope(point)[:, :-1], 1.5, rtol=1e-3)


def test_several_answers_about_one_table_are_averaged_by_their_variance():
    first, second = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T + 5
    [one] = merged(DOMAIN, [Measured(("a", "b"), first, 1.0), Measured(("b", "a"), second, 2.0)])
    assert one.columns == ("a", "b")
    assert np.allclose(one.counts, first + 1)
    assert np.isclose(one.deviation, np.sqrt(4 / 5))


def test_a_fit_to_exact_marginals_has_these_marginals():
    truth = made_up(power=4.0)
    cliques = list(combinations(DOMAIN.names, 2))
    exact = [Measured(clique, truth.marginal(clique), 0.0) for clique in cliques]
    fitted = fit_mixture(DOMAIN, exact, components=30)
    assert np.isclose(fitted.total, 1000)
    assert distance(fitted, truth, cliques) < 2e-4
    triples = [Measured(clique, truth.marginal(clique), 0.0) for clique in combinations(DOMAIN.names, 3)]
    assert distance(fit_mixture(DOMAIN, triples, components=30), truth, [("a", "b", "d")]) < 1e-3


WIDE = Domain(tuple("abcdefgh"), (5,) * 8)
PAIRS = list(combinations(WIDE.names, 2))


def test_the_size_that_is_chosen_takes_away_noise_and_keeps_what_there_is():
    truth = made_up(WIDE, components=4, total=10_000.0, power=3.0)
    measured = noisy(truth, PAIRS, 60.0)
    fitted, large = fit_mixture(WIDE, measured), fit_mixture(WIDE, measured, components=256, members=2)
    raw = np.mean([np.abs(one.counts / 1e4 - truth.marginal(one.columns) / 1e4).sum() / 2 for one in measured])
    assert distance(fitted, truth, PAIRS) < 0.6 * raw
    assert distance(fitted, truth, PAIRS) < distance(large, truth, PAIRS)
    misfit = misfit_of(WIDE, measured, fitted.total)
    value, _, _ = misfit.at(fitted.weights.astype(np.float32), fitted.shares.astype(np.float32))
    # Half the sum of squares of noise alone is half the number of answers; what follows noise has much less.
    assert 0.6 < value / (misfit.answers / 2) < 1.2
    value, _, _ = misfit.at(large.weights.astype(np.float32), large.shares.astype(np.float32))
    assert value / (misfit.answers / 2) < 0.5


def test_where_columns_are_independent_one_component_is_chosen():
    truth = made_up(WIDE, components=1, total=10_000.0)
    fitted = fit_mixture(WIDE, noisy(truth, PAIRS, 200.0))
    assert len(fitted.weights) == 1
    assert distance(fitted, truth, PAIRS) < 0.05


def test_the_answers_that_a_size_is_judged_by_have_other_noise():
    one = Measured(("a",), np.zeros(100_000), 3.0)
    fitter = Fitter(Domain(("a",), (100_000,)), [one], 1.0, 1, 0.0, ReplayEntropy(1))
    kept, judged = fitter._split(one, 3.0)
    assert np.isclose(np.var(kept.counts), 9 * 0.36, rtol=0.05)
    # The noise of the answers themselves has variance 9 here: with it, the two have covariance 0.
    assert np.isclose(np.mean(kept.counts * judged.counts), -9, rtol=0.05)


def test_a_fit_goes_on_from_another_one():
    truth = made_up(WIDE, components=4, total=10_000.0, power=3.0)
    measured = noisy(truth, PAIRS, 20.0)
    first = fit_mixture(WIDE, measured, components=6, members=1)
    again = fit_mixture(WIDE, measured, start=first, steps=0)
    assert np.allclose(again.shares, first.shares, atol=1e-5)
    further = fit_mixture(WIDE, measured, start=first, steps=50)
    assert distance(further, truth, PAIRS) < 1.3 * distance(first, truth, PAIRS)
    with pytest.raises(BadArgument, match="same columns"):
        fit_mixture(DOMAIN, [], start=first)


def test_the_same_bits_make_the_same_model_and_the_same_rows():
    measured = noisy(made_up(), list(combinations(DOMAIN.names, 2)), 10.0)
    first, second = (fit_mixture(DOMAIN, measured, entropy=ReplayEntropy(5)) for _ in range(2))
    assert np.array_equal(first.shares, second.shares)
    assert np.array_equal(first.sample(100, ReplayEntropy(1)), second.sample(100, ReplayEntropy(1)))
    assert np.array_equal(fit_mixture(DOMAIN, measured).shares, fit_mixture(DOMAIN, measured).shares)


def test_rows_have_the_counts_that_are_expected_up_to_rounding():
    mixture = made_up(components=3)
    rows = mixture.sample(10_000, ReplayEntropy(3))
    assert rows.shape == (10_000, 4)
    assert rows.dtype == np.uint8
    for axis, name in enumerate(DOMAIN.names):
        counts = np.bincount(rows[:, axis], minlength=DOMAIN.sizes[axis])
        # Each of three components is rounded once, and each code within it once more.
        assert np.abs(counts - 10 * mixture.marginal([name])).max() <= 6
    pairs = np.zeros((3, 4))
    np.add.at(pairs, (rows[:, 1], rows[:, 3]), 1)
    assert np.abs(pairs / 10_000 - mixture.marginal(("b", "d")) / 1000).sum() / 2 < 0.02
    # The order of the rows says nothing.
    assert abs(rows[:5000, 3].mean() - rows[5000:, 3].mean()) < 0.1
    assert mixture.sample(0, ReplayEntropy(1)).shape == (0, 4)
    assert mixture.sample(1, ReplayEntropy(1)).shape == (1, 4)


def test_rows_of_one_component_are_rounded_exactly():
    mixture = Mixture(Domain(("a", "b"), (2, 4)), 1.0, np.ones(1), np.array([[0.5, 0.5, 0.1, 0.2, 0.3, 0.4]]))
    rows = mixture.sample(1000, ReplayEntropy(1))
    assert np.bincount(rows[:, 0]).tolist() == [500, 500]
    assert np.abs(np.bincount(rows[:, 1]) - [100, 200, 300, 400]).max() <= 1


def test_given_codes_weigh_the_components():
    mixture = made_up(components=3, power=4.0)
    rows = mixture.sample(20_000, ReplayEntropy(3), {"b": 1})
    assert (rows[:, 1] == 1).all()
    wanted = mixture.marginal(("b", "d"))[1]
    assert np.abs(np.bincount(rows[:, 3], minlength=4) / 20_000 - wanted / wanted.sum()).max() < 1e-3
    each = np.arange(20_000) % 2
    rows = mixture.sample(20_000, ReplayEntropy(3), {"a": each, "c": 0})
    assert np.array_equal(rows[:, 0], each)
    for code in (0, 1):
        wanted = mixture.marginal(("a", "d"))[code]
        counts = np.bincount(rows[each == code, 3], minlength=4) / 10_000
        # Codes are rounded for all rows of a component, those with other given codes among them.
        assert np.abs(counts - wanted / wanted.sum()).max() < 0.02
    for bad in ({"a": 2}, {"a": np.array([0, 1])}, {"a": 0.5}, {"z": 0}):
        with pytest.raises(BadArgument):
            mixture.sample(5, ReplayEntropy(3), bad)


def test_codes_that_cannot_be_together_still_draw_rows():
    shares = np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1]])
    mixture = Mixture(Domain(("a", "b"), (2, 2)), 1.0, np.ones(2), shares)
    assert mixture.sample(10, ReplayEntropy(1), {"a": 0, "b": 1}).tolist() == [[0, 1]] * 10


def test_a_model_comes_back_from_its_plain_form_to_the_bit():
    mixture = fit_mixture(DOMAIN, noisy(made_up(), [("a", "b"), ("b", "d")], 10.0))
    again = Mixture.from_plain(mixture.plain())
    assert np.array_equal(again.shares, mixture.shares)
    assert np.array_equal(again.weights, mixture.weights)
    assert again.domain == mixture.domain
    assert again.total == mixture.total
    for bad in ({}, {**mixture.plain(), "weights": [1.0]}, {**mixture.plain(), "shares": "x"}):
        with pytest.raises(BadArgument):
            Mixture.from_plain(bad)


def test_the_average_of_mixtures_has_the_average_of_their_marginals():
    first, second = made_up(seed=1), made_up(seed=5)
    both = joined([first, second])
    assert np.allclose(2 * both.marginal(("b", "d")), first.marginal(("b", "d")) + second.marginal(("b", "d")))


@pytest.mark.parametrize(
    "counts",
    [np.full((2, 3), -5.0), np.full((2, 3), np.nan), np.zeros((2, 3)), np.full((2, 3), np.inf)],
    ids=["negative", "no numbers", "zero", "infinite"],
)
def test_whatever_noise_makes_of_counts_gives_a_model(counts):
    fitted = fit_mixture(DOMAIN, [Measured(("a", "b"), counts, 1.0)])
    assert fitted.total >= 1
    assert np.isfinite(fitted.marginal(DOMAIN.names)).all()
    assert np.isclose(fitted.marginal(("d",)).sum(), fitted.total)


def test_nothing_measured_and_one_code_and_one_column_are_defined():
    nothing = fit_mixture(DOMAIN, [])
    assert nothing.total == 1
    one = fit_mixture(Domain(("a",), (1,)), [Measured(("a",), np.array([50.0]), 2.0)])
    assert np.allclose(one.marginal(("a",)), [50])
    assert one.sample(3, ReplayEntropy(1)).tolist() == [[0]] * 3
    single = fit_mixture(Domain(("a",), (3,)), [Measured(("a",), np.array([50.0, 30, 20]), 0.1)], total=0)
    assert single.total == 1


def test_what_is_not_measured_stays_apart():
    """Pairs that nothing was measured of are close to independent, whatever the mixtures started from."""
    truth = made_up(WIDE, components=4, total=10_000.0, power=3.0)
    fitted = fit_mixture(WIDE, noisy(truth, [(name,) for name in WIDE.names], 20.0))
    for one, other in PAIRS:
        apart = np.outer(fitted.marginal([one]), fitted.marginal([other])) / fitted.total
        assert np.abs(apart - fitted.marginal((one, other))).sum() / 2 < 0.03 * fitted.total


def test_bad_arguments_are_refused():
    good = [Measured(("a", "b"), np.ones((2, 3)), 1.0)]
    for bad in ({"components": 0}, {"members": 0}, {"total": -1.0}, {"total": float("nan")}, {"steps": -1}):
        with pytest.raises(BadArgument):
            fit_mixture(DOMAIN, good, **bad)
    for measured in ([Measured(("a", "z"), np.ones((2, 3)), 1.0)], [Measured(("a", "b"), np.ones((3, 2)), 1.0)]):
        with pytest.raises(BadArgument):
            fit_mixture(DOMAIN, measured)
    with pytest.raises(BadArgument, match="different"):
        made_up().marginal(("a", "a"))
    for weights, shares in (
        (np.ones(2), np.ones((2, 9))),
        (np.zeros(1), np.ones((1, 10))),
        (np.ones(1), -np.ones((1, 10))),
    ):
        with pytest.raises(BadArgument):
            Mixture(DOMAIN, 1.0, weights, shares)
