"""Rows for books of every kind, and writers that race for them."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.ledger.entry import digest_of
from sfumato.ledger.store import Pen, Row, Store


def row(number: int, text: str = "text", *, kind: str = "charged", **found_by: object) -> Row:
    return Row(number, kind, digest_of(f"{number} {text}"), text, **found_by)  # type: ignore[arg-type]


def add(store: Store, known: int, *rows: Row) -> Sequence[Row]:
    return store.append(known, lambda pen: rows)


class Writer:
    """Appends one row after another, each on what it knows, as a ledger does."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name, self.known, self.rows = store, name, 0, 0

    def write(self) -> None:
        news = self.store.append(self.known, self.decide)
        self.known += len(news) + 1

    def decide(self, pen: Pen) -> Sequence[Row]:
        numbers = [found.number for found in pen.news]
        assert numbers == list(range(self.known + 1, self.known + len(numbers) + 1))
        self.rows += 1
        return [row(self.known + len(numbers) + 1, f"{self.name} {self.rows}", key=f"{self.name} {self.rows}")]


def race(store: Store, name: str, many: int) -> None:
    writer = Writer(store, name)
    for _ in range(many):
        writer.write()


def authors(store: Store) -> dict[str, int]:
    """Counts the rows of each writer, after seeing that the book has no gap."""
    found = list(store.rows())
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    names = [one.text.split()[0] for one in found]
    return {name: names.count(name) for name in sorted(set(names))}
