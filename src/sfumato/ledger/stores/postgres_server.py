"""The server of a book on PostgreSQL: how it is reached, the tables it must have, and its errors in our words."""

from __future__ import annotations

from hashlib import sha256
from types import ModuleType
from typing import TYPE_CHECKING, Any, final
from urllib.parse import unquote

from sfumato.errors import BadArgument, LedgerDamaged, LedgerUnavailable, MissingExtra, SfumatoError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

PATIENCE_SECONDS = 60
"""How long an append waits for other writers."""

IDLE_SECONDS = 20
"""How long a writer that has vanished in the middle of its turn holds up the others."""

COLUMNS = "entries.number, kind, digest, text, key, question, settles"

DEFAULTS = {
    "application_name": "sfumato",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""What an address need not say: above all, that a server which has vanished is noticed."""

SESSION = f"""
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('lock_timeout', '{PATIENCE_SECONDS}s', false),
       set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', false),
       set_config('search_path', '', false)
"""

# Texts are compared byte by byte ("C"), so that no update of the server's locales can upset an index.
TABLES = """
CREATE TABLE {schema}.entries (
    number bigint PRIMARY KEY, kind text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, text text NOT NULL,
    key text COLLATE "C", question text COLLATE "C", settles bigint
);
CREATE TABLE {schema}.kept (number bigint PRIMARY KEY, value text NOT NULL);
CREATE TABLE {schema}.secrets (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
CREATE UNIQUE INDEX by_key ON {schema}.entries (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX by_settles ON {schema}.entries (settles) WHERE settles IS NOT NULL;
CREATE INDEX by_question ON {schema}.entries (question, number) WHERE question IS NOT NULL;
CREATE INDEX by_kind ON {schema}.entries (kind, number) WHERE kind NOT IN ('charged', 'released');
CREATE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'append only'; END$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.entries
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse();
ALTER TABLE {schema}.entries ENABLE ALWAYS TRIGGER append_only;
"""

# What must be there, if anything is: a book whose unique indexes or trigger are gone is not safe to write to.
PRESENT = b"""
SELECT (SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s
            AND relname IN ('entries', 'kept', 'secrets', 'by_key', 'by_settles', 'by_question', 'by_kind')),
       (SELECT count(*) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
            JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = %s AND relname = 'entries' AND tgname = 'append_only' AND tgenabled = 'A')
"""
NOTHING, EVERYTHING = (0, 0), (7, 1)

_REASONS = {
    "08": "the connection to its server was lost",
    "25006": "its server, or this role, can only read",
    "42501": "this role of its server lacks a right that it needs",
    "53100": "the disk of its server is full",
    "53200": "its server has not enough memory",
    "53300": "its server takes no more connections",
    "55P03": f"other writers have kept it busy for {PATIENCE_SECONDS} seconds",
    "57014": "its server broke off a statement that took too long",
    "57P": "its server is stopping or starting",
}
_DAMAGES = {
    "23": "an entry was to be written twice, or changed",
    "3F": "its tables are missing",
    "42P01": "its tables are missing",
    "42": "its tables are of another shape than those of a ledger",
    "XX": "its server reports that stored data is broken",
}


def driver() -> ModuleType:
    """Loads psycopg, or says which extra brings it."""
    try:
        import psycopg as loaded
    except ImportError:
        raise MissingExtra("a ledger on PostgreSQL", "postgres") from None
    return loaded


@final
class Server:
    """A database on a server, and the schema in it that holds a book. Shows no password."""

    def __init__(self, address: str) -> None:
        loaded, (plain, schema) = driver(), _parted(address)
        try:
            settings = loaded.conninfo.conninfo_to_dict(plain)
        except loaded.Error:
            settings = None
        if settings is None:  # not inside the handler: what psycopg says may quote the password
            raise BadArgument("the address of a ledger", "one that PostgreSQL understands", "postgresql://…")
        self._settings = {**DEFAULTS, **settings, "client_encoding": "UTF8"}
        self._schema_name = schema
        self.name = f"{settings.get('host', '')}/{settings.get('dbname', '')}".strip("/")
        self.schema = '"' + schema.replace('"', '""') + '"'
        self.lock = int.from_bytes(sha256(f"sfumato ledger {schema}".encode()).digest()[:8], "big", signed=True)

    def connected(self) -> Connection:
        """Opens a connection on which a commit is durable once it is answered."""
        loaded = driver()
        try:
            connection: Connection = loaded.connect(**self._settings, autocommit=True)
        except loaded.Error:
            raise LedgerUnavailable(
                "its server cannot be reached, does not let this role in, or takes no more connections"
            ) from None
        try:
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise LedgerUnavailable("its database keeps text in another encoding than UTF8")
            connection.execute(SESSION.encode(), prepare=False)
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, connection: Connection) -> None:
        """Makes the tables where there are none, and refuses others than those of a ledger."""
        if self._present(connection) == NOTHING:
            with connection.transaction():
                connection.execute(f"SELECT pg_advisory_xact_lock({self.lock})".encode())
                if self._present(connection) == NOTHING:
                    known = connection.execute(b"SELECT to_regnamespace(%s)", (self.schema,)).fetchone()
                    made = "" if known and known[0] else f"CREATE SCHEMA {self.schema};"
                    connection.execute((made + TABLES.replace("{schema}", self.schema)).encode(), prepare=False)
        if self._present(connection) != EVERYTHING:
            raise LedgerDamaged(_DAMAGES["42"])
        for table, columns in (("entries", COLUMNS), ("kept", "number, value"), ("secrets", "name, value")):
            connection.execute(f"SELECT {columns} FROM {self.schema}.{table} LIMIT 0".encode(), prepare=False)

    def _present(self, connection: Connection) -> tuple[Any, ...] | None:
        return connection.execute(PRESENT, (self._schema_name, self._schema_name)).fetchone()


def _parted(address: str) -> tuple[str, str]:
    """Splits an address into the one that PostgreSQL knows and the schema that ``schema=`` names in it."""
    before, _, after = address.partition("?")
    options = after.split("&") if after else []
    named = [unquote(option.removeprefix("schema=")) for option in options if option.startswith("schema=")]
    schema = named[-1] if named else "sfumato"
    if not schema or "\0" in schema or len(schema.encode("utf-8", "replace")) > 63:
        raise BadArgument("schema", "a name of at most 63 bytes", schema)
    rest = [option for option in options if not option.startswith("schema=")]
    return before + ("?" + "&".join(rest) if rest else ""), schema


def in_our_words(fault: psycopg.Error) -> SfumatoError:
    """Says what went wrong without the server's words: they could quote what is stored."""
    state = fault.sqlstate or "08"
    for length in (5, 3, 2):
        if state[:length] in _REASONS:
            return LedgerUnavailable(_REASONS[state[:length]])
        if state[:length] in _DAMAGES:
            return LedgerDamaged(_DAMAGES[state[:length]])
    return LedgerUnavailable(f"its server reports error {state}")
