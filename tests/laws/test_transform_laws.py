"""Laws that every transformation obeys: membership, stability on neighbours of any kind, monotone maps, chaining.

`tests/examples/transformations.py` has at least one case for each; a test fails for one that has none.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import typing
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.examples.transformations import ANY, CASES, UNSIZED, Case, any_float, sized
from tests.profiles import examples

import sfumato.transforms
import sfumato.transforms.rowwise as rowwise
from sfumato.core.domains import Data, Frame, Matrix, Vector
from sfumato.core.metrics import AddRemove, DatasetMetric, Hamming, Windows
from sfumato.core.partial import Partial
from sfumato.core.rows import rows_of
from sfumato.core.space import Space, matrix, vector
from sfumato.core.steps import to_values
from sfumato.core.transformation import Transformation
from sfumato.entropy import ReplayEntropy
from sfumato.transforms.aggregate import sum
from sfumato.transforms.filters import drop_nan
from sfumato.transforms.norms import norm_clamp
from sfumato.transforms.reshape import resize
from sfumato.transforms.rowwise import clamp

ELSEWHERE = {
    "scores",
    "score_moves",
    "cutoffs",
    "streams",
    "query_stream",
    "mode_gap",
    "groups",
    "parts",
    "keyed",
    "sample_and_aggregate",
    "slopes",
    "split_parts",
    "truncate_groups",
}
"""Modules whose transformations have laws in test files of their own."""


every = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def transformations() -> set[str]:
    """Finds every public function of the package that gives a transformation."""
    found = set()
    for module in pkgutil.iter_modules(sfumato.transforms.__path__):
        if module.name not in ELSEWHERE:
            loaded = importlib.import_module(f"sfumato.transforms.{module.name}")
            for name, thing in vars(loaded).items():
                own = getattr(thing, "__module__", "") == loaded.__name__ and not name.startswith("_")
                function = own and callable(thing) and not isinstance(thing, type)
                if function and typing.get_type_hints(thing).get("return") == Partial[Transformation]:
                    found.add(name)
    return found


def test_every_transformation_has_a_case() -> None:
    tried = {label.partition(" ")[0] for label in CASES}
    assert transformations() == tried


def pack(rows: list[Any], space: Space) -> Data:
    """Puts rows into the shape of a domain."""
    match space.domain:
        case Frame(columns=columns):
            return {name: [row[i] for row in rows] for i, (name, _) in enumerate(columns)}
        case Matrix(columns=columns):
            return np.array([[float(x) for x in row] for row in rows]).reshape(-1, columns)
    return rows


def neighbours(case: Case, data: st.DataObject) -> tuple[Data, Data]:
    """Draws two members that share most of their rows."""
    domain = case.space.domain
    if not isinstance(case.space.metric, DatasetMetric):
        return data.draw(case.row), data.draw(case.row)
    apart = data.draw(st.integers(0, 2))
    size = domain.size
    common = data.draw(st.lists(case.row, min_size=2, max_size=5)) if size is None else []
    if size is not None:
        common = data.draw(st.lists(case.row, min_size=size - apart, max_size=size - apart))
    ours, theirs = (data.draw(st.lists(case.row, min_size=apart, max_size=apart)) for _ in range(2))
    if size is None:
        theirs = theirs[: data.draw(st.integers(0, apart))]
    mixed = common + theirs
    if not isinstance(case.space.metric, Hamming | Windows):
        mixed = data.draw(st.permutations(mixed))
    return pack(common + ours, case.space), pack(list(mixed), case.space)


@every
@settings(max_examples=15)
@given(data=st.data())
def test_images_are_members_neighbours_stay_close_and_data_is_not_changed(case: Case, data: st.DataObject) -> None:
    made = case.space >> case.transform
    left, right = neighbours(case, data)
    before = repr((left, right))
    images = [made.image(member, entropy=ReplayEntropy(1)) for member in (left, right)]
    assert all(made.target.domain.member(image) for image in images)
    assert repr((left, right)) == before
    if not case.drawn:
        assert all(made.target.distance(image, to_values(made.target.domain, image)) == 0 for image in images)
        assert made.target.distance(*images) <= made.stability_map(made.source.distance(left, right))


@every
def test_maps_are_monotone_start_at_zero_and_name_a_proof(case: Case) -> None:
    made = case.space >> case.transform
    assert made.steps and made.proofs
    ladder = [made.map(d_in) for d_in in (0, 1, 2, 3, 4, 5, 10, 10**6, 10**30, math.inf)]
    assert ladder[0] == 0
    assert all(low <= high for low, high in pairwise(ladder))
    assert made.check(1, ladder[1])
    if ladder[1] > 0 and ladder[1] != math.inf:
        assert not made.check(10**30, 0)


ALONE = {label: case for label, case in CASES.items() if (case.space >> case.transform).proofs == (rowwise.PROOF,)}


@pytest.mark.parametrize("case", [c for label, c in ALONE.items() if label.endswith(UNSIZED)], ids=repr)
@settings(max_examples=15)
@given(data=st.data())
def test_row_functions_treat_each_row_alone(case: Case, data: st.DataObject) -> None:
    made = case.space >> case.transform
    rows = data.draw(st.lists(case.row, max_size=5))
    together = rows_of(made(pack(rows, case.space)))
    assert together == [row for one in rows for row in rows_of(made(pack([one], case.space)))]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("columns", [3, 8, 17, 129])
def test_norm_clamp_does_not_look_at_other_rows(order: int, columns: int) -> None:
    """A float reduction may group its terms by the shape of the array; one row's outcome must not depend on that."""
    rows = np.array([[math.sin(7 * i + j) * 10 ** (j % 5) for j in range(columns)] for i in range(40)])
    made = matrix(columns) >> norm_clamp("0.7", order=order)
    together = made(rows)
    for layout in (np.asfortranarray(rows), rows[::-1][::-1], rows[:, ::-1][:, ::-1]):
        assert np.array_equal(made(layout), together)
    for i in range(40):
        assert np.array_equal(made(rows[i : i + 1])[0], together[i])


@settings(max_examples=examples(50))
@given(st.lists(any_float, max_size=6), st.lists(any_float, max_size=2), st.integers(0, 40))
def test_chained_maps_compose(common: list[float], added: list[float], d_in: int) -> None:
    """P1-034."""
    first = Space(Vector(ANY), AddRemove()) >> drop_nan()
    second = first.target >> clamp(-2, 3)
    third = second.target >> resize(5, 0)
    last = third.target >> sum()
    chain = first >> second >> third >> last
    assert chain.map(d_in) == last.map(third.map(second.map(first.map(d_in))))
    assert chain.source == first.source and chain.target == last.target
    if len(common + added) <= 5:
        images = chain(common), chain(common + added)
        assert chain.target.distance(*images) <= chain.map(len(added))


def test_the_law_catches_a_wrong_map() -> None:
    """A sum that claims the map of a count is caught on two data sets."""
    right = vector(int, between=(0, 9)) >> sum()
    wrong = Transformation(right.source, right.target, right.function, lambda d_in: d_in)
    assert wrong.target.distance(wrong([9]), wrong([])) > wrong.map(1)
    assert right.target.distance(right([9]), right([])) <= right.map(1)


def test_matrix_spaces_are_declared_like_this() -> None:
    assert matrix(2) == sized(Matrix(2), UNSIZED)
