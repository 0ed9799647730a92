"""Reads JSON of which every reader makes the same: no NaN, no name twice, nothing too deep, no number too long."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from math import isfinite
from typing import Any, NoReturn, final

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.server.running import running_of
from sfumato.server.settings import Sizes


def read_json(octets: bytes, sizes: Sizes) -> Any:
    """Reads the body of a request."""
    try:
        text = octets.decode("utf-8")
        made = json.loads(
            text,
            parse_constant=_no_number,
            parse_int=lambda digits: _whole(digits, sizes.digits),
            parse_float=_finite,
            object_pairs_hook=_once,
        )
        _check(made, sizes.depth)
    except (ValueError, RecursionError):
        made = None
    else:
        return made
    raise HTTPException(400, "The body is no JSON that is read here: UTF-8, each name once, finite numbers, not deep.")


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _whole(digits: str, most: int) -> int:
    if len(digits) > most:
        raise ValueError
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made


def _check(made: object, depth: int) -> None:
    """Refuses what is nested too deep, and texts that no database could hold."""
    level: list[object] = [made]
    for _ in range(depth):
        below: list[object] = []
        for one in level:
            match one:
                case str():
                    _check_text(one)
                case dict():
                    for name in one:
                        _check_text(name)
                    below.extend(one.values())
                case list():
                    below.extend(one)
        if not below:
            return
        level = below
    raise ValueError


def _check_text(text: str) -> None:
    text.encode("utf-8")  # a half of a pair of surrogates is a ValueError
    if "\0" in text:
        raise ValueError


@final
class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        """Reads the body."""
        return read_json(await self.body(), running_of(self).settings.sizes)


@final
class StrictRoute(APIRoute):
    """A route whose bodies are read strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Makes what answers a request."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict
