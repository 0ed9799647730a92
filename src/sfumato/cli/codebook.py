"""The command ``sfumato codebook``: drafts a codebook, checks one, and takes over metadata of SmartNoise SQL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from sfumato.accounting.losses.measures import Loss
from sfumato.cli.exits import REFUSED, interruptible, misused, tell
from sfumato.cli.inputs import Source, open_session, shown
from sfumato.cli.parsing import loss_of
from sfumato.cli.query import (
    Address,
    Delta,
    Engine,
    Epsilon,
    LimitDelta,
    LimitEpsilon,
    LimitRho,
    Rho,
    Version,
    working,
)
from sfumato.codebook.book import Codebook
from sfumato.codebook.draft import MARK, draft, kind_of
from sfumato.errors import BadArgument
from sfumato.query.engines.data_check import check_data
from sfumato.query.engines.registry import schema_of
from sfumato.release.render.text import columns
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import Person

app = typer.Typer(help="Drafts, checks and converts codebooks: what is public about data.", no_args_is_help=True)

Schema = dict[str, dict[str, str]]
Between = dict[tuple[str, str], tuple[str, str, str]]
"""Lower and upper bound, and the release that they are from, by table and column."""

Files = Annotated[list[str], typer.Argument(help="Files, a table each, or databases.", show_default=False)]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A new file; standard output if left out.")]


@app.command()
def init(
    files: Files,
    *,
    unit: Annotated[str | None, typer.Option(help="The column that says whose a row is.")] = None,
    protects: Annotated[str, typer.Option(help="Who is protected, as it is printed with every release.")] = "",
    output: Output = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    ledger: Address = None,
    data_version: Version = None,
    engine: Engine = None,
    limit_epsilon: LimitEpsilon = None,
    limit_delta: LimitDelta = None,
    limit_rho: LimitRho = None,
) -> None:
    """Drafts a codebook from the schema alone, never from values, and marks what a human must fill in.

    With --epsilon (or --rho), --unit and --protects, bounds of numbers are bought: found privately, paid from the
    ledger, and written into the draft with the entry of the ledger that they are from.
    """
    _check_new(output)
    schema: Schema = {}
    for one in files:
        for table, types in schema_of(one, engine=engine).items():
            if table in schema:
                misused(f"two tables would be called {table}: rename one of the files.")
            schema[table] = dict(types)
    loss = loss_of(epsilon, delta, rho)
    between: Between = {}
    if loss is not None:
        limit = loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-")
        data = Source(files[0], None, version=data_version, engine=engine)
        between = _buy(data, schema, _bought_for(files, schema, unit, protects), data.ledger(ledger), loss, limit)
    text = draft(schema, id=unit, protects=protects, between=between)
    _write(text, output)
    if output is not None:
        tell(f"{output}: {_left(text.count(MARK))} Questions say which line they need besides.")


def _left(marks: int) -> str:
    """Says how much of a draft is to be filled in."""
    if marks == 0:
        return "nothing is left to fill in before rows can be counted."
    many = "1 place is" if marks == 1 else f"{marks} places are"
    return f"{many} marked '{MARK.strip()}', to be filled in from public knowledge; then rows can be counted."


def _bought_for(files: list[str], schema: Schema, unit: str | None, protects: str) -> Person:
    if unit is None or not protects or len(files) != 1 or len(schema) != 1:
        misused(
            "bounds are bought for one file with people in it: give one FILE, --unit with the column of their ids, and "
            "--protects 'a person', or whoever they are."
        )
    return Person(unit, protects)


def _buy(source: Source, schema: Schema, person: Person, address: str, loss: Loss, limit: Loss | None) -> Between:
    facts = _provisional(schema, person)
    data = Dataset(source.data, codebook=facts, version=source.version, engine=source.engine)
    [table] = schema
    wanted = [column for column, kind in _kinds(schema[table]) if kind in ("int", "float") and column != person.id]
    if not wanted:
        misused("there are no columns of numbers to buy bounds for.")
    session = open_session(data, address, limit)
    with interruptible(shown(address)), working("buying bounds"):
        bought = session.buy_bounds(table, wanted, loss=loss)
    ends = {(table, column): bounds.between for column, bounds in bought.items()}
    for column in wanted:
        low, high, release = ends.get((table, column), ("?", "?", "no band has surely anybody in it"))
        tell(f"  {table}.{column} in [{low}, {high}]: {release}")
    return ends


def _provisional(schema: Schema, person: Person) -> Codebook:
    """A codebook that says who is protected and which columns there are, and no more."""
    tables = {
        table: {"columns": {name: {"type": kind, "nullable": True} for name, kind in _kinds(types)}}
        for table, types in schema.items()
    }
    unit = {"protects": person.protects, "id": person.id}
    return Codebook.read({"codebook": 1, "title": ", ".join(schema), "unit": unit, "tables": tables})


def _kinds(types: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, engine in types.items():
        kind = kind_of(engine)
        if kind is not None:
            yield name, kind


@app.command()
def check(
    codebook: Annotated[Path, typer.Argument(help="The codebook.", show_default=False)],
    data: Annotated[str | None, typer.Argument(help="The data, to count what does not read.")] = None,
    *,
    table: Annotated[list[str] | None, typer.Option("--table", help="NAME=FILE, for each further table.")] = None,
    engine: Engine = None,
) -> None:
    """Reads a codebook; prints whom it protects, its facts, and what to look at. Counts what of the data does not read.

    The counts are exact and nothing is charged for them: they are for whoever holds the data, and not to be published.
    """
    book = Codebook.read(codebook)
    sys.stdout.write(f"{book.title}: protects {book.protects}" + f", by {book.id}" * bool(book.id) + "\n")
    facts = [(fact.what, fact.source) for fact in book.facts()]
    if facts:
        sys.stdout.write("\n".join(["", "Facts that releases rest on", *columns(facts), ""]))
    if book.flags:
        flags = [(flag,) for flag in book.flags]
        sys.stdout.write("\n".join(["", "To look at before anything is published", *columns(flags), ""]))
    if data is not None:
        _check(Source(data, codebook, None, table or (), engine=engine), book)


def _check(source: Source, book: Codebook) -> None:
    """Prints how data reads by its codebook, and ends with a code of its own where some of it does not."""
    checked = check_data(source.by_table(book), book, engine=source.engine)
    sys.stdout.write(f"\nHow the data reads (exact counts, for the holder of the data only)\n{checked}\n")
    outside = sum(column.outside for table in checked.tables for column in table.columns)
    if outside:
        sys.stdout.write("outside: numbers are moved into their bounds; days, times and categories become missing\n")
    if checked.fits:
        sys.stdout.write("The data fits\n" if not outside else "The data fits, but for what is outside\n")
        return
    for column, many in checked.unread.items():
        tell(f"sfumato: {many} values of {column} do not read by its type, and would be taken as missing.")
    for one in checked.tables:
        if one.unread:
            tell(f"sfumato: {one.unread} rows of {one.name} cannot be read, and would be left out.")
    tell("The data does not fit. Correct the type, or say how texts are written: format: '%d/%m/%Y', decimal: ','.")
    raise typer.Exit(REFUSED)


@app.command()
def smartnoise(
    metadata: Annotated[Path, typer.Argument(help="Metadata of SmartNoise SQL, YAML.", show_default=False)],
    *,
    output: Output = None,
) -> None:
    """Takes over metadata of SmartNoise SQL; says what it leaves open."""
    _check_new(output)
    book, notes = Codebook.read_smartnoise(metadata)
    _write(book.to_yaml(), output)
    for note in notes:
        tell(f"  {note}")


def _check_new(output: Path | None) -> None:
    if output is not None and output.exists():
        tell(f"sfumato: {output} is there already, and may hold what somebody filled in: name another file.")
        raise typer.Exit(REFUSED)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        raise BadArgument("--output", "a new file that can be written", str(output)) from None
