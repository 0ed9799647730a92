"""Laws that every mechanism must obey, on the table of examples, which is complete against what is exported."""

from __future__ import annotations

import itertools
import types
import typing
from fractions import Fraction

import pytest
from tests.examples.measurements import EXAMPLES, INTERACTIVE, MISSED, VOUCHED, Example
from tests.examples.public import short_names

import sfumato as sf
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.audit.brute_force import neighbours
from sfumato.core.partial import Partial
from sfumato.entropy import ReplayEntropy
from sfumato.exact import BITS, precision

TINY = Fraction(1, 10**15)


DRAWN = [example for example in EXAMPLES if example.name not in INTERACTIVE]

DESCRIBED = [example for example in EXAMPLES if not isinstance(example.build().event_at(1), sf.events.Stated)]

every = pytest.mark.parametrize("example", EXAMPLES, ids=[f"{k}-{e.name}" for k, e in enumerate(EXAMPLES)])


def returned(thing: typing.Any) -> set[object]:
    """What a function says that it gives: each of several, where it says so."""
    hint = typing.get_type_hints(thing).get("return")
    several = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return {hint, *typing.get_args(hint)} if several else {hint}


def test_every_exported_mechanism_has_an_example() -> None:
    made = {sf.Measurement, Partial[sf.Measurement]}
    exported = {
        name
        for name, thing in short_names().items()
        if callable(thing) and not isinstance(thing, type) and made & returned(thing)
    }
    builders = {"measurement", "calibrate", "calibrate_to_accuracy"}
    of_populations = {"amplified_by_known_sample"}  # tests/exact/test_sampling_wrappers.py
    compositors = {
        "adaptive_composition",
        "concurrent_composition",
        "privacy_filter",
    }  # tests/exact/test_interaction.py
    assert exported - builders - compositors - of_populations == {example.name for example in EXAMPLES}


@every
def test_no_distance_costs_nothing_and_more_distance_never_costs_less(example: Example) -> None:
    measurement = example.build()
    losses = [measurement.map(distance) for distance in range(5)]
    assert losses[0] == measurement.measure.nothing()
    for less, more in itertools.pairwise(losses):
        assert less.within(more)


@every
def test_chaining_composes_the_maps(example: Example) -> None:
    measurement = example.build()
    space = measurement.source
    doubled = sf.transformation(space, space, function=lambda x: x, map=lambda d: 2 * d, claim=VOUCHED)
    chained = doubled >> measurement
    assert chained.map(1) == measurement.map(2)
    assert VOUCHED in chained.how.claims


@every
def test_postprocessing_costs_nothing(example: Example) -> None:
    measurement = example.build()
    assert (measurement >> str).map(1) == measurement.map(1)


@every
def test_a_release_states_its_terms_and_never_the_data(example: Example) -> None:
    measurement = example.build()
    release = measurement(next(iter(example.members)), entropy=ReplayEntropy(5))
    assert release.replayable and release.loss == measurement.map(1)
    assert release.how.proofs and all(proof.startswith("proofs/") for proof in release.how.proofs)


@every
def test_the_law_is_a_distribution(example: Example) -> None:
    for member in example.members:
        with precision(BITS):
            total = sum(example.chances.listed(member).values())
        assert float(total.lower()) <= 1 + 1e-15
        assert float(total.upper()) >= 1 - MISSED - TINY


@pytest.mark.parametrize("distance", [1, 2])
@every
def test_the_true_loss_is_within_the_map(example: Example, distance: int) -> None:
    """The whole law on every pair of neighbours: what is claimed holds."""
    measurement = example.build()
    claimed = measurement.map(distance)
    close = 0
    for left, right in neighbours(measurement.source, example.members, d_in=distance):
        here = example.chances.listed(left)
        there = example.chances.of(right, here)
        close += left is not right
        match claimed:
            case sf.Pure():
                assert max_divergence(here, there)[1] <= claimed.epsilon + TINY
            case sf.Approx():
                assert hockey_stick(here, there, claimed.epsilon)[1] <= claimed.delta + TINY
            case sf.ZCDP():
                for order in (Fraction(3, 2), Fraction(2), Fraction(5)):
                    assert renyi(here, there, order)[1] <= order * claimed.rho + TINY
            case sf.accounting.BoundedRange():
                spread = max_divergence(here, there)[1] + max_divergence(there, here)[1]
                assert spread <= claimed.eta + TINY
    assert close, "the example has neighbours"


@pytest.mark.parametrize("example", DRAWN, ids=[f"{k}-{e.name}" for k, e in enumerate(DRAWN)])
def test_what_is_drawn_is_possible(example: Example) -> None:
    """Draws are outcomes to which the law gives a positive probability."""
    measurement = example.build()
    member = list(example.members)[-1]
    law = measurement.law(member)  # type: ignore[misc]
    for _ in range(30):
        value = measurement(member).value
        outcome = tuple(value.tolist()) if hasattr(value, "tolist") and getattr(value, "ndim", 0) else value
        assert law.probability(outcome) > 0


@pytest.mark.parametrize("distance", [1, 2])
@every
def test_the_accountant_says_what_the_map_says(example: Example, distance: int) -> None:
    measurement = example.build()
    relation = (
        sf.accounting.Relation.ADD_REMOVE
        if isinstance(measurement.source.metric, sf.AddRemove)
        else sf.accounting.Relation.CHANGE_ONE
    )
    counted = sf.total(measurement.event_at(distance), measurement.measure, relation=relation)
    assert counted == measurement.map(distance)


@pytest.mark.parametrize("example", DESCRIBED, ids=[f"{k}-{e.name}" for k, e in enumerate(DESCRIBED)])
def test_every_way_to_count_it_holds(example: Example) -> None:
    """The whole law on every pair of neighbours: (ε, δ) by whichever way the accountant finds."""
    measurement = example.build()
    relation = (
        sf.accounting.Relation.ADD_REMOVE
        if isinstance(measurement.source.metric, sf.AddRemove)
        else sf.accounting.Relation.CHANGE_ONE
    )
    ways = sf.account(measurement.event_at(1), delta=Fraction(1, 50), relation=relation).ways
    for left, right in neighbours(measurement.source, example.members, d_in=1):
        here = example.chances.listed(left)
        there = example.chances.of(right, here)
        for way in ways:
            assert hockey_stick(here, there, way.bracket.upper)[1] <= Fraction(1, 50) + MISSED
