"""Places: data comes from the folders and servers that settings name, and from nowhere that only looks like them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import BadArgument
from sfumato.service.places import Places, Server, without_password

SERVER = "postgresql://reader:secret@db.local:5432/visits"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    inside = tmp_path / "data"
    inside.mkdir()
    (inside / "visits.parquet").touch()
    (inside / "2026").mkdir()
    (inside / "2026" / "a.parquet").touch()
    (tmp_path / "data-of-others").mkdir()
    (tmp_path / "data-of-others" / "x.parquet").touch()
    (tmp_path / "secret.parquet").touch()
    return Places((inside,), (SERVER, "postgresql://[::1]/logs"))


def test_files_inside_are_taken_by_whole_paths(places: Places, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert places.checked("visits.parquet") == str(data / "visits.parquet")
    assert places.checked(str(data / "2026" / ".." / "visits.parquet")) == str(data / "visits.parquet")
    assert places.checked("2026/*.parquet") == str(data / "2026" / "*.parquet")
    assert places.checked({"visits": "visits.parquet"}) == {"visits": str(data / "visits.parquet")}
    assert places.checked("not-there-yet.parquet") == str(data / "not-there-yet.parquet")


@pytest.mark.parametrize(
    "place",
    [
        "../secret.parquet",
        "2026/../../secret.parquet",
        "/etc/passwd",
        "/",
        "",
        " ",
        "../data-of-others/x.parquet",
        "../data*/x.parquet",
        "../*",
        "/**/*.parquet",
        "file:///etc/passwd",
        "http://db.local/visits",
        "s3://bucket/visits.parquet",
        "visits.parquet\0",
        "visits\n.parquet",
        "postgresql://db.local.evil/visits",
        "postgresql://db.local:5432.evil/visits",
        "postgresql://db.local@evil/visits",
        "postgresql://evil/visits?host=db.local",
        "postgresql://db.local/visits?host=evil",
        "postgresql://db.local/visits?hostaddr=10.0.0.1",
        "postgresql://db.local/visits?service=other",
        "postgresql://db.local,evil/visits",
        "postgresql://db.local:5432,evil:5432/visits",
        "postgresql://db.local:5433/visits",
        "postgresql://db.local/visits2",
        "postgresql://db.local/other",
        "postgresql://db.local",
        "postgresql://db.local\\@evil/visits",
        "postgresql://db.local%2eevil/visits",
        "postgresql:///visits",
        "postgresql://DB.LOCAL/visits#@evil",
        "mysql://db.local:5432/visits",
        "postgresql://[::1]:5433/logs",
        7,
        None,
        ["visits.parquet"],
        {},
        {"visits": 7},
        {"visits": "visits.parquet", "other": "/etc/passwd"},
    ],
)
def test_everything_else_is_refused_and_not_repeated(places: Places, place: object) -> None:
    with pytest.raises(BadArgument) as refusal:
        places.checked(place)  # type: ignore[arg-type]
    for word in ("evil", "passwd", "secret", "others"):
        assert word not in str(refusal.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.local/visits",
        "postgres://other:name@DB.local.:5432/visits?sslmode=require&connect_timeout=5",
        "postgresql://[::1]:5432/logs",
    ],
)
def test_the_same_server_is_known_however_it_is_spelled(places: Places, address: str) -> None:
    assert places.checked(address) == address


def test_a_server_without_a_database_stands_for_all_of_its_own() -> None:
    known, other = Server.read("postgresql://db.local"), Server.read("postgresql://db.local/any")
    assert known is not None
    assert other is not None
    assert known.covers(other)
    assert not other.covers(known)


def test_links_and_patterns_that_lead_outside_are_refused(places: Places, tmp_path: Path) -> None:
    data = tmp_path / "data"
    os.symlink(tmp_path / "secret.parquet", data / "link.parquet")
    os.symlink(tmp_path, data / "up")
    for place in ("link.parquet", "*.parquet", "up/secret.parquet", "up/*.parquet", "**/secret.parquet"):
        with pytest.raises(BadArgument):
            places.checked(place)
    os.symlink(data / "visits.parquet", data / "2026" / "inside.parquet")
    assert places.checked("2026/*.parquet")


def test_a_folder_may_be_reached_by_a_link_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "a.parquet").touch()
    os.symlink(tmp_path / "disk", tmp_path / "data")
    places = Places((tmp_path / "data",))
    assert places.checked(str(tmp_path / "data" / "a.parquet"))
    assert places.checked("a.parquet")


def test_without_folders_and_servers_nothing_is_taken() -> None:
    for place in ("a.parquet", "/a.parquet", "postgresql://db.local/visits"):
        with pytest.raises(BadArgument):
            Places().checked(place)


@given(st.text(max_size=40))
def test_no_text_leads_outside(text: str) -> None:
    folder = Path("/srv/data")
    try:
        found = Places((folder,), (SERVER,)).checked(text)
    except BadArgument:
        return
    assert Path(str(found)).is_relative_to(folder) or Server.read(str(found)) is not None


def test_a_password_is_taken_off_an_address() -> None:
    assert without_password(SERVER) == "postgresql://db.local:5432/visits"
    assert "secret" not in without_password("postgresql://a:secret@b:secret@c/d")
