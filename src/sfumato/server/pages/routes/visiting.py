"""Home, signing in, light and dark, what a loss means, and one's own tokens."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sfumato.errors import NotAllowed, SfumatoError
from sfumato.server.pages.desk import THEME, Desk, led_to, own_path
from sfumato.server.pages.shell import THEMES, Link, address_of, roles_of
from sfumato.server.pages.views.amounts import Gauge
from sfumato.server.pages.views.answers import AnswerRow, rows_of
from sfumato.server.pages.views.codebooks import protected
from sfumato.server.pages.views.granting import gauge_of_whole, request_tasks
from sfumato.server.pages.views.meanings import loss_of, meaning_view, prior_of
from sfumato.server.pages.views.shares import gauge_of_shares
from sfumato.server.pages.views.visiting import (
    DataSetCard,
    HomeView,
    LinkView,
    ScopeView,
    SignInView,
    TokenForm,
    TokensView,
    TokenView,
    scope_words,
)
from sfumato.server.running import running_of
from sfumato.service.analysts import Analysts
from sfumato.service.owners import Owners
from sfumato.service.people import Secret
from sfumato.service.rights import Action
from sfumato.service.tokens import LEFT_OUT, Tokens

LATEST = 8
"""How many answers the home page shows."""


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    routes.add_api_route("/", home, methods=["GET"])
    routes.add_api_route("/sign-in", sign_in, methods=["GET"])
    routes.add_api_route("/welcome", welcome, methods=["GET"])
    routes.add_api_route("/theme", theme, methods=["POST"])
    routes.add_api_route("/meaning", meaning, methods=["GET"])
    routes.add_api_route("/tokens", tokens, methods=["GET"])
    routes.add_api_route("/tokens", new_token, methods=["POST"])
    routes.add_api_route("/tokens/revoke", revoke, methods=["POST"])
    routes.add_api_route("/static/{digest}/{name}", static, methods=["GET"])
    return routes


async def static(request: Request) -> Response:
    """A sheet of style, a script or a picture."""
    answered: Response = request.app.state.studio.assets.answer(request)
    return answered


async def sign_in(request: Request) -> Response:
    """The page on which people sign in; who is signed in is led on."""
    desk = await Desk.for_anybody(request)
    onward = own_path(request.query_params.get("next", "/"))
    if desk.visit is not None:
        return led_to(onward)
    openly = desk.house.settings.publish_openly
    return HTMLResponse(desk.written("sign_in.html", "Sign in", SignInView(next=onward, openly=openly)))


async def welcome(request: Request) -> Response:
    """The page of a one-time link."""
    desk = await Desk.for_anybody(request)
    secret = request.query_params.get("link", "")[:200]
    return HTMLResponse(desk.written("link.html", "Choose a password", LinkView(secret=secret)))


async def theme(request: Request) -> Response:
    """Remembers light or dark, in a cookie that is about nobody."""
    desk = await Desk.for_anybody(request)
    fields = await desk.form()
    response = led_to(own_path(fields.get("next", "/")))
    chosen = fields.get("theme", "")
    if chosen in THEMES:
        secure = running_of(request).settings.secure
        year = int(timedelta(days=365).total_seconds())
        response.set_cookie(THEME, chosen, max_age=year, path="/", secure=secure, httponly=True, samesite="lax")
    return response


async def home(request: Request) -> Response:
    """One's data sets, how one's shares stand, and one's latest answers."""
    desk = await Desk.open(request)
    return await desk.show("home.html", "Data sets", lambda: _home(desk))


def _home(desk: Desk) -> HomeView:
    person, analysts = desk.person, Analysts(desk.house)
    names = list(analysts.data_sets(person))
    own = [name for name in names if person.may(Action.SEE_OWN_ANSWERS, name).allowed]
    waits = {name: _waiting(desk, name) for name in names if person.may(Action.DECIDE, name).allowed}
    none = "There is none that you may read of yet."
    if person.may(Action.MANAGE_PEOPLE).allowed:
        none = "None that you may read of: who administers sees people, and no data."
    return HomeView(
        f"Hello, {person.name}",
        roles_of(person),
        tuple(_card(desk, name) for name in names),
        none,
        request_tasks(waits),
        _latest(analysts, desk, own) if own else None,
    )


def _waiting(desk: Desk, data_set: str) -> int:
    return len(Owners(desk.house).requests(desk.person, data_set, undecided=True))


def _latest(analysts: Analysts, desk: Desk, names: list[str]) -> tuple[AnswerRow, ...]:
    lines = [line for name in names for line in analysts.latest(desk.person, name, many=LATEST)]
    return rows_of(sorted(lines, key=lambda line: line.number, reverse=True)[:LATEST])


def _card(desk: Desk, name: str) -> DataSetCard:
    person, analysts = desk.person, Analysts(desk.house)
    codebook = analysts.codebook(person, name)
    gauge, whose = standing_of(desk, name)
    places: tuple[tuple[str, str, Action], ...] = (
        ("Ask", "/ask", Action.ASK),
        ("Requests", "/requests", Action.DECIDE),
        ("Publish", "/publish", Action.PUBLISH),
        ("Book", "/book", Action.READ_BOOK),
    )
    if gauge is None:
        places = (("Request a share", "/share", Action.REQUEST_SHARE), *places)
    links = [Link(label, address_of(name, page)) for label, page, action in places if person.may(action, name).allowed]
    links = links[:2] or [Link("Open", address_of(name))]
    return DataSetCard(name, codebook.title or name, protected(codebook), address_of(name), whose, gauge, tuple(links))


def standing_of(desk: Desk, name: str) -> tuple[Gauge | None, str]:
    """How one's share stands; of those who see limits and have none, how the whole limit does."""
    person = desk.person
    if person.may(Action.SEE_OWN_ANSWERS, name).allowed:
        gauge = gauge_of_shares(Analysts(desk.house).shares(person, name))
        if gauge is not None:
            return gauge, "My share"
    if person.may(Action.SEE_LIMITS, name).allowed:
        lines = Owners(desk.house).limits(person, name)
        return gauge_of_whole(lines[0], lines[1:]), "The whole limit"
    return None, ""


async def meaning(request: Request) -> Response:
    """What a loss means."""
    desk = await Desk.open(request)
    said = request.query_params
    epsilon, delta, prior = said.get("epsilon", "1"), said.get("delta", ""), said.get("prior", "10")
    loss = loss_of(epsilon, delta)
    wrong = "" if loss is not None else "Write a loss as a number above 0, such as 0.5, and δ as one below 1."
    known = loss or loss_of("1", "")
    before = prior if prior_of(prior) is not None else "10"
    if known is None:
        raise NotAllowed("nothing is known of that loss")
    return await desk.show(
        "meaning.html",
        "What ε means",
        lambda: meaning_view(
            Analysts(desk.house).meaning(desk.person, known), desk.studio.drawings, prior=before, wrong=wrong
        ),
        status=422 if wrong else 200,
    )


async def tokens(request: Request) -> Response:
    """One's own tokens."""
    desk = await Desk.open(request)
    return await desk.show("tokens.html", "My tokens", lambda: _tokens(desk))


def _tokens(desk: Desk, form: TokenForm | None = None, secret: Secret | None = None) -> TokensView:
    mine = Tokens(desk.house).mine(desk.person)
    able = [action for action in Action if action not in LEFT_OUT and _anywhere(desk, action)]
    views = tuple(TokenView(one.place, one.called, scope_words(one.scope), one.until) for one in mine)
    settings = desk.running.settings
    asks = next(
        (name for name in Analysts(desk.house).data_sets(desk.person) if desk.person.may(Action.ASK, name).allowed), ""
    )
    return TokensView(
        views,
        form or TokenForm(days=str(min(90, _most_days(desk)))),
        tuple(ScopeView(one.name, one.value) for one in able),
        secret,
        most_days=_most_days(desk),
        port=settings.pg_port if asks else 0,
        host=urlsplit(settings.address).hostname or settings.host,
        name=desk.person.name,
        data_set=asks,
    )


def _most_days(desk: Desk) -> int:
    return max(1, int(desk.house.settings.token_lasts // 86_400))


def _anywhere(desk: Desk, action: Action) -> bool:
    return any(action in grant.actions for grant in desk.person.grants)


async def new_token(request: Request) -> Response:
    """Draws a token; its text is shown this once, and never led to by an address."""
    desk = await Desk.open(request)
    fields = await desk.form()
    scope = [action for action in Action if fields.get(f"scope-{action.name}")]
    called, days = fields.get("called", ""), fields.get("days", "") or "90"
    lasting = timedelta(days=int(days)) if days.isascii() and days.isdigit() and len(days) < 5 else None

    def drawn() -> TokensView:
        if lasting is None:
            return _tokens(desk, TokenForm(called, days, {"days": "Write a whole number of days."}))
        try:
            secret = Tokens(desk.house).issue(desk.person, called, scope=scope or None, lasts=lasting)
        except NotAllowed:
            raise
        except SfumatoError as refusal:
            return _tokens(desk, TokenForm(called, days, {"called": str(refusal)}))
        return _tokens(desk, secret=secret)

    return await desk.show("tokens.html", "My tokens", drawn)


async def revoke(request: Request) -> Response:
    """Makes a token of one's own good no more."""
    desk = await Desk.open(request)
    fields = await desk.form()
    await desk.running.quick.run(lambda: Tokens(desk.house).revoke(desk.person, fields.get("place", "")))
    return led_to("/tokens", done="revoked")
