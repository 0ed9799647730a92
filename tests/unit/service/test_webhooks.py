"""Webhooks: signed, without data, tried again, and only to where the settings allow."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.houses import ADA, CURATOR, OWNER, Clock, asked, opened

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.service.analysts import Analysts
from sfumato.service.announcements import EVENTS, LOW, MESSAGE
from sfumato.service.curators import Curators
from sfumato.service.house import House
from sfumato.service.housekeeping import keep_house
from sfumato.service.owners import Owners
from sfumato.service.webhooks import Post, Webhooks, check_address, deliver, is_public, watch_limits

HOSTS = ("hooks.example", "chat.example:8443")
ADDRESS = "https://hooks.example/in?room=7"


class Receiver:
    """Takes what is sent, and answers as it is told."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.posts = list(answers), list[Post]()

    def __call__(self, post: Post) -> int:
        self.posts.append(post)
        answer = self.answers.pop(0) if self.answers else 204
        if isinstance(answer, Exception):
            raise answer
        return int(answer)


def public(host: str, port: int) -> list[str]:
    return ["93.184.216.34"]


@pytest.fixture
def hooked(tmp_path: Path, clock: Clock) -> tuple[House, str]:
    house = opened(tmp_path, clock, webhook_hosts=HOSTS, webhook_tries=3)
    return house, Webhooks(house).add(OWNER, "visits", "chat", ADDRESS, EVENTS)


def test_a_grant_is_told_signed_and_without_data(hooked: tuple[House, str], clock: Clock) -> None:
    house, secret = hooked
    request = Analysts(house).request_share(ADA, "visits", sf.Pure("0.5"), purpose="a poster on ward 9")
    Owners(house).decide(OWNER, "visits", request.number, grants=True, reason="ward 9 agrees")
    receiver = Receiver()
    assert deliver(house, clock(), send=receiver, resolve=public) == 1
    [post] = receiver.posts
    assert (post.address, post.number) == (ADDRESS, "93.184.216.34")
    said = json.loads(post.body)
    assert said["event"] == "share granted"
    assert said["facts"] == {"request": request.number}
    assert b"ward" not in post.body
    signature = hmac.new(bytes.fromhex(secret), post.body, hashlib.sha256).hexdigest()
    assert dict(post.headers)["Sfumato-Signature"] == f"sha256={signature}"
    assert secret not in repr(post)
    assert deliver(house, clock(), send=receiver, resolve=public) == 0
    [shown] = Webhooks(house).webhooks(OWNER, "visits")
    assert shown.last.endswith("arrived")
    assert secret not in repr(shown)


def test_a_refusal_and_a_publication_are_told(hooked: tuple[House, str], clock: Clock) -> None:
    house, _ = hooked
    request = Analysts(house).request_share(ADA, "visits", sf.Pure("0.5"), purpose="a poster")
    Owners(house).decide(OWNER, "visits", request.number, grants=False, reason="too much")
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    release = Analysts(house).ask(ADA, "visits", asked())
    assert release.receipt is not None
    Curators(house).publish(CURATOR, "visits", release.receipt.entry, title="Visits")
    receiver = Receiver()
    keep_house(house, send=receiver, resolve=public)
    assert {json.loads(post.body)["event"] for post in receiver.posts} == {
        "share declined",
        "share granted",
        "release published",
    }
    ids = [json.loads(post.body)["id"] for post in receiver.posts]
    assert len(set(ids)) == 3
    assert all(str(release.value.only()) not in post.body.decode() for post in receiver.posts)


def test_what_fails_is_tried_again_later_each_time_and_given_up_in_the_end(
    hooked: tuple[House, str], clock: Clock
) -> None:
    house, _ = hooked
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    receiver = Receiver(500, OSError("no route"), 302)
    waited = []
    while house.records.all(MESSAGE):
        before = len(receiver.posts)
        seconds = 0
        while len(receiver.posts) == before:
            deliver(house, clock.pass_by(seconds=10), send=receiver, resolve=public)
            seconds += 10
        waited.append(seconds)
    assert len(receiver.posts) == 3
    assert waited == sorted(waited)
    assert len({post.body for post in receiver.posts}) == 1


def test_two_workers_do_not_send_the_same_at_once(hooked: tuple[House, str], clock: Clock) -> None:
    house, _ = hooked
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    sent: list[Post] = []

    def sending(post: Post) -> int:
        sent.append(post)
        deliver(house, clock(), send=sending, resolve=public)  # another worker looks while this one sends
        return 200

    deliver(house, clock(), send=sending, resolve=public)
    assert len(sent) == 1


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example/",
        "https://hooks.example.evil/",
        "https://evil/?hooks.example",
        "https://hooks.example@evil/",
        "https://user:word@hooks.example/",
        "https://hooks.example:8443/",
        "https://chat.example/",
        "https://hooks.example\\@evil/",
        "https://hooks.example/#x",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://",
        "ftp://hooks.example/",
        "javascript:alert(1)",
        "https://hooks.example/\nHost: evil",
        "https://hooks.example/" + "x" * 600,
        "",
        None,
        7,
    ],
)
def test_addresses_that_settings_do_not_name_are_refused(hooked: tuple[House, str], address: object) -> None:
    house, _ = hooked
    with pytest.raises(BadArgument) as refusal:
        Webhooks(house).add(OWNER, "visits", "other", address, ["limit low"])  # type: ignore[arg-type]
    assert "evil" not in str(refusal.value)


def test_addresses_that_settings_name_are_taken() -> None:
    assert check_address("https://HOOKS.example:443/x", HOSTS) == "hooks.example"
    assert check_address("https://chat.example:8443/x", HOSTS) == "chat.example"


@pytest.mark.parametrize(
    "number",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:10.0.0.1",
        "2002:7f00:0001::",
        "64:ff9b::a00:1",
        "nonsense",
        "",
    ],
)
def test_nothing_is_sent_into_the_house(hooked: tuple[House, str], clock: Clock, number: str) -> None:
    house, _ = hooked
    assert not is_public(number)
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    receiver = Receiver()
    for numbers in ([number], ["93.184.216.34", number]):
        deliver(house, clock.pass_by(days=1), send=receiver, resolve=lambda host, port, found=numbers: found)
    assert receiver.posts == []
    [shown] = Webhooks(house).webhooks(OWNER, "visits")
    assert "inside the network" in shown.last


def test_settings_may_allow_addresses_of_the_house(tmp_path: Path, clock: Clock) -> None:
    house = opened(tmp_path, clock, webhook_hosts=HOSTS, webhooks_may_be_private=True)
    Webhooks(house).add(OWNER, "visits", "chat", ADDRESS, EVENTS)
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    receiver = Receiver()
    assert deliver(house, clock(), send=receiver, resolve=lambda host, port: ["10.0.0.5"]) == 1


def test_a_low_limit_is_told_once_for_each_time(tmp_path: Path) -> None:
    clock = Clock()
    house = opened(tmp_path, clock, webhook_hosts=HOSTS, low_limit=0.25, period="month")
    Webhooks(house).add(OWNER, "visits", "chat", ADDRESS, [LOW])
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot", period="month")
    assert watch_limits(house) == 0
    Analysts(house).ask(ADA, "visits", asked(epsilon="0.16"))
    assert watch_limits(house) == 1
    assert watch_limits(house) == 0
    [message] = house.records.all(MESSAGE)
    assert message.said["body"]["facts"] == {"account": "visits/ada", "below": 0.25}
    clock.pass_by(days=31)
    assert watch_limits(house) == 0
    Analysts(house).ask(ADA, "visits", asked(epsilon="0.17"))
    assert watch_limits(house) == 1


@pytest.mark.parametrize("events", [[], ["nonsense"], "limit low", None])
def test_bad_events_and_names_are_refused(hooked: tuple[House, str], events: Any) -> None:
    house, _ = hooked
    with pytest.raises(BadArgument):
        Webhooks(house).add(OWNER, "visits", "other", ADDRESS, events)
    with pytest.raises(BadArgument):
        Webhooks(house).add(OWNER, "visits", "a/b", ADDRESS, EVENTS)
    Webhooks(house).remove(OWNER, "visits", "chat")
    with pytest.raises(BadArgument):
        Webhooks(house).remove(OWNER, "visits", "chat")


def test_a_webhook_that_was_removed_is_told_nothing_more(hooked: tuple[House, str], clock: Clock) -> None:
    house, _ = hooked
    Owners(house).open_share(OWNER, "visits", "ada", sf.Pure("0.2"), reason="a pilot")
    Webhooks(house).remove(OWNER, "visits", "chat")
    receiver = Receiver()
    assert deliver(house, clock(), send=receiver, resolve=public) == 0
    assert receiver.posts == []
    assert house.records.all(MESSAGE) == []


def test_a_test_tells_of_nothing_else_and_how_messages_went_is_remembered(
    hooked: tuple[House, str], clock: Clock
) -> None:
    house, _ = hooked
    webhooks = Webhooks(house)
    webhooks.test(OWNER, "visits", "chat")
    with pytest.raises(BadArgument, match="sent once"):
        webhooks.test(OWNER, "visits", "chat")
    assert webhooks.webhooks(OWNER, "visits")[0].waiting == 1
    receiver = Receiver(500)
    assert deliver(house, clock(), send=receiver, resolve=public) == 0
    assert deliver(house, clock.pass_by(hours=1), send=receiver, resolve=public) == 1
    assert json.loads(receiver.posts[-1].body)["facts"] == {}
    [shown] = webhooks.webhooks(OWNER, "visits")
    assert [one.told for one in shown.deliveries] == ["arrived", "refused with 500"]
    assert {one.event for one in shown.deliveries} == {"test"} and shown.waiting == 0
    for _ in range(12):
        webhooks.test(OWNER, "visits", "chat")
        deliver(house, clock.pass_by(minutes=1), send=receiver, resolve=public)
    assert len(webhooks.webhooks(OWNER, "visits")[0].deliveries) == 10
    for name in ("nobody", "../visits/chat", ""):
        with pytest.raises(BadArgument):
            webhooks.test(OWNER, "visits", name)
