"""The fuzzer can fail: mistakes that were made in real software are caught, in the usual number of tries."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.fuzz import fuzz
from sfumato.audit.pairwise import CHANGED, FAILS, OUTSIDE, TOO_FAR
from sfumato.audit.record import Verdict
from sfumato.core.domains import Floats, Integers
from sfumato.core.parts import Parts
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy, ReplayEntropy

VOUCHED = sf.claim("for this test")
NAN = Floats(nan=True)


def wrong(
    source: sf.Space, target: sf.Space, function: Callable[[Any], Any], stability_map: Callable[[Any], Any]
) -> Any:
    return sf.transformation(source, target, function=function, map=stability_map, claim=VOUCHED)


def floats(rows: Any) -> np.ndarray[Any, Any]:
    return np.array([float(x) for x in rows])


def clip_passes_nan() -> Transformation:
    """Clips with NumPy, which lets NaN through, and says that all is within bounds."""
    return wrong(
        sf.vector(NAN), sf.vector(float, between=(0, 1)), lambda rows: np.clip(floats(rows), 0, 1), lambda d: d
    )


def sum_that_wraps() -> Transformation:
    """Adds whole numbers in 64 bits."""
    bound = 2**62
    return wrong(
        sf.vector(int, between=(-bound, bound)),
        sf.scalar(int),
        lambda rows: int(np.array(list(rows), dtype=np.int64).sum()),
        lambda d: bound * d,
    )


def sum_of_floats() -> Transformation:
    """Adds floats as they come: the order of the rows decides the last bits, and large ones swallow small ones."""
    return wrong(
        sf.vector(float, between=(-1, 2**53)),
        sf.scalar(float),
        lambda rows: float(np.sum(floats(rows))),
        lambda d: 2**53 * d,
    )


def mean_of_unknown_size() -> Transformation:
    """Divides by the size of the data, which one row changes."""
    return wrong(
        sf.vector(int, between=(0, 9)),
        sf.Space(Integers(step=Fraction(1, 1000)), sf.metrics.Absolute()),
        lambda rows: round(1000 * sum(map(int, rows)) / len(rows)) if len(rows) else 0,
        lambda d: Fraction(9, 2) * d,
    )


def pairing_drops_the_last_row() -> Transformation:
    """Pairs rows with the next ones, and drops the one that is left (opendp 2950)."""

    def slopes(rows: Any) -> list[int]:
        listed = sorted(map(int, rows))
        return [b - a for a, b in zip(listed[::2], listed[1::2], strict=False)]

    return wrong(sf.vector(int), sf.vector(int), slopes, lambda d: d)


def cut_makes_nan_missing() -> Transformation:
    """Sorts values into bins, with nothing for NaN, and says that every row has one (opendp 2939)."""

    def binned(rows: Any) -> list[Any]:
        return [None if math.isnan(x) else int(x > 0) for x in floats(rows)]

    return wrong(sf.vector(NAN), sf.vector([0, 1]), binned, lambda d: d)


def single_precision_taken_for_double() -> Transformation:
    """Moves a number to single precision, where it may land further away than its map says (opendp 2941)."""
    return wrong(
        sf.scalar(float, between=(-(2**60), 2**60)), sf.scalar(float), lambda x: float(np.float32(x)), lambda d: d
    )


def tree_that_wraps() -> Transformation:
    """Adds up the layers of a tree of counts in 32 bits (opendp 2925)."""

    def layers(counts: Any) -> list[int]:
        leaves = np.array([int(x) % 2**32 for x in counts], dtype=np.uint32)
        return [int(leaves.sum(dtype=np.uint32)), *map(int, leaves)]

    return wrong(
        sf.vector(int, between=(0, 2**40), size=4, metric=sf.L1()),
        sf.vector(int, size=5, metric=sf.L1()),
        layers,
        lambda d: 2 * d,
    )


def resize_without_a_shuffle() -> Transformation:
    """Takes the first rows, whose order is nobody's promise (opendp 2927)."""
    return wrong(sf.vector(int), sf.vector(int, size=3), lambda rows: [*map(int, rows), 0, 0, 0][:3], lambda d: d)


DAYS = (datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date(2024, 2, 29))


def days_without_a_sign() -> Transformation:
    """Takes the number of a day, which is below 0 before 1970, for one without a sign (opendp 2937)."""

    def total(rows: Any) -> int:
        numbers = [(day - datetime.date(1970, 1, 1)).days for day in rows]
        return int(np.array(numbers, dtype=np.int64).astype(np.uint32).astype(np.int64).sum())

    return wrong(sf.vector(list(DAYS)), sf.scalar(int), total, lambda d: 800_000 * d)


def fails_on_empty_data() -> Transformation:
    """Takes the largest of all rows, of which there need not be one."""
    return wrong(sf.vector(int), sf.vector(int, size=1), lambda rows: [max(map(int, rows))], lambda d: d)


def sorts_in_place() -> Transformation:
    """Sorts the caller's own rows."""

    def arranged(rows: Any) -> Any:
        if isinstance(rows, list):
            rows.sort(key=float)
        return list(rows)

    return wrong(sf.vector(int), sf.vector(int), arranged, lambda d: d)


def ids_compared_as_floats() -> Transformation:
    """Takes two people for one, whose numbers are the same as floats."""
    people = sf.frame({"id": int, "n": int}, metric=sf.Identifiers("id"))

    def one_row_each(data: Any) -> list[float]:
        return list(
            {float(min(int(x), 2**60)): float(n % 7) for x, n in zip(data["id"], data["n"], strict=True)}.values()
        )

    return wrong(people, sf.vector(float), one_row_each, lambda d: d)


def sizes_move_by_the_largest() -> Transformation:
    """Counts the rows of each part, and says that all of them together move by what one of them does."""
    parted = sf.vector(["a", "b"]) >> sf.group_by()
    return wrong(
        parted.target, sf.vector(int, size=2, metric=sf.L1()), lambda parts: list(map(len, parts)), lambda d: d.largest
    )


WRONG: list[tuple[Callable[[], Transformation], set[str]]] = [
    (clip_passes_nan, {OUTSIDE}),
    (sum_that_wraps, {TOO_FAR}),
    (sum_of_floats, {TOO_FAR}),
    (mean_of_unknown_size, {TOO_FAR}),
    (pairing_drops_the_last_row, {TOO_FAR}),
    (cut_makes_nan_missing, {OUTSIDE}),
    (single_precision_taken_for_double, {TOO_FAR}),
    (tree_that_wraps, {TOO_FAR}),
    (resize_without_a_shuffle, {TOO_FAR}),
    (days_without_a_sign, {TOO_FAR}),
    (fails_on_empty_data, {FAILS}),
    (sorts_in_place, {CHANGED}),
    (ids_compared_as_floats, {TOO_FAR}),
    (sizes_move_by_the_largest, {TOO_FAR}),
]


@pytest.mark.parametrize("make, faults", WRONG, ids=[make.__name__ for make, _ in WRONG])
def test_a_wrong_transformation_is_caught(make: Callable[[], Transformation], faults: set[str]) -> None:
    subject = make()
    apart = sf.GroupedDistance(2, 2, 1) if isinstance(subject.source.domain, Parts) else 1
    audit = fuzz(subject, d_in=apart, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.VIOLATED
    assert set(audit.faults) == faults
    with pytest.raises(sf.errors.PromiseBroken):
        audit.check()
    assert audit.witness is not None
    assert len(audit.witness.event) < 600, "the pair was made small"
    scope: dict[str, Any] = {"np": np, "datetime": datetime}
    exec(audit.witness.event, scope)  # what is written down makes the same pair again
    assert subject.source.domain.member(scope["left"]) and subject.source.domain.member(scope["right"])
    assert subject.source.distance(scope["left"], scope["right"]) <= subject.source.metric.read(apart)


# Measurements


def noise(entropy: Entropy, exact: int) -> Any:
    """Adds noise for a sensitivity of 1, at ε = 1."""
    return (sf.scalar(int) >> sf.laplace(scale=1)).function(exact, entropy)


def private(source: sf.Space, function: Callable[[Any, Entropy], Any]) -> sf.Measurement:
    return sf.measurement(source, sf.Pure, function=function, map=lambda d: sf.Pure(Fraction(d)), claim=VOUCHED)


def half_the_loss() -> sf.Measurement:
    """Claims half of what the noise costs."""
    counted = sf.vector(int) >> sf.count() >> sf.laplace(scale=1)
    return replace(counted, privacy_map=lambda d: sf.Pure(Fraction(d) / 2))


def half_the_loss_of_a_law() -> sf.Measurement:
    """Claims half of what the law shows, on what no recorder sees."""
    told = sf.scalar(["a", "b", "c"]) >> sf.randomized_response(epsilon=2)
    return replace(told, function=lambda member, entropy: "a", privacy_map=lambda d: sf.Pure(Fraction(d)))


def sum_without_bounds() -> sf.Measurement:
    """Adds noise to a sum whose rows were never clamped."""
    return private(sf.vector(int), lambda rows, entropy: noise(entropy, sum(map(int, rows))))


def size_beside_the_noise() -> sf.Measurement:
    """Gives the number of rows as it is, beside a noisy one."""
    return private(sf.vector(int), lambda rows, entropy: (noise(entropy, len(rows)), len(rows)))


def noise_only_where_there_are_rows() -> sf.Measurement:
    """Adds no noise to nothing."""
    return private(sf.vector(int), lambda rows, entropy: noise(entropy, len(rows)) if len(rows) else 0)


def fails_on_nan() -> sf.Measurement:
    """Rounds what need not be a number."""
    return private(sf.vector(NAN), lambda rows, entropy: noise(entropy, min(1, int(sum(map(float, rows))))))


UNSOUND = [
    half_the_loss,
    half_the_loss_of_a_law,
    sum_without_bounds,
    size_beside_the_noise,
    noise_only_where_there_are_rows,
    fails_on_nan,
]


@pytest.mark.parametrize("make", UNSOUND, ids=lambda make: make.__name__)
def test_a_wrong_measurement_is_caught(make: Callable[[], sf.Measurement]) -> None:
    audit = fuzz(make(), entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.VIOLATED
    assert audit.witness is not None
    assert len(audit.witness.event) < 100, "the pair was made small"


def leaks_beside_a_coin(claim: int) -> sf.Measurement:
    """Tells how many rows there are, after a toss that changes nothing."""

    def run(rows: Any, entropy: Entropy) -> str:
        entropy.bits(1)
        return f"{len(rows)} rows"

    return sf.measurement(sf.vector(int), sf.Pure, function=run, map=lambda d: sf.Pure(claim * d), claim=VOUCHED)


def never_works(rows: Any, entropy: Entropy) -> Any:
    raise NameError("a slip")


@pytest.mark.parametrize("claim", [0, 1])
def test_what_is_left_open_once_is_left_open(claim: int) -> None:
    audit = fuzz(leaks_beside_a_coin(claim), tries=40, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.OPEN and "beside what was randomized" in dict(audit.facts)["left open"]
    assert audit.line("ε").high == math.inf


def test_what_never_works_is_open_and_says_so() -> None:
    audit = fuzz(private(sf.vector(int), never_works), tries=30, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.OPEN and not audit.lines and audit.witness is None
    assert dict(audit.facts)["failed on both sides"] == "30"


# Honest measurements that look like liars

NOISY = sf.scalar(int, between=(0, 10)) >> sf.laplace(scale=3)


@pytest.mark.parametrize(
    "honest",
    [
        NOISY >> math.sqrt,
        NOISY >> (lambda told: 10 // told),
        private(sf.scalar(int), lambda number, entropy: math.sqrt(noise(entropy, number))),
        NOISY >> (lambda told: {told, math.nan}),
        NOISY >> (lambda told: type("Kept", (), {"told": told})()),
    ],
    ids=["root", "quotient", "root inside", "set", "object"],
)
def test_what_is_done_with_noise_is_no_leak(honest: sf.Measurement) -> None:
    audit = fuzz(honest, tries=60, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.SOUND, audit.faults


def test_functions_of_noise_are_left_open() -> None:
    audit = fuzz(NOISY >> (lambda told: lambda: told), tries=20, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.OPEN and "cannot be compared" in dict(audit.facts)["left open"]


def test_noise_from_elsewhere_is_left_open() -> None:
    forgets = private(sf.vector(int), lambda rows, entropy: (sf.scalar(int) >> sf.laplace(scale=1))(len(rows)).value)
    audit = fuzz(forgets, tries=20, entropy=ReplayEntropy(1))
    assert audit.verdict is Verdict.OPEN and "outside `entropy`" in dict(audit.facts)["left open"]
