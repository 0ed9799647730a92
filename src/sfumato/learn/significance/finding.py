"""What a test finds: the statistic, its p-value under the noisy null, where the value is, and what was released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Final, TypeAlias, final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import probability
from sfumato.guarantee import guarantee
from sfumato.learn.columns import Floats
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.text import short_facts

ALTERNATIVES: Final = ("two-sided", "less", "greater")

LEVEL = 0.05
"""The level of the verdict in words."""

Ends: TypeAlias = Callable[[float], tuple[float, float]]
"""Where the true value is, with a confidence."""


@final
@dataclass(frozen=True, eq=False)
class Finding(Displayed):
    """The result of a test, made of one release alone.

    ``p_value`` is the probability, if the null hypothesis holds, of a release at least as far from it, with the noise
    that was added; 1 where what was released says nothing. ``estimate`` is the quantity itself, ``detectable`` the
    least effect that such a test would find at the 5 % level in four of five cases (each NaN where there is none).
    """

    asked: str
    statistic: float
    p_value: float
    release_: Release
    estimate: float = nan
    detectable: float = nan
    rows: float = nan
    ends: Ends | None = None

    def interval(self, confidence: AnyNumber = 0.95) -> tuple[float, float]:
        """Where the true value is, with a confidence that counts the noise as well as the drawing of rows."""
        sure = float(probability(confidence, "confidence"))
        if self.ends is None:
            raise BadArgument("interval", "asked of tests about one number: a mean, a share, a difference", self.asked)
        return self.ends(sure)

    @property
    def verdict(self) -> str:
        """What follows at the 5 % level, in words."""
        if self.p_value <= LEVEL:
            return "the null hypothesis is rejected at the 5 % level"
        return "nothing speaks against the null hypothesis at the 5 % level, which does not prove it"

    def document(self) -> Document:
        """What was asked, what follows, and what it cost."""
        said = [("p", f"{self.p_value:.4g} (statistic {self.statistic:.4g}): {self.verdict}")]
        if not np.isnan(self.estimate):
            where = "" if self.ends is None else "; 95 % interval {:.5g} … {:.5g}".format(*self.ends(0.95))
            said.append(("value", f"{self.estimate:.5g}{where}"))
        if not np.isnan(self.detectable):
            said.append(("power", f"an effect of {self.detectable:.3g} is found in four of five cases"))
        if not np.isnan(self.rows):
            said.append(("rows", f"about {max(self.rows, 0):,.0f}"))
        return Document("Finding", self.asked, tables=(Table((*said, *short_facts(self.release_))),))

    __repr__ = Displayed.__str__


@final
@dataclass(frozen=True, eq=False)
class IntervalEstimate(Displayed):
    """A number of the population that rows were drawn from, and where it is, made of one release alone.

    ``interval(0.9)`` holds the true number with that probability, over the drawing of rows as well as the noise; asking
    for other confidences costs nothing. ``estimate`` is NaN where noise hides it.
    """

    asked: str
    estimate: float
    ends: Ends
    release_: Release
    rows: float = nan

    def interval(self, confidence: AnyNumber = 0.95) -> tuple[float, float]:
        """Where the true number is, with a confidence that counts the noise as well as the drawing of rows."""
        return self.ends(float(probability(confidence, "confidence")))

    def document(self) -> Document:
        """What was asked, where it is, and what it cost."""
        low, high = self.ends(0.95)
        said = [("value", f"{self.estimate:.5g}; 95 % interval {low:.5g} … {high:.5g}")]
        if not np.isnan(self.rows):
            said.append(("rows", f"about {max(self.rows, 0):,.0f}"))
        return Document("Interval", self.asked, tables=(Table((*said, *short_facts(self.release_))),))

    __repr__ = Displayed.__str__


def read_alternative(alternative: str) -> str:
    """Reads on which side of the null hypothesis one looks."""
    if alternative not in ALTERNATIVES:
        raise BadArgument("alternative", "'two-sided', 'less' or 'greater'", alternative)
    return alternative


def sided(statistics: Floats, alternative: str) -> Floats:
    """Statistics such that what is large speaks against the null hypothesis."""
    return np.abs(statistics) if alternative == "two-sided" else statistics * (1 if alternative == "greater" else -1)


@guarantee(
    claim="at most α with probability at most α, if the statistic and its draws are independent and of one law",
    proof="proofs/significance.md#monte-carlo",
    reviewed="73aceb3e2e01",
)
def monte_carlo(statistic: float, under_null: Floats) -> float:
    """The p-value by simulation: the share of draws that are no less extreme, the statistic among them."""
    beyond = int(np.count_nonzero(under_null >= statistic - 1e-12 * abs(statistic)))
    return (1 + beyond) / (1 + len(under_null))


def concluded(
    asked: str,
    release: Release,
    statistic: float,
    under_null: Floats,
    side: str = "greater",
    *,
    value: float = nan,
    error: float = nan,
    rows: float = nan,
) -> Finding:
    """Concludes from a statistic and its draws under the null; where it is an error of a value over ``error``, more.

    Intervals are the test turned around: what it would not reject.
    """
    chance = chance_of(statistic, under_null, side)
    if np.isnan(error):
        return Finding(asked, statistic, chance, release, value, rows=rows)
    effect = detectable_effect(under_null, side) * error

    def ends(confidence: float) -> tuple[float, float]:
        reach = reach_of(under_null, side, confidence) * error
        return -np.inf if side == "less" else value - reach, np.inf if side == "greater" else value + reach

    return Finding(asked, statistic, chance, release, value, effect, rows, ends)


def reach_of(under_null: Floats, side: str, confidence: float) -> float:
    """How far from 0 a statistic is, with a confidence, under the least favourable of several nulls."""
    return float(np.quantile(sided(under_null, side), confidence, axis=-1, method="higher").max())


def unknown(asked: str, release: Release, rows: float, widest: tuple[float, float] | None = None) -> Finding:
    """What is found where the noise hides that there are rows at all: nothing."""
    return Finding(asked, nan, 1.0, release, rows=rows, ends=None if widest is None else lambda _: widest)


def chance_of(statistic: float, under_null: Floats, side: str = "greater") -> float:
    """The p-value of a statistic among its draws under the null; of several nulls (rows), the largest."""
    seen = float(sided(np.array([statistic]), side)[0])
    return max(monte_carlo(seen, draws) for draws in np.atleast_2d(sided(under_null, side)))


def detectable_effect(under_null: Floats, side: str) -> float:
    """The shift of a statistic that is found at the 5 % level in four of five cases."""
    return reach_of(under_null, side, 1 - LEVEL) - float(np.quantile(np.atleast_2d(under_null)[0], 0.2))
