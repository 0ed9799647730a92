"""What it costs to run a mechanism a random number of times and publish the best outcome only.

The number of runs must follow the stated law and stay secret; outcomes are ranked by a public order.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sfumato.accounting.events import Event, PoissonRuns, TruncatedNegativeBinomial
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.tables import Total, selector
from sfumato.errors import BadArgument
from sfumato.exact import Extended, ball, lower, upper
from sfumato.guarantee import guarantee


@guarantee(
    claim="at least the expected number of runs: shape (1 - stop) / (stop (1 - stop^shape)), its limit at shape 0",
    proof="proofs/repeat_and_select.md#laws",
    reviewed="c35b52f44103",
)
def mean_runs(runs: TruncatedNegativeBinomial) -> Fraction:
    """The expected number of runs, rounded up.

    >>> mean_runs(TruncatedNegativeBinomial(1, 0.01))
    Fraction(100, 1)
    """
    if runs.shape == 1:
        return 1 / runs.stop
    odds = (1 - runs.stop) / runs.stop
    if runs.shape == 0:
        return Fraction(upper(lambda: ball(odds) / -ball(runs.stop).log()))
    return Fraction(upper(lambda: ball(odds * runs.shape) / -(ball(runs.shape) * ball(runs.stop).log()).expm1()))


@guarantee(
    claim="epsilon + (1 + shape) ln((stop + e^epsilon) / (1 + stop e^epsilon)), at most (2 + shape) epsilon",
    proof="proofs/repeat_and_select.md#pure",
    reviewed="0ce1cd76a48e",
)
def selected_epsilon(epsilon: Extended, shape: Fraction, stop: Fraction) -> Extended:
    """The pure loss of the best of a truncated negative binomial number of runs, rounded up."""
    plain = (2 + shape) * epsilon
    if epsilon == math.inf or epsilon == 0:
        return plain
    exact = Fraction(epsilon)

    def compute() -> arb:
        growth = ball(exact).exp()
        return ball(exact) + ball(1 + shape) * ((ball(stop) + growth) / (1 + ball(stop) * growth)).log()

    return min(plain, upper(compute))


@guarantee(
    claim="epsilon + mean tanh(epsilon / 2)",
    proof="proofs/repeat_and_select.md#pure-poisson",
    reviewed="305e98d915d7",
)
def poisson_selected_epsilon(epsilon: Extended, mean: Fraction) -> Extended:
    """The pure loss of the best of a Poisson number of runs, rounded up."""
    if epsilon == math.inf or epsilon == 0:
        return epsilon
    exact = Fraction(epsilon)
    return upper(lambda: ball(exact) + ball(mean) * (ball(exact) / 2).tanh())


@selector(TruncatedNegativeBinomial, Pure)
def negative_binomial_pure(inner: Event, runs: TruncatedNegativeBinomial, total: Total) -> Pure:
    """The pure loss of the best run."""
    return Pure(selected_epsilon(_pure(total, inner), runs.shape, runs.stop))


@selector(PoissonRuns, Pure)
def poisson_pure(inner: Event, runs: PoissonRuns, total: Total) -> Pure:
    """The pure loss of the best run, or of none."""
    return Pure(poisson_selected_epsilon(_pure(total, inner), runs.mean))


@selector(TruncatedNegativeBinomial, Approx)
@guarantee(
    claim="delta = P(some run is in its bad part) = 1 - E[(1 - delta)^runs]; epsilon as if no run were",
    proof="proofs/repeat_and_select.md#approximate",
    reviewed="f11fe628c637",
)
def negative_binomial_approx(inner: Event, runs: TruncatedNegativeBinomial, total: Total) -> Approx:
    """The approximate loss of the best run; every run may fail, so δ grows with their number."""
    once = _approx(total, inner)
    if once.delta == 1:
        return once
    stop = runs.stop + once.delta - runs.stop * once.delta
    epsilon = selected_epsilon(once.epsilon, runs.shape, stop)
    return Approx(epsilon, some_bad(runs, stop) if once.delta else 0)


def some_bad(runs: TruncatedNegativeBinomial, stop: Fraction) -> Fraction:
    """1 − f(1 − δ) rounded up, f the generating function; ``stop`` is 1 − (1 − γ)(1 − δ)."""
    if runs.shape == 1:
        return 1 - runs.stop * (1 - stop) / ((1 - runs.stop) * stop)
    further = stop / runs.stop - 1

    def enclosed() -> arb:
        # ln of stop over γ, which keeps its digits however small δ is.
        grown, whole = ball(further).log1p(), ball(runs.stop).log()
        if runs.shape == 0:
            return -grown / whole
        return (-ball(runs.shape) * grown).expm1() / (ball(runs.shape) * whole).expm1()

    return min(Fraction(1), Fraction(upper(enclosed)))


@selector(PoissonRuns, Approx)
@guarantee(
    claim="delta = 1 - exp(-mean delta); epsilon as if no run were in its bad part",
    proof="proofs/repeat_and_select.md#approximate",
    reviewed="2c2ffbe42e81",
)
def poisson_approx(inner: Event, runs: PoissonRuns, total: Total) -> Approx:
    """The approximate loss of the best run, or of none; every run may fail, so δ grows with their number."""
    once = _approx(total, inner)
    delta = -Fraction(lower(lambda: ball(-runs.mean * once.delta).expm1())) if once.delta else Fraction(0)
    return Approx(poisson_selected_epsilon(once.epsilon, runs.mean * (1 - once.delta)), min(Fraction(1), delta))


def _pure(total: Total, inner: Event) -> Extended:
    loss = total(inner)
    if not isinstance(loss, Pure):
        raise BadArgument("the loss of one run", "Pure", type(loss).__name__)
    return loss.epsilon


def _approx(total: Total, inner: Event) -> Approx:
    loss = total(inner)
    if not isinstance(loss, Approx):
        raise BadArgument("the loss of one run", "Approx", type(loss).__name__)
    return loss
