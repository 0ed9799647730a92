"""Explanations on a page: the price and the error before anything is paid; of refusals the part that is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sfumato.errors import SfumatoError
from sfumato.query.answer.explanation import SIZES, Explanation
from sfumato.query.sql.pointing import Span, places_of
from sfumato.release.record import Cutting
from sfumato.release.render.document import Table
from sfumato.release.render.words import clean, percent, width
from sfumato.server.pages.views.amounts import FIELDS
from sfumato.server.pages.views.cells import AMOUNT, Cell, Listing, listing_of

NAMED = re.compile(r"\b(max_groups|max_rows_per_group|max_rows|keys)\b")
"""Settings that advice speaks of; they are fields of the page."""

FIELD_WORDS = {
    "max_groups": "“Groups of a person”",
    "max_rows_per_group": "“Rows in each group”",
    "max_rows": "“Rows in all”",
    "keys": "“Public keys”",
}

ONLY_PUBLIC = "this asks only what is public, so there is nothing to pay"
"""How the planner begins when it says that a question has no price."""

PUBLIC = "Free: this asks public tables alone, and the answer is exact."


@final
@dataclass(frozen=True)
class Explained:
    """What a page says of a question before it is paid."""

    summary: str
    refused: str = ""
    refusal: str = ""
    marks: tuple[Span, ...] = ()
    pieces: tuple[tuple[str, bool], ...] = ()
    fields: tuple[str, ...] = ()
    price: str = ""
    unit: str = ""
    who: str = "person"
    left: str = ""
    free: bool = False
    as_other: tuple[str, ...] = ()
    plain_error: str = ""
    errors: Listing | None = None
    others: Listing | None = None
    bounds: tuple[str, ...] = ()
    tree: Listing | None = None
    noise: Listing | None = None
    cuts: Listing | None = None
    public: str = ""


def explained(explanation: Explanation) -> Explained:
    """Says what a question would cost, and how near its answer would come."""
    sizes = tuple(f"± in a group of {size:,}" for size in SIZES)
    one = explanation
    cuts = tuple((cut.source, cut.what) for cut in one.how.cuts if cut.cutting is not Cutting.UNITS)
    free = one.known and not one.costs
    left = "" if one.left is None else one.left.str_down()
    return Explained(
        summary=_summary(one, free=free, left=left),
        refused="" if one.refusal is None else "It cannot be paid now.",
        refusal=one.refusal or "",
        price=str(one.price),
        unit=one.unit,
        who=clean(one.unit.removeprefix("a ").removeprefix("an "), most=60),
        left=left,
        free=free,
        as_other=tuple(f"{price} for {who}, of {rest.str_down()} that is left" for who, price, rest in one.beside),
        plain_error="" if one.half_width is None else f"± {width(one.half_width)} ({percent(one.confidence)})",
        errors=_numbers(one.errors, ("column", *sizes)),
        others=_numbers(tuple(one.others), (f"at … (± in a group of {SIZES[-1]:,})", *(row[0] for row in one.errors))),
        bounds=one.bounds,
        tree=_texts(one.tree, ("step", "what it does")),
        noise=listing_of(
            Table(one.noise, ("noisy number", "one unit moves it (L1, L2)", "noise", "±"), right=frozenset({3}))
        )
        if one.noise
        else None,
        cuts=_texts(cuts, ("who says so", "what")),
    )


def _summary(one: Explanation, *, free: bool, left: str) -> str:
    """One sentence, read aloud while somebody writes."""
    if one.refusal is not None:
        return f"It cannot be paid now: {one.refusal}"
    price = "Free: it was asked before" if free else f"It costs {one.price}"
    of = f" of {left} left" if left and not free else ""
    errors = "; ".join(f"{row[0]} ± {row[-1]} in a group of {SIZES[-1]:,}" for row in one.errors[:4])
    return f"{price}{of}. {errors}."


def is_public(error: SfumatoError) -> bool:
    """Tells whether a price was refused because there is none: public tables alone answer the question."""
    return str(error).startswith(ONLY_PUBLIC)


def refused(text: str, error: SfumatoError) -> Explained:
    """Says why a question is refused, what of it is meant, and which fields the advice speaks of."""
    why = str(error)
    if is_public(error):
        return Explained(summary=PUBLIC, public=PUBLIC)
    marks = places_of(text, why)
    fields = tuple(dict.fromkeys(NAMED.findall(why)))
    return Explained(
        summary=f"Refused: {why}",
        refused="This is not answered.",
        refusal=_with_fields(why, fields),
        marks=marks,
        pieces=pieces_of(text, marks) if marks else (),
        fields=fields,
    )


def wrong(errors: dict[str, str], refusal: str = "") -> Explained:
    """Says that fields are not filled in as they must be."""
    said = refusal or "; ".join(errors.values())
    kinds = tuple(name for name in errors if name)
    return Explained(summary=f"Not yet: {said}", refused="Not yet.", refusal=said, fields=kinds)


def _with_fields(why: str, fields: Sequence[str]) -> str:
    """Adds where the settings that the advice names are to be filled in."""
    named = [FIELD_WORDS[name] for name in fields]
    return f"{why} Here that is {' or '.join(named)}, below the price." if named else why


def pieces_of(text: str, marks: Sequence[Span]) -> tuple[tuple[str, bool], ...]:
    """A text in pieces, those that are marked and those between."""
    pieces, before = [], 0
    for start, end in marks:
        pieces += [(text[before:start], False), (text[start:end], True)]
        before = end
    return tuple(piece for piece in (*pieces, (text[before:], False)) if piece[0])


def _numbers(rows: tuple[tuple[str, ...], ...], head: Sequence[str]) -> Listing | None:
    if not rows:
        return None
    return Listing(
        tuple((Cell(row[0], header=True), *(Cell(text, AMOUNT) for text in row[1:])) for row in rows),
        (Cell(head[0]), *(Cell(clean(text, most=60), AMOUNT) for text in head[1:])),
    )


def _texts(rows: tuple[tuple[str, ...], ...], head: tuple[str, ...]) -> Listing | None:
    return listing_of(Table(rows, head)) if rows else None


def loss_fields() -> frozenset[str]:
    """The names of all fields of losses."""
    return frozenset(name for names in FIELDS.values() for name in names)
