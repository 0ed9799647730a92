"""What it buys that reports are put in random order before anyone sees them: a central loss far below the local one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, final

from sfumato.accounting import events
from sfumato.accounting.amplify.local_search import local_epsilon
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.events.hiding import Hides, Hiding
from sfumato.accounting.events.samples import ShuffledProtocol
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.account import account
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import MOST
from sfumato.local.protocol import LocalProtocol, a_protocol

Kind = TypeVar("Kind", bound=LocalProtocol[Any])


@final
@dataclass(frozen=True)
class Shuffled:
    """Reports of a protocol, one of each of a public number of people, mixed by a shuffler that adds nothing.

    ``honest`` is how many of them, at least, are sent as the protocol says and known to nobody but their senders: the
    others hide nobody. If the shuffler fails or tells, the loss of the protocol remains. Reports that carry anything
    else (a time, an address) are not shuffled.

    >>> from sfumato.local.choosing import frequencies
    >>> mixed = shuffled(frequencies(range(10), loss=2, users=10_000, method="response"), users=10_000)
    >>> mixed.central_loss(delta=1e-8).epsilon < Fraction(1, 5)
    True
    """

    protocol: LocalProtocol[Any]
    users: int
    honest: int

    @property
    @guarantee(
        claim="reports of which so many are honest: those, shuffled; whatever the others send",
        proof="proofs/shuffling.md#honest",
        reviewed="6ba241fbc7d6",
    )
    def event(self) -> events.Event:
        """The shuffled reports, as the accountant knows them: compose them with whatever else is told."""
        hiding, local = self.protocol.hiding, self.protocol.event
        if hiding is None:
            return events.Shuffled(local, self.honest)
        return ShuffledProtocol(local, self.honest, hiding)

    @guarantee(
        claim="reports of which so many are honest: those, shuffled; never more than one report",
        proof="proofs/shuffling.md#honest",
        reviewed="3c823fcf1574",
    )
    def central_loss(self, *, delta: Number) -> Approx:
        """What all reports together cost, between data sets in which one honest person's value is exchanged."""
        hiding = self.protocol.hiding
        local = Fraction(self.protocol.loss.epsilon)
        epsilon = shuffled_epsilon(local if hiding is None else hiding, reports=self.honest, delta=delta)
        return Approx(min(epsilon, local), delta)

    def local_epsilon(self, central: Approx) -> Fraction:
        """The ε of a report, of any pure randomizer, with which so many shuffled reports keep a central loss."""
        limit = _central(central)
        return local_epsilon(Fraction(limit.epsilon), delta=Fraction(limit.delta), reports=self.honest)


def shuffled(protocol: LocalProtocol[Any], *, users: int, honest: int | None = None) -> Shuffled:
    """What so many people's reports cost once a shuffler has mixed them.

    State ``honest`` where fewer may be counted on: of people who may drop out, collude, or send what they like, take
    the least number that remains. Who drops out must not depend on the value that is to be hidden.

    >>> from sfumato.local.choosing import frequencies
    >>> protocol = frequencies(["yes", "no"], loss=1, users=1000)
    >>> some, all_of_them = shuffled(protocol, users=1000, honest=700), shuffled(protocol, users=1000)
    >>> some.central_loss(delta=1e-6).epsilon > all_of_them.central_loss(delta=1e-6).epsilon
    True
    """
    people, counted = _counted(users, honest)
    return Shuffled(a_protocol(protocol), people, counted)


@guarantee(
    claim="the composition of the shuffled reports of each question; at most the sum of the losses of one person",
    proof="proofs/shuffling.md#questions",
    reviewed="4b4882a847b9",
)
def shuffled_loss(*questions: Shuffled, delta: Number) -> Approx:
    """What several questions cost together that the same people answer, the reports on each shuffled by themselves.

    The answers may be asked for one after another, each question chosen in the light of what was told before.

    >>> from sfumato.local.choosing import frequencies
    >>> one = shuffled(frequencies(["yes", "no"], loss=1, users=10_000), users=10_000)
    >>> shuffled_loss(one, one, one, one, delta=1e-6).epsilon < 3 * one.central_loss(delta=1e-6).epsilon
    True
    """
    if not questions or not all(isinstance(one, Shuffled) for one in questions):
        raise BadArgument("questions", "one or more of what sf.local.shuffled(…) gives", questions)
    plan = events.Sequence(*(one.event for one in questions))
    report = account(plan, delta=delta, relation=Relation.CHANGE_ONE)
    local = sum((Fraction(one.protocol.loss.epsilon) for one in questions), Fraction(0))
    return Approx(min(Fraction(report.epsilon), local), delta)


def calibrated(
    build: Callable[[Pure], Kind], *, central: Approx, users: int, honest: int | None = None, most: Number = MOST
) -> Kind:
    """The protocol with the largest local loss that was found whose reports, shuffled, keep a central loss.

    ``build`` makes a protocol for a loss; each one that is tried is priced by how well its own reports hide each other.
    Local losses up to ``most`` are tried: if the shuffler fails, that is what remains.

    >>> from sfumato.local.response import Response
    >>> from sfumato.local.values import Values
    >>> answers = Values(["yes", "no"])
    >>> protocol = calibrated(lambda loss: Response(answers, loss), central=Approx("1/4", 1e-6), users=10_000)
    >>> round(float(protocol.loss.epsilon), 3)
    3.163
    >>> shuffled(protocol, users=10_000).central_loss(delta=1e-6).epsilon <= Fraction(1, 4)
    True
    """
    limit, (_, reports) = _central(central), _counted(users, honest)
    made: dict[Fraction, Kind] = {}

    def hiding(epsilon: Fraction) -> Hides:
        made[epsilon] = a_protocol(build(Pure(epsilon)))  # type: ignore[assignment]
        known = made[epsilon].hiding
        return Hiding.of_epsilon(Fraction(made[epsilon].loss.epsilon)) if known is None else known

    found = local_epsilon(
        Fraction(limit.epsilon), delta=Fraction(limit.delta), reports=reports, protocol=hiding, most=most
    )
    return made[found] if found in made else build(Pure(found))


def _counted(users: int, honest: int | None) -> tuple[int, int]:
    people = integer(users, "users", least=1)
    counted = people if honest is None else integer(honest, "honest", least=1)
    if counted > people:
        raise BadArgument("honest", "at most the number of users", counted)
    return people, counted


def _central(value: Approx) -> Approx:
    if not isinstance(value, Approx):
        raise BadArgument("central", "a loss with a δ, such as sf.Approx(1, 1e-8)", value)
    return value
