"""Visits: cookies, tokens of forms, where a request comes from, and what becomes of those who guess."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from tests.unit.server.world import EASY, ORIGIN, PAGE, World, register, world_in

from sfumato.server.problems import Refused
from sfumato.server.rates import Failures
from sfumato.server.settings import Rates
from sfumato.server.signing_in import form_token

PASSWORD = "correct horse battery"


def welcome(world: World, name: str = "ada", headers: Mapping[str, str] = PAGE) -> httpx.Response:
    link = world.house.people.invite(name).text
    return world.call(None, "POST", "/welcome", data={"link": link, "password": PASSWORD}, headers=dict(headers))


def cookie_of(answer: httpx.Response) -> tuple[str, str]:
    made = re.match(r"([^=]+)=([^;]+);", answer.headers["set-cookie"])
    assert made is not None
    return made[1], made[2]


def sign_in(world: World, password: str, **more: str) -> httpx.Response:
    said = {"name": "ada", "password": password, **more}
    return world.call(None, "POST", "/sign-in", data=said, headers=PAGE)


def test_a_link_is_good_once_and_begins_a_visit(world: World) -> None:
    link = world.house.people.invite("ada").text
    said = {"link": link, "password": PASSWORD}
    first, second = (world.call(None, "POST", "/welcome", data=said, headers=PAGE) for _ in range(2))
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert second.status_code == 401
    assert "set-cookie" not in second.headers


def test_the_cookie_is_for_no_script_and_no_other_site(world: World) -> None:
    words = welcome(world).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(words.split("; "))
    assert "Domain" not in words


def test_with_tls_the_cookie_is_bound_to_this_host(tmp_path: Path) -> None:
    with world_in(tmp_path, origin="https://testserver", behind_proxy=True) as world:
        register(world)
        headers = {"origin": "https://testserver", "sec-fetch-site": "same-origin"}
        answer = welcome(world, headers=headers)
        assert cookie_of(answer)[0] == "__Host-sfumato"
        assert "Secure" in answer.headers["set-cookie"].split("; ")
        assert answer.headers["strict-transport-security"].startswith("max-age=31536000")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
        {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
        {"origin": "https://testserver"},
        {"origin": "http://testserver.evil.example"},
    ],
)
def test_forms_of_other_sites_are_refused(world: World, headers: dict[str, str]) -> None:
    assert welcome(world, headers=headers).status_code == 403
    assert sign_in(world, PASSWORD).status_code == 401, "a refused form has changed something"


def test_a_form_of_ours_may_name_no_origin(world: World) -> None:
    assert welcome(world, headers={"origin": "null", "sec-fetch-site": "same-origin"}).status_code == 303
    assert welcome(world, headers={"sec-fetch-site": "same-origin"}).status_code == 303
    assert welcome(world, headers={"origin": "null", "sec-fetch-site": "cross-site"}).status_code == 403


def test_a_visit_takes_the_token_of_its_own_forms(world: World) -> None:
    name, secret = cookie_of(welcome(world))
    other = cookie_of(welcome(world, "ben"))[1]
    headers = {**PAGE, "cookie": f"{name}={secret}"}
    for token in ("", "x", form_token(other), secret):
        refused = world.call(None, "POST", "/sign-out", data={"csrf": token}, headers=headers)
        assert refused.status_code == 403
    left = world.call(None, "POST", "/sign-out", data={"csrf": form_token(secret)}, headers=headers)
    assert left.status_code == 303
    assert 'sfumato=""' in left.headers["set-cookie"]
    again = world.call(None, "POST", "/sign-out", data={"csrf": form_token(secret)}, headers=headers)
    assert again.status_code == 401


def test_a_form_is_nothing_else_than_a_form(world: World) -> None:
    for said in ({"json": {"name": "ada"}}, {"files": {"name": b"ada"}}):
        assert world.call(None, "POST", "/sign-in", headers=PAGE, **said).status_code == 415
    wrong = {**PAGE, "content-type": "application/x-www-form-urlencoded"}
    for body in (b"name=%ff", b"name=a%00", b"&".join(b"a%d=1" % number for number in range(200))):
        assert world.call(None, "POST", "/sign-in", headers=wrong, content=body).status_code == 400


@pytest.mark.parametrize(
    "place", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\r\nset-cookie: a=b"]
)
def test_signing_in_leads_to_pages_of_ours_alone(world: World, place: str) -> None:
    welcome(world)
    answer = sign_in(world, PASSWORD, next=place)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert sign_in(world, PASSWORD, next="/data-sets/visits").headers["location"] == "/data-sets/visits"


def test_refusals_are_the_same_whatever_was_wrong(world: World) -> None:
    welcome(world)
    said = [("ada", "wrong wrong wrong"), ("nobody", PASSWORD), ("Not A Name", PASSWORD), ("ben", PASSWORD), ("", "")]
    answers = [
        world.call(None, "POST", "/sign-in", data={"name": name, "password": password}, headers=PAGE)
        for name, password in said
    ]
    own = r'urn:request:[0-9a-f-]+|(?<=name="name")[^>]*'  # a number of the request, and the name as it was typed
    texts = {re.sub(own, "", answer.text) for answer in answers}
    assert {answer.status_code for answer in answers} == {401}
    assert len(texts) == 1


def test_whoever_fails_often_waits_longer_and_longer() -> None:
    now = [0.0]
    failures, waits = Failures(1.0, 60.0, lambda: now[0]), []
    for _ in range(12):
        failures.failed({"person ada": 3, "address 1.2.3.4": 20})
        began = now[0]
        while True:
            try:
                failures.check(["person ada", "address 1.2.3.4"])
                break
            except Refused:
                now[0] += 0.5
        waits.append(now[0] - began)
    assert waits == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    failures.check(["person ben", "address 1.2.3.5"])
    failures.succeeded("person ada")
    failures.failed({"person ada": 3})
    failures.check(["person ada"])


def test_guesses_are_refused_before_they_are_looked_at(world: World) -> None:
    welcome(world)
    seen = [sign_in(world, f"wrong password {number}").status_code for number in range(8)]
    assert seen == [401] * 4 + [429] * 4
    waiting = sign_in(world, PASSWORD)
    assert waiting.status_code == 429, "the right password is let in while others have to wait"
    assert int(waiting.headers["retry-after"]) >= 1


def test_requests_are_counted_by_person_and_by_address(tmp_path: Path) -> None:
    few = Rates(person_burst=3, person_second=0.001, address_burst=8, address_second=0.001)
    with world_in(tmp_path, rates=few) as world:
        seen = [world.call("ada", "GET", "/api/me").status_code for _ in range(5)]
        assert seen == [200] * 3 + [429] * 2
        seen = [world.call("ben", "GET", "/api/me").status_code for _ in range(4)]
        assert seen == [200] * 3 + [429]
        assert world.call(None, "GET", "/healthz").status_code == 200


PROXY = {"identity_header": "x-person", "trusted_proxies": (ip_network("127.0.0.1"),)}


def test_a_trusted_proxy_says_who_it_is(tmp_path: Path) -> None:
    with world_in(tmp_path, **PROXY) as world:
        assert world.call(None, "GET", "/sign-in/proxy", headers={"x-person": "ada"}).status_code == 303
        for name in ("nobody", "", "ADA"):
            assert world.call(None, "GET", "/sign-in/proxy", headers={"x-person": name}).status_code == 401
        twice = httpx.Headers([("x-person", "ada"), ("x-person", "root")])
        assert world.call(None, "GET", "/sign-in/proxy", headers=twice).status_code == 401
        assert world.call(None, "GET", "/api/me", headers={"x-person": "ada"}).status_code == 401


def test_nobody_else_says_who_it_is(tmp_path: Path) -> None:
    other = PROXY | {"trusted_proxies": (ip_network("10.0.0.0/8"),)}
    with world_in(tmp_path, **other) as world:
        assert world.call(None, "GET", "/sign-in/proxy", headers={"x-person": "ada"}).status_code == 401


def test_passwords_for_tokens(world: World) -> None:
    welcome(world)
    answer = world.post(None, "/api/sign-in", {"name": "ada", "password": PASSWORD})
    assert answer.status_code == 200
    token = answer.json()["token"]
    assert world.call(token, "GET", "/api/me").json()["name"] == "ada"
    made = world.post(token, "/api/tokens", {"called": "notebook", "days": 7, "scope": ["ASK", "EXPLAIN"]})
    assert made.status_code == 201
    scoped = made.json()["token"]
    assert world.call(scoped, "GET", "/api/me").json()["scope"] == ["ASK", "EXPLAIN"]
    assert world.post(scoped, "/api/tokens", {"called": "another"}).status_code == 403
    assert world.call(token, "DELETE", f"/api/tokens/{made.json()['place']}").status_code == 204
    assert world.call(scoped, "GET", "/api/me").status_code == 401
    assert EASY.sign_ins > Rates().sign_ins
