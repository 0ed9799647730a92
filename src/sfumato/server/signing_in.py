"""How people are known in a browser: a visit, kept in a cookie that no script reads, and a token in every form.

The token of a form follows from the secret of the visit, so it is bound to it and nothing more need be kept. Before
there is a visit, and besides, a request that changes something must come from our own pages: browsers say so.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SignInRefused
from sfumato.server.guard import address_of
from sfumato.server.multipart import FileForm, is_file_form
from sfumato.server.problems import Refused
from sfumato.server.running import Running, running_of
from sfumato.service.accounts import Accounts
from sfumato.service.people import VISIT, Person

FORM_TOKEN = "csrf"
"""The name of the field of every form that holds its token; scripts send it as the header ``X-CSRF-Token``."""

FREE, MORE_FREE = 3, 20
"""How often a name may fail at one address before it has to wait; and how often an address, or a name, in all."""

MOST_FIELDS = 100
FOREIGN = "This form is not from one of our pages, or from an earlier visit. Open the page again."
FORM = "application/x-www-form-urlencoded"


@final
@dataclass(frozen=True)
class Visit:
    """Somebody who is signed in with a browser, and the token that their forms must carry."""

    person: Person
    secret: str

    @property
    def form_token(self) -> str:
        """What every form of this visit has in a hidden field."""
        return form_token(self.secret)


def form_token(secret: str) -> str:
    """The token of the forms of a visit: who knows it does not know the visit."""
    return hmac.new(secret.encode("utf-8", "replace"), b"sfumato form", hashlib.sha256).hexdigest()


def cookie_name(running: Running) -> str:
    """The name of the cookie; with TLS one that browsers take from this very host alone."""
    return "__Host-sfumato" if running.settings.secure else "sfumato"


async def visit_of(request: Request) -> Visit | None:
    """Who is signed in; None where nobody is."""
    running = running_of(request)
    secret = request.cookies.get(cookie_name(running), "")
    if not secret:
        return None

    def known() -> Visit | None:
        try:
            return Visit(running.house.people.known_by(VISIT, secret), secret)
        except SignInRefused:
            return None

    visit = await running.quick.run(known)
    if visit is not None:
        request.state.person = visit.person.name
        running.people.take(visit.person.name)
    return visit


async def needed_visit(request: Request) -> Visit:
    """Who is signed in; refuses (401) where nobody is."""
    visit = await visit_of(request)
    if visit is None:
        raise SignInRefused
    return visit


async def checked_file_form(request: Request, visit: Visit) -> tuple[FileForm, dict[str, str]]:
    """A form with a file that was sent from one of our pages, and the fields before the file.

    They must hold the visit's token: nothing of the file is kept before it was looked at.
    """
    check_own_page(request)
    if not is_file_form(request):
        raise Refused(403, FOREIGN)
    form = FileForm(request)
    fields = await form.fields()
    check_token(request, visit, fields.pop(FORM_TOKEN, ""))
    return form, fields


async def checked_form(request: Request, visit: Visit | None) -> dict[str, str]:
    """The fields of a form that was sent from one of our pages; with a visit, it must carry the visit's token."""
    check_own_page(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Refused(415, f"A form is sent as {FORM}.")
    try:
        pairs = parse_qsl(
            (await request.body()).decode("utf-8"),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        pairs = None
    if pairs is None or any("\0" in name + value for name, value in pairs):
        raise Refused(400, "The form cannot be read.")
    fields = dict(pairs)
    if visit is not None:
        check_token(request, visit, fields.pop(FORM_TOKEN, ""))
    return fields


def check_token(request: Request, visit: Visit, token: str = "") -> None:
    """Refuses what does not carry the token of the visit, in its form or as a header."""
    said = token or request.headers.get("x-csrf-token", "")
    if not hmac.compare_digest(said.encode("utf-8", "replace"), visit.form_token.encode()):
        raise Refused(403, FOREIGN)


def check_own_page(request: Request) -> None:
    """Refuses a request that changes something and does not come from our own pages, by what browsers say of it."""
    running = running_of(request)
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin == "null" and site is not None:  # pages that send no referrer name no origin in forms either
        origin = None
    own = urlsplit(running.settings.address)
    here = origin is not None and (urlsplit(origin).scheme, urlsplit(origin).netloc) == (own.scheme, own.netloc)
    local = origin is not None and not running.settings.origin and urlsplit(origin).netloc == request.headers["host"]
    if site is not None and site != "same-origin":
        raise Refused(403, "This was sent from another site.")
    if not (here or local or (origin is None and site is not None)):
        raise Refused(403, "This does not say that it was sent from one of our pages.")


async def sign_in(request: Request, name: str, password: str) -> Visit:
    """Begins a visit of somebody by name and password."""
    return await begun(request, await password_checked(request, name, password))


async def password_checked(request: Request, name: str, password: str) -> Person:
    """Lets somebody in by name and password; whoever fails often waits longer and longer."""
    running = running_of(request)
    address = address_of(request.scope, running)
    person_here, names = failing_names(name, address)
    running.failures.check(names)
    running.sign_ins.take(address)
    try:
        person = await running.passwords.run(lambda: running.house.people.sign_in(name, password))
    except SignInRefused:
        running.failures.failed(names)
        running.metrics.add("sfumato_sign_ins_refused_total")
        raise
    running.failures.succeeded(person_here)
    request.state.person = person.name
    return person


def failing_names(name: str, address: str, way: str = "") -> tuple[str, dict[str, int]]:
    """Under which names failures to sign in are counted, and how many are free: of somebody here, which is first.

    Each ``way`` counts for itself: a program that tries an old token again and again keeps nobody from their pages.
    """
    here = f"{way}person {name[:100]} at {address}"
    return here, {here: FREE, f"{way}person {name[:100]}": MORE_FREE, f"{way}address {address}": MORE_FREE}


async def choose_password(request: Request, link: str, password: str) -> Visit:
    """Lets whoever holds a one-time link choose a password, and lets them in."""
    running = running_of(request)
    address = address_of(request.scope, running)
    names = {f"address {address}": MORE_FREE}
    running.failures.check(names)
    running.sign_ins.take(address)
    try:
        person = await running.passwords.run(lambda: running.house.people.choose_password(link, password))
    except SignInRefused:
        running.failures.failed(names)
        raise
    return await begun(request, person)


async def changed_password(request: Request, visit: Visit, old: str, new: str) -> Visit:
    """Gives somebody who knows their password another one; all their visits end, and a new one begins here.

    Whoever fails often waits longer and longer: a visit that was left open is no way to guess a password.
    """
    running, person = running_of(request), visit.person
    names = {f"person {person.name} changes": FREE}
    running.failures.check(names)
    running.sign_ins.take(address_of(request.scope, running))
    try:
        known = await running.passwords.run(lambda: Accounts(running.house).change_password(person, old, new))
    except SignInRefused:
        running.failures.failed(names)
        raise
    running.failures.succeeded(*names)
    return await begun(request, known)


async def known_to_proxy(request: Request) -> Visit:
    """Lets in whom a proxy of ours names, who has signed in there (OpenID Connect)."""
    running = running_of(request)
    settings, peer = running.settings, request.client.host if request.client else ""
    name = request.headers.get(settings.identity_header, "") if settings.identity_header else ""
    if not name or not settings.trusts(peer) or len(request.headers.getlist(settings.identity_header)) != 1:
        raise SignInRefused
    person = await running.quick.run(lambda: running.house.people.named(name))
    if person is None:
        raise SignInRefused
    return await begun(request, person)


async def begun(request: Request, person: Person) -> Visit:
    """Begins a visit of somebody who was let in."""
    running = running_of(request)
    request.state.person = person.name
    lasts = running.settings.visit_lasts
    began = running.house.now().isoformat(timespec="seconds")
    secret = await running.quick.run(lambda: running.house.people.issue(VISIT, person.name, lasts=lasts, called=began))
    return Visit(person, secret.text)


async def end(request: Request, visit: Visit) -> None:
    """Ends a visit."""
    running = running_of(request)
    await running.quick.run(lambda: running.house.people.end_visit(visit.secret))


def keep(response: Response, request: Request, visit: Visit) -> Response:
    """Puts the visit into the cookie."""
    running = running_of(request)
    response.set_cookie(
        cookie_name(running),
        visit.secret,
        max_age=int(running.settings.visit_lasts.total_seconds()),
        path="/",
        secure=running.settings.secure,
        httponly=True,
        samesite="lax",
    )
    return response


def forget(response: Response, request: Request) -> Response:
    """Takes the visit out of the cookie."""
    running = running_of(request)
    response.delete_cookie(
        cookie_name(running), path="/", secure=running.settings.secure, httponly=True, samesite="lax"
    )
    return response
