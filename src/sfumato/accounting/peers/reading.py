"""Events of dp_accounting as ours. Which neighbours they are for is the accountant's business there, the reader's here.

Their sums are of values of norm at most 1 (in units of the multiplier): one unit more or fewer moves them by 1, one
exchanged by 2. What they state as a loss or a sensitivity is for the neighbours the whole is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.accounting.events import (
    CompletedNodes,
    Event,
    Gaussian,
    GaussianMixture,
    Laplace,
    Noise,
    Parallel,
    Poisson,
    PoissonRuns,
    Repeat,
    RepeatAndSelect,
    Response,
    Sampled,
    Sampling,
    Selection,
    Sequence,
    Stated,
    Tree,
    TruncatedNegativeBinomial,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.facts.repeat_and_select import mean_runs
from sfumato.accounting.facts.selection import ExponentialSelection, PermuteAndFlip
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.peers.forms import DEEPEST, is_infinite, opened
from sfumato.accounting.plans.search import greatest
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute, elements
from sfumato.exact import integer, log_up, non_negative, positive, probability, rational
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

NOTHING = Sequence()
NO_PRIVACY = Stated(Pure(math.inf), "not private")

SLACK = Fraction(1, 10**9)
"""By how much probabilities, which are floats there, may miss 1."""

SURE = 1 + Fraction(1, 1 << 40)
"""More than the doubt that `mean_runs` leaves."""


@final
@dataclass(frozen=True)
class Place:
    """Where an event stands: which neighbours the whole is for, whether a sample was drawn before, how deep."""

    relation: Relation
    sampled: bool = False
    depth: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.relation, Relation):
            raise BadArgument("relation", "sf.accounting.Relation.ADD_REMOVE, CHANGE_ONE or ZERO_OUT", self.relation)

    @property
    @guarantee(
        claim="a unit that is there or not moves a sum by one norm; one that is exchanged, outside samples, by two",
        proof="proofs/peers.md#reading",
        reviewed="3d50e6b02157",
    )
    def moved(self) -> int:
        """By how many norms a sum moves: one for a unit that is there or not, two for one that is exchanged."""
        return 2 if self.relation is Relation.CHANGE_ONE and not self.sampled else 1

    def inside(self) -> Place:
        """The place of what stands inside an event; refuses a depth that no plan has."""
        if self.depth >= DEEPEST:
            raise BadArgument("the event", f"nested at most {DEEPEST} deep", "more")
        return replace(self, depth=self.depth + 1)

    def stated(self, name: str) -> None:
        """Refuses what is stated for an exchanged unit where the presence of one counts."""
        if self.sampled and self.relation is Relation.CHANGE_ONE:
            _refuse(
                name,
                "on a sample, for an exchanged unit: what it states there is for the exchange, and a sample needs what "
                "one unit more or fewer costs",
            )


def from_dp_accounting(event: object, *, relation: Relation = Relation.ADD_REMOVE) -> Event:
    """Reads an event of Google's dp_accounting: the object, its named tuple, a dictionary of that, or JSON of either.

    What comes back costs at least as much as what they describe, between the neighbours of ``relation``: account for it
    under the same. What has no counterpart is refused by name.

    >>> from_dp_accounting('{"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}')
    Gaussian(scale=Fraction(11, 10), shift=Fraction(1, 1))
    """
    return read_event(event, Place(relation))


@guarantee(
    claim="an event whose cost, as accounted for, is at least that of what dp_accounting describes",
    proof="proofs/peers.md#reading",
    reviewed="685ccf085a0e",
)
def read_event(event: object, place: Place) -> Event:
    """Reads one event, and those inside it."""
    foreign = opened(event)
    return READERS[foreign.name](foreign.fields, place.inside())


Fields: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Fields, Place], Event]


def _refuse(name: str, why: str) -> Event:
    raise NoProvenRoute(
        f"{name} of dp_accounting has no counterpart here {why}. State a loss you can prove: sf.events.Stated."
    )


def _listed(fields: Fields, name: str) -> list[Any]:
    if isinstance(fields[name], str | bytes | Mapping) or not isinstance(fields[name], Iterable):
        raise BadArgument(name, "a list", fields[name])
    return list(fields[name])


def _gaussian(fields: Fields, place: Place) -> Event:
    scale = non_negative(fields["noise_multiplier"], "noise_multiplier")
    return Gaussian(scale, place.moved) if scale else NO_PRIVACY


def _laplace(fields: Fields, place: Place) -> Event:
    scale = non_negative(fields["noise_multiplier"], "noise_multiplier")
    return Laplace(scale, place.moved) if scale else NO_PRIVACY


def _discrete_laplace(fields: Fields, place: Place) -> Event:
    inverse = positive(fields["noise_parameter"], "noise_parameter")
    return Noise(DiscreteLaplace(1 / inverse), place.moved * integer(fields["sensitivity"], "sensitivity", least=0))


@guarantee(claim="zCDP of any dimension where none is said", proof="proofs/peers.md#reading", reviewed="6b78c1a99af2")
def _discrete_gaussian(fields: Fields, place: Place) -> Event:
    place.stated("DiscreteGaussianDpEvent")
    scale, shift = positive(fields["sigma"], "sigma"), non_negative(fields["sensitivity"], "sensitivity")
    if fields["dimension"] is None:
        return Stated(ZCDP(shift**2 / (2 * scale**2)), "discrete Gaussian noise on a vector of unknown length")
    return Noise(DiscreteGaussian(scale), shift, coordinates=integer(fields["dimension"], "dimension", least=1))


@guarantee(
    claim="epsilon = ln(1 + k (1 - p) / p), for exchanged units",
    proof="proofs/peers.md#reading",
    reviewed="cd17026d59f5",
)
def _response(fields: Fields, place: Place) -> Event:
    options, uniform = integer(fields["num_buckets"], "num_buckets", least=1), fields["noise_parameter"]
    if place.relation is not Relation.CHANGE_ONE or place.sampled:
        return _refuse("RandomizedResponseDpEvent", "unless a unit is exchanged: it needs an input of every unit")
    chance = probability(uniform, "noise_parameter")
    if options == 1:
        return NOTHING
    return Response(Fraction(log_up(1 + options * (1 - chance) / chance)), options) if chance else NO_PRIVACY


def _stated(fields: Fields, place: Place) -> Event:
    place.stated("EpsilonDeltaDpEvent")
    if is_infinite(fields["epsilon"]):
        return NO_PRIVACY
    loss = Approx(non_negative(fields["epsilon"], "epsilon"), fields["delta"])
    return Stated(loss if loss.delta else Pure(loss.epsilon))


def _zcdp(fields: Fields, place: Place) -> Event:
    place.stated("ZCDpEvent")
    offset, rho = non_negative(fields["xi"], "xi"), non_negative(fields["rho"], "rho")
    return Stated(Renyi.concentrated(offset, rho) if offset else ZCDP(rho))


def _selection(name: str, make: Callable[[Fraction], Any]) -> Reader:
    def reader(fields: Fields, place: Place) -> Event:
        place.stated(name)
        epsilon = non_negative(fields["epsilon"], "epsilon")
        return Selection(make(1 / epsilon)) if epsilon else NOTHING

    return reader


def _sampled(make: Callable[[Fields], Sampling]) -> Reader:
    return lambda fields, place: Sampled(read_event(fields["event"], replace(place, sampled=True)), make(fields))


@guarantee(claim="each unit in one leaf of one tree", proof="proofs/peers.md#reading", reviewed="069f6130971b")
def _tree(fields: Fields, place: Place) -> Event:
    scale, steps = fields["noise_multiplier"], fields["step_counts"]
    lengths = [
        integer(each, "step_counts", least=0) for each in (steps if isinstance(steps, list | tuple) else [steps])
    ]
    if not non_negative(scale, "noise_multiplier"):
        return NO_PRIVACY
    whole = [Tree(scale, steps=length, shift=place.moved) for length in dict.fromkeys(lengths) if length]
    trees = [CompletedNodes(tree) for tree in whole]
    return trees[0] if len(trees) == 1 else Parallel(*trees)


def _best(fields: Fields, place: Place) -> Event:
    inner, shape = read_event(fields["event"], place), fields["shape"]
    if is_infinite(shape):
        return RepeatAndSelect(inner, PoissonRuns(fields["mean"]))
    eta, mean = non_negative(shape, "shape"), rational(fields["mean"], "mean")
    if mean < 1:
        raise BadArgument("mean", "at least 1: a run is always made", fields["mean"])
    return RepeatAndSelect(inner, TruncatedNegativeBinomial(eta, stop_of(eta, mean))) if mean > 1 else inner


@guarantee(
    claim="the mean at this stop is certainly not below the mean that is given",
    proof="proofs/peers.md#reading",
    reviewed="1d448c874af1",
)
def stop_of(shape: Fraction, mean: Fraction) -> Fraction:
    """The greatest stopping probability, as a float, at which a law of runs has at least a mean.

    >>> stop_of(Fraction(1), Fraction(100)), stop_of(Fraction(0), Fraction(4)) < Fraction(1, 8)
    (Fraction(1, 100), True)
    """
    if shape == 1:
        return 1 / mean
    return greatest(
        lambda stop: stop < 1 and mean_runs(TruncatedNegativeBinomial(shape, stop)) >= mean * SURE, what="stop"
    )


@guarantee(
    claim="the magnitudes of the sensitivities, all the same way; the least of them takes what rounding leaves of 1",
    proof="proofs/peers.md#reading",
    reviewed="caaede69729c",
)
def _mixture(fields: Fields, place: Place) -> Event:
    name, scale = "MixtureOfGaussiansDpEvent", non_negative(fields["standard_deviation"], "standard_deviation")
    if place.relation is Relation.CHANGE_ONE:
        return _refuse(name, "for an exchanged unit: it describes one unit more or fewer")
    with elements():
        chances = [probability(each, "sampling_probs") for each in _listed(fields, "sampling_probs")]
        shifts = [abs(rational(each, "sensitivities")) for each in _listed(fields, "sensitivities")]
    if not shifts or len(chances) != len(shifts) or abs(sum(chances, Fraction(0)) - 1) > SLACK:
        raise BadArgument("sampling_probs", "one for each of the sensitivities, adding up to 1", "others")
    [(least, _), *larger] = sorted(zip(shifts, chances, strict=True))
    rest = 1 - sum((chance for _, chance in larger), Fraction(0))
    moved = [(least, max(rest, Fraction(0))), *larger]
    if not any(shift for shift, _ in moved):
        return NOTHING
    if not scale:
        return NO_PRIVACY
    if len(moved) == 1:
        return Gaussian(scale, least)
    if len(moved) == 2 and not least:
        return Sampled(Gaussian(scale, moved[1][0]), Poisson(moved[1][1]))
    return GaussianMixture(scale, [shift for shift, _ in moved], chances=[chance for _, chance in moved])


def _truncated(fields: Fields, place: Place) -> Event:
    population, most = fields["dataset_size"], fields["truncated_batch_size"]
    if 0 in (population, most):
        return NOTHING
    inner = _gaussian(fields, replace(place, sampled=True))
    return Sampled(inner, TruncatedPoisson(fields["sampling_probability"], most=most, population=population))


READERS: dict[str, Reader] = {
    "NoOpDpEvent": lambda fields, place: NOTHING,
    "NonPrivateDpEvent": lambda fields, place: NO_PRIVACY,
    "UnsupportedDpEvent": lambda fields, place: _refuse("UnsupportedDpEvent", "by its own definition"),
    "RandomizedResponseDpEvent": _response,
    "EpsilonDeltaDpEvent": _stated,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "SelfComposedDpEvent": lambda fields, place: Repeat(read_event(fields["event"], place), fields["count"]),
    "ComposedDpEvent": lambda fields, place: Sequence(*[read_event(each, place) for each in _listed(fields, "events")]),
    "PoissonSampledDpEvent": _sampled(lambda fields: Poisson(fields["sampling_probability"])),
    "SampledWithReplacementDpEvent": _sampled(
        lambda fields: WithReplacement(fields["sample_size"], fields["source_dataset_size"])
    ),
    "SampledWithoutReplacementDpEvent": _sampled(
        lambda fields: WithoutReplacement(fields["sample_size"], fields["source_dataset_size"])
    ),
    "SingleEpochTreeAggregationDpEvent": _tree,
    "RepeatAndSelectDpEvent": _best,
    "MixtureOfGaussiansDpEvent": _mixture,
    "ZCDpEvent": _zcdp,
    "ExponentialMechanismDpEvent": _selection("ExponentialMechanismDpEvent", ExponentialSelection),
    "PermuteAndFlipDpEvent": _selection("PermuteAndFlipDpEvent", PermuteAndFlip),
    "TruncatedSubsampledGaussianDpEvent": _truncated,
}
