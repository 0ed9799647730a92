"""Membership, descriptors and refusals of domains (P1-005, P1-006)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.core.domains import (
    Bounds,
    Categories,
    Custom,
    Domain,
    Floats,
    Frame,
    Integers,
    Matrix,
    Norm,
    Stream,
    Texts,
    Vector,
)
from sfumato.core.space import matrix, vector
from sfumato.errors import BadArgument, NotInDomain
from sfumato.transforms.aggregate import count

ZERO = (Fraction(0),) * 4


def test_A1_010_rows_within_a_norm() -> None:
    rows = [[4, 0, 0, 0], [1.1, -2.7, 0, 0], [0.9, 0.2, -2.1, 0.5]]
    assert [float(sum(abs(x) for x in row)) for row in rows] == pytest.approx([4.0, 3.8, 3.7])
    assert Matrix(4, norm=Norm(Fraction(4), 1, ZERO)).member(rows)
    assert not Matrix(4, norm=Norm(Fraction("3.9"), 1, ZERO)).member(rows)
    assert Matrix(4, norm=Norm(Fraction(4), 2, ZERO)).member(rows)


def test_A1_011_the_number_of_columns_is_part_of_the_domain() -> None:
    four = matrix(4).domain
    assert four.member(np.zeros((1000, 4)))
    assert not four.member(np.zeros((1000, 3)))
    assert not four.member(np.zeros(4))


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Floats(), [0.0, -0.0, 5e-324, 1.7e308, 3], [math.nan, math.inf, "1", None, True, 10**400, [1.0]]),
        (Floats(nan=True), [math.nan, 1.0], [math.inf]),
        (Floats(infinite=True), [math.inf, -math.inf], [math.nan]),
        (Floats((0, 1)), [0, 0.5, 1, -0.0], [1.0000000000000002, -5e-324, math.nan, math.inf]),
        (Floats(("0", "0.1")), [0.1], [math.nextafter(0.1, 1)]),
        (Integers(), [0, -(10**40), np.int8(3)], [1.0, True, np.bool_(True), "1", math.nan]),
        (Integers((0, 10)), [0, 10], [-1, 11]),
        (Integers((0, 1), step=Fraction(1, 4)), [0, 4], [5, -1]),
        (Categories(("yes", "no")), ["yes"], ["maybe", None, ["yes"], {}]),
        (Texts(), ["", "ä"], [b"", 1]),
        (Vector(Integers()), [[], [1, 2], (3,), np.array([1], dtype=np.uint64)], [[1.0], "12", {1: 2}, [True], 5]),
        (Vector(Integers(), size=2), [[1, 2]], [[1], [1, 2, 3], []]),
        (Vector(Integers(), least=1), [[1], [1, 2]], [[]]),
        (Vector(Floats()), [[], [1, 2.5]], [[math.nan], [[1.0]], ["a"], [1, None], [10**400]]),
        (Vector(Categories((1, 2))), [[1, 2, 1]], [[3], [[1]]]),
        (Frame((("a", Integers()), ("b", Texts()))), [{"a": [1], "b": ["x"]}], [{"a": [1]}, {"a": [1], "b": []}, [1]]),
        (Frame((("a", Integers()),), size=1), [{"a": [1]}], [{"a": []}, {"a": [1.5]}]),
        (Stream(Integers()), [iter([1]), [1]], [5]),
        (Custom("even", lambda value: value % 2 == 0), [2], [3]),
    ],
    ids=lambda value: str(value) if isinstance(value, Domain) else "",
)
def test_membership(domain: Domain, inside: list[object], outside: list[object]) -> None:
    assert [domain.member(value) for value in inside] == [True] * len(inside)
    assert [domain.member(value) for value in outside] == [False] * len(outside)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Floats((1, 0)),
        lambda: Floats((math.nan, 1)),
        lambda: Floats((0, math.inf)),
        lambda: Floats(("zero", 1)),
        lambda: Floats((0, 1), infinite=True),
        lambda: Integers((0,)),
        lambda: Integers(step=Fraction(0)),
        lambda: Integers(step=0.5),
        lambda: Categories(()),
        lambda: Categories(("a", "a")),
        lambda: Categories("ab"),
        lambda: Vector(Integers(), size=-1),
        lambda: Vector(Integers(), size=2, least=3),
        lambda: Vector(Integers(), size=True),
        lambda: Vector(Vector(Integers())),
        lambda: Matrix(0),
        lambda: Matrix(2, norm=Norm(Fraction(1), 1, (Fraction(0),))),
        lambda: Norm(Fraction(-1), 2, (Fraction(0),)),
        lambda: Norm(Fraction(1), 3, (Fraction(0),)),
        lambda: Frame(()),
        lambda: Frame((("a", Integers()), ("a", Texts()))),
        lambda: vector(str, between=(0, 1)),
        lambda: vector(complex),
    ],
)
def test_impossible_domains_are_refused(make: object) -> None:
    with pytest.raises(BadArgument):
        make()


def test_bounds_are_the_decimals_that_were_typed() -> None:
    bounds = Bounds.read((0.1, "0.3"))
    assert bounds == Bounds(Fraction(1, 10), Fraction(3, 10))
    assert (bounds.width, Bounds.read((-5, 3)).magnitude) == (Fraction(1, 5), 5)
    assert Fraction(1, 5) in bounds and 1 not in bounds


def test_data_outside_the_domain_is_refused_without_being_shown() -> None:
    made = vector(float, between=(0, 1)) >> count()
    with pytest.raises(NotInDomain) as caught:
        made([0.5, 31337.0])
    assert "31337" not in str(caught.value)
    assert "floats in [0, 1]" in str(caught.value)


def test_a_frame_names_its_columns() -> None:
    table = Frame((("age", Integers()), ("name", Texts())))
    assert table["age"] == Integers()
    with pytest.raises(BadArgument, match="one of age, name"):
        table["salary"]


def test_domains_say_what_they_are() -> None:
    assert str(Matrix(2, norm=Norm(Fraction(1), 2, (Fraction(0), Fraction(3))))) == (
        "any number of rows of 2 floats within L2 distance 1 of the origin ('0', '3')"
    )
    assert str(Vector(Floats((0, 1)), least=3)) == "at least 3 floats in [0, 1]"
