"""The commands ``sfumato learn``: fit models on files, paid from a ledger, explain and report them, and predict."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, final

import typer

from sfumato.cli.exits import BROKE_OFF, interruptible, misused, tell
from sfumato.cli.inputs import Source, open_session, open_to_explain, shown
from sfumato.cli.models import TAKES, model_named, models, parameters_of
from sfumato.cli.output import check_plot, check_writable
from sfumato.cli.parsing import loss_of
from sfumato.cli.query import (
    ASSUMED,
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
from sfumato.cli.rows import read_rows, write_rows
from sfumato.errors import SfumatoError
from sfumato.query.frame import Frame
from sfumato.release.render.text import columns as in_columns
from sfumato.session.session import Session

app = typer.Typer(help="Fits private models, explains what they cost, reports and predicts.", no_args_is_help=True)

Model = Annotated[
    str,
    typer.Argument(
        help="linear, logistic, naive-bayes, boosting, pca …: see `sfumato learn models`.", show_default=False
    ),
]
Target = Annotated[str | None, typer.Option(help="The column to predict.")]
Features = Annotated[
    str | None,
    typer.Option(help="A,B,…, the columns to learn from; all that the codebook says enough of, if left out."),
]
From = Annotated[str | None, typer.Option("--from", help="The table to learn from, where there are several.")]
Classes = Annotated[
    str | None, typer.Option(help="A,B,…, all classes that there can be, if the codebook does not say.")
]
Between = Annotated[
    list[str] | None, typer.Option("--between", help="COLUMN=LOW,HIGH, public bounds, if the codebook does not say.")
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE, any other parameter, such as bins=10.")]
Saved = Annotated[Path, typer.Argument(help="A model that `sfumato learn fit` wrote.", show_default=False)]
Plot = Annotated[Path | None, typer.Option(help="Draws it into a file: .svg, .png or .html.")]
Form = Annotated[str, typer.Option("--format", "-f", help="text, html or markdown.")]

FORMS = ("text", "html", "markdown")


@final
@dataclass(frozen=True)
class Wanted:
    """A fit as it was typed: the word for the model, its parameters, and the columns."""

    word: str
    target: str | None
    features: str | None
    table: str | None
    classes: str | None
    between: tuple[str, ...]
    settings: tuple[str, ...]
    max_rows: int | None
    loss: Any

    def __post_init__(self) -> None:
        if self.loss is None:
            misused("say what to pay, --epsilon 0.5 (with --delta 1e-9, where the model can use it), or --rho 0.1.")

    def planned(self, session: Session) -> tuple[Any, Frame, Mapping[str, Any]]:
        """The model, the table and what `fit` is to be given; refuses what cannot be, before anything is paid."""
        frame = session.table(self.table)
        kind = model_named(self.word, self._takes(frame))
        parameters = parameters_of(kind, self.settings, self.between, self.classes)
        named = None if self.features is None else [one.strip() for one in self.features.split(",")]
        return (
            kind(loss=self.loss, **parameters),
            frame,
            {"features": named, "target": self.target, "max_rows": self.max_rows},
        )

    def _takes(self, frame: Frame) -> str:
        """What the target is: classes, where they were stated or the codebook lists values."""
        from sfumato.learn.columns import Category, known_column

        if self.target is None:
            return "nothing"
        listed = isinstance(known_column(self.target, frame.relation), Category)
        return "classes" if self.classes is not None or listed else "number"


@app.command(name="models")
def list_models() -> None:
    """Lists the models that there are, what each predicts, and how it looks at the rows."""
    from sfumato.learn.explaining import cost_of

    rows = [(name, TAKES[kind.takes], cost_of(kind)) for name, kind in models().items()]
    sys.stdout.write("\n".join(in_columns(rows, head=("model", "target", "looks"))) + "\n")


@app.command()
def fit(
    model: Model,
    data: Data,
    *,
    target: Target = None,
    features: Features = None,
    from_table: From = None,
    classes: Classes = None,
    between: Between = None,
    settings: Settings = None,
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
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file for the model, as JSON.")] = None,
    plot: Plot = None,
) -> None:
    """Fits a model: pays for it from a ledger first, then looks at the data, once; writes it with its release as JSON.

    Exit codes are those of `sfumato query`: 0 fitted, 2 the command is not complete, 3 refused, 4 the limit is reached,
    5 broke off while it looked, 130 interrupted.
    """
    source = Source(data, codebook, unit, table or (), name, data_version, engine)
    address, limit = source.ledger(ledger), loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-")
    loss = loss_of(epsilon, delta, rho)
    wanted = Wanted(
        model, target, features, from_table, classes, tuple(between or ()), tuple(settings or ()), max_rows, loss
    )
    if output is None:
        misused("say where to keep the model, --output model.json: what is paid for must not get lost.")
    check_writable(output, plot)
    check_plot(plot)
    with interruptible(shown(address)):
        with working("opening the data"):
            session = open_session(source.dataset(), address, limit, same_data)
        made, frame, given = wanted.planned(session)
        _rehearsed(made, frame, given)
        before = session.spent
        with working(f"fitting {made.__class__.__name__}"):
            made.fit(frame, **given)
    notes = notes_of(made.release_, session, address, free=session.spent == before)
    sys.stdout.write(f"{made.to_text()}\n{notes}\n  model  {output}\n")
    code = _kept(made, output)
    _draw(made, plot)
    raise typer.Exit(code)


@app.command()
def explain(
    model: Model,
    data: Data,
    *,
    target: Target = None,
    features: Features = None,
    from_table: From = None,
    classes: Classes = None,
    between: Between = None,
    settings: Settings = None,
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
    form: Form = "text",
) -> None:
    """Explains a fit: what is released, with which noise, how people are bounded, the price, whether it fits.

    Spends nothing, and needs no ledger.
    """
    _check_form(form)
    source = Source(data, codebook, unit, table or (), name, data_version, engine)
    limit, loss = loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-"), loss_of(epsilon, delta, rho)
    wanted = Wanted(
        model, target, features, from_table, classes, tuple(between or ()), tuple(settings or ()), max_rows, loss
    )
    session, real = open_to_explain(source.dataset(), source.ledger(ledger), limit or loss or ASSUMED, same_data)
    told = _rehearsed(*wanted.planned(session))
    sys.stdout.write(_written(told if real else replace(told, left=None, refusal=None), form))


@app.command()
def report(
    model: Saved,
    *,
    form: Form = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write it to.")] = None,
    plot: Plot = None,
) -> None:
    """Reports what a saved model says: its numbers, its loss, who is protected, how it was made. Costs nothing."""
    _check_form(form)
    check_writable(output, plot)
    check_plot(plot)
    text = _written(_loaded(model), form)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    _draw(_loaded(model), plot)


@app.command()
def predict(
    model: Saved,
    rows: Annotated[
        Path, typer.Argument(help="A CSV, Parquet or JSON file with the model's columns.", show_default=False)
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV or Parquet file; CSV on standard output.")
    ] = None,
    chances: Annotated[bool, typer.Option("--chances", help="Adds the chance of each class.")] = False,
) -> None:
    """Predicts for rows of a file: they come back with a column more. Nothing protects these rows, only the model's."""
    check_writable(output)
    made, given = _loaded(model), read_rows(rows)
    if not hasattr(made, "predict"):
        misused(f"{model} predicts nothing: it is a {type(made).__name__}.")
    wanted = [column.name for column in made.columns_]
    if missing := [name for name in wanted if name not in given.column_names]:
        misused(f"{rows} lacks columns that the model was fitted on: {', '.join(missing)}.")
    if chances and not hasattr(made, "predict_proba"):
        misused(f"{type(made).__name__} predicts no chances.")
    chosen = given.select(wanted)
    added = {f"predicted_{made.target_.name if made.target_ else 'cluster'}": made.predict(chosen)}
    if chances:
        found = made.predict_proba(chosen)
        added |= {f"chance_of_{one}": found[:, place] for place, one in enumerate(made.target_.values)}
    write_rows(given, added, output)
    released = made.release_
    tell(f"  rows   nothing protects the rows of {rows}: what is predicted tells about each of them")
    tell(f"  model  {released.loss} for {released.unit} protects those that it was fitted on")


def _rehearsed(made: Any, frame: Frame, given: Mapping[str, Any]) -> Any:
    """Explains a fit, so that parameters that cannot be are refused before anything is paid."""
    try:
        return made.explain(frame, **given)
    except SfumatoError:
        raise
    except (TypeError, ValueError) as wrong:  # scikit-learn's manners: a parameter of a wrong kind
        misused(f"a parameter of the model cannot be read: {wrong}.")


def _kept(made: Any, output: Path) -> int:
    """Saves a model that was paid for; where the file cannot be written, it follows on standard output."""
    from sfumato.learn import save
    from sfumato.learn.saving import model_to_plain

    try:
        save(made, output)
    except OSError:
        tell(f"sfumato: {output} could not be written. The model has been paid for, and follows.")
        sys.stdout.write(json.dumps(model_to_plain(made), ensure_ascii=False) + "\n")
        return BROKE_OFF
    return 0


def _loaded(path: Path) -> Any:
    from sfumato.learn import load

    if not path.is_file():
        misused(f"there is no model in {path}: 'sfumato learn fit' writes one.")
    return load(path)


def _written(told: Any, form: str) -> str:
    written: str = {"text": told.to_text, "html": told.to_html, "markdown": told.to_markdown}[form]()
    return written.rstrip("\n") + "\n"


def _check_form(form: str) -> None:
    if form not in FORMS:
        misused(f"--format must be text, html or markdown; got {form}.")


def _draw(made: Any, plot: Path | None) -> None:
    if plot is None:
        return
    from sfumato.charts import save

    try:
        tell(f"  chart  {save(made.plot(), plot)}")
    except SfumatoError as error:  # it has been paid for, and written: no chart is no refusal
        tell(f"  chart  none: {error}")
