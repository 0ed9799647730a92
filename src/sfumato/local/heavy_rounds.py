"""The same in rounds: each round asks other people for longer prefixes, and lists only those that may still matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events.hiding import Hides
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import frequencies
from sfumato.local.frequency import Frequencies, FrequencyProtocol
from sfumato.local.heavy_values import HeavyValue, HeavyValues, sorted_values
from sfumato.local.intervals import least_support, read_confidence
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import NONE_REJECTED, Layout, Rejected
from sfumato.local.spelled import Spelling, a_spelling, prefix_lengths

MOST_LISTED = 1 << 15
"""A round lists so many prefixes at most: devices read the list."""

KEPT = 32
"""So many of them go on to the next round, at most."""

OTHER = ""
"""Stands for all prefixes that are not listed."""


@guarantee(
    claim="the place of a prefix in a public list is a function of the value: the loss of the part",
    proof="proofs/local_sketches.md#rounds",
    reviewed="213196ee76ed",
)
def prefix_loss(part: FrequencyProtocol) -> Pure:
    """The loss of a report on a prefix of a value."""
    return part.loss


@final
@dataclass(frozen=True)
class PrefixFrequencies(LocalProtocol[Frequencies]):
    """Counts listed prefixes of values, and in one number all others.

    Takes:      how values are spelled, the length of prefixes, and a protocol for a list of them
    Guarantee:  that of the protocol: a prefix is a function of the value  (proofs/local_sketches.md#rounds)
    Cost:       that of the protocol
    Best:       as a round of `heavy_hitter_rounds`
    """

    spelling: Spelling
    length: int
    part: FrequencyProtocol

    @property
    def loss(self) -> Pure:
        """That of the part."""
        return prefix_loss(self.part)

    @property
    def layout(self) -> Layout:
        """That of the part."""
        return self.part.layout

    @property
    @guarantee(
        claim="a value owns what its prefix owns", proof="proofs/local_sketches.md#shuffling", reviewed="c27187638b08"
    )
    def hiding(self) -> Hides | None:
        """As the prefixes hide each other."""
        return self.part.hiding

    def randomizer(self) -> dict[str, Any]:
        """That of the part, and the length, so that reports of one round are not taken for those of another."""
        return {**self.part.recipe(), "prefix": self.length}

    def domain(self) -> dict[str, Any]:
        """The spelling, the length, and the list."""
        listed = self.part.domain()
        return {"prefix": {"of": self.spelling.published(), "length": self.length, "listed": listed}}

    def input_of(self, value: Any) -> Any:
        """The place of a value's prefix."""
        return self.part.input_of(self.spelling.spell(value)[: self.length])

    def inputs_of(self, values: Any) -> NDArray[Any]:
        """The places of many values' prefixes; each value is spelled once."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        prefixes = {value: self.spelling.spell(value)[: self.length] for value in dict.fromkeys(listed)}
        return self.part.inputs_of(list(map(prefixes.__getitem__, listed)))

    def draw(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws reports of the part."""
        return self.part.draw(inputs, entropy)

    def estimate(self, tally: Tally) -> Frequencies:
        """Counts of the prefixes, and of all others together as that of ``""``."""
        return self.part.estimate(tally)


@final
@dataclass(frozen=True)
class HeavyRounds:
    """A search in rounds, each of which asks people who were not asked before.

    Ask what `protocol` says, `close` the round with the tally, and go on with what that gives, until it is `finished`.

    With the stated confidence nothing is found, in all rounds together, that nobody of those who were asked has.
    """

    spelling: Spelling
    loss: Pure
    lengths: tuple[int, ...]
    users: int
    """How many people are asked in a round."""
    confidence: Fraction
    number: int = 0
    """How many rounds were closed."""
    ongoing: tuple[str, ...] = ("",)
    """The prefixes that are gone on with."""
    found: tuple[HeavyValue, ...] = ()
    """The values that were found so far."""
    asked: int = 0
    """How many people reported so far."""
    least: float = 0.0
    """The largest share that an estimate had to reach in a round."""
    rejected: Rejected = NONE_REJECTED

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.number == len(self.lengths) or not self.ongoing

    @cached_property
    def protocol(self) -> PrefixFrequencies:
        """What people are asked in this round."""
        if self.finished:
            raise BadArgument("the search", "not finished; its values are in .found", "no round left")
        length = self.lengths[self.number]
        listed = [OTHER, *self.spelling.extended(self.ongoing, length)]
        part = frequencies(listed, loss=self.loss, users=self.users, other=OTHER)
        return PrefixFrequencies(self.spelling, length, part)

    def close(self, tally: Tally) -> HeavyRounds:
        """The search after this round: it goes on with the prefixes whose counts stand out of the noise."""
        estimate = self.protocol.aggregate(tally)
        tried = len(estimate.values) - 1
        counts, users = estimate.counts, estimate.users
        alarm = float((1 - self.confidence) / len(self.lengths) / tried)
        needed = least_support(users, float(estimate.supports_other), alarm)
        gain = float(estimate.supports_truth - estimate.supports_other)
        least = (needed - users * float(estimate.supports_other)) / gain
        order = np.argsort(-counts, kind="stable")
        kept = [place for place in order.tolist() if place and estimate.support[place] >= needed]
        whole = [place for place in kept if self.spelling.whole(str(estimate.values[place]))]
        shares, spread = counts / max(users, 1), estimate.deviations / max(users, 1)
        values = [
            HeavyValue(self.spelling.read(str(estimate.values[place])), float(shares[place]), float(spread[place]))
            for place in whole
        ]
        return replace(
            self,
            number=self.number + 1,
            ongoing=tuple(str(estimate.values[place]) for place in kept if place not in whole)[:KEPT],
            found=sorted_values([*self.found, *values]),
            asked=self.asked + users,
            least=max(self.least, least / max(users, 1)),
            rejected=self.rejected + tally.rejected,
        )

    @property
    def result(self) -> HeavyValues:
        """The values that were found so far, most frequent first."""
        return HeavyValues(self.found, self.asked, self.least, self.loss, self.rejected)

    def least_share(self, *, power: Number = Fraction(95, 100)) -> float:
        """The share of people from which on a value is found with chance ``power``, by the normal law; 1 for none.

        By the protocol of the first round: later ones are chosen to be no worse for their lists.
        """
        part, many = replace(self, number=0, ongoing=("",)).protocol.part, len(self.lengths)
        alarm = float((1 - self.confidence) / many / MOST_LISTED)
        needed = least_support(self.users, float(part.supports_other), alarm)
        level = (needed / self.users - float(part.supports_other)) / float(part.supports_truth - part.supports_other)
        sure = NormalDist().inv_cdf(float(1 - (1 - read_confidence(power)) / many))
        low, far = 0.0, 1.0
        for _ in range(50):
            share = (low + far) / 2
            own = float(part.variance(users=self.users, count=Fraction(share) * self.users))
            spread = (own + share * self.users) ** 0.5 / self.users  # who of all is asked in a round is chance, too
            low, far = (share, far) if share < level + sure * spread else (low, share)
        return far


def heavy_hitter_rounds(
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    alphabet: str | None = None,
    longest: int | None = None,
    bits: int | None = None,
    confidence: Number = Fraction(95, 100),
) -> HeavyRounds:
    """A search for values that many people have, in rounds that each ask an equal part of ``users`` people once.

    Nothing collides, so that every count is exact but for its reports, and what is asked is listed in words; but it
    takes as many rounds as there are lengths of prefixes, and devices read a list of prefixes in each.

    >>> heavy_hitter_rounds(bits=32, loss=1, users=10**6).lengths
    (15, 25, 32)
    """
    spelling, people = a_spelling(alphabet, longest, bits), integer(users, "users", least=1)
    lengths = prefix_lengths(spelling, first=MOST_LISTED, candidates=MOST_LISTED, kept=KEPT)
    cost, each = Pure(read_epsilon(loss, epsilon)), max(people // len(lengths), 1)
    return HeavyRounds(spelling, cost, lengths, each, read_confidence(confidence))
