"""Plans: what is described, what is not, how descriptions join, and that nothing keeps one that is no longer true."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import math
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.examples.constructors import constructors, modules

import sfumato as sf
from sfumato.core import plan as plans
from sfumato.core.plan import constructor, plan_of
from sfumato.errors import BadArgument, NotNoisable
from sfumato.exact import Root
from sfumato.mechanisms.estimators import noisy_mode
from sfumato.transforms.conditions import Condition

VOUCHED = sf.claim("for this test")

numbers = sf.vector(float, size=25)
letters = sf.vector(["a", "b"])


def mean(scale: Any = 4) -> sf.Measurement:
    return numbers >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale)


def test_a_plan_is_the_space_and_the_steps_from_there() -> None:
    plan = mean().plan
    assert plan is not None
    assert plan["steps"] == [
        {"make": "clamp", "with": {"lower": "0", "upper": "100"}},
        {"make": "mean", "with": {}},
        {"make": "laplace", "with": {"scale": "4", "step": None}},
    ]
    assert plan["space"] == {
        "record": "sfumato.core.space.Space",
        "fields": {
            "domain": {
                "record": "sfumato.core.domains.Vector",
                "fields": {
                    "element": {
                        "record": "sfumato.core.atoms.Floats",
                        "fields": {"between": None, "nan": False, "infinite": False},
                    },
                    "size": "25",
                    "least": "0",
                },
            },
            "metric": {"record": "sfumato.core.metrics.ChangeOne", "fields": {}},
        },
    }
    assert json.loads(json.dumps(plan)) == plan


def test_it_does_not_matter_how_arguments_are_passed_or_numbers_typed() -> None:
    plan = sf.laplace(4).plan
    assert plan is not None
    alike = [sf.laplace(scale=4), sf.laplace(4.0), sf.laplace(Fraction(4)), sf.laplace("4"), sf.laplace(Decimal("4.0"))]
    alike += [sf.laplace(step=None, scale=np.int64(4)), sf.laplace(np.float32(4)), sf.laplace(np.float64(4))]
    assert all(made.plan == plan for made in alike)
    assert sf.laplace(4, step=1).plan != plan != sf.laplace(5).plan != sf.gaussian(4).plan


def test_numbers_are_written_as_the_library_reads_them() -> None:
    tenth = sf.laplace(0.1).plan
    assert tenth == sf.laplace("0.1").plan == sf.laplace(Fraction(1, 10)).plan == sf.laplace(Decimal("0.1")).plan
    assert tenth != sf.laplace(Fraction(0.1)).plan
    assert sf.laplace(np.float32(0.1)).plan == sf.laplace(0.10000000149011612).plan != tenth


def test_as_a_category_a_tenth_is_not_the_float_that_shows_as_one() -> None:
    """The two count different rows: a plan that took them for equal would give the wrong answer."""
    kinds = [sf.count_by([0.1]), sf.count_by([Fraction(1, 10)]), sf.count_by([-0.0]), sf.count_by([0.0])]
    counts = [(sf.vector(float) >> made)([0.1]).tolist() for made in kinds[:2]]
    assert counts == [[1], [0]]
    assert len({json.dumps(made.plan) for made in kinds}) == len(kinds)


def test_what_stands_for_itself_is_told_apart() -> None:
    values = [
        None, True, 1, "1", b"1", "31", 1.5, 0.1, Fraction(1, 10), Fraction(0.1), math.inf, -math.inf, "inf", -0.0, 0,
        (1,), [1], [[1]], [(1,)], (), [], {}, {1: 2}, {"1": 2}, {1: 2, 3: 4}, {3: 4, 1: 2}, range(1), range(2), float,
        int, str, bool, sf.Pure, sf.ZCDP, sf.Pure(1), sf.ZCDP(1), sf.L1(), sf.L2(), sf.metrics.Lp(2), Root(Fraction(2)),
        sf.release.Failure.NONE, sf.release.Failure.GRACEFUL, sf.Floats(), sf.Floats((0, 1)), sf.Integers((0, 1)),
        VOUCHED,
        np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([1, 3]), np.array([True]), noisy_mode,
        sf.laplace, sf.laplace(1), sf.gaussian(1), sf.scalar(int), sf.scalar(int) >> sf.laplace(1), 10**5000,
        -(10**5000),
        sf.Unit("a patient", sf.AddRemove()), sf.noise.DiscreteLaplace(2), sf.events.PoissonRuns(2),
        sf.GroupedDistance(1, 2, 1),
    ]  # fmt: skip
    written = [json.dumps(plan_of(value)) for value in values]
    assert [value for value, text in zip(values, written, strict=True) if text == "null"] == [None]
    assert len(set(written)) == len(values)
    assert "." not in "".join(text for text in written if "sfumato" not in text and "float" not in text)


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    left: int


@dataclass(frozen=True)
class Mine:
    x: int = 1


def of_the_user(x: int) -> int:
    return x


def a_set() -> set[str]:
    return {"a", "b"}


class Loud(str):
    __slots__ = ()


OPAQUE: list[Any] = [
    lambda x: x,
    of_the_user,
    functools.partial(noisy_mode),
    Mine(),
    Mine,
    Colour.RED,
    Pair(1),
    Loud("a"),
    math.nan,
    Decimal("NaN"),
    Decimal("inf"),
    Decimal("1e9999999"),
    np.longdouble("0.1"),
    np.float32(0.5),
    np.array([1, "a"], dtype=object),
    np.ma.masked_array([1], [True]),
    a_set(),
    frozenset(a_set()),
    object(),
    len,
    print,
    (part for part in "ab"),
    {"a": 1}.keys(),
    sf.Queryable(lambda query: query),
    sf.domains.Custom("graphs", of_the_user),
    sf.Space(sf.domains.Custom("graphs", of_the_user), sf.metrics.Discrete()),
    sf.map_rows(of_the_user, float, default=0, claim=VOUCHED),
    sf.scalar(int) >> sf.laplace(1) >> str.upper,
    sf.entropy.ReplayEntropy(1),
    1j,
]


@pytest.mark.parametrize("value", OPAQUE, ids=lambda value: type(value).__name__)
def test_what_cannot_be_said_exactly_is_not_said(value: Any) -> None:
    for held in (value, [value], (1, value), {"a": value}):
        assert plan_of(held) is None
    assert sf.mechanisms.exponential_of([value], temperature=1).plan is None


def test_what_calls_itself_ours_and_is_not_has_no_plan() -> None:
    def forged(x: int) -> int:
        return x

    forged.__module__, forged.__qualname__ = noisy_mode.__module__, "noisy_mode"
    assert plan_of(noisy_mode) == {"function": "sfumato.mechanisms.estimators.noisy_mode"}
    assert plan_of(forged) is None
    forged.__module__ = None  # type: ignore[assignment]
    assert plan_of(forged) is None
    deep: list[Any] = []
    deep.append(deep)
    assert plan_of(deep) is None
    assert sf.mechanisms.exponential_of([deep], temperature=1).plan is None


def test_a_users_own_component_has_no_plan() -> None:
    space = sf.scalar(int)
    doubled = sf.transformation(space, space, function=lambda x: 2 * x, map=lambda d: 2 * d, claim=VOUCHED)
    own = sf.measurement(space, sf.Pure, function=lambda x, _: 1, map=lambda d: sf.Pure(d), claim=VOUCHED)
    assert doubled.plan is own.plan is (doubled >> sf.laplace(1)).plan is (doubled >> own).plan is None
    assert sf.Partial("own", lambda space: own).plan is None
    asked = sf.analysis(
        sf.scalar(bool) >> sf.privacy_filter(sf.Pure(1)), lambda ask, _: ask(sf.randomized_response(epsilon=1))
    )
    assert asked.plan is None


def test_what_goes_on_answering_has_no_plan() -> None:
    streams = sf.Space(sf.domains.Stream(sf.Integers()), sf.LInf())
    waiting = sf.above_threshold(1, scale=1)
    assert waiting.plan is not None
    assert (streams >> waiting).plan is None
    assert (sf.scalar(int) >> sf.adaptive_composition([sf.Pure(1)])).plan is None


def test_joining_in_any_order_gives_one_plan() -> None:
    first, second, third = sf.clamp(0, 100), sf.mean(), sf.laplace(4)
    made = [
        mean(),
        numbers >> (first >> second >> third),
        numbers >> (first >> (second >> third)),
        (numbers >> first) >> (second >> third),
        numbers >> first >> second >> ((numbers >> first >> second).target >> third),
        (numbers >> first) >> (sf.vector(float, size=25, between=(0, 100)) >> second >> third),
        numbers >> mean(),
    ]
    assert all(each.plan == made[0].plan is not None for each in made)
    assert all(each.map(1) == made[0].map(1) for each in made)
    assert numbers.plan is not None and numbers.plan["steps"] == []
    assert (sf.vector(float, size=26) >> first >> second >> third).plan != mean().plan


def test_what_was_built_on_a_space_that_is_only_equal_to_python_has_no_plan_behind_another() -> None:
    """To Python the categories (0, 1) and (False, True) are equal, so they join; but the answers are told apart."""
    told = sf.scalar(bool) >> sf.randomized_response(epsilon=1)
    other = sf.scalar([False, True]) >> sf.randomized_response(epsilon=1)
    number = sf.scalar([0, 1]) >> sf.randomized_response(epsilon=1)
    assert told.plan == other.plan != number.plan != None  # noqa: E711
    spaces = [sf.scalar([0, 1]), sf.scalar(bool)]
    identities = [
        constructor(
            lambda: sf.Partial("same", lambda space: sf.Transformation(space, space, lambda x, _: x, lambda d: d))
        )()
        for _ in spaces
    ]
    numbers_first, truths_first = (space >> same for space, same in zip(spaces, identities, strict=True))
    assert (numbers_first >> number).plan == (numbers_first >> sf.randomized_response(epsilon=1)).plan is not None
    assert (numbers_first >> told).plan is (truths_first >> number).plan is None


def test_a_function_of_the_outcome_is_described_if_it_is_ours() -> None:
    plan = mean().plan
    assert plan is not None
    ended = (mean() >> noisy_mode).plan
    step = {"then": {"function": "sfumato.mechanisms.estimators.noisy_mode"}, "name": None}
    assert ended == {"space": plan["space"], "steps": [*plan["steps"], step]}
    assert (numbers >> (sf.clamp(0, 100) >> sf.mean() >> sf.laplace(4) >> noisy_mode)).plan == ended
    assert (mean() >> str).plan is not None
    for function in (of_the_user, lambda x: x, functools.partial(noisy_mode), len):
        assert (mean() >> function).plan is None
        assert (sf.laplace(1) >> function).plan is None
        assert (mean() >> function >> noisy_mode).plan is None
    assert mean().then(noisy_mode, name="the mode").plan not in (None, ended)


def test_a_component_that_was_changed_loses_its_plan() -> None:
    measurement, step, waiting = mean(), numbers >> sf.clamp(0, 1), sf.laplace(1)
    condition = sf.between(0, 1)
    assert isinstance(condition, Condition)
    made: list[tuple[Any, Any]] = [
        (measurement, replace(measurement, function=lambda data, entropy: 0)),
        (measurement, replace(measurement)),
        (step, replace(step, function=lambda data, entropy: data)),
        (waiting, replace(waiting, build=sf.laplace(2).build)),
        (condition, replace(condition, text="else")),
    ]
    for before, after in made:
        assert before.plan is not None
        assert after.plan is None
        with pytest.raises(ValueError, match="init=False"):
            replace(before, plan=before.plan)


def test_conditions_combine() -> None:
    low, high = sf.between(0, 1), sf.between(0, 2)
    made = [low, high, low & high, high & low, low | high, ~low, ~~low, low & ~high, ~(low & high)]
    written = [json.dumps(sf.keep(each).plan) for each in made]
    assert "null" not in written and len(set(written)) == len(made)
    own = sf.satisfies(of_the_user, claim=VOUCHED)
    assert all(sf.keep(each).plan is None for each in (own, own & low, low | own, ~own))


def test_what_is_changed_afterwards_changes_neither_the_component_nor_its_plan() -> None:
    keys: list[Any] = ["a", "b"]
    rows: list[list[Any]] = [[1, 0], [0, 1]]
    parts: list[Any] = [sf.laplace(1)]
    listed: list[Any] = [0, 0]
    packed: Any = np.array([0, 0])

    def made() -> list[Any]:
        origins = [sf.norm_clamp(1, origin=origin) for origin in (listed, packed)]
        return [sf.count_by(keys), sf.linear(rows), sf.composition(parts), *origins]

    before = made()
    plain = [one.plan for one in before]
    keys.append("c")
    rows[0][0] = 5
    parts.append(sf.laplace(2))
    listed[0] = packed[0] = 3
    assert [one.plan for one in before] == plain
    assert (letters >> before[0])(["a", "b", "b"]).tolist() == [1, 2]
    assert (sf.vector(int, size=2, metric=sf.L1()) >> before[1]).map(1) == 1
    assert (sf.scalar(int) >> before[2]).map(1) == sf.Pure(1)
    assert all((sf.matrix(2) >> one).target.domain.norm.origin == (0, 0) for one in before[3:])
    assert all(old != new.plan for old, new in zip(plain, made(), strict=True))


def test_the_outermost_constructor_is_described() -> None:
    made = sf.vector(int, between=(0, 9)) >> sf.median(temperature=1, between=(0, 2))
    assert [step["make"] for step in made.plan["steps"]] == ["median"]  # type: ignore[index, call-overload]
    mean = sf.vector(float) >> sf.stats.mean_without_bounds(loss=sf.ZCDP(1))
    assert [step["make"] for step in mean.plan["steps"]] == ["mean_without_bounds"]  # type: ignore[index, call-overload]


def test_a_refusal_leaves_everything_as_it_was() -> None:
    with pytest.raises(BadArgument):
        sf.laplace(-1)
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'lower' and 'upper'"):
        sf.clamp()  # type: ignore[call-arg]
    with pytest.raises(NotNoisable):
        sf.scalar(["a"]) >> sf.laplace(1)
    assert sf.laplace(1).plan is not None


def test_threads_do_not_disturb_each_other() -> None:
    found: list[object] = []
    with plans.unplanned():
        thread = threading.Thread(target=lambda: found.append(sf.laplace(1).plan))
        thread.start()
        thread.join()
        assert sf.laplace(1).plan is None
    assert found == [sf.laplace(1).plan] != [None]


def test_a_component_of_the_users_making_keeps_what_it_builds() -> None:
    own = sf.Partial("mine", lambda space: space >> sf.count() >> sf.laplace(1))
    assert (letters >> own).plan == (letters >> sf.count() >> sf.laplace(1)).plan is not None


SEVERAL = """
import json, sfumato as sf
edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "e"), ("e", "f")]
rows = [["1/6"] * 6] * 6
made = [
    sf.vector([frozenset("abcdef"), "g"]),
    sf.mechanisms.matrix_mechanism(rows, inputs=list("abcdef"), adjacency=edges),
    sf.frame({"x": float, "y": ["b", "a"]}) >> sf.keep(sf.is_in(["a"], column="y")) >> sf.count() >> sf.laplace(0.1),
]
print(json.dumps([one.plan for one in made]))
"""


def test_what_a_record_only_remembers_is_not_written() -> None:
    assert plan_of(sf.Categories(("a",))) == {
        "record": "sfumato.core.atoms.Categories",
        "fields": {"values": {"tuple": [{"text": "a"}]}},
    }


def test_another_process_writes_the_same() -> None:
    """Texts hash differently from process to process, so sets come in another order."""
    seen = {
        subprocess.run(
            [sys.executable, "-c", SEVERAL], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1
    assert None not in json.loads(seen.pop())


def test_every_public_function_that_makes_a_component_is_a_constructor() -> None:
    """Those that are given a space, data or randomness are parts of others, or no constructors."""
    wanted = set()
    for module in modules():
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.returns is not None:
                gives = ast.unparse(node.returns)
                takes = [ast.unparse(one.annotation) for one in node.args.args + node.args.kwonlyargs if one.annotation]
                names = [one.arg for one in node.args.args + node.args.kwonlyargs]
                component = gives.startswith("Partial[") or gives in ("Transformation", "Measurement", "Condition")
                if component and "Space" not in takes and "object" not in takes and "data" not in names:
                    wanted.add(f"{module.__name__}.{node.name}")
    inner = {"sfumato.combinators.best_of.never_failing"}  # one run, inside best_of
    assert wanted - inner == set(constructors())
    assert len(wanted) > 100


def test_every_name_is_given_once() -> None:
    """Two constructors of one name would share plans."""
    names = Counter(function.__qualname__ for function in constructors().values())
    assert not [name for name, count in names.items() if count > 1]
    assert all("<" not in name for name in names)


@pytest.mark.parametrize("name", sorted(constructors()))
def test_a_constructor_keeps_its_signature_and_words(name: str) -> None:
    made = constructors()[name]
    original = made.__wrapped__  # type: ignore[attr-defined]
    assert inspect.signature(made) == inspect.signature(original)
    assert made.__doc__ == original.__doc__ and made.__name__ == original.__name__
    assert not {"entropy", "data"} & set(inspect.signature(made).parameters)
