"""Characteristic functions of privacy losses, and the Fourier accountant that inverts them.

The characteristic function E e^(itZ) of a privacy loss Z always exists, and that of a sum is the product. Here it is
kept as E e^(sZ) for complex s with a real part above 0, where one integral gives δ(ε) with certified bounds. It knows
noises with a closed form; `sf.account` knows all plans, by another way: each checks the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, final

from flint import acb, arb

from sfumato.accounting import events
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.pld.loss_moments import PROOF, Factor, factor_of
from sfumato.exact import (
    BITS,
    Number,
    ball,
    common_step,
    endpoints,
    integer,
    non_negative,
    precision,
    probability,
    rational,
)
from sfumato.guarantee import guarantee

HALVINGS, DIGITS = 60, Fraction(1, 10**9)
"""How often an interval of ε is halved at most, and to which width relative to its upper end."""

CUT, FARTHEST = 60, 1 << 12
"""Normal parts cut the integral where they are below e^-60; without them it ends here, and the rest is bounded."""

SADDLES, STEPS = (-12.0, 14.0), 24
"""Between which powers of two a saddle point is looked for, and in how many steps."""

EVALUATIONS = 1 << 17
"""An integral that needs more is left as it is: a wider, still certified bracket."""


@final
@dataclass(frozen=True)
class CharacteristicFunction:
    """The characteristic function of a composed privacy loss, as its factors and how often each occurs.

    >>> once = characteristic(events.Gaussian(scale=1))
    >>> round(float(once.delta(1).upper), 7), once.times(4).then(once) == once.times(5)
    (0.1269367, True)
    """

    factors: tuple[tuple[Factor, int], ...]

    def then(self, other: CharacteristicFunction) -> CharacteristicFunction:
        """The product: what two mechanisms lose together."""
        return _gathered([*self.factors, *other.factors])

    def times(self, count: int) -> CharacteristicFunction:
        """The power: what one mechanism loses over so many runs."""
        number = integer(count, "count", least=0)
        return _gathered([(factor, number * times) for factor, times in self.factors])

    def at(self, t: Number) -> complex:
        """φ(t) = E e^(itZ), over finite losses, to a float's digits.

        >>> round(abs(characteristic(events.Gaussian(scale=1)).at(1)), 6)  # e^(-1/2)
        0.606531
        """
        place = rational(t, "t")
        with precision(BITS):
            value = _product(self.factors, acb(0, ball(place)))
            return complex(float(value.real.mid()), float(value.imag.mid()))

    def delta(self, epsilon: Number) -> Bracket:
        """Encloses the least δ at which the composed mechanisms keep (ε, δ)."""
        loss = non_negative(epsilon, "epsilon")
        with precision(BITS):
            low, high = endpoints(_finite_delta(self.factors, loss))
        return Bracket(max(self.lost, self.lost + low), min(Fraction(1), self.lost + high))

    @property
    def lost(self) -> Fraction:
        """The probability that the loss is infinite: no ε has a smaller δ."""
        return 1 - math.prod((factor.kept**times for factor, times in self.factors), start=Fraction(1))

    def epsilon(self, delta: Number) -> Bracket:
        """Encloses the least ε at which the composed mechanisms keep (ε, δ); infinite where no ε does."""
        share = probability(delta, "delta")
        endless = any(factor.most == math.inf for factor, _ in self.factors)
        if self.lost > share or (self.lost == share and endless):
            return Bracket(math.inf, math.inf)
        if self.delta(0).upper <= share:
            return Bracket(Fraction(0), Fraction(0))
        low, high = Fraction(0), Fraction(1)
        while self.delta(high).upper > share:
            low, high = high, 2 * high
            if high > 1 << 20:
                return Bracket(Fraction(0), math.inf)
        top = _bisected(low, high, lambda loss: self.delta(loss).upper <= share)
        return Bracket(_bisected(Fraction(0), top, lambda loss: self.delta(loss).lower <= share, above=False), top)


def _bisected(low: Fraction, high: Fraction, keeps: Callable[[Fraction], bool], *, above: bool = True) -> Fraction:
    """Halves an interval: a point above which the condition holds, or (not ``above``) one below which it does not."""
    for _ in range(HALVINGS):
        if high - low <= high * DIGITS:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high if above else low


def characteristic(event: events.Event) -> CharacteristicFunction:
    """The characteristic function of what a plan loses: of Gaussian, Laplace and discrete Laplace noise on one number,
    randomized response and stated `Pure`, `Approx` and `GDP` losses, in sequence and repeated.

    >>> plan = events.Repeat(events.Response(epsilon=1), 2)
    >>> characteristic(plan).delta(1).upper < characteristic(plan).delta(0).lower
    True
    """
    match event:
        case events.Sequence():
            return reduce(lambda left, part: left.then(characteristic(part)), event.parts, CharacteristicFunction(()))
        case events.Repeat():
            return characteristic(event.event).times(event.times)
        case _:
            return _gathered([(factor_of(event), 1)])


def _gathered(factors: list[tuple[Factor, int]]) -> CharacteristicFunction:
    counts: Counter[Factor] = Counter()
    for factor, times in factors:
        counts[factor] += times
    return CharacteristicFunction(tuple((factor, times) for factor, times in counts.items() if times))


def _product(factors: tuple[tuple[Factor, int], ...], s: acb) -> acb:
    return reduce(lambda product, factor: product * factor[0].moment(s) ** factor[1], factors, acb(1))


def _finite_delta(factors: tuple[tuple[Factor, int], ...], epsilon: Fraction) -> arb:
    """Encloses E max(0, 1 - e^(ε - Z)) over finite losses."""
    if epsilon >= sum((times * factor.most for factor, times in factors), Fraction(0)):
        return arb(0)
    pitches = [factor.pitch for factor, _ in factors if factor.most > 0]
    if any(pitch is None for pitch in pitches):
        return inverted(factors, epsilon)
    pitch = common_step(*(pitch for pitch in pitches if pitch is not None))
    if pitch * FARTHEST < 3:  # one period is longer than the part that is integrated else
        return inverted(factors, epsilon)
    low = pitch * math.floor(epsilon / pitch)
    if low == epsilon:
        return inverted_on_lattice(factors, epsilon, pitch)
    ends = [inverted_on_lattice(factors, end, pitch) for end in (low, low + pitch)]
    share = ball(epsilon - low).expm1() / ball(pitch).expm1()  # between losses δ is linear in e^ε
    return ends[0] * (1 - share) + ends[1] * share


@guarantee(
    claim="delta = 1/pi Re of the integral over t > 0 of e^(-s epsilon) M(s) / (s (s + 1)), s = a + it, for any a > 0; "
    "beyond T at most e^(-a epsilon - eta T²) M(a) / (pi T)",
    proof=f"{PROOF}#inversion",
    reviewed="7e127ec6a4e3",
)
def inverted(factors: tuple[tuple[Factor, int], ...], epsilon: Fraction) -> arb:
    """Encloses δ at ε by the inversion formula, cut where the rest is small or, without normal parts, bounded."""
    along, size = _path(factors, epsilon)
    decay = sum((times * factor.decay for factor, times in factors), Fraction(0))
    end = ball(Fraction(FARTHEST)) if not decay else (ball(CUT / decay)).sqrt() + 1

    def integrand(t: acb, _: object) -> acb:
        s, ratio = along(t)
        return ratio / (s * (s + 1))

    found = acb.integral(integrand, 0, end, eval_limit=EVALUATIONS).real
    rest = (-ball(decay) * end * end).exp() / end
    return size * (found + rest * arb(0, 1)) / arb.pi()


@guarantee(
    claim="where all losses and epsilon are whole multiples of h: delta = 1/pi Re of the integral over 0 < t < pi/h of "
    "e^(-s epsilon) M(s) (h/2) (coth(hs/2) - coth(h(s+1)/2))",
    proof=f"{PROOF}#lattice",
    reviewed="74d664863819",
)
def inverted_on_lattice(factors: tuple[tuple[Factor, int], ...], epsilon: Fraction, pitch: Fraction) -> arb:
    """Encloses δ at an ε on the lattice of losses: one period holds everything."""
    along, size = _path(factors, epsilon)
    half = ball(pitch) / 2

    def integrand(t: acb, _: object) -> acb:
        s, ratio = along(t)
        return ratio * half * ((half * s).coth() - (half * (s + 1)).coth())

    found = acb.integral(integrand, 0, arb.pi() / ball(pitch), eval_limit=EVALUATIONS).real
    return size * found / arb.pi()


Along: TypeAlias = Callable[[acb], tuple[acb, acb]]
"""From t to s = a + it and e^(-itε) M(s) / M(a), which is at most 1 in modulus on the path."""


def _path(factors: tuple[tuple[Factor, int], ...], epsilon: Fraction) -> tuple[Along, arb]:
    """Chooses a near the saddle point, where little cancels; gives the integrand along it and e^(-aε) M(a)."""
    start = ball(_saddle(factors, epsilon))
    bases = [(factor, times, factor.moment(acb(start)).real) for factor, times in factors]

    def along(t: acb) -> tuple[acb, acb]:
        s = start + acb(0, 1) * t
        ratio = (acb(0, -1) * t * ball(epsilon)).exp()
        for factor, times, base in bases:
            ratio *= (factor.moment(s) / base) ** times
        return s, ratio

    size = (sum((times * base.log() for _, times, base in bases), -start * ball(epsilon))).exp()
    return along, size


def _saddle(factors: tuple[tuple[Factor, int], ...], epsilon: Fraction) -> Fraction:
    """Looks for the a at which e^(-aε) M(a) / (a (a + 1)) is least; any would do, and this one cancels least."""

    def height(exponent: float) -> float:
        a = Fraction(2.0**exponent)
        logs = sum((times * factor.moment(acb(ball(a))).real.log() for factor, times in factors), arb(0))
        return float((logs - ball(a) * ball(epsilon) - ball(a * (a + 1)).log()).mid())

    low, high = SADDLES
    for _ in range(STEPS):
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if height(left) < height(right) else (left, high)
    return Fraction(2.0 ** ((low + high) / 2))
