"""Keys that nobody listed: whole output distributions on all small neighbours, and the best chances there are."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import Approx
from sfumato.audit.brute_force import brute_delta, neighbours, outcome_probabilities
from sfumato.core.metrics import AddRemove, Hamming
from sfumato.core.space import vector
from sfumato.exact import ball, exp_down, exp_up, precision
from sfumato.mechanisms.stability import HistogramLaw, stability_histogram
from sfumato.mechanisms.unknown_keys import (
    KeyNoise,
    histogram,
    keep_chances,
    key_noise,
    one_row_delta,
    select_keys,
    selection_law,
    unknown_keys_loss,
)
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.transforms.mode_gap import tally

TINY = Fraction(1, 10**9)
PAIRS = [("1", "0.05"), ("1/2", "0.1"), ("2", "0.01"), ("1", "0.4"), ("3", "0.3")]


def columns(most: int, letters: str = "ab", least: int = 0) -> list[tuple[str, ...]]:
    sizes = range(least, most + 1)
    return [rows for size in sizes for rows in itertools.combinations_with_replacement(letters, size)]


def piles(most: int) -> list[tuple[str, ...]]:
    """Gives columns with many rows of one key and up to one of another."""
    return [("a",) * n + ("b",) * m for n in range(most + 1) for m in range(2)]


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
@pytest.mark.parametrize("kind", [histogram, select_keys])
def test_one_row_is_sound_and_tight(kind: object, epsilon: str, delta: str) -> None:
    allowed = Approx(Fraction(epsilon), Fraction(delta))
    measurement = vector(str) >> kind(loss=allowed)  # type: ignore[operator]
    claimed = measurement.map(1)
    assert claimed.within(allowed) and claimed.delta > allowed.delta * (1 - Fraction(1, 10**11))  # type: ignore[attr-defined]
    members = piles(len(key_noise(allowed.epsilon, allowed.delta).weights) + 2)  # type: ignore[arg-type]
    low, high = brute_delta(measurement, members, epsilon=allowed.epsilon)
    assert claimed.delta * (1 - TINY) <= low <= high <= claimed.delta * (1 + TINY)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_chances_obey_both_inequalities_exactly_for_all_counts(epsilon: str, delta: str) -> None:
    size, allowed = Fraction(epsilon), Fraction(delta)
    noise = key_noise(size, allowed)
    ratio = exp_down(size)
    for count in range(len(noise.weights) + 3):
        here, there = noise.chance_shown(count), noise.chance_shown(count + 1)
        assert there <= ratio * here + allowed and here <= ratio * there + allowed
        assert 1 - here <= ratio * (1 - there) + allowed and 1 - there <= ratio * (1 - here) + allowed


@pytest.mark.parametrize(("epsilon", "delta"), [*PAIRS, ("1", "1e-6"), ("0.1", "1e-6"), ("0.01", "1e-9")])
def test_no_private_method_keeps_a_key_more_often(epsilon: str, delta: str) -> None:
    """The recursion that bounds every method, with bounds on exp(ε) from above, is met to one part in 10^10."""
    size, allowed = Fraction(epsilon), Fraction(delta)
    noise, ratio = key_noise(size, allowed), exp_up(size)
    best, scale = Fraction(0), 1 << 200
    for count in range(1, min(len(noise.weights), 400) + 1):
        best = min(Fraction(1), ratio * best + allowed, 1 - (1 - best - allowed) / ratio)
        best = Fraction(math.ceil(best * scale), scale)
        kept = noise.chance_shown(count)
        assert best * (1 - Fraction(1, 10**10)) <= kept <= best
        assert 1 - kept <= (1 - best) * (1 + Fraction(1, 10**4)) + allowed * Fraction(1, 10**10)


def test_more_keys_are_kept_than_by_the_stability_histogram() -> None:
    noise = key_noise(Fraction(1, 10), Fraction(1, 10**6))
    plain = vector(str) >> stability_histogram(scale=10, delta=1e-6)
    (_, threshold) = plain.how.parameters[1]
    laplace = DiscreteLaplace(Fraction(10))
    for count in (1, 50, 100, 120, 140, 200):
        shown = float(laplace.upper_tail(int(threshold) - count + 1))
        assert float(noise.chance_shown(count)) >= shown
    assert float(noise.chance_shown(120)) > 0.8 > 0.3 > float(laplace.upper_tail(int(threshold) - 119))


@pytest.mark.parametrize("reach", [2, 5, 9])
def test_where_a_whole_number_fits_it_is_truncated_symmetric_noise(reach: int) -> None:
    """δ is what geometric noise cut off at ±k gives one row; the optimal noise is then that noise."""
    cut = Truncated.within(DiscreteLaplace(Fraction(2)), radius=reach)
    delta = Fraction(float(cut.upper_tail(reach))) * (1 + Fraction(1, 10**13))
    noise = key_noise(Fraction(1, 2), delta)
    low, high = noise.reach
    assert high == reach and low in (-reach, -reach - 1)
    for value in range(-reach, reach + 1):
        assert float(noise.index.pmf(value - low)) == pytest.approx(float(cut.pmf(value)), rel=1e-6)


def test_wrong_versions_fail() -> None:
    size, allowed = Fraction(1), Fraction(5, 100)
    noise = key_noise(size, allowed)
    assert one_row_delta(noise.weights, exp_down(size)) <= allowed
    lower_threshold = noise.weights[1:]
    assert one_row_delta(lower_threshold, exp_down(size)) > 2 * allowed
    half_the_noise = key_noise(2 * size, allowed).weights
    assert one_row_delta(half_the_noise, exp_down(size)) > 2 * allowed


def test_the_formula_is_the_hockey_stick_of_the_law() -> None:
    """Any weights, not only good ones: the closed form equals enumeration."""
    for weights in [(1, 2, 3, 2, 1), (5, 1, 1), (1, 1, 8, 1), (3,), (1, 30, 2, 2)]:
        noise = KeyNoise(Fraction(1, 3), weights)
        measurement = replace(
            vector(str) >> histogram(loss=Approx("1/3", "0.1")),
            law=lambda data, noise=noise: HistogramLaw(
                tuple(noise.shifted(tally(data)).items()), str, noise.index, noise.least_shown - 1
            ),
        )
        members = [("a",) * count for count in range(len(weights) + 3)]
        low, high = brute_delta(measurement, members, epsilon=Fraction(1, 3))
        assert low <= high <= noise.one_row.delta + TINY and low >= noise.one_row.delta - TINY


@pytest.mark.parametrize("metric", [None, Hamming(), AddRemove()])
def test_exchanged_rows_are_sound(metric: object) -> None:
    near = 2 if isinstance(metric, AddRemove) else 1
    allowed = Approx(2, "0.3")
    measurement = vector(str, size=4, metric=metric) >> histogram(loss=allowed, d_in=near)  # type: ignore[arg-type]
    claimed = measurement.map(near)
    assert claimed.within(allowed)
    if isinstance(metric, AddRemove):
        assert measurement.map(1) == Approx(0, 0)
    _, high = brute_delta(measurement, columns(4, "abc", 4), epsilon=claimed.epsilon, d_in=near)  # type: ignore[attr-defined]
    assert claimed.delta / 2 < high <= claimed.delta * (1 + TINY)  # type: ignore[attr-defined]


def test_several_rows_are_sound_and_tight_on_one_key() -> None:
    allowed = Approx(1, "0.05")
    measurement = vector(str) >> histogram(loss=allowed, d_in=2)
    claimed = measurement.map(2)
    assert claimed.within(allowed)
    low, high = brute_delta(measurement, [*columns(3), *piles(9)], epsilon=claimed.epsilon, d_in=2)  # type: ignore[attr-defined]
    assert claimed.delta * (1 - TINY) <= low <= high <= claimed.delta * (1 + TINY)  # type: ignore[attr-defined]
    split = one_row_delta(key_noise(Fraction(1, 2), Fraction(25, 1000)).weights, exp_down(Fraction(1, 2)))
    assert unknown_keys_loss(Approx("1/2", split), 2, exchanged=False).delta > allowed.delta, "δ / 2 each is too much"


@pytest.mark.parametrize("rows", [1, 2, 7, 300])
@pytest.mark.parametrize("size", [None, 1000])
def test_what_was_asked_for_is_kept_at_its_distance(rows: int, size: int | None) -> None:
    allowed = Approx("0.7", "1e-7")
    measurement = vector(str, size=size) >> select_keys(loss=allowed, d_in=rows)
    claimed = measurement.map(rows)
    assert claimed.within(allowed)
    assert claimed.epsilon == allowed.epsilon and claimed.delta > allowed.delta * Fraction(99, 100)  # type: ignore[attr-defined]
    assert measurement.map(0) == Approx(0, 0)
    assert measurement.map(math.inf) == (Approx(math.inf, 1) if size is None else measurement.map(size))


def test_selection_is_the_histogram_without_its_counts() -> None:
    loss = Approx(1, "0.1")
    counted, listed = vector(str) >> histogram(loss=loss), vector(str) >> select_keys(loss=loss)
    data = ("b", "a", "a", "b", "b", "c")
    image: dict[tuple[str, ...], object] = {}
    with precision(128):
        for pairs, chance in outcome_probabilities(counted, data).items():
            shown = tuple(key for key, _ in pairs)
            image[shown] = image.get(shown, ball(0)) + chance  # type: ignore[operator]
        law = outcome_probabilities(listed, data)
        assert all(
            law[shown].overlaps(chance) or abs(float(law[shown]) - float(chance)) < 1e-15
            for shown, chance in image.items()
        )  # type: ignore[arg-type]
        assert abs(float(sum(law.values())) - 1) < 1e-15


def test_a_key_of_one_row_shows_with_at_most_delta() -> None:
    law = selection_law(tally(("a",)), str, key_noise(Fraction(1), Fraction(1, 10**6)))
    assert float(law.probability(("a",))) == pytest.approx(1e-6, rel=1e-9)
    assert float(law.probability(())) == pytest.approx(1 - 1e-6)


def test_least_grid_chances_end_at_certainty() -> None:
    assert keep_chances(Fraction(2), part=8, whole=16) == (0, 8, 16)
    assert keep_chances(Fraction(1), part=4, whole=16) == (0, 4, 8, 12, 16)


def test_pairs_of_keys_together_cost_no_more_than_claimed() -> None:
    measurement = vector(str) >> select_keys(loss=Approx(1, "0.2"))
    claimed = measurement.map(1)
    laws = {rows: outcome_probabilities(measurement, rows) for rows in columns(5, "abc")}
    for left, right in neighbours(measurement.source, laws, d_in=1):
        assert hockey_stick(laws[left], {k: laws[right].get(k, ball(0)) for k in laws[left]}, Fraction(1))[1] <= (
            claimed.delta * (1 + TINY)  # type: ignore[attr-defined]
        )
