"""Data in unusual storage, and numbers of unusual types: read as what they are, or refused; never half of each."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import (
    Bounds,
    Categories,
    Custom,
    Data,
    Domain,
    Floats,
    Frame,
    Integers,
    Matrix,
    Norm,
    Texts,
    Vector,
)
from sfumato.core.metrics import Absolute, AddRemove, Unit, Windows
from sfumato.core.space import Space, frame, scalar, vector
from sfumato.errors import BadArgument, NotInDomain
from sfumato.mechanisms.additive import laplace
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, count_distinct, mean, sum
from sfumato.transforms.casts import log
from sfumato.transforms.conditions import is_in
from sfumato.transforms.histogram import count_by
from sfumato.transforms.moments import variance
from sfumato.transforms.reshape import resize
from sfumato.transforms.scalars import lipschitz, round_to
from sfumato.transforms.scores import mode_scores, threshold_accuracy_scores
from sfumato.transforms.sensitivity_table import sensitivity_table
from sfumato.transforms.vectors import vector_sum


class Stubborn(float):
    """Is a float that refuses to be read."""

    def __float__(self) -> float:
        raise RuntimeError


class Touchy(str):
    """Is a text that can be neither hashed nor compared."""

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        (Vector(Texts(), size=2), pd.DataFrame({"a": [1] * 5, "b": [2] * 5})),
        (Frame((("a", Texts()),)), pd.DataFrame([["x", "y"], ["z", "w"]], columns=["a", "a"])),
        (Vector(Floats()), np.ma.array([1.0, 2.0], mask=[False, True])),
        (Vector(Integers()), np.ma.array([1, 2], mask=[True, True])),
        (Matrix(1), np.ma.array([[1.0]], mask=[[True]])),
        (Vector(Integers()), pd.Series([True, False])),
        (Vector(Integers()), pd.Series([True, 2], dtype=object)),
        (Vector(Integers()), memoryview(np.zeros((2, 2), dtype=np.int64))),
        (Vector(Integers()), memoryview(np.zeros((), dtype=np.int64))),
        (Vector(Floats()), [np.complex128(1)]),
        (Vector(Floats()), (value for value in [1.0])),
        (Vector(Floats()), [Stubborn(1)]),
        (Floats(), Stubborn(1)),
        (Categories(("a",)), Touchy("a")),
        (Vector(Categories(("a",))), [Touchy("a")]),
        (Frame((("a", Texts()),)), type("Odd", (), {"keys": None})()),
        (Frame((("a", Texts()),)), type("Odd", (), {"keys": lambda self: [[1]]})()),
        (Custom("has a size", lambda value: value.size > 0), 3),
    ],
)
def test_what_cannot_be_read_faithfully_is_no_member_and_raises_nothing(domain: Domain, value: Data) -> None:
    assert domain.member(value) is False


@pytest.mark.parametrize("values", [[2**60, 1], [2**64, 1.5], [2**53 + 2], [np.float16(0.5), 3], []])
def test_whole_numbers_in_a_list_of_floats_do_not_depend_on_their_neighbours(values: list[object]) -> None:
    assert Vector(Floats()).member(values)
    assert all(Vector(Floats()).member([value]) and Floats().member(value) for value in values)
    assert not Vector(Floats()).member([*values, 2**53 + 1])


def test_a_column_of_a_table_is_counted_by_its_values_and_not_by_their_letters() -> None:
    """A pandas column has keys, as a table has: one text of fifty letters once moved this count by 49."""
    distinct = vector(str) >> count_distinct()
    alphabet = "".join(chr(65 + place) for place in range(50))
    assert distinct(pd.Series(["a" * 50])) == 1
    assert distinct(pd.Series(["a" * 50, alphabet])) == 2
    assert distinct(pd.Series(["ab", "c"])) == 2
    assert AddRemove().distance(pd.Series(["ab", "c"]), ["c"]) == 1


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint64])
def test_narrow_integers_in_a_ball_do_not_wrap(kind: type) -> None:
    """In 32 bits 2^30 + 2^30 wraps: one row of norm 1 once moved this sum by 3."""
    norm = Norm(Fraction(1), 2, (Fraction(0),))
    total = Space(Matrix(1, Integers(None, Fraction(1, 2**30)), norm), AddRemove()) >> vector_sum()
    largest = min(2**30, int(np.iinfo(kind).max))
    assert total(np.array([[largest]], dtype=kind)).tolist() == [largest / 2**30]


def test_padding_wide_integers_does_not_round_them() -> None:
    """NumPy joins unsigned and signed integers as floats: 2^64 - 1 once became 2^64, beyond its bound."""
    rows = Space(Matrix(1, Integers((0, 2**64 - 1))), AddRemove())
    total = rows >> resize(2, [0]) >> vector_sum()
    assert total(np.array([[2**64 - 1]], dtype=np.uint64)).tolist() == [2**64 - 1]


@pytest.mark.parametrize(("kind", "size"), [(np.int8, 100), (np.int32, 60_000), (np.int64, 60_000)])
def test_public_numbers_of_numpy_types_do_not_wrap(kind: type, size: int) -> None:
    narrow, plain = (vector(float, between=(0, 1000), size=given) for given in (kind(size), size))
    assert narrow == plain and type(narrow.domain.size) is int  # type: ignore[attr-defined]
    for make in (sum, mean, variance):
        ours, theirs = narrow >> make(), plain >> make()
        assert ours.target == theirs.target and ours.map(kind(2)) == theirs.map(2)
    assert (plain >> variance(ddof=kind(1))).map(1) == (plain >> variance()).map(1)
    assert sensitivity_table(between=(0, 1000), size=kind(size)) == sensitivity_table(between=(0, 1000), size=size)
    assert type(Windows(kind(3)).length) is int and type(Unit("a patient", AddRemove(), bound=kind(3)).bound) is int
    assert type(Matrix(kind(3)).columns) is int


def test_a_stated_loss_is_not_taken_from_a_number_that_only_looks_equal() -> None:
    """0.1 is read as one tenth and Fraction(0.1) as a little more, yet Python takes them for the same key."""
    measured = scalar(float) >> round_to(Fraction(1, 2**80)) >> laplace(scale=1)
    more = Fraction(0.1)
    assert measured(1.0, d_in=0.1).loss == measured.map(0.1)
    loss = measured(1.0, d_in=more).loss
    assert loss == measured.map(more) and isinstance(loss, Pure) and loss.epsilon >= more > Fraction(1, 10)
    assert measured(1.0, d_in=1).loss == Pure(1)
    with pytest.raises(BadArgument):
        measured(1.0, d_in=True)
    with pytest.raises(BadArgument):
        measured(1.0, d_in=1, confidence=True)


def test_a_lipschitz_function_of_floats_is_read_exactly() -> None:
    """Floats beyond 2^56 are 16 apart and exact on multiples of 16; their shortest decimals are up to 20 apart."""
    made = Space(Integers(step=Fraction(16)), Absolute()) >> lipschitz(float, 1, step=1, claim=claim("exact here"))
    start = 10**17 // 16
    images = [made(start + place) for place in range(500)]
    assert {right - left for left, right in pairwise(images)} == {16} and made.map(16) == 16


@pytest.mark.parametrize("size", [2, 3])
def test_a_label_that_is_a_tuple_is_compared_as_a_whole(size: int) -> None:
    """With as many rows as the tuple has parts, NumPy would compare row by part: order would matter."""
    labels = [("a", 1), ("b", 2), ("b", 2)][:size]
    rows = frame({"size": float, "kind": [("a", 1), ("b", 2)]}, size=size)
    scores = rows >> threshold_accuracy_scores([1, 5], feature="size", label="kind", positive=("a", 1))
    shares = [1, Fraction(size - 1, size)]
    assert scores({"size": [2.0, 0.0, 0.0][:size], "kind": labels}).tolist() == shares
    assert scores({"size": [0.0, 0.0, 2.0][-size:], "kind": labels[::-1]}).tolist() == shares


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: is_in("red"), "a list or tuple"),
        (lambda: count_by("red"), "a list or tuple"),
        (lambda: vector(str) >> mode_scores("red"), "a list or tuple"),
        (lambda: frame({"hair": str}) >> count_by(["red"]), "a tuple of 1 values"),
        (lambda: count_by([math.nan]), "no NaN"),
        (lambda: count_by([("a", math.nan)]), "no NaN"),
        (lambda: Categories(([1], [2])), "no lists"),  # type: ignore[arg-type]
        (lambda: Categories((pd.NA, "a")), "equal to themselves"),
        (lambda: vector(float, between=("1e-400", 1)) >> log(), "smallest float"),
        (lambda: Bounds(Fraction(3), Fraction(1)), "in order"),
        (lambda: Bounds(0.0, math.nan), "finite"),  # type: ignore[arg-type]
        (lambda: Frame((("a", int),)), "a domain of single values"),  # type: ignore[arg-type]
        (lambda: Matrix(2, Texts()), "a domain of numbers"),  # type: ignore[arg-type]
    ],
)
def test_public_arguments_that_would_be_misread_are_refused(make: object, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        make()  # type: ignore[operator]


def test_domains_are_equal_however_their_parts_were_typed() -> None:
    assert Floats(Bounds(0.1, 1)) == Floats(("0.1", 1))  # type: ignore[arg-type]
    assert Frame([("a", Texts())]) == Frame((("a", Texts()),))  # type: ignore[arg-type]
    assert Norm(0.5, 2, (0,)) == Norm(Fraction(1, 2), 2, (Fraction(0),))  # type: ignore[arg-type]
    assert len({Frame([("a", Texts())]), Frame((("a", Texts()),))}) == 1  # type: ignore[arg-type]


def test_a_table_is_not_a_column_even_where_its_names_are_texts() -> None:
    """The names would be the rows, and the number of rows, which is then private, would be released for nothing."""
    with pytest.raises(NotInDomain):
        (vector(str, size=2) >> count())(pd.DataFrame({"a": [1] * 5, "b": [2] * 5}))
