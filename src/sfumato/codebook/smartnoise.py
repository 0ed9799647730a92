"""Reads the metadata of SmartNoise SQL as a codebook, and says what it leaves open.

The format (docs.smartnoise.org, "Metadata"): a database has schemas, these have tables, and a table has settings and
columns side by side. It says nothing of where a bound is from or of who is protected, so whoever takes it over must.
"""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.codebook.columns import Place, Plain
from sfumato.codebook.entries import Entries, comma_list
from sfumato.codebook.tables import FACT, TRUNCATION
from sfumato.errors import BadCodebook, shown

TYPES = {"int": "int", "float": "float", "string": "str", "boolean": "bool", "datetime": "time"}
"""The types of SmartNoise, as those of a codebook."""

TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""What YAML 1.1, in which these files are written, calls true and false."""

SETTINGS = frozenset({"row_privacy", "max_ids", "sample_max_ids", "censor_dims", "clamp_counts", "clamp_columns"})
"""Settings of a table that nothing but metadata has."""

ROW = "one row"
"""Who is protected where each row is its own unit."""

BOUNDS = (
    "bounds are taken over as public facts, and the file does not say where they are from: make sure that none was "
    "read off the data, then name the true source of each"
)


def from_smartnoise(given: object, *, file: str = "") -> tuple[Plain, tuple[str, ...]]:
    """Turns metadata of SmartNoise into the plain data of a codebook, with notes on what to check in it."""
    source = f"SmartNoise metadata {file}".strip()
    if not _is_metadata(given):  # and so perhaps data, of which nothing may be repeated
        raise BadCodebook(source, "it must have a database at the top, in it schemas, tables, and columns with a type")
    database = {key: value for key, value in Entries.read(given, source).given.items() if key != "engine"}
    if len(database) != 1:
        raise BadCodebook(
            source, f"it must have one database at the top; got {comma_list([shown(key) for key in database])}"
        )
    ((title, schemas),) = database.items()
    tables: Plain = {}
    notes: list[str] = []
    for schema, inside in Entries.read(schemas, source).given.items():
        for name, table in Entries.read(inside, f"{source}, {schema}").given.items():
            full = ".".join(part for part in (str(schema), str(name)) if part)
            if full in tables:
                raise BadCodebook(source, f"there are two tables {full}")
            tables[full] = _table(Entries.read(table, f"{source}, {full}"), full, notes)
    said = {
        "codebook": 1,
        "title": str(title).strip() or source,
        "unit": _unit(tables, source, notes),
        "tables": tables,
    }
    return said, tuple(notes)


def _is_metadata(given: object) -> bool:
    """Tells whether something has the shape of metadata, with a column that has a type or a setting that is known."""
    level: list[object] = [given]
    for _ in range(3):
        if not all(isinstance(part, Mapping) for part in level):
            return False
        level = [child for part in level if isinstance(part, Mapping) for key, child in part.items() if key != "engine"]
    tables = [part for part in level if isinstance(part, Mapping)]
    typed = any(isinstance(column, Mapping) and "type" in column for table in tables for column in table.values())
    return len(tables) == len(level) and (typed or any(not SETTINGS.isdisjoint(table) for table in tables))


def _unit(tables: Mapping[str, object], source: str, notes: list[str]) -> Plain:
    ids = {name: table["id"] for name, table in tables.items() if isinstance(table, dict) and "id" in table}
    if ids and len(ids) < len(tables):
        rows = comma_list([name for name in tables if name not in ids])
        raise BadCodebook(
            source,
            f"{comma_list([*ids])} have a private_id and {rows} have row_privacy: a codebook protects one kind of "
            "unit. Give each table a private_id, or keep two files",
        )
    notes.append(
        "unit, protects: the file does not say who is protected. Write it in words: they are printed with every release"
    )
    if not ids:
        return {"protects": ROW}
    column = next(iter(ids.values()))
    return {"protects": f"whoever one {column} stands for", "id": column}


def _table(entries: Entries, name: str, notes: list[str]) -> Plain:
    source = f"{entries.where} (where that is from is not said)"
    rows = _truth(entries, "row_privacy", usual=False)
    limit = entries.whole("max_ids", least=1) or 1
    sampled = _truth(entries, "sample_max_ids", usual=True)
    notes += _settings(entries, name)
    declared = {str(key): Entries.read(value, f"{entries.where}, {key}") for key, value in _columns(entries)}
    ids = [column for column, said in declared.items() if _truth(said, "private_id", usual=False)]
    if len(ids) > 1 and not rows:
        entries.refuse(f"it has several columns with private_id ({comma_list(ids)}); a row belongs to one unit")
    if not rows and not ids:
        entries.refuse("it has neither a private_id nor row_privacy: true, so nobody knows who is protected")
    columns = {column: _column(said, Place(name, column), source, notes) for column, said in declared.items()}
    plain: Plain = {"columns": {column: said for column, said in columns.items() if said}}
    if any("between" in said for said in columns.values()):
        notes.append(f"{name}: {BOUNDS}")
    if rows:
        if ids or limit > 1:
            notes.append(f"{name}: each row is a unit of its own (row_privacy), so private_id and max_ids are left out")
        contributions: Plain = {"rows": 1, "by": FACT, "source": f"{entries.where}: row_privacy"}
        return {**plain, "contributions": contributions}
    notes.append(
        f"{name}: max_ids ({limit}) is taken over as a bound that truncation makes true; check that it was not read "
        "off the data"
        if sampled
        else f"{name}: sample_max_ids is false, so max_ids ({limit}) is taken over as a fact about every possible "
        "table: if anybody can have more rows, write by: truncation"
    )
    by = TRUNCATION if sampled else FACT
    return {**plain, "id": ids[0], "contributions": {"rows": limit, "by": by, "source": source}}


def _settings(entries: Entries, name: str) -> list[str]:
    """Reads the settings that have no place in a codebook, and says what becomes of them."""
    notes = []
    if any([entries.has("rows"), entries.has("rows_exact")]):  # both are asked for: what is not would be a column
        notes.append(
            f"{name}: the number of rows (rows, rows_exact) is left out, as it may be private. If it is public, write "
            "size: {exactly: …, source: …}"
        )
    if not _truth(entries, "censor_dims", usual=True):
        notes.append(
            f"{name}: censor_dims is false, so SmartNoise showed every key it met. Here keys are private unless they "
            "are listed (categories, keys)"
        )
    if not _truth(entries, "clamp_columns", usual=True):
        notes.append(f"{name}: clamp_columns is false; here values are always moved into their bounds")
    dropped = [key for key in ("clamp_counts", "use_dpsu") if _truth(entries, key, usual=False)]
    if dropped:
        notes.append(f"{name}: {comma_list(dropped)} say how SmartNoise answers, not what is public, and are left out")
    return notes


def _columns(entries: Entries) -> list[tuple[object, object]]:
    return [(key, value) for key, value in entries.given.items() if key not in entries.asked]


def _column(entries: Entries, place: Place, source: str, notes: list[str]) -> Plain:
    """A column as a codebook has it, empty where SmartNoise ignores it."""
    if entries.value("type") == "unknown":
        notes.append(f"{place}: its type is unknown, so it is left out")
        return {}
    kind = TYPES[entries.one_of("type", tuple(TYPES), usual="")]
    plain: Plain = {"type": kind}
    lower, upper = entries.value("lower"), entries.value("upper")
    if lower is not None and upper is not None:
        plain |= {"between": [lower, upper], "source": source}
    elif lower is not None or upper is not None:
        notes.append(f"{place}: it has one bound of two, which bounds nothing; it is left out")
    if entries.has("cardinality"):
        notes.append(
            f"{place}: a cardinality says how many values there are, not which, and is left out. If they are public, "
            "list them (categories, keys); otherwise they are selected privately"
        )
    if entries.has("sensitivity"):
        notes.append(f"{place}: the sensitivity is left out; it follows from bounds here (between)")
    if entries.has("missing_value"):
        value = shown(entries.value("missing_value"))
        plain["missing"] = f"SmartNoise read missing values as {value}"
        notes.append(f"{place}: missing values are not replaced by {value} here; a query can do that (COALESCE)")
    if _truth(entries, "nullable", usual=True) or "missing" in plain:
        plain["nullable"] = True
    else:
        plain |= {"nullable": False, "source": source}
    entries.done()
    return plain


def _truth(entries: Entries, key: str, *, usual: bool) -> bool:
    value = entries.value(key)
    if value is None:
        return usual
    truth = value if isinstance(value, bool) else TRUTHS.get(str(value).casefold())
    return entries.refuse(f"{key} must be true or false; got {shown(value)}") if truth is None else truth
