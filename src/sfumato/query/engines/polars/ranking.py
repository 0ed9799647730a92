"""What comes first among the rows of a unit: in the order of a hash of its identity and values, then of these.

Seeds are fixed here, so that all parts of a question, on all threads, agree. How a hash falls decides nothing that a
proof rests on: rows with the same one are told apart by their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import polars as pl

SEED, AGAIN = 0x5F5FA70, 0x3A7E11E

HASH, RANK, MANY = "h_", "r_", "m_"
WIDE = pl.UInt128()
BELOW = 65
"""How many bits of a rank are the key's: 64 for a whole number, and one for a missing one."""


@final
@dataclass(frozen=True)
class Hashing:
    """Hashes values side by side; tests put everything in the order of values alone."""

    by_hash: bool = True

    def hashed(self, names: Sequence[str]) -> pl.Expr:
        """A hash of columns that treats all of their values alike."""
        if not self.by_hash:
            return pl.lit(0, dtype=pl.UInt64)
        return pl.struct(*names).hash(SEED).hash(AGAIN)


def first_of(
    frame: pl.LazyFrame, within: Sequence[str], hashed: pl.Expr, then: Sequence[str], most: int
) -> pl.LazyFrame:
    """The first so many rows within each part: by a hash, then by columns, in which missing values come last."""
    columns = frame.collect_schema()
    place = then[0] if len(then) == 1 else ""
    if place and _is_narrow(columns[place]):
        ranked = frame.with_columns(_joined(hashed, pl.col(place).to_physical()).alias(HASH))
        rank = pl.col(HASH).rank("ordinal").over(list(within))
        return ranked.with_columns(rank.alias(RANK)).filter(pl.col(RANK) <= most).drop(HASH, RANK)
    ranked = frame.with_columns(hashed.alias(HASH))
    ranked = ranked.with_columns(pl.col(HASH).rank("max").over(list(within)).alias(RANK)).cache()
    kept = ranked.filter(pl.col(RANK) <= most)
    last = _told_apart(kept, ranked.filter(pl.col(RANK) > most), list(within), then, most)
    return pl.concat([kept.drop(HASH, RANK), last])


def _told_apart(
    kept: pl.LazyFrame, rest: pl.LazyFrame, within: list[str], then: Sequence[str], most: int
) -> pl.LazyFrame:
    """Fills parts up to the bound, of rows that have one hash: by the order of their values. There are hardly any."""
    full = kept.group_by(within).agg(pl.len().cast(pl.Int64).alias(MANY))
    tied = rest.join(full, on=within, how="left", nulls_equal=True).with_columns(pl.col(MANY).fill_null(0))
    ordered = tied.filter(pl.col(MANY) < most).sort(HASH, *then, nulls_last=True)
    place = pl.int_range(pl.len(), dtype=pl.Int64).over(within)
    return ordered.filter(place < most - pl.col(MANY)).drop(HASH, RANK, MANY)


def _is_narrow(held: pl.DataType) -> bool:
    """Tells whether all values of a type are whole numbers of 64 bits, in the order of the values."""
    whole = held.is_integer() and held not in (pl.Int128(), pl.UInt128(), pl.UInt64())
    return whole or held.is_temporal() or held == pl.Boolean()


def _joined(hashed: pl.Expr, place: pl.Expr) -> pl.Expr:
    """A hash and a whole number as one number, which sorts as they do one after the other; a missing one comes last."""
    shifted = (place.cast(pl.Int128) + 2**63).cast(WIDE).fill_null(pl.lit(2**64, dtype=WIDE))
    return (hashed // 2).cast(WIDE) * pl.lit(2**BELOW, dtype=WIDE) + shifted
