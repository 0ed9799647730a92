"""Rényi curves of the best of a random number of runs (Papernot and Steinke 2022)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

from flint import arb

from sfumato.accounting.convert.renyi import renyi_delta
from sfumato.accounting.events import Event, PoissonRuns, TruncatedNegativeBinomial
from sfumato.accounting.facts.repeat_and_select import mean_runs, poisson_selected_epsilon, selected_epsilon
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.order_search import best_order
from sfumato.accounting.tables import Total, selector
from sfumato.errors import BadArgument, Several
from sfumato.exact import Extended, ball, log_down, log_up, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record


@final
@record("SelectedCurve")
class SelectedCurve(Curve):
    """The Rényi curve of the best of a truncated negative binomial number of runs."""

    inner: Renyi
    runs: TruncatedNegativeBinomial

    def __post_init__(self) -> None:
        _check(self.inner, self.runs, TruncatedNegativeBinomial)

    @guarantee(
        claim="D + (1 + shape) penalty + ln(mean) / (order - 1), at most the pure loss",
        proof="proofs/repeat_and_select.md#renyi",
        reviewed="1f0a1e638091",
    )
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at an order."""
        extra = (1 + self.runs.shape) * selection_penalty(self.inner, self.runs.stop)
        return min(self.inner.at(order) + extra + log_up(mean_runs(self.runs)) / (order - 1), self.ceiling())

    def orders(self) -> Orders:
        """The orders of one run."""
        return self.inner.orders()

    def ceiling(self) -> Extended:
        """The pure loss, where one run is pure."""
        return selected_epsilon(self.inner.ceiling(), self.runs.shape, self.runs.stop)

    def near(self, order: float) -> float:
        """A float near the bound."""
        extra = up((1 + self.runs.shape) * selection_penalty(self.inner, self.runs.stop))
        runs = math.log(up(mean_runs(self.runs)))
        return min(self.inner.near(order) + extra + runs / (order - 1), up(self.ceiling()))


@lru_cache(maxsize=64)
@guarantee(
    claim="the least over orders a of (1 - 1/a) D(a) + ln(1/stop) / a that was found, its ends included",
    proof="proofs/repeat_and_select.md#renyi",
    reviewed="99283d514941",
)
def selection_penalty(inner: Renyi, stop: Fraction) -> Extended:
    """What each further unit of shape costs, whatever the order."""
    chances = log_up(1 / stop)
    weight = up(chances)
    order = best_order(lambda more: (more * inner.near(1 + more) + weight) / (1 + more), inner.orders())
    return min(chances, inner.ceiling(), ((order - 1) * inner.at(order) + chances) / order)


@final
@record("PoissonSelectedCurve")
class PoissonSelectedCurve(Curve):
    """The Rényi curve of the best of a Poisson number of runs, or of none."""

    inner: Renyi
    runs: PoissonRuns

    def __post_init__(self) -> None:
        _check(self.inner, self.runs, PoissonRuns)

    @guarantee(
        claim="ln(exp(-mean) + mean exp((order - 1) (D + mean delta))) / (order - 1), delta that of one run at "
        "ln(order / (order - 1)); at most the pure loss",
        proof="proofs/repeat_and_select.md#renyi-poisson",
        reviewed="a82e1dba488f",
    )
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at an order."""
        mean, once = self.runs.mean, self.inner.at(order)
        if once == math.inf:
            return self.ceiling()
        epsilon = Fraction(log_down(order / (order - 1)))
        delta = Fraction(0) if self.inner.ceiling() <= epsilon else renyi_delta(self.inner, epsilon=epsilon)
        exponent = (order - 1) * (Fraction(once) + mean * delta)

        def compute() -> arb:
            # ln(exp(-mean) + mean exp(x)) = x + ln(mean + exp(-mean - x)), which cannot overflow.
            return (ball(exponent) + (ball(mean) + ball(-mean - exponent).exp()).log()) / ball(order - 1)

        return min(upper(compute), self.ceiling())

    def orders(self) -> Orders:
        """The orders of one run."""
        return self.inner.orders()

    def ceiling(self) -> Extended:
        """The pure loss, where one run is pure."""
        return poisson_selected_epsilon(self.inner.ceiling(), self.runs.mean)

    def near(self, order: float) -> float:
        """A float near the bound."""
        mean, epsilon = up(self.runs.mean), math.log1p(1 / (order - 1))
        delta = 0.0 if self.inner.ceiling() <= epsilon else _near_delta(self.inner, epsilon)
        exponent = (order - 1) * (self.inner.near(order) + mean * delta)
        divergence = (exponent + math.log(mean + math.exp(-mean - exponent))) / (order - 1)
        return min(divergence, up(self.ceiling()))


def _near_delta(loss: Renyi, epsilon: float) -> float:
    """A float near the δ at an ε."""

    def objective(excess: float) -> float:
        return excess * (loss.near(1 + excess) - epsilon - math.log1p(1 / excess)) - math.log1p(excess)

    order = best_order(objective, loss.orders().between())
    return math.exp(min(0.0, objective(float(order - 1))))


@selector(TruncatedNegativeBinomial, Renyi)
def negative_binomial_renyi(inner: Event, runs: TruncatedNegativeBinomial, total: Total) -> Renyi:
    """The Rényi loss of the best run."""
    once = _renyi(total, inner)
    return Renyi.of(SelectedCurve(once, runs)) if once.terms else once


@selector(PoissonRuns, Renyi)
def poisson_renyi(inner: Event, runs: PoissonRuns, total: Total) -> Renyi:
    """The Rényi loss of the best run, or of none."""
    once = _renyi(total, inner)
    return Renyi.of(PoissonSelectedCurve(once, runs)) if once.terms else once


def _renyi(total: Total, inner: Event) -> Renyi:
    loss = total(inner)
    if not isinstance(loss, Renyi):
        raise BadArgument("the loss of one run", "Renyi", type(loss).__name__)
    return loss


def _check(inner: object, runs: object, kind: type) -> None:
    if not isinstance(inner, Renyi) or not isinstance(runs, kind):
        raise BadArgument("a curve of selected runs", f"a Rényi loss and {kind.__name__}", Several(inner, runs))
