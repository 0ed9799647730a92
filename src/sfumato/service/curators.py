"""What curators do: register data and new versions of it, keep the checklist, and publish what was released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.codebook.book import Codebook
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.ledger.checklists import checklist_of, keep_checklist
from sfumato.ledger.published import registry_entry, release_table, releases_now
from sfumato.ledger.state import data_set_of
from sfumato.release.checklist import Checklist
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import Release
from sfumato.release.registry import RegistryEntry
from sfumato.release.table import ReleaseTable
from sfumato.service.announcements import PUBLISHED, announce
from sfumato.service.answers import AnswerLine, Rendered, lines, rendered_answer
from sfumato.service.codebooks import CodebookCheck, Draft, checked_codebook, drafted
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.pages import Page, checked_after
from sfumato.service.people import Person
from sfumato.service.places import Source
from sfumato.service.publications import (
    Publication,
    answer_of,
    is_published,
    missing_of,
    note_publication,
    note_withdrawal,
    publications,
    readable,
)
from sfumato.service.rights import Action
from sfumato.service.rights_noted import note_rights_of_all


@final
@dataclass(frozen=True, eq=False)
class Curators:
    """The use cases of curators; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def register(self, person: Person, registration: Registration) -> bool:
        """Registers data, or a new version of it under a new version name; the limit of data never changes.

        Tells whether anything is new: the same registration again changes nothing.
        """
        person.need(Action.REGISTER, registration.name)
        fresh = registration.name not in self.house.data_sets
        made = self.house.data_sets.register(registration, by=person.name)
        if made and fresh:
            note_rights_of_all(self.house, registration.name, by=person.name)
        return made

    def registered(self, person: Person, data_set: str) -> Registration:
        """What was registered, with where the data is; show its address by `places.without_password`."""
        person.need(Action.REGISTER, data_set)
        return self.house.data_sets.registered(data_set)

    def check(self, person: Person, data_set: str, codebook: Codebook | str | Mapping[str, object]) -> CodebookCheck:
        """Checks a codebook without any data: says what is wrong with it, or what it promises and leaves in doubt."""
        person.need(Action.REGISTER, data_set)
        return checked_codebook(codebook, longest=self.house.settings.largest_upload)

    def draft(
        self, person: Person, data_set: str, source: Source, *, unit: str | None = None, protects: str = ""
    ) -> Draft:
        """Drafts a codebook for data from the names and types of its columns; ``unit`` says whose a row is."""
        person.need(Action.REGISTER, data_set)
        return drafted(self.house.data_sets.checked_source(source), unit=unit, protects=protects)

    def checklist(self, person: Person, data_set: str) -> Checklist | None:
        """The checklist of a data set as it stands; None where none is kept."""
        person.need(Action.KEEP_CHECKLIST, data_set)
        self.house.data_sets.registered(data_set)
        return checklist_of(self.house.ledger, data_set)

    def begin_checklist(self, person: Person, data_set: str, *, mandatory: frozenset[str] | None = None) -> Checklist:
        """Begins to keep a checklist: from then on nothing is released while something mandatory is open."""
        person.need(Action.KEEP_CHECKLIST, data_set)
        self.house.data_sets.registered(data_set)
        if checklist_of(self.house.ledger, data_set) is not None:
            raise BadArgument("the checklist", "begun once: this one is kept already", data_set)
        made = Checklist() if mandatory is None else Checklist(mandatory)
        keep_checklist(self.house.ledger, data_set, made, by=person.name)
        return made

    def set_item(
        self,
        person: Person,
        data_set: str,
        item: str,
        *,
        evidence: str | None = None,
        why: str | None = None,
        owner: str | None = None,
    ) -> Checklist:
        """Closes an item on evidence, opens it again for a reason (``why``), or names its owner: one of these."""
        person.need(Action.KEEP_CHECKLIST, data_set)
        self.house.data_sets.registered(data_set)
        kept, today = checklist_of(self.house.ledger, data_set), self.house.now().date()
        if kept is None:
            raise BadArgument("the checklist", "begun before an item of it is set", data_set)
        match evidence, why, owner:
            case str(), None, None:
                moved = kept.close(item, by=person.name, evidence=evidence, date=today)
            case None, str(), None:
                moved = kept.reopen(item, by=person.name, why=why, date=today)
            case None, None, str():
                moved = kept.assign(item, to=owner, by=person.name, date=today)
            case _:
                raise BadArgument("what is said of an item", "one of evidence, why and owner", "none or several")
        keep_checklist(self.house.ledger, data_set, moved, by=person.name)
        return moved

    def answers(self, person: Person, data_set: str, *, after: int = 0, many: int = 50) -> Page[AnswerLine]:
        """The answers to everybody's questions, in the order of the book."""
        person.need(Action.SEE_ANSWERS, data_set)
        self.house.data_sets.registered(data_set)
        charges = self.house.shelf.charges(lambda account: data_set_of(account) == data_set)
        return Page.of(lines(self.house.shelf, charges, checked_after(after)), many)

    def answer(self, person: Person, data_set: str, number: int) -> Release:
        """One answer, whoever asked for it."""
        person.need(Action.SEE_ANSWERS, data_set)
        return answer_of(self.house, data_set, number)

    def missing(self, person: Person, data_set: str, number: int) -> list[str]:
        """Says what an answer still lacks before it may be published."""
        person.need(Action.PUBLISH, data_set)
        return missing_of(self.house, data_set, answer_of(self.house, data_set, number))

    def publish(self, person: Person, data_set: str, number: int, *, title: str) -> Publication:
        """Publishes an answer: everybody who may read of the data set sees it. What lacks something is refused."""
        person.need(Action.PUBLISH, data_set)
        release = answer_of(self.house, data_set, number)
        missing = missing_of(self.house, data_set, release)
        if missing:
            raise BadArgument("what is published", f"complete: {' '.join(missing)}", f"answer {number}")
        made = note_publication(self.house.ledger, data_set, number, title, by=person.name)
        announce(self.house, data_set, PUBLISHED, {"answer": number})
        return made

    def withdraw(self, person: Person, data_set: str, number: int, *, reason: str) -> None:
        """Shows a published answer no more; the book goes on saying that it was."""
        person.need(Action.PUBLISH, data_set)
        if not is_published(self.house.ledger, data_set, number):
            raise BadArgument("what is withdrawn", "a published answer", number)
        note_withdrawal(self.house.ledger, data_set, number, reason=reason, by=person.name)

    def published(self, person: Person, data_set: str) -> list[Publication]:
        """What is published of a data set, for everybody who may read of it."""
        person.need(Action.SEE_PUBLISHED, data_set)
        self.house.data_sets.registered(data_set)
        return publications(self.house.ledger, data_set)

    def published_answer(self, person: Person, data_set: str, number: int) -> Release:
        """A published answer, for everybody who may read of the data set."""
        person.need(Action.SEE_PUBLISHED, data_set)
        return readable(self.house, person, data_set, number)

    def rendered(self, person: Person, data_set: str, number: int, form: str) -> Rendered:
        """A published answer in a form: json, csv, parquet, html, latex, markdown or text."""
        person.need(Action.SEE_PUBLISHED, data_set)
        return rendered_answer(self.published_answer(person, data_set, number), number, form)

    def release_table(self, person: Person, data_set: str, *, delta: Number | None = None) -> ReleaseTable:
        """The release table of a data set, from the book alone."""
        person.need(Action.PUBLISH, data_set)
        self.house.data_sets.registered(data_set)
        return release_table(self.house.ledger, data_set, delta=delta)

    def registry_entry(self, person: Person, data_set: str, **stated: str) -> RegistryEntry:
        """The entry of a data set for a registry of deployments; what the book does not know is stated."""
        person.need(Action.PUBLISH, data_set)
        self.house.data_sets.registered(data_set)
        return registry_entry(self.house.ledger, data_set, **stated)

    def missing_for_publication(self, person: Person, data_set: str, *, delta: Number | None = None) -> list[str]:
        """Says what all releases of a data set together still lack before they may be published."""
        person.need(Action.PUBLISH, data_set)
        self.house.data_sets.registered(data_set)
        releases = releases_now(self.house.ledger, data_set)
        if not releases:
            return ["releases: there are none yet."]
        return missing_for_publication(release_table(self.house.ledger, data_set, delta=delta), releases)
