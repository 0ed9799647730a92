"""What whoever reaches the service reads without signing in: published releases, where the settings say so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.pages.site import Site, site_in
from tests.unit.pages.world import HOSTILE, ROLES, SCRIPT, VISITS

from sfumato.errors import NotAllowed
from sfumato.service.curators import Curators
from sfumato.service.house import House
from sfumato.service.readers import Board, Readers
from sfumato.service.settings import Settings

PAGES = ("/published", "/published/{number}", "/published/{number}/csv", "/published/{number}/json")


@pytest.fixture
def fresh(tmp_path: Path) -> Site:
    with site_in(tmp_path) as made:
        yield made


def test_published_releases_are_read_by_whoever_comes(site: Site) -> None:
    number = site.world.answers[VISITS]
    listed = site.get(None, "/published")
    assert listed.status_code == 200 and f'href="/published/{number}"' in listed.text
    assert "Visits by day, February 2026" in listed.text and SCRIPT not in listed.text
    shown = site.get(None, f"/published/{number}")
    assert shown.status_code == 200 and "2026-02-14" in shown.text and "<svg" in shown.text
    for form, begins in (("csv", b"day"), ("json", b"{"), ("parquet", b"PAR1"), ("html", b"<")):
        taken = site.get(None, f"/published/{number}/{form}")
        assert taken.status_code == 200 and taken.content.startswith(begins), form
        assert taken.headers["content-disposition"] == f'attachment; filename="answer-{number}.{form}"'
    assert site.get(None, f"/published/{number}/exe").status_code == 422


def test_they_are_the_same_for_everybody_and_may_be_kept(site: Site) -> None:
    number = site.world.answers[VISITS]
    for path in PAGES:
        path = path.format(number=number)
        nobody = site.get(None, path)
        for who in ("ada", "cora"):
            assert site.get(who, path).content == nobody.content
        dark = site.call(None, "GET", path, headers={"cookie": "sfumato-theme=dark"})
        assert dark.content == nobody.content and "set-cookie" not in nobody.headers
        assert nobody.headers["cache-control"] == "public, max-age=300"
        known = site.call(None, "GET", path, headers={"if-none-match": nobody.headers["etag"]})
        assert known.status_code == 304 and not known.content
        head = site.call(None, "HEAD", path)
        assert head.status_code == 200 and head.headers["etag"] == nobody.headers["etag"]


def test_they_name_nobody_and_hold_no_token(site: Site) -> None:
    names = re.compile(rf"\b({'|'.join(ROLES)})\b")
    for path in (*PAGES, "/published/{number}/html"):
        text = site.get("ada", path.format(number=site.world.answers[VISITS])).text
        assert not names.search(text), path
        assert 'name="csrf"' not in text and "visits/ada" not in text


def test_only_what_is_published_now_is_read(fresh: Site) -> None:
    own, number = f"/data/{VISITS}", fresh.world.answers[VISITS]
    numbers = re.findall(r'name="number" value="(\d+)"', fresh.get("cora", f"{own}/publish").text)
    other = next(one for one in numbers if int(one) != number)
    assert "Everybody" in fresh.get("cora", f"{own}/publish").text
    for path in (f"/published/{other}", f"/published/{other}/csv", "/published/0", "/published/x", "/published/9e9"):
        refused = fresh.get(None, path)
        assert refused.status_code == 403 and refused.headers["cache-control"] == "no-store"
    fresh.post("cora", f"{own}/publish", {"number": other, "do": "publish", "words": "How long people stay"})
    listed = fresh.get(None, "/published").text
    assert listed.index("How long people stay") < listed.index("Visits by day")  # the latest first
    assert fresh.get(None, f"/published/{other}/csv").status_code == 200
    fresh.post("cora", f"{own}/publish", {"number": other, "do": "withdraw", "words": "A better one follows"})
    assert fresh.get(None, f"/published/{other}").status_code == 403
    assert "How long people stay" not in fresh.get(None, "/published").text


def test_nothing_is_read_where_the_settings_do_not_say_so(site: Site) -> None:
    assert Settings().publish_openly is False
    house: House = site.world.house
    closed, number = replace(house, settings=Settings()), site.world.answers[VISITS]
    readers = Readers(closed, Board(house.ledger))
    for act in (readers.published, lambda: readers.answer(number), lambda: readers.rendered(number, "csv")):
        with pytest.raises(NotAllowed):
            act()
    assert len(Readers(house, Board(house.ledger)).published()) == 2


def test_what_readers_are_given_still_verifies_and_differs_in_the_account_alone(site: Site) -> None:
    house, number = site.world.house, site.world.answers[HOSTILE]
    release = Readers(house, Board(house.ledger)).answer(number)
    kept = Curators(house).answer(site.world.person("cora"), HOSTILE, number)
    assert release.receipt is not None and kept.receipt is not None
    assert release.receipt == replace(kept.receipt, account=HOSTILE)
    assert house.ledger.verify(receipts=[release.receipt]).sound
