"""Answers what comes by the PostgreSQL port through the same use cases, rights, rates and time classes as HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar, final

from sfumato.errors import QueryRefused, SfumatoError
from sfumato.query.sql.options import Options
from sfumato.query.sql.text import parse
from sfumato.server.calling import until_class_ends
from sfumato.server.postgres.answers import Answer, Column
from sfumato.server.postgres.catalog.catalog import Catalog, Visit
from sfumato.server.postgres.catalog.keeping import Catalogs
from sfumato.server.postgres.catalogs import Seen, catalog_of, may_ask_catalog
from sfumato.server.postgres.faults import Fault, fault_of
from sfumato.server.postgres.naming import located, made_up, names_in, types_of
from sfumato.server.postgres.replies import answered, columns_of, explained
from sfumato.server.postgres.variables import Variables
from sfumato.server.running import Pool, Running
from sfumato.service.analysts import Analysts
from sfumato.service.asking import Asked
from sfumato.service.calls import Calls
from sfumato.service.people import TOKEN, Person
from sfumato.service.rights import Action

Made = TypeVar("Made")

LOOKED_FOR = 2.0
"""Seconds for which it is remembered which data sets there are for somebody; rights are looked at each time."""


LOOKED_EVERY = 1.0
"""Seconds after which, and between which, it is looked whether another worker was told to cancel."""


@final
class Cancelled:
    """Whether what runs now is not wanted any more; what was charged by then stays charged."""

    def __init__(self) -> None:
        self.stopped = False

    def check(self) -> None:
        """Refuses to go on where it is not wanted."""
        if self.stopped:
            raise Fault("57014", "this was cancelled before it was charged")


@final
class PersonsDesk:
    """Answers for one person on one connection, who has proved a token; it is looked up again for each question."""

    def __init__(self, running: Running, catalogs: Catalogs, place: str) -> None:
        self._running, self._catalogs, self._place = running, catalogs, place
        self._cancel: asyncio.Future[None] | None = None
        self._seen: tuple[float, Mapping[str, Seen]] = (0.0, {})
        self.process, self.secret = 0, b""

    def cancel(self) -> None:
        """Cancels what runs now, if anything does."""
        if self._cancel is not None and not self._cancel.done():
            self._cancel.set_result(None)

    async def ask(self, text: str, values: Sequence[Any], variables: Variables) -> Answer:
        """Answers a question: of the catalog, or paid from the share of whoever asks, at the end of a time class."""
        known = await self.catalog(text, values, variables)
        if known is not None:
            return known
        said, path, bounds = variables.asked, variables["search_path"], variables.bounds
        flag, began = Cancelled(), time.monotonic()

        def act() -> Answer:
            person = self._person()
            data_set, asked = self._read(person, text, values, said, path)
            person.need(Action.ASK, data_set)
            cases = Analysts(self._running.house)
            shape = cases.shape(person, data_set, asked)
            flag.check()
            return answered(cases.ask(person, data_set, asked).value, shape, bounds=bounds)

        watch = asyncio.ensure_future(self._watched()) if self._running.settings.several else None
        try:
            return await self._run(self._running.questions, act, flag, variables.patience)
        finally:
            if watch is not None:
                watch.cancel()
            if not flag.stopped:  # or the time of the end is that of whoever ended it
                await asyncio.sleep(until_class_ends(time.monotonic() - began, self._running.settings.time_classes))

    async def _watched(self) -> None:
        """Looks, while a question takes long, whether another worker was told to cancel it."""
        await asyncio.sleep(LOOKED_EVERY)
        calls, quick, longest = Calls(self._running.house), self._running.quick, self._running.settings.patience
        place = await quick.run(lambda: calls.begin(self.secret, timedelta(seconds=longest)))
        try:
            while not await quick.run(lambda: calls.cancelled(place)):
                await asyncio.sleep(LOOKED_EVERY)
            self.cancel()
        except SfumatoError:
            pass  # what cannot be read cancels nothing
        finally:
            await quick.run(lambda: calls.end(place))

    async def catalog(self, text: str, values: Sequence[Any], variables: Variables) -> Answer | None:
        """Answers a question to the catalog, from codebooks alone; None where it is none."""
        if not may_ask_catalog(text):
            return None
        stated, path = variables.stated, variables["search_path"]

        def act() -> Answer | None:
            person = self._person()
            visit = Visit(stated, self.process)
            return self._catalog_of(person, path).answer(text, values, visit=visit)

        return await self._run(self._running.quick, act, Cancelled(), variables.patience)

    async def columns(
        self, text: str, oids: Sequence[int], values: Sequence[Any] | None, variables: Variables
    ) -> tuple[Column, ...]:
        """The columns that an answer will have."""
        said, path, bounds = variables.asked, variables["search_path"], variables.bounds

        def act() -> tuple[Column, ...]:
            person = self._person()
            if may_ask_catalog(text):
                known = self._catalog_of(person, path).describe(text, oids)
                if known is not None:
                    return known.columns
            if values is not None:
                return self._columns(person, text, values, said, path, bounds=bounds)
            try:
                book = self._visible(person).get(self._located(person, text, path))
                given = made_up(names_in(text), oids, None if book is None else book.codebook)
                return self._columns(person, text, given, said, path, bounds=bounds)
            except QueryRefused as refusal:
                fault = fault_of(refusal, text)
            hint = "Its columns are worked out with made-up values for its parameters: write them into the text."
            raise Fault(fault.state, fault.message, detail=fault.hint, hint=hint, position=fault.position)

        return await self._run(self._running.questions, act, Cancelled(), variables.patience)

    async def explain(self, text: str, values: Sequence[Any], variables: Variables) -> Answer:
        """Says what a question would cost, how near its answer would come, and whether it fits; spends nothing."""
        said, path = variables.asked, variables["search_path"]

        def act() -> Answer:
            person = self._person()
            data_set, asked = self._read(person, text, values, said, path)
            return explained(Analysts(self._running.house).explain(person, data_set, asked))

        return await self._run(self._running.quick, act, Cancelled(), variables.patience)

    async def types(self, text: str, declared: tuple[int, ...], variables: Variables) -> tuple[int, ...]:
        """The types of the parameters of a question: declared, or those of the columns that they stand beside."""
        path = variables["search_path"]

        def act() -> tuple[int, ...]:
            person = self._person()
            if may_ask_catalog(text):
                known = self._catalog_of(person, path).describe(text, declared)
                if known is not None:
                    return known.parameters
            names = names_in(text)
            if not names.beside:
                return declared
            try:
                book = self._visible(person)[self._located(person, text, path)].codebook
            except (SfumatoError, KeyError):
                return types_of(names, declared, None)
            return types_of(names, declared, book)

        return await self._run(self._running.quick, act, Cancelled(), variables.patience)

    # In threads

    def _catalog_of(self, person: Person, path: str) -> Catalog:
        return catalog_of(self._catalogs, person.name, self._visible(person), path)

    def _columns(
        self, person: Person, text: str, values: Sequence[Any], said: Mapping[str, Any], path: str, *, bounds: bool
    ) -> tuple[Column, ...]:
        data_set, asked = self._read(person, text, values, said, path)
        return columns_of(Analysts(self._running.house).shape(person, data_set, asked), bounds=bounds)

    def _person(self) -> Person:
        person = self._running.house.people.still_known_by(TOKEN, self._place)
        self._running.people.take(person.name)
        return person

    def _read(
        self, person: Person, text: str, values: Sequence[Any], said: Mapping[str, Any], path: str
    ) -> tuple[str, Asked]:
        """The data set that a question is about, and the question as use cases take it."""
        data_set = self._located(person, text, path)
        usual = self._running.settings.usual_loss
        priced = bool({"epsilon", "rho", "mu", "accuracy"} & set(said))
        given = {**said, "parameters": list(values)}
        if usual and not priced and Options.read(parse(text).options).epsilon is None:
            given |= usual
        return data_set, Asked.read(names_in(text).plain(text), given)

    def _located(self, person: Person, text: str, path: str) -> str:
        return located(names_in(text), path, lambda: {name: one.tables for name, one in self._visible(person).items()})

    def _visible(self, person: Person) -> Mapping[str, Seen]:
        """The data sets that there are for somebody."""
        seen, there = self._seen
        now = time.monotonic()
        if now - seen < LOOKED_FOR and there:
            return {name: one for name, one in there.items() if person.may(Action.DESCRIBE, name).allowed}
        cases = Analysts(self._running.house)
        there = {
            name: Seen(cases.version(person, name), cases.codebook(person, name)) for name in cases.data_sets(person)
        }
        self._seen = now, there
        return there

    async def _run(self, pool: Pool, act: Callable[[], Made], flag: Cancelled, patience: float) -> Made:
        """Does something in a thread, for as long as it is wanted and not longer than it is waited for."""
        longest = self._running.settings.patience
        cancel = self._cancel = asyncio.get_running_loop().create_future()
        work = asyncio.ensure_future(pool.run(act))
        try:
            await asyncio.wait({work, cancel}, timeout=min(patience or longest, longest), return_when="FIRST_COMPLETED")
            if work.done():
                return work.result()
            flag.stopped = True
            why = "cancelled" if cancel.done() else "given up: it took too long"
            raise Fault(
                "57014",
                f"the question was {why}",
                detail="What was charged by then stays charged, and its answer is kept.",
                hint="Ask the same again for its answer, which costs nothing more.",
            )
        except asyncio.CancelledError:
            flag.stopped = True
            raise
        finally:
            self._cancel = None
            work.cancel()
            cancel.cancel()
