"""What an ε means, in words and odds, for whoever has to choose one."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from fractions import Fraction
from math import inf

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, decimal_of, digits_up, exp_down, exp_up, integer, log_down, probability, up
from sfumato.guarantee import guarantee

STRENGTHS = (
    (Fraction(1, 10), "very strong: nobody's odds of being right change by more than about a tenth"),
    (Fraction(1), "good: odds of being right change by a factor of less than 3"),
    (Fraction(5), "weak: odds of being right may change by a factor of up to about 150"),
)
"""Rules of thumb, from strong to weak; an ε of at most 1 is the usual advice."""

LARGEST = 10_000
"""Beyond this ε the factor is called infinite: it would have thousands of digits, and no meaning."""


ADVISED = (Fraction(1, 100), Fraction(1))
"""The range of ε that experts advise; many deployments are far above it."""

LOWER_BOUND = (
    "Known attacks are a lower bound on what attackers can do: other attacks, other questions and further releases "
    "come on top. Stay well below this limit."
)
"""What must be said whenever an ε is chosen by what an attack may achieve."""


def odds_factor(loss: Pure) -> Fraction | float:
    """The factor by which anyone's odds about a unit can change, exp(ε), rounded up.

    >>> [round(float(odds_factor(Pure(epsilon))), 5) for epsilon in (0.1, 1, 5)]
    [1.10517, 2.71828, 148.41316]
    """
    _check(loss)
    return inf if loss.epsilon > LARGEST else exp_up(Fraction(loss.epsilon))


@guarantee(
    claim="posterior odds are at most exp(epsilon) times the prior odds",
    proof="proofs/guidance.md#posterior",
    reviewed="03076756899e",
)
def posterior_cap(loss: Pure, *, prior: Number = Fraction(1, 2)) -> Fraction:
    """The largest belief in a statement about a unit that a release can leave, from a prior belief, rounded up.

    >>> [round(float(posterior_cap(Pure(epsilon))), 6) for epsilon in (0.1, 1, 5)]
    [0.524979, 0.731059, 0.993307]
    """
    belief, factor = probability(prior, "prior"), odds_factor(loss)
    if belief == 0 or belief == 1:
        return belief
    if factor == inf:
        return Fraction(1)
    return belief * Fraction(factor) / (belief * Fraction(factor) + 1 - belief)


def strength(loss: Pure) -> str:
    """Says in words how strong a loss is, by rule of thumb.

    >>> strength(Pure(1))
    'good: odds of being right change by a factor of less than 3'
    """
    _check(loss)
    return next((words for most, words in STRENGTHS if loss.epsilon <= most), "very weak: little is promised")


def epsilon_warning(loss: Pure | Approx) -> str | None:
    """Warns when ε is outside the range that experts advise, 0.01 to 1; None where it is inside. It forbids nothing.

    >>> print(epsilon_warning(Pure("4.8")))
    ε = 4.8 is above the range that is usually advised, 0.01 to 1: an outcome may be 121.511 times as likely with one \
unit's data as without. If this is meant, say why where the release is described.
    >>> epsilon_warning(Pure("0.5")) is None
    True
    """
    if not isinstance(loss, Pure | Approx):
        raise BadArgument("the loss", "Pure or Approx, such as sf.Pure(0.5)", loss)
    low, high = ADVISED
    if low <= loss.epsilon <= high:
        return None
    side = "above" if loss.epsilon > high else "below"
    factor = odds_factor(Pure(loss.epsilon))
    why = (
        "If this is meant, say why where the release is described."
        if side == "above"
        else "Noise will drown all but the coarsest answers."
    )
    return (
        f"ε = {digits_up(loss.epsilon)} is {side} the range that is usually advised, 0.01 to 1: an outcome may be "
        f"{digits_up(factor)} times as likely with one unit's data as without. {why}"
    )


def delta_warning(delta: Number, *, size: int) -> str | None:
    """Warns when δ is so large that publishing whole records would be within it; None where it is not.

    >>> delta_warning(1e-9, size=100) is None
    True
    """
    chance, rows = probability(delta, "delta"), integer(size, "size", least=1)
    if chance * rows < 1:
        return None
    return (
        f"δ = {up(chance):.3g} is not below 1/{rows}: it would allow a mechanism that publishes each of {rows} records "
        f"in the clear with that probability, about {up(chance * rows):.3g} of them. Choose δ far below 1/{rows}, "
        "such as 1e-9."
    )


@guarantee(
    claim="(e^epsilon + delta) / (1 + e^epsilon) is at most success",
    proof="proofs/guidance.md#success",
    reviewed="e3289c0d360d",
)
def largest_epsilon(success: Fraction, delta: Fraction) -> Fraction:
    """The largest ε, rounded down, at which no guess between two equally likely cases succeeds more often."""
    return max(Fraction(0), Fraction(log_down((success - delta) / (1 - success))))


def limit_for_success(success: Number, *, delta: Number = 0) -> Pure | Approx:
    """The limit at which the best attack tells two equally likely cases apart with at most a success rate.

    It is also what randomised response costs that tells the truth so often. See `explain_success` for what to add.

    >>> [round(float(limit_for_success(truth).epsilon), 6) for truth in (0.75, 0.95)]
    [1.098612, 2.944439]
    """
    rate, lost = probability(success, "success"), probability(delta, "delta")
    if not Fraction(1, 2) <= rate < 1:
        raise BadArgument("success", "at least 0.5, which a coin has, and less than 1", success)
    if lost > 2 * rate - 1:
        raise BadArgument("delta", "at most 2 · success − 1: alone it lets attacks succeed more often", delta)
    epsilon = largest_epsilon(rate, lost)
    return Approx(epsilon, lost) if lost else Pure(epsilon)


def explain_success(success: Number, *, delta: Number = 0) -> str:
    """Says which limit a tolerable success rate of attacks comes to, and why to stay below it.

    >>> print(explain_success(0.75))
    ε = 1.09861: whoever guesses between two equally likely cases about one unit is right at most 75 % of the time.
    Known attacks are a lower bound on what attackers can do: other attacks, other questions and further releases come \
on top. Stay well below this limit.
    """
    limit, rate = limit_for_success(success, delta=delta), probability(success, "success")
    epsilon = decimal_of(Fraction(limit.epsilon), 6, ROUND_FLOOR)
    lost = f", δ = {digits_up(limit.delta)}" if isinstance(limit, Approx) else ""
    return (
        f"ε = {epsilon.normalize():f}{lost}: whoever guesses between two equally likely cases about one unit is right "
        f"at most {digits_up(100 * rate)} % of the time.\n{LOWER_BOUND}"
    )


def believed_in_hundred(loss: Pure, *, count: bool = False) -> tuple[int, int]:
    """Of how many outputs in 100 an analyst believes "true": if the unit takes part, and if it does not.

    For randomised response; with ``count`` for a count with Laplace noise, split half-way. Rounded to the nearest.

    >>> believed_in_hundred(Pure(1)), believed_in_hundred(Pure(1), count=True)
    ((73, 27), (70, 30))
    """
    _check(loss)
    if not count:
        part = round(100 * posterior_cap(loss))
    elif loss.epsilon > LARGEST:
        part = 100
    else:
        part = round(100 - 50 * exp_down(-Fraction(loss.epsilon) / 2))
    return part, 100 - part


def explain_odds(loss: Pure, *, count: bool = False) -> str:
    """Says what an ε means as odds out of 100, the form that people understand best.

    >>> print(explain_odds(Pure(1)))
    If you take part, 73 of 100 possible outputs lead an analyst to believe that what they suspect of you is true.
    If you do not take part, 27 of 100 do.
    """
    taking, leaving = believed_in_hundred(loss, count=count)
    return (
        f"If you take part, {taking} of 100 possible outputs lead an analyst to believe that what they suspect of you "
        f"is true.\nIf you do not take part, {leaving} of 100 do."
    )


def _check(loss: object) -> None:
    if not isinstance(loss, Pure):
        raise BadArgument("the loss", "pure, such as sf.Pure(0.5)", loss)
