"""One-liners in the style of lecture notes: data in, release out. Thin wrappers over spaces, transformations and noise.

Where the caller supplies the statistic and its sensitivity, nobody can check them: a claim is required, and is printed
with the release. What the function gives is put on a grid far finer than the noise, exactly; what is not a finite
number counts as 0, for an error would tell about the data.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.accounting.facts.gaussian import analytic_sigma, discrete_gaussian_epsilon, exact_discrete_delta
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.search import least
from sfumato.core.calibrate import calibrate
from sfumato.core.custom import transformation
from sfumato.core.domains import Custom, Data, Integers, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, Absolute, AddRemove, ChangeOne, LInf
from sfumato.core.space import Space, scalar, vector
from sfumato.core.steps import step_of
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, integer, nearest_whole, positive, rational_up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.randomized_response import randomized_response
from sfumato.mechanisms.selection import exponential_of
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.release.claim import Claim
from sfumato.release.record import Failure, Release
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

FINENESS = 1 << 30
"""What the caller's function gives is rounded to this fraction of its sensitivity."""

CLOSE = Fraction(999_999, 1_000_000)
"""Where the search for a discrete Gaussian scale starts, relative to the continuous one."""

ADD_REMOVE = AddRemove()


def laplace_mechanism(
    data: Data,
    function: Callable[[Data], Data],
    *,
    epsilon: Number,
    sensitivity: Number,
    claim: Claim | None = None,
    coordinates: int | None = None,
    metric: AddRemove | ChangeOne = ADD_REMOVE,
    entropy: Entropy | None = None,
) -> Release:
    """Releases a statistic with Laplace noise of scale sensitivity / ε, for neighbours one row apart.

    ``sensitivity`` is the most that the statistic moves, in the L1 distance where it has several ``coordinates``.

    >>> from sfumato.release.claim import claim
    >>> laplace_mechanism([1, 0, 1], sum, epsilon=0.5, sensitivity=1, claim=claim("bits: one row moves it by 1")).loss
    Pure(epsilon=0.5)
    """
    step = positive(sensitivity, "sensitivity") / FINENESS
    if coordinates is None:
        target = Space(Integers(step=step), Absolute())
    else:
        target = Space(Vector(Integers(step=step), integer(coordinates, "coordinates", least=1)), L1())
    claimed = claimed_statistic(function, target=target, metric=metric, claim=claim)
    return calibrate(lambda scale: claimed >> laplace(scale), d_in=1, loss=Pure(epsilon))(data, entropy=entropy)


def gaussian_mechanism(
    data: Data,
    function: Callable[[Data], Data],
    *,
    epsilon: Number,
    delta: Number,
    sensitivity: Number,
    claim: Claim | None = None,
    metric: AddRemove | ChangeOne = ADD_REMOVE,
    entropy: Entropy | None = None,
) -> Release:
    """Releases a number with the least Gaussian noise that keeps (ε, δ), for neighbours one row apart and every ε.

    >>> from sfumato.release.claim import claim
    >>> bits = claim("bits: one row moves it by 1")
    >>> gaussian_mechanism([1, 0], sum, epsilon=1, delta=1e-6, sensitivity=1, claim=bits).loss <= Approx(1, 1e-6)
    True
    """
    step = positive(sensitivity, "sensitivity") / FINENESS
    target = Space(Integers(step=step), Absolute())
    claimed = claimed_statistic(function, target=target, metric=metric, claim=claim)
    return (claimed >> approximate_gaussian(target, epsilon=epsilon, delta=delta))(data, entropy=entropy)


def approximate_gaussian(space: Space, *, epsilon: Number, delta: Number) -> Measurement:
    """Adds the least Gaussian noise that keeps (ε, δ), where neighbours' numbers are `FINENESS` steps apart.

    Takes:      an exact number under the absolute distance
    Gives:      the noisy number
    Guarantee:  Approx(epsilon, delta) at a distance of `FINENESS` steps  (proofs/gaussian_calibration.md#discrete)
    Cost:       that of gaussian()
    """
    if not isinstance(space.domain, Integers):
        raise BadArgument("the space", "one of exact numbers", str(space))
    step, price, allowed = space.domain.step, positive(epsilon, "epsilon"), positive(delta, "delta")
    start = analytic_sigma(price, delta=delta, sensitivity=FINENESS * step) * CLOSE

    def keeps(scale: Fraction) -> bool:
        return scale >= start and exact_discrete_delta(DiscreteGaussian(scale / step), FINENESS, price) <= allowed

    scale = least(keeps, what="scale")
    noisy, noise = space >> gaussian(scale), DiscreteGaussian(scale / step)
    return replace(
        noisy,
        measure=Approx,
        privacy_map=lambda d_in: approximate_gaussian_loss(d_in, noise=noise, step=step, asked=price, delta=allowed),
        how=replace(noisy.how, failure=Failure.GRACEFUL),
    ).recorded()


@guarantee(
    claim="the least epsilon at delta of discrete Gaussian noise, at the largest whole shift between neighbours",
    proof="proofs/gaussian_calibration.md#discrete",
    reviewed="8b8d02b2a750",
)
def approximate_gaussian_loss(
    d_in: Distance, *, noise: DiscreteGaussian, step: Fraction, asked: Fraction, delta: Fraction
) -> Approx:
    """The (ε, δ) loss of an exact number with Gaussian noise, between members some distance apart."""
    moved = rational_up(d_in)
    if moved == 0 or moved == math.inf:
        return Approx(moved, 0)
    shift = math.ceil(moved / step)
    epsilon = discrete_gaussian_epsilon(noise, shift=shift, delta=delta)
    # The search gives floats; what was asked for may lie between two of them.
    if asked < epsilon and exact_discrete_delta(noise, shift, asked) <= delta:
        return Approx(asked, delta)
    return Approx(epsilon, delta)


def exponential_mechanism(
    data: Data,
    candidates: Sequence[Data],
    *,
    score: Callable[[Data, Data], Data],
    epsilon: Number,
    sensitivity: Number,
    claim: Claim | None = None,
    metric: AddRemove | ChangeOne = ADD_REMOVE,
    entropy: Entropy | None = None,
) -> Release:
    """Releases a candidate with a high score(data, candidate), with odds exp(ε · score / (2 · sensitivity)).

    >>> from sfumato.release.claim import claim
    >>> votes = claim("one row has one vote")
    >>> exponential_mechanism(
    ...     ["a", "b", "a"], ["a", "b"], score=lambda rows, x: rows.count(x), epsilon=1, sensitivity=1, claim=votes
    ... ).loss
    Pure(epsilon=1.0)
    """
    if not len(candidates):
        raise BadArgument("candidates", "at least one", candidates)
    step = positive(sensitivity, "sensitivity") / FINENESS
    target = Space(Vector(Integers(step=step), len(candidates)), LInf())
    claimed = claimed_statistic(
        lambda rows: [score(rows, candidate) for candidate in candidates], target=target, metric=metric, claim=claim
    )
    made = calibrate(lambda heat: claimed >> exponential_of(candidates, temperature=heat), d_in=1, loss=Pure(epsilon))
    return made(data, entropy=entropy)


def randomized_answer(
    answer: Data,
    *,
    options: Sequence[Data] = (False, True),
    p: Number | None = None,
    epsilon: Number | None = None,
    entropy: Entropy | None = None,
) -> Release:
    """Releases one person's answer: the truth with probability p (or what ε allows), else another of the options.

    >>> randomized_answer(True, epsilon=1).loss
    Pure(epsilon=1.0)
    """
    return (scalar(list(options)) >> randomized_response(p=p, epsilon=epsilon))(answer, entropy=entropy)


def dp_mean(
    scores: Sequence[float], *, between: tuple[Number, Number], epsilon: Number, entropy: Entropy | None = None
) -> Release:
    """Releases the mean of a class of public size, each score moved into the bounds; one changed score costs ε.

    >>> dp_mean([85.0, 84.0, 85.0, 89.0], between=(0, 100), epsilon=0.5).loss
    Pure(epsilon=0.5)
    """
    lower, upper = between
    exact = vector(float, size=len(scores)) >> clamp(lower, upper) >> mean()
    return calibrate(lambda scale: exact >> laplace(scale), d_in=1, loss=Pure(epsilon))(scores, entropy=entropy)


def claimed_statistic(
    function: Callable[[Data], Data], *, target: Space, metric: AddRemove | ChangeOne, claim: Claim | None
) -> Transformation:
    """Makes a transformation from a function that the caller claims to move by at most `FINENESS` steps a row.

    Takes:      whatever the function takes
    Gives:      an exact number, or a vector of them
    Guarantee:  d_out = d_in · sensitivity, by the caller's claim, and the rounding in L1  (proofs/direct.md#claimed)
    Cost:       that of the function
    """
    size = target.domain.size if isinstance(target.domain, Vector) else None
    step, slack = step_of(target.domain), size - 1 if size is not None and isinstance(target.metric, L1) else 0

    def statistic(data: Data) -> Data:
        outcome = function(data)
        return whole_steps(outcome, step) if size is None else [whole_steps(x, step) for x in _padded(outcome, size)]

    return transformation(
        Space(Custom("whatever the function takes", _anything), metric),
        target,
        function=statistic,
        map=lambda d_in: claimed_map(d_in, step=step, slack=slack),
        claim=claim,
        name="the caller's statistic",
    )


@guarantee(
    claim="d rows move the rounded statistic by d FINENESS steps; in L1, by one more for each further coordinate",
    proof="proofs/direct.md#claimed",
    reviewed="491cb1eb3b03",
)
def claimed_map(d_in: Distance, *, step: Fraction, slack: int) -> Distance:
    """How far a claimed statistic, rounded to whole steps, moves between data sets some rows apart."""
    moved = rational_up(d_in)
    return moved if moved == 0 or moved == math.inf else (moved * FINENESS + slack) * step


def _anything(data: Data) -> bool:
    """Takes any data: it is the caller's function that must."""
    return True


def _padded(values: Data, size: int) -> list[Data]:
    """Pads or cuts to exactly ``size`` values, whatever the function returned: missing ones are 0."""
    try:
        entries = list(values)
    except TypeError:  # one number, or an array of no dimension
        entries = [values]
    return (entries + [0] * size)[:size]


def whole_steps(value: Data, step: Fraction) -> int:
    """Rounds a number to whole steps, halves up; 0 where it is not a finite number.

    Numbers are read exactly: a detour through floats would move large ones by more than the caller claims.
    """
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    try:
        exact = Fraction(*value.as_integer_ratio()) if hasattr(value, "as_integer_ratio") else _whole_or_float(value)
    except (TypeError, ValueError, OverflowError):
        return 0
    return nearest_whole(exact / step)


def _whole_or_float(value: Data) -> Fraction:
    try:
        return Fraction(operator.index(value))
    except TypeError:
        return Fraction(float(value))
