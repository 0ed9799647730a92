"""Settings of a service: from a file (TOML) and from the environment (``SFUMATO_…``), which has the last word.

Secrets are shown nowhere; `Settings.faults` says everything that is wrong or insecure before the service starts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, final
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from sfumato.errors import BadArgument, SfumatoError, Unseen
from sfumato.ledger.addresses import MEMORY, SERVERS, SQLITE
from sfumato.ledger.signing import KEY_BYTES
from sfumato.service.places import Server

PREFIX = "SFUMATO_"
"""What the names of settings begin with in the environment."""


@final
@dataclass(frozen=True)
class SettingFault:
    """Something that is wrong with the settings: which one, why; ``fatal`` where the service must not start so."""

    setting: str
    why: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{'wrong' if self.fatal else 'careful'}: {self.setting}: {self.why}"


@final
class Settings(BaseSettings):
    """All that can be set. Times are in seconds, sizes in bytes.

    Addresses may hold passwords and are secrets: they are shown as stars.
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", hide_input_in_errors=True
    )

    # Where things are
    ledger: SecretStr = SecretStr("sqlite:///sfumato-ledger.db")
    records: SecretStr = SecretStr("")
    data_folders: tuple[Path, ...] = ()
    data_servers: tuple[SecretStr, ...] = ()
    signing_key_file: Path | None = None
    backup_folder: Path | None = None
    upload_folder: Path | None = None

    # How it is reached
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    public_address: str = ""
    behind_proxy: bool = False
    proxy_person_header: str = ""
    proxy_addresses: tuple[str, ...] = ()
    certificate_file: Path | None = None
    certificate_key_file: Path | None = None
    pg_port: int = Field(default=0, ge=0, le=65535)
    pg_host: str = ""
    pg_certificate_file: Path | None = None
    pg_certificate_key_file: Path | None = None
    usual_loss: dict[str, str] = {}

    # How much
    largest_upload: int = Field(default=1 << 20, ge=1 << 10, le=1 << 26)
    deepest_json: int = Field(default=16, ge=4, le=64)
    longest_question: int = Field(default=100_000, ge=1_000, le=1_000_000)
    requests_per_minute: int = Field(default=1_200, ge=1)
    sign_ins_per_minute: int = Field(default=10, ge=1)
    longest_request: float = Field(default=60.0, gt=0)
    visit_lasts: float = Field(default=12 * 3600.0, gt=0)
    token_lasts: float = Field(default=90 * 86400.0, gt=0)
    threads: int = Field(default=8, ge=1, le=256)

    # Jobs and schedules
    job_threads: int = Field(default=2, ge=1, le=64)
    jobs_per_person: int = Field(default=8, ge=1, le=999)
    job_lease: float = Field(default=60.0, ge=1)
    job_tries: int = Field(default=5, ge=1, le=100)
    jobs_kept: float = Field(default=30 * 86400.0, ge=60)

    # Webhooks
    webhook_hosts: tuple[str, ...] = ()
    webhooks_may_be_private: bool = False
    webhook_tries: int = Field(default=8, ge=1, le=30)
    webhook_timeout: float = Field(default=10.0, gt=0, le=120)
    low_limit: float = Field(default=0.1, gt=0, lt=1)

    # Readers
    publish_openly: bool = False

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is said where: in the program, then in the environment; a file is read by `read`."""
        return init_settings, env_settings

    @staticmethod
    def read(file: str | Path | None = None, **said: Any) -> Settings:
        """Reads a file, where one is named, and the environment over it; what is wrong is said without its value."""
        found = {} if file is None else _read_toml(Path(file))
        known = {name: value for name, value in found.items() if f"{PREFIX}{name}".upper() not in _environment()}
        try:
            return Settings(**(known | said))
        except ValidationError as refusal:
            wrong = [(".".join(map(str, one["loc"])), one["msg"]) for one in refusal.errors(include_input=False)]
        raise BadArgument("the settings", f"right ({'; '.join(map(': '.join, wrong))})", Unseen())

    @property
    def records_address(self) -> str:
        """Where records are: said, or beside the ledger."""
        said, ledger = self.records.get_secret_value(), self.ledger.get_secret_value()
        if said or ledger == MEMORY or ledger.startswith(SERVERS):
            return said or ledger
        return f"{ledger.removesuffix('.db')}-records.db"

    @property
    def one_worker(self) -> bool:
        """Tells whether the service can have one machine only: its ledger is no server."""
        return not self.ledger.get_secret_value().startswith(SERVERS)

    @property
    def lease(self) -> timedelta:
        """How long a worker may say nothing before another takes its job over."""
        return timedelta(seconds=self.job_lease)

    def signing_key(self) -> bytes | None:
        """The key that signs checkpoints, from its file; None where none is named."""
        if self.signing_key_file is None:
            return None
        try:
            key = bytes.fromhex(self.signing_key_file.read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            key = b""
        if len(key) == KEY_BYTES:
            return key
        must = f"a file with {KEY_BYTES} secret bytes in hexadecimal digits"
        raise BadArgument("signing_key_file", must, self.signing_key_file.name)

    def check(self) -> list[SettingFault]:
        """Says everything that is wrong or insecure; an empty list where nothing is."""
        return [*self._check_stores(), *self._check_places(), *self._check_reach(), *self._check_webhooks()]

    def _check_stores(self) -> Iterator[SettingFault]:
        for name, address in (("ledger", self.ledger.get_secret_value()), ("records", self.records_address)):
            if address == MEMORY:
                yield SettingFault(
                    name, "memory: forgets what was spent when the service stops", fatal=name == "ledger"
                )
            elif address.startswith(SERVERS):
                yield from _check_server(name, address)
            elif "://" in address.removeprefix(SQLITE):
                yield SettingFault(name, "it is no address of an SQLite file or a PostgreSQL server")
            else:
                yield from _check_private(name, Path(address.removeprefix(SQLITE)))
        if self.signing_key_file is None:
            yield SettingFault("signing_key_file", "checkpoints are not signed; `sfumato` can make a key", fatal=False)
        else:
            yield from _check_private("signing_key_file", self.signing_key_file, needed=True)
            try:
                self.signing_key()
            except SfumatoError as refusal:
                yield SettingFault("signing_key_file", str(refusal))

    def _check_places(self) -> Iterator[SettingFault]:
        if not self.data_folders and not self.data_servers:
            yield SettingFault("data_folders", "no folder and no server of data is named: nothing can be registered")
        for folder in self.data_folders:
            if not folder.is_dir():
                yield SettingFault("data_folders", f"{folder.name or folder} is no folder")
            elif folder.resolve() == Path(folder.resolve().anchor):
                yield SettingFault("data_folders", "the whole file system could be registered")
            elif self._keeps_in(folder):
                yield SettingFault("data_folders", f"the ledger or records are in {folder.name}: they are no data")
        uploads = None if self.upload_folder is None else self.upload_folder.resolve()
        if uploads is not None and not any(uploads.is_relative_to(one.resolve()) for one in self.data_folders):
            yield SettingFault("upload_folder", "it is in none of data_folders: what is sent could not be registered")
        for number, server in enumerate(self.data_servers, 1):
            if Server.read(server.get_secret_value()) is None:
                yield SettingFault("data_servers", f"number {number} is no address of one server")

    def _keeps_in(self, folder: Path) -> bool:
        kept = [self.ledger.get_secret_value(), self.records_address]
        files = [Path(one.removeprefix(SQLITE)) for one in kept if one != MEMORY and not one.startswith(SERVERS)]
        files += [one for one in (self.signing_key_file,) if one is not None]
        return any(one.resolve().is_relative_to(folder.resolve()) for one in files)

    def _check_reach(self) -> Iterator[SettingFault]:
        alone = self.host in ("127.0.0.1", "localhost", "::1")
        encrypted = self.certificate_file is not None
        if not alone and not encrypted and not self.behind_proxy:
            yield SettingFault("host", "others can reach it and nothing is encrypted: name a certificate, or a proxy")
        for name in ("certificate", "pg_certificate"):
            certificate, key = getattr(self, f"{name}_file"), getattr(self, f"{name}_key_file")
            if (certificate is None) != (key is None):
                yield SettingFault(f"{name}_file", "a certificate and its key belong together")
            if key is not None:
                yield from _check_private(f"{name}_key_file", key, needed=True)
        if self.proxy_person_header and not self.proxy_addresses:
            why = "whoever reaches the service could say who they are: name the addresses of the proxy"
            yield SettingFault("proxy_person_header", why)
        if self.publish_openly:
            why = "whoever reaches the service sees published releases without signing in"
            yield SettingFault("publish_openly", why, fatal=False)
        if self.public_address and urlsplit(self.public_address).scheme != "https" and not alone:
            yield SettingFault("public_address", "it does not begin with https://")

    def _check_webhooks(self) -> Iterator[SettingFault]:
        if self.webhooks_may_be_private:
            why = "webhooks may reach addresses inside the network of the service"
            yield SettingFault("webhooks_may_be_private", why, fatal=False)
        if any("*" in host or "/" in host or not host.strip() for host in self.webhook_hosts):
            yield SettingFault("webhook_hosts", "each is the name of one host, such as hooks.example.org")


def _environment() -> frozenset[str]:
    return frozenset(name.upper() for name in os.environ)


def _read_toml(file: Path) -> Mapping[str, Any]:
    try:
        found = TomlConfigSettingsSource(Settings, file)() if file.is_file() else None
    except (OSError, ValueError):
        found = None
    if found is None:
        raise BadArgument("the file of settings", "a file in TOML that can be read", file.name)
    return found


def _check_server(name: str, address: str) -> Iterator[SettingFault]:
    parts = urlsplit(address)
    alone = parts.hostname in (None, "", "127.0.0.1", "localhost", "::1")
    if not alone and "sslmode=verify-full" not in (parts.query or ""):
        yield SettingFault(
            name, "its server is elsewhere: say sslmode=verify-full, or others may read along", fatal=False
        )


def _check_private(name: str, file: Path, *, needed: bool = False) -> Iterator[SettingFault]:
    """Says whether others than its owner can read or write a file."""
    try:
        mode = file.stat().st_mode
    except OSError:
        if needed or not file.resolve().parent.is_dir():
            yield SettingFault(name, f"{file.name} cannot be opened")
        return
    if stat.S_ISDIR(mode):
        yield SettingFault(name, f"{file.name} is a folder")
    elif mode & 0o077:
        yield SettingFault(name, f"others than its owner can read or write {file.name} (chmod 600)")
