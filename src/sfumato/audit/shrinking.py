"""Makes a found pair of neighbours smaller, and writes it down as Python."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import islice

import numpy as np

from sfumato.audit.nasty import Row, Sections, assemble, take_apart
from sfumato.audit.neighbouring import near
from sfumato.core.domains import Atom, Data, Domain, Frame, Matrix, Stream, Vector
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.parts import Parts
from sfumato.core.rows import canonical, records
from sfumato.core.space import Space

MOST_STEPS, MOST_SECONDS = 600, 10
"""The most smaller pairs that are tried, and the most seconds."""

SIMPLE = (0, 1, 2, 0.0, 1.0, "", "a", False, True)
"""Values that are easier to read than others."""

LONG = 60
"""A text of one letter, and a list of one value, is written as a product from this length on."""

Pair = tuple[Data, Data]


def shrink(space: Space, pair: Pair, allowed: AnyDistance, broken: Callable[[Data, Data], bool]) -> Pair:
    """Finds a smaller pair of neighbours that is still broken: fewer rows, simpler values, plainer types."""
    if not isinstance(space.domain, Atom | Vector | Matrix | Frame | Parts | Stream):
        return pair
    left, until = MOST_STEPS, time.monotonic() + MOST_SECONDS
    size = len(expression(pair))
    while left > 0:
        for smaller in islice(_smaller(space.domain, pair), left):
            left -= 1
            length = len(expression(smaller))
            if time.monotonic() > until:
                return pair
            if length < size and near(space, *smaller, allowed) and broken(*smaller):
                pair, size = smaller, length
                break
        else:
            break
    return pair


def _smaller(domain: Domain, pair: Pair) -> Iterator[Pair]:
    try:
        ours, theirs = (take_apart(member, domain) for member in pair)
    except Exception:  # what the caller made has a shape of its own
        return
    for our_rows, their_rows in _candidates(ours, theirs, removable=not isinstance(domain, Atom)):
        try:
            yield assemble(our_rows, domain), assemble(their_rows, domain)
        except Exception:  # a simpler value need not fit the type of its column
            continue


def _candidates(ours: Sections, theirs: Sections, *, removable: bool) -> Iterator[tuple[Sections, Sections]]:
    yield ours, theirs
    if removable:
        yield from _fewer(ours, theirs)
    yield from _simpler(ours, theirs)


def _fewer(ours: Sections, theirs: Sections) -> Iterator[tuple[Sections, Sections]]:
    """Leaves out rows that both sides have, from large pieces to single ones; then rows of one side."""
    for part in range(min(len(ours), len(theirs))):
        shared = [*(records(ours[part]) & records(theirs[part])).elements()]
        for piece in _halves(len(shared)):
            for start in range(0, len(shared), piece):
                gone = shared[start : start + piece]
                yield _lacking(ours, part, gone), _lacking(theirs, part, gone)
        longest = max(len(ours[part]), len(theirs[part]))
        for piece in _halves(longest):
            for start in range(0, longest, piece):
                yield _without(ours, part, start, piece), _without(theirs, part, start, piece)
        for start in range(longest):
            yield _without(ours, part, start, 1), theirs
            yield ours, _without(theirs, part, start, 1)


def _halves(size: int) -> Iterator[int]:
    while size:
        yield size
        size //= 2


def _without(sections: Sections, part: int, start: int, piece: int) -> Sections:
    return [rows[:start] + rows[start + piece :] if place == part else rows for place, rows in enumerate(sections)]


def _lacking(sections: Sections, part: int, gone: list[Hashable]) -> Sections:
    """Leaves out rows that are equal to some, each as often as it is among them."""
    left, remaining = Counter(gone), []
    for row in sections[part]:
        if left[canonical(row)] > 0:
            left[canonical(row)] -= 1
        else:
            remaining.append(row)
    return [remaining if place == part else rows for place, rows in enumerate(sections)]


def _simpler(ours: Sections, theirs: Sections) -> Iterator[tuple[Sections, Sections]]:
    """Puts simple values in the place of others, wherever they are."""
    leaves = {
        canonical(leaf): leaf
        for side in (ours, theirs)
        for rows in side
        for row in rows
        for leaf in (row if isinstance(row, tuple) else (row,))
    }
    for key, leaf in leaves.items():
        for simple in (*SIMPLE, *((leaf[: len(leaf) // 2],) if isinstance(leaf, str) else ())):
            if len(expression(simple)) < len(expression(leaf)):
                yield _replace(ours, key, simple), _replace(theirs, key, simple)
                yield _replace(ours, key, simple), theirs
                yield ours, _replace(theirs, key, simple)


def _replace(sections: Sections, key: object, simple: Data) -> Sections:
    def new(row: Row) -> Row:
        if isinstance(row, tuple) and canonical(row) != key:
            return tuple(simple if canonical(leaf) == key else leaf for leaf in row)
        return simple if canonical(row) == key else row

    return [[new(row) for row in rows] for rows in sections]


def expression(value: Data) -> str:
    """Writes a value as Python that gives it again.

    >>> expression({"x": [float("nan"), -0.0], "y": ("a" * 100, 2**64)})
    "{'x': [float('nan'), -0.0], 'y': ('a' * 100, 18446744073709551616)}"
    """
    match value:
        case np.ndarray():
            kind = "object" if value.dtype == object else repr(value.dtype.str)
            shape = f".reshape({value.shape})" if value.ndim > 1 and not value.size else ""
            return f"np.array({expression(value.tolist())}, dtype={kind}){shape}"
        case np.generic():
            plain = value.item()
            return repr(value) if isinstance(plain, np.generic) else expression(plain)
        case float() if value != value or value in (float("inf"), -float("inf")):
            return f"float('{value}')"
        case str() if len(value) >= LONG and value == value[0] * len(value):
            return f"{value[0]!r} * {len(value)}"
        case dict():
            return "{" + ", ".join(f"{name!r}: {expression(held)}" for name, held in value.items()) + "}"
        case list() if len(value) >= LONG and all(entry is value[0] for entry in value):
            return f"[{expression(value[0])}] * {len(value)}"
        case list():
            return "[" + ", ".join(map(expression, value)) + "]"
        case tuple():
            return "(" + ", ".join(map(expression, value)) + (",)" if len(value) == 1 else ")")
    return repr(value)
