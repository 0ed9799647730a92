"""Stored releases come back as they were, and nothing else is read."""

from __future__ import annotations

import copy
import datetime
import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.examples.noises import SUMMED
from tests.examples.releases import same, through_json
from tests.profiles import examples

import sfumato as sf
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.plain import DEEPEST, NAMES
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.record import Fact, Noised, Receipt, Release
from sfumato.release.values import read_value, stored_value

NOISED = Noised(DiscreteLaplace(Fraction(5, 2)), Fraction(1, 10), 3, Fraction(1, 20), -7)

FULL = Release(
    value=np.array([1.5, -0.0, math.inf]),
    loss=sf.Approx("0.1", "1e-6"),
    unit="one person, ¾ of 'them'",
    how=sf.release.How(
        "laplace",
        (("scale", "2.5"),),
        ("clamp(0, 1)", "sum()"),
        ("round",),
        (sf.claim("it was reviewed"),),
        ("proofs/additive.md#laplace",),
        sf.release.Failure.GRACEFUL,
    ),
    half_width=(1, 2.5, Fraction(1, 3)),
    confidence=Fraction(9, 10),
    replayable=True,
    adjacency="add or remove one row",
    noise=NOISED,
    data="grades, version 3",
    facts=(Fact("ages between 0 and 120", "public knowledge"),),
    receipt=Receipt(12, "ab" * 32, "team", "2026-11-16T06:00:00Z"),
    version="sfumato 0.0.9",
    others=(("a firm", sf.Pure(3)),),
)

KINDS = ("|b1", "<i1", "<i2", "<i4", "<i8", ">i4", "<u1", "<u8", "<f2", "<f4", "<f8", ">f8", "<U4")

plain_numbers = st.integers() | st.floats() | st.fractions() | st.booleans() | st.none()
zones = st.none() | st.just(datetime.timezone(datetime.timedelta(hours=-5)))
times = st.dates() | st.datetimes(timezones=zones).map(lambda moment: moment.replace(fold=0))
arrays = st.sampled_from(KINDS).flatmap(
    lambda kind: hnp.arrays(np.dtype(kind), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
texts = st.text(st.characters(exclude_categories=()))  # lone surrogates too
keys = st.recursive(st.text() | st.integers(), lambda inner: st.tuples(inner, inner), max_leaves=4)
values = st.recursive(
    plain_numbers | texts | times | arrays,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
@settings(max_examples=examples(400), deadline=None)
def test_values_come_back(value: Any) -> None:
    assert same(read_value(through_json(stored_value(value))), value)


@pytest.mark.parametrize(
    "value",
    [
        np.float64(0.1),
        np.float32("nan"),
        np.int8(-128),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.str_("é"),
        np.array([2**100, -1], dtype=object),
        np.array([None, "a", (1, 2), [3]], dtype=object),
        np.array(7),
        np.array([["a", "bcd"]], dtype="<U9"),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(10)[::-2],
        [("a", 3), ("b", 4)],
        {(1, "x"): 2, 3: None, "": {}},
        10**5000,
        Fraction(10**5000 + 1, 10**5000),
        datetime.date(2026, 11, 16),
        5e-324,
        math.nextafter(math.inf, 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_particular_values_come_back(value: Any) -> None:
    assert same(read_value(through_json(stored_value(value))), value)


def test_every_field_comes_back() -> None:
    plain = through_json(release_to_plain(FULL))
    back = release_from_plain(plain)
    assert {field.name for field in fields(Release)} == {
        name if name != "made_by" else "version" for name in set(plain) - {"format", "version"}
    }
    for field in fields(Release):
        assert same(getattr(back, field.name), getattr(FULL, field.name)), field.name
    assert release_to_plain(back) == release_to_plain(FULL)
    assert back.interval() == [] or back.interval() is None  # an infinite entry: nothing is stated
    assert plain["format"] == "sfumato/release" and plain["version"] == 1


@pytest.mark.parametrize(
    "measurement",
    [
        sf.scalar(int) >> sf.laplace(scale=2),
        sf.scalar(float) >> sf.gaussian(scale="0.1"),
        sf.scalar(int) >> sf.mechanisms.staircase(epsilon=1, width=5),
        sf.scalar(int) >> sf.mechanisms.binomial(100, epsilon=1),
        sf.scalar(int) >> sf.mechanisms.upper_estimate(scale=1, reach=14),
        sf.scalar(int) >> sf.mechanisms.censored_laplace(scale=2, between=(0, 10)),
    ],
    ids=lambda measurement: measurement.how.mechanism,
)
def test_releases_of_measurements_come_back_with_their_intervals(measurement: sf.Measurement) -> None:
    release = measurement(3, confidence=0.9) if measurement.source.domain == sf.Integers() else measurement(3.0)
    back = release_from_plain(through_json(release_to_plain(release)))
    assert str(back) == str(release)
    assert back.interval(0.99) == release.interval(0.99)
    assert back.noise == release.noise and back.loss == release.loss


@pytest.mark.parametrize("name", SUMMED)
def test_every_registered_noise_comes_back(name: str) -> None:
    noised = Noised(SUMMED[name][0], Fraction(1, 2))
    release = Release(1, sf.Pure(1), "row", sf.release.How("own"), noise=noised)
    if type(noised.noise) in NAMES:
        assert release_from_plain(through_json(release_to_plain(release))).noise == noised
    else:
        with pytest.raises(BadArgument, match=r"what is (written|stored) must be"):
            release_to_plain(release)


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(Fraction(2**2049)),
        DiscreteLaplace(Fraction(1, 2**2049)),
        DiscreteGaussian(Fraction(2**2049, 3)),
        Truncated(DiscreteLaplace(Fraction(3)), -(2**2049), 2**2049),
        Truncated(DiscreteLaplace(Fraction(2**2049)), -5, 5),
        Binomial((1 << 20) + 2),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_noises_that_would_take_long_are_neither_written_nor_read(noise: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Release(1, sf.Pure(1), "row", sf.release.How("own"), noise=Noised(noise, Fraction(1)))
    with pytest.raises(BadArgument, match="what is stored must be noise with numbers"):
        release_to_plain(release)
    with monkeypatch.context() as lenient:
        lenient.setattr(type(noise), "is_moderate", True)
        plain = release_to_plain(release)
    with pytest.raises(UnknownFormat, match="2048 bits"):
        release_from_plain(plain)


def test_arrays_with_room_for_long_texts_are_stored_without_it() -> None:
    wide = np.array(["a", "b" * 70], dtype="<U900")
    back = read_value(stored_value(wide))
    assert back.tolist() == wide.tolist() and back.dtype == np.dtype("<U70")
    assert read_value(stored_value(wide[:1])).dtype == np.dtype("<U64")


class Own:
    """Is something of the user's."""


@pytest.mark.parametrize(
    "value",
    [
        Own(),
        1j,
        b"bytes",
        {1, 2},
        np.array([1j]),
        np.longdouble(1),
        np.array(["2026"], dtype="datetime64[Y]"),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.ma.masked_array([1, 2], mask=[True, False]),
        {Own(): 1},
        sf.release.Failure.NONE,
        datetime.time(1),
        datetime.datetime(2026, 1, 1, fold=1),
        lambda: 1,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_stored_form_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument, match="what is stored must be"):
        stored_value([value])


def test_depth_is_bounded_both_ways() -> None:
    deep: Any = 1
    plain: Any = 1
    for _ in range(DEEPEST + 5):
        deep, plain = [deep], [plain]
    with pytest.raises(BadArgument, match="nested"):
        stored_value(deep)
    with pytest.raises(UnknownFormat, match="nested"):
        read_value(plain)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(BadArgument, match="nested"):
        stored_value(loop)


def test_unknown_noises_and_losses_are_refused() -> None:
    with pytest.raises(BadArgument, match="sfumato's own"):
        release_to_plain(Release(1, sf.Pure(1), "row", sf.release.How("own"), noise=Noised(Own(), Fraction(1))))  # type: ignore[arg-type]
    nested = Noised(Truncated.within(DiscreteGaussian.from_square(2), radius=5), Fraction(1))
    release = Release(1, sf.Pure(1), "row", sf.release.How("own"), noise=nested)
    assert release_from_plain(release_to_plain(release)).noise == nested


HOSTILE: list[tuple[str, Any]] = [
    ("format", "sfumato/accounting"),
    ("version", 2),
    ("version", True),
    ("version", "1"),
    ("loss", {"format": "sfumato/accounting", "version": 1, "kind": "DiscreteLaplace", "scale": "1"}),
    ("loss", None),
    ("confidence", {"rational": [3, 2]}),
    ("confidence", {"float": "0x1.0000000000000p-1"}),
    ("replayable", 1),
    ("unit", None),
    ("facts", [["a"]]),
    ("facts", {"a": "b"}),
    ("receipt", [True, "a", "b", "c"]),
    ("receipt", {"entry": 1}),
    ("made_by", ["sfumato"]),
    ("how", {"mechanism": "laplace"}),
    ("value", 0.5),
    ("value", {"float": "0.5"}),
    ("value", {"float": "0x1p+9999"}),
    ("value", {"float": "0x1.0p-1"}),
    ("value", {"whole": "1" * 50}),
    ("value", {"whole": "0x" + "z"}),
    ("value", {"rational": [2, 4]}),
    ("value", {"rational": [1, 0]}),
    ("value", {"rational": [1, -2]}),
    ("value", {"python/object": "os.system"}),
    ("value", {}),
    ("value", {"tuple": [], "list": []}),
    ("value", {"table": [[[1], 2]]}),
    ("value", {"table": [["a", 1], ["a", 2]]}),
    ("value", {"table": [[1, 1], [True, 2]]}),
    ("value", {"table": ["ab"]}),
    ("value", {"date": "tomorrow"}),
    ("value", {"date": "20261116"}),
    ("value", {"time": "2026-11-16"}),
    ("value", {"array": ["<f8", [10**18], []]}),
    ("value", {"array": ["<f8", [-1], []]}),
    ("value", {"array": ["<f8", [True], ["nan"]]}),
    ("value", {"array": ["<f8", [1], [1]]}),
    ("value", {"array": ["<f4", [1], ["0x1.999999999999ap-4"]]}),
    ("value", {"array": ["<i1", [1], [300]]}),
    ("value", {"array": ["<i8", [1], [{"whole": hex(2**70)}]]}),
    ("value", {"array": ["|b1", [1], [1]]}),
    ("value", {"array": ["<U2", [1], ["abc"]]}),
    ("value", {"array": ["<U9999999", [100], [""] * 100]}),
    ("value", {"array": ["|V8", [1], [1]]}),
    ("value", {"array": ["<M8[s]", [1], [1]]}),
    ("value", {"array": ["O,O", [1], [1]]}),
    ("value", {"array": ["<f8", [1] * 40, ["nan"]]}),
    ("value", {"scalar": ["|O", 1]}),
    ("half_width", -1),
    ("half_width", {"float": "nan"}),
    ("half_width", {"tuple": [1, {"rational": [-1, 3]}]}),
    ("half_width", {"array": ["<f8", [1], ["nan"]]}),
    ("half_width", {"table": [["a", {"scalar": ["<i8", -2]}]]}),
    ("value", {"array": ["<U65", [1], [""]]}),
    ("value", {"scalar": ["<U9999999", ""]}),
    ("noise", {"noise": "laplace"}),
    ("noise", []),
]


@pytest.mark.parametrize(("field", "wrong"), HOSTILE, ids=lambda part: str(part)[:40])
def test_hostile_records_are_refused(field: str, wrong: Any) -> None:
    plain = copy.deepcopy(release_to_plain(FULL))
    plain[field] = wrong
    with pytest.raises(UnknownFormat):
        release_from_plain(plain)


@pytest.mark.parametrize("part", ["step", "rounding", "coordinates", "offset", "noise"])
@pytest.mark.parametrize("wrong", [None, True, -1, "1", {"rational": [-1, 2]}])
def test_hostile_noises_are_refused(part: str, wrong: Any) -> None:
    plain: Any = copy.deepcopy(release_to_plain(FULL))
    plain["noise"][part] = wrong
    if (part, wrong) == ("offset", -1):
        assert release_from_plain(plain).noise is not None
    else:
        with pytest.raises(UnknownFormat):
            release_from_plain(plain)


@pytest.mark.parametrize("field", [name for name in release_to_plain(FULL) if name != "others"])  # which came later
def test_no_field_may_be_missing_or_new(field: str) -> None:
    plain = release_to_plain(FULL)
    without = {name: part for name, part in plain.items() if name != field}
    for wrong in (without, {**plain, "more": 1}, [plain], None, "text"):
        with pytest.raises(UnknownFormat):
            release_from_plain(wrong)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["whole", "float", "rational", "tuple", "table", "date", "time", "array", "scalar"])
                | st.text(),
                inner,
            )
        ),
    )
)
@settings(max_examples=examples(400), deadline=None)
def test_anything_is_read_or_refused(plain: Any) -> None:
    try:
        value = read_value(plain)
    except UnknownFormat:
        return
    assert same(read_value(stored_value(value)), value)
