"""Pricing: how much noise each number gets for its share of a loss, and what all of it costs together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Event, Stated
from sfumato.accounting.events import Sequence as Sequenced
from sfumato.accounting.facts.gaussian import exact_discrete_delta, exact_gaussian_delta, mu_near
from sfumato.accounting.losses.concentrated import COMMON_KINDS, GDP
from sfumato.accounting.losses.measures import ZCDP, Additive, Approx, Loss, Pure
from sfumato.accounting.plans.search import about, greatest, least
from sfumato.accounting.plans.shares import largest_within
from sfumato.accounting.pld.crossing import log_ratio
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.errors import BadArgument, NoProvenRoute, QueryRefused
from sfumato.exact import down, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.query.plan.parts import Choice, NoisyCells, Part, Priced, PricedCells, Selection, selecting

LAPLACE, GAUSSIAN = "laplace", "gaussian"
"""The kinds of noise, as people name them."""

ROUNDS = 6
"""How often the noise of parts is scaled to what a Gaussian loss allows; each round is nearer by a factor of ten."""

KEYS_TAKE_DELTA = (
    "sf.Approx(ε, δ), or a delta (delta=1e-6, --delta 1e-6) beside epsilon: keys that are not listed can only be shown "
    "with a δ, which a limit must have too; or list them, in the codebook (categories: […]) or by keys=sf.KeySet.of(…)"
)
"""What to pay where keys are not listed."""

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
    """The loss of parts together, and with them of the choices of keys, as one kind of loss."""
    if kind is not Approx:
        total = _composed(parts)
        return total if type(total) is kind else convert(total, kind)
    return reduce(lambda spent, one: spent.then(one), chosen, restated(parts, delta))


def restated(parts: Sequence[Pure | ZCDP], delta: Fraction) -> Approx:
    """The loss of parts together as (ε, δ); δ is 0 where all are pure."""
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
    """The loss of parts with Gaussian noise at a δ, from their Gaussian loss; the ε asked for, where they keep it."""
    if exact_gaussian_delta(asked, total.mu, Fraction(1)) <= delta:
        return Approx(asked, delta)
    return convert(total, Approx, delta=delta)


@guarantee(
    claim="of one cell that moves, by 1: the ε that was asked for, where the exact profile of its noise keeps it",
    proof="proofs/query.md#loss",
    reviewed="5e1564ec2bf0",
)
def single_price(noise: DiscreteGaussian, delta: Fraction, asked: Fraction) -> Approx | None:
    """The (ε, δ) asked for, where Gaussian noise on one cell that moves by 1 keeps it; else None."""
    return Approx(asked, delta) if exact_discrete_delta(noise, 1, asked) <= delta else None


@guarantee(
    claim="what some parts cost in ρ or (ε, δ), composed with the pure losses of others",
    proof="proofs/query.md#loss",
    reviewed="3d8df8eec414",
)
def both(spent: Loss, pure: Sequence[Pure | ZCDP]) -> Loss:
    """What parts with Laplace noise cost beside others of the same question with Gaussian noise."""
    return reduce(lambda total, one: total.then(convert(one, type(spent))), pure, spent)


@final
@dataclass(frozen=True)
class Pricing:
    """Every part with its mechanism, the choice of keys, and what they cost together, as one kind of loss.

    ``delta`` is what parts with Gaussian noise may use of δ, and ``asked`` the ε that they were given.
    """

    parts: tuple[Priced, ...]
    selections: tuple[Selection, ...]
    kind: type[Loss]
    delta: Fraction
    asked: Fraction = Fraction(0)

    def loss(self, distance: int) -> Loss:
        """The loss of the whole question at a distance in units."""
        if distance == 0:
            return self.kind.nothing()
        pure = tuple(part for part in self.parts if isinstance(part.loss(1), Pure))
        if pure and len(pure) < len(self.parts):
            others = replace(self, parts=tuple(part for part in self.parts if part not in pure))
            return both(others.loss(distance), [part.loss(distance) for part in pure])
        chosen = [selection.loss(distance) for selection in self.selections]
        if self.kind is GDP:
            return gaussian_total(self.parts, distance) or GDP(math.inf)
        if self.delta and (best := self._restated(distance)) is not None:
            return reduce(lambda spent, one: spent.then(one), chosen, best)
        return together([part.loss(distance) for part in self.parts], self.kind, self.delta, chosen)

    def over(self, spread: GroupedDistance) -> Pricing:
        """The same noise and choices, priced for units whose rows spread otherwise over the groups."""
        parts = tuple(part.over(spread) for part in self.parts)
        return replace(self, parts=parts, selections=tuple(one.over(spread) for one in self.selections))

    def event(self, distance: int) -> Event:
        """Describes all that runs to the accountant: every part, and every choice of keys."""
        if distance == 0:
            return Sequenced()
        chosen = (Stated(selection.loss(distance)) for selection in self.selections)
        return Sequenced(*(part.event(distance) for part in self.parts), *chosen)

    def _restated(self, distance: int) -> Approx | None:
        """The ε at δ of parts with Gaussian noise, by their exact profiles where that is less than by ρ."""
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
    noise: str | Sequence[str] | None = None,
    d_in: int = 1,
) -> Pricing:
    """Divides a loss among parts by weights, and picks for all of them the kind of noise that errs less.

    ``choices`` says that keys are to be chosen: how one unit moves their counts, and the weight of each choice.
    ``noise`` says which kind of noise to use, for all or for each, where somebody wants to. ``d_in`` is the distance
    between neighbours.
    """
    if noise is not None and not isinstance(noise, str):
        kinds = dict.fromkeys(noise)
        if len(kinds) > 1:
            return _mixed(parts, weights, loss, choices, noise, d_in)
        noise = next(iter(kinds), None)
    _check_noise(noise, loss)
    whole = sum(weights, Fraction(0)) + sum((weight for _, weight in choices), Fraction(0))
    shares = [weight / whole for weight in weights]
    if isinstance(loss, Additive) and not 0 < loss.amounts[0] < math.inf:
        raise BadArgument("loss", "above 0 and finite: without noise nothing is private, and noise has a price", loss)
    match loss:
        case Pure(epsilon=epsilon) if not choices:
            return Pricing(_each(parts, shares, Pure(epsilon)), (), Pure, Fraction(0))
        case ZCDP(rho=rho) if not choices:
            return Pricing(_each(parts, shares, ZCDP(rho)), (), ZCDP, Fraction(0))
        case GDP() if not choices:
            total = gaussian_rho(parts, shares, Fraction(loss.square), d_in)
            if total is None:
                raise QueryRefused(NO_GAUSSIAN)
            return Pricing(_each(parts, shares, ZCDP(total)), (), GDP, Fraction(0))
        case Approx():
            selecting_keys = [(choice, weight / whole) for choice, weight in choices]
            return _approximate(parts, shares, loss, selecting_keys, noise, d_in)
        case Loss() if not choices and (bought := _bought(parts, shares, loss, noise)) is not None:
            return Pricing(_each(parts, shares, bought), (), type(loss), Fraction(0))
    must = KEYS_TAKE_DELTA if choices else _kinds()
    raise BadArgument("loss", must, loss)


def _mixed(
    parts: Sequence[Part],
    weights: Sequence[Fraction],
    loss: Loss,
    choices: Sequence[tuple[Choice, Fraction]],
    noise: Sequence[str],
    d_in: int,
) -> Pricing:
    """Puts Laplace noise on some parts and Gaussian noise on others; each kind gets its share of the loss."""
    for kind in noise:
        _check_noise(kind, loss if isinstance(loss, Approx) else Approx(1, Fraction(1, 2)))
    whole = sum(weights, Fraction(0)) + sum((weight for _, weight in choices), Fraction(0))
    marked = list(zip(parts, weights, noise, strict=True))
    rest = sum((weight for _, weight, kind in marked if kind == GAUSSIAN), Fraction(0))
    match loss:
        case ZCDP():
            together = priced(parts, weights, loss)
            each = [
                part.priced(largest_within(Pure, loss.scaled(weight / whole))) if kind == LAPLACE else one
                for (part, weight, kind), one in zip(marked, together.parts, strict=True)
            ]
            return replace(together, parts=tuple(each))
        case Approx() if loss.delta:
            chosen = sum((weight for _, weight in choices), Fraction(0))
            share = Approx(loss.epsilon * (rest + chosen) / whole, loss.delta)
            own, shares = zip(*((part, weight) for part, weight, kind in marked if kind == GAUSSIAN), strict=True)
            gaussian = priced(own, shares, share, choices=choices, noise=GAUSSIAN, d_in=d_in)
            bought = iter(gaussian.parts)
            each = [
                next(bought) if kind == GAUSSIAN else part.priced(Pure(loss.epsilon * weight / whole))
                for part, weight, kind in marked
            ]
            return replace(gaussian, parts=tuple(each))
    raise BadArgument("loss", "Approx(ε, δ) with a δ, or ZCDP(ρ), where columns have different noise", loss)


def _bought(parts: Sequence[Part], shares: Sequence[Fraction], loss: Loss, noise: str | None) -> Pure | ZCDP | None:
    """The pure or concentrated loss with which to buy noise at a loss of another kind: what errs less, where both are.

    >>> from sfumato.accounting.losses.renyi import Renyi
    >>> _bought((), (), Renyi({2: 1, 8: 2}), None)
    ZCDP(rho=0.25)
    """
    pure, concentrated = (_largest(kind, loss) for kind in (Pure, ZCDP))
    offers = [each for each, name in ((pure, LAPLACE), (concentrated, GAUSSIAN)) if each and noise in (None, name)]
    if len(offers) < 2 or pure is None or concentrated is None:
        return offers[0] if offers else None
    amounts = float(pure.amounts[0]), float(concentrated.amounts[0])
    return concentrated if not parts or _better_gaussian(parts, shares, *amounts) else pure


@lru_cache(maxsize=256)
def _largest(kind: type[Pure | ZCDP], loss: Loss) -> Pure | ZCDP | None:
    """The largest loss of a kind within one of another; none where no theorem takes any there."""
    try:
        most = largest_within(kind, loss)
    except (NoProvenRoute, BadArgument):
        return None
    return most if isinstance(most, Pure | ZCDP) and 0 < most.amounts[0] < math.inf else None


def _check_noise(noise: str | None, loss: Loss) -> None:
    only: dict[type[Loss], tuple[str, ...]] = {Pure: (LAPLACE,), ZCDP: (GAUSSIAN,), GDP: (GAUSSIAN,)}
    allowed = only.get(type(loss), (LAPLACE, GAUSSIAN))
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
    d_in: int,
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
    total = most_concentrated(parts, weights, Approx(price, left), d_in)
    return Pricing(_each(parts, weights, ZCDP(total)), selections, Approx, left, price)


def _each(parts: Sequence[Part], shares: Sequence[Fraction], loss: Pure | ZCDP) -> tuple[Priced, ...]:
    return tuple(part.priced(loss.scaled(share)) for part, share in zip(parts, shares, strict=True))


def _better_gaussian(parts: Sequence[Part], shares: Sequence[Fraction], epsilon: float, rho: float) -> bool:
    """Tells whether Gaussian noise errs less, over all parts; where it is as good, Laplace noise is used."""
    gain = sum(
        math.log(part.width(float(share) * epsilon, gaussian=False) / part.width(float(share) * rho, gaussian=True))
        for part, share in zip(parts, shares, strict=True)
        if part.width(1.0, gaussian=False) > 0
    )
    return gain > 0


def most_concentrated(parts: Sequence[Part], shares: Sequence[Fraction], loss: Approx, d_in: int) -> Fraction:
    """The greatest ρ to divide among parts that keep an (ε, δ): by way of ρ, of μ, or exactly."""
    epsilon, delta = Fraction(loss.epsilon), loss.delta
    best = gaussian_rho(parts, shares, most_mu(epsilon, delta) ** 2, d_in) or Fraction(0)
    if len(parts) == 1 and isinstance(part := parts[0], NoisyCells) and squared(d_in * part.influence.l2) < 2:
        best = max(best, 1 / (2 * exactly_within(epsilon, delta)))
    if best and not convert(ZCDP(best), Approx, delta=delta).within(loss):
        return best  # by way of ρ there is only less
    return max(best, concentrated_within(epsilon, delta))


def gaussian_rho(parts: Sequence[Part], shares: Sequence[Fraction], square: Fraction, d_in: int) -> Fraction | None:
    """A ρ to divide among parts so that their Gaussian losses, squared, come to no more than a square; or None."""
    rho, best = square / 2, None
    for _ in range(ROUNDS):  # discrete noise costs a little more than μ² = 2ρ, the more the smaller it is
        spent = gaussian_total(_each(parts, shares, ZCDP(rho)), d_in)
        if spent is None:
            break
        if spent.square <= square:
            best = max(rho, best or rho)
        rho = Fraction(down(rho * square / Fraction(spent.square)))
    return best


def gaussian_total(parts: Sequence[Priced], distance: int) -> GDP | None:
    """The Gaussian loss of parts together, where each has one; else None."""
    losses = [part.gaussian_loss(distance) for part in parts]
    known = [one for one in losses if one is not None]
    return reduce(lambda spent, one: spent.then(one), known, GDP(0)) if len(known) == len(losses) else None


def moving_one(parts: Sequence[Priced], distance: int) -> DiscreteGaussian | None:
    """The noise of the only part, if at most one of its cells moves, and by 1: no other distance is below √2."""
    match parts:
        case (PricedCells(noise=DiscreteGaussian() as noise, influence=moved),) if squared(distance * moved.l2) < 2:
            return noise
    return None


@lru_cache(maxsize=256)
def concentrated_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The greatest ρ that converts to no more than an (ε, δ)."""
    return greatest(lambda rho: convert(ZCDP(rho), Approx, delta=delta).within(Approx(epsilon, delta)))


@lru_cache(maxsize=256)
def most_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The greatest μ that keeps an (ε, δ)."""
    return greatest(lambda mu: exact_gaussian_delta(epsilon, mu, Fraction(1)) <= delta, near=mu_near(epsilon, delta))


@lru_cache(maxsize=256)
def exactly_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least scale² of Gaussian noise that keeps an (ε, δ) for one whole number that moves by 1."""

    @lru_cache
    def reached(square: Fraction) -> Fraction:
        return exact_discrete_delta(DiscreteGaussian.from_square(square), 1, epsilon)

    start = min(max(float(most_mu(epsilon, delta)) ** -2, 1e-6), 1e200)
    near = about(lambda square: log_ratio(reached(Fraction(square)), delta), start=start)
    return least(lambda square: reached(square) <= delta, near=near)


def _kinds() -> str:
    return "one of " + ", ".join(f"sf.{kind.__name__}(…)" for kind in COMMON_KINDS)
