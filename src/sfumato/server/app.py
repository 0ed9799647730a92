"""Makes the app from a house and settings. There is no state of modules: two apps in one process share nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.release.record import made_by
from sfumato.server import pages, ports
from sfumato.server.guard import Guard
from sfumato.server.openapi import documented
from sfumato.server.problems import FOR_PROGRAMS, MEDIA, TITLES, Problem, problem_of
from sfumato.server.routes import (
    answers,
    book,
    checklists,
    data_sets,
    health,
    jobs,
    limits,
    meaning,
    people,
    questions,
    schedules,
    sign_in,
    uploads,
    visits,
)
from sfumato.server.running import Running, running_of
from sfumato.server.settings import ServerSettings
from sfumato.service.house import House

TOPICS = (
    questions,
    data_sets,
    answers,
    limits,
    book,
    checklists,
    jobs,
    schedules,
    uploads,
    meaning,
    sign_in,
    people,
    visits,
)
"""All topics that have routes; what is asked most often comes first."""

SILENT = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
"""The framework would tell OpenTelemetry of errors with their words, which may quote data: it tells nobody anything."""


def make_app(house: House, settings: ServerSettings | None = None, *, log: TextIO | None = None) -> FastAPI:
    """Makes the app; it closes the house when it ends. ``log`` is where lines are written, or nowhere."""
    running = Running.begin(house, settings or ServerSettings(), log)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        running.log.line("started", address=running.settings.address)
        if running.settings.works:
            running.keeping.start()
        try:
            async with ports.opened(running):
                yield
        finally:
            await run_in_threadpool(running.close)
            running.log.line("stopped")

    app = FastAPI(
        title="sfumato",
        version=made_by().partition(" ")[2],
        description=__doc__.partition(".")[0],
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
        telemetry=SILENT,  # type: ignore[arg-type]
    )
    app.state.running = running
    for topic in TOPICS:
        app.include_router(topic.router())
    app.include_router(health.router(metrics=running.settings.metrics_port is None))
    app.include_router(pages.router())
    pages.equip(app)
    app.openapi = lambda: documented(app)  # type: ignore[method-assign]
    app.add_middleware(Guard, running=running)
    app.add_exception_handler(SfumatoError, _refused)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_exception_handler(RequestValidationError, _misread)
    return app


def answer_problem(request: Request, problem: Problem) -> Response:
    """Answers with a problem: as a page where pages are asked for and there is a page for it, else as JSON."""
    page = getattr(request.app.state, "problem_page", None)
    if page is not None and not request.url.path.startswith(FOR_PROGRAMS):
        made: Response = page(request, problem)
        return made
    return Response(problem.body(request.state.request_id), problem.status, problem.headers, MEDIA)


def _refused(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status >= 500:
        running_of(request).log.fault(request.state.request_id, error)
    return answer_problem(request, problem)


def _not_served(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    headers = {name: value for name, value in (getattr(error, "headers", None) or {}).items() if name == "Allow"}
    title = TITLES.get(status, "this cannot be done")
    detail = str(getattr(error, "detail", "")) if status in (400, 413) else f"{title[:1].upper()}{title[1:]}."
    return answer_problem(request, Problem(status, title.replace(" ", "-"), title, detail, {}, headers))


def _misread(request: Request, error: Exception) -> Response:
    """Says where a request is not as it must be, and nothing of what stands there."""
    wrong = error.errors() if isinstance(error, RequestValidationError) else []
    places = [{"where": _place(one["loc"]), "what": _said(one)} for one in wrong[:20]]
    problem = Problem(422, "misread", "the request is not as it must be", "See the places.", {"places": places})
    return answer_problem(request, problem)


def _place(loc: tuple[object, ...]) -> str:
    return "/".join(str(part)[:60] for part in loc)


def _said(one: dict[str, object]) -> str:
    return str(one.get("type", ""))
