"""The commands on local privacy: a protocol for devices, a store of what they send, an estimate of it."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.examples.local_vectors import Stream

from sfumato.cli.main import main
from sfumato.local.device import Client

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs commands in a folder of their own, as a shell would: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sfumato", "local", *arguments])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), *capsys.readouterr()

    return ran


def published(run: Run) -> Client:
    Path("values.txt").write_text("red\ngreen\nblue\n", encoding="utf-8")
    code, out, err = run("publish", "--values", "values.txt", "--epsilon", "3", "--users", "1000", "-o", "p.json")
    assert (code, out) == (0, "") and err.startswith("response: each share is off by")
    return Client.read(Path("p.json").read_text(encoding="utf-8"))


def messages(client: Client, values: list[str]) -> list[bytes]:
    return [client.randomize(value, octets=Stream(f"{at}")) for at, value in enumerate(values)]


def test_from_values_to_a_table(run: Run) -> None:
    sent = messages(published(run), ["red"] * 400 + ["blue"] * 200)
    lines = b"\n".join(one.hex().encode() for one in sent) + b"\n\nnonsense\n0102\n"
    Path("m.txt").write_bytes(lines)
    code, out, err = run("collect", "p.json", "s.duckdb", "m.txt", "--batch", "one", "--period", "2026-11-18")
    assert (code, out) == (0, "")
    assert err == "600 of 602 messages kept: 1 truncated, 1 foreign\nbatch one\n"
    _, _, err = run("collect", "p.json", "s.duckdb", "--batch", "one", "--period", "2026-11-18", given=lines)
    assert "it was there already" in err
    code, out, err = run("estimate", "p.json", "s.duckdb")
    assert (code, err) == (0, "")
    heads, red, green, blue, _, note = out.splitlines()
    assert heads.split() == ["value", "count", "low", "high"] and note.startswith("600 reports, ε = 3 each; 2 messages")
    count, low, high = (float(cell) for cell in red.split()[1:])
    assert low < 400 < high and low < count < high and green.split()[0] == "green" and blue.split()[0] == "blue"


def test_other_forms_and_some_of_the_reports(run: Run) -> None:
    client = published(run)
    for batch, values in (("1", ["red"] * 50), ("2", ["blue"] * 70)):
        lines = b"\n".join(base64.b64encode(one) for one in messages(client, values))
        settings = ("--encoding", "base64", "--batch", batch, "--period", f"day {batch}", "--question", "colour")
        assert run("collect", "p.json", "reports", *settings, given=lines)[0] == 0
    asked = ("estimate", "p.json", "reports", "--question", "colour")
    _, out, err = run(*asked, "--format", "json", "--confidence", "0.9")
    told = json.loads(out)
    assert told["users"] == 120 and told["confidence"] == 0.9 and told["values"][0]["value"] == "red"
    assert "120 reports" in err
    assert json.loads(run(*asked, "-f", "json", "--period", "day 1")[1])["users"] == 50
    assert json.loads(run(*asked, "-f", "json", "--batch", "2", "--batch", "1")[1])["users"] == 120
    code, out, _ = run(*asked, "--format", "csv", "--output", "e.csv")
    assert (code, out) == (0, "")
    assert Path("e.csv").read_text(encoding="utf-8").splitlines()[0] == "value,count,low,high"


def test_senders_on_the_command_line(run: Run) -> None:
    client = published(run)
    Path("key").write_bytes(bytes(range(32)))
    lines = b"\n".join(b"ada," + one.hex().encode() for one in messages(client, ["red"] * 3))
    limit = ("--max-reports", "1", "--key-file", "key")
    code, _, err = run("collect", "p.json", "s.duckdb", "--batch", "b", *limit, given=lines)
    assert code == 0 and err == "1 of 3 messages kept: 2 excess\nbatch b\n"
    code, _, err = run("collect", "p.json", "s.duckdb", "--max-reports", "1", given=lines)
    assert code == 2 and "go together" in err


def test_ranges_and_methods(run: Run) -> None:
    stated = ("--epsilon", "1", "--users", "1000")
    _, out, err = run("publish", "--range", "0:1000:10", *stated, "--other", "990")
    assert json.loads(out)["domain"] == {"range": [0, 1000, 10], "other": 990} and "of 18 bytes" in err
    _, out, err = run("publish", "--range", "0:4", *stated, "--method", "optimized unary encoding")
    assert json.loads(out)["recipe"]["kind"] == "bits" and err.startswith("optimized unary encoding")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("publish", "--epsilon", "1", "--users", "9"), 2, "--values FILE, or --range"),
        (("publish", "--epsilon", "1", "--users", "9", "--range", "0:5", "--values", "v"), 2, "--values FILE"),
        (("publish", "--epsilon", "1", "--users", "9", "--range", "five"), 2, "--range takes"),
        (("publish", "--epsilon", "1", "--users", "9", "--range", "0:9:0"), 2, "--range takes"),
        (("publish", "--epsilon", "1", "--users", "9", "--values", "none.txt"), 2, "cannot be read"),
        (("publish", "--epsilon", "0", "--users", "9", "--range", "0:5"), 3, "above 0"),
        (("publish", "--epsilon", "1", "--users", "9", "--range", "0:5", "--method", "magic"), 3, "one of response"),
        (("publish", "--epsilon", "1", "--users", "9", "--range", "0:5", "--other", "7"), 3, "one of the values"),
        (("collect", "none.json", "s.duckdb"), 2, "cannot be read"),
        (("collect", "values.txt", "s.duckdb"), 2, "is not what"),
        (("collect", "p.json", "s.duckdb", "none.txt"), 2, "cannot be read"),
        (("collect", "changed.json", "s.duckdb"), 3, "another"),
        (("collect", "p.json", "values.txt"), 1, "the store of reports cannot be used"),
        (("estimate", "p.json", "none.duckdb"), 2, "there is no store"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], code: int, said: str, run: Run) -> None:
    published(run)
    changed = json.loads(Path("p.json").read_text(encoding="utf-8")) | {"epsilon": "2"}
    Path("changed.json").write_text(json.dumps(changed), encoding="utf-8")
    left, out, err = run(*arguments)
    assert (left, out) == (code, "") and said in err


def test_a_store_of_another_protocol_is_refused(run: Run) -> None:
    client = published(run)
    lines = b"\n".join(one.hex().encode() for one in messages(client, ["red"]))
    run("collect", "p.json", "s.duckdb", given=lines)
    code, _, err = run("estimate", "p.json", "s.duckdb", "--question", "taste")
    assert code == 2 and "on the question 'taste'" in err
    run("publish", "--values", "values.txt", "--epsilon", "2", "--users", "1000", "-o", "q.json")
    code, _, err = run("estimate", "q.json", "s.duckdb")
    assert code == 3 and "keeps as 'reports'" in err
