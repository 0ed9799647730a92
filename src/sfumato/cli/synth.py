"""The commands ``sfumato synth``: make synthetic data of files, paid from a ledger, draw rows and report."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from sfumato.cli.exits import BROKE_OFF, interruptible, misused, tell
from sfumato.cli.inputs import Source, open_session, shown
from sfumato.cli.output import check_writable
from sfumato.cli.parsing import loss_of
from sfumato.cli.query import (
    Address,
    Book,
    Data,
    Delta,
    Engine,
    Epsilon,
    LimitDelta,
    LimitEpsilon,
    LimitRho,
    MaxRows,
    Name,
    Rho,
    Same,
    Tables,
    Unit,
    Version,
    notes_of,
    working,
)
from sfumato.cli.rows import write_rows

if TYPE_CHECKING:
    from sfumato.synth import Synthesizer, Synthetic

app = typer.Typer(help="Makes synthetic data, draws rows of it and reports on it.", no_args_is_help=True)

Method = Annotated[str, typer.Option(help="aim, mst, independent …: how it is made.")]
From = Annotated[str | None, typer.Option("--from", help="The table to synthesise, where there are several.")]
Columns = Annotated[str | None, typer.Option(help="A,B,…, the columns to synthesise; all but ids, if left out.")]
Bins = Annotated[list[str] | None, typer.Option("--bins", help="COLUMN=16, into how many bins numbers are put.")]
Buy = Annotated[
    str | None, typer.Option(help="A,B,…, columns whose values nobody knows: a tenth of what is paid buys them.")
]
Workload = Annotated[
    list[str] | None, typer.Option("--workload", help="A,B: columns whose table matters; as often as there are.")
]
Key = Annotated[
    str | None, typer.Option(help="Goes on with the run that has this key, or answers it again, at no cost.")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The file to write.")]
Saved = Annotated[Path, typer.Argument(help="What `sfumato synth fit` wrote.", show_default=False)]


@final
@dataclass(frozen=True)
class Wanted:
    """A fit as it was typed: the word for the method, and what it is given."""

    word: str
    columns: str | None
    bins: tuple[str, ...]
    buy: str | None
    workload: tuple[str, ...]
    max_rows: int | None
    key: str | None
    loss: Any

    def __post_init__(self) -> None:
        if self.loss is None:
            misused("say what to pay, --epsilon 1 (with --delta 1e-9, which buys more), or --rho 0.05.")

    def method(self) -> Synthesizer:
        """The method with its loss and its workload; refuses words that are none."""
        known = methods()
        made: Synthesizer
        kind = known.get(self.word.lower())
        if kind is None:
            misused(f"there is no method {self.word}; there are: {', '.join(known)}.")
        if not self.workload:
            made = kind(loss=self.loss)
            return made
        if "workload" not in getattr(kind, "__dataclass_fields__", {}):
            misused(f"{self.word} looks at no workload: leave --workload out, or take --method aim.")
        made = kind(loss=self.loss, workload=[tuple(_listed(one)) for one in self.workload])
        return made

    def given(self) -> Mapping[str, Any]:
        """What ``fit`` is given."""
        return {
            "columns": None if self.columns is None else _listed(self.columns),
            "bins": dict(map(_bins, self.bins)) or None,
            "buy": None if self.buy is None else _listed(self.buy),
            "max_rows": self.max_rows,
        }


def methods() -> dict[str, Any]:
    """The methods that there are, by the words for them: those that need no more than a loss."""
    from sfumato import synth
    from sfumato.synth import Synthesizer

    kinds = (getattr(synth, name) for name in synth.__all__)
    found = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Synthesizer)]
    ready = [kind for kind in found if kind is not Synthesizer and not _needs(kind)]
    return {kind.__name__.lower(): kind for kind in ready}


def _needs(kind: Any) -> bool:
    """Tells whether a method is made of something that cannot be typed, such as a public table."""
    return any(one.default is MISSING and one.default_factory is MISSING for one in fields(kind))


@app.command()
def fit(
    data: Data,
    *,
    method: Method = "aim",
    from_table: From = None,
    columns: Columns = None,
    bins: Bins = None,
    buy: Buy = None,
    workload: Workload = None,
    max_rows: MaxRows = None,
    codebook: Book = None,
    unit: Unit = None,
    table: Tables = None,
    name: Name = None,
    data_version: Version = None,
    engine: Engine = None,
    same_data: Same = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    ledger: Address = None,
    limit_epsilon: LimitEpsilon = None,
    limit_delta: LimitDelta = None,
    limit_rho: LimitRho = None,
    key: Key = None,
    output: Output = None,
) -> None:
    """Makes synthetic data: pays for it from a ledger first, then measures; writes the model with its release as JSON.

    With --key and --data-version a run that was interrupted or killed goes on where it was. Exit codes are those of
    `sfumato query`: 0 made, 2 the command is not complete, 3 refused, 4 the limit is reached, 5 broke off while it
    looked, 130 interrupted.
    """
    source = Source(data, codebook, unit, table or (), name, data_version, engine)
    address, limit = source.ledger(ledger), loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-")
    loss = loss_of(epsilon, delta, rho)
    wanted = Wanted(method, columns, tuple(bins or ()), buy, tuple(workload or ()), max_rows, key, loss)
    if output is None:
        misused("say where to keep it, --output people.synth.json: what is paid for must not get lost.")
    if key is not None and data_version is None:
        misused("a run is known again by its --key only if the data is: name it as it is now, --data-version 2026-11.")
    check_writable(output)
    recipe, given = wanted.method(), wanted.given()
    with interruptible(shown(address)):
        with working("opening the data"):
            session = open_session(source.dataset(), address, limit, same_data)
        before = session.spent
        made = recipe.fit(session.table(from_table), key=key, **given)
    release = made.release
    notes = "" if release is None else notes_of(release, session, address, free=session.spent == before)
    sys.stdout.write(f"{made.to_text()}\n{notes}\n  model  {output}\n")
    raise typer.Exit(_kept(made, output))


@app.command()
def sample(
    model: Saved,
    *,
    rows: Annotated[int | None, typer.Option(help="How many; as many as the table has, if left out.", min=0)] = None,
    given: Annotated[list[str] | None, typer.Option("--given", help="COLUMN=VALUE, what all rows have.")] = None,
    output: Output = None,
) -> None:
    """Draws rows of synthetic data, as CSV or Parquet. Costs nothing, however often."""
    check_writable(output)
    made = _loaded(model)
    fixed = dict(_given(made, one) for one in given or ())
    write_rows(made.sample_arrow(rows, given=fixed or None), {}, output)
    tell(f"  rows   synthetic: none of them is a person's. {made.loss} for {made.unit} protects those behind the model")


@app.command()
def report(model: Saved, *, output: Output = None) -> None:
    """Reports on synthetic data: what was measured, how far off, its price; HTML, Markdown or text by the file."""
    check_writable(output)
    made = _loaded(model)
    told = made.report()
    written = {".html": told.to_html, ".md": told.to_markdown}
    text: str = written.get("" if output is None else output.suffix.lower(), told.to_text)()
    if output is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
    else:
        output.write_text(text, encoding="utf-8")
        tell(f"  report {output}")


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


def _bins(text: str) -> tuple[str, int]:
    name, sign, many = text.partition("=")
    if not sign or not many.isdecimal():
        misused(f"--bins takes a column and how many bins it has, as in --bins age=16; got {text!r}.")
    return name, int(many)


def _given(made: Synthetic, text: str) -> tuple[str, object]:
    """Reads a value by what the column holds: of those that it can have, the one that is written so."""
    name, sign, said = text.partition("=")
    if not sign or name not in made.columns:
        misused(
            f"--given takes a column and its value, as in --given sex=f, of {', '.join(made.columns)}; got {text!r}."
        )
    listed = getattr(made.schema[name], "values", ())
    value: object = next((one for one in listed if str(one) == said), None)
    if value is not None:
        return name, value
    try:
        return name, float(said)
    except ValueError:
        return name, said


def _kept(made: Synthetic, output: Path) -> int:
    """Saves what was paid for; where the file cannot be written, it follows on standard output."""
    from sfumato.synth.saving import synthetic_to_plain

    try:
        made.save(output)
    except OSError:
        tell(f"sfumato: {output} could not be written. It has been paid for, and follows.")
        sys.stdout.write(json.dumps(synthetic_to_plain(made), ensure_ascii=False) + "\n")
        return BROKE_OFF
    return 0


def _loaded(path: Path) -> Synthetic:
    from sfumato.synth import load

    if not path.is_file():
        misused(f"there is no synthetic data in {path}: 'sfumato synth fit' writes it.")
    return load(path)
