"""Finds the public keys of a question: listed by whoever asks, or all that the facts of its columns allow."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.cells import Listed
from sfumato.query.engines.engine import PublicTables
from sfumato.query.expressions import Call, Column, Expression, Literal
from sfumato.query.keysets import MOST_KEYS, KeySet
from sfumato.query.kinds import Kind, Value
from sfumato.query.operators import common

MOST_TRIED = 100_000
"""At most so many values of the parts of a key are tried out, where the values of the whole are known too."""


def listed(keys: Sequence[tuple[str, Expression]], given: KeySet | None, engine: PublicTables) -> Listed | None:
    """Gives the public keys of what is grouped by; None where there are none, so that keys must be chosen privately."""
    for name, key in keys:
        if key.kind is Kind.FLOAT and key.facts.keys is None:
            raise QueryRefused(
                f"{name} is a float: hardly two rows are alike, so groups by it show rows. Group by ranges of it, such "
                "as FLOOR(x / 10) * 10."
            )
    if given is not None:
        _check_kinds(keys, given)
        return given.listed([name for name, _ in keys])
    parts = [_leaves(key) for _, key in keys]
    if not keys or any(found is None for found in parts):
        return None
    leaves = list(dict.fromkeys(leaf for found in parts for leaf in found or ()))
    lists = [_values(leaf) or () for leaf in leaves]
    return None if prod(map(len, lists)) > MOST_KEYS else _images(keys, leaves, lists, engine)


def _check_kinds(keys: Sequence[tuple[str, Expression]], given: KeySet) -> None:
    kinds = dict(zip(given.names, given.kinds, strict=True))
    for name, key in keys:
        found = kinds.get(name)
        if found is not None and common((key.kind, found)) != key.kind:
            raise BadArgument(f"keys of {name!r}", f"of its kind, {key.kind.value}", found.value)


def _images(
    keys: Sequence[tuple[str, Expression]],
    leaves: Sequence[Expression],
    lists: Sequence[tuple[Value, ...]],
    engine: PublicTables,
) -> Listed:
    """Gives what the keys can be, when what they are made of runs through all that it can be."""
    if len(keys) == 1 and leaves == [keys[0][1]]:
        return Listed((lists[0],), certain=True)
    stand_ins = [Column(f"leaf {place}", leaf.kind, leaf.facts) for place, leaf in enumerate(leaves)]
    swap = dict(zip(leaves, stand_ins, strict=True))
    rows = engine.images([_swapped(key, swap) for _, key in keys], [*zip(stand_ins, lists, strict=True)])
    return Listed(tuple(zip(*rows, strict=True)) if rows else ((),) * len(keys), certain=True)


def _leaves(key: Expression) -> list[Expression] | None:
    """Gives the smallest parts of a key whose values are public and that decide it; None where there are none."""
    if isinstance(key, Literal):
        return []
    parts, known = [_leaves(part) for part in key.parts], _values(key)
    if key.parts and all(found is not None for found in parts):
        leaves = list(dict.fromkeys(leaf for found in parts for leaf in found or ()))
        if known is None or prod(len(_values(leaf) or ()) for leaf in leaves) <= MOST_TRIED:
            return leaves
    return None if known is None else [key]


def _values(part: Expression) -> tuple[Value, ...] | None:
    """Gives all values of an expression, where these are public; with None, where some may be missing."""
    found = part.facts.listed(part.kind)
    if found is None:
        return None
    return (None, *found) if part.facts.nullable else tuple(found)


def _swapped(key: Expression, swap: dict[Expression, Column]) -> Expression:
    if key in swap:
        return swap[key]
    if isinstance(key, Call):
        parts = tuple(_swapped(part, swap) for part in key.parts)
        return Call(key.operator, parts, key.kind, key.facts)
    return key
