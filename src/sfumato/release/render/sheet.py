"""Says what a release says: the one list of facts that every form shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.release.answer import Answer
from sfumato.release.interval import Interval
from sfumato.release.record import Failure, Release
from sfumato.release.render.answers import answer_table, full_table, headline_of, interval_words, is_single
from sfumato.release.render.document import Document, Table, entries_of, named_values
from sfumato.release.render.words import (
    clean,
    finite,
    never_below,
    number,
    numeric,
    percent,
    short,
    width,
)

REPLAYABLE = "REPLAYABLE: not private. The noise came from a seed, and whoever knows the seed can take it off again."
MOST = 1000
"""How many values any form but JSON shows, at most."""

UNCHARGED = "uncharged: no ledger paid for it"


def sheet(release: Release) -> Document:
    """The document of a release, the same for every form."""
    if isinstance(release.value, Answer):
        return _answer_sheet(release, release.value)
    entries, count = entries_of(release.value, release.half_width, most=MOST), len(named_values(release.value) or ())
    return Document(
        title="Release",
        headline=_count_words(release, count) if entries else headline(release),
        aside=_aside(release, several=bool(entries)),
        warnings=(REPLAYABLE,) * release.replayable,
        entries=entries,
        entries_head=("", "value", f"± at {percent(release.confidence)}"),
        count=count,
        tables=(Table(tuple(_facts(release))),),
        record=lambda: record(release),
    )


def _answer_sheet(release: Release, answer: Answer) -> Document:
    tables = () if is_single(answer) else (answer_table(answer),)
    says = interval_words(answer)
    return Document(
        title="Release",
        headline=headline_of(answer),
        aside=f"({says})" if says and tables else says,
        warnings=(REPLAYABLE,) * release.replayable,
        tables=(*tables, Table(tuple(_facts(release)))),
        record=lambda: record(release),
        whole=lambda: full_table(answer),
    )


def headline(release: Release) -> str:
    """Writes the value and its error bar on one line; of an answer that is a table, what it is a table of."""
    if isinstance(release.value, Answer):
        return headline_of(release.value)
    value, half = release.value, release.half_width
    shown = number(value, error=half) if numeric(value) else short(value)
    return shown if half is None else f"{shown} ± {width(half)}"


def _count_words(release: Release, count: int) -> str:
    error = f", ± {width(release.half_width)}" if numeric(release.half_width) else ""
    return f"{count} value{'' if count == 1 else 's'}{error}"


def _aside(release: Release, *, several: bool) -> str:
    if release.half_width is None:
        return ""
    return f"at {percent(release.confidence)} confidence" + (", for all values at once" if several else "")


def _facts(release: Release) -> list[tuple[str, str]]:
    how = release.how
    parameters = ", ".join(f"{name} {value}" for name, value in how.parameters)
    ends = _ends(release)
    facts = [
        ("asked", how.asked),
        ("interval", "" if ends is None else str(ends)),
        ("loss", str(release.loss)),
        ("protects", release.unit),
        *(("also protects", f"{who}: {loss}") for who, loss in release.others),
        ("neighbours", release.adjacency),
        ("mechanism", how.mechanism + (f" ({parameters})" if parameters else "")),
        *(("cut", str(cut)) for cut in how.cuts),
        ("note", how.uncovered),
        ("before it", " → ".join(how.steps)),
        ("after it", " → ".join(how.postprocessing)),
        ("rare case", "" if how.failure is Failure.NONE else how.failure.value),
        *(("claim", str(claim)) for claim in how.claims),
        *(("public fact", str(fact)) for fact in release.facts),
        *(("proof", proof) for proof in how.proofs),
        ("data", release.data),
        ("ledger", UNCHARGED if release.receipt is None else str(release.receipt)),
        ("made by", release.version),
    ]
    return [(name, said) for name, said in facts if said]


def _ends(release: Release) -> Interval | None:
    """The interval of a single number; that of a whole number beyond all floats is too long to read."""
    interval = None if finite(release.value) is None else release.interval()
    return interval if isinstance(interval, Interval) and all(map(_readable, interval.ends)) else None


def _readable(end: int | float) -> bool:
    return isinstance(end, float) or finite(end) is not None


def record(release: Release) -> dict[str, Any]:
    """A release as one flat dictionary of numbers, texts and lists, for programs that read."""
    how, receipt, ends = release.how, release.receipt, _ends(release)
    return {
        "value": plain(release.value),
        "half_width": plain(release.half_width),
        "interval": None if ends is None else plain(ends.ends),
        "confidence": float(confidence_of(release)),
        "loss": str(release.loss),
        "loss_kind": type(release.loss).__name__,
        **loss_numbers(release.loss),
        "unit": clean(release.unit),
        **(
            {"others": [{"unit": clean(who), "loss": str(loss)} for who, loss in release.others]}
            if release.others
            else {}
        ),
        "adjacency": clean(release.adjacency),
        "asked": clean(how.asked),
        "cuts": [
            {"what": clean(cut.what), "source": clean(cut.source), "leaves_out": cut.cutting.value} for cut in how.cuts
        ],
        "uncovered": how.uncovered,
        "mechanism": clean(how.mechanism),
        "parameters": {clean(name): clean(value) for name, value in how.parameters},
        "steps": plain(how.steps),
        "postprocessing": plain(how.postprocessing),
        "failure": how.failure.value,
        "claims": [clean(claim) for claim in how.claims],
        "facts": [{"what": clean(fact.what), "source": clean(fact.source)} for fact in release.facts],
        "proofs": plain(how.proofs),
        "data": clean(release.data),
        "charged": release.charged,
        "ledger": None
        if receipt is None
        else {part.name: plain(getattr(receipt, part.name)) for part in fields(receipt)},
        "replayable": release.replayable,
        "version": clean(release.version),
    }


def confidence_of(release: Release) -> Fraction:
    """The confidence of the error bars that a release shows."""
    return release.value.confidence if isinstance(release.value, Answer) else release.confidence


def loss_numbers(loss: Loss) -> dict[str, float | str]:
    """The numbers that a loss is made of, by name, rounded up to floats; none where it is a curve."""
    parts = {part.name: getattr(loss, part.name) for part in fields(loss)}  # type: ignore[arg-type]
    return {name: never_below(value) for name, value in parts.items() if isinstance(value, float | Fraction)}


def plain(value: Any) -> Any:
    """A value as JSON holds it: numbers, harmless texts, lists, dictionaries; what is not finite as a text."""
    if isinstance(value, Answer):
        value = value.to_dict(intervals=True)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {clean(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return _number(value) if numeric(value) else clean(value)


def _number(value: Any) -> int | float | str:
    if isinstance(value, int):
        return value if value.bit_length() <= 10_000 else number(value)
    near = finite(value)
    return near if near is not None else number(value)
