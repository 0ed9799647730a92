"""Correlated noise: a stream of vectors of which sums over many steps come out well, and units may take part often."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.facts import IntegerNoise, loss_of, noise_within
from sfumato.accounting.facts.strategies import (
    SAFE,
    Dense,
    MinSeparation,
    Participation,
    SquareRoot,
    Strategy,
    Toeplitz,
    column_in_wholes,
    reach_square,
)
from sfumato.accounting.losses.measures import ZCDP, Loss
from sfumato.core.branches import InteractiveLaw, Recorder
from sfumato.core.domains import Array, Bounds, Data, Domain, Integers, Stream, Vector, column
from sfumato.core.law import ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L2, Absolute, Metric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.random_step import RandomStep
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted, NoDistance
from sfumato.exact import Distance, Number, integer, positive, root, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add, nearest_floats
from sfumato.mechanisms.prefix_sums import inverse_series
from sfumato.release.record import How
from sfumato.transforms.distances import times
from sfumato.transforms.streams import member, reader

PROOF = "proofs/factorization.md#noise"


@final
@dataclass(frozen=True)
class AtSteps(Metric):
    """Measures streams of vectors that differ at the steps of one pattern: by the step that differs most, in L2.

    Streams that differ at any other steps are infinitely far apart: they are no neighbours.

    >>> AtSteps(MinSeparation(2, times=2)).distance([[0], [0], [0]], [[3], [0], [4]])
    Fraction(4, 1)
    """

    participation: Participation = field(default_factory=MinSeparation)

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = list(left), list(right)
        if len(ours) != len(theirs):
            raise NoDistance(self, "the streams have different lengths.")
        gaps = [L2().distance(a, b) for a, b in zip(ours, theirs, strict=True)]
        if not self.participation.allows([step for step, gap in enumerate(gaps) if gap]):
            return math.inf
        return max(gaps, default=Fraction(0))

    def misfit(self, domain: Domain) -> str | None:
        fits = isinstance(domain, Stream) and L2().misfit(domain.element) is None
        return None if fits else "it needs a stream of vectors of numbers."

    def unit(self, distance: Distance) -> str:
        return f"vectors that move by at most {distance} in L2, each, at steps of {self.participation}"

    def __str__(self) -> str:
        return f"the L2 distance at each step of {self.participation}"


def step_vectors(
    size: int,
    *,
    step: Number = 1,
    participation: Participation | None = None,
    between: tuple[Number, Number] | None = None,
) -> Space:
    """Declares a stream of vectors of whole numbers of a step, with what one unit may change: a few of them.

    ``between`` are public bounds of the entries, where there are any; they only make work faster.

    >>> step_vectors(3, step="1/1024").domain
    Stream(element=Vector(element=Integers(between=None, step=Fraction(1, 1024)), size=3, least=0))
    """
    element = Integers(None if between is None else Bounds.read(between), positive(step, "step"))
    return Space(Stream(Vector(element, integer(size, "size", least=1))), AtSteps(participation or MinSeparation()))


@guarantee(
    claim="vectors d_in apart at each step of a pattern have whole entries at most d_in · root(reach) · denominator "
    "apart in L2",
    proof=PROOF,
    reviewed="915b4faf0627",
)
def factorized_distance(d_in: Distance, *, strategy: Strategy, participation: Participation) -> Distance:
    """How far apart the whole entries of neighbours are, where the vectors are so far apart in steps of their grid."""
    _, bottom = column_in_wholes(strategy)
    return times(d_in, root(reach_square(strategy, participation) * bottom**2))


@final
@dataclass(frozen=True)
class CorrelatedPlan:
    """The public facts of correlated noise: how vectors are mixed, and with which noise."""

    element: Integers
    size: int
    strategy: Toeplitz | SquareRoot
    participation: Participation
    noise: IntegerNoise

    def loss(self, d_in: Distance) -> Loss:
        """The loss between streams at a distance."""
        if d_in == math.inf:
            return ZCDP(math.inf)
        near = times(d_in, 1 / self.element.step)
        return self.at(factorized_distance(near, strategy=self.strategy, participation=self.participation))

    def at(self, shift: Distance) -> Loss:
        """What entries cost that are ``shift`` apart."""
        return loss_of(self.noise, ZCDP, shift)

    def act(self) -> RandomStep:
        """The random step that adds the noise to all entries, one after another."""
        return RandomStep(("correlated noise", self), [], _stacked, self.at)

    def mixing(self) -> Callable[[Array], Array]:
        """Starts a function from each next vector, in steps, to its exact entries: whole numbers."""
        weights, _ = column_in_wholes(self.strategy)
        bounds = self.element.between
        most = None if bounds is None else math.ceil(bounds.magnitude / self.element.step)
        fits = most is not None and most * int(np.abs(weights).sum()) < SAFE
        kind: Any = np.int64 if fits else object
        used, seen = weights.astype(kind), deque[Array](maxlen=len(weights))

        def mix(vector: Array) -> Array:
            seen.appendleft(vector.astype(kind))
            return np.asarray(used[: len(seen)] @ np.stack(seen))

        return mix

    def unmixing(self) -> Callable[[Array], NDArray[np.float64]]:
        """Starts a function from each next noisy entries to the noisy vector, in floats."""
        weights, bottom = column_in_wholes(self.strategy)
        first, later = float(weights[0] / bottom), (weights[1:] / bottom).astype(np.float64)
        past = deque[NDArray[np.float64]](maxlen=len(later))

        def unmix(noisy: Array) -> NDArray[np.float64]:
            value = nearest_floats(noisy, self.element.step / bottom)
            if past:
                value = value - later[: len(past)] @ np.stack(past)
            past.appendleft(value / first)
            return past[0].copy() if later.size else value / first

        return unmix


def _stacked(left: Data, right: Data) -> Distance:
    """The L2 distance between lists of vectors."""
    return L2().distance(
        [entry for vector in left for entry in vector], [entry for vector in right for entry in vector]
    )


@constructor
def correlated_noise(*, loss: ZCDP, strategy: Toeplitz | SquareRoot, d_in: Number = 1) -> Partial[Measurement]:
    """Releases each vector of a stream with Gaussian noise that cancels in sums: C⁻¹·Z, C the matrix of a strategy.

    What is drawn is C·G + Z, exactly: discrete Gaussian noise on the whole numbers C·G, on a grid. Each vector that is
    released is computed from that. Add them up, with any weights: sums over many steps have far less noise than with
    fresh noise at each step. `sums_error` says how much.

    Takes:      a stream of vectors on a grid under `AtSteps`, from `step_vectors`: one unit changes vectors at the
                steps of a pattern, each by at most ``d_in`` in L2; the loss to keep; `sf.events.SquareRoot(steps)` with
                a band, or another `sf.events.Toeplitz`
    Gives:      a queryable that gives the next noisy vector, as floats, at each call
    Guarantee:  ``loss`` at ``d_in``, for whole streams, also where later vectors depend on earlier answers
                (proofs/factorization.md#noise)
    Cost:       for each step, the band times the length of a vector

    >>> space = step_vectors(10, step=2**-20, participation=MinSeparation(100, times=3))
    >>> (space >> correlated_noise(loss=ZCDP(0.5), strategy=SquareRoot(1000, band=100))).map(1)
    ZCDP(rho=0.5)
    """
    if not isinstance(loss, ZCDP):
        raise BadArgument("the loss of correlated_noise()", "ZCDP, such as sf.ZCDP(0.5)", loss)
    if not isinstance(strategy, Toeplitz | SquareRoot):
        raise BadArgument("strategy", "a matrix such as sf.events.SquareRoot(1000, band=100)", strategy)

    def build(space: Space) -> Measurement:
        match space.domain, space.metric:
            case Stream(element=Vector(element=Integers() as element, size=int() as size)), AtSteps() as metric:
                near, pattern = times(metric.read(d_in), 1 / element.step), metric.participation
            case _:
                wanted = "a stream of vectors on a grid, from sf.stats.step_vectors(…)"
                raise BadArgument("what correlated_noise() works on", wanted, str(space))
        if not 0 < near < math.inf:
            raise BadArgument("d_in", "more than 0 and finite", d_in)
        shift = factorized_distance(near, strategy=strategy, participation=pattern)
        return noisy_steps(space, CorrelatedPlan(element, size, strategy, pattern, noise_within(loss, shift)))

    return Partial(f"correlated_noise({loss})", build)


def _how(plan: CorrelatedPlan) -> How:
    _, bottom = column_in_wholes(plan.strategy)
    scale = f"{up(plan.noise.scale * plan.element.step / bottom):.6g}"
    said = (("strategy", type(plan.strategy).__name__), ("steps", str(plan.strategy.length)), ("scale", scale))
    return How("correlated noise", said, proofs=(PROOF,))


def noisy_steps(space: Space, plan: CorrelatedPlan) -> Measurement:
    """Builds the measurement of a stream, with an outcome that answers step by step."""
    entry = Measurement(
        Space(Integers(), Absolute()),
        ZCDP,
        lambda data, entropy: int(data) + plan.noise.sample(entropy),
        plan.at,
        How("one entry", proofs=(PROOF,)),
        lambda data: ShiftedLaw(plan.noise, int(data)),
    )

    def function(stream: Data, entropy: Entropy) -> Queryable:
        opening = plan.act()
        entropy.perform(opening, lambda: None)

        def noisy(exact: Array) -> Array:
            return entropy.perform(
                opening.answer(exact), lambda: exact_add(exact, plan.noise.samples(len(exact), entropy))
            )

        return Queryable(_answering(plan, stream, noisy))

    def opened(stream: Data) -> Callable[[Recorder], Callable[[Data], Data]]:
        def noisy(recorder: Recorder) -> Callable[[Array], Array]:
            return lambda exact: np.array([int(recorder.run(entry, int(each))) for each in exact], dtype=object)

        return lambda recorder: _answering(plan, stream, noisy(recorder))

    return Measurement(
        space,
        ZCDP,
        function,
        plan.loss,
        _how(plan),
        law=lambda stream: InteractiveLaw(opened(stream)),
        interactive=True,
    )


def _answering(plan: CorrelatedPlan, stream: Data, noisy: Callable[[Array], Array]) -> Callable[[Data], Data]:
    following, mix, unmix = reader(stream), plan.mixing(), plan.unmixing()
    left = plan.strategy.length

    def answer(query: Data) -> Data:
        nonlocal left
        if left == 0:
            raise Exhausted("all the steps that were paid for have been given. More steps are a new measurement.")
        vector = column(member(following(query), Vector(plan.element, plan.size)), plan.element)
        left -= 1
        return unmix(noisy(mix(vector)))

    return answer


def sums_error(strategy: Strategy, *, participation: Participation | None = None) -> float:
    """The root mean squared error of the running totals of one number, where noise on a single one has 1.

    Noise is scaled to what one unit moves in all its steps. Of a `Dense` strategy totals are read off all rows at once,
    in hindsight. For a choice among strategies; not certified.

    >>> from sfumato.accounting.facts.strategies import SquareRoot
    >>> round(sums_error(SquareRoot(1000)), 2), round(sums_error(Toeplitz([1], steps=1000)), 2)
    (3.1, 22.37)
    """
    reach = float(reach_square(strategy, participation or MinSeparation()))
    if isinstance(strategy, Dense):
        matrix = np.array([[*map(float, row), *[0.0] * (strategy.length - len(row))] for row in strategy.rows])
        reading = np.tril(np.ones((strategy.length, strategy.length))) @ np.linalg.pinv(matrix)
        return math.sqrt(reach * float((reading**2).sum()) / strategy.length)
    weights, bottom = column_in_wholes(strategy)
    series = np.zeros(strategy.length)
    series[: len(weights)] = (weights / bottom).astype(np.float64)
    reading = np.cumsum(inverse_series(series))
    return math.sqrt(reach * float(np.cumsum(reading**2).mean()))
