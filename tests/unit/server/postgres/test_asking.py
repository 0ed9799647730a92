"""What is asked by the PostgreSQL port: which data set is meant, what is paid, every refusal with its code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.unit.server.postgres.ports import COUNT, OpenPort, opened
from tests.unit.server.world import World, register, world_in, write_visits

import sfumato as sf
from sfumato.errors import (
    AccountRefused,
    BadArgument,
    CannotCalibrate,
    ChangedMeanwhile,
    LedgerUnavailable,
    LimitReached,
    MissingExtra,
    NotAllowed,
    QueryRefused,
    QueueFull,
    RunFailed,
    ServiceUnavailable,
    SfumatoError,
    SignInRefused,
)
from sfumato.server.postgres.faults import STATES, Fault, fault_of
from sfumato.server.problems import Refused
from sfumato.service.rights import Grant


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPort]:
    """A service with two data sets that have a table of the same name, and a usual loss of questions."""
    folder = tmp_path_factory.mktemp("two")
    with world_in(folder, usual_loss={"epsilon": "0.05"}) as world:
        write_visits(folder / "other.parquet", rows=4_000)
        register(world)
        register(world, "Visits-2026", file="other.parquet")
        world.grant("ada")
        world.grant("ada", "Visits-2026")
        world.house.people.set_grants("ben", [Grant("analyst", "Visits-2026")])
        world.grant("ben", "Visits-2026")
        with opened(world) as port:
            yield port


def asked(port: OpenPort, question: str, who: str = "ada", **more: Any) -> Any:
    with port.connect(who, options=more.pop("options", "-c sfumato.max_rows=5")) as connection:
        for setting in more.pop("before", ()):
            connection.execute(setting)
        return connection.execute(question).fetchall()[0][0]


def spent(port: OpenPort, data_set: str, who: str = "ada") -> sf.Loss:
    return port.world.house.data_sets.share(data_set, who).spent


def test_data_sets_are_schemas(two: OpenPort) -> None:
    small, large = (
        asked(two, "SELECT COUNT(*) AS n FROM visits.visits"),
        asked(two, 'SELECT COUNT(*) AS n FROM "Visits-2026".visits'),
    )
    assert small < 2_000 < large
    assert asked(two, 'SELECT COUNT(*) AS n FROM sfumato."visits-2026".visits AS v') == large
    assert asked(two, 'SELECT COUNT("visits"."visits"."minutes") AS n FROM "visits"."visits"') < 2_000
    assert asked(two, COUNT, before=['SET search_path = "Visits-2026", public']) == large
    assert asked(two, COUNT, options="-c sfumato.max_rows=5 -c search_path=visits") == small
    assert asked(two, COUNT, who="ben") == large  # who may see one alone


@pytest.mark.parametrize(
    ("question", "code", "words"),
    [
        (COUNT, "42P01", "several data sets"),
        ("SELECT COUNT(*) FROM nowhere", "42P01", "no data set"),
        ('SELECT COUNT(*) FROM visits.visits, "Visits-2026".visits', "0A000", "one data set"),
        ("SELECT COUNT(*) FROM other.visits.visits", "0A000", "one database"),
        ("SELECT COUNT(*) FROM public.visits", "42P01", "no such table"),
    ],
)
def test_data_sets_that_are_not_clear(two: OpenPort, question: str, code: str, words: str) -> None:
    with two.connect() as connection, pytest.raises(psycopg.Error, match=words) as caught:
        connection.execute(question)
    assert caught.value.sqlstate == code


def test_whether_a_data_set_is_there_is_told_to_those_who_may_know(two: OpenPort) -> None:
    with two.connect("ben") as connection:
        said = set()
        for schema in ("visits", "nothing"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
                connection.execute(f"SELECT COUNT(*) FROM {schema}.visits")
            said.add(str(caught.value).replace(schema, "…"))
        assert len(said) == 1
        assert connection.execute("SELECT nspname FROM pg_namespace WHERE nspname IN ('visits')").fetchall() == []


def test_what_a_question_costs_where_nothing_is_said(two: OpenPort) -> None:
    before = spent(two, "visits")
    asked(two, "SELECT COUNT(*) AS n FROM visits.visits WHERE minutes > 1")
    assert spent(two, "visits") == before.then(sf.Pure("0.05"))
    asked(two, "SELECT COUNT(*) AS n FROM visits.visits WHERE minutes > 2", before=["SET sfumato.epsilon = 0.2"])
    assert spent(two, "visits") == before.then(sf.Pure("0.25"))
    option = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) COUNT(*) AS n FROM visits.visits WHERE minutes > 3"
    )
    asked(two, option)
    assert spent(two, "visits") == before.then(sf.Pure("0.35"))
    asked(
        two, "SELECT COUNT(*) AS n FROM visits.visits WHERE minutes > 4", before=["SET sfumato.accuracy = '150, 0.95'"]
    )
    assert spent(two, "visits").within(before.then(sf.Pure("0.46")))


def test_without_any_price_it_is_said_how_to_say_one(port: OpenPort) -> None:
    said, wrong = {"options": "-c sfumato.max_rows=5"}, psycopg.errors.InvalidParameterValue
    with port.connect(**said) as connection, pytest.raises(wrong) as caught:
        connection.execute(COUNT)
    assert str(caught.value.diag.message_hint).startswith("SET sfumato.epsilon = 0.1")


def test_a_limit_that_is_reached(world: World) -> None:
    with opened(world) as port, port.connect() as connection:
        connection.execute("SET sfumato.epsilon = 3")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="visits/ada cannot pay"):
            connection.execute(COUNT)
        connection.execute("SET sfumato.epsilon = 1")
        assert len(connection.execute(COUNT).fetchall()) == 1


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("SELECT minutes FROM visits", "0A000"),
        ("SELECT COUNT(nothing) FROM visits", "42703"),
        ("SELECT COUNT(*) FROM visits WHERE", "42601"),
        ("SELECT COUNT(*) FROM visits WHERE site = 'a", "42601"),
        ("SELECT nothing(minutes) FROM visits", "0A000"),
        ("INSERT INTO visits VALUES (1)", "25006"),
        ("CREATE TABLE x AS SELECT COUNT(*) FROM visits", "25006"),
        ("CALL x()", "0A000"),
        ("COPY visits TO STDOUT", "25006"),
        ("SET nosuch.thing = 1", "42704"),
        ("SET sfumato.epsilom = 1", "42704"),
        ("SET sfumato.epsilon = 'a'", "22023"),
        ("SET client_encoding = 'LATIN1'", "22023"),
        ("SET ROLE root", "42501"),
        ("SHOW nosuch", "42704"),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM visits", "0A000"),
        ("FETCH 1 FROM nosuch", "34000"),
        ("DEALLOCATE nosuch", "26000"),
        ("DECLARE c CURSOR FOR SELECT COUNT(*) FROM visits", "25P01"),
        ("SAVEPOINT a", "25P01"),
        ("FROBNICATE", "42601"),
    ],
)
def test_every_refusal_has_its_code(port: OpenPort, question: str, code: str) -> None:
    with port.connect() as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(question)
    assert caught.value.sqlstate == code


def test_a_refusal_says_where(port: OpenPort) -> None:
    with port.connect() as connection:
        for before in ("", "SET application_name = 'é'; "):
            with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
                connection.execute(f"{before}SELECT COUNT(nothing) FROM visits")
            assert caught.value.diag.statement_position == str(len(before) + len("SELECT COUNT(") + 1)


ERRORS: tuple[tuple[SfumatoError, str], ...] = (
    (SignInRefused(), "28000"),
    (NotAllowed("ada may not"), "42501"),
    (LimitReached("visits", "x", None, None, "why"), "53400"),
    (AccountRefused("closed"), "55000"),
    (QueueFull("ada", 8), "53000"),
    (ChangedMeanwhile("it"), "40001"),
    (RunFailed("noise"), "58000"),
    (MissingExtra("it", "sql"), "0A000"),
    (LedgerUnavailable("why"), "57P03"),
    (ServiceUnavailable("why"), "57P03"),
    (CannotCalibrate("no"), "22023"),
    (BadArgument("the data set", "one that is registered", "x"), "3F000"),
    (BadArgument("epsilon", "a number", "x"), "22023"),
    (QueryRefused("there is no table 'x'; there are: y."), "42P01"),
    (QueryRefused("whatever"), "0A000"),
    (Refused(429, "There were too many requests."), "53400"),
    (Refused(503, "The service has too much to do now."), "53300"),
    (Fault("12345", "as it is"), "12345"),
)


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=lambda one: type(one).__name__)
def test_every_kind_of_error_has_a_code(error: SfumatoError, code: str) -> None:
    assert fault_of(error).state == code


def test_every_code_is_tried_and_errors_of_others_say_nothing() -> None:
    tried = {fault_of(error).state for error, _ in ERRORS} | {"XX000"}
    assert {state for _, state in STATES} <= tried
    broken = fault_of(ValueError("person 17 of north"))
    assert broken.state == "XX000"
    assert "17" not in broken.message + broken.hint + broken.detail
