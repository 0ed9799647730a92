"""What stands around the whole app: limits on what comes in, headers on what goes out, a line in the log for each.

It lets no error through: what goes wrong inside is answered here, and nothing of it reaches the log of the web server.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from typing import final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.entropy import system
from sfumato.server.headers import RawHeaders, completed
from sfumato.server.problems import FOR_PROGRAMS, MEDIA, Problem, Refused, problem_of
from sfumato.server.running import Running
from sfumato.server.settings import LOOPBACK

LONGEST_PATH, LONGEST_QUERY, MOST_PARAMETERS = 2_000, 8_000, 50
ONCE = frozenset({b"host", b"authorization", b"content-length", b"content-type", b"origin", b"cookie", b"if-match"})
"""Headers that stand once, or the proxy before us and we may not read the same request."""

HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
"""A host and perhaps a port, and nothing on which two readers could disagree."""

PROBES = frozenset({"/healthz", "/readyz"})
"""What is asked every few seconds, by machines, and is not worth a line in the log."""

FOR_PEOPLE = frozenset({413, 415})
"""What is refused here and has a page: whoever sends too much by a form is told so; all else is no browser's doing."""

SLOWEST = 30.0
"""Seconds that may pass until the next part of a request comes."""

UPLOADS = ("/api/uploads/", "/upload")
"""Where data is sent to, which is larger than anything else."""


@final
class _Exchange:
    """One request and what was answered so far."""

    def __init__(self, request_id: str) -> None:
        self.request_id, self.began, self.status = request_id, time.perf_counter(), 0


@final
class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, *, running: Running) -> None:
        self._app, self._running = app, running
        self._series, self._numbers = system().octets(6).hex(), itertools.count(1)
        settings = running.settings
        self._hosts = LOOPBACK | {urlsplit(settings.address).hostname}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        exchange = _Exchange(f"{self._series}-{next(self._numbers):x}")
        scope.setdefault("state", {})["request_id"] = exchange.request_id
        answering = self._completing(send, exchange)
        try:
            limit = self._check(scope)
            await self._app(scope, _limited(receive, limit), answering)
        except Exception as error:
            await self._mend(error, exchange, scope, receive, answering)
        finally:
            self._note(scope, exchange)

    def _completing(self, send: Send, exchange: _Exchange) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                headers: RawHeaders = list(message.get("headers", ()))
                secure = self._running.settings.secure
                message["headers"] = completed(headers, secure=secure, request_id=exchange.request_id)
            await send(message)

        return answer

    async def _mend(self, error: Exception, exchange: _Exchange, scope: Scope, receive: Receive, answer: Send) -> None:
        """Answers an error that nothing inside has answered; where half of an answer has left, there is no more."""
        problem = problem_of(error)
        if problem.status >= 500 and not isinstance(error, Refused):
            self._running.log.fault(exchange.request_id, error)
        if exchange.status:
            return
        try:
            page = _page_of(problem, scope)
            if page is not None:
                await page(scope, receive, answer)
                return
            await send_problem(problem, exchange.request_id, answer)
        except Exception as gone:  # whoever asked has left
            self._running.log.fault(exchange.request_id, gone)

    def _note(self, scope: Scope, exchange: _Exchange) -> None:
        seconds = time.perf_counter() - exchange.began
        route = getattr(scope.get("route"), "path", "") or "(none)"
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self._running.metrics.request(method, route, exchange.status, seconds)
        if scope["path"] in PROBES:
            return
        self._running.log.line(
            "request",
            request=exchange.request_id,
            method=method,
            route=route,
            status=exchange.status,
            milliseconds=round(1000 * seconds, 1),
            person=self._running.log.pseudonym(scope["state"].get("person", "")),
        )

    def _check(self, scope: Scope) -> int:
        """Refuses a request whose head is wrong; the most octets that its body may have."""
        running, settings = self._running, self._running.settings
        headers = _headers(scope)
        path, query = scope["path"], scope.get("query_string", b"")
        if len(scope.get("raw_path") or b"") > LONGEST_PATH or len(query) > LONGEST_QUERY:
            raise Refused(431, "The address is too long.")
        if query.count(b"&") >= MOST_PARAMETERS:
            raise Refused(400, f"The address has more than {MOST_PARAMETERS} parameters.")
        if not path.isprintable() or "\\" in path or "//" in path or {".", ".."} & set(path.split("/")):
            raise Refused(400, "The address has signs in it that no address here has.")
        self._check_host(headers.get(b"host", b""))
        if path != "/healthz":
            running.addresses.take(address_of(scope, running))
        size = settings.sizes.upload if path.startswith(UPLOADS) else settings.sizes.body
        stated = headers.get(b"content-length")
        if stated is not None and b"transfer-encoding" in headers:
            raise Refused(400, "The request says its length in two ways.")
        if stated is not None and not (stated.isdigit() and len(stated) < 20):
            raise Refused(400, "The length of the request is no number.")
        if stated is not None and int(stated) > size:
            raise Refused(413, f"The request is larger than {size:,} octets.")
        if headers.get(b"content-encoding", b"identity") != b"identity":
            raise Refused(415, "Packed requests are not read here: send it as it is.")
        return size

    def _check_host(self, host: bytes) -> None:
        read = HOST.fullmatch(host.decode("latin-1").lower())
        if read is None or read["name"].strip("[]") not in self._hosts:
            raise Refused(421, "This server goes by another name.")


def _page_of(problem: Problem, scope: Scope) -> Response | None:
    """The page of what was refused at the door, for people; it says so where it is they who can do something."""
    page = getattr(scope["app"].state, "problem_page", None)
    if page is None or problem.status not in FOR_PEOPLE or scope["path"].startswith(FOR_PROGRAMS):
        return None
    made: Response = page(Request(scope), problem)
    return made


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _headers(scope: Scope) -> dict[bytes, bytes]:
    made: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in made and name in ONCE:
            raise Refused(400, "A header that stands once stands twice in the request.")
        made[name] = value
    return made


def _limited(receive: Receive, limit: int) -> Receive:
    """Counts what comes in, and refuses what is too much, or too slow, whatever the head of the request said."""
    so_far, whole = 0, False

    async def limited() -> Message:
        nonlocal so_far, whole
        if whole:  # what comes now is that whoever asked has left
            return await receive()
        try:
            async with asyncio.timeout(SLOWEST):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408) from None
        if message["type"] == "http.request":
            whole = not message.get("more_body", False)
            so_far += len(message.get("body", b""))
            if so_far > limit:
                raise HTTPException(413, f"The request is larger than {limit:,} octets.")
        return message

    return limited


def address_of(scope: Scope, running: Running) -> str:
    """Where a request comes from: the peer, or whom a proxy of ours names last that is no proxy of ours."""
    peer = (scope.get("client") or ("", 0))[0]
    if not running.settings.trusts(peer):
        return str(peer)
    said = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = [hop.strip() for hop in ",".join(said).split(",") if hop.strip()]
    return next((hop for hop in reversed(hops) if not running.settings.trusts(hop)), str(peer))


async def send_problem(problem: Problem, request_id: str, send: Send) -> None:
    """Answers with a problem."""
    body = problem.body(request_id)
    headers = [(b"content-type", MEDIA.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
