"""The grey-box audit: honest subjects pass, liars are caught, and nothing that is said holds data."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audit.grey_box import grey_box
from sfumato.audit.likeness import difference
from sfumato.audit.record import Audit, Verdict
from sfumato.audit.recorder import Diverged, Recorder, Replayer
from sfumato.core.domains import Floats
from sfumato.core.random_step import RandomStep
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NotInDomain, PromiseBroken

VOUCHED = sf.claim("for this test")
ROWS = sf.vector(int)
NUMBER = sf.scalar(int)
Run = Callable[[Any, sf.entropy.Entropy], Any]


def noisy(number: int, entropy: sf.entropy.Entropy, *, scale: int = 1) -> int:
    """Gives a whole number with Laplace noise, as one act."""
    found: int = (NUMBER >> sf.laplace(scale=scale)).function(number, entropy)
    return found


def claimed(run: Run, *, epsilon: int = 1, space: sf.Space = ROWS) -> sf.Measurement:
    """Gives a measurement of a user's, who vouches for ε a row."""
    return sf.measurement(space, sf.Pure, function=run, map=lambda d: sf.Pure(epsilon * d), claim=VOUCHED)


def transformed(function: Callable[[Any], Any], *, most: int = 1, space: sf.Space = ROWS) -> sf.Measurement:
    """Gives noise on a number of which a user says that one row moves it by so much."""
    step = sf.transformation(space, NUMBER, function=function, map=lambda d: most * d, claim=VOUCHED)
    return step >> sf.laplace(scale=most)


def audited(subject: sf.Measurement, left: Any, right: Any) -> Audit:
    return grey_box(subject, left, right, entropy=ReplayEntropy(7))


# Honest subjects


def test_a_chain_is_measured_where_the_noise_is() -> None:
    found = audited(sf.vector(int, between=(0, 5)) >> sf.sum() >> sf.laplace(scale=10), [1, 2, 3], [1, 2])
    assert found.verdict is Verdict.SOUND and not found.faults and found.witness is None
    assert found.line("1. laplace: distance").low == 3
    assert (found.line("ε").claimed, found.line("ε").low) == (Fraction(1, 2), 0)
    assert found.line("ε").high == Fraction(3, 10) and found.check() is found


def test_what_the_steps_lose_is_a_bound_from_above() -> None:
    """All of the noise is paid for, and none of it released: that the claim is reached would be a lie."""
    nothing = sf.vector(int, between=(0, 5)) >> sf.sum() >> sf.laplace(scale=10) >> (lambda told: 0)
    found = audited(nothing, [1, 5], [1])
    assert found.verdict is Verdict.SOUND and (found.line("ε").low, found.line("ε").high) == (0, Fraction(1, 2))


def test_a_distance_may_be_given_instead_of_measured() -> None:
    made = ROWS >> sf.count() >> sf.laplace(scale=1)
    assert grey_box(made, [1, 2], [1], d_in=3).line("ε").claimed == 3
    with pytest.raises(BadArgument, match="d_in must be no less than the distance"):
        grey_box(made, [1, 2, 3], [1], d_in=1)
    with pytest.raises(BadArgument, match="d_in"):  # Hamming distances are between rows of one number
        grey_box(sf.vector(int, size=2, metric=sf.L1()) >> sf.laplace(scale=1), [0, 0], [0, 9], d_in=1)


def test_a_users_measurement_made_of_mechanisms_is_looked_into() -> None:
    def both(data: list[int], entropy: sf.entropy.Entropy) -> tuple[int, int]:
        return noisy(len(data), entropy, scale=2), noisy(sum(one > 3 for one in data), entropy, scale=2)

    found = audited(claimed(both), [1, 9], [1])
    assert found.verdict is Verdict.SOUND and dict(found.facts) == {"randomized steps": "2"}
    lost = audited(claimed(both, epsilon=0), [1, 9], [1])
    assert lost.faults == ("what is randomized is too far apart: ε = 1 is lost, and ε = 0 is claimed",)


def test_noise_that_is_drawn_outside_of_acts_is_left_open() -> None:
    """What a user draws has no distance: neither proven nor broken."""
    raw = claimed(lambda data, entropy: len(data) + entropy.below(100))
    found = audited(raw, [1, 2], [1])
    assert found.verdict is Verdict.OPEN and "beside what was randomized" in dict(found.facts)["left open"]
    nothing = grey_box(raw.function, [1, 2], [1], claim=sf.Pure(0), entropy=ReplayEntropy(7))
    assert nothing.verdict is Verdict.OPEN


def test_public_coins_are_given_to_both_sides() -> None:
    def tossed(data: list[int], entropy: sf.entropy.Entropy) -> int:
        return noisy(len(data), entropy) if entropy.bits(1) else noisy(-len(data), entropy)

    for seed in range(6):
        found = grey_box(claimed(tossed), [1, 2], [1], entropy=ReplayEntropy(seed))
        assert found.verdict is Verdict.SOUND and not found.faults


def test_random_transformations_are_never_violated_by_distances() -> None:
    """Other coins could bring the two together: with these, resizing moves more rows than it says it may."""
    made = ROWS >> sf.resize(3, 0) >> sf.clamp(0, 9) >> sf.sum() >> sf.laplace(scale=9)
    said = {grey_box(made, list(range(9)), list(range(8)), entropy=ReplayEntropy(seed)).verdict for seed in range(9)}
    assert Verdict.VIOLATED not in said and Verdict.OPEN in said


def test_a_queryable_is_asked_by_a_function() -> None:
    made = sf.vector(int) >> sf.query_stream() >> sf.above_threshold(2, scale=1)

    def asked(data: list[int], entropy: sf.entropy.Entropy) -> list[bool]:
        ask, told = made.function(data, entropy), []
        while not any(told) and len(told) < 20:
            told.append(ask(sf.count()))
        return told

    found = grey_box(asked, [1, 2, 3], [1, 2], claim=made.map(1), entropy=ReplayEntropy(1))
    assert found.verdict is Verdict.SOUND and found.line("ε").claimed == 2
    assert found.line("1. ThresholdRule: distance").low == 1
    with pytest.raises(BadArgument, match="answers once"):
        grey_box(made, [1], [1])
    with pytest.raises(BadArgument, match="ask the queryable"):
        grey_box(made.function, [1], [1], claim=sf.Pure(1))


def test_a_stream_of_totals_is_measured_by_its_entries() -> None:
    space = sf.Space(sf.domains.Stream(sf.Integers()), sf.L1())
    made = space >> sf.stats.running_counts(loss=sf.Pure(1), steps=4, method="tree")

    def watched(data: list[int], entropy: sf.entropy.Entropy) -> list[float]:
        ask = made.function(data, entropy)
        return [ask() for _ in data]

    found = grey_box(watched, [1, 0, 1, 0], [1, 0, 0, 0], claim=sf.Pure(1), entropy=ReplayEntropy(1))
    assert found.line("1. running counts: distance").low == 3  # the step itself, it and the next, all four
    assert found.verdict is Verdict.SOUND


def test_losses_of_several_kinds_are_composed_in_that_of_the_claim() -> None:
    def mixed(data: list[int], entropy: sf.entropy.Entropy) -> tuple[int, Any]:
        return noisy(len(data), entropy), (NUMBER >> sf.gaussian(scale=2)).function(len(data), entropy)

    both = sf.convert(sf.ZCDP("0.125"), sf.Approx, delta="1e-6").then(sf.Approx(1, 0))
    assert grey_box(mixed, [1], [], claim=both).verdict is Verdict.SOUND
    concentrated = sf.convert(sf.Pure(1), sf.ZCDP).then(sf.ZCDP("0.125"))
    assert grey_box(mixed, [1], [], claim=concentrated).verdict is Verdict.SOUND
    less = sf.Approx(both.epsilon - Fraction(1, 2), both.delta)
    assert grey_box(mixed, [1], [], claim=less).verdict is Verdict.VIOLATED
    pairs = sf.composition([sf.convert_measure(NUMBER >> sf.laplace(scale=4), sf.ZCDP)] * 3)
    assert grey_box(NUMBER >> pairs, 0, 1).verdict is Verdict.SOUND  # ε²/2 of each, not of the sum


@pytest.mark.parametrize("kind", [sf.Renyi, sf.PLD, sf.Profile, sf.GDP, sf.accounting.BoundedRange, sf.ApproxZCDP])
def test_claims_of_every_kind_are_measured(kind: type[sf.Loss]) -> None:
    made = sf.convert_measure(NUMBER >> sf.laplace(scale=2), kind)
    assert grey_box(made, 0, 1).verdict is Verdict.SOUND
    assert grey_box(made.function, 0, 3, claim=made.map(1)).verdict is Verdict.VIOLATED


def test_curves_are_compared_at_several_deltas() -> None:
    """At δ = 1e-6 this noise has no finite ε, at 1e-2 it has."""
    made = sf.convert_measure(NUMBER >> sf.mechanisms.truncated_laplace(scale=1, reach=9), sf.Profile)
    assert grey_box(made, 0, 1).line("ε at δ = 1e-06").claimed == math.inf
    found = grey_box(made.function, 0, 3, claim=made.map(1))
    assert found.verdict is Verdict.VIOLATED
    assert re.search("ε = [0-9.∞]+ at δ = 0.01 is lost, and ε = [0-9.]+ at δ = 0.01 is claimed", found.faults[0])


def test_many_small_losses_may_be_composed_better_than_by_adding_up() -> None:
    def many(data: list[int], entropy: sf.entropy.Entropy) -> list[int]:
        return [noisy(len(data), entropy, scale=100) for _ in range(100)]

    assert grey_box(many, [1], [], claim=sf.Approx("0.6", "1e-6")).verdict is not Verdict.VIOLATED
    found = grey_box(many, [1], [], claim=sf.Approx("0.2", "1e-6"))
    assert found.verdict is Verdict.VIOLATED and dict(found.facts)["randomized steps"] == "100, the 20 largest shown"


def calibrated(*, size: int | None = None) -> sf.Measurement:
    space = sf.scalar(int) if size is None else sf.vector(int, size=size, metric=sf.L2())
    return sf.calibrate(lambda scale: space >> sf.gaussian(scale), d_in=1, loss=sf.Approx(1, 1e-6))


@pytest.mark.parametrize(("size", "left", "right"), [(None, 3, 4), (3, [1, 2, 3], [1, 3, 3])])
def test_gaussian_noise_at_a_delta_is_counted_by_its_profile(size: int | None, left: Any, right: Any) -> None:
    noisy = calibrated(size=size)
    assert grey_box(noisy, left, right).verdict is Verdict.SOUND
    cheap = replace(noisy, privacy_map=lambda _: sf.Approx("0.97", 1e-6))
    assert grey_box(cheap, left, right, d_in=1).verdict is Verdict.VIOLATED


GAUSSIAN_QUESTIONS = [
    "COUNT(*) AS n",
    "COUNT(*) AS n, SUM(x) AS s",
    "COUNT(*) FILTER (WHERE x < 5) AS a, COUNT(*) FILTER (WHERE x >= 5) AS b",
]


@pytest.mark.parametrize("keys", ["", "k, "], ids=["whole", "unknown keys"])
@pytest.mark.parametrize("asked", GAUSSIAN_QUESTIONS)
def test_questions_with_gaussian_noise_keep_their_price(asked: str, keys: str) -> None:
    columns = {"u": {"type": "int"}, "k": {"type": "int"}, "x": {"type": "float", "between": [0, 10], "source": "s"}}
    table = {"contributions": {"rows": 1, "source": "s"}, "columns": columns}
    book = {"codebook": 1, "title": "t", "unit": {"protects": "a person", "id": "u"}, "tables": {"t": table}}

    def people(many: int) -> dict[str, pa.Table]:
        ids = np.arange(many)
        return {"t": pa.table({"u": ids, "k": ids % 2, "x": ids % 10.0})}

    text = f"SELECT {keys}{asked} FROM t{' GROUP BY k' if keys else ''}"
    told = sf.audit.grey_box_query(
        text, people(30), people(31), codebook=book, loss=sf.Approx(1, "1e-6"), noise="gaussian"
    )
    assert told.verdict is Verdict.SOUND, told


def test_the_same_error_on_both_sides_is_no_leak_and_no_praise() -> None:
    def fails(data: list[int], entropy: sf.entropy.Entropy) -> int:
        noisy(0, entropy)
        raise ValueError("never works")

    for found in (
        audited(claimed(fails), [1, 2], [1]),
        audited(claimed(fails, epsilon=0), [1, 2], [1]),
        grey_box(lambda data: len(data), [1, 5], [1], claim=1),  # type: ignore[arg-type, misc]
    ):
        assert (
            found.verdict is Verdict.OPEN and not found.faults and "both sides fail" in dict(found.facts)["left open"]
        )


# Honest subjects that look like liars


def test_randomness_of_ones_own_is_no_leak() -> None:
    """Whoever forgets to hand on entropy draws other noise in the replay, which says nothing about the data."""

    def forgets(data: list[int], entropy: sf.entropy.Entropy) -> Any:
        return (NUMBER >> sf.laplace(scale=10**9))(len(data)).value

    for pair in (([1, 2], [1]), ([1], [1])):
        for source in (ReplayEntropy(1), None):
            found = grey_box(claimed(forgets), *pair, entropy=source)
            assert found.verdict is Verdict.OPEN and "outside `entropy`" in dict(found.facts)["left open"]
    by_luck = claimed(lambda data, entropy: forgets(data, entropy) * 0)
    assert audited(by_luck, [1, 2], [1]).verdict is Verdict.OPEN  # equal, and nothing was recorded


def test_randomness_that_nobody_sees_is_found_by_running_again() -> None:
    turns = itertools.count()
    counted = claimed(lambda data, entropy: noisy(len(data), entropy) + next(turns))
    moved = claimed(lambda data, entropy: noisy(len(data) + 2 * next(turns), entropy))  # goes in, and is paid for
    failing = claimed(lambda data, entropy: noisy(len(data), entropy) // (next(turns) % 2))
    for subject in (counted, moved, failing):
        found = audited(subject, [1, 2], [1])
        assert found.verdict is Verdict.OPEN and "the same data" in dict(found.facts)["left open"]


def test_nothing_is_laid_to_the_data_where_coins_were_tossed() -> None:
    """Noise of one's own in coins: other coins lead to the same error, and to the same steps."""
    fails = claimed(lambda data, entropy: 1 // (len(data) + entropy.below(4) - 4))
    steps = claimed(lambda data, entropy: [noisy(0, entropy) for _ in range(len(data) + entropy.below(4))])
    for subject in (fails, steps):
        said = {grey_box(subject, [1, 2], [1], entropy=ReplayEntropy(seed)).verdict for seed in range(8)}
        assert Verdict.VIOLATED not in said and Verdict.OPEN in said


def test_errors_in_post_processing_are_outcomes() -> None:
    rooted = NUMBER >> sf.laplace(scale=1) >> math.sqrt
    said = {grey_box(rooted, 0, 1, entropy=ReplayEntropy(seed)).verdict for seed in range(8)}
    assert said == {Verdict.OPEN, Verdict.SOUND}  # where it fails, and where it does not


def test_releases_that_cannot_be_compared_are_left_open() -> None:
    class Opaque:
        __slots__ = ()

    class Model:
        def __init__(self, told: Any) -> None:
            self.told = told

    def gives(made: Callable[[Any], Any]) -> Audit:
        return audited(ROWS >> sf.count() >> sf.laplace(scale=1) >> made, [1, 2], [1])

    for made in (lambda told: Opaque(), lambda told: lambda: told, lambda told: [told, Opaque()], iter_of):
        found = gives(made)
        assert found.verdict is Verdict.OPEN and "cannot be compared" in dict(found.facts)["left open"]
    for made in (Model, lambda told: {told, math.nan}, lambda told: Model([Model(told), math.nan])):
        assert gives(made).verdict is Verdict.SOUND
    peeking = claimed(lambda data, entropy: [Opaque(), Model((noisy(0, entropy), len(data)))])
    assert audited(peeking, [1, 2], [1]).verdict is Verdict.VIOLATED
    shared = Model(0)
    changed = claimed(lambda data, entropy: (setattr(shared, "told", len(data)), shared)[1])
    assert audited(changed, [1, 2], [1]).verdict is Verdict.OPEN  # one object, and the first state of it is gone


def iter_of(told: Any) -> Any:
    return iter([told])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_compared_by_their_columns(library: str) -> None:
    frames = pytest.importorskip(library)
    table = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    column = {"pandas": "Series", "polars": "Series", "pyarrow": "array"}[library]
    for make in (lambda values: getattr(frames, table)({"a": values}), lambda values: getattr(frames, column)(values)):
        assert difference(make([1.0, math.nan]), make([1.0, math.nan])) == ""
        for other in ([1.0, 2.0], [1, 2], [1.0], ["a", "b"]):
            assert difference(make([1.0, math.nan]), make(other)) in ("the value", "the type")
        honest = ROWS >> sf.count() >> sf.laplace(scale=1) >> (lambda told, make=make: make([float(told), math.nan]))
        assert audited(honest, [1, 2], [1]).verdict is Verdict.SOUND
        peeking = claimed(lambda data, entropy, make=make: make([0.0] * 2000 + [float(len(data))]))
        assert audited(peeking, [1, 2], [1]).verdict is Verdict.VIOLATED


def test_threads_that_share_entropy_leave_all_open() -> None:
    def pooled(data: list[int], entropy: sf.entropy.Entropy) -> list[int]:
        first = noisy(0, entropy)
        with ThreadPoolExecutor(6) as pool:
            return [first, *pool.map(lambda place: noisy(len(data) if place == 3 else 0, entropy), range(6))]

    for _ in range(5):
        found = grey_box(claimed(pooled), [1, 2], [1])
        assert found.verdict is Verdict.OPEN and "several threads" in dict(found.facts)["left open"]


def test_a_theorem_of_ones_own_makes_one_step() -> None:
    """Report noisy max: four counts that one row moves by 1, noise of scale 2, and 2/2 in all (Dwork and Roth 2014)."""
    counts = sf.vector(int, size=4, metric=sf.LInf())

    def largest(scores: list[int], entropy: sf.entropy.Entropy) -> int:
        told = [noisy(score, entropy, scale=2) for score in scores]
        return told.index(max(told))

    mine = claimed(largest, space=counts)
    found = audited(mine, [3, 2, 1, 0], [4, 3, 2, 1])
    assert found.faults == ("what is randomized is too far apart: ε = 2 is lost, and ε = 1 is claimed",)
    whole = audited(mine.recorded(), [3, 2, 1, 0], [4, 3, 2, 1])
    assert whole.verdict is Verdict.SOUND and whole.line("ε").high == 1


# Liars


def nan_bypasses_the_clamp() -> tuple[sf.Measurement, Any, Any]:
    space = sf.vector(Floats(nan=True))
    step = sf.transformation(
        space,
        sf.scalar(float),
        function=lambda data: float(np.clip(np.array(data), 0, 1).sum()),
        map=lambda d: d,
        claim=VOUCHED,
    )
    return step >> sf.laplace(scale=1), [0.5, math.nan], [0.5]


def the_sum_wraps() -> tuple[sf.Measurement, Any, Any]:
    wrapped = transformed(lambda data: int(np.array(data, dtype=np.int64).sum()), most=1 << 62)
    return wrapped, [1 << 62, 1 << 62], [1 << 62]


def the_scale_is_computed_from_data() -> tuple[sf.Measurement, Any, Any]:
    return claimed(lambda data, entropy: noisy(0, entropy, scale=1 + max(data))), [1, 5], [1]


def the_scale_differs_in_the_tenth_digit() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> Any:
        scale = 1 + Fraction(len(data), 10**10)
        return (NUMBER >> sf.laplace(scale=scale)).function(0, entropy)

    return claimed(run), [1, 5], [1]


def keys_are_those_that_occur() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> dict[int, int]:
        return {key: noisy(data.count(key), entropy) for key in sorted(set(data))}

    return claimed(run), [1, 5], [1]


def keys_are_renamed() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> dict[int, int]:
        return {max(data): noisy(len(data), entropy)}

    return claimed(run), [1, 5], [1]


def rows_are_counted_in_public() -> tuple[sf.Measurement, Any, Any]:
    return claimed(lambda data, entropy: noisy(len(data), entropy) / len(data)), [1, 5], [1]


def post_processing_peeks() -> tuple[sf.Measurement, Any, Any]:
    seen: list[Any] = []

    def keep(data: Any) -> int:
        seen[:] = data
        return len(data)

    return transformed(keep) >> (lambda told: told + sum(seen)), [1, 5], [1]


def the_dtype_depends_on_data() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> Any:
        return np.array([noisy(len(data), entropy)], dtype=np.float64 if max(data) > 4 else np.int64)

    return claimed(run), [1, 5], [1]


def one_column_has_no_noise() -> tuple[sf.Measurement, Any, Any]:
    return claimed(lambda data, entropy: {"n": noisy(len(data), entropy), "most": max(data)}), [1, 5], [1]


def noise_is_shared() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> tuple[int, int]:
        shared = noisy(0, entropy)
        return len(data) + shared, sum(data) + shared

    return claimed(run), [1, 5], [1]


def an_error_tells() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> int:
        if max(data) > 4:
            raise ValueError("too large")
        return noisy(len(data), entropy)

    return claimed(run), [1, 5], [1]


def the_text_of_an_error_tells() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> int:
        raise ValueError(f"cannot do with {data}")

    return claimed(run), [1, 5], [1]


def it_stops_early() -> tuple[sf.Measurement, Any, Any]:
    def run(data: list[int], entropy: sf.entropy.Entropy) -> list[int]:
        return [noisy(one, entropy, scale=10) for one in data]

    return claimed(run), [1, 5], [1]


def the_sign_of_zero_tells() -> tuple[sf.Measurement, Any, Any]:
    return claimed(lambda data, entropy: 0.0 * noisy(1, entropy) * (-1) ** len(data)), [1, 5], [1]


def a_tree_wraps() -> tuple[sf.Measurement, Any, Any]:
    """OpenDP 2925: a node of a b-ary tree less its children, in unsigned numbers."""

    def rest(data: list[int]) -> int:
        whole, part = np.array([len(data), 2 * data.count(5)], dtype=np.uint32)
        return int(np.subtract(whole, part, dtype=np.uint32))

    return transformed(rest), [5], []


def dates_wrap() -> tuple[sf.Measurement, Any, Any]:
    """OpenDP 2937: days since 1970 in 32 bits, summed up."""
    summed = transformed(lambda data: int(np.array(data, dtype=np.int32).sum(dtype=np.int32)), most=1 << 30)
    return summed, [(1 << 30) - 1, 1 << 30, 1 << 30], [(1 << 30) - 1, 1 << 30]


def missing_values_are_counted_exactly() -> tuple[sf.Measurement, Any, Any]:
    """OpenDP 2939: values that fall into no bin make a bin of their own, without noise."""

    def run(data: list[float], entropy: sf.entropy.Entropy) -> dict[str, int]:
        inside = [one for one in data if one == one]
        return {"bin": noisy(len(inside), entropy), "null": len(data) - len(inside)}

    return claimed(run, space=sf.vector(Floats(nan=True))), [1.0, math.nan], [1.0]


def a_bound_on_rows_outlives_its_column() -> tuple[sf.Measurement, Any, Any]:
    """OpenDP 2949: each id keeps one row, but by a column that was written over since."""
    people = sf.frame({"id": int, "x": int}, metric=sf.Identifiers("id"))

    def kept(data: dict[str, list[int]]) -> int:
        written_over = range(len(data["id"]))
        return len(set(written_over))

    return transformed(kept, space=people), {"id": [1] + [2] * 100, "x": [0] * 101}, {"id": [1], "x": [0]}


LIARS: list[Callable[[], tuple[sf.Measurement, Any, Any]]] = [
    nan_bypasses_the_clamp,
    the_sum_wraps,
    the_scale_is_computed_from_data,
    the_scale_differs_in_the_tenth_digit,
    keys_are_those_that_occur,
    keys_are_renamed,
    rows_are_counted_in_public,
    post_processing_peeks,
    the_dtype_depends_on_data,
    one_column_has_no_noise,
    noise_is_shared,
    an_error_tells,
    the_text_of_an_error_tells,
    it_stops_early,
    the_sign_of_zero_tells,
    a_tree_wraps,
    dates_wrap,
    missing_values_are_counted_exactly,
    a_bound_on_rows_outlives_its_column,
]


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.__name__)
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
def test_liars_are_caught(liar: Callable[[], tuple[sf.Measurement, Any, Any]], turned: bool) -> None:
    subject, left, right = liar()
    for seed in range(3):
        pair = (right, left) if turned else (left, right)
        found = grey_box(subject, *pair, entropy=ReplayEntropy(seed))
        assert found.verdict is Verdict.VIOLATED
        assert found.witness is not None and (found.witness.left, found.witness.right) == pair
        with pytest.raises(PromiseBroken):
            found.check()


def test_what_is_said_names_the_fault_and_holds_no_data() -> None:
    said = {
        the_scale_is_computed_from_data: "control flow depends on the data",
        rows_are_counted_in_public: "beside what was randomized: the value",
        the_dtype_depends_on_data: "beside what was randomized: the dtype",
        keys_are_renamed: "beside what was randomized: the keys",
        an_error_tells: "raised on one side only",
        the_text_of_an_error_tells: "what an error says depends on the data",
        nan_bypasses_the_clamp: "outside of what the step is made for",
        a_bound_on_rows_outlives_its_column: "ε = 100 is lost, and ε = 1 is claimed",
    }
    for liar, words in said.items():
        subject, left, right = liar()
        text = str(audited(subject, left, right))
        assert words in text and str(left) not in text and "cannot do with" not in text


def test_a_step_that_fails_on_one_side_is_a_fault_wherever_it_is_caught() -> None:
    """A best-of takes failed runs for outcomes: that one side fails is seen all the same."""

    def tried(data: list[int], entropy: sf.entropy.Entropy) -> Any:
        def draw() -> int:
            if max(data) > 4:
                raise ValueError
            return 0

        try:
            return entropy.perform(RandomStep("mine", 0, lambda a, b: Fraction(abs(a - b)), lambda d: sf.Pure(d)), draw)
        except ValueError:
            return None

    for pair in (([1, 5], [1]), ([1], [1, 5])):
        assert "1. mine: it fails on one side only" in audited(claimed(tried), *pair).faults


# Arguments, records


def test_arguments_are_checked() -> None:
    made = ROWS >> sf.count() >> sf.laplace(scale=1)
    with pytest.raises(BadArgument, match="its own"):
        grey_box(made, [1], [], claim=sf.Pure(1))
    with pytest.raises(BadArgument, match="claim=…"):
        grey_box(lambda data, entropy: 0, [1], [])
    with pytest.raises(BadArgument, match="a measurement"):
        grey_box(ROWS >> sf.count(), [1], [], claim=sf.Pure(1))  # type: ignore[arg-type]
    with pytest.raises(NotInDomain):
        grey_box(made, ["a"], [])
    counted = made.function
    assert (
        grey_box(counted, [1], [], claim=1).line("ε").claimed == grey_box(counted, [1], [], claim="1").line("ε").claimed
    )
    with pytest.raises(BadArgument, match="epsilon"):
        grey_box(counted, [1], [], claim="much")


def test_a_record_keeps_outermost_acts_and_copies() -> None:
    recorder = Recorder(ReplayEntropy(1))
    outer = RandomStep("outer", 1, lambda a, b: Fraction(0), lambda d: sf.Pure(0))

    def draw() -> Any:
        noisy(1, recorder)
        return np.array([1, 2])

    given = recorder.perform(outer, draw)
    given[0] = 9
    assert [step.act.how for step in recorder.record.steps] == ["outer"] and not recorder.record.coins
    assert recorder.record.steps[0].outcome.tolist() == [1, 2]
    recorder.octets(3)
    assert [(place, len(coins)) for place, coins in recorder.record.coins] == [(1, 3)]
    assert recorder.replayable and recorder.drawn > 3

    replayer = Replayer(recorder.record, ReplayEntropy(2))
    assert replayer.perform(outer, draw).tolist() == [1, 2]
    assert replayer.octets(3) == recorder.record.coins[0][1] and replayer.coupled
    with pytest.raises(Diverged):
        replayer.perform(outer, draw)


def test_other_sources_only_draw() -> None:
    assert ReplayEntropy(1).perform(None, lambda: 5) == 5


def test_outcomes_differ_in_what_can_be_seen() -> None:
    nan, array = float("nan"), np.array
    same = [(nan, nan), (array([nan, -0.0]), array([nan, -0.0])), ({"a": [1, (2,)]}, {"a": [1, (2,)]})]
    assert all(difference(*pair) == "" for pair in same)
    assert difference(Fraction(1), Fraction(1)) == "" and difference(sf.Pure(1), sf.Pure(2)) == "the value"
    assert difference(array([1, None], dtype=object), array([1, None], dtype=object)) == ""
    differing = {
        "the type": [(1, 1.0), (1, True), ([1], (1,)), (None, 0), (np.int64(1), 1), (array([1, 2], object), [1, 2])],
        "the value": [(0.0, -0.0), (array([0.0]), array([-0.0])), (array([1]), array([2])), ("a", "b"), (nan, 1.0)],
        "the length": [([1], [1, 2]), ((), (1,))],
        "the keys": [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1: 0}, {1.0: 0})],
        "the dtype": [(array([1]), array([1.0])), (array([1], np.int32), array([1], np.int64))],
        "the shape": [(array([[1, 2]]), array([1, 2]))],
    }
    for words, pairs in differing.items():
        assert [difference(*pair) for pair in pairs] == [words] * len(pairs)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=2), parts, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_likeness_is_that_of_what_is_written(left: Any, right: Any) -> None:
    assert difference(left, left) == ""
    assert (difference(left, right) == "") == (repr(left) == repr(right))
    assert bool(difference(left, right)) == bool(difference(right, left))
