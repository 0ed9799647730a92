"""Sets of public keys: the groups that a question answers, whether or not anybody is in them."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Several
from sfumato.query.nodes.kinds import Kind, Value, kind_of
from sfumato.query.nodes.literals import value_of
from sfumato.query.plan.engine_plan import PublicKeys

MOST_KEYS = 10_000_000
"""A set has at most this many keys."""

Codes: TypeAlias = NDArray[np.int64]
Row: TypeAlias = tuple[Value, ...]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Levels:
    """One column of keys: its name, its kind (None, where all are missing), its different values, sorted."""

    name: str
    kind: Kind | None
    values: tuple[Value, ...]

    @property
    def plain(self) -> list[object]:
        """The column as plain data, days and times as ISO texts."""
        texts = [value.isoformat() if isinstance(value, datetime.date) else value for value in self.values]
        return [self.name, None if self.kind is None else self.kind.value, texts]


@final
@dataclass(frozen=True, eq=False, repr=False)
class KeySet:
    """A set of public keys over named columns, such as all days of a month at each of three sites.

    A question with a key set answers every key in it, zeros included, and no other; it then needs no delta to choose
    keys. **Keys must come from public knowledge (a calendar, a list of sites) and never from the data**: which keys
    occur in the data is what partition selection protects, and nothing can check where a list is from.

    Keys are kept sorted, missing ones first, each once. Two sets are equal if they hold the same keys, in
    whatever order their columns are.

    >>> keys = KeySet.of(site=["north", "south"], year=[2023, 2024]) - KeySet.rows(["site", "year"], [("south", 2023)])
    >>> list(keys)
    [('north', 2023), ('north', 2024), ('south', 2024)]
    """

    levels: tuple[Levels, ...]
    codes: Codes
    """A row for each column, with the places of the keys' values among its levels."""

    @staticmethod
    def of(**columns: Iterable[object]) -> KeySet:
        """Makes every combination of some values of each column."""
        made = [_single(name, values) for name, values in columns.items()]
        if not made:
            raise BadArgument("keys", "over at least one column, as in KeySet.of(site=['north', 'south'])", "none")
        product = made[0]
        for other in made[1:]:
            product = product * other
        return product

    @staticmethod
    def rows(names: Sequence[str], rows: Iterable[Sequence[object]]) -> KeySet:
        """Reads keys that are listed one by one, with a value for each name."""
        listed = list(rows)
        if isinstance(names, str) or any(isinstance(row, str) or len(row) != len(names) for row in listed):
            raise BadArgument("each row of keys", f"of {len(names)} values, one for each name", "other rows")
        return _of_columns({name: [row[place] for row in listed] for place, name in enumerate(_different(names))})

    @staticmethod
    def of_frame(frame: Any) -> KeySet:
        """Reads the rows of a public table: pandas, Polars, Arrow, or a dict with a list for each column."""
        match frame:
            case Mapping():
                return _of_columns({name: list(values) for name, values in frame.items()})
            case _ if hasattr(frame, "to_pydict"):  # Arrow
                return _of_columns(frame.to_pydict())
            case _ if hasattr(frame, "isna"):  # pandas, where NaN says that a value is missing
                return _of_columns({name: _without_nan(frame[name]) for name in frame.columns})
            case _ if hasattr(frame, "iter_rows"):  # Polars
                return _of_columns(frame.to_dict(as_series=False))
        raise BadArgument("a table of keys", "of pandas, Polars or Arrow, or a dict of lists", type(frame).__name__)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(level.name for level in self.levels)

    @property
    def kinds(self) -> tuple[Kind | None, ...]:
        """The kinds of the columns; None where all values are missing."""
        return tuple(level.kind for level in self.levels)

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def __iter__(self) -> Iterator[Row]:
        return zip(*self._columns(), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeySet):
            return NotImplemented
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"KeySet({', '.join(self.names)}: {len(self):,} keys)"

    def cross(self, other: KeySet) -> KeySet:
        """Combines every key with every key of another set: ``self * other``."""
        return self * other

    def union(self, other: KeySet) -> KeySet:
        """Collects the keys of either set: ``self | other``."""
        return self | other

    def subtract(self, other: KeySet) -> KeySet:
        """Takes away the keys that another set has: ``self - other``."""
        return self - other

    def __mul__(self, other: KeySet) -> KeySet:
        """Combines every key with every key of another set; no column may be in both."""
        if not isinstance(other, KeySet):
            return NotImplemented
        shared = [name for name in self.names if name in other.names]
        if shared:
            raise BadArgument("columns of a product", "different; join(…) matches shared ones", shared)
        _check_many(len(self) * len(other))
        ours = np.repeat(self.codes, len(other), axis=1)
        theirs = np.tile(other.codes, (1, len(self)))
        return KeySet((*self.levels, *other.levels), np.concatenate([ours, theirs]))._used()

    def __or__(self, other: KeySet) -> KeySet:
        """Collects the keys of either set; both must have the same columns."""
        if not isinstance(other, KeySet):
            return NotImplemented
        levels, ours, theirs = _aligned(self, other.select(self._same_names(other)))
        return _made(levels, np.concatenate([ours, theirs], axis=1))

    def __sub__(self, other: KeySet) -> KeySet:
        """Takes away the keys that another set has; both must have the same columns."""
        if not isinstance(other, KeySet):
            return NotImplemented
        levels, ours, theirs = _aligned(self, other.select(self._same_names(other)))
        mine, others = _ranked_together(levels, ours, theirs)
        return KeySet(levels, ours[:, ~np.isin(mine, others)])._used()

    def join(self, other: KeySet) -> KeySet:
        """Pairs keys that agree in the columns which both sets have."""
        shared = [name for name in self.names if name in other.names]
        if not shared:
            raise BadArgument("columns of a join", "in part the same; * gives all combinations", (self, other))
        levels, ours, theirs = _aligned(self._chosen(shared), other._chosen(shared))
        mine, others = _ranked_together(levels, ours, theirs)
        left, right = _matches(mine, others)
        added = [place for place, name in enumerate(other.names) if name not in shared]
        codes = np.concatenate([self.codes[:, left], other.codes[added][:, right]])
        return _made((*self.levels, *(other.levels[place] for place in added)), codes)

    def filter(self, test: Callable[[Mapping[str, Value]], bool] | None = None, **values: Iterable[object]) -> KeySet:
        """Keeps the keys that pass a test, which gets each one by names, and that have values among those named.

        >>> list(KeySet.of(site=["north", "south"], year=[2023, 2024]).filter(lambda key: key["year"] > 2023))
        [('north', 2024), ('south', 2024)]
        >>> len(KeySet.of(site=["north", "south"], year=[2023, 2024]).filter(site=["north"]))
        2
        """
        kept = np.ones(len(self), dtype=bool)
        for name, wanted in values.items():
            place = self._places([name])[0]
            level = self.levels[place]
            among = _single(name, wanted)
            _common_kind(name, level.kind, among.levels[0].kind)
            within = set(among.levels[0].values)
            kept &= np.array([value in within for value in level.values], dtype=bool)[self.codes[place]]
        if test is not None:
            passes = (bool(test(dict(zip(self.names, row, strict=True)))) for row in self)
            kept &= np.fromiter(passes, dtype=bool, count=len(self))
        return KeySet(self.levels, self.codes[:, kept])._used()

    def select(self, names: Sequence[str]) -> KeySet:
        """Keeps some of the columns, in this order; keys that become equal are kept once."""
        chosen = self._chosen(names)
        return _made(chosen.levels, chosen.codes)

    def listed(self, names: Sequence[str]) -> PublicKeys:
        """Lays out the keys in the order of what a question groups by; refuses sets over other columns."""
        if set(names) != set(self.names):
            raise BadArgument("keys", f"over what is grouped by: {', '.join(names) or 'nothing'}", Several(*self.names))
        return PublicKeys(self.select(names)._columns())

    @cached_property
    def digest(self) -> str:
        """A hash of the keys, in hex, that does not depend on the order of the columns."""
        plain = self.select(sorted(self.names))
        told = [level.plain for level in plain.levels]
        hashed = hashlib.sha256(json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode())
        hashed.update(np.ascontiguousarray(plain.codes, dtype="<i8").tobytes())
        return hashed.hexdigest()

    def _columns(self) -> tuple[Row, ...]:
        """The values of each column, key by key."""
        return tuple(
            tuple(map(level.values.__getitem__, codes.tolist()))
            for level, codes in zip(self.levels, self.codes, strict=True)
        )

    def _places(self, names: Sequence[str]) -> list[int]:
        unknown = [name for name in names if name not in self.names]
        if isinstance(names, str) or unknown:
            raise BadArgument("columns of keys", f"among {', '.join(self.names)}", names)
        return [self.names.index(name) for name in _different(names)]

    def _chosen(self, names: Sequence[str]) -> KeySet:
        """Picks columns and keeps all rows: keys may then be there several times, and unsorted."""
        places = self._places(names)
        return KeySet(tuple(self.levels[place] for place in places), self.codes[places])

    def _same_names(self, other: KeySet) -> tuple[str, ...]:
        if set(self.names) != set(other.names):
            raise BadArgument("the other keys", f"over the same columns: {', '.join(self.names)}", list(other.names))
        return self.names

    def _used(self) -> KeySet:
        """Drops values from levels that no key uses."""
        levels, codes = [], np.empty_like(self.codes)
        for place, level in enumerate(self.levels):
            there = np.zeros(len(level.values), dtype=bool)
            there[self.codes[place]] = True
            values = tuple(value for value, used in zip(level.values, there.tolist(), strict=True) if used)
            codes[place] = (np.cumsum(there) - 1)[self.codes[place]]
            levels.append(Levels(level.name, None if set(values) <= {None} else level.kind, values))
        return KeySet(tuple(levels), codes)


def _of_columns(columns: Mapping[str, Sequence[object]]) -> KeySet:
    """Reads keys from columns of one length, a key in each row."""
    if len({len(values) for values in columns.values()}) != 1:
        raise BadArgument("columns of keys", "at least one, all of one length", sorted(map(str, columns)))
    _different(list(columns))
    read = [_read(name, values) for name, values in columns.items()]
    _check_many(read[0][1].size)
    return _made(tuple(level for level, _ in read), np.stack([codes for _, codes in read]))


def _single(name: str, values: Iterable[object]) -> KeySet:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadArgument(f"keys of {name!r}", "a list of values", values)
    return _of_columns({name: list(values)})


def _read(name: str, given: Sequence[object]) -> tuple[Levels, Codes]:
    """Reads a column: its different values, and where each of its values is among them."""
    what = f"a key of {name!r}"
    try:
        forms = {one: value_of(one, what) for one in dict.fromkeys(given)}
    except TypeError:
        raise BadArgument(what, "a plain value, such as a text, a whole number or a date", "something else") from None
    # Equal values of several types (1 and True) are one in a dict, so that kinds are found by types as well.
    examples = [value_of(one, what) for one in {type(one): one for one in given}.values()]
    kinds = {kind_of(value) for value in (*forms.values(), *examples) if value is not None}
    if len(kinds) > 1:
        said = ", ".join(sorted(kind.value for kind in kinds))
        raise BadArgument(f"keys of {name!r}", "all of one kind", said)
    level = Levels(name, next(iter(kinds), None), _sorted(forms.values()))
    place = {value: place for place, value in enumerate(level.values)}
    codes = {one: place[value] for one, value in forms.items()}
    return level, np.fromiter(map(codes.__getitem__, given), dtype=np.int64, count=len(given))


def _sorted(values: Iterable[Value]) -> Row:
    """Sorts the different values, missing first."""
    distinct = set(values)
    known: list[Any] = [value for value in distinct if value is not None]
    return (*((None,) if None in distinct else ()), *sorted(known))


def _made(levels: tuple[Levels, ...], codes: Codes) -> KeySet:
    """Sorts keys and drops repeated ones."""
    _, first = np.unique(_ranks(levels, codes), return_index=True)
    return KeySet(levels, codes[:, first])._used()


def _ranks(levels: tuple[Levels, ...], codes: Codes) -> Codes:
    """Whole numbers in the same order as the keys, equal where keys are."""
    ranks, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for level, column in zip(levels, codes, strict=True):
        many = max(1, len(level.values))
        if size * many >= 2**62:
            _, ranks = np.unique(ranks, return_inverse=True)
            size = codes.shape[1]
        ranks, size = ranks * many + column, size * many
    return ranks


def _ranked_together(levels: tuple[Levels, ...], ours: Codes, theirs: Codes) -> tuple[Codes, Codes]:
    both = _ranks(levels, np.concatenate([ours, theirs], axis=1))
    return both[: ours.shape[1]], both[ours.shape[1] :]


def _aligned(left: KeySet, right: KeySet) -> tuple[tuple[Levels, ...], Codes, Codes]:
    """Rewrites both sets over the same levels; they have the same columns, in the same order."""
    levels, sides = [], (np.empty_like(left.codes), np.empty_like(right.codes))
    for place, pair in enumerate(zip(left.levels, right.levels, strict=True)):
        name = pair[0].name
        merged = Levels(name, _common_kind(name, *(one.kind for one in pair)), _sorted(pair[0].values + pair[1].values))
        where = {value: at for at, value in enumerate(merged.values)}
        for side, keys, one in zip(sides, (left, right), pair, strict=True):
            side[place] = np.array([where[value] for value in one.values], dtype=np.int64)[keys.codes[place]]
        levels.append(merged)
    return tuple(levels), *sides


def _common_kind(name: str, one: Kind | None, other: Kind | None) -> Kind | None:
    if one is not None and other is not None and one is not other:
        raise BadArgument(f"keys of {name!r}", f"of one kind, {one.value}", other.value)
    return other if one is None else one


def _matches(left: Codes, right: Codes) -> tuple[Codes, Codes]:
    """The places of every pair of equal numbers."""
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    many = np.searchsorted(right[order], left, side="right") - first
    _check_many(int(many.sum()))
    places = np.repeat(np.arange(len(left)), many)
    within = np.arange(len(places)) - np.repeat(np.cumsum(many) - many, many)
    return places, order[np.repeat(first, many) + within]


def _different(names: Sequence[str]) -> Sequence[str]:
    if not names or len(set(names)) != len(names) or not all(isinstance(name, str) and name for name in names):
        raise BadArgument("columns of keys", "named by different texts", list(names))
    return names


def _without_nan(column: Any) -> list[object]:
    missing = column.isna().tolist()
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def _check_many(many: int) -> None:
    if many > MOST_KEYS:
        raise BadArgument("a set of keys", f"of at most {MOST_KEYS:,} keys", many)
