"""Attacks on a live service as a thing of the web: who is there, tokens and forms, files, bombs, texts, headers."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import polars as pl
import pytest
from tests.faults.red_team import MARKER, VISITS, WITH, Target, name_of, patched, target_in

from sfumato.errors import NotAllowed
from sfumato.release.render import csv as csv_form
from sfumato.server import signing_in
from sfumato.server.pages import rendering
from sfumato.service.data_sets import DataSets
from sfumato.service.people import LINK, VISIT, People
from sfumato.service.rights import Action, Grant

PASSWORD = "a sentence is easier to keep"
HERE = {"sec_fetch_site": "same-origin"}
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target_in(tmp_path_factory.mktemp("web")) as made:
        yield made


def told(answer: Any, *names: str) -> tuple[int, str]:
    """What an answer says, but for the id of the request and the names that were in it."""
    text = re.sub(r"urn:request:[0-9a-f-]+", "…", answer.octets.decode())
    for name in names:
        text = text.replace(name, "…")
    return answer.status, text


# Who and what is there


def test_signing_in_does_not_tell_who_there_is(target: Target) -> None:
    link = target.world.house.people.invite("ada").text
    body = urlencode({"link": link, "password": PASSWORD})
    assert target.sent(None, "POST", "/welcome", body, content_type=FORM, **HERE).status == 303

    def tries() -> set[tuple[int, str]]:
        seen = set()
        for name in ("ada", "nobody", "root", "ad a", "a" * 90):  # with a password, not there, without, no name
            said = json.dumps({"name": name, "password": "a wrong sentence, all of it"})
            seen.add(told(target.sent(None, "POST", "/api/sign-in", said, content_type=JSON)))
        target.world.running.failures._counts.clear()
        return seen

    assert len(tries()) == 1
    sign_in = People.sign_in

    def telling(self: People, name: str, password: str) -> Any:
        if self.named(name) is None:
            raise NotAllowed("there is nobody of this name")
        return sign_in(self, name, password)

    with patched(lambda patch: patch.setattr(People, "sign_in", telling)):
        assert len(tries()) > 1


def test_who_may_not_know_is_not_told_which_data_sets_there_are(target: Target) -> None:
    eve = target.analyst()
    house = target.world.house
    house.people.set_grants(eve, [Grant("analyst", "another")])
    paths = [
        ("GET", "", None),
        ("GET", "/codebook", None),
        ("GET", "/registration", None),
        ("GET", "/limits", None),
        ("GET", "/shares", None),
        ("GET", "/answers", None),
        ("GET", "/answers/7", None),
        ("GET", "/releases/7", None),
        ("GET", "/book", None),
        ("GET", "/jobs", None),
        ("GET", "/schedules", None),
        ("GET", "/checklist", None),
        ("POST", "/ask", {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}),
        ("POST", "/explain", {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}),
        ("POST", "/requests", {"epsilon": "1", "purpose": "x"}),
        ("PUT", "", {"source": "a.csv", "codebook": VISITS, "limit": {"epsilon": "1"}}),
    ]

    def differing() -> list[str]:
        different = []
        for method, path, said in paths:
            body = None if said is None else json.dumps(said)
            seen = [
                told(target.sent(eve, method, f"/api/data-sets/{name}{path}", body, content_type=JSON), name)
                for name in (name_of("visits", WITH), "nothing-there")
            ]
            different += [] if seen[0] == seen[1] and seen[0][0] == 403 else [f"{method} {path}: {seen}"]
        return different

    assert differing() == []
    assert json.loads(target.sent(eve, "GET", "/api/data-sets").octets)["items"] == []
    need = type(house.people.named(eve)).need

    def late(self: Any, action: Action, data_set: str = "") -> None:
        if data_set and isinstance(house.data_sets, DataSets):
            house.data_sets.registered(data_set)  # which says that there is none
        need(self, action, data_set)

    with patched(lambda patch: patch.setattr("sfumato.service.people.Person.need", late)):
        assert len(differing()) == len(paths)


# Tokens and forms


def test_no_secret_is_good_for_what_another_is_for(target: Target) -> None:
    people = target.world.house.people
    visit, link, token = people.issue(VISIT, "ada"), people.issue(LINK, "ada"), target.live.token("ada")
    for wrong in (visit.text, link.text, visit.place, token[:-1], f"{token} ", "", "sfumato_", "null"):
        assert target.sent(None, "GET", "/api/me", authorization=f"Bearer {wrong}").status == (
            200 if wrong.strip() == token else 401
        )
    for headers in (
        {"authorization": f"Basic {token}"},
        {"cookie": f"sfumato={visit.text}"},
        {"cookie": f"sfumato={token}"},
        {"x_api_key": token},
    ):
        assert target.sent(None, "GET", "/api/me", **headers).status == 401
    assert target.sent(None, "GET", f"/api/me?token={token}&access_token={token}").status == 401
    for secret in (token, link.text):
        page = target.sent(None, "GET", "/", cookie=f"sfumato={secret}")
        assert page.status in (303, 401) or b"Sign in" in page.octets
    body = urlencode({"link": token, "password": PASSWORD})
    assert target.sent(None, "POST", "/welcome", body, content_type=FORM, **HERE).status == 401


def test_a_token_for_little_is_good_for_little(target: Target) -> None:
    body = json.dumps({"called": "a reader", "scope": ["DESCRIBE"]})
    drawn = json.loads(target.sent("ada", "POST", "/api/tokens", body, content_type=JSON).octets)["token"]
    place = f"/api/data-sets/{name_of('visits', WITH)}"
    question = json.dumps({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "max_rows": 1})
    assert target.sent(drawn, "GET", place).status == 200
    assert target.sent(drawn, "POST", f"{place}/ask", question, content_type=JSON).status == 403
    assert target.sent(drawn, "POST", "/api/tokens", body, content_type=JSON).status == 403
    more = json.dumps({"called": "an owner", "scope": ["DECIDE", "MANAGE_PEOPLE"]})
    risen = json.loads(target.sent("ada", "POST", "/api/tokens", more, content_type=JSON).octets)["token"]
    assert target.sent(risen, "GET", "/api/people").status == 403, "a token is good for more than its person may"


def posted(target: Target, secret: str, path: str, fields: dict[str, str], **headers: str) -> int:
    said = {"content_type": FORM, "cookie": f"sfumato={secret}", **headers}
    status: int = target.sent(None, "POST", path, urlencode(fields), **said).status
    return status


def test_forms_of_others_change_nothing(target: Target) -> None:
    people, data_set = target.world.house.people, name_of("visits", WITH)
    ada, ben = (people.issue(VISIT, target.analyst((data_set, 1))).text for _ in range(2))
    right = signing_in.form_token(ada)
    place = f"/data/{data_set}/ask"
    asked = {"question": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "max_rows": "1", "do": "ask"}
    before = target.world.house.ledger.head.entry
    for token, headers in (
        ("", HERE),
        (signing_in.form_token(ben), HERE),
        (ada, HERE),
        (right, {}),
        (right, {"sec_fetch_site": "cross-site"}),
        (right, {"origin": "https://evil.example"}),
        (right, {"origin": "null"}),
    ):
        assert posted(target, ada, place, {**asked, "csrf": token}, **headers) == 403, (token[:4], headers)
    plain = target.sent(None, "POST", place, json.dumps(asked), content_type=JSON, cookie=f"sfumato={ada}", **HERE)
    assert plain.status in (403, 415)
    assert target.world.house.ledger.head.entry == before
    with patched(lambda patch: patch.setattr(signing_in, "check_own_page", lambda request: None)):
        assert posted(target, ada, place, {**asked, "csrf": right}) == 303
    assert target.world.house.ledger.head.entry > before, "nothing would have been changed either way"


@pytest.mark.parametrize(
    "place",
    ["https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)", ""],
)
def test_nobody_is_led_elsewhere(target: Target, place: str) -> None:
    link = target.world.house.people.invite("ben").text
    said = {"link": link, "password": PASSWORD}
    target.sent(None, "POST", "/welcome", urlencode(said), content_type=FORM, **HERE)
    fields = {"name": "ben", "password": PASSWORD, "next": place}
    answer = target.sent(None, "POST", "/sign-in", urlencode(fields), content_type=FORM, **HERE)
    assert (answer.status, answer.getheader("location")) == (303, "/")


def test_another_host_is_another_server(target: Target) -> None:
    for host in ("evil.example", f"{target.live.host}.evil.example", "127.0.0.1@evil.example", "[::1].evil.example"):
        known = f"authorization: Bearer {target.live.token('ada')}\r\nconnection: close\r\n\r\n"
        raw = f"GET /api/me HTTP/1.1\r\nhost: {host}\r\n{known}"
        assert target.live.raw(raw.encode()).split()[1] in (b"421", b"400"), host
    spoofed = target.sent("ada", "GET", "/api/me", x_forwarded_host="evil.example", x_forwarded_for="10.0.0.1")
    assert spoofed.status == 200
    assert b"evil.example" not in spoofed.octets


# Files and bombs


@pytest.mark.parametrize(
    "path",
    [
        "visits/..%2f..%2fledger.csv",
        "visits/..%5c..%5cledger.csv",
        "..%2f..%2fetc/passwd.csv",
        "../../etc/passwd.csv",
        "%2e%2e/ledger.csv",
        "visits/%00.csv",
        "visits/a%0d%0ax-evil:%201.csv",
        "visits/.hidden.csv",
        "visits/a.csv.zip",
        "visits/a.csv/",
        "/etc/passwd.csv",
        "visits/.unfinished-00.csv",
    ],
)
def test_uploads_stay_where_they_belong(target: Target, path: str) -> None:
    folder = target.world.folder
    before = sorted(map(str, folder.rglob("*")))
    raw = (
        f"PUT /api/uploads/{path} HTTP/1.1\r\nhost: {target.live.host}\r\nconnection: close\r\n"
        f"authorization: Bearer {target.live.token('cora')}\r\ncontent-length: 4\r\n\r\na,b\n"
    )
    answer = target.live.raw(raw.encode())
    assert answer.split()[1][:1] == b"4", answer[:200]
    assert b"x-evil" not in answer.lower().partition(b"\r\n\r\n")[0]
    assert sorted(map(str, folder.rglob("*"))) == before


def test_nothing_is_unpacked(target: Target) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb.csv", b"0" * 5_000_000)
    for name in ("bomb.zip", "bomb.parquet"):
        assert target.sent("cora", "PUT", f"/api/uploads/visits/{name}", packed.getvalue()).status == 422
    body = gzip.compress(b" " * 5_000_000 + b"{}")
    place = f"/api/data-sets/{name_of('visits', WITH)}/explain"
    for coding in ("gzip", "deflate", "br", "zstd", "identity, gzip"):
        answer = target.sent("ada", "POST", place, body, content_type=JSON, content_encoding=coding)
        assert answer.status == 415, coding


@pytest.mark.parametrize(
    "text",
    [
        "codebook: 1\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
        "codebook: 1\nunit: " + "[" * 30_000 + "]" * 30_000 + "\n",
        "codebook: 1\nunit: " + "{a: " * 30_000 + "\n",
        "codebook: 1\n" + "".join(f"{'  ' * depth}a:\n" for depth in range(400)) + "\n",
        "codebook: 1\ntitle: !!python/object/apply:os.system ['id']\n",
        "codebook: 1\ntitle: " + "9" * 100_000 + "\n",
        "codebook: 1\ntitle: 1:" + "59:" * 20_000 + "0\n",
        "codebook: 1\n" + "a: b\n" * 2 + "\n",
        "/etc/passwd",
        "codebook: 1\x00",
    ],
    ids=["aliases", "deep list", "deep map", "deep indent", "object", "number", "sixties", "twice", "path", "nul"],
)
def test_codebooks_that_are_bombs(target: Target, text: str) -> None:
    place = f"/api/data-sets/{name_of('visits', WITH)}/codebook/check"
    answer = target.sent("cora", "POST", place, json.dumps({"codebook": text}), content_type=JSON)
    assert answer.status in (200, 400, 422), answer.octets[:300]
    if answer.status == 200:
        assert json.loads(answer.octets)["right"] is False
    assert target.sent(None, "GET", "/healthz").status == 200


def test_json_that_is_a_bomb(target: Target) -> None:
    place = f"/api/data-sets/{name_of('visits', WITH)}/explain"
    deep = '{"sql": "SELECT 1", "parameters": ' + "[" * 200_000 + "]" * 200_000 + "}"
    wide = '{"sql": "SELECT 1", "parameters": [' + "[]," * 200_000 + "1]}"
    long = '{"sql": "SELECT COUNT(*) AS n FROM visits WHERE minutes < ' + "9" * 90_000 + '", "epsilon": "0.1"}'
    power = '{"sql": "SELECT 1", "epsilon": "1e999999999"}'
    for body in (deep, wide, long, power):
        assert target.sent("ada", "POST", place, body, content_type=JSON).status in (400, 422)


# Texts that are more than texts


def test_texts_of_others_do_nothing_on_pages(target: Target) -> None:
    name = target.analyst()
    hostile = {**VISITS, "title": HOSTILE, "description": HOSTILE}
    target.register(
        "hostile",
        pl.DataFrame({"person": ["a"], "minutes": [3.25], "answer": [1], "note": [MARKER]}),
        hostile,
    )
    said = json.dumps({"epsilon": "1", "purpose": HOSTILE})
    assert target.sent(name, "POST", "/api/data-sets/hostile/requests", said, content_type=JSON).status == 201
    number = json.loads(target.sent(name, "GET", "/api/data-sets/hostile/requests").octets)["items"][0]["number"]
    said = json.dumps({"grants": True, "reason": HOSTILE})
    place = f"/api/data-sets/hostile/requests/{number}/decisions"
    assert target.sent("olga", "POST", place, said, content_type=JSON).status == 200
    visits = {who: target.world.house.people.issue(VISIT, who).text for who in ("olga", "cora", "amir", name)}

    def unescaped() -> list[str]:
        found = []
        for who, visit in visits.items():
            for path in ("/", "/data/hostile", "/data/hostile/share", "/data/hostile/requests", "/data/hostile/book"):
                page = target.sent(None, "GET", path, cookie=f"sfumato={visit}")
                text = page.octets.decode()
                assert "49" not in re.findall(r"<img src=x[^>]*>(\d+)", text)
                if "<script>alert" in text or "<img src=x" in text:
                    found.append(f"{who} {path}")
                policy = page.getheader("content-security-policy")
                assert "script-src 'self'" in policy and "unsafe" not in policy
        return found

    assert unescaped() == []
    with patched(lambda patch: patch.setattr(rendering, "escape", lambda text: text)):
        assert unescaped()


def test_downloads_run_nothing_in_a_spreadsheet(target: Target) -> None:
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    formula = '=HYPERLINK("https://evil.example","x")'
    question = f'SELECT COUNT(*) AS "{formula.replace(chr(34), chr(34) * 2)}" FROM visits'
    body = json.dumps({"sql": question, "epsilon": "0.25", "max_rows": 1})
    place = f"/api/data-sets/{data_set}/ask?format=csv"

    def cells() -> list[str]:
        answer = target.sent(name, "POST", place, body, content_type=JSON)
        assert answer.status == 200, answer.octets
        assert answer.getheader("content-disposition") == f'attachment; filename="answer-{_number(answer)}.csv"'
        return [cell.strip('"') for cell in answer.octets.decode().splitlines()]

    assert not any(cell.startswith(("=", "+", "@")) for cell in cells())
    assert any(cell.startswith("'=") for cell in cells())
    with patched(lambda patch: patch.setattr(csv_form, "harmless", lambda cell: cell)):
        assert any(cell.startswith("=") for cell in cells())


def _number(answer: Any) -> str:
    return str(answer.getheader("x-sfumato-answer"))


def test_no_header_is_made_of_what_was_sent(target: Target) -> None:
    wrong = "a%0d%0aset-cookie:%20sfumato=x"
    for path in (
        f"/{wrong}",
        f"/api/data-sets/{wrong}",
        f"/data/{wrong}",
        f"/sign-in?next={wrong}",
        f"/api/me?a={wrong}",
    ):
        raw = f"GET {path} HTTP/1.1\r\nhost: {target.live.host}\r\nconnection: close\r\n\r\n"
        head = target.live.raw(raw.encode()).partition(b"\r\n\r\n")[0].lower()
        assert b"set-cookie: sfumato=x" not in head, path
