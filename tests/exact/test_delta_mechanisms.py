"""Mechanisms that need δ: joint output distributions over all small neighbouring data sets, by hockey-stick."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest
from tests.exact.enumerated import multisets

from sfumato.accounting.facts.truncated_laplace import (
    continuous_truncated_laplace,
    truncated_laplace_approx,
    truncation_reach,
)
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.meaning.guidance import delta_warning
from sfumato.audit.brute_force import brute_delta, brute_epsilon, neighbours, outcome_probabilities
from sfumato.core.custom import transformation
from sfumato.core.domains import Custom, Data, Integers
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, Absolute, AddRemove, Hamming
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument, CannotJoin, ClaimRequired, NoProvenRoute
from sfumato.exact import ball
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.name_and_shame import name_and_shame
from sfumato.mechanisms.propose_test_release import StabilityTest, over_steps, private_mode, propose_test_release
from sfumato.mechanisms.stability import appearance_delta, stability_histogram, stability_threshold
from sfumato.mechanisms.truncated import lower_estimate, truncated_laplace, upper_estimate
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.claim import claim
from sfumato.release.record import Failure
from sfumato.textbook.continuous import Laplace
from sfumato.transforms.mode_gap import lead, mode_gap, tally

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**20)
MISSED = Fraction(1, 10**9)


# ---------------------------------------------------------------- truncated Laplace


def test_A1_144_A1_145_A1_146_E1_11_continuous_truncated_laplace() -> None:
    def checked(loss: Approx, epsilon: float, delta: float) -> None:
        assert float(loss.epsilon) == pytest.approx(epsilon, rel=1e-5)
        assert float(loss.delta) == pytest.approx(delta, rel=1e-5)

    checked(continuous_truncated_laplace(1, scale=1, reach=10), 1, 3.90067e-5)
    checked(continuous_truncated_laplace("0.001", scale="0.1", reach=1), 0.01, 2.28149e-7)
    checked(continuous_truncated_laplace("1.5", scale=1, reach=1), 1.5, 0.8112297)
    naive = (math.exp(1.5) - 1) / (2 * (math.exp(1) - 1))
    assert naive > 1, "the formula outside its range is no probability"
    assert continuous_truncated_laplace(2, scale=1, reach=1).delta == 1
    assert continuous_truncated_laplace(0, scale=1, reach=1) == Approx(0, 0)


@pytest.mark.parametrize("scale", ["1/2", "1", "3"])
@pytest.mark.parametrize("reach", [1, 2, 5])
@pytest.mark.parametrize("distance", [1, 2, 3, 5, 10, 11])
def test_discrete_truncated_laplace_is_exact(scale: str, reach: int, distance: int) -> None:
    measurement = scalar(int) >> truncated_laplace(scale=Fraction(scale), reach=reach)
    loss = measurement.map(distance)
    assert isinstance(loss, Approx) and loss.epsilon == distance / Fraction(scale)
    low, high = brute_delta(measurement, range(distance + 1), epsilon=loss.epsilon, d_in=distance)
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY
    assert (loss.delta == 1) == (distance > 2 * reach)


@pytest.mark.parametrize(("low", "high"), [(-2, 5), (-5, 2), (0, 4), (-4, 0)])
@pytest.mark.parametrize("shift", [1, 2, 4])
def test_a_lopsided_range_is_as_bad_as_its_worse_end(low: int, high: int, shift: int) -> None:
    noise = Truncated(DiscreteLaplace(Fraction(2)), low, high)
    loss = truncated_laplace_approx(noise, Fraction(shift))
    here = {y: noise.pmf(y) for y in range(low, high + 1)}
    moved = {y + shift: mass for y, mass in here.items()}
    worst = max(hockey_stick(a, b, loss.epsilon)[0] for a, b in ((here, moved), (moved, here)))
    assert loss.delta - TINY <= worst <= loss.delta + TINY


def test_the_closed_form_of_the_page() -> None:
    scale, reach, shift = Fraction(3), 7, 4
    a = math.exp(-1 / 3)
    expected = a ** (reach - shift + 1) * (1 - a**shift) / (1 + a - 2 * a ** (reach + 1))
    found = (scalar(int) >> truncated_laplace(scale=scale, reach=reach)).map(shift).delta
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_whole_numbers_cost_less_than_the_continuous_formula_says() -> None:
    measurement = scalar(int) >> truncated_laplace(scale=1, reach=10)
    _, high = brute_delta(measurement, (0, 1), epsilon=Fraction(1))
    assert high < continuous_truncated_laplace(1, scale=1, reach=10).delta * Fraction(6, 10)


def test_a_fine_grid_approaches_the_continuous_formula() -> None:
    fine = scalar(float) >> truncated_laplace(scale=1, reach=10)
    assert float(fine.map(1).delta) == pytest.approx(3.90067e-5, rel=1e-5)
    assert fine.map(math.inf).delta == 1 and fine.map(0) == Approx(0, 0)
    assert abs(fine(0.5).value - 0.5) <= 10.0


def test_A1_080_P1_169_the_support_attack() -> None:
    """However far out the cut, an outcome beyond one neighbour's reach identifies the data: ε is infinite."""
    removed = Laplace(Fraction(1)).upper_tail(1000, bits=4096)
    assert float(removed.log()) / math.log(10) == pytest.approx(-434.60, abs=0.005)
    for reach in (3, 30):
        measurement = scalar(int) >> truncated_laplace(scale=1, reach=reach)
        assert brute_epsilon(measurement, (0, 1)) == (math.inf, math.inf)
        assert measurement.how.failure is Failure.DISTINGUISHING
        assert outcome_probabilities(measurement, 0)[-reach] > 0
        assert measurement.law(1).probability(-reach) == 0  # type: ignore[misc]


def test_A1_147_one_sided_estimates_never_miss() -> None:
    above, below = scalar(int) >> upper_estimate(scale=3, reach=10), scalar(int) >> lower_estimate(scale=3, reach=10)
    assert sorted(outcome_probabilities(above, 1000)) == list(range(1000, 1021))
    assert sorted(outcome_probabilities(below, 1000)) == list(range(980, 1001))
    assert all(1000 <= above(1000).value <= 1020 and 980 <= below(1000).value <= 1000 for _ in range(200))
    assert above.map(1) == below.map(1) == (scalar(int) >> truncated_laplace(scale=3, reach=10)).map(1)
    assert above(1000).half_width == 20
    with pytest.raises(BadArgument, match="exact values"):
        scalar(float) >> upper_estimate(scale=3, reach=10)


@pytest.mark.parametrize("shift", [1, 3])
def test_the_reach_is_the_least_that_keeps_delta(shift: int) -> None:
    delta = Fraction(1, 10**6)
    reach = truncation_reach(scale=Fraction(2), shift=shift, delta=delta)
    kept, missed = (
        truncated_laplace_approx(Truncated.within(DiscreteLaplace(Fraction(2)), radius=r), Fraction(shift)).delta
        for r in (reach, reach - 1)
    )
    assert kept <= delta < missed


def test_truncated_noise_of_another_kind_has_no_theorem() -> None:
    from sfumato.noise.discrete_gaussian import DiscreteGaussian

    with pytest.raises(NoProvenRoute, match="Laplace noise only"):
        truncated_laplace_approx(Truncated.within(DiscreteGaussian(Fraction(2)), radius=3), Fraction(1))
    with pytest.raises(BadArgument, match="not known"):
        vector(int, size=2, metric=L1()) >> truncated_laplace(scale=1, reach=3)
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(BadArgument, match="reach"):
            truncated_laplace(scale=1, reach=bad)
    with pytest.raises(BadArgument, match="at least the values' step"):
        scalar(int) >> truncated_laplace(scale=1, reach="0.5")


# ---------------------------------------------------------------- stability histogram


@pytest.mark.parametrize("threshold", [0, 2, 4])
@pytest.mark.parametrize("scale", ["1/2", "2"])
@pytest.mark.parametrize("distance", [1, 2])
def test_histogram_under_add_remove_is_sound_and_tight(threshold: int, scale: str, distance: int) -> None:
    measurement = vector(str) >> stability_histogram(scale=Fraction(scale), threshold=threshold)
    loss = measurement.map(distance)
    assert isinstance(loss, Approx) and loss.epsilon == distance / Fraction(scale)
    missed = MISSED if scale == "1/2" else Fraction(1, 10**5)
    low, high = brute_delta(measurement, multisets("ab", range(4)), epsilon=loss.epsilon, d_in=distance, missed=missed)
    assert high <= loss.delta + TINY
    assert low >= loss.delta - missed


@pytest.mark.parametrize("threshold", [1, 3])
@pytest.mark.parametrize("distance", [1, 2])
def test_histogram_under_change_one_is_sound_and_tight(threshold: int, distance: int) -> None:
    measurement = vector(str, size=2) >> stability_histogram(scale=1, threshold=threshold)
    loss = measurement.map(distance)
    assert loss.epsilon == 2 * distance  # type: ignore[attr-defined]
    members = multisets("abcd", range(2, 3))
    low, high = brute_delta(measurement, members, epsilon=loss.epsilon, d_in=distance, missed=MISSED)  # type: ignore[attr-defined]
    assert loss.delta - 2 * MISSED <= low <= high <= loss.delta + TINY  # type: ignore[attr-defined]


def test_histogram_epsilon_is_needed_in_full() -> None:
    """On keys that both data sets have, counts d apart make outcomes exp(d / scale) times likelier."""
    measurement = vector(str) >> stability_histogram(scale=1, threshold=0)
    law, other = (measurement.law(data) for data in (("a",) * 3, ("a",) * 2))  # type: ignore[misc]
    outcome = (("a", 5),)
    assert float((law.probability(outcome) / other.probability(outcome)).log()) == pytest.approx(1, abs=1e-12)


def test_histogram_of_a_public_size_under_add_remove() -> None:
    measurement = vector(str, size=2, metric=AddRemove()) >> stability_histogram(scale=1, threshold=2)
    assert measurement.map(1) == Approx(0, 0)
    assert (
        measurement.map(2)
        == measurement.map(3)
        == (vector(str, size=2) >> stability_histogram(scale=1, threshold=2)).map(1)
    )


def test_trap_2922_the_atom_on_the_threshold_counts_the_same_on_both_sides() -> None:
    """`>=` with the δ of `>` would let a lone key through more often than δ says."""
    noise, threshold = DiscreteLaplace(Fraction(1)), 5
    stated = appearance_delta(noise, threshold=threshold, rows=1)
    measurement = vector(str) >> stability_histogram(scale=1, threshold=threshold)
    shown = 1 - outcome_probabilities(measurement, ("a",), missed=MISSED)[()]
    assert abs(Fraction(float(shown)) - stated) < Fraction(1, 10**15)
    with_atom = noise.upper_tail(threshold - 1)
    assert with_atom > 2 * shown
    assert all(value > threshold for _ in range(300) for _, value in measurement(["a"] * 5).value)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(20)])
def test_the_worst_spread_of_rows_over_keys(rows: int, scale: Fraction) -> None:
    noise = DiscreteLaplace(scale)

    def partitions(total: int, most: int) -> list[tuple[int, ...]]:
        if total == 0:
            return [()]
        firsts = range(min(total, most), 0, -1)
        return [(first, *rest) for first in firsts for rest in partitions(total - first, first)]

    for threshold in (0, 3, 9):
        chances = []
        for parts in partitions(rows, rows):
            kept = math.prod(float(noise.cdf(threshold - part)) for part in parts)
            chances.append(1 - kept)
        found = appearance_delta(noise, threshold=threshold, rows=rows)
        assert float(found) == pytest.approx(max(chances), rel=1e-9)


def test_many_rows_are_bounded_from_above() -> None:
    noise = DiscreteLaplace(Fraction(50))
    exact, bounded = (appearance_delta(noise, threshold=2000, rows=rows) for rows in (500, 501))
    assert exact <= bounded <= exact * Fraction(11, 10)
    assert appearance_delta(noise, threshold=2000, rows=10**6) == 1
    assert appearance_delta(noise, threshold=2000, rows=0) == 0


@pytest.mark.parametrize("rows", [1, 3])
def test_the_threshold_is_the_least_that_keeps_delta(rows: int) -> None:
    delta = Fraction(1, 10**6)
    threshold = stability_threshold(2, delta=delta, rows=rows)
    kept, missed = (
        appearance_delta(DiscreteLaplace(Fraction(2)), threshold=t, rows=rows) for t in (threshold, threshold - 1)
    )
    assert kept <= delta < missed
    measurement = vector(str) >> stability_histogram(scale=2, delta=delta, rows=rows)
    assert measurement.map(rows).delta <= delta  # type: ignore[attr-defined]


@pytest.mark.parametrize("rows", [1, 3, 600])
def test_tiny_deltas_are_not_lost_in_rounding(rows: int) -> None:
    delta = Fraction(1, 10**60)
    threshold = stability_threshold(2, delta=delta, rows=rows)
    kept = appearance_delta(DiscreteLaplace(Fraction(2)), threshold=threshold, rows=rows)
    assert delta / 10 < kept <= delta
    assert StabilityTest.read(2, delta).false_pass <= delta


def test_histograms_are_listed_in_the_order_of_keys_not_rows() -> None:
    measurement = vector(str) >> stability_histogram(scale="0.1", threshold=5)
    one = measurement(["b"] * 20 + ["a"] * 30 + ["c"]).value
    assert [key for key, _ in one] == ["a", "b"]
    numbers = vector(int) >> stability_histogram(scale="0.1", threshold=5)
    assert [key for key, _ in numbers([10] * 20 + [9] * 20).value] == [9, 10]
    names = vector(["z", "y"]) >> stability_histogram(scale="0.1", threshold=5)
    assert [key for key, _ in names(["y"] * 20 + ["z"] * 20).value] == ["z", "y"]
    assert measurement([]).value == ()


def test_bad_histograms_are_refused() -> None:
    with pytest.raises(BadArgument, match="either delta or threshold"):
        stability_histogram(scale=1)
    for bad in (0, 1, -1, math.nan):
        with pytest.raises(BadArgument, match="delta"):
            stability_histogram(scale=1, delta=bad)
    with pytest.raises(BadArgument, match="texts, categories or whole numbers"):
        vector(float) >> stability_histogram(scale=1, delta=1e-6)
    assert (vector(str) >> stability_histogram(scale=1, delta=1e-6)).map(math.inf) == Approx(math.inf, 1)


# ---------------------------------------------------------------- propose, test, release


def test_A1_148_E1_15_the_gap_less_one() -> None:
    """The printed test of the raw gap lets an unstable gap of 1 through more often than δ; the gap less one not."""
    printed = math.ceil(math.log(1e6))
    assert printed == 14
    noise = Laplace(Fraction(1))
    assert float(noise.upper_tail(printed - 1)) == pytest.approx(1.13016e-6, rel=1e-5)
    assert float(noise.upper_tail(printed)) == pytest.approx(4.15764e-7, rel=1e-5)
    ours = StabilityTest.read(1, Fraction(1, 10**6))
    assert (
        ours.false_pass <= Fraction(1, 10**6) < Fraction(float(DiscreteLaplace(Fraction(1)).upper_tail(ours.threshold)))
    )
    assert float(ours.chance(1)) > 1e-6, "the raw gap of 1 would pass with more than δ here too"


@pytest.mark.parametrize("delta", ["0.05", "0.3"])
@pytest.mark.parametrize("scale", ["1/2", "2"])
def test_mode_under_add_remove_is_sound_and_tight(delta: str, scale: str) -> None:
    measurement = vector(str) >> private_mode(scale=Fraction(scale), delta=delta)
    loss = measurement.map(1)
    assert isinstance(loss, Approx) and loss.epsilon == 1 / Fraction(scale) and loss.delta <= Fraction(delta)
    low, high = brute_delta(measurement, multisets("abc", range(6)), epsilon=loss.epsilon)
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY


def test_mode_under_change_one_is_sound_and_tight() -> None:
    measurement = vector(str, size=4) >> private_mode(scale=2, delta="0.2")
    loss = measurement.map(1)
    assert isinstance(loss, Approx) and loss.epsilon == 1
    low, high = brute_delta(measurement, multisets("abc", range(4, 5)), epsilon=loss.epsilon)
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY


def test_mode_over_several_steps_is_sound() -> None:
    measurement = vector(str) >> private_mode(scale=1, delta="0.05")
    for distance in (2, 3):
        loss = measurement.map(distance)
        _, high = brute_delta(measurement, multisets("ab", range(5)), epsilon=loss.epsilon, d_in=distance)  # type: ignore[attr-defined]
        assert high <= loss.delta + TINY  # type: ignore[attr-defined]
    sized = vector(str, size=3, metric=AddRemove()) >> private_mode(scale=1, delta="0.05")
    assert sized.map(1) == Approx(0, 0)
    assert sized.map(2) == (vector(str, size=3) >> private_mode(scale=1, delta="0.05")).map(1)


def raw_gap_law(data: tuple[str, ...], test: StabilityTest, margin: int) -> dict[Hashable, object]:
    counts = tally(data)
    passing = test.chance(lead(counts) - margin)
    mode = min((key for key in counts if counts[key] == max(counts.values())), default="nobody")
    return {mode: passing, None: 1 - passing}


@pytest.mark.parametrize(("margin", "size"), [(0, None), (1, 4)])
def test_a_smaller_margin_breaks_the_promise(margin: int, size: int | None) -> None:
    """E1-15 by enumeration: the raw gap (add/remove), or gap less one under exchange, has more than the stated δ."""
    test, epsilon = StabilityTest.read(1, "0.05"), Fraction(1 if size is None else 2)
    members = multisets("ab", range(5)) if size is None else multisets("ab", range(4, 5))
    worst = max(
        hockey_stick(raw_gap_law(left, test, margin), raw_gap_law(right, test, margin), epsilon)[0]  # type: ignore[arg-type]
        for left, right in neighbours(vector(str, size=size), members)
    )
    assert worst > test.false_pass


def test_mode_of_nothing_and_of_one_key() -> None:
    measurement = vector(str) >> private_mode(scale="0.1", delta=1e-6)
    assert measurement([]).value is None
    assert measurement(["only"] * 50).value == "only"
    assert measurement(["a"] * 50 + ["b"] * 50).value is None
    law = outcome_probabilities(vector(str) >> private_mode(scale=1, delta="0.3"), ())
    assert float(sum(law.values())) == pytest.approx(1)


@pytest.mark.parametrize("size", [None, 4])
def test_the_gap_moves_as_its_map_says(size: int | None) -> None:
    gap = vector(str, size=size) >> mode_gap()
    members = multisets("abc", range(size or 0, 5))
    for distance in (1, 2):
        moved = max(abs(gap(a) - gap(b)) for a, b in neighbours(gap.source, members, d_in=distance))
        assert moved == gap.map(distance)


def bounded_range_sum(space: Space) -> Measurement:
    """A mean-like query whose global stretch is 3, proposed to be 1: right wherever at most one row is large."""
    local = transformation(
        space,
        Space(Integers(), Absolute()),
        function=lambda rows: min(sum(rows), 1) if sum(row == 3 for row in rows) < 3 else 9,
        map=lambda d_in: d_in,
        claim=claim("holds where fewer than two rows are large"),
    )
    return local >> laplace(scale=1)


def test_general_form_is_sound_on_every_pair() -> None:
    """f jumps by 8 where a third large row arrives; D = max(0, 2 − large rows) is the distance to such a case."""
    space = vector(int, between=(0, 3))
    distance = transformation(
        space,
        Space(Integers(), Absolute()),
        function=lambda rows: max(0, 2 - sum(row == 3 for row in rows)),
        map=lambda d_in: d_in,
        claim=claim("counts large rows"),
    )
    measurement = propose_test_release(
        distance, bounded_range_sum(space), scale=1, delta="0.05", claim=claim("checked by enumeration below")
    )
    loss = measurement.map(1)
    assert isinstance(loss, Approx) and loss.epsilon == 2
    members = [rows for size in range(5) for rows in itertools.combinations_with_replacement((0, 3), size)]
    _, high = brute_delta(measurement, members, epsilon=Fraction(2), missed=Fraction(1, 10**12))
    assert high <= loss.delta + TINY
    bare = brute_delta(bounded_range_sum(space), members, epsilon=Fraction(2), missed=Fraction(1, 10**12))[0]
    assert bare > loss.delta, "without the test the proposed bound is not kept"
    assert measurement.how.failure is Failure.DISTINGUISHING
    assert "checked by enumeration" in str(measurement([0]))


def test_refusals_of_the_general_form() -> None:
    space = vector(int, between=(0, 3))
    distance = space >> mode_gap()
    release = bounded_range_sum(space)
    vouched = claim("test")
    with pytest.raises(ClaimRequired, match="distance to instability"):
        propose_test_release(distance, release, scale=1, delta=1e-6)
    with pytest.raises(CannotJoin):
        propose_test_release(vector(str) >> mode_gap(), release, scale=1, delta=1e-6, claim=vouched)
    noisy = transformation(
        space, Space(Integers(), Absolute()), function=len, map=lambda d_in: d_in, claim=vouched
    ) >> gaussian(scale=1)
    with pytest.raises(NoProvenRoute, match="ZCDP"):
        propose_test_release(distance, noisy, scale=1, delta=1e-6, claim=vouched)
    for bad in (0, 1, -0.1, math.nan):
        with pytest.raises(BadArgument, match="delta"):
            private_mode(scale=1, delta=bad)


def test_loss_over_several_steps() -> None:
    one = Approx(1, "0.01")
    assert over_steps(one, Fraction(0)) == Approx(0, 0)
    assert over_steps(one, Fraction(1)) == one
    three = over_steps(one, Fraction(3))
    assert three.epsilon == 3
    assert float(three.delta) == pytest.approx(0.01 * (1 + math.e + math.e**2))
    assert over_steps(one, Fraction(50)).delta == 1
    assert over_steps(Approx(0, "0.01"), Fraction(3)) == Approx(0, "0.03")
    assert over_steps(one, math.inf) == Approx(math.inf, 1)
    assert over_steps(Approx(1, 0), Fraction(10**9)) == Approx(10**9, 0)


# ---------------------------------------------------------------- name and shame


@pytest.mark.parametrize("distance", [0, 1, 2, 3])
def test_name_and_shame_is_private_on_paper(distance: int) -> None:
    measurement = vector(["a", "b"]) >> name_and_shame("0.1")
    loss = measurement.map(distance)
    assert loss == Approx(0, 1 - Fraction(9, 10) ** distance)
    low, high = brute_delta(measurement, multisets("ab", range(4)), epsilon=Fraction(0), d_in=distance)
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY  # type: ignore[attr-defined]
    assert brute_epsilon(measurement, multisets("ab", range(3))) == (math.inf, math.inf)


def test_name_and_shame_publishes_rows_in_the_clear() -> None:
    measurement = vector(["sick", "well"], size=3) >> name_and_shame(1)
    assert measurement(["well", "sick", "well"]).value == ("sick", "well", "well")
    assert (vector(["sick", "well"]) >> name_and_shame(0))(["sick"]).value == ()
    assert "never for data" in measurement.how.mechanism
    sized = vector(["a", "b"], size=2, metric=Hamming()) >> name_and_shame("0.1")
    low, high = brute_delta(sized, list(itertools.product("ab", repeat=2)), epsilon=Fraction(0))
    assert Fraction(1, 10) - TINY <= low <= high <= Fraction(1, 10) + TINY


def test_A1_150_delta_of_one_over_n_is_warned_about() -> None:
    text = delta_warning(Fraction(1, 100), size=100)
    assert text is not None and "about 1 of them" in text and "in the clear" in text
    assert delta_warning(1e-9, size=100) is None
    assert delta_warning("0.00999", size=100) is None


def test_every_outcome_of_a_law_can_be_drawn_and_no_other() -> None:
    """The joint law and the code that draws agree on which outcomes exist (small cases, many draws)."""
    cases: list[tuple[Measurement, object]] = [
        (vector(str) >> private_mode(scale=1, delta="0.3"), ("a", "a", "b")),
        (vector(["a", "b"]) >> name_and_shame("0.5"), ("a", "b", "a")),
        (scalar(int) >> truncated_laplace(scale=1, reach=2), 5),
    ]
    for measurement, data in cases:
        seen = Counter(measurement(data).value for _ in range(600))
        assert set(seen) == {key for key, mass in outcome_probabilities(measurement, data).items() if mass > 0}


@pytest.mark.parametrize(
    ("kind", "plain", "odd"),
    [
        ([1, 2], [1] * 40, [True] + [1] * 39),
        ([1, 2], [1] * 40, [1.0] + [1] * 39),
        ([0.0, 1.0], [0.0] * 40, [-0.0] + [0.0] * 39),
        (int, [1] * 40, [np.int64(1)] + [1] * 39),
        (str, ["a"] * 40, [np.str_("a")] + ["a"] * 39),
    ],
    ids=["truth value", "float", "minus zero", "NumPy integer", "NumPy text"],
)
def test_how_one_row_is_written_does_not_show_in_a_released_key(kind: Data, plain: Data, odd: Data) -> None:
    histogram = vector(kind) >> stability_histogram(scale=1, threshold=0)
    mode = vector(kind) >> private_mode(scale=1, delta="0.1")
    for data in (plain, odd):
        (key, _), *none = histogram(data).value
        assert not none and repr(key) == repr(plain[0]) and repr(mode(data).value) == repr(plain[0])


def test_the_most_frequent_category_may_be_none() -> None:
    mechanism = vector([None, "a"]) >> private_mode(scale=1, delta="0.1")
    assert mechanism([None] * 40).value is None
    assert mechanism([]).value is None


def test_the_law_of_a_test_behind_a_test_adds_up() -> None:
    space = vector(["a", "b"])
    inner = space >> private_mode(scale=1, delta="0.1")
    outer = propose_test_release(space >> mode_gap(), inner, scale=2, delta="0.2", claim=claim("holds everywhere"))
    for data in ([], ["a"], ["a", "a", "b"]):
        total = sum(outcome_probabilities(outer, data).values())
        assert abs(total - 1) < ball(TINY)


def test_no_path_no_promise_beyond_one_step() -> None:
    """Members of a custom domain, such as tables of an even number of rows, need not have neighbours in between."""
    space = Space(Custom("an even number of rows", lambda rows: len(rows) % 2 == 0), AddRemove())
    distance = transformation(space, Space(Integers(), Absolute()), function=len, map=lambda d: d, claim=claim("rows"))
    release = transformation(
        space, Space(Integers(), Absolute()), function=len, map=lambda d: d, claim=claim("rows")
    ) >> laplace(scale=1)
    mechanism = propose_test_release(distance, release, scale=1, delta="0.01", claim=claim("stable"))
    assert mechanism.map(1).epsilon == 2
    assert mechanism.map(2) == Approx(math.inf, 1)
