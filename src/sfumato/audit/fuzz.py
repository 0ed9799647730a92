"""Neighbour fuzzing: nasty data and its neighbours, against what a component says of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from itertools import count
from typing import Any, TypeAlias, final

from sfumato.audit.nasty import Chance
from sfumato.audit.neighbouring import crowded, neighbours
from sfumato.audit.pairwise import Seen, judged
from sfumato.audit.record import Audit, Line, Witness
from sfumato.audit.shrinking import expression, shrink
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive
from sfumato.release.progress import Progress, reporting

Make: TypeAlias = Callable[[Entropy], tuple[Data, Data]]
"""Draws two neighbouring members, where a domain or a metric is the caller's own."""

METHOD = "neighbour fuzzing"
FAILS_ON_SOME = "it fails on some members and not on others: whether it fails depends on the data"


def fuzz(
    subject: Transformation | Measurement,
    *,
    make: Make | None = None,
    tries: int = 200,
    d_in: DistanceLike | Unit | None = None,
    entropy: Entropy | None = None,
    seconds: Number | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Tries a component on nasty data and neighbours of it, and says whether it keeps its map.

    Takes:      a transformation or a measurement on a space whose members can be drawn, or ``make``, which draws a pair
                of neighbours from entropy; how many pairs to try, and for how many seconds at most; the distance of
                neighbours (as near as they come, unless given)
    Gives:      an audit. For a transformation: images are in the target and no further apart than the map says. For a
                measurement: what it randomizes is no further apart than its loss allows (`grey_box`), and its law, if
                it is known and small, obeys the claim (`exact`). For both: no failure that depends on data, and no
                data changed. The smallest pair that was found stands in the witness, with Python that makes it again;
                where nothing is wrong, the pair that came nearest to the claim. Open where nothing could be compared
    Cost:       some milliseconds a try, and a second for one in a hundred; the same pairs for the same entropy

    >>> from sfumato.core.space import vector
    >>> from sfumato.entropy import ReplayEntropy
    >>> from sfumato.transforms.aggregate import sum
    >>> fuzz(vector(int, between=(0, 9)) >> sum(), tries=50, entropy=ReplayEntropy(1)).verdict
    <Verdict.TIGHT: 'tight'>
    """
    if not isinstance(subject, Transformation | Measurement):
        raise BadArgument("what is fuzzed", "a transformation or a measurement", type(subject).__name__)
    many = integer(tries, "tries", least=1)
    most = math.inf if seconds is None else float(positive(seconds, "seconds"))
    if make is not None and not callable(make):
        raise BadArgument("make", "a function that draws two neighbours from entropy", make)
    space = subject.source
    allowed = space.metric.read(space.closest if d_in is None else d_in)
    subject.map(allowed)  # a distance that the map refuses is refused here, and not by some of the pairs
    chance, log, started = Chance(entropy or system()), FuzzLog(), time.monotonic()
    with reporting(progress, "fuzzing") as tell:
        for done, pair in zip(range(many), _pairs(subject, make, allowed, chance), strict=False):
            spare = deepcopy(pair)
            seen = judged(subject, *pair, law=done % LAW_EVERY == 0)
            log.note(spare, seen)
            if seen.fault:
                return _faulty_audit(subject, spare, seen, log, allowed)
            tell(done + 1, many)
            if time.monotonic() - started > most:
                break
    return log.audit(subject)


LAW_EVERY = 4
"""The exact law takes longer than all else: it is looked at on one pair in this many."""

CROWD_EVERY = 100
"""One pair in this many has very many rows, where there may be any number of them."""

MISSES = 1000
"""Where this many draws one after another are no neighbours, there is nothing to try."""


def _pairs(
    subject: Transformation | Measurement, make: Make | None, allowed: AnyDistance, chance: Chance
) -> Iterator[tuple[Data, Data]]:
    missed = 0
    for place in count(1):
        if missed == MISSES:
            break
        pair = crowded(subject.source, allowed, chance) if make is None and place % CROWD_EVERY == 0 else None
        if pair is None:
            pair = neighbours(subject.source, allowed, chance) if make is None else _draw(make, subject.source, chance)
        missed = missed + 1 if pair is None else 0
        if pair is not None:
            yield pair
    raise BadArgument(
        "the source", "one with members and neighbours that can be drawn, or give make=…", str(subject.source)
    )


def _draw(make: Make, space: Space, chance: Chance) -> tuple[Data, Data]:
    pair: object = make(chance.entropy)
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(map(space.domain.member, pair)):
        raise BadArgument("what make gives", "two members of the source domain", str(space.domain))
    return pair[0], pair[1]


@final
class FuzzLog:
    """Counts what was tried, and keeps the most of what was measured."""

    def __init__(self) -> None:
        self.pairs = self.failures = 0
        self.lines: dict[str, Line] = {}
        self.doubt = ""
        self.failed: list[Data] = []
        self.passed: list[Data] = []
        self.farthest: tuple[tuple[Any, ...], tuple[Data, Data]] | None = None

    def note(self, pair: tuple[Data, Data], seen: Seen) -> None:
        """Takes down what a pair shows; of two that are the same it is not counted, for it had to be so."""
        self.pairs += 1
        self.failures += seen.failed
        self.doubt = self.doubt or seen.doubt
        if seen.at_once or not (seen.failed or seen.doubt):
            (self.failed if seen.failed else self.passed)[:] = [pair[0]]
        if seen.failed or seen.apart == 0:
            return
        for line in seen.lines:
            self.lines[line.what] = _wider(self.lines.get(line.what, line), line)
        order = (seen.reached, seen.apart, -sum(map(_size, pair)))
        if self.farthest is None or order > self.farthest[0]:
            self.farthest = order, pair

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """How many pairs were tried, how many failed on both sides, and what is left open."""
        failures = (("failed on both sides", str(self.failures)),) if self.failures else ()
        doubt = (("left open", self.doubt),) if self.doubt else ()
        return (("pairs of neighbours", str(self.pairs)), *failures, *doubt)

    def audit(self, subject: Transformation | Measurement) -> Audit:
        """What is known where no pair is at fault; members on which it fails are, beside others."""
        lines = tuple(self.lines.values())
        if not self.failed or not self.passed:
            pair = None if self.farthest is None else _witness(self.farthest[1])
            return Audit(_name(subject), METHOD, lines, pair, facts=self.facts)
        event = f"failing, passing = {expression(self.failed[0])}, {expression(self.passed[0])}"
        two = Witness(self.failed[0], self.passed[0], event)
        return Audit(_name(subject), METHOD, lines, two, facts=self.facts, faults=(FAILS_ON_SOME,))


def _size(member: Data) -> int:
    """How large a member is: its values, and the letters of a text."""
    if isinstance(member, Mapping):
        return sum(map(_size, member.values()))
    if isinstance(member, list | tuple):
        return len(member) + sum(_size(part) for part in member if not isinstance(part, int | float))
    return int(getattr(member, "size", 0)) or (len(member) if isinstance(member, str) else 1)


def _wider(first: Line, second: Line) -> Line:
    """Puts together what two pairs show: the claim at the larger distance holds for both."""
    claimed = None if first.claimed is None or second.claimed is None else max(first.claimed, second.claimed)
    high = None if first.high is None or second.high is None else max(first.high, second.high)
    return Line(first.what, claimed, max(first.low, second.low), high)


def _faulty_audit(
    subject: Transformation | Measurement, pair: tuple[Data, Data], seen: Seen, log: FuzzLog, allowed: AnyDistance
) -> Audit:
    def broken(left: Data, right: Data) -> bool:
        return judged(subject, *deepcopy((left, right))).kind == seen.kind

    if broken(*pair):
        pair = shrink(subject.source, pair, allowed, broken)
        seen = judged(subject, *deepcopy(pair))
    return Audit(_name(subject), METHOD, seen.lines, _witness(pair), facts=log.facts, faults=(seen.fault,))


def _witness(pair: tuple[Data, Data]) -> Witness:
    return Witness(*pair, f"left, right = {', '.join(map(expression, pair))}")


def _name(subject: Transformation | Measurement) -> str:
    return str(subject.how) if isinstance(subject, Measurement) else " → ".join(subject.steps) or "identity"
