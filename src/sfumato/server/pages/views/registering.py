"""Data on its way in: a file that is sent, the draft of a codebook, a registration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final
from urllib.parse import urlencode

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.codebook.draft import MARK, kind_of
from sfumato.ledger.periods import Period
from sfumato.release.render.words import clean
from sfumato.server.pages.shell import address_of
from sfumato.server.pages.views.amounts import LossForm
from sfumato.service.codebooks import Draft
from sfumato.service.data_sets import Registration
from sfumato.service.places import Source, without_password

OF_TABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):\s+(\S.*)")
"""A table and where it is, on a line of a source that has several."""

MOST_TABLES, LONGEST_PLACE = 100, 4_000


@final
@dataclass(frozen=True)
class UploadForm:
    """A file to be sent, as somebody filled it in."""

    name: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class UploadView:
    """The page from which a file is sent."""

    form: UploadForm
    takes: bool
    action: str = "/upload"
    register: str = "/register"


@final
@dataclass(frozen=True)
class DraftColumn:
    """A column that may say whose a row is."""

    name: str
    words: str
    chosen: bool


@final
@dataclass(frozen=True)
class DraftView:
    """The page of a draft: whose the rows are is asked; then the text is shown, on its way to be registered."""

    name: str
    file: str
    columns: tuple[DraftColumn, ...]
    protects: str
    text: str
    source: str
    marks: int
    wrong: str = ""
    action: str = "/register/draft"
    review: str = "/register"


def draft_address(name: str, file: str) -> str:
    """Where the draft of a codebook for a file that was sent is."""
    return f"/register/draft?{urlencode({'name': name, 'file': file})}"


def draft_view(
    name: str,
    file: str,
    drafted: Draft | None,
    *,
    unit: str = "",
    protects: str = "",
    source: str = "",
    wrong: str = "",
) -> DraftView:
    """Makes the page; nothing is shown to be reviewed before somebody has said who is protected."""
    schema = {} if drafted is None else drafted.schema
    columns = tuple(
        DraftColumn(column, _type_words(kind), column == unit)
        for table in schema.values()
        for column, kind in table.items()
    )
    text = drafted.text if drafted is not None and unit and protects else ""
    return DraftView(name, file, columns, protects, text, source, text.count(MARK), clean(wrong, most=600))


def _type_words(engine: str) -> str:
    """A type in the word that codebooks have for it; what else an engine's type holds may be data, as in an ENUM."""
    return (kind_of(engine) or "no type of a codebook") if engine else "a type that the file does not say"


@final
@dataclass(frozen=True)
class RegisterForm:
    """A registration as somebody filled it in; ``promise`` is the limit that there is already, and stays."""

    loss: LossForm
    name: str = ""
    version: str = "1"
    source: str = ""
    codebook: str = ""
    period: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    promise: str = ""


PERIODS: Sequence[tuple[str, str]] = (
    ("", "none: for good"),
    *((period.value, f"each {period.value}") for period in Period),
)
"""The periods of limits, as a page offers them."""


@final
@dataclass(frozen=True)
class RegisterView:
    """The page on which data is registered."""

    form: RegisterForm
    action: str = "/register"
    periods: Sequence[tuple[str, str]] = PERIODS
    doubts: tuple[str, ...] = ()
    right: bool = False
    upload: str = "/upload"

    @property
    def known(self) -> str:
        """Where the data set is that a new version is for; empty where it is a new data set."""
        return address_of(self.form.name) if self.form.promise else ""


def form_of_version(known: Registration) -> RegisterForm:
    """The form of a new version: all as it is, but for the name of the version."""
    return RegisterForm(
        LossForm("any"),
        known.name,
        "",
        source_text(known.source),
        codebook_text(known.codebook),
        known.period or "",
        promise=limit_words(known.limit, known.period),
    )


def codebook_text(codebook: Codebook) -> str:
    """A codebook to be edited: YAML; or JSON with codes, where letters in it would steer or hide on a page."""
    text = codebook.to_yaml()
    if all(letter.isprintable() for line in text.splitlines() for letter in line):
        return text
    return json.dumps(codebook.to_plain(), indent=1)


def limit_words(limit: Loss | Mapping[str, Loss], period: str | None) -> str:
    """A limit in words, of each kind of unit where there are several."""
    said = "; ".join(f"{kind}: {one}" for kind, one in limit.items()) if isinstance(limit, Mapping) else str(limit)
    return f"{said} in each {period}" if period else said


def source_text(source: Source) -> str:
    """Where data is, as it is typed: a place, or a table and its place on each line; without what signs in there."""
    if isinstance(source, str):
        return without_password(source)
    return "\n".join(f"{table}: {without_password(place)}" for table, place in source.items())


def read_source(text: str) -> tuple[Source, str]:
    """Reads where data is; what is wrong with it, where something is."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_TABLES or any(len(line) > LONGEST_PLACE for line in lines):
        return "", f"At most {MOST_TABLES} tables, each at a place of at most {LONGEST_PLACE:,} letters."
    found = [OF_TABLE.fullmatch(line) for line in lines]
    if len(lines) == 1 and found[0] is None:
        return lines[0], ""
    places = {match[1]: match[2] for match in found if match is not None}
    if not places or len(places) != len(lines):
        return "", "Write one place; or on each line a table, a colon and its place, as in visits: visits.parquet"
    return places, ""
