"""What one pair of neighbours shows of a component: how far apart it takes them, against what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isqrt
from typing import final

import numpy as np

from sfumato.audit.exact import exact
from sfumato.audit.grey_box import Replays, compare_replays
from sfumato.audit.measured import size_of
from sfumato.audit.record import Audit, Line, Verdict, Witness
from sfumato.audit.shrinking import expression
from sfumato.audit.tables import outcomes_of
from sfumato.core.domains import Data, Stream
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.measurement import Measurement
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import NoDistance, SfumatoError
from sfumato.exact import BITS, Extended, Root, precision

SEED = b"what the steps of one run draw"
SMALL = 100
"""Members with fewer rows than this are looked at for changes."""

FAILS = "it fails on one member and not on its neighbour: whether it fails tells them apart"
OUTSIDE = "the image of a member is not in the target domain"
NO_DISTANCE = "the images of two neighbours have no distance in the target"
TOO_FAR = "the images of two neighbours are further apart than the map says"
CHANGED = "it changes the data that it is given"
TOLD_APART = "what it randomizes tells two neighbours apart better than its loss allows"

LAW = ", by the law"
MISSED = Fraction(1, 10**6)
MOST_OUTCOMES, MOST_ROWS, MOST_NUMBER = 300, 3, 12
"""An exact law is looked at up to this many outcomes, and of members up to this many rows and numbers this large."""


@final
@dataclass(frozen=True)
class Seen:
    """What a pair shows: what is wrong, and the numbers of the claim beside those measured.

    ``failed`` says that both sides fail, ``at_once`` that they do before anything is randomized. ``reached`` is what
    was measured of the claim, ``apart`` how far apart the pair is, and ``doubt`` why what differs is left open.
    """

    fault: str = ""
    lines: tuple[Line, ...] = ()
    failed: bool = False
    at_once: bool = False
    reached: tuple[Extended, ...] = ()
    apart: Extended = inf
    doubt: str = ""

    @property
    def kind(self) -> str:
        """What is wrong, without the numbers."""
        return self.fault.partition(":")[0]


@final
@dataclass(frozen=True)
class Failed:
    """Stands for an image where there is none."""


def judged(subject: Transformation | Measurement, left: Data, right: Data, *, law: bool = True) -> Seen:
    """Runs a component on two neighbours and says what that shows; ``law`` asks for its exact law too."""
    before = _written(left, right)
    if isinstance(subject, Measurement):
        seen = _judge_measurement(subject, left, right, law=law)
        return Seen(CHANGED) if before != _written(left, right) else seen
    images = [_image(subject, member) for member in (left, right)]
    failures = [isinstance(image, Failed) for image in images]
    if any(failures):
        return Seen("" if all(failures) else FAILS, failed=all(failures), at_once=all(failures))
    if before != _written(left, right):
        return Seen(CHANGED)
    return _judge_transformation(subject, left, right, images)


def _image(step: Transformation, member: Data) -> Data:
    """What a member becomes, with all that a stream gives."""
    try:
        image = step.function(member, ReplayEntropy(SEED))
        return list(image) if isinstance(step.target.domain, Stream) and not callable(image) else image
    except Exception:  # that it fails is what is looked for
        return Failed()


def _judge_transformation(step: Transformation, left: Data, right: Data, images: list[Data]) -> Seen:
    if not all(step.target.domain.member(image) for image in images):
        return Seen(OUTSIDE)
    if step.randomized or any(callable(image) for image in images):
        return Seen()
    try:
        apart = step.target.distance(*images)
    except NoDistance:
        return Seen(NO_DISTANCE)
    before = step.source.distance(left, right)
    allowed = step.map(before)
    lines = distance_lines(apart, allowed)
    reached = tuple(line.low for line in lines)
    return Seen("" if apart <= allowed else TOO_FAR, lines, reached=reached, apart=size_of(before))


def distance_lines(apart: AnyDistance, allowed: AnyDistance) -> tuple[Line, ...]:
    """How far images are apart beside how far they may be."""
    if not isinstance(apart, GroupedDistance):
        return (_line("distance of the images", apart, allowed),)
    return (
        _line("parts that differ", apart.parts, allowed.parts),
        _line("rows that differ", apart.rows, allowed.rows),
        _line("rows that differ in one part", apart.largest, allowed.largest),
    )


def _line(what: str, apart: AnyDistance, allowed: AnyDistance) -> Line:
    measured = rational(apart)
    return Line(what, rational(allowed, up=not apart > allowed), measured, measured)


def rational(gap: AnyDistance, *, up: bool = False) -> Extended:
    """A distance as a rational or infinity; of a root, the digits that are seen."""
    if gap == inf:
        return inf
    if isinstance(gap, Root):
        return Fraction(isqrt(int(gap.square * 10**24)) + up, 10**12)
    return Fraction(gap)


def _judge_measurement(measurement: Measurement, left: Data, right: Data, *, law: bool) -> Seen:
    """Looks at what a run randomizes, and at the exact law where that is known and small."""
    apart = measurement.source.distance(left, right)
    comparison = _compare_replays(measurement, left, right)
    run = comparison.audit(str(measurement.how), measurement.map(apart), apart, Witness(left, right))
    if comparison.failed and not run.faults:
        return Seen(failed=True, at_once=comparison.failed_at_once)
    audits = [run]
    lines = [] if measurement.interactive else [line for line in run.lines if line.claimed is not None]
    if law and _has_small_law(measurement, left, right):
        audits.append(exact(measurement, pairs=[(left, right)], d_in=apart, missed=MISSED, progress=_silent))
        lines += _by_the_law(audits[-1], settled=not measurement.interactive)
    fault = next((_fault(audit) for audit in audits if audit.verdict is Verdict.VIOLATED), "")
    reached = tuple(line.low if line.high is None else line.high for line in lines if LAW not in line.what)
    doubt = dict(run.facts).get("left open", "")
    return Seen(fault, tuple(lines), reached=reached, apart=size_of(apart), doubt=doubt)


def _by_the_law(audit: Audit, *, settled: bool) -> Iterator[Line]:
    """The lines of an audit by the law; those from below do not unsettle what the run has settled."""
    for line in audit.lines:
        if line.claimed is not None:
            bound = settled and line.high is None and line.verdict is Verdict.OPEN
            yield replace(line, what=line.what + LAW, claimed=None if bound else line.claimed)


def _compare_replays(measurement: Measurement, left: Data, right: Data) -> Replays:
    """Records a run and replays it; of something that goes on answering, only how it begins."""
    if not measurement.interactive:
        return compare_replays(measurement.function, left, right, ReplayEntropy(SEED))

    def begun(data: Data, entropy: Entropy) -> None:
        measurement.function(data, entropy)

    return compare_replays(begun, left, right, ReplayEntropy(SEED))


def _fault(audit: Audit) -> str:
    return "; ".join(audit.faults) or TOLD_APART


def _silent(done: int, steps: int) -> None:
    """Tells nobody: the pairs are counted elsewhere."""


def _has_small_law(measurement: Measurement, left: Data, right: Data) -> bool:
    if measurement.law is None or not all(_is_small(member, MOST_ROWS) for member in (left, right)):
        return False
    try:
        with precision(BITS):
            return all(0 < outcomes_of(measurement.law(member), MISSED) <= MOST_OUTCOMES for member in (left, right))
    except (SfumatoError, TypeError):  # a law that cannot be listed, such as that of a stream of answers
        return False


def _is_small(member: Data, most: int) -> bool:
    """Tells whether there are few rows with small numbers: some laws are made by going through all there may be."""
    match member:
        case Mapping():
            return all(_is_small(column, most) for column in member.values())
        case str():
            return len(member) <= MOST_NUMBER
        case list() | tuple() | np.ndarray():
            return len(member) <= most and all(_is_small(part, most) for part in member)
        case int() | float() | np.number():
            return bool(-MOST_NUMBER <= member <= MOST_NUMBER)
    return True


def _written(left: Data, right: Data) -> str:
    """Writes a pair down to see whether it changes; large ones are left alone."""
    held = [member for member in (left, right) if not hasattr(member, "__len__") or len(member) < SMALL]
    return expression(held) if len(held) == 2 else ""
