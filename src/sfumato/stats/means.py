"""Means of values that nobody knows bounds for: find their size, their middle and their spread, clip, then add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import privacy_filter
from sfumato.core.domains import Integers
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Left, Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.mechanisms.quantile import quantile
from sfumato.mechanisms.selection import exponential_of
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for, spendable
from sfumato.transforms.aggregate import count, sum
from sfumato.transforms.casts import cast
from sfumato.transforms.conditions import between
from sfumato.transforms.deviations import LARGEST, clamped_deviations, deviations, floats_of
from sfumato.transforms.filters import keep
from sfumato.transforms.radius_scores import radius_scores
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import clamp

HALF = Fraction(1, 2)


@final
@dataclass(frozen=True)
class StageShares:
    """What the stages may spend: parts of the loss; the radius gets a part of what is left then, the sum the rest.

    Where there are few rows, the size gets ``rough``, and centre and scale nothing. Where there are many, size, centre
    and scale need less, and take less, down to some least part.
    """

    rows: Fraction
    rough: Fraction
    size: Fraction
    centre: Fraction
    scale: Fraction
    least: Fraction
    radius: Fraction


PLANS: dict[type[Loss], StageShares] = {
    Pure: StageShares(*(Fraction(part, 100) for part in (10, 45, 30, 22, 18, 1, 30))),
    ZCDP: StageShares(*(Fraction(part, 1000) for part in (50, 400, 250, 150, 100, 2, 150))),
}

SIZE_NATS, CENTRE_NATS, SCALE_NATS = 24, 24, 10
"""By how many factors of e a good size, centre or scale should outweigh a bad one, where there are rows enough."""

SPARE_NATS, FINEST = 7, 32
"""What of a centre's nats is kept for safety; the rest pays for bits, of which it gets no more than the second."""

ROUGH_NATS, LEAST_NATS = 6, 4
"""With fewer nats than the first no centre is sought, and with fewer than the second nothing at all."""

STEEP = Fraction(3, 4)
"""Each radius, a quarter of an octave above the one before it, is less likely by a factor of exp(this)."""

REACH = 1000
"""Radii are kept between 2 to minus this and 2 to this, so that no bound can overflow."""

NEAR = 64
"""Octaves nearer than this to the likeliest are told apart; beyond, only every eighth is listed."""

ROOM, FAINT = 1, 2.0**-50
"""Octaves beyond the size up to which the centre is sought; a scale below the second, in its units, is raised."""


@final
@dataclass(frozen=True)
class LocatedMean:
    """A mean and what it was made from: the bounds values were clamped to, a number of rows, and what noise adds.

    ``deviation`` is the standard deviation that the noise gives the estimate: that of the sum, and that of the number
    of rows where it is not public. What clamping to the bounds takes away is not in it, and can be larger.
    """

    estimate: float
    low: float
    high: float
    rows: float
    deviation: float


@constructor
def mean_without_bounds(*, loss: Loss, d_in: Number | Unit | None = None) -> Partial[Measurement]:
    """Estimates the mean of a column for which no bounds are known, wherever it lies and whatever its scale.

    Six stages, each charged before it runs: a noisy number of rows (not where the size is public); the octave in which
    the median size lies; a median within twice that size; the octave of the median distance to it; a radius
    beyond which few rows lie; and the noisy sum of what is clamped to that radius. The number of rows decides what the
    stages before the sum take of the loss; with few rows the centre is 0, and the scale is the size.

    Takes:      a column of floats (infinities are clamped) or integers, without NaN (drop_nan or impute_nan first); a
                loss of Pure (Laplace noise, exponential mechanism) or ZCDP (Gaussian noise), for neighbours at ``d_in``
                (as a rule 1, see `Space.closest`)
    Gives:      a `LocatedMean`, or None where there are hardly any rows: for Pure, fewer than some 20 / epsilon
    Guarantee:  the loss, at distances up to d_in  (proofs/unbounded_means.md#stages, proofs/interaction.md#strategies)
    Cost:       a sort and a few passes

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> mean_without_bounds(loss=Pure(1))).map(1)
    Pure(epsilon=1.0)
    """
    whole = spendable(loss, "mean_without_bounds")

    def build(space: Space) -> Measurement:
        domain, _ = column_space(space, "mean_without_bounds")
        if isinstance(domain.element, Integers):
            return space >> cast(float) >> mean_without_bounds(loss=loss, d_in=d_in)
        floats_of(space, "mean_without_bounds")
        if domain.size == 0:
            raise BadArgument("size", "at least 1 for mean_without_bounds(): no rows have no mean", 0)
        stages = Stages(space, whole, space.closest if d_in is None else d_in)
        return analysis(space >> privacy_filter(whole, d_in=stages.d_in), stages, name="mean without bounds")

    return Partial(f"mean_without_bounds(loss={loss})", build)


@final
@dataclass(frozen=True)
class Stages:
    """Asks what a mean without bounds needs to know. It sees answers only, so what it makes of them is free."""

    space: Space
    loss: Spendable
    d_in: Number | Unit

    def __call__(self, ask: Queryable, entropy: Entropy) -> LocatedMean | None:
        """Asks stage after stage; None where there are hardly any rows."""
        rows, noise = self._rows(ask)
        surely = max(rows - noise, rows / 2)
        if self._nats(surely, self.plan.centre) >= ROUGH_NATS:
            size = self._size(ask, surely, self.plan.size)
            centre = self._centre(ask, surely, size)
            scale = self._scale(ask, surely, centre, size)
        elif self._nats(rows, self.plan.rough) >= LEAST_NATS:
            size = self._size(ask, surely, self.plan.rough)
            centre, scale = 0.0, size
        else:
            return None
        radius = self._radius(ask, surely, centre, scale)
        return self._mean(ask, (rows, noise), centre, radius)

    @property
    def kind(self) -> type[Loss]:
        """The kind of loss, which decides the noise."""
        return type(self.loss)

    @property
    def plan(self) -> StageShares:
        """What each stage may spend."""
        return PLANS[self.kind]

    def _left(self, ask: Queryable) -> Spendable:
        return spendable(ask(Left()), "mean_without_bounds")

    def _rows(self, ask: Queryable) -> tuple[float, float]:
        """Asks for the number of rows; with it comes the standard deviation of its noise."""
        size = column_space(self.space, "mean_without_bounds")[0].size
        if size is not None:
            return float(size), 0.0
        scale = parameter_for(
            lambda b: self.space >> count() >> noise_of(self.kind, b), self.loss.scaled(self.plan.rows), self.d_in
        )
        return float(ask(count() >> noise_of(self.kind, scale))), deviation_of(self.kind, scale)

    def _heat(self, part: Fraction) -> Fraction:
        """The temperature at which a median costs a part of the loss."""

        def build(temperature: Fraction) -> Measurement:
            return self.space >> median_radius(deviations(0.0), [0], [0.0], temperature, self.kind)

        return parameter_for(build, self.loss.scaled(part), self.d_in)

    def _nats(self, rows: float, part: Fraction) -> float:
        """By how many factors of e a median outweighs what lies beyond all rows, for a part of the loss."""
        return rows / (2 * float(self._heat(part)))

    def _heated(self, rows: float, nats: int, most: Fraction) -> Fraction:
        """The temperature for a number of nats, as far as it costs a part of the loss within the plan."""
        return min(max(self._heat(most), Fraction(rows) / (2 * nats)), self._heat(self.plan.least))

    def _size(self, ask: Queryable, rows: float, most: Fraction) -> float:
        """Asks for the octave of the median size of rows that are not 0: rows that are add nothing to a sum."""
        heat = self._heated(rows, SIZE_NATS, most)
        octaves = octaves_around(0)
        nats = [4 * math.log1p(abs(octave) / 8) for octave in octaves]
        return float(ask(median_radius(deviations(0.0), octaves, nats, heat, self.kind)))

    def _centre(self, ask: Queryable, rows: float, size: float) -> float:
        """Asks for a median within twice the size, to as many bits as the rows can pay for."""
        heat = self._heated(rows, CENTRE_NATS, self.plan.centre)
        bits = (rows / (2 * float(heat)) - SPARE_NATS) / math.log(2)
        widest = within_reach(size * 2.0**ROOM)
        step = Fraction(widest) / 2 ** min(max(int(bits), 1), FINEST)
        return float(ask(quantile(HALF, temperature=heat, between=(-widest, widest), step=step, measure=self.kind)))

    def _scale(self, ask: Queryable, rows: float, centre: float, size: float) -> float:
        """Asks for the octave of the median distance of rows not at the centre; one far above the size is unlikely."""
        heat = self._heated(rows, SCALE_NATS, self.plan.scale)
        likeliest = round(math.log2(size)) + 1
        octaves = octaves_around(likeliest)
        above = [octave - likeliest for octave in octaves]
        nats = [2 * place if place > 0 else 2 * math.log1p(-place / 4) for place in above]
        distance = float(ask(median_radius(deviations(centre), octaves, nats, heat, self.kind)))
        return within_reach(max(distance, size * FAINT))

    def _radius(self, ask: Queryable, rows: float, centre: float, scale: float) -> float:
        """Asks for a radius beyond which few rows lie, some way below the scale or far above it."""

        def chosen(radii: list[float], penalty: Fraction, heat: Fraction) -> Partial[Measurement]:
            scores = radius_scores(radii, alpha=1, penalties=[place * penalty for place in range(len(radii))])
            return deviations(centre) >> scores >> exponential_of(radii, temperature=heat, measure=self.kind)

        part = self._left(ask).scaled(self.plan.radius)
        heat = parameter_for(lambda t: self.space >> chosen([scale], Fraction(0), t), part, self.d_in)
        step = fine_step(heat)
        penalty = step * round(STEEP * heat / step)
        reach = Fraction(rows) / penalty
        return float(ask(chosen(radii_around(scale, math.ceil(reach / 5), math.ceil(reach)), penalty, heat)))

    def _mean(self, ask: Queryable, counted: tuple[float, float], centre: float, radius: float) -> LocatedMean:
        rows, noise = counted
        summed = clamped_deviations(centre, radius) >> sum()
        scale = parameter_for(lambda b: self.space >> summed >> noise_of(self.kind, b), self._left(ask), self.d_in)
        total = float(ask(summed >> noise_of(self.kind, scale)))
        offset = min(max(total / rows, -radius), radius)
        return LocatedMean(
            estimate=within_floats(centre + offset),
            low=within_floats(centre - radius),
            high=within_floats(centre + radius),
            rows=rows,
            deviation=math.hypot(deviation_of(self.kind, scale), offset * noise) / rows,
        )


@constructor
def median_radius(
    away: Partial[Transformation], octaves: Sequence[int], nats: Sequence[float], heat: Fraction, kind: type[Loss]
) -> Partial[Measurement]:
    """Chooses the power of two to which the median of distances above 0 is moved up; nats make one less likely."""
    least, most = 2.0**-REACH, 2.0**REACH
    inside, radii = away >> keep(between(least, LARGEST)) >> clamp(least, most), [2.0**octave for octave in octaves]
    step = fine_step(heat)
    penalties = [step * round(less * float(heat / step)) for less in nats]
    scores = radius_scores(radii, alpha=HALF, penalties=penalties)
    return inside >> scores >> exponential_of(radii, temperature=heat, measure=kind)


def fine_step(heat: Fraction) -> Fraction:
    """A power of two between a 32nd and an 8th of a temperature: steps for penalties that keep scores short."""
    return Fraction(2) ** (heat.numerator.bit_length() - heat.denominator.bit_length() - 4)


def octaves_around(likeliest: int) -> list[int]:
    """Exponents of two in order: all of them near the likeliest, and every eighth of the rest.

    >>> octaves_around(0)[:3], len(octaves_around(0))
    ([-1000, -992, -984], 363)
    """
    near = set(range(likeliest - NEAR, likeliest + NEAR + 1))
    return sorted({*range(-REACH, REACH + 1, 8), *(octave for octave in near if abs(octave) <= REACH)})


def radii_around(scale: float, below: int, above: int) -> list[float]:
    """Radii a quarter of an octave apart: ``below`` of them below a scale, ``above`` above, none extreme.

    >>> radii_around(1.0, 4, 8)[::4]
    [0.5, 1.0, 2.0, 4.0]
    """
    widest = range(max(-below, -8 * REACH), min(above, 8 * REACH) + 1)
    exponent = math.log2(scale)
    return [2.0 ** (exponent + place / 4) for place in widest if -REACH <= exponent + place / 4 <= REACH]


def within_reach(value: float) -> float:
    """Clamps a radius to the extremes that cannot overflow."""
    return min(max(value, 2.0**-REACH), 2.0**REACH)


def within_floats(value: float) -> float:
    """Replaces infinities by the largest floats."""
    return min(max(value, -LARGEST), LARGEST)
