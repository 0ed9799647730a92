"""Testers: ways to score an outcome by which of two sides it came from, and the search for the event that tells most.

Nothing here is a privacy statement. A tester may be clever or foolish: it only proposes an event, and what the event
shows is worked out on runs that no tester has seen. So floating-point numbers and guesses are welcome here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import TypeAlias, final

import numpy as np

from sfumato.audit.outcomes import Codes, Floats, Outcomes, Pair

BINS = 128
"""The most parts that a column of numbers is cut into, of about as many outcomes each."""

COLUMNS = 32
"""The most columns of rows of numbers that are looked at one by one."""

WIDEST = 256
"""Rows of more numbers than this are looked at by single columns and as a whole only."""

PLACES = 512
"""The most places at which a score is cut."""

RIDGE = 1e-9
"""Added to the variances of a row, as a share of their mean: directions without noise count, and nothing is 0."""


@final
@dataclass(frozen=True)
class Score:
    """A number for each outcome, larger where one of the sides is likelier."""

    tester: str
    what: str
    of: Callable[[Outcomes], Floats]


@final
@dataclass(frozen=True)
class Event:
    """The event that an outcome's score is at least ``least``; ``left_likelier`` says on which side."""

    score: Score
    least: float
    left_likelier: bool

    @property
    def words(self) -> str:
        side = "left" if self.left_likelier else "right"
        return f"{self.score.what} ≥ {self.least:.6g}, likelier on the {side}"


Tester: TypeAlias = Callable[[Outcomes, Outcomes], Iterator[Score]]
"""Takes outcomes of both sides to learn from, and gives scores."""


def scores(score: Score, outcomes: Outcomes) -> Floats:
    """Scores outcomes; what has no score is below all."""
    with np.errstate(all="ignore"):
        values = np.asarray(score.of(outcomes), dtype=np.float64)
    return np.where(np.isnan(values), -np.inf, values)


def in_order(outcomes: Outcomes) -> list[Score]:
    """Scores by the number that an outcome is, having learnt nothing at all; gives no score for rows of several."""
    return [Score("threshold", "the number", partial(_column, column=0))] if outcomes.numbers.shape[1] == 1 else []


def thresholds(left: Outcomes, right: Outcomes) -> Iterator[Score]:
    """Scores by a number itself: both of its tails are looked at. Of many columns, by those that differ most."""
    if left.numbers.shape[1] == 1:
        yield from in_order(left)
        return
    with np.errstate(all="ignore"):
        gaps = np.abs(left.numbers.mean(axis=0) - right.numbers.mean(axis=0)) / np.sqrt(_spread(left) + _spread(right))
    for column in np.argsort(-np.nan_to_num(gaps), kind="stable")[:COLUMNS].tolist():
        yield Score("threshold", f"number {column}", partial(_column, column=column))


def _column(outcomes: Outcomes, *, column: int) -> Floats:
    return outcomes.numbers[:, column]


def _spread(outcomes: Outcomes) -> Floats:
    variances: Floats = outcomes.numbers.var(axis=0)
    return variances


def histogram(left: Outcomes, right: Outcomes) -> Iterator[Score]:
    """Scores by how much likelier one side is in the bin of a number; of a row, by the sum over its columns."""
    if 1 <= left.numbers.shape[1] <= WIDEST:
        edges = [_edges(np.concatenate(pair)) for pair in zip(left.numbers.T, right.numbers.T, strict=True)]
        yield _label_score("histogram", "log-ratio of bins", left, right, partial(_bins, edges=edges))


def _edges(column: Floats) -> Floats:
    inner = np.sort(column[~np.isnan(column)])
    if not len(inner):
        return inner
    bins = max(2, min(BINS, len(inner) // 32))
    return np.unique(inner[np.arange(1, bins) * len(inner) // bins])


def _bins(outcomes: Outcomes, *, edges: list[Floats]) -> Codes:
    columns = [
        np.where(np.isnan(column), len(cuts) + 1, np.searchsorted(cuts, column, side="right"))
        for column, cuts in zip(outcomes.numbers.T, edges, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def atoms(left: Outcomes, right: Outcomes) -> Iterator[Score]:
    """Scores by how often each side gave this very outcome: what only one side gives is the strongest sign."""
    yield _label_score("atoms", "log-ratio of equal outcomes", left, right, lambda outcomes: outcomes.codes[:, None])


def digits(left: Outcomes, right: Outcomes) -> Iterator[Score]:
    """Scores by the last binary digit of a number that is not 0, which noise in floating point gives away."""
    if 1 <= left.numbers.shape[1] <= WIDEST:
        yield _label_score("digits", "log-ratio of the last digit's place", left, right, _last_places)
        yield _label_score("digits", "log-ratio of the number of final zeros", left, right, _final_zeros)


def _last_places(outcomes: Outcomes) -> Codes:
    zeros, exponents = _digits(outcomes.numbers)
    return np.where(zeros < 0, -(1 << 20) + zeros, exponents + zeros)


def _final_zeros(outcomes: Outcomes) -> Codes:
    return _digits(outcomes.numbers)[0]


def _digits(numbers: Floats) -> tuple[Codes, Codes]:
    """The number of final zeros of the 53 binary digits (below 0 for what has none), and the exponent."""
    finite = np.isfinite(numbers) & (numbers != 0)
    shares, exponents = np.frexp(np.where(finite, np.abs(numbers), 1.0))
    whole = np.ldexp(shares, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1].astype(np.int64) - 1
    kinds = np.where(np.isnan(numbers), -1, np.where(numbers == 0, -2, np.where(numbers > 0, -3, -4)))
    return np.where(finite, zeros, kinds).astype(np.int64), exponents.astype(np.int64)


def _label_score(tester: str, what: str, left: Outcomes, right: Outcomes, labels: Callable[[Outcomes], Codes]) -> Score:
    """Learns how much likelier the left side is at each label, and scores by the sum over the columns of labels."""
    tables = [
        _ratios(ours, theirs, len(left), len(right))
        for ours, theirs in zip(labels(left).T, labels(right).T, strict=True)
    ]

    def score(outcomes: Outcomes) -> Floats:
        total = np.zeros(len(outcomes))
        for column, (known, ratios) in zip(labels(outcomes).T, tables, strict=True):
            places = np.minimum(np.searchsorted(known, column), len(known) - 1)
            total += np.where(known[places] == column, ratios[places], 0.0)
        return total

    return Score(tester, what, score)


def _ratios(left: Codes, right: Codes, runs: int, others: int) -> tuple[Codes, Floats]:
    known, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    counts = (
        np.bincount(places[: len(left)], minlength=len(known)),
        np.bincount(places[len(left) :], minlength=len(known)),
    )
    return known, np.log((counts[0] + 0.5) / (runs + 1)) - np.log((counts[1] + 0.5) / (others + 1))


def linear(left: Outcomes, right: Outcomes) -> Iterator[Score]:
    """Scores rows by the best line between two clouds of one shape (Fisher), and by the ratio of two Gaussians."""
    if not 2 <= left.numbers.shape[1] <= WIDEST:
        return
    clouds = [_cloud(side) for side in (left, right)]
    if not all(np.isfinite(part).all() for cloud in clouds for part in cloud):
        return
    (mean, spread), (other_mean, wide) = clouds
    line = np.linalg.solve(_kept_apart((spread + wide) / 2), mean - other_mean)
    yield Score("linear", "the best line", lambda outcomes: _finite(outcomes.numbers) @ line)
    shapes = [(centre, np.linalg.inv(_kept_apart(shape))) for centre, shape in clouds]

    def ratio(outcomes: Outcomes) -> Floats:
        near, far = (
            np.einsum("ij,jk,ik->i", moved := _finite(outcomes.numbers) - centre, shape, moved, optimize=True)
            for centre, shape in shapes
        )
        return np.asarray(far - near)

    yield Score("linear", "the ratio of Gaussians", ratio)


def _cloud(outcomes: Outcomes) -> tuple[Floats, Floats]:
    rows = _finite(outcomes.numbers)
    with np.errstate(all="ignore"):
        return rows.mean(axis=0), np.cov(rows, rowvar=False)


def _finite(numbers: Floats) -> Floats:
    return np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0)


def _kept_apart(spread: Floats) -> Floats:
    level = float(np.trace(spread)) / len(spread)
    return spread + np.eye(len(spread)) * (RIDGE * level if level > 0 else 1.0)


TESTERS: dict[str, Tester] = {
    "threshold": thresholds,
    "histogram": histogram,
    "atoms": atoms,
    "digits": digits,
    "linear": linear,
}
"""The testers that need to know nothing of a mechanism."""


def best_event(candidates: list[Score], seen: Pair, delta: float, missed: float) -> Event | None:
    """Finds the event that seems to prove the largest ε, on outcomes from which the scores have not learnt."""
    best, most = None, -math.inf
    for score in candidates:
        event, value = _best_cut(score, scores(score, seen.left), scores(score, seen.right), delta, missed)
        if value > most:
            best, most = event, value
    return best


def _best_cut(score: Score, left: Floats, right: Floats, delta: float, missed: float) -> tuple[Event, float]:
    places = cuts(left, right)
    here, there = _interval(left, places, missed), _interval(right, places, missed)
    forward, back = rough_epsilon(here[0], there[1], delta), rough_epsilon(there[0], here[1], delta)
    values = np.maximum(forward, back)
    place = int(np.argmax(values))
    return Event(score, float(places[place]), bool(forward[place] >= back[place])), float(values[place])


def cuts(left: Floats, right: Floats) -> Floats:
    """Places to cut a score at: all that there are, or even shares of them and finer ones at both ends."""
    values = np.unique(np.concatenate([left, right]))
    if len(values) <= PLACES:
        return values
    pooled = np.sort(np.concatenate([left, right]))
    ends = np.unique(np.geomspace(1, len(pooled) / 4, PLACES // 4).astype(np.int64))
    even = np.linspace(0, len(pooled) - 1, PLACES // 2).astype(np.int64)
    return np.unique(pooled[np.concatenate([even, ends, len(pooled) - ends])])


def shares(values: Floats, places: Floats) -> Floats:
    """The share of scores that are at least as large as each place."""
    missing: Floats = np.searchsorted(np.sort(values), places, side="left") / len(values)
    return 1 - missing


def _interval(values: Floats, places: Floats, missed: float) -> tuple[Floats, Floats]:
    """The interval, about, that holds the probability of each event, after Wilson (1927)."""
    hit, runs, square = shares(values, places), len(values), NormalDist().inv_cdf(1 - missed) ** 2
    centre = (hit + square / (2 * runs)) / (1 + square / runs)
    half = np.sqrt(square * (hit * (1 - hit) / runs + square / (4 * runs**2))) / (1 + square / runs)
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


def rough_epsilon(low: Floats, high: Floats, delta: float) -> Floats:
    """Estimates the ε that is shown by an event at least ``low`` likely on one side, at most ``high`` on the other."""
    with np.errstate(all="ignore"):
        inside = np.log(np.maximum(low - delta, 0) / high)
        outside = np.log(np.maximum(1 - high - delta, 0) / (1 - low))
    return np.nan_to_num(np.maximum(inside, outside), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
