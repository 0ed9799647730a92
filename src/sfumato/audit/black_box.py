"""The black-box auditor: a lower bound on ε from outcomes alone, whatever made them.

Half of the runs look for an event that one of two neighbouring data sets makes likelier; the other half, which nobody
has looked at before, decides how much likelier it is (proofs/audit.md#black-box).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.audit.claims import certainty, line_name, promised
from sfumato.audit.drawing import Run, Runs, one_kind
from sfumato.audit.evidence import Finding, by_distance, by_event, curves
from sfumato.audit.likelihood import FEW, law_score, own_score
from sfumato.audit.outcomes import Many, Pair, Raised, read, width_of
from sfumato.audit.record import Audit, Line, Witness
from sfumato.audit.testers import TESTERS, Event, Score, best_event, in_order
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import Number, integer, positive, text
from sfumato.release.progress import Progress, reporting

Chooser: TypeAlias = Callable[[Pair, Fraction, Fraction], Event]
"""Chooses an event by outcomes of both sides, for a δ and a confidence."""

LEAST = 64
"""Fewer runs than this in all are not worth an audit."""


def black_box(
    run: Run,
    left: Data,
    right: Data,
    *,
    claim: Loss | Number | None = None,
    delta: Number = 0,
    confidence: Number = "0.99",
    samples: int = 100_000,
    seconds: Number | None = None,
    tester: str = "auto",
    score: Callable[[Any], Any] | None = None,
    batched: bool = False,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Finds a lower bound on ε at δ from runs on two neighbours; it is too high at most once in 1 / (1 − confidence).

    ``run`` is a measurement, with its own claim, or any function of data with independent calls; with
    ``batched`` it takes data and a number, and gives that many outcomes, as an array or a sequence. An error that it
    raises is an outcome like any other. ``samples`` counts all runs, on both sides and in both halves; with a limit in
    ``seconds`` there may be fewer. ``tester`` names one way to look; "auto" tries all but "distance", which spends all
    runs on the order of numbers, or of the ``score`` of an outcome, that the caller may know.

    >>> import sfumato as sf
    >>> coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
    >>> found = black_box(coin, "yes", "no", samples=20_000, entropy=sf.entropy.ReplayEntropy(1))
    >>> 0.95 < found.lines[0].low < found.lines[0].claimed < 1.1
    True
    """
    sure = certainty(confidence)
    runs = Runs.of(run, left, right, batched=batched, entropy=entropy)
    epsilon, missed = promised(own_claim(run, left, right) if claim is None else claim, delta)
    each = integer(samples, "samples", least=LEAST) // 4
    began = time.monotonic()
    until = math.inf if seconds is None else began + float(positive(seconds, "seconds")) / 2
    chosen = _chooser(run, left, right, tester=tester, score=score, batched=batched)
    with reporting(progress, "auditing") as tell:
        seen = runs.draw(each, lambda done: tell(done, 2 * each), until=until)
        count, width = len(seen[0]), 1 if tester == "distance" else _settle_width(*seen)
        first = _read(seen, width)
        event = chosen(first, missed, sure)
        fresh = runs.draw(count, lambda done: tell(count + done, 2 * count))
        one_kind(*seen, *fresh)
        second = _read(fresh, width)
    if tester == "distance":
        # A clock that stopped the first half may have seen its outcomes: then only the second counts.
        whole = second if seconds is not None else first.and_then(second)
        finding = by_distance(event.score, whole, sure, missed)
    else:
        finding = by_event(event, second, sure, missed)
    return Audit(
        subject=_name(run),
        method="from outcomes on two neighbours (black box)",
        lines=(Line(line_name(missed), epsilon, finding.epsilon),),
        witness=Witness(left, right, finding.event.words),
        curves=curves(finding, epsilon, missed, sure),
        facts=_facts(finding, 4 * count, time.monotonic() - began, sure),
    )


def own_claim(run: Run, left: Data, right: Data) -> Loss | None:
    """What a measurement claims for two data sets: its map at their distance, or at that of neighbours."""
    if not isinstance(run, Measurement):
        return None
    try:
        return run.map(run.source.distance(left, right))
    except NoDistance:
        return run.map(run.source.closest)


def _chooser(
    run: Run, left: Data, right: Data, *, tester: str, score: Callable[[Any], Any] | None, batched: bool
) -> Chooser:
    """Builds what learns the scores that are asked for on one half of some outcomes, and chooses on the other half."""
    names = ("auto", *TESTERS, "likelihood", "distance")
    if tester not in names:
        raise BadArgument("tester", f"one of {', '.join(names)}", tester)
    if score is not None and tester in TESTERS:
        raise BadArgument("score", f"left out, for the tester {tester} makes its own", score)
    own = [] if score is None else [own_score(score, batched=batched and not isinstance(run, Measurement))]

    def scored(pair: Pair) -> list[Score]:
        if tester == "distance":
            numbers = [each for each in in_order(pair.left) if not np.isnan(pair.left.numbers).all()]
            return [replace(each, tester="distance") for each in (own or numbers)]
        ways = [how for name, how in TESTERS.items() if tester in ("auto", name)]
        learnt = [each for how in ways for each in how(pair.left, pair.right)]
        if tester in ("auto", "likelihood"):
            exact = law_score(run, left, right, pair, most=FEW) if isinstance(run, Measurement) else None
            learnt += [*own, *([] if exact is None else [exact])]
        return learnt

    def chosen(seen: Pair, delta: Fraction, confidence: Fraction) -> Event:
        learning, choosing = seen.halves()
        event = best_event(scored(learning), choosing, float(delta), float(1 - confidence) / 2)
        if event is None:
            raise BadArgument("tester", "one that fits such outcomes, such as auto", tester)
        return event

    return chosen


def _settle_width(left: Many, right: Many) -> int:
    """Settles how many numbers are read from an outcome; refuses a run that only fails."""
    widest = max(width_of(left), width_of(right))
    if widest == 0 and all(isinstance(outcome, Raised) for side in (left, right) for outcome in side):
        raise BadArgument("run", "a function that gives an outcome on at least one of the two", left[0])
    return widest


def _read(outcomes: tuple[Many, Many], width: int) -> Pair:
    return Pair(read(outcomes[0], width), read(outcomes[1], width))


def _name(run: Run) -> str:
    return run.how.mechanism if isinstance(run, Measurement) else str(getattr(run, "__name__", type(run).__name__))


def _facts(finding: Finding, runs: int, seconds: float, confidence: Fraction) -> tuple[tuple[str, str], ...]:
    effort = (("runs", f"{runs:,}"), ("seconds", f"{seconds:.1f}"), ("confidence", text(confidence)))
    return (*effort, *finding.facts)
