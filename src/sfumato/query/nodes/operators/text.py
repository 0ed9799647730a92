"""Operators on texts. No result is longer than any text can be, nor can one become much longer on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind
from sfumato.query.nodes.operators.patterns import Shape, shape_of
from sfumato.query.nodes.operators.record import Operator, Result, Sql, all_of_kind, fixed, one_of, register
from sfumato.query.nodes.ranges import constant

B, I, T, D, M = Kind.BOOL, Kind.INT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
A_TEXT, TWO_TEXTS, A_PATTERN = "a text", "two texts", "a text and a pattern"
BOTH = ("this", "expression")

MOST_GROUPS = 9
"""Engines number no more groups than these."""

MOST_GROWTH = 20
"""A replacement has at most this many characters for each that it replaces: texts are cut only after it."""


def _constant(part: Expression) -> object:
    return part.value if isinstance(part, Literal) else None


def _check_count(what: str, least: int, most: int) -> Callable[[Sequence[Expression]], None]:
    """Refuses a second operand that is no whole number within limits, and an empty text behind it."""

    def check(parts: Sequence[Expression]) -> None:
        many = _constant(parts[1])
        if isinstance(many, int) and not least <= many <= most:
            raise QueryRefused(f"{what} takes a whole number from {least} to {most}, as a constant.")
        if len(parts) > 2 and _constant(parts[2]) == "":
            raise QueryRefused(f"{what} takes one or more characters to fill up with.")

    return check


def _check_replaced(parts: Sequence[Expression]) -> None:
    old, new = _constant(parts[1]), _constant(parts[2])
    if isinstance(old, str) and isinstance(new, str) and (not old or len(new) > MOST_GROWTH * len(old)):
        raise QueryRefused(
            f"REPLACE takes a text that is not empty, and another instead, at most {MOST_GROWTH} times as long."
        )


def _check_split(parts: Sequence[Expression]) -> None:
    separator, place = _constant(parts[1]), _constant(parts[2])
    if separator == "" or (isinstance(place, int) and not 1 <= place <= LONGEST_TEXT):
        raise QueryRefused(f"SPLIT_PART takes a separator and the number of a part, from 1 to {LONGEST_TEXT}.")


def _check_trimmed(parts: Sequence[Expression]) -> None:
    if len(parts) > 1 and _constant(parts[1]) == "":
        raise QueryRefused("TRIM takes the characters to take off; leave them out for spaces.")


def _shape(parts: Sequence[Expression]) -> Shape:
    pattern = _constant(parts[1])
    return shape_of(pattern if isinstance(pattern, str) else "")


def _check_pattern(parts: Sequence[Expression]) -> None:
    _shape(parts)


def _check_group(parts: Sequence[Expression]) -> None:
    group, most = _constant(parts[2]), min(_shape(parts).groups, MOST_GROUPS)
    if isinstance(group, int) and not 0 <= group <= most:
        raise QueryRefused(f"REGEXP_EXTRACT takes 0 for all that matches, or one of the pattern's {most} groups.")


def _check_instead(parts: Sequence[Expression]) -> None:
    new = _constant(parts[2])
    if _shape(parts).empty or (isinstance(new, str) and ("\\" in new or len(new) > MOST_GROWTH)):
        raise QueryRefused(
            "REGEXP_REPLACE takes a pattern that matches one character or more, and at most "
            f"{MOST_GROWTH} characters instead, without backslashes."
        )
    if _constant(parts[3]) not in ("", "g"):
        raise QueryRefused("REGEXP_REPLACE takes 'g', to replace all that matches, as its last operand, or nothing.")


def _side(name: str) -> Operator:
    """Makes an operator that takes spaces, or given characters, off a text."""
    return Operator(
        name, _trimmed, "a text, and perhaps characters", 1, 2, constants=(1, 2), check=_check_trimmed, sql=Sql(()),
    )  # fmt: skip


def _trimmed(given: tuple[Kind, ...]) -> Kind | None:
    return T if set(given) == {T} else None


def _pad(name: str) -> Operator:
    return Operator(
        name, fixed(T, T, I, T), "a text, a length and what to fill up with", 3, 3, constants=(1, 3),
        check=_check_count(name.upper(), 0, LONGEST_TEXT), sql=Sql(()),
    )  # fmt: skip


def _told(name: str, node: str, *names: str, parts: tuple[str, ...] = BOTH) -> Operator:
    """Makes an operator that says whether a text has another in some place."""
    return Operator(name, fixed(B, T, T), TWO_TEXTS, 2, 2, sql=Sql((node,), parts, names))


def _matched(name: str, nodes: tuple[str, ...], *names: str) -> Operator:
    return Operator(
        name, fixed(B, T, T), A_PATTERN, 2, 2, constants=(1, 2), check=_check_pattern, sql=Sql(nodes, BOTH, names)
    )


OF_A_TEXT: Result = fixed(T, T)

register(
    Operator("lower", OF_A_TEXT, A_TEXT, 1, 1, sql=Sql(("Lower",))),
    Operator("upper", OF_A_TEXT, A_TEXT, 1, 1, sql=Sql(("Upper",))),
    Operator("reverse", OF_A_TEXT, A_TEXT, 1, 1, sql=Sql(("Reverse",))),
    *map(_side, ("trim", "ltrim", "rtrim")),
    *map(_pad, ("lpad", "rpad")),
    Operator(
        "length", fixed(I, T), A_TEXT, 1, 1, range=constant(0, LONGEST_TEXT), largest=LONGEST_TEXT, sql=Sql(("Length",))
    ),
    Operator(
        "substring", fixed(T, T, I, I), "a text, the first character (from 1) and how many", 3, 3, constants=(1, 3)
    ),
    Operator(
        "right", fixed(T, T, I), "a text and how many characters", 2, 2, constants=(1, 2),
        check=_check_count("RIGHT", 0, LONGEST_TEXT), sql=Sql(("Right",), BOTH),
    ),
    Operator(
        "replace", fixed(T, T, T, T), "a text, what to replace and what by", 3, 3, constants=(1, 3),
        check=_check_replaced, sql=Sql(("Replace",), (*BOTH, "replacement")),
    ),
    Operator(
        "split_part", fixed(T, T, T, I), "a text, a separator and the number of a part", 3, 3, constants=(1, 3),
        check=_check_split, sql=Sql(("SplitPart",), ("this", "delimiter", "part_index")),
    ),
    Operator(
        "strpos", fixed(I, T, T), TWO_TEXTS, 2, 2, range=constant(0, LONGEST_TEXT), largest=LONGEST_TEXT,
        sql=Sql(("StrPosition",), ("this", "substr")),
    ),
    _told("starts_with", "StartsWith", "prefix"),
    _told("ends_with", "EndsWith", "suffix"),
    _told("contains", "Contains"),
    _matched("regexp_matches", ("RegexpLike",), "regexp_contains"),
    _matched("regexp_full_match", ("RegexpFullMatch", "SimilarTo")),
    Operator(
        "regexp_extract", fixed(T, T, T, I), "a text, a pattern and the number of a group", 3, 3, constants=(1, 3),
        check=_check_group, sql=Sql(("RegexpExtract",), (*BOTH, "group"), noted=("null_if_pos_overflow",)),
    ),
    Operator(
        "regexp_replace", fixed(T, T, T, T, T), "a text, a pattern, what to put instead, and 'g' for all places", 4, 4,
        constants=(1, 4), check=_check_instead, word=True,
    ),
    Operator("concat", all_of_kind(T), "texts", 1, sql=Sql(("DPipe",), BOTH, sign=True)),
    Operator(
        "like", fixed(B, T, T), A_PATTERN, 2, 2, constants=(1, 2), sql=Sql(("Like",), BOTH, sign=True),
    ),
    Operator(
        "to_text", one_of(T, T, I, B, D, M), "a text, a whole number, a truth value, a day or a time", 1, 1,
        text="CAST({0} AS VARCHAR)",
    ),
)  # fmt: skip
