"""Published releases as whoever reaches the service reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.release.record import Release
from sfumato.server.pages.drawings import Drawings
from sfumato.server.pages.shell import Link
from sfumato.server.pages.views.answers import FORMS, AnswerView, answer_view
from sfumato.service.readers import Notice

MANY = 50


@final
@dataclass(frozen=True)
class NoticeView:
    """One published release in the list."""

    href: str
    title: str
    about: str
    time: str


@final
@dataclass(frozen=True)
class NoticesView:
    """The list of published releases."""

    notices: tuple[NoticeView, ...]
    pages: tuple[Link, ...] = ()


@final
@dataclass(frozen=True)
class ReadingView:
    """One published release."""

    title: str
    about: str
    time: str
    answer: AnswerView


def notices_view(notices: Sequence[Notice], page: int) -> NoticesView:
    """Makes one page of the list."""
    begin = MANY * max(0, page - 1)
    links = [Link("Later ones", f"/published?page={page - 1}")] if begin else []
    links += [Link("Earlier ones", f"/published?page={max(1, page) + 1}")] if len(notices) > begin + MANY else []
    return NoticesView(tuple(_view(one) for one in notices[begin : begin + MANY]), tuple(links))


def _view(notice: Notice) -> NoticeView:
    said = notice.publication
    return NoticeView(f"/published/{said.answer}", said.title, notice.about, said.time)


def reading_view(notice: Notice, release: Release, drawings: Drawings, forms: Sequence[str]) -> ReadingView:
    """Makes the page of a release; nothing on it leads to where one must sign in."""
    said = notice.publication
    view = answer_view(release, drawings, data_set="", number=said.answer, title=said.title, downloads=forms)
    links = tuple(
        Link(FORMS[form][0], f"/published/{said.answer}/{form}", words=FORMS[form][1])
        for form in forms
        if form != "parquet" or any(link.label == FORMS["parquet"][0] for link in view.downloads)
    )
    return ReadingView(said.title, notice.about, said.time, replace(view, downloads=links, meaning=""))
