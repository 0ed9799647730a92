"""Regular expressions as Polars reads them: what `nodes.operators.patterns` allows, with classes of ASCII letters.

Polars compiles patterns with a library that takes linear time. To it ``\\d`` and the like are classes of Unicode, some
signs mean more inside of brackets, and others behind a backslash: so each part of a pattern is written anew.
"""

from __future__ import annotations

from sfumato.query.nodes.operators.patterns import FLAGS

INSIDE = {"d": "0-9", "w": "0-9A-Za-z_", "s": "\\t\\n\\x0C\\r\\x20"}
"""Classes as they stand in brackets."""

EDGES = {"b": "(?-u:\\b)", "B": "(?-u:\\B)"}
CONTROL = {"t": "\\t", "n": "\\n", "r": "\\r"}


def parted(pattern: str) -> tuple[str, str]:
    """The flags that a pattern begins with, and the pattern without them as Polars reads it."""
    flags = next((flag for flag in FLAGS if pattern.startswith(flag)), "")
    return flags, _rewritten(pattern[len(flags) :])


def searched(pattern: str) -> str:
    """The pattern that is found anywhere in a text."""
    flags, body = parted(pattern)
    return flags + body


def whole(pattern: str) -> str:
    """The pattern that a text matches as a whole."""
    flags, body = parted(pattern)
    return f"{flags}^(?:{body})$"


def like(pattern: str) -> str:
    """LIKE as a regular expression: any text for %, one character for _, and no escapes."""
    return "(?s)^" + "".join({"%": ".*", "_": "."}.get(sign) or literally(sign) for sign in pattern) + "$"


def literally(sign: str) -> str:
    """A sign that stands for itself alone, anywhere in a pattern."""
    return sign if sign.isalnum() or not sign.isascii() else f"\\x{{{ord(sign):X}}}"


def _rewritten(pattern: str) -> str:
    made, place, inside, first = [], 0, False, False
    while place < len(pattern):
        sign, escaped = pattern[place], pattern[place] == "\\"
        place += 2 if escaped else 1
        letter = pattern[place - 1]
        starts, first = first, False
        if escaped:
            made.append(_escaped(letter, inside=inside))
        elif inside:
            inside = sign != "]"
            plain = sign == "]" or (sign == "^" and starts) or (sign == "-" and not starts and pattern[place] != "]")
            made.append(sign if plain else literally(sign))
        else:
            inside = first = sign == "["
            made.append(sign)
            if inside and pattern[place] == "^":
                made.append("^")
                place += 1
    return "".join(made)


def _escaped(letter: str, *, inside: bool) -> str:
    if letter.lower() in INSIDE:
        letters = INSIDE[letter.lower()]
        return letters if inside else f"[^{letters}]" if letter.isupper() else f"[{letters}]"
    if letter in EDGES:
        return EDGES[letter]
    return CONTROL.get(letter) or literally(letter)
