"""Median absolute deviations of a query: two private choices, of which the second looks at the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.entropy import Entropy
from sfumato.exact import up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.cut_plans import Cut, added_loss, balanced, halving
from sfumato.query.answer.words import expression_words
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import Statistic
from sfumato.query.plan.bins import Bins, unknown_error
from sfumato.query.plan.quantiles import Cutting, bin_sensitivity
from sfumato.query.plan.selection_statistics import Choosing, ChosenAt, Counts, Special
from sfumato.release.vectors import Array


@final
@dataclass(frozen=True)
class Deviations(Choosing):
    """Finds the median of how far numbers are from their median: that first, among bins, then how far."""

    bins: Bins

    def plan(self, measure: type[Loss], temperature: Fraction) -> Cut | None:
        """Plans one median."""
        return balanced(halving((Fraction(1, 2),)), temperature, measure, bin_sensitivity)

    @property
    def bin(self) -> Expression:
        return self.bins.expression

    def places(self, values: Sequence[Value]) -> Array:
        return self.bins.places(values)

    @guarantee(
        claim="twice that of one median: of the numbers, and of how far these are from what was chosen",
        proof="proofs/query_specials.md#deviation",
        reviewed="aaa2c2c2c7e6",
    )
    def one_row(self, measure: type[Loss], temperature: Fraction) -> Loss:
        return added_loss(self.plan(measure, temperature), measure, bin_sensitivity).times(2)

    def priced(self, special: Special, share: Pure | ZCDP) -> DeviationsAt:
        return DeviationsAt(special, self, type(share), self.temperature(special, share))


@final
@dataclass(frozen=True)
class DeviationsAt(ChosenAt):
    """A median absolute deviation, with the temperature at which both medians are chosen."""

    special: Special
    way: Deviations
    measure: type[Loss]
    temperature: Fraction

    def chosen(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        return (np.array([self.far(bins, rows, entropy) for bins, rows in counts], dtype=np.int64),)

    def far(self, bins: Array, rows: Array, entropy: Entropy) -> int:
        """Chooses a median, and then the median of how many bins rows are away from it, of as many as there can be."""
        plan, last = self.way.plan(self.measure, self.temperature), self.way.bins.many - 1
        cutting = Cutting(margin=1)
        (middle,) = cutting.draw(plan, bins, rows, (0, last), entropy)
        away = away_from(middle, bins, rows)
        (far,) = cutting.draw(plan, *away, (0, max(middle, last - middle)), entropy)
        return far

    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        bins, (places,) = self.way.bins, drawn
        whole = bins.of.kind is Kind.INT
        exact = [int(place) * bins.width for place in places]
        far = np.array([math.floor(one) for one in exact]) if whole else np.array(exact, dtype=np.float64)
        return {self.special.statistics[0]: unknown_error(far, whole=whole)}

    @property
    def proofs(self) -> tuple[str, ...]:
        return (
            "proofs/query_specials.md#deviation",
            "proofs/query_specials.md#ranks",
            "proofs/query_specials.md#units",
        )

    @property
    def words(self) -> tuple[str, str]:
        how = f"exponential, temperature {up(self.temperature):.6g}, twice, among {self.way.bins.many} bins"
        return f"median absolute deviation of {expression_words(self.special.statistics[0].operands[0])}", how


def away_from(middle: int, bins: Array, rows: Array) -> tuple[Array, Array]:
    """The distances of bins from one of them, rising, and how many rows there are at each."""
    distances, place = np.unique(np.abs(bins - middle), return_inverse=True)
    many = np.zeros(len(distances), dtype=rows.dtype)
    np.add.at(many, place, rows)
    return distances, many
