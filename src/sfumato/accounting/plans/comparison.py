"""How much noise several Gaussian queries need together, under each way of accounting for them.

For a total (ε, δ) and k queries of L2 sensitivity 1, all with the same continuous Gaussian noise, each way gives a
scale that is enough. The split that each way makes of the total is part of its answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import final

from sfumato.accounting.convert.renyi import zcdp_rho, zcdp_rho_simple
from sfumato.accounting.facts.gaussian import analytic_sigma
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.plans.classic_composition import classic_formula
from sfumato.accounting.plans.search import greatest
from sfumato.errors import BadArgument, Several
from sfumato.exact import Root, ball, digits_up, integer, root, up, upper
from sfumato.guarantee import guarantee


class Way(Enum):
    """A way to account for several queries; the value is how tables and charts call it."""

    BASIC = "basic"
    ADVANCED = "advanced"
    ZCDP = "zCDP"
    RENYI = "Rényi"
    EXACT = "exact"


@final
@dataclass(frozen=True)
class Share:
    """What each of ``count`` queries gets by one way: a noise scale, and its own loss if the way splits (ε, δ)."""

    count: int
    way: Way
    scale: Fraction
    loss: Approx | None

    def __str__(self) -> str:
        each = f" (each {self.loss})" if self.loss else ""
        return f"{self.way.value}: scale {digits_up(self.scale)} for each of {self.count}{each}"


@final
@dataclass(frozen=True)
class AccountingComparison:
    """The noise that numbers of queries need for one total, by each way; rows are (count, way, scale, loss)."""

    total: Approx
    rows: tuple[Share, ...]

    def scale(self, count: int, way: Way) -> Fraction:
        """The noise scale of each of ``count`` queries by a way."""
        for row in self.rows:
            if (row.count, row.way) == (count, way):
                return row.scale
        raise BadArgument("count and way", "ones that were compared", Several(count, way))

    def series(self) -> tuple[tuple[int, str, float], ...]:
        """(count, way, scale) for charts."""
        return tuple((row.count, row.way.value, up(row.scale)) for row in self.rows)

    def __str__(self) -> str:
        counts = list(dict.fromkeys(row.count for row in self.rows))
        lines = ["queries " + " ".join(f"{way.value:>12}" for way in Way)]
        lines += [
            f"{count:7} " + " ".join(f"{digits_up(self.scale(count, way)):>12}" for way in Way) for count in counts
        ]
        return "\n".join(lines)


def compare_accounting(total: Approx, *, counts: Iterable[int]) -> AccountingComparison:
    """Compares the noise that each of ``count`` Gaussian queries needs for a total (ε, δ), by five ways.

    Sensitivity is 1. Basic: ε/k and δ/k each. Advanced: half of δ is the slack, the rest is split evenly, and each
    query gets the ε that the classic formula leaves. zCDP: the closed form ρ + 2√(ρ ln(1/δ)), ρ/k each. Rényi: the
    tight conversion, ρ/k each. Exact: the curve of the composed Gaussian.

    >>> compared = compare_accounting(Approx(1, 1e-6), counts=[10])
    >>> [(way, round(scale, 4)) for _, way, scale in compared.series()][::4]
    [('basic', 41.3295), ('exact', 13.3596)]
    """
    if not isinstance(total, Approx) or not 0 < total.delta < 1 or total.epsilon in (0, math.inf):
        raise BadArgument("total", "an sf.Approx loss with a finite ε > 0 and a δ between 0 and 1", total)
    if not isinstance(counts, Iterable) or isinstance(counts, str | bytes):
        raise BadArgument("counts", "a list of numbers of queries, such as [1, 10, 100]", counts)
    read = list(dict.fromkeys(integer(count, "each of counts", least=1) for count in counts))
    if not read:
        raise BadArgument("counts", "at least one number of queries", read)
    limit = (Fraction(total.epsilon), total.delta)
    once = {way: rule(*limit) for way, rule in WHOLE.items()}
    rows = [row for count in read for row in (*_split(limit, count), *_shared(once, count))]
    order = list(Way)
    return AccountingComparison(
        total, tuple(sorted(rows, key=lambda row: (read.index(row.count), order.index(row.way))))
    )


def _split(limit: tuple[Fraction, Fraction], count: int) -> Iterable[Share]:
    """The ways that hand each query an (ε, δ) of its own."""
    for way, rule in ((Way.BASIC, even_split), (Way.ADVANCED, advanced_split)):
        loss = rule(*limit, count)
        yield Share(count, way, analytic_sigma(Fraction(loss.epsilon), delta=loss.delta), loss)


def _shared(once: dict[Way, Fraction], count: int) -> Iterable[Share]:
    """The ways in which squares of noise scales add up, so that k queries need √k times the scale of one."""
    for way, scale in once.items():
        yield Share(count, way, _times_root(scale, count), None)


def _times_root(scale: Fraction, count: int) -> Fraction:
    distance = root(scale * scale * count)
    return Fraction(upper(lambda: ball(distance.square).sqrt())) if isinstance(distance, Root) else distance


@guarantee(claim="epsilon / k and delta / k each", proof="proofs/approx_composition.md#basic", reviewed="fb547517c521")
def even_split(epsilon: Fraction, delta: Fraction, count: int) -> Approx:
    """What each query may cost when all of them add up to a total."""
    return Approx(epsilon / count, delta / count)


@guarantee(
    claim="delta / 2k each, and the greatest float whose classic advanced bound at slack delta / 2 is at most epsilon",
    proof="proofs/approx_composition.md#advanced",
    reviewed="e8f560f7c86d",
)
def advanced_split(epsilon: Fraction, delta: Fraction, count: int) -> Approx:
    """What each query may cost when all of them compose, by the classic formula, to a total."""
    each = greatest(lambda price: classic_formula(price, count, delta / 2) <= epsilon, what="epsilon")
    return Approx(each, delta / (2 * count))


def closed_form_scale(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The scale at which one Gaussian query keeps a total by the closed form of zCDP."""
    return scale_of(zcdp_rho_simple(epsilon, delta=delta))


def tight_scale(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The scale at which one Gaussian query keeps a total by the tight conversion of Rényi curves."""
    return scale_of(zcdp_rho(epsilon, delta=delta))


@guarantee(
    claim="scale = sqrt(1 / (2 rho)), rounded up",
    proof="proofs/approx_composition.md#concentrated-scale",
    reviewed="d87cfcc20b5a",
)
def scale_of(rho: Fraction) -> Fraction:
    """The scale of Gaussian noise at which a query of sensitivity 1 costs at most a ρ."""
    return Fraction(upper(lambda: (1 / (2 * ball(rho))).sqrt()))


def _exact_scale(epsilon: Fraction, delta: Fraction) -> Fraction:
    return analytic_sigma(epsilon, delta=delta)


WHOLE: dict[Way, Callable[[Fraction, Fraction], Fraction]] = {
    Way.ZCDP: closed_form_scale,
    Way.RENYI: tight_scale,
    Way.EXACT: _exact_scale,
}
"""The ways in which the queries together are like one with 1/√k of the noise."""
