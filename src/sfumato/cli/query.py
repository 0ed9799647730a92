"""The commands ``sfumato query`` and ``sfumato explain``: private SQL on files, paid from a ledger that is kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, final

import typer
from rich.console import Console

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.cli.exits import BROKE_OFF, interruptible, misused, tell
from sfumato.cli.inputs import Source, open_session, open_to_explain, shown
from sfumato.cli.output import Form, Output
from sfumato.cli.parsing import keys_of, loss_of, parameters_of, text_of, weights_of
from sfumato.codebook.entries import comma_list
from sfumato.errors import NotKept, NotWorkedOut
from sfumato.query.answer.explanation import Explanation
from sfumato.query.engines.registry import names
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.render.text import asked_and_cut
from sfumato.session.session import Session

EXPLAINS = re.compile(r"\s*EXPLAIN\s+PRIVACY\b", re.IGNORECASE)
OPTIONS = re.compile(r"\bDIFFERENTIAL_PRIVACY\b", re.IGNORECASE)
ASSUMED = Approx("1", "1e-9")
"""The limit under which a question is explained where there is no account yet and none is stated."""

Data = Annotated[
    str,
    typer.Argument(help="Files (Parquet, CSV, JSON, a database) or an address.", show_default=False),
]
Sql = Annotated[str, typer.Argument(help="A SELECT, @FILE with one, or - for standard input.", show_default=False)]
Book = Annotated[Path | None, typer.Option("--codebook", "-c", help="What is public: see `sfumato codebook init`.")]
Unit = Annotated[str | None, typer.Option(help="The column that says whose a row is, if the codebook does not.")]
Tables = Annotated[list[str] | None, typer.Option("--table", help="NAME=FILE, for each further table.")]
Name = Annotated[str | None, typer.Option(help="The name of the account; that of the private table if left out.")]
Version = Annotated[
    str | None, typer.Option("--data-version", help="The name under which the data, as it is, is published.")
]
Engine = Annotated[
    str | None,
    typer.Option(help=f"What computes: {comma_list(names())} (docs/engines.md); follows from the data if left out."),
]
Same = Annotated[str | None, typer.Option("--same-data", help="Why data of another account may be opened here too.")]
Epsilon = Annotated[str | None, typer.Option(help="What to pay: ε.")]
Delta = Annotated[str | None, typer.Option(help="… with a δ, where keys are not public.")]
Rho = Annotated[str | None, typer.Option(help="What to pay in zero-concentrated privacy: ρ.")]
Accuracy = Annotated[str | None, typer.Option(help="How near to come instead, as ± so much; pays what that costs.")]
Confidence = Annotated[str, typer.Option(help="Of error bars and of --accuracy.")]
MaxGroups = Annotated[int | None, typer.Option(help="Keep at most so many groups of each unit.", min=1)]
MaxRowsPerGroup = Annotated[int | None, typer.Option(help="Keep at most so many rows of each unit in a group.", min=1)]
MaxRows = Annotated[int | None, typer.Option(help="Keep at most so many rows of each unit in all.", min=1)]
MaxMatches = Annotated[
    int | None,
    typer.Option(help="Keep at most so many rows of each key, where rows of different units are joined.", min=1),
]
Keys = Annotated[
    list[str] | None, typer.Option("--keys", help="COLUMN=A,B,…, the public keys to answer, from no data.")
]
Weights = Annotated[list[str] | None, typer.Option("--weights", help="COLUMN=3, how columns share what is paid.")]
Parameter = Annotated[list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE, for :name in the query.")]
Address = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        envvar="SFUMATO_LEDGER",
        help="A file, sqlite:///… or postgresql://…; sfumato-ledger.db beside the data if left out.",
    ),
]
Write = Annotated[
    str | None, typer.Option("--write", help="A new folder to write the answer to, as a table, where it is computed.")
]
LimitEpsilon = Annotated[str | None, typer.Option(help="What may be spent in all, stated when an account is opened.")]
LimitDelta = Annotated[str | None, typer.Option(help="… with a δ.")]
LimitRho = Annotated[str | None, typer.Option(help="… or as ρ.")]


@final
@dataclass(frozen=True)
class Asked:
    """A question as it was typed: the text, values for its parameters, and how to answer it."""

    text: str
    parameters: Mapping[str, object]
    settings: Mapping[str, Any]

    @staticmethod
    def read(
        sql: str,
        parameter: list[str] | None,
        loss: Loss | None,
        accuracy: str | None,
        confidence: str,
        max_groups: int | None,
        max_rows_per_group: int | None,
        max_rows: int | None,
        max_matches: int | None,
        keys: list[str] | None,
        weights: list[str] | None,
    ) -> Asked:
        """Reads what was typed."""
        if loss is not None and accuracy is not None:
            misused("say what to pay or how near to come, not both: one follows from the other.")
        settings = {
            "loss": loss,
            "accuracy": None if accuracy is None else (accuracy, confidence),
            "confidence": confidence,
            "max_groups": max_groups,
            "max_rows_per_group": max_rows_per_group,
            "max_rows": max_rows,
            "max_matches": max_matches,
            "keys": keys_of(keys or ()),
            "weights": weights_of(weights or ()),
        }
        return Asked(text_of(sql), parameters_of(parameter or ()), settings)


def query(
    data: Data,
    sql: Sql,
    *,
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
    accuracy: Accuracy = None,
    confidence: Confidence = "0.95",
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRowsPerGroup = None,
    max_rows: MaxRows = None,
    max_matches: MaxMatches = None,
    keys: Keys = None,
    weights: Weights = None,
    parameter: Parameter = None,
    ledger: Address = None,
    limit_epsilon: LimitEpsilon = None,
    limit_delta: LimitDelta = None,
    limit_rho: LimitRho = None,
    form: Annotated[Form, typer.Option("--format", "-f", help="How the answer is written.")] = Form.TABLE,
    write: Write = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write it to.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draws it into a file: .svg, .png or .html.")] = None,
    title: Annotated[str | None, typer.Option(help="The title of what --plot draws.")] = None,
) -> None:
    """Answers a question in SQL: pays for it from a ledger first, then looks at the data.

    With --data-version, the same question of the same version is answered from the ledger, and costs nothing. Exit
    codes: 0 answered, 2 the command is not complete, 3 refused, 4 the limit is reached, 5 broke off while it looked,
    130 interrupted.
    """
    source = Source(data, codebook, unit, table or (), name, data_version, engine)
    address = source.ledger(ledger)
    limit = loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-")
    loss = loss_of(epsilon, delta, rho)
    asked = Asked.read(
        sql, parameter, loss, accuracy, confidence, max_groups, max_rows_per_group, max_rows, max_matches, keys, weights
    )
    if EXPLAINS.match(asked.text):
        sys.stdout.write(explained(source, asked, address, limit, same_data).to_text())
        return
    if loss is None and accuracy is None and not OPTIONS.search(asked.text):
        misused("say what to pay, --epsilon 0.5 (or --rho 0.1), or how near to come, --accuracy 50.")
    if write is not None and (output, plot, form) != (None, None, Form.TABLE):
        misused("--write takes no --output, --plot or --format: a table is all that it writes.")
    where = Output(form, output, plot, title)
    with interruptible(shown(address)):
        with working("opening the data"):
            session = open_session(source.dataset(), address, limit, same_data)
        code = ask(session, asked, where, address) if write is None else put(session, asked, write, address)
    raise typer.Exit(code)


def explain(
    data: Data,
    sql: Sql,
    *,
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
    accuracy: Accuracy = None,
    confidence: Confidence = "0.95",
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRowsPerGroup = None,
    max_rows: MaxRows = None,
    max_matches: MaxMatches = None,
    keys: Keys = None,
    weights: Weights = None,
    parameter: Parameter = None,
    ledger: Address = None,
    limit_epsilon: LimitEpsilon = None,
    limit_delta: LimitDelta = None,
    limit_rho: LimitRho = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, html or markdown.")] = "text",
) -> None:
    """Explains a question: what is computed, how people are bounded, noise, errors to expect, the price.

    Spends nothing, and needs no ledger: where there is an account, it says whether the question fits.
    """
    source = Source(data, codebook, unit, table or (), name, data_version, engine)
    limit = loss_of(limit_epsilon, limit_delta, limit_rho, prefix="--limit-")
    asked = Asked.read(
        sql,
        parameter,
        loss_of(epsilon, delta, rho),
        accuracy,
        confidence,
        max_groups,
        max_rows_per_group,
        max_rows,
        max_matches,
        keys,
        weights,
    )
    if form not in ("text", "html", "markdown"):
        misused(f"--format must be text, html or markdown; got {form}.")
    made = explained(source, asked, source.ledger(ledger), limit, same_data)
    writers = {"text": made.to_text, "html": made.to_html, "markdown": made.to_markdown}
    sys.stdout.write(writers[form]().rstrip("\n") + "\n")


def explained(source: Source, asked: Asked, address: str, limit: Loss | None, same: str | None = None) -> Explanation:
    """Explains a question, on the account if there is one."""
    session, real = open_to_explain(source.dataset(), address, limit or ASSUMED, same)
    explanation = session.explain(asked.text, asked.parameters, **asked.settings)
    return explanation if real else replace(explanation, left=None, refusal=None)


def ask(session: Session, asked: Asked, where: Output, address: str) -> int:
    """Asks a question, writes the answer and gives the exit code."""
    before, code = session.spent, 0
    try:
        with working("asking"):
            release = session.sql(asked.text, asked.parameters, **asked.settings)
    except NotKept as lost:
        tell(f"sfumato: {lost} It follows.")
        release, code = lost.release, BROKE_OFF
    except NotWorkedOut as failed:
        if not isinstance(failed.release.value, Answer):
            raise
        tell(f"sfumato: {failed} They follow.")
        release, code = failed.release, BROKE_OFF
    answer: Answer = release.value
    if not release.charged:  # it is public, and there is nothing to note
        where.write(answer, None, "")
        return code
    where.write(answer, release, notes_of(release, session, address, free=session.spent == before))
    return code


def put(session: Session, asked: Asked, to: str, address: str) -> int:
    """Asks a question, lets the answer be written as a table, and gives the exit code."""
    before, code = session.spent, 0
    try:
        with working("asking, and writing the answer"):
            release = session.write(asked.text, asked.parameters, to=to, **asked.settings)
    except NotKept as lost:
        tell(f"sfumato: {lost}")
        release, code = lost.release, BROKE_OFF
    sys.stdout.write(f"{release.value}\n")
    tell(notes_of(release, session, address, free=session.spent == before))
    return code


def _left(session: Session, account: str) -> str:
    """What is left of the limit of an account; of several, for whom."""
    standing, left = session.ledger.standing(account)
    whose = f" for {standing.terms.unit}" if len(session.accounts) > 1 else ""
    return f"{left.str_down()} of {standing.limit}{whose}"


def notes_of(release: Release, session: Session, address: str, *, free: bool) -> str:
    """Says what was asked and cut, what was paid, what is left, and where that is written down."""
    price = "; ".join(f"{loss} for {who}" for who, loss in ((release.unit, release.loss), *release.others))
    lines = [
        ("price", f"nothing: it was asked before, at {price}" if free else price),
        *(("left", _left(session, name)) for name in session.accounts),
        ("paid", f"{release.receipt}"),
        ("ledger", shown(address)),
    ]
    return "\n".join([*asked_and_cut(release.how), *(f"  {name:<6} {text}" for name, text in lines)])


@contextmanager
def working(words: str) -> Iterator[None]:
    """Shows on a terminal that something is under way; elsewhere nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield
