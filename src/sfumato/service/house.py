"""The house: what all use cases of one worker share. Whoever has it can do everything: use cases check rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import final

from sfumato.errors import ServiceUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.service.answers import Shelf
from sfumato.service.data_sets import DataSets
from sfumato.service.people import People
from sfumato.service.records import RESTORE, Records, records_at
from sfumato.service.settings import Settings


@final
@dataclass(frozen=True, eq=False)
class House:
    """A ledger, records, the people and the data sets in them, answers to be found, what is set, and the time."""

    ledger: Ledger
    records: Records
    people: People
    data_sets: DataSets
    now: Callable[[], datetime]
    shelf: Shelf
    settings: Settings = field(default_factory=lambda: Settings())

    @staticmethod
    def open(
        ledger: str,
        records: str,
        *,
        folders: tuple[Path, ...] = (),
        servers: tuple[str, ...] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        settings: Settings | None = None,
    ) -> House:
        """Opens ledger and records at their addresses; data may come from these folders and servers alone."""
        kept = records_at(records)
        try:
            if kept.get(RESTORE, RESTORE) is not None:
                raise ServiceUnavailable("a backup was being brought in, and that broke off: bring it in again")
            book = Ledger.open(ledger, clock=now)
        except BaseException:
            kept.close()
            raise
        data_sets = DataSets(kept, book, folders=folders, servers=servers)
        return House(book, kept, People(kept, clock=now), data_sets, now, Shelf(book), settings or Settings())

    @staticmethod
    def of(settings: Settings, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> House:
        """Opens what settings name."""
        return House.open(
            settings.ledger.get_secret_value(),
            settings.records_address,
            folders=settings.data_folders,
            servers=tuple(server.get_secret_value() for server in settings.data_servers),
            now=now,
            settings=settings,
        )

    def close(self) -> None:
        """Lets go of ledger and records."""
        self.ledger.close()
        self.records.close()
