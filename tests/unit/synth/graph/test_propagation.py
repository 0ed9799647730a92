"""Propagation agrees with sums over the whole table, for every shape of graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.synth.graph.joints import SHAPES, SMALL, joint, normal, spread, summed

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import perform, summing
from sfumato.synth.graph.junction import junction_tree
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.propagation import Propagation


def planned(domain: Domain, cliques: list[tuple[str, ...]]) -> Propagation:
    return Propagation.plan(junction_tree(domain, cliques), cliques)


def potentials_of(propagation: Propagation) -> list[tuple[tuple[str, ...], Floats]]:
    domain = propagation.tree.domain
    return [
        (factor, propagation.potentials[propagation.part(place)].reshape(domain.shape(factor)))
        for place, factor in enumerate(propagation.factors)
    ]


def whole(propagation: Propagation, total: float) -> Floats:
    logs = np.zeros(propagation.tree.domain.sizes)
    for columns, table in potentials_of(propagation):
        logs = logs + spread(propagation.tree.domain, columns, table)
    return joint(propagation.tree.domain, {propagation.tree.domain.names: logs}, total)


def assert_exact(propagation: Propagation, total: float = 100.0) -> None:
    domain, table = propagation.tree.domain, whole(propagation, total)
    propagation.run(total)
    for place, factor in enumerate(propagation.factors):
        expected = propagation.expected[propagation.part(place)].reshape(domain.shape(factor))
        np.testing.assert_allclose(expected, summed(domain, table, factor), rtol=1e-9, atol=1e-12)
    for clique, counts in zip(propagation.tree.cliques, propagation.tables(), strict=True):
        np.testing.assert_allclose(counts, summed(domain, table, clique), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_those_of_the_whole_table(shape: str, scale: float) -> None:
    propagation = planned(SMALL, SHAPES[shape])
    for seed in range(3):  # the same plan again with other potentials
        propagation.potentials[:] = scale * normal(seed, propagation.potentials.shape)
        assert_exact(propagation)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sum_of_weights_is_exact(shape: str) -> None:
    propagation = planned(SMALL, SHAPES[shape])
    propagation.potentials[:] = normal(1, propagation.potentials.shape)
    logs = sum((spread(SMALL, *one) for one in potentials_of(propagation) if one[0]), np.zeros(SMALL.sizes))
    assert propagation.run() == pytest.approx(math.log(np.exp(logs).sum()))


def test_potentials_too_far_apart_for_one_scale_lose_nothing() -> None:
    """One table says that b = 0 is e⁸⁰⁰ times likelier than b = 1, another says the opposite: both matter."""
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    propagation = planned(domain, [("a", "b"), ("b", "c")])
    first, second = propagation.factors
    for place, factor in enumerate((first, second)):
        table = np.zeros((2, 2))
        table[(slice(None),) * factor.index("b") + (place,)] = 800.0
        propagation.potentials[propagation.part(place)] = table.reshape(-1)
    propagation.run(8.0)
    np.testing.assert_allclose(propagation.expected, 2.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_forbidden_has_no_counts_and_nothing_is_nan(shape: str) -> None:
    propagation = planned(SMALL, SHAPES[shape])
    propagation.potentials[:] = normal(2, propagation.potentials.shape)
    for place, factor in enumerate(propagation.factors):
        if factor:  # the first code of the first column is forbidden
            table = propagation.potentials[propagation.part(place)].reshape(SMALL.shape(factor))
            table[0] = -np.inf
    assert_exact(propagation)
    assert not np.isnan(propagation.expected).any()


def test_where_all_is_forbidden_all_counts_are_zero() -> None:
    propagation = planned(SMALL, SHAPES["loop"])
    propagation.potentials[propagation.part(1)] = -np.inf
    assert propagation.run(10.0) == -math.inf
    assert not propagation.expected.any()


@pytest.mark.parametrize("shape", SHAPES)
def test_changes_are_derivatives(shape: str) -> None:
    propagation = planned(SMALL, SHAPES[shape])
    at, direction = normal(3, propagation.potentials.shape), normal(4, propagation.potentials.shape)
    step = 1e-5
    ends = []
    for sign in (1, -1):
        propagation.potentials[:] = at + sign * step * direction
        propagation.run(100.0)
        ends.append(propagation.expected.copy())
    propagation.potentials[:] = at
    propagation.run(100.0)
    propagation.changes.potentials[:] = direction
    propagation.changes.run()
    np.testing.assert_allclose(propagation.changes.expected, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "keep",
    [(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1), (1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 1, 1), (1, 1, 0, 0)],
)
def test_projections_are_sums(keep: tuple[int, ...]) -> None:
    table = normal(5, (2, 3, 4, 5))
    wanted = table.sum(axis=tuple(axis for axis, kept in enumerate(keep) if not kept))
    into = np.zeros(wanted.shape)
    perform(summing(table, [bool(one) for one in keep], into))
    np.testing.assert_allclose(into, wanted)
