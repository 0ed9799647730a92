"""What is told before payment is a function of public things; what tells data apart is for its holder alone."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.query.engines.duckdb import sources
from sfumato.session.session import Session

BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {"visits": {"columns": {"user_id": {"type": "int"}, "pages": {"type": "int"}}}},
}
COUNT = "SELECT COUNT(*) AS n FROM visits"
EVERYBODY = {"user_id": [1, 2, 2, 3], "pages": [1, 2, 3, 4]}
WITHOUT = {name: column[:-1] for name, column in EVERYBODY.items()}
CHANGED = {**EVERYBODY, "pages": [1, 2, 3, 5]}

Write = Callable[[Path, dict[str, Any]], Any]


def written(name: str) -> Write:
    """Writes data to a file, as one person would, always in the same place."""

    def write(folder: Path, columns: dict[str, Any]) -> Path:
        path = folder / name
        if name.endswith(".csv"):
            lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
            path.write_text("\n".join(lines) + "\n")
        else:
            pq.write_table(pa.table(columns), path)
        return path

    return write


KINDS: dict[str, Write] = {
    "a frame": lambda _, columns: pa.table(columns),
    "csv": written("visits.csv"),
    "parquet": written("visits.parquet"),
    "large parquet": written("large.parquet"),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param.startswith("large"):
        monkeypatch.setattr(sources, "SMALL", 0)
    return str(request.param)


def opened(kind: str, folder: Path, columns: dict[str, Any], ledger: Path | str, **more: Any) -> Session:
    data = sf.Dataset(KINDS[kind](folder, columns), codebook=BOOK, name="visits", **more)
    return data.session(limit=sf.Pure(10), ledger=f"sqlite:///{ledger}")


def told(session: Session) -> list[str]:
    """Gives all that a session says without being paid."""
    said = [
        str(session),
        session.explain(COUNT, loss=sf.Pure(1), max_rows_per_group=2).to_text(),
        session.explain(COUNT, loss=sf.Pure(2), max_rows_per_group=2).to_text(),
        str(session.left),
        str(session.overview()),
        str(session.releases()),
        str(session.ledger.accounts),
    ]
    for text in ("SELECT pages FROM visits", "SELECT SUM(pages) FROM visits", "SELECT nope FROM visits"):
        with pytest.raises(sf.errors.SfumatoError) as refused:
            session.sql(text, loss=sf.Pure(1), max_rows_per_group=1)
        said.append(str(refused.value))
    return said


def history(kind: str, tmp_path: Path) -> Path:
    """Gives a ledger in which one question was asked of everybody."""
    path = tmp_path / "history.db"
    session = opened(kind, tmp_path, EVERYBODY, path)
    session.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2)
    session.ledger.close()
    return path


def test_nothing_that_is_free_tells_neighbours_apart(kind: str, tmp_path: Path) -> None:
    """The same book, and data in which one person is there or not: all that is said before payment is the same."""
    before = history(kind, tmp_path)
    said = []
    for place, columns in enumerate((EVERYBODY, WITHOUT, CHANGED)):
        book = tmp_path / f"copy-{place}.db"
        shutil.copy(before, book)
        session = opened(kind, tmp_path, columns, book)
        said.append(told(session))
        assert "asked before" not in "".join(said[-1])
        session.ledger.close()
    assert said[0] == said[1] == said[2]


def test_what_a_question_costs_does_not_tell_either(kind: str, tmp_path: Path) -> None:
    before = history(kind, tmp_path)
    spent = []
    for place, columns in enumerate((EVERYBODY, WITHOUT)):
        book = tmp_path / f"copy-{place}.db"
        shutil.copy(before, book)
        session = opened(kind, tmp_path, columns, book)
        session.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2)
        spent.append(session.spent)
    assert spent == [sf.Pure(2), sf.Pure(2)]


def test_a_retry_with_a_key_tells_nothing_of_the_data(tmp_path: Path) -> None:
    count = sf.count() >> sf.laplace(scale=1)
    book = tmp_path / "keys.db"
    said = []
    for values in ([1, 2, 3], [1, 2, 3], [1, 2]):
        session = sf.Dataset(values, name="x", space=sf.vector(int)).session(limit=sf.Pure(9), ledger=book)
        try:
            session.run(count, key="monday")
            said.append("answered")
        except sf.errors.AccountRefused as refusal:
            said.append(str(refusal))
        session.ledger.close()
    assert said[0] == "answered" and said[1] == said[2] and "each opening is one" in said[1]


def test_within_one_opening_the_same_question_is_free(kind: str, tmp_path: Path) -> None:
    data = sf.Dataset(KINDS[kind](tmp_path, EVERYBODY), codebook=BOOK, name="visits")
    session = data.session(limit=sf.Pure(10), ledger=tmp_path / "book.db")
    first = session.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2)
    again = data.session(ledger=session.ledger).sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2)
    assert again.receipt == first.receipt and session.spent == sf.Pure(1)


def test_a_published_version_is_the_same_one_whenever_it_is_opened(kind: str, tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    first = opened(kind, tmp_path, EVERYBODY, book, version="2026-11")
    release = first.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2)
    first.ledger.close()
    again = opened(kind, tmp_path, EVERYBODY, book, version="2026-11")
    assert "costs nothing" in again.explain(COUNT, loss=sf.Pure(1), max_rows_per_group=2).to_text()
    assert again.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2).receipt == release.receipt
    later = opened(kind, tmp_path, EVERYBODY, book, version="2026-12")
    assert later.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=2).receipt != release.receipt


@pytest.mark.parametrize("columns", [WITHOUT, CHANGED], ids=["without one", "changed"])
def test_other_data_under_a_published_version_is_refused(kind: str, columns: dict[str, Any], tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    opened(kind, tmp_path, EVERYBODY, book, version="2026-11").ledger.close()
    with pytest.raises(sf.errors.AccountRefused, match="changed since version '2026-11' of visits was published"):
        opened(kind, tmp_path, columns, book, version="2026-11")
    opened(kind, tmp_path, columns, book, version="2026-12")


@pytest.mark.parametrize("version", ["", " 2026", "a\nb", "x" * 101, 3, "\ud800"])
def test_names_of_versions(version: Any) -> None:
    with pytest.raises(sf.errors.BadArgument, match="version"):
        sf.Dataset([1], name="x", space=sf.vector(int), version=version)


def test_values_in_memory_and_their_members_have_versions_too() -> None:
    ledger = sf.Ledger.open("memory:")
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(10))

    def session(values: list[int], ids: list[str] | None = None, version: str = "spring") -> Session:
        members = None if ids is None else sf.Members(register, ids)
        data = sf.Dataset(values, name="x", space=sf.vector(int), version=version, members=members)
        return data.session(limit=sf.Pure(9), ledger=ledger)

    count = sf.count() >> sf.laplace(scale=1)
    first = session([1, 2, 3]).run(count)
    assert session([1, 2, 3]).run(count).receipt == first.receipt
    with pytest.raises(sf.errors.AccountRefused, match="changed since"):
        session([1, 2])
    session([1, 2, 3], ["a", "b", "c"], "summer")
    with pytest.raises(sf.errors.AccountRefused, match="changed since"):
        session([1, 2, 3], ["a", "b", "b"], "summer")


def test_where_data_lies_and_when_it_was_written_is_no_part_of_it(tmp_path: Path, monkeypatch: Any) -> None:
    for small in (sources.SMALL, 0):
        monkeypatch.setattr(sources, "SMALL", small)
        one, other = tmp_path / f"a{small}", tmp_path / f"b{small}"
        one.mkdir(), other.mkdir()
        book = tmp_path / f"book{small}.db"
        first = KINDS["parquet"](one, EVERYBODY)
        copied = other / "renamed.parquet"
        shutil.copyfile(first, copied)
        os.utime(copied, (1, 1))
        for path in (first, copied):
            sf.Dataset(path, codebook=BOOK, name="visits", version="v").session(limit=sf.Pure(1), ledger=book)


def test_how_a_frame_is_cut_into_chunks_is_no_part_of_it() -> None:
    ledger, whole = sf.Ledger.open("memory:"), pa.table({**EVERYBODY, "pages": [1, None, 3, 4]})
    for cut in (whole, pa.concat_tables([whole[:1], whole[1:3], whole[3:]]), pa.concat_tables([whole, whole])[4:]):
        sf.Dataset(cut, codebook=BOOK, version="v").session(limit=sf.Pure(1), ledger=ledger)
        with pytest.raises(sf.errors.AccountRefused, match="that of the account visits"):
            sf.Dataset(cut, codebook=BOOK, name="other").session(limit=sf.Pure(1), ledger=ledger)
    with pytest.raises(sf.errors.AccountRefused, match="changed since"):
        sf.Dataset(whole[1:], codebook=BOOK, version="v").session(limit=sf.Pure(1), ledger=ledger)


# One data set has one limit.


def ways(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Gives ways in which the same file has been opened under another name."""
    path = KINDS["csv"](folder, EVERYBODY)
    (folder / "link.csv").symlink_to(path)
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    return {
        "another name": path,
        "a symbolic link": folder / "link.csv",
        "another folder": "../visits.csv",
        "another spelling": f"{folder}/inner/../visits.csv",
        "a copy": shutil.copyfile(path, folder / "copy.csv"),
    }


def test_the_same_data_under_another_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = tmp_path / "book.db"
    for place, (way, source) in enumerate(ways(tmp_path, monkeypatch).items()):
        if not place:
            sf.Dataset(source, codebook=BOOK, name="visits").session(limit=sf.Pure(1), ledger=book)
        with pytest.raises(sf.errors.AccountRefused, match=r"is that of the account visits.*name='visits'"):
            sf.Dataset(source, codebook=BOOK, name=f"other {place}").session(limit=sf.Pure(1), ledger=book)
        assert sf.Ledger.open(book).accounts == ("visits",), way
        sf.Dataset(source, codebook=BOOK, name="visits").session(limit=sf.Pure(1), ledger=book)


def test_another_name_of_the_table_does_not_hide_the_data(tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    sf.Dataset(pa.table(EVERYBODY), codebook=BOOK, name="visits").session(limit=sf.Pure(1), ledger=book)
    renamed = {**BOOK, "tables": {"trips": BOOK["tables"]["visits"]}}  # type: ignore[index]
    with pytest.raises(sf.errors.AccountRefused, match="the account visits"):
        sf.Dataset(pa.table(EVERYBODY), codebook=renamed).session(limit=sf.Pure(1), ledger=book)


def test_a_claim_lets_it_in_and_stands_in_the_book() -> None:
    ledger = sf.Ledger.open("memory:")
    one, other = (sf.Dataset([1, 2, 3], name=name, space=sf.vector(int)) for name in ("one", "other"))
    one.session(limit=sf.Pure(1), ledger=ledger)
    with pytest.raises(sf.errors.AccountRefused, match=r"claim=sf\.claim"):
        other.session(limit=sf.Pure(1), ledger=ledger)
    with pytest.raises(sf.errors.BadArgument, match="claim"):
        other.session(limit=sf.Pure(1), ledger=ledger, claim="just so")  # type: ignore[arg-type]
    other.session(limit=sf.Pure(1), ledger=ledger, claim=sf.claim("it is public data, for a class"))
    noted = ledger.last_note("other", "the same data as one")
    assert noted is not None and noted.body["said"] == {"account": "one", "claim": "it is public data, for a class"}
    other.session(ledger=ledger)  # it is in the book, and need not be said again
    assert len([*ledger.notes("other", "the same data as one")]) == 1
    assert ledger.verify()


def test_a_refusal_opens_no_account_and_keeps_nothing() -> None:
    ledger = sf.Ledger.open("memory:")
    sf.Dataset([1, 2, 3], name="one", space=sf.vector(int)).session(limit=sf.Pure(1), ledger=ledger)
    with pytest.raises(sf.errors.AccountRefused):
        sf.Dataset([1, 2, 3], name="other", space=sf.vector(int)).session(limit=sf.Pure(1), ledger=ledger)
    with pytest.raises(sf.errors.AccountRefused, match="no account"):
        sf.Dataset(np.arange(9), name="third", space=sf.vector(int)).session(ledger=ledger)
    assert ledger.accounts == ("one",)
    sf.Dataset(np.arange(9), name="fourth", space=sf.vector(int)).session(limit=sf.Pure(1), ledger=ledger)


# Where the ledger is.


def test_a_codebook_names_the_ledger_from_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    codebook = tmp_path / "visits.yaml"
    codebook.write_text(sf.Codebook.read({**BOOK, "ledger": "sqlite:///spent.db"}).to_yaml())
    monkeypatch.chdir(tmp_path / "work")
    session = sf.Dataset(pa.table(EVERYBODY), codebook="../visits.yaml").session(limit=sf.Pure(1))
    session.sql(COUNT, loss=sf.Pure(1), max_rows_per_group=1)
    assert (tmp_path / "spent.db").is_file() and not list((tmp_path / "work").iterdir())
    (tmp_path / "link.yaml").symlink_to(codebook)
    again = sf.Dataset(pa.table(EVERYBODY), codebook=tmp_path / "link.yaml", unit=sf.Person("user_id")).session()
    assert again.spent == sf.Pure(1)


def test_a_ledger_in_a_codebook_says_nothing_about_data() -> None:
    plain, named = sf.Codebook.read(BOOK), sf.Codebook.read({**BOOK, "ledger": "spent.db"})
    assert plain.digest == named.digest and sf.Codebook.read(named.to_yaml()).ledger == "spent.db"
    with pytest.raises(sf.errors.BadCodebook, match="in no file"):
        sf.Dataset(pa.table(EVERYBODY), codebook=named).session(limit=sf.Pure(1))
    for address in ("memory:", "postgresql://ada:secret@host/books"):
        with pytest.raises(sf.errors.BadCodebook, match="without a password") as refused:
            sf.Codebook.read({**BOOK, "ledger": address})
        assert "secret@" not in str(refused.value)


def test_one_file_is_one_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = sf.Dataset([1, 2, 3], name="x", space=sf.vector(int))
    first = data.session(limit=sf.Pure(1), ledger="sqlite:///real.db")
    first.run(sf.count() >> sf.laplace(scale=1))
    Path("link.db").symlink_to("real.db")
    assert data.session(ledger="sqlite:///link.db").spent == sf.Pure(1)
    Path("elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert first.spent == sf.Pure(1)  # wherever one has gone since


def test_a_link_to_data_leads_to_the_same_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("true", "links"):
        (tmp_path / folder).mkdir()
    path = KINDS["parquet"](tmp_path / "true", EVERYBODY)
    (tmp_path / "links" / "visits.parquet").symlink_to(path)
    (tmp_path / "visits.yaml").write_text(sf.Codebook.read(BOOK).to_yaml())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_LEDGER", raising=False)
    paid = ("-c", "visits.yaml", "--epsilon", "1", "--max-rows-per-group", "2")
    codes = []
    for asked in (
        ("true/visits.parquet", COUNT, *paid, "--limit-epsilon", "1"),
        ("links/visits.parquet", COUNT, *paid),
    ):
        monkeypatch.setattr(sys, "argv", ["sfumato", "query", *asked])
        with pytest.raises(SystemExit) as left:
            main()
        codes.append(left.value.code or 0)
    capsys.readouterr()
    assert codes == [0, 4]  # the limit is used up, by whatever way one comes
    monkeypatch.setattr(sys, "argv", ["sfumato", "query", *asked, "--name", "fresh", "--limit-epsilon", "1"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 3 and "that of the account visits" in capsys.readouterr().err
    monkeypatch.setattr(
        sys, "argv", ["sfumato", "query", *asked, "--name", "fresh", "--limit-epsilon", "1", "--same-data", "a class"]
    )
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
