"""The documentation of the API holds: whatever it allows, and what it does not, is answered as it says, never by 5xx.

The short form tries a few requests for each route; at night there are many more.
"""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.unit.server.world import COUNT, ROLES, World

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
SHORT, LONG = 2, 150
FILLED = {"data_set": "visits"}


def tried(world: World, examples: int) -> int:
    """Asks every route as it is documented, as somebody of each role in turn; gives how many requests that took."""
    schema = schemathesis.openapi.from_dict(world.app.openapi())
    asked = 0
    for number, result in enumerate(schema.get_all_operations()):
        operation = result.ok()
        strategy = operation.as_strategy()

        @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=strategy, who=st.sampled_from([*ROLES, "nobody"]), there=st.booleans())
        def check(case: schemathesis.Case, who: str, *, there: bool) -> None:
            nonlocal asked
            asked += 1
            if there and "data_set" in (case.path_parameters or {}):
                case.path_parameters["data_set"] = "visits"
            sent = case.as_transport_kwargs(base_url="http://testserver")
            url, method = sent.pop("url"), sent.pop("method")
            sent.pop("cookies", None)
            if not isinstance(sent.get("data"), dict | None):
                sent["content"] = sent.pop("data")
            headers = {name: value for name, value in dict(sent.pop("headers", None) or {}).items() if value.isascii()}
            headers = {name: value for name, value in headers.items() if name.lower() not in ("authorization", "host")}
            answer = world.call(who, method, url, headers=headers, **sent)
            case.validate_response(schemathesis.Response.from_any(answer), checks=CHECKS)

        check()
        assert number >= 0
    return asked


def test_the_api_keeps_to_its_documentation(shared: World) -> None:
    assert tried(shared, SHORT) > 100


@pytest.mark.nightly
def test_the_api_keeps_to_its_documentation_for_long(world: World) -> None:
    assert tried(world, LONG) > 2_000


def test_a_break_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.server.routes.questions.explained", lambda _: {"price": "free"})
    documented = world.app.openapi()
    operation = schemathesis.openapi.from_dict(documented)["/api/data-sets/{data_set}/explain"]["POST"]
    case = operation.Case(path_parameters=dict(FILLED), body=dict(COUNT))
    answer = world.post("ada", "/api/data-sets/visits/explain", COUNT)
    assert answer.status_code == 200
    with pytest.raises(BaseException, match="schema"):
        case.validate_response(schemathesis.Response.from_any(answer), checks=CHECKS)
