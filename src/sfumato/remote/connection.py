"""A connection to a service: requests with a token, problems as our own errors, retries where they are safe."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final
from urllib.parse import urlsplit

from sfumato.errors import BadArgument, QueryRefused, ServiceUnavailable, SfumatoError, SignInRefused, UnknownFormat
from sfumato.remote.wire import error_from_plain

TOKEN = "SFUMATO_TOKEN"
"""The variable of the environment that holds the token, where none is passed."""

TRIES, LONGEST_WAIT = 4, 10.0
LARGEST = 1 << 30
AGAIN = frozenset({429, 503})


@final
@dataclass(frozen=True)
class Answer:
    """What a service answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            pass
        raise UnknownFormat("what the service answers is no JSON")


@final
class Connection:
    """Requests to one service. Each thread has a socket of its own. The token is shown nowhere."""

    def __init__(self, address: str, token: str | None, *, timeout: float = 150.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.username:
            raise BadArgument("the address", "that of a service, such as https://dp.example.org", address)
        if parts.scheme == "http" and not _loopback(parts.hostname):
            raise BadArgument(
                "the address", "https://…: over http anybody could read the token and the answers", address
            )
        self.address = f"{parts.scheme}://{parts.netloc}"
        self._tls, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._token, self._timeout = token or os.environ.get(TOKEN, ""), timeout
        if not self._token.isascii() or not self._token.isprintable() or not self._token:
            raise BadArgument("token", f"a token of the service, passed or in {TOKEN}", type(token).__name__)
        self._threads = threading.local()

    def __repr__(self) -> str:
        return f"Connection({self.address!r})"

    def get(self, path: str, *, accept: str = "application/json") -> Answer:
        """Asks for something; what changes nothing may be asked for again."""
        return self._asked("GET", path, None, {"accept": accept}, again=True)

    def post(
        self, path: str, said: object, *, accept: str = "application/json", key: str | None = None, again: bool = False
    ) -> Answer:
        """Sends something; where an answer got lost, again only with a ``key``, or if that changes nothing."""
        headers = {"accept": accept, "content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = key
        return self._asked(
            "POST", path, json.dumps(said, allow_nan=False).encode(), headers, again=again or key is not None
        )

    def close(self) -> None:
        """Closes the socket of this thread."""
        socket: http.client.HTTPConnection | None = getattr(self._threads, "socket", None)
        if socket is not None:
            socket.close()
            self._threads.socket = None

    def _asked(self, method: str, path: str, body: bytes | None, headers: dict[str, str], *, again: bool) -> Answer:
        wait = 0.25
        for left in reversed(range(TRIES)):
            try:
                answer = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.close()
                if not again or not left:
                    break
            else:
                if answer.status < 400:
                    return answer
                if answer.status not in AGAIN or not again or not left:
                    raise refusal_in(answer)
                wait = max(wait, _seconds(answer.headers.get("retry-after", "")))
            time.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        raise ServiceUnavailable(f"{self.address} cannot be reached, or has broken off")

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        socket: http.client.HTTPConnection | None = getattr(self._threads, "socket", None)
        if socket is None:
            socket = self._threads.socket = self._opened()
        socket.request(method, path, body, {**headers, "authorization": f"Bearer {self._token}"})
        got = socket.getresponse()
        octets = got.read(LARGEST + 1)
        if len(octets) > LARGEST:
            self.close()
            raise UnknownFormat(f"what the service answers is longer than {LARGEST:,} octets")
        return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, octets)

    def _opened(self) -> http.client.HTTPConnection:
        if not self._tls:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)


def refusal_in(answer: Answer) -> SfumatoError:
    """The error that a problem stands for."""
    try:
        said = answer.json
    except UnknownFormat:
        said = None
    if not isinstance(said, dict):
        return ServiceUnavailable(f"the service answers {answer.status}, and does not say why")
    words = str(said.get("detail", said.get("title", "")))
    made = error_from_plain(said.get("error"), said.get("facts", {}), words)
    if made is not None:
        return made
    if answer.status == 401:
        return SignInRefused()
    if answer.status >= 500 or answer.status == 429:
        return ServiceUnavailable(words.rstrip("."))
    places = said.get("places")
    where = "".join(f" ({one.get('where')})" for one in places) if isinstance(places, list) else ""
    return QueryRefused(f"{words}{where}")


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() and len(text) < 6 else 0.0


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
