"""Settings: from a file and the environment, checked before anything starts, with secrets that show nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.service.houses import COUNT, replace_settings

from sfumato.errors import BadArgument
from sfumato.ledger.signing import new_signing_key
from sfumato.service.asking import Asked
from sfumato.service.house import House
from sfumato.service.settings import Settings

ADDRESS = "postgresql://sfumato:hunter2@db.local/book"


def faults(settings: Settings) -> dict[str, str]:
    return {fault.setting: str(fault) for fault in settings.check()}


@pytest.fixture
def good(tmp_path: Path) -> Settings:
    (tmp_path / "data").mkdir()
    (tmp_path / "key").write_text(new_signing_key().hex())
    (tmp_path / "key").chmod(0o600)
    return replace_settings(
        Settings(),
        ledger=f"sqlite:///{tmp_path / 'book.db'}",
        data_folders=(tmp_path / "data",),
        signing_key_file=tmp_path / "key",
    )


def test_good_settings_have_no_faults(good: Settings) -> None:
    assert good.check() == []
    house = House.of(good)
    assert list(house.data_sets) == []
    house.close()
    assert good.check() == []  # what was made is for its owner alone


def test_a_file_is_read_and_the_environment_has_the_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sfumato.toml"
    file.write_text(f'ledger = "{ADDRESS}"\nport = 81\nhost = "0.0.0.0"\nwebhook_hosts = ["a.example"]\n')
    monkeypatch.setenv("SFUMATO_PORT", "82")
    monkeypatch.setenv("SFUMATO_DATA_FOLDERS", '["/srv/data"]')
    settings = Settings.read(file, host="127.0.0.1")
    assert (settings.port, settings.host, settings.webhook_hosts) == (82, "127.0.0.1", ("a.example",))
    assert settings.data_folders == (Path("/srv/data"),)
    assert settings.ledger.get_secret_value() == settings.records_address == ADDRESS
    assert not settings.one_worker


@pytest.mark.parametrize(
    "text",
    ["port = 'eighty'", "port = 99999", "nonsense = 1", "ledger", "port = 1\nport = 2", "\x00", "deepest_json = 1000"],
)
def test_a_file_that_is_wrong_is_refused_by_the_name_of_the_setting(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sfumato.toml"
    file.write_text(f'ledger = "{ADDRESS}"\n{text}\n')
    with pytest.raises(BadArgument) as refusal:
        Settings.read(file)
    assert "hunter2" not in str(refusal.value)
    with pytest.raises(BadArgument):
        Settings.read(tmp_path / "none.toml")


def test_secrets_show_nowhere(tmp_path: Path) -> None:
    settings = Settings(ledger=ADDRESS, records=ADDRESS, data_servers=(ADDRESS,))  # type: ignore[arg-type]
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()} {settings.check()}"
    assert "hunter2" not in shown
    with pytest.raises(Exception) as refusal:
        Settings(ledger=["hunter2"])  # type: ignore[arg-type]
    assert "hunter2" not in str(refusal.value)


def test_everything_that_is_wrong_or_insecure_is_said(good: Settings, tmp_path: Path) -> None:
    (tmp_path / "open").write_text("x")
    (tmp_path / "open").chmod(0o644)
    bad = replace_settings(
        good,
        ledger="memory:",
        data_folders=(tmp_path, Path("/"), tmp_path / "none"),
        data_servers=("postgresql://a,b/c",),
        signing_key_file=tmp_path / "open",
        host="0.0.0.0",
        certificate_file=None,
        certificate_key_file=tmp_path / "none",
        proxy_person_header="X-Person",
        public_address="http://sfumato.example",
        webhook_hosts=("*.example",),
        webhooks_may_be_private=True,
    )
    said = faults(bad)
    assert said.keys() == {
        "ledger",
        "records",
        "data_folders",
        "data_servers",
        "signing_key_file",
        "host",
        "certificate_file",
        "certificate_key_file",
        "proxy_person_header",
        "public_address",
        "webhook_hosts",
        "webhooks_may_be_private",
    }
    assert [fault.setting for fault in bad.check() if not fault.fatal] == ["records", "webhooks_may_be_private"]


def test_a_ledger_among_the_data_or_open_to_others_is_found(good: Settings, tmp_path: Path) -> None:
    inside = replace_settings(good, ledger=f"sqlite:///{tmp_path / 'data' / 'book.db'}")
    assert "no data" in faults(inside)["data_folders"]
    (tmp_path / "book.db").write_bytes(b"")
    (tmp_path / "book.db").chmod(0o644)
    assert "chmod 600" in faults(good)["ledger"]
    elsewhere = replace_settings(good, ledger="postgresql://u@db.example/book")
    assert "verify-full" in faults(elsewhere)["ledger"]
    assert "ledger" not in faults(replace_settings(good, ledger="postgresql://u@127.0.0.1/book"))


# What comes with a question


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", {}),
        (7, {}),
        (None, {}),
        ("x" * 100_001, {}),
        (COUNT, {"nonsense": 1}),
        (COUNT, {"epsilon": "0.1", "rho": "1"}),
        (COUNT, {"delta": "0.1"}),
        (COUNT, {"epsilon": True}),
        (COUNT, {"epsilon": [1]}),
        (COUNT, {"epsilon": "-1"}),
        (COUNT, {"epsilon": "NaN"}),
        (COUNT, {"epsilon": {"a": 1}}),
        (COUNT, {"accuracy": [1]}),
        (COUNT, {"accuracy": "50"}),
        (COUNT, {"accuracy": [[1], 2]}),
        (COUNT, {"keys": []}),
        (COUNT, {"keys": {"site": "north"}}),
        (COUNT, {"keys": {"columns": ["a"], "rows": [1]}}),
        (COUNT, {"weights": [1]}),
        (COUNT, {"parameters": "x"}),
        (COUNT, {"parameters": 7}),
    ],
)
def test_questions_that_are_none_are_refused(text: object, said: dict[str, object]) -> None:
    with pytest.raises(BadArgument):
        Asked.read(text, said)


def test_a_question_that_is_kept_is_read_again_as_it_was() -> None:
    said = {
        "epsilon": "0.1",
        "keys": {"site": ["north", None]},
        "max_rows": 3,
        "parameters": {"least": 5},
        "confidence": "0.9",
    }
    asked = Asked.read("SELECT COUNT(*) AS n FROM visits WHERE minutes > :least GROUP BY site", said)
    assert Asked.from_plain(asked.plain) == asked
    with pytest.raises(BadArgument, match="kept"):
        _ = Asked.read(COUNT, {"parameters": [object()]}).plain
    with pytest.raises(BadArgument, match="kept"):
        _ = Asked.read(COUNT, {"parameters": ["x" * 2_000_000]}).plain


def test_what_others_see_and_where_files_go_is_said(good: Settings, tmp_path: Path) -> None:
    assert good.publish_openly is False and good.upload_folder is None
    openly = replace_settings(good, publish_openly=True)
    assert "without signing in" in faults(openly)["publish_openly"]
    assert faults(openly)["publish_openly"].startswith("careful")
    assert replace_settings(good, upload_folder=tmp_path / "data" / "uploads").check() == []
    outside = replace_settings(good, upload_folder=tmp_path / "uploads")
    assert faults(outside)["upload_folder"].startswith("wrong")
