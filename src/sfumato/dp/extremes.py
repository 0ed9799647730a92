"""The ends of a column: the least and the greatest value that enough entries stand behind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.dp.chains import Between, bounded, read_bounds
from sfumato.entropy import Entropy
from sfumato.exact import Number, positive, power_of_two
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.quantile import quantile
from sfumato.stats.shares import parameter_for
from sfumato.transforms.aggregate import count

COUNTED = Fraction(1, 10)
"""What the noisy number of entries gets of the loss."""

POINTS = 1 << 14
"""Candidates lie about this many to the width of the bounds: each costs a little, and more would show no more."""

BEYOND = 1000
"""All candidates beyond the data together weigh less than one part in this many."""


@final
@dataclass(frozen=True)
class AtEnd:
    """Asks how many entries there are, then for the quantile that just enough of them lie beyond."""

    rows: Space
    first: Pure
    rest: Pure
    step: Fraction
    upper: bool

    def __call__(self, ask: Queryable, entropy: Entropy) -> float:
        """Asks twice; the second question depends on the first answer alone."""
        scale = parameter_for(lambda b: self.rows >> count() >> laplace(b), self.first, 1)
        entries = max(float(ask(count() >> laplace(scale))), 1.0)
        share = Fraction(min(self.margin / entries, 0.5))
        alpha = 1 - share if self.upper else share
        heat = parameter_for(lambda t: self.rows >> self._choice(alpha, t), self.rest, 1)
        return float(ask(self._choice(alpha, heat)))

    @property
    def margin(self) -> float:
        """How many entries it takes to outweigh all candidates beyond them; one at least, or bounds were as good."""
        return max(2 / float(self.rest.epsilon) * math.log(BEYOND * POINTS), 1.0)

    def _choice(self, alpha: Fraction, heat: Fraction) -> Partial[Measurement]:
        return quantile(alpha, temperature=heat, step=self.step)


def at_end(between: Between, epsilon: Number, *, upper: bool) -> Measurement:
    """Builds the measurement of one end of a column."""
    verb = "maximum" if upper else "minimum"
    rows, bounds, whole = bounded(between, verb), read_bounds(between, verb), Pure(positive(epsilon, "epsilon"))
    first, rest = whole.scaled(COUNTED), whole.scaled(1 - COUNTED)
    step = power_of_two(bounds.width or Fraction(1)) / POINTS
    asked = rows >> adaptive_composition([first, rest], d_in=1)
    return analysis(asked, AtEnd(rows.target, first, rest, step, upper), name=verb)
