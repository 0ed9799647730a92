"""Schedules of whoever asks: a question that is asked again each day, week or month."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.server.pages.desk import Desk
from sfumato.server.pages.routes.asking import GRAVE
from sfumato.server.pages.views.amounts import LossForm
from sfumato.server.pages.views.questions import asked_of, form_of
from sfumato.server.pages.views.scheduling import ScheduleForm, SchedulesView, schedules_view, why_not
from sfumato.server.pages.views.shares import paying_share
from sfumato.service.analysts import Analysts
from sfumato.service.rights import Action
from sfumato.service.schedules import Schedules


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False, prefix="/data/{data_set}/schedules")
    routes.add_api_route("", schedules, methods=["GET"])
    routes.add_api_route("", start, methods=["POST"])
    routes.add_api_route("/remove", remove, methods=["POST"])
    routes.add_api_route("/resume", resume, methods=["POST"])
    return routes


async def schedules(request: Request) -> Response:
    """One's own schedules."""
    desk = await Desk.open(request)
    return await desk.show("schedules.html", "Schedules", lambda: _schedules(desk))


def _form(desk: Desk, fields: dict[str, str]) -> ScheduleForm:
    share = paying_share(Analysts(desk.house).shares(desk.person, desk.data_set))
    question = form_of(fields, None if share is None else share.limit)
    return ScheduleForm(
        question,
        LossForm.of(fields, {}, question.kind),
        fields.get("name", "").strip()[:80],
        fields.get("every", "day")[:20],
        fields.get("at", "06:00")[:10],
    )


def _schedules(desk: Desk, form: ScheduleForm | None = None) -> SchedulesView:
    desk.person.need(Action.SCHEDULE, desk.data_set)
    mine = Schedules(desk.house).schedules(desk.person, desk.data_set)
    return schedules_view(mine, form or _form(desk, {}), desk.data_set)


async def start(request: Request) -> Response:
    """Starts a schedule."""
    desk = await Desk.open(request)
    fields = await desk.form()

    def started() -> ScheduleForm | None:
        desk.person.need(Action.SCHEDULE, desk.data_set)
        form = _form(desk, fields)
        codebook = Analysts(desk.house).codebook(desk.person, desk.data_set)
        asked, errors = asked_of(form.question, codebook)
        if asked is not None:
            try:
                Schedules(desk.house).add(desk.person, desk.data_set, form.name, asked, every=form.every, at=form.at)
            except GRAVE[:1]:
                raise
            except SfumatoError as refusal:
                errors = why_not(refusal)
        return replace(form, errors=errors, loss=replace(form.loss, errors=errors)) if errors else None

    wrong = await desk.running.quick.run(started)
    if wrong is None:
        return desk.leads("/schedules", done="started")
    return await desk.show("schedules.html", "Schedules", lambda: _schedules(desk, wrong), status=422)


async def remove(request: Request) -> Response:
    """Asks no more."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")
    await desk.running.quick.run(lambda: Schedules(desk.house).remove(desk.person, desk.data_set, name))
    return desk.leads("/schedules", done="stopped")


async def resume(request: Request) -> Response:
    """Goes on with a schedule that was stopped."""
    desk = await Desk.open(request)
    fields = await desk.form()
    name = fields.get("name", "")
    await desk.running.quick.run(lambda: Schedules(desk.house).resume(desk.person, desk.data_set, name))
    return desk.leads("/schedules", done="started")
