"""Other noises on exact values: clamped to a public range, in stairs, and from fair coins."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.log_concave import binomial_approx
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.core.domains import Array, Bounds, Data, Integers
from sfumato.core.law import Law, ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, integer, non_negative, positive, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.additive import with_noise
from sfumato.mechanisms.gridding import Gridded, exact_add, gridded, in_64_bits
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Censored
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.noise.staircase import Staircase
from sfumato.release.record import Failure, How

CENSORED_PROOF = "proofs/integer_noise.md#censored"
STAIRCASE_PROOF = "proofs/integer_noise.md#staircase"
BINOMIAL_PROOF = "proofs/integer_noise.md#binomial"


@constructor
def censored_laplace(scale: Number, *, between: tuple[Number, Number]) -> Partial[Measurement]:
    """Adds Laplace noise and moves the result into a public range (the truncated geometric mechanism).

    Takes:      an exact number under the absolute distance, or a vector of them under the L1 distance
    Gives:      noisy numbers that never leave the range
    Guarantee:  Pure(epsilon = d_in / scale): clamping sees only the noisy number  (proofs/integer_noise.md#censored)
    Cost:       some 20 ns a coordinate

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> censored_laplace(scale=2, between=(0, 10))).map(1)
    Pure(epsilon=0.5)
    """
    size, bounds = positive(scale, "scale"), Bounds.read(between)

    def build(space: Space) -> Measurement:
        grid = exact_grid(space, size, "censored_laplace")
        low, high = math.ceil(bounds.lower / grid.step), math.floor(bounds.upper / grid.step)
        if low > high:
            raise BadArgument("between", f"wide enough to hold a multiple of {grid.step}", str(bounds))
        noise = DiscreteLaplace(size / grid.step)
        return Measurement(
            source=space,
            measure=Pure,
            function=lambda data, entropy: _noisy_and_clamped(data, grid, noise, low, high, entropy),
            privacy_map=lambda d_in: censored_loss(noise, grid.shift(d_in)),
            how=How(
                "censored laplace", (("scale", f"{up(size):.6g}"), ("between", str(bounds))), proofs=(CENSORED_PROOF,)
            ),
            law=lambda data: _censored_law(data, grid, noise, low, high),
        ).recorded()

    return Partial(f"censored_laplace(scale={scale}, between={between})", build)


@guarantee(claim="epsilon = shift / scale, in L1", proof=CENSORED_PROOF, reviewed="d5c678492147")
def censored_loss(noise: DiscreteLaplace, shift: Distance) -> Pure:
    """The loss of Laplace noise with its result clamped to a public range."""
    loss = loss_of(noise, Pure, shift)
    return Pure(loss.epsilon)  # type: ignore[attr-defined]  # loss_of gives the kind it was asked for


def _noisy_and_clamped(data: Data, grid: Gridded, noise: Noise, low: int, high: int, entropy: Entropy) -> Data:
    whole = grid.whole(data)
    if isinstance(whole, int):
        return grid.value(min(max(whole + noise.sample(entropy), low), high))
    noisy: Array = exact_add(whole, noise.samples(len(whole), entropy))
    # As Python integers where the range lies beyond 64 bits, though the values may not.
    fits = noisy.dtype != object and -(1 << 63) <= low <= high < 1 << 63
    return grid.value(in_64_bits((noisy if fits else noisy.astype(object)).clip(low, high)))


def _censored_law(data: Data, grid: Gridded, noise: Noise, low: int, high: int) -> Law:
    whole = grid.whole(data)
    if isinstance(whole, int):
        return ShiftedLaw(Censored(noise, low - whole, high - whole), whole)
    return ProductLaw(tuple(ShiftedLaw(Censored(noise, low - int(x), high - int(x)), int(x)) for x in whole))


@constructor
def staircase(*, epsilon: Number, width: Number, step: Number | None = None) -> Partial[Measurement]:
    """Adds staircase noise: flat between jumps, so that a move of up to a width costs one epsilon.

    Takes:      an exact number under the absolute distance; ``width`` is how far neighbours may move it, ``step`` where
                the first stair ends (by default near width / (1 + exp(epsilon / 2)), for the least average error)
    Gives:      the noisy number
    Guarantee:  Pure(epsilon · ceil(d_in / width))  (proofs/integer_noise.md#staircase)
    Cost:       a few µs

    >>> from sfumato.core.space import scalar
    >>> mechanism = scalar(int) >> staircase(epsilon=1, width=5)
    >>> mechanism.map(5), mechanism.map(6)
    (Pure(epsilon=1.0), Pure(epsilon=2.0))
    """
    decay, reach = positive(epsilon, "epsilon"), positive(width, "width")
    first = None if step is None else positive(step, "step")

    def build(space: Space) -> Measurement:
        grid = exact_grid(space, reach, "staircase", vectors=False)
        stairs = math.floor(reach / grid.step)
        if stairs < 1:
            raise BadArgument("width", f"at least the values' step, {grid.step}", width)
        end = _first_stair(decay, stairs) if first is None else min(stairs, max(1, math.floor(first / grid.step)))
        told = (("epsilon", f"{up(decay):.6g}"), ("width", str(stairs)), ("step", str(end)))
        how = How("staircase", told, proofs=(STAIRCASE_PROOF,))
        return with_noise(space, grid, Staircase(decay, stairs, end), Pure, how)

    return Partial(f"staircase(epsilon={epsilon}, width={width})", build)


def _first_stair(decay: Fraction, width: int) -> int:
    """A good end for the first stair; any end is as private, so this may be computed in floats."""
    return min(width, max(1, round(width / (1 + math.exp(min(float(decay) / 2, 50.0))))))


@constructor
def binomial(trials: int, *, epsilon: Number) -> Partial[Measurement]:
    """Adds the number of heads in fair coin tosses, less half the tosses.

    Takes:      an exact number under the absolute distance; an even number of trials; the epsilon to state the loss at
    Gives:      the noisy number, never further away than half the trials
    Guarantee:  Approx(epsilon, δ), with the least δ that holds for this noise, from its exact masses
                (proofs/integer_noise.md#binomial)
    Cost:       about 1 µs for up to 65 536 trials

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> binomial(1000, epsilon=1)).map(1).delta < 1e-40
    True
    """
    tosses, fixed = integer(trials, "trials", least=2), non_negative(epsilon, "epsilon")
    noise = Binomial(tosses)

    def build(space: Space) -> Measurement:
        grid = exact_grid(space, Fraction(tosses), "binomial", vectors=False)
        told = (("trials", str(tosses)), ("epsilon", f"{up(fixed):.6g}"))
        how = How("binomial", told, proofs=(BINOMIAL_PROOF,), failure=Failure.DISTINGUISHING)
        return with_noise(space, grid, noise, Approx, how, lambda shift: binomial_loss(noise, shift, fixed))

    return Partial(f"binomial({trials}, epsilon={epsilon})", build)


@guarantee(
    claim="δ(ε) is that of the exact masses, over all shifts up to this one",
    proof=BINOMIAL_PROOF,
    reviewed="abdaf8ca8544",
)
def binomial_loss(noise: Binomial, shift: Distance, epsilon: Fraction) -> Approx:
    """The loss of centred binomial noise at an ε."""
    return binomial_approx(noise, shift=shift, epsilon=epsilon)


def exact_grid(space: Space, scale: Fraction, verb: str, *, vectors: bool = True) -> Gridded:
    """The grid of exact values; floats are refused, for their range or width on a grid would not be as typed."""
    grid = gridded(space, norm=L1, scale=scale, step=None, verb=verb)
    if not isinstance(grid.element, Integers):
        raise BadArgument(
            f"what {verb}() works on", "exact values: integers, or an aggregate such as count() or sum()", str(space)
        )
    if grid.size is not None and not vectors:
        raise BadArgument(f"what {verb}() works on", "one number: its loss on vectors is not known", str(space))
    return grid
