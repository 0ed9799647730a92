"""Webhooks on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.server.pages.shell import address_of
from sfumato.service.announcements import EVENTS
from sfumato.service.webhooks import Delivery, Webhook

EVENT_WORDS = {
    "share granted": "a share is granted",
    "share declined": "a request is declined",
    "limit low": "little is left of a limit",
    "release published": "a release is published",
}


@final
@dataclass(frozen=True)
class HookView:
    """One webhook, and how its last messages went."""

    name: str
    address: str
    told_of: str
    by: str
    waiting: int
    deliveries: tuple[Delivery, ...]
    error: str = ""

    @property
    def state(self) -> tuple[str, str]:
        """In a word how it goes, and in which tone that is said."""
        if not self.deliveries:
            return ("on its way", "") if self.waiting else ("nothing sent yet", "")
        return ("arrives", "good") if self.deliveries[0].told == "arrived" else ("does not arrive", "bad")


@final
@dataclass(frozen=True)
class HookForm:
    """A new webhook, as somebody filled it in."""

    name: str = ""
    address: str = ""
    events: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class NewHook:
    """A webhook that was just added, with the secret that signs what it is told; it is shown this once."""

    name: str
    secret: str


@final
@dataclass(frozen=True)
class HooksView:
    """The page of the webhooks of a data set."""

    hooks: tuple[HookView, ...]
    form: HookForm
    hosts: str
    events: tuple[tuple[int, str, bool], ...]
    action: str
    test: str
    remove: str
    made: NewHook | None = None


def hooks_view(
    known: Sequence[Webhook],
    data_set: str,
    form: HookForm,
    *,
    hosts: Sequence[str],
    made: NewHook | None = None,
    errors: Mapping[str, str] | None = None,
) -> HooksView:
    """Makes the page."""
    own = address_of(data_set, "/webhooks")
    hooks = tuple(
        HookView(
            one.name,
            one.address,
            "; ".join(words for event, words in EVENT_WORDS.items() if event in one.events),
            one.by,
            one.waiting,
            one.deliveries,
            (errors or {}).get(one.name, ""),
        )
        for one in known
    )
    events = tuple((number, EVENT_WORDS[event], event in form.events) for number, event in enumerate(EVENTS))
    return HooksView(hooks, form, ", ".join(hosts), events, own, f"{own}/test", f"{own}/remove", made)
