"""Two data sets as the PostgreSQL port describes them, and questions that tools ask of a catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.codebook.book import Codebook
from sfumato.server.postgres.catalog.catalog import Catalog
from sfumato.server.postgres.catalog.described import Described, number_of

CITY: dict[str, Any] = {
    "codebook": 1,
    "title": "City bicycles",
    "unit": {"protects": "a rider", "id": "rider"},
    "tables": {
        "stations": {
            "public": True,
            "key": ["name"],
            "size": {"exactly": 3, "source": "the map"},
            "columns": {
                "name": {"type": "str", "nullable": False, "source": "the map"},
                "docks": {"type": "int", "between": [0, 100], "source": "the plans"},
            },
        },
        "trips": {
            "description": "One row a trip",
            "columns": {
                "rider": {"type": "str", "nullable": False, "source": "accounts"},
                "day": {"type": "date", "between": ["2026-02-01", "2026-02-28"], "source": "the month"},
                "origin": {"type": "str", "keys": {"table": "stations", "column": "name"}},
                "destination": {"type": "str"},
                "minutes": {"type": "float", "between": [0, 1440], "source": "a day", "description": "how long"},
                "bonus": {"type": "bool"},
                "at": {"type": "time"},
                "ratings": {"type": "list", "items": {"type": "int"}},
            },
        },
    },
}

EXAM: dict[str, Any] = {
    "codebook": 1,
    "title": "Exam",
    "unit": {"protects": "a student", "id": "student"},
    "tables": {"scores": {"columns": {"student": {"type": "int"}, "score": {"categories": [1.5, 2.5], "source": "x"}}}},
}

NUMBERS = {
    "city.stations": number_of("table", "city", "stations"),
    "city.stations_name_key": number_of("index", "city", "stations"),
    "city.trips": number_of("table", "city", "trips"),
    "exam.scores": number_of("table", "exam", "scores"),
}
"""What stands in questions for the numbers of tables. The key has another name here, for codebooks give it none."""

QUESTIONS = Path(__file__).parent / "tables" / "catalog_questions.txt"


@dataclass(frozen=True)
class Asked:
    """A question of a tool: where it is from, its text, values of parameters, and PostgreSQL's columns."""

    source: str
    text: str
    values: tuple[str | None, ...]
    gives: tuple[tuple[str, int], ...]


def city(person: str = "ada", *, with_exam: bool = True) -> Catalog:
    """A catalog of somebody who may see one data set, or both."""
    visible = [Described("city", Codebook.read(CITY))]
    if with_exam:
        visible.append(Described("exam", Codebook.read(EXAM)))
    return Catalog(visible, person, "warehouse")


@cache
def asked() -> tuple[Asked, ...]:
    """All questions."""
    return tuple(_read(QUESTIONS.read_text(encoding="utf-8")))


def _read(text: str) -> Iterator[Asked]:
    for block in text.split("\n-- from: ")[1:]:
        source, *lines = block.splitlines()
        values: list[str | None] = []
        gives: list[tuple[str, int]] = []
        rest = []
        for line in lines:
            if line.startswith("-- with: "):
                values = [None if one is None else _numbered(one) for one in json.loads(line[9:])]
            elif line.startswith("-- gives: "):
                gives = [(name, int(oid)) for name, oid in re.findall(r"(\S.*?) (\d+)(?:, |$)", line[10:])]
            else:
                rest.append(line)
        yield Asked(source, _numbered("\n".join(rest).strip()), tuple(values), tuple(gives))


def _numbered(text: str) -> str:
    return re.sub(r"\{([\w.]+)\}", lambda found: str(NUMBERS.get(found[1], found[0])), text)


SETUP = """
CREATE SCHEMA city;
CREATE SCHEMA exam;
CREATE TABLE city.stations (name text NOT NULL, docks int8, CONSTRAINT stations_name_key PRIMARY KEY (name));
CREATE TABLE city.trips (
    rider text NOT NULL, day date, origin text, destination text, minutes float8, bonus bool, at timestamp,
    ratings int8[],
    CONSTRAINT trips_origin_fkey FOREIGN KEY (origin) REFERENCES city.stations (name)
);
CREATE TABLE exam.scores (student int8, score float8);
SET search_path = city, exam, public;
"""
"""The same tables in PostgreSQL itself."""


def as_literals(one: Asked) -> str:
    """A question with its values in quotes, for a connection that takes one text."""

    def literal(found: re.Match[str]) -> str:
        value = one.values[int(found[1]) - 1]
        doubled = "" if value is None else value.replace("'", "''")
        return "NULL" if value is None else f"'{doubled}'"

    return re.sub(r"\$(\d+)", literal, one.text) if one.values else one.text
