"""Shares of a limit, error bars that set the price, and targets that do not fit (P3-105 to P3-107, P3-129)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

import pytest

import sfumato as sf
from sfumato.core.measurement import Measurement
from sfumato.core.targets import fit_targets
from sfumato.exact import Number
from sfumato.textbook.continuous import Laplace

Build = Callable[[Fraction], Measurement]


def mean(scale: Fraction) -> Measurement:
    return sf.vector(float, size=10) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale)


def count(scale: Fraction) -> Measurement:
    return sf.vector(float, size=10) >> sf.count(sf.between(0, 50)) >> sf.laplace(scale)


def test_A3_075_half_for_the_summary_then_five_statistics() -> None:
    halves = sf.split(sf.Pure(1), ["summary", "institutions"])
    assert halves == {"summary": sf.Pure(0.5), "institutions": sf.Pure(0.5)}
    assert set(sf.split(halves["summary"], ["n", "mean", "median", "men", "women"]).values()) == {sf.Pure(0.1)}


def test_A3_076_a_tenth_for_two_quantiles() -> None:
    parts = sf.split(sf.Pure(1), {"bounds": 1, "mean": 9})
    quantiles = sf.split(parts["bounds"], ["5 %", "95 %"])
    assert quantiles == {"5 %": sf.Pure(0.05), "95 %": sf.Pure(0.05)} and parts["mean"] == sf.Pure(0.9)


def test_P3_129_ranks_are_weights() -> None:
    parts = sf.split(sf.ZCDP(6), ["shares of women and men", "head count", "model"], ranked=True)
    assert list(parts.values()) == [sf.ZCDP(3), sf.ZCDP(2), sf.ZCDP(1)]


def test_shares_reach_the_limit_on_a_real_mechanism() -> None:
    """Two randomized responses at their shares: the true loss of both together is the limit, and no less."""
    parts = sf.split(sf.Pure(Fraction(3, 2)), {"first": 1, "second": 2})
    space = sf.scalar(["yes", "no"])
    both = space >> sf.composition([sf.randomized_response(epsilon=part.epsilon) for part in parts.values()])
    low, high = sf.audit.brute_epsilon(both, ["yes", "no"])
    assert abs(low - Fraction(3, 2)) < Fraction(1, 10**30) and abs(high - Fraction(3, 2)) < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sf.split(1, ['a'])", "the limit must be a privacy loss"),
        ("sf.split(sf.Pure(1), [])", "the parts must be a number, names with weights"),
        ("sf.split(sf.Pure(1), 'ab')", "the parts must be a number, names with weights"),
        ("sf.split(sf.Pure(1), 3.0)", "the parts must be a number, names with weights"),
        ("sf.split(sf.Pure(1), ['a', 'a'])", "the parts must be distinct names"),
        ("sf.split(sf.Pure(1), [1, 2])", "the parts must be distinct names"),
        ("sf.split(sf.Pure(1), {'a': 0})", "the weight of a must be greater than 0"),
        ("sf.split(sf.Pure(1), {'a': -1})", "the weight of a must be greater than 0"),
        ("sf.split(sf.Pure(1), {'a': 1}, ranked=True)", "ranks are weights already"),
    ],
)
def test_parts_that_are_none(code: str, message: str) -> None:
    with pytest.raises(sf.errors.BadArgument, match=message):
        eval(code, {"sf": sf})


@pytest.mark.parametrize(
    "limit",
    [
        sf.accounting.BoundedRange(1),
        sf.convert(sf.Pure(1), sf.accounting.TradeOff),
        sf.convert(sf.Pure(1), sf.Profile),
        sf.convert(sf.Pure(1), sf.Renyi),
    ],
)
def test_kinds_without_shares_are_refused(limit: sf.Loss) -> None:
    with pytest.raises(sf.errors.NoProvenRoute, match="no shares that add up to it again"):
        sf.split(limit, ["a", "b"])


def test_A3_077_the_price_of_an_error_bar() -> None:
    """The continuous formula gives 5.9915 and 0.29957; a fine grid costs nothing, and whole numbers save a little."""
    exact = [Fraction(10) / sf.textbook.scale_for_accuracy(Laplace, alpha=5, beta=0.05)]
    exact += [1 / sf.textbook.scale_for_accuracy(Laplace, alpha=10, beta=0.05)]
    assert [float(epsilon) for epsilon in exact] == pytest.approx([5.9915, 0.29957], rel=2e-5)
    near = sf.calibrate_to_accuracy(mean, half_width=5)
    assert float(near.map(1).epsilon) == pytest.approx(5.9915, rel=1e-5)  # type: ignore[attr-defined]
    assert sf.accuracy(near) <= 5
    whole = sf.calibrate_to_accuracy(count, half_width=10)
    assert whole.map(1) <= sf.Pure(exact[1]) and sf.accuracy(whole) == 10
    assert float(whole.map(1).epsilon) == pytest.approx(0.28435, rel=1e-4)  # type: ignore[attr-defined]


def test_A3_077_gaussian_noise() -> None:
    """P3-107: σ = a / Φ⁻¹(1 − α/2), ρ = Δ²/(2σ²), for noise on a fine grid."""
    made = sf.calibrate_to_accuracy(
        lambda scale: sf.vector(float, size=10) >> sf.clamp(0, 100) >> sf.mean() >> sf.gaussian(scale), half_width=5
    )
    sigma = 5 / 1.959963984540054
    assert float(made.map(1).rho) == pytest.approx(100 / (2 * sigma**2), rel=1e-6)  # type: ignore[attr-defined]


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_the_widest_noise_is_found(confidence: str) -> None:
    made = sf.calibrate_to_accuracy(count, half_width=7, confidence=confidence)
    scale = sf.calibrate_parameter(count, d_in=1, loss=made.map(1))
    assert sf.accuracy(count(scale), confidence=confidence) <= 7
    assert sf.accuracy(count(scale * Fraction(101, 100)), confidence=confidence) > 7


def test_what_has_no_error_bar_is_refused() -> None:
    with pytest.raises(sf.errors.BadArgument, match="with one known error bar"):
        sf.calibrate_to_accuracy(lambda scale: count(scale) >> abs, half_width=5)
    with pytest.raises(sf.errors.BadArgument, match="with one known error bar"):
        sf.calibrate_to_accuracy(
            lambda scale: sf.vector(str) >> sf.composition([sf.count() >> sf.laplace(scale)] * 2), half_width=5
        )
    with pytest.raises(sf.errors.BadArgument, match=r"calibrate_to_accuracy\(\) is given must be a function"):
        sf.calibrate_to_accuracy(count(Fraction(1)), half_width=5)  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="half_width must be greater than 0"):
        sf.calibrate_to_accuracy(count, half_width=0)


def test_P3_107_targets_that_fit() -> None:
    made = fit_targets(sf.Pure("6.3"), {"mean": (mean, 5), "count": (count, 10, 0.95)}, d_in=1)
    assert [sf.accuracy(one) for one in made.values()] == pytest.approx([5, 10])
    total = reduce(lambda spent, one: spent.then(one.map(1)), made.values(), sf.Pure(0))
    assert total <= sf.Pure("6.3") and not total <= sf.Pure("6.2")


def test_P3_107_targets_that_do_not_fit_are_told_what_to_relax() -> None:
    def asked(women: Number, men: Number) -> dict[str, tuple[Build, Number]]:
        return {"women": (count, women), "men": (count, men)}

    with pytest.raises(sf.errors.CannotCalibrate) as caught:
        fit_targets(sf.Pure("0.3"), asked(5, 10), d_in=1)
    assert str(caught.value) == (
        "these targets cost ε = 0.822523 together, and the limit is ε = 0.3. Relax all of them by a factor of 3: "
        "women to ±15, men to ±30. Or relax one alone: women to ±191. Relaxing only men is not enough."
    )
    assert fit_targets(sf.Pure("0.3"), asked(15, 30), d_in=1)
    assert fit_targets(sf.Pure("0.3"), asked(191, 10), d_in=1)
    for short in (asked(14, 28), asked(190, 10)):
        with pytest.raises(sf.errors.CannotCalibrate):
            fit_targets(sf.Pure("0.3"), short, d_in=1)


def test_one_target_that_does_not_fit() -> None:
    with pytest.raises(sf.errors.CannotCalibrate, match=r"Relax all of them by a factor of 3: count to ±30\.$"):
        fit_targets(sf.Pure("0.1"), {"count": (count, 10)}, d_in=1)
    with pytest.raises(sf.errors.CannotCalibrate, match="No wider error bars make them fit"):
        fit_targets(sf.Pure(0), {"count": (count, 10)}, d_in=1)


def test_targets_in_another_kind_of_loss_are_refused() -> None:
    with pytest.raises(sf.errors.NoProvenRoute, match="ZCDP and Pure are different kinds"):
        fit_targets(sf.ZCDP(1), {"count": (count, 10)}, d_in=1)
    with pytest.raises(sf.errors.BadArgument, match="the targets must be named"):
        fit_targets(sf.Pure(1), {}, d_in=1)
    with pytest.raises(sf.errors.BadArgument, match="the target count must be"):
        fit_targets(sf.Pure(1), {"count": (10, count)}, d_in=1)  # type: ignore[dict-item]
    with pytest.raises(sf.errors.BadArgument, match="the limit must be a privacy loss"):
        fit_targets(1, {"count": (count, 10)}, d_in=1)  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="the half-width of count must be greater than 0"):
        fit_targets(sf.Pure(1), {"count": (count, 0)}, d_in=1)
