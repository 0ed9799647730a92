"""Codebooks as they come from outside: texts or plain data, never paths; checked without any data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.codebook.book import Codebook
from sfumato.codebook.draft import draft
from sfumato.codebook.strict_yaml import begins_codebook
from sfumato.errors import BadArgument, BadCodebook, SfumatoError
from sfumato.query.engines.registry import schema_of
from sfumato.service.places import Source

LONGEST = 1 << 20


@final
@dataclass(frozen=True)
class Draft:
    """A codebook to fill in, and the columns that it was made from, by table; of each its type in the data."""

    text: str
    schema: Mapping[str, Mapping[str, str]]


@final
@dataclass(frozen=True)
class CodebookCheck:
    """What a check has found: the codebook, where it can be read; else what is wrong with it; and doubts about it."""

    codebook: Codebook | None
    wrong: str = ""
    doubts: tuple[str, ...] = ()


def read_codebook(given: Codebook | str | Mapping[str, object], *, longest: int = LONGEST) -> Codebook:
    """Reads a codebook from its text or from plain data; what looks like the path of a file is refused."""
    if isinstance(given, Codebook):
        return given
    if isinstance(given, Mapping):
        return Codebook.read(given)
    if not isinstance(given, str) or len(given) > longest:
        raise BadArgument("a codebook", f"a text of at most {longest:,} letters, or plain data", type(given).__name__)
    if not begins_codebook(given):
        raise BadCodebook("the text", "it is no codebook: it does not begin with codebook: 1")
    return Codebook.read(given if given.lstrip().startswith("{") else f"{given}\n")  # a text of lines is no path


def checked_codebook(given: Codebook | str | Mapping[str, object], *, longest: int = LONGEST) -> CodebookCheck:
    """Checks a codebook; nothing is opened."""
    try:
        read = read_codebook(given, longest=longest)
        return CodebookCheck(read, doubts=read.flags)
    except SfumatoError as refusal:
        return CodebookCheck(None, wrong=str(refusal))


def drafted(source: Source, *, unit: str | None = None, protects: str = "") -> Draft:
    """Drafts a codebook from the names and types of columns alone; no value is looked at."""
    schema = schema_of(dict(source) if isinstance(source, Mapping) else source)
    return Draft(draft(schema, id=unit, protects=protects), schema)
