"""Patterns and formats in PostgreSQL's words: what `nodes.operators` let in, with the same meaning.

Whether a text matches is the same everywhere; which part of it does is not: PostgreSQL takes the longest of those that
begin first, others the one that is tried first. So `regexp_extract` and `regexp_replace` are not answered.
"""

from __future__ import annotations

import re

from sfumato.errors import QueryRefused
from sfumato.query.nodes.operators.patterns import FLAGS

CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \t\n\f\r"}
"""Of ASCII alone, whatever the server takes for a letter."""

MOST_REPEATED = 255
"""PostgreSQL repeats nothing more often."""

WEEKDAY_MARK = "\ue000"
"""Stands for the number of a weekday from Sunday on, for which `to_char` has no word; no format can hold it."""

WORDS = {
    "Y": "YYYY", "y": "YY", "m": "MM", "b": "Mon", "B": "FMMonth", "d": "DD", "j": "DDD", "G": "IYYY", "V": "IW",
    "a": "Dy", "A": "FMDay", "u": "ID", "H": "HH24", "I": "HH12", "M": "MI", "S": "SS", "f": "US", "p": "AM",
}  # fmt: skip


def pattern_of(pattern: str, *, whole: bool = False) -> str:
    """A pattern as PostgreSQL writes it; ``whole``: one that matches whole texts only.

    >>> pattern_of("(?i)a.\\\\b"), pattern_of("a|b", whole=True)
    ('(?i)a[^\\n]\\\\y', '^(?:a|b)$')
    """
    flags = next((flag for flag in FLAGS if pattern.startswith(flag)), "")
    made, place, inside = "", len(flags), False
    while place < len(pattern):
        sign, escaped = pattern[place], pattern[place] == "\\"
        place += 1 + escaped
        if escaped:
            made += _escaped(pattern[place - 1], inside=inside)
        elif inside:
            inside = sign != "]"
            made += sign
        elif sign == "[":
            inside = True
            made += sign
            if pattern.startswith("^", place):
                made, place = made + "^", place + 1
        elif sign == "(":
            plain = pattern.startswith("?:", place)
            made, place = made + "(?:", place + 2 * plain
        elif sign == "{":
            times, _, _ = pattern[place:].partition("}")
            if any(int(number) > MOST_REPEATED for number in times.split(",") if number):
                raise QueryRefused(f"PostgreSQL repeats nothing more than {MOST_REPEATED} times: say {{n}} of fewer.")
            made += sign
        else:
            made += "[^\n]" if sign == "." and "s" not in flags else sign
    return ("(?i)" if "i" in flags else "") + (f"^(?:{made})$" if whole else made)


def _escaped(sign: str, *, inside: bool) -> str:
    if sign.lower() in CLASSES:
        letters = CLASSES[sign.lower()]
        return letters if inside else f"[{'^' * sign.isupper()}{letters}]"
    if sign in "bB":
        return "\\y" if sign == "b" else "\\Y"
    return {"t": "\t", "n": "\n", "r": "\r"}.get(sign) or f"\\{sign}"


def format_of(written: str) -> str:
    """The format of a day or a time in the words of `to_char`; what stands between them is quoted.

    >>> format_of("%d %m").count('"')
    6
    """
    return "".join(map(_piece, re.findall("%.|[^%]+", written)))


def _piece(piece: str) -> str:
    """A letter behind %, or what stands between two: quotes around nothing keep words apart, as YY and YYYY."""
    if piece[0] == "%":
        return {"w": f'"{WEEKDAY_MARK}"', "%": '"%"'}.get(piece[1:]) or f'{WORDS[piece[1:]]}""'
    return '"' + piece.replace("\\", "\\\\").replace('"', '\\"') + '"'
