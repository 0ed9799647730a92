"""Combinators and algorithms against OpenDP, where its own are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.exact import up

dp: Any = pytest.importorskip("opendp.prelude", reason="needs opendp: pip install 'sfumato[test]'")
dp.enable_features("contrib", "honest-but-curious")


def test_A2_033_amplification_by_a_known_population() -> None:
    column = dp.vector_domain(dp.atom_domain(bounds=(0.0, 10.0)), size=10), dp.symmetric_distance()
    theirs = dp.c.make_population_amplification(column >> dp.t.then_mean() >> dp.m.then_laplace(0.5), 100)
    drawn = sf.claim("drawn by lot")
    known = sf.combinators.amplified_by_known_sample(sf.mean() >> sf.laplace(scale="0.5"), population=100, claim=drawn)
    ours = (sf.vector(float, between=(0, 10), size=10) >> known).map(1)
    assert isinstance(ours, sf.Pure) and up(ours.epsilon) == pytest.approx(theirs.map(2), rel=1e-12)


@pytest.mark.parametrize("slices", [[0.3, 0.2], [1.0], [0.125, 0.25, 0.5]])
def test_adaptive_composition_costs_the_same(slices: list[float]) -> None:
    column = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    theirs = dp.c.make_adaptive_composition(*column, dp.max_divergence(), d_in=1, d_mids=slices)
    ours = (sf.vector(int) >> sf.adaptive_composition([sf.Pure(part) for part in slices])).map(1)
    assert isinstance(ours, sf.Pure) and up(ours.epsilon) == pytest.approx(theirs.map(1), rel=1e-12)


@pytest.mark.parametrize("leaves", [2, 4, 8])
def test_A2_011_consistent_binary_trees_are_the_same_fit(leaves: int) -> None:
    drawn = np.random.default_rng(leaves)
    heights = leaves.bit_length()
    layers = [drawn.normal(10, 3, size=2**height) for height in range(heights)]
    theirs = dp.t.make_consistent_b_ary_tree(2)(np.concatenate(layers).round().astype(int).tolist())
    axes = [tuple(range(height)) for height in range(heights)]
    shaped = {key: layer.round().reshape((2,) * len(key)) for key, layer in zip(axes, layers, strict=True)}
    ours = sf.stats.consistent_layers(shaped, dict.fromkeys(axes, 1))
    assert np.allclose(np.asarray(ours).reshape(-1), theirs)
