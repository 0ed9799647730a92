"""The grey-box audit: a run is recorded, replayed on a neighbour, and what was randomized is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

from sfumato.accounting.measures import Loss, Pure
from sfumato.audit.likeness import UNCLEAR, difference
from sfumato.audit.measured import Measured, composed, measured_steps, numbers_of, seen_of, size_of, unmoved
from sfumato.audit.record import Audit, Line, Verdict, Witness
from sfumato.audit.recorder import Diverged, Recorder, Replayer, kept
from sfumato.core.domains import Data, Tables
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described
from sfumato.core.queryable import Queryable
from sfumato.core.spread import Gap, Stated
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NoDistance, NotInDomain
from sfumato.exact import Extended, Number

METHOD = "grey box: every randomized step, recorded and replayed on a neighbour"

FLOW = "control flow depends on the data: the replay takes another step"
ONE_SIDED = "an error is raised on one side only"
OTHER_ERROR = "what an error says depends on the data"
BESIDE = "the release depends on the data beside what was randomized"
TOO_FAR = "what is randomized is too far apart"
NO_THEOREM = "there is no theorem on file by which what the steps lose is within the claim"

HIDDEN = "randomness outside `entropy`: something was drawn from a source that the run was not given"
UNSTEADY = "randomness outside `entropy`, or something kept between runs: the same data gives another release"
THREADS = "several threads draw from one source, so that the order of the steps is up to chance"
FAILED = "both sides fail, so that nothing is released"
INCOMPARABLE = "what is released shows nothing of what is in it, and cannot be compared"
UNCOUPLED = "the two sides draw other amounts outside of the steps"

MOST_SHOWN = 20
"""So many distances of steps are listed, the largest."""

Run = Callable[[Data, Entropy], Data]


def grey_box(
    subject: Measurement | Run,
    left: Data,
    right: Data,
    *,
    d_in: Stated | Unit | None = None,
    claim: Loss | Number | None = None,
    entropy: Entropy | None = None,
    name: str | None = None,
) -> Audit:
    """Records a run on one data set, replays it on the other, and compares what was randomized with what was claimed.

    The replay meets the outcomes of the first run, so that from then on everything that differs is a leak: another
    step, another error, another release. The distance of what goes into each step is measured; the losses of all steps
    at these distances, composed, must be within what is claimed at the distance of the two data sets, or at ``d_in``.
    That is a bound on the true loss from above, so that no claim is called tight. The run is replayed on the same data
    first: where that already differs, randomness comes from elsewhere than ``entropy``, and all is left open.

    A subject that is not a measurement is a function of data and randomness, with the ``claim`` for this pair: such as
    one that asks a queryable; a number is an ε. What it draws outside of all steps is played back too; what then
    differs, or is further apart than was claimed, is left open, since other coins could bring the two together. So is
    a run that fails on both sides, and a release that cannot be compared.

    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.additive import laplace
    >>> from sfumato.transforms.aggregate import sum
    >>> audit = grey_box(vector(int, between=(0, 5)) >> sum() >> laplace(scale=10), [3, 5], [3])
    >>> str(audit.verdict), audit.line("ε").claimed, audit.line("ε").high, audit.line("1. laplace: distance").low
    ('sound', Fraction(1, 2), Fraction(1, 2), Fraction(5, 1))
    """
    run, claimed, apart = _read(subject, left, right, d_in, claim)
    made = replayed(run, left, right, entropy or system())
    return made.audit(name or _named(subject), claimed, apart, Witness(left, right))


def _read(
    subject: Measurement | Run, left: Data, right: Data, d_in: Stated | Unit | None, claim: Loss | Number | None
) -> tuple[Run, Loss, Gap | None]:
    if not isinstance(subject, Measurement):
        if not callable(subject) or isinstance(subject, Described) or claim is None:
            must = "a measurement, or a function of data and randomness with the claim for this pair, claim=…"
            raise BadArgument("subject", must, subject)
        return subject, claim if isinstance(claim, Loss) else Pure(claim), d_in
    if claim is not None:
        raise BadArgument("claim", "left out: a measurement states its own", claim)
    if subject.interactive:
        must = "one that answers once: to ask a queryable, give a function of data and randomness, with its claim"
        raise BadArgument("subject", must, subject)
    for data in (left, right):
        if not subject.source.domain.member(data):
            raise NotInDomain(subject.source.domain)
    apart = _distance(subject, left, right, d_in)
    return subject.function, subject.map(apart), apart


def _distance(subject: Measurement, left: Data, right: Data, d_in: Stated | Unit | None) -> Gap:
    if d_in is None:
        return subject.source.distance(left, right)
    stated = subject.source.metric.read(d_in)
    if isinstance(subject.source.domain, Tables):  # whose units are counted by whoever asks
        return stated
    try:
        near = subject.source.distance(left, right) <= stated
    except NoDistance:
        near = False
    if not near:
        raise BadArgument("d_in", "no less than the distance of the two data sets", d_in)
    return stated


def _named(subject: Measurement | Run) -> str:
    return str(subject.how) if isinstance(subject, Measurement) else str(getattr(subject, "__name__", "a function"))


def replayed(run: Run, left: Data, right: Data, source: Entropy) -> Comparison:
    """Records a run on one data set, and replays it on the same and on the other."""
    others = system()
    before, recorder = others.drawn, Recorder(source)
    first = _attempted(run, left, recorder)
    again, replayer = Replayer(recorder.record, source), Replayer(recorder.record, source)
    repeated, second = _attempted(run, left, again), _attempted(run, right, replayer)
    ours = recorder.passed + again.passed + replayer.passed if source is others else 0
    return Comparison(recorder, again, replayer, first, repeated, second, hidden=others.drawn - before != ours)


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
    return Ended(kept(outcome))


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Is a run, its replay on the same data, and its replay on other data; and whether anything was drawn elsewhere."""

    recorder: Recorder
    again: Replayer
    replayer: Replayer
    first: Ended
    repeated: Ended
    second: Ended
    hidden: bool

    def audit(self, name: str, claimed: Loss, apart: Gap | None, pair: Witness) -> Audit:
        """Says what tells the two apart."""
        steps = measured_steps(self.recorder.record, self.replayer.record)
        told = self._told(steps)
        priced = [] if told else list(_priced(steps, claimed, apart))
        doubts = self.doubts
        dear = [words for _, words in priced if words]
        faults = () if doubts or self._tossed else (*told, *dear)
        unknown = () if faults else (*(doubts or told), *self._unknown(told))
        lines = [] if told else [*_distances(steps), *(line for line, _ in priced)]
        if unknown:
            lines = [line for line in lines if line.claimed is None] + _unbounded(claimed)
        facts = (*self._facts(len(steps)), *((("left open", "; ".join(unknown)),) if unknown else ()))
        found = Audit(name, METHOD, tuple(lines), facts=facts, faults=faults)
        event = "; ".join(faults)
        return replace(found, witness=replace(pair, event=event)) if found.verdict is Verdict.VIOLATED else found

    @property
    def failed(self) -> bool:
        """Tells whether both sides fail."""
        return self.first.error is not None and self.second.error is not None

    @property
    def failed_at_once(self) -> bool:
        """Tells whether both sides fail before anything is randomized, so that only the data can be why."""
        drawn = (self.recorder.record, self.replayer.record)
        return self.failed and not self.doubts and not any(one.steps or one.coins for one in drawn)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Says why nothing that differs can be laid to the data."""
        said = {
            THREADS: any(len(one.threads) > 1 for one in (self.recorder, self.again, self.replayer)),
            HIDDEN: self.hidden,
            UNSTEADY: not self._steady,
        }
        return tuple(words for words, holds in said.items() if holds)

    @property
    def _steady(self) -> bool:
        """Tells whether the same data led to the same again."""
        if self.again.diverged or not self.again.coupled or seen_of(self.first.error) != seen_of(self.repeated.error):
            return False
        if difference(self.first.outcome, self.repeated.outcome) not in ("", UNCLEAR):
            return False
        return unmoved(self.recorder.record, self.again.record)

    @property
    def _tossed(self) -> bool:
        """Tells whether something was drawn outside of all steps."""
        return bool(self.recorder.record.coins or self.replayer.record.coins)

    def _told(self, steps: Sequence[Measured]) -> list[str]:
        """Says what differs that should not: steps, errors, or else what is released."""
        found = [*self._flow(), *(fault for step in steps for fault in step.faults)]
        return found or [f"{BESIDE}: {apart} differs" for apart in (self._apart,) if apart not in ("", UNCLEAR)]

    def _flow(self) -> list[str]:
        """Says where the replay took another step than the run, or an error ended only one of them, or another one."""
        taken, before = len(self.replayer.record.steps), len(self.recorder.record.steps)
        ended, other = self.first.error, self.second.error
        if self.replayer.diverged and (ended is None or taken < before):
            return [f"{FLOW} after {taken}"]
        if seen_of(ended) != seen_of(other):
            return [ONE_SIDED if ended is None or other is None else OTHER_ERROR]
        return [f"{FLOW} after {taken}"] if taken < before else []

    @property
    def _apart(self) -> str:
        return difference(self.first.outcome, self.second.outcome)

    def _unknown(self, told: Sequence[str]) -> Iterator[str]:
        """Says why nothing is known, though nothing differs."""
        if not self.replayer.coupled:
            yield UNCOUPLED
        if not told and self.failed:
            yield FAILED
        if not told and self._apart == UNCLEAR:
            yield INCOMPARABLE

    def _facts(self, steps: int) -> Iterator[tuple[str, str]]:
        yield "randomized steps", str(steps) + f", the {MOST_SHOWN} largest shown" * (steps > MOST_SHOWN)
        if self._tossed:
            alike = "given to both sides" if self.replayer.coupled else "others on the other side: all is open"
            drawn = sum(len(coins) for _, coins in self.recorder.record.coins)
            yield "drawn outside of the steps", f"{drawn} bytes, {alike}"
        if self.first.error is not None and seen_of(self.first.error) == seen_of(self.second.error):
            yield "both sides raise", type(self.first.error).__name__


def _distances(steps: Sequence[Measured]) -> Iterator[Line]:
    """Gives a line for the distance of each step."""
    sizes = [(step.name, size_of(step.gap)) for step in steps if step.gap is not None]
    for name, size in sorted(sizes, key=lambda one: one[1], reverse=True)[:MOST_SHOWN]:
        yield Line(f"{name}: distance", None, size, size)


Priced = tuple[Line, str]
"""A line, and what is wrong where its number is above the claim."""


def _priced(steps: Sequence[Measured], claimed: Loss, apart: Gap | None) -> Iterator[Priced]:
    """Compares the loss of each step with what was declared of it, where that is known, and of all with the claim."""
    for step in steps:
        if step.declared is not None and step.loss is not None and apart is not None:
            yield from compared(f"{step.name}: ", step.declared(apart), step.loss)
    yield from compared("", claimed, composed(steps, claimed))


def compared(before: str, claimed: Loss, found: Loss | None) -> Iterator[Priced]:
    """Gives a line for each number of a claim. What is found bounds the true one from above, and 0 from below."""
    numbers = None if found is None else numbers_of(found)
    for name, most in numbers_of(claimed).items():
        number = math.inf if numbers is None else numbers[name]
        words = "" if number <= most else before + (NO_THEOREM if numbers is None else _dear(name, number, most))
        yield Line(before + name, most, Fraction(0), number), words


def _dear(name: str, number: Extended, most: Extended) -> str:
    letter, _, where = name.partition(" ")
    digits = next((digits for digits in (3, 6, 12) if _short(number, digits) != _short(most, digits)), 17)
    paid, stated = (f"{letter} = {_short(one, digits)} {where}".strip() for one in (number, most))
    return f"{TOO_FAR}: {paid} is lost, and {stated} is claimed"


def _short(number: Extended, digits: int) -> str:
    if number == math.inf:
        return "∞"
    whole = Fraction(number)  # which may be larger than any float
    return f"{Decimal(whole.numerator) / Decimal(whole.denominator):.{digits}g}"


def _unbounded(claimed: Loss) -> list[Line]:
    """Gives a line for each number of a claim of which nothing was measured."""
    return [Line(name, most, Fraction(0), math.inf) for name, most in numbers_of(claimed).items()]
