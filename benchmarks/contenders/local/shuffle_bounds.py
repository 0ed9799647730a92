"""Published numerical bounds for shuffled reports, worked out anew from their papers in double precision.

No package of them is published that could be installed; formulas are those of the papers, code is not. Sums are taken
over all counts that matter, without the steps and roundings that the authors' own scripts take to be quick: what is
told here is the best that each method could say, to six digits or more, and nothing certifies it.

* "clones": Feldman, McMillan and Talwar 2021 (arXiv 2012.12803), numerical bound of section 5;
* "stronger clones": the same 2023 (arXiv 2208.04591), which for randomizers known by ε0 only is variation-ratio
  reduction (Wang et al. 2023, arXiv 2304.05007);
* "blanket": Balle et al. 2019 (arXiv 1903.02837), for one protocol, as in Su, Cheng and Wang 2025 (arXiv 2504.07414);
* "variation ratio": Wang et al. for one protocol. For more than two kinds of reports this is not a bound
  (proofs/shuffling.md#protocols), so nobody is measured against it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from contenders.local.cases import DELTA, LOCALS, POWERS, PROTOCOL_POWERS, SHUFFLED, kinds_of
from side_by_side.stopwatch import report

Floats = NDArray[np.float64]

SPREADS = 8.5
"""Counts so many standard deviations from the mean are left out."""

MOST_CLONES = 6
"""The power of ten of the largest number of reports for which the first bound is worked out."""

TERMS = 1 << 17
"""How many terms a Fourier series has."""


def counts(number: int, chance: float) -> tuple[Floats, Floats]:
    """The likely values of a binomial number, with their chances."""
    middle, wide = number * chance, SPREADS * math.sqrt(number * chance * (1 - chance)) + 30
    listed = np.arange(max(0, math.floor(middle - wide)), min(number, math.ceil(middle + wide)) + 1, dtype=np.float64)
    return listed, binom.pmf(listed, number, chance)


def pair_delta(epsilon: float, local: float, reports: int, chance: float) -> float:
    """The divergence of the pair of counts in which each other report hides with a chance."""
    lie = 1 / (math.exp(local) + 1)
    gain, cost = 1 - lie - math.exp(epsilon) * lie, math.exp(epsilon) * (1 - lie) - lie
    hiding, masses = counts(reports - 1, chance)
    least = np.floor((hiding + 1) * cost / (gain + cost))
    here = gain * binom.pmf(least, hiding, 0.5) - math.expm1(epsilon) * binom.sf(least, hiding, 0.5)
    return float(masses @ np.maximum(here, 0))


def blanket_delta(epsilon: float, kinds: list[tuple[float, float, float]], reports: int) -> float:
    """The mean of the sum of n numbers above 0, over n, by a Fourier series on a window that holds nearly all of it."""
    chances = np.array([hide for hide, _, _ in kinds])
    values = np.array([(one - math.exp(epsilon) * other) / hide for hide, one, other in kinds])
    mean, square = chances @ values, chances @ values**2
    window = -2 * reports * mean + 24 * math.sqrt(reports * square) + 40 * np.abs(values).max()
    angles = 2 * math.pi / window * np.arange(1, TERMS)
    turned = (chances[:, None] * np.exp(1j * np.outer(values, angles))).sum(axis=0) + (1 - chances.sum())
    powers = np.exp(reports * np.log(turned))
    # The series of x₊ on [−w/2, w/2): the mean, the jump at the end, and the bend at 0.
    places = np.arange(1, TERMS)
    odd = places % 2
    jump, bend = 1j * (1 - 2 * odd) * window / (2 * math.pi * places), odd * window / (math.pi * places) ** 2
    return float(window / 8 + ((jump - bend) * powers).real.sum()) / reports


def variation_delta(epsilon: float, kinds: list[tuple[float, float, float]], reports: int) -> float:
    """The divergence of the pair of counts in which the report of the one that is of neither kind is missing."""
    (hide, one, other), *_ = kinds
    neither, rest = 1 - one - other, 1 - 2 * hide
    hiding, masses = counts(reports - 1, 2 * hide)
    grown = math.exp(epsilon)
    slope = ((one - grown * other) - (other - grown * one)) / hide

    def tail(heads: Floats, least: Floats) -> Floats:
        return np.asarray(binom.sf(np.ceil(least) - 1, heads, 0.5))

    def bend(total: Floats) -> Floats:
        """From how many of the first kind on there is a gain, of so many of either."""
        missing = np.maximum(reports - total, 0) * neither * (grown - 1) / max(rest, 1e-300) if neither > 0 else 0
        return (missing - total * (other - grown * one) / hide) / slope

    with_own, without = bend(hiding + 1), bend(hiding)
    gains = (one - grown * other) * tail(hiding, with_own - 1) + (other - grown * one) * tail(hiding, with_own)
    return float(masses @ (gains - neither * (grown - 1) * tail(hiding, without)))


def least_epsilon(delta_at: Callable[[float], float], local: float) -> float:
    """Where a curve comes down to the δ."""

    def height(epsilon: float) -> float:
        return math.sqrt(-math.log(max(delta_at(epsilon), 1e-300))) - math.sqrt(-math.log(DELTA))

    return float(brentq(height, 1e-12, local * (1 - 1e-12), xtol=1e-15, rtol=1e-11))


def told(method: str, delta_at: Callable[[float], float], local: float, power: int, name: str = "any") -> None:
    """Measures one number, and tells it."""
    begun = time.perf_counter()
    epsilon = least_epsilon(delta_at, local)
    seconds = time.perf_counter() - begun
    report(
        "shuffle",
        kind="published",
        method=method,
        protocol=name,
        local=local,
        power=power,
        epsilon=epsilon,
        seconds=seconds,
    )


def main() -> None:
    """Works out every bound on its grid."""
    for local in LOCALS:
        for power in POWERS:
            for method, chance in (("clones", math.exp(-local)), ("stronger clones", 2 / (math.exp(local) + 1))):
                if method == "clones" and power > MOST_CLONES:
                    continue  # always more than the stronger ones
                told(method, partial(pair_delta, local=local, reports=10**power, chance=chance), local, power)
        for name in SHUFFLED:
            kinds = kinds_of(name, local)
            for power in PROTOCOL_POWERS:
                told("blanket", partial(blanket_delta, kinds=kinds, reports=10**power), local, power, name)
                if len(kinds) <= 3:
                    told(
                        "variation ratio",
                        partial(variation_delta, kinds=kinds, reports=10**power),
                        local,
                        power,
                        name,
                    )


if __name__ == "__main__":
    main()
