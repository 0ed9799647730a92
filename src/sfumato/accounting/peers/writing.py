"""Our events as those of dp_accounting, for those who want its word on a plan too.

A number that a float prints as it is goes over as that float; every other is rounded to the side that costs more.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.accounting.amplify.bands import sampled_bands
from sfumato.accounting.events import (
    CompletedNodes,
    Event,
    Gaussian,
    GaussianMixture,
    Laplace,
    LastIterate,
    MatrixFactorization,
    Noise,
    Parallel,
    Poisson,
    PoissonRuns,
    Repeat,
    RepeatAndSelect,
    Response,
    Sampled,
    SampledFactorization,
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
from sfumato.accounting.facts.selection import ExponentialSelection, PermuteAndFlip, TopSelection
from sfumato.accounting.facts.table import loss_of
from sfumato.accounting.leaf_losses import square
from sfumato.accounting.losses.bracket import as_read
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.peers.forms import Foreign, built, plain
from sfumato.accounting.peers.reading import Place
from sfumato.accounting.relation import Relation
from sfumato.errors import NoProvenRoute
from sfumato.exact import Distance, Extended, ball, down, lower, rational_up, root
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

NOTHING, NO_PRIVACY = Foreign("NoOpDpEvent", {}), Foreign("NonPrivateDpEvent", {})


def to_dp_accounting(event: Event, *, relation: Relation = Relation.ADD_REMOVE) -> Any:
    """Writes an event as the object that Google's dp_accounting has for it, for accountants of the same relation.

    What it describes costs at least as much. Needs dp-accounting; what that has no class for is refused by name.
    """
    return built(write_event(event, Place(relation)))


def to_dp_accounting_json(event: Event, *, relation: Relation = Relation.ADD_REMOVE) -> str:
    """Writes an event as JSON of the fields of dp_accounting's classes, which need not be installed.

    >>> to_dp_accounting_json(Gaussian(scale=3, shift=2))
    '{"module_name": "dp_accounting.dp_event", "class_name": "GaussianDpEvent", "noise_multiplier": 1.5}'
    """
    return json.dumps(plain(write_event(event, Place(relation))))


@guarantee(
    claim="what dp_accounting describes by this costs at least as much as the event, between the same neighbours",
    proof="proofs/peers.md#writing",
    reviewed="b02aafa32eb7",
)
def write_event(event: Event, place: Place) -> Foreign:
    """Writes one event, and those inside it."""
    place = place.inside()
    match event:
        case Gaussian() | Tree() | CompletedNodes() | MatrixFactorization() | LastIterate():
            return _gaussian(square(event), place)
        case GaussianMixture():
            return _mixture(event, place)
        case Laplace(scale=scale, shift=shift):
            return _multiplied("LaplaceDpEvent", scale * place.moved, shift)
        case Noise():
            return _noise(event, place)
        case Selection():
            return _selection(event, place)
        case Response(epsilon=epsilon, options=options):
            if place.relation is not Relation.CHANGE_ONE or place.sampled:
                return _stated(Pure(epsilon), place)
            chance = lower(lambda: ball(options) / (options - 1 + ball(epsilon).exp()))
            return Foreign("RandomizedResponseDpEvent", {"noise_parameter": down(chance), "num_buckets": options})
        case Stated(loss=loss):
            return _stated(loss, place)
        case Sequence(parts=parts):
            inner = [write_event(part, place) for part in parts]
            return Foreign("ComposedDpEvent", {"events": inner}) if inner else NOTHING
        case Repeat(event=part, times=times):
            if not times:
                return NOTHING
            return Foreign("SelfComposedDpEvent", {"event": write_event(part, place), "count": times})
        case Sampled():
            return _sampled(event, place)
        case SampledFactorization():
            return write_event(sampled_bands(event), place)
        case Parallel(parts=parts, overlap=1) if len(set(parts)) == 1 and place.relation is Relation.ADD_REMOVE:
            return write_event(parts[0], place)
        case RepeatAndSelect():
            return _best(event, place)
    return _refuse(event)


def _refuse(what: object, why: str = "") -> Foreign:
    raise NoProvenRoute(
        f"dp_accounting has no event for this {type(what).__name__}{why}. State a loss: sf.events.Stated."
    )


def _gaussian(moved: Extended, place: Place) -> Foreign:
    """Gaussian noise, by the squared distance between neighbours in scales."""
    if moved == 0:
        return NOTHING
    return Foreign("GaussianDpEvent", {"noise_multiplier": as_read(root(place.moved**2 / Fraction(moved)), down)})


def _mixture(event: GaussianMixture, place: Place) -> Foreign:
    """A mixture of Gaussians; the shifts, each with its chance, rounded up, and the least takes what is left of 1."""
    if place.relation is Relation.CHANGE_ONE:
        return _refuse(event, " between exchanged units")
    if place.sampled:
        return _refuse(event, " on a sample")
    if not event.drawn:
        return NOTHING
    chances = [as_read(chance) for chance in event.drawn.values()]
    fields = {
        "standard_deviation": as_read(event.scale, down),
        "sensitivities": [0.0, *map(as_read, event.drawn)],
        "sampling_probs": [max(0.0, 1 - math.fsum(chances)), *chances],
    }
    return Foreign("MixtureOfGaussiansDpEvent", fields)


def _multiplied(name: str, scale: Fraction, shift: Distance) -> Foreign:
    if shift in (0, math.inf):
        return NO_PRIVACY if shift else NOTHING
    return Foreign(name, {"noise_multiplier": as_read(scale / Fraction(rational_up(shift)), down)})


def _noise(event: Noise, place: Place) -> Foreign:
    shift = rational_up(event.shift)
    match event.noise:
        case _ if shift == math.inf:
            return NO_PRIVACY
        case DiscreteLaplace(scale=scale):
            whole = -(-math.floor(shift) // place.moved)
            inverse = as_read(1 / scale)
            return Foreign("DiscreteLaplaceDpEvent", {"noise_parameter": inverse, "sensitivity": whole})
        case DiscreteGaussian(scale=scale):
            place.stated("DiscreteGaussianDpEvent")
            fields = {"sigma": as_read(scale, down), "sensitivity": as_read(shift), "dimension": event.coordinates}
            return Foreign("DiscreteGaussianDpEvent", fields)
    return _refuse(event.noise)


def _selection(event: Selection, place: Place) -> Foreign:
    shift = Fraction(rational_up(event.shift)) if event.shift != math.inf else None
    if shift is None:
        return NO_PRIVACY
    place.stated(type(event.selection).__name__)
    match event.selection:
        case ExponentialSelection(temperature=temperature):
            return Foreign("ExponentialMechanismDpEvent", {"epsilon": as_read(shift / temperature)})
        case TopSelection(count=count, temperature=temperature):
            once = Foreign("ExponentialMechanismDpEvent", {"epsilon": as_read(shift / temperature)})
            return Foreign("SelfComposedDpEvent", {"event": once, "count": count})
        case PermuteAndFlip(scale=scale):
            return Foreign("PermuteAndFlipDpEvent", {"epsilon": as_read(shift / scale)})
    return _stated(loss_of(event.selection, Pure, event.shift), place)


def _stated(loss: Loss, place: Place) -> Foreign:
    place.stated(f"a stated {type(loss).__name__}")
    match loss:
        case Pure(epsilon=math.inf) | Approx(epsilon=math.inf) | ZCDP(rho=math.inf) | GDP(mu=math.inf):
            return NO_PRIVACY
        case Pure(epsilon=epsilon):
            return Foreign("EpsilonDeltaDpEvent", {"epsilon": as_read(epsilon), "delta": 0.0})
        case Approx(epsilon=epsilon, delta=delta):
            return Foreign("EpsilonDeltaDpEvent", {"epsilon": as_read(epsilon), "delta": as_read(delta)})
        case ZCDP(rho=rho):
            return Foreign("ZCDpEvent", {"rho": as_read(rho), "xi": 0.0})
        case BoundedRange(eta=eta):
            return Foreign("ExponentialMechanismDpEvent", {"epsilon": as_read(eta)})
        case GDP():
            return _gaussian(loss.square, place)
    return _refuse(loss)


def _sampled(event: Sampled, place: Place) -> Foreign:
    if isinstance(event.sampling, TruncatedPoisson):
        if not isinstance(event.event, Gaussian):
            return _refuse(event.sampling, " of anything but Gaussian noise")
        inner = write_event(event.event, replace(place, sampled=True))
        cut = event.sampling
        fields = {
            "dataset_size": cut.population,
            "sampling_probability": as_read(cut.rate),
            "truncated_batch_size": cut.most,
            **inner.fields,
        }
        return Foreign("TruncatedSubsampledGaussianDpEvent", fields) if inner.fields else NOTHING
    part = write_event(event.event, replace(place, sampled=True))
    match event.sampling:
        case Poisson(rate=rate):
            return Foreign("PoissonSampledDpEvent", {"sampling_probability": as_read(rate), "event": part})
        case WithoutReplacement(sample=count, population=population):
            name = "SampledWithoutReplacementDpEvent"
        case WithReplacement(draws=count, population=population):
            name = "SampledWithReplacementDpEvent"
        case _:
            return _refuse(event.sampling)
    return Foreign(name, {"source_dataset_size": population, "sample_size": count, "event": part})


def _best(event: RepeatAndSelect, place: Place) -> Foreign:
    inner = write_event(event.event, place)
    match event.runs:
        case PoissonRuns(mean=mean):
            fields = {"event": inner, "mean": as_read(mean), "shape": math.inf}
        case TruncatedNegativeBinomial(shape=shape) if shape >= 0 and Fraction(repr(float(shape))) == shape:
            fields = {"event": inner, "mean": as_read(mean_runs(event.runs)), "shape": float(shape)}
        case _:
            return _refuse(event.runs)
    return Foreign("RepeatAndSelectDpEvent", fields)
