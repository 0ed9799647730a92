"""What it buys that reports are put in random order before anyone sees them: a central loss far below the local one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sfumato.accounting import events
from sfumato.accounting.amplify.local_search import local_epsilon
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.events.samples import ShuffledProtocol
from sfumato.accounting.losses.measures import Approx
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.protocol import LocalProtocol, a_protocol


@final
@dataclass(frozen=True)
class Shuffled:
    """Reports of a protocol, one of each of a public number of people, mixed by a shuffler that adds nothing.

    If the shuffler fails or tells, the loss of the protocol remains. Reports that carry anything else (a time, an
    address) are not shuffled. Whoever does not report must not be told from who does: the number is public.

    >>> from sfumato.local.choosing import frequencies
    >>> mixed = shuffled(frequencies(range(10), loss=2, users=10_000, method="response"), users=10_000)
    >>> mixed.central_loss(delta=1e-8).epsilon < Fraction(1, 5)
    True
    """

    protocol: LocalProtocol[Any]
    users: int

    @property
    def event(self) -> events.Event:
        """The shuffled reports, as the accountant knows them: compose them with whatever else is told."""
        hiding, local = self.protocol.hiding, self.protocol.event
        return events.Shuffled(local, self.users) if hiding is None else ShuffledProtocol(local, self.users, hiding)

    def central_loss(self, *, delta: Number) -> Approx:
        """What all reports together cost, between data sets in which one person's value is exchanged; certified."""
        hiding = self.protocol.hiding
        local = Fraction(self.protocol.loss.epsilon)
        epsilon = shuffled_epsilon(local if hiding is None else hiding, reports=self.users, delta=delta)
        return Approx(min(epsilon, local), delta)

    def local_epsilon(self, central: Approx) -> Fraction:
        """The ε of a report, of any pure randomizer, with which so many shuffled reports keep a central loss."""
        if not isinstance(central, Approx):
            raise BadArgument("central", "a loss with a δ, such as sf.Approx(1, 1e-8)", central)
        return local_epsilon(Fraction(central.epsilon), delta=Fraction(central.delta), reports=self.users)


def shuffled(protocol: LocalProtocol[Any], *, users: int) -> Shuffled:
    """What so many people's reports cost once a shuffler has mixed them."""
    return Shuffled(a_protocol(protocol), integer(users, "users", least=1))
