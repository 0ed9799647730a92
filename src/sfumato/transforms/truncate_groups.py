"""Truncation of data in groups: in how many groups an identifier is, with how many rows in each and in all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from sfumato.core.domains import Array, Data, categories
from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer, rational_up
from sfumato.guarantee import guarantee
from sfumato.transforms.groups import group_codes, group_keys
from sfumato.transforms.owners import Places, holders, owned_space
from sfumato.transforms.parts import parts_space, split_rows
from sfumato.transforms.rows import values_of
from sfumato.transforms.truncate import sampled_rows

PROOF = "proofs/identifiers.md#groups"


@guarantee(
    claim="identifiers in at most g groups, with at most k rows in each and r in all: d times the tight triple of "
    "(g, r, k), in no more parts than there are",
    proof=PROOF,
    reviewed="c9e18b045587",
)
def truncated_distance(d_in: Distance, *, groups: Whole, rows: Whole, each: Whole, parts: int) -> GroupedDistance:
    """How far apart the groups of two tables with bounded identifiers can be."""
    identifiers = rational_up(d_in)
    if identifiers == 0:
        return GroupedDistance(0, 0, 0)
    single = GroupedDistance(min(groups, parts), rows, each)
    touched, every, most = (
        math.inf if math.inf in (identifiers, x) else int(identifiers) * x
        for x in (single.parts, single.rows, single.largest)
    )
    return GroupedDistance(min(parts, touched), every, most)


@constructor
def truncate_groups(
    *columns: str,
    keys: Sequence[Hashable] | None = None,
    max_groups: int | None = None,
    max_rows: int | None = None,
    max_rows_per_group: int | None = None,
) -> Partial[Transformation]:
    """Puts rows into groups by public keys, and leaves rows out of identifiers that are in too many or have too many.

    Takes:      a frame under the distance in identifiers, the columns to group by, and their keys (without them, all
                declared categories; rows with another key are left out). One or more of: at most ``max_groups`` of
                each identifier, ``max_rows_per_group`` in one group, ``max_rows`` in all; what is kept is drawn at
                random, in this order
    Gives:      one data set a key, under the grouped add/remove distance
    Guarantee:  d_out = d_in (min(g, r), min(r, g k), min(k, r)) for at most g groups, r rows, and k rows in a group,
                infinite where nothing is said  (proofs/identifiers.md#groups)
    Cost:       a few sorts of the rows

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> visits = frame({"id": int, "ward": list("abcdefg")}, metric=Identifiers("id"))
    >>> (visits >> truncate_groups("ward", max_groups=3, max_rows_per_group=2)).map(1)
    GroupedDistance(parts=3, rows=6, largest=2)
    """
    listed = None if keys is None else categories(keys).values
    limits = (
        _limit(max_groups, "max_groups"),
        _limit(max_rows, "max_rows"),
        _limit(max_rows_per_group, "max_rows_per_group"),
    )
    if min(limits) == math.inf:
        limited = "max_groups, max_rows or max_rows_per_group"
        raise BadArgument(limited, "given: without a limit nothing is bounded", None)

    def build(space: Space) -> Transformation:
        domain, metric = owned_space(space, "truncate_groups")
        public = group_keys(domain, columns, listed)
        most, whole, each = limits

        def run(data: Data, entropy: Entropy) -> tuple[Data, ...]:
            codes = group_codes(data, domain, columns, public, other=False)
            owner, _ = holders(values_of(data, domain, metric.column))
            codes_left = thin_rows(codes, owner, groups=most, rows=whole, each=each, parts=len(public), entropy=entropy)
            return split_rows(data, domain, codes_left, len(public))

        return Transformation(
            space,
            parts_space(public, domain),
            run,
            lambda d_in: truncated_distance(d_in, groups=most, rows=whole, each=each, parts=len(public)),
            (f"group by {', '.join(columns)}: {len(public)} parts, {_describe(limits)} of each {metric.column}",),
            (PROOF,),
            randomized=True,
        )

    return Partial(f"truncate_groups({', '.join(map(repr, columns))})", build)


@guarantee(
    claim="leaves rows out, and none in: of each identifier at most g random groups stay, then at most k random rows "
    "in each, then at most r random rows; independently between identifiers, and blind to the order of rows",
    proof=PROOF,
    reviewed="a3130adfbc92",
)
def thin_rows(
    codes: Array, owner: Places, *, groups: Whole, rows: Whole, each: Whole, parts: int, entropy: Entropy
) -> Array:
    """Drops random rows of identifiers above their limits: the code of each row's group, −1 where it is left out."""
    left = np.flatnonzero(codes >= 0)
    cells = owner * parts + codes  # an identifier in a group
    if groups != math.inf:
        taken, cell = np.unique(cells[left], return_inverse=True)
        left = left[sampled_rows(taken // parts, int(groups), entropy)[cell.reshape(-1)]]
    if each != math.inf:
        left = left[sampled_rows(cells[left], int(each), entropy)]
    if rows != math.inf:
        left = left[sampled_rows(owner[left], int(rows), entropy)]
    codes_left = np.full(len(codes), -1, dtype=np.int64)
    codes_left[left] = codes[left]
    return codes_left


def _limit(value: int | None, name: str) -> Whole:
    return math.inf if value is None else integer(value, name, least=1)


def _describe(limits: tuple[Whole, Whole, Whole]) -> str:
    words = zip(limits, ("groups", "rows", "rows in each"), strict=True)
    return "at most " + ", ".join(f"{most} {what}" for most, what in words if most != math.inf)
