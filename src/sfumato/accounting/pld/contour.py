"""Where to invert: tilt, period, nodes and frequencies for a wanted width, in floats.

Nothing here is certified, and nothing needs to be: a poor choice makes a bracket wide, never wrong.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.pld.envelopes import FEW_PARTS
from sfumato.accounting.pld.inversion import FEW_USES, LEAST_BITS, Contour, Known
from sfumato.accounting.pld.laplace_moments import rough_moments, rough_variation
from sfumato.accounting.pld.sampled_parts import Line, Part

Floats = NDArray[np.float64]
T = TypeVar("T")

MOST = 1 << 14
"""No more frequencies than this are worked out."""

FEW = 512
"""Up to this many frequencies nothing is smoothed."""

TILTS, FREQUENCIES = 144, 160
"""How many tilts, and last frequencies, are compared."""

GRID = 0.15
"""The distance of outcomes, in standard deviations of the noise, at which laws are looked at."""

MOST_NODES = 1 << 12
"""No line has more nodes than this."""

HEIGHTS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.08, 0.04)
"""Shares of the largest height of a line of nodes that are tried."""

STEEPER = 16.0
"""How many times the tilt the steeper one may be: much steeper ones need many more nodes."""

DOUBT = 0.01
"""How far, relatively, K may be off at steep tilts, where the end of a law counts more than the grid shows."""

SLACK = 1.2
"""What bounds lose to looking at cells."""

DIGITS, GENTLE = 33.0, 20.0
"""Moments are worked out with floats where errors of exp(−this) of them, over all uses, do no harm; errors grow
with frequencies above the other."""

MOST_LOOKS = 24
"""Of more parts than this, those that are alike are looked at together."""

CELLS = 48
"""Into how many cells the middle of a law is cut to see how its spectrum decays."""


@final
class Look:
    """One part's law on a grid of outcomes: logarithms of its weights, and its losses."""

    def __init__(self, part: Part, rare: float, above: float, apart: float) -> None:
        self.part = part
        self.mu, self.rate, self.down = math.sqrt(part.square), float(part.above), float(part.below)
        far = math.sqrt(2 * max(1.0, rare + 40)) + 1
        self.end = math.sqrt(2 * max(1.0, rare))
        if part.above:
            self.end = max(self.end, self.mu + math.sqrt(2 * max(1.0, rare + math.log(self.rate))))
            self.end = min(self.end, self.jump_end(rare, above, apart))
        self.x = np.append(np.arange(-far, self.end - GRID / 2, GRID), self.end)
        self.first = log_mixed(self.mu * self.x - self.mu**2 / 2, self.rate)
        self.second = log_mixed(-self.mu * self.x - self.mu**2 / 2, self.down)
        self.losses = self.first - self.second
        self.base = self.first - self.x**2 / 2 - math.log(2 * math.pi) / 2
        self.grown = self.down * np.exp(-self.mu * self.x - self.mu**2 / 2)

    def jump_end(self, rare: float, above: float, apart: float) -> float:
        """An end with losses well above an ε, such that two of them, or one beside other differences, hardly matter.

        ``rare`` is −ln of the mass that may be neglected, for one use; ``apart`` bounds the total variation.
        """
        places = np.arange(max(0.0, self.mu / 2), self.end, GRID)
        loss = log_mixed(self.mu * places - self.mu**2 / 2, self.rate)
        loss -= log_mixed(-self.mu * places - self.mu**2 / 2, self.down)
        tail = np.array([math.erfc(place / math.sqrt(2)) / 2 for place in places])
        moved = np.array([math.erfc((place - self.mu) / math.sqrt(2)) / 2 for place in places])
        here = tail * (1 - self.rate) + moved * self.rate
        seldom = self.part.count * here * here + tail * apart <= math.exp(-rare)
        known = np.nonzero((loss >= 2 * above) & seldom)[0]
        return float(places[known[0]]) if known.size else self.end

    def moments(self, tilts: Floats) -> tuple[Floats, Floats, Floats]:
        """ln E e^(tilt·Z) of one use, and its first two derivatives, at each of several tilts."""
        grown = tilts[:, None] * self.losses
        powers = grown + self.base
        most = np.max(powers, axis=1)
        weights = np.exp(powers - most[:, None])
        total = np.sum(weights, axis=1)
        means = np.sum(weights * self.losses, axis=1) / total
        spreads = np.sum(weights * (self.losses - means[:, None]) ** 2, axis=1) / total
        with np.errstate(over="ignore", invalid="ignore"):
            small = np.log1p(GRID * np.sum(np.exp(self.base) * np.expm1(np.minimum(grown, 600.0)), axis=1))
        large = most + np.log(total * GRID)
        return np.where(np.abs(large) < 0.5, small, large), means, spreads

    def heights(self, losses: Floats) -> Floats:
        """About δ of one use at each of several losses."""
        weights = np.exp(self.base) * GRID
        return np.array([np.sum(weights * -np.expm1(-np.maximum(self.losses - loss, 0.0))) for loss in losses])

    def line(self, tilts: Sequence[float], totals: Sequence[float], wanted: float) -> Line | None:
        """A line of few nodes that misses about exp(−wanted) of E e^(tilt·Z), at several tilts."""
        largest = min(1.5, 0.98 * math.pi / self.mu / (2 if self.down else 1)) / 2
        best: tuple[float, Line] | None = None
        for height in (share * largest for share in HEIGHTS):
            bend = 1.01 * height * 4 / math.pi
            envelopes = [self.envelope(tilt, height) - total for tilt, total in zip(tilts, totals, strict=True)]
            tops = [float(np.max(envelope)) for envelope in envelopes]
            areas = [top + math.log(np.sum(np.exp(one - top)) * GRID) for one, top in zip(envelopes, tops, strict=True)]
            step = 2 * math.pi * height / (wanted + max(0.0, *areas) + 2)
            lefts, rights = zip(*(self.ends(one, -wanted, bend) for one in envelopes), strict=True)
            left, right = min(-1.0, *lefts), max(rights)
            if best is None or (right - left) / step < best[0]:
                best = (right - left) / step, Line(*map(Fraction, (left, right, step, height, self.end, bend)))
        return best[1] if best is not None and best[0] < MOST_NODES else None

    def envelope(self, tilt: float, height: float) -> Floats:
        """The logarithm of a bound of the integrand on lines up to twice a height."""
        grown, kept, turned = self.grown, 1 - self.down, math.cos(2 * self.mu * height)
        second = np.log(kept**2 + 2 * kept * grown * turned + grown**2) / 2 if self.down else np.zeros(self.x.size)
        envelope: Floats = self.base + tilt * self.first - tilt * second + 2 * height**2
        return envelope

    def ends(self, envelope: Floats, negligible: float, bend: float) -> tuple[float, float]:
        """Between which u the integrand is not negligible."""
        seen = np.nonzero(envelope > negligible)[0]
        left, last = self.x[max(0, seen[0] - 1)], seen[-1] + 1
        if last < self.x.size - 1 and self.end - self.x[last] > 5 * bend:
            return float(left), float(self.x[last]) + bend
        return float(left), self.end + bend * (max(0.0, float(np.max(envelope[-40:])) - negligible) + 2)

    def layers(self, tilt: float, total: float) -> tuple[Floats, Floats, tuple[float, ...]]:
        """Masses and lengths of uniform laws that make up most of the tilted law, and the outcomes between them."""
        weights = np.cumsum(np.exp(self.base + tilt * self.losses - total)) * GRID
        low, high = (float(self.x[np.searchsorted(weights, share * weights[-1])]) for share in (1e-3, 1 - 1e-3))
        places = np.linspace(low - GRID, min(high + GRID, self.end), CELLS + 1)
        losses = np.interp(places, self.x, self.losses)
        slope = np.maximum(np.diff(losses), 1e-300)
        mass = np.diff(np.interp(places, self.x, weights))
        heights = np.maximum(0.85 * mass / slope, 1e-300)
        top = int(np.argmax(heights))
        heights[top:] = np.minimum.accumulate(heights[top:])
        heights[: top + 1] = np.minimum.accumulate(heights[: top + 1][::-1])[::-1]
        levels = np.sort(heights)
        first = np.array([int(np.argmax(heights >= level)) for level in levels])
        last = np.array([CELLS - int(np.argmax(heights[::-1] >= level)) for level in levels])
        lengths = losses[last] - losses[first]
        return np.diff(levels, prepend=0.0) * lengths, lengths, tuple(places.tolist())

    def damped(self, tilt: float, total: float, line: Line, ends: Floats) -> Floats:
        """About how much is left, along a line of nodes, from each of several frequencies on."""
        end, bend = float(line.end), float(line.bend)
        grown = np.exp((end - np.arange(float(line.left), float(line.right), GRID) - 1j * float(line.height)) / bend)
        y = end - bend * np.log1p(grown)
        first = np.log(1 - self.rate + self.rate * np.exp(self.mu * y - self.mu**2 / 2))
        loss = first - np.log(1 - self.down + self.down * np.exp(-self.mu * y - self.mu**2 / 2))
        power = (first + tilt * loss - y * y / 2).real - total - math.log(2 * math.pi) / 2
        weights = np.exp(power) * np.abs(grown / (1 + grown)) * GRID
        left: Floats = SLACK * np.sum(weights * np.exp(-0.95 * ends[:, None] * loss.imag), axis=1)
        return left + 1e-300


def log_mixed(powers: Floats, rate: float) -> Floats:
    """ln(1 − q + q·exp(power))."""
    if rate == 0:
        return np.zeros(powers.size)
    small = rate * np.expm1(np.minimum(powers, 700.0))
    large = np.logaddexp(math.log1p(-rate), math.log(rate) + powers)
    return np.where(small < 0.5, np.log1p(np.minimum(small, 0.5)), large)


def log_largest(tilts: Floats) -> Floats:
    """The logarithm of the largest value of (1 − e^−u)·e^(−tilt·u)."""
    return tilts * np.log(tilts) - (1 + tilts) * np.log1p(tilts)


def alike(parts: Sequence[Part]) -> list[tuple[Part, float, list[Part]]]:
    """Groups of parts that are much alike: one that is as wide as any, how often it counts for them, and the group."""
    if len(parts) <= MOST_LOOKS:
        return [(part, float(part.count), [part]) for part in parts]
    ordered = sorted(parts, key=lambda part: (part.above > 0, part.below > 0, part.square, part.above + part.below))
    size = -(-len(parts) // MOST_LOOKS)
    groups = []
    for group in (ordered[first : first + size] for first in range(0, len(ordered), size)):
        rates = (max(part.above for part in group), max(part.below for part in group))
        wide = Part(max(part.square for part in group), *rates, sum(part.count for part in group))
        groups.append((wide, sum(part.count * weight(part) for part in group) / weight(wide), group))
    return groups


def weight(part: Part) -> float:
    """About the variance of a part's loss, up to a factor."""
    return float(part.above + part.below) ** 2 * math.expm1(min(float(part.square), 600.0)) + 1e-300


@final
class Survey:
    """A whole composition's K(tilt), with derivatives, at many tilts."""

    def __init__(self, known: Known, rare: float, *, above: float = math.inf, apart: float = 1.0) -> None:
        self.known, self.groups = known, alike(known.sampled)
        self.looks = [Look(wide, rare, above, apart) for wide, _, _ in self.groups]
        self.counts = counts = [count for _, count, _ in self.groups]
        self.extra = float(known.square)
        heights = [float(look.heights(np.zeros(1))[0]) for look in self.looks]
        noise = rough_variation(known.laplace) + 0.4 * math.sqrt(self.extra)
        self.variation = min(1.0, sum(map(operator.mul, counts, heights)) + noise)
        start = [float(look.moments(np.array([1e-9]))[2][0]) for look in self.looks]
        others = float(rough_moments(known.laplace, np.array([1e-9]))[2][0]) if known.laplace else 0.0
        wide = math.sqrt(sum(map(operator.mul, counts, start)) + self.extra + others)
        self.tilts = np.exp(np.linspace(math.log(0.002 / wide), math.log(1e3 * (1 + rare) / wide), TILTS))
        self.singles = [look.moments(self.tilts) for look in self.looks]
        totals = list(rough_moments(known.laplace, self.tilts)) if known.laplace else [np.zeros(TILTS)] * 3
        for single, count in zip(self.singles, counts, strict=True):
            totals = [total + count * moment for total, moment in zip(totals, single, strict=True)]
        self.value: Floats = totals[0] + self.tilts * (1 + self.tilts) * self.extra / 2
        self.mean: Floats = totals[1] + (self.tilts + 0.5) * self.extra
        self.spread: Floats = totals[2] + self.extra

    def estimate(self, log_delta: float) -> float:
        """About the ε at a δ, by the saddle point, and no more than Chernoff's."""
        tilts = self.tilts
        width = np.sqrt(2 * math.pi * self.spread) + 1 / (1 + tilts)
        saddle = self.value - tilts * self.mean - np.log(tilts) - np.log1p(tilts) - np.log(width)
        rare = np.nonzero((saddle <= log_delta) & (self.mean > 0) & np.isfinite(self.value))[0]
        chernoff = float(np.min((self.value + log_largest(tilts) - log_delta) / tilts))
        return max(1e-300, min(chernoff, float(self.mean[rare[0]]) if rare.size else chernoff, self.jump(log_delta)))

    def jump(self, log_delta: float) -> float:
        """About the ε at a δ where one large loss makes it, beside the rest of them."""
        if self.known.laplace:
            return math.inf
        height, spread = 0.0, self.extra
        for look, count in zip(self.looks, self.counts, strict=True):
            weights = np.exp(look.base) * GRID
            here, there = (np.cumsum(one[::-1])[::-1] for one in (weights, weights * np.exp(-look.losses)))
            heights = here - np.exp(look.losses) * there
            over = np.nonzero(count * heights > math.exp(log_delta) / len(self.looks))[0]
            if over.size:
                height = max(height, float(look.losses[over[-1]]))
                spread += count * float(np.sum(weights * np.minimum(look.losses, 2 * abs(height)) ** 2))
        return 2 * height + max(0.0, float(self.mean[0])) + math.sqrt(2 * max(1.0, -log_delta) * spread)

    def log_delta(self, epsilon: float) -> float:
        """About ln δ(ε), by Chernoff's bound."""
        return float(np.min(self.value + log_largest(self.tilts) - self.tilts * epsilon))

    def period(self, epsilon: float, least: float, log_delta: float, sharp: float) -> tuple[int, int, float]:
        """The tilt, and the steeper one, under which aliases exp(−sharp) as large as δ need the shortest period."""
        tilts, need = self.tilts, sharp - log_delta
        known = np.maximum(epsilon, (need + epsilon + math.log(self.variation)) / (tilts + 1))
        below = np.minimum(need / tilts, known)
        high = (1 + DOUBT) * self.value - tilts * least + log_largest(tilts) + need
        gaps = tilts[None, :] - tilts[:, None]
        usable = (gaps > 0) & (tilts[None, :] <= STEEPER * tilts[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(usable, np.maximum(high[None, :], 0) / gaps, np.inf)
        steeper = np.argmin(above, axis=1)
        periods = np.maximum(below, above[np.arange(tilts.size), steeper])
        cost = periods * np.sqrt(np.maximum(self.excess(epsilon, log_delta), 0) + sharp)
        best = int(np.argmin(np.where(np.isfinite(cost), cost, np.inf)))
        return best, int(steeper[best]), float(periods[best])

    def excess(self, epsilon: float, log_delta: float) -> Floats:
        """How much larger than δ the terms of the sum are, at each tilt, on a logarithmic scale."""
        broad = np.minimum(1 + self.tilts, 1 / np.sqrt(self.spread + 1e-300))
        size: Floats = self.value - self.tilts * epsilon - np.log(self.tilts) - np.log1p(self.tilts) + np.log(broad)
        return size - log_delta

    def contour(self, epsilon: float, log_delta: float, *, least: float, sharp: float, moved: float) -> Contour | None:
        """Plans an inversion about an ε and its δ, with errors of exp(−sharp) of δ and so much smoothing."""
        best, steep, period = self.period(epsilon, least, log_delta, sharp)
        if not math.isfinite(period):
            return None
        tilt, steeper = float(self.tilts[best]), float(self.tilts[steep])
        deep = sharp + max(0.0, float(self.excess(epsilon, log_delta)[best])) + 4
        lines = []
        for look, single in zip(self.looks, self.singles, strict=True):
            line = look.line((tilt, steeper), (single[0][best], single[0][steep]), deep + math.log(look.part.count))
            if line is None:
                return None
            lines.append(line)
        saddle = float(self.tilts[min(int(np.searchsorted(self.mean, epsilon)), TILTS - 1)])
        hazard = max(tilt, min(saddle, -log_delta / max(epsilon, 1e-300)))
        last, smoothing, places = self.last(best, deep, moved / (2 * hazard), period, lines)
        size = last * period / (2 * math.pi) + 2
        columns = max(4, math.ceil(math.sqrt(size)))
        many = math.log1p(self.known.uses)
        bits = LEAST_BITS + int((deep + many + math.log1p(steeper) + math.log1p(1 / period)) / math.log(2))
        return Contour(
            tilt=Fraction(tilt),
            steeper=Fraction(steeper),
            period=Fraction(period),
            rows=math.ceil(size / columns),
            columns=columns,
            smoothing=Fraction(smoothing),
            lines=self.each(lines),
            places=self.each(places),
            bits=None if deep + many + math.log1p(last / GENTLE) < DIGITS else bits,
        )

    def each(self, of_groups: Sequence[T]) -> tuple[T, ...]:
        """What belongs to each part, from what belongs to its group."""
        placed = {part: one for (_, _, group), one in zip(self.groups, of_groups, strict=True) for part in group}
        return tuple(placed[part] for part in self.known.sampled)

    def last(
        self, best: int, deep: float, square: float, period: float, lines: Sequence[Line]
    ) -> tuple[float, float, list[tuple[float, ...]]]:
        """The last frequency, how much is smoothed, and where each part is wide."""
        unit = 2 * math.pi / period
        ends = np.exp(np.linspace(math.log(4 * unit), math.log(MOST * unit), FREQUENCIES))
        powers = self.extra * ends**2 / 2
        places = []
        for look, single, count, line in zip(self.looks, self.singles, self.counts, lines, strict=True):
            masses, lengths, between = look.layers(float(self.tilts[best]), float(single[0][best]))
            angle = np.maximum(ends[:, None] * lengths / 2, 1e-12)
            ripple = np.where(angle <= 2, np.sin(angle) / angle, np.minimum(1, 1 / angle))
            kept = 1 - np.minimum(0.999, np.sum(masses * (1 - ripple), axis=1))
            if look.part.count <= FEW_USES and len(lines) <= FEW_PARTS:
                kept = np.minimum(kept, look.damped(float(self.tilts[best]), float(single[0][best]), line, ends))
            powers -= count * np.log(kept)
            places.append(between)
        plain = int(np.searchsorted(np.maximum.accumulate(powers), deep))
        smooth = int(np.searchsorted(np.maximum.accumulate(powers + square * ends**2 / 2), deep))
        if smooth == ends.size:  # no more frequencies are affordable: smooth as much as it takes
            smooth, square = ends.size - 1, 2 * deep / float(ends[-1]) ** 2
        smoothed = plain == ends.size or (ends[plain] > FEW * unit and ends[smooth] < ends[plain] / 2)
        index = smooth if smoothed else plain
        return float(ends[index]), square if smoothed else 0.0, places
