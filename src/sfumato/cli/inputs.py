"""Opens what a command works on: the data with its codebook, and the ledger that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

from sfumato.accounting.losses.measures import Loss
from sfumato.cli.exits import misused
from sfumato.codebook.book import Codebook
from sfumato.ledger.addresses import MEMORY, SERVERS, SQLITE
from sfumato.ledger.ledger import Ledger
from sfumato.release.claim import claim
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import Person
from sfumato.session.session import Session

LEDGER = "sfumato-ledger.db"
"""The ledger where none is named: in the folder of the data, so that it is the same one wherever a command is run."""


@final
@dataclass(frozen=True)
class Source:
    """The data that a command names: one file, others for further tables, the codebook, and who is protected."""

    data: str
    codebook: Path | None
    unit: str | None = None
    tables: Sequence[str] = ()
    name: str | None = None
    version: str | None = None
    engine: str | None = None

    @cached_property
    def book(self) -> Codebook:
        """The codebook, read once; a command that needs one and has none ends here."""
        if self.codebook is None:
            misused(
                "there is no codebook, so nobody knows who is protected and what is public: give --codebook FILE. "
                f"'sfumato codebook init {shown(self.data)}' drafts one."
            )
        return Codebook.read(self.codebook)

    def dataset(self) -> Dataset:
        """Opens the data."""
        unit = None if self.unit is None else Person(self.unit)
        return Dataset(
            self.by_table(self.book),
            name=self.name,
            codebook=self.book,
            unit=unit,
            version=self.version,
            engine=self.engine,
        )

    def by_table(self, book: Codebook) -> str | dict[str, str]:
        """The data of each table, where there are several; the one table without a --table has the main file."""
        if not self.tables:
            return self.data
        given: dict[str, str] = {}
        for one in self.tables:
            name, sign, path = one.partition("=")
            if not sign or not path:
                misused(f"--table takes the name of a table and its file, as in --table sites=sites.csv; got {one!r}.")
            given[book.table(name).name] = path
        left = [table.name for table in book.tables if table.name not in given]
        if len(left) != 1:
            named = ", ".join(left) or "none"
            misused(
                f"the data is of one table, and of these there are left: {named}. Give --table NAME=FILE for others."
            )
        return {left[0]: self.data, **given}

    def ledger(self, named: str | None) -> str:
        """The address of the ledger: the one that is named, else the codebook's, else a file beside the data.

        That is the folder of the data itself, not of a link to it: a link must not lead to another ledger. A server has
        none, so that it is the folder where the command is run.
        """
        if named == MEMORY:
            misused("a ledger in memory would forget what was spent as soon as the command ends: name a file.")
        if named or (self.codebook is not None and self.book.ledger):
            return named or self.book.ledger_address
        if "://" in self.data:
            return str(Path.cwd() / LEDGER)
        if Path(self.data).exists():
            return str(Path(self.data).resolve().parent / LEDGER)
        parts = Path(self.data).absolute().parts[:-1]
        folder = takewhile(lambda part: not any(sign in part for sign in "*?["), parts)
        return str(Path(*folder).resolve() / LEDGER)


def is_there(address: str) -> bool:
    """Tells whether a ledger is there; of a server only that it is named."""
    return address.startswith(SERVERS) or Path(address.removeprefix(SQLITE)).is_file()


def shown(address: str) -> str:
    """An address of a ledger or of data as it may be printed: without the name and password of a server's user.

    >>> shown("postgresql://ada:secret@host:5432/books"), shown("spent.db")
    ('postgresql://host/books', 'spent.db')
    """
    if "://" not in address or address.startswith(SQLITE):
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def open_session(dataset: Dataset, address: str, limit: Loss | None, same: str | None = None) -> Session:
    """Opens a session on an account that is there already, or is opened now with the limit that was stated.

    ``same`` says why data that another account has may be opened under this name too.
    """
    vouched = None if same is None else claim(same)
    if is_there(address):
        ledger = Ledger.open(address)
        if dataset.name in ledger.accounts and limit in (None, ledger[dataset.name].limit):
            return dataset.session(ledger=ledger, claim=vouched)
        ledger.close()
    if limit is None:
        misused(
            f"{dataset.name} has no account in the ledger {shown(address)} yet: say once what may be spent on it in "
            "all, with --limit-epsilon 1 (and --limit-delta 1e-9), or --limit-rho 0.5."
        )
    return dataset.session(limit=limit, ledger=address, claim=vouched)


def open_to_explain(dataset: Dataset, address: str, limit: Loss, same: str | None = None) -> tuple[Session, bool]:
    """Opens a session that only explains: on the account, if there is one, or else on one that is not kept.

    Tells whether the account is a real one.
    """
    if is_there(address):
        ledger = Ledger.open(address)
        if dataset.name in ledger.accounts:
            return dataset.session(ledger=ledger, claim=None if same is None else claim(same)), True
    return dataset.session(limit=limit, ledger=MEMORY), False
