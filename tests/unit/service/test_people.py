"""People: passwords and links, tokens and visits that end, and that nobody is let in by anything else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.service.houses import Clock

from sfumato.errors import BadArgument, ChangedMeanwhile, SignInRefused
from sfumato.service.people import LINK, PERSON, TOKEN, VISIT, People
from sfumato.service.records import Records, records_at
from sfumato.service.rights import Action, Grant, Role

PASSWORD = "correct horse battery"
ANALYST = Grant(Role.ANALYST.value, "visits")


@pytest.fixture
def records() -> Records:
    return records_at("memory:")


@pytest.fixture
def people(records: Records, clock: Clock) -> People:
    return People(records, clock=clock)


@pytest.fixture
def ada(people: People) -> str:
    people.choose_password(people.add("ada", [ANALYST]).text, PASSWORD)
    return "ada"


def test_a_link_is_good_once(people: People) -> None:
    link = people.add("ada", [ANALYST])
    with pytest.raises(SignInRefused):
        people.sign_in("ada", PASSWORD)
    assert people.choose_password(link.text, PASSWORD).grants == (ANALYST,)
    with pytest.raises(SignInRefused):
        people.choose_password(link.text, "another password")
    assert people.sign_in("ada", PASSWORD).name == "ada"


def test_a_new_link_makes_older_ones_good_no_more_and_links_end(people: People, clock: Clock) -> None:
    old = people.add("ada")
    new = people.invite("ada")
    with pytest.raises(SignInRefused):
        people.choose_password(old.text, PASSWORD)
    clock.pass_by(days=1)
    with pytest.raises(SignInRefused):
        people.choose_password(new.text, PASSWORD)


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong password!"),
        ("ada", ""),
        ("ada", PASSWORD + " "),
        ("Ada", PASSWORD),
        ("nobody", PASSWORD),
        ("", PASSWORD),
        ("ada\0", PASSWORD),
        ("x" * 500, PASSWORD),
        ("ada", "x" * 1_000_000),
        (7, PASSWORD),
        ("ada", 7),
        ("ada", None),
    ],
)
def test_a_wrong_name_or_password_is_refused_alike(people: People, ada: str, name: object, password: object) -> None:
    with pytest.raises(SignInRefused) as refusal:
        people.sign_in(name, password)  # type: ignore[arg-type]
    assert str(refusal.value) == str(SignInRefused())


@pytest.mark.parametrize("password", ["", "short", "x" * 201, None, 7, b"x" * 20])
def test_passwords_that_are_not_safe_are_refused_and_the_link_stays_good(people: People, password: object) -> None:
    link = people.add("ada")
    with pytest.raises(BadArgument):
        people.choose_password(link.text, password)  # type: ignore[arg-type]
    assert people.choose_password(link.text, PASSWORD).name == "ada"


def test_no_password_and_no_secret_is_kept(people: People, records: Records, ada: str) -> None:
    token = people.issue(TOKEN, ada, called="laptop")
    kept = " ".join(f"{one.name} {one.said}" for kind in (PERSON, TOKEN, VISIT, LINK) for one in records.all(kind))
    assert PASSWORD not in kept
    assert token.text not in kept
    assert token.text.rpartition("_")[2] not in kept
    assert token.text not in repr(token)
    assert records.need(PERSON, ada).said["password"].startswith("$argon2id$")


def test_a_token_is_good_for_its_scope_and_its_time(people: People, ada: str, clock: Clock) -> None:
    token = people.issue(TOKEN, ada, scope=[Action.EXPLAIN], lasts=timedelta(hours=1))
    person = people.known_by(TOKEN, token.text)
    assert person.may(Action.EXPLAIN, "visits").allowed
    assert not person.may(Action.ASK, "visits").allowed
    with pytest.raises(SignInRefused):
        people.known_by(VISIT, token.text)
    clock.pass_by(minutes=59)
    assert people.known_by(TOKEN, token.text).name == ada
    clock.pass_by(minutes=1)
    with pytest.raises(SignInRefused):
        people.known_by(TOKEN, token.text)
    people.tidy()
    assert people.secrets(TOKEN, ada) == []


@pytest.mark.parametrize("text", ["", "sfumato_", "x", None, 7, "sfumato_" + "0" * 16 + "_" + "A" * 43, "\ud800"])
def test_what_is_no_token_lets_nobody_in(people: People, ada: str, text: object) -> None:
    people.issue(TOKEN, ada)
    with pytest.raises(SignInRefused):
        people.known_by(TOKEN, text)  # type: ignore[arg-type]


def test_secrets_of_one_are_found_and_removed_without_those_of_others(people: People, ada: str) -> None:
    people.add("ad", [ANALYST])
    mine, other = people.issue(TOKEN, ada), people.issue(TOKEN, "ad")
    assert [kept.name for kept in people.secrets(TOKEN, ada)] == [mine.place]
    people.revoke(TOKEN, ada, other.place)
    assert people.known_by(TOKEN, other.text).name == "ad"
    people.leave(ada)
    with pytest.raises(SignInRefused):
        people.known_by(TOKEN, mine.text)
    assert people.known_by(TOKEN, other.text).name == "ad"


def test_who_has_left_is_let_in_by_nothing_and_keeps_the_name(people: People, ada: str) -> None:
    visit, link = people.issue(VISIT, ada), people.invite(ada)
    people.leave(ada)
    for attempt in (
        lambda: people.sign_in(ada, PASSWORD),
        lambda: people.known_by(VISIT, visit.text),
        lambda: people.choose_password(link.text, PASSWORD),
    ):
        with pytest.raises(SignInRefused):
            attempt()
    with pytest.raises(ChangedMeanwhile):
        people.add(ada)
    assert people.named(ada) is None
    assert [(known.name, known.active) for known in people.known()] == [(ada, False)]


def test_a_new_password_ends_visits(people: People, ada: str) -> None:
    visit = people.issue(VISIT, ada)
    people.choose_password(people.invite(ada).text, "another long password")
    with pytest.raises(SignInRefused):
        people.known_by(VISIT, visit.text)
    with pytest.raises(SignInRefused):
        people.sign_in(ada, PASSWORD)


def test_grants_hold_from_the_next_request_on(people: People, ada: str) -> None:
    visit = people.issue(VISIT, ada)
    people.set_grants(ada, [])
    assert not people.known_by(VISIT, visit.text).may(Action.ASK, "visits").allowed
    people.set_grants(ada, [Grant("auditor")])
    assert people.known_by(VISIT, visit.text).may(Action.READ_BOOK, "anything").allowed


def test_the_first_administrator_has_a_link_until_there_is_a_password(people: People) -> None:
    first, second = people.start(), people.start()
    assert first is not None
    assert second is not None
    with pytest.raises(SignInRefused):
        people.choose_password(first.text, PASSWORD)
    people.choose_password(second.text, PASSWORD)
    assert people.start() is None
    assert people.sign_in("administrator", PASSWORD).may(Action.MANAGE_PEOPLE).allowed


@pytest.mark.parametrize("name", ["", "Ada", "a b", "../etc", "a/b", "ada+2", "x" * 64, "-a", None, 7, "ä"])
def test_names_that_could_be_mistaken_are_refused(people: People, name: object) -> None:
    with pytest.raises(BadArgument):
        people.add(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("grant", [Grant("king"), Grant("analyst", ""), Grant("", "visits")])
def test_grants_of_no_role_or_no_data_set_are_refused(people: People, grant: Grant) -> None:
    with pytest.raises(BadArgument):
        people.add("ada", [grant])
    assert people.named("ada") is None


def test_a_visit_ends_when_somebody_signs_out(people: People, ada: str) -> None:
    visit, other = people.issue(VISIT, ada), people.issue(VISIT, ada)
    people.end_visit(visit.text)
    people.end_visit(visit.text)
    people.end_visit("nonsense")
    with pytest.raises(SignInRefused):
        people.known_by(VISIT, visit.text)
    assert people.known_by(VISIT, other.text).name == ada


def test_a_password_is_changed_by_whoever_knows_it(people: People, ada: str) -> None:
    link, visit, token = (people.issue(kind, ada).text for kind in (LINK, VISIT, TOKEN))
    with pytest.raises(SignInRefused):
        people.change_password(ada, "a guess, as long as one must be", "another one, long enough")
    with pytest.raises(BadArgument):
        people.change_password(ada, PASSWORD, "short")
    assert people.known_by(VISIT, visit).name == ada
    people.change_password(ada, PASSWORD, "another one, long enough")
    for kind, secret in ((VISIT, visit), (LINK, link)):
        with pytest.raises(SignInRefused):
            people.known_by(kind, secret)
    assert people.known_by(TOKEN, token).name == ada
    assert people.sign_in(ada, "another one, long enough").name == ada
    people.leave(ada)
    with pytest.raises(SignInRefused):
        people.change_password(ada, "another one, long enough", PASSWORD)
    with pytest.raises(SignInRefused):
        people.change_password("nobody", PASSWORD, PASSWORD)
