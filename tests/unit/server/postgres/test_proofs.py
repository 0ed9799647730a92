"""Signing in at the PostgreSQL port: SCRAM-SHA-256 with tokens, what ends it, and what it tells to nobody."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from datetime import timedelta

import psycopg
import pytest
from tests.unit.server.postgres.ports import COUNT, OpenPort, opened
from tests.unit.server.world import World, register, world_in

from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.sasl import BOUND, PLAIN, Proof
from sfumato.server.settings import Rates
from sfumato.service.people import TOKEN
from sfumato.service.rights import Action, Grant
from sfumato.service.scram import Verifier, salt_of
from sfumato.service.tokens import Tokens

SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
SAID = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
NONCE = b"%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
PENCIL = [("place", Verifier.of("pencil", SALT))]


def test_the_example_of_the_standard() -> None:
    """RFC 7677, section 3."""
    proof = Proof(SALT, PENCIL, NONCE)
    first = proof.first(PLAIN, b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    assert first == SAID + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    place, own = proof.last(b"c=biws," + SAID + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert (place, own) == ("place", b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    "last",
    [
        b"c=biws," + SAID + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVA=",
        b"c=biws," + SAID + b",p=dHzb",
        b"c=biws," + SAID + b",p=====",
        b"c=eSws," + SAID + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        b"c=biws," + SAID + b"x,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        b"c=biws,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        b"",
    ],
)
@pytest.mark.parametrize("tokens", [PENCIL, []])
def test_what_proves_nothing(last: bytes, tokens: list[tuple[str, Verifier]]) -> None:
    proof = Proof(SALT, tokens, NONCE)
    proof.first(PLAIN, b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    with pytest.raises(Fault):
        proof.last(last)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (BOUND, b"p=tls-server-end-point,,n=,r=abc"),  # nothing to bind to was offered
        (PLAIN, b"p=tls-server-end-point,,n=,r=abc"),
        (PLAIN, b"n,a=ada,n=,r=abc"),
        (PLAIN, b"n,,m=1,n=,r=abc"),
        (PLAIN, b"n,,n=,r="),
        ("MD5", b"n,,n=,r=abc"),
    ],
)
def test_beginnings_that_are_none(mechanism: str, said: bytes) -> None:
    with pytest.raises(Fault):
        Proof(SALT, PENCIL, NONCE).first(mechanism, said)


def bound(binding: bytes, header: bytes, sent: bytes) -> bytes:
    """The server's proof to a client that holds the secret, and binds to ``sent``."""
    proof = Proof(SALT, PENCIL, NONCE, binding)
    mechanism = BOUND if header.startswith(b"p=") else PLAIN
    first = proof.first(mechanism, header + b"n=,r=abc")
    without = b"c=" + b64encode(header + sent) + b",r=abc" + NONCE
    signed = b"n=,r=abc," + first + b"," + without
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    mask = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    made = bytes(one ^ other for one, other in zip(key, mask, strict=True))
    return proof.last(without + b",p=" + b64encode(made))[1]


def test_a_proof_is_bound_to_the_connection_it_was_made_for() -> None:
    assert bound(b"here", b"p=tls-server-end-point,,", b"here").startswith(b"v=")
    assert bound(b"here", b"n,,", b"").startswith(b"v=")
    with pytest.raises(Fault, match="nobody"):
        bound(b"here", b"p=tls-server-end-point,,", b"there")
    with pytest.raises(Fault, match="hidden"):  # the client saw no offer to bind: somebody between has taken it away
        bound(b"here", b"y,,", b"")


def test_what_is_kept_of_a_token_lets_nobody_in(world: World) -> None:
    kept = world.house.people.secrets(TOKEN, "ada")[0]
    verifier = Verifier.read(kept.said["scram"])
    assert world.tokens["ada"] not in str(kept.said)
    assert verifier == Verifier.of(world.tokens["ada"], world.house.people.salt("ada"))
    assert not verifier.fits(b"said", verifier.stored) and not verifier.fits(b"said", verifier.server)


def test_the_salt_of_a_name_says_nothing_of_who_there_is(world: World) -> None:
    people = world.house.people
    assert people.salt("ada") != people.salt("nobody") != people.salt("")
    assert people.salt("nobody") == people.salt("nobody")
    assert len({len(people.salt(name)) for name in ("ada", "nobody", "ü" * 50)}) == 1
    assert people.provable("nobody") == people.provable("") == people.provable("Not A Name") == []
    assert salt_of(b"one", "ada") != salt_of(b"other", "ada")


def refused(port: OpenPort, who: str = "ada", **more: str) -> str:
    with pytest.raises(psycopg.OperationalError) as caught:
        port.connect(who, **more)
    return str(caught.value).partition("FATAL")[2]


def test_everybody_who_is_not_let_in_is_told_the_same(port: OpenPort) -> None:
    wrong = refused(port, password=port.world.tokens["ben"])
    assert refused(port, "nobody", password="x") == refused(port, "", user="no such name", password="y") == wrong
    assert "has to be made anew" in wrong


def test_tokens_that_are_revoked_or_ended_or_of_somebody_who_left(world: World) -> None:
    people = world.house.people
    person = people.named("ada")
    assert person is not None
    second = Tokens(world.house).issue(person, "dashboards", lasts=timedelta(hours=1))
    with opened(world) as port, port.connect(password=second.text) as connection:
        assert len(connection.execute(COUNT).fetchall()) == 1
        Tokens(world.house).revoke(person, second.place)
        with pytest.raises(psycopg.Error, match="nobody is let in"):  # from the next question on
            connection.execute(COUNT)
        assert "nobody is let in" in refused(port, password=second.text)
        ended = people.issue(TOKEN, "ada", lasts=timedelta(0))
        assert "nobody is let in" in refused(port, password=ended.text)
        people.leave("ada")
        assert "nobody is let in" in refused(port)


def test_a_token_from_before_has_to_be_made_anew(world: World) -> None:
    people, records = world.house.people, world.house.records
    kept = people.secrets(TOKEN, "ada")[0]
    records.put(TOKEN, kept.name, {name: said for name, said in kept.said.items() if name != "scram"}, expecting=1)
    with opened(world) as port:
        assert "made anew" in refused(port)
    assert people.known_by(TOKEN, world.tokens["ada"]).name == "ada"  # over HTTP it is as good as it was


def test_scopes_and_roles_hold_as_over_http(world: World) -> None:
    person = world.house.people.named("ada")
    assert person is not None
    only = Tokens(world.house).issue(person, "look", scope=[Action.DESCRIBE, Action.EXPLAIN])
    with opened(world) as port:
        with port.connect(password=only.text) as connection:
            assert connection.execute(f"EXPLAIN {COUNT}").fetchall()
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="this token of ada is not good to"):
                connection.execute(COUNT)
        for who in ("cora", "olga", "amir", "root"):
            with port.connect(who) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT COUNT(*) AS n FROM visits.visits")
        with port.connect("ben") as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="ben has no share"):
                connection.execute(COUNT)
            world.house.people.set_grants("ben", [Grant("auditor")])
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="may not ask"):
                connection.execute("SELECT COUNT(*) AS n FROM visits.visits")


def test_whoever_fails_often_waits(tmp_path_factory: pytest.TempPathFactory) -> None:
    rates = Rates(sign_ins=10_000, sign_in_delay=60)
    with world_in(tmp_path_factory.mktemp("service"), rates=rates) as world:
        register(world)
        with opened(world) as port:
            said = [refused(port, password="wrong") for _ in range(6)]
            assert "too many requests" in said[-1]
            assert "too many requests" in refused(port)  # the right one has to wait, too
            port.connect("ben").close()
            login = {"name": "ada", "password": "wrong and long enough"}
            assert world.post(None, "/api/sign-in", login).status_code == 401  # the other ways in count for themselves
        assert world.running.metrics.text().count("sfumato_sign_ins_refused_total 5") == 1
