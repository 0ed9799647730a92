"""Drafts a codebook from the names and types of columns alone, and marks what only a human can know.

No value of the data is looked at, and the values of an ENUM, which are part of its type, are not copied: whoever made
the type may have made it from the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sfumato.codebook.entries import comma_list, storable
from sfumato.errors import BadArgument, BadCodebook

MARK = "# FILL: "
"""What a draft puts where a human must say something; a codebook with such a mark is refused."""

ENGINE_TYPES = {
    "int": "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT INT INT2 INT4 INT8",
    "float": "DOUBLE FLOAT REAL FLOAT4 FLOAT8 DECIMAL NUMERIC",
    "str": "VARCHAR TEXT STRING CHAR BPCHAR ENUM UUID",
    "bool": "BOOLEAN BOOL LOGICAL",
    "date": "DATE",
    "time": "TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TIMESTAMPTZ TIMESTAMPTZ_NS DATETIME",
}
"""The types of a codebook, and the engine's names of each."""

TYPES = {engine: kind for kind, names in ENGINE_TYPES.items() for engine in names.split()}

ASKED = {
    "int": "between: [lower, upper] and its source, if it is ever summed; a number is moved into its bounds",
    "float": "between: [lower, upper] and its source, if it is ever summed; a number is moved into its bounds",
    "str": "categories or keys, and their source, if the values are public; otherwise they are selected privately",
    "date": "between: [first, last] and its source, if the period is public",
    "time": "between: [first, last] and its source, if the period is public",
}
"""What a human may know about a column of each type."""

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NOT_TEXTS = ("true", "false", "null")

PROTECTS = "who is protected, in words that are printed with every release, such as a person"
NEVER = "nullable: false and its source, in each column that is never missing; others may be"
NOT_SAID = (
    "int, float, str, bool, date or time; the file does not say, and its values are not looked at. Then between: "
    "[lower, upper] or categories: […], with their source, if they are public; format: '%d/%m/%Y' if days are not "
    "written as 2012-01-31"
)


FEW = 5
"""The most marks that a refusal lists; the file has all of them."""


def draft(
    schema: Mapping[str, Mapping[str, str]],
    *,
    id: str | None = None,
    protects: str = "",
    between: Mapping[tuple[str, str], tuple[object, object, str]] | None = None,
) -> str:
    """Writes a codebook to fill in, from tables, their columns and the engine's types of these.

    ``id`` is the column that says whose a row is, and ``protects`` says who that is, where it is known; a type that is
    not known is an empty text. ``between`` has bounds that earlier releases gave, with the release, by table and
    column. What only a human can say is marked, and `Codebook.read` refuses the text until nothing is marked any more.

    >>> print(draft({"visits": {"user_id": "BIGINT", "left": "BOOLEAN"}}, id="user_id").partition("tables:")[2])
    <BLANKLINE>
      visits:
        # FILL: contributions: {rows: …, by: fact or truncation, source: …}, if it is known how much may be one unit's
        # FILL: nullable: false and its source, in each column that is never missing; others may be
        columns:
          user_id: {type: int}
          left: {type: bool}
    <BLANKLINE>
    """
    if not schema or not all(schema.values()):
        raise BadArgument("a schema", "at least one table, each with columns", schema)
    if id is not None and not any(id in columns for columns in schema.values()):
        raise BadArgument("id", f"a column of {comma_list([*schema])}", id)
    lines = [
        "codebook: 1",
        f"title: {MARK}what the data is, in a few words",
        f"{MARK}created: and collected: when this was written, and when the data was or will be collected",
        "unit:",
        f"  protects: {_quoted(protects) if protects else MARK + PROTECTS}",
    ]
    if id is None:
        lines.append(
            f"  {MARK}id: the column that says whose a row is; nothing where each row is a unit of its own, "
            "which contributions then say: {rows: 1, by: fact, source: …}"
        )
    else:
        lines.append(f"  id: {_quoted(id)}")
    lines.append("tables:")
    for name, columns in schema.items():
        bounds = {column: released for (table, column), released in (between or {}).items() if table == name}
        lines += _table(name, columns, id, bounds)
    return "\n".join(lines) + "\n"


def refuse_draft(text: str) -> None:
    """Refuses a text in which something is still to fill in, and lists where that begins."""
    left = [
        f"line {number}{_key(line)}: {line.partition(MARK)[2].strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        if MARK in line
    ]
    if left:
        raise BadCodebook(
            "the draft",
            "fill in what is marked, and remove each mark (or the mark alone, where there is nothing to say): "
            + "; ".join([*left[:FEW], f"and {len(left) - FEW} more"] if len(left) > FEW else left),
        )


def _key(line: str) -> str:
    before = line.partition(MARK)[0].partition(": ")[0].strip()
    return f", {before}" if before else ""


def _table(
    name: str, columns: Mapping[str, str], id: str | None, between: Mapping[str, tuple[object, object, str]]
) -> Iterator[str]:
    yield f"  {_quoted(name)}:"
    if id is not None and id not in columns:
        yield f"    {MARK}id: {{through: …, of: …}}, the foreign key that leads to whose a row is; or public: true"
    else:
        yield (
            f"    {MARK}contributions: {{rows: …, by: fact or truncation, source: …}}, if it is known how much may be "
            "one unit's"
        )
    yield f"    {MARK}{NEVER}"
    yield "    columns:"
    for column, engine in columns.items():
        yield from _column(column, engine, between.get(column), is_id=column == id)


def kind_of(engine: str) -> str | None:
    """The codebook's type for an engine's type, None where there is none.

    >>> kind_of("DECIMAL(18, 3)"), kind_of("ENUM('a', 'b')[]")
    ('float', None)
    """
    return TYPES.get(_head(engine))


def _head(engine: str) -> str:
    """The name of a type in one word: without its parameters, in capitals."""
    text = engine.strip().upper().replace(" WITH TIME ZONE", "TZ")
    is_list = "(" in text and text.endswith("]")
    return text.partition("(")[0].strip() + ("[]" if is_list else "")


def _column(column: str, engine: str, between: tuple[object, object, str] | None, *, is_id: bool) -> Iterator[str]:
    head, kind = _head(engine), kind_of(engine)
    if not head:
        yield f"      {_quoted(column)}:"
        yield f"        type: {MARK}{NOT_SAID}"
    elif kind is None:
        yield f"      # {_quoted(column)} is left out: {_quoted(head)} is no type of a codebook"
    elif between is not None:
        low, high, release = between
        bounds = f"between: [{low}, {high}], source: {{release: {_quoted(release)}}}"
        yield f"      {_quoted(column)}: {{type: {kind}, {bounds}}}"
    else:
        asked = f"  {MARK}{ASKED[kind]}" if kind in ASKED and not is_id else ""
        yield f"      {_quoted(column)}: {{type: {kind}}}{asked}"


def _quoted(name: str) -> str:
    """Writes a name so that YAML reads it as that text, on one line, whatever is in it."""
    if not isinstance(name, str) or not name.strip() or not storable(name):
        raise BadArgument("a name in a schema", "a text", name)
    if WORD.fullmatch(name) and name not in NOT_TEXTS:
        return name
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\#:' or not letter.isprintable():
        return f"\\U{ord(letter):08x}"
    return letter
