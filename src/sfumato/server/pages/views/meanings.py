"""The page that puts a loss into odds, attacks and beliefs, with pictures of how often."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from markupsafe import Markup

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.meaning.attacker import Attacker
from sfumato.accounting.meaning.explanation import percent
from sfumato.accounting.meaning.guidance import LOWER_BOUND, believed_in_hundred, explain_odds, strength
from sfumato.charts.canvas import Chart
from sfumato.charts.in_pages import icon_array
from sfumato.charts.neighbours import neighbours
from sfumato.errors import SfumatoError
from sfumato.exact import digits_up
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.server.pages.drawings import Drawings
from sfumato.server.pages.views.cells import AMOUNT, Cell, Listing
from sfumato.service.asking import loss_from
from sfumato.service.meanings import Meaning

LARGEST = Fraction(50)
"""The largest ε that is drawn: beyond it every dot is full."""

BEYOND, LONGEST = 1000, 40
PERCENT = re.compile(r"[0-9]{1,2}(\.[0-9]{1,6})?")
ALARM = Fraction(1, 20)
SMALLEST = Fraction(1, 1000)
MADE_UP = 120
"""The count that is made up for the picture of outcomes."""


@final
@dataclass(frozen=True)
class MeaningView:
    """The page of what a loss means."""

    epsilon: str
    delta: str
    prior: str
    strength: str
    warning: str
    odds: tuple[str, ...]
    attacks: Listing
    beliefs: Listing
    lower_bound: str = LOWER_BOUND
    wrong: str = ""
    dots: Markup | None = None
    dots_words: str = ""
    outcomes: Markup | None = None
    outcomes_words: str = ""
    outcomes_caption: str = ""
    samples: Listing | None = None


def meaning_view(meaning: Meaning, drawings: Drawings, *, prior: str, wrong: str = "") -> MeaningView:
    """Makes the page from what the service says of a loss."""
    loss = meaning.loss
    pure = Pure(loss.epsilon) if isinstance(loss, Pure | Approx) else None
    epsilon = "" if pure is None else digits_up(pure.epsilon)
    delta = digits_up(loss.delta) if isinstance(loss, Approx) and loss.delta else ""
    dots, outcomes = Markup(), Markup()
    if pure is not None and SMALLEST <= pure.epsilon <= LARGEST:
        drawn = pure
        dots = drawings.of(("dots", epsilon), lambda: icon_array(drawn))
        outcomes = drawings.of(("outcomes", epsilon), lambda: _outcomes(drawn))
    taking, leaving = (None, None) if pure is None else believed_in_hundred(pure)
    odds = meaning.odds or ("" if pure is None else explain_odds(pure))
    return MeaningView(
        epsilon=epsilon,
        delta=delta,
        prior=prior,
        strength=_strength(meaning),
        warning=meaning.warning,
        odds=tuple(odds.splitlines()),
        attacks=attacks_of(meaning),
        beliefs=beliefs_of(meaning, prior),
        wrong=wrong,
        dots=dots or None,
        dots_words="Of 100 possible outputs, those that lead an analyst to believe what they suspect of you: "
        + (f"{taking} if you take part, {leaving} if you do not." if taking is not None else "with you and without."),
        outcomes=outcomes or None,
        outcomes_words=f"A made-up count of {MADE_UP} people, you among them, is released with Laplace noise at "
        "this ε. Without you it would be one less. An attacker sees one outcome and must say which curve it is from.",
        outcomes_caption="How likely each outcome is with you and without you, on a linear and on a logarithmic "
        "scale. The nearer the curves, the less an outcome says about you.",
    )


def _strength(meaning: Meaning) -> str:
    if meaning.strength:
        return f"By rule of thumb, {meaning.strength}."
    if isinstance(meaning.loss, Approx):
        return f"By rule of thumb, and but for a chance of δ, {strength(Pure(meaning.loss.epsilon))}."
    return "How well anybody can tell from a release whether one person is in the data."


def _outcomes(pure: Pure) -> Chart:
    scale = Fraction(1) / Fraction(pure.epsilon)
    return neighbours(DiscreteLaplace(scale), centres=(MADE_UP, MADE_UP - 1), names=("with you", "without you"))


def attacks_of(meaning: Meaning) -> Listing:
    """How often attacks succeed, beside what they would without a release."""
    rows = [("A guess between two equally likely cases is right", "50 %", percent(meaning.success))]
    rows += [
        (f"A test that accuses {percent(rate)} of the innocent finds of the others", percent(rate), percent(most))
        for rate, most in meaning.detected
    ]
    return _three(rows, ("What the attacker tries", "without a release", "with it, at most"))


def beliefs_of(meaning: Meaning, prior: str) -> Listing:
    """What becomes of suspicions: the one that was asked for among them."""
    best = Attacker(meaning.loss) if isinstance(meaning.loss, Pure | Approx) else None
    priors = sorted({*(before for before, _ in meaning.beliefs), *filter(None, (prior_of(prior),))})
    rows = []
    if best is not None:
        after = best.after_alarm(ALARM)
        for before in priors:
            most = best.belief(prior=before)
            rows.append((percent(before), percent(after(before)), "no bound" if most >= 1 else percent(most)))
    head = ("suspected before", f"if a test alarms that accuses {percent(ALARM)} of the innocent", "whatever comes out")
    return _three(rows, head)


def prior_of(text: str) -> Fraction | None:
    """Reads a suspicion in per cent."""
    part = Fraction(text) / 100 if PERCENT.fullmatch(text) else Fraction(0)
    return part if 0 < part < 1 else None


def _three(rows: list[tuple[str, str, str]], head: tuple[str, str, str]) -> Listing:
    return Listing(
        tuple((Cell(name, header=True), Cell(before, AMOUNT), Cell(after, AMOUNT)) for name, before, after in rows),
        (Cell(head[0]), Cell(head[1], AMOUNT), Cell(head[2], AMOUNT)),
    )


def loss_of(epsilon: str, delta: str) -> Loss | None:
    """Reads a loss from the address; None where it cannot be read, or is beyond what anybody could mean."""
    if len(epsilon) > LONGEST or len(delta) > LONGEST:
        return None
    try:
        loss = loss_from({"epsilon": epsilon, "delta": delta or None})
    except SfumatoError:
        return None
    return loss if isinstance(loss, Pure | Approx) and loss.epsilon <= BEYOND else None
