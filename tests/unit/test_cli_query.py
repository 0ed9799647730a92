"""The commands that ask: answers for people and programs, exit codes, and the mistakes that people make first."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.exits import code_of
from sfumato.cli.inputs import Source, shown
from sfumato.cli.main import main
from sfumato.cli.parsing import value_of
from sfumato.datasets import visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_DAY = "SELECT day, COUNT(*) AS n, AVG(minutes) AS m FROM visits GROUP BY day ORDER BY day"
BOUNDED = ("--max-groups", "2", "--max-rows-per-group", "2")
LIMITED = ("--limit-epsilon", "4", "--limit-delta", "1e-6")
SPRING = ("--data-version", "spring")

ROWS, PEOPLE = 4_000, 800


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs commands in a folder with visits and their codebook, as a shell would."""
    made = visits(rows=ROWS, people=PEOPLE, groups=6)
    pq.write_table(pa.table(dict(made.columns)), tmp_path / "visits.parquet")
    (tmp_path / "visits.yaml").write_text(made.codebook.to_yaml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_LEDGER", raising=False)

    def ran(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["sfumato", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return ran


def ask(run: Run, sql: str, *options: str) -> Ran:
    return run("query", "visits.parquet", sql, "--codebook", "visits.yaml", *options)


def test_a_table_shows_values_with_their_errors_then_price_what_is_left_and_the_entry(run: Run, tmp_path: Path) -> None:
    first = ask(run, COUNT, "--epsilon", "0.5", *LIMITED, *BOUNDED, *SPRING)
    assert (first.code, first.err) == (0, "")
    value, asked, *cuts, note, price, left, paid, ledger = first.out.splitlines()
    assert value.endswith(" ± 12 (95%)")
    assert asked == "  asked  SELECT COUNT(*) AS n FROM visits"
    assert cuts[0] == "  cut    rows of visits without user_id belong to nobody (the codebook)" and len(cuts) > 1
    assert note == "  note   error bars cover the noise, not what was cut"
    assert price == "  price  ε = 0.5 for a person"
    assert left == "  left   ε = 3.5, δ = 5e-07 of ε = 4, δ = 1e-06"
    assert paid.startswith("  paid   entry 3 of visits, ")
    assert ledger == f"  ledger {tmp_path / 'sfumato-ledger.db'}"
    again = ask(run, COUNT, "--epsilon", "0.5", *BOUNDED, *SPRING)  # the limit need not be said again
    assert again.out.splitlines()[0] == value
    assert again.out.splitlines()[-4] == "  price  nothing: it was asked before, at ε = 0.5 for a person"


def test_keys_stand_before_values_and_all_groups_are_there(run: Run) -> None:
    # each day has 27 visits or more: at this price none comes out as 0 or less, which would have no mean
    found = ask(run, BY_DAY, "--epsilon", "8", "--limit-epsilon", "8", *BOUNDED)
    lines = found.out.splitlines()
    assert lines[0].split() == ["day", "n", "m"]
    assert [line.split()[0] for line in lines[2:30]] == [f"2026-02-{day:02}" for day in range(1, 29)]
    assert all(" ± 3 " in line and line.endswith("]") for line in lines[2:30])
    assert "  each ± and each [low, high] holds with 95% confidence, cell by cell." in lines


def test_programs_get_clean_answers_and_notes_go_elsewhere(run: Run) -> None:
    asked = (BY_DAY, "--epsilon", "2", *LIMITED, *BOUNDED, *SPRING)
    as_csv = ask(run, *asked, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(as_csv.out)))
    assert list(rows[0]) == ["day", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert len(rows) == 28
    assert "price  ε = 2 for a person" in as_csv.err and "  asked  SELECT day, COUNT(*) AS n" in as_csv.err
    as_json = ask(run, *asked, "--format", "json")
    found = json.loads(as_json.out)
    assert [str(cell) for cell in found["value"]["n"]] == [row["n"] for row in rows]
    assert "price  nothing" in as_json.err
    to_file = ask(run, *asked, "--format", "parquet", "--output", "answer.parquet")
    assert to_file.out == ""
    table = pq.read_table("answer.parquet")
    assert table.column("n").to_pylist() == found["value"]["n"]
    kept = table.schema.metadata[b"sfumato"].decode()
    assert "  asked  SELECT day, COUNT(*) AS n" in kept and "  cut    " in kept
    assert b"entry" in table.schema.metadata[b"sfumato"]


def test_an_answer_is_written_to_a_file_and_drawn(run: Run) -> None:
    found = ask(run, BY_DAY, "--epsilon", "2", *LIMITED, *BOUNDED, "-o", "answer.txt", "--plot", "days.svg")
    assert (found.code, found.out) == (0, "")
    assert Path("answer.txt").read_text(encoding="utf-8").count("± 12") == 28
    assert "± 12" not in found.err
    assert Path("days.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "parquet"), "--format parquet needs --output FILE: it is not for a terminal."),
        (("--plot", "days.pdf"), "--plot takes a file that ends in .svg, .png, .html; got days.pdf."),
        (
            ("--output", "nowhere/answer.csv"),
            "nowhere/answer.csv cannot be written: there is no such folder, or it is one itself.",
        ),
        (("--rho", "0.1"), "--rho stands alone: it is another way to state a loss than --epsilon and --delta."),
        (("--accuracy", "50"), "say what to pay or how near to come, not both: one follows from the other."),
        (
            ("--ledger", "memory:"),
            "a ledger in memory would forget what was spent as soon as the command ends: name a file.",
        ),
        (("--parameter", "4"), "--parameter takes a name and a value, as in --parameter site=4; got '4'."),
        (
            ("--table", "sites"),
            "--table takes the name of a table and its file, as in --table sites=sites.csv; got 'sites'.",
        ),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_what_cannot_be_done_is_said_before_anything_is_paid(run: Run, options: tuple[str, ...], said: str) -> None:
    found = ask(run, COUNT, "--epsilon", "0.5", *LIMITED, *BOUNDED, *options)
    assert (found.code, found.out, found.err) == (2, "", f"sfumato: {said}\n")
    assert not Path("sfumato-ledger.db").exists()


FIRST_MISTAKES = [
    (
        ("query", "visits.parquet", COUNT, "--epsilon", "1"),
        2,
        "there is no codebook, so nobody knows who is protected and what is public: give --codebook FILE. "
        "'sfumato codebook init visits.parquet' drafts one.",
    ),
    (
        ("query", "nowhere.parquet", COUNT, "--codebook", "visits.yaml", "--epsilon", "1", *LIMITED),
        3,
        "data must be a file that there is, or a pattern such as 'visits/*.parquet'; got 'nowhere.parquet'.",
    ),
    (
        ("query", "visits.parquet", COUNT, "--codebook", "nowhere.yaml", "--epsilon", "1"),
        3,
        "a codebook must be a file that can be read as UTF-8 (or a text of several lines); got 'nowhere.yaml'.",
    ),
    (
        ("query", "visits.parquet", COUNT, "--codebook", "visits.yaml"),
        2,
        "say what to pay, --epsilon 0.5 (or --rho 0.1), or how near to come, --accuracy 50.",
    ),
    (
        ("query", "visits.parquet", "@nowhere.sql", "--codebook", "visits.yaml", "--epsilon", "1"),
        2,
        "there is no query to read in nowhere.sql.",
    ),
    (
        ("query", "visits.parquet", COUNT, "--codebook", "visits.yaml", "--epsilon", "-1"),
        3,
        "epsilon must be at least 0; got '-1'.",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "said"), FIRST_MISTAKES, ids=range(len(FIRST_MISTAKES)))
def test_first_mistakes_with_files_and_options(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    found = run(*arguments)
    assert (found.code, found.out, found.err) == (code, "", f"sfumato: {said}\n")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT * FROM visits",
            "'user_id' would show rows: it is neither aggregated nor grouped by, and rows of private tables never "
            "leave. Write an aggregate of it, such as COUNT(DISTINCT user_id).",
        ),
        (
            "SELECT AVG(minuts) FROM visits",
            "there is no column 'minuts'; there are: user_id, site, day, minutes. Did you mean 'minutes'? If it is a "
            "text, put it in single quotes.",
        ),
        (
            "SELECT SUM(site) FROM visits",
            "SUM(site) has no bounds on its values, so one unit could move it without limit. Add them to the column in "
            "the codebook, from public knowledge and never from the data: site: {type: int, between: [lower, upper], "
            "source: …}. Or say them where the data is opened: between={'site': (lower, upper)}. Or ask for "
            "SUM(CLAMP(site, lower, upper)).",
        ),
        ("SELECT COUNT(*) FROM visit", "there is no table 'visit'; there are: visits. Did you mean 'visits'?"),
    ],
    ids=["rows", "column", "bounds", "table"],
)
def test_first_mistakes_in_queries(run: Run, sql: str, said: str) -> None:
    found = ask(run, sql, "--epsilon", "1", *LIMITED, *BOUNDED)
    assert (found.code, found.out, found.err) == (3, "", f"sfumato: {said}\n")


def test_a_new_account_needs_a_limit_and_no_ledger_is_made_without(run: Run, tmp_path: Path) -> None:
    found = ask(run, COUNT, "--epsilon", "0.5", *BOUNDED)
    ledger = tmp_path / "sfumato-ledger.db"
    assert (found.code, found.err) == (
        2,
        f"sfumato: visits has no account in the ledger {ledger} yet: say once what may be spent on it in all, with "
        "--limit-epsilon 1 (and --limit-delta 1e-9), or --limit-rho 0.5.\n",
    )
    assert not ledger.exists()


def test_the_ledger_is_the_same_one_wherever_the_command_is_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(run, COUNT, "--epsilon", "0.5", *LIMITED, *BOUNDED, *SPRING)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    found = run("query", "../visits.parquet", COUNT, "-c", "../visits.yaml", "--epsilon", "0.5", *BOUNDED, *SPRING)
    assert "price  nothing" in found.out
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "other.db"))
    assert run("query", "../visits.parquet", COUNT, "-c", "../visits.yaml", "--epsilon", "0.5", *BOUNDED).code == 2


def test_the_ledger_of_a_pattern_is_above_it_and_passwords_are_not_printed(run: Run, tmp_path: Path) -> None:
    assert Source("2026/*/visits-?.parquet", None).ledger(None) == str(tmp_path / "2026" / "sfumato-ledger.db")
    assert shown("postgres://ada:secret@host/books?sslmode=require&password=x") == "postgres://host/books"
    assert shown("sqlite:///a.db") == "sqlite:///a.db"


def test_the_limit_has_an_exit_code_of_its_own(run: Run) -> None:
    ask(run, COUNT, "--epsilon", "0.5", "--limit-epsilon", "0.6", *BOUNDED)
    found = ask(run, COUNT, "--epsilon", "0.2", *BOUNDED)
    assert found.code == 4
    assert found.err == (
        "sfumato: visits cannot pay ε = 0.2: ε = 0.5 of ε = 0.6 is spent, and ε = 0.1 is left. Nothing ran and nothing "
        "was charged; ask for something cheaper.\n"
    )


def test_another_limit_than_the_one_that_was_set_is_refused(run: Run) -> None:
    ask(run, COUNT, "--epsilon", "0.5", "--limit-epsilon", "1", *BOUNDED)
    assert ask(run, COUNT, "--epsilon", "0.5", "--limit-epsilon", "9", *BOUNDED).code == 3


def test_accuracy_buys_what_it_needs(run: Run) -> None:
    found = ask(run, COUNT, "--accuracy", "30", "--confidence", "0.9", *LIMITED, *BOUNDED)
    assert "± 30 (90%)" in found.out
    assert found.code == 0


def test_parameters_are_values_and_texts_come_from_files(run: Run) -> None:
    Path("query.sql").write_text(COUNT + " WHERE day < :day AND site IN (:one, 2)", encoding="utf-8")
    options = ("--epsilon", "1", *LIMITED, *BOUNDED, *SPRING, "-p", "day=2026-02-08", "-p", "one=1")
    found = ask(run, "@query.sql", *options)
    assert found.code == 0
    literal = ask(run, COUNT + " WHERE day < DATE '2026-02-08' AND site IN (1, 2)", "--epsilon", "1", *BOUNDED, *SPRING)
    assert "price  nothing" in literal.out  # the same question, and so the same answer
    assert ask(run, COUNT + " WHERE site = :one", *options[:-4]).code == 3


def test_values_of_parameters() -> None:
    assert [value_of(text) for text in ("4", "-4", "'4'", "it's", "'it''s'", "TRUE", "null", "")] == [
        *(4, -4, "4", "it's", "it's", True, None, ""),
    ]
    assert float(str(value_of("1e3"))) == 1000
    assert [type(value_of(text)).__name__ for text in ("2026-02-01", "2026-02-01T10:00", "nan", "inf")] == [
        *("date", "datetime", "str", "str"),
    ]


def test_standard_input_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert "± 6 (95%)" in ask(run, "-", "--epsilon", "1", *LIMITED, *BOUNDED).out


def test_options_in_the_query_pay_too(run: Run) -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_groups_contributed = 2, max_rows_per_group = 2) "
    found = ask(run, text + "COUNT(*) AS n FROM visits", *LIMITED)
    assert "price  ε = 1 for a person" in found.out


def test_unknown_keys_need_a_delta_and_then_show_what_many_have(run: Run) -> None:
    by_site = "SELECT site, COUNT(DISTINCT user_id) AS people FROM visits GROUP BY site"
    without = ask(run, by_site, "--epsilon", "1", *LIMITED, *BOUNDED)
    assert without.code == 3
    assert "can only be shown with a δ" in without.err
    found = ask(run, by_site, "--epsilon", "1", "--delta", "1e-7", *BOUNDED)
    assert found.code == 0
    assert [line.split()[0] for line in found.out.splitlines()[2:8]] == list("123456")


def test_explain_spends_nothing_and_needs_no_ledger(run: Run) -> None:
    options = ("--codebook", "visits.yaml", "--epsilon", "1", *BOUNDED)
    found = run("explain", "visits.parquet", BY_DAY, *options)
    assert found.code == 0
    for title in ("What is computed", "How each unit is bounded", "Noise", "Errors to expect", "Price"):
        assert f"\n{title}\n" in found.out
    assert "Where it would be paid" not in found.out
    assert run("explain", "visits.parquet", BY_DAY, *options, "-f", "markdown").out.startswith(
        "**SELECT day, COUNT(\\*) AS n, AVG(minutes) AS m FROM visits GROUP BY day ORDER BY day** (explained"
    )
    assert "<table" in run("explain", "visits.parquet", BY_DAY, *options, "-f", "html").out
    assert run("explain", "visits.parquet", BY_DAY, *options, "-f", "pdf").code == 2
    assert ask(run, "EXPLAIN PRIVACY " + BY_DAY, "--epsilon", "1", *BOUNDED).out == found.out
    assert not Path("sfumato-ledger.db").exists()


def test_explain_says_where_it_would_be_paid_if_there_is_an_account(run: Run) -> None:
    ask(run, COUNT, "--epsilon", "0.5", *LIMITED, *BOUNDED, *SPRING)
    found = run("explain", "visits.parquet", COUNT, "-c", "visits.yaml", "--epsilon", "0.5", *BOUNDED, *SPRING)
    assert "the answer is in the book, and costs nothing" in found.out
    assert "ε = 3.5" in found.out


def test_explain_without_a_price_shows_what_a_tenth_would_buy(run: Run) -> None:
    found = run("explain", "visits.parquet", COUNT, "-c", "visits.yaml", *BOUNDED, "--limit-epsilon", "5")
    assert "price      ε = 0.5" in found.out


def test_a_unit_that_the_codebook_does_not_name(run: Run) -> None:
    Path("plain.yaml").write_text(
        "codebook: 1\ntitle: Visits\nunit: {protects: a row}\n"
        "tables: {visits: {columns: {user_id: {type: int}, minutes: {type: float}}}}\n",
        encoding="utf-8",
    )
    options = ("--epsilon", "1", *LIMITED, "--max-rows-per-group", "3")
    found = run("query", "visits.parquet", COUNT, "-c", "plain.yaml", "--unit", "user_id", *options)
    assert "ε = 1 for a person" in found.out
    assert run("query", "visits.parquet", COUNT, "-c", "visits.yaml", "--unit", "site", *options).code == 3


def test_further_tables(run: Run) -> None:
    Path("sites.csv").write_text("site,region\n" + "".join(f"{site},{'NS'[site % 2]}\n" for site in range(1, 7)))
    book = Path("visits.yaml").read_text(encoding="utf-8") + (
        "  sites:\n    public: true\n    columns:\n      site: {type: int}\n"
        "      region: {categories: [N, S], nullable: false, source: the map}\n"
    )
    Path("two.yaml").write_text(book, encoding="utf-8")
    joined = "SELECT region, COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site GROUP BY region"
    options = ("-c", "two.yaml", "--table", "sites=sites.csv", "--epsilon", "1", *LIMITED, *BOUNDED)
    found = run("query", "visits.parquet", joined, *options)
    assert [line.split()[0] for line in found.out.splitlines()[2:4]] == ["N", "S"]
    public = run("query", "visits.parquet", "SELECT region, site FROM sites", *options, "-f", "csv")
    assert public.out.splitlines() == ["region,site", "N,2", "N,4", "N,6", "S,1", "S,3", "S,5"]
    assert public.err == ""
    left = run("query", "visits.parquet", COUNT, "-c", "two.yaml", "--table", "sites=a.csv", "--table", "visits=b.csv")
    assert left.code == 2


def test_interruptions_and_failures_have_codes_of_their_own(run: Run, tmp_path: Path) -> None:
    broken = "raise RuntimeError"
    for stopped, code in (
        ("__import__('os').kill(__import__('os').getpid(), 2); raise RuntimeError", 130),
        (broken, 5),
    ):
        script = (
            "import sys\nfrom sfumato.query.engines.duckdb.engine import DuckDBEngine\n"
            f"def fail(self, cells):\n    {stopped}\n"
            "DuckDBEngine.run = fail\nfrom sfumato.cli.main import main\n"
            f"sys.argv = ['sfumato', 'query', 'visits.parquet', {COUNT!r}, '-c', 'visits.yaml', '--epsilon', '1', "
            "'--max-rows-per-group', '2', '--limit-epsilon', '5']\nmain()\n"
        )
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert ran.returncode == code, ran.stderr
        assert ran.stdout == ""
        said = "interrupted. What was charged before that stays charged" if code == 130 else "broke off while it looked"
        assert said in ran.stderr
        assert len(ran.stderr.splitlines()) == 1
    assert run(
        "query", "visits.parquet", COUNT, "-c", "visits.yaml", "--epsilon", "0.5", "--max-rows-per-group", "2"
    ).out.count("ε = 2.5")


def test_a_release_that_could_not_be_stored_is_shown_all_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(run, COUNT, "--epsilon", "0.5", *LIMITED, *BOUNDED, *SPRING)
    answer = sf.Session.sql

    def lost(self: sf.Session, *asked: object, **settings: object) -> None:
        raise sf.errors.NotKept(answer(self, *asked, **settings))  # type: ignore[arg-type]

    monkeypatch.setattr(sf.Session, "sql", lost)
    found = ask(run, COUNT, "--epsilon", "0.5", *BOUNDED, *SPRING)
    assert found.code == 5
    assert "It is not lost" in found.err
    assert found.out.splitlines()[0] == first.out.splitlines()[0]


@pytest.mark.parametrize("missing", ["duckdb", "pyarrow", "sqlglot"])
def test_without_the_sql_extra_it_says_what_to_install(run: Run, tmp_path: Path, missing: str) -> None:
    script = (
        f"import sys\nsys.modules[{missing!r}] = None\nfrom sfumato.cli.main import main\n"
        f"sys.argv = ['sfumato', 'explain', 'visits.parquet', {COUNT!r}, '-c', 'visits.yaml']\n"
        "sys.argv += ['--max-rows-per-group', '2']\n"
        "main()"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 1
    assert ran.stderr.endswith("needs optional packages: pip install 'sfumato[sql]'\n")
    assert len(ran.stderr.splitlines()) == 1


def test_exit_codes() -> None:
    errors = sf.errors
    assert code_of(errors.LimitReached("a", 1, 1, 1, "why")) == 4
    assert code_of(errors.RunFailed("m")) == code_of(errors.NotKept(None)) == 5
    assert code_of(errors.QueryRefused("no")) == code_of(errors.BadCodebook("a", "b")) == 3
    assert code_of(errors.MissingExtra("a", "sql")) == code_of(errors.LedgerUnavailable("why")) == 1


def test_as_a_program(run: Run, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sfumato", "query", "visits.parquet", COUNT, "-c", "visits.yaml", "--epsilon", "1"]
    asked = [*command, *LIMITED, *BOUNDED, "--format", "csv"]
    ran = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, check=True, encoding="utf-8")
    assert ran.stdout.splitlines()[0] == "n,n_low,n_high"
    assert "price" in ran.stderr


def test_an_answer_is_written_as_a_table(run: Run, tmp_path: Path) -> None:
    asked = BY_DAY.removesuffix(" ORDER BY day")
    paid = ("--epsilon", "1", "--delta", "1e-7", *BOUNDED, *LIMITED, *SPRING)
    for again in (False, True):
        done = run("query", "visits.parquet", asked, "--codebook", "visits.yaml", "--write", "days", *paid)
        assert done.code == 0 and "rows at" in done.out
        assert ("nothing: it was asked before" in done.err) == again
    release = sf.release.read_release(tmp_path / "days")
    assert release.value.open().to_table().column_names == ["day", "n", "n_low", "n_high", "m", "m_low", "m_high"]


@pytest.mark.parametrize("beside", [("--output", "a.csv"), ("--format", "json"), ("--plot", "a.svg")])
def test_a_table_is_written_nowhere_else(beside: tuple[str, str], run: Run) -> None:
    paid = ("--epsilon", "1", "--delta", "1e-7", *BOUNDED, *LIMITED)
    done = run("query", "visits.parquet", BY_DAY, "--codebook", "visits.yaml", "--write", "days", *paid, *beside)
    assert done.code == 2 and "--write takes no" in done.err
    assert not Path("days").exists()


def test_what_cannot_be_written_as_a_table_is_refused(run: Run) -> None:
    paid = ("--epsilon", "1", "--delta", "1e-7", *BOUNDED, *LIMITED)
    done = run("query", "visits.parquet", BY_DAY, "--codebook", "visits.yaml", "--write", "days", *paid)
    assert done.code == 3 and "ORDER BY" in done.err and not Path("days").exists()
