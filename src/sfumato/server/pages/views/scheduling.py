"""Schedules on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.errors import SfumatoError
from sfumato.release.render.words import clean
from sfumato.server.pages.shell import address_of
from sfumato.server.pages.views.amounts import LossForm
from sfumato.server.pages.views.questions import QuestionForm
from sfumato.service.schedules import EVERY, Schedule

EVERIES: Sequence[tuple[str, str]] = tuple((period.value, f"each {period.value}") for period in EVERY)


@final
@dataclass(frozen=True)
class ScheduleView:
    """One schedule."""

    key: str
    name: str
    every: str
    state: str
    tone: str
    said: str
    last: str
    active: bool


@final
@dataclass(frozen=True)
class ScheduleForm:
    """A new schedule, as somebody filled it in."""

    question: QuestionForm
    loss: LossForm
    name: str = ""
    every: str = "day"
    at: str = "06:00"
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class SchedulesView:
    """The page of schedules."""

    schedules: tuple[ScheduleView, ...]
    form: ScheduleForm
    action: str
    remove: str
    resume: str
    everies: Sequence[tuple[str, str]] = EVERIES


def schedules_view(schedules: Sequence[Schedule], form: ScheduleForm, data_set: str) -> SchedulesView:
    """Makes the page."""
    own = address_of(data_set, "/schedules")
    return SchedulesView(tuple(_view(one) for one in schedules), form, own, f"{own}/remove", f"{own}/resume")


def _view(schedule: Schedule) -> ScheduleView:
    return ScheduleView(
        schedule.name,
        schedule.name,
        f"each {schedule.every}, at {schedule.at} UTC",
        "runs" if schedule.active else "stopped",
        "good" if schedule.active else "warn",
        clean(schedule.why, most=400),
        schedule.last,
        schedule.active,
    )


def why_not(refusal: SfumatoError) -> dict[str, str]:
    """Which field of a new schedule a refusal is about."""
    text = str(refusal)
    field_of = "name" if "name of a schedule" in text else "question"
    return {field_of: text}
