"""Above threshold with gaps: the law of whole transcripts, gaps and all, against the claim for plain answers."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.losses.divergence import max_divergence
from sfumato.accounting.losses.measures import Pure
from sfumato.audit.brute_force import neighbours
from sfumato.core.domains import Integers, Stream
from sfumato.core.law import FiniteLaw
from sfumato.core.metrics import LInf
from sfumato.core.space import Space
from sfumato.entropy import ReplayEntropy
from sfumato.errors import Exhausted
from sfumato.exact import ball, enclose, precision
from sfumato.mechanisms.above_threshold import above_threshold, below_threshold
from sfumato.mechanisms.sparse_vector import sparse_vector
from sfumato.noise.discrete_laplace import DiscreteLaplace

GENERAL = Space(Stream(Integers()), LInf())
MONOTONIC = Space(Stream(Integers()), LInf(monotonic=True))
HAIR = Fraction(1, 10**12)
MISSED, COARSE = Fraction(1, 10**4), Fraction(1, 100)


def ratio(left: arb, right: arb) -> Fraction:
    with precision(128):
        low, high = enclose(lambda: (left / right).log())
    assert high - low < HAIR
    return Fraction(high)


@pytest.mark.parametrize("space", [GENERAL, MONOTONIC], ids=["general", "monotonic"])
@pytest.mark.parametrize(("count", "query_scale"), [(1, "0.7"), (2, "1.5")])
def test_gaps_cost_nothing_on_any_pair(space: Space, count: int, query_scale: str) -> None:
    measurement = space >> sparse_vector(1, count=count, scale="0.5", query_scale=query_scale, gap=True)
    members = list(itertools.product(range(3), repeat=2 if count == 2 else 3))
    laws = {}
    for member in members:
        law = measurement.law(member)  # type: ignore[misc]
        laws[member] = {seen: law.probability(seen) for seen in law.outcomes(MISSED if count == 1 else COARSE)}
    claimed, worst = measurement.map(1), Fraction(0)
    for left, right in neighbours(space, members):
        shared = [seen for seen in laws[left] if seen in laws[right]]
        found = max_divergence({s: laws[left][s] for s in shared}, {s: laws[right][s] for s in shared})[1]
        worst = max(worst, Fraction(found))
    assert claimed.epsilon / 4 < worst <= claimed.epsilon + HAIR  # type: ignore[attr-defined]


@pytest.mark.parametrize(("space", "moved", "epsilon"), [(GENERAL, -1, 2), (MONOTONIC, 0, Fraction(3, 2))])
def test_the_claim_is_reached_with_gaps(space: Space, moved: int, epsilon: Fraction) -> None:
    measurement = space >> above_threshold(0, scale=1, gap=True)
    assert measurement.map(1) == Pure(epsilon)
    here, there = measurement.law([20] * 12 + [0]), measurement.law([21] * 12 + [moved])  # type: ignore[misc]
    seen = (None,) * 12 + (3,)
    found = ratio(here.probability(seen), there.probability(seen))
    assert epsilon - Fraction(1, 10**6) < found <= epsilon + HAIR


@pytest.mark.parametrize("count", [1, 2])
def test_the_law_with_gaps_is_a_distribution_and_its_hits_are_those_without(count: int) -> None:
    values = [1, 3]
    plain = (GENERAL >> sparse_vector(2, count=count, scale=1)).law(values)  # type: ignore[misc]
    with_gaps = (GENERAL >> sparse_vector(2, count=count, scale=1, gap=True)).law(values)  # type: ignore[misc]
    assert isinstance(plain, FiniteLaw)
    image: Counter[tuple[bool, ...]] = Counter()
    for seen in with_gaps.outcomes(MISSED if count == 1 else COARSE):
        image[tuple(answer is not None for answer in seen)] += float(with_gaps.probability(seen))  # type: ignore[assignment]
    assert sum(image.values()) == pytest.approx(1, abs=2e-4 if count == 1 else 0.02)
    for transcript, chance in plain.probabilities.items():
        assert image[transcript] == pytest.approx(float(chance), abs=2e-4 if count == 1 else 0.02)  # type: ignore[index]
    assert float(with_gaps.probability((0, 0, 0))) == 0
    assert float(with_gaps.probability((None,))) == 0


def value_probability(values: list[int], value: int, *, scale: Fraction, query_scale: Fraction) -> arb:
    """Gives the chance of misses, then a hit answered by its noisy value itself (threshold 0)."""
    noise, query = DiscreteLaplace(scale), DiscreteLaplace(query_scale)
    *misses, last = values
    with precision(128):
        chance = ball(0)
        for level in range(-200, value + 1):
            term = noise.pmf(level) * query.pmf(value - last)
            for one in misses:
                term *= query.cdf(level - one - 1)
            chance += term
        return chance


def test_releasing_the_noisy_value_instead_breaks_the_claim() -> None:
    claimed = (GENERAL >> above_threshold(0, scale=1, gap=True)).map(1).epsilon  # type: ignore[attr-defined]
    losses = []
    for misses in (2, 8, 20):
        here = value_probability([20] * misses + [0], 0, scale=Fraction(1), query_scale=Fraction(2))
        there = value_probability([21] * misses + [-1], 0, scale=Fraction(1), query_scale=Fraction(2))
        losses.append(ratio(here, there))
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] > 4 * claimed


def test_half_the_query_noise_breaks_the_claim() -> None:
    claimed = (GENERAL >> above_threshold(0, scale=1, gap=True)).map(1).epsilon  # type: ignore[attr-defined]
    wrong = GENERAL >> above_threshold(0, scale=1, query_scale=1, gap=True)
    here, there = wrong.law([20] * 12 + [0]), wrong.law([21] * 12 + [-1])  # type: ignore[misc]
    seen = (None,) * 12 + (3,)
    assert ratio(here.probability(seen), there.probability(seen)) > claimed + Fraction(1, 2)


def test_answers_are_gaps_in_the_unit_of_the_values() -> None:
    far = 10**6
    watch = (GENERAL >> sparse_vector(0, count=2, scale=1, gap=True))([-far, far, 2 * far, 1]).value
    miss, one, two = watch(), watch(), watch()
    assert miss is None and abs(one - far) < 10**4 and abs(two - 2 * far) < 10**4
    with pytest.raises(Exhausted):
        watch()
    halves = Space(Stream(Integers(step=Fraction(1, 2))), LInf())
    gap = (halves >> above_threshold(0, scale=1, gap=True))([far]).value()
    assert isinstance(gap, float) and abs(gap - far / 2) < 10**4 and (2 * gap).is_integer()
    below = (GENERAL >> below_threshold(0, scale=1, gap=True))([far, -far]).value
    assert below() is None and abs(below() - far) < 10**4


def test_gaps_follow_their_law() -> None:
    measurement = GENERAL >> above_threshold(1, scale=1, gap=True)
    entropy, runs = ReplayEntropy(11), 4000
    seen = Counter(measurement([2], entropy=entropy).value() for _ in range(runs))
    law = measurement.law([2])  # type: ignore[misc]

    def distance(wrong: float) -> float:
        cells = [None, 0, 1, 2, 3, 4, 5]
        chances = [float(law.probability((cell,))) * (wrong if cell is None else 1) for cell in cells]
        return sum((seen[cell] - runs * p) ** 2 / (runs * p) for cell, p in zip(cells, chances, strict=True))

    assert distance(1) < 24.3  # χ² with 7 degrees of freedom: one false alarm in 1000
    assert distance(0.8) > 24.3


def test_A2_023_alerts_by_composition_and_with_a_shared_threshold() -> None:
    sales, monotonic = 10, MONOTONIC
    for space, one, four in ((GENERAL, 20, 80), (monotonic, 15, 60)):
        assert (space >> above_threshold(100, scale=one)).map(sales) == Pure(1)
        assert (space >> above_threshold(100, scale=four)).map(sales).times(4) == Pure(1)
    shared = GENERAL >> sparse_vector(100, count=4, scale=20, query_scale=160)
    assert shared.map(sales) == Pure(1)
    restarted = (GENERAL >> above_threshold(100, scale=20, query_scale=160)).map(sales).times(4)
    assert restarted == Pure(Fraction(5, 2)), "a new threshold for each hit is paid for each time"
    for seeds_claim in (10, 40):
        assert (monotonic >> above_threshold(100, scale=seeds_claim)).map(sales).epsilon > Fraction(1, 4)  # type: ignore[attr-defined]


def test_A2_024_one_and_a_half_is_reached() -> None:
    measurement = MONOTONIC >> above_threshold(0, scale=1)
    here, there = measurement.law([0] * 100 + [-50]), measurement.law([1] * 100 + [-50])  # type: ignore[misc]
    seen = (False,) * 100 + (True,)
    found = ratio(here.probability(seen), there.probability(seen))
    assert float(found) == pytest.approx(1.5, abs=5e-4) and found <= Fraction(3, 2) + HAIR


def test_P2_033_restarted_after_every_hit_inside_a_composition() -> None:
    """k thresholds one after the other: each new one is a query to one compositor, and k times as much is charged."""
    alert = sf.vector(int) >> sf.query_stream() >> sf.above_threshold(50, scale=2)
    loss = alert.map(1)
    session = (sf.vector(int) >> sf.adaptive_composition([loss] * 3))([1] * 100, entropy=ReplayEntropy(3))
    assert session.loss == loss.times(3)
    many, none = sf.count(), sf.keep(sf.is_in([0])) >> sf.count()
    for _ in range(3):
        watch = session.value(alert)
        answers = [watch(none), watch(none), watch(many)]
        assert answers == [False, False, True]
    with pytest.raises(sf.errors.SfumatoError):
        session.value(alert)
