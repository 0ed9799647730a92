"""Auditing whatever there is: each subject by every method that fits it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.audit.black_box import black_box
from sfumato.audit.exact import exact
from sfumato.audit.fuzz import fuzz
from sfumato.audit.record import Audit, Witness
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.plan import Described
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number
from sfumato.release.progress import Progress

DELTA = Fraction(1, 10**6)
"""The δ at which ε is sampled of a measurement with a loss in other numbers, such as ρ."""


@final
@dataclass(frozen=True)
class Trial:
    """A mechanism as a black box: how to run it, two neighbouring data sets, and what it claims to cost.

    ``run`` takes data and gives an outcome; with ``batched`` it takes data and a number, and gives that many outcomes.
    """

    run: Callable[..., Data] | Measurement
    left: Data
    right: Data
    claim: Loss | None = None
    delta: Number = 0
    batched: bool = False


Subject: TypeAlias = Measurement | Transformation | Trial | Audit
ANY = (
    "a measurement, a transformation, an sf.audit.Trial, an audit that was made already, several of them, or a "
    "function without arguments that gives these"
)


def examine(
    subject: Any,
    *,
    samples: int = 100_000,
    tries: int = 200,
    seconds: float | None = 60,
    confidence: Number = "0.99",
    progress: Progress | None = None,
) -> tuple[Audit, ...]:
    """Audits a subject, or each of several, by every method that fits.

    A measurement is audited exactly where its law is known and its inputs can be listed, by replaying its runs on
    generated neighbours, and from ``samples`` of its outcomes on the pair that moved it most; a transformation on
    generated neighbours; a `Trial` from samples. An audit that was made already, such as one of a query, is taken over.
    Each takes at most about that many ``seconds``.

    >>> import sfumato as sf
    >>> coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
    >>> [str(found.verdict) for found in examine(coin, samples=10_000, tries=20)]
    ['tight', 'sound', 'open']
    """
    limits = Limits(samples, tries, seconds, confidence, progress)
    audits = tuple(audit for part in _parts_of(subject) for audit in _audits(part, limits))
    if not audits:
        raise BadArgument("what is audited", ANY, "nothing")
    return audits


@final
@dataclass(frozen=True)
class Limits:
    """How much work each audit may be."""

    samples: int
    tries: int
    seconds: float | None
    confidence: Number
    progress: Progress | None

    def sampled(self, trial: Trial) -> Audit:
        return black_box(
            trial.run,
            trial.left,
            trial.right,
            claim=trial.claim,
            delta=trial.delta,
            batched=trial.batched,
            samples=self.samples,
            seconds=self.seconds,
            confidence=self.confidence,
            progress=self.progress,
        )


def _audits(subject: Subject, limits: Limits) -> Iterator[Audit]:
    match subject:
        case Audit():
            yield subject
        case Trial():
            yield limits.sampled(subject)
        case Transformation():
            yield fuzz(subject, tries=limits.tries, seconds=limits.seconds, progress=limits.progress)
        case _:
            yield from _of_measurement(subject, limits)


def _of_measurement(subject: Measurement, limits: Limits) -> Iterator[Audit]:
    """Audits a measurement in every way that there is for it."""
    if subject.law is not None:
        with suppress(BadArgument):  # its inputs, or its outcomes, cannot be listed
            yield exact(subject, seconds=limits.seconds, progress=limits.progress)
    replayed = fuzz(subject, tries=limits.tries, seconds=limits.seconds, progress=limits.progress)
    yield replayed
    if replayed.witness is not None:
        with suppress(BadArgument, NoProvenRoute):  # it answers more than once, or states no ε
            yield limits.sampled(_trial(subject, replayed.witness))


def _trial(subject: Measurement, pair: Witness) -> Trial:
    """A measurement as a black box on a pair; a loss that is no pure one is held to its ε at a small δ."""
    pure = subject.measure is Pure or subject.measure is Approx
    return Trial(subject, pair.left, pair.right, delta=0 if pure else DELTA)


def _parts_of(subject: Any) -> Iterator[Subject]:
    """Lists what a subject consists of; a function without arguments is asked for it."""
    if isinstance(subject, Subject):
        yield subject
    elif isinstance(subject, Mapping):
        yield from _parts_of(tuple(subject.values()))
    elif isinstance(subject, list | tuple | set | frozenset | Iterator):
        for part in subject:
            yield from _parts_of(part)
    elif callable(subject) and not isinstance(subject, Described) and _wants_nothing(subject):
        yield from _parts_of_result(subject())
    else:
        raise BadArgument("what is audited", ANY, type(subject).__name__)


def _parts_of_result(result: Any) -> Iterator[Subject]:
    if callable(result) and not isinstance(result, Subject):
        raise BadArgument("what is audited", ANY, "a function that gives a function")
    return _parts_of(result)


def _wants_nothing(subject: Callable[..., Any]) -> bool:
    """Tells whether a function can be called without arguments."""
    try:
        inspect.signature(subject).bind()
    except (TypeError, ValueError):
        return False
    return True
