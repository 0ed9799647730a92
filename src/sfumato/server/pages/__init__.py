"""Pages for people. `router` is what the app includes: routes that answer with HTML.

`pages.equip` gives an app what its pages share: templates, files and drawings, and the page that says what went wrong.
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from sfumato.server.pages.desk import Studio
from sfumato.server.pages.problems import problem_page
from sfumato.server.pages.routes import (
    accounts,
    administering,
    asking,
    auditing,
    curating,
    dividing,
    granting,
    hooks,
    reading,
    registering,
    scheduling,
    visiting,
)

KINDS = (
    visiting,
    accounts,
    asking,
    scheduling,
    granting,
    dividing,
    registering,
    curating,
    auditing,
    hooks,
    administering,
    reading,
)


def router() -> APIRouter:
    """The routes of all pages."""
    routes = APIRouter(include_in_schema=False)
    for kind in KINDS:
        routes.include_router(kind.router())
    return routes


def equip(app: FastAPI) -> None:
    """Gives an app what its pages share."""
    app.state.studio = Studio.begin(app.state.running.house)
    app.state.problem_page = problem_page
