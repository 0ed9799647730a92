"""The exact auditor: what is true passes, what is tight is called so, and every kind of lie is caught."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.measurements import EXAMPLES, Example
from tests.profiles import examples

import sfumato as sf
from sfumato.accounting.losses.concentrated import ApproxZCDP
from sfumato.accounting.losses.divergence import renyi
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.renyi.mechanism_curves import Linear
from sfumato.audit import divergences, exact
from sfumato.audit.brute_force import brute_delta, brute_epsilon, brute_renyi, neighbours
from sfumato.audit.divergences import (
    chord_bound,
    concentrated_rho,
    gaussian_mu,
    pure_epsilon,
    renyi_divergence,
    uncovered,
)
from sfumato.audit.exact import _in_order, every_member
from sfumato.audit.record import Verdict
from sfumato.audit.tables import LawPair, folded, side_by_side
from sfumato.core.law import FiniteLaw, Law, MixtureLaw, ProductLaw, ShiftedLaw
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NotInDomain, PromiseBroken
from sfumato.exact import BITS, Extended, ball, log_up, precision, upper
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

COARSE = Fraction(1, 10**6)
letters = ["a", "b"]
columns: list[list[str]] = [[], ["a"], ["b"], ["a", "a"], ["a", "b"]]
scores = [[a, b, c] for a in range(3) for b in range(3) for c in range(3)]
response = sf.scalar(bool) >> sf.randomized_response(p="0.75")
three = Fraction(log_up(Fraction(3)))

TIGHT = {
    *("laplace", "gaussian", "censored_laplace", "staircase", "binomial", "truncated_laplace", "upper_estimate"),
    *("lower_estimate", "local_laplace", "local_mean_response", "randomized_response", "coin_flip_response"),
    *("matrix_mechanism", "name_and_shame", "permute_and_flip", "laplace_noisy_max_with_lead", "stability_histogram"),
    *(
        "private_mode",
        "parallel",
        "composition",
        "convert_measure",
        "on_poisson_sample",
        "on_fixed_sample",
        "best_of_all",
    ),
    "random_candidate",
}
"""Mechanisms whose claim is reached on their example: a map that became looser would be noticed here."""

SLOW = {"laplace_noisy_max_with_lead": 3}
"""Of these, only some members are looked at."""


def claiming(measurement: sf.Measurement, claim: Loss) -> sf.Measurement:
    """Gives a measurement that does the same and claims something else."""
    return replace(measurement, measure=type(claim), privacy_map=lambda _: claim)


def lawful(law: Callable[[Any], Law], claim: Loss, members: Sequence[Any] = (0, 1)) -> sf.Measurement:
    """Gives a measurement that is known by its law alone."""
    space = sf.scalar(list(members))
    none = type(claim).nothing()
    made = sf.measurement(
        space,
        type(claim),
        function=lambda data, entropy: data,
        map=lambda d_in: claim if d_in else none,
        claim=sf.claim("for this test"),
    )
    return replace(made, law=law)


def finite(rows: Sequence[Sequence[Fraction]]) -> Callable[[int], FiniteLaw]:
    def law(place: int) -> FiniteLaw:
        with precision(BITS):
            return FiniteLaw({outcome: ball(mass) for outcome, mass in enumerate(rows[place])})

    return law


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{k}-{e.name}" for k, e in enumerate(EXAMPLES)])
def test_our_own_mechanisms_keep_their_promises(example: Example) -> None:
    measurement = example.made
    members = list(example.members)[: SLOW.get(example.name)]
    audit = exact(measurement, members, missed=None if measurement.measure is sf.ZCDP else COARSE)
    # With its gap, above_threshold has noise without end of a shape of its own: nothing proves the claim from above.
    with_gap = example.name == "above_threshold" and len(members) == 5
    reached = example.name in TIGHT or measurement.measure is sf.accounting.BoundedRange
    wanted = [Verdict.TIGHT] if reached else [Verdict.OPEN] if with_gap else [Verdict.SOUND, Verdict.TIGHT]
    assert audit.verdict in wanted, str(audit)
    assert audit.check() is audit and audit.witness is not None


HALVED = ["laplace", "gaussian", "staircase", "randomized_response", "matrix_mechanism", "permute_and_flip", "parallel"]


@pytest.mark.parametrize("name", HALVED)
def test_half_of_a_tight_loss_is_caught(name: str) -> None:
    example = next(example for example in EXAMPLES if example.name == name)
    measurement = example.made
    claim = measurement.map(1)
    half: Loss = sf.ZCDP(claim.rho / 2) if isinstance(claim, sf.ZCDP) else sf.Pure(claim.epsilon / 2)
    audit = exact(claiming(measurement, half), example.members, missed=COARSE, d_in=1)
    assert audit.verdict is Verdict.VIOLATED
    with pytest.raises(PromiseBroken, match="claimed"):
        audit.check()


def test_2922_a_threshold_that_counts_its_own_atom_is_caught() -> None:
    """Keys are released above 4, so that noise of 4 or more shows one; the claim speaks of noise of 5 or more."""
    released = sf.vector(letters) >> sf.stability_histogram(scale=1, threshold=4)
    excluding = upper(lambda: DiscreteLaplace(Fraction(1)).upper_tail(5))
    audit = exact(claiming(released, sf.Approx(1, excluding)), columns)
    line = audit.line("δ at ε = 1")
    assert float(line.claimed or 0) == pytest.approx(0.00493, abs=5e-6)
    assert float(line.low) == pytest.approx(0.0133, abs=1e-4)
    assert audit.verdict is Verdict.VIOLATED and audit.witness is not None
    assert "against 0" in audit.witness.event and [] in (audit.witness.left, audit.witness.right)
    assert exact(released, columns).verdict is Verdict.TIGHT


def test_2911_permute_and_flip_has_not_the_concentration_of_the_exponential_mechanism() -> None:
    space = sf.vector(int, size=2, metric=sf.LInf())
    flipped = claiming(space >> sf.permute_and_flip(scale=1), sf.ZCDP(Fraction(2) ** 2 / 8))
    members = [[0, gap] for gap in range(4)] + [[gap, 0] for gap in range(4)] + [[1, gap] for gap in range(4)]
    audit = exact(flipped, members)
    assert flipped.law is not None and audit.verdict is Verdict.VIOLATED
    assert exact(space >> sf.exponential(temperature=1, measure=sf.ZCDP), members).verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("reach", [3, 30])
def test_A1_080_noise_that_is_cut_off_is_not_pure(reach: int) -> None:
    """The support attack: an outcome beyond one neighbour's reach identifies the data, so ε is infinite."""
    cut = sf.scalar(int) >> sf.mechanisms.truncated_laplace(scale=1, reach=reach)
    audit = exact(claiming(cut, sf.Pure(1)), pairs=[(0, 1)])
    assert audit.line("ε").low == math.inf and audit.verdict is Verdict.VIOLATED
    assert audit.witness is not None and audit.witness.event.endswith("against 0")
    assert exact(cut, pairs=[(0, 1)]).line("ε").low == math.inf
    assert exact(cut, pairs=[(0, 1)]).verdict is Verdict.TIGHT


def test_randomized_response_over_a_list_with_duplicates_is_caught() -> None:
    """Lies are drawn from a list that names "b" twice, and the claim counts two categories."""
    listed, p = ["a", "b", "b"], Fraction(3, 4)

    def law(data: str) -> FiniteLaw:
        lies = [entry for place, entry in enumerate(listed) if place != listed.index(data)]
        return FiniteLaw({y: ball(p * (y == data) + (1 - p) * Fraction(lies.count(y), len(lies))) for y in "ab"})

    audit = exact(lawful(law, sf.Pure(log_up(Fraction(3))), letters))
    assert audit.verdict is Verdict.VIOLATED
    assert float(audit.line("ε").low) == pytest.approx(math.log(6))


def curve(corner: str) -> TradeOff:
    return TradeOff([(0, 1), (corner, corner), (1, 0)])


KINDS: list[tuple[str, Loss, Loss, Verdict]] = [
    ("pure", sf.Pure(three), sf.Pure(1), Verdict.TIGHT),
    ("approx", sf.Approx(0, "1/2"), sf.Approx(0, "0.49"), Verdict.TIGHT),
    ("far", sf.Approx(math.inf, 0), sf.Approx("0.5", "0.3"), Verdict.TIGHT),
    ("zcdp", sf.ZCDP("0.55"), sf.ZCDP("0.5"), Verdict.SOUND),
    ("nothing aside", ApproxZCDP("0.55", 0), ApproxZCDP("0.5", 0), Verdict.SOUND),
    ("some aside", ApproxZCDP("0.55", "0.01"), ApproxZCDP("0.01", "0.01"), Verdict.OPEN),
    ("range", sf.accounting.BoundedRange(2 * three), sf.accounting.BoundedRange(2), Verdict.TIGHT),
    ("gaussian", sf.GDP("1.35"), sf.GDP("1.34"), Verdict.SOUND),
    ("renyi", Renyi({2: "0.8473", 8: "1.1"}), Renyi({2: "0.8472", 8: "1.1"}), Verdict.SOUND),
    ("curve", Renyi.of(Linear("0.55")), Renyi.of(Linear("0.3")), Verdict.SOUND),
    ("profile", Profile([(0, "1/2"), (three, 0)]), Profile([(0, "1/2"), ("0.5", "0.3")]), Verdict.TIGHT),
    ("trade-off", curve("1/4"), curve("0.3"), Verdict.TIGHT),
    ("losses", PLD.of(GaussianPair(Fraction(4))), PLD.of(GaussianPair(Fraction(1, 4))), Verdict.SOUND),
]


@pytest.mark.parametrize(("claim", "lie", "verdict"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
def test_every_kind_of_claim_is_compared_in_its_own_terms(claim: Loss, lie: Loss, verdict: Verdict) -> None:
    audit = exact(claiming(response, claim))
    assert audit.verdict is verdict, str(audit)
    assert exact(claiming(response, lie)).verdict is Verdict.VIOLATED
    assert len(audit.curves) == 2 and audit.curves[1].measured[0] == (0.0, 1.0)


def test_a_kind_of_loss_that_nobody_knows_is_refused() -> None:
    class Odd(Loss):
        """Is no kind of loss at all."""

        then = within = group = widest = nothing = None  # type: ignore[assignment]

    with pytest.raises(BadArgument, match="this auditor knows"):
        exact(claiming(response, Odd()))  # type: ignore[abstract]


def test_what_is_measured_is_what_brute_force_finds() -> None:
    measurement = sf.scalar(int, between=(0, 3)) >> sf.mechanisms.censored_laplace(scale=2, between=(0, 3))
    audit = exact(measurement, orders=[2, "3.5"], epsilons=["0.25", 1], d_in=2)
    members = range(4)
    assert (audit.line("ε").low, audit.line("ε").high) == brute_epsilon(measurement, members, d_in=2)
    for epsilon in (Fraction(1, 4), Fraction(1)):
        line = audit.line(f"δ at ε = {float(epsilon):g}")
        assert (line.low, line.high) == brute_delta(measurement, members, epsilon=epsilon, d_in=2)
    for order in (Fraction(2), Fraction(7, 2)):
        line = audit.line(f"Rényi divergence of order {float(order):g}")
        assert (line.low, line.high) == brute_renyi(measurement, members, order=order, d_in=2)


def test_the_profile_and_the_trade_off_curve_have_all_their_corners() -> None:
    profile, test = exact(response).curves
    for points in (profile.measured, profile.claimed):
        assert np.allclose(points, [(0.0, 0.5), (math.log(3), 0.0)])
    for points in (test.measured, test.claimed):
        assert np.allclose(points, [(0, 1), (0.25, 0.25), (1, 0)])


# What is missed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missed", [Fraction(1, 5), Fraction(1, 50), Fraction(1, 10**4)])
@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)])
def test_what_is_not_listed_is_accounted_for(missed: Fraction, factor: Fraction) -> None:
    """A coarse listing encloses what a fine one finds, and does not pretend to be sharper than it is."""
    left, right = (ShiftedLaw(DiscreteGaussian(Fraction(4)), centre) for centre in (0, 2))
    with precision(BITS):
        low, high = uncovered(side_by_side(left, right, missed), ball(factor))
        least, most = uncovered(side_by_side(left, right, Fraction(1, 10**30)), ball(factor))
    assert least is not None and most is not None and high is not None
    assert low <= most and least <= high
    assert high - low <= missed and most - least < Fraction(1, 10**25)


@pytest.mark.parametrize("missed", [Fraction(1, 5), Fraction(1, 10**4), Fraction(1, 10**9)])
def test_lower_bounds_never_exceed_the_truth_and_upper_ones_are_not_made_up(missed: Fraction) -> None:
    """Discrete Gaussians of shift 1 and variance 4: ρ = 1/8, exactly, and no ε."""
    noisy = sf.scalar(int) >> sf.gaussian(scale=2)
    audit = exact(noisy, pairs=[(0, 1)], missed=missed, orders=[2, 3], epsilons=[1])
    assert audit.line("ρ").low <= Fraction(1, 8) and audit.line("ρ").high is None
    for order in (2, 3):
        line = audit.line(f"Rényi divergence of order {order}")
        assert line.low <= Fraction(order, 8) and line.high is None
    assert audit.line("δ at ε = 1").high is not None
    assert audit.verdict is (Verdict.TIGHT if missed < COARSE else Verdict.OPEN)


def test_endless_noise_needs_a_missed_mass() -> None:
    with pytest.raises(BadArgument, match="no end"):
        exact(sf.scalar(int) >> sf.gaussian(scale=2), pairs=[(0, 1)], missed=0)


centres = st.lists(st.integers(-4, 4), min_size=2, max_size=2)


@settings(max_examples=examples(25), deadline=None)
@given(centres, centres, st.fractions(Fraction(1, 4), 4, max_denominator=4), st.sampled_from([2, 3, 7]))
def test_laplace_noise_loses_nothing_when_its_ends_are_folded(
    left: list[int], right: list[int], scale: Fraction, order: int
) -> None:
    """Beside the plain listing of a mixture, up to what it misses."""
    noise = DiscreteLaplace(scale)

    def mixed(places: list[int]) -> Law:
        one, other = (ShiftedLaw(noise, place) for place in places)
        return MixtureLaw(((Fraction(1, 3), one), (Fraction(2, 3), other)))

    with precision(BITS):
        short = side_by_side(mixed(left), mixed(right), None)
        outcomes = list(mixed([-4, 4]).outcomes(Fraction(1, 10**4)))
        here, there = ({y: mixed(side).probability(y) for y in outcomes} for side in (left, right))
        epsilon, missed = pure_epsilon(short)[1], 3 * math.exp(8 * order / scale) / 10**4
        assert short.complete and len(short.outcomes) <= 9 and epsilon is not None
        for y in outcomes:  # no single outcome says more than the folded ones do
            assert not (here[y] / there[y]).log() > ball(Fraction(epsilon))
    listed = renyi(here, there, Fraction(order))[0]
    low, high = renyi(*short.listed(), Fraction(order))
    assert listed <= high and low - listed <= missed


def test_laplace_noise_is_folded_in_each_coordinate() -> None:
    noise = DiscreteLaplace(Fraction(1))
    pair = [ProductLaw((ShiftedLaw(noise, place), ShiftedLaw(noise, 0))) for place in (0, 2)]
    listed = side_by_side(pair[0], pair[1], None)
    assert listed.complete and len(listed.outcomes) == 3
    assert float(renyi_divergence(listed, Fraction(2))[0]) == pytest.approx(
        float(brute_renyi(sf.scalar(int) >> sf.laplace(scale=1), (0, 2), order=Fraction(2), d_in=2, missed=COARSE)[0]),
        rel=1e-4,
    )


def test_noise_of_different_scales_is_not_folded() -> None:
    laws: list[Law] = [ShiftedLaw(DiscreteLaplace(Fraction(scale)), 0) for scale in (1, 2)]
    assert folded(laws) == laws


# zCDP and Gaussian privacy -------------------------------------------------------------------------------------------

weights = st.lists(st.integers(1, 40), min_size=2, max_size=4)


def table(left: Sequence[int], right: Sequence[int]) -> LawPair:
    size = min(len(left), len(right))
    rows = [[ball(Fraction(mass, sum(side[:size]))) for mass in side[:size]] for side in (left, right)]
    return LawPair(tuple(range(size)), tuple(rows[0]), tuple(rows[1]))


@settings(max_examples=examples(30), deadline=None)
@given(weights, weights, st.lists(st.fractions(Fraction(101, 100), 60, max_denominator=100), min_size=1, max_size=5))
def test_no_order_exceeds_the_bound_on_rho(left: list[int], right: list[int], orders: list[Fraction]) -> None:
    with precision(BITS):
        pair = table(left, right)
    low, high = concentrated_rho(pair)
    assert high is not None and low <= high <= max(low * Fraction(101, 100), Fraction(1, 1 << 60))
    for order in orders:
        assert renyi(*pair.listed(), order)[0] / order <= high


def test_rho_of_randomized_response_is_that_of_the_theorem() -> None:
    """For one bit, sup D/α is at α → 1: the Kullback-Leibler divergence, ε tanh(ε/2)."""
    low, high = concentrated_rho(table([3, 1], [1, 3]))
    assert high is not None and float(low) == pytest.approx(math.log(3) * math.tanh(math.log(3) / 2))
    assert high <= low * (1 + Fraction(1, 10**5))


def test_orders_that_are_not_asked_at_are_covered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two orders and no further ones, each kind of stretch must still be above the truth."""
    monkeypatch.setattr(divergences, "STEPS", 0)
    pair = table([100, 100], [1, 199])  # D/α is largest near α = 1.5
    for asked in ((1, 63), (Fraction(1, 8), 63), (Fraction(1, 64), Fraction(1, 32))):
        monkeypatch.setattr(divergences, "ORDERS", tuple(map(Fraction, asked)))
        high = concentrated_rho(pair)[1]
        assert high is not None and high < 5
        for order in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(90)):
            assert renyi(*pair.listed(), order)[0] / order <= high


@pytest.mark.parametrize(("offset", "slope"), [("-0.7", "4.6"), ("-3", "4"), ("0", "2"), ("0.5", "1"), ("2", "-0.01")])
def test_the_bound_by_a_chord_is_the_largest_value_on_it(offset: str, slope: str) -> None:
    """K = offset + slope · s on [1/8, 40]: the bound is what a fine grid finds."""
    start, end, tall, steep = Fraction(1, 8), Fraction(40), Fraction(offset), Fraction(slope)
    places = [start + (end - start) * step / 4000 for step in range(4001)]
    largest = max((tall + steep * s) / (s * (1 + s)) for s in places)
    found = chord_bound(start, tall + steep * start, end, tall + steep * end)
    assert largest <= found <= largest * Fraction(1001, 1000)


def test_mu_is_read_at_the_corners() -> None:
    low, high = gaussian_mu(table([3, 1], [1, 3]))
    assert high is not None and float(low) == float(high) == pytest.approx(2 * 0.6744897501960817)
    assert gaussian_mu(table([1, 0], [1, 1]))[0] == gaussian_mu(table([1, 1], [1, 0]))[0] == math.inf
    assert gaussian_mu(table([1, 1], [1, 1]))[0] < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("left", "right", "truth"),
    [
        ([2, 1, 1, 1], [1, 2, 1, 1], 0.8416212335729143 - 0.2533471031357997),
        ([1, 1, 1], [1, 1, 1], 0.0),
        ([3, 3, 1, 1], [1, 1, 3, 3], 2 * 0.6744897501960817),
        ([0, 0, 7], [1, 1, 5], math.inf),
    ],
    ids=["middle", "all", "ends", "never"],
)
def test_outcomes_of_equal_ratio_leave_mu_certain(left: list[int], right: list[int], truth: float) -> None:
    low, high = gaussian_mu(table(left, right))
    assert high is not None and low <= high
    assert float(low) == pytest.approx(truth, abs=1e-9) and float(high) == pytest.approx(truth, abs=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(weights, weights)
def test_mu_is_that_of_the_certain_order(left: list[int], right: list[int]) -> None:
    """Beside the corners, in floats, of the outcomes by falling ratio."""
    low, high = gaussian_mu(pair := table(left, right))
    masses = sorted(zip(map(float, pair.left), map(float, pair.right), strict=True), key=lambda one: -one[0] / one[1])
    seen, normal = 0.0, statistics.NormalDist()
    for place in range(1, len(masses)):
        hits, alarms = (sum(one[side] for one in masses[:place]) for side in (0, 1))
        seen = max(seen, normal.inv_cdf(1 - alarms) - normal.inv_cdf(1 - hits))
    assert high is not None and float(low) - 1e-9 <= seen <= float(high) + 1e-9
    assert high - low < Fraction(1, 10**9)


def test_mu_is_not_made_up_where_an_error_is_only_nearly_0() -> None:
    """P never gives what Q gives once in 10^50 times: a test that tells it errs on one side only, and μ is infinite."""
    tiny = Fraction(1, 10**50)
    with precision(BITS):
        pair = LawPair((0, 1), (ball(0), ball(1)), (ball(tiny), ball(1 - tiny)))
    assert gaussian_mu(pair) == (0, math.inf)


# Pairs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measurement", "count"),
    [
        (response, 2),
        (sf.scalar(["a", "b", "c"]) >> sf.randomized_response(p="0.5"), 6),
        (sf.scalar(int, between=(0, 3)) >> sf.laplace(scale=2), 6),
        (sf.vector(letters, size=2) >> sf.randomized_response(epsilon=1), 10),
    ],
    ids=["bool", "categories", "integers", "vector"],
)
def test_small_domains_are_listed(measurement: sf.Measurement, count: int) -> None:
    audit = exact(measurement)
    facts = dict(audit.facts)
    assert audit.verdict is Verdict.TIGHT and facts["ordered pairs of neighbours"] == str(count)
    assert facts["mass not listed"] == "none"


@pytest.mark.parametrize(
    "measurement",
    [
        sf.scalar(int) >> sf.laplace(scale=1),
        sf.scalar(int, between=(0, 10**9)) >> sf.laplace(scale=1),
        sf.vector(letters, size=13) >> sf.randomized_response(epsilon=1),
        sf.vector(letters) >> sf.stability_histogram(scale=1, threshold=3),
    ],
    ids=["integers", "many", "vectors", "columns"],
)
def test_large_domains_are_not(measurement: sf.Measurement) -> None:
    with pytest.raises(BadArgument, match="pairs="):
        exact(measurement)


def test_pairs_are_looked_at_both_ways_and_must_be_neighbours() -> None:
    noisy = sf.scalar(int) >> sf.laplace(scale=1)
    assert dict(exact(noisy, pairs=[(0, 1)]).facts)["ordered pairs of neighbours"] == "2"
    assert exact(noisy, pairs=[(0, 3)], d_in=3).verdict is Verdict.TIGHT
    with pytest.raises(BadArgument, match="at most d_in apart"):
        exact(noisy, pairs=[(0, 2)])
    with pytest.raises(BadArgument, match="left out"):
        exact(noisy, [0, 1], pairs=[(0, 1)])
    with pytest.raises(NotInDomain):
        exact(noisy, ["x", 1])
    with pytest.raises(BadArgument, match="nothing to compare"):
        exact(noisy, [0])


def test_some_pairs_of_many() -> None:
    chosen = sf.vector(int, size=3, metric=sf.LInf()) >> sf.permute_and_flip(scale=2)
    audit = exact(chosen, scores, sampled=10, entropy=ReplayEntropy(1))
    assert dict(audit.facts)["ordered pairs of neighbours"] == "10 of 316, drawn at random"
    again = exact(chosen, scores, sampled=10, entropy=ReplayEntropy(1))
    assert again.witness == audit.witness
    assert dict(exact(response, sampled=99).facts)["ordered pairs of neighbours"] == "2"


def test_time_bounds_the_pairs_that_are_looked_at() -> None:
    many = sf.scalar(list(range(60))) >> sf.randomized_response(p="0.5")
    audit = exact(many, seconds="0.2", entropy=ReplayEntropy(1))
    said = dict(audit.facts)["ordered pairs of neighbours"]
    assert said.endswith(" of 3540, drawn at random, until the time was up") and audit.witness is not None
    short = exact(many, seconds="1e-9", sampled=5, entropy=ReplayEntropy(1))
    assert dict(short.facts)["ordered pairs of neighbours"].startswith("1 of 3540")
    assert dict(exact(response, seconds=60).facts)["ordered pairs of neighbours"] == "2"
    with pytest.raises(BadArgument, match="seconds"):
        exact(response, seconds=0)


@pytest.mark.parametrize("d_in", [Fraction(1, 2), 1, 3])
@pytest.mark.parametrize(
    "space", [sf.scalar(int, between=(-2, 3)), sf.scalar(list("abc"))], ids=["integers", "letters"]
)
def test_neighbours_are_listed_without_looking_at_every_two(space: sf.Space, d_in: Fraction) -> None:
    members = every_member(space.domain)
    found = _in_order(space, members, d_in)
    assert found is not None
    assert list(found) == [(one, other) for one, other in neighbours(space, members, d_in=d_in) if one != other]


# Outcomes ------------------------------------------------------------------------------------------------------------


class Bare:
    """Is equal to nothing but itself."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside


@pytest.mark.parametrize(
    "made",
    [
        lambda y: float(y),
        lambda y: [y],
        lambda y: {"it": [y]},
        lambda y: np.array([y, math.nan]),
        lambda y: Bare(y),
        lambda y: {y, math.nan},
    ],
    ids=["float", "list", "mapping", "array", "object", "set"],
)
def test_outcomes_that_look_alike_are_one_whatever_they_are(made: Callable[[Any], Any]) -> None:
    """What is kept of a bit costs ln 3, what is not costs nothing: neither more nor less, however it is wrapped."""
    kept, lost = exact(response.then(made)), exact(response.then(lambda _: made(math.nan)))
    assert kept.verdict is Verdict.TIGHT
    assert (lost.line("ε").low, lost.line("ε").high) == (0, 0)


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), ([1], (1,)), (None, math.nan)])
def test_what_python_calls_equal_may_look_different(one: Any, other: Any) -> None:
    laws = {0: FiniteLaw({0: ball(1)}).through(lambda _: one), 1: FiniteLaw({0: ball(1)}).through(lambda _: other)}
    assert exact(lawful(lambda place: laws[place], sf.Pure(1))).line("ε").low == math.inf
    mixed = response.then(lambda y: one if y else other)
    assert exact(mixed).verdict is Verdict.TIGHT
    assert FiniteLaw({"a": ball(1)}) == FiniteLaw({"a": ball(1)}) != FiniteLaw({"b": ball(1)})


def test_a_law_that_cannot_be_listed_is_refused_clearly() -> None:
    with pytest.raises(BadArgument, match="no step after the mechanism may fail"):
        exact(response.then(lambda y: 1 // y))
    with pytest.raises(BadArgument, match="give a function of it"):
        exact(response.then(lambda y: lambda: y))


def test_odd_arguments_are_refused() -> None:
    odd: list[tuple[str, dict[str, Any]]] = [
        ("pairs", {"pairs": [(True,)]}),
        ("pairs", {"pairs": 1}),
        ("epsilons", {"epsilons": 1}),
        ("orders", {"orders": 2}),
        ("members", {"members": 1}),
    ]
    for named, arguments in odd:
        with pytest.raises(BadArgument, match=named):
            exact(response, **arguments)


def test_progress_is_told_and_an_interrupt_passes() -> None:
    seen: list[tuple[int, int]] = []
    exact(response, progress=lambda done, steps: seen.append((done, steps)))
    assert seen == [(1, 2), (2, 2)]

    def stop(done: int, steps: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exact(response, progress=stop)


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(BadArgument, match="exact law"):
        exact(replace(response, law=None))
    with pytest.raises(BadArgument, match="a measurement"):
        exact("laplace")  # type: ignore[arg-type]
    halves: list[list[Extended]] = [[Fraction(1, 2), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]]
    with pytest.raises(BadArgument, match="of total 1"):
        exact(lawful(finite(halves), sf.Pure(9)))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="order"):
        exact(response, orders=[1])


@pytest.mark.parametrize("noise", [sf.laplace(scale=10), sf.gaussian(scale=10)], ids=["laplace", "gaussian"])
def test_a_fine_grid_is_refused_before_it_is_listed(noise: Any) -> None:
    """A float has some 10¹² steps between two neighbours: listing them would never end."""
    total = sf.vector(float, between=(0, 10)) >> sf.sum() >> noise
    with pytest.raises(BadArgument, match=r"at most 100000, to be listed: .*grey_box"):
        sf.audit.exact(total, pairs=[([], [10.0])])
