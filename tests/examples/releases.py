"""Releases that the tests of renderers and tables share."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.record import Fact, Failure, How, Receipt, Release

HOSTILE = (
    "</td><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "a | b | c",
    "**bold** [x](javascript:alert(1)) `code` <b>",
    r"\input{/etc/passwd} $x^2$ 50% #1 & ~ {}",
    "[4pt] *",
    "=HYPERLINK(1)",
    "@SUM(1)",
    "+1+1",
    "-1+1",
    "\t=1+1",
    "\x1b[31mred\x1b[0m\x07",
    "two\nlines\r\nor more\u2028",
    "\u202egnp.exe\u200b",
    "lone \ud800 surrogate",
    "中文 ελ 😀",
)


def one_number() -> Release:
    return Release(
        value=72.25,
        loss=sf.Pure("0.5"),
        unit="one row changed",
        how=How(
            "laplace",
            (("scale", "8"), ("step", "2.33e-12")),
            steps=("clamp to [0, 100]", "mean"),
            claims=(sf.claim("the list of students is public"),),
            proofs=("proofs/mean.md#known", "proofs/additive.md#laplace"),
        ),
        half_width=23.97,
        adjacency="the change-one distance",
        data="scores, version 3",
        facts=(Fact("scores are between 0 and 100", "codebook"),),
        receipt=Receipt(7, "5f" * 32, "school", "2025-03-01T09:00:00Z"),
        version="sfumato 0.1.0",
    )


def several() -> Release:
    return Release(
        value=[("walk", 30), ("bus & tram", -4), ("car", 112)],
        loss=sf.Approx(1, 1e-6),
        unit="one person",
        how=How("stability histogram", (("scale", "2"),), postprocessing=("sorted",), failure=Failure.DISTINGUISHING),
        half_width=6,
        replayable=True,
        adjacency="the add/remove distance",
        version="sfumato 0.1.0",
    )


def answered(*columns: AnswerColumn, confidence: Fraction = Fraction(95, 100)) -> Release:
    return Release(
        value=Answer(columns, confidence, atoms=(("n", [7, -2]),)),  # type: ignore[arg-type]  # it takes lists
        loss=sf.Approx(1, 1e-6),
        unit="one person",
        how=How("discrete laplace", (("scale", "5"),), steps=("visits", "group by region, day")),
        receipt=Receipt(8, "c4" * 32, "clinic", "2025-03-02T09:00:00Z"),
        version="sfumato 0.1.0",
    )


def answer() -> Release:
    """Gives an answer with keys of two kinds, even, uneven and missing intervals, and texts that could be markup."""
    counts, means = [812, 3, -4, 112], [41.3217, 38.25, None, 1234.5678]
    return answered(
        AnswerColumn("region", ["north", "a | b & c", "<script>", None], Role.KEY),
        AnswerColumn("day", [datetime.date(2025, 3, day) for day in (1, 2, 3, 4)], Role.KEY),
        AnswerColumn("n", counts, Role.VALUE, [n - 15 for n in counts], [n + 15 for n in counts]),
        AnswerColumn("mean", means, Role.VALUE, [40.9, 30.1, None, 1200.25], [41.7434, 52.5, None, 1268.8856]),
        AnswerColumn("total", [2**70, 0, 1, -5], Role.VALUE),
    )


def hostile(text: str) -> Release:
    return Release(
        value={text: 1, "b": text},
        loss=sf.Pure(1),
        unit=text,
        how=How(text, ((text, text),), (text,), (text,), (sf.claim(text),), (text,), Failure.GRACEFUL),
        half_width={text: 1},
        adjacency=text,
        data=text,
        facts=(Fact(text, text),),
        receipt=Receipt(1, text, text, text),
        version=text,
    )


def same(first: Any, second: Any) -> bool:
    """Tells whether two values are the same in kind, order and every bit but those of NaN."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray | np.generic):
        kept = first.dtype == second.dtype and first.shape == second.shape and first.dtype.str == second.dtype.str
        return kept and all(same(a, b) for a, b in zip(first.ravel().tolist(), second.ravel().tolist(), strict=True))
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, dict):
        return same(list(first), list(second)) and same(list(first.values()), list(second.values()))
    if isinstance(first, float):
        return first.hex() == second.hex()
    if isinstance(first, datetime.datetime):
        return first == second and first.tzinfo == second.tzinfo
    return bool(first == second)


def through_json(plain: Any) -> Any:
    return json.loads(json.dumps(plain, allow_nan=False))


def receipt(entry: int) -> Receipt:
    return Receipt(entry, "ab" * 32, "hires", "2020-10-01T00:00:00Z")


def linkedin() -> list[Release]:
    """Four reports at (1.2, 1e-10) each, as published."""
    return [
        Release(
            value=[("engineer", 120 + place), ("nurse", 80)],
            loss=sf.Approx("1.2", "1e-10"),
            unit="Hire",
            how=How(
                "Laplace",
                (("scale", "0.833334"),),
                ("Tf-idf on skills keyset",),
                proofs=("proofs/additive.md#laplace",),
            ),
            half_width=2,
            receipt=receipt(place),
            version="UnkLap",
        )
        for place in range(4)
    ]
