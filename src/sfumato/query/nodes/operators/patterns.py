"""Patterns: the regular expressions that are answered, checked when a question is read.

Only what means the same everywhere and takes linear time is taken: letters, ``.``, classes ``[a-z]``, ``\\d \\w \\s``,
``^ $ \\b``, groups, ``|`` and repetitions. An engine that could not compile a pattern would say so when the first row
comes, which would tell that there is one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, final

from sfumato.errors import QueryRefused

LARGEST = 1000
"""The most letters of a pattern, when repetitions are written out."""

DEEPEST = 20
"""The most groups that lie one in another."""

FLAGS = ("(?i)", "(?s)", "(?is)", "(?si)")
CLASSES, EDGES = "dDwWsS", "bB"
CONTROL = {"t": "\t", "n": "\n", "r": "\r"}


class Shape(NamedTuple):
    """What is known of a pattern: how large it is, whether it can match an empty text, and how many groups it has."""

    size: int
    empty: bool
    groups: int


@lru_cache(maxsize=256)
def shape_of(pattern: str) -> Shape:
    """Reads a pattern, or refuses it.

    >>> shape_of("([A-Z]{2})-?[0-9]+")
    Shape(size=8, empty=False, groups=1)
    """
    flags = next((flag for flag in FLAGS if pattern.startswith(flag)), "")
    reader = _Reader(pattern, len(flags))
    shape = reader.choice()
    if reader.place < len(pattern):
        raise _refused("a parenthesis is closed that was never opened")
    return shape


def quoted(text: str) -> str:
    """Writes a text as the pattern that it alone matches."""
    return "".join(f"\\{sign}" if sign in r"\.+*?()|[]{}^$" else sign for sign in text)


def _refused(why: str) -> QueryRefused:
    return QueryRefused(
        f"this regular expression is not answered: {why}. Known are letters, ., [a-z], \\d \\w \\s, ^ $ \\b, "
        "groups, | and * + ? {m,n}, and (?i) at the beginning; other signs have a backslash before them."
    )


@final
class _Reader:
    """Reads a pattern from a place on."""

    def __init__(self, pattern: str, place: int) -> None:
        self.pattern, self.place, self.depth = pattern, place, 0

    @property
    def next(self) -> str:
        """The next sign, empty at the end."""
        return self.pattern[self.place : self.place + 1]

    def take(self) -> str:
        """Takes a sign; refuses the end, and signs that no one can see."""
        sign = self.next
        if not sign or not (sign.isprintable() or sign in "\t\n"):
            raise _refused("it ends too early, or holds a sign that is none to see")
        self.place += 1
        return sign

    def choice(self) -> Shape:
        """Reads what stands between |."""
        shape = self.sequence()
        while self.next == "|":
            self.place += 1
            other = self.sequence()
            shape = Shape(shape.size + other.size + 1, shape.empty or other.empty, shape.groups + other.groups)
        return shape

    def sequence(self) -> Shape:
        """Reads what stands in a row."""
        shape = Shape(0, True, 0)
        while self.next not in ("", "|", ")"):
            part = self.repeated()
            shape = Shape(shape.size + part.size, shape.empty and part.empty, shape.groups + part.groups)
            if shape.size > LARGEST:
                raise _refused(f"with repetitions written out it has more than {LARGEST} letters")
        return shape

    def repeated(self) -> Shape:
        """Reads one thing, and how often it comes."""
        one = self.single()
        if self.next not in ("*", "+", "?", "{") or not self.next:
            return one
        least, most = self.times()
        if one.empty:
            raise _refused("what may match nothing is repeated")
        if self.next == "?":
            self.place += 1
        if self.next and self.next in "*+?{":
            raise _refused("a repetition is repeated")
        return Shape(one.size * max(most, 1) + 1, least == 0, one.groups)

    def times(self) -> tuple[int, int]:
        """Reads a repetition: the least, and how often the thing has to be written out."""
        sign = self.take()
        if sign != "{":
            return int(sign == "+"), 1
        inside, closed, _ = self.pattern[self.place :].partition("}")
        low, comma, high = inside.partition(",")
        numbers = [part for part in (low, high) if part]
        if not closed or not low or not all(one.isascii() and one.isdecimal() and len(one) < 4 for one in numbers):
            raise _refused("braces hold one or two numbers of at most three digits")
        self.place += len(inside) + 1
        least, most = int(low), int(high or low)
        if most < least:
            raise _refused("the second number in braces is below the first")
        return least, most + (bool(comma) and not high)

    def single(self) -> Shape:
        """Reads a letter, a class, an edge or a group."""
        match sign := self.take():
            case "(":
                return self.group()
            case "[":
                return self.letters()
            case "^" | "$":
                return Shape(1, True, 0)
            case "\\":
                return Shape(1, self.escaped(CLASSES + EDGES) in EDGES, 0)
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise _refused(f"{sign} stands where a letter should")
        return Shape(1, False, 0)

    def escaped(self, known: str) -> str:
        """Reads what follows a backslash: a known letter, or a sign that is no letter."""
        sign = self.take()
        if sign.isascii() and sign.isalnum() and sign not in known and sign not in CONTROL:
            raise _refused(f"\\{sign} is not known")
        if not sign.isascii():
            raise _refused("a backslash stands before a sign that needs none")
        return sign if sign in known else "-"

    def group(self) -> Shape:
        """Reads what stands in parentheses."""
        plain = self.pattern.startswith("?:", self.place)
        if self.next == "?" and not plain:
            raise _refused("of groups with ? only (?:…) is known")
        self.place, self.depth = self.place + 2 * plain, self.depth + 1
        if self.depth > DEEPEST:
            raise _refused(f"groups are nested more than {DEEPEST} deep")
        inner = self.choice()
        if self.next != ")":
            raise _refused("a parenthesis is never closed")
        if not inner.size:  # engines take (?:)a for a text that it is not
            raise _refused("a group is empty")
        self.place, self.depth = self.place + 1, self.depth - 1
        return Shape(inner.size + 1, inner.empty, inner.groups + (not plain))

    def letters(self) -> Shape:
        """Reads a class of letters."""
        if self.next == "^":
            self.place += 1
        many = 0
        while self.next != "]":
            first = self.letter()
            if self.next == "-" and not self.pattern.startswith("-]", self.place):
                self.place += 1
                last = self.letter()
                if not first or not last or last < first:
                    raise _refused("a range of letters goes from a letter to a later one")
            many += 1
        if not many:
            raise _refused("a class of letters is empty")
        self.place += 1
        return Shape(1, False, 0)

    def letter(self) -> str:
        """Reads one letter of a class; empty where it stands for several."""
        sign = self.take()
        if sign == "[":
            raise _refused("[ stands inside a class")
        if sign != "\\":
            return sign
        place = self.place
        return "" if self.escaped("dws") in "dws" else CONTROL.get(self.pattern[place], self.pattern[place])
