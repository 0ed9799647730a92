"""What errors show of values: public things that somebody typed, and of all else no more than what it is."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral, Real
from typing import final

LONGEST_SHOWN = 60
"""Letters of a public value that an error message repeats, at most."""


@final
class Several:
    """Things that a caller typed one by one, side by side, each as `shown` shows it: ``(a list of 2, None)``."""

    def __init__(self, *things: object) -> None:
        self._text = f"({', '.join(map(shown, things))})"  # and not the things: an error keeps what it is given

    def __repr__(self) -> str:
        return self._text


@final
class Unseen:
    """Stands for a value of which nothing is shown."""

    def __repr__(self) -> str:
        return "something else"


def did_you_mean(name: object, known: Iterable[str], said: str = " Did you mean {!r}?") -> str:
    """Hints at the known name nearest to another, whatever their case; nothing where none is near."""
    plain = {one.casefold(): one for one in known}
    return "".join(said.format(plain[near]) for near in get_close_matches(str(name)[:100].casefold(), plain, n=1))


def shown(value: object) -> str:
    """A short text for an error message: of what a caller typed, the thing itself; of all else, what it is.

    A number, a short text, a date, a type and sfumato's own records are typed, or are made of public facts. Containers,
    arrays, frames and objects of others may hold data, so only their kind is told, and of plain containers their size.

    >>> shown(0.1), shown("age"), shown([71.5, 64.0]), shown(b"71.5")
    ('0.1', "'age'", 'a list of 2', '4 bytes')
    """
    match value:
        case bool() | None:
            return repr(value)
        case str():
            return _shown_text(value)
        case float():
            return repr(value) if value.is_integer() and abs(value) < 1000 else f"{value:.3g}"
        case int() | Fraction() | Decimal() | datetime.date() | datetime.time() | datetime.timedelta():
            return _shown_number(value)
        case type():
            return value.__name__
        case Integral() | Real():
            return _shown_number(int(value)) if isinstance(value, Integral) else f"{float(value):.3g}"
    if type(value).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return text if len(text := repr(value)) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "…"
    return _kind(value)


def _shown_text(text: str) -> str:
    short = len(text) <= LONGEST_SHOWN and "\n" not in text
    return repr(str(text)) if short else f"a text of {len(text)} characters"


def _shown_number(value: object) -> str:
    try:
        text = str(value)
    except ValueError:  # more digits than Python is willing to write
        return "a number of many digits"
    return text if len(text) <= LONGEST_SHOWN else f"a number of {len(text)} digits"


def _kind(value: object) -> str:
    """Says what a thing is, and shows nothing of it."""
    kind = type(value)
    match value:
        case bytes() | bytearray() | memoryview():
            return f"{len(value)} bytes"
        case list() | tuple() | set() | frozenset() | dict() if kind.__module__ == "builtins":
            return f"a {kind.__name__} of {len(value)}"
    if callable(value) and hasattr(value, "__qualname__"):
        return "a function"
    home = kind.__module__.partition(".")[0].lstrip("_")
    name = kind.__name__ if home in ("builtins", "sfumato", "") else f"{home} {kind.__name__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
