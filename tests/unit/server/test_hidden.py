"""What never gets out: data, words of engines, questions in logs, secrets anywhere; whatever goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.examples.routes import ROUTES, path_of
from tests.unit.server.world import COUNT, MARKER, PAGE, ROLES, World, world_in, write_visits

from sfumato.server.problems import problem_of
from sfumato.server.settings import Sizes

LITERAL = "literal-4711"
SECRETS = ("zz-secret-link", "zz-secret-password", "sfumato_")


def test_a_source_that_broke_says_nothing(world: World) -> None:
    data_sets = world.house.data_sets
    file = world.folder / "visits.parquet"
    octets = file.read_bytes()
    file.write_bytes(octets[:64] + MARKER.encode() * 200 + octets[-64:])
    data_sets._open.clear()  # as in a process that has just begun
    data_sets._shares.clear()
    answer = world.ask("ada", {"sql": "SELECT AVG(minutes) AS m FROM visits", "epsilon": "0.2"})
    assert answer.status_code in (409, 422, 500, 503), answer.text
    for words in (answer.text, world.log.getvalue()):
        assert MARKER not in words
        assert str(world.folder) not in words
        assert "duckdb" not in words.lower()
        assert "parquet" not in words.lower()


def test_rows_are_quoted_by_no_refusal(shared: World) -> None:
    questions = [
        "SELECT site FROM visits",
        "SELECT MIN(site) FROM visits",
        "SELECT CAST(site AS INTEGER) AS s, COUNT(*) FROM visits GROUP BY s",
        "SELECT SUM(1 / (minutes - minutes)) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE CAST(site AS DATE) > DATE '2026-01-01'",
        f"SELECT COUNT(*) FROM visits WHERE site = '{LITERAL}'",
        "SELECT COUNT(*) FROM read_parquet('/etc/passwd')",
        "SELECT * FROM visits; SELECT 1",
    ]
    for question in questions:
        answer = shared.ask("ada", {"sql": question, "epsilon": "0.001"})
        assert MARKER not in answer.text, question
        assert answer.status_code < 500, answer.text


class Surprise(Exception):
    """Something that nobody has thought of."""


def test_of_what_nobody_thought_of_nothing_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> NoReturn:
        raise Surprise(f"{MARKER} stands in the data")

    monkeypatch.setattr("sfumato.service.analysts.Analysts.ask", broken)
    answer = world.ask("ada")
    assert answer.status_code == 500
    assert answer.json()["type"] == "urn:sfumato:internal"
    assert MARKER not in answer.text
    assert MARKER not in world.log.getvalue()
    fault = next(line for line in world.lines() if line["event"] == "fault")
    assert (fault["kind"], fault["request"]) == ("Surprise", answer.headers["x-request-id"])
    assert any(place.startswith("questions.py:") for place in fault["where"])


def test_the_log_has_no_questions_names_or_secrets(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    asked = {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE site = '{LITERAL}'", "parameters": [LITERAL]}
    world.post("ada", "/api/data-sets/visits/explain", COUNT | asked)
    world.ask("ada", asked)
    world.ask("ada", {"sql": f"SELECT '{LITERAL}"})
    world.call(
        "ada", "GET", f"/api/data-sets/{LITERAL}?q={LITERAL}", headers={"user-agent": LITERAL, "referer": LITERAL}
    )
    said = {"link": "zz-secret-link", "name": "ada", "password": "zz-secret-password"}
    for path in ("/welcome", "/sign-in"):
        world.call(None, "POST", path, data=said, headers=PAGE)
    world.post(None, "/api/sign-in", {"name": "ada", "password": "zz-secret-password"})
    for (method, path), (_, body) in ROUTES.items():
        world.call("root", method, path_of(path), **({} if body is None else {"json": body}))
    written = world.log.getvalue() + "".join(capfd.readouterr())
    assert len(world.lines()) > 50
    for word in (LITERAL, MARKER, "SELECT", *SECRETS, *world.tokens.values()):
        assert word not in written, word
    people = {line["person"] for line in world.lines() if line["event"] == "request"}
    assert not people & set(ROLES)
    assert {line["route"] for line in world.lines() if line["event"] == "request"} >= {"/api/data-sets/{data_set}/ask"}


def test_counters_name_nobody_and_nothing(world: World) -> None:
    assert world.ask("ada").status_code == 200
    world.ask("ada", {"sql": f"SELECT COUNT(*) FROM visits WHERE site = '{LITERAL}'"})
    world.call("ada", "GET", f"/api/data-sets/{LITERAL}")
    world.call("ada", "BREW", f"/{LITERAL}")
    text = world.call("root", "GET", "/metrics").text
    for word in (LITERAL, "ada", "visits", "BREW", "SELECT"):
        assert word not in text, word
    assert 'sfumato_requests_total{method="POST",route="/api/data-sets/{data_set}/ask",status="200"}' in text


def test_registrations_show_no_passwords(world: World) -> None:
    known = world.house.data_sets.registered("visits")
    shown = replace(known, source="postgresql://reader:zz-secret@localhost/visits")
    world.house.data_sets.registered = lambda _: shown  # type: ignore[method-assign,assignment]
    answer = world.call("cora", "GET", "/api/data-sets/visits/registration")
    assert "zz-secret" not in answer.text
    assert "postgresql://localhost/visits" in answer.text


def test_errors_of_others_are_not_quoted() -> None:
    for error in (ValueError(MARKER), KeyError(MARKER), OSError(MARKER), RecursionError(MARKER)):
        problem = problem_of(error)
        assert problem.status == 500
        assert MARKER not in problem.body("1").decode()


PARQUET = "/api/uploads/visits/new.parquet"


def test_uploads_are_looked_at_and_kept_once(world: World, tmp_path: Path) -> None:
    write_visits(tmp_path / "new.parquet", rows=50)
    octets = (tmp_path / "new.parquet").read_bytes()
    made = world.call("cora", "PUT", PARQUET, content=octets)
    assert made.status_code == 201, made.text
    kept = Path(made.json()["source"])
    assert kept.read_bytes() == octets
    assert kept.stat().st_mode & 0o077 == 0
    assert world.call("cora", "PUT", PARQUET, content=b"other").status_code in (409, 422)
    assert kept.read_bytes() == octets
    for wrong in (b"", b"PAR1", b"PAR1" + b"x" * 100, b"PAR1\xff\xff\xff\x7fPAR1", octets[:-1], b"PK\x03\x04" * 10):
        assert world.call("cora", "PUT", PARQUET.replace("new", "wrong"), content=wrong).status_code == 422
    for name in ("a.zip", "..%2fa.csv", ".a.csv", "a.csv.gz", "a%00.csv"):
        answer = world.call("cora", "PUT", f"/api/uploads/visits/{name}", content=b"a,b\n")
        assert answer.status_code in (400, 404, 422), name
    assert sorted(one.name for one in kept.parent.iterdir()) == ["new.parquet"], "something is left behind"


def test_uploads_end_at_their_limit(tmp_path: Path) -> None:
    with world_in(tmp_path, sizes=Sizes(upload=1_000)) as world:
        answer = world.call("cora", "PUT", "/api/uploads/visits/a.csv", content=b"a" * 1_001)
        assert answer.status_code == 413
        chunks = (b"a" * 100 for _ in range(20))

        async def streamed() -> Any:
            for chunk in chunks:
                yield chunk

        assert world.call("cora", "PUT", "/api/uploads/visits/a.csv", content=streamed()).status_code == 413
        assert not list((tmp_path / "uploads").glob("*/*"))
        assert json.loads(answer.text)["status"] == 413


def bomb(file: Path, rows: int) -> bytes:
    """A file of a few octets in which one number stands in each of very many rows."""
    pq.write_table(pa.table({"minutes": np.zeros(rows)}), file, row_group_size=rows)
    return file.read_bytes()


def test_parquet_files_are_bounded_by_what_they_come_to(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        octets = bomb(tmp_path / "bomb.parquet", 20_000_000)
        assert len(octets) < 100_000
        refused = world.call("cora", "PUT", PARQUET, content=octets)
        assert (refused.status_code, refused.json()["title"]) == (413, "this is too large")
        few = bomb(tmp_path / "few.parquet", 100_000)
        assert world.call("cora", "PUT", PARQUET, content=few).status_code == 201, "what repeats itself is no bomb yet"
        broken = few[:-40] + b"\xff" * 32 + few[-8:]
        assert world.call("cora", "PUT", PARQUET.replace("new", "broken"), content=broken).status_code == 422
        assert sorted(one.name for one in (tmp_path / "uploads" / "visits").iterdir()) == ["new.parquet"]


def test_all_of_a_large_file_is_bounded_too(tmp_path: Path) -> None:
    write_visits(tmp_path / "large.parquet", rows=50)
    with world_in(tmp_path, sizes=Sizes(unpacked=1_000)) as world:
        answer = world.call("cora", "PUT", PARQUET, content=(tmp_path / "large.parquet").read_bytes())
        assert answer.status_code == 413


def test_forms_with_files_are_refused(world: World) -> None:
    files = {"file": ("new.csv", b"a,b\n1,2\n", "text/csv")}
    upload = world.call("cora", "PUT", PARQUET.replace("parquet", "csv"), files=files)
    question = world.call("ada", "POST", "/api/data-sets/visits/ask", files=files)
    form = world.call(None, "POST", "/sign-in", files=files, headers=PAGE)
    assert (upload.status_code, form.status_code) == (415, 415)
    assert question.status_code in (400, 415, 422)
    assert not list((world.folder / "uploads").glob("*/*"))
