"""Settings of a connection: what drivers set as a matter of course, and ``sfumato.…``, which says how to answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, final

from sfumato.errors import did_you_mean
from sfumato.server.postgres.faults import Fault

OURS = "sfumato."
VERSION = "15.18"
"""The version of PostgreSQL whose manners are kept; tools choose their catalog queries by it."""

REPORTED = {
    name.lower(): name
    for name in [
        "application_name",
        "client_encoding",
        "DateStyle",
        "default_transaction_read_only",
        "in_hot_standby",
        "integer_datetimes",
        "IntervalStyle",
        "is_superuser",
        "scram_iterations",
        "search_path",
        "server_encoding",
        "server_version",
        "session_authorization",
        "standard_conforming_strings",
        "TimeZone",
    ]
}
"""Settings of which a client is told how they stand, under these names."""

FIXED = {
    "server_version": VERSION,
    "server_version_num": "150018",
    "server_encoding": "UTF8",
    "integer_datetimes": "on",
    "is_superuser": "off",
    "in_hot_standby": "off",
    "scram_iterations": "4096",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "transaction_isolation": "repeatable read",
    "max_identifier_length": "63",
    "session_authorization": "",
    "block_size": "8192",
    "lc_collate": "C",
    "lc_ctype": "C",
    "max_index_keys": "32",
    "ssl": "off",
}
"""What nobody changes."""

USUAL = {
    "application_name": "",
    "backslash_quote": "safe_encoding",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "cursor_tuple_fraction": "0.1",
    "datestyle": "ISO, MDY",
    "default_transaction_isolation": "repeatable read",
    "enable_seqscan": "on",
    "extra_float_digits": "1",
    "geqo": "off",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "intervalstyle": "postgres",
    "jit": "off",
    "lc_messages": "C",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "lock_timeout": "0",
    "row_security": "on",
    "search_path": "",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "synchronize_seqscans": "off",
    "timezone": "UTC",
    "work_mem": "4MB",
    "xmlbinary": "base64",
    "xmloption": "content",
}
"""What drivers set; most of it means nothing here and is only remembered."""

NUMBERS = ("epsilon", "delta", "rho", "mu", "confidence")
COUNTS = ("max_groups", "max_rows_per_group", "max_rows", "max_matches")
JSONS = ("keys", "weights")
ANSWERING = (*NUMBERS, *COUNTS, *JSONS, "accuracy", "noise", "bounds")
"""The settings ``sfumato.…``, which are those of a question."""

ENCODINGS = frozenset({"utf8", "utf-8", "unicode", "sql_ascii"})
ON, OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
LONGEST, MOST_LETTERS = 10_000, 60_000


@final
class Variables:
    """The settings of one connection: as they began, as they stand, and as they stood before a transaction."""

    def __init__(self, person: str, began: Mapping[str, str]) -> None:
        self._fixed = FIXED | {"session_authorization": person}
        self._began = USUAL | {"sfumato.bounds": "off"}
        for name, value in began.items():
            self._began[_known(name)] = _checked(_known(name), value)
        self._now, self._before, self._after = dict(self._began), dict(self._began), dict(self._began)

    def __getitem__(self, name: str) -> str:
        folded = name.lower()
        if folded in self._fixed:
            return self._fixed[folded]
        return self._now.get(_known(folded), "")

    def says(self, name: str) -> bool:
        """Tells whether a setting has a value here, or is one of our own."""
        folded = name.lower()
        return folded.startswith(OURS) or bool(self._fixed.get(folded) or self._now.get(folded))

    def set(self, name: str, value: str | None, *, local: bool = False) -> dict[str, str]:
        """Sets something, or sets it back (None); what a client must be told of it."""
        known = _known(name)
        made = self._began.get(known, "") if value is None else _checked(known, value)
        if sum(map(len, self._now.values())) + len(made) > MOST_LETTERS:
            raise Fault("53200", "the settings of this connection are too long together")
        told = known in REPORTED and self._now.get(known) != made
        self._now[known] = made
        if not local:
            self._after[known] = made
        return {REPORTED[known]: made} if told else {}

    def reset(self) -> dict[str, str]:
        """Sets everything back to how it began; what a client must be told of it."""
        return self._become(dict(self._began))

    def begin(self) -> None:
        """Remembers how everything stands, for the case that a transaction fails."""
        self._before, self._after = dict(self._now), dict(self._now)

    def end(self, *, kept: bool) -> dict[str, str]:
        """Ends a transaction: what was set in it stays, or not; what a client must be told of it."""
        return self._become(dict(self._after if kept else self._before))

    def _become(self, values: dict[str, str]) -> dict[str, str]:
        changed = {name: values[name] for name in REPORTED if name in values and values[name] != self._now.get(name)}
        self._now, self._after = values, dict(values)
        return {REPORTED[name]: value for name, value in changed.items()}

    @property
    def reported(self) -> dict[str, str]:
        """What a client is told of at the beginning."""
        return {shown: self[name] for name, shown in REPORTED.items()}

    @property
    def stated(self) -> dict[str, str]:
        """The settings that say something, by their names in small letters."""
        return {name: value for name, value in self._now.items() if value}

    @property
    def all(self) -> list[tuple[str, str]]:
        """Every setting with its value, for SHOW ALL."""
        ours = {f"{OURS}{name}": "" for name in ANSWERING}
        return sorted((self._fixed | ours | self._now).items())

    @property
    def bounds(self) -> bool:
        """Tells whether the ends of error bars are columns of their own."""
        return self._now["sfumato.bounds"] == "on"

    @property
    def patience(self) -> float:
        """The seconds after which a statement is given up; 0 for never."""
        return _seconds(self._now["statement_timeout"])

    @property
    def asked(self) -> dict[str, Any]:
        """What is said besides a question, as `Asked.read` takes it."""
        said: dict[str, Any] = {}
        for name in ANSWERING:
            value = self._now.get(f"{OURS}{name}", "")
            if value and name != "bounds":
                said[name] = _read(name, value)
        return said


def _known(name: str) -> str:
    """The name of a setting that there is, in small letters."""
    folded = name.lower()
    if folded in USUAL or (folded.removeprefix(OURS) in ANSWERING and folded.startswith(OURS)):
        return folded
    if folded in FIXED:
        raise Fault("55P02", f"{folded} cannot be changed")
    hint = did_you_mean(folded, [f"{OURS}{one}" for one in ANSWERING]) or (
        f"There are {', '.join(OURS + one for one in ANSWERING)}." if folded.startswith(OURS) else ""
    )
    raise Fault("42704", f"there is no setting {folded[:80]!r}", hint=hint.strip())


def _checked(name: str, value: str) -> str:
    """The value of a setting; refuses what it cannot be."""
    if len(value) > LONGEST or "\0" in value:
        raise Fault("22023", f"the value of {name} is too long")
    if name.startswith(OURS):
        if value:
            _read(name.removeprefix(OURS), value)
        return _switch(name, value) if name == "sfumato.bounds" else value
    if name == "client_encoding" and value.strip("'\"").lower() not in ENCODINGS:
        raise Fault("22023", "texts are in UTF8 here, whatever else is asked for")
    if name == "client_encoding":
        return "UTF8"
    if name == "datestyle":
        if not value.upper().startswith("ISO") and value.upper() not in ("MDY", "DMY", "YMD"):
            raise Fault("22023", "dates are written as ISO has them, whatever else is asked for")
        return "ISO, MDY"
    if name == "standard_conforming_strings" and value.lower() not in ON:
        raise Fault("22023", "texts are written as the standard has them, whatever else is asked for")
    if name == "statement_timeout":
        _seconds(value)
    return value


def _switch(name: str, value: str) -> str:
    if value.lower() in ON | OFF | {""}:
        return "on" if value.lower() in ON else "off"
    raise Fault("22023", f"{name} is on or off")


def _read(name: str, value: str) -> Any:
    """The value of one of our settings, as `Asked.read` takes it."""
    try:
        return READ.get(name, str)(value)
    except (ValueError, RecursionError):
        pass
    must = {"accuracy": "a half-width and a confidence, '50, 0.95'", "keys": 'JSON, \'{"site": ["a", "b"]}\''}
    kinds = must | {"weights": "JSON, '{\"n\": 2}'"} | dict.fromkeys(COUNTS, "a whole number")
    raise Fault("22023", f"{OURS}{name} must be {kinds.get(name, 'a number')}")


def _accuracy(value: str) -> Any:
    if value.lstrip().startswith("{"):
        return json.loads(value)
    parts = [part.strip(" []()") for part in value.split(",")]
    width, sure = (*parts, "0.95")[:2]
    float(width), float(sure)
    if len(parts) > 2:
        raise ValueError
    return [width, sure]


def _number(value: str) -> str:
    float(value)
    return value.strip()


def _whole(value: str) -> int:
    if len(value) > 12:
        raise ValueError
    return int(value)


def _seconds(value: str) -> float:
    """Reads a time as PostgreSQL's settings have it: milliseconds, or with a unit."""
    text = value.strip().lower()
    for unit, size in (("min", 60.0), ("ms", 0.001), ("h", 3600.0), ("s", 1.0), ("", 0.001)):
        if text.endswith(unit):
            number = text.removesuffix(unit).strip() if unit else text
            try:
                return max(0.0, float(number) * size)
            except ValueError:
                break
    raise Fault("22023", "a time is a number of milliseconds, or one with ms, s, min or h")


READ: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(NUMBERS, _number),
    **dict.fromkeys(COUNTS, _whole),
    **dict.fromkeys(JSONS, json.loads),
    "accuracy": _accuracy,
}
