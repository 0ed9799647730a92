"""Nasty data: members of a domain that are likely to break what works on them, drawn from the domain itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, final

import numpy as np

from sfumato.core.atoms import LARGEST, Array, Atom, Categories, Floats, Integers, Texts, exact_float, float_bounds
from sfumato.core.domains import Data, Domain, Frame, Matrix, Norm, Stream, Vector
from sfumato.core.parts import Parts
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument

T = TypeVar("T")

Row: TypeAlias = Any
"""A row of data: a single value, or a tuple of them."""

Sections: TypeAlias = list[list[Row]]
"""Any member as rows: those of a data set, of each part, of each batch; a single value is one row."""

FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 5e-324, -5e-324, 2.2250738585072014e-308, 2.0**53, 2.0**53 + 2, -(2.0**63), 2.0**64,
    1e16, 1e-9, 1e300, LARGEST, -LARGEST, math.nan, math.inf, -math.inf, math.nextafter(1, 2), 16777217.0, 1e39,
)  # fmt: skip
INTEGERS = (
    0, 1, -1, 2, 7, -3, 2**24 + 1, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63),
    2**63, 2**64 - 1, 2**64, -(10**30), 10**400,
)  # fmt: skip
TEXTS = (
    "", "a", "b", "A", "ab", " a ", "\0", "a\0", "0", "nan", "1e400", "NULL", "ä", "a\u0308", "👩\u200d👧", "\ud800",
    "line\nline", "'; --", "\U0010ffff", "x" * 100_000,
)  # fmt: skip
MOST_LETTERS = 1000
"""Longer texts are not put into arrays of texts, which hold as many letters for each row as for the longest."""

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 13, 40)
MANY = (127, 128, 255, 256, 300)

NARROW = {
    "f": (np.float32, np.float16, np.longdouble, ">f8"),
    "i": (np.int8, np.uint8, np.int32, np.uint64, ">i8"),
}
"""Types that an array may have where nothing is lost in them."""


@final
@dataclass(frozen=True)
class Chance:
    """Decisions drawn from entropy alone."""

    entropy: Entropy

    def whole(self, low: int, high: int) -> int:
        """Draws a whole number, both ends included."""
        return low + self.entropy.below(high - low + 1)

    def of(self, options: Sequence[T]) -> T:
        """Draws one of some options."""
        return options[self.entropy.below(len(options))]

    def once_in(self, times: int) -> bool:
        """Draws true with probability 1 / times."""
        return self.entropy.below(times) == 0

    def shuffled(self, rows: Sequence[T]) -> list[T]:
        """Draws a random order of the rows."""
        left, order = list(rows), []
        while left:
            order.append(left.pop(self.entropy.below(len(left))))
        return order


def value(domain: Atom, chance: Chance) -> Data:
    """Draws a single value: an ordinary one, or one that is known to make trouble."""
    match domain:
        case Floats():
            return _float(domain, chance)
        case Integers():
            return _integer(domain, chance)
        case Categories(values=values):
            return _twin(chance.of(values), domain, chance)
        case Texts():
            return chance.of(TEXTS)
    raise BadArgument("the domain", "one that can be drawn from; give make=… for a custom domain", str(domain))


def _float(domain: Floats, chance: Chance) -> Data:
    if domain.between is None:
        low, high = -4.0, 4.0
    else:
        low, high = float_bounds(domain.between)
    inward = (low, high, math.nextafter(low, high), math.nextafter(high, low))
    share = Fraction(chance.whole(0, 64), 64)
    usual = float(Fraction(low) + (Fraction(high) - Fraction(low)) * share)
    drawn = chance.of((usual, chance.of(inward), chance.of(FLOATS), chance.of(FLOATS)))
    if not domain.member(drawn):
        drawn = usual
    whole = chance.once_in(12) and math.isfinite(drawn) and drawn == int(drawn) and abs(drawn) <= 2**53
    return int(drawn) if whole else drawn


def _integer(domain: Integers, chance: Chance) -> int:
    if domain.between is None:
        return chance.of((chance.whole(-5, 5), chance.of(INTEGERS)))
    low, high = math.ceil(domain.between.lower / domain.step), math.floor(domain.between.upper / domain.step)
    if low > high:
        raise BadArgument("the domain", "one with members", str(domain))
    drawn = chance.of((low, high, chance.whole(low, high), chance.of(INTEGERS)))
    return drawn if low <= drawn <= high else chance.whole(low, high)


def _twin(drawn: Data, domain: Categories, chance: Chance) -> Data:
    """Swaps a category, at times, for a value that is equal to it and of another type."""
    if not chance.once_in(6) or not isinstance(drawn, int | float):
        return drawn
    twins = [twin for kind in (bool, int, float) if (twin := kind(drawn)) == drawn and domain.member(twin)]
    return chance.of(twins)


def row(domain: Vector | Matrix | Frame, chance: Chance) -> Row:
    """Draws one row."""
    match domain:
        case Vector(element=element):
            return value(element, chance)
        case Frame(columns=columns):
            return tuple(value(element, chance) for _, element in columns)
        case Matrix(norm=None):
            return tuple(value(domain.element, chance) for _ in range(domain.columns))
        case Matrix(norm=Norm() as norm):
            return _within(norm, domain, chance)
    raise BadArgument("the domain", "a collection of rows", str(domain))


def _within(norm: Norm, domain: Matrix, chance: Chance) -> Row:
    whole = isinstance(domain.element, Integers)
    for share in (chance.of((Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 3))), Fraction(0)):
        moved = list(norm.origin)
        moved[chance.whole(0, domain.columns - 1)] += share * norm.radius
        drawn = tuple(int(x / domain.step) if whole else float(x) for x in moved)
        if domain.element.members(np.array(drawn)) and _alone(domain).member(np.array([drawn])):
            return drawn
    return tuple(int(x / domain.step) if whole else float(x) for x in norm.origin)


def _alone(domain: Matrix) -> Matrix:
    return Matrix(domain.columns, domain.element, domain.norm)


def rows(domain: Vector | Matrix | Frame, chance: Chance) -> list[Row]:
    """Draws the rows of a data set: few or many, different, repeated or all equal."""
    many = domain.size
    if many is None:
        many = domain.least + chance.of(MANY if chance.once_in(40) else SIZES)
    pool = [row(domain, chance) for _ in range(min(many, chance.of((1, 2, 4, 16))))]
    return [chance.of(pool) for _ in range(many)]


def sections(domain: Domain, chance: Chance) -> Sections:
    """Draws a member, as rows."""
    match domain:
        case Vector() | Matrix() | Frame():
            return [rows(domain, chance)]
        case Parts(rows=parts):
            return [rows(part, chance) for part in parts]
        case Stream(element=Atom() as element):
            return [[value(element, chance) for _ in range(chance.whole(0, 5))]]
        case Stream(element=(Vector() | Matrix() | Frame()) as element):
            return [rows(element, chance) for _ in range(chance.whole(0, 4))]
        case Atom():
            return [[value(domain, chance)]]
    raise BadArgument("the domain", "one that can be drawn from; give make=… for a custom domain", str(domain))


def assemble(parts_of_rows: Sections, domain: Domain, chance: Chance | None = None) -> Data:
    """Puts rows into the shape of a member: the plainest one, or one that chance decides, of those that are members."""
    match domain:
        case Vector() | Matrix() | Frame():
            return dress(parts_of_rows[0], domain, chance)
        case Parts(rows=parts):
            return tuple(dress(part, rows, chance) for part, rows in zip(parts_of_rows, parts, strict=True))
        case Stream(element=(Vector() | Matrix() | Frame()) as element):
            return [dress(batch, element, chance) for batch in parts_of_rows]
        case Stream():
            return list(parts_of_rows[0])
    return parts_of_rows[0][0]


def take_apart(member: Data, domain: Domain) -> Sections:
    """Splits a member into rows, as `assemble` takes them."""
    match domain:
        case Vector() | Matrix() | Frame():
            return [undress(member, domain)]
        case Parts(rows=parts):
            return [undress(part, rows) for part, rows in zip(member, parts, strict=True)]
        case Stream(element=(Vector() | Matrix() | Frame()) as element):
            return [undress(batch, element) for batch in member]
        case Stream():
            return [_as_list(member)]
    return [[member]]


def dress(values: list[Row], domain: Vector | Matrix | Frame, chance: Chance | None) -> Data:
    """Puts rows into lists, tuples or arrays of one type or another; all of them hold the same."""
    match domain:
        case Vector(element=element):
            plain: Data = list(values)
            dressed = plain if chance is None else _column(values, element, chance)
        case Frame(columns=columns):
            plain = by_name = {name: [each[place] for each in values] for place, (name, _) in enumerate(columns)}
            if chance is not None:
                dressed = {n: _column(by_name[n], element, chance) for n, element in chance.shuffled(columns)}
            else:
                dressed = plain
        case _:
            plain = _table(values, domain)
            dressed = plain if chance is None else _reordered(plain, chance)
    return dressed if domain.member(dressed) else plain


def _table(values: list[Row], domain: Matrix) -> Array:
    if isinstance(domain.element, Floats):
        return np.array([[float(x) for x in each] for each in values], dtype=np.float64).reshape(-1, domain.columns)
    return np.array([list(each) for each in values], dtype=np.int64).reshape(-1, domain.columns)


def _reordered(table: Array, chance: Chance) -> Data:
    with np.errstate(all="ignore"):
        narrow = table.astype(np.float32) if table.dtype.kind == "f" else table.astype(np.int32)
    same = np.array_equal(narrow, table, equal_nan=table.dtype.kind == "f")
    return chance.of((table, np.asfortranarray(table), narrow if same else table, table[::-1].copy()[::-1]))


def _column(values: list[Row], element: Atom, chance: Chance) -> Data:
    if chance.once_in(3):
        return chance.of((list(values), tuple(values)))
    if isinstance(element, Categories | Texts):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return chance.of((column, _typed(values)))
    if isinstance(element, Integers) and any(not -(2**63) <= each < 2**63 for each in values):
        return _narrowed(values, np.dtype(np.uint64)) if chance.once_in(2) else list(values)
    if isinstance(element, Floats) and any(exact_float(each) is None for each in values):
        return list(values)
    column = np.array(values, dtype=np.float64 if isinstance(element, Floats) else np.int64)
    if chance.once_in(2):
        narrow = _narrowed(values, np.dtype(chance.of(NARROW[column.dtype.kind])))
        return list(narrow) if chance.once_in(4) else narrow
    return np.repeat(column, 2)[::2] if chance.once_in(3) else column


def _typed(values: list[Row]) -> Data:
    """An array of the type that NumPy finds for texts or truth values, where it holds the same."""
    kinds = {type(each) for each in values}
    if kinds == {bool}:
        return np.array(values)
    if kinds == {str} and max(map(len, values)) < MOST_LETTERS:
        typed = np.array(values)
        return typed if typed.tolist() == values else list(values)
    return list(values)


def _narrowed(values: list[Row], dtype: np.dtype[Any]) -> Data:
    try:
        with np.errstate(all="ignore"):
            column = np.array(values).astype(dtype)
        lossless = all(a == b or (a != a and b != b) for a, b in zip(column.tolist(), values, strict=True))
    except (OverflowError, ValueError, TypeError):
        return list(values)
    return column if lossless else list(values)


def undress(member: Data, domain: Vector | Matrix | Frame) -> list[Row]:
    """The rows of a data set, as Python values."""
    if isinstance(domain, Frame):
        return list(zip(*(_as_list(member[name]) for name, _ in domain.columns), strict=True))
    listed = _as_list(member)
    return [tuple(each) for each in listed] if isinstance(domain, Matrix) else listed


def _as_list(column: Data) -> list[Row]:
    return list(column.tolist() if isinstance(column, np.ndarray) else column)
