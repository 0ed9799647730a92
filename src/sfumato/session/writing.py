"""Releases that are written as tables: paid like any question, drawn once, kept, written down, and then published.

The book is what decides. First comes the charge; then rows are drawn into a staged folder that only whoever holds the
data can read; when all of them are there, the release is written into the book, and with it where its rows are kept;
and only then are they published. What is broken off before the release is in the book is never published: a retry with
the same key says that the charge was used, as it does of every question. Afterwards nothing is drawn any more, and the
same question, or the same key, publishes what was kept, as often as it takes, for nothing: one charge, one answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

from sfumato.errors import BadArgument, NotKept, QueryRefused, UnknownFormat
from sfumato.query.build.settings import Said, Settings
from sfumato.query.engines.written_tables import TableWriter
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import OpenTables
from sfumato.release.record import Release
from sfumato.release.written import WrittenTable, document_of, release_in
from sfumato.session.prepared import prepare

if TYPE_CHECKING:
    from sfumato.core.measurement import Measurement
    from sfumato.ledger.accounts import Terms
    from sfumato.ledger.ledger import Ledger
    from sfumato.session.dataset import Dataset
    from sfumato.session.planner import Planner
    from sfumato.session.session import Parameters, Session


class Writing(ABC):
    """What a session writes."""

    dataset: Dataset
    ledger: Ledger
    by: str
    _name: str
    _terms: Terms

    @property
    @abstractmethod
    def _planner(self) -> Planner: ...

    def answered(self, measurement: Measurement, confidence: Fraction) -> Release | None:
        """The release that the book has of a measurement already; None where it must be paid."""
        prepared = prepare(self.dataset, self._terms, measurement, None, confidence)
        return None if prepared.digest is None else self.ledger.recall(self._name, prepared.digest, by=self.by)

    def write(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        to: str,
        format: str = "parquet",
        **said: Unpack[Said],
    ) -> Release:
        """Answers a question in SQL with a table in a new folder, and not in memory; settings as of `Session.sql`.

        Noise is added, and keys are chosen, where the engine has the groups, batch by batch. ``to`` is a folder that is
        not there yet; `sf.release.read_release(to)` reads all that the release says. ``format`` is "parquet",
        or another that the engine writes. What looks at all groups at once (ORDER BY, LIMIT, totals, quantiles) cannot
        be written. Asked again, of the same data or with the same ``key``, it costs nothing and gives the same rows.
        """
        return self._planner.write_sql(text, parameters, Settings.read(**said), to=to, form=format)


def written_release(
    session: Session, opened: OpenTables, compiled: CompiledQuery, settings: Settings, *, to: str, form: str
) -> Release:
    """Pays for a question, keeps its rows, and publishes them; what was asked before is only published."""
    from sfumato.query.plan.spreading import check_spread, written  # which only writing needs

    check_spread(compiled)
    writer, sure = opened.engine.writer, settings.confidence
    place = writer.place(to, form)
    _check_apart(place, opened.folders)
    if writer.is_taken(place):
        before = session.answered(written(compiled, sure, writer, place=place, form=form, staged=""), sure)
        if before is None:
            what = "no release" if writer.published(place) is None else "another release"
            must = f"a folder that is not there yet: what is there is {what}, and nothing is written over"
            raise BadArgument("to", must, to)
        return _published(writer, before, place)
    staged = writer.stage(place)
    try:
        measurement = written(compiled, sure, writer, place=place, form=form, staged=staged)
        release = session.run(measurement, key=settings.key, confidence=sure)
    except NotKept as lost:  # it cannot be found again, but it was paid for and it is here
        raise NotKept(_published(writer, lost.release, place)) from None
    except BaseException:
        if not writer.is_kept(staged):  # else the book may have the release by now, and goes on with these rows
            writer.discard(staged)
        raise
    if release.value.staged != staged:  # it was asked before
        writer.discard(staged)
    return _published(writer, release, place)


def _published(writer: TableWriter, release: Release, place: str) -> Release:
    """The release with its table in its place; what is kept for it is published first."""
    table: WrittenTable = release.value
    if _is_there(writer, release):
        if table.place != place:
            must = "where this question was written to before: what is there can be copied, and stays the same release"
            raise BadArgument("to", must, place)
        return release
    if not writer.is_kept(table.staged):
        raise QueryRefused(
            f"this question was answered before, and what was written to {table.place} is not there any more. It is "
            "not drawn anew under the same charge, because it may have been seen. Put it back; or pay anew: at another "
            "loss it is another question."
        )
    there = replace(release, value=replace(table, place=place))
    writer.publish(table.staged, place, table.form, table.rows, document_of(there))
    writer.discard(table.staged)
    return there


def _is_there(writer: TableWriter, release: Release) -> bool:
    """Tells whether the table of a release is whole, and in its place."""
    table: WrittenTable = release.value
    document = writer.published(table.place)
    if document is None:
        return False
    try:
        return release_in(document, table.place).receipt == release.receipt
    except UnknownFormat:
        return False


def _without_scheme(path: str) -> str:
    """A path without what says that it is one of this machine, which may be left out."""
    return re.sub(r"^file:/+", "/", path)


def _check_apart(place: str, folders: tuple[str, ...]) -> None:
    """Refuses to write where the data is read from: what was released would be read as data."""
    for folder in map(_without_scheme, folders):
        if f"{_without_scheme(place)}/".startswith(folder.rstrip("/") + "/"):
            raise BadArgument(
                "to", "outside of the folders that the data is read from: it would be read as data", place
            )
