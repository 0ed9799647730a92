"""Answers on pages: lists of them, and one as a table and a chart, with all that it says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final
from urllib.parse import urlencode

from markupsafe import Markup

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.charts.one_release import release as chart_of
from sfumato.release.answer import Answer
from sfumato.release.record import Receipt, Release
from sfumato.release.render.answers import headline_of, interval_words
from sfumato.release.render.words import clean, percent
from sfumato.server.pages.drawings import Drawings
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views.amounts import Gauge
from sfumato.server.pages.views.cells import Listing, listing_of_release
from sfumato.service.answers import AnswerLine

FORMS: Mapping[str, tuple[str, str]] = {
    "csv": ("CSV", "for spreadsheets"),
    "parquet": ("Parquet", "for programs, with types"),
    "json": ("JSON", "complete, with how it was made"),
    "html": ("HTML", "to stand in a page"),
    "latex": ("LaTeX", "for a paper"),
    "markdown": ("Markdown", "for notes"),
    "text": ("Text", "to read"),
}
"""The forms that can be taken away, as the service names them, and what they are good for."""

LONG = 300


@final
@dataclass(frozen=True)
class AnswerRow:
    """One answer in a list."""

    number: int
    href: str
    headline: str
    asked: str
    loss: str
    time: str
    by: str = ""
    published: bool = False


@final
@dataclass(frozen=True)
class AnswersView:
    """A list of answers."""

    title: str
    caption: str
    answers: tuple[AnswerRow, ...]
    names: bool = False
    gauge: Gauge | None = None
    whose: str = ""
    pages: tuple[Link, ...] = ()


@final
@dataclass(frozen=True)
class AnswerView:
    """One answer."""

    headline: str
    asked: str
    table: Listing
    caption: str
    left_out: str
    interval_words: str
    loss: str
    unit: str
    how: tuple[tuple[str, str], ...]
    cuts: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    chart: Markup | None = None
    chart_words: str = ""
    chart_label: str = ""
    receipt: Receipt | None = None
    meaning: str = ""
    warnings: tuple[str, ...] = ()
    downloads: tuple[Link, ...] = field(default=())
    again: str = ""


def rows_of(lines: Iterable[AnswerLine], *, published: frozenset[int] = frozenset()) -> tuple[AnswerRow, ...]:
    """Reads lines of a list of answers."""
    return tuple(
        AnswerRow(
            line.number,
            address_of(line.data_set, f"/answers/{line.number}"),
            f"Answer {line.number}",
            asked_in(line.what),
            str(line.loss),
            line.time,
            line.by,
            line.number in published,
        )
        for line in lines
    )


def asked_in(what: str) -> str:
    """The question out of what the book says of a charge, as far as it fits."""
    return clean(what.partition(" → ")[0], most=LONG)


def meaning_address(loss: Loss) -> str:
    """Where a loss is put into odds; empty for kinds that the page does not know."""
    match loss:
        case Pure():
            said = {"epsilon": _decimal(loss.epsilon)}
        case Approx():
            said = {"epsilon": _decimal(loss.epsilon), "delta": _decimal(loss.delta)}
        case _:
            return ""
    return f"/meaning?{urlencode(said)}" if "inf" not in said.values() else ""


def _decimal(value: object) -> str:
    from sfumato.exact import digits_up

    return digits_up(value)  # type: ignore[arg-type]


def answer_view(
    release: Release,
    drawings: Drawings,
    *,
    data_set: str,
    number: int,
    title: str = "",
    downloads: Sequence[str] = tuple(FORMS),
    explains: bool = False,
) -> AnswerView:
    """Makes the page of an answer."""
    table, left_out = listing_of_release(release)
    answer = release.value if isinstance(release.value, Answer) else None
    headline = headline_of(answer) if answer is not None else release.document().headline
    drawn = drawings.of(("answer", _identity(release)), lambda: chart_of(release))
    words = (interval_words(answer) if answer is not None else _error_words(release)) or "no error is stated"
    forms = [name for name in downloads if name != "parquet" or answer is not None]
    return AnswerView(
        headline=title or headline,
        asked=clean(release.how.asked or release.how.made, most=100_000),
        table=table,
        caption=f"The numbers of answer {number}",
        chart_label=f"Chart of answer {number}",
        left_out=left_out,
        interval_words="; ".join(part for part in (words, release.how.uncovered) if part),
        loss=str(release.loss),
        unit="; ".join([release.unit, *(f"{loss} for {who}" for who, loss in release.others)]),
        how=_how(release),
        cuts=tuple(str(cut) for cut in release.how.cuts),
        rests_on=tuple(str(fact) for fact in release.facts),
        chart=drawn or None,
        chart_words=f"{headline}. Bars and bands are errors: {words}. The table has every number.",
        receipt=release.receipt,
        meaning=meaning_address(release.loss),
        warnings=("Made with a seed, for a test: this is not private.",) if release.replayable else (),
        downloads=tuple(_download(data_set, number, form) for form in forms),
        again=f"{address_of(data_set, '/ask')}?again={number}" if explains and release.how.asked else "",
    )


def _download(data_set: str, number: int, form: str) -> Link:
    label, words = FORMS[form]
    return Link(label, address_of(data_set, f"/answers/{number}/{form}"), words=words)


def _identity(release: Release) -> object:
    """What names a drawing of a release: the entry that paid for it, in its book; else the release itself."""
    return id(release) if release.receipt is None else (release.receipt.entry, release.receipt.digest)


def _error_words(release: Release) -> str:
    return "" if release.half_width is None else f"each ± holds with {percent(release.confidence)} confidence"


def _how(release: Release) -> tuple[tuple[str, str], ...]:
    how = release.how
    claims = "; ".join(str(claim) for claim in how.claims)
    named = (
        ("Mechanism", how.made),
        ("Rests on claims", claims),
        ("Neighbours", release.adjacency),
        ("If δ happens", how.failure.value if isinstance(release.loss, Approx) and release.loss.delta else ""),
        ("Data", release.data),
        ("Made by", release.version),
    )
    return tuple((label, text) for label, text in named if text)
