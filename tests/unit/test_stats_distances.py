"""The distance at which an algorithm keeps its loss: that of neighbours unless given, never less, and finite."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import BadArgument

LOSS = sf.Pure(1)
SIZED = sf.vector(int, between=(0, 8), size=9, metric=sf.AddRemove())
PLACES = sf.frame({"town": ["x", "y"]}, size=5, metric=sf.AddRemove())

BUILDERS: dict[str, tuple[sf.Space, Callable[..., Any]]] = {
    "tree": (SIZED, lambda **given: sf.stats.tree(range(9), loss=LOSS, **given)),
    "one quantile": (SIZED, lambda **given: sf.stats.quantiles([0.5], loss=LOSS, **given)),
    "quantiles": (SIZED, lambda **given: sf.stats.quantiles([0.2, 0.4, 0.6, 0.8], loss=LOSS, **given)),
    "bounds": (SIZED, lambda **given: sf.stats.bounds_by_quantiles(loss=LOSS, **given)),
    "hierarchy": (PLACES, lambda **given: sf.stats.hierarchical_counts([["town"]], loss=LOSS, **given)),
    "mean": (sf.vector(float, size=9, metric=sf.AddRemove()), lambda **g: sf.stats.mean_without_bounds(loss=LOSS, **g)),
    "clusters": (
        sf.Space(sf.domains.Matrix(2, sf.Floats((0, 1)), size=9), sf.AddRemove()),  # type: ignore[arg-type]
        lambda **given: sf.stats.k_means(2, loss=LOSS, **given),
    ),
}

each = pytest.mark.parametrize("name", BUILDERS)


@each
def test_unless_given_the_loss_is_kept_for_neighbours(name: str) -> None:
    space, build = BUILDERS[name]
    assert space.closest == 2
    assert (space >> build()).check(2, LOSS)


@each
@pytest.mark.parametrize("d_in", [0, 1, math.inf])
def test_distances_that_protect_nobody_are_refused(name: str, d_in: float) -> None:
    space, build = BUILDERS[name]
    with pytest.raises(BadArgument, match="d_in must be finite and at least 2"):
        space >> build(d_in=d_in)


def test_noise_without_end_is_noticed_through_a_sample() -> None:
    sampled = sf.vector(["a", "b"]) >> sf.on_poisson_sample(sf.count() >> sf.laplace(scale=1), "0.5")
    with pytest.raises(BadArgument, match="this noise has no end"):
        sf.audit.brute_epsilon(sampled, [[], ["a"]])
