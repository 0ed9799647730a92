"""Where in the text of a question stands what a refusal speaks of, as far as its words say; for editors that underline.

A refusal names the part that it is about: by line and column, before ``is refused``, or in quotation marks. Nothing is
read but the text of the question and the words of the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from sfumato.query.sql.text import DIALECT

Span: TypeAlias = tuple[int, int]
"""The places of the first letter and of the one after the last."""

PLACE = re.compile(r"line ([0-9]+), column ([0-9]+)")
REFUSED = re.compile(r"^(.{1,80}?) (?:is|are) refused")
QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,80})'")
WORD = re.compile(r"\w+")
QUIET = frozenset({TokenType.STRING, TokenType.NATIONAL_STRING})
UNREADABLE = (SqlglotError, ValueError, IndexError)
MOST = 20
"""Places that are given, at most."""


def places_of(text: str, refusal: str) -> tuple[Span, ...]:
    """The parts of a question that a refusal names, in order and apart; none where its words name nothing of the text.

    >>> places_of("SELECT ARRAY_AGG(site) FROM visits", "ARRAY_AGG is refused: it would show values of single rows.")
    ((7, 16),)
    """
    at = PLACE.search(refusal)
    if at is not None:
        return _word_at(text, int(at[1]), int(at[2]))
    try:
        tokens = DIALECT.tokenize(text)
    except UNREADABLE:
        return ()
    named = REFUSED.search(refusal)
    if named is not None and (spans := _spans(tokens, named[1])):
        return spans
    return next((spans for word in QUOTED.findall(refusal) if (spans := _spans(tokens, word))), ())


def _spans(tokens: Sequence[Token], words: str) -> tuple[Span, ...]:
    """Where some words stand one after another, written in any way."""
    try:
        sought = [token.text.casefold() for token in DIALECT.tokenize(words)]
    except UNREADABLE:
        return ()
    sought = [word for word in sought if word != "…"]
    if not sought:
        return ()
    spans = []
    for place in range(len(tokens) - len(sought) + 1):
        part = tokens[place : place + len(sought)]
        loud = len(sought) > 1 or part[0].token_type not in QUIET
        if loud and [token.text.casefold() for token in part] == sought:
            spans.append((part[0].start, part[-1].end + 1))
    return tuple(spans[:MOST])


def _word_at(text: str, line: int, column: int) -> tuple[Span, ...]:
    """The word that begins at a place, as people count: lines and columns from 1."""
    lines = text.split("\n")
    if not (1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1])):
        return ()
    begin = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
    word = WORD.match(text, begin)
    return ((begin, begin + 1 if word is None else word.end()),)
