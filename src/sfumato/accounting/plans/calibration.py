"""Calibration of plans: the parameter at which a whole plan just keeps a limit.

A quick way of accounting finds the neighbourhood; privacy-loss distributions, which cost more, are asked a few times.
The parameter that is handed back has itself been accounted for, and keeps the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, final, overload

from sfumato.accounting.compose import parts_of, total
from sfumato.accounting.events import (
    CompletedNodes,
    Event,
    Gaussian,
    LastIterate,
    MatrixFactorization,
    Repeat,
    Sequence,
    Tree,
)
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.plans.account import WAYS, Kind, account
from sfumato.accounting.plans.search import greatest, greatest_integer, least, least_integer
from sfumato.accounting.plans.training import number_of_steps, sampling_rate, training
from sfumato.accounting.pld.evaluate import TOLERANCE
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute
from sfumato.exact import Number, integer, positive, rational, up
from sfumato.guarantee import guarantee

QUICK: tuple[Kind, ...] = tuple(kind for kind in WAYS if kind is not PLD)

ROUGH, CLOSER, SHARP = 1e-2, 5e-3, 1e-6
"""The relative accuracy of the quick answer, of the one that is found from it with wide brackets, and of the last."""

WIDE, NARROW = 1e-2, 5e-6
"""How wide brackets may be while the search closes in, and at its end."""

FARTHEST = 100.0
"""Parameters are sought between exp(-this) and exp(this)."""

MOST_WHOLE = 1 << 40
"""Whole parameters are sought up to this one."""

MOST_TRIES = 60

LONGEST_STEP, SHORTER, FLATTEST = 3.0, 0.4, -1e-3
"""How far the second try may lie from the first (later ones farther), how far it may where a quick answer is known, and
the least slope that is believed; on a logarithmic scale both ways."""


@final
@dataclass(frozen=True)
class _Search:
    """A search for the least place, on a logarithmic scale where costs fall, at which a plan keeps the limit.

    ``sign`` turns the scale round for parameters that costs rise with; ``whole`` keeps to whole numbers.
    """

    build: Callable[[Any], Event]
    limit: Approx
    relation: Relation
    sign: int
    whole: bool
    low: float
    high: float
    ways: tuple[Kind, ...] = QUICK
    tolerance: float = ROUGH
    width: float = WIDE
    longest: float = LONGEST_STEP

    def parameter(self, place: float) -> float | int:
        """The parameter at a place."""
        value = math.exp(self.sign * place)
        return max(1, round(value)) if self.whole else readable(value, sign=self.sign)

    def excess(self, place: float) -> float:
        """The logarithm of how far the cost is above the limit; 0 or less only where the limit is kept."""
        made = self.build(self.parameter(place))
        asked = account(made, delta=self.limit.delta, relation=self.relation, ways=self.ways, tolerance=self.width)
        price = asked.epsilon.upper
        if price == 0:
            return -math.inf
        ratio = math.log(up(price / self.limit.epsilon))
        return min(ratio, 0.0) if price <= self.limit.epsilon else max(ratio, 5e-324)

    def enough(self, value: float, slope: float) -> bool:
        """Tells whether a cost is so little below the limit that no better answer is worth looking for."""
        return 0 >= value >= slope * self.tolerance

    def close(self, good: float, bad: float) -> bool:
        """Tells whether two places, one that keeps the limit and one that does not, are next to each other."""
        return good - bad <= self.tolerance or (self.whole and abs(self.parameter(good) - self.parameter(bad)) <= 1)

    def beside(self, good: float) -> float:
        """The place next to one that keeps the limit, on the side of those that may not."""
        near = good - 0.9 * self.tolerance
        return min(near, self.sign * math.log(max(1, self.parameter(good) - self.sign))) if self.whole else near

    def inside(self, bad: float) -> float:
        """The place next to one that does not keep the limit, on the side of those that may."""
        return self.sign * math.log(self.parameter(bad) + self.sign) if self.whole else bad

    def snapped(self, place: float) -> float:
        """The place of the nearest parameter there is."""
        return self.sign * math.log(self.parameter(place)) if self.whole else place


def _least(search: _Search, start: float, slope: float) -> tuple[float, float, float]:
    """A place that keeps the limit, next to one that does not, with the slope and where that meets the limit.

    The search is for secants inside a bracket.
    """
    good: tuple[float, float] | None = None
    bad: tuple[float, float] | None = None
    before: tuple[float, float] | None = None
    place = min(max(start, search.low), search.high)
    for tries in range(MOST_TRIES):
        value = search.excess(place)
        if value <= 0:
            good = place, value
        else:
            bad = place, value
        settled = good and (good[0] <= search.low or (bad and search.close(good[0], bad[0])))
        if good and (settled or search.enough(value, slope)):
            return good[0], slope, good[0] - good[1] / slope if math.isfinite(good[1]) else good[0]
        if bad and bad[0] >= search.high:
            raise CannotCalibrate(
                "no parameter is known to meet what was asked for: even at the end of the scale no way of accounting "
                "proves it. If costs rise with the parameter, pass increasing=True; if they fall, leave that out."
            )
        if before and math.isfinite(before[1] - value) and abs(before[0] - place) > 20 * search.tolerance:
            slope = min((before[1] - value) / (before[0] - place), FLATTEST)
        before = place, value
        place = _next(search, place, value, slope, good, bad, tries=tries)
    raise CannotCalibrate("the cost of this plan does not move in one direction with its parameter.")


def _next(
    search: _Search,
    place: float,
    value: float,
    slope: float,
    good: tuple[float, float] | None,
    bad: tuple[float, float] | None,
    *,
    tries: int,
) -> float:
    """The next place to try: where the secant meets the limit, and then right beside the best answer."""
    longest = search.longest * (1 + tries)
    guess = place - value / slope if math.isfinite(value) else place - longest
    guess = min(max(guess, place - longest), place + longest)
    aimed = guess if search.whole else guess + search.tolerance / 4
    if good and bad:
        if tries % 6 == 5 or not bad[0] < guess < good[0]:
            aimed = (good[0] + bad[0]) / 2
        aimed = min(max(search.snapped(aimed), search.inside(bad[0])), search.beside(good[0]))
    elif good:
        aimed = min(aimed, search.beside(good[0]))
    elif bad:
        aimed = max(aimed, bad[0] + search.tolerance)
    return min(max(aimed, search.low), search.high)


def _solved(search: _Search) -> float | int:
    """Searches with quick ways first, then with all of them and wide brackets, and last with narrow ones."""
    place, slope = 0.0, -1.0
    stages = [
        replace(search, ways=WAYS, tolerance=CLOSER),
        replace(search, ways=WAYS, tolerance=0.0 if search.whole else SHARP, width=NARROW),
    ]
    try:
        place, slope, _ = _least(search, place, slope)
        stages = [replace(stage, longest=SHORTER) for stage in stages]
        if _gaussian_only(search.build(search.parameter(place))):
            stages = [replace(stages[1], ways=(GDP,))]
    except NoProvenRoute:
        pass  # no quick way has an answer
    except CannotCalibrate:
        if stages[0].excess(search.high) > 0:
            raise
    start = place
    for stage in stages:
        place, slope, start = _least(stage, start, slope)
    return search.parameter(place if search.whole else _agreed(search, place))


def _agreed(search: _Search, place: float) -> float:
    """A place no further than needed from an answer, at which `account` keeps the limit with its usual brackets too."""
    usual, further = replace(search, ways=WAYS, width=TOLERANCE), SHARP
    while further < CLOSER and usual.excess(place) > 0:
        place, further = min(place + further, search.high), 2 * further
    return place


def _gaussian_only(event: Event) -> bool:
    """Tells whether a plan is nothing but Gaussian noise in sequence, for which Gaussian accounting is exact."""
    match event:
        case Gaussian() | Tree() | CompletedNodes() | MatrixFactorization() | LastIterate():
            return True
        case Repeat() | Sequence():
            return all(_gaussian_only(part) for part in parts_of(event))
    return False


def readable(value: float, *, sign: int) -> float:
    """A float beside a value that is, as it is, on the safe side of the decimal it is printed and read as.

    Events read floats as decimals: those are what is accounted for. Who takes the float itself has no less noise
    (``sign`` 1), or no greater rate (-1), than that.

    >>> [Fraction(readable(0.1, sign=sign)) >= Fraction("0.1") for sign in (1, -1)]
    [True, False]
    """
    while sign * (Fraction(value) - Fraction(repr(value))) < 0:
        value = math.nextafter(value, sign * math.inf)
    return value


@overload
def calibrate_plan(
    build: Callable[[float], Event],
    *,
    limit: Loss,
    relation: Relation = Relation.ADD_REMOVE,
    increasing: bool = False,
    most: Number | None = None,
    whole: Literal[False] = False,
) -> float: ...


@overload
def calibrate_plan(
    build: Callable[[int], Event],
    *,
    limit: Loss,
    relation: Relation = Relation.ADD_REMOVE,
    increasing: bool = False,
    most: Number | None = None,
    whole: Literal[True],
) -> int: ...


@guarantee(
    claim="the plan built from the answer was accounted for and keeps the limit",
    proof="proofs/plan_loss.md#calibration",
    reviewed="3805bbfa9681",
)
def calibrate_plan(
    build: Callable[[Any], Event],
    *,
    limit: Loss,
    relation: Relation = Relation.ADD_REMOVE,
    increasing: bool = False,
    most: Number | None = None,
    whole: bool = False,
) -> float:
    """Finds the least parameter whose plan keeps a limit; with ``increasing`` the greatest, where costs rise with it.

    The limit may be of any kind. For `Approx` every way of accounting is asked, and the answer is within a relative
    10⁻⁵ of the best, on the safe side; for others the plan is added up in the kind of the limit, and the answer is the
    best float. ``most`` is the greatest parameter there is. With ``whole`` parameters are whole numbers from 1 to 2⁴⁰.

    >>> round(calibrate_plan(lambda scale: Gaussian(scale), limit=Approx(1, 1e-6)), 4)
    4.2247
    >>> calibrate_plan(lambda scale: Gaussian(scale), limit=GDP(0.2))
    5.0
    """
    _check_limit(limit)
    if not callable(build):
        raise BadArgument(
            "build", "a function of one parameter, such as lambda scale: sf.events.Gaussian(scale)", build
        )
    sign = -1 if increasing else 1
    top = positive(most, "most") if most is not None else None
    if whole and top is not None and top < 1:
        raise BadArgument("most", "at least 1, the least whole parameter", most)
    if isinstance(limit, Approx):
        return _solved(_Search(build, limit, relation, sign, whole, *_ends(sign, top, whole=whole)))

    def kept(value: float) -> bool:
        return total(build(value), type(limit), relation=relation) <= limit

    return _whole_kept(kept, sign, top) if whole else _float_kept(kept, sign, top)


def _ends(sign: int, most: Fraction | None, *, whole: bool) -> tuple[float, float]:
    """Between which places a parameter is sought."""
    if whole:
        small, great = 0.0, math.log(MOST_WHOLE if most is None else min(math.floor(most), MOST_WHOLE))
    else:
        small, great = -FARTHEST, FARTHEST if most is None else math.log(most)
    return (small, great) if sign > 0 else (-great, -small)


def _whole_kept(kept: Callable[[int], bool], sign: int, most: Fraction | None) -> int:
    """The least whole number (greatest, where the sign is -1) at which a condition holds."""
    top = MOST_WHOLE if most is None else min(math.floor(most), MOST_WHOLE)
    return least_integer(kept, high=top) if sign > 0 else greatest_integer(kept, high=top)


def _float_kept(kept: Callable[[float], bool], sign: int, most: Fraction | None) -> float:
    """The least float (greatest, where the sign is -1) at which a condition holds, to the last digit."""

    def at(exact: Fraction) -> float:
        return readable(float(exact if most is None else min(exact, most)), sign=sign)

    return at((least if sign > 0 else greatest)(lambda exact: kept(at(exact))))


def noise_multiplier(
    epsilon: Number,
    *,
    delta: Number,
    rate: Number | None = None,
    steps: int | None = None,
    size: int | None = None,
    batch: int | None = None,
    epochs: Number | None = None,
    relation: Relation = Relation.ADD_REMOVE,
) -> float:
    """The least noise multiplier (noise scale over what one unit adds) of DP-SGD that keeps (ε, δ).

    The run is described as for `dp_sgd`: by its ``rate`` or ``size`` and ``batch``, and by its ``steps`` or ``epochs``.

    >>> round(noise_multiplier(epsilon=3, delta=1e-5, size=60_000, batch=600, epochs=2), 4)
    0.6825
    """
    share = sampling_rate(rate, size, batch)
    times = number_of_steps(share, steps, epochs)
    limit = _gaussian_limit(epsilon, delta)
    return calibrate_plan(lambda scale: training(scale, share, times), limit=limit, relation=relation)


def greatest_rate(
    epsilon: Number, *, delta: Number, multiplier: Number, steps: int, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """The greatest sampling rate at which DP-SGD with a noise multiplier keeps (ε, δ)."""
    scale, times = positive(multiplier, "multiplier"), integer(steps, "steps", least=1)
    return calibrate_plan(
        lambda rate: training(scale, min(rational(rate), Fraction(1)), times),
        limit=_gaussian_limit(epsilon, delta),
        relation=relation,
        increasing=True,
        most=1,
    )


def most_steps(
    epsilon: Number,
    *,
    delta: Number,
    multiplier: Number,
    rate: Number | None = None,
    size: int | None = None,
    batch: int | None = None,
    relation: Relation = Relation.ADD_REMOVE,
) -> int:
    """The greatest number of steps, up to 2⁴⁰, that DP-SGD may take in (ε, δ).

    Of ``size`` units each batch holds ``batch`` on average; or each unit with probability ``rate``.
    """
    scale, share = positive(multiplier, "multiplier"), sampling_rate(rate, size, batch)
    return calibrate_plan(
        lambda steps: training(scale, share, steps),
        limit=_gaussian_limit(epsilon, delta),
        relation=relation,
        increasing=True,
        whole=True,
    )


def _gaussian_limit(epsilon: Number, delta: Number) -> Approx:
    limit = Approx(epsilon, delta)
    if limit.delta == 0:
        raise BadArgument("delta", "greater than 0: Gaussian noise keeps no ε with δ = 0", delta)
    return limit


def _check_limit(limit: object) -> None:
    known = isinstance(limit, Loss) and not limit <= type(limit).nothing()
    if not known or (isinstance(limit, Approx) and limit.epsilon in (0, math.inf)):
        raise BadArgument("limit", "a loss greater than nothing, such as sf.Approx(1, 1e-6) or sf.ZCDP(0.1)", limit)
