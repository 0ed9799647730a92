"""Operations on texts in Polars: by code points, and cut where they could become too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from sfumato.query.engines.polars.patterns import like, searched, whole
from sfumato.query.nodes.kinds import LONGEST_TEXT

NOTHING = pl.lit("", dtype=pl.String)


def short(text: pl.Expr) -> pl.Expr:
    """The first characters of a text, quickly where it has no more: no text has fewer bytes than characters."""
    return pl.when(text.str.len_bytes() <= LONGEST_TEXT).then(text).otherwise(text.str.head(LONGEST_TEXT))


def length(text: pl.Expr) -> pl.Expr:
    """How many code points a text has."""
    return text.str.len_chars().cast(pl.Int64)


def concat(*texts: pl.Expr) -> pl.Expr:
    """Texts in turn; missing if one is."""
    return short(pl.concat_str(*texts, ignore_nulls=False))


def reverse(text: pl.Expr) -> pl.Expr:
    """The code points of a text from the last to the first: Polars' own reverse keeps together what looks like one."""
    return text.str.split("").list.reverse().list.join("")


def strpos(text: pl.Expr, other: pl.Expr) -> pl.Expr:
    """The place of the first such text, from 1: Polars' own counts bytes."""
    before = length(text.str.split(other).list.first())
    place = pl.when(text.str.contains(other, literal=True)).then(before + 1).otherwise(0)
    return _both(text, other, pl.when(other == "").then(1).otherwise(place)).cast(pl.Int64)


def _both(text: pl.Expr, other: pl.Expr, made: pl.Expr) -> pl.Expr:
    return pl.when(text.is_not_null() & other.is_not_null()).then(made)


def told(method: str) -> Callable[[pl.Expr, pl.Expr], pl.Expr]:
    """Tells whether a text begins or ends with another."""
    return lambda text, other: _both(text, other, getattr(text.str, method)(other))


def contains(text: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Tells whether another text is in a text."""
    return _both(text, other, text.str.contains(other, literal=True))


# With constants, which are Python's here


def trimmed(method: str) -> Callable[..., pl.Expr]:
    """Takes spaces, or characters, off the ends of a text."""

    def apply(text: pl.Expr, signs: str = " ") -> pl.Expr:
        made: pl.Expr = getattr(text.str, method)(signs)
        return made

    return apply


def padded(text: pl.Expr, many: int, fill: str, *, left: bool) -> pl.Expr:
    """A text that is filled up to a length, or cut to it from the left."""
    signs = (fill * many)[:many]
    there = text.str.len_chars().cast(pl.Int64)
    filled = pl.lit(signs, dtype=pl.String).str.head(pl.max_horizontal(many - there, pl.lit(0, dtype=pl.Int64)))
    made = filled + text if left else text + filled
    return made.str.head(many)


def right(text: pl.Expr, many: int) -> pl.Expr:
    """The last characters of a text."""
    return text.str.tail(many) if many else pl.when(text.is_not_null()).then(NOTHING)


def substring(text: pl.Expr, first: int, many: int) -> pl.Expr:
    """So many characters of a text, from one on."""
    return text.str.slice(max(first, 1) - 1, max(many, 0))


def replace(text: pl.Expr, old: str, new: str) -> pl.Expr:
    """Another text instead of one, at every place from the left."""
    return short(text.str.replace_all(old, new, literal=True))


def split_part(text: pl.Expr, separator: str, place: int) -> pl.Expr:
    """A part with a number, from 1; the empty text where there are fewer."""
    part = text.str.split(separator).list.get(place - 1, null_on_oob=True).fill_null("")
    return pl.when(text.is_not_null()).then(part)


def extract(text: pl.Expr, pattern: str, group: int) -> pl.Expr:
    """What matches first, or a group of it; the empty text where nothing does."""
    return pl.when(text.is_not_null()).then(text.str.extract(searched(pattern), group).fill_null(""))


def replace_pattern(text: pl.Expr, pattern: str, new: str, word: str) -> pl.Expr:
    """Another text instead of what matches first, or of all that matches."""
    method = text.str.replace_all if word == "g" else text.str.replace
    return short(method(searched(pattern), new.replace("$", "$$")))


OF_EXPRESSIONS: dict[str, Callable[..., pl.Expr]] = {
    "lower": lambda text: text.str.to_lowercase(),
    "upper": lambda text: text.str.to_uppercase(),
    "reverse": reverse,
    "length": length,
    "concat": concat,
    "strpos": strpos,
    "starts_with": told("starts_with"),
    "ends_with": told("ends_with"),
    "contains": contains,
}
"""Operations whose operands are all expressions."""

WITH_CONSTANTS: dict[str, Callable[..., Any]] = {
    "trim": trimmed("strip_chars"),
    "ltrim": trimmed("strip_chars_start"),
    "rtrim": trimmed("strip_chars_end"),
    "lpad": lambda text, many, fill: padded(text, many, fill, left=True),
    "rpad": lambda text, many, fill: padded(text, many, fill, left=False),
    "right": right,
    "substring": substring,
    "replace": replace,
    "split_part": split_part,
    "like": lambda text, pattern: text.str.contains(like(pattern)),
    "regexp_matches": lambda text, pattern: text.str.contains(searched(pattern)),
    "regexp_full_match": lambda text, pattern: text.str.contains(whole(pattern)),
    "regexp_extract": extract,
    "regexp_replace": replace_pattern,
}
"""Operations whose operands behind the first are constants."""
