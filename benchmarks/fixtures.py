"""Asks the questions that other people ask: which of them are answered, of those that can be private at all.

Run it with `make bench-fixtures`; it takes some seconds. Each file in `benchmarks/fixtures` holds a codebook, questions
that can be answered with privacy, and some that cannot, each with the reason. Every question is planned, and run with
noise, on small tables that are made up from the codebook. The last line gives the share that is answered of those that
can be; it fails where a question is answered that cannot be private, and where one of `answered.txt` is not answered.
That list can only grow: `python benchmarks/fixtures.py record` adds what is answered now.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import pyarrow as pa
import yaml
from rich.console import Console
from rich.table import Table

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.query.build.settings import Settings
from sfumato.session.session import Session
from side_by_side.contest import ratios_line

FOLDER = Path(__file__).parent / "fixtures"
SOURCES = ("smartnoise", "tpch", "qrlew", "google", "expressions")
LOSS = sf.Approx(1, 1e-6)
ROWS, PEOPLE = 60, 12
HEADING = "# Questions that are answered: `python benchmarks/fixtures.py record` adds to them; none is taken away."


@final
@dataclass(frozen=True)
class Asked:
    """One question: what it is called, its text, and why it cannot be answered privately (empty: it can)."""

    name: str
    sql: str
    why: str = ""


@final
@dataclass(frozen=True)
class Verdict:
    """What became of a question: answered, or the refusal."""

    asked: Asked
    refusal: str = ""

    @property
    def answered(self) -> bool:
        """Tells whether it was answered."""
        return not self.refusal


@final
@dataclass(frozen=True)
class Fixture:
    """The questions of one source, and tables to ask them of."""

    name: str
    held: Mapping[str, Any]

    @staticmethod
    def read(name: str) -> Fixture:
        """Reads a file of questions."""
        return Fixture(name, yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))

    @property
    def questions(self) -> Iterator[Asked]:
        """All questions, those first that can be private."""
        for name, sql in self.held["possible"].items():
            yield Asked(name, sql)
        for name, part in self.held["impossible"].items():
            yield Asked(name, part["sql"], part["why"])

    @cached_property
    def session(self) -> Session:
        """A session on made-up tables, with a limit that all questions fit in."""
        draw = random.Random(self.name)
        tables = {
            name: _table(table, self.held.get("values", {}), draw)
            for name, table in self.held["codebook"]["tables"].items()
        }
        data = sf.Dataset(tables, codebook=self.held["codebook"], name=self.name)
        return data.session(limit=sf.Approx(10**6, 0.5), ledger="memory:")

    def asked(self, question: Asked, *, run: bool) -> Verdict:
        """Plans a question, and runs it where ``run`` says so; of public tables alone, rows are given."""
        session, settings = self.session, dict(self.held["settings"])
        if "epsilon" not in question.sql:
            settings["loss"] = LOSS
        ways: list[Callable[[], object]] = [
            lambda: session.sql(question.sql, **settings) if run else _plan(session, question.sql, settings),
            lambda: session.public(question.sql),
        ]
        refusals = []
        for way in ways:
            try:
                way()
            except SfumatoError as error:
                refusals.append(str(error))
            else:
                return Verdict(question)
        return Verdict(question, refusals[0])


def _plan(session: Session, sql: str, settings: dict[str, Any]) -> None:
    """Plans a question as a session does before it asks the ledger."""
    planner = session._planner
    asked = planner._read(sql, ())
    if asked.question is None or asked.worked is not None:
        session.explain(sql, **settings)
        return
    planner._planned(asked.question, asked.options.added_to(Settings.read(**settings)).priced)


def recorded() -> dict[str, set[str]]:
    """The names of the questions that were answered before, by source: answers that must not be lost."""
    names: dict[str, set[str]] = {name: set() for name in SOURCES}
    for line in (FOLDER / "answered.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            source, _, name = line.partition("/")
            names[source].add(name)
    return names


def record(names: Mapping[str, set[str]]) -> None:
    """Writes the list of questions that are answered, one in a line, in order."""
    lines = [f"{source}/{name}" for source in SOURCES for name in sorted(names[source])]
    (FOLDER / "answered.txt").write_text("\n".join([HEADING, *lines, ""]))


def _table(table: Mapping[str, Any], values: Mapping[str, list[Any]], draw: random.Random) -> pa.Table:
    keys = set(table.get("key", ()))
    columns = {}
    for name, column in table["columns"].items():
        pool = values.get(name) or _pool(column)
        columns[name] = list(range(1, ROWS + 1)) if name in keys else [draw.choice(pool) for _ in range(ROWS)]
    return pa.table(columns)


def _pool(column: Mapping[str, Any]) -> list[Any]:
    """Values that the codebook allows in a column."""
    if "categories" in column:
        return list(column["categories"])
    low, high = column.get("between", (1, PEOPLE))
    match column["type"]:
        case "int":
            return [*range(low, min(high, low + PEOPLE) + 1)]
        case "float":
            return [low + (high - low) * part / 8 for part in range(9)]
        case "bool":
            return [False, True]
        case "date":
            start = datetime.date.fromisoformat(low)
            return [start + datetime.timedelta(days=step * 5) for step in range(9)]
        case "time":
            start = datetime.datetime.fromisoformat(low)
            return [start + datetime.timedelta(hours=step * 37) for step in range(9)]
    return ["flu-1", "cold", "a", "b", "13-221"]


def main() -> int:
    """Asks everything, prints a verdict for each question, and the shares."""
    console, wrong, now = Console(), list[str](), dict[str, set[str]]()
    shares: dict[str, float | None] = {}
    before = recorded()
    for name in SOURCES:
        fixture = Fixture.read(name)
        verdicts = [fixture.asked(question, run=True) for question in fixture.questions]
        drawn = Table(title=fixture.held["about"])
        for heading in ("question", "verdict", "why not"):
            drawn.add_column(heading)
        for verdict in verdicts:
            why = verdict.asked.why or verdict.refusal
            drawn.add_row(verdict.asked.name, _word(verdict), why[:160])
            if verdict.answered and verdict.asked.why:
                wrong.append(f"{name}/{verdict.asked.name} is answered, and cannot be private: {verdict.asked.why}")
            if not verdict.answered and verdict.asked.name in before[name]:
                wrong.append(f"{name}/{verdict.asked.name} was answered before: {verdict.refusal}")
        console.print(drawn)
        possible = [verdict for verdict in verdicts if not verdict.asked.why]
        shares[name] = sum(verdict.answered for verdict in possible) / len(possible)
        now[name] = {verdict.asked.name for verdict in possible if verdict.answered}
    for line in wrong:
        console.print(line, markup=False)
    if sys.argv[1:] == ["record"]:
        record({name: before[name] | now[name] for name in SOURCES})
    console.print(ratios_line(shares), markup=False)
    return 1 if wrong else 0


def _word(verdict: Verdict) -> str:
    if verdict.asked.why:
        return "answered: wrong" if verdict.answered else "refused, rightly"
    return "answered" if verdict.answered else "refused, ordinary"


if __name__ == "__main__":
    sys.exit(main())
