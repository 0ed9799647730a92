"""Rights: the whole matrix, role by action by place, for verdicts and for every use case that there is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.service.houses import ADA, CURATOR, OWNER, asked, opened, registration, scoped, somebody

import sfumato as sf
from sfumato import service
from sfumato.errors import NotAllowed, SfumatoError
from sfumato.service.accounts import Accounts
from sfumato.service.administrators import Administrators
from sfumato.service.analysts import Analysts
from sfumato.service.auditors import Auditors
from sfumato.service.curators import Curators
from sfumato.service.house import House
from sfumato.service.jobs import Jobs
from sfumato.service.owners import Owners
from sfumato.service.people import Person
from sfumato.service.rights import (
    ALL_SEE,
    EVERYBODY,
    EVERYWHERE,
    GLOBAL,
    RIGHTS,
    Action,
    Grant,
    Role,
    verdict,
    verdict_on_unnamed,
)
from sfumato.service.schedules import Schedules
from sfumato.service.tokens import Tokens
from sfumato.service.webhooks import Webhooks

CLASSES = (Accounts, Analysts, Curators, Owners, Auditors, Administrators, Jobs, Schedules, Webhooks, Tokens)

A = Action
NEEDS: dict[str, Action] = {
    "Accounts.mine": A.KEEP_ACCOUNT,
    "Accounts.change_password": A.KEEP_ACCOUNT,
    "Accounts.end_visit": A.KEEP_ACCOUNT,
    "Accounts.sign_out_everywhere": A.KEEP_ACCOUNT,
    "Analysts.codebook": A.DESCRIBE,
    "Analysts.version": A.DESCRIBE,
    "Analysts.explain": A.EXPLAIN,
    "Analysts.shape": A.EXPLAIN,
    "Analysts.ask": A.ASK,
    "Analysts.answers": A.SEE_OWN_ANSWERS,
    "Analysts.latest": A.SEE_OWN_ANSWERS,
    "Analysts.answer": A.SEE_OWN_ANSWERS,
    "Analysts.rendered": A.SEE_OWN_ANSWERS,
    "Analysts.request_share": A.REQUEST_SHARE,
    "Analysts.requests": A.REQUEST_SHARE,
    "Analysts.shares": A.SEE_OWN_ANSWERS,
    "Analysts.spending": A.SEE_OWN_ANSWERS,
    "Analysts.meaning": A.WEIGH,
    "Curators.register": A.REGISTER,
    "Curators.registered": A.REGISTER,
    "Curators.check": A.REGISTER,
    "Curators.draft": A.REGISTER,
    "Curators.checklist": A.KEEP_CHECKLIST,
    "Curators.begin_checklist": A.KEEP_CHECKLIST,
    "Curators.set_item": A.KEEP_CHECKLIST,
    "Curators.answers": A.SEE_ANSWERS,
    "Curators.answer": A.SEE_ANSWERS,
    "Curators.missing": A.PUBLISH,
    "Curators.publish": A.PUBLISH,
    "Curators.withdraw": A.PUBLISH,
    "Curators.published": A.SEE_PUBLISHED,
    "Curators.published_answer": A.SEE_PUBLISHED,
    "Curators.rendered": A.SEE_PUBLISHED,
    "Curators.release_table": A.PUBLISH,
    "Curators.registry_entry": A.PUBLISH,
    "Curators.missing_for_publication": A.PUBLISH,
    "Owners.limits": A.SEE_LIMITS,
    "Owners.requests": A.SEE_LIMITS,
    "Owners.decide": A.DECIDE,
    "Owners.propose": A.DECIDE,
    "Owners.demand": A.DECIDE,
    "Owners.open_share": A.DECIDE,
    "Owners.open_shares": A.DECIDE,
    "Owners.close_share": A.CLOSE_SHARES,
    "Owners.policy": A.SEE_LIMITS,
    "Owners.set_policy": A.DECIDE,
    "Owners.meaning": A.WEIGH,
    "Auditors.book": A.READ_BOOK,
    "Auditors.limits": A.SEE_LIMITS,
    "Auditors.verify": A.VERIFY,
    "Auditors.head": A.READ_BOOK,
    "Auditors.receipts": A.READ_BOOK,
    "Auditors.checkpoint": A.VERIFY,
    "Auditors.signer": A.VERIFY,
    "Auditors.export": A.EXPORT_BOOK,
    "Administrators.people": A.MANAGE_PEOPLE,
    "Administrators.add": A.MANAGE_PEOPLE,
    "Administrators.set_grants": A.MANAGE_PEOPLE,
    "Administrators.leave": A.MANAGE_PEOPLE,
    "Administrators.invite": A.MANAGE_PEOPLE,
    "Administrators.tokens": A.MANAGE_PEOPLE,
    "Administrators.revoke": A.MANAGE_PEOPLE,
    "Administrators.sign_out": A.MANAGE_PEOPLE,
    "Administrators.state": A.WATCH,
    "Jobs.submit": A.ASK,
    "Jobs.job": A.ASK,
    "Jobs.jobs": A.ASK,
    "Jobs.cancel": A.ASK,
    "Schedules.add": A.SCHEDULE,
    "Schedules.schedules": A.SCHEDULE,
    "Schedules.remove": A.SCHEDULE,
    "Schedules.resume": A.SCHEDULE,
    "Webhooks.add": A.KEEP_WEBHOOKS,
    "Webhooks.webhooks": A.KEEP_WEBHOOKS,
    "Webhooks.test": A.KEEP_WEBHOOKS,
    "Webhooks.remove": A.KEEP_WEBHOOKS,
    "Tokens.issue": A.KEEP_TOKENS,
    "Tokens.mine": A.KEEP_TOKENS,
    "Tokens.revoke": A.KEEP_TOKENS,
}
"""The right that each use case takes."""

OPEN = {"Analysts.data_sets": "it lists what somebody may read of, and nothing for others"}

OF_NOBODY = {"Calls": "its notes are the server's own; whoever has the secret of a connection cancels what runs on it"}
"""Classes that have a house and no use cases."""

PLACES = ("visits", "grades", EVERYWHERE)


def use_cases() -> Iterator[tuple[str, Callable[..., Any], type]]:
    for kind in CLASSES:
        for name, function in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{kind.__name__}.{name}", function, kind


def allowed(role: Role, action: Action, granted: str, asked_of: str) -> bool:
    """The matrix once more, in other words than those of the code."""
    if action not in RIGHTS[role]:
        return False
    if action in EVERYBODY:
        return True
    if action in GLOBAL:
        return granted == EVERYWHERE
    return granted in (EVERYWHERE, asked_of)


def test_every_use_case_is_in_the_table_and_every_class_of_them_is_looked_at() -> None:
    found = {name for name, _, _ in use_cases()}
    assert found == NEEDS.keys() | OPEN.keys()
    with_houses = {
        name
        for module in (Path(service.__file__).parent).glob("*.py")
        for name, kind in vars(__import__(f"sfumato.service.{module.stem}", fromlist=["x"])).items()
        if inspect.isclass(kind) and kind.__module__ == f"sfumato.service.{module.stem}"
        if list(getattr(kind, "__annotations__", {})) == ["house"]
    }
    assert with_houses == {kind.__name__ for kind in CLASSES} | OF_NOBODY.keys()


def test_first_thing_that_each_use_case_does_is_to_ask_for_its_right() -> None:
    for name, function, _ in use_cases():
        body = inspect.getsource(function)
        if name in OPEN:
            continue
        first = body.partition('"""')[2].partition('"""')[2].strip().splitlines()[0]
        assert first.startswith(f"person.need(Action.{NEEDS[name].name}"), name


def test_whoever_has_not_signed_in_sees_what_is_published_where_the_settings_say_so_and_nothing_else() -> None:
    for action in Action:
        assert verdict_on_unnamed(action, openly=True).allowed is (action is A.SEE_PUBLISHED)
        assert not verdict_on_unnamed(action, openly=False).allowed


@pytest.mark.parametrize("granted", PLACES)
@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("role", Role)
def test_verdicts_follow_the_matrix(role: Role, action: Action, granted: str) -> None:
    for asked_of in ("visits", "grades"):
        decided = verdict("ada", [Grant(role.value, granted)], action, "" if action in GLOBAL else asked_of)
        assert decided.allowed is allowed(role, action, granted, asked_of)
        assert role.value in decided.reason or not decided.allowed


def test_a_role_for_one_data_set_does_nothing_to_the_service() -> None:
    for action in GLOBAL:
        assert not verdict("root", [Grant("administrator", "visits")], action).allowed
        assert not verdict("root", [Grant("administrator", "visits")], action, "visits").allowed


grants = st.lists(st.builds(Grant, st.sampled_from([role.value for role in Role]), st.sampled_from(PLACES)), max_size=4)


@given(grants, grants, st.sampled_from(Action), st.sampled_from(["visits", "grades", "new", ""]))
def test_more_grants_allow_no_less_and_only_what_one_of_them_allows(
    some: list[Grant], others: list[Grant], action: Action, data_set: str
) -> None:
    both = verdict("ada", [*some, *others], action, data_set).allowed
    assert both is (verdict("ada", some, action, data_set).allowed or verdict("ada", others, action, data_set).allowed)
    assert both is any(verdict("ada", [one], action, data_set).allowed for one in (*some, *others))


@given(grants, st.frozensets(st.sampled_from(Action)), st.sampled_from(Action), st.sampled_from(["visits", "grades"]))
def test_a_token_allows_what_is_in_its_scope_and_what_its_person_may(
    held: list[Grant], scope: frozenset[Action], action: Action, data_set: str
) -> None:
    whole = Person("ada", tuple(held))
    assert scoped(whole, *scope).may(action, data_set).allowed is (
        action in scope and whole.may(action, data_set).allowed
    )


def test_nobody_sees_limits_answers_and_people_together() -> None:
    for role in Role:
        assert not {A.MANAGE_PEOPLE, A.DESCRIBE} <= RIGHTS[role]
        assert not {A.ASK, A.DECIDE} <= RIGHTS[role]
        assert not {A.READ_BOOK, A.SEE_ANSWERS} <= RIGHTS[role]
        assert RIGHTS[role] >= EVERYBODY
        assert role is Role.ADMINISTRATOR or RIGHTS[role] >= ALL_SEE


@dataclass(frozen=True)
class Scene:
    """A house in which every use case can be called with sensible arguments."""

    house: House
    folder: Path
    answer: int
    job: str

    def arguments(self, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What follows the person, for a use case on visits."""
        on, number = "visits", self.answer
        said: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
            "Analysts.explain": ((on, asked()), {}),
            "Analysts.shape": ((on, asked()), {}),
            "Analysts.ask": ((on, asked()), {}),
            "Analysts.answer": ((on, number), {}),
            "Analysts.rendered": ((on, number, "json"), {}),
            "Analysts.request_share": ((on, sf.Pure("0.1")), {"purpose": "a poster"}),
            "Analysts.meaning": ((sf.Pure(1),), {}),
            "Curators.register": ((registration(self.folder / "visits.parquet"),), {}),
            "Curators.check": ((on, "codebook: 1\ntitle: x\n"), {}),
            "Curators.draft": ((on, str(self.folder / "visits.parquet")), {}),
            "Curators.set_item": ((on, "7a"), {"evidence": "a patient"}),
            "Curators.answer": ((on, number), {}),
            "Curators.missing": ((on, number), {}),
            "Curators.publish": ((on, number), {"title": "Visits"}),
            "Curators.withdraw": ((on, number), {"reason": "a slip"}),
            "Curators.published_answer": ((on, number), {}),
            "Curators.rendered": ((on, number, "csv"), {}),
            "Owners.decide": ((on, 3), {"grants": True, "reason": "fine"}),
            "Owners.propose": ((on, ["ada", "ben"]), {}),
            "Owners.demand": ((on, [asked()]), {}),
            "Owners.open_share": ((on, "cleo", sf.Pure("0.01")), {"reason": "a pilot"}),
            "Owners.open_shares": ((on, {"dora": sf.Pure("0.01")}), {"reason": "a pilot"}),
            "Owners.close_share": ((on, "nobody"), {"reason": "over"}),
            "Owners.set_policy": ((on,), {"needed": 1, "reason": "as before"}),
            "Owners.meaning": ((sf.Pure(1),), {}),
            "Administrators.add": (("newcomer",), {}),
            "Administrators.set_grants": (("ben", []), {}),
            "Administrators.leave": (("ben",), {}),
            "Administrators.invite": (("ben",), {}),
            "Administrators.tokens": (("ben",), {}),
            "Administrators.revoke": (("ben", "x"), {}),
            "Administrators.sign_out": (("ben",), {}),
            "Administrators.people": ((), {}),
            "Administrators.state": ((), {}),
            "Jobs.submit": ((on, asked(), "k"), {}),
            "Jobs.job": ((on, self.job), {}),
            "Jobs.cancel": ((on, self.job), {}),
            "Schedules.add": ((on, "daily", asked()), {"every": "day"}),
            "Schedules.remove": ((on, "daily"), {}),
            "Schedules.resume": ((on, "daily"), {}),
            "Webhooks.add": ((on, "chat", "https://hooks.example/x", ["share granted"]), {}),
            "Webhooks.test": ((on, "chat"), {}),
            "Webhooks.remove": ((on, "chat"), {}),
            "Accounts.mine": ((), {}),
            "Accounts.change_password": (("not the one that there is", "another one, long enough"), {}),
            "Accounts.end_visit": (("x",), {}),
            "Accounts.sign_out_everywhere": ((), {}),
            "Tokens.issue": (("laptop",), {"lasts": timedelta(days=1)}),
            "Tokens.mine": ((), {}),
            "Tokens.revoke": (("x",), {}),
        }
        return said.get(name, ((on,), {}))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    house = opened(tmp_path, share=sf.Pure("0.5"))
    release = Analysts(house).ask(ADA, "visits", asked())
    assert release.receipt is not None
    job = Jobs(house).submit(ADA, "visits", asked(), "a")
    yield Scene(house, tmp_path, release.receipt.entry, job.id)
    house.close()


def test_each_use_case_is_done_by_whom_the_matrix_lets_and_by_nobody_else(scene: Scene) -> None:
    for name, _, kind in use_cases():
        if name in OPEN:
            continue
        positional, named = scene.arguments(name)
        for role in Role:
            for granted in PLACES:
                person = somebody(f"{role.name.lower()}-x", role, data_set=granted)
                outcome = verdict_of(getattr(kind(scene.house), name.partition(".")[2]), person, positional, named)
                expected = allowed(role, NEEDS[name], granted, "visits")
                refused = outcome is not None and outcome.reason == verdict_reason(person, NEEDS[name])
                assert refused is not expected, (name, role, granted, outcome)


def verdict_of(
    act: Callable[..., Any], person: Person, positional: tuple[Any, ...], named: dict[str, Any]
) -> NotAllowed | None:
    """Calls a use case; gives the refusal, where somebody's rights were the matter."""
    try:
        done = act(person, *positional, **named)
        if inspect.isgenerator(done):
            list(done)
    except NotAllowed as refusal:
        return refusal
    except SfumatoError:
        return None  # they were let in, and something else is the matter
    return None


def verdict_reason(person: Person, action: Action) -> str:
    return person.may(action, "" if action in GLOBAL | EVERYBODY else "visits").reason


def test_a_token_is_held_to_its_scope_by_every_use_case(scene: Scene) -> None:
    for name, _, kind in use_cases():
        if name in OPEN:
            continue
        positional, named = scene.arguments(name)
        everything = Person("eve", tuple(Grant(role.value) for role in Role), frozenset(Action) - {NEEDS[name]})
        refusal = verdict_of(getattr(kind(scene.house), name.partition(".")[2]), everything, positional, named)
        assert refusal is not None, name
        assert "token" in refusal.reason


def test_lists_show_what_somebody_may_read_of(scene: Scene) -> None:
    analysts = Analysts(scene.house)
    assert list(analysts.data_sets(somebody("x", Role.ANALYST, data_set="grades"))) == []
    assert list(analysts.data_sets(somebody("x", Role.ADMINISTRATOR, data_set="*"))) == []
    assert list(analysts.data_sets(somebody("x", Role.AUDITOR, data_set="*"))) == ["visits"]
    assert list(analysts.data_sets(CURATOR)) == ["visits"]
    assert list(analysts.data_sets(scoped(OWNER, Action.DECIDE))) == []
