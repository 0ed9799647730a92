"""Readers: whoever reaches the service and has not signed in. They see what is published, where the settings say so."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import final

from sfumato.errors import NotAllowed
from sfumato.ledger.entry import Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.state import data_set_of
from sfumato.release.record import Release
from sfumato.service.answers import Rendered, rendered_answer
from sfumato.service.house import House
from sfumato.service.publications import TOPIC, Publication, answer_of
from sfumato.service.rights import Action, verdict_on_unnamed


@final
@dataclass(frozen=True)
class Notice:
    """A publication that readers see, and the data set that it is about, by its name and its title."""

    data_set: str
    about: str
    publication: Publication


@final
class Board:
    """What is published now of all data sets. It reads each entry of the book once: readers ask often, and are many."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock, self._last = ledger, threading.Lock(), 0
        self._shown: dict[int, tuple[str, Publication]] = {}

    def shown(self) -> dict[int, tuple[str, Publication]]:
        """Publications with their data sets, by the number of the answer, in the order in which they were published."""
        with self._lock:
            for entry in self._ledger.entries(self._last, kinds=("noted",)):
                self._last = entry.number
                if entry.body.get("topic") == TOPIC:
                    self._take_in(entry)
            return dict(self._shown)

    def _take_in(self, entry: Entry) -> None:
        match entry.body["said"]:
            case {"answer": int(answer), "title": str(title)}:
                self._shown.pop(answer, None)
                made = Publication(entry.number, answer, title, entry.by, entry.time)
                self._shown[answer] = data_set_of(entry.account), made
            case {"withdrawn": int(answer)}:
                self._shown.pop(answer, None)


@final
@dataclass(frozen=True, eq=False)
class Readers:
    """The use cases of readers. Each is refused where the settings do not publish openly (`NotAllowed`)."""

    house: House
    board: Board

    def published(self) -> list[Notice]:
        """All that is published, the latest first."""
        self._need()
        about = {one.name: one.codebook.title or one.name for one in self.house.data_sets}
        shown = reversed(self.board.shown().values())
        return [Notice(name, about[name], publication) for name, publication in shown if name in about]

    def notice(self, number: int) -> Notice:
        """One publication, by the number of its answer."""
        self._need()
        found = self.board.shown().get(number)
        if found is None or found[0] not in self.house.data_sets:
            raise NotAllowed("there is nothing published under this number")
        data_set, publication = found
        return Notice(data_set, self.house.data_sets.registered(data_set).codebook.title or data_set, publication)

    def answer(self, number: int) -> Release:
        """A published answer, as readers see it: who asked for it is nobody's concern."""
        notice = self.notice(number)
        release = answer_of(self.house, notice.data_set, number)
        receipt = release.receipt
        return release if receipt is None else replace(release, receipt=replace(receipt, account=notice.data_set))

    def rendered(self, number: int, form: str) -> Rendered:
        """A published answer in a form."""
        return rendered_answer(self.answer(number), number, form)

    def _need(self) -> None:
        verdict_on_unnamed(Action.SEE_PUBLISHED, openly=self.house.settings.publish_openly).enforce()
