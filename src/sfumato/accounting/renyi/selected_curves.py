"""Rényi curves of the best of a random number of runs, sharper than those of Papernot and Steinke 2022."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import final

from flint import arb

from sfumato.accounting.convert.renyi import renyi_delta
from sfumato.accounting.events import Event, PoissonRuns, TruncatedNegativeBinomial
from sfumato.accounting.facts.repeat_and_select import mean_runs, poisson_selected_epsilon, selected_epsilon
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.mechanism_curves import PureCurve
from sfumato.accounting.renyi.order_search import best_order
from sfumato.accounting.tables import Total, selector
from sfumato.errors import BadArgument, Several
from sfumato.exact import Extended, ball, exp_up, log_up, lower, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

SAFE = Fraction(2**64 + 1, 2**64)
"""Odds are taken this much too large, so that rounding cannot undo what they are chosen for."""


@guarantee(
    claim="ln(1 + M (exp((order - 1) D) - 1)) / (order - 1), rounded up, M = exp(log_weight)",
    proof="proofs/repeat_and_select.md#renyi",
    reviewed="1b522d11469a",
)
def weighted_divergence(divergence: Extended, log_weight: Extended, order: Fraction) -> Extended:
    """What a selection makes of a divergence of one run, from the largest weight that it gives to a test."""
    if math.inf in (divergence, log_weight):
        return math.inf if divergence else Fraction(0)
    power, weight = (order - 1) * Fraction(divergence), Fraction(log_weight)

    def enclosed() -> arb:
        if power + weight < 1:
            return (ball(weight).exp() * ball(power).expm1()).log1p() / ball(order - 1)
        # Equal, and it cannot overflow: M exp(x) comes out of the logarithm.
        rest = -ball(-power).expm1() + ball(-power - weight).exp()
        return (ball(power + weight) + rest.log()) / ball(order - 1)

    return max(Fraction(0), upper(enclosed))


def near_weighted(divergence: float, log_weight: float, order: float) -> float:
    """A float near `weighted_divergence`."""
    power = (order - 1) * divergence
    if power <= 0:
        return 0.0
    grown = log_weight + (power if power > 30 else math.log(math.expm1(power)))
    return (grown if grown > 30 else math.log1p(math.exp(grown))) / (order - 1)


@final
@record("SelectedCurve")
class SelectedCurve(Curve):
    """The Rényi curve of the best of a truncated negative binomial number of runs."""

    inner: Renyi
    runs: TruncatedNegativeBinomial

    def __post_init__(self) -> None:
        _check(self.inner, self.runs, TruncatedNegativeBinomial)

    @guarantee(
        claim="the least weighted divergence of this order and a higher one, M = mean exp((1 + shape) (order - 1) "
        "penalty); at most that of the pure loss",
        proof="proofs/repeat_and_select.md#renyi",
        reviewed="7274d06183cc",
    )
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at an order."""
        extra = (1 + self.runs.shape) * selection_penalty(self.inner, self.runs.stop)
        mean = log_up(mean_runs(self.runs))
        tried = (
            weighted_divergence(self.inner.at(at_least), mean + (at_least - 1) * extra, at_least)
            for at_least in {order, max(order, self._best)}
        )
        return min(*tried, PureCurve(self.ceiling()).bound(order))

    def orders(self) -> Orders:
        """The orders of one run."""
        return self.inner.orders()

    def ceiling(self) -> Extended:
        """The pure loss, where one run is pure."""
        return selected_epsilon(self.inner.ceiling(), self.runs.shape, self.runs.stop)

    def near(self, order: float) -> float:
        """A float near the bound."""
        return self._near_alone(max(order, up(self._best)))

    @cached_property
    def _best(self) -> Fraction:
        """The order whose bound is least: it holds at all lower ones too."""
        return best_order(lambda more: self._near_alone(1 + more), self.inner.orders().between())

    def _near_alone(self, order: float) -> float:
        extra = up((1 + self.runs.shape) * selection_penalty(self.inner, self.runs.stop))
        return near_weighted(self.inner.near(order), math.log(up(mean_runs(self.runs))) + (order - 1) * extra, order)


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
        claim="the least weighted divergence of this order and higher ones, M = mean exp(mean (order - 1) delta), "
        "delta that of one run at ln(order / (order - 1)); at most that of the pure loss",
        proof="proofs/repeat_and_select.md#renyi-poisson",
        reviewed="d4618387df8e",
    )
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at an order."""
        tried = {order, *(max(order, better) for better in self._best)}
        return min(PureCurve(self.ceiling()).bound(order), *map(self._alone, tried))

    def _alone(self, order: Fraction) -> Extended:
        epsilon = max(Fraction(0), Fraction(lower(lambda: ball(1 / (order - 1)).log1p())))
        weight = log_up(self.runs.mean) + self.runs.mean * (order - 1) * renyi_delta(self.inner, epsilon=epsilon)
        return weighted_divergence(self.inner.at(order), weight, order)

    def orders(self) -> Orders:
        """The orders of one run."""
        return self.inner.orders()

    def ceiling(self) -> Extended:
        """The pure loss, where one run is pure."""
        return poisson_selected_epsilon(self.inner.ceiling(), self.runs.mean)

    def near(self, order: float) -> float:
        """A float near the bound; not capped by the pure loss, or a search could not tell which way is down."""
        return min(self._near_alone(max(order, up(better))) for better in self._best)

    @cached_property
    def _best(self) -> tuple[Fraction, ...]:
        """Orders whose bounds are low, and hold at all lower ones too: the best, and where a pure loss leaves no δ."""
        orders = self.inner.orders()
        best = best_order(lambda more: self._near_alone(1 + more), orders.between())
        growth = exp_up(Fraction(pure)) if (pure := self.inner.ceiling()) < math.inf else math.inf
        last = None if growth == math.inf else orders.from_above(1 + 1 / (Fraction(growth) * SAFE - 1))
        return (best,) if last is None else (best, last)

    def _near_alone(self, order: float) -> float:
        mean, epsilon = up(self.runs.mean), math.log1p(1 / (order - 1))
        delta = 0.0 if self.inner.ceiling() <= epsilon else _near_delta(self.inner, epsilon)
        return near_weighted(self.inner.near(order), math.log(mean) + mean * (order - 1) * delta, order)


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
