"""What counts of hits prove of ε: at a confidence, with every number rounded against the claim of a violation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.meaning.proportions import greatest_probability, least_probability
from sfumato.audit.outcomes import Floats, Pair
from sfumato.audit.record import Curve
from sfumato.audit.testers import Event, Score, cuts, rough_epsilon, scores, shares
from sfumato.exact import Extended, log_down, log_up, root, up
from sfumato.guarantee import guarantee

DRAWN = 64
"""A curve is drawn through at most this many points."""

STEEPEST = 100
"""Claims of a larger ε than this are not drawn: they cling to the axes."""


@guarantee(
    claim="no promise at delta with a smaller epsilon allows P(S) >= low and Q(S) <= high; 0 where every one does",
    proof="proofs/audit.md#black-box",
    reviewed="79e822019c1c",
)
def least_epsilon(low: Fraction, high: Fraction, delta: Fraction) -> Extended:
    """The ε that an event shows: by what is in it, or by what is not.

    >>> round(float(least_epsilon(Fraction(3, 4), Fraction(1, 4), Fraction(0))), 6)
    1.098612
    """
    shown: Extended = Fraction(0)
    for often, rarely in ((low, high), (1 - high, 1 - low)):
        if often - delta > rarely:
            shown = max(shown, log_down((often - delta) / rarely) if rarely > 0 else math.inf)
    return shown


@guarantee(
    claim="at most epsilon unless an event of probability 1 - confidence has happened: half of it for each count",
    proof="proofs/audit.md#black-box",
    reviewed="e1dc14e7f7da",
)
def event_epsilon(hits: int, others: int, runs: int, confidence: Fraction, delta: Fraction) -> Extended:
    """Bounds ε from below by the hits of one event in as many runs on one data set as on its neighbour.

    >>> 5 < event_epsilon(1000, 0, 2000, Fraction(99, 100), Fraction(0)) < 6
    True
    """
    sure = 1 - (1 - confidence) / 2
    low, high = least_probability(hits, runs, sure), greatest_probability(others, runs, sure)
    return least_epsilon(low, high, delta)


@guarantee(
    claim="at least as far as any of four one-sided distances between distribution and sample is, at the confidence",
    proof="proofs/audit.md#distance",
    reviewed="0945383143f6",
)
def widest_gap(runs: int, confidence: Fraction) -> Fraction:
    """How far samples on both sides may be from their distributions, at every threshold at once.

    >>> 0.017 < widest_gap(10_000, Fraction(99, 100)) < 0.018
    True
    """
    square = log_up(4 / (1 - confidence)) / (2 * runs)
    return Fraction(1) if square >= 1 else Fraction(up(root(Fraction(square))))


@final
@dataclass(frozen=True, eq=False)
class Finding:
    """The ε that runs prove, by which event, how often it was seen, and all scores with the likelier side first."""

    epsilon: Extended
    event: Event
    here: Fraction
    there: Fraction
    scored: tuple[Floats, Floats]

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Says how it was found; which event it is depends on outcomes, and stands in the witness."""
        return (
            ("tester", self.event.score.tester),
            ("seen there", f"in {float(self.here):.6g} of the runs on one side, {float(self.there):.6g} on the other"),
        )


def by_event(event: Event, fresh: Pair, confidence: Fraction, delta: Fraction) -> Finding:
    """Computes what an event proves on runs that had no part in its choice."""
    here, there = _scored(event, fresh)
    hits, others = (int(np.count_nonzero(side >= event.least)) for side in (here, there))
    epsilon, runs = event_epsilon(hits, others, len(fresh), confidence, delta), len(fresh)
    return Finding(epsilon, event, Fraction(hits, runs), Fraction(others, runs), (here, there))


def by_distance(score: Score, pair: Pair, confidence: Fraction, delta: Fraction) -> Finding:
    """Computes what the order of a score that was settled beforehand proves: all thresholds hold at once."""
    gap = widest_gap(len(pair), confidence)
    sides = scores(score, pair.left), scores(score, pair.right)
    places = cuts(*sides)

    def finding(here: Floats, there: Floats, *, left_likelier: bool) -> Finding:
        rough = rough_epsilon(shares(here, places) - float(gap), shares(there, places) + float(gap), float(delta))
        least = float(places[int(np.argmax(rough))])
        hits, others = (Fraction(int(np.count_nonzero(side >= least)), len(pair)) for side in (here, there))
        epsilon = least_epsilon(max(hits - gap, Fraction(0)), min(others + gap, Fraction(1)), delta)
        return Finding(epsilon, Event(score, least, left_likelier), hits, others, (here, there))

    forward, back = finding(*sides, left_likelier=True), finding(*sides[::-1], left_likelier=False)
    return forward if forward.epsilon >= back.epsilon else back


def _scored(event: Event, pair: Pair) -> tuple[Floats, Floats]:
    sides = scores(event.score, pair.left), scores(event.score, pair.right)
    return sides if event.left_likelier else sides[::-1]


def curves(finding: Finding, claimed: Extended | None, delta: Fraction, confidence: Fraction) -> tuple[Curve, ...]:
    """Draws misses by false alarms: bounds on what the score's tests reach, all at once, beside what is claimed."""
    here, there = finding.scored
    gap = float(widest_gap(len(here), confidence))
    places = cuts(here, there)
    places = places[np.unique(np.linspace(0, len(places) - 1, DRAWN).astype(np.int64))]
    alarms, misses = np.minimum(shares(there, places) + gap, 1), np.minimum(1 - shares(here, places) + gap, 1)
    points = sorted(
        {(0.0, 1.0), *zip(alarms.tolist(), misses.tolist(), strict=True), (1.0, 0.0)}, key=lambda at: (at[0], -at[1])
    )
    return (Curve("false alarms", "misses", _claimed(claimed, delta), tuple(points)),)


def _claimed(epsilon: Extended | None, delta: Fraction) -> tuple[tuple[float, float], ...]:
    if epsilon is None or epsilon > STEEPEST:
        return ()
    return tuple((float(alarms), float(misses)) for alarms, misses in TradeOff.of(Approx(epsilon, delta)).points)
