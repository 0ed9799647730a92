"""What a claim says of ε at one δ, which is what audits from samples measure."""

from __future__ import annotations

from fractions import Fraction

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, probability


def promised(claim: Loss | Number | None, delta: Number) -> tuple[Extended | None, Fraction]:
    """The ε that is claimed, and at which δ: at that of the claim itself, where it claims nothing below it.

    >>> promised(Approx(1, 1e-6), 0)
    (Fraction(1, 1), Fraction(1, 1000000))
    """
    missed = probability(delta, "delta")
    if missed == 1:
        raise BadArgument("delta", "less than 1, where every mechanism is private", delta)
    match claim:
        case None:
            return None, missed
        case Pure() | Approx():
            missed = max(missed, claim.delta) if isinstance(claim, Approx) else missed
            return Profile.of(claim).epsilon(missed), missed
        case Loss():
            if missed == 0:
                raise BadArgument("delta", "greater than 0, for the claim promises no ε at 0", delta)
            return convert(claim, Approx, delta=missed).epsilon, missed
    return Pure(claim).epsilon, missed


def line_name(delta: Fraction) -> str:
    """Names the line of an audit that measures ε."""
    return f"ε at δ = {float(delta):g}"


def certainty(confidence: Number) -> Fraction:
    """Reads a confidence: a probability that leaves room for doubt."""
    sure = probability(confidence, "confidence")
    if not Fraction(1, 2) <= sure < 1:
        raise BadArgument("confidence", "at least 0.5 and less than 1", confidence)
    return sure
