"""Errors that travel between processes, and releases as people see them."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf


@pytest.mark.parametrize(
    "fault",
    [
        sf.errors.BadArgument("scale", "greater than 0", 0),
        sf.errors.NotInDomain("3 floats"),
        sf.errors.UnboundedColumn("sum", "age"),
        sf.errors.UnknownSize("mean", "Give size=…"),
        sf.errors.CannotJoin("a", "b", "the domain"),
        sf.errors.ClaimRequired("this"),
        sf.errors.Exhausted("no more"),
    ],
)
def test_errors_survive_pickling(fault: sf.errors.SfumatoError) -> None:
    back = pickle.loads(pickle.dumps(fault))
    assert type(back) is type(fault) and str(back) == str(fault) and vars(back) == vars(fault)


def test_printed_losses_and_error_bars_are_never_rounded_down() -> None:
    assert str(sf.Pure("1.0000004")) == "ε = 1.00001"
    assert str(sf.Approx(1, "1.0000001e-9")) == "ε = 1, δ = 1.00001e-09"
    release = (sf.scalar(float) >> sf.laplace(scale=10))(0.0, confidence=0.999)
    assert "(99.9%)" in str(release)
    shown = str(release).split("± ")[1].split(" ")[0]
    assert Fraction(shown) >= Fraction(release.half_width)


def test_releases_of_arrays_compare_and_print() -> None:
    counts = (sf.vector(int, size=20, metric=sf.L1()) >> sf.laplace(scale=1))(np.zeros(20, dtype=int))
    assert counts == counts and counts != (sf.scalar(int) >> sf.laplace(scale=1))(0)
    assert "… 20 values]" in repr(counts)
    named = (sf.vector(str) >> sf.stability_histogram(scale=1, threshold=5))(["I01"] * 40)
    assert repr(named).startswith("[I01: ")


def test_small_slips_in_a_chain() -> None:
    with pytest.raises(sf.errors.NotChainable, match=r"clamp makes a component when it is called: write clamp\(…\)"):
        sf.vector(float) >> sf.clamp  # type: ignore[operator]
    with pytest.raises(sf.errors.BadArgument, match="a function from a scale to a measurement"):
        sf.calibrate(sf.scalar(int) >> sf.laplace(scale=1), d_in=1, loss=sf.Pure(1))  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="this noise has no end"):
        sf.audit.brute_epsilon(sf.scalar(int) >> sf.laplace(scale=1), range(2))
    assert repr(sf.scalar(int)) == "Space(integers under the absolute distance)"
