"""Objective perturbation: the exact law of a released coefficient against the claimed loss, and what certifies it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, precision, up
from sfumato.mechanisms import certified_minimum
from sfumato.mechanisms.certified_minimum import (
    GRID_BITS,
    Problem,
    Push,
    _ball_gradient,
    certified_gradient,
    firm_ridge,
    least,
    refined,
    settled,
)
from sfumato.mechanisms.perturbed_risk import draw_push, noise_step, perturbed_loss, perturbed_risk
from sfumato.mechanisms.risks import CappedPoisson, Huber, Logistic, Risk, SmoothHinge, Softmax

RISKS: list[Risk] = [Logistic(), Softmax(3), Softmax(5), SmoothHinge(), CappedPoisson(0.25), Huber(Fraction(2, 5))]


def below(point: arb, scale: Fraction) -> arb:
    """P(b < point) of one coordinate of a push: a discrete Laplace cell, and within it uniform; worked out here."""
    step = noise_step(scale)
    ratio = ball(-step / scale).exp()
    whole = math.floor((point / ball(step) + ball(Fraction(1, 2))).mid())
    inside = point / ball(step) + ball(Fraction(1, 2)) - whole
    mass = (1 - ratio) / (1 + ratio) * ratio ** abs(whole)
    before = ratio**-whole / (1 + ratio) if whole <= 0 else 1 - ratio ** (whole + 1) / (1 + ratio) - mass
    return (before * ratio if whole <= 0 else before) + inside * mass


def tilt(risk: Risk, targets: list[float], theta: Fraction, ridge: Fraction) -> arb:
    """The push whose minimum is θ, of rows that have the constant alone."""
    slopes = [risk.exact_slopes([ball(theta)], target)[0] for target in targets]
    return -sum(slopes, arb(0)) - ball(ridge * theta)


def cell(risk: Risk, targets: list[float], place: int, scale: Fraction, ridge: Fraction) -> arb:
    """P(the released coefficient is so many steps): its minimum falls with the push."""
    low, high = (Fraction(2 * place + side, 2 << GRID_BITS) for side in (-1, 1))
    return below(tilt(risk, targets, low, ridge), scale) - below(tilt(risk, targets, high, ridge), scale)


@lru_cache
def true_loss(risk: Risk, scale: Fraction, ridge: Fraction) -> float:
    """The greatest logarithm of a ratio of probabilities of released coefficients, over neighbours and cells."""
    classes = [-1.0, 1.0] if isinstance(risk, Huber) else [0.0, 1.0]
    pairs = [([y] * count, [y] * count + [new]) for y in classes for count in (0, 1, 40) for new in classes]
    found = 0.0
    with precision(400):
        for left, right in pairs:
            for theta in np.linspace(-6, 6, 41):
                place = round(float(theta) * 2**GRID_BITS)
                one, other = (cell(risk, rows, place, scale, ridge) for rows in (left, right))
                found = max(found, abs(float((other / one).log())))
    return found


@pytest.mark.parametrize(
    ("risk", "scale", "ridge", "tight"),
    [
        (Logistic(), "1", "1", 0.98),  # the ridge at which bends cost nothing
        (Logistic(), "1", "1/20", 0.6),  # a small one, at which they cost more than slopes; one row has no such company
        (SmoothHinge(), "2", "1", 0.95),
        (CappedPoisson(), "2", "1", 0.55),
        (Huber(Fraction(1, 2)), "2", "2", 0.8),  # the sweep meets no residual next to a kink
    ],
)
def test_the_law_of_a_coefficient_keeps_the_loss_and_reaches_it(
    risk: Risk, scale: str, ridge: str, tight: float
) -> None:
    """Cells of the grid are integrated exactly; without bends, or with half the slopes, the claim would be broken."""
    s, penalty = Fraction(scale), Fraction(ridge)
    claimed = (sf.matrix(1) >> perturbed_risk(risk, [], scale=s, ridge=penalty)).map(1).epsilon  # type: ignore[attr-defined]
    if risk.stiffness * s > penalty:  # the mechanism would take a greater ridge: ask for the price alone
        claimed = perturbed_loss(risk, s, penalty, 1)
    true = true_loss(risk, s, penalty)
    assert tight * float(claimed) <= true <= float(claimed)
    if penalty < s or not isinstance(risk, Logistic):
        assert true > 1.2 * float(1 / s)  # what is claimed without bends


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_densities_of_random_neighbours_keep_the_loss(risk: Risk) -> None:
    """With several coordinates and scores: slopes by balls, bends by their differences, determinants by NumPy."""
    rng, (scale, ridge, width) = np.random.default_rng(5), (1.0, 0.7, 3)
    claimed = float(perturbed_loss(risk, Fraction(scale), Fraction(ridge), width))
    worst = 0.0
    for _ in range(300):
        size = risk.scores * width
        z = np.array([1.0, *rng.choice([-1.0, 1.0], width - 1)])
        f = rng.normal(size=risk.scores) * rng.choice([0.3, 1.0, 3.0])
        y = rng.random() if isinstance(risk, CappedPoisson) else float(rng.integers(0, max(2, risk.scores + 1)))

        def slope(at: Any, y: float = y) -> Any:
            return np.array([float(one) for one in risk.exact_slopes([arb(float(one)) for one in at], y)])

        bend = np.array([(slope(f + 1e-6 * e) - slope(f - 1e-6 * e)) / 2e-6 for e in np.eye(risk.scores)])
        added = np.kron(bend, np.outer(z, z))
        volume = np.linalg.slogdet(np.eye(size) + added / ridge)[1]
        largest = float(np.abs(np.outer(slope(f), z)).max())
        worst = max(worst, largest / scale + volume)
    assert 0.75 * claimed < worst <= claimed * (1 + 1e-5)


def problem(risk: Risk, count: int, seed: int, *, ridge: float = 2.0, width: int = 3) -> Problem:
    rng = np.random.default_rng(seed)
    rows = np.round(rng.uniform(-1, 1, (count, width)) * 2**20) / 2**20
    rows[:, 0] = 1.0
    codes = rng.integers(0, max(2, risk.scores + 1), count).astype(float)
    targets = risk.targets(codes if not isinstance(risk, CappedPoisson) else rng.uniform(-1, 1, count))[1]
    push = draw_push(Fraction(1), risk.scores * width, ReplayEntropy(seed))
    return Problem(risk, rows, targets, ridge, push)


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_gradients_in_floats_are_within_their_errors_and_minima_are_those_of_balls(
    risk: Risk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = problem(risk, 60, 3)
    rng = np.random.default_rng(8)
    for size in (0.1, 3.0, 40.0):
        theta = rng.normal(size=made.shape) * size
        slope, error = certified_gradient(made, theta)
        with precision(300):
            truth = _ball_gradient(made, [Fraction(float(one)) for one in theta.ravel()])
        away = [abs(float(one - arb(float(near)))) for one, near in zip(truth, slope.ravel(), strict=True)]
        assert np.all(np.array(away) <= error.ravel())
        assert float(error.max()) < 1e-9
    found = least(made)
    assert refined(made, np.zeros(made.shape)) == found
    monkeypatch.setattr(certified_minimum, "MOST_STEPS", 0)  # floats that lead nowhere change nothing
    assert least(made) == found
    assert least(problem(risk, 0, 3)) == refined(problem(risk, 0, 3), np.zeros(made.shape))


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_slopes_in_floats_are_within_their_doubt(risk: Risk) -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(400, risk.scores)) * rng.choice([0.1, 1.0, 9.0], (400, 1))
    targets = rng.random(400) if isinstance(risk, CappedPoisson) else rng.integers(0, 2, 400).astype(float)
    found, doubt = risk.slopes(scores, targets), risk.doubt(float(np.abs(scores).max()), 0.0)
    worst = 0.0
    with precision(200):
        for row, target, slopes in zip(scores, targets, found, strict=True):
            exact = risk.exact_slopes([arb(float(one)) for one in row], float(target))
            worst = max(worst, *(abs(float(one - arb(float(near)))) for one, near in zip(exact, slopes, strict=True)))
    assert worst <= doubt < 1e-13
    subtracted = isinstance(risk, SmoothHinge | Huber)  # mostly without rounding
    assert worst > doubt / 200 or subtracted


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: f"{type(risk).__name__}{risk.scores}")
def test_the_convexity_that_rows_bring_holds_a_step_around(risk: Risk) -> None:
    """Second derivatives at corners of the neighbourhood; about half of what they are is claimed."""
    made = problem(risk, 80, 7, ridge=0.125)
    theta = np.random.default_rng(9).normal(size=made.shape) * 0.3
    claimed, size = firm_ridge(made, theta), theta.size
    least_found = math.inf
    for seed in range(6):
        away = np.random.default_rng(seed).choice([-1.0, 1.0], theta.shape) / (2**GRID_BITS * size**0.5)
        near = made.hessian(theta + away)
        least_found = min(least_found, float(np.linalg.eigvalsh(near)[0]))
    assert 0.125 < claimed <= least_found
    assert claimed > 0.45 * (least_found - 0.125)
    assert firm_ridge(made, theta + 2.0**30) == 0.125  # beyond what floats are asked about


def test_what_is_not_clear_is_not_settled() -> None:
    half = np.array([[0.5 * 2.0**-GRID_BITS, 3.0]])
    zero, error = np.zeros((1, 2)), np.full((1, 2), 1e-12)
    assert settled(half, zero, error, 1.0) is None
    assert settled(half + 2.0**-GRID_BITS / 4, zero, error, 1.0) == [1, 3 << GRID_BITS]
    assert settled(half + 2.0**-GRID_BITS / 4, zero + 1e-6, error, 1.0) is None
    assert settled(half + 2.0**-GRID_BITS / 4, zero, error + math.inf, 1.0) is None


@pytest.mark.parametrize("risk", [*RISKS, CappedPoisson()], ids=lambda risk: type(risk).__name__)
def test_rows_of_which_every_eighth_leads_astray_do_not_make_it_endless(
    risk: Risk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every eighth row is of one class: the first guess is far out, where losses are straight and steps too long."""
    looked: list[int] = []

    def counted(problem: Problem, theta: list[Fraction]) -> list[arb]:
        looked.append(1)
        assert len(looked) < 100
        return _ball_gradient(problem, theta)

    monkeypatch.setattr(certified_minimum, "_ball_gradient", counted)
    rows, targets = np.ones((3000, 4)), np.arange(3000) % 2 * 1.0
    push = draw_push(Fraction(1, 10**9), 4 * risk.scores, ReplayEntropy(0))
    assert len(least(Problem(risk, rows, targets, 8e-9, push))) == 4 * risk.scores


def test_bits_of_a_push_are_drawn_once_and_kept() -> None:
    push = Push([3, -2], Fraction(1, 4), ReplayEntropy(1))
    low, width = push.lower, push.width
    push.extend(100)
    for before, after, whole in zip(low, push.lower, (3, -2), strict=True):
        assert before <= after < after + push.width <= before + width
        assert (whole - Fraction(1, 2)) / 4 <= before < (whole + Fraction(1, 2)) / 4


def test_draws_have_the_stated_law_and_not_that_of_half_the_scale() -> None:
    """Kolmogorov and Smirnov's distance of 400 draws: below 1.36/√400 from the law; far above from another scale."""
    scale, ridge, targets = Fraction(2), Fraction(2), [1.0, 1.0, 0.0]
    made = sf.matrix(1) >> perturbed_risk(Logistic(), [], scale=scale, ridge=ridge)
    entropy = ReplayEntropy(4)
    drawn = sorted(float(made(np.array([[y] for y in targets]), entropy=entropy).value[0]) for _ in range(400))

    def apart(other: Fraction) -> float:
        with precision(200):
            law = [1 - float(below(tilt(Logistic(), targets, Fraction(one), ridge), other)) for one in drawn]
        return max(abs(chance - (place + 0.5) / len(drawn)) for place, chance in enumerate(law))

    assert apart(scale) < 0.068
    assert apart(scale / 2) > 0.1


def test_the_price_is_that_of_the_costliest_slope_and_rows_add_up() -> None:
    free = sf.matrix(3) >> perturbed_risk(Logistic(), [0, 4], scale=2, ridge=6)
    assert 0.5 < up(free.map(1).epsilon) < 0.500001  # type: ignore[attr-defined]
    assert free.map(3).epsilon == 3 * free.map(1).epsilon and free.map(0) == sf.Pure(0)  # type: ignore[attr-defined]
    for risk in RISKS:
        flat, rise, fall = (float(one) for one in risk.bend)
        slopes = np.linspace(0, 1, 20001)
        share = 5 / (0.3 * risk.rank)
        worst = np.max(slopes / 1.5 + risk.rank * np.log1p(share * (flat + rise * slopes + fall * slopes**2)))
        claimed = float(perturbed_loss(risk, Fraction(3, 2), Fraction(3, 10), 5))
        assert worst <= claimed <= worst + 2e-6


def test_it_refuses_what_it_cannot_work_on() -> None:
    with pytest.raises(sf.errors.BadArgument, match="before the target"):
        sf.matrix(3) >> perturbed_risk(Logistic(), [0], scale=1)
    with pytest.raises(sf.errors.BadArgument, match="matrix of floats"):
        sf.matrix(2, size=10, metric=sf.ChangeOne()) >> perturbed_risk(Logistic(), [0], scale=1)
    with pytest.raises(sf.errors.BadArgument, match="three or more"):
        Softmax(2)
