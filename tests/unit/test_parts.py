"""Data in parts: what is refused and why, edge cases, and what a release says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.entropy import ReplayEntropy

VOUCHED = sf.claim("for this test")
PEOPLE = sf.frame({"country": ["f", "g"], "age": int})
COUNT = sf.count() >> sf.laplace(scale=2)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: sf.GroupedDistance(1, -1, 1), "BadArgument", "whole number of at least 0"),
        (lambda: sf.GroupedDistance(1.5, 1, 1), "BadArgument", "whole number"),
        (lambda: sf.PartDistance().read((1, 1)), "BadArgument", "three numbers"),
        (lambda: sf.PartDistance(sf.metrics.Hamming()), "BadArgument", r"AddRemove\(\) or ChangeOne\(\)"),
        (lambda: sf.PartDistance().distance(([],), ([], [])), "NoDistance", "different numbers of parts"),
        (lambda: sf.Parts((1, 2), (sf.domains.Vector(sf.domains.Texts()),)), "BadArgument", "one for each key"),
        (lambda: sf.Parts((1,), (sf.domains.Texts(),)), "BadArgument", "a collection of rows"),
        (lambda: sf.Space(sf.domains.Texts(), sf.PartDistance()), "SpaceMismatch", "group_by"),
        (
            lambda: sf.Space(sf.Parts((1,), (sf.domains.Vector(sf.domains.Texts(), 3),)), sf.PartDistance()),
            "SpaceMismatch",
            "public",
        ),
        (lambda: PEOPLE >> sf.group_by(), "BadArgument", "different columns"),
        (lambda: PEOPLE >> sf.group_by("city"), "BadArgument", "one of country, age"),
        (lambda: PEOPLE >> sf.group_by("age"), "BadArgument", "no declared categories"),
        (lambda: PEOPLE >> sf.group_by("country", "age", keys=["f"]), "BadArgument", "a tuple of 2 values"),
        (lambda: PEOPLE >> sf.group_by("country", keys=["f", "f"]), "BadArgument", "distinct"),
        (lambda: PEOPLE >> sf.group_by("country", max_groups=1), "ClaimRequired", "rows of one unit fall"),
        (
            lambda: PEOPLE >> sf.group_by("country", max_rows_per_group=0, claim=VOUCHED),
            "BadArgument",
            "max_rows_per_group",
        ),
        (
            lambda: PEOPLE >> sf.group_by("country", max_rows_per_group={"x": 1}, claim=VOUCHED),
            "BadArgument",
            "country, age",
        ),
        (lambda: sf.vector(str) >> sf.group_by("country", keys=["f"]), "BadArgument", "left out"),
        (lambda: sf.matrix(2) >> sf.group_by(keys=[1]), "BadArgument", "a column or a frame"),
        (lambda: sf.scalar(int) >> sf.transforms.random_parts(2), "BadArgument", "rows of data"),
        (lambda: sf.transforms.random_parts(0), "BadArgument", "at least 1"),
        (lambda: sf.transforms.random_parts(2, units=2), "BadArgument", "with by= only"),
        (lambda: sf.transforms.random_parts(2, by="id"), "ClaimRequired", "one identifier a unit"),
        (
            lambda: sf.vector(str) >> sf.transforms.random_parts(2, by="id", claim=VOUCHED),
            "BadArgument",
            "only a frame",
        ),
        (lambda: PEOPLE >> sf.transforms.random_parts(2, by="id", claim=VOUCHED), "BadArgument", "one of country, age"),
        (lambda: sf.vector(int) >> sf.transforms.sizes(), "BadArgument", "group_by"),
        (lambda: PEOPLE >> sf.group_by("country") >> sf.transforms.sums(0, 1), "BadArgument", "named"),
        (
            lambda: PEOPLE >> sf.group_by("country") >> sf.transforms.sums(0, 1, column="country"),
            "BadArgument",
            "numbers of one kind",
        ),
        (lambda: PEOPLE >> sf.group_by("country") >> sf.transforms.sums(1, 0, column="age"), "BadArgument", "in order"),
        (lambda: sf.vector(str) >> sf.parallel(COUNT), "BadArgument", "group_by"),
        (
            lambda: PEOPLE >> sf.group_by("country") >> sf.parallel([COUNT] * 3),
            "BadArgument",
            "one for each of 2 parts",
        ),
        (lambda: PEOPLE >> sf.group_by("country") >> sf.parallel(sf.count()), "BadArgument", "measurements"),
        (
            lambda: PEOPLE >> sf.group_by("country") >> sf.parallel(sf.vector(str) >> COUNT),
            "CannotJoin",
            "fit together",
        ),
        (lambda: sf.parallel(3), "BadArgument", "a list of them"),  # type: ignore[arg-type]
        (
            lambda: PEOPLE >> sf.group_by("country") >> sf.parallel([COUNT, sf.count() >> sf.gaussian(scale=1)]),
            "NoProvenRoute",
            "Pure, ZCDP",
        ),
        (lambda: sf.sample_and_aggregate(max, default=0), "ClaimRequired", "one part at a time"),
        (lambda: sf.sample_and_aggregate(max, between=(0, 1), default=2, claim=VOUCHED), "BadArgument", "default"),
        (lambda: sf.sample_and_aggregate(3, default=0, claim=VOUCHED), "BadArgument", "callable"),  # type: ignore[arg-type]
        (lambda: (sf.vector(int) >> sf.count()).map(GroupedDistance(1, 1, 1)), "BadArgument", "only data in parts"),
    ],
)
def test_refusals_say_what_and_why(make: Any, error: str, words: str) -> None:
    with pytest.raises(getattr(sf.errors, error), match=words):
        made = make()
        if isinstance(made, sf.Measurement):
            made.map(1)


def test_no_theorem_for_asking_several_in_turns_is_refused() -> None:
    def forever(data: Any, entropy: Any) -> Any:
        raise AssertionError

    def asked(kind: Any, loss: sf.Loss) -> sf.Measurement:
        space = (PEOPLE >> sf.group_by("country")).target.domain.rows[0]  # type: ignore[attr-defined]
        return sf.measurement(
            sf.Space(space, sf.AddRemove()),
            kind,
            function=forever,
            map=lambda d: loss if d else kind.nothing(),
            claim=VOUCHED,
            interactive=True,
        )

    grouped = PEOPLE >> sf.group_by("country")
    with pytest.raises(sf.errors.NoProvenRoute, match="in turns"):
        grouped >> sf.parallel([asked(sf.accounting.BoundedRange, sf.accounting.BoundedRange(1))] * 2)
    made = grouped >> sf.parallel([asked(sf.Pure, sf.Pure(1))] * 2)
    assert made.interactive and made.law is None
    assert made.map(1) == sf.Pure(1)


def test_keys_without_rows_have_parts_and_other_keys_are_left_out() -> None:
    made = PEOPLE >> sf.group_by("age", keys=[1, 2, 2**70])
    parts = made({"country": ["f", "g", "f"], "age": [2, 5, 2**70]})
    assert [list(part["age"]) for part in parts] == [[], [2], [2**70]]
    assert (made >> sf.transforms.sizes())({"country": [], "age": []}).tolist() == [0, 0, 0]


def test_values_that_are_equal_but_unlike_are_not_told_apart_where_the_key_is_the_row() -> None:
    made = sf.vector([0, 1], size=1) >> sf.group_by()
    assert made.source.distance([True], [1]) == 1
    assert made.target.distance(made([True]), made([1])) == GroupedDistance(0, 0, 0)
    assert made.map(1) == GroupedDistance(2, 2, 1)
    floats = sf.vector(float, size=1) >> sf.group_by(keys=[0.0, 1.0])
    assert floats.target.distance(floats([0.0]), floats([-0.0])) == GroupedDistance(1, 2, 2)
    assert floats.map(1) == GroupedDistance(2, 2, 2)


def test_nan_is_one_identifier_and_no_key() -> None:
    space = sf.frame({"id": sf.Floats(nan=True), "x": int})
    data = {"id": [math.nan, math.nan, -math.nan, 1.0], "x": [1, 2, 3, 4]}
    made = space >> sf.transforms.random_parts(64, by="id", claim=VOUCHED)
    for seed in range(8):
        homes = [part["x"].tolist() for part in made(data, entropy=ReplayEntropy(seed)) if len(part["x"])]
        assert sorted(map(sorted, homes)) in ([[1, 2, 3], [4]], [[1, 2, 3, 4]])


def test_equal_parts_have_public_sizes_whatever_the_number() -> None:
    made = sf.vector(int, size=5) >> sf.transforms.equal_parts(7)
    assert [rows.size for rows in made.target.domain.rows] == [1] * 5 + [0] * 2  # type: ignore[attr-defined]
    assert sorted(x for part in made([1, 2, 3, 4, 5]) for x in part) == [1, 2, 3, 4, 5]
    assert made.map(3) == GroupedDistance(3, 3, 1)
    means = made.target >> sf.parallel(sf.clamp(0, 1) >> sf.sum() >> sf.laplace(scale=1))
    assert means.map((2, 2, 1)) == sf.Pure(2)


def test_a_matrix_in_parts() -> None:
    made = sf.matrix(2, size=4) >> sf.transforms.equal_parts(2)
    parts = made(np.arange(8.0).reshape(4, 2), entropy=ReplayEntropy(1))
    assert [part.shape for part in parts] == [(2, 2), (2, 2)]


def test_what_a_function_sees_depends_on_its_part_alone() -> None:
    """One number beyond 64 bits, in another part, must not change the type of this one."""
    seen: list[Any] = []

    def look(part: Any) -> int:
        seen.append((part.dtype, sorted(part.tolist())))
        return len(part)

    made = sf.vector(int) >> sf.sample_and_aggregate(look, int, parts=4, default=-1, claim=VOUCHED)
    made([1, 2, 3, 2**80], entropy=ReplayEntropy(5))
    for dtype, values in seen:
        assert (dtype.kind == "O") == (2**80 in values)


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (3.5, 3.5),
        (99, 10),
        (-math.inf, 0),
        (math.nan, 5),
        ("3", 5),
        (True, 5),
        (None, 5),
        (np.float32(2), 2),
        (10**400, 10),
    ],
)
def test_aggregates_are_total(result: Any, found: float) -> None:
    made = sf.vector(int) >> sf.sample_and_aggregate(
        lambda part: result, parts=1, between=(0, 10), default=5, claim=VOUCHED
    )
    assert made([1]).tolist() == [found]
    assert made([]).tolist() == [5]


def test_a_failing_function_and_one_that_spoils_its_part() -> None:
    def spoil(part: Any) -> float:
        part[:] = -1
        raise RuntimeError(part)

    data = np.array([1, 2, 3])
    made = sf.vector(int) >> sf.sample_and_aggregate(spoil, parts=2, default=0, claim=VOUCHED)
    assert made(data).tolist() == [0, 0] and data.tolist() == [1, 2, 3]


def test_units_and_spreads_are_read_and_printed() -> None:
    grouped = PEOPLE >> sf.group_by("country")
    made = grouped.target >> sf.transforms.sizes() >> sf.laplace(scale=1)
    person = sf.Unit("a person with 5 rows in 3 regions", sf.PartDistance(), bound=GroupedDistance(3, 5, 2))
    data = ({"country": ["f"], "age": [3]}, {"country": [], "age": []})
    assert made.map(person) == sf.Pure(5) == made.map((3, 5, 2))
    assert made(data, d_in=person).unit == "a person with 5 rows in 3 regions"
    assert made(data).unit == "one row added or removed in one part"
    assert made(data, d_in=(2, 3, 2)).unit == "3 rows added or removed in at most 2 parts, at most 2 in each"
    assert made(data, d_in=GroupedDistance(1, 4, 4)).unit == "4 rows added or removed in one part"
    assert str(grouped.target) == (
        "2 parts, each any number of rows of (country: {'f', 'g'}, age: integers) under the spread of the add/remove "
        "distance over parts"
    )
    release = (grouped >> sf.parallel(COUNT))({"country": ["f"], "age": [3]})
    assert len(release.value) == 2 and len(release.half_width) == 2


def test_infinite_distances_have_answers() -> None:
    made = PEOPLE >> sf.group_by("country") >> sf.parallel(COUNT)
    with pytest.raises(sf.errors.NoProvenRoute, match="without limit"):
        made.map(math.inf)
    assert (PEOPLE >> sf.group_by("country") >> sf.transforms.sizes(metric=sf.L2())).map(math.inf) == math.inf
    bounded = sf.group_by("country", max_groups=1, max_rows_per_group=2, claim=VOUCHED)
    assert (PEOPLE >> bounded).map(math.inf) == GroupedDistance(1, 2, 2)
    assert (PEOPLE >> bounded >> sf.parallel(COUNT)).map(math.inf) == sf.Pure(1)


def test_keys_that_cannot_stand_for_their_rows_leave_rows_as_they_are() -> None:
    made = sf.vector(int, size=2) >> sf.group_by(keys=[True, 7])
    assert [part.tolist() for part in made([1, 7])] == [[1], [7]]
    assert made.map(1) == GroupedDistance(2, 2, 2)
    texts = sf.vector(str, size=2) >> sf.group_by(keys=["a", 7])
    assert [part.tolist() for part in texts(["a", "b"])] == [["a"], []]
    assert texts.map(1) == GroupedDistance(2, 2, 2)


def test_grouping_one_column_by_value_takes_nothing_for_granted() -> None:
    """A unit's rows may have any values; only a claim bounds how many groups they fall into."""
    plain = sf.vector(str) >> sf.group_by(keys=["a", "b", "c"])
    assert plain.map(2) == sf.GroupedDistance(2, 2, 2) and plain.map(5) == sf.GroupedDistance(3, 5, 5)
    once = sf.vector(str) >> sf.group_by(keys=["a", "b", "c"], max_rows_per_group=1, claim=sf.claim("one row a value"))
    assert once.map(3) == sf.GroupedDistance(3, 3, 1)
    assert once.target.distance(once(["a", "b", "c"]), once([])) <= once.map(3)
    assert (once >> sf.transforms.sizes() >> sf.laplace(scale=1)).map(3) == sf.Pure(3)
    two = sf.vector(str) >> sf.group_by(keys=["a", "b", "c"], max_groups=2, claim=sf.claim("at most two values"))
    assert two.map(5) == sf.GroupedDistance(2, 5, 5)


def test_parts_that_are_priced_at_one_row_only_are_priced_by_groups() -> None:
    parts = (sf.vector(str) >> sf.group_by(keys=["a", "b"])).target
    assert (parts >> sf.parallel(sf.privacy_filter(sf.Pure(1)))).map((1, 2, 2)) == sf.Pure(2)
    with pytest.raises(sf.errors.BadArgument):
        (parts >> sf.parallel(sf.privacy_filter(sf.Approx(1, 0)))).map((1, 2, 2))
