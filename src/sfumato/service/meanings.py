"""What a loss means to whoever must choose or grant one: in odds, in attack success, in words; no data is needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.convert.renyi import renyi_promises
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.accounting.meaning.explanation import explain
from sfumato.accounting.meaning.guidance import believed_in_hundred, epsilon_warning, explain_odds, strength
from sfumato.errors import BadArgument, SfumatoError

ALARMS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
PRIORS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


@final
@dataclass(frozen=True)
class Meaning:
    """What a loss allows the best attacker, all numbers rounded to the safe side.

    ``success`` is how often a guess between two equally likely cases is right; ``detected`` what a test finds that
    accuses so many of the innocent; ``beliefs`` what no outcome can raise a suspicion above (1: nothing is promised);
    ``taking`` and ``leaving`` of how many outputs in 100 somebody believes what they suspect, where the loss is pure.
    """

    loss: Loss
    words: str
    success: Fraction
    detected: tuple[tuple[Fraction, Fraction], ...]
    beliefs: tuple[tuple[Fraction, Fraction], ...]
    odds: str = ""
    strength: str = ""
    warning: str = ""
    taking: int | None = None
    leaving: int | None = None


def meaning_of(loss: Loss) -> Meaning:
    """Says what a loss means."""
    tested = _tested(loss)
    best = Attacker(tested)
    pure = loss if isinstance(loss, Pure) else None
    taking, leaving = (None, None) if pure is None else believed_in_hundred(pure)
    return Meaning(
        loss,
        explain(tested) if tested is loss else f"{loss}, as {explain(tested)}",
        best.accuracy(),
        tuple((rate, best.detects(rate)) for rate in ALARMS),
        tuple((prior, best.belief(prior=prior)) for prior in PRIORS),
        odds="" if pure is None else explain_odds(pure),
        strength="" if pure is None else strength(pure),
        warning=_warning(loss),
        taking=taking,
        leaving=leaving,
    )


def _tested(loss: Loss) -> Tested:
    """The loss itself, or the δ that it promises at every ε."""
    if isinstance(loss, Tested):
        return loss
    try:
        return Profile(renyi_promises(convert(loss, Renyi)))
    except SfumatoError:
        unknown = BadArgument("the loss", "one by ε, by ε and δ, by ρ or by μ", loss)
    raise unknown


def _warning(loss: Loss) -> str:
    try:
        return (epsilon_warning(loss) or "") if isinstance(loss, Pure | Approx) else ""
    except SfumatoError:
        return ""
