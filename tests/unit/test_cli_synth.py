"""The commands that synthesise: a model is paid once and kept, rows of it are free, and first mistakes are answered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.cli.synth import methods

BOOK = """
codebook: 1
title: People
unit: {protects: a person, id: id}
tables:
  people:
    columns:
      id: {type: int}
      sex: {categories: [f, m], source: the form}
      age: {type: int, between: [0, 99], source: the form}
      note: {type: str}
"""
PAID = ("--codebook", "people.yaml", "--max-rows", "1", "--columns", "sex,age", "--bins", "age=4")
PRICE = ("--epsilon", "1", "--delta", "1e-9", "--limit-epsilon", "3", "--limit-delta", "1e-6")
KEYED = ("--key", "first", "--data-version", "1")
FIT = ("fit", "people.parquet", *PAID, *PRICE, "--method", "mst")


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs commands in a folder with a table and its codebook, as a shell would."""
    people = {"id": range(400), "sex": ["f", "m"] * 200, "age": [one % 100 for one in range(400)]}
    pq.write_table(pa.table({**people, "note": ["secret"] * 400}), tmp_path / "people.parquet")
    (tmp_path / "people.yaml").write_text(BOOK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_LEDGER", raising=False)

    def ran(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["sfumato", "synth", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return ran


def test_a_model_is_paid_once_kept_drawn_from_and_reported(run: Run) -> None:
    found = run(*FIT, *KEYED, "-o", "people.synth.json")
    assert found.code == 0, found.err
    for said in ("MST of 2 columns", "price  ε = 1, δ = 1e-09 for a person", "left   ε = 2", "people.synth.json"):
        assert said in found.out
    assert "secret" not in Path("people.synth.json").read_text(encoding="utf-8")
    again = run(*FIT, *KEYED, "-o", "again.json")
    assert again.code == 0 and "nothing: it was asked before" in again.out
    first, second = (sf.synth.load(name) for name in ("people.synth.json", "again.json"))
    assert (first.measured[0].counts == second.measured[0].counts).all()
    drawn = run("sample", "people.synth.json", "--rows", "50", "--output", "rows.parquet")
    assert drawn.code == 0 and "none of them is a person's" in drawn.err
    rows = pq.read_table("rows.parquet")
    assert rows.column_names == ["sex", "age"] and rows.num_rows == 50
    given = run("sample", "people.synth.json", "--rows", "20", "--given", "sex=f", "--output", "rows.csv")
    assert given.code == 0 and pyarrow.csv.read_csv("rows.csv")["sex"].to_pylist() == ["f"] * 20
    assert run("sample", "people.synth.json", "--rows", "3").out.splitlines()[0] == '"sex","age"'
    told = run("report", "people.synth.json", "--output", "report.html")
    assert told.code == 0 and "<table" in Path("report.html").read_text(encoding="utf-8")
    assert "MST" in run("report", "people.synth.json").out


MISTAKES = [
    (("fit", "people.parquet", *PAID, *PRICE), 2, "say where to keep it"),
    (("fit", "people.parquet", *PAID, "-o", "x.json"), 2, "say what to pay"),
    ((*FIT[:-1], "gan", "-o", "x.json"), 2, "there is no method gan; there are: aim"),
    ((*FIT, "--key", "k", "-o", "x.json"), 2, "--data-version"),
    ((*FIT, "--workload", "sex,age", "-o", "x.json"), 2, "looks at no workload"),
    ((*FIT, "--bins", "age", "-o", "x.json"), 2, "--bins age=16"),
    ((*FIT[:6], *PRICE, "-o", "x.json"), 3, "known of note"),
    (("fit", "people.parquet", *PAID, *PRICE, "--epsilon", "9", "-o", "x.json"), 4, "cannot pay"),
    (("sample", "none.json"), 2, "there is no synthetic data in none.json"),
    (("sample", "people.yaml"), 3, "no JSON"),
]


@pytest.mark.parametrize(("words", "code", "said"), MISTAKES, ids=[one[2] for one in MISTAKES])
def test_first_mistakes_are_answered_and_cost_nothing(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    found = run(*words)
    assert (found.code, said in " ".join(found.err.split())) == (code, True), found.err
    assert not Path("x.json").exists()


def test_a_workload_and_every_method_can_be_named(run: Run) -> None:
    assert {"aim", "mst", "independent"} <= set(methods())
    found = run("fit", "people.parquet", *PAID, *PRICE, "--workload", "sex,age", "-o", "a.json")
    assert found.code == 0 and "AIM of 2 columns" in found.out
