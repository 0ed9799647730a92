"""Events of dp_accounting in every form, without dp_accounting: what is read as what, and what is refused, by name."""

from __future__ import annotations

import json
import math
from collections import namedtuple
from fractions import Fraction
from typing import Any

import pytest

from sfumato.accounting import events as ev
from sfumato.accounting.compose import total
from sfumato.accounting.facts.selection import ExponentialSelection, NoisyMaximum, PermuteAndFlip, TopSelection
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.peers.forms import FIELDS, MODULE
from sfumato.accounting.peers.reading import READERS, from_dp_accounting, stop_of
from sfumato.accounting.peers.writing import to_dp_accounting_json
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute, SfumatoError, UnknownFormat
from sfumato.exact import Root
from sfumato.noise import Binomial, DiscreteGaussian, DiscreteLaplace

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE


def theirs(name: str, **fields: Any) -> dict[str, Any]:
    return {"module_name": MODULE, "class_name": f"{name}DpEvent", **fields}


GAUSSIAN = theirs("Gaussian", noise_multiplier=1.1)
SAMPLED = theirs("PoissonSampled", sampling_probability=0.01, event=GAUSSIAN)

READ: dict[str, tuple[dict[str, Any], ev.Event, ev.Event]] = {
    "nothing": (theirs("NoOp"), ev.Sequence(), ev.Sequence()),
    "noise": (GAUSSIAN, ev.Gaussian(1.1), ev.Gaussian(1.1, 2)),
    "laplace": (theirs("Laplace", noise_multiplier=3), ev.Laplace(3), ev.Laplace(3, 2)),
    "discrete laplace": (
        theirs("DiscreteLaplace", noise_parameter=0.25, sensitivity=3),
        ev.Noise(DiscreteLaplace(Fraction(4)), 3),
        ev.Noise(DiscreteLaplace(Fraction(4)), 6),
    ),
    "discrete gaussian": (
        theirs("DiscreteGaussian", sigma=2.5, sensitivity=2, dimension=7),
        ev.Noise(DiscreteGaussian(Fraction(5, 2)), 2, coordinates=7),
        ev.Noise(DiscreteGaussian(Fraction(5, 2)), 2, coordinates=7),
    ),
    "stated": (theirs("EpsilonDelta", epsilon=0.1, delta=1e-6), *[ev.Stated(Approx(0.1, 1e-6))] * 2),
    "pure": (theirs("EpsilonDelta", epsilon=0.1, delta=0.0), *[ev.Stated(Pure(0.1))] * 2),
    "zCDP": (theirs("ZC", rho=0.25), *[ev.Stated(ZCDP(0.25))] * 2),
    "a choice": (theirs("ExponentialMechanism", epsilon=0.5), *[ev.Selection(ExponentialSelection(Fraction(2)))] * 2),
    "a flip": (theirs("PermuteAndFlip", epsilon=0.5), *[ev.Selection(PermuteAndFlip(Fraction(2)))] * 2),
    "a sample": (SAMPLED, *[ev.Sampled(ev.Gaussian(1.1), ev.Poisson(0.01))] * 2),
    "training": (
        theirs("SelfComposed", event=SAMPLED, count=1000),
        *[ev.Repeat(ev.Sampled(ev.Gaussian(1.1), ev.Poisson(0.01)), 1000)] * 2,
    ),
    "a list": (
        theirs("Composed", events=[GAUSSIAN, SAMPLED]),
        ev.Sequence(ev.Gaussian(1.1), ev.Sampled(ev.Gaussian(1.1), ev.Poisson(0.01))),
        ev.Sequence(ev.Gaussian(1.1, 2), ev.Sampled(ev.Gaussian(1.1), ev.Poisson(0.01))),
    ),
    "a fixed batch": (
        theirs("SampledWithoutReplacement", source_dataset_size=100, sample_size=7, event=GAUSSIAN),
        *[ev.Sampled(ev.Gaussian(1.1), ev.WithoutReplacement(7, 100))] * 2,
    ),
    "with replacement": (
        theirs("SampledWithReplacement", source_dataset_size=100, sample_size=7, event=GAUSSIAN),
        *[ev.Sampled(ev.Gaussian(1.1), ev.WithReplacement(7, 100))] * 2,
    ),
    "a cut batch": (
        theirs(
            "TruncatedSubsampledGaussian",
            dataset_size=100,
            sampling_probability=0.1,
            truncated_batch_size=20,
            noise_multiplier=1.5,
        ),
        *[ev.Sampled(ev.Gaussian(1.5), ev.TruncatedPoisson(0.1, most=20, population=100))] * 2,
    ),
    "runs": (
        theirs("RepeatAndSelect", event=GAUSSIAN, mean=10, shape=1),
        ev.RepeatAndSelect(ev.Gaussian(1.1), ev.TruncatedNegativeBinomial(1, 0.1)),
        ev.RepeatAndSelect(ev.Gaussian(1.1, 2), ev.TruncatedNegativeBinomial(1, 0.1)),
    ),
    "poisson runs": (
        theirs("RepeatAndSelect", event=GAUSSIAN, mean=10.5, shape=math.inf),
        ev.RepeatAndSelect(ev.Gaussian(1.1), ev.PoissonRuns(10.5)),
        ev.RepeatAndSelect(ev.Gaussian(1.1, 2), ev.PoissonRuns(10.5)),
    ),
}
"""Their event, and what it is when a unit comes or goes, and when one is exchanged; written back, it is the same."""


@pytest.mark.parametrize(("event", "coming", "exchanged"), READ.values(), ids=READ)
def test_read_and_written_in_every_form(event: dict[str, Any], coming: ev.Event, exchanged: ev.Event) -> None:
    for relation, ours in ((ADD_REMOVE, coming), (CHANGE_ONE, exchanged)):
        for form in (event, json.dumps(event), tupled(event), json.dumps(tupled(event))):
            assert from_dp_accounting(form, relation=relation) == ours
        assert from_dp_accounting(to_dp_accounting_json(ours, relation=relation), relation=relation) == ours


def tupled(event: Any) -> Any:
    """The named tuple of an event, as `to_named_tuple` makes it: all fields, in their order."""
    if isinstance(event, list):
        return [tupled(each) for each in event]
    if not isinstance(event, dict):
        return event
    fields = {"xi": 0.0, **event} if event["class_name"] == "ZCDpEvent" else event
    names = ("module_name", "class_name", *FIELDS[event["class_name"]])
    return namedtuple("Wrapper", names)(*[tupled(fields[name]) for name in names])


def test_every_class_is_read_or_refused_by_name() -> None:
    assert READERS.keys() == FIELDS.keys()


REFUSED: dict[str, tuple[object, Relation, str]] = {
    "unsupported": (theirs("Unsupported"), ADD_REMOVE, "UnsupportedDpEvent"),
    "a response of those who come and go": (
        theirs("RandomizedResponse", noise_parameter=0.5, num_buckets=4),
        ADD_REMOVE,
        "RandomizedResponseDpEvent",
    ),
    "an exchange in a mixture": (
        theirs("MixtureOfGaussians", standard_deviation=1, sensitivities=[0, 1], sampling_probs=[0.5, 0.5]),
        CHANGE_ONE,
        "MixtureOfGaussiansDpEvent",
    ),
    "stated in a sample": (
        theirs("PoissonSampled", sampling_probability=0.1, event=theirs("EpsilonDelta", epsilon=1, delta=0)),
        CHANGE_ONE,
        "EpsilonDeltaDpEvent",
    ),
}


@pytest.mark.parametrize(("event", "relation", "name"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(event: object, relation: Relation, name: str) -> None:
    with pytest.raises(NoProvenRoute, match=name):
        from_dp_accounting(event, relation=relation)


UNREADABLE: dict[str, object] = {
    "another class": theirs("Future", epsilon=1),
    "another module": {**GAUSSIAN, "module_name": "somewhere"},
    "another field": {**GAUSSIAN, "clipped": True},
    "a field too few": theirs("Laplace"),
    "a list too long": [MODULE, "GaussianDpEvent", 1.0, 2.0],
    "a list too short": [MODULE],
    "no JSON": "GaussianDpEvent(1.0)",
    "a number": 3,
    "one of ours": ev.Gaussian(1),
    "bytes in its place": theirs("SelfComposed", event=b"Gaussian", count=3),
}


@pytest.mark.parametrize("event", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_not_known_is_not_guessed(event: object) -> None:
    with pytest.raises(UnknownFormat):
        from_dp_accounting(event)


def test_bad_numbers_are_refused() -> None:
    bad = [
        theirs("Gaussian", noise_multiplier=-1),
        theirs("Gaussian", noise_multiplier=math.nan),
        theirs("SelfComposed", event=GAUSSIAN, count=1.5),
        theirs("PoissonSampled", sampling_probability=2, event=GAUSSIAN),
        theirs("RepeatAndSelect", event=GAUSSIAN, mean=0.5, shape=1),
        theirs("MixtureOfGaussians", standard_deviation=1, sensitivities=[0, 1], sampling_probs=[0.5, 0.4]),
    ]
    for event in bad:
        with pytest.raises(BadArgument, match="must be"):
            from_dp_accounting(event)
    with pytest.raises(BadArgument, match="relation must be"):
        from_dp_accounting(GAUSSIAN, relation="add")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="relation must be"):
        to_dp_accounting_json(ev.Gaussian(1), relation="add")  # type: ignore[arg-type]
    deep: Any = GAUSSIAN
    for _ in range(100):
        deep = theirs("SelfComposed", event=deep, count=2)
    with pytest.raises(BadArgument, match="64 deep"):
        from_dp_accounting(deep)


def test_no_noise_is_no_privacy() -> None:
    silent = [
        theirs("NonPrivate"),
        theirs("Gaussian", noise_multiplier=0),
        theirs("SingleEpochTreeAggregation", noise_multiplier=0.0, step_counts=4),
    ]
    for event in silent:
        read = from_dp_accounting(event)
        assert total(read, Pure) == Pure(math.inf)
        assert json.loads(to_dp_accounting_json(read))["class_name"] == "NonPrivateDpEvent"


def test_randomized_response_by_its_probabilities() -> None:
    """A uniform answer with p = 0.4 among 5: the truth 0.6 + 0.08, each other 0.08; ε = ln 8.5, rounded up."""
    read = from_dp_accounting(theirs("RandomizedResponse", noise_parameter=0.4, num_buckets=5), relation=CHANGE_ONE)
    assert isinstance(read, ev.Response) and read.options == 5
    assert 0 <= read.epsilon - Fraction(math.log(8.5)) < Fraction(1, 10**15)
    written = json.loads(to_dp_accounting_json(read, relation=CHANGE_ONE))
    assert written["noise_parameter"] == pytest.approx(0.4, rel=1e-15) and written["noise_parameter"] <= 0.4
    coming = json.loads(to_dp_accounting_json(read))
    assert coming["class_name"] == "EpsilonDeltaDpEvent" and coming["epsilon"] >= read.epsilon


def test_an_offset_of_concentrated_privacy_is_read() -> None:
    read = from_dp_accounting(theirs("ZC", rho=0.1, xi=0.2))
    assert read == ev.Stated(Renyi.concentrated("0.2", "0.1")) and read.loss.at(2) == Fraction("0.4")


def test_trees_of_which_a_unit_is_in_one() -> None:
    one = from_dp_accounting(theirs("SingleEpochTreeAggregation", noise_multiplier=3.0, step_counts=100))
    assert one == ev.CompletedNodes(ev.Tree(3, steps=100))
    several = from_dp_accounting(
        theirs("SingleEpochTreeAggregation", noise_multiplier=3.0, step_counts=[100, 7]), relation=CHANGE_ONE
    )
    both = (ev.CompletedNodes(ev.Tree(3, steps=steps, shift=2)) for steps in (100, 7))
    assert several == ev.Parallel(*both)
    written = json.loads(to_dp_accounting_json(one))
    assert written["class_name"] == "GaussianDpEvent"
    assert (
        Fraction(written["noise_multiplier"]) ** 2
        <= Fraction(9, 7)
        < Fraction(written["noise_multiplier"] + 1e-15) ** 2
    )


@pytest.mark.parametrize("shape", ["0", "0.5", "2.5"])
@pytest.mark.parametrize("mean", ["1.001", "10", "1000000"])
def test_the_stop_of_a_mean(shape: str, mean: str) -> None:
    """η(1 − γ)/(γ(1 − γ^η)), and (1/γ − 1)/ln(1/γ) for η = 0, is the mean, and not below it."""
    stop, eta = float(stop_of(Fraction(shape), Fraction(mean))), float(shape)
    runs = (
        (1 / stop - 1) / -math.log(stop) if eta == 0 else eta * (1 - stop) / (stop * -math.expm1(eta * math.log(stop)))
    )
    assert runs == pytest.approx(float(mean), rel=1e-11)


def test_a_mixture_of_two_is_a_sample() -> None:
    event = theirs("MixtureOfGaussians", standard_deviation=2.0, sensitivities=[0.0, -1.5], sampling_probs=[0.9, 0.1])
    assert from_dp_accounting(event) == ev.Sampled(ev.Gaussian(2, 1.5), ev.Poisson(0.1))
    whole = theirs("MixtureOfGaussians", standard_deviation=2.0, sensitivities=[1.5], sampling_probs=[1.0])
    assert from_dp_accounting(whole) == ev.Gaussian(2, 1.5)
    none = theirs("MixtureOfGaussians", standard_deviation=2.0, sensitivities=[0.0], sampling_probs=[1.0])
    assert from_dp_accounting(none) == ev.Sequence()


def test_a_mixture_of_three_goes_over_and_comes_back() -> None:
    event = theirs("MixtureOfGaussians", standard_deviation=2, sensitivities=[3, 0, -1], sampling_probs=[0.1, 0.7, 0.2])
    ours = from_dp_accounting(event)
    assert ours == ev.GaussianMixture(2, [0, 1, 3], chances=["0.7", "0.2", "0.1"])
    written = json.loads(to_dp_accounting_json(ours))
    assert written["sensitivities"] == [0, 1, 3] and from_dp_accounting(written) == ours
    assert math.fsum(written["sampling_probs"]) == 1
    short = theirs("MixtureOfGaussians", standard_deviation=2, sensitivities=[1, 2, 3], sampling_probs=[1 / 3] * 3)
    assert from_dp_accounting(short).chances[0] == 1 - 2 * Fraction(repr(1 / 3))  # type: ignore[attr-defined]
    for refused, relation in ((ours, CHANGE_ONE), (ev.Sampled(ours, ev.Poisson(0.1)), ADD_REMOVE)):
        with pytest.raises(NoProvenRoute, match="GaussianMixture"):
            to_dp_accounting_json(refused, relation=relation)


def test_a_discrete_gaussian_of_unknown_length_is_counted_for_every_length() -> None:
    read = from_dp_accounting(theirs("DiscreteGaussian", sigma=2.0))
    assert total(read, ZCDP) == ZCDP("0.125") == total(ev.Noise(DiscreteGaussian(Fraction(2)), coordinates=50), ZCDP)


WRITTEN: dict[str, tuple[ev.Event, Relation, dict[str, Any]]] = {
    "a root": (ev.Gaussian(1, Root(Fraction(2))), ADD_REMOVE, theirs("Gaussian", noise_multiplier=0.7071067811865475)),
    "GDP": (ev.Stated(GDP(0.5)), ADD_REMOVE, theirs("Gaussian", noise_multiplier=2.0)),
    "GDP, exchanged": (ev.Stated(GDP(0.5)), CHANGE_ONE, theirs("Gaussian", noise_multiplier=4.0)),
    "a range": (ev.Stated(BoundedRange(0.5)), ADD_REMOVE, theirs("ExponentialMechanism", epsilon=0.5)),
    "a thing without end": (ev.Laplace(1, math.inf), ADD_REMOVE, theirs("NonPrivate")),
    "what does not move": (ev.Laplace(1, 0), ADD_REMOVE, theirs("NoOp")),
    "never": (ev.Repeat(ev.Laplace(1), 0), ADD_REMOVE, theirs("NoOp")),
    "half of three": (
        ev.Noise(DiscreteLaplace(Fraction(4)), 3),
        CHANGE_ONE,
        theirs("DiscreteLaplace", noise_parameter=0.25, sensitivity=2),
    ),
    "the best three": (
        ev.Selection(TopSelection(3, Fraction(8)), 2),
        ADD_REMOVE,
        theirs("SelfComposed", event=theirs("ExponentialMechanism", epsilon=0.25), count=3),
    ),
    "a noisy maximum": (
        ev.Selection(NoisyMaximum(Fraction(4))),
        ADD_REMOVE,
        theirs("EpsilonDelta", epsilon=0.25, delta=0.0),
    ),
    "equal parts": (ev.Parallel(*[ev.Laplace(2)] * 9), ADD_REMOVE, theirs("Laplace", noise_multiplier=2.0)),
}


@pytest.mark.parametrize(("event", "relation", "wanted"), WRITTEN.values(), ids=WRITTEN)
def test_written_so_that_it_costs_no_less(event: ev.Event, relation: Relation, wanted: dict[str, Any]) -> None:
    written = json.loads(to_dp_accounting_json(event, relation=relation))
    assert written == wanted


def test_numbers_are_rounded_to_the_side_that_costs_more() -> None:
    third = Fraction(1, 3)
    written = json.loads(to_dp_accounting_json(ev.Sampled(ev.Gaussian(third), ev.Poisson(third))))
    assert Fraction(written["sampling_probability"]) > third > Fraction(written["event"]["noise_multiplier"])
    stated = json.loads(to_dp_accounting_json(ev.Stated(Approx(third, third / 10**6))))
    assert Fraction(stated["epsilon"]) > third and Fraction(stated["delta"]) > third / 10**6


@pytest.mark.parametrize(
    "event",
    [
        ev.Parallel(ev.Laplace(1), ev.Laplace(2)),
        ev.Parallel(ev.Laplace(1), ev.Laplace(1), overlap=2),
        ev.Mixture(ev.Laplace(1), ev.Laplace(2), weights=(0.5, 0.5)),
        ev.Shuffled(ev.Response(1), 100),
        ev.Noise(Binomial(trials=20)),
        ev.Sampled(ev.Laplace(1), ev.TruncatedPoisson(0.1, most=20, population=100)),
        ev.RepeatAndSelect(ev.Laplace(1), ev.TruncatedNegativeBinomial(-0.5, 0.1)),
    ],
    ids=repr,
)
def test_what_they_have_no_class_for_is_refused(event: ev.Event) -> None:
    with pytest.raises(NoProvenRoute, match="has no event for this"):
        to_dp_accounting_json(event)


def test_refusals_are_ours() -> None:
    """Whatever text is read, what is raised says so in our words."""
    for text in (
        "[]",
        "{}",
        "null",
        '"x"',
        "[[]]",
        '{"class_name": 3}',
        '{"class_name": "ComposedDpEvent", "events": 3}',
    ):
        with pytest.raises(SfumatoError):
            from_dp_accounting(text)
