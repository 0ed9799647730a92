"""Two ways to the minimum of a risk, and which of them a loss pays for best: decided by what is public alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from sfumato.accounting.adaptive.approx_filter import greatest_mu
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Additive, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.search import greatest
from sfumato.combinators.converted import convert_measure
from sfumato.core.calibrate import calibrate
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.measurement import Measurement
from sfumato.core.space import Space
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute
from sfumato.exact import Number, down, positive, up
from sfumato.learn.descent import Descent, Gaussian
from sfumato.learn.sources import Source
from sfumato.mechanisms.perturbed_risk import likely_scale, perturbed_risk
from sfumato.mechanisms.risks import Risk

OBJECTIVE, DESCENT = "objective", "descent"

BETTER = 0.72
"""Where noise on the objective is above this part of that on gradients, descent is nearer; found by simulation."""

NEARLY = 1 - Fraction(1, 1 << 30)
"""Of a μ that was worked out, this part is spent: adding up its squares rounds up."""


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A risk to minimise on the rows of a source for at most a loss; ``method`` is one of two, or left open."""

    source: Source
    risk: Risk
    loss: Loss
    ridge: Number | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        if self.method not in (None, OBJECTIVE, DESCENT):
            raise BadArgument("method", f"{OBJECTIVE!r}, {DESCENT!r} or None for the better one", self.method)

    @cached_property
    def chosen(self) -> str:
        """Which of the two it is."""
        if self.method == DESCENT and self._gaussian is None:
            must = (
                f"{OBJECTIVE!r} or None where {type(self.loss).__name__} is paid in: descent adds Gaussian noise, "
                "which keeps no pure ε. Allow a δ, epsilon=1, delta=1e-6, or state a loss such as sf.ZCDP(0.1)"
            )
            raise BadArgument("method", must, self.method)
        if self.method is not None:
            return self.method
        return DESCENT if self._gaussian is not None and self._descent_is_nearer(self._gaussian) else OBJECTIVE

    def measurement(self) -> Measurement:
        """The one measurement of the fit."""
        return self._descent() if self.chosen == DESCENT else self._objective()

    @cached_property
    def _gaussian(self) -> Gaussian | None:
        return gaussian_loss(self.loss)

    @property
    def _kinds(self) -> tuple[int, ...]:
        return self.source.layout.kinds

    @property
    def _counted(self) -> AnyDistance:
        """How many rows of whoever is protected count."""
        rows = self.source.rows()
        return rows.metric.read(self.source.unit) if isinstance(rows, Space) else rows.map(self.source.unit)

    def _descent_is_nearer(self, gaussian: Gaussian) -> bool:
        """Compares what noise adds: to the objective in all of pure ε, or to gradients in ρ, μ or with a δ."""
        if not isinstance(self.loss, Approx):
            return True
        mu = math.sqrt(up(gaussian.amounts[0]))
        size = self.risk.scores * self.source.layout.size - self._target_size
        scale = (
            likely_scale(self.risk, len(self._kinds) - 1, down(self.loss.epsilon)) if self.loss.epsilon else math.inf
        )
        return float(scale) * (size + 1) * mu > BETTER * self.risk.usual_slope * math.sqrt(size)

    @property
    def _target_size(self) -> int:
        return self.risk.scores * max(1, self._kinds[-1])

    def _descent(self) -> Measurement:
        gaussian = self._gaussian
        if gaussian is None:
            raise BadArgument("method", f"{OBJECTIVE!r}", self.method)
        ridge = 0.0 if self.ridge is None else float(positive(self.ridge, "ridge"))
        *kinds, target = self._kinds
        plan = Descent(self.source.space, tuple(kinds), target, self.risk, ridge, gaussian, self._counted)
        made, rows = plan.measurement(), self.source.rows()
        made = made if isinstance(rows, Space) else rows >> made
        if made.measure is type(self.loss):
            return made
        return convert_measure(made, type(self.loss), delta=self.loss.delta if isinstance(self.loss, Approx) else None)

    def _objective(self) -> Measurement:
        """At pure ε by a formula, else by a search for the most ε that the loss covers."""
        rows, kinds = self.source.rows(), self._kinds[:-1]

        def build(scale: Fraction) -> Measurement:
            return rows >> perturbed_risk(self.risk, kinds, scale=scale, ridge=self.ridge)

        if isinstance(self.loss, Pure) and 0 < self.loss.epsilon < math.inf:
            least = 0.0 if self.ridge is None else up(positive(self.ridge, "ridge"))
            epsilon = down(self.loss.epsilon / Fraction(self._counted))
            likely = build(likely_scale(self.risk, len(kinds), epsilon, least))
            if likely.check(self.source.unit, self.loss):
                return likely
        return calibrate(build, d_in=self.source.unit, loss=self.loss)


def gaussian_loss(loss: Loss) -> Gaussian | None:
    """What a loss allows to be spent on Gaussian noise in shares; None where that is nothing, or no end of it."""
    gaussian: Gaussian | None = None
    if isinstance(loss, ZCDP | GDP):
        gaussian = loss
    elif isinstance(loss, Approx) and 0 < loss.delta < 1 and loss.epsilon < math.inf:
        gaussian = GDP(greatest_mu(Fraction(loss.epsilon), loss.delta) * NEARLY)
    elif isinstance(loss, Renyi):
        try:
            gaussian = ZCDP(greatest(lambda rho: convert(ZCDP(rho), Renyi).within(loss)))
        except (CannotCalibrate, NoProvenRoute):
            gaussian = None
    return gaussian if isinstance(gaussian, Additive) and 0 < gaussian.amounts[0] < math.inf else None
