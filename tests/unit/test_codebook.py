"""Codebooks: what is public before anything is spent, and what may not be (P3-101 to P3-103, P3-108, P3-109)."""

from __future__ import annotations

import copy
import datetime
import json
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

import sfumato as sf
from sfumato.codebook.advice import check_delta
from sfumato.codebook.entries import number_text
from sfumato.codebook.sampling import Sampling
from sfumato.codebook.strict_yaml import read_text, write_text
from sfumato.core.domains import Bounds
from sfumato.release.record import Fact

TRIPS: dict[str, Any] = {
    "codebook": 1,
    "title": "Bicycle trips",
    "created": "2026-01-10",
    "collected": ["2026-02-01", "2026-02-28"],
    "unit": {"protects": "a rider", "id": "rider"},
    "tables": {
        "trips": {
            "contributions": {"rows": 20, "groups": {"origin": 3}, "source": "the contract"},
            "columns": {
                "rider": {"type": "str"},
                "origin": {"categories": ["harbour", "market"], "source": "the map"},
                "minutes": {"type": "float", "between": [0, "1440.25"], "source": "a day", "nullable": True},
                "day": {"type": "date", "between": ["2026-02-01", "2026-02-28"], "source": "the month"},
                "paid": {"type": "bool"},
                "stops": {"type": "int", "between": [0, 9], "source": "the contract"},
            },
        },
        "stations": {"public": True, "columns": {"name": {"type": "str"}}},
    },
}


def changed(**at: object) -> dict[str, Any]:
    """The example with entries changed; a path in words joined by double underscores, None to leave one out."""
    made = copy.deepcopy(TRIPS)
    for path, value in at.items():
        *outer, last = path.split("__")
        place = made
        for word in outer:
            place = place[word]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return made


def refusal(given: object) -> str:
    with pytest.raises(sf.errors.BadCodebook) as caught:
        sf.Codebook.read(given)  # type: ignore[arg-type]
    return str(caught.value)


def minutes(**entries: object) -> dict[str, Any]:
    return changed(tables__trips__columns__minutes={"type": "float", **entries})


# Reading, and giving back what was read.


def test_every_way_of_reading_gives_the_same_book(tmp_path: Path) -> None:
    book = sf.Codebook.read(TRIPS)
    path = tmp_path / "trips.yaml"
    path.write_text(book.to_yaml(), encoding="utf-8")
    ways = [book.to_plain(), book.to_yaml(), json.dumps(book.to_plain()), path, str(path)]
    assert [sf.Codebook.read(way) for way in ways] == [book] * 5
    assert {sf.Codebook.read(way).digest for way in ways} == {book.digest}
    assert len(book.digest) == 64
    assert hash(book) == hash(sf.Codebook.read(ways[1]))


def test_dates_of_python_are_dates() -> None:
    book = sf.Codebook.read(changed(created=datetime.date(2026, 1, 10), collected=datetime.date(2026, 2, 1)))
    assert book.created == datetime.date(2026, 1, 10) and book.collected == (datetime.date(2026, 2, 1),)
    assert "created must be a date" in refusal(changed(created=datetime.datetime(2026, 1, 10, 12)))


def test_the_digest_is_of_what_is_stated_and_not_of_how() -> None:
    book = sf.Codebook.read(TRIPS)
    same = changed(tables__trips__columns__minutes__between=[Decimal("0.0"), 1440.25])
    assert sf.Codebook.read(same).digest == book.digest
    for other in (
        changed(title="Trips"),
        changed(tables__trips__columns__minutes__between=[0, "1440.250000001"]),
        changed(tables__trips__columns__minutes__source="two days"),
        changed(tables__trips__contributions__rows=21),
    ):
        assert sf.Codebook.read(other).digest != book.digest


def test_bounds_are_exact_and_round_trip() -> None:
    book = sf.Codebook.read(minutes(between=["-1/3", "0.1234567890123456789012345"], source="algebra"))
    bounds = book.table("trips")["minutes"].between
    assert bounds == Bounds(Fraction(-1, 3), Fraction("0.1234567890123456789012345"))
    assert sf.Codebook.read(book.to_yaml()) == sf.Codebook.read(book.to_plain()) == book


@given(st.fractions())
def test_numbers_are_written_so_that_they_are_read_back(value: Fraction) -> None:
    assert Fraction(number_text(value)) == value


@settings(max_examples=examples(60))
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(st.characters(codec="utf-8"), max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text("abc:-? no", max_size=6), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_yaml_gives_back_what_was_written(tree: object) -> None:
    """Whatever looks like a number, a date or a truth value to some reader of YAML is still a text to this one."""
    assert read_text("# not JSON\n" + write_text({"tree": tree})) == {"tree": tree}


@pytest.mark.parametrize(
    "text", ["no", "yes", "on", "Off", "010", "12:30", "0x1f", "1_000", "2026-01-01", "1e5", ".inf", "NaN", "=", "<<"]
)
def test_texts_stay_texts(text: str) -> None:
    assert read_text(f"a: {text}\n") == {"a": text}
    assert read_text("# x\n" + write_text({"a": text})) == {"a": text}


def test_every_character_round_trips() -> None:
    """U+0085 is a line break to YAML; it is kept, as are all others, in values and in keys, wherever they stand."""
    for code in [*range(0x20, 0x3000), 0xFEFF, 0xFFFD, 0x1F600]:
        letter = chr(code)
        tree = {"a": letter, f"x{letter}y": [f"x {letter} y", f"{letter}x", f"x{letter}"]}
        if code < 0x100 or code in (0x2028, 0x2029, 0xFEFF) or code % 251 == 0:
            assert read_text("# x\n" + write_text(tree)) == tree, hex(code)
    title = "before\x85after"
    book = sf.Codebook.read(changed(title=title))
    assert book.title == title and sf.Codebook.read(book.to_yaml()) == book


def test_plain_values_are_read() -> None:
    read = read_text("a: -3\nb: 0.10\nc: true\nd: ~\ne:\nf: '1'\ng: 1.5e+3\n")
    assert read == {"a": -3, "b": Decimal("0.10"), "c": True, "d": None, "e": None, "f": "1", "g": Decimal("1500")}
    assert read_text('{"a": 0.1, "b": [1, true, null]}') == {"a": Decimal("0.1"), "b": [1, True, None]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\na: 2\n", "has a key that stands there already"),
        ('{"a": 1, "a": 2}', "has a key that stands twice"),
        ("a: &x [1]\nb: *x\n", "uses an alias"),
        ("a: !!python/object/apply:os.system [ls]\n", "which is not plain data"),
        ("a: !own 3\n", "which is not plain data"),
        ("a: [1\nb: 2", "it is no YAML"),
        ('{"a": ', "it is no JSON"),
        ("? [1, 2]\n: 3\n", "keys are words"),
        ("a: " + "9" * 500, "more than 400 digits"),
        ("a: 1.0e+99999\n", "more than 400 digits"),
        ('{"a": 1e99999}', "more than 400 digits"),
        ("a: 1\n---\nb: 2\n", "it is no YAML"),
        ("a:\n" + " " * 1_100_000, "longer than"),
        ("[" * 5000, "nested too deep"),
    ],
)
def test_texts_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(sf.errors.BadCodebook, match=why):
        read_text(text)


def test_a_missing_file_is_named_and_yaml_loads_late() -> None:
    with pytest.raises(sf.errors.BadArgument, match=r"a file that can be read.*nowhere\.yaml"):
        sf.Codebook.read("nowhere.yaml")
    with pytest.raises(sf.errors.BadArgument, match="a path, a text or a mapping"):
        sf.Codebook.read(3)  # type: ignore[arg-type]
    script = "import sys, sfumato as sf; sf.Codebook; assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


# What must not be said.


@pytest.mark.parametrize(
    "source",
    [
        "observed",
        "Data",
        "inferred",
        "the data.",
        "from the data",
        "Observed in the data",
        "inferred-from data",
        "min/max",
    ],
)
def test_P3_103_the_data_is_no_source(source: str) -> None:
    text = refusal(minutes(between=[0, 90], source=source))
    assert text.startswith("codebook, table 'trips', column 'minutes': the source must not be")
    assert "one unit can move it" in text and "sf.split" in text and "sf.stats.bounds_by_histogram" in text


@pytest.mark.parametrize("source", ["the law on data protection", "public data of 2020", "release 3f2a, ε = 0.05"])
def test_public_sources_may_speak_of_data(source: str) -> None:
    sf.Codebook.read(minutes(between=[0, 90], source=source))


@pytest.mark.parametrize(
    ("book", "message"),
    [
        (minutes(between=[0, 90]), "column 'minutes': source is missing: say where its values are known from"),
        (
            minutes(between=[9, 9], source="x"),
            "column 'minutes': between must have its lower bound first, and some room",
        ),
        (minutes(between=[9, 1], source="x"), "9 is not below 1"),
        (minutes(between=[0, "inf"], source="x"), "a bound must be finite: with an infinite one a single value could"),
        (minutes(between=[-math.inf, 0], source="x"), "a bound must be finite"),
        (minutes(between=[0, math.inf], source="x"), "and clamp what lies beyond it (sf.clamp)"),
        (minutes(between=[0, math.nan], source="x"), "a bound must be a number; got nan"),
        (minutes(between=[0, True], source="x"), "a bound must be a number; got True"),
        (minutes(between=[0, 1, 2], source="x"), "between must be two values, [lower, upper]"),
        (minutes(betwen=[0, 1]), "there is no entry 'betwen'; did you mean 'between'?"),
        (minutes(colour="red"), "there is no entry 'colour'; known here: between, bins, categories"),
        (minutes(categories=["a"], source="x"), "categories and type must agree"),
        (
            minutes(missing="left out", nullable=False, source="x"),
            "never missing (nullable: false), and it says what",
        ),
        (
            changed(tables__trips__columns__rider={"type": "str", "nullable": False}),
            "that it is never missing is known",
        ),
        (changed(tables__trips__columns__origin={"categories": [], "source": "x"}), "categories must be at least one"),
        (changed(tables__trips__columns__origin={"categories": ["a", "b", "a"], "source": "x"}), "'a' is there twice"),
        (changed(tables__trips__columns__origin={"categories": [1, True], "source": "x"}), "True is there twice"),
        (changed(tables__trips__columns__origin={"categories": [1, "1", "a"], "source": "x"}), "distinct as texts"),
        (changed(tables__trips__columns__origin={"categories": ["True", True], "source": "x"}), "distinct as texts"),
        (changed(tables__trips__columns__origin={"categories": "ab", "source": "x"}), "categories must be a list"),
        (changed(tables__trips__columns__origin={"categories": [None], "source": "x"}), "a category must be a text"),
        (
            changed(tables__trips__columns__origin={"categories": [math.nan], "source": "x"}),
            "a category must be finite",
        ),
        (changed(tables__trips__columns__origin={"categories": ["\ud800"], "source": "x"}), "half a character"),
        (changed(tables__trips__columns__origin={}), "column 'origin': type is missing: one of float, int"),
        (changed(tables__trips__columns__origin={"type": "number"}), "type must be one of float, int, bool, str"),
        (changed(tables__trips__columns__origin={"type": "integer"}), "got 'integer'; did you mean 'int'?"),
        (changed(tables__trips__columns__origin={"type": "Float"}), "got 'Float'; did you mean 'float'?"),
        (changed(tables__trips__columns__stops__between=["0.5", 3]), "between must be whole numbers for an int"),
        (changed(tables__trips__columns__day__between=["2026-02-28", "2026-02-01"]), "first day first"),
        (changed(tables__trips__columns__day__between=["2026-02-28", "2026-02-31"]), "a date such as 2026-01-31"),
        (changed(tables__trips__columns__day__between=["2026-W01-1", "2026-W02-1"]), "a date such as 2026-01-31"),
        (changed(tables__trips__columns__day__between=["0001-01-01", "2026-02-01"]), "at most 100000 days"),
        (changed(tables__trips__columns__paid__between=[0, 1]), "between is for numbers, dates and times"),
        (changed(tables__trips__columns={}), "table 'trips': columns is missing"),
        (changed(tables__trips__columns__paid="bool"), "column 'paid': this must be a mapping"),
        (changed(tables__trips__id="who"), "id names 'who', which is no column: rider, origin"),
        (changed(tables__trips__key=["who"]), "key names 'who'"),
        (changed(tables__trips__contributions={"source": "x"}), "it bounds nothing"),
        (changed(tables__trips__contributions__rows=0), "rows must be a whole number of at least 1; got 0"),
        (changed(tables__trips__contributions__groups={"where": 3}), "groups names 'where', which is no column"),
        (changed(tables__trips__contributions__groups={"origin": 2, "origin ": 5}), "two bounds by origin"),
        (
            changed(tables__trips__contributions__rows_each={"origin, day": 2, "day, origin": 5}),
            "two bounds by day, origin, and only one can be meant",
        ),
        (changed(tables__trips__contributions__by="magic"), "by must be one of fact, truncation; got 'magic'"),
        (changed(tables__trips__contributions__source=None), "source is missing: say where these bounds are known"),
        (changed(tables__trips__contributions__source="observed"), "the source must not be 'observed'"),
        (changed(tables__trips__size={"exactly": 3}), "table 'trips', size: source is missing"),
        (changed(tables__trips__size={"exactly": 3, "at_least": 2, "source": "x"}), "give one of exactly and at_least"),
        (changed(tables__stations__contributions={"rows": 1, "source": "x"}), "a public table holds nothing"),
        (
            changed(tables__stations__columns__rider={"type": "str"}),
            "table 'stations': it is public, and has the column 'rider', which says whose a row is",
        ),
        (changed(tables__trips__public=True, tables__trips__contributions=None), "it is public, and has the column"),
        (changed(title=None), "at the top: title is missing"),
        (changed(title=None, titel="Trips"), "Is 'titel' meant to be it?"),
        (changed(title=3), "title must be a text; got 3"),
        (changed(title="a\udfff"), "title holds half a character"),
        (changed(not_protected=3), "not_protected must be a list of texts; got 3"),
        (changed(invariants="ten rows"), "invariants must be a list of entries"),
        (changed(tables__trips__public="yes"), "public must be true or false; got 'yes'"),
        (changed(tables={3: {}}), "the name of a table must be a text; got 3"),
        (changed(unit=None), "unit is missing: say who is protected"),
        (changed(unit={"id": "rider"}), "unit: protects is missing"),
        (changed(unit={"protects": "a rider", "id": "user"}), "the id 'user', and no table has such a column"),
        (changed(codebook=2), "it must begin with codebook: 1"),
        (changed(codebook=True), "it must begin with codebook: 1"),
        (changed(codebook=1.0), "it must begin with codebook: 1"),
        (changed(codebook=Decimal("1.0")), "it must begin with codebook: 1"),
        (changed(tables={}), "tables is missing"),
        (changed(tables__trips__columns={3: {"type": "str"}}), "a name must be a text; got 3"),
        (changed(collected=["2026-02-28", "2026-02-01"]), "in order"),
        (changed(created="soon"), "created must be a date such as 2026-01-31; got 'soon'"),
        (changed(created=["2026-01-01", "2026-01-02"]), "created must be one date"),
        (changed(invariants=["ten rows"]), "invariants, entry 1: this must be a mapping"),
        (changed(invariants=[{"what": "ten rows", "source": "data"}]), "the source must not be 'data'"),
        (
            changed(datasheet={"motivations": "x"}),
            "datasheet: there is no entry 'motivations'; did you mean 'motivation'?",
        ),
        (changed(sampling={"method": "simple random", "population": 3, "sample": 4}), "larger than its population"),
        (changed(sampling={"method": "simple random", "secret": True}), "needs secrecy"),
        (changed(sampling={"method": "snowball"}), "method must be one of census, simple random"),
        ("- 1\n- 2\n", "it is no codebook: it does not begin with codebook: 1. Is it the data?"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "book",
)
def test_what_a_codebook_must_not_say(book: object, message: str) -> None:
    assert message in refusal(book)


def test_a_comma_that_begins_an_entry_is_explained() -> None:
    text = (
        sf.Codebook.read(TRIPS)
        .to_yaml()
        .replace("      paid:\n        type: bool\n", "      paid: {type: bool, description: yes, or no}\n")
    )
    assert "A text with a comma inside {…} needs quotes" in refusal(text)


# What follows from it.


def test_the_space_has_the_declared_kinds_and_bounds() -> None:
    book = sf.Codebook.read(TRIPS)
    days = [datetime.date(2026, 2, day) for day in range(1, 29)]
    assert book.space("trips", columns=["minutes", "origin", "paid", "stops", "rider", "day"]) == sf.frame(
        {
            "minutes": sf.Floats((0, Fraction("1440.25")), nan=True),  # type: ignore[arg-type]
            "origin": ["harbour", "market"],
            "paid": bool,
            "stops": sf.Integers((0, 9)),  # type: ignore[arg-type]
            "rider": str,
            "day": days,
        }
    )
    member = {
        "day": np.array(["2026-02-01", "2026-02-03"], dtype="datetime64[D]"),
        "minutes": [3.5, math.nan],
    }
    assert book.space("trips", columns=["day", "minutes"]).domain.member(member)
    assert not book.space("trips", columns=["day"]).domain.member({"day": [datetime.date(2026, 3, 1)]})
    frame = pd.DataFrame({"day": pd.to_datetime(["2026-02-01", "2026-02-03"])})
    assert not book.space("trips", columns=["day"]).domain.member(frame)
    assert book.space("trips", columns=["day"]).domain.member(frame.assign(day=frame["day"].dt.date))
    with pytest.raises(sf.errors.BadArgument, match="one of trips, stations: there are several"):
        book.space()
    with pytest.raises(sf.errors.BadArgument, match="one of trips, stations"):
        book.space("trip")
    with pytest.raises(sf.errors.BadCodebook, match=r"has no column 'age'; it has rider, origin"):
        book.space("trips", columns=["age"])


def test_a_public_size_means_change_one() -> None:
    book = sf.Codebook.read(changed(tables__trips__size={"exactly": 30, "source": "the contract"}))
    assert book.space("trips").metric == sf.ChangeOne()
    assert book.unit == sf.Unit("a rider", sf.ChangeOne(), bound=20)
    least = sf.Codebook.read(changed(tables__trips__size={"at_least": 5, "source": "the contract"}))
    assert least.space("trips").metric == sf.AddRemove() and getattr(least.space("trips").domain, "least", 0) == 5
    assert sf.Codebook.read(least.to_plain()) == least


def test_a_price_follows_from_the_codebook() -> None:
    book = sf.Codebook.read(TRIPS)
    count = book.space("trips", columns=["origin"]) >> sf.count() >> sf.laplace(scale=40)
    assert count.map(book.unit) == sf.Pure(0.5)


def test_missing_values_among_categories_and_others() -> None:
    book = sf.Codebook.read(
        changed(
            tables__trips__columns__origin__nullable=True,
            tables__trips__columns__stops__nullable=True,
            tables__trips__columns__day={"type": "date"},
        )
    )
    assert book.space("trips", columns=["origin"]).domain.member({"origin": ["market", None]})
    with pytest.raises(sf.errors.BadCodebook, match=r"column 'stops': int values have no missing one in memory"):
        book.space("trips", columns=["rider", "stops"])
    with pytest.raises(sf.errors.BadCodebook, match="no end of dates"):
        book.space("trips", columns=["day"])


def test_the_unit_is_never_assumed() -> None:
    book = sf.Codebook.read(TRIPS)
    assert book.unit == book.unit_in("trips") == sf.Unit("a rider", sf.AddRemove(), bound=20)
    unsaid = sf.Codebook.read(changed(tables__trips__contributions=None))
    with pytest.raises(sf.errors.BadCodebook, match=r"how many rows may a rider have\?.*contributions"):
        _ = unsaid.unit
    groups = sf.Codebook.read(changed(tables__trips__contributions__rows=None))
    with pytest.raises(sf.errors.BadCodebook, match="how many rows"):
        _ = groups.unit
    cut = sf.Codebook.read(changed(tables__trips__contributions__by="truncation"))
    with pytest.raises(sf.errors.BadCodebook, match="only once the table is cut to them"):
        _ = cut.unit
    with pytest.raises(sf.errors.BadCodebook, match="it is public"):
        book.unit_in("stations")


def test_units_that_differ_are_asked_for_by_table() -> None:
    two = copy.deepcopy(TRIPS)
    two["tables"]["repairs"] = {
        "contributions": {"rows": 2, "source": "the contract"},
        "columns": {"owner": {"type": "str"}},
        "id": "owner",
    }
    book = sf.Codebook.read(two)
    assert book.table("repairs").id == "owner" and book.unit_in("repairs").bound == 2
    with pytest.raises(sf.errors.BadArgument, match=r"one of trips, repairs: their units differ"):
        _ = book.unit


def test_facts_say_what_a_release_rests_on() -> None:
    book = sf.Codebook.read(changed(invariants=[{"what": "trips end at stations", "source": "the locks"}]))
    assert book.facts("trips", columns=["minutes"]) == (
        Fact("a rider has at most 20 rows of trips", "the contract"),
        Fact("a rider is in at most 3 groups of trips by origin", "the contract"),
        Fact("trips.minutes is in [0, 1440.25]", "a day"),
        Fact("trips end at stations", "the locks"),
    )
    assert Fact("trips.origin is one of 2: harbour, market", "the map") in book.facts()
    assert Fact("trips.day is in [2026-02-01, 2026-02-28]", "the month") in book.facts("trips")


def test_flags_before_publication() -> None:
    assert sf.Codebook.read(TRIPS).flags == ()
    late = sf.Codebook.read(changed(created="2026-02-02"))
    assert "created on 2026-02-02, after collection began on 2026-02-01" in late.flags[0]
    assert "does not say when" in sf.Codebook.read(changed(created=None)).flags[0]
    told = sf.Codebook.read(changed(tables__trips__columns__origin__sensitive="shows who visits the clinic"))
    assert told.flags == ("trips.origin is sensitive for whole groups: shows who visits the clinic",)
    drawn = sf.Codebook.read(changed(sampling={"method": "cluster"}))
    assert drawn.flags == (f"sampling saves nothing: {drawn.sampling and drawn.sampling.why_not}",)


def test_everything_that_can_be_said_round_trips() -> None:
    full = changed(
        description="d", scope="s", contact="c", url="u", not_protected=["weather", "prices"],
        sampling={"method": "other", "frame": "f", "population": 9, "sample": 3, "secret": True, "secrecy": "-"},
        public=[{"what": "a", "source": "b"}], releases=[{"what": "c", "source": "release 3f"}],
        datasheet={"uses": "planning", "preprocessing": "none"},
        tables__trips__key=["rider", "day"], tables__trips__description="t",
        tables__trips__contributions__rows_each={"origin, day": 2},
        tables__trips__columns__minutes__missing="left out", tables__trips__columns__minutes__erroneous="clamped",
        tables__trips__columns__minutes__sensitive="no", tables__trips__columns__minutes__description="duration",
    )  # fmt: skip
    book = sf.Codebook.read(full)
    assert sf.Codebook.read(book.to_yaml()) == sf.Codebook.read(json.dumps(book.to_plain())) == book
    assert book.table("trips").contributions is not None
    assert book.table("trips").contributions.rows_each == ((("origin", "day"), 2),)
    assert dict(book.datasheet) == {"preprocessing": "none", "uses": "planning"}


def test_the_classroom_has_a_codebook() -> None:
    exam = sf.datasets.CLASSROOM
    assert exam.codebook.space().domain.member({"score": list(exam.scores)})
    assert exam.codebook.unit == sf.Unit("a student", sf.ChangeOne())
    assert exam.codebook.flags == ()


# Sampling, and δ.


def test_A3_073_a_secret_sample_of_10_in_100() -> None:
    drawn = Sampling("simple random", population=100, sample=10, secret=True, secrecy="kept by the registrar")
    assert float(drawn.amplified(sf.Pure(2)).epsilon) == pytest.approx(0.49403, abs=5e-6)
    assert drawn.amplified(sf.Pure(2)) <= sf.Pure("0.4941")
    assert drawn.amplified(sf.Approx(2, 1e-6)).delta == Fraction(1, 10**7)
    assert "kept by the registrar" in str(drawn.claim())


@pytest.mark.parametrize(
    ("design", "why"),
    [
        (Sampling("simple random", population=100, sample=10), "not secret"),
        (Sampling("cluster", population=100, sample=10, secret=True, secrecy="kept"), "whole clusters"),
        (Sampling("convenience", population=100, sample=10, secret=True, secrecy="kept"), "'convenience'"),
        (Sampling("simple random", sample=10, secret=True, secrecy="kept"), "numbers"),
    ],
)
def test_P3_101_P3_102_other_designs_save_nothing(design: Sampling, why: str) -> None:
    assert design.amplified(sf.Pure(2)) == sf.Pure(2)
    assert design.why_not is not None and why in design.why_not
    with pytest.raises(sf.errors.BadCodebook, match="it saves nothing"):
        design.claim()


def test_A3_074_delta_for_649_rows() -> None:
    check_delta("1e-6", size=649)
    check_delta("0.00154", size=649)
    with pytest.raises(sf.errors.BadArgument, match=r"delta must be below 1/649, or vouched for.*got 0\.01"):
        check_delta(0.01, size=649)
    with pytest.raises(sf.errors.BadArgument):
        check_delta(Fraction(1, 649), size=649)
    check_delta(0.01, size=649, claim=sf.claim("a demonstration on made-up data"))
