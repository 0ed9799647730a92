"""What every interaction shares: which queries it takes, which has its turn, and how one is run once it is charged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, final

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import start
from sfumato.core.queryable import Circle, Turn, current, shielded
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted, NoProvenRoute, QueryRefused, SfumatoError

Charged = TypeVar("Charged")


@final
class Questions:
    """Reads queries, and runs those that were charged.

    ``run`` draws an outcome. Each query gets a turn; unless ``concurrent``, it ends the one before, and with it every
    queryable that the earlier query started. Queries that rest on a claim are read only where ``vouched``. Without a
    ``kind`` of loss, queries that answer once may be priced in any; what stays open must still be priced in (ε, δ).
    """

    def __init__(
        self,
        space: Space,
        kind: type[Loss] | None,
        run: Callable[[Measurement], Data],
        *,
        concurrent: bool,
        vouched: bool,
    ) -> None:
        self.space, self.kind, self.concurrent, self.vouched = space, kind, concurrent, vouched
        self._run, self._turn = run, Turn()

    def read(self, query: Data) -> Measurement:
        """Completes the measurement that is asked for, or refuses; decided from public facts alone."""
        if getattr(query, "unlimited", False):
            raise QueryRefused(
                "an odometer keeps no limit, so there is no telling what it would cost: give it one first, with "
                "odometer.limited(…)."
            )
        try:
            asked = start(self.space, query)
        except SfumatoError as fault:
            raise QueryRefused(f"this is no query on {self.space}: {fault}") from None
        if not isinstance(asked, Measurement):
            raise QueryRefused("this shows exact values: a query must end in a mechanism that adds noise to them.")
        kind = self.kind or (Approx if asked.interactive else asked.measure)
        if asked.measure is not kind:
            raise QueryRefused(
                f"losses are added up here as {kind.__name__}, and this query is priced in {asked.measure.__name__}. "
                f"Where there is a theorem, sf.convert_measure(query, sf.{kind.__name__}) restates it."
            )
        if asked.how.claims and not self.vouched:
            raise QueryRefused(
                "this query rests on a claim, which must be printed with the release: open the interaction with "
                "claim=sf.claim('why such queries are private')."
            )
        return asked

    def price(self, charge: Callable[[], Charged]) -> Charged:
        """Works out a charge; whatever speaks against it is a refusal, and nothing has changed yet."""
        try:
            return charge()
        except (QueryRefused, Exhausted):
            raise
        except SfumatoError as fault:
            raise QueryRefused(f"this cannot be priced: {fault}") from None

    def next_turn(self) -> None:
        """Begins the turn of a query; unless concurrent, what earlier ones started is asked no more."""
        if self.concurrent:
            return
        if self._turn.busy:
            raise QueryRefused(
                "this query comes from inside an answer of something that an earlier query started; ask them one after "
                "the other."
            )
        self._turn.end()
        self._turn = Turn()

    def run(self, asked: Measurement) -> Data:
        """Runs a query that was charged, in its turn."""
        circle = current()
        with Circle(circle.lock, (*circle.turns, self._turn)).entered():
            return self._run(asked)


def outcome_of(asked: Measurement, data: Data, entropy: Entropy) -> Data:
    """Draws the outcome of a query, or says that it failed, and no more."""
    return shielded(lambda: asked.function(data, entropy), asked.how.mechanism)


def check_turns(kind: type[Loss], *, proven: bool) -> None:
    """Refuses interactive answers asked in turns where there is no theorem for it."""
    if not proven:
        raise NoProvenRoute(
            f"there is no theorem for asking interactive answers in turns under {kind.__name__}: ask them one after "
            "the other (adaptive_composition, or without concurrent=True), or state the losses as Pure, Approx, ZCDP, "
            "Renyi or GDP."
        )


def charged_at(space: Space, d_in: DistanceLike | Unit | None) -> AnyDistance:
    """Reads the distance at which queries are charged: that of neighbours unless given, and never less."""
    least = space.metric.read(space.closest)
    distance = least if d_in is None else space.metric.read(d_in)
    if distance in (0, math.inf) or (space.closest == 2 and not least <= distance):
        must = f"finite and at least {space.closest}: neighbours are no closer, and at less nothing would be charged"
        raise BadArgument("d_in", must, d_in)
    return distance
