"""The rows of the accountant's table that say what sampling saves in privacy-loss distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sfumato.accounting.amplify.cut import cut_sizes
from sfumato.accounting.amplify.draws import drawn_often
from sfumato.accounting.amplify.exchange import exchange
from sfumato.accounting.amplify.rates import REDRAWN, exchanged_only
from sfumato.accounting.events import Event, Poisson, TruncatedPoisson, WithoutReplacement, WithReplacement
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.pairs.blanked import BlankedGaussianPair
from sfumato.accounting.pld.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.redrawn import RedrawnGaussianPair
from sfumato.accounting.pld.pairs.sampled import ExchangedPair, RemovedPair
from sfumato.accounting.relation import Relation
from sfumato.accounting.tables import amplifier
from sfumato.errors import NoProvenRoute
from sfumato.guarantee import guarantee

Total = Callable[[Event], PLD]


def only_pair(loss: PLD) -> Pair | None:
    """The one pair of a loss, None where there is nothing; refuses several."""
    if loss == PLD.nothing():
        return None
    if len(loss.alternatives) > 1 or len(loss.alternatives[0]) > 1 or loss.alternatives[0][0][1] > 1:
        raise NoProvenRoute(
            "sampling is on file for one mechanism on each sample (several Gaussian ones count as one): draw a new "
            "sample for each, or account in Approx or Renyi."
        )
    return loss.alternatives[0][0][0]


@amplifier(Poisson, PLD)
@guarantee(
    claim="one more or fewer: (1-q)Q + qP against Q, and back; one exchanged: noise on either side for Gaussian, "
    "Laplace and integer noise, else q h(1 + (x-1)/q) from the pair for an exchange",
    proof="proofs/pairs.md#sampling-rows",
    reviewed="e6347065dd02",
)
def poisson_pld(inner: Event, sampling: Poisson, relation: Relation, total: Total) -> PLD:
    """The dominating pair of a mechanism on a Poisson sample."""
    loss = total(inner)
    pair = only_pair(loss)
    if pair is None or sampling.rate == 0:
        return PLD.nothing()
    if relation is Relation.ADD_REMOVE:
        return _removed(loss, sampling.rate)
    if isinstance(pair, GaussianPair):
        return PLD.of(ExchangedGaussianPair(pair.square, sampling.rate))
    if isinstance(pair, LaplacePair | IntegerNoisePair):
        return PLD.of(_either_side(pair, sampling.rate))
    return _exchanged(exchange(inner, total), sampling.rate)


def _either_side(pair: LaplacePair | IntegerNoisePair, rate: Fraction) -> Pair:
    """The pair of noise that leans to either side; at a rate of 1 that is twice the shift."""
    return ExchangedNoisePair(pair, rate) if rate < 1 else _moved(pair, 2)


def _moved(pair: Pair, times: int) -> Pair:
    """The pair of noise at so many times the shift."""
    match pair:
        case GaussianPair(square=square):
            return GaussianPair(times**2 * square)
        case LaplacePair(ratio=ratio):
            return LaplacePair(times * ratio)
        case IntegerNoisePair(shift=shift):
            return replace(pair, shift=times * shift)
    raise NoProvenRoute(REDRAWN)


@amplifier(WithoutReplacement, PLD)
@guarantee(
    claim="one exchanged: g h(1 + (x-1)/g) from the pair for an exchange, and its mirror image; one blanked, Gaussian "
    "noise: the worst place for the others of a sample; where all are drawn, presence",
    proof="proofs/pairs.md#sampling-rows",
    reviewed="2b862b06994f",
)
def fixed_size_pld(inner: Event, sampling: WithoutReplacement, relation: Relation, total: Total) -> PLD:
    """The dominating pair of a mechanism on a random subset of fixed size."""
    exchanged_only(sampling, relation)
    rate = Fraction(sampling.sample, sampling.population)
    if relation is Relation.ZERO_OUT and rate == 1:
        return total(inner)
    if relation is Relation.ZERO_OUT and rate and isinstance(pair := only_pair(total(inner)), GaussianPair):
        return PLD.of(BlankedGaussianPair(pair.square, rate))
    return _exchanged(exchange(inner, total), rate)


@amplifier(TruncatedPoisson, PLD)
@guarantee(
    claim="Poisson sampling's pair with the chance of fewer than m others, that for an exchange at rate q m/(k + 1) "
    "with that of k or more; what rounding leaves, at rate q",
    proof="proofs/pairs.md#sampling-rows",
    reviewed="935498dbbf58",
)
def truncated_pld(inner: Event, sampling: TruncatedPoisson, relation: Relation, total: Total) -> PLD:
    """The dominating pair under Poisson sampling when samples above a size are cut to it at random."""
    whole = poisson_pld(inner, Poisson(sampling.rate), relation, total)
    usual, most, rate, population = only_pair(whole), sampling.most, sampling.rate, sampling.population
    if usual is None or most >= population:
        return whole
    exchanged, sample = exchange(inner, total), _exchanged if relation is Relation.CHANGE_ONE else _removed
    dearest = only_pair(sample(exchanged, rate))
    if dearest is None or dearest == usual:
        return whole
    parts: dict[Pair, Fraction] = {}
    others = (population - 1,) if relation is Relation.CHANGE_ONE else (population - 1, population)
    for size, chance in cut_sizes(rate, most, others):
        rarely = usual if size < most else only_pair(sample(exchanged, rate * Fraction(most, size + 1)))
        if rarely is not None:
            parts[rarely] = parts.get(rarely, Fraction(0)) + chance
    parts[dearest] = parts.get(dearest, Fraction(0)) + 1 - sum(parts.values(), Fraction(0))
    kept = {pair: chance for pair, chance in parts.items() if chance}
    return PLD.of(MixedPair(kept, kept.values()) if len(kept) > 1 else next(iter(kept)))


@amplifier(WithReplacement, PLD)
@guarantee(
    claim="one exchanged: Gaussian noise that hides how often a unit is drawn, each time a shift of an exchange; "
    "other noise: g h(1 + (x-1)/g) and its mirror image, g the chance to be drawn, h the mean over how often",
    proof="proofs/pairs.md#sampling-rows",
    reviewed="8b3324cc6bd0",
)
def redrawn_pld(inner: Event, sampling: WithReplacement, relation: Relation, total: Total) -> PLD:
    """The dominating pair of noise on independent uniform draws, in which a unit may come up several times."""
    exchanged_only(sampling, relation)
    pair = only_pair(exchange(inner, total))
    if pair is None or sampling.draws == 0:
        return PLD.nothing()
    if pair.largest is not None:  # what is pure has a theorem of its own, in Pure
        raise NoProvenRoute(REDRAWN)
    rate, often = drawn_often(sampling.draws, Fraction(1, sampling.population))
    if isinstance(pair, GaussianPair) and rate < 1:
        chances = [(times, rate * weight) for times, weight in often]
        return PLD.of(RedrawnGaussianPair(pair.square, chances, rate - sum(chance for _, chance in chances)))
    mixed = MixedPair((_moved(pair, times) for times, _ in often), (weight for _, weight in often))
    return PLD.of(mixed if rate == 1 else ExchangedPair(mixed, rate))


def _removed(loss: PLD, rate: Fraction) -> PLD:
    pair = only_pair(loss)
    if pair is None or rate == 0:
        return PLD.nothing()
    return PLD.of(pair if rate == 1 else RemovedPair(pair, rate))


def _exchanged(loss: PLD, rate: Fraction) -> PLD:
    pair = only_pair(loss)
    if pair is None or rate == 0:
        return PLD.nothing()
    return PLD.of(pair if rate == 1 else ExchangedPair(pair, rate))
