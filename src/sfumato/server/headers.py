"""Headers of every answer: what browsers may do with it, and that nobody keeps it."""

from __future__ import annotations

from typing import TypeAlias

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Neither scripts nor styles that stand in a page, nothing from elsewhere, and no page inside of another's."""

FEATURES = ("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "microphone", "payment", "usb")

ALWAYS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", ", ".join(f"{name}=()" for name in FEATURES).encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

TLS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
"""Where browsers reach the server by TLS: from now on by nothing else."""

NO_STORE = (b"cache-control", b"no-store")


def completed(headers: RawHeaders, *, secure: bool, request_id: str) -> RawHeaders:
    """Adds to the headers of an answer what every answer has; one that says how long to keep it, keeps that."""
    given = {name.lower() for name, _ in headers}
    made = [(name, value) for name, value in headers if name.lower() != b"server"]
    made += [one for one in ALWAYS if one[0] not in given]
    if secure:
        made.append(TLS)
    if b"cache-control" not in given:
        made.append(NO_STORE)
    made.append((b"x-request-id", request_id.encode()))
    return made
