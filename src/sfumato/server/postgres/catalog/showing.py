"""SHOW: settings as PostgreSQL has them, those of the connection first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version as installed

from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.catalog.contents import quoted_name
from sfumato.server.postgres.catalog.described import Database
from sfumato.server.postgres.catalog.refusals import refused
from sfumato.server.postgres.catalog.types import fact_lines

WORDS = {
    "session authorization": "session_authorization",
    "time zone": "timezone",
    "transaction isolation level": "transaction_isolation",
}
"""What is said in several words."""

LONGEST_SHOW = 200


def version(known: Mapping[str, tuple[str, str]]) -> str:
    """What `version()` says: tools read in it which PostgreSQL they talk to."""
    return f"PostgreSQL {known['server_version'][1]} (sfumato {_own_version()})"


@cache
def _own_version() -> str:
    return installed("sfumato")


def settings(database: Database, given: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """All settings: their names and values, by their names in small letters."""
    known = {}
    for line in fact_lines("settings"):
        parts = line.split("|")
        known[parts[0].lower()] = parts[0], parts[5]
    known["search_path"] = "search_path", ", ".join(quoted_name(one) for one in database.path)
    known["session_authorization"] = "session_authorization", database.person
    for name, value in given.items():
        if name.lower() == "search_path" and not value:
            continue  # nothing is said of where to look
        known[name.lower()] = known.get(name.lower(), (name.lower(), ""))[0], value
    return known


def shown(database: Database, sql: str, given: Mapping[str, str]) -> Answer | None:
    """Answers SHOW; None for every other text."""
    if len(sql) > LONGEST_SHOW:
        return None
    words = sql.strip().rstrip(";").lower().split()
    if not words or words[0] != "show":
        return None
    known = settings(database, given)
    name = " ".join(words[1:])
    if name == "all":
        rows = tuple((known[one][0], known[one][1], "") for one in sorted(known) if one != "session_authorization")
        return Answer(tuple(Column(one) for one in ("name", "setting", "description")), rows, "SHOW")
    found = known.get(WORDS.get(name, name.strip('"')))
    if found is None:
        raise refused("42704", f'unrecognized configuration parameter "{name[:63]}"')
    return Answer((Column(found[0]),), ((found[1],),), "SHOW")
