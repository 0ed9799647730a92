"""Codebooks without a file: what is public about one table, said where it is opened."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from sfumato.codebook.book import FORMAT, Codebook
from sfumato.codebook.draft import kind_of
from sfumato.codebook.entries import comma_list
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number

STATED = "stated where the data set was opened"
"""The source of all that such a codebook says."""

Ends = Mapping[str, tuple[Number | datetime.date, Number | datetime.date]]
Lists = Mapping[str, Sequence[Hashable]]


def stated_codebook(
    table: str,
    types: Mapping[str, str],
    *,
    protects: str,
    id: str = "",
    rows: int | None = None,
    between: Ends | None = None,
    categories: Lists | None = None,
) -> Codebook:
    """Makes the codebook of one table from the engine's types of its columns and from what was stated.

    Columns without a type, as those of text files are, are numbers where they have bounds, and texts otherwise. ``id``
    is the column that says whose a row is; without one, ``rows`` is how many rows one unit may have.
    """
    ends, lists = dict(between or {}), dict(categories or {})
    for what, stated in (("between", ends), ("categories", lists)):
        for name in stated:
            _known(name, types, what)
    if both := sorted(ends.keys() & lists.keys()):
        raise BadArgument("between and categories", "about different columns", both)
    if id:
        _known(id, types, "unit")
    columns = {name: _column(name, engine, ends, lists) for name, engine in types.items()}
    entry: dict[str, object] = {"columns": {name: one for name, one in columns.items() if one is not None}}
    if rows is not None:
        entry["contributions"] = {"rows": rows, "source": STATED}
    unit = {"protects": protects, "id": id} if id else {"protects": protects}
    return Codebook.read({"codebook": FORMAT, "title": table, "unit": unit, "tables": {table: entry}})


def _known(name: object, types: Mapping[str, str], what: str) -> None:
    if name not in types:
        near = did_you_mean(name, types, "; did you mean {!r}?")
        raise BadArgument(what, f"about columns that there are: {comma_list([*types])}{near}", name)


def _column(name: str, engine: str, ends: Ends, lists: Lists) -> Mapping[str, object] | None:
    """What a codebook says of a column; None where it has no type for it."""
    if name in lists:
        listed = [value.item() if isinstance(value, np.generic) else value for value in lists[name]]
        return {"categories": listed, "source": STATED}
    kind = kind_of(engine) if engine else None
    if name in ends:
        pair = ends[name]
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadArgument(f"between of {name}", "a pair (lower, upper)", pair)
        dates = [isinstance(end, datetime.date) for end in pair]
        if kind in (None, "str"):
            kind = "float" if not all(dates) else "time" if isinstance(pair[0], datetime.datetime) else "date"
        return {"type": kind, "between": [_end(end) for end in pair], "source": STATED}
    return {"type": "str"} if not engine else None if kind is None else {"type": kind}


def _end(end: object) -> object:
    """A bound as a codebook writes it: floats are the decimals that they show."""
    if isinstance(end, np.generic):
        end = end.item()
    if isinstance(end, datetime.datetime | datetime.date):
        return end.isoformat()
    return repr(end) if isinstance(end, float) else end
