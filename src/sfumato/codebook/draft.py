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

TYPE_WORDS = {
    "int": "TINYINT SMALLINT INTEGER BIGINT INT INT2 INT4 INT8",
    "float": "DOUBLE FLOAT REAL FLOAT4 FLOAT8 DECIMAL NUMERIC",
    "str": "VARCHAR TEXT STRING CHAR BPCHAR ENUM UUID",
    "bool": "BOOLEAN BOOL LOGICAL",
    "date": "DATE",
    "time": "TIMESTAMP TIMESTAMPTZ DATETIME",
}
"""The types of a codebook, and SQL's words for each. An engine with other words says these (`Opener.schema_of`)."""

TYPES = {engine: kind for kind, names in TYPE_WORDS.items() for engine in names.split()}

HINTS = {
    "int": "to add it up: between: [lower, upper], source: …; numbers are moved into their bounds",
    "float": "to add it up: between: [lower, upper], source: …; numbers are moved into their bounds",
    "str": "if its values are public: categories: […] instead of type, source: …; else they are selected privately",
    "date": "if the period is public: between: [first, last], source: …",
    "time": "if the period is public: between: [first, last], source: …",
}
"""What a human may know about a column of each type, and a question may need: it says so when it does."""

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NOT_TEXTS = ("true", "false", "null")

PROTECTS = "who is protected, in words that are printed with every release, such as a person"
WHOSE = (
    "the column that says whose a row is. Where each row is somebody of their own, leave it out, and write under each "
    "table contributions: {rows: 1, by: fact, source: …}"
)
FURTHER = (
    "# A question that needs more says which line to add. All of it is from public knowledge, never from the data:",
    "# created: and collected: when this was written, and when the data was collected; under a table contributions:",
    "# {rows: …, by: fact, source: …}, if no unit can have more of any such table; in a column nullable: false, why.",
)
NOT_SAID = "or int, float, bool, date, time: the file does not say, and its values are not looked at"
UNTYPED = "# A day that is not written as 2012-01-31 needs format: '%d/%m/%Y', or whatever it is, beside its type."


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
    column. One place is marked: who is protected, or by which column; `Codebook.read` refuses the text until it is
    filled in. Then rows can be counted; what else may be stated is in comments.

    >>> print(draft({"visits": {"user_id": "BIGINT", "left": "BOOLEAN"}}, id="user_id").partition("unit:")[2])
    <BLANKLINE>
      protects: # FILL: who is protected, in words that are printed with every release, such as a person
      id: user_id
    tables:
      visits:
        columns:
          user_id: {type: int}
          left: {type: bool}
    <BLANKLINE>
    """
    if not schema or not all(schema.values()):
        raise BadArgument("a schema", "at least one table, each with columns", schema)
    if id is not None and not any(id in columns for columns in schema.values()):
        raise BadArgument("id", f"a column of {comma_list([*schema])}", id)
    who = _quoted(protects) if protects else f"{MARK}{PROTECTS}" if id is not None else "a person"
    lines = [
        "codebook: 1",
        *FURTHER,
        *[UNTYPED] * any(not engine for columns in schema.values() for engine in columns.values()),
        f"title: {_quoted(comma_list([*schema]))}",
        "unit:",
        f"  protects: {who}",
        f"  id: {MARK + WHOSE if id is None else _quoted(id)}",
        "tables:",
    ]
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
        yield f"      {_quoted(column)}: {{type: str}}  # {NOT_SAID}"
    elif kind is None and (item := kind_of(head.removesuffix("[]"))) is not None and head.endswith("[]"):
        yield f"      {_quoted(column)}: {{type: list, items: {{type: {item}}}}}  # UNNEST looks into it"
    elif kind is None:
        yield f"      # {_quoted(column)} is left out: {_quoted(head)} is no type of a codebook"
    elif between is not None:
        low, high, release = between
        bounds = f"between: [{low}, {high}], source: {{release: {_quoted(release)}}}"
        yield f"      {_quoted(column)}: {{type: {kind}, {bounds}}}"
    else:
        hint = f"  # {HINTS[kind]}" if kind in HINTS and not is_id else ""
        yield f"      {_quoted(column)}: {{type: {kind}}}{hint}"


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
