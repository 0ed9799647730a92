"""The stored form: everything comes back as it was, version 1 keeps its meaning, and what is unknown is refused."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import is_dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from tests.examples.events import BARE, EXAMPLES, final_classes

from sfumato import accounting, noise
from sfumato.accounting import compose
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.codec import from_json, from_plain, to_json, to_plain
from sfumato.accounting.events import Event, Gaussian, Laplace, Repeat, Runs, Sampling, Sequence, Stated
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.renyi.curves import Curve
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.exact import Root
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.plain import DEEPEST, ENUMS, NAMES, RECORDS, load, record

GOLDEN = Path(__file__).parent / "golden" / "events_v1.json"
KEPT = Path(__file__).parent / "golden" / "stored_names.txt"

assert compose.ROWS  # imported so that every curve and pair of the rows exists


@pytest.mark.parametrize("value", EXAMPLES + BARE, ids=lambda value: type(value).__name__)
def test_everything_comes_back_as_it_was(value: object) -> None:
    assert from_plain(to_plain(value)) == value
    assert from_json(to_json(value)) == value
    assert to_json(from_json(to_json(value))) == to_json(value)


def test_version_1_keeps_its_meaning() -> None:
    """Lines of this file were written once. New ones may be added; none is ever edited."""
    lines = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert [to_plain(from_plain(line)) for line in lines] == lines
    missing = [to_json(value) for value in EXAMPLES + BARE if to_plain(value) not in lines]
    assert not missing, "these examples are read or written in another way than before, or are new: add them"


@pytest.mark.parametrize("base", [Event, Sampling, Runs, Loss, Curve, Pair], ids=lambda base: base.__name__)
def test_no_public_class_is_missing(base: type) -> None:
    ours = {kind for kind in final_classes(base) if kind.__module__.startswith("sfumato.") and is_dataclass(kind)}
    assert ours <= set(NAMES), f"register with @record: {sorted(map(str, ours - set(NAMES)))}"


def test_names_are_kept_for_ever() -> None:
    """Lines of this file are never removed: what was stored under a name stays readable. New ones are added."""
    load(noise)
    load(accounting)
    ours = {name for kind, name in NAMES.items() if kind.__module__.startswith("sfumato.")}
    kept = KEPT.read_text(encoding="utf-8").split()
    assert kept == sorted(set(kept))
    assert ours == set(kept), "a name is missing, which is never allowed, or is new: add it to the file"
    assert {kind for kind in NAMES if NAMES[kind] in RECORDS} == {one.kind for one in RECORDS.values()}


def test_a_name_is_given_once() -> None:
    for taken in ("Laplace", "relation"):
        with pytest.raises(BadArgument, match="given once"):
            record(taken)(type("Laplace", (), {}))
    assert RECORDS["Laplace"].kind is Laplace and "relation" in ENUMS


def test_the_form_is_the_documented_one() -> None:
    assert to_plain(Gaussian(Root(Fraction(2)), shift=math.inf)) == {
        "format": "sfumato/accounting",
        "version": 1,
        "kind": "Gaussian",
        "scale": {"root": "2"},
        "shift": "inf",
    }
    assert to_plain(Stated(Pure(0.3), "why"))["note"] == {"text": "why"}
    assert to_plain(Stated(Pure(0.3)))["loss"] == {"kind": "Pure", "epsilon": "3/10"}


def test_long_rationals_are_written_in_hexadecimal() -> None:
    long = Pure(Fraction(3**20_000, 2**20_000))
    assert from_json(to_json(long)) == long
    assert "hexadecimal" in to_json(long)


GOOD = to_plain(Laplace(2))
FAULTS: dict[str, object] = {
    "no dictionary": [GOOD],
    "nothing": None,
    "another format": GOOD | {"format": "other"},
    "no format": {key: value for key, value in GOOD.items() if key != "format"},
    "a later version": GOOD | {"version": 2},
    "a version that is no number": GOOD | {"version": True},
    "an unknown kind": GOOD | {"kind": "Cauchy"},
    "a kind by module path": GOOD | {"kind": "os.system"},
    "no kind": {key: value for key, value in GOOD.items() if key != "kind"},
    "an unknown field": GOOD | {"colour": "1"},
    "a missing field": {key: value for key, value in GOOD.items() if key != "shift"},
    "nothing in a field": GOOD | {"shift": None},
    "nothing where a state was": to_plain(SumFilter(Pure(1), spent=Pure(0.5))) | {"spent": None},
    "a float": GOOD | {"scale": 0.5},
    "NaN": GOOD | {"scale": math.nan},
    "a whole number where a part should be": GOOD | {"kind": "Repeat", "event": 3, "times": 2},
    "not in lowest terms": GOOD | {"scale": "2/4"},
    "a division by zero": GOOD | {"scale": "1/0"},
    "a text": GOOD | {"scale": "1e9"},
    "a negative scale": GOOD | {"scale": "-2"},
    "a root of nothing": GOOD | {"shift": {"root": "0"}},
    "a root that is rational": GOOD | {"shift": {"root": "4"}},
    "a dictionary without a kind": GOOD | {"shift": {}},
    "a relation that is none": GOOD | {"shift": {"relation": "any"}},
    "a field of another class": GOOD | {"scale": to_plain(Pure(1)) | {"format": "x"}},
}


@pytest.mark.parametrize("plain", FAULTS.values(), ids=FAULTS)
def test_the_unknown_is_refused(plain: object) -> None:
    with pytest.raises(UnknownFormat, match="nothing is guessed"):
        from_plain(plain)


TEXTS = {
    "no JSON": "{",
    "NaN": to_json(Laplace(2)).replace('"2"', "NaN"),
    "Infinity": to_json(Laplace(2)).replace('"2"', "Infinity"),
    "a float": to_json(Laplace(2)).replace('"2"', "2.0"),
    "the same key twice": to_json(Laplace(2)).replace('"scale"', '"scale": "7", "scale"'),
    "a huge whole number": to_json(Repeat(Laplace(2), 7)).replace(" 7}", " " + "7" * 5000 + "}"),
    "far too deep": "[" * 100_000 + "]" * 100_000,
    "lists too deep": to_json(Sequence()).replace("[]", "[" * 900 + "]" * 900),
    "roots too deep": to_json(Laplace(2)).replace('"2"', '{"root": ' * 900 + '"2"' + "}" * 900),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_bad_texts_are_refused(text: str) -> None:
    with pytest.raises(UnknownFormat):
        from_json(text)
    with pytest.raises(UnknownFormat):
        from_json(text.encode())  # type: ignore[arg-type]  # what a user may try


def test_depth_is_bounded_both_ways() -> None:
    deep: Event = Laplace(1)
    for _ in range(DEEPEST // 2):  # each is a record and a list
        deep = Sequence(deep)
    with pytest.raises(BadArgument, match="nested"):
        to_json(deep)
    assert from_json(to_json(deep.parts[0])) == deep.parts[0]
    plain: dict[str, object] = {"kind": "Laplace", "scale": "1", "shift": "1"}
    for _ in range(DEEPEST // 2):
        plain = {"kind": "Sequence", "parts": [plain]}
    with pytest.raises(UnknownFormat, match="nested"):
        from_plain({"format": "sfumato/accounting", "version": 1, **plain})


def test_only_public_records_are_written() -> None:
    for value in (3, "text", object(), [Laplace(1)], Laplace):
        with pytest.raises(BadArgument, match="public record"):
            to_json(value)


def test_what_was_not_imported_yet_is_found_by_its_name() -> None:
    """In a fresh process, which has met only the codec."""
    text = to_json(SumFilter(Pure(1)))
    code = f"from sfumato.accounting.codec import from_json; assert from_json({text!r}) is not None"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_pairs_work_in_a_process_that_has_not_met_their_noise() -> None:
    """What crosses to another process is not made again there, and brings only its own class along."""
    pair = pickle.dumps(IntegerNoisePair(DiscreteLaplace(Fraction(2)), 1))
    code = f"import pickle; assert pickle.loads({pair!r}).hints(1e-9) == [-0.5, 0.5]"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
