"""Groups: the rows of a data set in parts by public keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import product, repeat

import numpy as np

from sfumato.core.domains import (
    Array,
    Atom,
    Categories,
    Data,
    Frame,
    Integers,
    Matrix,
    Texts,
    Vector,
    categories,
    column,
)
from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.core.metrics import DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.group_bounds import Descriptors, GroupBounds, read_bounds
from sfumato.transforms.parts import moved_rows, parts_space, split_rows, times_sides
from sfumato.transforms.rows import row_space, shown_of


@guarantee(
    claim="d rows a side of at most u units, each in at most g groups with at most k rows in one: on s sides "
    "(s min(d, u g), s min(d, u g k), s min(d, u k)), in no more parts than there are; the last without s where all "
    "rows of a group are alike",
    proof="proofs/parts.md#group-by",
    reviewed="952f5a0a09f4",
)
def grouped_distance(
    moved: Whole, *, sides: int, groups: Whole, each: Whole, units: int, parts: int, alike: bool
) -> GroupedDistance:
    """How far apart the groups of two data sets can be."""
    whole = moved if math.inf in (groups, each) else min(moved, units * groups * each)
    touched = moved if groups == math.inf else min(moved, units * groups)
    most = moved if each == math.inf else min(moved, units * each)
    largest = most if alike else times_sides(sides, most)
    return GroupedDistance(min(parts, times_sides(sides, touched)), times_sides(sides, whole), largest)


@constructor
def group_by(
    *columns: str,
    keys: Sequence[Hashable] | None = None,
    other: bool = False,
    max_groups: Descriptors | None = None,
    max_rows_per_group: Descriptors | None = None,
    units: int = 1,
    claim: Claim | None = None,
) -> Partial[Transformation]:
    """Puts rows into groups by public keys: one part for each key, also where no row has it.

    Takes:      a frame and the columns to group by (keys are their values, or tuples of them), or a single column;
                without ``keys``, all declared categories. Rows with another key are left out, or make one more part at
                the end with ``other=True``. ``max_groups`` and ``max_rows_per_group`` claim how the rows of one unit
                fall, for this grouping (a number) or by columns (``{"country": 1, ("country", "year"): 3}``): bounds on
                rows carry to finer groupings, bounds on groups to coarser ones, and multiply. ``units`` is how many
                units the rows that differ belong to; a unit whose rows are exchanged under add/remove counts twice
    Gives:      one data set a key, under the grouped add/remove distance
    Guarantee:  b rows ↦ (min(l0, b), min(b, l0 l∞), min(l∞, b)) with l0 and l∞ from the claim, else infinite; from
                change-one each number doubles, for a row leaves and another enters; not the last one where the rows of
                a group are all alike, grouped by every column  (proofs/parts.md#group-by)
    Cost:       one hash and one sort of the rows

    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import frame
    >>> people = frame({"country": ["fr", "de"], "year": [1, 2, 3]})
    >>> known = claim("a person is registered in one country, once a year")
    >>> facts = {"max_groups": {"country": 1}, "max_rows_per_group": {"year": 1}, "claim": known}
    >>> (people >> group_by("country", **facts)).map(4), (people >> group_by("year", **facts)).map(4)
    (GroupedDistance(parts=1, rows=4, largest=4), GroupedDistance(parts=3, rows=3, largest=1))
    """
    listed = None if keys is None else categories(keys).values
    claimed = max_groups is not None or max_rows_per_group is not None
    vouched = (required(claim, "how the rows of one unit fall"),) if claimed else ()
    several = integer(units, "units", least=1)
    if other and listed is not None and OTHER in listed:
        raise BadArgument("keys", f"without {OTHER!r}, which is the name of the part for other keys", OTHER)

    def build(space: Space) -> Transformation:
        domain, metric = _groupable(space, columns)
        public = group_keys(domain, columns, listed)
        bounds = _group_bounds(domain, columns, max_groups, max_rows_per_group, other=other)
        count, alike = len(public) + other, not other and only_keys(domain, columns, public)

        def spread(d_in: Distance) -> GroupedDistance:
            moved, sides = moved_rows(d_in, metric=metric, size=domain.size)
            many, each = bounds.groups, bounds.each
            return grouped_distance(moved, sides=sides, groups=many, each=each, units=several, parts=count, alike=alike)

        def run(data: Data) -> tuple[Data, ...]:
            codes = group_codes(data, domain, columns, public, other=other)
            return repeat_keys(domain, columns, public, codes) if alike else split_rows(data, domain, codes, count)

        return Transformation(
            space,
            parts_space((*public, *((OTHER,) if other else ())), domain),
            lambda data, _: run(data),
            spread,
            (f"group by {', '.join(columns) or 'value'}: {count} parts",),
            ("proofs/parts.md#group-by",),
            vouched,
        )

    return Partial(f"group_by({', '.join(map(repr, columns))})", build)


OTHER = "(other)"
"""The key of the part for rows whose key is not listed."""


def _groupable(space: Space, columns: tuple[str, ...]) -> tuple[Vector | Frame, DatasetMetric]:
    domain, metric = row_space(space, "group_by")
    if isinstance(domain, Matrix):
        raise BadArgument("what group_by() works on", "a column or a frame", str(space))
    if isinstance(domain, Vector) and columns:
        raise BadArgument("columns", "left out, since group_by() works on a single column here", columns)
    return domain, metric


def group_keys(
    domain: Vector | Frame, columns: tuple[str, ...], listed: tuple[Hashable, ...] | None
) -> tuple[Hashable, ...]:
    """Public keys of a grouping by columns of a frame, or by value: those listed, or all categories."""
    if isinstance(domain, Frame):
        if not columns or len(set(columns)) < len(columns):
            raise BadArgument("columns", "one or more different columns of the frame", columns)
        for name in columns:
            domain[name]  # which refuses a column that is not there
    public = _declared_keys(domain, columns) if listed is None else listed
    _check_width(public, len(columns))
    return public


def _declared_keys(domain: Vector | Frame, columns: tuple[str, ...]) -> tuple[Hashable, ...]:
    elements = _elements(domain, columns)
    values = [element.values for element in elements if isinstance(element, Categories)]
    if len(values) < len(elements):
        raise BadArgument("the keys of group_by()", "listed, where a column has no declared categories", None)
    return values[0] if len(values) == 1 else tuple(product(*values))


def _check_width(keys: tuple[Hashable, ...], width: int) -> None:
    for key in keys if width > 1 else ():
        if not isinstance(key, tuple) or len(key) != width:
            raise BadArgument("a key", f"a tuple of {width} values, one for each column in order", key)


def _group_bounds(
    domain: Vector | Frame,
    columns: tuple[str, ...],
    max_groups: Descriptors | None,
    max_rows_per_group: Descriptors | None,
    *,
    other: bool,
) -> GroupBounds:
    known = tuple(name for name, _ in domain.columns) if isinstance(domain, Frame) else ()
    bounds = read_bounds(columns, known, max_groups, max_rows_per_group)
    return replace(bounds, each=gathered_rows(bounds.groups, bounds.each)) if other else bounds


@guarantee(
    claim="a part that gathers several groups has at most g k rows of a unit",
    proof="proofs/parts.md#other",
    reviewed="9eb96b679a3b",
)
def gathered_rows(groups: Whole, each: Whole) -> Whole:
    """The most rows of one unit in a part that may hold all of its groups."""
    return math.inf if math.inf in (groups, each) else groups * each


def group_codes(
    data: Data, domain: Vector | Frame, columns: tuple[str, ...], keys: tuple[Hashable, ...], *, other: bool
) -> Array:
    """Finds for each row the place of its key; for any other key −1, or one place more."""
    if isinstance(domain, Frame):
        lists = [shown_of(data, domain, name).tolist() for name in columns]
        row_keys = lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))
    else:
        row_keys = shown_of(data, domain, None).tolist()
    places = {key: place for place, key in enumerate(keys)}
    missing = len(keys) if other else -1
    return np.fromiter(map(places.get, row_keys, repeat(missing)), dtype=np.int64, count=len(row_keys))


@guarantee(
    claim="where true, the rows of a group can all be replaced by its key, which is a row of the domain",
    proof="proofs/parts.md#group-by",
    reviewed="884abcdbdfec",
)
def only_keys(domain: Vector | Frame, columns: tuple[str, ...], keys: tuple[Hashable, ...]) -> bool:
    """Tells whether a row of a group is given by its key: there is no other column, and the key may stand for it."""
    if isinstance(domain, Frame) and len(columns) < len(domain.columns):
        return False
    elements = _elements(domain, columns)
    listed = zip(*_split(keys, len(elements)), strict=True)
    stands: dict[type[Atom], Callable[[Hashable], bool]] = {
        Integers: Integers().member,
        Texts: Texts().member,
        Categories: lambda value: True,
    }
    return all(
        type(element) in stands and all(map(stands[type(element)], values))
        for element, values in zip(elements, listed, strict=True)
    )


def repeat_keys(
    domain: Vector | Frame, columns: tuple[str, ...], keys: tuple[Hashable, ...], codes: Array
) -> tuple[Data, ...]:
    """Repeats each key as often as there are rows with its code: rows of a group that are all alike."""
    counts = np.bincount(codes[codes >= 0], minlength=len(keys)).tolist()
    if isinstance(domain, Vector):
        return tuple(_copies(key, n, domain.element) for key, n in zip(keys, counts, strict=True))
    return tuple(
        {name: _copies(value, n, domain[name]) for name, value in zip(columns, key, strict=True)}
        for key, n in zip(_split(keys, len(columns)), counts, strict=True)
    )


def _elements(domain: Vector | Frame, columns: tuple[str, ...]) -> list[Atom]:
    return [domain[name] for name in columns] if isinstance(domain, Frame) else [domain.element]


def _split(keys: tuple[Hashable, ...], width: int) -> list[tuple[Hashable, ...]]:
    return [key if width > 1 and isinstance(key, tuple) else (key,) for key in keys]


def _copies(value: Hashable, rows: int, element: Atom) -> Array:
    if isinstance(element, Integers):
        return np.repeat(column([value], element), rows)
    repeated = np.empty(rows, dtype=object)
    repeated.fill(value)
    return repeated
