"""The form of a question: its fields as they were filled in, and the question that they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.codebook.book import Codebook
from sfumato.errors import SfumatoError
from sfumato.exact import digits_up
from sfumato.release.record import Cutting, Release
from sfumato.server.pages.shell import Link
from sfumato.server.pages.views.amounts import LONGEST, Gauge, Slider, kind_of_limit, read_loss_fields
from sfumato.server.pages.views.codebooks import ColumnLine
from sfumato.server.pages.views.explained import Explained
from sfumato.service.asking import BOUNDS, LONGEST_TEXT, Asked

SURE = "0.95"
MOST_KEYS = 20_000


@final
@dataclass(frozen=True)
class QuestionForm:
    """A question as somebody filled it in."""

    question: str = ""
    kind: str = "approx"
    by: str = "loss"
    epsilon: str = ""
    delta: str = ""
    rho: str = ""
    mu: str = ""
    width: str = ""
    bounds: Mapping[str, str] = field(default_factory=dict)
    keys: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    required: bool = False

    @property
    def bounded(self) -> bool:
        """Tells whether something is said of bounds or keys."""
        return bool(self.keys or any(self.bounds.values()))

    def wrong(self, errors: Mapping[str, str]) -> QuestionForm:
        """The form with what is wrong with it."""
        return replace(self, errors={**self.errors, **errors})


@final
@dataclass(frozen=True)
class AskView:
    """What the editor shows."""

    action: str
    explain: str
    form: QuestionForm
    columns: tuple[ColumnLine, ...]
    tables_words: str
    columns_open: bool
    slider: Slider | None
    gauge: Gauge | None
    whose: str
    explained: Explained | None = None
    links: tuple[Link, ...] = ()
    may_ask: bool = True
    share: str = ""

    @property
    def refusal(self) -> str:
        """Why the question is refused, where it is."""
        return "" if self.explained is None else self.explained.refusal


def form_of(fields: Mapping[str, str], limit: Loss | None) -> QuestionForm:
    """Reads the fields of a form as they are."""

    def short(name: str) -> str:
        return fields.get(name, "").strip()[:LONGEST]

    return QuestionForm(
        question=fields.get("question", "")[: LONGEST_TEXT + 1],
        kind=kind_of_limit(limit),
        by="accuracy" if fields.get("by") == "accuracy" else "loss",
        epsilon=short("epsilon"),
        delta=short("delta"),
        rho=short("rho"),
        mu=short("mu"),
        width=short("width"),
        bounds={name: fields.get(name, "").strip()[:20] for name in BOUNDS if fields.get(name, "").strip()},
        keys=fields.get("keys", "")[:MOST_KEYS],
    )


BOUND_WORDS = (
    ("max_rows", re.compile(r"at most ([0-9,]+) rows? of .* (?:is|are) kept")),
    ("max_rows_per_group", re.compile(r"at most ([0-9,]+) rows? of .* in each group counts?")),
    ("max_groups", re.compile(r"at most ([0-9,]+) groups? of .* counts?")),
)
"""How releases say what was cut because the question said so."""

ASKED_FOR = "the question"


def fields_of(release: Release) -> dict[str, str]:
    """The form of an answer's question, as far as the answer says: its text, its price, how much of each unit counts.

    Public keys that were said with it stand in no answer: they are said again.
    """
    fields = {"question": release.how.asked, **_loss_fields(release.loss)}
    for cut in release.how.cuts:
        if cut.cutting is not Cutting.UNITS or cut.source != ASKED_FOR:
            continue
        for name, words in BOUND_WORDS:
            found = words.fullmatch(cut.what)
            if found is not None:
                fields.setdefault(name, found[1].replace(",", ""))
                break
    return fields


def _loss_fields(loss: Loss) -> dict[str, str]:
    said: dict[str, Any]
    match loss:
        case Pure():
            said = {"epsilon": loss.epsilon}
        case Approx():
            said = {"epsilon": loss.epsilon, "delta": loss.delta}
        case ZCDP():
            said = {"rho": loss.rho}
        case GDP():
            said = {"mu": loss.mu}
        case _:
            return {}
    return {name: digits_up(value) for name, value in said.items() if value}


def asked_of(form: QuestionForm, codebook: Codebook) -> tuple[Asked | None, dict[str, str]]:
    """The question that a form makes; None, with what is wrong by field, where it makes none."""
    said: dict[str, Any] = {}
    errors: dict[str, str] = {}
    loss: Loss | None = None
    if form.by == "accuracy":
        if form.width:
            said["accuracy"] = [form.width, SURE]
        else:
            errors["width"] = "Say how near the answer is to be."
    else:
        given = {name: getattr(form, name) for name in ("epsilon", "delta", "rho", "mu")}
        loss, errors = read_loss_fields(given, form.kind)
    for name, text in form.bounds.items():
        if text.isascii() and text.isdigit() and int(text) > 0:
            said[name] = int(text)
        else:
            errors[name] = "This must be a whole number, 1 or more."
    keys, wrong = keys_of(form.keys, codebook)
    errors |= wrong
    if keys:
        said["keys"] = keys
    if errors:
        return None, errors
    try:
        asked = Asked.read(form.question, said)
    except SfumatoError as refusal:
        return None, {"question": str(refusal)}
    return (asked if loss is None else Asked(asked.text, asked.parameters, {**asked.said, "loss": loss})), {}


def keys_of(text: str, codebook: Codebook) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Reads public keys, one column a line; values are read as the codebook says that the column has them."""
    types = {column.name: column.type for table in codebook.tables for column in table.columns}
    keys: dict[str, list[Any]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, mark, values = line.partition(":")
        if not mark or not values.strip():
            return {}, {"keys": "Write a column, a colon and its values, as in site: 1, 2, 3."}
        name = name.strip()
        listed = [value.strip() for value in values.split(",") if value.strip()]
        made = [_value(value, types.get(name, "")) for value in listed]
        if None in made:
            return {}, {"keys": "A value is not of the type that the codebook says."}
        keys[name] = made
    return keys, {}


def _value(text: str, kind: str) -> Any:
    """Reads one key; None where it is none of its type."""
    try:
        match kind:
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return {"true": True, "false": False}.get(text.casefold())
            case "str" | "date" | "time":
                return text.strip("'\"")
    except ValueError:
        return None
    return int(text) if text.lstrip("-").isdigit() and text.isascii() else text.strip("'\"")
