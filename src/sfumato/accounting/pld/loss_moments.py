"""Privacy losses with closed forms: the moments E e^(sZ) of each, for complex s."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from flint import acb

from sfumato.accounting import events
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Extended, ball, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace

PROOF = "proofs/characteristic.md"


class Factor(ABC):
    """The law of one privacy loss, finite with probability ``kept``, by its moments E e^(sZ) over finite Z."""

    @abstractmethod
    def moment(self, s: acb) -> acb:
        """Encloses E e^(sZ) wherever the real part of s is positive."""

    @property
    @abstractmethod
    def most(self) -> Extended:
        """A bound on finite losses."""

    @property
    def kept(self) -> Fraction:
        """The probability that the loss is finite."""
        return Fraction(1)

    @property
    def decay(self) -> Fraction:
        """An η with ∣E e^((a+it)Z)∣ ≤ e^(-ηt²) E e^(aZ) for all t."""
        return Fraction(0)

    @property
    def pitch(self) -> Fraction | None:
        """A step of which all finite losses are whole multiples; None where there is none."""
        return None


@guarantee(
    claim="E e^(sZ) = e^(eta s (1 + s)) for Z normal, mean eta, variance 2 eta",
    proof=f"{PROOF}#normal",
    reviewed="0823b24e9027",
)
def normal_moment(s: acb, eta: Fraction) -> acb:
    """Encloses the moment of the loss of Gaussian noise."""
    return (ball(eta) * s * (1 + s)).exp()


@guarantee(
    claim="E e^(sZ) = (e^(sr) + e^(-(1+s)r) + e^(sr) (1 - e^(-(2s+1)r)) / (2s + 1)) / 2",
    proof=f"{PROOF}#laplace",
    reviewed="bfb93e3a336d",
)
def laplace_moment(s: acb, ratio: Fraction) -> acb:
    """Encloses the moment of the loss of Laplace noise: two atoms, and the part between them."""
    reach, twice = ball(ratio), 2 * s + 1
    top = (s * reach).exp()
    return (top + (-(1 + s) * reach).exp() + top * (1 - (-twice * reach).exp()) / twice) / 2


@guarantee(
    claim="E e^(sZ) = (e^((1+s)e) + e^(-se) + k - 2) / (e^e + k - 1) for k options",
    proof=f"{PROOF}#response",
    reviewed="86e5b4c3f1f0",
)
def response_moment(s: acb, epsilon: Fraction, options: int) -> acb:
    """Encloses the moment of the loss of randomized response: ε, −ε, and 0 for the other options."""
    top, others = ball(epsilon), options - 2
    return (((1 + s) * top).exp() + (-s * top).exp() + others) / (top.exp() + others + 1)


@guarantee(
    claim="E e^(sZ) = (e^(skg) + e^(-(1+s)kg) + (1 - q) e^(skg) w (1 - w^(k-1)) / (1 - w)) / (1 + q), q = e^-g, "
    "w = e^(-(2s+1)g)",
    proof=f"{PROOF}#discrete-laplace",
    reviewed="46f18e31e6ba",
)
def discrete_laplace_moment(s: acb, gap: Fraction, shift: int) -> acb:
    """Encloses the moment of the loss of discrete Laplace noise of scale 1/gap between whole numbers a shift apart."""
    apart = ball(gap)
    share, power = (-apart).exp(), (-(2 * s + 1) * apart).exp()
    top = (s * shift * apart).exp()
    inside = top * power * (1 - power ** (shift - 1)) / (1 - power)
    return (top + (-(1 + s) * shift * apart).exp() + (1 - share) * inside) / (1 + share)


@final
@dataclass(frozen=True)
class NormalLoss(Factor):
    """The loss of Gaussian noise, normal with mean η and variance 2η, where η = shift² / (2 scale²)."""

    eta: Fraction

    def moment(self, s: acb) -> acb:
        return normal_moment(s, self.eta)

    @property
    def most(self) -> float:
        return math.inf if self.eta else 0.0

    @property
    def decay(self) -> Fraction:
        return self.eta


@final
@dataclass(frozen=True)
class LaplaceLoss(Factor):
    """The loss of continuous Laplace noise; ``ratio`` is shift over scale."""

    ratio: Fraction

    def moment(self, s: acb) -> acb:
        return laplace_moment(s, self.ratio)

    @property
    def most(self) -> Fraction:
        return self.ratio


@final
@dataclass(frozen=True)
class ResponseLoss(Factor):
    """The loss of randomized response, infinite with probability ``lost``."""

    epsilon: Fraction
    options: int = 2
    lost: Fraction = Fraction(0)

    def moment(self, s: acb) -> acb:
        return response_moment(s, self.epsilon, self.options) * ball(self.kept)

    @property
    def most(self) -> Fraction:
        return self.epsilon

    @property
    def kept(self) -> Fraction:
        return 1 - self.lost

    @property
    def pitch(self) -> Fraction:
        return self.epsilon


@final
@dataclass(frozen=True)
class DiscreteLaplaceLoss(Factor):
    """The loss of discrete Laplace noise of scale 1/gap between whole numbers a shift of at least 1 apart."""

    gap: Fraction
    shift: int

    def moment(self, s: acb) -> acb:
        return discrete_laplace_moment(s, self.gap, self.shift)

    @property
    def most(self) -> Fraction:
        return self.gap * self.shift

    @property
    def pitch(self) -> Fraction:
        return self.gap


@guarantee(
    claim="the privacy loss of a pair that dominates the event, the same in both orders",
    proof=f"{PROOF}#factors",
    reviewed="78eb98909db0",
)
def factor_of(event: events.Event) -> Factor:
    """The loss of one event that has a closed form."""
    match event:
        case events.Gaussian(scale, shift) if shift != math.inf:
            return NormalLoss(Fraction(squared(shift)) / (2 * Fraction(squared(scale))))
        case events.Laplace(scale, Fraction() as shift):
            return LaplaceLoss(shift / scale)
        case events.Noise(DiscreteLaplace() as noise, Fraction() as shift, 1):
            whole = math.floor(shift)
            return DiscreteLaplaceLoss(1 / noise.scale, whole) if whole else ResponseLoss(Fraction(0))
        case events.Response():
            return ResponseLoss(event.epsilon, event.options)
        case events.Stated(Pure(Fraction() as epsilon)):
            return ResponseLoss(epsilon)
        case events.Stated(Approx(Fraction() as epsilon, delta)):
            return ResponseLoss(epsilon, lost=Fraction(delta))
        case events.Stated(GDP(Fraction() as mu)):
            return NormalLoss(mu**2 / 2)
    must = "noise on one number with a closed form, a response, or a stated Pure, Approx or GDP loss (else: sf.account)"
    raise BadArgument("the event", must, type(event).__name__)
