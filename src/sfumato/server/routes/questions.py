"""Questions: what one would cost, and its answer, at once or as a job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.query.answer.explanation import Explanation
from sfumato.remote.wire import explanation_to_plain
from sfumato.server.answering import form_asked, loss_said, release_written, written
from sfumato.server.calling import Calling
from sfumato.server.models import DataSetName, ExplanationGiven, Key, QuestionBody
from sfumato.server.openapi import RELEASE_FORMS, problems
from sfumato.server.reading import StrictRoute
from sfumato.server.routes.jobs import submitted
from sfumato.service.analysts import Analysts
from sfumato.service.asking import Asked
from sfumato.service.people import Person


def router() -> APIRouter:
    """The routes of questions."""
    routes = APIRouter(prefix="/api/data-sets/{data_set}", tags=["questions"], route_class=StrictRoute)
    routes.add_api_route(
        "/explain", explain, methods=["POST"], response_model=ExplanationGiven, responses=problems(409, 503, 504)
    )
    routes.add_api_route(
        "/ask",
        ask,
        methods=["POST"],
        response_class=Response,
        responses={
            200: RELEASE_FORMS,
            202: {"description": "A job that answers later.", "content": {"application/json": {}}},
            **problems(406, 409, 500, 501, 504),
        },
    )
    return routes


async def explain(call: Calling, data_set: DataSetName, body: QuestionBody, *, other_prices: bool = False) -> Response:
    """Says what a question would cost, how near its answer would come, and whether it fits; spends nothing.

    How near it would come at other prices takes as long again, and is said where ``other_prices`` is.
    """
    asked, analysts = asked_in(body), Analysts(call.house)

    def made(person: Person) -> dict[str, Any]:
        explanation = analysts.explain(person, data_set, asked)
        return explained(explanation if other_prices else replace(explanation, others=()))

    return written(await call.run(made))


async def ask(
    call: Calling, request: Request, data_set: DataSetName, body: QuestionBody, idempotency_key: Key = None
) -> Response:
    """Answers a question, paid from your share. The same question again, or the same key, costs nothing."""
    form, asked = form_asked(request), asked_in(body)
    if wants_job(request):
        return await submitted(call, data_set, asked, idempotency_key)
    analysts = Analysts(call.house)
    return await call.ask(
        lambda person: release_written(analysts.ask(person, data_set, asked, key=idempotency_key), form)
    )


def wants_job(request: Request) -> bool:
    """Tells whether an answer may come later (Prefer: respond-async)."""
    return "respond-async" in [one.strip().lower() for one in request.headers.get("prefer", "").split(",")]


def asked_in(body: QuestionBody) -> Asked:
    """The question in a body."""
    said = {name: getattr(body, name) for name in body.model_fields_set if name != "sql"}
    if said.get("keys") is not None and not isinstance(said["keys"], dict):
        said["keys"] = said["keys"].model_dump()
    return Asked.read(body.sql, said)


def explained(explanation: Explanation) -> dict[str, Any]:
    """An explanation for readers, and exactly for programs."""
    return {
        "fits": explanation.fits,
        "price": loss_said(explanation.price),
        "left": loss_said(explanation.left),
        "unit": explanation.unit,
        "known": explanation.known,
        "refusal": explanation.refusal,
        "asked": explanation.how.asked,
        "bounds": list(explanation.bounds),
        "computed": [list(row) for row in explanation.tree],
        "noise": [list(row) for row in explanation.noise],
        "errors": [list(row) for row in explanation.errors],
        "other_prices": [list(row) for row in explanation.others],
        "exact": explanation_to_plain(explanation),
    }
