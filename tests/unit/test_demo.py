"""The demonstration: its numbers, and the command that tells it."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.datasets import CLASSROOM, portrait
from sfumato.demo.classroom import (
    CLOSE,
    attack,
    errors_of_mean,
    leak,
    private_mean,
    recover_arrived,
    recover_departed,
)
from sfumato.demo.classroom_ledger import ask_twice

SCORES = (85, 84, 85, 89, 92, 95, 100, 83, 70, 67)


def run(*arguments: str, before: str = "pass", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command in a fresh interpreter, after some statements, without a terminal."""
    script = (
        f"import sys; {before}; from sfumato.cli.main import main; sys.argv = ['sfumato', *{list(arguments)!r}]; main()"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, encoding="utf-8")


def test_A1_161_classroom_scores() -> None:
    assert CLASSROOM.scores == SCORES
    assert (sum(CLASSROOM.scores) / 10, sum(CLASSROOM.after) / 9) == (85, 87)


def test_A1_159_exact_means_leak_the_departed_score() -> None:
    told = leak(CLASSROOM)
    assert (told.before, told.after, told.recovered) == (85, 87, 67)
    assert told.sensitivity == 10
    assert recover_departed(85, 87, size=10) == 67


def test_A1_160_another_departure() -> None:
    assert recover_departed(85, 84, size=10) == 94


def test_A1_162_an_arrival_leaks_a_salary() -> None:
    assert recover_arrived(500_000, 505_000, size=25) == 630_000


def test_private_mean_has_the_least_noise_for_its_price() -> None:
    made, scale = private_mean(10, (0, 100), Pure(1))
    assert scale == 10
    assert made.map(1) == Pure(1)
    dearer, coarser = private_mean(9, (0, 100), Pure(1))
    assert Fraction(100, 9) <= coarser < Fraction(100, 9) + Fraction(1, 10**12)
    assert dearer.check(1, Pure(1))


def test_the_attack_fails_on_private_means() -> None:
    # The guess is off by the difference of two Laplace variables of scale 100, so that
    # P(|error| <= t) = 1 - (1 + t/200) exp(-t/100). False alarms: |z| > 7, 2e-10 for so rare an event.
    found = attack(CLASSROOM, loss=Pure(1), times=3000)
    share = 1 - (1 + CLOSE / 200) * math.exp(-CLOSE / 100)
    assert abs(found.hits - share) < 7 * math.sqrt(share * (1 - share) / 3000)
    assert 80 < found.median_error < 160
    assert len(set(found.guesses)) > 2990
    assert Pure("1.999999") <= found.before.loss.then(found.after.loss) <= Pure(2)


def test_errors_of_the_mean_are_those_of_laplace_noise() -> None:
    found = errors_of_mean((0, 100), sizes=(10, 1000), losses=(Pure(1), Pure("0.1")))
    assert found[10][Pure(1)] == pytest.approx(10 * math.log(20))
    assert found[1000][Pure("0.1")] == pytest.approx(math.log(20))


def test_portrait_has_ink_and_paper() -> None:
    assert 0.2 < portrait().mean() < 0.6


def test_the_classroom_is_told_and_drawn(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "sfumato", "demo", "classroom"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "10 × 85 − 9 × 87 = 67" in ran.stdout
    for said in (
        "sensitivity  10 points",
        "Laplace of scale 10",
        "ε = 1 for one student",
        "± 29.9574 (95%)",
        "× 2.718",
    ):
        assert said in ran.stdout
    assert "classmate ε = 2" in ran.stdout
    folder = tmp_path / "sfumato-demo"
    charts, book = ["classroom.png", "classroom.svg", "portrait.png"], ["ledger.db", "ledger.jsonl", "release-table.md"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(charts + book)
    assert "it costs nothing" in " ".join(ran.stdout.split())
    assert (folder / "classroom.png").read_bytes().startswith(b"\x89PNG")
    assert "from exact means: 67, every time" in (folder / "classroom.svg").read_text(encoding="utf-8")
    assert all(len(line.rstrip()) <= 80 for line in ran.stdout.splitlines())


def test_the_visits_are_told_and_drawn(tmp_path: Path) -> None:
    first = run("demo", folder=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    said = " ".join(first.stdout.split())
    for words in (
        "sfumato codebook init visits.parquet --unit user_id",
        "minutes: {type: float} # to add it up: between: [lower, upper]",
        "grouped by day: 28 public keys, all answered",
        "It cost ε = 0.2; ε = 1.8, δ = 5e-09 is left.",
        "the same answer and costs nothing",
        "visits cannot pay ε = 0.6",
        "8 entries, 0 signed checkpoints: sound",
        "sfumato demo classroom",
    ):
        assert words in said
    folder = tmp_path / "sfumato-demo"
    charts = [f"{name}{suffix}" for name in ("minutes-by-day", "visits-by-site") for suffix in (".png", ".svg")]
    files = ["visits-ledger.db", "visits.parquet", "visits.yaml"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(charts + files)
    assert "Minutes by day" in (folder / "minutes-by-day.svg").read_text(encoding="utf-8")
    second = run("demo", folder=tmp_path, before="sys.modules['altair'] = None")
    again = " ".join(second.stdout.split())
    assert again.count("nothing: an earlier run of this story asked it") == 3  # the same file, the same ledger
    assert "pip install 'sfumato[plot]'" in again
    told = second.stdout.split("site  visits")[1].split("each")[0]
    assert told == first.stdout.split("site  visits")[1].split("each")[0]


def test_the_visits_without_the_sql_extra_say_what_to_install(tmp_path: Path) -> None:
    ran = run("demo", before="sys.modules['duckdb'] = sys.modules['pyarrow'] = None", folder=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == "sfumato: writing Parquet files needs optional packages: pip install 'sfumato[sql]'\n"


def test_the_classroom_without_the_plot_extra_tells_and_says_what_to_install(tmp_path: Path) -> None:
    first, second = (run("demo", "classroom", before="sys.modules['altair'] = None", folder=tmp_path) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert "= 67" in first.stdout
    assert "pip install 'sfumato[plot]'" in " ".join(first.stdout.split())
    assert not list(tmp_path.rglob("*.png"))
    assert first.stdout != second.stdout  # the noise is new each time


def test_a_console_that_knows_no_greek_gets_question_marks(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "sfumato", "demo", "classroom"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert ran.returncode == 0, ran.stderr
    assert "10 ? 85 ? 9 ? 87 = 67" in ran.stdout


@pytest.mark.parametrize("story", ["visits", "classroom"])
def test_a_refusal_is_one_line_and_an_exit_code(story: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run("demo", story, "--output", "file", folder=tmp_path)
    assert ran.returncode == 3
    [line] = ran.stderr.splitlines()
    assert line.startswith("sfumato: ")
    assert "written to" in line


def test_randomness_of_a_release_cannot_be_seeded() -> None:
    assert run("demo", "--seed", "1").returncode == 2


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_version(asked: str) -> None:
    ran = run(asked)
    assert (ran.returncode, ran.stdout.strip()) == (0, version("sfumato"))


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help(asked: str) -> None:
    ran = run(asked)
    assert ran.returncode == 0
    assert "demo" in ran.stdout


def test_no_command_shows_help() -> None:
    assert "demo" in run().stdout


def test_the_classroom_under_a_ledger_asks_twice_and_pays_once(tmp_path: Path) -> None:
    told = ask_twice(CLASSROOM, folder=tmp_path)
    assert not told.known
    assert told.first.value == told.second.value
    assert (told.before, told.once, told.twice) == (Pure(0), Pure(0.5), Pure(0.5))
    assert "ε = 0.5 is left" in told.refusal
    assert told.verdict
    assert [path.name for path in told.written] == ["ledger.db", "ledger.jsonl", "release-table.md"]
    assert all(path.exists() for path in told.written)
    again = ask_twice(CLASSROOM, folder=tmp_path)
    assert again.known
    assert again.first.value == told.first.value
    assert again.twice == Pure(0.5)
    assert again.table.rows[0].cells[2] == "0.5"


def test_the_ledger_from_the_command_line(tmp_path: Path) -> None:
    ask_twice(CLASSROOM, folder=tmp_path)
    shown = run("ledger", "show", "ledger.db", folder=tmp_path)
    assert shown.returncode == 0
    assert all(word in shown.stdout for word in ("exam", "a student", "ε = 0.5", "charged", "released"))
    sound = run("ledger", "verify", "ledger.db", folder=tmp_path)
    assert (sound.returncode, sound.stdout.strip()) == (0, "4 entries, 0 signed checkpoints: sound")
    assert run("ledger", "export", "ledger.db", "copy.jsonl", folder=tmp_path).returncode == 0
    assert (tmp_path / "copy.jsonl").read_text() == (tmp_path / "ledger.jsonl").read_text()
    table = run("ledger", "table", "ledger.db", "exam", "--format", "markdown", folder=tmp_path)
    assert "| ε | 0.5 |" in table.stdout
    with sqlite3.connect(tmp_path / "ledger.db") as raw:
        raw.execute("DROP TRIGGER no_change")
        raw.execute("UPDATE entries SET text = replace(text, '1/2', '1/4') WHERE number = 3")
        raw.execute("CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END")
    broken = run("ledger", "verify", "ledger.db", folder=tmp_path)
    assert broken.returncode == 1
    assert "entry 3" in broken.stdout + broken.stderr or "damaged" in broken.stderr


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing = run("ledger", "show", "nowhere.db", folder=tmp_path)
    assert missing.returncode == 1
    assert "there is none at this address" in missing.stderr
    assert not (tmp_path / "nowhere.db").exists()
    wrong = run("ledger", "table", "nowhere.db", "exam", "--format", "pdf", folder=tmp_path)
    assert wrong.returncode != 0
