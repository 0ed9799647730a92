"""The house: what all use cases of one worker share. Whoever has it can do everything: use cases check rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import final

from sfumato.ledger.ledger import Ledger
from sfumato.service.data_sets import DataSets
from sfumato.service.people import People
from sfumato.service.records import Records, records_at


@final
@dataclass(frozen=True, eq=False)
class House:
    """A ledger, records, the people and the data sets in them, and the time."""

    ledger: Ledger
    records: Records
    people: People
    data_sets: DataSets
    now: Callable[[], datetime]

    @staticmethod
    def open(
        ledger: str,
        records: str,
        *,
        folders: tuple[Path, ...] = (),
        servers: tuple[str, ...] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> House:
        """Opens ledger and records at their addresses; data may come from these folders and servers alone."""
        book, kept = Ledger.open(ledger, clock=now), records_at(records)
        data_sets = DataSets(kept, book, folders=folders, servers=servers)
        return House(book, kept, People(kept, clock=now), data_sets, now)

    def close(self) -> None:
        """Lets go of ledger and records."""
        self.ledger.close()
        self.records.close()
