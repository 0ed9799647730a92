"""The grey-box audit: a run is recorded, replayed on a neighbour, and what was randomized is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.audit.likeness import UNCLEAR, difference
from sfumato.audit.measured import Measured, composed, measured_steps, numbers_of, seen_of, size_of, unmoved
from sfumato.audit.record import Audit, Line, Verdict, Witness
from sfumato.audit.recorder import Diverged, Recorder, Replayer, copied
from sfumato.core.domains import Data, Tables
from sfumato.core.grouped_distance import AnyDistance, DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.plan import Described
from sfumato.core.queryable import Queryable
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NoDistance, NotInDomain
from sfumato.exact import Extended, Number

METHOD = "grey box: every randomized step, recorded and replayed on a neighbour"

FLOW = "control flow depends on the data: the replay takes another step"
ONE_SIDED = "an error is raised on one side only"
OTHER_ERROR = "what an error says depends on the data"
BESIDE = "the release depends on the data beside what was randomized"
TOO_FAR = "what is randomized is too far apart"
NO_THEOREM = "no known theorem shows that what the steps lose is within the claim"

HIDDEN = "randomness outside `entropy`: something was drawn from a source that the run was not given"
UNSTEADY = "randomness outside `entropy`, or something kept between runs: the same data gives another release"
THREADS = "several threads draw from one source, so that the order of the steps is up to chance"
FAILED = "both sides fail, so that nothing is released"
INCOMPARABLE = "what is released shows nothing of what is in it, and cannot be compared"
UNCOUPLED = "the two sides draw other amounts outside of the steps"

MOST_SHOWN = 20
"""The most distances of steps that are listed, the largest."""

Run = Callable[[Data, Entropy], Data]


def grey_box(
    subject: Measurement | Run,
    left: Data,
    right: Data,
    *,
    d_in: DistanceLike | Unit | None = None,
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
    comparison = compare_replays(run, left, right, entropy or system())
    return comparison.audit(name or _subject_name(subject), claimed, apart, Witness(left, right))


def _read(
    subject: Measurement | Run, left: Data, right: Data, d_in: DistanceLike | Unit | None, claim: Loss | Number | None
) -> tuple[Run, Loss, AnyDistance | None]:
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


def _distance(subject: Measurement, left: Data, right: Data, d_in: DistanceLike | Unit | None) -> AnyDistance:
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


def _subject_name(subject: Measurement | Run) -> str:
    return str(subject.how) if isinstance(subject, Measurement) else str(getattr(subject, "__name__", "a function"))


def compare_replays(run: Run, left: Data, right: Data, source: Entropy) -> Replays:
    """Records a run on one data set, and replays it on the same and on the other."""
    others = system()
    before, recorder = others.drawn, Recorder(source)
    first = _attempt(run, left, recorder)
    again, replayer = Replayer(recorder.record, source), Replayer(recorder.record, source)
    repeated, second = _attempt(run, left, again), _attempt(run, right, replayer)
    ours = recorder.passed + again.passed + replayer.passed if source is others else 0
    return Replays(recorder, again, replayer, first, repeated, second, hidden=others.drawn - before != ours)


@final
@dataclass(frozen=True, eq=False)
class Ended:
    """How a run ended: with an outcome, or with an error."""

    outcome: Any = None
    error: Exception | None = None


def _attempt(run: Run, data: Data, entropy: Recorder | Replayer) -> Ended:
    try:
        outcome = run(data, entropy)
    except Diverged:
        return Ended()
    except Exception as fault:
        return Ended(error=fault)
    if isinstance(outcome, Queryable):
        raise BadArgument("what the subject gives", "an answer: ask the queryable inside the function", outcome)
    return Ended(copied(outcome))


@final
@dataclass(frozen=True, eq=False)
class Replays:
    """A run, its replay on the same data, and its replay on other data; and whether anything was drawn elsewhere."""

    recorder: Recorder
    again: Replayer
    replayer: Replayer
    first: Ended
    repeated: Ended
    second: Ended
    hidden: bool

    def audit(self, name: str, claimed: Loss, apart: AnyDistance | None, pair: Witness) -> Audit:
        """Compares both sides with the claim; what cannot be laid to the data is left open."""
        steps = measured_steps(self.recorder.record, self.replayer.record)
        differences = self._differences(steps)
        priced = [] if differences else list(_price_lines(steps, claimed, apart))
        doubts = self.doubts
        dear = [words for _, words in priced if words]
        faults = () if doubts or self._tossed else (*differences, *dear)
        unknown = () if faults else (*(doubts or differences), *self._unknown(differences))
        lines = [] if differences else [*_distances(steps), *(line for line, _ in priced)]
        if unknown:
            lines = [line for line in lines if line.claimed is None] + _unbounded(claimed)
        facts = (*self._facts(len(steps)), *((("left open", "; ".join(unknown)),) if unknown else ()))
        audit = Audit(name, METHOD, tuple(lines), facts=facts, faults=faults)
        event = "; ".join(faults)
        return replace(audit, witness=replace(pair, event=event)) if audit.verdict is Verdict.VIOLATED else audit

    @property
    def failed(self) -> bool:
        return self.first.error is not None and self.second.error is not None

    @property
    def failed_at_once(self) -> bool:
        """Tells whether both sides fail before anything is randomized, so that only the data can be why."""
        drawn = (self.recorder.record, self.replayer.record)
        return self.failed and not self.doubts and not any(record.steps or record.coins for record in drawn)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons why nothing that differs can be laid to the data."""
        said = {
            THREADS: any(len(source.threads) > 1 for source in (self.recorder, self.again, self.replayer)),
            HIDDEN: self.hidden,
            UNSTEADY: not self._steady,
        }
        return tuple(words for words, holds in said.items() if holds)

    @property
    def _steady(self) -> bool:
        """Tells whether a second run on the same data led to the same release."""
        if self.again.diverged or not self.again.coupled or seen_of(self.first.error) != seen_of(self.repeated.error):
            return False
        if difference(self.first.outcome, self.repeated.outcome) not in ("", UNCLEAR):
            return False
        return unmoved(self.recorder.record, self.again.record)

    @property
    def _tossed(self) -> bool:
        """Tells whether something was drawn outside of all steps."""
        return bool(self.recorder.record.coins or self.replayer.record.coins)

    def _differences(self, steps: Sequence[Measured]) -> list[str]:
        """What differs that should not: steps, errors, or else what is released."""
        broken = [*self._flow(), *(fault for step in steps for fault in step.faults)]
        return broken or [f"{BESIDE}: {apart} differs" for apart in (self._apart,) if apart not in ("", UNCLEAR)]

    def _flow(self) -> list[str]:
        """Says where the replay took another step than the run, or an error ended only one of them, or another one."""
        taken, before = len(self.replayer.record.steps), len(self.recorder.record.steps)
        ended, other_error = self.first.error, self.second.error
        if self.replayer.diverged and (ended is None or taken < before):
            return [f"{FLOW} after {taken}"]
        if seen_of(ended) != seen_of(other_error):
            return [ONE_SIDED if ended is None or other_error is None else OTHER_ERROR]
        return [f"{FLOW} after {taken}"] if taken < before else []

    @property
    def _apart(self) -> str:
        return difference(self.first.outcome, self.second.outcome)

    def _unknown(self, differences: Sequence[str]) -> Iterator[str]:
        """Reasons why nothing is known, though nothing differs."""
        if not self.replayer.coupled:
            yield UNCOUPLED
        if not differences and self.failed:
            yield FAILED
        if not differences and self._apart == UNCLEAR:
            yield INCOMPARABLE

    def _facts(self, steps: int) -> Iterator[tuple[str, str]]:
        yield "randomized steps", f"{steps}, the {MOST_SHOWN} largest shown" if steps > MOST_SHOWN else str(steps)
        if self._tossed:
            alike = "given to both sides" if self.replayer.coupled else "others on the other side: all is open"
            drawn = sum(len(coins) for _, coins in self.recorder.record.coins)
            yield "drawn outside of the steps", f"{drawn} bytes, {alike}"
        if self.first.error is not None and seen_of(self.first.error) == seen_of(self.second.error):
            yield "both sides raise", type(self.first.error).__name__


def _distances(steps: Sequence[Measured]) -> Iterator[Line]:
    """A line for the distance of each step, the largest first."""
    sizes = [(step.name, size_of(step.gap)) for step in steps if step.gap is not None]
    for name, size in sorted(sizes, key=lambda named_size: named_size[1], reverse=True)[:MOST_SHOWN]:
        yield Line(f"{name}: distance", None, size, size)


Priced = tuple[Line, str]
"""A line, and what is wrong where its number is above the claim."""


def _price_lines(steps: Sequence[Measured], claimed: Loss, apart: AnyDistance | None) -> Iterator[Priced]:
    """Compares the loss of each step with what was declared of it, where that is known, and of all with the claim."""
    for step in steps:
        if step.declared is not None and step.loss is not None and apart is not None:
            yield from compared(f"{step.name}: ", step.declared(apart), step.loss)
    yield from compared("", claimed, composed(steps, claimed))


def compared(before: str, claimed: Loss, total: Loss | None) -> Iterator[Priced]:
    """A line for each number of a claim. The total bounds the true one from above, and 0 from below."""
    numbers = None if total is None else numbers_of(total)
    for name, most in numbers_of(claimed).items():
        number = math.inf if numbers is None else numbers[name]
        words = "" if number <= most else before + (NO_THEOREM if numbers is None else _dear(name, number, most))
        yield Line(before + name, most, Fraction(0), number), words


def _dear(name: str, number: Extended, most: Extended) -> str:
    letter, _, where = name.partition(" ")
    digits = next((digits for digits in (3, 6, 12) if _short(number, digits) != _short(most, digits)), 17)
    paid, stated = (f"{letter} = {_short(amount, digits)} {where}".strip() for amount in (number, most))
    return f"{TOO_FAR}: {paid} is lost, and {stated} is claimed"


def _short(number: Extended, digits: int) -> str:
    if number == math.inf:
        return "∞"
    whole = Fraction(number)  # which may be larger than any float
    return f"{Decimal(whole.numerator) / Decimal(whole.denominator):.{digits}g}"


def _unbounded(claimed: Loss) -> list[Line]:
    """A line for each number of a claim that nothing was measured of."""
    return [Line(name, most, Fraction(0), math.inf) for name, most in numbers_of(claimed).items()]
