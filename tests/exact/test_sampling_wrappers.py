"""Measurements on samples: the whole law, over every sample, against the maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.amplify.population import chance_drawn
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence
from sfumato.audit.brute_force import outcome_probabilities
from sfumato.combinators.sampling import fixed_sample_loss

TINY = Fraction(1, 10**15)
CLOSE = Fraction(1, 10**9)

letters = ["a", "b"]
free = sf.vector(letters)
columns = [list(rows) for size in range(4) for rows in itertools.product("ab", repeat=size)]
VOUCHED = sf.claim("drawn by lot for this test")


def epsilon(measurement: sf.Measurement, rows: int) -> Fraction:
    loss = measurement.map(rows)
    assert isinstance(loss, sf.Pure)
    return Fraction(loss.epsilon)


def at(measurement: sf.Measurement, rows: int, order: Fraction) -> Fraction:
    loss = measurement.map(rows)
    assert isinstance(loss, sf.Renyi)
    return Fraction(loss.at(order))


def counted(scale: int) -> sf.Partial[sf.Measurement]:
    return sf.count() >> sf.mechanisms.censored_laplace(scale=scale, between=(0, 3))


@pytest.mark.parametrize("rate", ["0.01", "0.1", "0.5", "0.9", 1])
def test_a_poisson_sample_is_sound_and_tight_for_one_row(rate: object) -> None:
    measurement = free >> sf.on_poisson_sample(counted(1), rate)  # type: ignore[arg-type]
    claimed = epsilon(measurement, 1)
    low, high = sf.audit.brute_epsilon(measurement, columns)
    assert claimed - CLOSE <= low <= high <= claimed + TINY
    assert low > epsilon(free >> sf.on_poisson_sample(counted(1), Fraction(str(rate)) * 9 / 10), 1)


@pytest.mark.parametrize("rows", [2, 3])
def test_several_rows_are_several_steps(rows: int) -> None:
    measurement = free >> sf.on_poisson_sample(counted(2), "0.3")
    claimed = epsilon(measurement, rows)
    low, high = sf.audit.brute_epsilon(measurement, columns, d_in=rows)
    assert claimed - CLOSE <= low <= high <= claimed + TINY
    assert low > (rows - 1) * epsilon(measurement, 1)


def test_a_leak_is_as_rare_as_the_row_is_drawn() -> None:
    measurement = free >> sf.on_poisson_sample(sf.textbook.name_and_shame("0.2"), "0.25")
    assert measurement.map(1) == sf.Approx(0, "0.05")
    low, high = sf.audit.brute_delta(measurement, columns, epsilon=Fraction(0))
    assert Fraction(1, 20) - CLOSE < low <= high <= Fraction(1, 20) + TINY


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(8)])
def test_renyi_curves_hold_on_samples(order: Fraction) -> None:
    inner = sf.convert_measure(free >> counted(1), sf.Renyi)
    measurement = free >> sf.on_poisson_sample(inner, "0.2")
    for rows in (1, 2):
        high = sf.audit.brute_renyi(measurement, columns, order=order, d_in=rows)[1]
        assert high <= at(measurement, rows, order) + TINY
        assert at(measurement, rows, order) < at(inner, rows, order)


@pytest.mark.parametrize(("size", "rows"), [(1, 3), (2, 3), (1, 2), (3, 4), (3, 3)])
def test_a_fixed_sample_is_sound_and_where_it_can_be_tight(size: int, rows: int) -> None:
    space = sf.vector(letters, size=rows)
    members = [list(column) for column in itertools.product("ab", repeat=rows)]
    measurement = space >> sf.on_fixed_sample(sf.randomized_response(epsilon=1), size)
    low, high = sf.audit.brute_epsilon(measurement, members)
    claimed = epsilon(measurement, 1)
    assert high <= claimed + TINY
    if size == 1:
        assert low >= claimed - CLOSE
        assert claimed < 1
    two = epsilon(measurement, 2)
    assert sf.audit.brute_epsilon(measurement, members, d_in=2)[1] <= two + TINY


def test_a_fixed_sample_of_counts_is_tight() -> None:
    """The ones among two of four rows: exchanging a row moves the count by one where it is drawn."""
    space = sf.vector(int, between=(0, 1), size=4)
    members = [list(column) for column in itertools.product((0, 1), repeat=4)]
    measurement = space >> sf.on_fixed_sample(sf.sum() >> sf.mechanisms.censored_laplace(scale=1, between=(0, 2)), 2)
    low, high = sf.audit.brute_epsilon(measurement, members)
    claimed = epsilon(measurement, 1)
    assert claimed - CLOSE <= low <= high <= claimed + TINY
    assert low > epsilon(
        space >> sf.on_fixed_sample(sf.sum() >> sf.mechanisms.censored_laplace(scale=1, between=(0, 2)), 1), 1
    )


@pytest.mark.parametrize("order", [Fraction(2), Fraction(6)])
def test_renyi_curves_hold_on_fixed_samples(order: Fraction) -> None:
    small = sf.vector(int, between=(0, 1), size=2)
    inner = sf.convert_measure(small >> sf.sum() >> sf.mechanisms.censored_laplace(scale=1, between=(0, 2)), sf.Renyi)
    measurement = sf.vector(int, between=(0, 1), size=4) >> sf.on_fixed_sample(inner, 2)
    members = [list(column) for column in itertools.product((0, 1), repeat=4)]
    for rows in (1, 2):
        high = sf.audit.brute_renyi(measurement, members, order=order, d_in=rows)[1]
        assert high <= at(measurement, rows, order) + TINY


def test_adding_and_removing_rows_of_a_public_number_counts_double() -> None:
    changed, moved = sf.vector(letters, size=4), sf.vector(letters, size=4, metric=sf.AddRemove())
    one = changed >> sf.on_fixed_sample(sf.randomized_response(epsilon=1), 1)
    other = moved >> sf.on_fixed_sample(sf.randomized_response(epsilon=1), 1)
    assert [other.map(d) for d in (0, 1, 2, 4)] == [sf.Pure(0), sf.Pure(0), one.map(1), one.map(2)]


def test_A2_033_mean_of_a_sample_of_a_population() -> None:
    inner = sf.mean() >> sf.laplace(scale="0.5")
    space = sf.vector(float, between=(0, 10), size=10, metric=sf.AddRemove())
    assert (space >> inner).map(2) == sf.Pure(2)
    known = space >> sf.combinators.amplified_by_known_sample(inner, population=100, claim=VOUCHED)
    assert 0.494028 < float(epsilon(known, 2)) <= 0.4941
    assert known.map(2) == known.map(space.closest)
    changed = sf.vector(float, between=(0, 10), size=10) >> sf.combinators.amplified_by_known_sample(
        inner, population=100, claim=VOUCHED
    )
    assert changed.map(1) == known.map(2)
    drawn = sf.vector(float, between=(0, 10), size=100) >> sf.on_fixed_sample(inner, 10)
    assert drawn.map(1) == changed.map(1)


def test_A2_034_poisson_samples() -> None:
    for rate, once, known in [
        ("0.01", 1, 0.017037),
        ("0.1", 1, 0.158565),
        ("0.5", 1, 0.620115),
        (1, 1, 1),
        ("0.001", 2, 0.006369),
    ]:
        inner = sf.count() >> sf.laplace(scale=Fraction(1, once))
        sampled = sf.vector(int) >> sf.on_poisson_sample(inner, rate)  # type: ignore[arg-type]
        assert round(float(epsilon(sampled, 1)), 6) == known


@pytest.mark.parametrize(("drawn", "size"), [(1, 3), (2, 4), (1, 4)])
@pytest.mark.parametrize("rows", [1, 2])
def test_what_is_claimed_of_a_known_sample_holds_for_every_population(drawn: int, size: int, rows: int) -> None:
    """The claim speaks of populations: the law there is the mixture over all samples, drawn by someone else."""
    small, whole = sf.vector(letters, size=drawn), sf.vector(letters, size=size)
    inner = small >> sf.randomized_response(epsilon=2)
    known = small >> sf.combinators.amplified_by_known_sample(inner, population=size, claim=VOUCHED)
    assert known.law is None
    survey = whole >> sf.on_fixed_sample(inner, drawn)
    populations = [list(column) for column in itertools.product("ab", repeat=size)]
    low, high = sf.audit.brute_epsilon(survey, populations, d_in=rows)
    claimed = epsilon(known, rows)
    assert high <= claimed + TINY
    if drawn == 1 and rows == 1:
        assert low >= claimed - CLOSE
        assert low > epsilon(
            small >> sf.combinators.amplified_by_known_sample(inner, population=2 * size, claim=VOUCHED), rows
        )


def test_units_with_several_rows_pay_for_any_of_them_or_step_by_step() -> None:
    """A loss that does not grow with the rows is best taken at once, at the chance that any row is drawn."""
    flat, sample, population = sf.Pure(3), 10, 1000
    at_once = fixed_sample_loss(flat, flat, 5, sample, population)
    stepwise = fixed_sample_loss(flat, flat.group(5), 5, sample, population)
    chance = chance_drawn(5, sample=sample, population=population)
    assert chance <= Fraction(5 * sample, population)
    assert isinstance(at_once, sf.Pure) and isinstance(stepwise, sf.Pure)
    assert float(at_once.epsilon) == pytest.approx(math.log1p(float(chance) * math.expm1(3)))
    assert stepwise == fixed_sample_loss(flat, flat, 1, sample, population).group(5)
    assert at_once.within(stepwise)


def test_telling_how_many_rows_were_kept_would_break_the_claim() -> None:
    """The textbook slip: with the size of the sample beside the answer, presence shows whenever the row is kept."""
    rate, space = Fraction(1, 4), sf.vector(letters)
    measurement = space >> sf.on_poisson_sample(counted(1), rate)
    law = {size: outcome_probabilities(space >> counted(1), ["a"] * size) for size in (0, 1)}
    without: dict[Hashable, arb] = {(0, outcome): mass for outcome, mass in law[0].items()}
    with_row: dict[Hashable, arb] = {(0, outcome): mass * 3 / 4 for outcome, mass in law[0].items()}
    with_row |= {(1, outcome): mass / 4 for outcome, mass in law[1].items()}
    there = {key: without.get(key, with_row[key] * 0) for key in with_row}
    assert max_divergence(with_row, there)[0] == math.inf
    assert hockey_stick(with_row, there, epsilon(measurement, 1))[0] > Fraction(1, 5)


def test_gaussian_noise_on_a_sample_is_priced_as_such() -> None:
    total = sf.vector(int, between=(0, 1)) >> sf.sum() >> sf.gaussian(scale=10)
    sampled = sf.vector(int, between=(0, 1)) >> sf.on_poisson_sample(sf.convert_measure(total, sf.Renyi), rate="0.01")
    counted = sf.account(sampled.event_at(1), delta=1e-6, relation=sf.accounting.Relation.ADD_REMOVE)
    of_its_loss = sf.account(
        sf.events.Sampled(sf.events.Stated(total.map(1)), sf.events.Poisson("0.01")),
        delta=1e-6,
        relation=sf.accounting.Relation.ADD_REMOVE,
    )
    assert counted.epsilon.upper < of_its_loss.epsilon.upper / 3
    assert sf.total(sampled.event_at(1), sf.Renyi, relation=sf.accounting.Relation.ADD_REMOVE) == sampled.map(1)
