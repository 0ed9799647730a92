"""Dialects: what differs between SQL engines, as one record. The rest of the back end is the same for all of them.

Everything here is a template of text. Trees of sqlglot would say the same for several engines at once, but to make text
of them takes 0.5 to 1 ms for a small question, where filling templates takes 0.06 ms; each is asked twice, in 8 ms. And
what differs is more than spelling: an engine that raises where another gives NULL needs another expression, which only
tests against docs/semantics.md can show to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final

from sfumato.query.nodes.kinds import MOST_INT, MOST_ROWS, Kind

if TYPE_CHECKING:
    from sfumato.query.engines.sql.statement import Piece, Scope


LIMB = 23
"""The bits of a limb: with those of the number of rows of a table they are 63."""

LARGEST = 2 ** (2 * LIMB - 1)
"""Whole numbers below this have limbs whose sums have room: also where what is added up are sums of some rows each, as
long as they are together no larger than this for each row."""


class Reading(Protocol):
    """Reads a column of one of the engine's types as values of a kind; ``written`` is the form in its codebook."""

    def __call__(self, raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece: ...


class Identifying(Protocol):
    """Reads an id or a key in a form: uncut, unrounded and unhashed; two are one exactly if they are equal."""

    def __call__(self, raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece: ...


@final
@dataclass(frozen=True)
class ColumnTypes:
    """How the engine's own types are read: the first table of docs/semantics.md, and to whom a row belongs.

    ``parsed`` values may still be infinite, too large or in no year that there is; in ``as_kind`` these are missing.
    ``form`` is the type in which values of a type are compared exactly, ``common`` the one for several forms.
    ``ranges`` are the least and greatest numbers of types that need no check of bounds beyond these.
    """

    parsed: Reading
    as_kind: Reading
    identity: Identifying
    form: Callable[[Kind, str], str]
    common: Callable[[Iterable[str]], str]
    ranges: Mapping[str, tuple[int, int]]


@final
@dataclass(frozen=True)
class Dialect:
    """The words of an engine. Templates have places {0}, {1}, …; none of them may raise, whatever is in the places.

    ``types`` hold each kind once a table has been read. ``operators`` has a template for each operator that its
    operands simply fill (docs/semantics.md); the others are made in `expressions`.
    """

    types: Mapping[Kind, str]
    operators: Mapping[str, str]
    columns: ColumnTypes
    parameter: str
    """A bound constant, by its number."""
    finite: str
    """A float, or missing where it is infinite or NaN."""
    clamped_float: str
    """A float {0} moved into [{1}, {2}]; missing where it is infinite or NaN."""
    to_whole: str
    """A wide number or a float as a whole number of 64 bits, rounded to the even one of two; missing where none is."""
    wide_to_float: str
    """A whole number of any size as a float, rounded once."""
    first_letters: str
    """The first {1} characters of a text."""
    short_text: str
    """The same, quickly for texts that have no more."""
    truncated: str
    """The start of the stretch of time {1} in which {0} lies; {2} is its type."""
    whole_types: tuple[tuple[int, str], ...]
    """Types of whole numbers, narrow ones first, and below which power of two their numbers lie."""
    key_types: tuple[tuple[int, str], ...]
    """Types for keys with bounds: units are sorted by them, so narrow ones are quicker."""
    wide: Mapping[str, str]
    """Arithmetic on whole numbers that is exact beyond 64 bits: neg, abs, add, sub and mul."""
    rounded: str
    """A float as a whole number, the even one of two, of the type {1}, which all of them fit into."""
    wide_sum: str
    """The exact sum of whole numbers, 0 of none."""
    wide_product: str
    """A whole number {0} times a constant {1}, exact beyond 64 bits."""
    scaled: str
    """A whole number {0}, times {2} and divided by {1}, towards 0, where {1} > {2}: exact, and never divided by 0."""
    least: str
    """The smaller of two numbers."""
    hashed: str
    """A hash of columns that treats all of their values alike."""
    rank_hash: str
    """The same in as few bits as do for ranks: whoever has the same one is told apart by what is sorted by next."""
    key_hash: str
    """A hash of keys that is hashed again."""
    number_type: str
    """The type of numbers of keys; empty where keys are not numbered, which takes longer there than to sort by them."""
    distinct_tuple: str
    """Several columns as one value, so that different ones can be counted."""
    numbered: str
    """The rows {1} grouped by all of their columns {0}, one for each row again, with a number j."""
    semi_join: str
    """The rows of {0} for which there is a row in {1} such that {2}."""
    anti_join: str
    """The rows of {0} for which there is none."""
    unnest: str = ""
    """The items of a list (0), of a type (1), at most so many (2): each in a row of its own, if there are any."""
    unnest_kept: str = ""
    """The same, with a missing item where there are none."""
    each_of: str = ""
    """Whole numbers {0} of a row, with commas between them: each in a row of its own."""
    factor: str = ""
    """A type of whole numbers of {0} digits that is multiplied without a check, though to make it takes a while."""
    factor_digits: int = 0
    """How many digits the factors of such a product may have together."""
    narrow_sum: str = ""
    """The exact sum of whole numbers in 64 bits, where they are proved to do; empty where wide ones are as quick."""
    limbs: tuple[str, str] = ("", "")
    """A whole number {0} as two, each of so few bits that all rows of a table together have a sum of 64 bits."""
    joined: str = ""
    """The whole number that such sums {0} and {1} stand for: as wide as {0}."""
    widened: str = "{0}"
    """A whole number in a type of more than 64 bits."""
    scaled_narrow: str = ""
    """The same as `scaled`, where there are at most {3} rows and so 64 bits do; of more rows, {4} as a narrow number."""
    wide_sum_distinct: str = ""
    """The exact sum of the different ones, 0 of none; empty where `wide_sum` takes DISTINCT before its column."""
    wide_sum_over: str = "coalesce(sum({0}) OVER peers, 0)"
    """The same as `wide_sum`, of the rows of a unit up to a row and its peers (`windows.py`)."""
    same: str = "{0} IS NOT DISTINCT FROM {1}"
    """Two columns agree: in their values, or both are missing."""
    collation: str = ""
    """What follows a constant that is a text, so that it is compared by code points."""
    floats: Mapping[str, str] = field(default_factory=dict)
    """Arithmetic on finite floats (add, sub, mul, div) for engines that raise: missing where it is not finite."""
    reworded: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Patterns and formats as the engine writes them, by their operators: the second operand."""
    long_list: int = 100
    """Longer lists of constants are looked up in a table."""
    dealt: str = ""
    """The rows of {0} dealt out by the columns {1}, such that all of a unit are worked on in one place."""
    cells_first: bool = False
    """Whether the rows of each unit and group are added up before groups are ranked: where sorting rows takes longer."""
    layer: str = "SELECT *, {0} FROM ({1}) AS q"
    """Names {0} to expressions on {1}, such that each is worked out once for each row."""
    once: str = "MATERIALIZED"
    """The word for a named SELECT that is computed once, though it is used several times."""
    anew: str = "NOT MATERIALIZED"
    """The word for one that is computed anew each time, which is quicker where it is only read."""

    def parts_of_sum(self, column: str, size: int | None) -> list[str]:
        """What adds a column up exactly, whose numbers are no larger than this: one sum, or one for each limb.

        In 64 bits there is room for the numbers of all rows of a table, or at least for those of their limbs.
        """
        if not self.narrow_sum or size is None or size >= LARGEST:
            return [self.wide_sum.format(column)]
        if size * MOST_ROWS <= MOST_INT:
            return [self.narrow_sum.format(column)]
        return [self.narrow_sum.format(limb.format(column)) for limb in self.limbs]

    def whole_sum(self, column: str, size: int | None) -> str:
        """The exact sum of such a column."""
        first, *others = self.parts_of_sum(column, size)
        return self.joined.format(self.widened.format(first), *others) if others else first

    def narrow_type(self, most: int) -> str:
        """The narrowest type of keys, or of whole numbers, up to this size."""
        return next((name for bits, name in self.key_types if most < 2**bits), None) or self.whole_type(most)

    def whole_type(self, most: int) -> str:
        """The narrowest type of whole numbers up to this size."""
        return next(name for bits, name in self.whole_types if most < 2**bits)
