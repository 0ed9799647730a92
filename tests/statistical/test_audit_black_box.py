"""The black-box auditor is right as often as it says, comes close to the truth, catches liars and spares the honest.

All draws are replayed, so that no test fails by chance; how often it would with fresh draws is said where it matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.adversary import adversary
from sfumato.audit.black_box import black_box
from sfumato.audit.evidence import by_event, event_epsilon, least_epsilon, widest_gap
from sfumato.audit.outcomes import Floats, Pair, read
from sfumato.audit.record import Audit, Verdict
from sfumato.audit.testers import atoms, best_event
from sfumato.errors import BadArgument, NotInDomain, PromiseBroken
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

LN3 = math.log(3)
COIN = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
STEPS = 64
"""Noise of a mechanism under test is on a grid of 1/64."""


def low(audit: Audit) -> float:
    [line] = audit.lines
    return float(line.low)


def laplace(entropy: sf.entropy.Entropy, scale: float, count: int) -> Floats:
    """Draws sound Laplace noise, on a grid."""
    return DiscreteLaplace(Fraction(scale) * STEPS).samples(count, entropy) / STEPS


def naive_laplace(entropy: sf.entropy.Entropy, scale: float, count: int) -> Floats:
    """Draws Laplace noise as textbooks do, by the inverse of its distribution function in floats."""
    uniform = ((entropy.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53 - 0.5
    noise: Floats = -scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
    return noise


Batched = Callable[[Any, int], Any]


def with_noise(seed: int, run: Callable[[Any, int, sf.entropy.Entropy], Any]) -> Batched:
    entropy = sf.entropy.ReplayEntropy(seed)
    return lambda data, count: run(data, count, entropy)


# Each claims ε = 1 between the two data sets.
LIARS: dict[str, tuple[Callable[[Any, int, sf.entropy.Entropy], Any], Any, Any]] = {
    "half the noise": (lambda x, n, e: x + laplace(e, 0.5, n), 0, 1),
    "no clamp": (lambda x, n, e: sum(x) + laplace(e, 1, n), [0.5, 9.0], [0.5]),
    "one noise for two sums": (lambda x, n, e: laplace(e, 2, n)[:, None] + np.array(x), (0, 0), (1, 0)),
    "floats": (lambda x, n, e: x + naive_laplace(e, 1, n), 0.0, 1.0),
    "no noise": (lambda x, n, e: np.full(n, float(x)), 0, 1),
    "threshold on the wrong side": (
        lambda x, n, e: np.where(x + laplace(e, 1, n) > 3, x, 0),  # tells the exact count where it passes
        1,
        2,
    ),
    "nan comes through": (lambda x, n, e: x + laplace(e, 1, n), math.nan, 0.0),
    "only the spread differs": (lambda x, n, e: laplace(e, 1 + 7 * x, n), 0, 1),
    "a lone outcome": (lambda x, n, e: np.where(e.words(n) % 97 == 5, 1000 + x, e.words(n) % 8), 0, 1),
    "rows of answers": (lambda x, n, e: laplace(e, 1, 4 * n).reshape(n, 4) + np.array(x), (0, 0, 0, 0), (1, 1, 1, 0)),
}

HONEST: dict[str, tuple[Callable[[Any, int, sf.entropy.Entropy], Any], Any, Any]] = {
    "laplace": (lambda x, n, e: x + laplace(e, 1, n), 0, 1),
    "laplace rounded": (lambda x, n, e: np.rint(x + laplace(e, 1, n)), 0, 1),
    "the same data": (lambda x, n, e: x + naive_laplace(e, 1, n), 0.3, 0.3),
    "rows": (lambda x, n, e: laplace(e, 3, 3 * n).reshape(n, 3) + np.array(x), (0, 0, 0), (1, 1, 1)),
    "many kinds of outcome": (
        lambda x, n, e: [(None, math.nan, -0.0, "x", {1: word})[word % 5] for word in range(n)],
        0,
        1,
    ),
}


@pytest.mark.parametrize("name", sorted(LIARS))
def test_liars_are_caught(name: str) -> None:
    run, left, right = LIARS[name]
    found = black_box(with_noise(7, run), left, right, claim=1, batched=True, samples=40_000)
    assert found.verdict is Verdict.VIOLATED, str(found)
    with pytest.raises(PromiseBroken):
        found.check()


@pytest.mark.parametrize("name", sorted(HONEST))
@pytest.mark.parametrize("seed", range(2))
def test_the_honest_are_spared(name: str, seed: int) -> None:
    run, left, right = HONEST[name]
    found = black_box(with_noise(seed, run), left, right, claim=1, batched=True, samples=40_000)
    assert found.verdict is Verdict.OPEN, str(found)
    assert found.check() is found


@pytest.mark.parametrize(
    ("measurement", "left", "right", "truth"),
    [
        (COIN, "yes", "no", LN3),
        (sf.scalar(int) >> sf.laplace(scale=1), 0, 1, 1.0),
        (sf.scalar(int) >> sf.laplace(scale=10), 0, 10, 1.0),
        (sf.scalar(int) >> sf.laplace(scale=2), 5, 6, 0.5),
    ],
    ids=["randomized response", "laplace", "wide laplace", "half"],
)
def test_the_bound_comes_close_to_the_truth(measurement: sf.Measurement, left: Any, right: Any, truth: float) -> None:
    found = black_box(measurement, left, right, entropy=sf.entropy.ReplayEntropy(11))
    assert float(found.lines[0].claimed or 0) == pytest.approx(truth)
    assert 0.9 * truth <= low(found) <= truth


def coin(entropy: sf.entropy.Entropy) -> Batched:
    """Gives randomized response with ε = ln 3: a bit is turned around with probability 1/4."""
    return lambda bit, count: (entropy.halves(count) % 4 == 0).astype(np.int64) ^ bit


@pytest.mark.parametrize("tester", ["auto", "distance"])
def test_the_bound_is_too_high_no_more_often_than_it_says(tester: str) -> None:
    """With fresh draws more than 32 of 200 would be too high less often than once in 300 times."""
    entropy = sf.entropy.ReplayEntropy(23)
    runs = [
        black_box(coin(entropy), 0, 1, batched=True, samples=400, confidence="0.9", tester=tester) for _ in range(200)
    ]
    too_high = sum(low(found) > LN3 for found in runs)
    assert too_high <= 32
    assert any(low(found) > 0.6 * LN3 for found in runs)


def test_looking_at_the_runs_that_decide_would_lie() -> None:
    """Both sides are alike: an event chosen on the very runs that it is judged by says otherwise nearly every time."""
    entropy, sure = sf.entropy.ReplayEntropy(31), Fraction(9, 10)

    def run(_data: int, count: int) -> Any:
        return (entropy.halves(count) % 300).astype(np.int64)

    lies = honest = 0
    for _ in range(40):
        pair = Pair(*(read(run(0, 400), 1) for _ in range(2)))
        event = best_event(list(atoms(pair.left, pair.right)), pair, 0.0, 0.05)
        assert event is not None
        lies += by_event(event, pair, sure, Fraction(0)).epsilon > 0
        honest += low(black_box(run, 0, 1, batched=True, samples=1600, confidence=sure, tester="atoms")) > 0
    assert lies == 40
    assert honest <= 8


@pytest.mark.parametrize("swapped", [False, True], ids=["left", "right"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (math.nan, 0.0),
        (None, math.nan),
        (0.0, -0.0),
        (math.inf, -math.inf),
        (2**53 + 1, 2**53),
        (10**400, 10**400 + 1),
        ("a", "b"),
        (True, 1),
        ({"a": 1, "b": [2, 3]}, {"b": [2, 3], "a": 2}),
        ((1, 2), (1, 2, 3)),
        ((1.0, None), (1.0, 0.0)),
        (np.array([1, 2]), np.array([1, 3])),
        (b"", frozenset({1})),
    ],
    ids=lambda pair: str(type(pair).__name__),
)
def test_outcomes_of_any_kind_are_told_apart(one: Any, other: Any, *, swapped: bool) -> None:
    left, right = (other, one) if swapped else (one, other)
    entropy = sf.entropy.ReplayEntropy(3)
    found = black_box(lambda data: data if entropy.bits(1) else "same", left, right, claim=1, samples=2_000)
    assert found.verdict is Verdict.VIOLATED


def test_whole_numbers_in_arrays_are_read_to_their_last_digit() -> None:
    found = black_box(lambda data, count: np.full(count, data), 2**53, 2**53 + 1, batched=True, samples=400)
    assert low(found) > 2


def test_an_error_is_an_outcome() -> None:
    found = black_box(lambda data: 1 // data, 0, 1, claim=1, samples=400)
    assert found.verdict is Verdict.VIOLATED
    with pytest.raises(BadArgument, match="gives an outcome"):
        black_box(lambda data: data["nothing"], 0, 1, samples=400)


def test_delta_is_taken_off() -> None:
    """A mechanism that tells all once in a hundred times is (0, 0.01)-private, and no better at any ε."""

    def leaks(bit: int, count: int, entropy: sf.entropy.Entropy) -> Any:
        return np.where(entropy.words(count) % np.uint64(100) == 0, bit, 7)

    def audited(claim: sf.Loss, **given: Any) -> Audit:
        return black_box(with_noise(5, leaks), 0, 1, claim=claim, batched=True, samples=40_000, **given)

    assert audited(sf.Approx(0, "0.01")).verdict is not Verdict.VIOLATED
    assert audited(sf.Approx(1, "0.005")).verdict is Verdict.VIOLATED
    assert audited(sf.Pure(1)).verdict is Verdict.VIOLATED
    assert audited(sf.Pure(1), delta="0.01").verdict is not Verdict.VIOLATED


def test_a_gaussian_is_held_to_its_curve() -> None:
    """Noise of a third of the scale breaks a zCDP claim, at the δ that is asked for; the right noise does not."""

    def audited(scale: int) -> Audit:
        def run(value: int, count: int, entropy: sf.entropy.Entropy) -> Any:
            return value + DiscreteGaussian(Fraction(scale) ** 2).samples(count, entropy)

        claim = sf.ZCDP("1/18")  # of scale 3
        return black_box(with_noise(9, run), 0, 1, claim=claim, delta="1e-3", batched=True, samples=100_000)

    assert audited(3).verdict is Verdict.OPEN
    assert audited(1).verdict is Verdict.VIOLATED
    with pytest.raises(BadArgument, match="delta"):
        black_box(lambda data: data, 0, 1, claim=sf.ZCDP(1))


def test_what_the_caller_knows_helps() -> None:
    """A sign hidden in the product of two fair bits is found by nobody who looks at one of them, or at lines."""

    def hidden(bit: int, count: int, entropy: sf.entropy.Entropy) -> Any:
        signs = 1 - 2 * (entropy.words(2 * count).reshape(count, 2) >> np.uint64(63)).astype(np.int64)
        lengths = 1 + (entropy.words(count) >> np.uint64(32)).astype(np.int64)
        return np.stack([signs[:, 0] * lengths, signs[:, 0] * (1 - 2 * bit) * lengths[::-1]], axis=1)

    def audited(**given: Any) -> float:
        return low(black_box(with_noise(5, hidden), 0, 1, batched=True, samples=4_000, **given))

    assert audited(tester="threshold") < 0.5
    assert audited(score=lambda rows: np.sign(rows[:, 0]) * np.sign(rows[:, 1])) > 4


def test_limits_of_runs_and_of_time_are_kept() -> None:
    calls: list[int] = []
    told: list[tuple[int, int]] = []

    def run(data: int) -> int:
        calls.append(data)
        return data

    found = black_box(run, 0, 1, samples=1_000, progress=lambda done, steps: told.append((done, steps)))
    assert len(calls) == 1_000 == calls.count(0) * 2
    assert dict(found.facts)["runs"] == "1,000"
    assert told[-1] == (500, 500)
    assert told == sorted(told)
    calls.clear()
    black_box(run, 0, 1, samples=10**9, seconds="0.05")
    assert 64 <= len(calls) < 10**7


def test_an_interruption_passes_through() -> None:
    def run(_data: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        black_box(run, 0, 1)


def test_the_curve_of_a_liar_dips_below_its_claim() -> None:
    def dips(scale: float) -> bool:
        run = with_noise(3, lambda x, n, e: x + laplace(e, scale, n))
        [curve] = black_box(run, 0, 1, claim=1, batched=True, samples=100_000).curves
        allowed = sf.accounting.TradeOff(curve.claimed)
        return any(misses < allowed.at(alarms) for alarms, misses in curve.measured if 0 < alarms < 1)

    assert dips(0.5)
    assert not dips(1)


def test_the_likelihood_ratio_adversary_reaches_what_laplace_allows() -> None:
    found = adversary(sf.scalar(int) >> sf.laplace(scale=1), 0, 1, trials=40_000, entropy=sf.entropy.ReplayEntropy(1))
    advantage, alarms = found.lines
    assert float(advantage.claimed or 0) == pytest.approx(math.tanh(0.5))
    assert 0.44 < advantage.low <= math.tanh(0.5)
    assert 0.71 < alarms.low <= float(alarms.claimed or 0) < 0.75
    assert found.verdict is not Verdict.VIOLATED
    lie = adversary(
        sf.scalar(int) >> sf.laplace(scale=1), 0, 1, claim=sf.Pure("0.5"), entropy=sf.entropy.ReplayEntropy(1)
    )
    assert [line.verdict for line in lie.lines] == [Verdict.VIOLATED] * 2
    gaussian = adversary(
        sf.scalar(int) >> sf.gaussian(scale=2), 0, 1, delta="1e-6", entropy=sf.entropy.ReplayEntropy(1)
    )
    assert gaussian.verdict is not Verdict.VIOLATED


def test_the_adversary_asks_for_a_score_where_no_law_is_known() -> None:
    total = (sf.vector(float) >> sf.clamp(0, 10) >> sf.sum() >> sf.laplace(scale=10)).then(lambda y: y + 1)
    with pytest.raises(BadArgument, match="score"):
        adversary(total, [10.0], [], trials=100)
    found = adversary(total, [10.0], [], score=lambda y: y - 5, entropy=sf.entropy.ReplayEntropy(2))
    assert 0.3 < found.line("advantage").low < float(found.line("advantage").claimed or 0)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"tester": "luck"}, "tester"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": "0.3"}, "confidence"),
        ({"samples": 10}, "samples"),
        ({"seconds": 0}, "seconds"),
        ({"delta": 1}, "delta"),
        ({"tester": "likelihood"}, "tester"),
        ({"batched": True}, "batched"),
        ({"score": len, "tester": "atoms"}, "score"),
        ({"entropy": sf.entropy.ReplayEntropy(1)}, "entropy"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else "",
)
def test_bad_arguments_are_refused(given: dict[str, Any], named: str) -> None:
    def run(_data: Any, _count: int = 1) -> list[str]:
        return ["one"]

    with pytest.raises(BadArgument, match=named):
        black_box(run, 0, 1, **given)


def test_a_batch_is_of_one_kind() -> None:
    with pytest.raises(BadArgument, match="one kind"):
        black_box(lambda _, count: np.zeros(count, dtype=int if count == 16 else float), 0, 1, batched=True)
    with pytest.raises(BadArgument, match="one kind"):
        black_box(lambda data, count: np.zeros(count, dtype=float if data else int), 0, 1, batched=True)
    with pytest.raises(BadArgument, match="one kind"):
        black_box(lambda data, count: [0] * count if data else np.zeros(count, dtype=int), 0, 1, batched=True)


def test_wide_rows_are_looked_at() -> None:
    def wide(value: int, count: int, entropy: sf.entropy.Entropy) -> Any:
        rows = laplace(entropy, 1, 400 * count).reshape(count, 400)
        rows[:, 123] += 3 * value
        return rows

    found = black_box(with_noise(3, wide), 0, 1, claim=1, batched=True, samples=2_000)
    assert found.verdict is Verdict.VIOLATED
    assert found.witness is not None and "number 123" in found.witness.event
    assert "event" not in dict(found.facts)  # it depends on outcomes, and the facts are shown to all


def test_one_event_says_as_much_as_the_promise_allows() -> None:
    third = Fraction(1, 3)
    assert float(least_epsilon(Fraction(3, 4), Fraction(1, 4), Fraction(0))) == pytest.approx(LN3)
    assert float(least_epsilon(third, Fraction(0), third)) == 0
    assert least_epsilon(third, Fraction(0), Fraction(0)) == math.inf
    assert least_epsilon(Fraction(1), third, Fraction(0)) == math.inf  # never outside on one side
    assert least_epsilon(third, third, Fraction(0)) == 0
    assert float(least_epsilon(Fraction(1, 2), Fraction(1, 10), Fraction(1, 10))) == pytest.approx(math.log(4))
    # The complement tells more: 0.5 and 0.9 outside the event.
    assert float(least_epsilon(Fraction(1, 2), Fraction(1, 10), Fraction(0))) == pytest.approx(math.log(5))
    assert float(least_epsilon(Fraction(9, 10), Fraction(1, 2), Fraction(0))) == pytest.approx(math.log(5))
    assert event_epsilon(0, 0, 100, Fraction(99, 100), Fraction(0)) == 0
    assert widest_gap(2, Fraction(99, 100)) == 1


def test_what_may_be_missed_is_shared_among_all_that_could_go_wrong() -> None:
    """Two counts get half each of 1 − confidence; two sides and two directions of a distance a quarter each."""
    least = 0.005 ** (1 / 500)  # hit 500 times of 500: p^500 is half of 0.01
    found = event_epsilon(500, 0, 500, Fraction(99, 100), Fraction(0))
    assert float(found) == pytest.approx(math.log(least / (1 - least)), rel=1e-6)
    assert float(widest_gap(1000, Fraction(99, 100))) == pytest.approx(math.sqrt(math.log(400) / 2000))


def test_a_measurement_is_held_to_its_own_claim() -> None:
    total = sf.vector(int) >> sf.clamp(0, 10) >> sf.sum() >> sf.laplace(scale=5)
    found = black_box(total, [3, 10], [3], samples=4_000, entropy=sf.entropy.ReplayEntropy(1))
    assert found.lines[0].claimed == 2
    assert found.subject == "laplace"
    assert found.witness is not None
    assert found.witness.left == [3, 10]
    with pytest.raises(NotInDomain):
        black_box(total, ["x"], [3])


class Model:
    """Is an outcome without a text of its own."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight


class Narrow:
    """Keeps what it has in slots."""

    __slots__ = ("weight",)

    def __init__(self, weight: Any) -> None:
        self.weight = weight


@pytest.mark.parametrize("make", ["model", "slots", "pandas", "polars", "pyarrow", "column", "error"])
def test_outcomes_are_read_to_the_last_part_of_them(make: str) -> None:
    """All are written alike: a text is cut short, or says nothing, and what differs is inside."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def fails(told: int) -> Any:
        raise ValueError(told)

    rows = [0] * 200
    makers: dict[str, Callable[[int], Any]] = {
        "model": lambda x: Model([Model(x)]),
        "slots": Narrow,
        "pandas": lambda x: pd.DataFrame({"a": [*rows, x, *rows]}),
        "polars": lambda x: pl.DataFrame({"a": [*rows, x, *rows]}),
        "pyarrow": lambda x: pa.table({"a": [*rows, x, *rows]}),
        "column": lambda x: pd.Series([*rows, x, *rows]),
        "error": lambda x: fails(x) if x != 2 else None,
    }
    made = makers[make]
    entropy = sf.entropy.ReplayEntropy(3)
    found = black_box(lambda data: made(data) if entropy.bits(2) else made(2), 0, 1, claim=1, samples=200)
    assert low(found) > 1
    alike = black_box(lambda data: made(0) if entropy.bits(2) else made(2), 0, 1, claim=1, samples=200)
    assert low(alike) < 1


@pytest.mark.parametrize(
    "outcome", [object(), lambda: 0, iter([1]), [object()]], ids=["bare", "function", "iterator", "row"]
)
def test_what_shows_nothing_of_itself_is_refused(outcome: Any) -> None:
    with pytest.raises(BadArgument, match="give a function of it"):
        black_box(lambda _: outcome, 0, 1, samples=64)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BadArgument, match="give a function of it"):
        black_box(lambda _: endless, 0, 1, samples=64)


def test_a_law_that_cannot_be_asked_is_done_without() -> None:
    entropy = sf.entropy.ReplayEntropy(5)
    size = (sf.scalar(int) >> sf.laplace(scale=1)).then(abs)
    assert black_box(size, 0, 3, samples=2_000, entropy=entropy).verdict is Verdict.OPEN
    with pytest.raises(BadArgument, match="score"):
        adversary(size, 0, 1, trials=100, entropy=entropy)
    assert low(black_box(COIN.then(lambda y: [y, {"it": y}]), "yes", "no", samples=4_000, entropy=entropy)) > 0.8


def test_who_asks_an_interactive_measurement_must_be_said() -> None:
    stream = sf.vector(int, between=(0, 5)) >> sf.adaptive_composition([sf.Pure(1)])
    for audit in (black_box, adversary):
        with pytest.raises(BadArgument, match="analysis"):
            audit(stream, [1], [])


def test_the_adversary_knows_noise_on_grids_and_in_rows() -> None:
    """Floats are whole numbers of steps to the law."""
    total = sf.vector(float) >> sf.clamp(0, 10) >> sf.sum() >> sf.laplace(scale=10)
    found = adversary(total, [10.0], [], trials=2_000, entropy=sf.entropy.ReplayEntropy(2))
    assert 0.3 < found.line("advantage").low < float(found.line("advantage").claimed or 0)
    rows = sf.vector(int, size=2, metric=sf.L1()) >> sf.laplace(scale=1)
    assert (
        adversary(rows, [0, 0], [1, 0], trials=2_000, entropy=sf.entropy.ReplayEntropy(2)).line("advantage").low > 0.3
    )


def test_that_nothing_was_found_is_no_proof_of_a_claim_of_nothing() -> None:
    entropy = sf.entropy.ReplayEntropy(9)
    found = black_box(lambda x: entropy.below(1000) < 500 + 2 * x, 0, 1, claim=sf.Pure(0), samples=400)
    assert low(found) == 0 and found.verdict is Verdict.OPEN


def test_a_distance_needs_numbers() -> None:
    with pytest.raises(BadArgument, match="fits such outcomes"):
        black_box(lambda x: str(x), 0, 1, samples=400, tester="distance")
