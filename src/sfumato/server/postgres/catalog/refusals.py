"""Refusals with PostgreSQL's codes. None says what an engine said, or holds more than names that were asked for."""

from __future__ import annotations

from typing import final

from sfumato.errors import QueryRefused

UNSUPPORTED = "0A000"
SYNTAX = "42601"
NO_COLUMN = "42703"
NO_TABLE = "42P01"
NO_FUNCTION = "42883"
NO_TYPE = "42704"
BAD_TEXT = "22P02"
TOO_LONG = "54000"
STOPPED = "57014"
AMBIGUOUS = "42702"


@final
class CatalogRefused(QueryRefused):
    """Reports a question to the catalog that is not answered, with the code that PostgreSQL has for the reason."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)

    def __reduce__(self) -> tuple[type[CatalogRefused], tuple[str, str]]:
        return CatalogRefused, (self.code, str(self))


def refused(code: str, message: str) -> CatalogRefused:
    """Makes a refusal."""
    return CatalogRefused(code, f"{message}.")
