"""Odometers: interaction without a limit, that says at any time what it has cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, final

from sfumato.accounting.adaptive.filters import may_interleave
from sfumato.accounting.adaptive.odometers import SumOdometer
from sfumato.accounting.losses.measures import Loss
from sfumato.combinators.interaction import privacy_filter
from sfumato.combinators.turns import Questions, check_turns, outcome_of
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.queryable import Queryable, Spent
from sfumato.core.space import Space
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NotInDomain
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim

PROOF = "proofs/interaction.md#odometers"


@final
@dataclass(frozen=True)
class Odometer:
    """An interaction that never stops by itself. It has no map, so it is no measurement: `limited` makes it one."""

    source: Space
    measure: type[Loss]
    concurrent: bool = False
    unlimited: ClassVar[bool] = True

    def __call__(self, data: Data, *, entropy: Entropy | None = None) -> Queryable:
        """Opens a queryable that takes measurements, and `Spent` at any distance."""
        if not self.source.domain.member(data):
            raise NotInDomain(self.source.domain)
        noise = entropy or system()
        questions = Questions(
            self.source,
            self.measure,
            lambda asked: outcome_of(asked, data, noise),
            concurrent=self.concurrent,
            vouched=True,  # nothing is released here on which a claim could be printed
        )
        return Queryable(Reading(questions, self.measure).answer)

    def limited(
        self, limit: Loss, *, d_in: DistanceLike | Unit | None = None, claim: Claim | None = None
    ) -> Measurement:
        """Puts the same interaction under a limit: a measurement, which may stand where one is asked for."""
        return self.source >> privacy_filter(limit, d_in=d_in, concurrent=self.concurrent, claim=claim)


def odometer(space: Space, measure: type[Loss], *, concurrent: bool = False) -> Odometer:
    """Starts an interaction without a limit on the members of a space.

    Takes:      a space, and the kind in which losses add up: Pure, Approx, ZCDP, ApproxZCDP, Renyi or GDP
    Gives:      an odometer; called on data it gives a queryable that takes measurements and `Spent(d_in)`
    Guarantee:  what was spent is the sum of what was asked, at each distance; to be read with its conditions
                (proofs/interaction.md#odometers, proofs/odometers.md#sums)
    Cost:       that of the queries

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import vector
    >>> meter = odometer(vector(int), Pure)([1, 2, 3])
    >>> meter(Spent(1))
    Pure(epsilon=0.0)
    """
    if not isinstance(space, Space):
        raise BadArgument("space", "a space such as sf.vector(float)", space)
    if not (isinstance(measure, type) and issubclass(measure, Loss)):
        raise BadArgument("measure", "a kind of loss such as sf.Pure", measure)
    SumOdometer(measure.nothing())  # refuses kinds whose running sum says nothing
    check_turns(measure, proven=not concurrent or may_interleave(measure))
    return Odometer(space, measure, concurrent)


@final
class Reading:
    """The state of an odometer: the measurements that were charged, and what asks the data."""

    def __init__(self, questions: Questions, kind: type[Loss]) -> None:
        self._questions, self._kind = questions, kind
        self._charged: list[Measurement] = []

    def answer(self, query: Data) -> Data:
        """Answers a measurement once it is charged, or a question about what was spent."""
        if isinstance(query, Spent):
            return self._questions.price(lambda: self._at(query.d_in))
        asked = self._questions.read(query)
        self._questions.next_turn()
        self._charged.append(asked)
        return self._questions.run(asked)

    def _at(self, d_in: DistanceLike | Unit | None) -> Loss:
        space = self._questions.space
        distance = space.metric.read(space.closest if d_in is None else d_in)
        return spent_at([measurement.map(distance) for measurement in self._charged], self._kind)


@guarantee(claim="the losses of all that was charged, at one distance, composed", proof=PROOF, reviewed="323c0e8a7cbe")
def spent_at(losses: Sequence[Loss], kind: type[Loss]) -> Loss:
    """Adds up what measurements cost at a distance."""
    return reduce(SumOdometer.after, losses, SumOdometer(kind.nothing())).spent
