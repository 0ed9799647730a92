"""Outcomes that only one of two inputs can give: whoever sees one knows the input, whatever ε was promised."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, final

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.meaning.attacker import Attacker
from sfumato.attacks.membership import epsilon_of
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.law import FiniteLaw, finite_law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import ball, integer, up, upper
from sfumato.release.progress import Progress, reporting

Input = TypeVar("Input")
Output = TypeVar("Output")


@final
@dataclass(frozen=True)
class Excluded:
    """How often the outcomes left one input only, so that the attacker was certain, and how often rightly.

    ``claimed`` is the ε that all outcomes of a trial were said to cost; a pure ε lets nobody be surer than
    ``most_certain`` of either input.
    """

    certain: Success
    claimed: float | None

    @property
    def most_certain(self) -> float:
        """The largest belief in one of two equally likely inputs that the claimed ε allows after any outcome."""
        return 1.0 if self.claimed is None else up(Attacker(Pure(self.claimed)).belief())


@final
@dataclass(frozen=True)
class Beyond:
    """The part of the outcomes on some data that its neighbour cannot give: its exact mass, and what was seen of it.

    Where ``mass`` is not 0, no pure ε holds, however small it is; ``delta`` is what the measurement states for it.
    """

    certain: Success
    mass: Fraction
    delta: Fraction


def two(values: Sequence[Any], read: Callable[[Any], Input]) -> tuple[Input, Input]:
    """Reads two values to tell apart."""
    if not isinstance(values, Sequence) or len(values) != 2:
        raise BadArgument("values", "two, to tell apart", values)
    first, second = read(values[0]), read(values[1])
    if first == second:
        raise BadArgument("values", "two different ones", values)
    return first, second


def stated_loss(
    measurement: Measurement, data: Data, neighbour: Data, d_in: DistanceLike | Unit | None
) -> Pure | Approx:
    """What a measurement states for two data sets as far apart as these are, or as d_in allows."""
    if not isinstance(measurement, Measurement):
        raise BadArgument("measurement", "a measurement", type(measurement).__name__)
    source = measurement.source
    if not all(source.domain.member(rows) for rows in (data, neighbour)):
        raise NotInDomain(source.domain)
    apart = source.distance(data, neighbour)
    allowed = apart if d_in is None else source.metric.read(d_in)
    if not apart <= allowed:
        raise BadArgument("data and neighbour", "at most d_in apart: the loss speaks of no others", f"d_in = {d_in}")
    loss = measurement.map(allowed)
    if not isinstance(loss, Pure | Approx):
        raise BadArgument("the loss of the measurement", "Pure or Approx", str(loss))
    return loss


def tell_apart(
    inputs: tuple[Input, Input],
    *,
    draw: Callable[[Input, Entropy], Output],
    reaches: Callable[[Output, Input], bool],
    samples: int,
    trials: int,
    entropy: Entropy | None,
    progress: Progress | None,
) -> tuple[Success, Success]:
    """Draws outcomes of one of two inputs, tossed for in each trial, and asks which of them could have given them.

    The guess is the input that could have given more of the outcomes; where both could have given as many, it is the
    second. The result is how often the guess was right, and how often when only one input could have given all
    outcomes.
    """
    source, right, certain, sure = entropy or system(), 0, 0, 0
    many, count = integer(samples, "samples", least=1), integer(trials, "trials", least=1)
    with reporting(progress, "attacking") as tell:
        for done in range(count):
            side = source.below(2)
            outcomes = [draw(inputs[side], source) for _ in range(many)]
            first, second = (sum(reaches(outcome, given) for outcome in outcomes) for given in inputs)
            right += (0 if first > second else 1) == side
            if (first == many) != (second == many):
                certain += 1
                sure += (0 if first == many else 1) == side
            tell(done + 1, count)
    return Success(right, count), Success(sure, certain)


def support(
    measurement: Measurement,
    data: Data,
    neighbour: Data,
    *,
    d_in: DistanceLike | Unit | None = None,
    trials: int = 1000,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Waits for an outcome that only one of two data sets can give, such as noise near the end of its range (P1-169).

    It needs the measurement's law, with finitely many outcomes that are whole numbers or categories. The loss beside
    which the success is put is the one stated for the distance of the two data sets, or for a larger one, ``d_in``.
    """
    loss = stated_loss(measurement, data, neighbour, d_in)
    law = measurement.law
    if law is None or (measurement.noise is not None and measurement.noise.step != 1):
        raise BadArgument("measurement", "one with a known law of whole numbers or categories", repr(measurement))
    laws = finite_law(law(data)), finite_law(law(neighbour))
    reached = [{outcome for outcome, chance in of_side.probabilities.items() if chance > 0} for of_side in laws]
    success, certain = tell_apart(
        (0, 1),
        draw=lambda side, source: measurement.function((data, neighbour)[side], source),
        reaches=lambda outcome, side: outcome in reached[side],
        samples=1,
        trials=trials,
        entropy=entropy,
        progress=progress,
    )
    beyond = max(_mass(laws[side], reached[side] - reached[1 - side]) for side in (0, 1))
    return Attack(
        name="outcomes beyond reach",
        violation=Violation.MEMBERSHIP,
        against=str(loss),
        success=success,
        baseline=0.5,
        epsilon=epsilon_of(loss),
        found=Beyond(certain, beyond, Fraction(0) if isinstance(loss, Pure) else Fraction(loss.delta)),
    )


def _mass(law: FiniteLaw, outcomes: set[Hashable]) -> Fraction:
    """The probability of some outcomes, rounded up."""
    return Fraction(upper(lambda: sum((law.probability(outcome) for outcome in outcomes), start=ball(0))))
