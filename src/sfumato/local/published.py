"""What a protocol tells devices: one JSON text, which `device` and `device.js` read alike."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from sfumato.errors import BadArgument, Unseen
from sfumato.local.device import BITS, FORMAT, Domain, Recipe, tag
from sfumato.local.values import Values


def published(recipe: Recipe, domain: Domain | None) -> str:
    """The text that a protocol publishes: its format, recipe and tag, and what values people may have.

    >>> recipe = {"kind": "bits", "cells": 1, "bits": 2, "truth": 2, "lie": 1}
    >>> json.loads(published(recipe, listed_domain(Values(["a", "b"]))))["tag"]
    '01aa15c55c'
    """
    stated = {"format": FORMAT, "tag": tag(recipe).hex(), "recipe": dict(recipe), "domain": domain}
    return json.dumps(stated, ensure_ascii=True, allow_nan=False)


def listed_domain(values: Values) -> dict[str, Any]:
    """A public list of values, as devices read it."""
    listed, other = values.listed, None if values.other is None else _plain(values.other)
    if isinstance(listed, range):
        return {"range": [_plain(part) for part in (listed.start, listed.stop, listed.step)], "other": other}
    return {"values": [_plain(value) for value in listed], "other": other}


def _plain(value: Hashable) -> str | int | float | bool:
    """A value as JSON has it, the same in every language."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str | bool):
        return plain
    if isinstance(plain, int) and abs(plain) < 1 << BITS:
        return plain
    if isinstance(plain, float) and math.isfinite(plain):
        return plain
    raise BadArgument(
        "a value that is published",
        "a text, true or false, or a number that JavaScript has too (whole ones below 2^53)",
        Unseen(),
    )
