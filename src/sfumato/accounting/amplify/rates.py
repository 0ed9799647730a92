"""What a secret sample saves in (ε, δ): Poisson, fixed-size, with replacement, and Poisson cut to a size.

A theorem takes the loss for the *presence* of one sampled unit, or for the *exchange* of a sampled unit for another
(`exchange`), and says so in the name of its argument. All numbers are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from sfumato.accounting.amplify.draws import FINE, grown_less_one, least_excess, spared
from sfumato.accounting.amplify.exchange import L, Side, counts_alike, exchange, presence
from sfumato.accounting.events import (
    Event,
    Poisson,
    Sampling,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.relation import Relation
from sfumato.accounting.tables import amplifier
from sfumato.errors import NoProvenRoute
from sfumato.exact import Extended, ball, exp_up, upper
from sfumato.guarantee import guarantee

REDRAWN = (
    "Draws with replacement are on file in PLD for Gaussian noise, and in Pure and Approx for mechanisms that have "
    "such a loss; for others sample with sf.events.Poisson or WithoutReplacement."
)


@guarantee(
    claim="ln(1 + q (exp(epsilon) - 1)), rounded up; exactly 0 at q = 0 and epsilon at q = 1",
    proof="proofs/amplification.md#mixture",
    reviewed="90be3640db56",
)
def sampled_epsilon(epsilon: Extended, rate: Fraction) -> Extended:
    """The ε that is left when a mechanism sees the unit with a probability only.

    >>> round(float(sampled_epsilon(Fraction(1), Fraction(1, 10))), 6)
    0.158565
    """
    if rate == 0 or epsilon == 0:
        return Fraction(0)
    if rate == 1 or epsilon == math.inf:
        return epsilon
    exact = Fraction(epsilon)
    return min(exact, upper(lambda: (ball(rate) * ball(exact).expm1()).log1p()))


@guarantee(
    claim="one more or fewer: (ln(1 + q (exp(epsilon) - 1)), q delta); one exchanged: (ln R, q delta (1 + R "
    "exp(-epsilon))), R = (1 + q (exp(epsilon) - 1)) / (1 + q (exp(-epsilon) - 1)), rounded up",
    proof="proofs/amplification.md#poisson",
    reviewed="ed9493b7e082",
)
def poisson_loss(present: Approx, sampling: Poisson, relation: Relation) -> Approx:
    """The loss of a mechanism that sees each unit independently with a probability."""
    rate, once = sampling.rate, sampled_epsilon(present.epsilon, sampling.rate)
    if relation is Relation.ADD_REMOVE:
        return Approx(once, rate * present.delta)
    if rate in (0, 1) or present.epsilon == math.inf:
        return Approx(once, rate * present.delta).group(2)
    epsilon = Fraction(present.epsilon)
    whole = once + min(epsilon, upper(lambda: -(ball(rate) * ball(-epsilon).expm1()).log1p()))
    paid = rate * present.delta * (1 + exp_up(Fraction(whole) - epsilon)) if present.delta else Fraction(0)
    return Approx(whole, min(Fraction(1), paid))


@guarantee(
    claim="one exchanged, q = n/N: (ln(1 + q (exp(epsilon) - 1)), q delta), from the loss for exchanging a sampled one",
    proof="proofs/amplification.md#without-replacement",
    reviewed="20bf596b6906",
)
def fixed_size_loss(exchanged: Approx, sampling: WithoutReplacement, relation: Relation) -> Approx:
    """The loss of a mechanism on a uniformly random subset of fixed size."""
    exchanged_only(sampling, relation)
    rate = Fraction(sampling.sample, sampling.population)
    return Approx(sampled_epsilon(exchanged.epsilon, rate), rate * exchanged.delta)


@guarantee(
    claim="the worst of Poisson sampling that was not cut, and of an exchange at rate q m/(m + 1)",
    proof="proofs/amplification.md#truncated",
    reviewed="806d41ef254a",
)
def truncated_loss(present: Approx, exchanged: Approx, sampling: TruncatedPoisson, relation: Relation) -> Approx:
    """The loss under Poisson sampling when samples above a size are cut to it at random."""
    whole = poisson_loss(present, Poisson(sampling.rate), relation)
    if sampling.most >= sampling.population:
        return whole
    rate = sampling.rate * Fraction(sampling.most, sampling.most + 1)
    cut = Approx(sampled_epsilon(exchanged.epsilon, rate), rate * exchanged.delta)
    return Approx(max(whole.epsilon, cut.epsilon), max(whole.delta, cut.delta))


@guarantee(
    claim="one exchanged: (ln R, delta') of the mixture over how often the unit is drawn, k times at k epsilon",
    proof="proofs/amplification.md#with-replacement",
    reviewed="1729be051b84",
)
def redrawn_loss(exchanged: Approx, sampling: WithReplacement, relation: Relation) -> Approx:
    """The loss of a mechanism on independent uniform draws, in which a unit may come up several times."""
    exchanged_only(sampling, relation)
    draws, share = sampling.draws, Fraction(1, sampling.population)
    if draws == 0 or exchanged.epsilon == 0:
        return Approx(0, min(Fraction(1), draws * share * exchanged.delta))
    if exchanged.epsilon == math.inf:
        return exchanged
    epsilon = Fraction(exchanged.epsilon)
    excess = least_excess(epsilon, draws, share)
    if excess is None:  # astronomical: as if the unit were drawn every time
        return exchanged.group(draws)

    def factor() -> arb:
        return (grown_less_one(epsilon, draws, share) + spared(excess, epsilon, draws, share)) / ball(epsilon).expm1()

    delta = (
        exchanged.delta * Fraction(min(upper(factor, FINE), 1 / exchanged.delta)) if exchanged.delta else Fraction(0)
    )
    return Approx(upper(lambda: ball(excess).log1p()), delta)


def exchanged_only(sampling: Sampling, relation: Relation) -> None:
    """Refuses neighbours with one unit more or fewer where the size of the population is public."""
    if relation is Relation.ADD_REMOVE:
        raise NoProvenRoute(
            f"{type(sampling).__name__} draws from a population of public size, so one unit more or fewer would show. "
            "Ask under sf.accounting.Relation.CHANGE_ONE or ZERO_OUT, or sample with sf.events.Poisson."
        )


def _rows(sampling: type[Sampling], theorem: Callable[..., Approx], *sides: Side) -> None:
    """Files a theorem on (ε, δ) for the three kinds of loss that are made of such promises."""

    @amplifier(sampling, Approx)
    def approximate(inner: Event, drawn: Sampling, relation: Relation, total: Callable[[Event], Approx]) -> Approx:
        return theorem(*(side(inner, total) for side in sides), drawn, as_presence(inner, drawn, relation))

    @amplifier(sampling, Pure)
    def pure(inner: Event, drawn: Sampling, relation: Relation, total: Callable[[Event], Pure]) -> Pure:
        losses = (Approx(side(inner, total).epsilon, 0) for side in sides)
        return Pure(theorem(*losses, drawn, as_presence(inner, drawn, relation)).epsilon)

    @amplifier(sampling, Profile)
    def profile(inner: Event, drawn: Sampling, relation: Relation, total: Callable[[Event], Profile]) -> Profile:
        losses, asked = [side(inner, total) for side in sides], as_presence(inner, drawn, relation)
        promised = [[Approx(epsilon, loss.delta(epsilon)) for loss in losses] for epsilon, _ in losses[-1].points]
        return Profile.of(*(theorem(*promises, drawn, asked) for promises in promised))


@guarantee(
    claim="where an exchange is no larger a change than presence, one exchanged in a Poisson sample costs what one "
    "more or fewer does",
    proof="proofs/amplification.md#any-two",
    reviewed="835d3dcf3aea",
)
def as_presence(inner: Event, drawn: Sampling, relation: Relation) -> Relation:
    """The relation under which a Poisson sample, cut or not, is to be looked up."""
    alike = isinstance(drawn, Poisson | TruncatedPoisson) and counts_alike(inner)
    return Relation.ADD_REMOVE if alike else relation


@guarantee(
    claim="where every unit is in the sample: what the event costs for the presence of one, or for one exchanged",
    proof="proofs/amplification.md#everyone",
    reviewed="f0e2d88281e5",
)
def with_everyone(inner: Event, drawn: Sampling, relation: Relation, total: Callable[[Event], L]) -> L | None:
    """The loss on a sample that is all of the data; None for a smaller one."""
    match drawn:
        case Poisson(rate=rate) if rate == 1:
            pass
        case WithoutReplacement(sample=sample, population=population) if sample == population:
            exchanged_only(drawn, relation)
        case _:
            return None
    return (exchange if relation is Relation.CHANGE_ONE else presence)(inner, total)


def _refuse(sampling: type[Sampling], kind: type[Loss]) -> None:
    @amplifier(sampling, kind)
    def refused(inner: Event, drawn: Sampling, relation: Relation, total: Callable[[Event], Loss]) -> Loss:
        if (whole := with_everyone(inner, drawn, relation, total)) is not None:
            return whole
        raise NoProvenRoute(
            f"no theorem says what sampling saves in {kind.__name__}: a sampled mechanism is no longer of that shape. "
            + (REDRAWN if sampling is WithReplacement else "Ask for Renyi or PLD, where the saving is known.")
        )


_rows(Poisson, poisson_loss, presence)
_rows(TruncatedPoisson, truncated_loss, presence, exchange)
_rows(WithoutReplacement, fixed_size_loss, exchange)
_rows(WithReplacement, redrawn_loss, exchange)
for _sampling in (Poisson, TruncatedPoisson, WithoutReplacement, WithReplacement):
    for _kind in (ZCDP, ApproxZCDP, GDP, BoundedRange):
        _refuse(_sampling, _kind)
