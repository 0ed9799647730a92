"""What one outcome gives away: the realised privacy loss ln(p(outcome | here) / p(outcome | there)), exactly."""

from __future__ import annotations

from fractions import Fraction

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive, probability, rational
from sfumato.guarantee import guarantee


@guarantee(
    claim="loss = (|outcome - there| - |outcome - here|) / scale, between plus and minus |here - there| / scale",
    proof="proofs/realised_loss.md#laplace",
    reviewed="3fe0d9aa6718",
)
def laplace_realised(outcome: Number, *, here: Number, there: Number, scale: Number) -> Fraction:
    """The realised loss of an outcome of Laplace noise, when the exact answer is here rather than there.

    Positive numbers favour here; negative ones mislead. Holds for the discrete Laplace too, on its own points.

    >>> [laplace_realised(y, here=10, there=11, scale=1) for y in (7, 10.5, 13)]
    [Fraction(1, 1), Fraction(0, 1), Fraction(-1, 1)]
    """
    seen, near, far = rational(outcome, "outcome"), rational(here, "here"), rational(there, "there")
    return (abs(seen - far) - abs(seen - near)) / positive(scale, "scale")


@guarantee(
    claim="loss = (there - here) (here + there - 2 outcome) / (2 scale²), without bound",
    proof="proofs/realised_loss.md#gaussian",
    reviewed="1f41e00ea294",
)
def gaussian_realised(outcome: Number, *, here: Number, there: Number, scale: Number) -> Fraction:
    """The realised loss of an outcome of Gaussian noise, when the exact answer is here rather than there.

    Holds for the discrete Gaussian too, on its own points.

    >>> [gaussian_realised(y, here=0, there=1, scale=1) for y in (0, 0.5, 3)]
    [Fraction(1, 2), Fraction(0, 1), Fraction(-5, 2)]
    """
    seen, near, far = rational(outcome, "outcome"), rational(here, "here"), rational(there, "there")
    return (far - near) * (near + far - 2 * seen) / (2 * positive(scale, "scale") ** 2)


@guarantee(
    claim="the realised loss of Gaussian noise is normal with mean D²/2s² and twice that as variance",
    proof="proofs/realised_loss.md#gaussian-law",
    reviewed="8aae782afcb0",
)
def gaussian_loss_moments(*, scale: Number, sensitivity: Number = 1) -> tuple[Fraction, Fraction]:
    """The mean and the variance of the realised loss of Gaussian noise, which is itself normal.

    >>> gaussian_loss_moments(scale=1)
    (Fraction(1, 2), Fraction(1, 1))
    """
    mean = (rational(sensitivity, "sensitivity") / positive(scale, "scale")) ** 2 / 2
    return mean, 2 * mean


@guarantee(
    claim="epsilon-private but for outcomes of probability at most chance, on every data set and for every neighbour: "
    "(epsilon, delta + chance)",
    proof="proofs/realised_loss.md#bad-outcomes",
    reviewed="9bb82d379133",
)
def outside_bad_outcomes(loss: Pure | Approx, chance: Number) -> Approx:
    """The loss of a mechanism that keeps another one outside of bad outcomes, which come with at most a chance.

    For every ordered pair of neighbours there must be such a set of outcomes, of at most this probability on the first.

    >>> outside_bad_outcomes(Pure(1), "1e-6")
    Approx(epsilon=1.0, delta=1e-06)
    """
    if not isinstance(loss, Pure | Approx):
        raise BadArgument("the loss", "Pure or Approx, such as sf.Pure(1)", loss)
    delta = Fraction(0) if isinstance(loss, Pure) else Fraction(loss.delta)
    return Approx(loss.epsilon, min(Fraction(1), delta + probability(chance, "chance")))
