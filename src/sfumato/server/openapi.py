"""What the documentation of the API says of every route: problems, forms of releases, how programs sign in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from sfumato.server.answering import FORMS
from sfumato.server.models import Given, Problem, ReleaseGiven
from sfumato.server.problems import MEDIA, TITLES

ALWAYS = (400, 401, 403, 404, 405, 408, 413, 415, 421, 422, 429, 431, 503)
"""What any route may answer in place of what was asked for."""

RELEASE_FORMS: dict[str, Any] = {
    "description": "The release, in the form that was asked for.",
    "content": {
        media: {"schema": {"$ref": "#/components/schemas/ReleaseGiven"} if form == "json" else {}}
        for form, media in FORMS.items()
    },
    "headers": {"x-sfumato-answer": {"schema": {"type": "string"}, "description": "The number of the answer."}},
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides, with a problem."""
    return {
        status: {
            "description": TITLES[status],
            "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({*ALWAYS, *statuses})
    }


def add(
    routes: APIRouter,
    method: str,
    path: str,
    endpoint: Callable[..., Awaitable[Response]],
    model: type[BaseModel] | None = Given,
    *,
    status: int = 200,
    also: tuple[int, ...] = (),
) -> None:
    """Adds a route, with what it answers and with what problems it may answer besides."""
    routes.add_api_route(
        path,
        endpoint,
        methods=[method],
        response_model=model,
        status_code=status,
        response_class=JSONResponse if model is not None else Response,
        responses=problems(*also),
    )


def documented(app: FastAPI) -> dict[str, Any]:
    """The documentation as the framework makes it, with what it cannot know."""
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        parts = made.setdefault("components", {})
        schemas = parts.setdefault("schemas", {})
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for model in (Problem, ReleaseGiven):
            schemas[model.__name__] = model.model_json_schema()
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema
