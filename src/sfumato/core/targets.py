"""Targets: several statistics, each as accurate as asked, if a limit pays for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.search import least
from sfumato.core.calibrate import calibrate_to_accuracy, error_bar
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Extended, Number, digits_up, positive, probability
from sfumato.guarantee import guarantee

Build: TypeAlias = Callable[[Fraction], Measurement]
"""From a parameter, with which the error grows and the loss falls, to a measurement."""

FINE, COARSE = 8, 6
"""With how many halvings a parameter and a factor are looked for, when it is only to advise."""

FAR, FARTHEST = Fraction(2**900), 2**20
"""Where a search for a parameter ends, and by how much at most targets are relaxed."""


@final
@dataclass(frozen=True)
class _Target:
    """One statistic that is asked for: how it is built, and how near it must be, how surely."""

    build: Build
    half_width: Fraction
    confidence: Fraction

    def wider(self, factor: Fraction) -> Measurement:
        """Builds about the noisiest measurement with its error bar within a multiple of the half-width."""
        low, high = Fraction(1), Fraction(2)

        def good(parameter: Fraction) -> bool:
            return error_bar(self.build(parameter), self.confidence) <= factor * self.half_width

        while not good(low) and low > 1 / FAR:
            low, high = low / 2, low
        while good(high) and high < FAR:
            low, high = high, 2 * high
        for _ in range(FINE):
            middle = (low + high) / 2
            low, high = (middle, high) if good(middle) else (low, middle)
        return self.build(low)


@guarantee(
    claim="the prices, composed in turn, are within the limit",
    proof="proofs/shares.md#targets",
    reviewed="b7cc53a16a06",
)
def together_within(prices: Iterable[Loss], limit: Loss) -> bool:
    """Tells whether several losses come to no more than a limit."""
    return reduce(lambda spent, price: spent.then(price), prices, limit.nothing()).within(limit)


def fit_targets(
    limit: Loss,
    targets: Mapping[str, tuple[Build, Number] | tuple[Build, Number, Number]],
    *,
    d_in: DistanceLike | Unit,
) -> dict[str, Measurement]:
    """Builds for each target the measurement with the most noise that meets it, if the limit pays for all of them.

    A target is how to build (from a scale), the half-width, and the confidence (0.95 where none is given). Where the
    targets cost more than the limit, the refusal says which of them must be relaxed, and to what.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> near = lambda scale: scalar(int) >> laplace(scale)
    >>> found = fit_targets(Pure(1), {"women": (near, 10), "men": (near, 20)}, d_in=1)
    >>> [str(made.map(1)) for made in found.values()]
    ['ε = 0.284349', 'ε = 0.146004']
    """
    statistics = {name: _read(name, target) for name, target in _check_targets(limit, targets).items()}
    measurements = {
        name: calibrate_to_accuracy(target.build, half_width=target.half_width, confidence=target.confidence)
        for name, target in statistics.items()
    }
    prices = {name: measurement.map(d_in) for name, measurement in measurements.items()}
    if not together_within(prices.values(), limit):
        raise CannotCalibrate(_refusal(limit, statistics, prices, d_in))
    return measurements


def _check_targets(limit: Loss, targets: Mapping[str, tuple[object, ...]]) -> Mapping[str, tuple[object, ...]]:
    if not isinstance(limit, Loss):
        raise BadArgument("the limit", "a privacy loss such as sf.Pure(1)", limit)
    if not isinstance(targets, Mapping) or not targets:
        raise BadArgument("the targets", 'named: {"mean": (lambda scale: …, 5)}', targets)
    return targets


def _read(name: str, target: tuple[object, ...]) -> _Target:
    match target:
        case (build, width) | (build, width, _) if callable(build) and isinstance(target, tuple):
            sure = target[2] if len(target) == 3 else Fraction(95, 100)
            return _Target(
                build,
                positive(width, f"the half-width of {name}"),  # type: ignore[arg-type]  # read as any number is
                probability(sure, f"the confidence of {name}"),  # type: ignore[arg-type]
            )
    raise BadArgument(f"the target {name}", "(lambda scale: …, half_width) or (…, half_width, confidence)", target)


def _refusal(limit: Loss, targets: Mapping[str, _Target], prices: Mapping[str, Loss], d_in: DistanceLike | Unit) -> str:
    total = reduce(lambda spent, price: spent.then(price), prices.values(), limit.nothing())
    start = f"these targets cost {total} together, and the limit is {limit}."
    factor = _common_factor(limit, targets, d_in)
    if factor is None:
        return f"{start} No wider error bars make them fit: ask for fewer."
    all_of_them = ", ".join(f"{name} to ±{_digits(factor * t.half_width)}" for name, t in targets.items())
    lines = [start, f"Relax all of them by a factor of {_digits(factor)}: {all_of_them}."]
    alone = {name: _alone(name, limit, targets, prices, d_in) for name in targets} if len(targets) > 1 else {}
    able = [f"{name} to ±{_digits(width)}" for name, width in alone.items() if width is not None]
    unable = [name for name, width in alone.items() if width is None]
    if able:
        lines.append(f"Or relax one alone: {', or '.join(able)}.")
    if unable:
        lines.append(f"Relaxing only {' or only '.join(unable)} is not enough.")
    return " ".join(lines)


def _common_factor(limit: Loss, targets: Mapping[str, _Target], d_in: DistanceLike | Unit) -> Fraction | None:
    """Finds about the least factor by which all half-widths must grow."""

    def good(factor: Fraction) -> bool:
        return together_within((target.wider(factor).map(d_in) for target in targets.values()), limit)

    if limit == limit.nothing():
        return None
    low, high = Fraction(1), Fraction(2)
    while not good(high):
        low, high = high, 2 * high
        if high > FARTHEST:
            return None
    for _ in range(COARSE):
        middle = (low + high) / 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _alone(
    name: str, limit: Loss, targets: Mapping[str, _Target], prices: Mapping[str, Loss], d_in: DistanceLike | Unit
) -> Extended | None:
    """The half-width at which one target leaves room for the others; None where it cannot."""
    others, target = [price for other, price in prices.items() if other != name], targets[name]
    try:
        parameter = least(lambda scale: together_within([*others, target.build(scale).map(d_in)], limit))
    except CannotCalibrate:
        return None
    return error_bar(target.build(parameter), target.confidence)


def _digits(value: Extended) -> str:
    return digits_up(value, digits=3)
