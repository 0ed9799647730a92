"""Servers: how one is reached, what holds in every transaction, and its errors in our words.

An answer must be a function of the rows. So nothing of a session that could change how a value is read, compared or
written is left as somebody set it (`SETTINGS`), and the planner is not let to believe what tables state about rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, final
from urllib.parse import unquote

from sfumato.core.outages import Outage
from sfumato.errors import BadArgument, MissingExtra, RunFailed
from sfumato.query.engines.sql.statement import literal

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

SCHEMES = ("postgresql", "postgres")

DEFAULTS = {
    "application_name": "sfumato",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""What an address need not say: above all, that a server which has vanished is noticed."""

SETTINGS = {
    # Names are looked up in what the server itself has, and nobody's functions stand in their way.
    "search_path": "pg_catalog, pg_temp",
    "client_encoding": "UTF8",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "backslash_quote": "off",
    "array_nulls": "on",
    "transform_null_equals": "off",
    "xmloption": "content",
    "lc_numeric": "C",
    "lc_monetary": "C",
    "lc_time": "C",
    # A policy on rows raises, and leaves none out silently.
    "row_security": "off",
    # What a table states about its rows may be wrong, and is about everybody's; foreign tables only promise it.
    "constraint_exclusion": "off",
    "enable_partition_pruning": "off",
    # Statements are planned anew for their constants: a plan is never older than what it is about.
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    # Subqueries are nested deeply; in the order in which they are written they are planned in little time.
    "geqo": "off",
    "from_collapse_limit": "8",
    "join_collapse_limit": "8",
}

BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

LEAST_VERSION = 130000

OUTAGES = {
    "08": Outage.LOST,
    "25006": Outage.CHANGED,
    "28": Outage.DENIED,
    "3D000": Outage.CHANGED,
    "3F": Outage.CHANGED,
    "40": Outage.CONFLICT,
    "42501": Outage.DENIED,
    "42P01": Outage.CHANGED,
    "42703": Outage.CHANGED,
    "42": Outage.CHANGED,
    "53100": Outage.SPACE,
    "53200": Outage.SPACE,
    "53400": Outage.SPACE,
    "53300": Outage.BUSY,
    "55P03": Outage.BUSY,
    "57014": Outage.TIME,
    "57P": Outage.LOST,
    "58": Outage.SPACE,
}
"""What is said of an error, by the longest beginning of its code: a text of the server could quote a row."""


def driver() -> ModuleType:
    """Loads psycopg, or says which extra brings it."""
    try:
        import psycopg as loaded
    except ImportError:
        raise MissingExtra("data on PostgreSQL", "postgres") from None
    return loaded


def outage(fault: BaseException) -> Outage | None:
    """What kept the server from answering, without its words; None where it is the statement."""
    state = getattr(fault, "sqlstate", None) or "08"
    return next((OUTAGES[state[:length]] for length in (5, 3, 2) if state[:length] in OUTAGES), None)


def is_lost(fault: BaseException) -> bool:
    """Tells whether a connection is gone, or was refused, so that another one may do."""
    state = getattr(fault, "sqlstate", None) or "08"
    return state[:2] == "08" or state[:3] == "57P"


@contextmanager
def unpaid() -> Iterator[None]:
    """Says of an outage that it kept data from being opened: nothing was charged for what is looked at inside."""
    try:
        yield
    except RunFailed as fault:
        why = "a value could not be computed" if fault.outage is None else fault.outage.value
    else:
        return
    raise BadArgument("data", f"on a server that answers while it is opened: {why}", "none")


@final
@dataclass(frozen=True)
class Address:
    """Where tables are: a server and database, and the table or schema that the address names. Shows no password."""

    settings: Mapping[str, str] = field(repr=False)
    table: str = ""
    schema: str = ""

    @property
    def shown(self) -> str:
        """The address without what nobody else may see: without user and password."""
        host, database = (str(self.settings.get(name, "")) for name in ("host", "dbname"))
        return f"postgresql://{'' if host.startswith('/') else host}/{database}"


def read_address(given: str) -> Address:
    """Reads an address; ``table=`` and ``schema=`` in it are ours, all else is what PostgreSQL knows.

    >>> read_address("postgresql://ada:secret@host/clinic?table=ward.visits")
    Address(table='ward.visits', schema='')
    """
    before, _, after = given.partition("?")
    ours: dict[str, str] = {}
    rest = []
    for option in after.split("&") if after else []:
        name, _, text = option.partition("=")
        if name in ("table", "schema"):
            ours[name] = unquote(text)
        else:
            rest.append(option)
    loaded = driver()
    try:
        settings = loaded.conninfo.conninfo_to_dict(before + ("?" + "&".join(rest) if rest else ""))
    except loaded.Error:
        settings = None
    if settings is None:  # not inside the handler: what psycopg says may quote the password
        raise BadArgument("data", "an address that PostgreSQL understands", "postgresql://…")
    return Address(settings, ours.get("table", ""), ours.get("schema", ""))


@final
@dataclass(frozen=True)
class Limits:
    """What a question may take of a server: memory for each step, time, and how long it waits for a lock."""

    work_mem: str = "256MB"
    statement_timeout: float | None = None
    lock_timeout: float | None = 60.0
    role: str | None = None
    parallel_workers: int | None = None

    def transaction(self) -> str:
        """The beginning of a transaction: one snapshot that nothing is written in, with all settings."""
        settings = {**SETTINGS, "work_mem": self.work_mem}
        for name, seconds in (("statement_timeout", self.statement_timeout), ("lock_timeout", self.lock_timeout)):
            settings[name] = "0" if seconds is None else f"{max(1, round(1000 * seconds))}ms"
        if self.parallel_workers is not None:
            settings["max_parallel_workers_per_gather"] = str(self.parallel_workers)
        role = "" if self.role is None else f"; SET LOCAL ROLE {literal(self.role)}"
        plain = "; ".join(f"SET LOCAL {name} = {_setting(value)}" for name, value in settings.items())
        return f"{BEGIN}{role}; {plain}"


def _setting(value: str) -> str:
    """A setting as SQL writes it: a list is one of names."""
    return ", ".join(literal(part) for part in value.split(", "))


def connected(address: Address) -> Connection:
    """Opens a connection; whatever goes wrong, the error is the driver's, and shown to nobody."""
    loaded = driver()
    connection: Connection = loaded.connect(
        **{**DEFAULTS, **address.settings, "client_encoding": "UTF8"},
        autocommit=True,
        prepare_threshold=None,
        cursor_factory=loaded.RawCursor,
    )
    _read_whole_numbers(connection)
    return connection


def _read_whole_numbers(connection: Connection) -> None:
    """Lets sums, which have the type of decimals, come as whole numbers."""
    from psycopg.adapt import Loader

    class Whole(Loader):
        def load(self, data: Any) -> int:
            return int(bytes(data).partition(b".")[0])

    connection.adapters.register_loader("numeric", Whole)


def check_server(connection: Connection) -> None:
    """Refuses a server that is too old, and a database that keeps text in another encoding than UTF8."""
    if connection.info.server_version < LEAST_VERSION:
        raise BadArgument("data", "on PostgreSQL 13 or later", f"{connection.info.server_version // 10000}")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise BadArgument("data", "in a database whose encoding is UTF8", encoding)
