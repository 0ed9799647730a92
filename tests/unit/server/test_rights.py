"""Each route × each role: who may do what is decided in `rights`, and no route forgets to ask."""

from __future__ import annotations

import pytest
from tests.unit.server.world import COUNT, ROLES, World

from sfumato.service.people import TOKEN
from sfumato.service.rights import RIGHTS, Action, Grant, Role

D = "/api/data-sets/{data_set}"
LOSS = {"epsilon": "0.001"}
SCHEDULE = {"question": COUNT, "every": "day"}
HOOK = {"address": "https://hooks.example.org/", "events": ["share granted"]}
REGISTER = {"source": "/nowhere", "codebook": {}, "limit": LOSS}
WORDS = {"reason": "a reason"}

ROUTES: dict[tuple[str, str], tuple[Action | None, object]] = {
    ("POST", f"{D}/explain"): (Action.EXPLAIN, COUNT),
    ("POST", f"{D}/ask"): (Action.ASK, COUNT),
    ("GET", "/api/data-sets"): (None, None),
    ("GET", D): (Action.DESCRIBE, None),
    ("PUT", D): (Action.REGISTER, REGISTER),
    ("GET", f"{D}/codebook"): (Action.DESCRIBE, None),
    ("GET", f"{D}/registration"): (Action.REGISTER, None),
    ("POST", f"{D}/codebook/check"): (Action.REGISTER, {"codebook": {}}),
    ("GET", f"{D}/answers"): (Action.SEE_OWN_ANSWERS, None),
    ("GET", f"{D}/answers?of=all"): (Action.SEE_ANSWERS, None),
    ("GET", f"{D}/answers/{{number}}"): (Action.SEE_OWN_ANSWERS, None),
    ("GET", f"{D}/answers/{{number}}?of=all"): (Action.SEE_ANSWERS, None),
    ("GET", f"{D}/answers/{{number}}/missing"): (Action.PUBLISH, None),
    ("GET", f"{D}/releases"): (Action.SEE_PUBLISHED, None),
    ("GET", f"{D}/releases/{{number}}"): (Action.SEE_PUBLISHED, None),
    ("PUT", f"{D}/releases/{{number}}"): (Action.PUBLISH, {"title": "A title"}),
    ("POST", f"{D}/releases/{{number}}/withdraw"): (Action.PUBLISH, WORDS),
    ("GET", f"{D}/release-table"): (Action.PUBLISH, None),
    ("GET", f"{D}/limits"): (Action.SEE_LIMITS, None),
    ("GET", f"{D}/shares"): (Action.SEE_OWN_ANSWERS, None),
    ("GET", f"{D}/spending"): (Action.SEE_OWN_ANSWERS, None),
    ("GET", f"{D}/requests"): (Action.REQUEST_SHARE, None),
    ("GET", f"{D}/requests?of=all"): (Action.SEE_LIMITS, None),
    ("POST", f"{D}/requests"): (Action.REQUEST_SHARE, LOSS | {"purpose": "to learn"}),
    ("POST", f"{D}/requests/{{number}}/decisions"): (Action.DECIDE, {"grants": True, **WORDS}),
    ("PUT", f"{D}/shares/{{share}}"): (Action.DECIDE, LOSS | WORDS),
    ("POST", f"{D}/shares/{{share}}/close"): (Action.CLOSE_SHARES, WORDS),
    ("GET", f"{D}/policy"): (Action.SEE_LIMITS, None),
    ("PUT", f"{D}/policy"): (Action.DECIDE, {"needed": 1, **WORDS}),
    ("GET", f"{D}/book"): (Action.READ_BOOK, None),
    ("GET", f"{D}/book/head"): (Action.READ_BOOK, None),
    ("GET", f"{D}/book/receipts"): (Action.READ_BOOK, None),
    ("POST", f"{D}/book/verify"): (Action.VERIFY, {}),
    ("POST", f"{D}/book/checkpoint"): (Action.VERIFY, None),
    ("GET", f"{D}/book/export"): (Action.EXPORT_BOOK, None),
    ("GET", f"{D}/checklist"): (Action.KEEP_CHECKLIST, None),
    ("POST", f"{D}/checklist"): (Action.KEEP_CHECKLIST, {"mandatory": ["no such item"]}),
    ("PATCH", f"{D}/checklist/{{item}}"): (Action.KEEP_CHECKLIST, {"evidence": "seen"}),
    ("GET", f"{D}/jobs"): (Action.ASK, None),
    ("GET", f"{D}/jobs/{{job}}"): (Action.ASK, None),
    ("DELETE", f"{D}/jobs/{{job}}"): (Action.ASK, None),
    ("GET", f"{D}/jobs/{{job}}/events"): (Action.ASK, None),
    ("GET", f"{D}/schedules"): (Action.SCHEDULE, None),
    ("PUT", f"{D}/schedules/{{name}}"): (Action.SCHEDULE, SCHEDULE),
    ("POST", f"{D}/schedules/{{name}}/resume"): (Action.SCHEDULE, None),
    ("DELETE", f"{D}/schedules/{{name}}"): (Action.SCHEDULE, None),
    ("GET", f"{D}/webhooks"): (Action.KEEP_WEBHOOKS, None),
    ("PUT", f"{D}/webhooks/{{name}}"): (Action.KEEP_WEBHOOKS, HOOK),
    ("DELETE", f"{D}/webhooks/{{name}}"): (Action.KEEP_WEBHOOKS, None),
    ("PUT", "/api/uploads/{data_set}/{file}"): (Action.REGISTER, None),
    ("GET", "/api/meaning?epsilon=1"): (Action.WEIGH, None),
    ("GET", "/api/me"): (None, None),
    ("GET", "/api/tokens"): (Action.KEEP_TOKENS, None),
    ("POST", "/api/tokens"): (Action.KEEP_TOKENS, {"called": "a test", "scope": ["no such action"]}),
    ("DELETE", "/api/tokens/{place}"): (Action.KEEP_TOKENS, None),
    ("GET", "/api/state"): (Action.WATCH, None),
    ("GET", "/metrics"): (Action.WATCH, None),
    ("GET", "/api/people"): (Action.MANAGE_PEOPLE, None),
    ("POST", "/api/people"): (Action.MANAGE_PEOPLE, {"name": "ada", "grants": []}),
    ("PUT", "/api/people/{name}/grants"): (Action.MANAGE_PEOPLE, {"grants": []}),
    ("POST", "/api/people/{name}/invite"): (Action.MANAGE_PEOPLE, None),
    ("POST", "/api/people/{name}/sign-out"): (Action.MANAGE_PEOPLE, None),
    ("DELETE", "/api/people/{name}"): (Action.MANAGE_PEOPLE, None),
    ("GET", "/api/people/{name}/tokens"): (Action.MANAGE_PEOPLE, None),
    ("DELETE", "/api/people/{name}/tokens/{place}"): (Action.MANAGE_PEOPLE, None),
}
"""Every route, with the action that it takes (None: anybody who is known) and a body that is right in form."""

OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("POST", "/api/sign-in")}
"""Routes that ask for no token."""

NAMES = {"number": "999999", "share": "nobody", "item": "no-item", "job": "nojob", "name": "nobody", "place": "0" * 64}


def path_of(template: str, data_set: str = "visits") -> str:
    return template.format(data_set=data_set, file="a.csv", **NAMES)


def refused_for_rights(status: int, detail: str) -> bool:
    return status == 403 and "that takes" in detail


def test_every_route_is_in_the_table(shared: World) -> None:
    documented = {
        (method.upper(), path) for path, methods in shared.app.openapi()["paths"].items() for method in methods
    }
    assert documented == {(method, path.partition("?")[0]) for method, path in ROUTES} | OPEN


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_rights_of_each_role(shared: World, method: str, path: str) -> None:
    action, body = ROUTES[method, path]
    for person, role in ROLES.items():
        answer = shared.call(person, method, path_of(path), **({} if body is None else {"json": body}))
        allowed = action is None or action in RIGHTS[Role(role)]
        words = answer.text if answer.status_code == 403 else ""
        assert answer.status_code != 401
        assert refused_for_rights(answer.status_code, words) == (not allowed), (role, answer.status_code, answer.text)
        assert answer.status_code < 500, answer.text


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nobody_is_let_in_without_a_token(shared: World, method: str, path: str) -> None:
    body = ROUTES[method, path][1]
    said = {} if body is None else {"json": body}
    cookie = {"cookie": f"sfumato={shared.tokens['root']}"}
    assert shared.call(None, method, path_of(path), **said).status_code == 401
    assert shared.call(None, method, path_of(path), headers=cookie, **said).status_code == 401
    assert shared.call("sfumato_" + "0" * 60, method, path_of(path), **said).status_code == 401


def test_a_right_on_one_data_set_is_none_on_another_there_or_not(shared: World) -> None:
    shared.house.people.add("eve", [Grant(role.value, "elsewhere") for role in Role])
    shared.tokens["eve"] = shared.house.people.issue(TOKEN, "eve").text
    for (method, path), (action, body) in ROUTES.items():
        if action is None or "{data_set}" not in path:
            continue
        said = {} if body is None else {"json": body}
        there, not_there = (
            shared.call("eve", method, path_of(path, name), **said) for name in ("visits", "no-such-data")
        )
        assert there.status_code == not_there.status_code == 403, (method, path, there.text)
        one, other = there.json()["detail"], not_there.json()["detail"]
        assert one.replace("visits", "") == other.replace("no-such-data", ""), "a refusal tells whether data is there"


def test_who_may_describe_is_told_that_there_is_no_such_data(shared: World) -> None:
    answer = shared.call("ada", "GET", "/api/data-sets/no-such-data")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sfumato:not-there")


def test_a_token_is_good_for_its_scope_alone(shared: World) -> None:
    token = shared.house.people.issue(TOKEN, "ada", scope=[Action.EXPLAIN]).text
    assert shared.post(token, "/api/data-sets/visits/explain", COUNT).status_code == 200
    refused = shared.ask(token)
    assert refused.status_code == 403
    assert "this token of ada is not good to ask questions" in refused.json()["detail"]
