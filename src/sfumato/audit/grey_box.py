"""The grey-box audit: a run is recorded, replayed on a neighbour, and what was randomized is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from sfumato.accounting.measures import Loss
from sfumato.audit.likeness import difference
from sfumato.audit.measured import Measured, composed, measured_steps, numbers_of, seen_of, size_of
from sfumato.audit.record import Audit, Line, Verdict, Witness
from sfumato.audit.recorder import Diverged, Recorder, Replayer
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described
from sfumato.core.queryable import Queryable
from sfumato.core.spread import Gap, Stated
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NotInDomain

METHOD = "grey box: every randomized step, recorded and replayed on a neighbour"

FLOW = "control flow depends on the data: the replay takes another step"
ONE_SIDED = "an error is raised on one side only"
OTHER_ERROR = "what an error says depends on the data"
BESIDE = "the release depends on the data beside what was randomized"

MOST_SHOWN = 20
"""So many distances of steps are listed, the largest."""

Run = Callable[[Data, Entropy], Data]


def grey_box(
    subject: Measurement | Run,
    left: Data,
    right: Data,
    *,
    d_in: Stated | Unit | None = None,
    claim: Loss | None = None,
    entropy: Entropy | None = None,
    name: str | None = None,
) -> Audit:
    """Records a run on one data set, replays it on the other, and compares what was randomized with what was claimed.

    The replay meets the outcomes of the first run, so that from then on everything that differs is a leak: another
    step, another error, another release. The distance of what goes into each step is measured; the losses of all steps
    at these distances, composed, must be within what is claimed at the distance of the two data sets, or at ``d_in``.

    A subject that is not a measurement is a function of data and randomness, with the ``claim`` for this pair: such as
    one that asks a queryable. What it draws outside of all steps is played back too; what then differs, or is further
    apart than was claimed, is left open, since other coins could bring the two together.

    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.additive import laplace
    >>> from sfumato.transforms.aggregate import sum
    >>> audit = grey_box(vector(int, between=(0, 5)) >> sum() >> laplace(scale=10), [3, 5], [3])
    >>> str(audit.verdict), audit.line("ε").claimed, audit.line("1. laplace: distance").low
    ('tight', Fraction(1, 2), Fraction(5, 1))
    """
    run, claimed, apart = _read(subject, left, right, d_in, claim)
    source = entropy or system()
    recorder = Recorder(source)
    first = _attempted(run, left, recorder)
    replayer = Replayer(recorder.record, source)
    second = _attempted(run, right, replayer)
    made = Comparison(recorder, replayer, first, second)
    return made.audit(name or _named(subject), claimed, apart, Witness(left, right))


def _read(
    subject: Measurement | Run, left: Data, right: Data, d_in: Stated | Unit | None, claim: Loss | None
) -> tuple[Run, Loss, Gap | None]:
    if not isinstance(subject, Measurement):
        if not callable(subject) or isinstance(subject, Described) or not isinstance(claim, Loss):
            must = "a measurement, or a function of data and randomness with the claim for this pair, claim=…"
            raise BadArgument("subject", must, subject)
        return subject, claim, d_in
    if claim is not None:
        raise BadArgument("claim", "left out: a measurement states its own", claim)
    if subject.interactive:
        must = "one that answers once: to ask a queryable, give a function of data and randomness, with its claim"
        raise BadArgument("subject", must, subject)
    for data in (left, right):
        if not subject.source.domain.member(data):
            raise NotInDomain(subject.source.domain)
    apart = subject.source.distance(left, right) if d_in is None else subject.source.metric.read(d_in)
    return subject.function, subject.map(apart), apart


def _named(subject: Measurement | Run) -> str:
    return str(subject.how) if isinstance(subject, Measurement) else str(getattr(subject, "__name__", "a function"))


@final
@dataclass(frozen=True, eq=False)
class Ended:
    """Is how a run ended: with an outcome, or with an error."""

    outcome: Any = None
    error: Exception | None = None


def _attempted(run: Run, data: Data, entropy: Recorder | Replayer) -> Ended:
    try:
        outcome = run(data, entropy)
    except Diverged:
        return Ended()
    except Exception as fault:
        return Ended(error=fault)
    if isinstance(outcome, Queryable):
        raise BadArgument("what the subject gives", "an answer: ask the queryable inside the function", outcome)
    return Ended(outcome)


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Is a run and its replay, side by side."""

    recorder: Recorder
    replayer: Replayer
    first: Ended
    second: Ended

    def audit(self, name: str, claimed: Loss, apart: Gap | None, pair: Witness) -> Audit:
        """Says what tells the two apart."""
        steps = measured_steps(self.recorder.record, self.replayer.record)
        faults = [*self._flow(), *(fault for step in steps for fault in step.faults)]
        leak = "" if faults else self._leak()
        if leak and not self._tossed:
            faults.append(leak)
        lines = () if faults else self._lines(steps, claimed, apart, leaks=bool(leak))
        found = Audit(name, METHOD, lines, facts=tuple(self._facts(steps, leak)), faults=tuple(faults))
        event = "; ".join(faults) or "the distance of what is randomized"
        return replace(found, witness=replace(pair, event=event)) if found.verdict is Verdict.VIOLATED else found

    @property
    def _tossed(self) -> bool:
        """Tells whether something was drawn outside of all steps."""
        return bool(self.recorder.record.coins or self.replayer.record.coins)

    def _flow(self) -> list[str]:
        """Says where the replay took another step than the run, or an error ended only one of them, or another one."""
        taken, before = len(self.replayer.record.steps), len(self.recorder.record.steps)
        ended, other = self.first.error, self.second.error
        if self.replayer.diverged and (ended is None or taken < before):
            return [f"{FLOW} after {taken}"] if self.replayer.coupled else []
        if seen_of(ended) != seen_of(other):
            return [ONE_SIDED if ended is None or other is None else OTHER_ERROR]
        return [f"{FLOW} after {taken}"] if taken < before and self.replayer.coupled else []

    def _leak(self) -> str:
        apart = difference(self.first.outcome, self.second.outcome)
        return f"{BESIDE}: {apart} differs" if apart else ""

    def _lines(self, steps: Sequence[Measured], claimed: Loss, apart: Gap | None, *, leaks: bool) -> tuple[Line, ...]:
        known = not leaks and self.replayer.coupled
        found = list(step_lines(steps, apart, known=known, tossed=self._tossed))
        total = composed([step.loss for step in steps if step.loss is not None], claimed)
        found += compared("", claimed, total, known=known, tossed=self._tossed)
        return tuple(found)

    def _facts(self, steps: Sequence[Measured], leak: str) -> Iterator[tuple[str, str]]:
        yield "randomized steps", str(len(steps)) + f", the {MOST_SHOWN} largest shown" * (len(steps) > MOST_SHOWN)
        if self._tossed:
            alike = "given to both sides" if self.replayer.coupled else "others on the other side: all is open"
            drawn = sum(len(coins) for _, coins in self.recorder.record.coins)
            yield "drawn outside of the steps", f"{drawn} bytes, {alike}"
        if leak and self._tossed:
            yield "left open", leak
        if self.first.error is not None and seen_of(self.first.error) == seen_of(self.second.error):
            yield "both sides raise", type(self.first.error).__name__


def step_lines(steps: Sequence[Measured], apart: Gap | None, *, known: bool, tossed: bool) -> Iterator[Line]:
    """Gives a line for the distance of each step, and beside it what was declared of the step, where that is known."""
    shown = [step for step in steps if step.gap is not None]
    for step in sorted(shown, key=lambda step: size_of(step.gap), reverse=True)[:MOST_SHOWN]:
        yield Line(f"{step.name}: distance", None, size_of(step.gap), size_of(step.gap))
    for step in shown:
        if step.declared is not None and step.loss is not None and apart is not None:
            yield from compared(f"{step.name}: ", step.declared(apart), step.loss, known=known, tossed=tossed)


def compared(before: str, claimed: Loss, found: Loss | None, *, known: bool, tossed: bool) -> Iterator[Line]:
    """Gives a line for each number of a claim. Where something was drawn outside of steps, it is never violated."""
    measured = None if found is None else numbers_of(found)
    for name, most in numbers_of(claimed).items():
        number = math.inf if measured is None else measured[name]
        if not known:
            yield Line(before + name, most or None, Fraction(0))  # of a claim of 0 nothing below is known either
        elif tossed and number > most:
            yield Line(before + name, most, Fraction(0), number)
        else:
            yield Line(before + name, most, number, number)
