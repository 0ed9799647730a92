"""Truncation of data in groups: in how many groups an identifier is, with how many rows in each and in all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from sfumato.core.domains import Array, Data, categories
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.spread import Spread, Whole
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer, rational_up
from sfumato.guarantee import guarantee
from sfumato.transforms.groups import group_codes, group_keys
from sfumato.transforms.parts import cut, parted
from sfumato.transforms.rows import values_of
from sfumato.transforms.truncate import sampled_rows
from sfumato.transforms.whose import Places, holders, owned_space

PROOF = "proofs/identifiers.md#groups"


@guarantee(
    claim="identifiers in at most g groups, with at most k rows in each and r in all: d times the tight triple of "
    "(g, r, k), in no more parts than there are",
    proof=PROOF,
    reviewed="1cda6124d252",
)
def truncated_spread(d_in: Distance, *, groups: Whole, rows: Whole, each: Whole, parts: int) -> Spread:
    """Gives how far apart the groups of two tables can be whose identifiers are bounded."""
    many = rational_up(d_in)
    if many == 0:
        return Spread(0, 0, 0)
    one = Spread(min(groups, parts), rows, each)
    touched, every, most = (
        math.inf if math.inf in (many, x) else int(many) * x for x in (one.parts, one.rows, one.largest)
    )
    return Spread(min(parts, touched), every, most)


@constructor
def truncate_groups(
    *columns: str,
    keys: Sequence[Hashable] | None = None,
    groups: int | None = None,
    rows: int | None = None,
    rows_each: int | None = None,
) -> Partial[Transformation]:
    """Puts rows into groups by public keys, and leaves rows out of identifiers that are in too many or have too many.

    Takes:      a frame under the distance in identifiers, the columns to group by, and their keys (without them, all
                declared categories; rows with another key are left out). One or more of: at most ``groups`` of each
                identifier, ``rows_each`` in one group, ``rows`` in all; what is kept is drawn at random, in this order
    Gives:      one data set a key, under the spread of the add/remove distance
    Guarantee:  d_out = d_in (min(groups, rows), min(rows, groups rows_each), min(rows_each, rows)), infinite where
                nothing is said  (proofs/identifiers.md#groups)
    Cost:       a few sorts of the rows

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> visits = frame({"id": int, "ward": list("abcdefg")}, metric=Identifiers("id"))
    >>> (visits >> truncate_groups("ward", groups=3, rows_each=2)).map(1)
    Spread(parts=3, rows=6, largest=2)
    """
    listed = None if keys is None else categories(keys).values
    limits = _limit(groups, "groups"), _limit(rows, "rows"), _limit(rows_each, "rows_each")
    if min(limits) == math.inf:
        raise BadArgument(
            "groups, rows and rows_each", "given, one of them at least: without, nothing is bounded", None
        )

    def build(space: Space) -> Transformation:
        domain, metric = owned_space(space, "truncate_groups")
        public = group_keys(domain, columns, listed)
        most, whole, each = limits

        def run(data: Data, entropy: Entropy) -> tuple[Data, ...]:
            codes = group_codes(data, domain, columns, public, other=False)
            whose, _ = holders(values_of(data, domain, metric.column))
            kept = thinned(codes, whose, groups=most, rows=whole, each=each, parts=len(public), entropy=entropy)
            return cut(data, domain, kept, len(public))

        return Transformation(
            space,
            parted(public, domain),
            run,
            lambda d_in: truncated_spread(d_in, groups=most, rows=whole, each=each, parts=len(public)),
            (f"group by {', '.join(columns)}: {len(public)} parts, {_told(limits)} of each {metric.column}",),
            (PROOF,),
            randomized=True,
        )

    return Partial(f"truncate_groups({', '.join(map(repr, columns))})", build)


@guarantee(
    claim="leaves rows out, and none in: of each identifier at most g random groups stay, then at most k random rows "
    "in each, then at most r random rows; independently between identifiers, and blind to the order of rows",
    proof=PROOF,
    reviewed="fb2ffbbed96a",
)
def thinned(
    codes: Array, whose: Places, *, groups: Whole, rows: Whole, each: Whole, parts: int, entropy: Entropy
) -> Array:
    """Gives the code of each row's group, or −1 where the row is left out."""
    left = np.flatnonzero(codes >= 0)
    cells = whose * parts + codes  # an identifier in a group
    if groups != math.inf:
        taken, cell = np.unique(cells[left], return_inverse=True)
        left = left[sampled_rows(taken // parts, int(groups), entropy)[cell.reshape(-1)]]
    if each != math.inf:
        left = left[sampled_rows(cells[left], int(each), entropy)]
    if rows != math.inf:
        left = left[sampled_rows(whose[left], int(rows), entropy)]
    kept = np.full(len(codes), -1, dtype=np.int64)
    kept[left] = codes[left]
    return kept


def _limit(value: int | None, name: str) -> Whole:
    return math.inf if value is None else integer(value, name, least=1)


def _told(limits: tuple[Whole, Whole, Whole]) -> str:
    words = zip(limits, ("groups", "rows", "rows in each"), strict=True)
    return "at most " + ", ".join(f"{most} {what}" for most, what in words if most != math.inf)
