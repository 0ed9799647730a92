"""Above threshold and sparse vector: whole laws of transcripts, compared with the claimed loss on every small pair."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import pytest
from flint import acb

from sfumato.accounting.losses.measures import Pure
from sfumato.audit.brute_force import brute_epsilon, neighbours
from sfumato.core.domains import Integers, Stream
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf
from sfumato.core.space import Space
from sfumato.exact import ball, enclose, precision
from sfumato.mechanisms.above_threshold import above_threshold, below_threshold
from sfumato.mechanisms.sparse_vector import ThresholdRule, sparse_vector, transcript_law
from sfumato.noise.discrete_laplace import DiscreteLaplace

GENERAL = Space(Stream(Integers()), LInf())
MONOTONIC = Space(Stream(Integers()), LInf(monotonic=True))
HAIR = Fraction(1, 10**20)


def realised(measurement: Measurement, here: list[int], there: list[int], transcript: tuple[bool, ...]) -> Fraction:
    """Gives the loss of one transcript, which must be known to within a hair."""
    left, right = measurement.law(here), measurement.law(there)
    with precision(128):
        low, high = enclose(lambda: (left.probability(transcript) / right.probability(transcript)).log())
    assert high - low < HAIR
    return Fraction(high)


def worst_case(space: Space, *, count: int = 1) -> tuple[list[int], list[int], tuple[bool, ...]]:
    """Gives a long run of misses whose values move up, then hits that move down (or stay, where they may not)."""
    moved = 0 if space.metric.monotonic else -1
    return [20] * 12 + [0] * count, [21] * 12 + [moved] * count, (False,) * 12 + (True,) * count


def with_remembered_laws(measurement: Measurement) -> Measurement:
    """Works out the law of each member once; brute force asks for it again for every pair."""
    return replace(measurement, law=cache(measurement.law))


@pytest.mark.parametrize("space", [GENERAL, MONOTONIC], ids=["general", "monotonic"])
@pytest.mark.parametrize(("count", "scale", "query_scale"), [(1, "0.5", None), (1, 1, "0.7"), (2, "0.6", None)])
def test_no_pair_of_streams_loses_more_than_claimed(
    space: Space, count: int, scale: object, query_scale: object
) -> None:
    measurement = with_remembered_laws(space >> sparse_vector(1, count=count, scale=scale, query_scale=query_scale))
    members = list(product(range(3), repeat=3))
    for d_in in (1, 2):
        comparable = [pair for pair in neighbours(space, members, d_in=d_in) if pair[0] != pair[1]]
        assert len(comparable) > 100
        low, high = brute_epsilon(measurement, members, d_in=d_in)
        claimed = measurement.map(d_in)
        assert 0 < low <= high <= claimed.epsilon


def test_A1_109_general_loss_is_reached() -> None:
    measurement = GENERAL >> above_threshold(0, scale=1)
    assert measurement.map(1) == Pure(2)
    assert 2 - HAIR < realised(measurement, *worst_case(GENERAL)) <= 2 + HAIR


def test_A1_109_E1_18_monotonic_loss_is_one_and_a_half_and_not_one() -> None:
    measurement = MONOTONIC >> above_threshold(0, scale=1)
    assert measurement.map(1) == Pure(Fraction(3, 2))
    found = realised(measurement, *worst_case(MONOTONIC))
    assert Fraction(3, 2) - HAIR < found <= Fraction(3, 2) + HAIR
    wrong_claim = Fraction(1)
    assert found > wrong_claim + Fraction(1, 3)


@pytest.mark.parametrize(("space", "factor"), [(GENERAL, 2), (MONOTONIC, 1)], ids=["general", "monotonic"])
def test_every_hit_is_paid_for(space: Space, factor: int) -> None:
    scale, query_scale = Fraction(1), Fraction(3, 2)
    measurement = space >> sparse_vector(0, count=3, scale=scale, query_scale=query_scale)
    claimed = 1 / scale + factor * 3 / query_scale
    assert measurement.map(1) == Pure(claimed)
    found = realised(measurement, *worst_case(space, count=3))
    assert claimed - HAIR < found <= claimed + HAIR
    assert found > (space >> above_threshold(0, scale=scale, query_scale=query_scale)).map(1).epsilon


def test_misses_are_free() -> None:
    measurement = GENERAL >> above_threshold(0, scale=1)
    for length in (1, 4, 12):
        assert realised(measurement, [0] * length, [1] * length, (False,) * length) <= 1


@pytest.mark.parametrize("count", [1, 2])
def test_law_is_a_distribution_over_all_transcripts(count: int) -> None:
    law = (GENERAL >> sparse_vector(2, count=count, scale=1)).law([1, 3, 2])
    assert isinstance(law, FiniteLaw)
    with precision(128):
        low, high = enclose(lambda: sum(law.probabilities.values(), ball(0)))
    assert low <= 1 <= high
    assert high - low < HAIR
    assert all(sum(seen) <= count and (len(seen) == 3 or sum(seen) == count) for seen in law.probabilities)


def test_ties_count_as_hits() -> None:
    """With hardly any noise, a value equal to the threshold is a hit, and one just below it is none."""
    measurement = GENERAL >> above_threshold(5, scale="0.01")
    for value, expected in ((5, True), (4, False)):
        with precision(128):
            assert measurement.law([value]).probability((expected,)) > ball(Fraction(999, 1000))


def test_threshold_between_grid_points_is_read_exactly() -> None:
    whole, between = (GENERAL >> above_threshold(t, scale=1) for t in (5, "4.25"))
    assert realised(whole, [5], [5], (True,)) == pytest.approx(0)
    with precision(128):
        assert whole.law([4]).probability((True,)).overlaps(between.law([4]).probability((True,)))


def test_A1_116_low_variant_mirrors_the_high_one() -> None:
    high, low = GENERAL >> above_threshold(4, scale=1), GENERAL >> below_threshold(-4, scale=1)
    assert low.map(1) == high.map(1) == Pure(2)
    up, down = high.law([2, 3, 6]), low.law([-2, -3, -6])
    for transcript, chance in up.probabilities.items():
        assert down.probability(transcript).overlaps(chance)


def continuous(values: list[Fraction], *, threshold: int, scale: int, transcript: tuple[bool, ...]) -> float:
    """Integrates the law with continuous noise: Laplace of the scale on the threshold, of twice that on the values."""

    def tail(x: acb, centre: Fraction, width: int, *, beyond: bool) -> acb:
        away = (x - acb(ball(centre))) / width
        return (-away).exp() / 2 if beyond else 1 - away.exp() / 2

    def density(x: acb, middle: Fraction) -> acb:
        away = (x - threshold) / scale
        found = (-away if middle > threshold else away).exp() / (2 * scale)
        for value, hit in zip(values, transcript, strict=True):
            chance = tail(x, value, 2 * scale, beyond=middle > value)
            found *= chance if hit else 1 - chance
        return found

    corners = sorted({Fraction(threshold), *values})
    edges = [corners[0] - 60 * scale, *corners, corners[-1] + 60 * scale]
    total = acb(0)
    for start, end in pairwise(edges):
        middle = (start + end) / 2
        total += acb.integral(lambda x, _, at=middle: density(x, at), acb(ball(start)), acb(ball(end)))
    return float(total.real)


def on_grid(values: list[Fraction], *, threshold: int, scale: int, steps: int, transcript: tuple[bool, ...]) -> float:
    """Gives the same probability with our discrete noise, on a grid of 1 / steps."""
    rule = ThresholdRule(
        Integers(step=Fraction(1, steps)),
        threshold * steps,
        DiscreteLaplace(Fraction(scale * steps)),
        DiscreteLaplace(Fraction(2 * scale * steps)),
        1,
    )
    law = transcript_law(rule, [int(value * steps) for value in values], missed=Fraction(1, 10**5))
    return float(law.probability(transcript))


SALES = [Fraction("18.59"), Fraction("4.02"), Fraction("267.6")]


@pytest.mark.parametrize(
    ("values", "threshold", "scale", "steps", "transcript", "expected"),
    [
        pytest.param([2, 3, 6], 4, 1, 400, (False, False, True), 0.391490, id="A1_110"),
        pytest.param([2], 4, 1, 600, (False,), 0.777303, id="A1_110_first"),
        pytest.param([3, 5], 4, 1, 125, (False, True), 0.400250, id="A1_112"),
        pytest.param(SALES, 100, 10, 20, (False, False, True), 0.983231, id="A1_115_scale_10"),
        pytest.param(SALES, 100, 15, 20, (False, False, True), 0.929986, id="A1_115_scale_15"),
        pytest.param(SALES, 100, 20, 20, (False, False, True), 0.857327, id="A1_115_scale_20"),
    ],
)
def test_acceptance_probabilities(
    values: list[Fraction], threshold: int, scale: int, steps: int, transcript: tuple[bool, ...], expected: float
) -> None:
    exact = [Fraction(value) for value in values]
    textbook = continuous(exact, threshold=threshold, scale=scale, transcript=transcript)
    assert textbook == pytest.approx(expected, abs=6e-7)
    ours = on_grid(exact, threshold=threshold, scale=scale, steps=steps, transcript=transcript)
    assert ours == pytest.approx(expected, abs=1e-4)
