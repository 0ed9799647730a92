"""Finds the public keys of a question: listed by whoever asks, or all that the facts of its columns allow.

What a condition excludes is not among them: ``WHERE month IN (6, 7) GROUP BY month`` has two keys. That is decided by
the question and public facts alone: no row can have another key, whatever the data is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias, final

from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.relation import all_of
from sfumato.query.engines.protocol import PublicTables
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.keysets import MOST_KEYS, KeySet
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.narrowing import left_by, narrowed
from sfumato.query.nodes.operators import common
from sfumato.query.nodes.truths import truths
from sfumato.query.plan.engine_plan import PublicKeys
from sfumato.query.plan.grounding import Ground, conjuncts

MOST_TRIED = 100_000
"""At most this many values of the parts of a key are tried out, where the values of the whole are known too."""

Keys: TypeAlias = Sequence[tuple[str, Expression]]
Rows: TypeAlias = tuple[tuple[Value, ...], ...]


@final
@dataclass(frozen=True, eq=False)
class KeyFinder:
    """Finds public keys of a relation, of which the columns and the conditions on every row are known.

    ``every`` are all keys of the question: conditions that are looked at are the same for each of its grouping sets, so
    that what one set leaves out no finer one has.
    """

    engine: PublicTables
    ground: Ground
    every: Keys

    def listed(self, keys: Keys, given: KeySet | None) -> PublicKeys | None:
        """The public keys of what is grouped by; None where there are none, so that they must be chosen."""
        for name, key in keys:
            if key.kind is Kind.FLOAT and key.facts.keys is None:
                raise QueryRefused(
                    f"{name} is a float: hardly two rows are alike, so groups by it show rows. Group by ranges of it, "
                    "such as FLOOR(x / 10) * 10."
                )
        if not keys:
            return None if given is None else given.listed([])
        if given is not None:
            _check_kinds(keys, given)
            return _some(self._possible(keys, given.listed([name for name, _ in keys])))
        if any(_leaves(key) is None for key in self._plainly(keys)):
            return None
        images = self._images(self._told(keys), self._used)
        return None if images is None else _some(_listed(images, certain=True))

    def values(self, of: Expression, where: Expression | None) -> tuple[Value, ...] | None:
        """All values but missing ones that an expression can have in rows that meet a condition; None unless public."""
        asked = () if where is None else [self.ground.told(part) for part in conjuncts(where)]
        (plain,) = self._plainly([("", of)])
        if _leaves(plain) is None:
            return None
        given = (*self.ground.conditions, *(part for part in asked if part is not None))
        told, *conditions = (narrowed(one, left_by(given)) for one in (plain, *given))
        images = self._images([told], _connected(_leaves(told) or [], conditions))
        return None if images is None else tuple(value for (value,) in images if value is not None)

    def never(self, condition: Expression) -> bool:
        """Tells whether a condition is true for no values of what it is made of; tried out, where these are few."""
        leaves = _leaves(condition) or []
        if not leaves or _combined(leaves) > MOST_TRIED:
            return False
        return not self._true([Literal(True, Kind.BOOL)], [condition], leaves, [_values(leaf) or () for leaf in leaves])

    @cached_property
    def _used(self) -> list[Expression]:
        leaves = dict.fromkeys(leaf for told in self._told(self.every) for leaf in _leaves(told) or ())
        return _connected(list(leaves), self._conditions)

    @cached_property
    def _conditions(self) -> list[Expression]:
        return [narrowed(one, left_by(self.ground.conditions)) for one in self.ground.conditions]

    def _plainly(self, keys: Keys) -> list[Expression]:
        """Writes keys in columns of the tables, with the facts of the codebook."""
        return [self.ground.told(key) or key for _, key in keys]

    def _told(self, keys: Keys) -> list[Expression]:
        """Writes keys likewise, with what the conditions leave of the columns."""
        return [narrowed(key, left_by(self.ground.conditions)) for key in self._plainly(keys)]

    def _images(
        self, keys: Sequence[Expression], conditions: Sequence[Expression], *, most: int = MOST_KEYS
    ) -> Rows | None:
        """All that keys can be, when what they and conditions are made of takes all its values; None if too many."""
        parts = [_leaves(key) for key in keys]
        if any(own is None for own in parts):
            return None
        leaves = list(dict.fromkeys(leaf for own in parts for leaf in own or ()))
        used = _connected(leaves, conditions)
        leaves = list(dict.fromkeys((*leaves, *(leaf for one in used for leaf in _leaves(one) or ()))))
        lists = [self._allowed(leaf, used) for leaf in leaves]
        if prod(map(len, lists)) > most:
            return None
        joint = [one for one in used if len(_leaves(one) or ()) > 1]
        if list(keys) == leaves and len(keys) == 1:
            return tuple((value,) for value in lists[0])
        return self._true(keys, joint, leaves, lists)

    def _allowed(self, leaf: Expression, conditions: Sequence[Expression]) -> tuple[Value, ...]:
        """The values of a leaf for which all conditions on it alone are true, in the order of the codebook."""
        values, own = _values(leaf) or (), [one for one in conditions if _leaves(one) == [leaf]]
        if not own:
            return values
        allowed = {value for (value,) in self._true([leaf], own, [leaf], [values])}
        return tuple(value for value in values if value in allowed)  # in the order of the codebook

    def _true(
        self,
        made: Sequence[Expression],
        conditions: Sequence[Expression],
        leaves: Sequence[Expression],
        lists: Sequence[tuple[Value, ...]],
    ) -> Rows:
        """The values of some expressions where all conditions are true, as the public engine computes them."""
        stand_ins = [Column(f"leaf {place}", leaf.kind, leaf.facts) for place, leaf in enumerate(leaves)]
        swap = dict(zip(leaves, stand_ins, strict=True))
        shown = [_swapped(one, swap) for one in made]
        asked = [all_of([_swapped(one, swap) for one in conditions])] if conditions else []
        rows = self.engine.images([*shown, *asked], [*zip(stand_ins, lists, strict=True)])
        return tuple(row[: len(shown)] for row in rows if not asked or row[-1] is True)

    def _possible(self, keys: Keys, given: PublicKeys) -> PublicKeys | None:
        """Leaves out keys that somebody listed and that no row can have, by the conditions; None where none is left."""
        if not len(given):
            return given
        told, every = self._told(keys), tuple(range(len(keys)))
        rows = [*zip(*given.columns, strict=True)]
        for places in dict.fromkeys((*((at,) for at in every), every)):  # of all together there may be too many
            excluded = self._excluded([keys[at] for at in places])
            rows = [row for row in rows if tuple(row[at] for at in places) not in excluded]
        facts = [(one.facts, left.facts) for one, left in zip(self._plainly(keys), told, strict=True)]
        rows = [row for row in rows if not any(_beyond(value, *of) for value, of in zip(row, facts, strict=True))]
        for condition in self._conditions:
            own = _places(condition, told)
            lists = [tuple(dict.fromkeys(row[place] for row in rows)) for place in own]
            if own and prod(map(len, lists)) <= MOST_TRIED:
                made = [told[place] for place in own]
                allowed = set(self._true(made, [condition], made, lists))
                rows = [row for row in rows if tuple(row[place] for place in own) in allowed]
        return _listed(rows, certain=given.certain)

    def _excluded(self, keys: Keys) -> set[tuple[Value, ...]]:
        """Values that keys can have by the facts of the codebook, and cannot have by the conditions."""
        kept = self._images(self._told(keys), self._used, most=MOST_TRIED) if self._used else None
        return set() if kept is None else set(self._images(self._plainly(keys), (), most=MOST_TRIED) or ()) - set(kept)


def _beyond(value: Value, before: Facts, after: Facts) -> bool:
    """Tells whether a value that facts allow is left out by what conditions make of these."""
    if value is None:
        return before.nullable and not after.nullable
    ends: Any = after.between
    return ends is not None and ends != before.between and not ends[0] <= value <= ends[1]


def _listed(rows: Sequence[tuple[Value, ...]], *, certain: bool) -> PublicKeys | None:
    return PublicKeys(tuple(zip(*rows, strict=True)), certain) if rows else None


def _some(keys: PublicKeys | None) -> PublicKeys:
    if keys is None:
        raise QueryRefused(
            "by what is public no row can meet the conditions and be in one of the groups: there is nothing to answer. "
            "Compare the conditions (WHERE) with the values that the codebook, or keys=, lists."
        )
    return keys


def _places(condition: Expression, keys: Sequence[Expression]) -> list[int]:
    """The places of the keys that a condition is made of; none, where it looks at anything else."""
    swap = {key: Column(f"key {place}", key.kind) for place, key in enumerate(keys)}
    names = {column.name for column in _swapped(condition, swap).columns()}
    places = [place for place, own in enumerate(swap.values()) if own.name in names]
    return places if len(places) == len(names) else []


def _connected(leaves: Sequence[Expression], conditions: Iterable[Expression]) -> list[Expression]:
    """The conditions that say something of leaves, or of what others connect with them."""
    known = dict.fromkeys(leaves)
    used: list[Expression] = []
    waiting = [(one, _leaves(one) or []) for one in conditions]
    while True:
        near = [(one, own) for one, own in waiting if not known.keys().isdisjoint(own) and _few(known, own)]
        if not near:
            return used
        used.append(near[0][0])
        known |= dict.fromkeys(near[0][1])
        waiting.remove(near[0])


def _few(known: Iterable[Expression], more: Sequence[Expression]) -> bool:
    """Tells whether further leaves can be tried out beside known ones."""
    both = dict.fromkeys((*known, *more))
    return len(both) == len(dict.fromkeys(known)) or _combined(both) <= MOST_TRIED


def _check_kinds(keys: Keys, given: KeySet) -> None:
    kinds = dict(zip(given.names, given.kinds, strict=True))
    for name, key in keys:
        kind = kinds.get(name)
        if kind is not None and common((key.kind, kind)) != key.kind:
            raise BadArgument(f"keys of {name!r}", f"of its kind, {key.kind.value}", kind.value)


def _leaves(key: Expression) -> list[Expression] | None:
    """The smallest parts of a key that have public values and decide it; None where there are none."""
    if isinstance(key, Literal):
        return []
    parts, known = [_leaves(part) for part in key.parts], key.facts.many(key.kind)
    if key.parts and all(own is not None for own in parts):
        leaves = list(dict.fromkeys(leaf for own in parts for leaf in own or ()))
        if known is None or _combined(leaves) <= MOST_TRIED:
            return leaves
    return None if known is None else [key]


def _combined(leaves: Iterable[Expression]) -> int:
    """The number of combinations of the values of leaves, missing ones included."""
    return prod((leaf.facts.many(leaf.kind) or 0) + leaf.facts.nullable for leaf in leaves)


def _values(part: Expression) -> tuple[Value, ...] | None:
    """All values of an expression, where these are public; with None, where some may be missing."""
    listed = part.facts.listed(part.kind)
    if listed is None:
        return None
    if part.kind is Kind.BOOL:
        return tuple(value for value in (None, False, True) if value in truths(part))
    return (None, *listed) if part.facts.nullable else tuple(listed)


def _swapped(key: Expression, swap: dict[Expression, Column]) -> Expression:
    if key in swap:
        return swap[key]
    if isinstance(key, Call):
        parts = tuple(_swapped(part, swap) for part in key.parts)
        return Call(key.operator, parts, key.kind, key.facts)
    return key
