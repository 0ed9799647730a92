"""Data on its way in, by forms alone: a file is sent, a codebook drafted and reviewed, data registered, and again."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from tests.unit.pages.site import OWN_PAGE, Site, site_in
from tests.unit.pages.world import SCRIPT, VISITS

from sfumato.server.signing_in import form_token
from sfumato.service.rights import EVERYWHERE, Grant

ROWS = {"patient": [f"p{row // 2}" for row in range(300)], "ward": [row % 3 for row in range(300)]}
WARDS = {"ward": [0, 1, 2], "floor": ["ground", "first", "first"]}


def parquet(columns: dict[str, list[object]]) -> bytes:
    octets = io.BytesIO()
    pl.DataFrame(columns).write_parquet(octets)
    return octets.getvalue()


def send(site: Site, who: str, name: str, file: tuple[str, bytes], token: str | None = None) -> object:
    """Sends a file as the form of the page does."""
    fields = {"csrf": form_token(site.visits[who]) if token is None else token, "name": name}
    return site.call(who, "POST", "/upload", data=fields, files={"file": file}, headers=OWN_PAGE)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A world in which somebody curates whatever comes, and somebody else one data set alone."""
    with site_in(tmp_path_factory.mktemp("hospital")) as made:
        made.world.house.people.set_grants("cora", [Grant("curator", EVERYWHERE)])
        made.world.house.people.set_grants("olga", [Grant("curator", "mine")])
        made.world.house.people.set_grants("ada", [Grant("analyst", EVERYWHERE)])
        yield made


def uploads(site: Site) -> list[Path]:
    return sorted((site.app.state.running.settings.uploads).glob("*/*"))


def test_a_file_becomes_a_data_set_without_scripts(hospital: Site) -> None:
    led = send(hospital, "cora", "ward", ("stays.parquet", parquet(ROWS)))
    assert led.status_code == 303
    place = led.headers["location"]
    first = hospital.get("cora", place).text
    assert 'value="patient" required' in first and "<textarea" not in first
    drafted = hospital.get("cora", f"{place}&unit=patient&protects=a%20patient").text
    codebook = unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", drafted, re.DOTALL)[1])
    source = unescape(re.search(r'name="source" value="([^"]*)"', drafted)[1])
    assert 'protects: "a patient"' in codebook and source.endswith("/uploads/ward/stays.parquet")
    fields = {"name": "ward", "version": "1", "source": source, "codebook": codebook}
    checked = hospital.post("cora", "/register", {**fields, "do": "check"})
    assert checked.status_code == 200 and "The codebook can be read." in checked.text
    assert "ward" not in hospital.world.house.data_sets
    wrong = hospital.post("cora", "/register", {**fields, "codebook": "codebook: 1\nnonsense: 1", "do": "check"})
    assert re.search(r'name="codebook"[^>]*aria-invalid="true"', wrong.text)
    made = hospital.post("cora", "/register", {**fields, "epsilon": "2", "do": "register"})
    assert made.headers["location"] == "/data/ward?done=registered"
    assert "a patient" in hospital.get("cora", "/data/ward").text


def test_a_new_version_keeps_the_limit(hospital: Site) -> None:
    page = hospital.get("cora", f"/register?of={VISITS}").text
    assert "A new version of" in page and 'name="epsilon"' not in page and "set once, for good" in page
    text = lambda name: unescape(re.search(rf'name="{name}"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)[1])  # noqa: E731
    fields = {"name": VISITS, "source": text("source"), "codebook": text("codebook"), "do": "register"}
    same = hospital.post("cora", "/register", {**fields, "version": "1", "codebook": fields["codebook"] + "url: x\n"})
    assert same.status_code == 422 and re.search(r'name="version"[^>]*aria-invalid="true"', same.text)
    led = hospital.post("cora", "/register", {**fields, "version": "2026-12"})
    assert led.status_code == 303
    assert hospital.world.house.data_sets.registered(VISITS).version == "2026-12"


def test_public_tables_are_registered_shown_looked_at_and_joined(hospital: Site) -> None:
    stays = {"patient": [f"q{row // 2}" for row in range(300)], "ward": ROWS["ward"]}  # other people: one limit each
    for name, columns in (("stays", stays), ("wards", WARDS)):
        assert send(hospital, "cora", "joined", (f"{name}.parquet", parquet(columns))).status_code == 303
    own = hospital.app.state.running.settings.uploads / "joined"
    codebook = """codebook: 1
title: Stays and wards
unit: {protects: a patient, id: patient}
tables:
  stays: {columns: {patient: {type: str}, ward: {type: int}}}
  wards: {public: true, key: [ward], columns: {ward: {type: int}, floor: {type: str}}}
"""
    source = f"stays: {own}/stays.parquet\nwards: {own}/wards.parquet"
    fields = {"name": "joined", "version": "1", "source": source, "codebook": codebook, "epsilon": "1"}
    made = hospital.post("cora", "/register", fields)
    assert made.status_code == 303, re.findall('class="error"[^>]*>([^<]*)', made.text)
    page = hospital.get("ada", "/data/joined").text
    assert page.count("It holds nothing of anybody") == 1
    look = unescape(re.search(r'href="(/data/joined/ask\?question=[^"]*)"', page)[1])
    question = unescape(re.search(r'name="question"[^>]*>\n(.*?)</textarea>', hospital.get("ada", look).text)[1])
    price = hospital.post("ada", "/data/joined/ask", {"question": question, "do": "explain"}).text
    assert "public tables alone" in price and "refused" not in price
    granted(hospital)
    before = hospital.world.house.ledger.head.entry
    rows = hospital.post("ada", "/data/joined/ask", {"question": question, "do": "ask"})
    assert rows.status_code == 200 and "ground" in rows.text and hospital.world.house.ledger.head.entry == before
    joined = {
        "question": "SELECT floor, COUNT(*) AS n FROM stays JOIN wards USING (ward) GROUP BY floor",
        "epsilon": "0.5",
        "max_groups": "1",
        "max_rows_per_group": "2",
        "keys": "floor: ground, first",
        "do": "ask",
    }
    assert hospital.post("ada", "/data/joined/ask", joined).status_code == 303
    unpriced = hospital.post("ada", "/data/joined/ask", {"question": joined["question"], "do": "ask"})
    assert unpriced.status_code == 422 and "Say what to pay" in unpriced.text


def granted(site: Site) -> None:
    """Lets somebody who is asked on this data set alone open a share there."""
    site.world.house.people.set_grants("axel", [Grant("budget owner", "joined")])
    fields = {"name": "ada", "epsilon": "0.6", "reason": "a pilot", "period": ""}
    assert site.post("axel", "/data/joined/limits/open", fields).status_code == 303


def test_a_file_of_one_data_set_is_neither_drafted_nor_registered_for_another(hospital: Site) -> None:
    sent = send(hospital, "cora", "theirs", ("rows.parquet", parquet(ROWS)))
    assert sent.status_code == 303
    [place] = [one for one in uploads(hospital) if one.parent.name == "theirs"]
    assert hospital.get("olga", "/register/draft?name=theirs&file=rows.parquet").status_code == 403
    assert hospital.get("olga", "/register/draft?name=mine&file=rows.parquet").status_code == 404
    for file in ("..%2Ftheirs%2Frows.parquet", "../theirs/rows.parquet"):
        assert hospital.get("olga", f"/register/draft?name=mine&file={file}").status_code in (400, 422)
    codebook = "codebook: 1\nunit: {protects: a, id: patient}\ntables: {rows: {columns: {patient: {type: str}}}}"
    fields = {"name": "mine", "version": "1", "codebook": codebook, "epsilon": "1"}
    link = place.parent.parent.parent / "link.parquet"
    link.symlink_to(place)
    pattern, relative = f"{place.parent.parent}/*/rows.parquet", "uploads/theirs/rows.parquet"
    for source in (str(place), str(link), pattern, relative, f"{place.parent.parent}/mine/../theirs/rows.parquet"):
        assert hospital.post("olga", "/register", {**fields, "source": source}).status_code == 422, source
        assert hospital.post("olga", "/register", {**fields, "source": f"rows: {source}"}).status_code == 422, source
    assert "mine" not in hospital.world.house.data_sets


def test_files_are_kept_only_whole_named_and_from_our_own_page(hospital: Site) -> None:
    before, good = uploads(hospital), ("rows.csv", b"patient\np1\n")
    assert send(hospital, "cora", "ward", good, token="0" * 64).status_code == 403
    assert send(hospital, "ada", "ward", good).status_code == 403
    assert send(hospital, "olga", "ward", good).status_code == 403
    for name, octets in (("rows.exe", b"x"), (f"{SCRIPT}.csv", b"x"), ("", b"x"), ("bad.parquet", b"no parquet")):
        page = send(hospital, "cora", "ward", (name, octets))
        assert page.status_code in (400, 422) and SCRIPT not in page.text, name
    assert send(hospital, "cora", "../ward", good).status_code == 422
    boundary = "form-data; boundary=x"
    kind = {**OWN_PAGE, "content-type": f"multipart/{boundary}"}
    token = form_token(hospital.visits["cora"])

    def part(name: str, text: str) -> str:
        return f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'

    file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\r\n'
    for body, status in (
        (part("csrf", token) + part("name", "ward") + file, 400),  # it breaks off
        (file + part("csrf", token) + "--x--\r\n", 400),  # its token comes after the file
        (part("csrf", token) * 2 + file + "--x--\r\n", 400),
        (part("csrf", token) + part("name", "w" * 5_000) + file + "--x--\r\n", 413),
        ("no form at all", 400),
    ):
        answered = hospital.call("cora", "POST", "/upload", content=body.encode(), headers=kind)
        assert answered.status_code == status, body[-80:]
    assert uploads(hospital) == before
    assert send(hospital, "cora", "ward", good).status_code == 303
    assert send(hospital, "cora", "ward", good).status_code == 422  # never written over
