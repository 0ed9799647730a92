"""Chaining, partial constructors, user-defined components and calibration (P1-034, P1-035, P2-001 … P2-007)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.core.calibrate import calibrate, calibrate_parameter
from sfumato.core.custom import measurement, transformation
from sfumato.core.domains import Integers, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, Absolute, AddRemove
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space, scalar, vector
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import (
    BadArgument,
    CannotCalibrate,
    CannotJoin,
    ClaimRequired,
    NoProvenRoute,
    NotChainable,
    NotInDomain,
    NotNoisable,
    QueryRefused,
    SpaceMismatch,
)
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.release.claim import claim
from sfumato.transforms.rowwise import clamp

NUMBER = scalar(int)
CLAIMED = claim("for this test")


def times(factor: int) -> Any:
    return transformation(
        NUMBER, NUMBER, function=lambda x: factor * x, map=lambda d: factor * d, claim=CLAIMED, name=f"times {factor}"
    )


def test_maps_compose_and_so_do_functions() -> None:
    both = times(2) >> times(3)
    assert both(7) == 42
    assert both.map(1) == 6
    assert both.steps == ("times 2", "times 3")
    priced = both >> laplace(scale=12)
    assert priced.map(2) == Pure(1)
    assert [str(c) for c in priced.how.claims] == ["for this test", "for this test"]


def test_a_chain_is_reusable_and_associative() -> None:
    left = (times(2) >> times(3)) >> laplace(scale=6)
    right = times(2) >> (times(3) >> laplace(scale=6))
    for chain in (left, right):
        assert chain.map(1) == Pure(1)
        assert chain(1, entropy=ReplayEntropy(3)).value == chain(1, entropy=ReplayEntropy(3)).value


def test_partials_join_before_they_know_their_space() -> None:
    waiting = clamp(0, 10) >> clamp(2, 5)
    made = vector(float) >> waiting
    assert made([1.0, 3.0, 99.0]).tolist() == [2.0, 3.0, 5.0]
    assert "waiting" in repr(waiting)


def test_a_measurement_takes_functions_only() -> None:
    noisy = NUMBER >> laplace(scale=1)
    assert (noisy >> abs >> float).how.postprocessing == ("abs", "float")
    for following in (times(2), noisy, laplace(scale=1), NUMBER):
        with pytest.raises(NotChainable, match="a measurement has been made already"):
            noisy >> following
    with pytest.raises(NotChainable, match="neither a component nor a function"):
        noisy >> 3  # type: ignore[operator]


def test_postprocessing_keeps_price_and_law() -> None:
    """P1-125, P2-003; A1-127: any function of the outcome costs nothing."""
    noisy = NUMBER >> laplace(scale=2)
    doubled = noisy >> (lambda y: 2 * y)
    assert doubled.map(1) == noisy.map(1)
    assert doubled(4).value % 2 == 0
    assert doubled.error is None, "an arbitrary function has no error bar on file"


def test_a_plain_function_before_a_measurement_is_refused() -> None:
    with pytest.raises(NotChainable, match="a plain function may only follow a measurement"):
        NUMBER >> abs  # type: ignore[operator]
    with pytest.raises(NotChainable, match="a plain function may only follow a measurement"):
        times(2) >> abs


def test_mismatched_spaces_are_refused_naming_both_sides() -> None:
    """A2-006: another metric or other bounds do not join."""
    wide, narrow = Space(Integers((0, 10)), Absolute()), Space(Integers((0, 5)), Absolute())
    out = transformation(NUMBER, wide, function=lambda x: min(max(x, 0), 10), map=lambda d: d, claim=CLAIMED)
    takes = narrow >> laplace(scale=1)
    with pytest.raises(CannotJoin, match=r"integers in \[0, 10\].*integers in \[0, 5\]"):
        out >> takes
    vectors = vector(int, size=3, metric=L1())
    with pytest.raises(CannotJoin, match="the L1 distance, the right side takes the L2 distance"):
        vectors >> (vector(int, size=3, metric=L2()) >> gaussian(scale=1))
    with pytest.raises(NotNoisable, match="a vector under the L2 distance"):
        vectors >> gaussian(scale=1)


def test_a_metric_must_be_defined_on_its_domain() -> None:
    with pytest.raises(SpaceMismatch, match="size of the data is public"):
        Space(Vector(Integers()), type(vector(int, size=1).metric)())
    with pytest.raises(SpaceMismatch, match="the length of the vectors must be public"):
        Space(Vector(Integers()), L1())
    with pytest.raises(SpaceMismatch, match="finite numbers"):
        Space(vector(str).domain, Absolute())
    with pytest.raises(BadArgument, match="a domain and a metric"):
        Space("x", AddRemove())  # type: ignore[arg-type]


def test_user_components_need_a_claim() -> None:
    with pytest.raises(ClaimRequired, match="user-defined transformation"):
        transformation(NUMBER, NUMBER, function=abs, map=lambda d: d)
    with pytest.raises(ClaimRequired, match="user-defined measurement"):
        measurement(NUMBER, Pure, function=lambda x, _: 0, map=lambda d: Pure(0))
    with pytest.raises(BadArgument, match="the map must be callable"):
        transformation(NUMBER, NUMBER, function=abs, map=3, claim=CLAIMED)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a sentence"):
        claim("  ")


@pytest.mark.parametrize("wrong", [-1, Fraction(-1, 2), math.nan, "x", None])
def test_a_map_that_gives_no_distance_is_refused(wrong: object) -> None:
    broken = transformation(NUMBER, NUMBER, function=abs, map=lambda d: wrong, claim=CLAIMED)  # type: ignore[arg-type,return-value]
    with pytest.raises(BadArgument, match="what a map gives"):
        broken.map(1)


def test_a_privacy_map_of_the_wrong_kind_is_refused() -> None:
    broken = measurement(NUMBER, Pure, function=lambda x, _: 0, map=lambda d: ZCDP(1), claim=CLAIMED)
    with pytest.raises(BadArgument, match="a Pure loss"):
        broken.map(1)


@pytest.mark.parametrize("bad", [-1, math.nan, "x", None, True, -math.inf])
def test_bad_distances_are_refused(bad: object) -> None:
    with pytest.raises(BadArgument):
        (NUMBER >> laplace(scale=1)).map(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, 1.5, Fraction(1, 2)])
def test_rows_come_in_whole_numbers(bad: float) -> None:
    with pytest.raises(BadArgument):
        (vector(float) >> clamp(0, 1)).map(bad)


def test_infinite_distance_has_no_protection() -> None:
    with pytest.raises(NoProvenRoute, match="without limit"):
        (NUMBER >> laplace(scale=1)).map(math.inf)


def test_data_outside_its_domain_is_refused_without_showing_it() -> None:
    noisy = NUMBER >> laplace(scale=1)
    for secret in (3.5, "secret", None, True, [1], math.nan):
        with pytest.raises(NotInDomain) as caught:
            noisy(secret)
        assert str(secret) not in str(caught.value).replace("integers", "")
    with pytest.raises(NotInDomain):
        times(2)("x")


def test_relation_check() -> None:
    """P2-007: check is map ≤ bound, for both kinds of component."""
    noisy = NUMBER >> laplace(scale=2)
    assert noisy.check(1, Pure(0.5)) and not noisy.check(1, Pure(0.4999))
    assert times(3).check(1, 3) and not times(3).check(1, 2)


@pytest.mark.parametrize(("epsilon", "scale"), [(0.5, 8), (1, 4), (3, Fraction(4, 3)), (0.1, 40)])
def test_calibration_meets_the_bound_and_not_more(epsilon: float, scale: Fraction) -> None:
    def build(parameter: Fraction) -> Measurement:
        return NUMBER >> laplace(scale=parameter)

    found = calibrate_parameter(build, d_in=4, loss=Pure(epsilon))
    assert build(found).map(4) <= Pure(epsilon)
    below = Fraction(math.nextafter(float(found), 0))
    assert not build(below).check(4, Pure(epsilon)), "one float less is too little noise"
    assert abs(found - scale) < Fraction(scale) / 2**50
    assert calibrate(build, d_in=4, loss=Pure(epsilon)).map(4) <= Pure(epsilon)


def test_calibration_of_a_growing_loss_seeks_the_largest() -> None:
    def build(keep: Fraction) -> Measurement:
        return measurement(NUMBER, Pure, function=lambda x, _: 0, map=lambda d: Pure(keep * d), claim=CLAIMED)

    assert calibrate_parameter(build, d_in=1, loss=Pure(0.25), largest=True) == Fraction(1, 4)


def test_calibration_refuses_what_cannot_be() -> None:
    def build(parameter: Fraction) -> Measurement:
        return NUMBER >> laplace(scale=parameter)

    with pytest.raises(CannotCalibrate, match="a loss of nothing"):
        calibrate(build, d_in=1, loss=Pure(0))
    with pytest.raises(NoProvenRoute, match="no theorem leads from ZCDP to Pure"):
        calibrate(lambda parameter: NUMBER >> gaussian(scale=parameter), d_in=1, loss=Pure(1))
    assert calibrate(build, d_in=1, loss=ZCDP(1)).measure is ZCDP
    with pytest.raises(BadArgument, match="a privacy loss"):
        calibrate(build, d_in=1, loss=0.5)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a measurement"):
        calibrate(lambda parameter: laplace(scale=parameter), d_in=1, loss=Pure(1))  # type: ignore[arg-type,return-value]

    def stubborn(_: Fraction) -> Measurement:
        return measurement(NUMBER, Pure, function=lambda x, _: 0, map=lambda d: Pure(5 * d), claim=CLAIMED)

    with pytest.raises(CannotCalibrate, match="even the most private"):
        calibrate(stubborn, d_in=1, loss=Pure(1))

    def rising(parameter: Fraction) -> Measurement:
        return measurement(NUMBER, Pure, function=lambda x, _: 0, map=lambda d: Pure(parameter * d), claim=CLAIMED)

    with pytest.raises(CannotCalibrate, match="one direction"):
        calibrate(rising, d_in=1, loss=Pure(1))


def test_losses_compose_compare_and_do_not_mix() -> None:
    assert sum_of(Pure(0.1), 10) == Pure(1), "ten tenths are one"
    assert Approx(0.1, 1e-6).then(Approx(0.2, 2e-6)) == Approx(0.3, 3e-6)
    assert ZCDP(0.1).then(ZCDP(0.2)) == ZCDP(0.3)
    assert BoundedRange(1) <= BoundedRange(3)
    with pytest.raises(NoProvenRoute, match="do not add up"):
        BoundedRange(1).then(BoundedRange(2))
    assert Pure(math.inf).epsilon == math.inf and Pure(3) <= Pure(math.inf)
    assert Approx(5, 0.1) <= Approx(0, 1), "δ = 1 allows everything"
    with pytest.raises(NoProvenRoute):
        Pure(1).then(ZCDP(1))  # type: ignore[arg-type]
    for bad in (-1, math.nan, "x", None):
        with pytest.raises(BadArgument):
            Pure(bad)  # type: ignore[arg-type]
    for bad_delta in (-0.1, 1.1, math.nan):
        with pytest.raises(BadArgument):
            Approx(1, bad_delta)


def sum_of(loss: Pure, count: int) -> Loss:
    total = Pure.nothing()
    for _ in range(count):
        total = total.then(loss)
    return total


def test_losses_print_small_numbers() -> None:
    assert str(Approx(1, 1e-9)) == "ε = 1, δ = 1e-09"
    assert repr(Pure(0.1)) == "Pure(epsilon=0.1)"
    assert str(ZCDP(0.5)) == "ρ = 0.5 (zCDP)"


def test_a_release_says_who_is_protected_and_how() -> None:
    release = (vector(int, size=2, metric=L1()) >> laplace(scale=1))(np.array([1, 2]))
    assert release.loss == Pure(1)
    assert "uncharged" in str(release) and not release.replayable
    replayed = (NUMBER >> laplace(scale=1))(1, entropy=ReplayEntropy(1))
    assert replayed.replayable and "REPLAYABLE" in str(replayed)


def test_queryables_are_postprocessed_answer_by_answer() -> None:
    def start(data: int, entropy: Entropy) -> Queryable:
        return Queryable(lambda query: data + query)

    free = measurement(NUMBER, Pure, function=start, map=lambda d: Pure(0), claim=CLAIMED, interactive=True)
    queryable = (free >> (lambda y: 10 * y))(1).value
    assert queryable(2) == 30 and queryable(4) == 50


def test_a_query_that_asks_its_own_queryable_is_refused() -> None:
    asked: list[Queryable] = []
    queryable = Queryable(lambda query: asked[0](1) if query == "nested" else query)
    asked.append(queryable)
    with pytest.raises(QueryRefused, match="asks the queryable that is answering it"):
        queryable("nested")
    assert queryable(5) == 5, "and it goes on"
