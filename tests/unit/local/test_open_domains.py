"""Texts, frequent values and sets: what is refused and how, forms of input, and small cases."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.examples.local_vectors import Stream
from tests.unit.local.javascript import in_javascript

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import device
from sfumato.local.device import row_bucket
from sfumato.local.heavy_hitters import HeavyHitters, heavy_hitters
from sfumato.local.heavy_rounds import heavy_hitter_rounds
from sfumato.local.item_sets import PARTS, ItemSets, itemsets
from sfumato.local.signs import HadamardSign, hadamard_sums
from sfumato.local.sketches import CountMeanSketch, HadamardSketch
from sfumato.local.spelled import WholeNumbers, Words, prefix_lengths
from sfumato.local.text_rows import Rows, Texts
from sfumato.local.values import Values

SKETCH = HadamardSketch("key", sf.Pure(2), rows=20, buckets=16, longest=5)
WORDS = heavy_hitters(alphabet="abc", longest=4, loss=2, users=1000, key="key")
NUMBERS = heavy_hitters(bits=9, loss=2, users=1000, key="key")
SETS = itemsets(["tea", "milk", "bread"], most=2, loss=1, users=100)

WRONG_VALUES: dict[str, tuple[Any, Any, str]] = {
    "long text": (SKETCH, "secret", "the value must be a text of at most 5 letters (UTF-16 units)"),
    "long in units": (SKETCH, "\U0001f600" * 3, "the value must be a text of at most 5 letters (UTF-16 units)"),
    "no text": (SKETCH, 17, "the value must be a text of at most 5 letters (UTF-16 units)"),
    "long word": (WORDS, "abcab", "the value must be a text of at most 4 letters of the alphabet"),
    "other letter": (WORDS, "abx", "the value must be a text of at most 4 letters of the alphabet"),
    "an end inside": (WORDS, "a\n", "the value must be a text of at most 4 letters of the alphabet"),
    "large number": (NUMBERS, 512, "the value must be a whole number of at most 9 bits"),
    "negative": (NUMBERS, -1, "the value must be a whole number of at most 9 bits"),
    "truth": (NUMBERS, True, "the value must be a whole number of at most 9 bits"),
    "fraction": (NUMBERS, 1.5, "the value must be a whole number of at most 9 bits"),
    "unknown item": (SETS, ["tea", "gin"], "the value must be one of the listed values"),
    "twice": (SETS, ["tea", "tea"], "a set must be of different items"),
    "no set": (SETS, "tea", "the value must be a list or a set of listed items"),
    "nothing": (SETS, None, "the value must be a list or a set of listed items"),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_values_outside_are_refused_unseen(name: str) -> None:
    protocol, value, says = WRONG_VALUES[name]
    with pytest.raises(BadArgument) as refused:
        protocol.randomize(value)
    assert str(refused.value).startswith(says) and str(refused.value).endswith("got something else.")
    with pytest.raises(ValueError, match="the value must be"):
        device.Client.read(protocol.publish()).randomize(value, octets=bytes)
    with pytest.raises(BadArgument):
        protocol.randomize_many([value])


def test_javascript_refuses_the_same() -> None:
    wrong = [{"published": protocol.publish(), "value": value} for protocol, value, _ in WRONG_VALUES.values()]
    assert None not in in_javascript([], wrong)["refusals"]
    uneven = {**SETS.domain(), "sets": {"values": ["tea"], "other": None}}
    text = device.tag(SETS.recipe()).hex()
    stated = {"format": 1, "tag": text, "recipe": SETS.recipe(), "domain": uneven}
    (said,) = in_javascript([], [{"published": json.dumps(stated), "value": []}])["refusals"]
    with pytest.raises(ValueError) as refused:
        device.Client.read(json.dumps(stated))
    assert said == str(refused.value) == "the list of values does not have the length that the recipe states"


def test_unusual_texts_are_texts() -> None:
    texts = ["", "\ud800", "\x00", "\U0001f600", "e\u0301", "\u00e9"]
    reports = SKETCH.randomize_many(texts, entropy=ReplayEntropy(1))
    assert len(reports) == 6 and all(SKETCH.randomize(text) for text in texts)
    assert Rows("schlüssel", 40, 16, first=7).buckets_of(texts).tolist() == [
        [row_bucket("schlüssel", row, text, 16) for row in range(7, 47)] for text in texts
    ]
    rows = np.array([0, 39, 17, 3, 20, 3])
    each = Rows("schlüssel", 40, 16).bucket_of_each(Texts.of(texts), rows)
    assert each.tolist() == [row_bucket("schlüssel", int(row), text, 16) for row, text in zip(rows, texts, strict=True)]


@pytest.mark.parametrize("given", ["text", [1], [["a"]], [b"a"], [None]])
def test_what_is_no_list_of_texts_is_refused(given: Any) -> None:
    with pytest.raises(BadArgument):
        SKETCH.randomize_many(given)
    with pytest.raises(BadArgument):
        SKETCH.aggregate([]).counts(given)


WRONG_PLANS: dict[str, tuple[Callable[[], Any], str]] = {
    "no key": (lambda: HadamardSketch(None, sf.Pure(1)), "key must be a text"),  # type: ignore[arg-type]
    "buckets": (lambda: HadamardSketch("k", sf.Pure(1), buckets=12), "buckets must be a power of 2"),
    "one bucket": (lambda: CountMeanSketch("k", sf.Pure(1), buckets=1), "buckets must be"),
    "no row": (lambda: CountMeanSketch("k", sf.Pure(1), rows=0), "rows must be"),
    "huge": (lambda: CountMeanSketch("k", sf.Pure(1), rows=1 << 20, buckets=1 << 16), "rows × buckets must be"),
    "longest": (lambda: HadamardSketch("k", sf.Pure(1), longest=0), "longest must be"),
    "free": (lambda: HadamardSketch("k", sf.Pure(0)), "the epsilon of a report must be above 0"),
    "open": (lambda: CountMeanSketch("k", sf.Pure(25)), "the epsilon of a report must be above 0"),
    "rows of signs": (lambda: HadamardSign(Values(range(3)), sf.Pure(1)), "the number of values must be a power of 2"),
    "neither": (lambda: heavy_hitters(loss=1, users=9, key="k"), "the values must be words"),
    "both": (lambda: heavy_hitters(loss=1, users=9, key="k", bits=3, alphabet="a"), "the values must be words"),
    "half": (lambda: heavy_hitters(loss=1, users=9, key="k", alphabet="ab"), "the values must be words"),
    "bits": (lambda: heavy_hitters(loss=1, users=9, key="k", bits=54), "bits must be"),
    "repeated": (lambda: Words("aa", 3), "alphabet must be a text of different letters"),
    "end": (lambda: Words("a\n", 3), "alphabet must be of letters"),
    "half a letter": (lambda: Words("a\ud83d", 3), "alphabet must be of letters"),
    "nobody": (lambda: heavy_hitter_rounds(loss=1, users=0, bits=3), "users must be"),
    "sure": (lambda: heavy_hitters(loss=1, users=9, key="k", bits=3, confidence=1), "confidence must be"),
    "lengths": (
        lambda: HeavyHitters(WholeNumbers(4), "k", (2, 3), HadamardSign(Values(range(4)), sf.Pure(1))),
        "lengths must be rising, up to 4",
    ),
    "method": (lambda: itemsets(range(3), most=2, loss=1, users=9, method="magic"), "method must be one of"),
    "one item": (lambda: itemsets(["a"], most=2, loss=1, users=9), "values must be at least two"),
    "no size": (lambda: itemsets(range(3), most=0, loss=1, users=9), "most must be"),
    "other": (lambda: ItemSets(Values([1, 2], 2), 1, sf.Pure(1)), "items must be without other"),
    "not a number": (lambda: itemsets(range(3), most=1, loss=math.nan, users=9), "loss must be"),
}


@pytest.mark.parametrize("name", WRONG_PLANS)
def test_what_cannot_be_asked_is_refused(name: str) -> None:
    build, says = WRONG_PLANS[name]
    with pytest.raises(BadArgument) as refused:
        build()
    assert str(refused.value).startswith(says)


def test_nobody_has_no_text_no_value_and_no_item() -> None:
    empty = SKETCH.aggregate([])
    assert empty.users == 0 and empty.count("a") == 0 and empty.pairs == 0 and empty.top(["a", "b"], 1) == [("a", 0.0)]
    assert [end.tolist() for end in empty.interval(["a"])] == [[0], [0]]
    assert WORDS.aggregate([]).values == () and WORDS.aggregate([]).users == 0
    assert SETS.aggregate([]).full == 0 and SETS.aggregate([]).full_interval() == (0, 0)
    assert len(SKETCH.randomize_many([])) == len(WORDS.randomize_many([])) == len(SETS.randomize_many([])) == 0
    search = heavy_hitter_rounds(bits=20, loss=1, users=10)
    closed = search.close(search.protocol.tally())
    assert closed.finished and closed.found == () and closed.result.users == 0
    with pytest.raises(BadArgument, match="not finished"):
        assert closed.protocol.length


def test_one_person_is_hidden() -> None:
    for protocol, value in ((SKETCH, "a"), (SETS, ["tea"]), (NUMBERS, 5)):
        protocol.aggregate([protocol.randomize(value)])
    assert NUMBERS.aggregate([NUMBERS.randomize(5)]).values == ()
    assert NUMBERS.least_share(users=1) == 1


def test_reports_of_one_round_are_not_those_of_another() -> None:
    search = heavy_hitter_rounds(bits=20, loss=8, users=4000)
    source = ReplayEntropy(1)
    first = search.protocol.randomize_many([5] * search.users, entropy=source)
    after = search.close(search.protocol.tally(first))
    assert after.ongoing == ("0" * 15,) and not after.finished
    with pytest.raises(BadArgument, match="the same"):
        after.close(search.protocol.tally(first))
    last = after.close(after.protocol.tally(after.protocol.randomize_many([5, 5, 5] * 600, entropy=source)))
    assert last.finished and [one.value for one in last.found] == [5] and "1 values" in str(last.result)
    assert last.result.top(1)[0][0] == 5 and last.result.rows()[0]["value"] == 5


def test_spellings_go_both_ways() -> None:
    words = Words("ab", 3)
    every = [words.read(one) for one in words.extended([""], 4)]
    assert sorted(every) == sorted(
        {"", *"ab", "aa", "ab", "ba", "bb", *(x + y + z for x in "ab" for y in "ab" for z in "ab")}
    )
    by_steps = words.extended([one for one in words.extended([""], 2) if not words.whole(one)], 4)
    assert sorted(by_steps + [one for one in words.extended([""], 2) if words.whole(one)]) == sorted(
        words.extended([""], 4)
    )
    assert len(words.extended([""], 2)) == words.endings(2)
    numbers = WholeNumbers(3)
    assert [numbers.read(one) for one in numbers.extended(numbers.extended([""], 2), 3)] == list(range(8))
    assert prefix_lengths(words, first=1, candidates=1, kept=1) == (1, 2, 3, 4)


def test_sets_are_read_from_lists_and_tables_alike() -> None:
    table = np.array([[True, False, True], [False, False, False], [False, True, True]])
    lists = [("bread", "tea"), set(), np.array(["milk", "bread"])]
    one, two = SETS.inputs_of(table), SETS.inputs_of(lists)
    assert one.places.tolist() == two.places.tolist() == [0, 2, 1, 2]
    assert one.sizes.tolist() == two.sizes.tolist() == [2, 0, 2]
    assert SETS.input_of(["bread", "tea"]) == [0, 2]
    with pytest.raises(BadArgument, match="one column"):
        SETS.inputs_of(table[:, :2])
    some = itemsets(["tea", "milk", "bread"], most=2, loss=1, users=100, only_listed=False)
    assert some.input_of(["gin", "milk", "rum"]) == [1] and some.inputs_of([["gin"], ["tea"]]).sizes.tolist() == [0, 1]
    client = device.Client.read(some.publish())
    given = some.input_of(["gin", "milk"])
    sent = client.randomize(["gin", "milk"], octets=Stream("same"))
    assert sent == device.message(some.recipe(), given, octets=Stream("same"))
    published = {"published": some.publish(), "value": ["gin", "milk"], "octets": "00" * 99}
    assert in_javascript([published], [])["made"][0]["message"] == client.randomize(["gin", "milk"], octets=bytes).hex()


def test_one_of_several_open_questions() -> None:
    """Texts and sets of those who were asked are picked like columns of numbers."""
    both = sf.local.OneOf((SKETCH, SETS, NUMBERS))
    answers = [["a", "b"] * 100, [["tea"], []] * 100, [1, 2] * 100]
    texts, sets, numbers = both.aggregate(both.randomize_many(answers, entropy=ReplayEntropy(4)))
    assert texts.users + sets.users + numbers.users == 200 and min(texts.users, sets.users, numbers.users) > 30


def test_the_best_way_for_sets_depends_on_their_number() -> None:
    assert itemsets(range(20), most=4, loss=2, users=1000).method == "response"
    many = itemsets(range(5000), most=4, loss=2, users=1000)
    assert many.method == "local hashing"
    least = min(ItemSets(Values(range(5000)), 4, sf.Pure(2), name).variance(users=1000) for name in PARTS)
    assert many.variance(users=1000) <= least * 51 / 50
    assert sf.local.shuffled(many, users=10**6).central_loss(delta=1e-8).epsilon < 0.1


def test_columns_of_a_hadamard_matrix() -> None:
    entries = np.array([[(-1) ** (row & column).bit_count() for column in range(8)] for row in range(8)])
    data = np.arange(24).reshape(3, 8) ** 2
    assert np.array_equal(hadamard_sums(data), data @ entries.T)
