"""How answers are written: JSON, forms by ``Accept`` or ``?format=``, pages with opaque cursors, ETags."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from math import isfinite
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sfumato.accounting.losses.measures import Loss
from sfumato.release.codec import release_to_plain
from sfumato.release.record import Release
from sfumato.release.render.sheet import loss_numbers
from sfumato.remote.wire import RELEASE, loss_to_plain
from sfumato.server.problems import Refused
from sfumato.service.answers import MEDIA, rendered_answer

EXACT = "exact"
"""The form from which the very release is read back."""

FORMS: Mapping[str, str] = {"json": "application/json", EXACT: RELEASE, **MEDIA}
PREFERRED = tuple(FORMS)
DOWNLOADED = frozenset({"csv", "latex", "parquet"})
LONGEST_CURSOR = 40
OLDER = {"application/x-parquet": "parquet", "text/x-latex": "latex", "application/*": "json", "*/*": "json"}


def written(said: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answers with JSON."""
    body = json.dumps(said, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(body, status, headers, "application/json")


def form_asked(request: Request) -> str:
    """The form that a request asks for: by ``?format=``, else the first in ``Accept`` that there is, else JSON."""
    named = request.query_params.get("format")
    if named is not None:
        if named not in FORMS:
            raise Refused(406, f"There is no such form: one of {', '.join(FORMS)}.")
        return named
    accept = request.headers.get("accept", "*/*")
    if len(accept) > 1000:
        raise Refused(431, "The header Accept is too long.")
    by_media = {media: form for form, media in FORMS.items()} | OLDER
    for media in _ranked(accept):
        if media in by_media:
            return by_media[media]
    raise Refused(406, f"There is no such form: one of {', '.join(FORMS.values())}.")


def _ranked(accept: str) -> list[str]:
    """The kinds of content in a header, the most wanted first."""
    made: list[tuple[float, str]] = []
    for part in accept.split(","):
        media, _, rest = part.partition(";")
        weight = 1.0
        for parameter in rest.split(";"):
            name, _, value = parameter.strip().partition("=")
            if name == "q":
                try:
                    weight = float(value)
                except ValueError:
                    weight = 0.0
        if weight > 0:
            made.append((weight, media.strip().lower()))
    return [media for _, media in sorted(made, key=lambda pair: -pair[0])]


def release_written(release: Release, form: str, number: int | None = None) -> Response:
    """Writes a release in a form."""
    place = number if number is not None else (0 if release.receipt is None else release.receipt.entry)
    headers = {"x-sfumato-answer": str(place)}
    if form == EXACT:
        text = json.dumps(release_to_plain(release), ensure_ascii=False, separators=(",", ":"))
        return Response(text.encode("utf-8", "replace"), 200, headers, RELEASE)
    made = rendered_answer(release, place, form)
    if form in DOWNLOADED:
        headers["content-disposition"] = f'attachment; filename="{made.name}"'
    return Response(made.content, 200, headers, made.media)


def loss_said(loss: Loss | None) -> dict[str, Any] | None:
    """A loss for readers: as text, its kind, and its numbers."""
    if loss is None:
        return None
    return {"text": str(loss), "kind": type(loss).__name__, **loss_numbers(loss), "exact": loss_to_plain(loss)}


# Pages and versions


def cursor_of(number: int | None) -> str | None:
    """Where a list goes on, as a word that says nothing to whoever holds it."""
    return None if number is None else base64.urlsafe_b64encode(f"after:{number}".encode()).decode().rstrip("=")


def number_of(cursor: str | None) -> int:
    """The number in a cursor that we gave; 0 where there is none."""
    if not cursor:
        return 0
    try:
        if len(cursor) <= LONGEST_CURSOR:
            text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
            name, _, digits = text.partition(":")
            if name == "after" and digits.isdigit() and digits.isascii() and len(digits) < 19:
                return int(digits)
    except ValueError:
        pass
    raise Refused(400, "This is no cursor that was given here: take the one of the page before, or leave it out.")


PRIVATE = "private, no-cache"
"""How long an answer for one person is kept: by their browser alone, which asks each time whether it has changed."""


def tagged(
    request: Request, body: bytes, media: str, *, headers: Mapping[str, str] | None = None, kept: str = PRIVATE
) -> Response:
    """Answers with an ETag; with nothing but that, where whoever asks has it already. ``kept`` says by whom."""
    tag = etag(body)
    others = {name: value for name, value in (headers or {}).items() if name not in ("content-length", "content-type")}
    made = {**others, "etag": tag, "cache-control": kept}
    seen = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if tag in seen or "*" in seen:
        return Response(None, 304, made)
    return Response(body, 200, made, media)


def etag(body: bytes, *parts: object) -> str:
    """What changes when an answer does."""
    digest = hashlib.sha256(body)
    for part in parts:
        digest.update(f"\0{part}".encode())
    return f'"{digest.hexdigest()[:32]}"'


def check_unchanged(request: Request, tag: str, *, needed: bool) -> None:
    """Refuses a change to something that is not any more what whoever changes it has seen (If-Match)."""
    said = request.headers.get("if-match")
    if said is None:
        if needed:
            raise Refused(428, "Say in If-Match which version you have seen: its ETag.")
        return
    seen = [one.strip() for one in said.split(",")]
    if "*" not in seen and tag not in seen:
        raise Refused(412, "Somebody has changed it since you have seen it. Look at it again.")


def listed(items: Iterable[object], after: int | None = None) -> dict[str, Any]:
    """A page of a list."""
    return {"items": [said(one) for one in items], "next": cursor_of(after)}


def said(value: object) -> Any:
    """What JSON says of a record of ours: losses in words and numbers, times as they are written, fields by name."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case Loss():
            return loss_said(value)
        case Fraction():
            return float(value)
        case Enum():
            return said(value.value)
        case bytes():
            return value.hex()
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            return {str(name): said(one) for name, one in value.items()}
        case tuple() | list() | set() | frozenset():
            return [said(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: said(getattr(value, part.name)) for part in fields(value)}
    raise TypeError
