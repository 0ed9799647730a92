"""The page of a problem: what was refused or went wrong, in the words that the API has for it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.server.pages.desk import THEME, own_path, sign_in_address
from sfumato.server.pages.rendering import render
from sfumato.server.pages.shell import THEMES, Link, Shell, links_of
from sfumato.server.pages.views.visiting import ProblemView, SignInView
from sfumato.server.problems import Problem
from sfumato.server.running import running_of
from sfumato.server.signing_in import FORM_TOKEN, Visit, cookie_name, form_token

SIGN_IN, BY_PROXY, WELCOME = "/sign-in", "/sign-in/proxy", "/welcome"
NOBODY = "Name and password do not fit together."
ADVICE = {
    403: "Somebody who administers this service can say what you may do.",
    404: "It may be called otherwise, or be there for others only.",
    409: "Open the page again and see how it stands now.",
    413: "Send less at once; large data can be put into a folder of the service by whoever runs it.",
    429: "Wait a little and try again.",
    500: "What was charged stays in the book, and the same question again costs nothing.",
    503: "Try again in a moment. Nothing that was not said to be done was done.",
}


def problem_page(request: Request, problem: Problem) -> Response:
    """Answers with the page of a problem; who must sign in first is led to where they can."""
    path = request.url.path
    if problem.status == 401 and path not in (SIGN_IN, BY_PROXY, WELCOME) and request.method in ("GET", "HEAD"):
        return RedirectResponse(sign_in_address(request), status_code=303)
    shell = _shell(request, _title(problem))
    template = "problem.html"
    view: ProblemView | SignInView = _view(path, problem, known=bool(shell.csrf))
    if path == SIGN_IN and problem.status in (401, 429):
        refused = NOBODY if problem.status == 401 else problem.detail
        name, onward = getattr(request.state, "tried", ("", "/"))
        openly = running_of(request).house.settings.publish_openly
        template = "sign_in.html"
        view = SignInView(name=name, next=own_path(onward), refused=refused, openly=openly)
    text = render(request.app.state.studio.templates, template, shell=shell, view=view)
    return HTMLResponse(text, problem.status, problem.headers)


def _shell(request: Request, title: str) -> Shell:
    """The frame of the page, for whoever was let in before it went wrong; tokens follow from the cookie alone."""
    theme, secret = request.cookies.get(THEME, ""), request.cookies.get(cookie_name(running_of(request)), "")
    visit: Visit | None = getattr(request.state, "visit", None)
    return Shell(
        title=title,
        here="/",
        person="" if visit is None else visit.person.name,
        csrf_field=FORM_TOKEN,
        csrf=form_token(secret) if secret else "",
        theme=theme if theme in THEMES else "",
        links=() if visit is None else links_of(visit.person, ""),
    )


def _title(problem: Problem) -> str:
    return problem.title[:1].upper() + problem.title[1:]


def _view(path: str, problem: Problem, *, known: bool) -> ProblemView:
    if problem.status == 401:
        where = WELCOME if path == WELCOME else SIGN_IN
        advice = "A one-time link works once, and for a day. Ask for a new one." if where == WELCOME else ""
        detail = "This link lets nobody in any more." if where == WELCOME else "Your visit has ended: sign in again."
        return ProblemView(401, _title(problem), detail, advice, (Link("Sign in", SIGN_IN),))
    links = (Link("To the data sets", "/"),) if known else (Link("Sign in", SIGN_IN),)
    return ProblemView(problem.status, _title(problem), problem.detail, ADVICE.get(problem.status, ""), links)
