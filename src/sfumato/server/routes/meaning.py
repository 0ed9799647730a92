"""What a loss means: in odds, and in how often attacks succeed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from sfumato.errors import BadArgument
from sfumato.server.answering import said, written
from sfumato.server.calling import Calling
from sfumato.server.openapi import add
from sfumato.server.reading import StrictRoute
from sfumato.service.analysts import Analysts
from sfumato.service.asking import loss_from

Typed = Annotated[str | None, Query(max_length=60)]


def router() -> APIRouter:
    """The route of meanings."""
    routes = APIRouter(prefix="/api", tags=["meaning"], route_class=StrictRoute)
    add(routes, "GET", "/meaning", meaning)
    return routes


async def meaning(
    call: Calling, epsilon: Typed = None, delta: Typed = None, rho: Typed = None, mu: Typed = None
) -> Response:
    """Says what a loss means to whoever must choose or grant one; it needs no data."""
    loss = loss_from({"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu})
    if loss is None:
        raise BadArgument("the loss", "said: epsilon, epsilon and delta, rho, or mu", "none")
    return written(await call.run(lambda person: said(Analysts(call.house).meaning(person, loss))))
