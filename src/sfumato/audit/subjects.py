"""Auditing whatever there is: each subject by every method that fits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from sfumato.accounting.measures import Loss
from sfumato.audit.black_box import black_box
from sfumato.audit.exact import exact
from sfumato.audit.fuzz import fuzz
from sfumato.audit.record import Audit
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.progress import Progress


@final
@dataclass(frozen=True)
class Trial:
    """Is a mechanism as a black box: how to run it, two neighbouring data sets, and what it claims to cost.

    ``run`` takes data and gives an outcome; with ``batched`` it takes data and a number, and gives so many outcomes.
    """

    run: Callable[..., Data] | Measurement
    left: Data
    right: Data
    claim: Loss | None = None
    delta: Number = 0
    batched: bool = False


Subject = Measurement | Transformation | Trial
ANY = "a measurement, a transformation, an sf.audit.Trial, several of them, or a function that gives these"


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

    A measurement is audited exactly where its law is on file and its inputs can be listed, and by replaying its runs on
    generated neighbours; a transformation on generated neighbours; a `Trial` from ``samples`` of its outcomes. Each
    takes at most about so many ``seconds``.

    >>> import sfumato as sf
    >>> [str(found.verdict) for found in examine(sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75"))]
    ['tight', 'tight']
    """
    found: list[Audit] = []
    for one in _listed(subject):
        if isinstance(one, Trial):
            found.append(
                black_box(
                    one.run,
                    one.left,
                    one.right,
                    claim=one.claim,
                    delta=one.delta,
                    batched=one.batched,
                    samples=samples,
                    seconds=seconds,
                    confidence=confidence,
                    progress=progress,
                )
            )
        else:
            found += _exactly(one, progress)
            found.append(fuzz(one, tries=tries, seconds=seconds, progress=progress))
    return tuple(found)


def _exactly(subject: Measurement | Transformation, progress: Progress | None) -> list[Audit]:
    """Audits a measurement by its law, where that can be done."""
    if not isinstance(subject, Measurement) or subject.law is None:
        return []
    try:
        return [exact(subject, progress=progress)]
    except BadArgument:
        return []


def _listed(subject: Any) -> Iterator[Subject]:
    """Gives what a subject consists of; a function without arguments is asked for it."""
    if isinstance(subject, Subject):
        yield subject
    elif isinstance(subject, Mapping):
        for one in subject.values():
            yield from _listed(one)
    elif isinstance(subject, list | tuple | set | frozenset):
        for one in subject:
            yield from _listed(one)
    elif callable(subject):
        yield from _listed(_called(subject))
    else:
        raise BadArgument("what is audited", ANY, type(subject).__name__)


def _called(subject: Callable[[], Any]) -> Any:
    try:
        made = subject()
    except TypeError:
        raise BadArgument("what is audited", ANY, "a function that wants arguments") from None
    if callable(made) and not isinstance(made, Subject):
        raise BadArgument("what is audited", ANY, "a function that gives a function")
    return made
