"""Neighbours of a member: near it under the metric of its space, and as different as they may be."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.audit.nasty import Chance, Row, Sections, assemble, row, sections, value
from sfumato.core.atoms import Atom, Integers
from sfumato.core.domains import Data, Domain, Frame, Matrix, Stream, Vector
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.identifiers import Identifiers
from sfumato.core.metrics import (
    L1,
    L2,
    Absolute,
    AddRemove,
    ChangeOne,
    DatasetMetric,
    Discrete,
    LInf,
    Metric,
    Range,
    VectorMetric,
    Windows,
)
from sfumato.core.parts import PartDistance, Parts
from sfumato.core.rows import canonical
from sfumato.core.space import Space
from sfumato.core.steps import step_of
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import Root
from sfumato.transforms.streams import PerBatch

MOST_EDITS = 6
"""The most rows that are edited where a distance is large."""

CROWD = 1 << 16
"""Very many rows: more than 16 bits can count."""

RowDomain = Vector | Matrix | Frame


def neighbours(space: Space, allowed: AnyDistance, chance: Chance) -> tuple[Data, Data] | None:
    """Draws two members that are at most a distance apart; None where what was drawn is not."""
    ours = sections(space.domain, chance)
    theirs = ours if chance.once_in(12) else _move(ours, space.domain, space.metric, allowed, chance)
    if not _ordered(space.metric):
        theirs = [chance.shuffled(part) if len(part) < 50 else part[::-1] for part in theirs]
    if chance.once_in(2):
        ours, theirs = theirs, ours
    left, right = assemble(ours, space.domain, chance), assemble(theirs, space.domain, chance)
    return (left, right) if near(space, left, right, allowed) else None


def crowded(space: Space, allowed: AnyDistance, chance: Chance) -> tuple[Data, Data] | None:
    """Draws neighbours with very many rows, all equal; where ids are told apart, all of them belong to one."""
    domain, metric = space.domain, space.metric
    if not isinstance(domain, Vector | Frame) or domain.size is not None or not isinstance(metric, DatasetMetric):
        return None
    crowd = [row(domain, chance)] * CROWD
    if isinstance(metric, Identifiers):
        place = [name for name, _ in domain.columns].index(metric.column) if isinstance(domain, Frame) else 0
        few = [each for each in sections(domain, chance)[0] if canonical(each[place]) != canonical(crowd[0][place])]
        ours, theirs = few + crowd, few
    else:
        ours, theirs = crowd, _edit(crowd, domain, metric, _edits(allowed, chance), chance)
    left, right = assemble([ours], domain), assemble([theirs], domain)
    return (left, right) if near(space, left, right, allowed) else None


def near(space: Space, left: Data, right: Data, allowed: AnyDistance) -> bool:
    """Tells whether two things are members and no further apart than that."""
    if not space.domain.member(left) or not space.domain.member(right):
        return False
    try:
        return bool(space.distance(left, right) <= allowed)
    except NoDistance:
        return False


def _ordered(metric: Metric) -> bool:
    return not isinstance(metric, AddRemove | ChangeOne | Identifiers | PartDistance | PerBatch)


def _move(ours: Sections, domain: Domain, metric: Metric, allowed: AnyDistance, chance: Chance) -> Sections:
    """Draws the rows of a neighbour; that it is one is checked by the caller."""
    match metric, domain:
        case Identifiers(column=column), Frame():
            return [_other_people(ours[0], domain, column, _edits(allowed, chance), chance)]
        case DatasetMetric(), Vector() | Matrix() | Frame():
            return [_edit(ours[0], domain, metric, _edits(allowed, chance), chance)]
        case PartDistance(rows=rows), Parts(rows=parts):
            return _edit_parts(ours, parts, rows, allowed, chance)
        case PerBatch(rows=rows), Stream(element=(Vector() | Matrix() | Frame()) as element):
            return [_edit(batch, element, rows, _edits(allowed, chance), chance) for batch in ours]
        case Discrete(), _:
            return sections(domain, chance)
        case Absolute() | VectorMetric(), Atom() | Vector() | Stream():
            return [_shift(ours[0], domain, metric, allowed, chance)]
    raise BadArgument("the metric", "one with neighbours that can be drawn; give make=… for a custom metric", metric)


def _edits(allowed: AnyDistance, chance: Chance) -> int:
    most = MOST_EDITS if allowed == math.inf else min(MOST_EDITS, math.floor(allowed))
    return most if chance.once_in(2) else chance.whole(0, most)


def _edit(ours: list[Row], domain: RowDomain, metric: Metric, edits: int, chance: Chance) -> list[Row]:
    theirs = list(ours)
    if isinstance(metric, Windows):
        for _ in range(edits if ours else 0):
            start = chance.whole(0, len(ours) - 1)
            for place in range(start, min(start + metric.length, len(ours))):
                theirs[place] = row(domain, chance)
        return theirs
    if isinstance(metric, AddRemove) and domain.size is None:
        for _ in range(edits):
            if len(theirs) > domain.least and chance.once_in(2):
                theirs.pop(chance.whole(0, len(theirs) - 1))
            else:
                theirs.insert(chance.whole(0, len(theirs)), row(domain, chance))
        return theirs
    for _ in range((edits // 2 if isinstance(metric, AddRemove) else edits) if ours else 0):
        theirs[chance.whole(0, len(theirs) - 1)] = row(domain, chance)
    return theirs


def _other_people(ours: list[Row], domain: Frame, column: str, edits: int, chance: Chance) -> list[Row]:
    """Adds or removes people with all of their rows; one who is removed and added again has other rows."""
    place = [name for name, _ in domain.columns].index(column)
    theirs = list(ours)
    while edits > 0:
        held = list({canonical(each[place]): each[place] for each in theirs}.values())
        if held and chance.once_in(2):
            gone = canonical(chance.of(held))
            theirs = [each for each in theirs if canonical(each[place]) != gone]
        else:
            new = value(domain[column], chance)
            theirs = [each for each in theirs if canonical(each[place]) != canonical(new)]
            drawn = [row(domain, chance) for _ in range(chance.of((1, 2, 5, 30)))]
            theirs += [(*each[:place], new, *each[place + 1 :]) for each in drawn]
        edits -= 1
    return theirs


def _edit_parts(
    ours: Sections, parts: tuple[RowDomain, ...], metric: DatasetMetric, allowed: GroupedDistance, chance: Chance
) -> Sections:
    theirs, left = [list(part) for part in ours], _edits(allowed.rows, chance)
    touched = chance.shuffled(range(len(parts)))[: min(len(parts), _edits(allowed.parts, chance))]
    for place in touched:
        many = min(left, _edits(allowed.largest, chance))
        theirs[place] = _edit(theirs[place], parts[place], metric, many, chance)
        left -= many
    return theirs


def _shift(ours: list[Row], domain: Domain, metric: Metric, allowed: AnyDistance, chance: Chance) -> list[Row]:
    """Moves numbers by as much as they may; whole numbers of steps, or floats as near to that as they come."""
    if not ours:
        return []
    whole = isinstance(domain if isinstance(domain, Atom) else getattr(domain, "element", None), Integers)
    most = Fraction(chance.of((10**6, 10**20))) if allowed == math.inf else _below(allowed) / step_of(domain)
    moves = _moves(len(ours), metric, most, chance)
    if whole:
        return [int(x) + math.floor(abs(move)) * (1 if move > 0 else -1) for x, move in zip(ours, moves, strict=True)]
    return [_move_float(x, move) for x, move in zip(ours, moves, strict=True)]


def _moves(many: int, metric: Metric, most: Fraction, chance: Chance) -> list[Fraction]:
    sign, share = chance.of((1, -1)), chance.of((Fraction(1), Fraction(1), Fraction(1, 2)))
    full = sign * share * most
    match metric:
        case LInf(monotonic=True):
            return [full * chance.whole(0, 1) for _ in range(many)]
        case LInf():
            return [full * chance.whole(-1, 1) for _ in range(many)]
        case Range():
            constant = Fraction(chance.of((0, 1, -5, 10**6)))
            return [constant + full * chance.whole(0, 1) for _ in range(many)]
        case L2():
            each = full / (math.isqrt(many - 1) + 1)
            moves = [each * chance.of((1, -1)) for _ in range(many)]
        case _:
            moves = [full / many * chance.of((1, -1)) for _ in range(many)]
    if isinstance(metric, L1 | L2) and chance.once_in(2):
        return moves
    alone = chance.whole(0, many - 1)
    return [full if place == alone else Fraction(0) for place in range(many)]


def _move_float(number: float, move: Fraction) -> float:
    try:
        return float(Fraction(number) + move)
    except OverflowError:
        return number


def _below(distance: AnyDistance) -> Fraction:
    """A rational that is no more than a distance, and near to it."""
    if isinstance(distance, Root):
        return Fraction(math.isqrt(math.floor(distance.square * 10**12)), 10**6)
    return Fraction(distance)
