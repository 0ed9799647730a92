"""Values as PostgreSQL writes them in texts."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sfumato.server.postgres.catalog.casts import LOOKED_UP, is_composite
from sfumato.server.postgres.catalog.objects import Objects
from sfumato.server.postgres.catalog.types import VECTORS, array_text, element_of


def writer(objects: Objects, kind: str) -> Callable[[Any], str | None]:
    """What writes the values of a type."""
    if kind in LOOKED_UP:
        names: dict[int, str] = getattr(objects, LOOKED_UP[kind][0])
        return lambda value: None if value is None else names.get(value, str(value))
    inner = element_of(kind)
    if kind in VECTORS:
        return lambda value: None if value is None else " ".join(map(str, value))
    if inner is not None:
        write = writer(objects, inner)
        return lambda value: None if value is None else array_text([write(one) for one in value])
    if is_composite(kind):
        return _composite
    if kind in ("float4", "float8"):
        return lambda value: None if value is None else float_text(float(value))
    if kind == "timestamptz":
        return lambda value: None if value is None else f"{written(value)}+00"
    return written


def _composite(value: Any) -> str | None:
    if value is None:
        return None
    parts = value.values() if isinstance(value, dict) else value
    return f"({','.join('' if one is None else str(written(one)) for one in parts)})"


def written(value: Any) -> str | None:
    """One value."""
    match value:
        case None:
            return None
        case bool():
            return "t" if value else "f"
        case float():
            return float_text(value)
        case Decimal():
            return _decimal_text(value)
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.timedelta():
            return interval_text(value)
    return str(value)


def _decimal_text(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def float_text(value: float) -> str:
    """A float in as few digits as tell it from all others."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    return text.removesuffix(".0")


def interval_text(value: datetime.timedelta) -> str:
    """A stretch of time in days, hours, minutes and seconds."""
    days, rest = divmod(value, datetime.timedelta(days=1))
    parts = [f"{days} day{'' if days == 1 else 's'}"] if days else []
    if rest or not parts:
        hours, seconds = divmod(rest.seconds, 3600)
        fraction = f".{rest.microseconds:06d}".rstrip("0") if rest.microseconds else ""
        parts.append(f"{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d}{fraction}")
    return " ".join(parts)
