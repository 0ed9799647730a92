"""Exact laws of interaction: a strategy is replayed over every row of answers that it may get. For auditing only."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from flint import arb

from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.queryable import Queryable
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, precision

if TYPE_CHECKING:
    from sfumato.core.measurement import Measurement

Strategy = Callable[[Queryable, Entropy], Data]
"""Who asks: a function of a queryable (and of randomness) to what it makes of the answers."""

MISSED = Fraction(1, 1 << 60)
"""What is left out of the law of one answer that has no end."""


@final
class Fork(BaseException):
    """Raised where a strategy asks for one more answer than is scripted; strategies do not catch it."""

    def __init__(self, law: dict[Data, arb]) -> None:
        super().__init__("a strategy asks for one more answer")
        self.law = law


@final
class Recorder:
    """Replays scripted answers, in order, and forks where the script ends."""

    def __init__(self, script: tuple[Data, ...]) -> None:
        self._left, self.forked = list(reversed(script)), False

    def run(self, measurement: Measurement, data: Data) -> Data:
        """Returns the next scripted outcome of a measurement, or the open law of one that is interactive."""
        if measurement.law is None:
            raise BadArgument("a query", "a measurement with a known exact law", measurement.how.mechanism)
        law = measurement.law(data)
        if isinstance(law, InteractiveLaw):
            return Queryable(law.open(self))
        if measurement.interactive:
            raise BadArgument("a query", "a mechanism that answers once, or a compositor, for a law", "another")
        if self._left:
            return self._left.pop()
        self.forked = True
        with precision(BITS):
            raise Fork({outcome: law.probability(outcome) for outcome in law.outcomes(MISSED)})


@final
class NoEntropy(Entropy):
    """The randomness of a strategy under study: it has none, so that its law can be listed."""

    @property
    def replayable(self) -> bool:
        return True

    @property
    def drawn(self) -> int:
        return 0

    def octets(self, count: int) -> bytes:
        raise BadArgument("the strategy", "one that draws nothing itself, for its law to be listed", "a random one")


@final
@dataclass(frozen=True)
class InteractiveLaw(Law):
    """What an interactive measurement does on one member: a law of outcomes once it is said who asks."""

    open: Callable[[Recorder], Callable[[Data], Data]]

    def under(self, strategy: Strategy) -> FiniteLaw:
        """The law of what a strategy ends with."""
        chances: dict[Hashable, arb] = {}
        waiting: list[tuple[tuple[Data, ...], arb]] = [((), ball(1))]
        while waiting:
            script, chance = waiting.pop()
            recorder = Recorder(script)
            try:
                end = strategy(Queryable(self.open(recorder)), NoEntropy())
            except Fork as fork:
                with precision(BITS):
                    waiting += [((*script, outcome), chance * mass) for outcome, mass in fork.law.items()]
            else:
                _check_end(end, recorder)
                with precision(BITS):
                    chances[end] = chances.get(end, ball(0)) + chance
        return FiniteLaw(chances)

    def probability(self, outcome: Data) -> arb:
        return self.under(_nobody).probability(outcome)

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        return self.under(_nobody).outcomes(missed)


def _check_end(end: Data, recorder: Recorder) -> None:
    if recorder.forked:
        raise BadArgument("the strategy", "one that lets every error pass, for its law to be listed", "a bare except")
    if not isinstance(end, Hashable):
        raise BadArgument("what the strategy gives", "hashable, such as a tuple, for its law to be listed", type(end))


def _nobody(queryable: Queryable, entropy: Entropy) -> Data:
    raise BadArgument("the law of an interactive measurement", "asked for under a strategy: sf.analysis(…)", queryable)
