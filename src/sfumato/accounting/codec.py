"""The stored form of everything public in accounting: events, losses, curves, pairs, noises, filters.

Version 1 of the format: a header, and one record (`plain.RECORD`) of a class that registers itself in `noise` or here.
"""

from __future__ import annotations

import json

from sfumato import accounting, noise
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.plain import HOMES, RECORD, Plain, parsed, without_header

FORMAT, VERSION = "sfumato/accounting", 1

HOMES.extend((noise, accounting))


def to_plain(value: object) -> dict[str, Plain]:
    """Writes an event, a loss or another public record as dictionaries, lists, texts and whole numbers.

    >>> from sfumato.accounting.events import Laplace
    >>> to_plain(Laplace(scale=2.5))
    {'format': 'sfumato/accounting', 'version': 1, 'kind': 'Laplace', 'scale': '5/2', 'shift': '1'}
    """
    return {"format": FORMAT, "version": VERSION, **plain_record(value)}


def plain_record(value: object) -> dict[str, Plain]:
    """Writes a public record without the header, for those who write one header for many records."""
    written: Plain = RECORD.write(value)
    if not isinstance(written, dict) or "kind" not in written:
        raise BadArgument(RECORD.what, RECORD.must, value)
    return written


def from_plain(plain: object) -> object:
    """Reads what `to_plain` wrote; refuses every format, version, kind or field that it does not know."""
    fields = without_header(plain, FORMAT, VERSION)
    if "kind" not in fields:
        raise UnknownFormat("it has no kind")
    read: object = RECORD.read(fields)
    return read


def to_json(value: object) -> str:
    """Writes a public record as one line of JSON; equal records give equal texts."""
    return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> object:
    """Reads what `to_json` wrote."""
    return from_plain(parsed(text))
