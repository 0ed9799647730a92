"""Rows that belong to people: what is refused, hard values, and what a bound costs on made-up data."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.stats.truncation import folded_normal_mean

LOG = sf.frame({"id": int, "at": sf.Floats(nan=True), "site": ["a", "b"]}, metric=sf.Identifiers("id"))


def by(column: Any) -> sf.Space:
    return sf.frame({"id": column, "n": int}, metric=sf.Identifiers("id"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sf.truncate(0), "rows must be a whole number of at least 1"),
        (lambda: sf.truncate(2, keep="longest"), "keep must be 'sample', 'first' or 'last'"),  # type: ignore[arg-type]
        (lambda: sf.truncate(2, keep="first"), "by must be a column with"),
        (lambda: sf.truncate(2, by="at"), "by must be a column with"),
        (lambda: LOG >> sf.truncate(2, keep="last", by="when"), "one of id, at, site"),
        (lambda: sf.frame({"id": int}) >> sf.truncate(2), "a frame under the distance Identifiers"),
        (lambda: sf.vector(int) >> sf.one_each("rows"), "a frame under the distance Identifiers"),
        (lambda: by(float) >> sf.truncate(2), "every row is somebody's; got 'floats'"),
        (lambda: by(["x", None]) >> sf.count_identifiers(), "categories without None"),
        (lambda: sf.truncate_groups("site"), "without a limit nothing is bounded"),
        (lambda: sf.truncate_groups("site", max_groups=0), "max_groups must be a whole number of at least 1"),
        (lambda: LOG >> sf.truncate_groups(max_groups=1), "one or more different columns"),
        (lambda: LOG >> sf.truncate_groups("at", max_rows=1), "no declared categories"),
        (lambda: sf.count_identifiers(metric=sf.L2()), "without columns there is one number"),
        (lambda: LOG >> sf.count_identifiers("id"), "no declared categories"),
        (lambda: sf.one_each("average", "at"), "one of rows, sum, mean, quantile"),  # type: ignore[arg-type]
        (lambda: sf.one_each("sum"), "column must be named"),
        (lambda: sf.one_each("rows", "at"), "column must be named"),
        (lambda: sf.one_each("first", "at"), "by must be a column with"),
        (lambda: sf.one_each("sum", "at", by="at"), "by must be a column with"),
        (lambda: LOG >> sf.one_each("sum", "at"), "floats without NaN and with declared bounds"),
        (lambda: LOG >> sf.one_each("sum", "site"), "whole numbers, or floats"),
        (lambda: LOG >> sf.one_each("max", "when"), "one of id, at, site"),
    ],
)
def test_what_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(sf.errors.BadArgument) as refused:
        call()
    assert said in str(refused.value)


def test_unbounded_rows_are_not_taken_for_bounded() -> None:
    """P2-062: nothing that counts rows joins a frame whose people may have any number of them."""
    with pytest.raises(sf.errors.BadArgument, match=r"a distance that counts rows; put truncate\(…\) before it"):
        LOG >> sf.count()
    assert (LOG >> sf.truncate_groups("site", max_groups=1) >> sf.transforms.sizes()).map(1) == math.inf


def test_nobody_at_all() -> None:
    nobody: dict[str, list[Any]] = {"id": [], "at": [], "site": []}
    assert (LOG >> sf.count_identifiers())(nobody) == 0
    assert (LOG >> sf.count_identifiers("site"))(nobody).tolist() == [0, 0]
    for step in (sf.truncate(1), sf.truncate(1, keep="last", by="at")):
        assert {name: len(kept) for name, kept in (LOG >> step)(nobody).items()} == {"id": 0, "at": 0, "site": 0}
    for each in (sf.one_each("rows"), sf.one_each("sum", "id"), sf.one_each("min", "at")):
        assert (LOG >> each)(nobody).tolist() == []
    assert [len(part["id"]) for part in (LOG >> sf.truncate_groups("site", max_rows=1))(nobody)] == [0, 0]


def test_first_and_last_with_missing_times() -> None:
    """A row without a time is kept only where there is no other."""
    data = {"id": [1, 1, 1, 2], "at": [math.nan, 3.0, 5.0, math.nan], "site": ["a", "a", "b", "b"]}
    first, last = ((LOG >> sf.truncate(1, keep=keep, by="at"))(data) for keep in ("first", "last"))
    assert first["at"][0] == 3 and last["at"][0] == 5
    assert math.isnan(first["at"][1]) and math.isnan(last["at"][1])
    assert (LOG >> sf.one_each("last", "site", by="at"))(data).tolist() == ["b", "b"]


@pytest.mark.parametrize("keep", ["first", "last"])
def test_orders_of_hard_floats(keep: Any) -> None:
    values = [-math.inf, -1.5, -0.0, 0.0, 5e-324, 1.0, math.inf]
    space = sf.frame({"id": int, "at": sf.Floats(infinite=True)}, metric=sf.Identifiers("id"))
    for low, high in pairwise(values):
        kept = (space >> sf.truncate(1, keep=keep, by="at"))({"id": [0, 0], "at": [high, low]})["at"][0]
        assert str(kept) == str(np.float64(low if keep == "first" else high))


def test_categories_are_ordered_as_they_are_listed() -> None:
    space = sf.frame({"id": str, "day": ["Mon", "Tue", "Wed"]}, metric=sf.Identifiers("id"))
    data = {"id": ["x", "x", "y"], "day": ["Wed", "Mon", "Tue"]}
    assert (space >> sf.truncate(1, keep="first", by="day"))(data)["day"].tolist() == ["Mon", "Tue"]
    assert (space >> sf.one_each("max", "day"))(data).tolist() == ["Wed", "Tue"]


@pytest.mark.parametrize("pair", [(1, True), ((1, "x"), (True, "x")), (0.0, -0.0)], ids=["numbers", "tuples", "zeros"])
def test_values_that_python_takes_for_equal_have_an_order(pair: tuple[Any, Any]) -> None:
    """To the distance they are two: which one stays must not depend on where they stand."""
    space = sf.frame({"id": str, "key": [pair[0]], "at": int}, metric=sf.Identifiers("id"))
    made = space >> sf.truncate(1, keep="first", by="at")
    one, other = ({"id": ["x", "x"], "key": list(order), "at": [5, 5]} for order in (pair, pair[::-1]))
    assert space.distance(one, other) == 0 == made.target.distance(made(one), made(other))


def test_sums_do_not_wrap_and_do_not_depend_on_order() -> None:
    space = sf.frame({"id": int, "n": int, "x": sf.Floats((0, 1))}, metric=sf.Identifiers("id"))
    data = {"id": [5, 7, 5], "n": [2**62, 1, 2**62], "x": [0.1, 0.7, 0.2]}
    assert sorted((space >> sf.one_each("sum", "n"))(data).tolist()) == [1, 2**63]
    data["n"] = [2**80, 1, -(2**80)]
    assert sorted((space >> sf.one_each("sum", "n"))(data).tolist()) == [0, 1]
    made = space >> sf.one_each("sum", "x")
    assert sorted(made(data).tolist()) == pytest.approx([0.3, 0.7], abs=1e-9)
    turned = {name: values[::-1] for name, values in data.items()}
    assert made.target.distance(made(data), made(turned)) == 0
    narrow = sf.frame({"id": int, "x": sf.Floats((10**12, 10**12 + 1))}, metric=sf.Identifiers("id"))
    far = narrow >> sf.one_each("sum", "x")
    (total,) = far({"id": [1, 1], "x": [1e12, 1e12 + 1]}).tolist()
    assert total == 2 * 10**12 + 1


def test_kept_numbers_have_a_type_of_their_own() -> None:
    """One number beyond 64 bits that is left out leaves no trace in the type of those that stay."""
    data = {"id": [1, 1, 2], "n": [2**70, 3, 4]}
    kept = (by(int) >> sf.truncate(1, keep="first", by="n"))(data)
    assert kept["n"].tolist() == [3, 4] and kept["n"].dtype == np.int64


def test_a_chain_from_people_to_a_release() -> None:
    data = {"id": [1, 1, 1, 2], "at": [1.0, 2.0, 3.0, 4.0], "site": ["a", "a", "b", "b"]}
    people = LOG >> sf.count_identifiers() >> sf.laplace(scale=2)
    release = people(data, entropy=ReplayEntropy(1))
    assert people.map(1) == sf.Pure("1/2") and release.unit == "one id, with all rows, added or removed"
    mean = LOG >> sf.one_each("rows") >> sf.clamp(0, 10) >> sf.sum() >> sf.laplace(scale=10)
    assert mean.map(1) == sf.Pure(1)
    groups = sf.truncate_groups("site", max_groups=2, max_rows_per_group=1) >> sf.parallel(
        sf.count() >> sf.laplace(scale=1)
    )
    assert (LOG >> groups).map(1) == sf.Pure(2)


def test_people_with_many_rows_are_cut() -> None:
    made = sf.datasets.visits(rows=300_000, people=20_000, groups=50).columns
    space = sf.frame({"id": int, "site": list(range(1, 51))}, metric=sf.Identifiers("id"))
    data, people = {"id": made["user_id"], "site": made["site"].tolist()}, len(np.unique(made["user_id"]))
    cut = space >> sf.truncate_groups("site", max_groups=3, max_rows=8, max_rows_per_group=4) >> sf.transforms.sizes()
    assert people <= cut(data).sum() <= 8 * people < 300_000


# What a bound costs, on data that is made up.


def test_A2_048_bias_and_variance_of_a_threshold() -> None:
    columns = sf.datasets.hospital_visits().columns
    few, right, many = sf.stats.truncation_errors(
        columns["patient"], columns["specialty"], rows=[5, 22, 50], loss=sf.ZCDP("0.03")
    )
    assert [one.scale for one in (right, many, few)] == pytest.approx([89.8146, 204.1241, 20.4124], abs=1e-4)
    assert right.mape < min(few.mape, many.mape)
    assert few.kept < 0.9 and right.kept == many.kept == 1  # E2-26: noise on the counts of what is kept, or no bias


def test_errors_are_what_draws_give() -> None:
    """The expected error is the mean over truncated, noisy counts against all rows."""
    rng = np.random.default_rng(3)
    units = np.repeat(np.arange(60), rng.integers(1, 9, 60))
    groups = rng.integers(0, 3, len(units))
    (one,) = sf.stats.truncation_errors(units, groups, rows=[2], loss=sf.ZCDP("0.5"))
    truth = np.bincount(groups)
    space = sf.frame({"id": int, "group": [0, 1, 2]}, metric=sf.Identifiers("id"))
    cut, data = space >> sf.truncate(2) >> sf.select("group") >> sf.count_by(), {"id": units, "group": groups.tolist()}
    drawn = [cut(data, entropy=ReplayEntropy(seed)) + rng.normal(0, one.scale, 3) for seed in range(400)]
    assert one.mape == pytest.approx(np.mean([sf.stats.mape(truth, released) for released in drawn]), rel=0.05)


@pytest.mark.parametrize(("mean", "scale"), [(0, 1), (2, 1), (-3, 0.5), (100, 3)])
def test_folded_normals(mean: float, scale: float) -> None:
    draws = np.abs(np.random.default_rng(0).normal(mean, scale, 200_000))
    assert folded_normal_mean(mean, scale) == pytest.approx(draws.mean(), rel=0.01)


def test_shares_of_errors() -> None:
    assert sf.stats.mape([10, 20], [11, 18]) == pytest.approx(0.1)
    assert sf.stats.mape([10, 0, -4], [11, 7, -5]) == pytest.approx((0.1 + 0.25) / 2)  # nothing has no share
    for truth, released in (([0, 0], [1, 1]), ([], []), ([1, 2], [1]), ([[1]], [[1]])):
        with pytest.raises(sf.errors.BadArgument, match="truth"):
            sf.stats.mape(truth, released)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": [0]}, "rows must be a whole number of at least 1"),
        ({"loss": sf.ZCDP(0)}, "a ZCDP greater than 0"),
        ({"loss": sf.Pure(1)}, "a ZCDP greater than 0"),
        ({"groups": ["x"]}, "of one length"),
        ({"units": [], "groups": []}, "not empty"),
        ({"units": sf.vector(str)}, "public or made-up data"),
    ],
    ids=["rows", "nothing", "pure", "lengths", "empty", "a space"],
)
def test_explorations_that_are_refused(wrong: dict[str, Any], said: str) -> None:
    asked = {"units": ["p", "q"], "groups": ["x", "x"], "rows": [1], "loss": sf.ZCDP(1), **wrong}
    with pytest.raises(sf.errors.BadArgument, match=said):
        sf.stats.truncation_errors(asked.pop("units"), asked.pop("groups"), **asked)


PRINTED = [273449, 118348, 43548, 15783, 5960]
ENDS = [10, 20, 30, 40, 50]


def test_A2_049_a_threshold_that_covers_a_share() -> None:
    shares = np.cumsum(PRINTED) / sum(PRINTED)
    assert shares == pytest.approx([0.5982, 0.8572, 0.9524, 0.9870, 1], abs=1e-4)
    assert [sf.stats.covering(ENDS, PRINTED, share=share) for share in ("0.95", "0.98")] == [30, 40]


def test_noisy_counts_may_be_anything() -> None:
    assert sf.stats.covering(ENDS, [-5, 0, -1, 0, -9], share="0.5") == 50
    assert sf.stats.covering(ENDS, [-100, 3, 1, -7, 0], share="0.5") == 20
    for share in (0, 1, "1.5"):
        with pytest.raises(sf.errors.BadArgument, match="share"):
            sf.stats.covering(ENDS, PRINTED, share=share)
    with pytest.raises(sf.errors.BadArgument, match="one for each band"):
        sf.stats.covering(ENDS, PRINTED[:4], share="0.5")


def test_P2_079_people_behind_a_ledger() -> None:
    """One limit over all phases: a bound is bought, rows are cut to it, the question is asked and recalled for free."""
    space = sf.frame({"id": int, "site": ["a", "b"]}, metric=sf.Identifiers("id"))
    people = [person for person in range(200) for _ in range(1 + person % 7)]
    data = {"id": people, "site": ["ab"[row % 2] for row in range(len(people))]}
    log = sf.Dataset(data, name="log", space=space, unit=sf.Unit("an employee", sf.Identifiers("id")))
    session = log.session(limit=sf.Pure(3), ledger="memory:")
    bands = space >> sf.one_each("rows") >> sf.bin_by([3, 5, 7, 9]) >> sf.count_by() >> sf.laplace(scale=1)
    bound = sf.stats.covering([2, 4, 6, 8, 20], session.run(bands).value, share="0.9")
    assert bound in (6, 8, 20)
    counts = space >> sf.truncate(bound) >> sf.select("site") >> sf.count_by() >> sf.laplace(scale=bound)
    release = session.run(counts)
    assert release.unit == "an employee" and release.loss == sf.Pure(1)
    assert session.run(counts).value.tolist() == release.value.tolist()
    assert session.spent == sf.Pure(2)
