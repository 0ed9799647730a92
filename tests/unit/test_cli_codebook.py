"""The commands on codebooks: drafts that no value gets into, bounds that are bought, checks, metadata of others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.cli.main import main
from sfumato.codebook import Codebook
from sfumato.codebook.draft import draft
from sfumato.datasets import visits
from sfumato.ledger.ledger import Ledger
from sfumato.query.engines.registry import schema_of
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.session.bounds import bounds_in, edges

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs commands in a folder with visits, as a shell would: exit code, output, messages."""
    made = visits(rows=4_000, people=800, groups=6)
    pq.write_table(pa.table(dict(made.columns)), tmp_path / "visits.parquet")
    (tmp_path / "visits.yaml").write_text(made.codebook.to_yaml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sfumato", "codebook", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), *capsys.readouterr()

    return ran


def test_a_draft_is_made_of_the_schema(run: Run) -> None:
    code, out, err = run("init", "visits.parquet", "--unit", "user_id")
    assert (code, err) == (0, "")
    assert out == draft(schema_of("visits.parquet"), id="user_id")
    assert "  id: user_id\n" in out
    assert "      minutes: {type: float}  # to add it up: between" in out


def test_no_value_gets_into_a_draft(run: Run) -> None:
    one, other = ("a\nsecret\n", "a\n12345\n")
    drafts = set()
    for text in (one, other):
        Path("people.csv").write_text(text, encoding="utf-8")
        drafts.add(run("init", "people.csv")[1])
    assert len(drafts) == 1  # a text file says no types, and to guess them is to look at values
    assert "      a: {type: str}  # or int, float, bool, date, time: the file does not say" in drafts.pop()
    with duckdb.connect("people.duckdb") as base:
        base.execute("CREATE TABLE people (user_id INTEGER, mood ENUM ('happy', 'sad'), parts INTEGER[])")
        base.execute("CREATE TABLE homes (street VARCHAR)")
    _, out, _ = run("init", "people.duckdb", "--unit", "user_id")
    assert "happy" not in out
    assert "      mood: {type: str}" in out
    assert "      parts: {type: list, items: {type: int}}" in out
    assert "  homes:\n    # FILL: id: {through: …, of: …}" in out


def test_a_draft_is_written_once_and_refused_until_it_is_filled_in(run: Run) -> None:
    code, out, err = run("init", "visits.parquet", "--unit", "user_id", "--output", "draft.yaml")
    assert (code, out) == (0, "")
    assert err == (
        "draft.yaml: 1 place is marked '# FILL:', to be filled in from public knowledge; then rows can be counted. "
        "Questions say which line they need besides.\n"
    )
    before = Path("draft.yaml").read_text(encoding="utf-8")
    code, out, err = run("init", "visits.parquet", "--output", "draft.yaml")
    assert (code, out) == (3, "")
    assert err == ("sfumato: draft.yaml is there already, and may hold what somebody filled in: name another file.\n")
    assert Path("draft.yaml").read_text(encoding="utf-8") == before
    code, _, err = run("check", "draft.yaml")
    assert code == 3
    assert "protects: who is protected, in words that are printed with every release" in err


def test_several_files_are_several_tables(run: Run) -> None:
    Path("sites.csv").write_text("site,region\n", encoding="utf-8")
    _, out, _ = run("init", "visits.parquet", "sites.csv", "--unit", "user_id")
    assert "  visits:\n" in out
    assert "  sites:\n" in out
    assert run("init", "visits.parquet", "visits.parquet")[0] == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", "[]", "data must be a file that says which columns it has"),
        ("a.parquet", "no", "data must be a Parquet file that can be read; got 'something else'."),
        ("a.duckdb", "no", "data must be a DuckDB file that can be read, with tables; got 'something else'."),
        ("a.csv", "x,x\n", "data must be CSV files in UTF-8 with the same header"),
    ],
)
def test_files_without_a_schema_are_refused(run: Run, name: str, content: str, said: str) -> None:
    Path(name).write_text(content, encoding="utf-8")
    code, out, err = run("init", name)
    assert (code, out) == (3, "")
    assert err.startswith(f"sfumato: {said}")


def test_bounds_are_bought_and_the_draft_says_which_release_they_are_from(run: Run) -> None:
    bought = ("--protects", "a person", "--epsilon", "4", "--limit-epsilon", "5", "--ledger", "spent.db")
    bought += ("--data-version", "spring")
    code, out, err = run("init", "visits.parquet", "--unit", "user_id", *bought)
    assert code == 0
    assert err.splitlines() == [
        "  visits.site in [1, 8]: entry 3 of visits",
        "  visits.minutes in [0, 256]: entry 5 of visits",
    ]
    assert '      site: {type: int, between: [1, 8], source: {release: "entry 3 of visits"}}\n' in out
    assert '      minutes: {type: float, between: [0, 256], source: {release: "entry 5 of visits"}}\n' in out
    assert '  protects: "a person"\n' in out
    book = Codebook.read(out)  # nothing is left to fill in
    assert [fact.source for fact in book.facts()] == ["release: entry 3 of visits", "release: entry 5 of visits"]
    ledger = Ledger.open("spent.db")
    assert ledger["visits"].spent == Pure(4)
    ledger.close()
    code, again, _ = run("init", "visits.parquet", "--unit", "user_id", *bought)
    assert (code, again) == (0, out)  # the same questions: known, and free


def test_bounds_cannot_be_bought_without_people_or_without_a_limit(run: Run) -> None:
    code, _, err = run("init", "visits.parquet", "--epsilon", "1", "--limit-epsilon", "1")
    assert (code, err) == (
        2,
        "sfumato: bounds are bought for one file with people in it: give one FILE, --unit with the column of their "
        "ids, and --protects 'a person', or whoever they are.\n",
    )
    people = ("--unit", "user_id", "--protects", "a person")
    code, _, err = run("init", "visits.parquet", *people, "--epsilon", "1")
    assert code == 2
    assert "say once what may be spent on it in all" in err
    assert not Path("sfumato-ledger.db").exists()
    assert run("init", "visits.parquet", *people, "--epsilon", "9", "--limit-epsilon", "1")[0] == 4


def test_bands_cover_every_number_and_meet_at_their_edges() -> None:
    for whole in (True, False):
        found = edges(whole=whole)
        assert found == sorted(set(found))
        assert found == [-edge for edge in reversed(found)]
        assert 0 in found
    assert edges(whole=False)[-1] == 2**62
    assert min(edge for edge in edges(whole=False) if edge > 0) == Fraction(1, 2**20)


def test_bounds_are_the_outer_edges_of_bands_with_surely_somebody_in_them() -> None:
    ends = edges(whole=True)

    def answer(low: dict[int | None, int]) -> Answer:
        bands = [*range(len(ends) + 1), None]
        least = [low.get(band, -5) for band in bands]
        people = AnswerColumn("people", [one + 5 for one in least], Role.VALUE, least, [one + 10 for one in least])
        return Answer((AnswerColumn("band", bands, Role.KEY), people))

    three = ends.index(4)  # the band of 2 and 3
    assert bounds_in(answer({three: 1, three + 2: 9}), ends) == (2, 16)
    assert bounds_in(answer({three: 1}), ends) == (2, 4)
    assert bounds_in(answer({three: 0, None: 50}), ends) is None  # noise alone may be as large
    assert bounds_in(answer({0: 3, three: 1}), ends) is None  # somebody is below every edge
    assert bounds_in(answer({three: 1, len(ends): 3}), ends) is None


def test_check_prints_facts_flags_and_whether_the_data_fits(run: Run) -> None:
    code, out, err = run("check", "visits.yaml", "visits.parquet")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "Visits to sites: protects a person, by user_id"
    assert "  visits.minutes is in [0, 240]              sites close after four hours" in out
    assert "  minutes  float  4000    0        0       0\n" in out
    assert out.endswith("The data fits\n")
    Path("late.yaml").write_text(
        Path("visits.yaml").read_text(encoding="utf-8").replace("2026-01-10", "2026-03-10"), encoding="utf-8"
    )
    assert (
        "To look at before anything is published\n  it was created on 2026-03-10, after" in run("check", "late.yaml")[1]
    )
    Path("other.yaml").write_text(
        Path("visits.yaml").read_text(encoding="utf-8").replace("minutes:", "hours:"), encoding="utf-8"
    )
    code, _, err = run("check", "other.yaml", "visits.parquet")
    assert code == 3
    assert "visits.hours" in err


def test_check_counts_what_does_not_read_and_shows_no_value(run: Run) -> None:
    """It said that the data fits, and the questions that were paid for saw nothing but missing values."""
    columns = (
        "{day: {type: date}, many: {type: int, between: [0, 9], source: made up}, site: {categories: [a], source: b}}"
    )
    Path("t.yaml").write_text(
        "codebook: 1\ntitle: Days\nunit: {protects: a row}\ntables:\n  t:\n"
        f"    contributions: {{rows: 1, source: made up}}\n    columns: {columns}\n",
        encoding="utf-8",
    )
    Path("t.csv").write_text("day,many,site\n31/01/2012,5,a\n30/01/2012,12,b\nNA,x,\n1,2\n", encoding="utf-8")
    code, out, err = run("check", "t.yaml", "t.csv")
    assert code == 3
    assert "t: 3 rows, and 1 that could not be read\n" in out
    assert "  day     date  2       1        2       0\n  many    int   3       0        1       1\n" in out
    assert "  site    text  2       1        0       1\n" in out
    assert "outside: numbers are moved into their bounds; days, times and categories become missing\n" in out
    assert err == (
        "sfumato: 2 values of t.day do not read by its type, and would be taken as missing.\n"
        "sfumato: 1 values of t.many do not read by its type, and would be taken as missing.\n"
        "sfumato: 1 rows of t cannot be read, and would be left out.\n"
        "The data does not fit. Correct the type, or say how texts are written: format: '%d/%m/%Y', decimal: ','.\n"
    )
    assert not any(value in out + err for value in ("2012-", "/01/2012", "12,b"))
    Path("t.csv").write_text("day,many,site\n31/01/2012,5,a\nNA,12,a\n", encoding="utf-8")
    text = Path("t.yaml").read_text(encoding="utf-8")
    Path("t.yaml").write_text(text.replace("type: date", 'type: date, format: "%d/%m/%Y"'), encoding="utf-8")
    code, out, err = run("check", "t.yaml", "t.csv")
    assert (code, err) == (0, "")
    assert out.endswith("The data fits, but for what is outside\n")


def test_metadata_of_smartnoise_is_taken_over_with_notes(run: Run) -> None:
    Path("meta.yaml").write_text(
        "Database:\n  main:\n    visits:\n      max_ids: 3\n      user_id: {type: int, private_id: true}\n"
        "      minutes: {type: float, lower: 0, upper: 240}\n",
        encoding="utf-8",
    )
    code, out, err = run("smartnoise", "meta.yaml")
    assert code == 0
    book = Codebook.read(out)
    assert (book.id, [table.name for table in book.tables]) == ("user_id", ["main.visits"])
    assert "max_ids (3) is taken over as a bound that truncation makes true" in err
    assert run("smartnoise", "meta.yaml", "-o", "book.yaml")[1] == ""
    assert Codebook.read(Path("book.yaml")) == book
    assert run("smartnoise", "meta.yaml", "-o", "book.yaml")[0] == 3
