"""What analysts see: a data set, the editor with its live prices, answers, shares, schedules."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import (
    ChangedMeanwhile,
    LedgerUnavailable,
    LimitReached,
    NotAllowed,
    QueryRefused,
    ServiceUnavailable,
    SfumatoError,
)
from sfumato.release.record import Release
from sfumato.server.pages.desk import Desk, led_to
from sfumato.server.pages.rendering import render
from sfumato.server.pages.routes.visiting import standing_of
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views import explained as before
from sfumato.server.pages.views.amounts import LossForm, read_loss_fields, slider_of, suggested
from sfumato.server.pages.views.answers import AnswersView, answer_view, asked_in, rows_of
from sfumato.server.pages.views.codebooks import columns_of, data_set_view, tables_words
from sfumato.server.pages.views.explained import Explained
from sfumato.server.pages.views.granting import ShareForm, ShareView, SpentView, request_view
from sfumato.server.pages.views.questions import AskView, QuestionForm, asked_of, fields_of, form_of
from sfumato.server.pages.views.shares import paying_share
from sfumato.service.analysts import Analysts
from sfumato.service.answers import Rendered
from sfumato.service.asking import Asked
from sfumato.service.curators import Curators
from sfumato.service.owners import Owners
from sfumato.service.rights import Action

MANY = 50
GRAVE = (NotAllowed, ChangedMeanwhile, LedgerUnavailable, ServiceUnavailable)
"""What is no matter of how a question is written: it gets a page of its own."""


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}")
    routes.add_api_route("", data_set, methods=["GET"])
    routes.add_api_route("/ask", ask, methods=["GET"])
    routes.add_api_route("/ask", asked, methods=["POST"])
    routes.add_api_route("/ask/explained", explained, methods=["POST"])
    routes.add_api_route("/answers", answers, methods=["GET"])
    routes.add_api_route("/answers/{number}", answer, methods=["GET"])
    routes.add_api_route("/answers/{number}/{form}", download, methods=["GET"])
    routes.add_api_route("/share", share, methods=["GET"])
    routes.add_api_route("/share", request_share, methods=["POST"])
    return routes


async def data_set(request: Request) -> Response:
    """A data set with its codebook."""
    desk = await Desk.open(request)

    def made() -> object:
        person, name = desk.person, desk.data_set
        analysts = Analysts(desk.house)
        codebook = analysts.codebook(person, name)
        gauge, whose = standing_of(desk, name)
        places = (
            ("Ask", "/ask", Action.ASK),
            ("What would it cost?", "/ask", Action.EXPLAIN),
            ("Request a share", "/share", Action.REQUEST_SHARE),
            ("Limits", "/limits", Action.SEE_LIMITS),
        )
        able = [(label, page) for label, page, action in places if person.may(action, name).allowed]
        links = {page: Link(label, address_of(name, page)) for label, page in reversed(able)}
        if person.may(Action.REGISTER, name).allowed:
            links[""] = Link("Register a new version", f"/register?{urlencode({'of': name})}")
        requests = person.may(Action.REQUEST_SHARE, name).allowed
        no_share = "You have no share of the limit yet." if requests else "Shares are for analysts."
        return data_set_view(
            name,
            codebook,
            analysts.version(person, name),
            gauge=gauge,
            whose=whose,
            no_share=no_share,
            links=_few(links),
            ask=address_of(name, "/ask") if person.may(Action.ASK, name).allowed else "",
        )

    return await desk.show("data_set.html", desk.data_set, made)


def _few(links: dict[str, Link]) -> list[Link]:
    """The two ways that matter most; and that of whoever registers, which is no other's."""
    own = [links.pop("")] if "" in links else []
    return [*list(links.values())[::-1][:2], *own]


async def ask(request: Request) -> Response:
    """The editor."""
    desk = await Desk.open(request)
    again, question = desk.number("again"), request.query_params.get("question", "")[:10_000]
    if not again:
        return await desk.show("ask.html", "Ask", lambda: _editor(desk, {"question": question}, begins=True))

    def made() -> AskView:
        desk.person.need(Action.EXPLAIN, desk.data_set)
        fields = fields_of(_released(desk, again))
        return _editor(desk, fields, _explanation(desk, fields))

    return await desk.show("ask.html", "Ask", made, pool=desk.running.questions)


def _editor(desk: Desk, fields: dict[str, str], shown: Explained | None = None, *, begins: bool = False) -> AskView:
    person, name = desk.person, desk.data_set
    person.need(Action.EXPLAIN, name)
    analysts = Analysts(desk.house)
    codebook = analysts.codebook(person, name)
    mine = paying_share(analysts.shares(person, name)) if person.may(Action.SEE_OWN_ANSWERS, name).allowed else None
    gauge, whose = standing_of(desk, name)
    left, limit = (None, None) if mine is None else (mine.left, mine.limit)
    if limit is None and person.may(Action.SEE_LIMITS, name).allowed:
        line = Owners(desk.house).limits(person, name)[0]
        left, limit = line.left, line.limit
    form = form_of({**fields, **suggested(left)} if begins else fields, limit)
    if shown is not None and shown.fields:
        form = form.wrong(dict.fromkeys(shown.fields, "See what is said before you pay."))
    own = address_of(name, "/ask")
    return AskView(
        action=own,
        explain=f"{own}/explained",
        form=form,
        columns=columns_of(codebook),
        tables_words=tables_words(codebook),
        columns_open=not form.question and len(columns_of(codebook)) <= 12,
        slider=slider_of(left),
        gauge=gauge,
        whose=whose,
        explained=shown,
        may_ask=person.may(Action.ASK, name).allowed,
        share=address_of(name, "/share") if person.may(Action.REQUEST_SHARE, name).allowed else "",
    )


def _limit(desk: Desk) -> Loss | None:
    person, name = desk.person, desk.data_set
    if person.may(Action.SEE_OWN_ANSWERS, name).allowed:
        mine = paying_share(Analysts(desk.house).shares(person, name))
        if mine is not None:
            return mine.limit
    return Owners(desk.house).limits(person, name)[0].limit if person.may(Action.SEE_LIMITS, name).allowed else None


def _read(desk: Desk, fields: dict[str, str]) -> tuple[QuestionForm, Asked | None, dict[str, str]]:
    desk.person.need(Action.EXPLAIN, desk.data_set)
    codebook = Analysts(desk.house).codebook(desk.person, desk.data_set)
    form = form_of(fields, _limit(desk))
    made, errors = asked_of(form, codebook)
    return form, made, errors


def _explanation(desk: Desk, fields: dict[str, str]) -> Explained:
    """What a question would cost; what is wrong with it, where something is."""
    form, made, errors = _read(desk, fields)
    if made is None:
        return before.wrong(errors)
    try:
        return before.explained(Analysts(desk.house).explain(desk.person, desk.data_set, made))
    except GRAVE:
        raise
    except SfumatoError as refusal:
        return before.refused(form.question, refusal)


async def explained(request: Request) -> Response:
    """A part of the editor's page, for its script: what a question would cost. Nothing is spent."""
    desk = await Desk.open(request)
    fields = await desk.form()

    def made() -> str:
        said = _explanation(desk, fields)
        return render(desk.studio.templates, "explained.html", shell=desk.shell("Ask"), explained=said)

    return HTMLResponse(await desk.running.questions.run(made))


async def asked(request: Request) -> Response:
    """Answers a question and leads to its answer, or says in the editor what it would cost, or why it is refused."""
    desk = await Desk.open(request)
    fields = await desk.form()
    if fields.get("do") != "ask":
        return await desk.show(
            "ask.html", "Ask", lambda: _editor(desk, fields, _explanation(desk, fields)), pool=desk.running.questions
        )

    def answered() -> Release | Explained:
        form, made, errors = _read(desk, fields)
        desk.person.need(Action.ASK, desk.data_set)
        if made is None:
            return before.wrong(errors)
        try:
            if not made.priced and not _is_public(desk, made):
                field = "epsilon" if form.by == "loss" else "width"
                return before.wrong({field: "Say what to pay, or how near to come."})
            return Analysts(desk.house).ask(desk.person, desk.data_set, made)
        except (LimitReached, QueryRefused) as refusal:
            return before.refused(form.question, refusal)
        except GRAVE:
            raise
        except (ValueError, TypeError) as refusal:
            if not isinstance(refusal, SfumatoError):
                raise
            return before.refused(form.question, refusal)

    outcome = await desk.ask(answered)
    if isinstance(outcome, Explained):
        return await desk.show("ask.html", "Ask", lambda: _editor(desk, fields, outcome), status=422)
    if outcome.receipt is not None:
        return led_to(address_of(desk.data_set, f"/answers/{outcome.receipt.entry}"))
    shown: Release = outcome  # of public tables alone: it costs nothing, and is kept nowhere
    return await desk.show(
        "answer.html",
        "Public rows",
        lambda: answer_view(shown, desk.studio.drawings, data_set=desk.data_set, number=0, downloads=()),
    )


def _is_public(desk: Desk, made: Asked) -> bool:
    """Tells whether public tables alone answer a question: nothing need be said of what to pay."""
    try:
        Analysts(desk.house).explain(desk.person, desk.data_set, made)
    except QueryRefused as refusal:
        return before.is_public(refusal)
    except SfumatoError:
        return False
    return False


async def answers(request: Request) -> Response:
    """One's own answers; of those who may see them, everybody's."""
    desk = await Desk.open(request)
    after = desk.number("after")
    return await desk.show("answers.html", "Answers", lambda: _answers(desk, after))


def _answers(desk: Desk, after: int) -> AnswersView:
    person, name = desk.person, desk.data_set
    everybodys = person.may(Action.SEE_ANSWERS, name).allowed
    page = (Curators if everybodys else Analysts)(desk.house).answers(person, name, after=after, many=MANY)
    own = address_of(name, "/answers")
    links = [Link("From the beginning", own)] if after else []
    links += [Link("Later answers", f"{own}?after={page.after}")] if page.after is not None else []
    gauge, whose = standing_of(desk, name)
    return AnswersView(
        "Everybody’s answers" if everybodys else "My answers",
        "All answers" if everybodys else "Answers that I paid for, or that I may count as mine",
        rows_of(page.items),
        names=everybodys,
        gauge=gauge,
        whose=whose,
        pages=tuple(links),
    )


def _released(desk: Desk, number: int) -> Release:
    """An answer that somebody may see, by whichever right they have."""
    person, name = desk.person, desk.data_set
    if person.may(Action.SEE_ANSWERS, name).allowed:
        return Curators(desk.house).answer(person, name, number)
    if person.may(Action.SEE_OWN_ANSWERS, name).allowed:
        return Analysts(desk.house).answer(person, name, number)
    return Curators(desk.house).published_answer(person, name, number)


def _number(desk: Desk) -> int:
    text = str(desk.request.path_params["number"])
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


async def answer(request: Request) -> Response:
    """One answer."""
    desk = await Desk.open(request)
    return await desk.show(
        "answer.html",
        f"Answer {_number(desk)}",
        lambda: answer_view(
            _released(desk, _number(desk)),
            desk.studio.drawings,
            data_set=desk.data_set,
            number=_number(desk),
            explains=desk.person.may(Action.EXPLAIN, desk.data_set).allowed,
        ),
    )


async def download(request: Request) -> Response:
    """One answer as a file."""
    desk = await Desk.open(request)
    person, name, form = desk.person, desk.data_set, str(request.path_params["form"])

    def written() -> Rendered:
        if person.may(Action.SEE_OWN_ANSWERS, name).allowed:
            return Analysts(desk.house).rendered(person, name, _number(desk), form)
        return Curators(desk.house).rendered(person, name, _number(desk), form)

    made = await desk.running.quick.run(written)
    return Response(
        made.content,
        media_type=made.media,
        headers={"Content-Disposition": f'attachment; filename="{made.name}"'},
    )


async def share(request: Request) -> Response:
    """The page on which a share is requested."""
    desk = await Desk.open(request)
    return await desk.show("share.html", "My share", lambda: _share(desk))


def _share(desk: Desk, form: ShareForm | None = None) -> ShareView:
    person, name, analysts = desk.person, desk.data_set, Analysts(desk.house)
    mine = analysts.requests(person, name)
    views = tuple(request_view(one) for one in reversed(mine))
    after, own = desk.number("after"), address_of(name, "/share")
    page = analysts.spending(person, name, after=after, many=MANY)
    links = [Link("From the beginning", own)] if after else []
    links += [Link("Later charges", f"{own}?after={page.after}")] if page.after is not None else []
    spent = tuple(SpentView(one.number, one.time, one.share, asked_in(one.what), str(one.loss)) for one in page.items)
    gauge, whose = standing_of(desk, name)
    return ShareView(own, form or ShareForm(LossForm("any")), views, gauge, whose, spent, tuple(links))


async def request_share(request: Request) -> Response:
    """Writes a request into the book."""
    desk = await Desk.open(request)
    fields = await desk.form()
    purpose = fields.get("purpose", "").strip()[:4_000]

    def requested() -> ShareForm | None:
        desk.person.need(Action.REQUEST_SHARE, desk.data_set)
        loss, errors = read_loss_fields(fields, "any")
        if loss is None and not errors:
            errors = {"epsilon": "Say how much."}
        if not purpose:
            errors["purpose"] = "Say what it is for: whoever decides reads it."
        if loss is not None and not errors:
            try:
                Analysts(desk.house).request_share(desk.person, desk.data_set, loss, purpose=purpose)
            except GRAVE:
                raise
            except SfumatoError as refusal:
                errors = {"epsilon": str(refusal)}
        if not errors:
            return None
        return ShareForm(LossForm.of(fields, errors), purpose, errors)

    wrong = await desk.running.quick.run(requested)
    if wrong is None:
        return desk.leads("/share", done="asked")
    return await desk.show("share.html", "My share", lambda: _share(desk, wrong), status=422)
