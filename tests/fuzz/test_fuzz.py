"""How the fuzzer behaves: the same for the same entropy, small witnesses, data of every kind, and what it refuses."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.exact import exact
from sfumato.audit.fuzz import FAILS_ON_SOME, LAW_EVERY, fuzz
from sfumato.audit.nasty import Chance, assemble, sections, take_apart
from sfumato.audit.neighbouring import CROWD, crowded, neighbours
from sfumato.audit.record import Verdict
from sfumato.audit.shrinking import expression
from sfumato.core.domains import Custom, Floats, Frame, Integers, Matrix, Norm, Texts, Vector
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.parts import PartDistance
from sfumato.core.rows import rows_of
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument

VOUCHED = sf.claim("for this test")
PARTED = (sf.vector(["a", "b"]) >> sf.group_by()).target
SPACES = [
    sf.vector(Floats(nan=True, infinite=True)),
    sf.vector(Floats((0, 1)), size=4),
    sf.vector(int, size=4, metric=sf.AddRemove()),
    sf.vector(str, size=4, metric=sf.metrics.Hamming()),
    sf.vector(["a", None, 1], size=5, metric=sf.metrics.Windows(2)),
    sf.Space(Vector(Integers((0, 9)), least=2), sf.AddRemove()),
    sf.Space(Matrix(2, norm=Norm(Fraction(1), 2, (Fraction(0), Fraction(3)))), sf.AddRemove()),
    sf.frame({"who": int, "much": Floats((-1, 2)), "name": str}, metric=sf.Identifiers("who")),
    sf.scalar(float),
    sf.Space(Integers(step=Fraction(1, 7)), sf.metrics.Absolute()),
    sf.scalar(["yes", "no"]),
    sf.vector(int, size=3, metric=sf.L1()),
    sf.vector(float, size=3, metric=sf.L2()),
    sf.vector(int, size=3, metric=sf.LInf()),
    sf.vector(int, size=3, metric=sf.LInf(monotonic=True)),
    sf.vector(int, size=3, metric=sf.metrics.Range()),
    sf.Space(sf.domains.Stream(Integers()), sf.LInf()),
    sf.batches(int),
    PARTED,
]


def drawn(space: sf.Space, d_in: Any, seed: int, many: int = 60) -> list[tuple[Any, Any]]:
    chance = Chance(ReplayEntropy(seed))
    pairs = (neighbours(space, space.metric.read(d_in), chance) for _ in range(many))
    return [pair for pair in pairs if pair is not None]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("d_in", [1, 2, 5])
def test_neighbours_are_members_near_each_other_and_as_far_as_they_may_be(space: sf.Space, d_in: int) -> None:
    pairs = drawn(space, d_in, 3, 150)
    assert len(pairs) > 60
    apart = [space.distance(left, right) for left, right in pairs]
    allowed = space.metric.read(d_in)
    assert all(space.domain.member(member) for pair in pairs for member in pair)
    assert all(gap <= allowed for gap in apart)
    reach = min(d_in, getattr(space.domain, "size", None) or d_in)
    most = max(gap.rows if isinstance(gap, GroupedDistance) else gap for gap in apart)
    if isinstance(space.metric, sf.metrics.Discrete):
        assert most == 1
    elif isinstance(space.metric, sf.AddRemove | PartDistance) and getattr(space.domain, "size", None):
        assert most == reach - reach % 2
    elif isinstance(space.metric, sf.L2):
        assert float(most) > 0.9 * d_in
    elif not isinstance(space.metric, sf.metrics.Windows):
        assert most > 0.85 * reach


def test_spreads_are_kept() -> None:
    pairs = drawn(PARTED, GroupedDistance(2, 3, 2), 1, 200)
    gaps = {PARTED.distance(left, right) for left, right in pairs}
    assert GroupedDistance(2, 3, 2) in gaps and all(gap <= GroupedDistance(2, 3, 2) for gap in gaps)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_member_is_the_same_however_it_is_dressed(space: sf.Space) -> None:
    chance = Chance(ReplayEntropy(5))
    for _ in range(30):
        rows = sections(space.domain, chance)
        plain, other = assemble(rows, space.domain), assemble(rows, space.domain, chance)
        assert space.domain.member(plain) and space.domain.member(other)
        assert same(take_apart(plain, space.domain), rows) and same(take_apart(other, space.domain), rows)


def same(one: Any, other: Any) -> bool:
    """Tells whether values are equal, of whatever type; NaN is equal to NaN."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))


def test_what_is_nasty_is_drawn() -> None:
    seen = [value for pair in drawn(SPACES[0], 1, 1, 300) for member in pair for value in map(float, member)]
    assert any(map(math.isnan, seen)) and math.inf in seen and 5e-324 in seen
    assert any(value == 0 and math.copysign(1, value) < 0 for value in seen)
    sizes = {len(rows_of(member)) for pair in drawn(sf.vector(int), 1, 1, 300) for member in pair}
    assert {0, 1, 2, 40, 127} <= sizes
    members = [member for pair in drawn(sf.vector(int), 1, 1, 300) for member in pair]
    kinds = {member.dtype.str for member in members if isinstance(member, np.ndarray)}
    assert {"<i8", ">i8", "|i1", "<u8"} <= kinds


def test_the_same_entropy_gives_the_same_audit() -> None:
    wrong = sf.transformation(
        sf.vector(int), sf.scalar(int), function=lambda rows: sum(map(int, rows)), map=lambda d: d, claim=VOUCHED
    )
    one, other = (fuzz(wrong, entropy=ReplayEntropy(9)) for _ in range(2))
    assert one.witness is not None and other.witness is not None
    assert one.witness.event == other.witness.event == "left, right = [2], []"
    assert (one.lines[0].claimed, one.lines[0].low) == (1, 2)
    assert "[2]" not in str(one), "a witness may be private: it stands in no report that did not ask for it"


def test_a_failure_on_some_members_is_a_fault_though_neighbours_fail_alike() -> None:
    source = sf.Space(Custom("texts", lambda value: isinstance(value, str)), sf.metrics.Discrete())
    wrong = sf.transformation(source, source, function=lambda text: text[0], map=lambda d: d, claim=VOUCHED)

    def alike(entropy: Entropy) -> tuple[str, str]:
        text = "a" * entropy.below(3)
        return text, text

    audit = fuzz(wrong, make=alike, entropy=ReplayEntropy(1))
    assert audit.faults == (FAILS_ON_SOME,) and audit.verdict is Verdict.VIOLATED


def test_domains_of_ones_own_need_a_maker() -> None:
    source = sf.Space(Custom("texts", lambda value: isinstance(value, str)), sf.metrics.Discrete())
    kept = sf.transformation(source, source, function=lambda text: text, map=lambda d: d, claim=VOUCHED)
    with pytest.raises(BadArgument, match="make="):
        fuzz(kept)
    with pytest.raises(BadArgument, match="two members"):
        fuzz(kept, make=lambda entropy: ("a", 1))
    audit = fuzz(kept, make=lambda entropy: ("a", "b"), tries=3)
    assert audit.verdict is Verdict.TIGHT and dict(audit.facts)["pairs of neighbours"] == "3"


def test_what_is_no_component_is_refused() -> None:
    with pytest.raises(BadArgument, match="transformation or a measurement"):
        fuzz(sf.vector(int))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="tries"):
        fuzz(sf.vector(int) >> sf.count(), tries=0)


@pytest.mark.parametrize("seconds", ["soon", 0, -1, math.nan, [2]], ids=repr)
def test_seconds_are_a_length_of_time(seconds: Any) -> None:
    with pytest.raises(BadArgument, match="seconds"):
        fuzz(sf.vector(int) >> sf.count(), seconds=seconds)


@pytest.mark.parametrize("made", [([1], [2], [3]), ([1],), 5, None], ids=repr)
def test_makers_give_two_members(made: Any) -> None:
    with pytest.raises(BadArgument, match="two members"):
        fuzz(sf.vector(int) >> sf.count(), make=lambda entropy: made)
    with pytest.raises(BadArgument, match="a function that draws"):
        fuzz(sf.vector(int) >> sf.count(), make=made or "none")


def test_equal_pairs_show_nothing() -> None:
    counted = sf.vector(int) >> sf.count()
    for subject in (counted, counted >> sf.laplace(scale=1)):
        assert fuzz(subject, make=lambda entropy: ([1], [1]), tries=3).verdict is Verdict.OPEN


def test_the_pair_that_loses_most_is_kept_though_nothing_is_wrong() -> None:
    found = fuzz(sf.vector(int, between=(0, 9)) >> sf.sum() >> sf.laplace(scale=9), tries=100, entropy=ReplayEntropy(1))
    assert found.verdict is Verdict.SOUND and found.line("ε").high == 1 and found.witness is not None
    left, right = ([int(one) for one in member] for member in (found.witness.left, found.witness.right))
    assert abs(sum(left) - sum(right)) == 9 and len(left) + len(right) <= 3, "as small as there was one"
    assert found.witness.event.startswith("left, right = ")


def test_laws_are_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(
        "sfumato.audit.pairwise.exact", lambda *said, **more: looked.append(said) or exact(*said, **more)
    )
    fuzz(sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75"), tries=40, entropy=ReplayEntropy(1))
    assert len(looked) == 40 // LAW_EVERY


PEOPLE = sf.frame({"who": int, "n": int}, metric=sf.Identifiers("who"))


def test_crowds_are_drawn_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that wraps needs as many rows as it can count, and a bound on people one with very many rows."""
    chance = Chance(ReplayEntropy(1))
    for space in (sf.vector(int), PEOPLE):
        pair = crowded(space, Fraction(1), chance)
        assert pair is not None and max(len(rows_of(member)) for member in pair) >= CROWD - 1
    for space in (sf.vector(int, size=4), sf.scalar(int), sf.vector(int, size=3, metric=sf.L1())):
        assert crowded(space, Fraction(1), chance) is None
    monkeypatch.setattr("sfumato.audit.neighbouring.CROWD", 1 << 9)
    monkeypatch.setattr(sys.modules["sfumato.audit.fuzz"], "CROWD_EVERY", 3)  # the name in the package is the function
    wrapped = sf.transformation(
        sf.vector(int), sf.scalar(int), function=lambda rows: len(rows) % 512, map=lambda d: d, claim=VOUCHED
    )
    every = sf.transformation(
        PEOPLE, sf.scalar(int), function=lambda data: len(data["who"]), map=lambda d: 400 * d, claim=VOUCHED
    )
    for subject in (wrapped, every):
        audit = fuzz(subject, tries=40, entropy=ReplayEntropy(1))
        assert audit.verdict is Verdict.VIOLATED and audit.witness is not None and len(audit.witness.event) < 200


def test_time_is_kept_and_progress_told() -> None:
    told: list[tuple[int, int]] = []
    audit = fuzz(sf.vector(int) >> sf.count(), tries=10**6, seconds=0.05, progress=lambda *at: told.append(at))
    assert dict(audit.facts)["pairs of neighbours"] == str(len(told)) and 1 < len(told) < 10**6
    assert told[0] == (1, 10**6)


@pytest.mark.parametrize(
    "value",
    [
        [math.inf, -math.inf, -0.0, 5e-324],
        {"a": np.array([1, 2], dtype=">i8"), "b": ("x" * 500, None)},
        np.zeros((0, 2)),
        np.array([["a", None]], dtype=object),
        [np.float32(0.5), np.int8(3)],
        [7] * 100,
    ],
    ids=repr,
)
def test_expressions_give_the_value_again(value: Any) -> None:
    again = eval(expression(value), {"np": np})
    assert expression(again) == expression(value)


def test_frames_and_texts_are_drawn() -> None:
    domain = Frame((("a", Texts()), ("b", Integers())))
    assert any(len(rows_of(left)) for left, _ in drawn(sf.Space(domain, sf.AddRemove()), 1, 1))
