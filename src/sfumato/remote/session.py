"""A session on a data set of a service: the methods of `Session`, as far as that can be from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias, Unpack, final
from urllib.parse import quote

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.entropy import system
from sfumato.errors import BadArgument, NotAllowed, QueryRefused, UnknownFormat
from sfumato.exact import Number
from sfumato.query.answer.explanation import Explanation
from sfumato.query.answer.normal_text import normal_text
from sfumato.query.build.settings import Said, Settings
from sfumato.query.frame.table import Frame
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.questions import Question
from sfumato.release.codec import release_from_plain
from sfumato.release.record import Release
from sfumato.release.table import ReleaseTable
from sfumato.remote.asking import loss_sent, sent
from sfumato.remote.connection import Connection
from sfumato.remote.wire import RELEASE, explanation_from_plain, loss_from_plain

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]

HERE = "that is done where the data is: open the data as sf.Dataset there"


@final
class RemoteSession:
    """Asks questions of a data set that somebody else holds, paid from your share. Get one from `connect`.

    Releases are the very ones that the service keeps in its book: same values, error bars, and receipts.
    """

    def __init__(self, connection: Connection, data_set: str) -> None:
        self._connection, self.name = connection, data_set
        self._place = f"/api/data-sets/{quote(data_set, safe='')}"

    def __repr__(self) -> str:
        return f"RemoteSession({self.name!r} at {self._connection.address})"

    def sql(
        self,
        text: str,
        parameters: Parameters = (),
        **said: Unpack[Said],
    ) -> Release:
        """Answers a question in SQL, as `Session.sql` does; see there for what can be said besides it."""
        return self._released(text, parameters, Settings.read(**said))

    def explain(
        self,
        question: str,
        parameters: Parameters = (),
        **said: Unpack[Said],
    ) -> Explanation:
        """Says what a question would cost, how far off its answer would be, and whether it fits; spends nothing."""
        return self._explained(question, parameters, Settings.read(**said))

    def table(self, name: str | None = None) -> Frame:
        """A table as a data frame, to ask in Python; what has no form in SQL is refused when it is released."""
        tables = self._catalog.tables
        private = [one for one, scan in tables.items() if scan.private]
        if name is None and len(private) != 1:
            raise BadArgument("the name of a table", f"one of {', '.join(tables)}", name)
        return Frame(self._catalog.table(private[0] if name is None else name), _Sender(self))

    @cached_property
    def codebook(self) -> Codebook:
        """What is public about the data."""
        return Codebook.read(self._connection.get(f"{self._place}/codebook").json)

    @property
    def limit(self) -> Loss:
        """What your share may spend."""
        return self._loss_of_share("limit")

    @property
    def spent(self) -> Loss:
        """What was charged to your share so far."""
        return self._loss_of_share("spent")

    @property
    def left(self) -> Loss:
        """What is left of your share."""
        return self._loss_of_share("left")

    def releases(self) -> list[Release]:
        """The answers to your own questions, as the book keeps them."""
        return [self._release(line["number"]) for line in self._all_of("/answers")]

    def release_table(self, *, delta: Number | None = None) -> ReleaseTable:
        """Makes the release table of your own answers."""
        spent = [loss_from_plain(share["spent"]["exact"]) for share in self._shares()]
        total = reduce(lambda so_far, one: so_far.then(one), spent)
        return ReleaseTable.of(self.releases(), scope=self.name, url=self._connection.address, total=total, delta=delta)

    def request_share(
        self,
        *,
        loss: Loss | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        purpose: str,
    ) -> int:
        """Asks the owners of the limit for a share of your own, and gives the number of the request."""
        settings = Settings.read(loss=loss, epsilon=epsilon, delta=delta)
        if settings.loss is None:
            raise BadArgument("loss", "said: what you ask for", "none")
        said = {**loss_sent(settings.loss), "purpose": purpose}
        return int(self._connection.post(f"{self._place}/requests", said).json["number"])

    def close(self) -> None:
        """Closes the connection of this thread."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def public(self, text: str, parameters: Parameters = ()) -> NoReturn:
        """Is done by `sql`: a question that asks public tables alone is answered exactly, and costs nothing."""
        raise QueryRefused("rows of public tables are answered by session.sql(…), exactly and at no cost.")

    def run(self, question: object, **_: Any) -> NoReturn:
        """Is done where the data is."""
        raise QueryRefused(f"a measurement of your own is something {HERE}; or ask it in SQL.")

    def write(self, text: str, *_: object, **said: Any) -> NoReturn:
        """Is done where the data is."""
        raise QueryRefused(f"to write a release as a table is something {HERE}; or download it in any form.")

    def _released(self, text: str, parameters: Parameters, settings: Settings) -> Release:
        key = settings.key or system().octets(16).hex()
        said = sent(text, parameters, settings)
        return _read(self._connection.post(f"{self._place}/ask", said, accept=RELEASE, key=key).json)

    def _explained(self, text: str, parameters: Parameters, settings: Settings) -> Explanation:
        said = sent(text, parameters, settings)
        return explanation_from_plain(
            self._connection.post(f"{self._place}/explain?other_prices=true", said, again=True).json["exact"]
        )

    def _release(self, number: int) -> Release:
        return _read(self._connection.get(f"{self._place}/answers/{int(number)}", accept=RELEASE).json)

    def _shares(self) -> list[dict[str, Any]]:
        shares: list[dict[str, Any]] = self._connection.get(f"{self._place}/shares").json["items"]
        if not shares:
            raise NotAllowed(f"there is no share of the limit of {self.name} that is yours yet: request one")
        return shares

    def _loss_of_share(self, name: str) -> Loss:
        return loss_from_plain(self._shares()[-1][name]["exact"])

    def _all_of(self, path: str) -> list[dict[str, Any]]:
        made, cursor = list[dict[str, Any]](), ""
        while True:
            page = self._connection.get(f"{self._place}{path}?many=200{cursor}").json
            made += page["items"]
            if page["next"] is None:
                return made
            cursor = f"&cursor={quote(page['next'], safe='')}"

    @cached_property
    def _catalog(self) -> Catalog:
        return Catalog(self.codebook)

    def _in_sql(self, question: Question) -> str:
        """Writes a question as SQL, and reads it again: what does not come back the same is not sent."""
        from sfumato.query.sql import read_sql

        text = normal_text(question, self._catalog.tables)
        try:
            same = read_sql(text, self._catalog).question == question
        except QueryRefused:
            same = False
        if not same:
            raise QueryRefused(
                f"what this frame asks has no form in SQL, and only SQL is sent: ask it by sql(…): {text}"
            )
        return text


@final
class _Sender:
    """Answers what frames ask by sending it as SQL."""

    def __init__(self, session: RemoteSession) -> None:
        self._session = session

    def release(self, question: Question, settings: Settings) -> Release:
        """Pays for a question and answers it."""
        return self._session._released(self._session._in_sql(question), (), settings)

    def explain(self, question: Question, settings: Settings) -> Explanation:
        """Says what a question would cost."""
        return self._session._explained(self._session._in_sql(question), (), settings)

    def run(self, question: object, **_: Any) -> NoReturn:
        """Is done where the data is."""
        raise QueryRefused(f"this is something {HERE}.")

    explain_run = run

    def write(self, question: object, settings: object, **_: Any) -> NoReturn:
        """Is done where the data is."""
        raise QueryRefused(f"to write a release as a table is something {HERE}; or download it in any form.")

    @property
    def opened(self) -> NoReturn:
        """Is to be had where the data is."""
        raise QueryRefused(f"this is something {HERE}.")

    unit = opened


def _read(plain: object) -> Release:
    try:
        return release_from_plain(plain)
    except (TypeError, ValueError) as fault:
        if isinstance(fault, UnknownFormat):
            raise
    raise UnknownFormat("what the service answers is no release")


def session_on(connection: Connection, data_set: str | None) -> RemoteSession:
    """The session on a data set; on the only one that can be read of, where none is named."""
    if data_set is None:
        names = [one["name"] for one in connection.get("/api/data-sets").json["items"]]
        if len(names) != 1:
            raise BadArgument("data_set", f"one of {', '.join(map(str, names)) or 'none that you may read of'}", None)
        data_set = names[0]
    return RemoteSession(connection, str(data_set))


def connect(address: str, *, data_set: str | None = None, token: str | None = None) -> RemoteSession:
    """Opens a session on a data set of a service, such as ``sf.connect("https://dp.example.org", token=…)``.

    The token may stand in the variable SFUMATO_TOKEN of the environment instead. Where you may read of one data set
    only, it need not be named.
    """
    return session_on(Connection(address, token), data_set)
