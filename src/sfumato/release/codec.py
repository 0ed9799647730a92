"""A stored form of releases: what JSON can hold, and from which the same release comes back.

Version 1 of the format: every field of the release under its name. A value is itself where JSON has a form for it
(None, truth values, texts, lists, whole numbers up to 63 bits), else one word that says what it is, and the thing. A
field that came later is written only where it says something, and where it is not there it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.noise.binomial import MODERATE_TRIALS
from sfumato.noise.distribution import MOST_BITS, Noise
from sfumato.plain import (
    FLAG,
    TEXT,
    WHOLE,
    Field,
    Plain,
    layout,
    listed,
    member,
    optional,
    row,
    without_header,
)
from sfumato.release.claim import Claim
from sfumato.release.record import Cut, Cutting, Fact, Failure, How, Noised, Receipt, Release
from sfumato.release.values import read_value, stored_value

FORMAT, VERSION = "sfumato/release", 1

MODERATE = f"noise with numbers of up to {MOST_BITS} bits, or of up to {MODERATE_TRIALS} coins"


def release_to_plain(release: Release) -> dict[str, Plain]:
    """Writes a release as dictionaries, lists, texts and whole numbers; refuses values that have no stored form.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> plain = release_to_plain(Release(3.5, Pure(1), "a row", How("laplace")))
    >>> plain["value"], plain["loss"]["kind"]
    ({'float': '0x1.c000000000000p+1'}, 'Pure')
    >>> release_from_plain(plain).value
    3.5
    """
    fields: Any = RELEASE.write(release)
    return {"format": FORMAT, "version": VERSION, **fields, "made_by": release.version}


def release_from_plain(plain: object) -> Release:
    """Reads what `release_to_plain` wrote; refuses every format, version, field or word that it does not know."""
    fields = without_header(plain, FORMAT, VERSION)
    version = TEXT.read(fields.pop("made_by", None))
    release: Release = RELEASE.read(fields)
    return replace(release, version=version)


def _number(kind: type, must: str, holds: Callable[[Any], bool] = lambda value: True) -> Field:
    """Writes a number of one class of which something holds."""

    def read(plain: object) -> Any:
        value = read_value(plain)
        if type(value) is not kind or not holds(value):
            raise UnknownFormat(f"one of its numbers is not {must}")
        return value

    return Field(stored_value, read)


def _loss(plain: object) -> Loss:
    loss = from_plain(plain)
    if not isinstance(loss, Loss):
        raise UnknownFormat("what stands for its loss is none")
    return loss


def _noise_to_plain(noise: Noise) -> Plain:
    if not isinstance(noise, Noise):
        raise BadArgument("what is stored", "a release whose noise is one of sfumato's own", type(noise).__name__)
    if not noise.is_moderate:
        raise BadArgument("what is stored", MODERATE, type(noise).__name__)
    return to_plain(noise)


def _noise(plain: object) -> Noise:
    noise = from_plain(plain)
    if not isinstance(noise, Noise):
        raise UnknownFormat("its noise is no integer noise")
    if not noise.is_moderate:
        raise UnknownFormat(f"its noise is not {MODERATE}")
    return noise


def _width(value: Any) -> Any:
    if isinstance(value, dict | list | tuple | np.ndarray):
        parts = value.values() if isinstance(value, dict) else value.ravel() if isinstance(value, np.ndarray) else value
        for part in parts:
            _width(part)
    elif isinstance(value, int | float | Fraction | np.number) and not value >= 0:
        raise UnknownFormat("the half of its error bar is less than 0, or no number")
    return value


VALUE = Field(stored_value, read_value)

NOISED = layout(
    Noised,
    "noise",
    {
        "noise": Field(_noise_to_plain, _noise),
        "step": _number(Fraction, "a step greater than 0", lambda step: step > 0),
        "coordinates": _number(int, "a number of coordinates", lambda number: number >= 0),
        "rounding": _number(Fraction, "a rounding of at least 0", lambda moved: moved >= 0),
        "offset": _number(int, "a whole number"),
    },
)

HOW = layout(
    How,
    "how",
    {
        "mechanism": TEXT,
        "parameters": listed(row(TEXT, TEXT, make=lambda *pair: pair)),
        "steps": listed(TEXT),
        "postprocessing": listed(TEXT),
        "claims": listed(Field(lambda claim: claim.text, lambda plain: Claim(TEXT.read(plain)))),
        "proofs": listed(TEXT),
        "failure": member(Failure),
    },
    later={
        "asked": TEXT,
        "cuts": listed(row(member(Cutting), TEXT, TEXT, make=Cut)),
    },
)

RELEASE = layout(
    Release,
    "release",
    {
        "value": VALUE,
        "loss": Field(to_plain, _loss),
        "unit": TEXT,
        "how": HOW,
        "half_width": Field(stored_value, lambda plain: _width(read_value(plain))),
        "confidence": _number(Fraction, "a confidence between 0 and 1", lambda share: 0 <= share <= 1),
        "replayable": FLAG,
        "adjacency": TEXT,
        "noise": optional(NOISED),
        "data": TEXT,
        "facts": listed(row(TEXT, TEXT, make=Fact)),
        "receipt": optional(row(WHOLE, TEXT, TEXT, TEXT, make=Receipt)),
    },
    later={"others": listed(row(TEXT, Field(to_plain, _loss), make=lambda *pair: pair))},
)
