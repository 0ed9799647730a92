"""Laws of plans: equal plans mean equal questions, for every constructor and for every argument.

The examples are those of the tables of mechanisms and transformations, with a few of what has its laws elsewhere: every
constructor of the package is tried.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.examples import measurements
from tests.examples import transformations as transforms
from tests.examples.constructors import constructors
from tests.examples.public import short_names
from tests.profiles import examples

import sfumato as sf
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.plan import Described, number_arguments, plan_of
from sfumato.core.rows import canonical
from sfumato.entropy import ReplayEntropy
from sfumato.errors import SfumatoError
from sfumato.exact import Number, rational
from sfumato.mechanisms.joint_quantiles import joint_quantiles
from sfumato.mechanisms.layered_counts import Layer, layered_counts
from sfumato.mechanisms.perturbed_risk import perturbed_risk
from sfumato.mechanisms.recursive_quantiles import recursive_quantiles
from sfumato.mechanisms.risks import Logistic, SmoothHinge
from sfumato.noise import DiscreteLaplace
from sfumato.stats.means import median_radius
from sfumato.stats.shares import noise_of
from sfumato.transforms.deviations import deviations
from sfumato.transforms.residuals import Additive
from sfumato.transforms.sample_and_aggregate import aggregates
from sfumato.transforms.split_criteria import Information
from sfumato.transforms.split_parts import split_parts
from sfumato.transforms.splits import Coded, Tree

VOUCHED = sf.claim("for this test")
LETTERS = sf.vector(["a", "b"])

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (sf.adaptive_composition, ([sf.Pure(1), sf.Pure(2)],), {"d_in": 1}),
    (sf.combinators.concurrent_composition, ([sf.Pure(1), sf.Pure(2)],), {"d_in": 1}),
    (sf.privacy_filter, (sf.Pure(1),), {"concurrent": True}),
    (sf.combinators.amplified_by_known_sample, (sf.count() >> sf.laplace(1),), {"population": 1000, "claim": VOUCHED}),
    (
        sf.group_by,
        ("age",),
        {"keys": [1, 2], "other": True, "max_groups": 3, "max_rows_per_group": 2, "claim": VOUCHED},
    ),
    (sf.transforms.pair_slopes, (), {"between": (0, 1), "matchings": 2}),
    (split_parts, (transforms.VOTED, transforms.CODED), {}),
    (sf.transforms.random_parts, (5,), {"by": "age", "units": 2, "claim": VOUCHED}),
    (sf.transforms.equal_parts, (5,), {}),
    (sf.truncate_groups, ("age",), {"keys": [1, 2], "max_groups": 3, "max_rows": 5, "max_rows_per_group": 2}),
    (sf.transforms.sizes, (), {"metric": sf.L1()}),
    (sf.transforms.sums, (0, 10), {"column": "age", "metric": sf.L1()}),
    (sf.sample_and_aggregate, (len,), {"default": 0, "between": (0, 1), "claim": VOUCHED}),
    (aggregates, (len, sf.Floats()), {"default": 0.0, "claims": ()}),
    (sf.transforms.mode_gap, (), {}),
    (sf.transforms.vector_mean, (), {"metric": sf.L1()}),
    (sf.query_stream, (1,), {"d_out": 2, "step": 1, "claim": VOUCHED}),
    (sf.transforms.sum_stream, (0, 10), {}),
    (sf.transforms.negated, (), {}),
    (sf.transforms.quantile_scores, ([0, 1, "0.5"],), {"alpha": 0.3, "metric": sf.metrics.Range()}),
    (sf.transforms.mode_scores, (["a", "b"],), {"metric": sf.metrics.Range()}),
    (sf.transforms.revenue_scores, ([1, 2.5],), {"metric": sf.LInf()}),
    (sf.transforms.accuracy_scores, (["first", "second"],), {"label": "truth", "metric": sf.LInf()}),
    (
        sf.transforms.threshold_accuracy_scores,
        ([1, 2],),
        {"feature": "x", "label": "y", "positive": 1, "strict": True, "metric": sf.LInf()},
    ),
    (sf.transforms.as_range, (), {}),
    (joint_quantiles, (["0.25", "0.5"],), {"total": 8, "temperature": 1, "between": (0, 9), "step": 1}),
    (recursive_quantiles, (["0.25", "0.5"],), {"temperature": 1, "between": (0, 9), "step": 1}),
    (layered_counts, (["a"], [Layer(np.array([0]), 1, DiscreteLaplace(1))]), {"measure": sf.Pure}),
    (noise_of, (sf.Pure, Fraction(1)), {}),
    (median_radius, (deviations(1.0), [1, 2], [0.5, 1.0], Fraction(1), sf.Pure), {}),
    (sf.stats.histogram, (), {"loss": sf.Approx(1, 1e-6), "d_in": 2}),
    (sf.stats.select_keys, (), {"loss": sf.Approx(1, 1e-6), "d_in": 2}),
    (sf.stats.bounds_by_histogram, (1,), {"alpha": 1e-6, "measure": sf.ZCDP}),
    (sf.stats.k_means, (2,), {"loss": sf.Pure(1), "rounds": 2, "starts": [(0, 0), (1, 1)], "d_in": 1}),
    (sf.stats.k_means, (2,), {"loss": sf.Pure(1)}),
    (sf.stats.scored_k_means, ([2, 3],), {"loss": sf.Pure(1), "rounds": 2, "d_in": 1}),
    (
        sf.stats.hierarchical_counts,
        ([["a"], ["a", "b"]],),
        {"loss": sf.Pure(1), "keys": {"a": [1, 2], "b": ["x"]}, "weights": [1, 2], "d_in": 1},
    ),
    (sf.stats.top_keys, (2,), {"keys": ["a", "b", "c"], "temperature": 1, "measure": sf.Pure}),
    (sf.stats.mean_without_bounds, (), {"loss": sf.Pure(1), "d_in": 1}),
    (sf.stats.trimmed_mean, ("0.1",), {"loss": sf.Pure(1), "between": (0, 9), "step": 1}),
    (sf.stats.smooth_median, (), {"loss": sf.Pure(1), "between": (0, 9), "step": 1}),
    (sf.stats.quantiles, (["0.25", 0.5],), {"loss": sf.Pure(1), "d_in": 1, "between": (0, 1), "step": 0.1}),
    (sf.stats.bounds_by_quantiles, (0.1, 0.9), {"loss": sf.Pure(1), "between": (0, 1), "slack": 0.5, "step": 0.1}),
    (sf.stats.correlated_noise, (), {"loss": sf.ZCDP(1), "strategy": sf.events.SquareRoot(9, band=3), "d_in": 2}),
    (sf.stats.running_counts, (), {"loss": sf.Pure(1), "steps": 4, "method": "tree", "d_in": 2}),
    (sf.stats.tree, ([0, 1, 2.5],), {"loss": sf.Pure(1), "branching": 2, "d_in": 1}),
    (perturbed_risk, (Logistic(), [0, 2]), {"scale": 1, "ridge": 9}),
]
"""Calls of what the two tables do not hold."""

ALWAYS_OPAQUE = {
    "layered_counts",
    "aggregates",
    "sample_and_aggregate",
    "map_rows",
    "satisfies",
    "summarize",
    "lipschitz",
    "analysis",
}
"""Constructors that take a function of the caller's, or an array inside a record, which no one has copied."""


def recorded() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]:
    """Builds every example of both tables and gives every call of a constructor that was made on the way."""
    found: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            found.append((function, args, kwargs))
            return function(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for function in constructors().values():
            name = function.__name__
            for place in (sf, sf.transforms, sf.mechanisms, sf.combinators, sf.textbook, measurements, transforms):
                if getattr(place, name, None) is function:
                    patch.setattr(place, name, watched(function))
        for example in measurements.EXAMPLES:
            example.build()
        list(transforms.every_case())
    yield from found


RECORDED = [*recorded(), *CALLS]


def every_example() -> dict[str, Described]:
    """Builds every example of both tables anew."""
    made: dict[str, Described] = {f"{k} {one.name}": one.build() for k, one in enumerate(measurements.EXAMPLES)}
    made.update({label: case.space >> case.transform for label, case in transforms.every_case()})
    return made


def test_every_constructor_is_tried() -> None:
    tried = {function.__name__ for function, _, _ in RECORDED}
    left = [function for function in constructors().values() if function.__name__ not in tried]
    assert all(not inspect.signature(function).parameters for function in left), left
    assert {function.__name__ for function in left} <= {label.partition(" ")[0] for label in transforms.CASES}


def test_building_twice_gives_equal_plans_and_different_examples_different_ones() -> None:
    first, second = ({label: json.dumps(made.plan) for label, made in every_example().items()} for _ in range(2))
    assert first == second
    described = {label: plan for label, plan in first.items() if plan != "null"}
    assert len(set(described.values())) == len(described) > 150
    callers = {
        "map_rows",
        "summarize",
        "lipschitz",
        "analysis",
        "best_of",
        "best_of_all",
        "random_candidate",
        "keep",
        "gradient_sums",
    }
    interactive = {"above_threshold", "below_threshold", "sparse_vector"}
    opaque = {label.lstrip("0123456789 ").partition(" ")[0] for label in set(first) - set(described)}
    assert opaque == callers | interactive
    assert "keep" in {label.partition(" ")[0] for label in described}


def alike(left: Any, right: Any) -> bool:
    """Tells whether the library can treat two arguments as one: equal to Python all the way down, and read alike."""
    if isinstance(left, list | tuple):
        return type(left) is type(right) and len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return isinstance(right, dict) and alike(list(left.items()), list(right.items()))
    if isinstance(left, np.ndarray):
        return isinstance(right, np.ndarray) and left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, np.generic) or isinstance(right, np.generic):
        return alike(*(value.item() if isinstance(value, np.generic) else value for value in (left, right)))
    if is_number(left) and is_number(right):
        infinite = math.inf in (abs(left), abs(right))
        return bool(left == right and sign(left) == sign(right) and (infinite or rational(left) == rational(right)))
    return type(left) is type(right) and bool(left == right)


def sign(value: Any) -> float:
    return math.copysign(1, value) if value == 0 else 1


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | Decimal | np.integer) and not isinstance(value, bool)


def variants(value: Any) -> Iterator[Any]:
    """Gives arguments that are not the given one: near it where that can be said, and of every other kind."""
    yield from (
        None,
        True,
        False,
        1,
        2,
        3,
        7,
        "a",
        "age",
        0.5,
        Fraction(1, 3),
        "0.25",
        (0, 1),
        (0, 2),
        ["a"],
        ["b", "c"],
    )
    yield from (
        [1, 2],
        [1, 3],
        sf.L1(),
        sf.L2(),
        sf.LInf(),
        sf.metrics.Range(),
        sf.claim("another"),
        sf.Pure,
        sf.ZCDP,
        float,
        int,
    )
    yield from (sf.ZCDP(2), sf.events.SquareRoot(5), SmoothHinge(), Additive(1, ((2,),), classes=False))
    yield from (Coded((2,), (False,), 2), Tree(((0,),)), (Tree(((0,),), ((1, 2), (3, 4))),), Information(5))
    yield from (sf.Pure(2), sf.Approx(1, 0.5), sf.between(0, 3), [sf.is_nan()], sf.laplace(9), [sf.laplace(9)])
    yield from ("joint", "last", "max")
    yield from (sf.events.PoissonRuns(7), sf.noise.DiscreteLaplace(3), [[3, 4], [1, 2]], {"a": 1}, np.array([[9]]))
    yield from ([["b"], ["b", "a"]], "square root", sf.scalar(int) >> sf.laplace(8))
    yield from (LETTERS >> sf.count(), LETTERS >> sf.count() >> sf.laplace(8))
    if is_number(value):
        yield from (value + 1, -value, Fraction(value) / 3, value + Fraction(1, 10**30), 10 * value)
    if isinstance(value, str):
        yield from (value + "1", value.upper())
    if isinstance(value, list | tuple) and value:
        kind = type(value)
        yield from (kind(value[:-1]), kind([*value, value[0]]), kind(reversed(value)))
        for place in range(len(value)):
            yield from (kind([*value[:place], other, *value[place + 1 :]]) for other in variants_of_part(value[place]))
    if isinstance(value, np.ndarray):
        yield from (value + 1, value[:1], value.astype(np.int64))


def variants_of_part(value: Any) -> Iterator[Any]:
    if is_number(value):
        yield value + 1
    elif isinstance(value, str):
        yield value + "1"
    elif isinstance(value, list | tuple) and value:
        yield type(value)([*value[:-1], *variants_of_part(value[-1])])


def put(args: Any, kwargs: Any, place: int | str, value: Any) -> tuple[Any, Any]:
    """Puts another argument in a place."""
    if isinstance(place, int):
        return (*args[:place], value, *args[place + 1 :]), kwargs
    return args, {**kwargs, place: value}


def same_number(left: Any, right: Any) -> bool:
    try:
        return rational(left) == rational(right)
    except SfumatoError:
        return False


def test_changing_any_argument_changes_the_plan_or_takes_it_away() -> None:
    """What the library refuses is not tried; every argument has to be changed in some way that it accepts."""
    changed, every = set(), set()
    for function, args, kwargs in RECORDED:
        made = function(*args, **kwargs)
        if function.__name__ in ALWAYS_OPAQUE:
            assert made.plan is None
            continue
        for place, value in [*enumerate(args), *kwargs.items()]:
            every.add((function.__name__, place))
            for other in variants(value):
                if alike(value, other) or same_number(value, other) or value is other:
                    continue
                try:
                    given, named = put(args, kwargs, place, other)
                    remade = function(*given, **named)
                except (SfumatoError, TypeError, ValueError, AttributeError, KeyError):
                    continue
                changed.add((function.__name__, place))
                assert remade.plan is None or remade.plan != made.plan, (function.__name__, place, value, other)
    assert len(changed) > 150
    assert not every - changed


def retyped(value: Any) -> Iterator[Any]:
    """Gives other ways to write a number."""
    if is_number(value) or isinstance(value, str):
        try:
            exact = rational(value)
        except SfumatoError:
            return
        yield from (exact, str(exact), float(exact), Decimal(exact.numerator) / Decimal(exact.denominator))
        if exact.denominator == 1:
            yield from (int(exact), np.int64(int(exact))) if abs(exact) < 2**62 else (int(exact),)


def replayed(made: sf.Measurement, member: Any) -> str:
    try:
        return repr(made(member, entropy=ReplayEntropy(7)).value)
    except SfumatoError as refusal:
        return type(refusal).__name__


def test_equal_plans_are_equal_questions() -> None:
    """Numbers of mechanisms are written in every other way: where the plan stays, so do the loss and every draw."""
    compared = 0
    for example in measurements.EXAMPLES:
        space, function = example.build().source, short_names()[example.name]
        for _, args, kwargs in [call for call in RECORDED if call[0] is function]:
            base = rebuilt(function, args, kwargs, space)
            for place, value in [*enumerate(args), *kwargs.items()]:
                for other in retyped(value):
                    again = rebuilt(function, *put(args, kwargs, place, other), space)
                    if base is None or again is None or again.plan is None or again.plan != base.plan:
                        continue
                    compared += 1
                    assert again.map(1) == base.map(1) and again.map(3) == base.map(3)
                    for member in list(example.members)[:3]:
                        assert replayed(again, member) == replayed(base, member)
    assert compared > 150


def rebuilt(function: Any, args: Any, kwargs: Any, space: sf.Space) -> sf.Measurement | None:
    try:
        made = function(*args, **kwargs)
        built = made if isinstance(made, sf.Measurement) else space >> made
    except (SfumatoError, TypeError, ValueError):
        return None
    return built if isinstance(built, sf.Measurement) and not built.interactive else None


whole = st.integers(-3, 3) | st.sampled_from([10**23, 2**53, 2**53 + 1, 10**700])
written = st.sampled_from(["0.1", "1", "1/10", "0.5", "1E+23", "", "a", "inf", "nan", "-0"])
numbers = st.one_of(
    whole,
    st.booleans(),
    st.sampled_from([0.1, 0.5, -0.0, 0.0, 1.0, 1e23, 2.0**53, math.inf, -math.inf, 1e-320, 0.1 + 0.2, 0.3]),
    st.sampled_from(
        [Fraction(1, 10), Fraction(0.1), Fraction(1, 2), Fraction(10**23), Fraction(1e23), Fraction(3, 10)]
    ),
    st.sampled_from(
        [Decimal("0.1"), Decimal("0.10"), Decimal(1), Decimal("-0"), Decimal("1E+23"), Decimal.from_float(0.1)]
    ),
    st.sampled_from([np.int64(1), np.bool_(True), np.bool_(False), np.float64(0.1), np.float64(1), np.int8(0)]),
)
leaves = numbers | written | st.none() | st.sampled_from([b"", b"a", b"1", float, int, str, bool, sf.Pure, sf.ZCDP])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["a", "b", "1"]) | whole, inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=examples(3000))
@given(values, values)
def test_equal_plans_are_of_arguments_that_are_treated_alike(left: Any, right: Any) -> None:
    if plan_of(left) == plan_of(right) is not None:
        assert alike(left, right)


POOL: list[Any] = [
    *range(-2, 3), True, False, None, 0.1, 0.5, -0.0, 0.0, 1.0, 1e23, 10**23, 2.0**53, 2**53, 2**53 + 1, math.inf,
    Fraction(1, 10), Fraction(0.1), Fraction(1e23), Decimal("0.1"), Decimal("1.0"), Decimal.from_float(0.1), "0.1", "1",
    "1/10", "",
    b"", b"1", (), [], {}, (1,), [1], (1.0,), [True], [[1]], {1: 1}, {"1": 1}, {1: "1"}, {1.0: 1}, ("1",), np.int64(1),
    np.bool_(True), np.float64(0.1), float, int, sf.Pure, sf.L1(), sf.L2(), sf.metrics.Lp(1), sf.Pure(1), sf.Pure(0.1),
    sf.Pure(Fraction(1, 10)), sf.Pure(Fraction(0.1)), sf.Floats(), sf.Floats(nan=True), sf.Categories((0, 1)),
    sf.Categories((False, True)), sf.Categories((0.1,)), sf.Categories((Fraction(1, 10),)), sf.Categories(("0.1",)),
    range(1), range(2), np.array([1]), np.array([1.0]), np.array([[1]]), np.array([True]), np.array(["1"]), 1 << 5000,
]  # fmt: skip


def test_every_two_arguments_of_a_pool() -> None:
    """Among values that are easily confused: equal plans exactly where they are treated alike."""
    met = 0
    for left, right in combinations(POOL, 2):
        if plan_of(left) == plan_of(right):
            met += 1
            assert alike(left, right), (left, right)
    assert met > 10


def careless(value: Any) -> Any:
    """Writes a number as the library reads it and forgets what it was: a tenth, whatever it is equal to."""
    return str(rational(value)) if is_number(value) and not math.isinf(value) else plan_of(value)


def keyless(value: Any) -> Any:
    """Writes a value as text: 1 and "1" are one."""
    return str(value)


@pytest.mark.parametrize("wrong", [careless, keyless, lambda value: value if is_number(value) else plan_of(value)])
def test_the_law_catches_wrong_ways_to_write(wrong: Callable[[Any], Any]) -> None:
    assert any(wrong(left) == wrong(right) and not alike(left, right) for left, right in combinations(POOL[:40], 2))


@given(values)
def test_plans_are_plain_and_need_no_floats(value: Any) -> None:
    plan = plan_of(value)
    assert json.loads(json.dumps(plan, allow_nan=False), parse_float=pytest.fail) == plan


@given(st.lists(st.sampled_from(["a", "b", "c", 1, 2, (1, 2)]), min_size=1, max_size=3, unique_by=canonical))
def test_the_order_of_categories_is_part_of_the_plan(keys: list[Any]) -> None:
    assert sf.vector(keys).plan == sf.vector(list(keys)).plan is not None
    if len(keys) > 1:
        assert sf.vector(keys).plan != sf.vector(keys[::-1]).plan


Size: TypeAlias = Number


def sized(
    scale: Size, *, reach: Size | None = None, near: DistanceLike = 1, ends: tuple[Size, Size], note: str
) -> None:
    """Takes numbers under another name of their type."""


def test_numbers_are_known_by_their_type_whatever_it_is_called() -> None:
    assert number_arguments(sized) == {"scale", "reach", "near"}
    assert number_arguments(inspect.unwrap(sf.laplace)) == {"scale", "step"}
    assert all(number_arguments(inspect.unwrap(function)) is not None for function in constructors().values())
    assert sf.laplace(0.1).plan == sf.laplace("0.1").plan == sf.laplace(Fraction(1, 10)).plan
