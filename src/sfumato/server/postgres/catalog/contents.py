"""What stands in the catalog's relations: PostgreSQL's own facts, and what the codebooks say of data sets.

A row is a dictionary of what is said in it; the rest of its columns is NULL or, where PostgreSQL never has NULL,
nothing (0, false, an empty text). Relations that are not here are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

from sfumato.server.postgres.catalog.described import OWNER, OWNER_OID, Attribute, Database, Entry
from sfumato.server.postgres.catalog.relations import CATALOG, INFORMATION, relations
from sfumato.server.postgres.catalog.types import fact_lines, types

Row: TypeAlias = dict[str, Any]

NAMESPACES = {"pg_catalog": 11, "pg_toast": 99, "public": 2200, "information_schema": 13207}
DOMAINS = ("cardinal_number", "character_data", "sql_identifier", "time_stamp", "yes_or_no")
BTREE = 403
OPERATORS = {
    "bool": (10003, 424),
    "date": (3122, 434),
    "float8": (3123, 1970),
    "int8": (3124, 1976),
    "text": (3126, 1994),
    "timestamp": (3128, 434),
}
"""Of types that may be keys: PostgreSQL's class of operators of an index, and its family."""

COLLATED = ("text", "name", "varchar", "bpchar")


@cache
def functions() -> dict[str, tuple[str, ...]]:
    """PostgreSQL's functions through which values go in and out, by name."""
    return {line.split(" ")[1]: tuple(line.split(" ")) for line in fact_lines("functions")}


def namespaces(database: Database) -> Iterator[Row]:
    """All schemas."""
    for name, oid in (NAMESPACES | database.schemas).items():
        rights = [f"{quoted_name(database.person)}=U/{OWNER}"] if name in database.schemas else None
        yield {"oid": oid, "nspname": name, "nspowner": OWNER_OID, "nspacl": rights}


def classes(database: Database) -> Iterator[Row]:
    """All tables, their indexes, and PostgreSQL's own relations."""
    for one in relations().values():
        said = {"oid": one.oid, "relname": one.name, "relnamespace": NAMESPACES[one.schema], "relkind": one.kind}
        yield {**said, "relam": 2 if one.kind == "r" else 0, "relnatts": len(one.columns), **OF_CLASSES}
    for entry in database.tables:
        rows = entry.stated.size
        yield {
            **OF_CLASSES,
            "oid": entry.oid,
            "relname": entry.name,
            "relnamespace": entry.schema_oid,
            "relam": 2,
            "relfilenode": entry.oid,
            "reltuples": -1 if rows is None else rows,
            "relhasindex": bool(entry.keys),
            "relkind": "r",
            "relnatts": len(entry.attributes),
            "relreplident": "d",
            "relacl": [f"{quoted_name(database.person)}=r/{OWNER}"],
        }
        for key in entry.keys:
            yield {
                **OF_CLASSES,
                "oid": key.index,
                "relname": key.name,
                "relnamespace": entry.schema_oid,
                "relam": BTREE,
                "relfilenode": key.index,
                "relkind": "i",
                "relnatts": len(key.numbers),
            }


OF_CLASSES: Row = {"relowner": OWNER_OID, "relpersistence": "p", "relispopulated": True, "relreplident": "n"}


def attributes(database: Database) -> Iterator[Row]:
    """All columns."""
    for relation in relations().values():
        for place, (name, kind) in enumerate(relation.columns, 1):
            yield attribute(relation.oid, place, name, kind, never=name in relation.never)
    for entry in database.tables:
        for one in entry.attributes:
            yield attribute(entry.oid, one.number, one.name, one.type, never=one.never)
        for key in entry.keys:
            for place, number in enumerate(key.numbers, 1):
                one = entry.attributes[number - 1]
                yield attribute(key.index, place, one.name, one.type, never=False)


def attribute(relation: int, place: int, name: str, kind: str, *, never: bool) -> Row:
    """One column."""
    fact = types()[kind]
    return {
        "attrelid": relation,
        "attname": name,
        "atttypid": fact.oid,
        "attstattarget": -1,
        "attlen": int(fact.fields[0]),
        "attnum": place,
        "attndims": int(kind.startswith("_")),
        "attcacheoff": -1,
        "atttypmod": -1,
        "attbyval": fact.fields[1] == "t",
        "attalign": fact.fields[13],
        "attstorage": fact.fields[14],
        "attnotnull": never,
        "attislocal": True,
        "attcollation": 100 if kind in COLLATED else 0,
    }


TYPE_FIELDS = (
    *("typlen", "typbyval", "typtype", "typcategory", "typispreferred", "typelem", "typarray"),
    *("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout"),
    *("typalign", "typstorage", "typndims", "typcollation", "typsubscript", "typbasetype", "typdelim"),
)
BY_FUNCTION = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typsubscript")


def all_types(database: Database) -> Iterator[Row]:
    """PostgreSQL's types."""
    numbers = {name: fact[0] for name, fact in functions().items()}
    for fact in types().values():
        said: Row = dict(zip(TYPE_FIELDS, fact.fields, strict=True))
        said |= {field: numbers.get(said[field], "0") for field in BY_FUNCTION}
        of_domain = fact.name.lstrip("_") in DOMAINS
        yield {
            **said,
            "oid": fact.oid,
            "typname": fact.name,
            "typnamespace": NAMESPACES[INFORMATION if of_domain else CATALOG],
            "typowner": OWNER_OID,
            "typisdefined": True,
            "typtypmod": -1,
        }


def procedures(database: Database) -> Iterator[Row]:
    """PostgreSQL's functions through which values go in and out."""
    for oid, name, result, volatile, strict, many, takes in functions().values():
        yield {
            "oid": oid,
            "proname": name,
            "pronamespace": 11,
            "proowner": OWNER_OID,
            "prolang": 12,
            "procost": 1,
            "prokind": "f",
            "proisstrict": strict,
            "provolatile": volatile,
            "proparallel": "s",
            "pronargs": many,
            "prorettype": result,
            "proargtypes": [] if takes == "-" else [int(part) for part in takes.split(",")],
            "prosrc": name,
        }


def keys(entry: Entry) -> list[Attribute]:
    """The columns of the key of a table."""
    return [entry.attributes[number - 1] for key in entry.keys for number in key.numbers]


def indexes(database: Database) -> Iterator[Row]:
    """An index for each key."""
    for entry in database.tables:
        for key in entry.keys:
            columns = keys(entry)
            yield {
                "indexrelid": key.index,
                "indrelid": entry.oid,
                "indnatts": len(columns),
                "indnkeyatts": len(columns),
                "indisunique": True,
                "indisprimary": key.kind == "p",
                "indimmediate": True,
                "indisvalid": True,
                "indisready": True,
                "indislive": True,
                "indkey": list(key.numbers),
                "indcollation": [100 if one.type in COLLATED else 0 for one in columns],
                "indclass": [OPERATORS.get(one.type, OPERATORS["text"])[0] for one in columns],
                "indoption": [0] * len(columns),
            }


def constraints(database: Database) -> Iterator[Row]:
    """Keys and references to them."""
    for entry in database.tables:
        for one in (*entry.keys, *entry.references):
            there, numbers = one.target if one.target is not None else (0, ())
            yield {
                "oid": one.oid,
                "conname": one.name,
                "connamespace": entry.schema_oid,
                "contype": one.kind,
                "convalidated": True,
                "conrelid": entry.oid,
                "conindid": one.index,
                "confrelid": there,
                "confupdtype": "a" if there else " ",
                "confdeltype": "a" if there else " ",
                "confmatchtype": "s" if there else " ",
                "conislocal": True,
                "connoinherit": True,
                "conkey": list(one.numbers),
                "confkey": list(numbers) if there else None,
            }


def descriptions(database: Database) -> Iterator[Row]:
    """What codebooks say of data sets, tables and columns."""
    for described in database.visible:
        book = described.codebook
        text = " · ".join(part for part in (book.title, book.description) if part)
        yield {"objoid": database.schemas[described.namespace], "classoid": 2615, "objsubid": 0, "description": text}
    for entry in database.tables:
        if entry.comment:
            yield {"objoid": entry.oid, "classoid": 1259, "objsubid": 0, "description": entry.comment}
        for one in entry.attributes:
            if one.comment:
                yield {"objoid": entry.oid, "classoid": 1259, "objsubid": one.number, "description": one.comment}


def databases(database: Database) -> Iterator[Row]:
    """The one database there is for whoever is connected."""
    yield {
        "oid": database.oid,
        "datname": database.name,
        "datdba": OWNER_OID,
        "encoding": 6,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "datfrozenxid": 1,
        "datminmxid": 1,
        "dattablespace": 1663,
        "datcollate": "C.UTF-8",
        "datctype": "C.UTF-8",
    }


def roles(database: Database) -> Iterator[Row]:
    """Whoever asks, and the service, whose all things are; nobody learns who else there is."""
    named = {OWNER: OWNER_OID} | {database.person: database.person_oid}
    for name, oid in named.items():
        yield {
            "oid": oid,
            "usesysid": oid,
            "rolname": name,
            "usename": name,
            "rolinherit": True,
            "rolcanlogin": name == database.person,
            "rolconnlimit": -1,
            "rolpassword": "********",
            "passwd": "********",
        }


def settings(database: Database) -> Iterator[Row]:
    """PostgreSQL's settings that tools read."""
    for line in fact_lines("settings"):
        name, value, unit, context, kind, _ = line.split("|")
        yield {
            "name": name,
            "setting": value,
            "unit": unit or None,
            "category": "",
            "short_desc": "",
            "context": context,
            "vartype": kind,
            "source": "default",
            "boot_val": value,
            "reset_val": value,
            "pending_restart": False,
        }


def operator_classes(database: Database) -> Iterator[Row]:
    """Classes of operators of the indexes there are."""
    for kind, (oid, family) in OPERATORS.items():
        yield {
            "oid": oid,
            "opcmethod": BTREE,
            "opcname": f"{kind}_ops",
            "opcnamespace": 11,
            "opcowner": OWNER_OID,
            "opcfamily": family,
            "opcintype": types()[kind].oid,
            "opcdefault": True,
        }


def index_text(entry: Entry, name: str, columns: Sequence[str]) -> str:
    """How the index of a key would be made."""
    listed = ", ".join(quoted_name(one) for one in columns)
    where = f"{quoted_name(entry.schema)}.{quoted_name(entry.name)}"
    return f"CREATE UNIQUE INDEX {quoted_name(name)} ON {where} USING btree ({listed})"


def quoted_name(name: str) -> str:
    """A name as it is written in SQL."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and name.islower() and not name[0].isdigit()
    doubled = name.replace('"', '""')
    return name if plain and name not in reserved() else f'"{doubled}"'


@cache
def reserved() -> frozenset[str]:
    """Words that are no names without quotes."""
    return frozenset(line.split(" ")[0] for line in fact_lines("keywords") if not line.endswith(" U"))
