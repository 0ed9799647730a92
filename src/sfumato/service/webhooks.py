"""Webhooks: addresses that are told of grants, decisions, low limits and published releases; signed, without data.

Only hosts that the settings name are told, and none inside the network of the service unless the settings allow it.
How a message is sent is a value, so that nothing here needs a network.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, final
from urllib.parse import urlsplit

from sfumato.accounting.losses.measures import Additive, Loss
from sfumato.entropy import system
from sfumato.errors import BadArgument, ChangedMeanwhile, SfumatoError, Unseen
from sfumato.ledger.state import data_set_of
from sfumato.service.announcements import EVENTS, HOOK, LOW, MESSAGE, TEST, announce, leave_message
from sfumato.service.house import House
from sfumato.service.people import NAME, Person
from sfumato.service.records import NEW, Kept
from sfumato.service.rights import Action

TOLD_LOW = "limit told low"
"""The kind of record that keeps for which accounts somebody was told that little is left."""

HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.ASCII)
MOST, LONGEST = 20, 500
REMEMBERED = 10
"""How many messages of a webhook it is remembered of how they went."""

TRANSLATED = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48")))
"""Numbers that a gateway turns into others."""

LONGEST_PAUSE = timedelta(hours=6)


@final
@dataclass(frozen=True)
class Post:
    """One message, ready to be sent: to which address, at which of its host's numbers, with which body and headers."""

    address: str
    number: str
    body: bytes = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)


Send = Callable[[Post], int]
"""Sends a message to the very number it names, follows no redirect, gives the status of the answer; or an `OSError`."""

Resolve = Callable[[str, int], Iterable[str]]
"""Finds the numbers of a host."""


@final
@dataclass(frozen=True)
class Delivery:
    """How a message went: when it was tried, what it told of, and what became of it."""

    time: str
    event: str
    told: str


@final
@dataclass(frozen=True)
class Webhook:
    """A webhook in a list: what it is called, where it leads, what it is told of, and how its last messages went.

    ``waiting`` is how many are still to be sent, or to be tried again.
    """

    name: str
    data_set: str
    address: str
    events: tuple[str, ...]
    last: str
    by: str = ""
    waiting: int = 0
    deliveries: tuple[Delivery, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class Webhooks:
    """The use cases about webhooks; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def add(self, person: Person, data_set: str, name: str, address: str, events: Sequence[str]) -> str:
        """Has an address told of events; gives the secret that signs what it is told, which is shown this once."""
        person.need(Action.KEEP_WEBHOOKS, data_set)
        self.house.data_sets.registered(data_set)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise BadArgument("the name of a webhook", "in small letters, digits, dots and dashes, at most 63", name)
        if isinstance(events, str) or not events or not set(events) <= set(EVENTS):
            raise BadArgument("events", f"some of {', '.join(EVENTS)}", "others")
        if len(self.house.records.all(HOOK, f"{data_set}/")) >= MOST:
            raise BadArgument("webhooks", f"at most {MOST} for one data set", MOST)
        check_address(address, self.house.settings.webhook_hosts)
        secret = system().octets(32).hex()
        said = {"address": address, "events": sorted(set(events)), "secret": secret, "by": person.name, "last": ""}
        self.house.records.put(HOOK, f"{data_set}/{name}", said, expecting=NEW)
        return secret

    def webhooks(self, person: Person, data_set: str) -> list[Webhook]:
        """The webhooks of a data set, without their secrets."""
        person.need(Action.KEEP_WEBHOOKS, data_set)
        self.house.data_sets.registered(data_set)
        waiting = Counter(kept.said["hook"] for kept in self.house.records.all(MESSAGE, f"{data_set}/"))
        return [_shown(kept, waiting[kept.name]) for kept in self.house.records.all(HOOK, f"{data_set}/")]

    def test(self, person: Person, data_set: str, name: str) -> None:
        """Sends a webhook a message that tells of nothing but a test; one at a time."""
        person.need(Action.KEEP_WEBHOOKS, data_set)
        kept = self._hook(data_set, name)
        messages = self.house.records.all(MESSAGE, f"{data_set}/")
        if any(one.said["hook"] == kept.name and one.said["body"]["event"] == TEST for one in messages):
            raise BadArgument("a test", "sent once: one is still to be sent, or tried again", name)
        leave_message(self.house, kept.name, data_set, TEST, {})

    def remove(self, person: Person, data_set: str, name: str) -> None:
        """Tells an address nothing more."""
        person.need(Action.KEEP_WEBHOOKS, data_set)
        kept = self._hook(data_set, name)
        self.house.records.remove(HOOK, kept.name, expecting=kept.version)

    def _hook(self, data_set: str, name: str) -> Kept:
        known = isinstance(name, str) and NAME.fullmatch(name)
        kept = self.house.records.get(HOOK, f"{data_set}/{name}") if known else None
        if kept is None:
            raise BadArgument("the webhook", f"one of {data_set}", name)
        return kept


def check_address(address: object, hosts: Sequence[str]) -> str:
    """Reads the address of a webhook: https, to a host that the settings name; gives the host."""
    must = "an https address of a host that the settings of the service name (webhook_hosts)"
    if isinstance(address, str) and len(address) <= LONGEST and address.isprintable() and "\\" not in address:
        with suppress(ValueError):
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
            plain = not parts.username and not parts.password and not parts.fragment and HOST.fullmatch(host)
            wanted = {one.lower().rstrip(".") for one in hosts}
            named = host if port in (None, 443) else f"{host}:{port}"
            if parts.scheme == "https" and plain and named in wanted:
                return host
    raise BadArgument("the address of a webhook", must, Unseen())


def is_public(number: str) -> bool:
    """Tells whether a number of a host is one of the public network: not of this machine, nor of this house.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("10.0.0.8"), is_public("::ffff:169.254.169.254")
    (True, False, False, False)
    """
    try:
        found = ipaddress.ip_address(number.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if isinstance(found, ipaddress.IPv6Address) and (
        found.teredo is not None or any(found in one for one in TRANSLATED)
    ):
        return False
    return (found if mapped is None else mapped).is_global and not found.is_multicast and not found.is_reserved


def deliver(house: House, now: datetime, *, send: Send, resolve: Resolve) -> int:
    """Sends the messages whose time has come; what fails is tried again, later each time. Gives how many arrived.

    Each message is taken by one worker at a time; one that dies while it sends leads to a second sending, which the
    receiver knows by the ``id``.
    """
    sent = 0
    for kept in house.records.all(MESSAGE):
        if datetime.fromisoformat(kept.said["next"]) <= now:
            with suppress(ChangedMeanwhile):
                sent += _deliver(house, kept, now, send, resolve)
    return sent


def watch_limits(house: House) -> int:
    """Tells webhooks of accounts of which little is left, once for each time that it becomes so; gives how many."""
    hooked = {kept.name.partition("/")[0] for kept in house.records.all(HOOK) if LOW in kept.said["events"]}
    told = 0
    for name in house.ledger.accounts if hooked else ():
        if data_set_of(name) in hooked:
            with suppress(SfumatoError):
                told += _watch(house, name)
    return told


def signature_of(secret: str, body: bytes) -> str:
    """Signs a body: HMAC with SHA-256, in hexadecimal."""
    return hmac.new(bytes.fromhex(secret), body, hashlib.sha256).hexdigest()


def _deliver(house: House, kept: Kept, now: datetime, send: Send, resolve: Resolve) -> int:
    hook = house.records.get(HOOK, kept.said["hook"])
    if hook is None:
        house.records.remove(MESSAGE, kept.name, expecting=kept.version)
        return 0
    tries = kept.said["tries"] + 1
    pause = min(timedelta(seconds=15 * 2**tries), LONGEST_PAUSE)
    said = {**kept.said, "tries": tries, "next": (now + pause).isoformat()}
    taken = house.records.put(MESSAGE, kept.name, said, expecting=kept.version)  # others wait for as long
    told = _sent(house, hook, kept.said["body"], send, resolve)
    with suppress(ChangedMeanwhile):
        house.records.put(HOOK, hook.name, _remembered(hook, now, kept.said["body"], told), expecting=hook.version)
    if told == "arrived" or tries >= house.settings.webhook_tries:
        house.records.remove(MESSAGE, taken.name, expecting=taken.version)
    return int(told == "arrived")


def _sent(house: House, hook: Kept, body: Any, send: Send, resolve: Resolve) -> str:
    """Sends a message and says how that went, in words that tell nothing of what answered."""
    address, settings = hook.said["address"], house.settings
    try:
        host = check_address(address, settings.webhook_hosts)
        numbers = list(resolve(host, urlsplit(address).port or 443))
    except (BadArgument, OSError, UnicodeError):
        return "not sent: its host is not known, or not named by the settings any more"
    if not numbers or not (settings.webhooks_may_be_private or all(map(is_public, numbers))):
        return "not sent: its host is inside the network of the service"
    content = json.dumps(body, sort_keys=True).encode()
    headers = (
        ("Content-Type", "application/json"),
        ("User-Agent", "sfumato"),
        ("Sfumato-Signature", f"sha256={signature_of(hook.said['secret'], content)}"),
    )
    try:
        status = send(Post(address, numbers[0], content, headers))
    except (OSError, ValueError):
        return "not sent: nobody answered"
    return "arrived" if 200 <= status < 300 else f"refused with {status}"


def _watch(house: House, name: str) -> int:
    account, left = house.ledger.standing(name)
    low = not account.closed and _is_low(left, account.limit, house.settings.low_limit)
    known = house.records.get(TOLD_LOW, name)
    period = account.now
    if not low:
        if known is not None:
            house.records.remove(TOLD_LOW, name, expecting=known.version)
        return 0
    if known is not None and known.said["period"] == period:
        return 0
    house.records.put(TOLD_LOW, name, {"period": period}, expecting=NEW if known is None else known.version)
    announce(house, data_set_of(name), LOW, {"account": name, "below": house.settings.low_limit})
    return 1


def _is_low(left: Loss, limit: Loss, share: float) -> bool:
    """Tells whether less than a share of a limit is left, in any of what it counts."""
    if not isinstance(left, Additive) or not isinstance(limit, Additive):
        return left == left.nothing()
    pairs = zip(left.amounts, limit.amounts, strict=True)
    return any(whole > 0 and rest < whole * share for rest, whole in pairs)


def _remembered(hook: Kept, now: datetime, body: Any, told: str) -> dict[str, Any]:
    """What is kept of a webhook after a message of it was tried."""
    before = hook.said.get("told", [])
    latest = [*before, [now.isoformat(), str(body["event"]), told]][-REMEMBERED:]
    return {**hook.said, "last": f"{now.isoformat()} {told}", "told": latest}


def _shown(kept: Kept, waiting: int) -> Webhook:
    data_set, _, name = kept.name.partition("/")
    said = kept.said
    told = tuple(Delivery(*one) for one in reversed(said.get("told", [])))
    return Webhook(
        name, data_set, said["address"], tuple(said["events"]), said["last"], said.get("by", ""), waiting, told
    )
