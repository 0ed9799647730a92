"""Each route × each role: who may do what is decided in `rights`, and no route forgets to ask."""

from __future__ import annotations

import pytest
from tests.examples.routes import OPEN, ROUTES, path_of, refused_for_rights
from tests.unit.server.world import COUNT, ROLES, World

from sfumato.service.people import TOKEN
from sfumato.service.rights import RIGHTS, Action, Grant, Role


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


def test_whoever_has_not_signed_in_reads_nothing_as_the_settings_are_by_themselves(shared: World) -> None:
    assert shared.house.settings.publish_openly is False
    for path in ("/published", "/published/1", "/published/1/csv"):
        for who in (None, "cora"):
            answer = shared.call(who, "GET", path)
            assert (answer.status_code, answer.headers["cache-control"]) == (403, "no-store"), path
