"""Every route of the server, with the action that it takes and a body that is right in form."""

from __future__ import annotations

from tests.unit.server.world import COUNT

from sfumato.service.rights import Action

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
    ("POST", f"{D}/webhooks/{{name}}/test"): (Action.KEEP_WEBHOOKS, None),
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
