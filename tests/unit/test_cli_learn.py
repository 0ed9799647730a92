"""The commands that learn: models for people and programs, exit codes, and the mistakes that people make first."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.cli.models import candidates, models
from sfumato.learn import LinearRegression, LogisticRegression, load

BOOK = """
codebook: 1
title: Pay
unit: {protects: a worker, id: worker}
tables:
  pay:
    id: worker
    columns:
      worker: {type: int}
      age: {type: float, between: [20, 60], source: the law}
      hours: {type: float, between: [0, 40], source: the law}
      city: {type: categories, categories: [Vinci, Milan], source: the map}
      pay: {type: float, between: [0, 600], source: the tariff}
      rich: {type: categories, categories: ["no", "yes"], source: our word}
      note: {type: str}
"""
LINEAR = ("linear", "pay.parquet", "--target", "pay", "--features", "age,hours", "--max-rows", "1")
PAID = ("--codebook", "pay.yaml", "--rho", "0.1", "--limit-rho", "1")


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
    rng = np.random.default_rng(0)
    age, hours, city = rng.uniform(20, 60, 500), rng.uniform(0, 40, 500), rng.choice(["Vinci", "Milan"], 500)
    pay = 10 * hours + 2 * age + rng.normal(0, 20, 500)
    rich = np.where(pay > 300, "yes", "no")
    columns = {"worker": range(500), "age": age, "hours": hours, "city": city, "pay": pay, "rich": rich}
    pq.write_table(pa.table({**columns, "note": ["secret"] * 500}), tmp_path / "pay.parquet")
    (tmp_path / "pay.yaml").write_text(BOOK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_LEDGER", raising=False)

    def ran(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["sfumato", "learn", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return ran


def test_a_fit_is_explained_paid_kept_reported_and_used(run: Run) -> None:
    told = run("explain", *LINEAR, *PAID)
    assert told.code == 0 and "10 sums of products" in told.out and "ρ = 0.1 (zCDP) for a worker" in told.out
    assert not Path("sfumato-ledger.db").exists()
    found = run("fit", *LINEAR, *PAID, "-o", "model.json", "--plot", "model.svg")
    assert (found.code, found.err) == (0, "  chart  model.svg\n")
    for said in ("LinearRegression of pay on age, hours", "  left   ρ = 0.9 (zCDP) of", "  model  model.json", "hours"):
        assert said in found.out
    assert Path("model.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "left  ρ = 0.9" in run("explain", *LINEAR, *PAID).out  # of the account that there is now
    model = load("model.json")
    assert isinstance(model, LinearRegression) and model.release_.charged
    assert run("report", "model.json").out == model.to_text()
    html = run("report", "model.json", "--format", "html", "--output", "model.html", "--plot", "model.png")
    assert (html.code, html.out) == (0, "") and "<table" in Path("model.html").read_text(encoding="utf-8")
    assert Path("model.png").read_bytes()[:4] == b"\x89PNG"
    Path("new.csv").write_text("name,hours,age\na,10,30\nb,40,\n", encoding="utf-8")
    seen = run("predict", "model.json", "new.csv", "-o", "out.csv")
    assert seen.code == 0 and "nothing protects the rows of new.csv" in seen.err and "ρ = 0.1 (zCDP)" in seen.err
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text(encoding="utf-8"))))
    assert (
        float(rows[0]["predicted_pay"]) == pytest.approx(float(model.predict([[30, 10]])[0])) and rows[1]["name"] == "b"
    )


def test_classes_of_the_codebook_choose_the_classifier(run: Run) -> None:
    given = ("boosting", "pay.parquet", "--features", "hours,city", *PAID, "--max-rows", "1", "-o", "m.json")
    assert run("fit", *given, "--target", "rich", "--set", "bins=4").code == 0
    model = load("m.json")
    assert type(model).__name__ == "ExplainableBoostingClassifier" and model.bins == 4
    assert "Regressor" in run("explain", *given[:-2], "--target", "pay").out
    pq.write_table(pa.table({"hours": [3.0, 39.0], "city": ["Milan", "Rome"]}), "new.parquet")
    seen = run("predict", "m.json", "new.parquet", "--output", "out.parquet", "--chances")
    assert seen.code == 0
    table = pq.read_table("out.parquet")
    assert table.column_names == ["hours", "city", "predicted_rich", "chance_of_no", "chance_of_yes"]
    assert table["predicted_rich"].to_pylist() == model.predict(pq.read_table("new.parquet")).tolist()


def test_what_needs_no_target_and_other_bounds_are_taken(run: Run) -> None:
    assert (
        run("fit", "pca", "pay.parquet", "--features", "age,hours", *PAID, "--max-rows", "1", "-o", "p.json").code == 0
    )
    wide = run("explain", *LINEAR, *PAID, "--between", "age=0,120", "--set", "alpha=0.5", "--format", "markdown")
    assert "age is moved into" in wide.out and "120" in wide.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("fit", *LINEAR, *PAID), 2, "say where to keep the model, --output model.json"),
        (("fit", *LINEAR, "--codebook", "pay.yaml", "-o", "m.json"), 2, "say what to pay, --epsilon 0.5"),
        (("fit", "liner", *LINEAR[1:], *PAID, "-o", "m.json"), 2, "Did you mean 'linear-"),
        (("fit", *LINEAR, *PAID, "-o", "no/m.json"), 2, "no/m.json cannot be written"),
        (("fit", *LINEAR, *PAID, "-o", "m.json", "--plot", "m.pdf"), 2, "--plot takes a file that ends in"),
        (("fit", *LINEAR, *PAID, "-o", "m.json", "--set", "alhpa=1"), 2, "Did you mean 'alpha'?"),
        (("fit", *LINEAR, *PAID, "-o", "m.json", "--set", "alpha=x"), 3, "alpha must be"),
        (("fit", *LINEAR, *PAID, "-o", "m.json", "--between", "age=1"), 2, "--between takes a column and two bounds"),
        (("fit", "logistic", *LINEAR[1:], *PAID, "-o", "m.json"), 3, "classes must be given"),
        (("fit", "linear", "pay.parquet", "--target", "note", *PAID, "-o", "m.json"), 3, "known of note"),
        (("fit", "linear", "pay.parquet", "--target", "pya", *PAID, "-o", "m.json"), 3, "Did you mean 'pay'?"),
        (
            ("fit", *LINEAR, "--codebook", "pay.yaml", "--rho", "2", "--limit-rho", "1", "-o", "m.json"),
            4,
            "nothing was charged",
        ),
        (("explain", *LINEAR, *PAID, "--format", "pdf"), 2, "--format must be text, html or markdown"),
        (("report", "nowhere.json"), 2, "there is no model in nowhere.json"),
        (("report", "pay.yaml"), 3, "no JSON"),
    ],
    ids=lambda part: part if isinstance(part, int) else "",
)
def test_first_mistakes_cost_nothing(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    found = run(*arguments)
    assert (found.code, found.out) == (code, "") and said in found.err and "Traceback" not in found.err
    ledger = Path("sfumato-ledger.db")
    if ledger.exists():
        book = sf.Ledger.open(str(ledger))
        assert all(book.left(name) == sf.ZCDP(1) for name in book.accounts)
        book.close()


def test_rows_to_predict_for_must_have_the_columns(run: Run) -> None:
    run("fit", *LINEAR, *PAID, "-o", "m.json")
    Path("new.csv").write_text("hours\n1\n", encoding="utf-8")
    Path("new.txt").write_text("x", encoding="utf-8")
    assert "lacks columns that the model was fitted on: age" in run("predict", "m.json", "new.csv").err
    assert "ends in .csv, .parquet, .json" in run("predict", "m.json", "new.txt").err
    assert "predicts no chances" in run("predict", "m.json", "pay.parquet", "--chances").err


def test_every_model_is_listed_and_found_by_its_own_name(run: Run) -> None:
    listed = run("models").out
    for name, kind in models().items():
        assert name in listed and candidates(name) == [kind]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("linear", ["LinearRegression"]),
        ("LinearRegression", ["LinearRegression"]),
        ("logistic", ["LogisticRegression"]),
        ("svm", ["LinearSVC"]),
        ("naive bayes", ["NaiveBayes"]),
        ("bayes", ["NaiveBayes"]),
        ("huber", ["HuberRegressor"]),
        ("poisson", ["PoissonRegressor"]),
        ("boosting", ["ExplainableBoostingClassifier", "ExplainableBoostingRegressor"]),
        ("PCA", ["PCA"]),
        ("nothing", []),
    ],
)
def test_models_have_the_names_that_people_guess(word: str, names: list[str]) -> None:
    assert sorted(kind.__name__ for kind in candidates(word)) == names


def test_a_model_that_was_paid_for_does_not_get_lost(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("sfumato.learn.saving.Path.write_text", full)
    found = run(
        "fit",
        "logistic",
        "pay.parquet",
        "--target",
        "rich",
        "--features",
        "hours",
        *PAID,
        "--max-rows",
        "1",
        "-o",
        "m.json",
    )
    assert found.code == 5 and "could not be written" in found.err
    plain = json.loads(found.out.splitlines()[-1])
    assert plain["model"] == LogisticRegression.__name__
