"""Filters, resizing and row functions: stability by enumeration, and the traps that other libraries fell into."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow
from tests.exact.enumerated import farthest, multisets

from sfumato.core.domains import Custom, Floats, Integers, Vector
from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric, Hamming
from sfumato.core.space import Space, frame, vector
from sfumato.core.transformation import Transformation
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, CannotJoin
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, mean, sum
from sfumato.transforms.casts import bin_by, cast
from sfumato.transforms.conditions import between, is_in
from sfumato.transforms.filters import drop_nan, keep
from sfumato.transforms.moments import variance
from sfumato.transforms.reshape import resize
from sfumato.transforms.rowwise import clamp, impute_nan, map_rows

# ---------------------------------------------------------------- row functions and filters


def test_A1_034_A1_035_clamp() -> None:
    made = vector(int) >> clamp(3, 6)
    assert made(list(range(10))).tolist() == [3, 3, 3, 3, 4, 5, 6, 6, 6, 6]
    floats = vector(float) >> clamp(0, 10)
    assert floats([-10.0, 0.0, 10.0, 20.0]).tolist() == [0, 0, 10, 10]
    assert floats.map(1) == 1


@pytest.mark.parametrize("metric", [AddRemove(), ChangeOne(), Hamming()], ids=str)
def test_row_functions_keep_distances(metric: DatasetMetric) -> None:
    size = None if metric == AddRemove() else 3
    members = [list(rows) for rows in product((-1, 0, 7), repeat=3)] if size else multisets((-1, 0, 7), range(4))
    made = vector(int, size=size, metric=metric) >> clamp(0, 7)
    assert farthest(made, members, 3) == [0, 1, 2, 3] == [made.map(d_in) for d_in in range(4)]


@pytest.mark.parametrize("metric", [AddRemove(), ChangeOne(), Hamming()], ids=str)
def test_A1_040_filters(metric: DatasetMetric) -> None:
    size = None if metric == AddRemove() else 3
    members = [list(rows) for rows in product((0, 1, 5), repeat=3)] if size else multisets((0, 1, 5), range(4))
    made = vector(int, size=size, metric=metric) >> keep(between(0, 1))
    assert made.target.metric == AddRemove() and made.target.domain.size is None
    assert made.map(1) == (1 if size is None else 2)
    assert farthest(made, members, 3) == [made.map(d_in) for d_in in range(4)]


def test_A1_050_node_count_and_labels_by_a_public_model() -> None:
    nodes = vector(str)
    assert (nodes >> count()).map(1) == 1
    model = map_rows(
        lambda text: "long" if len(text) > 3 else "short",
        ["long", "short"],
        default="short",
        claim=claim("the model was trained on public texts and reads one person's text at a time"),
    )
    labels = nodes >> model
    assert labels.map(1) == 1
    assert labels(["hello", "yo"]).tolist() == ["long", "short"]
    assert farthest(labels, multisets(("hello", "yo", "hi"), range(4)), 2) == [0, 1, 2]


# ---------------------------------------------------------------- resize


def outcomes(data: list[object], size: int, constant: object) -> Counter[tuple[object, ...]]:
    """Gives the law of resizing, by enumerating subsets: outcome to a number of equally likely ways."""
    if len(data) <= size:
        return Counter({tuple(sorted(data + [constant] * (size - len(data)))): 1})
    return Counter(tuple(sorted(chosen)) for chosen in combinations(data, size))


def coupled_within(left: Counter, right: Counter, metric: DatasetMetric, most: Fraction) -> bool:
    """Tells whether two laws can be drawn together so that outcomes are never further apart (Strassen, by a flow)."""
    total = math.lcm(left.total(), right.total())
    ours, theirs = list(left), list(right)
    ends = len(ours) + len(theirs)
    capacity = np.zeros((ends + 2, ends + 2), dtype=np.int32)
    for i, outcome in enumerate(ours):
        capacity[ends, i] = left[outcome] * total // left.total()
        for j, other in enumerate(theirs):
            if metric.distance(list(outcome), list(other)) <= most:
                capacity[i, len(ours) + j] = total
    for j, other in enumerate(theirs):
        capacity[len(ours) + j, ends + 1] = right[other] * total // right.total()
    return bool(maximum_flow(csr_matrix(capacity), ends, ends + 1).flow_value == total)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("target", [AddRemove(), ChangeOne()], ids=str)
def test_A1_037_resize_is_stable_for_some_coupling(size: int, target: DatasetMetric) -> None:
    """Both add/remove and change-one inputs; sizes t-1, t and t+1 are among them."""
    made = vector(int) >> resize(size, 0, metric=target)
    assert made.map(1) == (2 if target == AddRemove() else 1)
    tight = False
    members = multisets((0, 1, 2), range(5))
    for left in members:
        for right in members:
            d_in = made.source.distance(left, right)
            laws = outcomes(left, size, 0), outcomes(right, size, 0)
            assert coupled_within(*laws, target, made.map(int(d_in)))
            if d_in == 1 and not coupled_within(*laws, target, made.map(1) - 1):
                tight = True
    assert tight


@pytest.mark.parametrize("before", [2, 4])
def test_resize_of_a_public_size(before: int) -> None:
    for metric in (ChangeOne(), AddRemove()):
        made = vector(int, size=before, metric=metric) >> resize(3, 0)
        members = multisets((0, 1, 2), range(before, before + 1))
        for left in members:
            for right in members:
                d_in = int(made.source.distance(left, right))
                assert coupled_within(outcomes(left, 3, 0), outcomes(right, 3, 0), metric, made.map(d_in))
        assert made.map(2) == 2


def test_A1_038_resize_to_the_same_size_changes_nothing() -> None:
    """E1-09: the printed listing returns nothing here, and shuffles the caller's list."""
    data = [3, 1, 2]
    made = vector(int) >> resize(3, 0)
    assert made(data).tolist() == [3, 1, 2]
    array = np.array([3, 1, 2])
    given = made(array)
    given[0] = 99
    assert array.tolist() == [3, 1, 2] and data == [3, 1, 2]


def test_opendp_2927_order_is_kept_in_every_branch() -> None:
    """Whether rows come shuffled must not tell whether there were too many; here they never do."""
    made = vector(int) >> resize(3, 9)
    assert made([5, 1]).tolist() == [5, 1, 9]
    assert made([5, 1, 3]).tolist() == [5, 1, 3]
    for seed in range(50):
        kept = made([50, 40, 30, 20, 10], entropy=ReplayEntropy(seed)).tolist()
        assert kept == sorted(kept, reverse=True) and len(set(kept)) == 3


def test_resize_refuses_a_constant_outside_the_domain() -> None:
    with pytest.raises(BadArgument, match="constant"):
        _ = vector(int, between=(0, 5)) >> resize(3, 6)
    with pytest.raises(BadArgument, match="size"):
        resize(-1, 0)
    with pytest.raises(BadArgument, match="metric after resize"):
        _ = vector(int) >> resize(3, 0, metric=Hamming())
    table = frame({"age": int, "sex": ["f", "m"]}) >> resize(2, {"age": 0, "sex": "f"})
    assert {name: list(values) for name, values in table({"age": [1], "sex": ["m"]}).items()} == {
        "age": [1, 0],
        "sex": ["m", "f"],
    }


# ---------------------------------------------------------------- traps


def test_opendp_2923_squared_deviations_include_the_rounding_of_the_mean() -> None:
    """Deviations from a rounded mean moved by 63.9 where 40.6 was claimed; ours use exact integers and no mean."""
    made = vector(float, between=(0, 10), size=3) >> variance(ddof=0)
    values = (0.0, 0.1, 3.3333333333333335, 9.999999999999998, 10.0)
    found = farthest(made, multisets(values, range(3, 4)), 3)
    assert all(reached <= made.map(d_in) for d_in, reached in enumerate(found))
    for rows in multisets(values, range(3, 4)):
        unit = Fraction(8, 2**30)
        whole = [round(Fraction(value) / unit) for value in rows]
        top = 3 * np.sum([w * w for w in whole], dtype=object) - np.sum(whole, dtype=object) ** 2
        assert made(rows) == top * unit**2 / 9


def test_opendp_2929_impute_never_fails_on_data() -> None:
    with pytest.raises(BadArgument, match="the constant for NaN"):
        impute_nan(math.inf)
    with pytest.raises(BadArgument, match="the constant for NaN"):
        _ = vector(Floats((0, 1), nan=True)) >> impute_nan(2)
    with pytest.raises(BadArgument, match="the constant for NaN"):
        _ = vector(Floats(nan=True)) >> impute_nan("1e400")
    made = vector(Floats(nan=True, infinite=True)) >> impute_nan(5) >> clamp(0, 10)
    assert made([math.nan, -math.inf, math.inf, -0.0]).tolist() == [5, 0, 10, 0]


def test_integers_never_wrap() -> None:
    """OpenDP #2925, #2937: 64-bit sums of large numbers stay exact."""
    top = 2**63 - 1
    made = vector(int, between=(-(2**63), top)) >> sum()
    assert made(np.full(5, top)) == 5 * top
    assert made(np.full(5, -(2**63))) == -5 * 2**63
    huge = vector(int, between=(-(10**30), 10**30)) >> sum()
    assert huge([10**30, 10**30, -(10**30) + 1]) == 10**30 + 1
    assert (vector(int) >> clamp(0, 2**70))([2**80, -(2**80), 5]).tolist() == [2**70, 0, 5]
    unsigned = np.array([2**64 - 1, 3], dtype=np.uint64)
    assert (vector(int) >> clamp(0, 2**65) >> sum())(unsigned) == 2**64 + 2
    small = np.array([127, 127], dtype=np.int8)
    assert (vector(int) >> clamp(-500, 500) >> sum())(small) == 254
    spread = vector(int, between=(0, 2**62), size=2) >> variance(ddof=0)
    assert spread([0, 2**62]) == 2**122


def test_opendp_2941_small_floats_are_widened_not_tracked() -> None:
    narrow = np.array([0.1, 16777217.0], dtype=np.float32)
    made = vector(float) >> clamp(0, 2**25)
    assert made(narrow).dtype == np.float64
    assert made(narrow).tolist() == [float(value) for value in narrow]
    total = made >> sum()
    assert total.target.distance(total(narrow), total(narrow[:1])) <= total.map(1)


def test_opendp_2939_no_row_disappears_into_a_missing_bin() -> None:
    with pytest.raises(BadArgument, match="NaN"):
        _ = vector(Floats(nan=True)) >> bin_by([0, 1])
    made = vector(Floats(infinite=True)) >> bin_by([0, 1])
    assert made([-math.inf, -0.0, 0.5, 1.0, math.inf]).tolist() == [0, 1, 1, 2, 2]


def test_sums_of_floats_do_not_depend_on_order() -> None:
    made = vector(float, between=(-1, 1)) >> sum()
    rows = np.array([1.0, 1e-9, -1.0, 1 / 3, -0.1] * 1000)
    totals = {made(np.roll(rows, shift)) for shift in range(20)} | {made(np.sort(rows))}
    assert len(totals) == 1


def test_float_bounds_hold_as_exact_decimals() -> None:
    """0.1 as a float is more than one tenth; a sum of a thousand of them still moves by at most 100 tenths."""
    made = vector(float, between=(0, "0.1")) >> sum()
    rows = np.full(1000, 0.1)
    assert made(rows) <= 100
    assert made.target.distance(made(rows), made(rows[:-1])) <= Fraction(1, 10) == made.map(1)


def test_degenerate_and_narrow_bounds() -> None:
    point = vector(float, between=("0.1", "0.1")) >> sum()
    assert point(np.full(7, 0.1)) == Fraction(7, 10)
    assert point.map(2) == Fraction(2, 10)
    far = vector(float, between=(10**9, 10**9 + Fraction(1, 10**6))) >> sum()
    assert far.target.distance(far([1e9, 1e9]), far([1e9])) == 10**9 == far.map(1) - Fraction(1, 10**6)
    assert (vector(float, between=("0.1", "0.1"), size=3) >> mean()).map(1) == 0


def test_cast_is_total() -> None:
    made = vector(Floats(nan=True, infinite=True)) >> cast(int, default=-1)
    assert list(made([math.nan, math.inf, -math.inf, 1.9, -1.9, 1e300])) == [-1, -1, -1, 1, -1, int(1e300)]
    assert made([math.nan, 2.5, -math.inf]).tolist() == [-1, 2, -1]
    back = vector(int) >> cast(float)
    assert back([2**53 + 1, 10**400, -(10**400), 3]).tolist() == [
        2.0**53,
        math.nextafter(math.inf, 0),
        -math.nextafter(math.inf, 0),
        3,
    ]
    assert (vector(bool) >> cast(int) >> sum()).map(1) == 1


def test_A2_006_spaces_that_differ_do_not_join() -> None:
    total = vector(int, between=(0, 1)) >> sum()
    other = vector(int, between=(0, 2)) >> sum()
    with pytest.raises(CannotJoin, match="the domain"):
        _ = vector(int, between=(0, 1)) >> other
    fixed: Transformation = vector(int, size=3, metric=AddRemove()) >> count()
    with pytest.raises(CannotJoin, match="domain"):
        _ = (vector(int) >> clamp(0, 1)) >> fixed
    with pytest.raises(CannotJoin, match="the metric"):
        _ = vector(int, size=3) >> fixed
    with pytest.raises(BadArgument):
        _ = total >> sum()


def test_rows_of_something_else_are_refused() -> None:
    graphs = Space(Custom("graphs", lambda value: True), AddRemove())
    for transform in (count(), clamp(0, 1), keep(is_in([1])), resize(3, 0), sum(), mean()):
        with pytest.raises(BadArgument, match="works on"):
            _ = graphs >> transform
    column = Space(Vector(Floats(), size=3), ChangeOne())
    with pytest.raises(BadArgument, match="column"):
        _ = column >> keep(between(0, 1, column="age"))
    with pytest.raises(BadArgument, match="column"):
        _ = frame({"age": int}) >> keep(between(0, 1))
    with pytest.raises(BadArgument, match="floats"):
        _ = Space(Vector(Integers()), AddRemove()) >> drop_nan()
