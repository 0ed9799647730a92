"""Databases that are written for: their words as a `Dialect`, made from few of them, and what they cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from sfumato.errors import QueryRefused
from sfumato.query.engines.sql.dialect import ColumnTypes, Dialect
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.kinds import Kind

TWO_63 = "9223372036854775808"

REMAINDER = "({0} % CASE WHEN {1} = 0 THEN NULL WHEN {1} = -1 THEN 1 ELSE {1} END)"
"""The sign is that of the dividend everywhere, and what some raise for, the least number by -1, is never asked."""

SAME = "{0} IS NOT DISTINCT FROM {1}"

USUAL = """
neg abs sign add sub mul div mod int_div floor ceil round trunc clamp to_int to_float to_bool sqrt ln exp
eq ne lt le gt ge and or not is_null in case coalesce nullif lower upper length substring concat
year quarter month day weekday hour minute date_trunc to_date to_time
"""
WRITTEN = frozenset(USUAL.split())
"""The operators that are written for all databases, as far as none of them says that it lacks one."""

LACKED = frozenset({"Windowed", "Meet", "Items"})
"""Steps of plans that are written for none of them."""


@final
@dataclass(frozen=True)
class Words:
    """What a database calls things. ``floor`` and ``ceil`` make floats of floats, ``toward_0`` cuts their fraction off.

    ``hashed`` hashes columns, alike in all of their values; ``beside`` makes one value of several, different for
    different ones. ``exactly`` casts a float that is a whole number. ``most_whole`` is the first number that 64 bits do
    not hold, as a constant of some exact type.
    """

    types: Mapping[Kind, str]
    wide: str
    hashed: str
    beside: str = "several_values({0})"
    toward_0: str = "TRUNC({0})"
    floor: str = "FLOOR({0})"
    ceil: str = "CEIL({0})"
    even: str = ""
    exactly: str = "CAST({0} AS {1})"
    infinity: tuple[str, str] | None = ("CAST('-inf' AS {0})", "CAST('inf' AS {0})")
    same: str = SAME
    most_whole: str = TWO_63
    quotient: str = "(({0} - {0} % {1}) / {1})"
    length: str = "LENGTH({0})"
    first_letters: str = "LEFT({0}, {1})"
    substring: str = "SUBSTRING({0}, {1}, {2})"
    weekday: str = ""
    days: str = ""
    part: str = "EXTRACT({1} FROM {0})"
    logarithm: str = "LN({0})"
    operators: Mapping[str, str] = field(default_factory=dict)
    floats: Mapping[str, str] = field(default_factory=dict)
    text: str = "{0}"
    whole: str = "{0}"
    identity: Mapping[Kind, tuple[str, str]] = field(default_factory=dict)
    collation: str = ""
    partition: str = "{0}"


@final
@dataclass(frozen=True)
class Database:
    """A database: the name to ask for it by, its own name and version, how sqlglot calls its language, its words.

    ``lacks`` are operators and steps of plans, as an engine's. ``starts`` has for each stretch of time the start of
    the one that {0} lies in, a day or a time. ``ending`` follows a statement. ``bare_nulls``: missing values cannot be
    told where to be sorted. ``flat``: a WITH can only begin a statement. ``values``: rows of constants can be a table.
    ``bits``: conditions are no values, and counts have 32 bits by themselves. ``texts_as_floats``: constants that are
    floats are written as texts, since such numbers are decimals to it. ``national`` stands before texts of all
    letters. ``own`` is the dialect of an engine that runs.
    """

    name: str
    title: str
    language: str
    words: Words
    lacks: frozenset[str]
    starts: Mapping[str, str]
    ending: str = ""
    note: str = ""
    bare_nulls: bool = False
    flat: bool = False
    bits: bool = False
    values: bool = True
    texts_as_floats: bool = False
    national: str = ""
    own: Dialect | None = None

    @cached_property
    def dialect(self) -> Dialect:
        """The words of an engine that it would be, or is."""
        return dialect_of(self.words, self.title) if self.own is None else self.own

    @property
    def types(self) -> Mapping[Kind, str]:
        """What it calls the types of values."""
        return self.dialect.types


def of_engine(name: str, title: str, own: Dialect, lacks: frozenset[str]) -> Database:
    """An engine that runs, as a database: its statements are shown as they are sent, but for constants."""
    return Database(name, title, name, Words(own.types, "", ""), lacks, {}, values=False, own=own)


def even_of(words: Words) -> str:
    """A float as a whole number in its own type, halves to the even one: every step of this is exact."""
    if words.even:
        return words.even
    cut, rest = words.toward_0, f"ABS({{0}} - {words.toward_0})"
    odd = f"{cut} - 2 * {words.toward_0.replace('{0}', f'({cut} / 2)')} <> 0"
    away = f"{rest} > 0.5 OR ({rest} = 0.5 AND {odd})"
    return f"({cut} + CASE WHEN {away} THEN CASE WHEN {{0}} < 0 THEN -1 ELSE 1 END ELSE 0 END)"


def dialect_of(words: Words, title: str) -> Dialect:
    """The dialect of a database, from its words."""
    types, double, whole = words.types, words.types[Kind.FLOAT], words.types[Kind.INT]
    finite, clamped = _finite(words)
    even = even_of(words)
    inside = f"CASE WHEN {{0}} >= -{words.most_whole} AND {{0}} < {words.most_whole} THEN {{0}} END"
    if words.most_whole != TWO_63:
        inside = inside.replace(f"-{words.most_whole}", words.most_whole.replace(TWO_63, f"-{TWO_63}"))
    to_whole = words.exactly.format(even.replace("{0}", f"({inside})"), whole)
    wide = {
        **{name: f"{shape.replace('{0}', f'CAST({{0}} AS {words.wide})')}" for name, shape in ONE.items()},
        **{
            name: f"(CAST({{0}} AS {words.wide}) {sign} CAST({{1}} AS {words.wide}))"
            for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))
        },
    }
    every = f"CAST(CASE WHEN {{1}} > {{2}} THEN {{1}} ELSE {{2}} END AS {words.wide})"
    scaled = words.quotient.replace("{0}", f"(CAST({{0}} AS {words.wide}) * {{2}})").replace("{1}", every)
    return Dialect(
        types=types,
        operators=_operators(words, whole, to_whole),
        columns=ColumnTypes(*_columns(words, title)),
        parameter="${}",
        finite=finite,
        clamped_float=clamped,
        to_whole=to_whole,
        wide_to_float=f"CAST({{0}} AS {double})",
        first_letters=words.first_letters,
        short_text=words.first_letters,
        truncated=f"CAST(CAST(start_of(CAST({{0}} AS {types[Kind.DATE]}), {{1}}) AS {types[Kind.DATE]}) AS {{2}})",
        whole_types=((63, whole), (127, words.wide)),
        key_types=(),
        wide=wide,
        rounded=words.exactly.format(even, "{1}"),
        wide_sum=f"COALESCE(SUM(CAST({{0}} AS {words.wide})), 0)",
        wide_product=f"CAST({{0}} AS {words.wide}) * {{1}}",
        scaled=f"CASE WHEN {{1}} <= {{2}} THEN CAST({{0}} AS {words.wide}) ELSE {scaled} END",
        least="CASE WHEN {0} < {1} THEN {0} ELSE {1} END",
        hashed=words.hashed,
        rank_hash=words.hashed,
        key_hash=words.hashed,
        number_type="",
        distinct_tuple=words.beside,
        numbered="SELECT {0}, ROW_NUMBER() OVER "
        f"(PARTITION BY {words.partition} ORDER BY {{0}}) AS j FROM ({{1}}) AS q",
        semi_join="SELECT {0}.* FROM {0} WHERE EXISTS (SELECT 1 FROM {1} WHERE {2})",
        anti_join="SELECT {0}.* FROM {0} WHERE NOT EXISTS (SELECT 1 FROM {1} WHERE {2})",
        few_join="SELECT {0}.* FROM {0} JOIN {1} ON {2}",
        same=words.same,
        collation=words.collation,
        floats=words.floats,
        once="",
        anew="",
    )


ONE = {"neg": "(-{0})", "abs": "ABS({0})"}


def _finite(words: Words) -> tuple[str, str]:
    """The templates of a float that is a number, and of one moved into bounds."""
    if words.infinity is None:  # the type has numbers alone
        return "{0}", "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
    low, high = (end.format(words.types[Kind.FLOAT]) for end in words.infinity)
    return (
        f"CASE WHEN {{0}} > {low} AND {{0}} < {high} THEN {{0}} END",
        f"CASE WHEN {{0}} BETWEEN {{1}} AND {{2}} THEN {{0}} WHEN {{0}} > {{2}} AND {{0}} < {high} THEN {{2}}"
        f" WHEN {{0}} < {{1}} AND {{0}} > {low} THEN {{1}} END",
    )


def _operators(words: Words, whole: str, to_whole: str) -> dict[str, str]:
    quotient = words.quotient.replace("{0}", f"CAST({{0}} AS {words.wide})")
    quotient = quotient.replace("{1}", f"CAST(CASE WHEN {{1}} <> 0 THEN {{1}} END AS {words.wide})")
    parts = ("year", "quarter", "month", "day", "hour", "minute")
    return {
        "sign": f"CASE WHEN {{0}} > 0 THEN CAST(1 AS {whole}) WHEN {{0}} < 0 THEN -1 WHEN {{0}} = 0 THEN 0 END",
        "mod": REMAINDER,
        "int_div": to_whole.replace("{0}", quotient),
        "sqrt": "SQRT(CASE WHEN {0} >= 0 THEN {0} END)",
        "ln": words.logarithm.replace("{0}", "CASE WHEN {0} > 0 THEN {0} END"),
        "exp": "EXP({0})",
        "floor": words.floor,
        "ceil": words.ceil,
        "trunc": words.toward_0,
        "lower": "LOWER({0})",
        "upper": "UPPER({0})",
        "length": words.length,
        "substring": words.substring,
        **{name: f"CAST({words.part.format('{0}', name.upper())} AS {whole})" for name in parts},
        "weekday": f"CAST({words.weekday} AS {whole})",
        "to_date": f"CAST({{0}} AS {words.types[Kind.DATE]})",
        "to_time": f"CAST({{0}} AS {words.types[Kind.TIME]})",
        "date_sub": f"CAST({words.days} AS {whole})",
        **words.operators,
    }


def _columns(words: Words, title: str) -> tuple[Any, ...]:
    """How columns are read: they have the types that the codebook says, so that little is left to do."""
    types, finite = words.types, _finite(words)[0]

    def parsed(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
        if written:
            raise QueryRefused(
                f"a column with a format or a sign for decimals is a text, which {title} is not told to read."
            )
        if held != types[kind]:
            raise QueryRefused(
                f"a text that is read as {kind.value} is not written for {title}: cast a number or a day."
            )
        return scope.fill({Kind.TEXT: words.text, Kind.INT: words.whole}.get(kind, "{0}"), raw)

    def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
        read = parsed(raw, held, kind, scope, written)
        return scope.fill(finite, read) if kind is Kind.FLOAT else read

    def identity(raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece:
        return scope.fill(words.identity.get(kind, ("{0}", ""))[0], raw)

    def form(kind: Kind, held: str) -> str:
        if kind is Kind.FLOAT:
            raise QueryRefused(f"ids that are floats are not written for {title}: describe them as int or str.")
        return words.identity.get(kind, ("", held))[1]

    return parsed, as_kind, identity, form, _one_form, {}


def _one_form(forms: Iterable[str]) -> str:
    different = set(forms)
    if len(different) > 1:
        raise QueryRefused("ids and keys of different types are not compared in other databases: describe them alike.")
    return different.pop()
