"""What people write on the command line, read: losses, limits, parameters, texts of queries."""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.cli.exits import misused
from sfumato.query.nodes.keysets import KeySet

WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


def loss_of(epsilon: str | None, delta: str | None, rho: str | None, *, prefix: str = "--") -> Loss | None:
    """Reads the loss that options state: ε, ε and δ, or ρ; None where they state none."""
    if rho is not None and (epsilon is not None or delta is not None):
        misused(f"{prefix}rho stands alone: it is another way to state a loss than {prefix}epsilon and {prefix}delta.")
    if epsilon is None and delta is not None:
        misused(f"{prefix}delta needs {prefix}epsilon beside it: a δ alone is no loss.")
    if rho is not None:
        return ZCDP(rho)
    if epsilon is None:
        return None
    return Pure(epsilon) if delta is None else Approx(epsilon, delta)


def text_of(sql: str) -> str:
    """Reads the text of a query: as it is, from a file (@query.sql), or from standard input (-)."""
    if sql == "-":
        return sys.stdin.read()
    if not sql.startswith("@"):
        return sql
    try:
        return Path(sql[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        misused(f"there is no query to read in {sql[1:]}.")


def parameters_of(given: Sequence[str]) -> dict[str, object]:
    """Reads values by the names of the parameters that they are for, from texts such as ``site=4``."""
    return {name: value_of(value) for name, value in named_texts(given, "--parameter", "site=4")}


def weights_of(given: Sequence[str]) -> dict[str, str] | None:
    """Reads how columns share a loss, from texts such as ``total=3``; None where nothing was said."""
    return dict(named_texts(given, "--weights", "total=3")) or None


def keys_of(given: Sequence[str]) -> KeySet | None:
    """Reads public keys, every combination of them, from texts such as ``site=north,south``; None where there are none.

    >>> list(keys_of(["site=north,south", "year=2026"]))
    [('north', 2026), ('south', 2026)]
    """
    listed = {name: value.split(",") for name, value in named_texts(given, "--keys", "site=north,south")}
    return (
        KeySet.of(**{name: [value_of(one.strip()) for one in values] for name, values in listed.items()})
        if listed
        else None
    )


def named_texts(given: Sequence[str], option: str, example: str) -> Iterator[tuple[str, str]]:
    """Reads names and texts from the values of an option; refuses others, and a name that comes twice."""
    names = set()
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name.strip():
            misused(f"{option} takes a name and a value, as in {option} {example}; got {one!r}.")
        if name.strip() in names:
            misused(f"{option} {name.strip()} is given twice.")
        names.add(name.strip())
        yield name.strip(), value


def value_of(text: str) -> object:
    """Reads a value as SQL would: a number, true, false, null, an ISO day or time; anything else is a text.

    In single quotes it is a text, whatever it says; so is a number that begins with zeros, such as 007.

    >>> value_of("4"), value_of("0.5"), value_of("'4'"), value_of("2026-02-01"), value_of("north")
    (4, Decimal('0.5'), '4', datetime.date(2026, 2, 1), 'north')
    """
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text.casefold() in WORDS:
        return WORDS[text.casefold()]
    if re.fullmatch("0[0-9]+", text):  # a code, of which the zeros are part
        return text
    readers = (int, _number, datetime.date.fromisoformat, datetime.datetime.fromisoformat)
    for read in readers:
        try:
            return read(text)
        except (ValueError, InvalidOperation):
            continue
    return text


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError(text)
    return number
