"""Releases that are written as tables: what is there, what is asked again, what is refused before it is paid, and what
can be seen of a table besides its rows.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import BadArgument, LimitReached, NotKept, NotPublished, PermitUsed, QueryRefused, RunFailed
from sfumato.query.engines import protocol, written_tables
from sfumato.query.engines.written_tables import LocalTables
from sfumato.release.record import Release
from sfumato.release.written import DOCUMENT, WrittenTable, document_of
from sfumato.session.session import Session

ROWS = {
    "u": [str(at // 3) for at in range(900)],
    "page": [f"p{at % 3}" for at in range(900)],
    "x": [1, 2, 3] * 300,
    "own": [f"{at}" for at in range(900)],
}
BY_PAGE = "SELECT page, COUNT(*) AS n, AVG(x) AS m FROM visits GROUP BY page"
PAID: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "max_groups": 3, "max_rows_per_group": 1}


def opened(folder: Path, *, version: str = "spring", rows: dict[str, list[Any]] | None = None) -> Session:
    data = sf.Dataset(
        {"visits": pa.table(rows or ROWS)}, unit="u", between={"x": (0, 5)}, name="visits", version=version
    )
    return data.session(limit=sf.Approx(20, "1e-4"), ledger=folder / "book.db")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return opened(tmp_path)


def rows_at(release: Release) -> dict[str, list[Any]]:
    assert isinstance(release.value, WrittenTable)
    found: dict[str, list[Any]] = release.value.open().to_table().to_pydict()
    return found


def beside(folder: Path) -> list[str]:
    """What is in a folder besides the book."""
    return sorted(name for name in os.listdir(folder) if not name.startswith("book.db"))


def test_a_table_its_document_and_its_record(session: Session, tmp_path: Path) -> None:
    release = session.write(BY_PAGE, to=str(tmp_path / "releases" / "pages"), **PAID)
    found = rows_at(release)
    assert found["page"] == ["p0", "p1", "p2"] and release.value.rows == 3
    assert all(abs(n - 300) < 200 for n in found["n"])
    assert all(low < n < high for low, n, high in zip(found["n_low"], found["n"], found["n_high"], strict=True))
    assert sorted(os.listdir(tmp_path / "releases" / "pages")) == [DOCUMENT, "part-00000.parquet"]
    assert session.spent.epsilon == 2
    again = sf.release.read_release(tmp_path / "releases" / "pages")
    assert (again.loss, again.unit, again.receipt) == (release.loss, release.unit, release.receipt)
    assert again.how == release.how and again.how.asked == BY_PAGE
    assert rows_at(again) == found
    assert "2" in str(again.table()) and "a person" in str(again.table())
    said = json.loads((tmp_path / "releases" / "pages" / DOCUMENT).read_text())
    assert set(said["columns"]) == set(found) and said["rows"] == 3 and said["paid"] == str(release.receipt)
    assert "0.95" in said["columns"]["n_low"]
    assert str(tmp_path) not in (tmp_path / "releases" / "pages" / DOCUMENT).read_text()  # nor where it was kept


def test_frames_write_too(session: Session, tmp_path: Path) -> None:
    table = session.table("visits")
    release = table.group_by("page").agg(n=sf.count_rows()).write(str(tmp_path / "pages"), **PAID)
    assert rows_at(release)["page"] == ["p0", "p1", "p2"]


def test_public_keys_and_no_keys(session: Session, tmp_path: Path) -> None:
    keys = sf.KeySet.of(page=["p1", "nowhere", "p0"])
    release = session.write(BY_PAGE, to=str(tmp_path / "a"), keys=keys, epsilon=2, max_groups=3, max_rows_per_group=1)
    found = dict(zip(rows_at(release)["page"], rows_at(release)["n"], strict=True))
    assert sorted(found) == ["nowhere", "p0", "p1"] and abs(found["nowhere"]) < 100
    alone = session.write("SELECT COUNT(*) AS n FROM visits", to=str(tmp_path / "b"), epsilon=1, max_rows_per_group=3)
    assert len(rows_at(alone)["n"]) == 1 and abs(rows_at(alone)["n"][0] - 900) < 200


def test_conditions_on_released_numbers(session: Session, tmp_path: Path) -> None:
    text = "SELECT page, COUNT(*) * 2 AS twice FROM visits GROUP BY page HAVING page <> 'p1'"
    assert rows_at(session.write(text, to=str(tmp_path / "a"), **PAID))["page"] == ["p0", "p2"]


# Asked again.


def test_asked_again_it_is_the_same_and_free(session: Session, tmp_path: Path) -> None:
    first = session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    spent, rows = session.spent, rows_at(first)
    for key in (None, "monday"):
        again = session.write(BY_PAGE, to=str(tmp_path / "a"), key=key, **PAID)
        assert again.receipt == first.receipt and rows_at(again) == rows
    session.close()
    other = opened(tmp_path)
    assert rows_at(other.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)) == rows
    assert other.spent == spent and beside(tmp_path) == ["a"]


def test_another_question_draws_anew(session: Session, tmp_path: Path) -> None:
    found = [
        rows_at(session.write(BY_PAGE, to=str(tmp_path / f"{at}"), confidence=confidence, **PAID))["m"]
        for at, confidence in enumerate((0.9, 0.95, 0.99))
    ]
    assert len({tuple(one) for one in found}) == 3
    assert session.spent.epsilon == 6


def test_another_place_is_where_it_is_not(session: Session, tmp_path: Path) -> None:
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    spent = session.spent
    with pytest.raises(BadArgument, match="written to before"):
        session.write(BY_PAGE, to=str(tmp_path / "b"), **PAID)
    assert session.spent == spent and beside(tmp_path) == ["a"]


def test_what_was_removed_is_not_drawn_again(session: Session, tmp_path: Path) -> None:
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    spent = session.spent
    with pytest.raises(QueryRefused, match="not there any more"):
        session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert session.spent == spent and beside(tmp_path) == ["elsewhere"]


def test_collected_and_written_are_two_questions(session: Session, tmp_path: Path) -> None:
    """The rows of one are not those of the other: each is paid."""
    session.sql(BY_PAGE, **PAID)
    release = session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert isinstance(release.value, WrittenTable) and session.spent.epsilon == 4
    assert not isinstance(session.sql(BY_PAGE, **PAID).value, WrittenTable)


# Refused before anything is paid.

BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a folder with something else": ({"to": "full"}, BadArgument, "no release"),
    "a file": ({"to": "file"}, BadArgument, "no release"),
    "no name of a file": ({"to": "a\0b"}, BadArgument, "path of a folder"),
    "an empty name": ({"to": ""}, BadArgument, "path of a folder"),
    "another machine": ({"to": "s3://bucket/pages"}, BadArgument, "on this machine"),
    "no folder above": ({"to": "file/pages"}, BadArgument, "can be written to"),
    "a format": ({"to": "a", "format": "delta"}, BadArgument, "parquet"),
    "where the data is": ({"to": "data/pages"}, BadArgument, "read as data"),
    "deep where the data is": ({"to": "data/2026/pages"}, BadArgument, "read as data"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_places_are_refused_and_cost_nothing(name: str, tmp_path: Path) -> None:
    said, kind, why = BAD[name]
    (tmp_path / "data").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    (tmp_path / "file").write_text("mine")
    pq.write_table(pa.table(ROWS), tmp_path / "data" / "visits.parquet")
    data = sf.Dataset(str(tmp_path / "data" / "*.parquet"), unit="u", between={"x": (0, 5)}, name="visits")
    session = data.session(limit=sf.Approx(20, "1e-4"), ledger="memory:")
    to = said["to"] if "://" in said["to"] or not said["to"] else str(tmp_path / said["to"])
    table = next(iter(data.tables.catalog.tables))
    with pytest.raises(kind, match=why):
        session.write(BY_PAGE.replace("visits", table), **{**said, "to": to}, **PAID)
    assert session.spent == sf.Approx(0, 0)
    assert beside(tmp_path) == ["data", "file", "full"] and os.listdir(tmp_path / "data") == ["visits.parquet"]


REFUSED = {
    "SELECT page, COUNT(*) AS n FROM visits GROUP BY page ORDER BY n": "ORDER BY",
    "SELECT page, COUNT(*) AS n FROM visits GROUP BY page LIMIT 2": "LIMIT",
    "SELECT page, x, COUNT(*) AS n FROM visits GROUP BY ROLLUP (page, x)": "ROLLUP",
    "SELECT page, MEDIAN(x) AS m FROM visits GROUP BY page": "quantile",
    "SELECT MAX(n) AS n FROM (SELECT page, COUNT(*) AS n FROM visits GROUP BY page)": "SELECT around it",
    "EXPLAIN PRIVACY SELECT COUNT(*) FROM visits": "one question",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_looks_at_all_groups_is_refused_by_name(text: str, session: Session, tmp_path: Path) -> None:
    keys = sf.KeySet.of(page=["p0", "p1"], x=[1, 2]) if "ROLLUP" in text else None
    with pytest.raises(QueryRefused, match=REFUSED[text]) as refused:
        session.write(text, to=str(tmp_path / "a"), keys=keys, **PAID)
    assert "Nothing was charged" in str(refused.value)
    assert session.spent == sf.Approx(0, 0) and beside(tmp_path) == []


def test_a_limit_that_is_reached_leaves_nothing_behind(session: Session, tmp_path: Path) -> None:
    with pytest.raises(LimitReached):
        session.write(BY_PAGE, to=str(tmp_path / "a"), **{**PAID, "epsilon": 30})
    assert beside(tmp_path) == []


def test_it_is_charged_before_a_row_is_looked_at(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged: list[Any] = []
    keep = LocalTables.keep

    def watched(*given: Any) -> int:
        charged.append(session.spent.epsilon)
        return keep(*given)

    monkeypatch.setattr(LocalTables, "keep", watched)
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert charged == [2]


# Broken off.


def broken(message: str = "the disk is full: Ada") -> Callable[..., Any]:
    def call(*_: Any) -> Any:
        raise OSError(message)

    return call


def test_broken_off_while_it_is_drawn_it_is_paid_and_not_published(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(LocalTables, "keep", broken())
        with pytest.raises(RunFailed) as failed:
            session.write(BY_PAGE, to=str(tmp_path / "a"), key="monday", **PAID)
    assert "Ada" not in str(failed.value)
    assert session.spent.epsilon == 2 and beside(tmp_path) == []
    for again in (session, opened(tmp_path)):  # also in a process that knows of the charge from the book alone
        with pytest.raises(PermitUsed, match="pay again"):
            again.write(BY_PAGE, to=str(tmp_path / "a"), key="monday", **PAID)
    assert session.spent.epsilon == 2 and beside(tmp_path) == []
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert session.spent.epsilon == 4


def test_broken_off_while_it_is_published_it_goes_on(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever breaks once the rows are in the book, the same rows come out, for nothing; elsewhere if need be."""
    for place, step in (("a", "rename"), ("b", "fsync")):
        with monkeypatch.context() as patched:
            keep, kept = LocalTables.keep, list[bool]()

            def keeping(*given: Any, keep: Any = keep, kept: Any = kept) -> int:
                rows: int = keep(*given)
                kept.append(True)
                return rows

            real = getattr(os, step)
            patched.setattr(LocalTables, "keep", keeping)
            patched.setattr(os, step, lambda *given, real=real, kept=kept: broken()() if kept else real(*given))
            with pytest.raises(NotPublished, match="costs nothing") as failed:
                session.write(BY_PAGE, to=str(tmp_path / place), confidence={"a": 0.9, "b": 0.8}[place], **PAID)
        assert "Ada" not in str(failed.value) and not (tmp_path / place).exists()
    spent = session.spent
    first = session.write(BY_PAGE, to=str(tmp_path / "a"), confidence=0.9, **PAID)
    second = session.write(BY_PAGE, to=str(tmp_path / "elsewhere"), confidence=0.8, **PAID)
    assert rows_at(first)["n"] != rows_at(second)["n"] and first.value.rows == second.value.rows == 3
    assert session.spent == spent and beside(tmp_path) == ["a", "elsewhere"]


def test_a_place_that_is_taken_meanwhile(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = LocalTables.keep

    def taking(*given: Any) -> int:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "letter").write_text("mine")
        return keep(*given)

    with monkeypatch.context() as patched:
        patched.setattr(LocalTables, "keep", taking)
        with pytest.raises(NotPublished):
            session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert os.listdir(tmp_path / "a") == ["letter"]
    spent = session.spent
    assert len(rows_at(session.write(BY_PAGE, to=str(tmp_path / "b"), **PAID))["n"]) == 3
    assert session.spent == spent and beside(tmp_path) == ["a", "b"]


def test_a_release_that_the_book_could_not_take_is_there_all_the_same(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.ledger import settling

    def failing(*_: Any) -> Any:
        raise sf.errors.LedgerUnavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(settling, "_settle", failing)
        with pytest.raises(NotKept) as lost:
            session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert len(rows_at(lost.value.release)["n"]) == 3 and beside(tmp_path) == ["a"]


def test_interrupted_once_the_book_has_it_nothing_is_lost(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.ledger import ledger

    real = vars(ledger)["keep_release"]

    def interrupted(*given: Any) -> Any:
        real(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "keep_release", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.write(BY_PAGE, to=str(tmp_path / "a"), key="monday", **PAID)
    assert not (tmp_path / "a").exists()
    release = session.write(BY_PAGE, to=str(tmp_path / "a"), key="monday", **PAID)
    assert len(rows_at(release)["n"]) == 3 and session.spent.epsilon == 2 and beside(tmp_path) == ["a"]


def test_a_broken_folder_is_no_release(session: Session, tmp_path: Path) -> None:
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    document = tmp_path / "a" / DOCUMENT
    whole = document.read_text()
    document.unlink()
    with pytest.raises(BadArgument, match="to its end"):
        sf.release.read_release(tmp_path / "a")
    for text in ("", whole[:300], "{}", "[]", whole.replace('"version": 1', '"version": 9', 1)):
        document.write_text(text)
        with pytest.raises(sf.errors.UnknownFormat):
            sf.release.read_release(tmp_path / "a")
    with pytest.raises(BadArgument):
        sf.release.read_release(tmp_path / "nowhere")


# What can be seen besides the rows.


def test_nobody_else_can_read_what_is_kept(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    publish = LocalTables.publish

    def looked(writer: LocalTables, staged: str, *given: Any) -> None:
        seen.append(stat.S_IMODE(os.stat(staged).st_mode))
        publish(writer, staged, *given)

    monkeypatch.setattr(LocalTables, "publish", looked)
    session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    (tmp_path / "ours").mkdir()
    assert seen == [0o700]
    assert os.stat(tmp_path / "a").st_mode == os.stat(tmp_path / "ours").st_mode and beside(tmp_path) == ["a", "ours"]


def test_neither_order_nor_batches_nor_hidden_groups_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, kept in another order and in other batches, make the same bytes."""
    monkeypatch.setattr(written_tables, "ROWS_IN_A_FILE", 2)
    table = pa.table(
        {"k": ["b", None, "a", "b", "c"], "n": [2, 1, 5, 1, 9], "low": [1.5, None, 4.0, 0.5, float("inf")]}
    )
    made: list[dict[str, bytes]] = []
    for at, order in enumerate(([0, 1, 2, 3, 4], [4, 2, 0, 1, 3])):
        writer, place = LocalTables(), str(tmp_path / f"{at}")
        staged = writer.stage(place)
        writer.keep(table.take(order).to_batches(max_chunksize=1 + 2 * at), table.schema, staged)
        writer.publish(staged, place, "parquet", 5, "{}")
        made.append({name: (Path(place) / name).read_bytes() for name in sorted(os.listdir(place))})
    assert made[0] == made[1] and len(made[0]) == 4  # three files of at most two rows, and the document
    first = pq.read_table(tmp_path / "0" / "part-00000.parquet")
    assert first["k"].to_pylist() == ["a", "b"] and first["n"].to_pylist() == [5, 1]


def test_groups_that_are_hidden_leave_no_trace(session: Session, tmp_path: Path) -> None:
    """With few people of its own no key is shown: an empty table has its columns and one file."""
    release = session.write("SELECT own, COUNT(*) AS n FROM visits GROUP BY own", to=str(tmp_path / "a"), **PAID)
    assert release.value.rows == 0 and rows_at(release) == {"own": [], "n": [], "n_low": [], "n_high": []}
    assert sorted(os.listdir(tmp_path / "a")) == [DOCUMENT, "part-00000.parquet"]


def test_batches_are_drawn_apart(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row at a time, each has noise of its own: not that of the row before."""
    monkeypatch.setattr(protocol, "BATCH", 1)
    rows = {"u": [f"{at}" for at in range(6000)], "page": [f"p{at % 20}" for at in range(6000)], "x": [1] * 6000}
    data = sf.Dataset({"visits": pa.table(rows)}, unit="u", name="visits", between={"x": (0, 5)})
    other = data.session(limit=sf.Approx(9, "1e-3"), ledger="memory:")
    release = other.write(BY_PAGE, to=str(tmp_path / "a"), **{**PAID, "epsilon": "0.5"})
    found = rows_at(release)
    assert release.value.rows == 20 and len(set(found["n"])) > 5


def test_stored_and_read_again(session: Session, tmp_path: Path) -> None:
    from sfumato.release.codec import release_from_plain, release_to_plain

    release = session.write(BY_PAGE, to=str(tmp_path / "a"), **PAID)
    assert release_from_plain(json.loads(json.dumps(release_to_plain(release)))).value == release.value
    assert session.releases()[-1].value == release.value
    assert document_of(release) == (tmp_path / "a" / DOCUMENT).read_text()
    for form in (release.to_text(), release.to_html(), release.to_json(), release.to_markdown(), release.to_latex()):
        assert "3 rows" in form
    with pytest.raises(BadArgument):
        release.to_pandas()
