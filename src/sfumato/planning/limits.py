"""Which limit to choose: by what an attack may achieve, by odds, below a ceiling; which δ; and what others chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.meaning.attacker import Attacker
from sfumato.accounting.meaning.guidance import (
    LOWER_BOUND,
    delta_warning,
    epsilon_warning,
    explain_odds,
    limit_for_success,
)
from sfumato.datasets import deployments
from sfumato.errors import BadArgument, SfumatoError
from sfumato.exact import Number, decimal_of, digits_up, integer, positive, probability, up
from sfumato.release.registry import RegistryEntry
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

USUAL_DELTA, FEW = Fraction(1, 10**6), Fraction(1, 1000)
"""The usual δ; and how likely it may be at most that of all people one is published in the clear."""

DIGITS = 6
"""A limit has so many digits, rounded down."""


def delta_for(people: int) -> Fraction:
    """Suggests a δ for a number of people, which must be public: a power of ten, of which all together are 1/1000.

    It is 10⁻⁶, the usual one, for up to a thousand people, and never as much as 1/people: a δ allows to publish each
    record in the clear with that probability.

    >>> [float(delta_for(many)) for many in (649, 100_000, 331_000_000)]
    [1e-06, 1e-08, 1e-12]
    """
    many, delta = integer(people, "people", least=1), USUAL_DELTA
    while delta * many > FEW:
        delta /= 10
    return delta


@final
@dataclass(frozen=True, eq=False, repr=False)
class LimitAdvice(Displayed):
    """A limit, with what it rests on: each way says at most how much, and the least of them counts.

    ``ways`` are the ways in words with the ε of each; ``warnings`` must be read before the limit is used.
    """

    limit: Pure | Approx
    ways: tuple[tuple[str, Fraction], ...]
    warnings: tuple[str, ...]
    people: int | None = None

    def document(self) -> Document:
        """The limit, the ways that lead to it, and what it means in odds."""
        rows = tuple((what, f"ε = {_down(epsilon)}") for what, epsilon in self.ways)
        pure = Pure(self.limit.epsilon)
        told = tuple((line,) for line in explain_odds(pure).split("\n"))
        return Document(
            "A limit",
            f"{self.limit.str_down()}",
            "at most; less is safer",
            self.warnings,
            tables=(Table(rows, ("by", "at most")), Table(told, title="In odds"), beside_others(self.limit)),
        )

    def chart(self) -> Chart:
        """Draws what it means for 1,000 people."""
        from sfumato.charts.planning import people_of_thousand

        return people_of_thousand(right_of_thousand(self.limit))


def limit_advice(
    *,
    success: Number | None = None,
    odds: Number | None = None,
    justified: Number | None = None,
    ceiling: Number | None = None,
    people: int | None = None,
    delta: Number | None = None,
) -> LimitAdvice:
    """Chooses a limit from what may happen to somebody at worst; the least of all that is said counts.

    ``success`` is how often the best attack on one person may be right at most, between two equally likely cases;
    ``odds`` how many of 100 possible outputs may at most lead to believing what is true of somebody (50 is a coin);
    ``justified`` is an ε that was justified otherwise, such as by a study of preferences, and ``ceiling`` one that law
    or ethics set: no preference may exceed it. With ``people``, a public number, comes a δ, which is never 1/people or
    more; ``delta`` states one.

    >>> advice = limit_advice(success=0.75, ceiling=2)
    >>> advice.limit
    Pure(epsilon=1.09861)
    """
    many = None if people is None else integer(people, "people", least=1)
    lost = Fraction(0) if delta is None else probability(delta, "delta")
    if delta is None and many is not None:
        lost = delta_for(many)
    if many is not None and (warning := delta_warning(lost, size=many)) is not None:
        raise BadArgument("delta", f"below 1/{many}. {warning}".removesuffix("."), delta)
    ways: list[tuple[str, Fraction]] = []
    if success is not None:
        at_most = Fraction(limit_for_success(success, delta=lost).epsilon)
        ways.append((f"an attack that is right {_percent(success)} of the time at most", at_most))
    if odds is not None:
        if not 50 < Fraction(str(odds)) < 100:
            raise BadArgument("odds", "of 100 outputs more than 50, which a coin has, and fewer than 100", odds)
        at_most = Fraction(limit_for_success(Fraction(str(odds)) / 100, delta=lost).epsilon)
        ways.append((f"{odds} of 100 outputs at most that lead to the truth", at_most))
    for what, given in (("what was justified", justified), ("the ceiling of law and ethics", ceiling)):
        if given is not None:
            ways.append((what, positive(given, what)))
    if not ways:
        must = "given, one or more of success, odds, justified and ceiling: a limit rests on something"
        raise BadArgument("the grounds of a limit", must, None)
    if ceiling is not None and len(ways) == 1:
        must = "given beside a ceiling, which is no reason by itself: success, odds or justified"
        raise BadArgument("the grounds of a limit", must, None)
    least = Fraction(decimal_of(min(epsilon for _, epsilon in ways), DIGITS, ROUND_FLOOR))
    if not least:
        raise BadArgument("success", "such that an ε above 0 keeps it", success)
    limit = Approx(least, lost) if lost else Pure(least)
    warnings = [LOWER_BOUND, epsilon_warning(limit)]
    return LimitAdvice(limit, tuple(ways), tuple(one for one in warnings if one), many)


def _percent(share: Number) -> str:
    return f"{digits_up(100 * probability(share, 'success'))} %"


def _down(value: Fraction) -> str:
    return Pure(value).str_down().removeprefix("ε = ")


def epsilon_of(loss: Loss, *, delta: Fraction = USUAL_DELTA) -> Fraction | None:
    """The ε of a loss, at a δ where it has none; None where no theorem gives one."""
    if isinstance(loss, Pure | Approx):
        return Fraction(loss.epsilon)
    try:
        return Fraction(convert(loss, Approx, delta=delta).epsilon)
    except SfumatoError:
        return None


def right_of_thousand(loss: Loss, *, delta: Fraction = USUAL_DELTA) -> int:
    """Of how many of 1,000 people the best attacker guesses rightly, at most, whether they are in the data.

    Half of them are, so that a coin is right about 500.

    >>> [right_of_thousand(Pure(epsilon)) for epsilon in ("0.1", 1, 5)]
    [525, 732, 994]
    """
    tested = loss if isinstance(loss, Pure | Approx) else convert(loss, Approx, delta=delta)
    right = 1000 * Attacker(tested).accuracy()
    return min(1000, -(-right.numerator // right.denominator))


def comparable(entries: Sequence[RegistryEntry] | None = None) -> list[tuple[RegistryEntry, Fraction]]:
    """The deployments of the registry that state an ε, the least first."""
    known = deployments() if entries is None else entries
    with_epsilon = [(one, epsilon) for one in known if (epsilon := one.number("epsilon")) is not None]
    return sorted(with_epsilon, key=lambda pair: pair[1])


def beside_others(loss: Loss, *, delta: Fraction = USUAL_DELTA) -> Table:
    """A table of the deployments nearest to a loss in ε; what they protect differs, and stands beside them."""
    own, known = epsilon_of(loss, delta=delta), comparable()
    if own is None:
        return Table(())
    below = [one for one in known if one[1] <= own]
    near = [*below[-3:], *known[len(below) : len(below) + 3]]
    rows = tuple(
        (one.name, one.curator, f"{up(epsilon):g}", one.unit or "not stated", one.model or "not stated")
        for one, epsilon in near
    )
    title = f"Of {len(known)} deployments that state an ε, {len(known) - len(below)} spend more"
    return Table(rows, ("deployment", "by", "ε", "of whom", "model"), title)
