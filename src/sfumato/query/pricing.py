"""Pricing: how much noise each number gets for its share of a loss, and what all of it costs together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import final

from sfumato.accounting.calibrate import greatest, least
from sfumato.accounting.concentrated import GDP
from sfumato.accounting.convert import convert
from sfumato.accounting.gaussian import exact_discrete_delta, exact_gaussian_delta
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import down, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.query.parts import Choice, Noisy, NoisyAt, Part, Priced, Selection, amount_of, selecting

KINDS: tuple[type[Loss], ...] = (Pure, Approx, ZCDP, GDP)
"""The kinds of loss that a query can be asked at."""

LAPLACE, GAUSSIAN = "laplace", "gaussian"
"""The kinds of noise, as people name them."""

ROUNDS = 6
"""How often the noise of parts is scaled to what a Gaussian loss allows; each round is nearer by a factor of ten."""

NO_GAUSSIAN = (
    "private choices (quantiles, top values) have no Gaussian loss on file: ask for them at a loss in Pure, Approx or "
    "ZCDP, or by themselves."
)


@guarantee(
    claim="the composed loss of all parts, in the kind asked for; concentrated parts restated at δ; then the choices "
    "of keys, composed",
    proof="proofs/query.md#loss",
    reviewed="774e4b05ef40",
)
def together(parts: Sequence[Pure | ZCDP], kind: type[Loss], delta: Fraction, chosen: Sequence[Approx]) -> Loss:
    """Gives what parts cost together, and with them the choices of keys."""
    if kind is not Approx:
        total = _composed(parts)
        return total if type(total) is kind else convert(total, kind)
    return reduce(lambda spent, one: spent.then(one), chosen, restated(parts, delta))


def restated(parts: Sequence[Pure | ZCDP], delta: Fraction) -> Approx:
    """Gives what parts cost together as (ε, δ); what is pure needs no δ."""
    total = _composed(parts)
    return Approx(total.epsilon, 0) if isinstance(total, Pure) else convert(total, Approx, delta=delta)


def _composed(parts: Sequence[Pure | ZCDP]) -> Pure | ZCDP:
    return reduce(lambda spent, part: spent.then(part), parts) if parts else Pure.nothing()  # type: ignore[arg-type]


@guarantee(
    claim="the ε of Gaussian losses, composed, at δ; the ε that was asked for, where they keep it",
    proof="proofs/query.md#loss",
    reviewed="36d5c474fed0",
)
def gaussian_price(total: GDP, delta: Fraction, asked: Fraction) -> Approx:
    """Gives what parts with Gaussian noise cost at a δ, from their Gaussian loss."""
    if exact_gaussian_delta(asked, total.mu, Fraction(1)) <= delta:
        return Approx(asked, delta)
    return convert(total, Approx, delta=delta)


@guarantee(
    claim="of one cell that moves, by 1: the ε that was asked for, where the exact profile of its noise keeps it",
    proof="proofs/query.md#loss",
    reviewed="5e1564ec2bf0",
)
def single_price(noise: DiscreteGaussian, delta: Fraction, asked: Fraction) -> Approx | None:
    """Gives what Gaussian noise costs where one cell moves by 1, if that is what was asked for."""
    return Approx(asked, delta) if exact_discrete_delta(noise, 1, asked) <= delta else None


@final
@dataclass(frozen=True)
class Pricing:
    """Is every part with its mechanism, the choice of keys, and what they cost together, as one kind of loss.

    ``delta`` is what parts with Gaussian noise may use of δ, and ``asked`` the ε that they were given.
    """

    parts: tuple[Priced, ...]
    selections: tuple[Selection, ...]
    kind: type[Loss]
    delta: Fraction
    asked: Fraction = Fraction(0)

    def loss(self, distance: int) -> Loss:
        """Gives what a question costs at a distance in units."""
        if distance == 0:
            return self.kind.nothing()
        chosen = [selection.loss(distance) for selection in self.selections]
        if self.kind is GDP:
            return gaussian_total(self.parts, distance) or GDP(math.inf)
        if self.delta and (best := self._restated(distance)) is not None:
            return reduce(lambda spent, one: spent.then(one), chosen, best)
        return together([part.loss(distance) for part in self.parts], self.kind, self.delta, chosen)

    def _restated(self, distance: int) -> Approx | None:
        """Gives the ε at δ of parts with Gaussian noise, by their exact profiles where that is less than by ρ."""
        if (one := moving_one(self.parts, distance)) is not None:
            exact = single_price(one, self.delta, self.asked)
            if exact is not None:
                return exact
        total = gaussian_total(self.parts, distance)
        if total is None:
            return None
        concentrated = restated([part.loss(distance) for part in self.parts], self.delta)
        gaussian = gaussian_price(total, self.delta, self.asked)
        return gaussian if gaussian.epsilon <= concentrated.epsilon else None

    @property
    def gaussian(self) -> bool:
        """Tells whether numbers get Gaussian noise."""
        return any(isinstance(part.loss(1), ZCDP) for part in self.parts)


def priced(
    parts: Sequence[Part],
    weights: Sequence[Fraction],
    loss: Loss,
    *,
    choices: Sequence[tuple[Choice, Fraction]] = (),
    noise: str | None = None,
    apart: int = 1,
) -> Pricing:
    """Divides a loss among parts by weights, and picks for all of them the kind of noise that errs less.

    ``choices`` says that keys are to be chosen: how one unit moves their counts, and the weight of each choice.
    ``noise`` says which kind of noise to use, where somebody wants to. ``apart`` is the distance between neighbours.
    """
    _check_noise(noise, loss)
    whole = sum(weights, Fraction(0)) + sum((weight for _, weight in choices), Fraction(0))
    shares = [weight / whole for weight in weights]
    if isinstance(loss, Pure | ZCDP | GDP | Approx) and not 0 < amount_of(loss) < math.inf:
        raise BadArgument("loss", "above 0 and finite: without noise nothing is private, and noise has a price", loss)
    match loss:
        case Pure(epsilon=epsilon) if not choices:
            return Pricing(_each(parts, shares, Pure(epsilon)), (), Pure, Fraction(0))
        case ZCDP(rho=rho) if not choices:
            return Pricing(_each(parts, shares, ZCDP(rho)), (), ZCDP, Fraction(0))
        case GDP() if not choices:
            total = gaussian_rho(parts, shares, Fraction(loss.square), apart)
            if total is None:
                raise QueryRefused(NO_GAUSSIAN)
            return Pricing(_each(parts, shares, ZCDP(total)), (), GDP, Fraction(0))
        case Approx():
            selecting_keys = [(choice, weight / whole) for choice, weight in choices]
            return _approximate(parts, shares, loss, selecting_keys, noise, apart)
    must = "sf.Approx(ε, δ), or --delta: keys that are not listed can only be shown with a δ" if choices else _kinds()
    raise BadArgument("loss", must, loss)


def _check_noise(noise: str | None, loss: Loss) -> None:
    allowed = {Pure: (LAPLACE,), ZCDP: (GAUSSIAN,), GDP: (GAUSSIAN,)}.get(type(loss), (LAPLACE, GAUSSIAN))
    if noise is not None and noise not in allowed:
        raise BadArgument("noise", f"{' or '.join(map(repr, allowed))} for a loss of kind {type(loss).__name__}", noise)
    if noise == GAUSSIAN and isinstance(loss, Approx) and not loss.delta:
        raise BadArgument("noise", "'laplace' where δ is 0: Gaussian noise needs one", noise)


def _approximate(
    parts: Sequence[Part],
    shares: Sequence[Fraction],
    loss: Approx,
    choices: Sequence[tuple[Choice, Fraction]],
    noise: str | None,
    apart: int,
) -> Pricing:
    epsilon, delta = Fraction(loss.epsilon), loss.delta
    rest = sum(shares, Fraction(0))
    left = delta / 2 if choices else delta
    rho = float(most_mu(rest * epsilon, left) ** 2 / 2) if left and rest else 0.0
    better = rho > 0 and noise is None and _better_gaussian(parts, shares, float(epsilon), rho / float(rest))
    gaussian = better or (rho > 0 and noise == GAUSSIAN)
    kept = delta - left if gaussian else delta
    chosen = sum((share for _, share in choices), Fraction(0))
    selections = tuple(selecting(Approx(share * epsilon, kept * share / chosen), choice) for choice, share in choices)
    if not gaussian:
        return Pricing(_each(parts, shares, Pure(epsilon)), selections, Approx, Fraction(0))
    weights, price = [share / rest for share in shares], rest * epsilon
    total = most_concentrated(parts, weights, Approx(price, left), apart)
    return Pricing(_each(parts, weights, ZCDP(total)), selections, Approx, left, price)


def _each(parts: Sequence[Part], shares: Sequence[Fraction], loss: Pure | ZCDP) -> tuple[Priced, ...]:
    amount = Fraction(loss.epsilon if isinstance(loss, Pure) else loss.rho)
    return tuple(part.priced(type(loss)(share * amount)) for part, share in zip(parts, shares, strict=True))


def _better_gaussian(parts: Sequence[Part], shares: Sequence[Fraction], epsilon: float, rho: float) -> bool:
    """Tells whether Gaussian noise errs less, over all parts; where it is as good, Laplace noise is used."""
    gain = sum(
        math.log(part.width(float(share) * epsilon, gaussian=False) / part.width(float(share) * rho, gaussian=True))
        for part, share in zip(parts, shares, strict=True)
        if part.width(1.0, gaussian=False) > 0
    )
    return gain > 0


def most_concentrated(parts: Sequence[Part], shares: Sequence[Fraction], loss: Approx, apart: int) -> Fraction:
    """Gives the greatest ρ to divide among parts that keep an (ε, δ): by way of ρ, of μ, or exactly."""
    epsilon, delta = Fraction(loss.epsilon), loss.delta
    found = [concentrated_within(epsilon, delta)]
    gaussian = gaussian_rho(parts, shares, most_mu(epsilon, delta) ** 2, apart)
    if gaussian is not None:
        found.append(gaussian)
    if len(parts) == 1 and isinstance(part := parts[0], Noisy) and squared(apart * part.influence.l2) < 2:
        found.append(1 / (2 * exactly_within(epsilon, delta)))
    return max(found)


def gaussian_rho(parts: Sequence[Part], shares: Sequence[Fraction], square: Fraction, apart: int) -> Fraction | None:
    """Gives a ρ to divide among parts so that their Gaussian losses, squared, come to no more than a square."""
    rho, best = square / 2, None
    for _ in range(ROUNDS):  # discrete noise costs a little more than μ² = 2ρ, the more the smaller it is
        spent = gaussian_total(_each(parts, shares, ZCDP(rho)), apart)
        if spent is None:
            break
        if spent.square <= square:
            best = max(rho, best or rho)
        rho = Fraction(down(rho * square / Fraction(spent.square)))
    return best


def gaussian_total(parts: Sequence[Priced], distance: int) -> GDP | None:
    """Gives the Gaussian loss of parts together, where each has one."""
    found = [part.gaussian_loss(distance) for part in parts]
    known = [one for one in found if one is not None]
    return reduce(lambda spent, one: spent.then(one), known, GDP(0)) if len(known) == len(found) else None


def moving_one(parts: Sequence[Priced], distance: int) -> DiscreteGaussian | None:
    """Gives the noise of the only part, if one of its cells moves at most, and by 1: nearer than √2 is no other."""
    match parts:
        case (NoisyAt(noise=DiscreteGaussian() as noise, influence=moved),) if squared(distance * moved.l2) < 2:
            return noise
    return None


@lru_cache(maxsize=256)
def concentrated_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Gives the greatest ρ that converts to no more than an (ε, δ)."""
    return greatest(lambda rho: convert(ZCDP(rho), Approx, delta=delta).within(Approx(epsilon, delta)))


@lru_cache(maxsize=256)
def most_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Gives the greatest μ that keeps an (ε, δ)."""
    return greatest(lambda mu: exact_gaussian_delta(epsilon, mu, Fraction(1)) <= delta)


@lru_cache(maxsize=256)
def exactly_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Gives the least scale² of Gaussian noise that keeps an (ε, δ) for one whole number that moves by 1."""
    return least(lambda square: exact_discrete_delta(DiscreteGaussian.from_square(square), 1, epsilon) <= delta)


def _kinds() -> str:
    return "one of " + ", ".join(f"sf.{kind.__name__}(…)" for kind in KINDS)
