"""The client: against a real server it answers as a session here does, and raises the same errors."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.unit.server.live import Live, listening
from tests.unit.server.world import World, register, world_in

import sfumato as sf
from sfumato import errors
from sfumato.core.outages import Outage
from sfumato.remote import RemoteSession, connect
from sfumato.remote.connection import Connection
from sfumato.remote.wire import error_from_plain, error_to_plain

COUNT = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
BOUNDS = {"max_groups": 2, "max_rows_per_group": 3}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with world_in(tmp_path_factory.mktemp("remote")) as world:
        register(world)
        world.grant("ada")
        with listening(world) as live:
            yield live


@pytest.fixture
def there(own: Live) -> Iterator[RemoteSession]:
    session = connect(own.url, token=own.token("ada"))
    yield session
    session.close()


def test_answers_are_the_very_releases_of_the_session_there(own: Live, there: RemoteSession) -> None:
    here = own.world.house.data_sets.share("visits", "ada")
    release = there.sql(COUNT, epsilon="0.2", **BOUNDS)
    kept = here.sql(COUNT, epsilon="0.2", **BOUNDS)
    assert isinstance(release, sf.Release)
    assert (release.receipt, str(release), release.loss) == (kept.receipt, str(kept), sf.Pure("0.2"))
    assert release.to_pandas().equals(kept.to_pandas())
    assert there.explain(COUNT, accuracy=(50, 0.95), **BOUNDS) == here.explain(COUNT, accuracy=(50, 0.95), **BOUNDS)
    assert (there.limit, there.spent, there.left) == (here.limit, here.spent, here.left)
    assert [one.receipt for one in there.releases()] == [one.receipt for one in here.releases()]
    assert there.codebook == own.world.house.data_sets.registered("visits").codebook
    assert "visits" in there.release_table().to_text()


def test_all_that_can_be_said_besides_arrives(own: Live, there: RemoteSession) -> None:
    here = own.world.house.data_sets.share("visits", "ada")
    keys = sf.KeySet.of(site=["north", "south"])
    said = {**BOUNDS, "loss": sf.Pure("1/7"), "keys": keys, "weights": {"n": 2, "m": 1}, "noise": "laplace"}
    said["confidence"] = "0.9"
    text = "SELECT site, COUNT(*) AS n, AVG(minutes) AS m FROM visits WHERE minutes < ? GROUP BY site"
    assert there.explain(text, [30], **said) == here.explain(text, [30], **said)


def test_frames_are_sent_as_sql(own: Live, there: RemoteSession) -> None:
    here = own.world.house.data_sets.share("visits", "ada")
    frames = [
        one.table("visits").filter(one.table("visits").minutes > 10).group_by("site").agg(n=sf.count_rows())
        for one in (there, here)
    ]
    answers = [frame.release(epsilon="0.1", **BOUNDS) for frame in frames]
    assert answers[0].receipt == answers[1].receipt


def test_refusals_are_the_same_errors(own: Live, there: RemoteSession) -> None:
    with pytest.raises(errors.LimitReached) as refused:
        there.sql(COUNT, epsilon=50, **BOUNDS)
    assert (refused.value.account, refused.value.limit) == ("visits/ada", sf.Pure(2))
    with pytest.raises(errors.QueryRefused, match="no table"):
        there.sql("SELECT COUNT(*) FROM nothing", epsilon="0.1")
    with (
        connect(own.url, token=own.token("ben"), data_set="visits") as bens,
        pytest.raises(errors.NotAllowed, match="request one"),
    ):
        bens.sql(COUNT, epsilon="0.1", **BOUNDS)
    with connect(own.url, token="sfumato_nobody", data_set="visits") as nobodys, pytest.raises(errors.SignInRefused):
        nobodys.sql(COUNT, epsilon="0.1")
    with pytest.raises(errors.QueryRefused, match=r"session\.sql"):
        there.public("SELECT 1")
    with pytest.raises(errors.QueryRefused, match="where the data is"):
        there.run(object())


@pytest.mark.parametrize(
    "error",
    [
        errors.LimitReached("visits", sf.Pure(1), sf.Pure("0.5"), sf.Pure(2), "it is too much."),
        errors.NotAllowed("ada may not"),
        errors.BadArgument("x", "y", 3),
        errors.RunFailed("laplace"),
        errors.RunFailed("laplace", Outage.LOST),
        errors.LedgerUnavailable("it is gone", certain=False),
        errors.QueryRefused("no"),
    ],
)
def test_errors_cross_the_wire(error: errors.SfumatoError) -> None:
    plain = error_to_plain(error)
    same = error_from_plain(plain["error"], plain["facts"], str(error))
    assert type(same) is type(error)
    assert str(same) == str(error)
    assert vars(same) == vars(error)


def test_only_our_own_errors_are_made() -> None:
    for kind in ("SystemExit", "Exception", "annotations", "__builtins__", "Several", 7, None):
        assert error_from_plain(kind, {}, "") is None


@pytest.mark.parametrize("address", ["http://dp.example.org", "ftp://localhost", "localhost", "https://a:b@localhost"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(errors.BadArgument):
        Connection(address, "token")


def test_a_token_is_needed_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    for token in (None, "", "a\r\nx: y", "ü"):
        with pytest.raises(errors.BadArgument) as refused:
            Connection("http://localhost", token)
        assert "x: y" not in str(refused.value)
    monkeypatch.setenv("SFUMATO_TOKEN", "zz-secret")
    assert "zz-secret" not in repr(Connection("http://localhost", None))


@contextmanager
def breaking(times: int) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that closes its door so many times before it answers."""
    seen: list[dict[str, str]] = []

    class Door(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(dict(self.headers))
            if len(seen) > times:
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def test_what_may_have_been_paid_is_sent_again_with_its_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.remote.connection.time.sleep", lambda _: None)
    with breaking(2) as (url, seen):
        assert Connection(url, "token").post("/ask", {}, key="k").status == 200
        assert [one["idempotency-key"] for one in seen] == ["k"] * 3
    with breaking(1) as (url, seen):
        with pytest.raises(errors.ServiceUnavailable):
            Connection(url, "token").post("/requests", {})
        assert len(seen) == 1, "what may have changed something was sent twice"


def test_a_world_is_found_without_its_name(own: Live, shared: World) -> None:
    with connect(own.url, token=own.token("ada")) as session:
        assert session.name == "visits"
    assert shared.tokens["ada"] != own.token("ada")
