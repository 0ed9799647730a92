"""The commands ``sfumato local``: publish a protocol for devices, collect what they send, estimate."""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.exits import misused, tell
from sfumato.cli.output import check_writable
from sfumato.errors import BadArgument

if TYPE_CHECKING:
    from sfumato.local import Collector, Frequencies, FrequencyProtocol

app = typer.Typer(help="Counts answers that were randomized before they left a person.", no_args_is_help=True)

METHOD, EPSILON = "method", "epsilon"
"""What a file says beside what devices need: how to make the same protocol again."""


class Form(StrEnum):
    """The forms in which an estimate can be written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Encoding(StrEnum):
    """How the bytes of a message are written in a line."""

    HEX = "hex"
    BASE64 = "base64"


Published = Annotated[Path, typer.Argument(help="What `sfumato local publish` wrote.", show_default=False)]
Store = Annotated[Path, typer.Argument(help="A file ….duckdb, or a folder for Parquet files.", show_default=False)]
Question = Annotated[str, typer.Option(help="Its name, where a store keeps reports on several questions.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; standard output if left out.")]


@app.command()
def publish(
    *,
    epsilon: Annotated[str, typer.Option(help="What one report may cost: ε.")],
    users: Annotated[int, typer.Option(help="How many people will report, about: it decides what is best.", min=1)],
    values: Annotated[Path | None, typer.Option(help="A file with a value in each line.")] = None,
    whole: Annotated[str | None, typer.Option("--range", help="FIRST:END or FIRST:END:STEP, END not included.")] = None,
    other: Annotated[str | None, typer.Option(help="The value that stands for whatever is not listed.")] = None,
    method: Annotated[str | None, typer.Option(help="A protocol by its name; the best one if left out.")] = None,
    output: Output = None,
) -> None:
    """Publishes a protocol that counts values: what devices need, as JSON; says what error to expect."""
    from sfumato.local import Values, candidates, frequencies

    check_writable(output)
    listed = _listed(values, whole)
    rest = None if other is None else _as_in(listed, other)
    name = method or candidates(Values(listed), loss=epsilon, users=users)[0].name
    protocol = frequencies(listed, loss=epsilon, users=users, method=name, other=rest)
    stated = {**json.loads(protocol.publish()), METHOD: name, EPSILON: epsilon}
    _write(json.dumps(stated) + "\n", output)
    error = float(protocol.mean_squared_error(users=users)) ** 0.5
    size = len(protocol.head) + protocol.layout.size
    tell(f"{name}: each share is off by {error:.3g} (root mean square), in messages of {size} bytes")


@app.command()
def collect(
    protocol: Published,
    store: Store,
    messages: Annotated[Path, typer.Argument(help="A file with a message in each line; - for standard input.")] = Path(
        "-"
    ),
    *,
    encoding: Annotated[Encoding, typer.Option(help="How messages are written.")] = Encoding.HEX,
    batch: Annotated[str | None, typer.Option(help="A key: the same messages under it are counted once.")] = None,
    period: Annotated[str | None, typer.Option(help="When they came, such as a day.")] = None,
    question: Question = "reports",
    max_reports: Annotated[
        int | None, typer.Option(help="Keep at most so many of one sender; lines are then SENDER,MESSAGE.", min=1)
    ] = None,
    each_period: Annotated[bool, typer.Option("--each-period", help="… of one sender in each period.")] = False,
    key_file: Annotated[Path | None, typer.Option(help="Secret random bytes, from which pseudonyms are made.")] = None,
) -> None:
    """Adds messages to a store: all of them or, if something goes wrong, none. What is not valid is counted."""
    made = _protocol(protocol)
    key = None if key_file is None else _read(key_file)
    if (max_reports is None) != (key is None):
        misused("--max-reports and --key-file go together: senders are known by keyed hashes only.")
    with (
        _lines(messages) as lines,
        _opened(made, store, question, max_reports=max_reports, each_period=each_period, key=key) as collector,
    ):
        if max_reports is None:
            added = collector.add((_bytes(line, encoding) for line in lines), batch=batch, period=period)
        else:
            first, second = tee(line.rpartition(b",") for line in lines)
            sent, senders = (_bytes(line, encoding) for _, _, line in first), (sender for sender, _, _ in second)
            added = collector.add(sent, batch=batch, period=period, senders=senders)
    tell(f"{added}\nbatch {added.key}")


@app.command()
def estimate(
    protocol: Published,
    store: Store,
    *,
    question: Question = "reports",
    period: Annotated[list[str] | None, typer.Option("--period", help="Only of these periods.")] = None,
    batch: Annotated[list[str] | None, typer.Option("--batch", help="Only of these batches.")] = None,
    confidence: Annotated[str, typer.Option(help="Of the intervals.")] = "0.95",
    form: Annotated[Form, typer.Option("--format", "-f", help="How it is written.")] = Form.TABLE,
    output: Output = None,
) -> None:
    """Estimates how many people have each value, with intervals, from all reports of a store or some of them."""
    check_writable(output)
    made = _protocol(protocol)
    if not store.exists():
        misused(f"there is no store {store}: 'sfumato local collect' makes one.")
    with _opened(made, store, question) as collector:
        if not collector.batches():
            misused(f"nothing was collected on the question {question!r} in {store} yet.")
        answer = collector.aggregate(periods=period or None, batches=batch or None)
    _write(_written(answer, confidence, form), output)
    if form is not Form.TABLE or output is not None:
        tell(_noted(answer))


def _written(answer: Frequencies, confidence: str, form: Form) -> str:
    from sfumato.release.render.csv import lines

    rows = answer.rows(confidence)
    if form is Form.JSON:
        about = {"users": answer.users, "epsilon": float(answer.loss.epsilon), "confidence": float(confidence)}
        return json.dumps({**about, "rejected": vars(answer.rejected), "values": rows}) + "\n"
    if form is Form.CSV:
        return lines([list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)])
    width = max(len("value"), *(len(str(row["value"])) for row in rows))
    heads = f"{'value':<{width}}  {'count':>12}  {'low':>12}  {'high':>12}"
    shown = (
        f"{row['value']!s:<{width}}  {row['count']:>12,.0f}  {row['low']:>12,.0f}  {row['high']:>12,.0f}"
        for row in rows
    )
    return "\n".join([heads, *shown, "", _noted(answer)]) + "\n"


def _noted(answer: Frequencies) -> str:
    rejected = answer.rejected.total
    return f"{answer.users:,} reports, {answer.loss} each; {rejected:,} messages were rejected"


def _protocol(path: Path) -> FrequencyProtocol:
    """Makes the protocol again that a file publishes, and looks whether it is the same."""
    from sfumato.local import frequencies

    try:
        stated = json.loads(_read(path))
        domain = stated["domain"]
        listed = range(*domain["range"]) if "range" in domain else domain["values"]
        made = frequencies(listed, loss=stated[EPSILON], users=1, method=stated[METHOD], other=domain["other"])
    except (ValueError, KeyError, TypeError, AttributeError):
        misused(f"{path} is not what 'sfumato local publish' writes.")
    if made.head.hex() != stated.get("tag") or made.recipe() != stated.get("recipe"):
        raise BadArgument("the protocol", "as this version of sfumato makes it from its values and epsilon", "another")
    return made


def _opened(protocol: FrequencyProtocol, store: Path, question: str, **settings: Any) -> Collector[Frequencies]:
    from sfumato.local import Collector

    return Collector(protocol, store, question=question, **settings)


def _listed(values: Path | None, whole: str | None) -> Sequence[Hashable]:
    if (values is None) == (whole is None):
        misused("say which values people may have: --values FILE, or --range 0:100.")
    if whole is not None:
        try:
            first, end, *step = (int(part) for part in whole.split(":"))
            return range(first, end, *step)
        except (ValueError, TypeError):
            misused(f"--range takes whole numbers, as in --range 0:100 or --range 0:100:5; got {whole!r}.")
    try:
        return [line for line in _read(values or Path()).decode().splitlines() if line]
    except UnicodeDecodeError:
        misused(f"{values} is not a text in UTF-8.")


def _as_in(listed: Sequence[Hashable], typed: str) -> Hashable:
    """A value as the list has it: a number of a range is typed as a text."""
    return next((value for value in listed if str(value) == typed), typed)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        misused(f"{path} cannot be read.")


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file or of standard input that are not empty."""
    if str(path) == "-":
        yield (line.strip() for line in sys.stdin.buffer if line.strip())
        return
    try:
        file = path.open("rb")
    except OSError:
        misused(f"{path} cannot be read.")
    with file:
        yield (line.strip() for line in file if line.strip())


def _bytes(line: bytes, encoding: Encoding) -> bytes:
    """The message of a line; a line that cannot be read is an empty one, which is rejected and counted."""
    try:
        if encoding is Encoding.BASE64:
            return base64.b64decode(line, validate=True)
        return binascii.unhexlify(line)
    except ValueError:
        return b""


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError:
        raise BadArgument("--output", "a file that can be written", str(output)) from None
