"""Names and numbers of all objects of a catalog, both ways, and what is said of them: what the engine looks up."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, final

from sfumato.server.postgres.catalog.contents import (
    NAMESPACES,
    descriptions,
    functions,
    index_text,
    keys,
    quoted_name,
    reserved,
)
from sfumato.server.postgres.catalog.described import OWNER, OWNER_OID, Constraint, Database, Entry
from sfumato.server.postgres.catalog.relations import relations
from sfumato.server.postgres.catalog.types import NAMES_OF_TYPES, fact_lines, shown_type, types, types_by_oid

CLASSES = {1259: "pg_class", 2615: "pg_namespace"}
IMPLICIT = ("pg_catalog",)
PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


@final
class Objects:
    """The objects of one catalog."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def number(self, kind: str, name: str) -> int | None:
        """The number of an object by its name, as somebody would write it."""
        match kind:
            case "regclass":
                return self.class_numbers.get(_plain(name))
            case "regtype":
                words = " ".join(name.lower().split()).removeprefix("pg_catalog.")
                return self.type_numbers.get(words.strip('"') if words.startswith('"') else words)
            case "regnamespace":
                return self.namespace_numbers.get(_plain(name))
            case "regrole":
                return self.role_numbers.get(_plain(name))
            case "regproc" | "regprocedure":
                return self.function_numbers.get(_plain(name).partition("(")[0].removeprefix("pg_catalog."))
        return None

    def note(self, parameter: int, name: str) -> None:
        """Notes nothing: there are no parameters here."""

    @cached_property
    def class_numbers(self) -> dict[str, int]:
        """Numbers of tables, indexes and relations: by schema and name, and by name where they are looked up by it."""
        numbers: dict[str, int] = {}
        for schema in reversed(self.database.path):
            for entry in reversed(self.database.tables):
                if entry.schema == schema:
                    numbers |= {entry.name: entry.oid} | {key.name: key.index for key in entry.keys}
        for entry in reversed(self.database.tables):
            numbers |= {f"{entry.schema}.{entry.name}": entry.oid}
            numbers |= {f"{entry.schema}.{key.name}": key.index for key in entry.keys}
        for one in relations().values():
            numbers[f"{one.schema}.{one.name}"] = one.oid
            if one.schema in IMPLICIT:
                numbers[one.name] = one.oid
        return numbers

    @cached_property
    def classes(self) -> dict[int, str]:
        """Names of tables, indexes and relations as `regclass` writes them: with the schema where it is needed."""
        names = {0: "-"}
        for one in relations().values():
            names[one.oid] = one.name if one.schema in IMPLICIT else f"{one.schema}.{one.name}"
        for entry in self.database.tables:
            for name, oid in ((entry.name, entry.oid), *((key.name, key.index) for key in entry.keys)):
                shown = quoted_name(name)
                seen = self.class_numbers.get(name) == oid
                names[oid] = shown if seen else f"{quoted_name(entry.schema)}.{shown}"
        return names

    @cached_property
    def visible(self) -> list[int]:
        """Numbers of tables and indexes that are found without a schema."""
        found = self.database.first.values()
        own = [one.oid for one in relations().values() if one.schema in IMPLICIT]
        return own + [oid for entry in found for oid in (entry.oid, *(key.index for key in entry.keys))]

    @cached_property
    def types(self) -> dict[int, str]:
        """Names of types, as `format_type` and `regtype` write them."""
        return {0: "-"} | {oid: shown_type(oid) for oid in types_by_oid()}

    @cached_property
    def type_numbers(self) -> dict[str, int]:
        """Numbers of types, by all of their names."""
        numbers = {fact.name: fact.oid for fact in types().values()}
        numbers |= {words: numbers[name] for words, name in NAMES_OF_TYPES.items() if name in numbers}
        lists = {fact.element: fact.oid for fact in types().values() if fact.element and fact.name.startswith("_")}
        words = {**numbers, **{shown_type(oid): oid for oid in lists}}
        numbers |= {f"{name}[]": lists[oid] for name, oid in words.items() if oid in lists} | words
        return numbers

    @cached_property
    def namespace_numbers(self) -> dict[str, int]:
        return NAMESPACES | self.database.schemas

    @cached_property
    def namespaces(self) -> dict[int, str]:
        return {0: "-"} | {oid: quoted_name(name) for name, oid in self.namespace_numbers.items()}

    @cached_property
    def role_numbers(self) -> dict[str, int]:
        return {OWNER: OWNER_OID} | {self.database.person: self.database.person_oid}

    @cached_property
    def roles(self) -> dict[int, str]:
        return {0: "-"} | {oid: name for name, oid in self.role_numbers.items()}

    @cached_property
    def function_numbers(self) -> dict[str, int]:
        return {name: int(fact[0]) for name, fact in functions().items()}

    @cached_property
    def functions(self) -> dict[int, str]:
        return {0: "-"} | {oid: name for name, oid in self.function_numbers.items()}

    @cached_property
    def comments(self) -> dict[str, str]:
        """What is said of objects: by their class, number, and column."""
        rows = descriptions(self.database)
        return {f"{CLASSES[row['classoid']]}.{row['objoid']}.{row['objsubid']}": row["description"] for row in rows}

    @cached_property
    def constraints(self) -> dict[int, str]:
        """How keys and references would be declared."""
        tables = {entry.oid: entry for entry in self.database.tables}
        return {
            one.oid: self._declared(entry, one, tables)
            for entry in self.database.tables
            for one in (*entry.keys, *entry.references)
        }

    def _declared(self, entry: Entry, one: Constraint, tables: dict[int, Entry]) -> str:
        listed = ", ".join(map(quoted_name, entry.names(one.numbers)))
        if one.target is None:
            return f"{'PRIMARY KEY' if one.kind == 'p' else 'UNIQUE'} ({listed})"
        there = tables[one.target[0]]
        leads = ", ".join(map(quoted_name, there.names(one.target[1])))
        return f"FOREIGN KEY ({listed}) REFERENCES {self.classes[there.oid]}({leads})"

    @cached_property
    def indexes(self) -> dict[str, str]:
        """How indexes of keys would be made, and their columns: by the number of the index and the place."""
        made: dict[str, str] = {}
        for entry in self.database.tables:
            for key in entry.keys:
                names = [one.name for one in keys(entry)]
                made[f"{key.index}.0"] = index_text(entry, key.name, names)
                made |= {f"{key.index}.{place}": quoted_name(name) for place, name in enumerate(names, 1)}
        return made

    def _written_classes(self) -> dict[str, int]:
        """Numbers of tables, by their names in quotes."""
        names: dict[str, int] = {}
        for entry in self.database.tables:
            whole, schema = (f'"{one.replace(chr(34), 2 * chr(34))}"' for one in (entry.name, entry.schema))
            found = {whole: entry.oid, quoted_name(entry.name): entry.oid}
            names |= found if self.database.first[entry.name] is entry else {}
            names |= {f"{schema}.{whole}": entry.oid}
            names |= {f"{quoted_name(entry.schema)}.{quoted_name(entry.name)}": entry.oid}
        return names

    def variables(self) -> dict[str, tuple[str, str, Any]]:
        """What the engine looks up: variables, with the types of their keys and values (or of a list alone)."""
        database = self.database
        said = {
            "person": database.person,
            "database": database.name,
            "schema": database.path[0],
        }
        by_number = ("types", "classes", "roles", "namespaces", "functions", "constraints")
        by_name = ("type_numbers", "role_numbers", "namespace_numbers", "function_numbers")
        return {
            **{name: ("BIGINT", "VARCHAR", getattr(self, name)) for name in by_number},
            **{name: ("VARCHAR", "BIGINT", getattr(self, name)) for name in by_name},
            "class_numbers": ("VARCHAR", "BIGINT", self._written_classes() | self.class_numbers),
            **{name: ("VARCHAR", "VARCHAR", getattr(self, name)) for name in ("comments", "indexes")},
            "said": ("VARCHAR", "VARCHAR", said),
            "visible": ("", "BIGINT", self.visible),
            "path": ("", "VARCHAR", list(database.path)),
            "self": ("", "VARCHAR", [database.person, str(database.person_oid)]),
            "keywords": ("", "VARCHAR", fact_lines("keywords")),
            "reserved": ("", "VARCHAR", sorted(reserved())),
        }


def _plain(name: str) -> str:
    """A name as it is kept: without quotes, in small letters where it stood in none."""
    parts = PART.findall(name.strip())
    return ".".join(quoted.replace('""', '"') if quoted else plain.lower() for quoted, plain in parts)
