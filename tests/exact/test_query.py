"""Whole questions on all small tables: one person moves the numbers no further than declared, and the noise on them
costs no more than claimed, both exactly; a planner with one mistake fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.questions import (
    BOOK,
    CATALOG,
    PEOPLE,
    QUESTIONS,
    ROWS,
    SAID,
    Compute,
    Neighbours,
    Person,
    all_neighbours,
    declared,
    farthest,
    interpreted,
    obeys,
    ready_for,
    shifts,
    world_of,
)
from tests.profiles import examples
from tests.reference.duck import computed
from tests.reference.planning import catalog_of, planned

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units
from sfumato.query.plan.grouping_sets import choose
from sfumato.query.plan.parts import Choice, Selection, selecting

NAMED = pytest.mark.parametrize("name", sorted(QUESTIONS))


# How far one person moves the numbers.


@NAMED
def test_one_person_moves_the_numbers_as_far_as_declared_and_no_further(name: str) -> None:
    ready = ready_for(name)
    reached, allowed = farthest(ready, all_neighbours(), interpreted), declared(ready)
    for found, most in zip(reached, allowed, strict=True):
        for tally in most:
            assert all(far <= bound for far, bound in zip(found[tally], most[tally], strict=True))
            assert found[tally] == most[tally] or not QUESTIONS[name][2], (tally, found[tally], most[tally])


@NAMED
def test_the_engine_moves_no_further_either(name: str) -> None:
    assert obeys(ready_for(name), all_neighbours()[::53], computed)


@settings(max_examples=examples(60), derandomize=True, deadline=None, database=None)
@given(st.lists(st.lists(st.sampled_from((*ROWS, ("b", 0))), max_size=5), min_size=1, max_size=3), st.data())
def test_more_people_with_more_rows(people: list[list[tuple[str, int]]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(QUESTIONS)))
    away = data.draw(st.integers(0, len(people) - 1))
    everybody = [tuple(rows) for rows in people]
    others = [rows if place != away else () for place, rows in enumerate(everybody)]
    pair = world_of(everybody), world_of(others)
    assert obeys(ready_for(name), [pair], computed) and obeys(ready_for(name), [pair])


# What the noise costs.


@cache
def largest_ratio(noise: DiscreteLaplace, shift: int) -> float:
    """Gives the largest log of the ratio of chances, when what noise is added to moves by a whole number."""
    return max(float((noise.pmf(z) / noise.pmf(z - shift)).log().mid()) for z in range(-12, 13))


def worst_pure(ready: CompiledQuery, pairs: Sequence[Neighbours], *, scale: Fraction = Fraction(1)) -> float:
    """Gives the largest log-ratio of any answer between neighbours; that of independent noises adds up."""
    worst = 0.0
    for pair in pairs:
        spent = 0.0
        for moved, noises in zip(shifts(ready, pair, interpreted), ready.noises, strict=True):
            for tally, part in noises.items():
                assert isinstance(part.noise, DiscreteLaplace)
                noise = DiscreteLaplace(part.noise.scale * scale)
                spent += sum(largest_ratio(noise, cell) for cell in moved[tally])
        worst = max(worst, spent)
    return worst


SHORT = (*all_neighbours()[: len(PEOPLE)], *all_neighbours()[len(PEOPLE) :: 11])


@NAMED
def test_pure_loss_is_never_above_the_claim_and_reached(name: str) -> None:
    ready = ready_for(name, sf.Pure(1))
    claimed = ready.pricing.loss(1)
    assert claimed.within(sf.Pure(1))
    worst, numbers = worst_pure(ready, SHORT), sum(len(level.tallies) for level in ready.levels)
    assert worst <= float(claimed.epsilon) * (1 + 1e-12)
    if numbers == 1:  # several numbers are not all at their farthest for one pair
        assert worst >= float(claimed.epsilon) * (1 - 1e-9)


def renyi(noise: DiscreteGaussian, shift: int, order: int) -> float:
    """Gives the Rényi divergence of noise and moved noise: from below, for what is left out only adds to it.

    Of a wide noise it is worked out: for whole orders and shifts the sum over all integers is that of the noise itself,
    moved by a whole number, times exp(α (α − 1) shift² / 2σ²).
    """
    if noise.square > 10**4:
        return float(order * shift**2 / (2 * noise.square))
    return _renyi(noise, abs(shift), order)


def test_wide_noise_is_as_narrow_noise_is() -> None:
    """The closed form of a wide noise is what the sum gives of a narrow one."""
    for shift, order in ((1, 2), (3, 3), (2, 8)):
        narrow = DiscreteGaussian(Fraction(7))
        assert _renyi(narrow, shift, order) == pytest.approx(float(order * shift**2 / (2 * narrow.square)), rel=1e-9)


@cache
def _renyi(noise: DiscreteGaussian, shift: int, order: int) -> float:
    most = int(14 * math.sqrt(float(noise.variance().mid()))) + order * shift + 2
    logs = {z: float(noise.pmf(z).log().mid()) for z in range(-most - shift, most + 1)}
    terms = [order * logs[z] + (1 - order) * logs[z - shift] for z in range(-most, most + 1)]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)


@pytest.mark.parametrize("name", ["count", "both groups", "sum", "mean", "people", "totals"])
def test_concentrated_loss_is_never_above_the_claim_and_reached(name: str) -> None:
    ready = ready_for(name, sf.ZCDP(Fraction(1, 2)))
    claimed = ready.pricing.loss(1)
    assert isinstance(claimed, sf.ZCDP) and claimed.within(sf.ZCDP(Fraction(1, 2)))
    for order in (2, 3, 8):
        worst = max(
            sum(
                renyi(part.noise, cell, order)  # type: ignore[arg-type]
                for moved, noises in zip(shifts(ready, pair, interpreted), ready.noises, strict=True)
                for tally, part in noises.items()
                for cell in moved[tally]
            )
            for pair in SHORT
        )
        assert worst <= order * float(claimed.rho) * (1 + 1e-9)
        if name in ("count", "both groups", "sum", "people"):
            assert worst >= order * float(claimed.rho) * (1 - 1e-9)


# Keys that nobody listed.

HIDDEN = -(10**9)
"""Stands for a key that is not shown, in place of its noisy count."""


def shown_law(selection: Selection, count: int, *, off: int = 0) -> dict[int, Fraction]:
    """Gives the exact distribution of what is said of a key with so many units: its noisy count, or nothing.

    ``off`` moves the least count shown, which is a mistake.
    """
    noise = selection.noise
    if count == 0:
        return {HIDDEN: Fraction(1)}
    whole = sum(noise.weights)
    found: dict[int, Fraction] = {HIDDEN: Fraction(0)}
    for index, weight in enumerate(reversed(noise.weights)):
        noisy = count + noise.reach[0] + index
        place = noisy if noisy >= noise.least_shown + off else HIDDEN
        found[place] = found.get(place, Fraction(0)) + Fraction(weight, whole)
    return found


def test_what_is_chosen_has_this_distribution() -> None:
    selection = selecting(sf.Approx(1, "1/50"), Choice(keys=1, rows=1))
    size = 20_000
    for count in (1, 2, 4):
        shown, noisy = choose(np.full(size, count), selection, ReplayEntropy(count))
        law = shown_law(selection, count)
        for place, chance in law.items():
            seen = size - len(shown) if place == HIDDEN else int((noisy == place).sum())
            # Six standard deviations: a false alarm in 10⁹.
            assert abs(seen - size * chance) <= 6 * math.sqrt(size * chance * (1 - chance)) + 1
        assert set(noisy.tolist()) <= set(law)


def joint(selection: Selection, counts: Sequence[int], noise: Any, rows: Sequence[int], *, off: int = 0) -> np.ndarray:
    """Gives the distribution of what is said of several keys: of each its noisy units and rows, or nothing."""
    places = sorted({place for count in range(4) for place in shown_law(selection, count, off=off)} | {HIDDEN})
    window = range(-40, 41)
    made: np.ndarray = np.ones(1)
    for count, many in zip(counts, rows, strict=True):
        law = shown_law(selection, count, off=off)
        chances = [float(noise.pmf(z - many).mid()) for z in window]
        key = [float(law.get(HIDDEN, 0))]
        for place in places[1:]:
            key += [float(law.get(place, 0)) * chance for chance in chances]
        made = np.multiply.outer(made, np.array(key)).ravel()
    return made


def hockey_stick(left: np.ndarray, right: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(left - math.exp(epsilon) * right, 0).sum())


# A number beside the one that chooses: with one row a group, COUNT(*) would be that one itself.
CHOSEN = ("SELECT f, COUNT(DISTINCT x) AS n FROM t GROUP BY f", {"max_groups": 2, "max_rows_per_group": 1})


def selected(loss: sf.Approx) -> tuple[CompiledQuery, Selection, Any]:
    text, bounds = CHOSEN
    ready = planned(text, CATALOG, loss=loss, limit=sf.Approx, noise="laplace", **bounds)
    (selection,), (noises,) = ready.pricing.selections, ready.noises
    (part,) = noises.values()
    return ready, selection, part.noise


@pytest.mark.parametrize("mistake", [None, "shown one too early", "half the noise", "one key assumed"])
def test_chosen_keys_with_counts_keep_epsilon_and_delta(mistake: str | None) -> None:
    ready, selection, noise = selected(sf.Approx(2, "1/20"))
    claimed = ready.pricing.loss(1)
    assert isinstance(claimed, sf.Approx) and claimed.within(sf.Approx(2, "1/20"))
    off = 0
    if mistake == "shown one too early":
        off = -1
    if mistake == "half the noise":
        noise = DiscreteLaplace(noise.scale / 4)
    if mistake == "one key assumed":
        selection = selecting(sf.Approx(1, "1/20"), Choice(keys=1, rows=1))
    worst = 0.0
    for here, there in [((1, 1), (0, 0)), ((1, 0), (0, 0)), ((2, 2), (1, 1)), ((3, 1), (2, 0)), ((3, 3), (2, 2))]:
        left, right = (joint(selection, counts, noise, counts, off=off) for counts in (here, there))
        worst = max(worst, *(hockey_stick(*two, float(claimed.epsilon)) for two in ((left, right), (right, left))))
    if mistake is None:
        assert worst <= float(claimed.delta) + 1e-12
    else:
        assert worst > float(claimed.delta)


@pytest.mark.parametrize("apart, holds", [(2, True), (1, False)])
def test_keys_chosen_by_rows_keep_the_loss_of_units_with_two_rows(apart: int, holds: bool) -> None:
    """Where rows are units, two of them fall into one key or into two; whoever counts one only is found out."""
    table = {**BOOK["tables"]["t"], "contributions": {"rows": 2, **SAID}}
    catalog = catalog_of({**BOOK, "unit": {"protects": "a person"}, "tables": {"t": table}})
    text = "SELECT f, SUM(CASE WHEN x > 0 THEN 1 ELSE 1 END) AS n FROM t GROUP BY f"
    claimed = sf.Approx(2, "1/20")
    ready = planned(text, catalog, loss=claimed, limit=sf.Approx, apart=apart)
    (selection,), (noises,) = ready.pricing.selections, ready.noises
    (part,) = noises.values()
    assert ready.pricing.loss(2).within(claimed) == holds
    worst = 0.0
    for here, there in [((1, 1), (0, 0)), ((2, 0), (0, 0)), ((3, 1), (1, 1)), ((3, 3), (2, 2)), ((2, 1), (1, 0))]:
        left, right = (joint(selection, counts, part.noise, counts) for counts in (here, there))
        worst = max(worst, *(hockey_stick(*two, 2.0) for two in ((left, right), (right, left))))
    assert (worst <= float(claimed.delta) + 1e-12) == holds


def test_a_key_of_one_person_is_shown_with_the_chance_that_delta_allows() -> None:
    ready, selection, _ = selected(sf.Approx(2, "1/20"))
    claimed = ready.pricing.loss(1)
    alone = [1 - shown_law(selection, 1)[HIDDEN]] * 2
    union = 1 - (1 - alone[0]) * (1 - alone[1])
    assert union <= claimed.delta
    assert union >= Fraction(19, 20) * claimed.delta * (1 - claimed.delta)


# Planners with one mistake.


def test_half_the_noise_is_found_out() -> None:
    ready = ready_for("sum")
    assert worst_pure(ready, SHORT, scale=Fraction(1, 2)) > 1.9


def with_cells(ready: CompiledQuery, change: Callable[[Cells], Cells]) -> CompiledQuery:
    return replace(ready, levels=tuple(replace(level, cells=change(level.cells)) for level in ready.levels))


@pytest.mark.parametrize("compute", [interpreted, computed], ids=["interpreter", "engine"])
def test_ignored_bounds_are_found_out(compute: Compute) -> None:
    uneven: list[Person] = [(("a", 2), ("a", 2), ("a", 2), ("b", 2)), (("b", 2), ("b", 2), ("b", 2), ("a", 2))]
    pairs = [(world_of([one]), world_of([])) for one in uneven]
    for name, bound in [("groups", Bound(None, 2)), ("groups", Bound(1, None)), ("sum", Bound(None, None))]:
        ready = ready_for(name)
        assert obeys(ready, pairs, compute)
        assert not obeys(with_cells(ready, lambda cells, bound=bound: replace(cells, bound=bound)), pairs, compute)  # type: ignore[misc]


def test_people_counted_by_rows_are_found_out() -> None:
    ready = ready_for("people")
    rows = with_cells(ready, lambda cells: replace(cells, tallies=(Rows(),)))
    pairs = [(world_of([(("a", 2), ("a", 2))]), world_of([]))]
    (allowed,) = declared(ready)
    (found,) = farthest(rows, pairs, interpreted)
    assert found[Rows()][0] > allowed[Units()][0]


def test_facts_on_rows_are_relied_on_and_joins_multiply_them() -> None:
    book = {**BOOK, "tables": {"t": {**BOOK["tables"]["t"], "contributions": {"rows": 2, "groups": {"k": 1}, **SAID}}}}
    catalog = catalog_of(book)
    kept = [rows for rows in PEOPLE if len(rows) <= 2 and len({k for k, _ in rows}) == 1]
    pairs = [(world_of([one, two]), world_of([one])) for one in kept for two in kept]
    for text, tight in [
        ("SELECT k, SUM(x) AS n FROM t GROUP BY k", True),
        ("SELECT k, COUNT(*) AS n FROM (SELECT u, k FROM t UNION ALL SELECT u, k FROM t) GROUP BY k", True),
        ("SELECT t.k AS k, o.k AS l, COUNT(*) AS n FROM t JOIN t AS o ON t.u = o.u GROUP BY t.k, o.k", True),
        ("SELECT o.k AS l, COUNT(*) AS n FROM t LEFT JOIN t AS o ON t.u = o.u AND t.x = o.x GROUP BY o.k", False),
    ]:
        ready = planned(text, catalog, loss=sf.Pure(1))
        assert obeys(ready, pairs) and all(level.cells.bound == Bound() for level in ready.levels)
        (found,), (most,) = farthest(ready, pairs, interpreted), declared(ready)
        assert not tight or all(found[tally][0] == most[tally][0] for tally in most)


def test_facts_do_not_hold_for_pairs_of_a_joined_table() -> None:
    """Whoever has two keys has four pairs of them: the bound of two is one of the table's column, not of the pairs'."""
    contributions = {"groups": {"k": 2}, **SAID}
    book = {**BOOK, "tables": {"t": {**BOOK["tables"]["t"], "contributions": contributions}}}
    pairs = [(world_of([(("a", 2), ("b", 2))]), world_of([]))]
    text = "SELECT t.k AS k, o.k AS l, COUNT(*) AS n FROM t JOIN t AS o ON t.u = o.u GROUP BY t.k, o.k"
    ready = planned(text, catalog_of(book), loss=sf.Pure(1), max_rows_per_group=1)
    assert obeys(ready, pairs)
    (found,) = farthest(ready, pairs, interpreted)
    assert found[Rows()] == (4, 4)
