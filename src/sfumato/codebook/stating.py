"""Codebooks without a file: what is public about one table, said where it is opened."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from sfumato.codebook.book import FORMAT, Codebook
from sfumato.codebook.draft import kind_of
from sfumato.codebook.entries import comma_list
from sfumato.codebook.kinds import UnitKind
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number

STATED = "stated where the data set was opened"
"""The source of all that such a codebook says."""

A_ROW = "unit=sf.Unit('a patient', sf.AddRemove(), bound=1)"
"""How to say that each row is somebody of their own."""

Ends = Mapping[str, tuple[Number | datetime.date, Number | datetime.date]]
Lists = Mapping[str, Sequence[Hashable]]


def stated_codebook(
    table: str,
    types: Mapping[str, str],
    *,
    units: Mapping[str, UnitKind],
    rows: Mapping[str, int | None],
    between: Ends | None = None,
    categories: Lists | None = None,
) -> Codebook:
    """Makes the codebook of one table from the engine's types of its columns and from what was stated.

    Columns without a type, as those of text files are, are numbers where they have bounds, and texts otherwise.
    ``units`` are who is protected, with the column that says whose a row is, by the name of the kind (none, where there
    is one); ``rows`` is how many rows one of them may have, where that is stated: where there is no id, it must be.
    """
    ends, lists = dict(between or {}), dict(categories or {})
    for what, stated in (("between", ends), ("categories", lists)):
        for name in stated:
            _known(name, types, what)
            _askable(name, _item(types[name]), what)
    if both := sorted(ends.keys() & lists.keys()):
        raise BadArgument("between and categories", "about different columns", both)
    for kind in units.values():
        if kind.id:
            _known(kind.id, types, "unit", "; where each row is somebody of their own, it is " + A_ROW)
            _askable(kind.id, types[kind.id], "unit")
    columns = {name: _column(name, engine, ends, lists) for name, engine in types.items()}
    entry: dict[str, object] = {"columns": {name: one for name, one in columns.items() if one is not None}}
    bounds = {name: {"rows": most, "source": STATED} for name, most in rows.items() if most is not None}
    trees = {name: {what: said for what, said in kind.tree().items() if said} for name, kind in units.items()}
    if bounds:
        entry["contributions"] = bounds.get("", bounds)
    who = {"unit": trees[""]} if "" in trees else {"units": trees}
    book = Codebook.read({"codebook": FORMAT, "title": table, **who, "tables": {table: entry}})
    left_out = {name: cannot_be_asked(types[name]) for name, one in columns.items() if one is None}
    return replace(book, tables=tuple(replace(one, left_out=left_out) for one in book.tables))


def cannot_be_asked(engine: str) -> str:
    """Says of a column why nothing can be asked about it: there is no such type in a codebook."""
    return f"it holds {engine[:60]}, which has no type in a codebook. Turn it into numbers, texts or days first"


def _askable(name: str, engine: str, what: str) -> None:
    if engine and kind_of(engine) is None:
        raise BadArgument(what, f"about a column that can be read: {cannot_be_asked(engine)}", name)


def _item(engine: str) -> str:
    """The type of the items of a list, and of any other column its own; lists of lists have none."""
    item = engine.removesuffix("[]")
    return engine if item.endswith("]") else item


def _known(name: object, types: Mapping[str, str], what: str, otherwise: str = "") -> None:
    if name not in types:
        near = did_you_mean(name, types, "; did you mean {!r}?") or otherwise
        raise BadArgument(what, f"about columns that there are: {comma_list([*types])}{near}", name)


def _column(name: str, engine: str, ends: Ends, lists: Lists) -> Mapping[str, object] | None:
    """What a codebook says of a column; None where it has no type for it. Of a list, it is said of the items."""
    if (item := _item(engine)) != engine:
        items = _column(name, item, ends, lists)
        return None if items is None else {"type": "list", "items": items}
    if name in lists:
        return {"categories": _listed(name, lists[name]), "source": STATED}
    kind = kind_of(engine) if engine else None
    if name in ends:
        if not isinstance(ends[name], tuple | list) or len(ends[name]) != 2:
            raise BadArgument(f"between of {name}", "a pair (lower, upper)", ends[name])
        pair = [_moment(end) for end in ends[name]]
        dates = [isinstance(end, datetime.date) for end in pair]
        if kind in (None, "str"):
            kind = "float" if not all(dates) else "time" if isinstance(pair[0], datetime.datetime) else "date"
        if kind == "time":  # from the first moment of a day to the last of one
            pair = [_at(pair[0], datetime.time.min), _at(pair[1], datetime.time.max)]
        return {"type": kind, "between": [_end(end) for end in pair], "source": STATED}
    return {"type": "str"} if not engine else None if kind is None else {"type": kind}


def _listed(name: str, stated: object) -> list[object]:
    """Reads categories: in their order, or sorted, if they have none."""
    if isinstance(stated, str | bytes) or not isinstance(stated, Iterable):
        raise BadArgument(f"categories of {name}", "a list of values", stated)
    listed = [value.item() if isinstance(value, np.generic) else value for value in stated]
    return sorted(listed, key=lambda value: (type(value).__name__, value)) if isinstance(stated, Set) else listed


def _moment(end: object) -> object:
    """A bound in which days and times are such, also where they are written as texts."""
    if isinstance(end, np.generic):
        end = end.item()
    if not isinstance(end, str) or "-" not in end:
        return end
    for kind in (datetime.date, datetime.datetime):
        try:
            return kind.fromisoformat(end)
        except ValueError:
            pass
    return end


def _at(end: object, time: datetime.time) -> object:
    """A moment of a day, where a bound is a whole day; what is a moment already stays it."""
    if isinstance(end, datetime.datetime) or not isinstance(end, datetime.date):
        return end
    return datetime.datetime.combine(end, time)


def _end(end: object) -> object:
    """A bound as a codebook writes it: floats are the decimals that they show."""
    if isinstance(end, datetime.datetime | datetime.date):
        return end.isoformat()
    return repr(end) if isinstance(end, float) else end
