"""What a loss means, in words: sentences with numbers, all rounded to the safe side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import final

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_promises
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.accounting.plans.account import CostReport
from sfumato.exact import Number, decimal_of, digits_up, probability
from sfumato.guarantee import guarantee

FACTORS = tuple(10**power for power in range(1, 10))
"""By how much odds may be multiplied before it is called a surprise; the least with a small probability is told."""


@final
@dataclass(frozen=True)
class Rivals:
    """The best attackers that several losses of one mechanism allow: no test does better than the worst of them."""

    attackers: tuple[Attacker, ...]

    def detects(self, false_alarms: Number) -> Fraction:
        """As that of an `Attacker`, by the loss that says most."""
        return min(one.detects(false_alarms) for one in self.attackers)

    def accuracy(self) -> Fraction:
        """As that of an `Attacker`, by the loss that says most."""
        return min(one.accuracy() for one in self.attackers)

    def after_alarm(self, false_alarms: Number) -> Callable[[Number], Fraction]:
        """As that of an `Attacker`, by the loss that says most."""
        ways = [one.after_alarm(false_alarms) for one in self.attackers]
        return lambda prior: min(way(prior) for way in ways)

    def belief(self, *, prior: Number) -> Fraction:
        """As that of an `Attacker`, by the loss that says most."""
        return min(one.belief(prior=prior) for one in self.attackers)

    def surprises(self, factor: Number) -> Fraction:
        """As that of an `Attacker`, by the loss that says most."""
        return min(one.surprises(factor) for one in self.attackers)


@guarantee(
    claim="losses that all hold of the plan: what was found at one delta, and the whole curves that it was found by",
    proof="proofs/meaning.md#report",
    reviewed="83252b18a62c",
)
def known_losses(report: CostReport) -> tuple[Tested, ...]:
    """What is known of a plan that was accounted for, as losses that say how well their best attacker tests."""
    tried = {way.kind for way in report.ways}
    losses: list[Tested] = [report.loss]
    if Pure in tried:
        losses.append(total(report.event, Pure, relation=report.relation))
    if GDP in tried:
        losses.append(total(report.event, GDP, relation=report.relation))
    if PLD in tried:
        losses.append(total(report.event, PLD, relation=report.relation))
    elif Renyi in tried:
        losses.append(Profile(renyi_promises(total(report.event, Renyi, relation=report.relation))))
    return tuple(losses)


def explain(
    loss: Tested | CostReport, *, prior: Number = Fraction(1, 10), false_alarms: Number = Fraction(1, 20)
) -> str:
    """Says in plain words what a loss promises to one unit, all numbers rounded to the safe side.

    The prior and the rate of false alarms are taken with three digits, as they are printed. What `sf.account` found is
    read by its whole curve, not only at the δ that was asked for.

    >>> print(explain(Pure(1)))
    ε = 1: how well the best attacker can tell from a release whether one unit is in the data.
    The attacker knows everybody else's data and how the release was made.
    · A test that accuses 5 % of the innocent finds at most 13.6 % of the others (5 % by blind guessing).
    · A guess between two equally likely cases is right at most 73.2 % of the time (50 % by a coin).
    · A suspicion of 10 % becomes one of at most 23.2 %, if such a test raises alarm.
    · No outcome whatsoever can raise it above 23.2 %.
    What the release says about people in general it may say about this one too.
    To ask which of two values a unit has, explain the loss of a changed unit: loss.group(2) of one added or removed.
    """
    stated = loss.loss if isinstance(loss, CostReport) else loss
    best = Rivals(tuple(map(Attacker, known_losses(loss) if isinstance(loss, CostReport) else (loss,))))
    rate, belief = _printed(false_alarms, "the rate of false alarms"), _printed(prior, "prior")
    after = best.after_alarm(rate)
    lines = [
        f"{stated}: how well the best attacker can tell from a release whether one unit is in the data.",
        "The attacker knows everybody else's data and how the release was made.",
        *(f"This holds if {words}." for words in (loss.assumptions if isinstance(loss, CostReport) else ())),
        f"· A test that accuses {percent(rate)} of the innocent finds at most {percent(best.detects(rate))} of the "
        f"others ({percent(rate)} by blind guessing).",
        f"· A guess between two equally likely cases is right at most {percent(best.accuracy())} of the time "
        "(50 % by a coin).",
        f"· A suspicion of {percent(belief)} becomes one of at most {percent(after(belief))}, if such a test raises "
        "alarm.",
        _worst_outcome(best, belief),
        "What the release says about people in general it may say about this one too.",
        "To ask which of two values a unit has, explain the loss of a changed unit: loss."
        "group(2) of one added or removed.",
    ]
    return "\n".join(lines)


def _printed(share: Number, name: str) -> Fraction:
    """Reads a probability and rounds it to what `percent` prints."""
    return Fraction(decimal_of(probability(share, name), 3, ROUND_CEILING))


def _worst_outcome(best: Rivals, prior: Fraction) -> str:
    cap = best.belief(prior=prior)
    if cap < 1 or prior == 1:
        return f"· No outcome whatsoever can raise it above {percent(cap)}."
    for factor in FACTORS:
        if (chance := best.surprises(factor)) <= Fraction(1, 100):
            return (
                f"· Outcomes that multiply the odds by more than {factor} have probability at most "
                f"{scientific(chance)}; about those, nothing more is promised."
            )
    return "· Nothing is promised about single outcomes: with a probability that matters, one may give the unit away."


def percent(share: Fraction) -> str:
    """Writes a share in percent with three digits, rounded up.

    >>> percent(Fraction(2, 3)), percent(Fraction(1, 20))
    ('66.7 %', '5 %')
    """
    return f"{scientific(100 * share)} %"


def scientific(value: Fraction) -> str:
    """Writes a number with three digits, rounded up.

    >>> scientific(Fraction(1, 3)), scientific(Fraction(2, 3 * 10**7))
    ('0.334', '6.67e-08')
    """
    return digits_up(value, digits=3)
