"""What it buys that reports are put in random order before anyone sees them: a central loss far below the local one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sfumato.accounting import events
from sfumato.accounting.amplify.local_search import local_epsilon
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.events.hiding import Hiding
from sfumato.accounting.events.samples import ShuffledProtocol
from sfumato.accounting.losses.measures import Approx
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.hashing import LocalHashing
from sfumato.local.protocol import LocalProtocol
from sfumato.local.response import Response
from sfumato.local.unary import UnaryEncoding


@guarantee(
    claim="the own sets of a protocol's reports: their chance, their share of a common law, what two have in common",
    proof="proofs/local.md#shuffling",
    reviewed="3421f442892a",
)
def hiding_of(protocol: LocalProtocol[Any]) -> Hiding | None:
    """How well the reports of a protocol hide each other; None where only its loss is known."""
    match protocol:
        case Response():
            return Hiding.of_response(len(protocol.values), protocol.supports_truth)
        case UnaryEncoding():
            return Hiding.of_bits(protocol.supports_truth, protocol.supports_other)
        case LocalHashing():
            other = protocol.supports_other
            return Hiding.of_hashing(int(1 / other), protocol.supports_truth, collisions=other)
        case _:
            return None


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
        hiding, local = hiding_of(self.protocol), self.protocol.event
        return events.Shuffled(local, self.users) if hiding is None else ShuffledProtocol(local, self.users, hiding)

    def central_loss(self, *, delta: Number) -> Approx:
        """What all reports together cost, between data sets in which one person's value is exchanged; certified."""
        hiding = hiding_of(self.protocol)
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
    if not hasattr(protocol, "randomize_many"):
        raise BadArgument("protocol", "a local protocol, such as sf.local.frequencies(…) gives", protocol)
    return Shuffled(protocol, integer(users, "users", least=1))
