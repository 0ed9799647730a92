"""Running totals: exact laws of entries on all small neighbours, adaptive adversaries, and variances as stated."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.losses.divergence import max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.audit.brute_force import neighbours
from sfumato.core.branches import Fork, InteractiveLaw, NoEntropy, Recorder
from sfumato.core.domains import Integers, Stream
from sfumato.core.law import FiniteLaw
from sfumato.core.metrics import L1
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space, vector
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.exact import Extended, ball, precision
from sfumato.mechanisms.prefix_sums import BinaryTree, PrefixSums, SquareRoot
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.stats.streams import CountingPlan, noisy_entries, relative_variance, running_counts, stream_totals

STREAM = Space(Stream(Integers()), L1())
KINDS = [BinaryTree, SquareRoot]
TINY = Fraction(1, 10**9)
ORDERS = (Fraction(3, 2), Fraction(2), Fraction(8))


def coarse_root(steps: int) -> SquareRoot:
    """Gives a square root on a grid of 1/2, so that tiny noise covers an entry."""
    made = SquareRoot(steps)
    made.__dict__["weights"] = np.maximum(1, made.weights >> 19)
    return made


def entries_law(plan: CountingPlan, steps: int, data: tuple[int, ...]) -> FiniteLaw:
    law = noisy_entries(vector(int, size=steps, metric=L1()), plan).law(data)  # type: ignore[misc]
    return FiniteLaw({seen: law.probability(seen) for seen in law.outcomes(Fraction(1, 100))})


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("made", [BinaryTree, coarse_root])
def test_laplace_entries_are_sound_and_tight(made: object, steps: int) -> None:
    sums: PrefixSums = made(steps)  # type: ignore[operator]
    plan = CountingPlan(Integers(), sums, DiscreteLaplace(Fraction(1, 2)), Pure)
    claimed = plan.loss(Fraction(1)).epsilon  # type: ignore[attr-defined]
    assert claimed == 2 * sums.columns[0]
    members = list(itertools.product((0, 1), repeat=steps))
    raw = noisy_entries(vector(int, size=steps, metric=L1()), plan)
    worst: Extended = Fraction(0)
    for left, right in neighbours(raw.source, members):
        here, there = raw.law(left), raw.law(right)  # type: ignore[misc]
        seen = list(here.outcomes(Fraction(1, 5)))
        found = max_divergence(
            {one: here.probability(one) for one in seen}, {one: there.probability(one) for one in seen}
        )
        worst = max(worst, found[1])
    assert claimed - TINY <= worst <= claimed + TINY


@pytest.mark.parametrize("made", [BinaryTree, coarse_root])
def test_gaussian_entries_are_sound_and_nearly_tight(made: object) -> None:
    sums: PrefixSums = made(3)  # type: ignore[operator]
    plan = CountingPlan(Integers(), sums, DiscreteGaussian(Fraction(2)), ZCDP)
    claimed = plan.loss(Fraction(1)).rho  # type: ignore[attr-defined]
    assert claimed == Fraction(sums.columns[1], 8)
    worst = Fraction(0)
    for left, right in neighbours(vector(int, size=3, metric=L1()), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]):
        if left == right:
            continue
        here, there = sums.entries(np.array(left)), sums.entries(np.array(right))
        found = Fraction(0)
        for one, other in zip(here.tolist(), there.tolist(), strict=True):
            # Independent entries: divergences of order 2 add up.
            span = range(-25 + min(one, other), 26 + max(one, other))
            p = {value: plan.noise.pmf(value - one) for value in span}
            q = {value: plan.noise.pmf(value - other) for value in span}
            found += Fraction(renyi(p, q, Fraction(2))[1]) if one != other else 0
        worst = max(worst, found)
    assert 2 * claimed * Fraction(999, 1000) < worst <= 2 * claimed + TINY


def test_half_the_noise_fails() -> None:
    """A tree that forgets that a step is in several nodes claims too little."""
    plan = CountingPlan(Integers(), BinaryTree(2), DiscreteLaplace(Fraction(1)), Pure)
    wrong = Fraction(1)
    here, there = entries_law(plan, 2, (0, 0)), entries_law(plan, 2, (1, 0))
    found = max_divergence(here.probabilities, {k: there.probability(k) for k in here.probabilities})[1]
    assert found > wrong + Fraction(1, 2) and plan.loss(Fraction(1)) == Pure(2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 13, 33])
def test_matrices_columns_totals_and_variances(kind: type[BinaryTree] | type[SquareRoot], steps: int) -> None:
    sums = kind(steps)
    matrix = np.array([sums.entries(row) for row in np.eye(steps, dtype=np.int64)]).T
    assert sums.columns == (np.abs(matrix).sum(axis=0).max(), (matrix**2).sum(axis=0).max())
    reading = np.array([sums.totals(row) for row in np.eye(sums.size)]).T
    assert np.allclose(reading @ matrix, np.tril(np.ones((steps, steps))), atol=1e-9)
    assert np.allclose((reading**2).sum(axis=1), sums.spread(), rtol=1e-9)
    assert not np.triu(matrix[:steps] if kind is SquareRoot else np.zeros((1, 1)), 1).any()


@pytest.mark.parametrize("kind", KINDS)
def test_reading_is_the_best_from_below(kind: type[BinaryTree] | type[SquareRoot]) -> None:
    """No other combination of the nodes below a block does better: least squares on the nodes of a full tree."""
    sums = BinaryTree(8)
    matrix = np.array([sums.entries(row) for row in np.eye(8, dtype=np.int64)]).T.astype(float)
    best = np.ones(8) @ np.linalg.inv(matrix.T @ matrix) @ np.ones(8)
    assert sums.spread()[-1] == pytest.approx(best)
    assert kind(8).spread()[0] * kind(8).columns[1] <= BinaryTree(8).columns[1]


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_the_size_of_numbers_entries_are_exact(kind: type[BinaryTree] | type[SquareRoot]) -> None:
    for big in (1, 2**40, 2**62, 10**30):
        data = np.array([big, -big, 3, big], dtype=np.int64 if big < 2**63 else object)
        add = kind(4).adding(None)
        streamed = [entry for value in data.tolist() for entry in add(int(value))]
        assert streamed == [int(entry) for entry in kind(4).entries(data)]
    root = SquareRoot(4)
    exact = [sum(int(root.weights[t - j]) * int(data[j]) for j in range(t + 1)) for t in range(4)]
    assert [int(entry) for entry in root.entries(data)] == exact


def adversary(queryable: Queryable, entropy: Entropy) -> tuple[float, ...]:
    """Asks on with what depends on all earlier answers; what the two streams do with that is theirs."""
    seen: tuple[float, ...] = ()
    for _ in range(2):
        seen = (*seen, queryable(seen))
    return seen


def reacting(which: int, first: int, later: int) -> object:
    """Gives a stream whose increments depend on earlier answers; the unit adds ``first`` or, if they are high, later.

    The unit contributes at most one in all, at a step that depends on what came out before.
    """

    def increment(seen: tuple[float, ...]) -> int:
        if not seen:
            return 2 + which * first
        base = 1 if seen[0] > 2 else -1
        return base + (which * later if not first and seen[0] > 1 else 0)

    return increment


@pytest.mark.parametrize("made", [BinaryTree, coarse_root])
@pytest.mark.parametrize("kind", [Pure, ZCDP])
@pytest.mark.parametrize(("first", "later"), [(1, 0), (0, 1), (-1, 0)])
def test_an_adaptive_adversary_gains_nothing(made: object, kind: type, first: int, later: int) -> None:
    sums: PrefixSums = made(2)  # type: ignore[operator]
    noise = DiscreteLaplace(Fraction(1)) if kind is Pure else DiscreteGaussian(Fraction(1))
    measurement = stream_totals(STREAM, CountingPlan(Integers(), sums, noise, kind))
    laws = []
    for which in (0, 1):
        law = measurement.law(reacting(which, first, later))  # type: ignore[misc]
        assert isinstance(law, InteractiveLaw)
        laws.append(law)
    here, there = (transcripts(law) for law in laws)
    shared = [seen for seen in here if seen in there]
    claimed = measurement.map(1)
    for left, right in ((here, there), (there, here)):
        p, q = {s: left[s] for s in shared}, {s: right[s] for s in shared}
        if isinstance(claimed, Pure):
            assert 0 < max_divergence(p, q)[1] <= claimed.epsilon + TINY
        else:
            assert isinstance(claimed, ZCDP)
            for order in ORDERS:
                assert renyi(p, q, order)[1] <= order * claimed.rho + TINY


def transcripts(law: InteractiveLaw) -> dict[tuple[int, ...], arb]:
    """Gives the exact chance of every row of noisy entries under the adversary, as far as no entry is unlikely.

    All that is released is a function of these entries.
    """
    found: dict[tuple[int, ...], arb] = {}
    waiting: list[tuple[tuple[int, ...], arb]] = [((), ball(1))]
    while waiting:
        script, chance = waiting.pop()
        try:
            adversary(Queryable(law.open(Recorder(script))), NoEntropy())
        except Fork as fork:
            with precision(128):
                waiting += [((*script, value), chance * one) for value, one in fork.law.items() if float(one) > 1e-4]
        else:
            found[script] = chance
    return found


@pytest.mark.parametrize("method", ["tree", "square root"])
@pytest.mark.parametrize("loss", [Pure("0.5"), ZCDP("0.1")])
@pytest.mark.parametrize("steps", [1, 5, 64, 100])
def test_batch_and_stream_draw_the_same(method: str, loss: Pure | ZCDP, steps: int) -> None:
    data = [(7 * t) % 5 - 1 for t in range(steps)]
    batch = vector(int, size=steps, metric=L1()) >> running_counts(loss=loss, method=method)
    stream = STREAM >> running_counts(loss=loss, steps=steps, method=method)
    assert batch.map(1) == stream.map(1) == loss and stream.interactive and not batch.interactive
    at_once = batch(data, entropy=ReplayEntropy(9)).value
    watch = stream(data, entropy=ReplayEntropy(9)).value
    assert np.allclose([watch() for _ in range(steps)], at_once, atol=1e-6)


def test_the_square_root_beats_the_tree_and_is_near_the_bound() -> None:
    for power, ratio, slack in ((10, 3.2, 1.15), (16, 3.7, 1.11)):
        steps = 1 << power
        tree, square_root = (relative_variance(kind(steps), ZCDP) for kind in KINDS)
        angles = (2 * np.arange(1, steps + 1) - 1) * np.pi / (4 * steps + 2)
        least = ((1 / (2 * np.sin(angles))).sum() / steps) ** 2
        assert tree.mean() > ratio * square_root.mean() and tree.max() > 5.9 * square_root.max()
        assert least <= square_root.mean() <= slack * least
    assert relative_variance(BinaryTree(64), Pure).mean() < relative_variance(SquareRoot(64), Pure).mean()


@pytest.mark.parametrize(("loss", "best"), [(ZCDP("0.5"), "square root"), (Pure(1), "tree")])
def test_the_better_method_is_taken(loss: Pure | ZCDP, best: str) -> None:
    measurement = vector(int, size=365, metric=L1()) >> running_counts(loss=loss)
    assert ("method", best) in measurement.how.parameters


@pytest.mark.parametrize("method", ["tree", "square root"])
def test_errors_have_the_stated_variance(method: str) -> None:
    steps, runs = 32, 1500
    measurement = vector(int, size=steps, metric=L1()) >> running_counts(loss=ZCDP("0.5"), method=method)
    entropy, data = ReplayEntropy(4), np.arange(steps)
    errors = np.array([measurement(data, entropy=entropy).value - np.cumsum(data) for _ in range(runs)])
    stated = relative_variance(BinaryTree(steps) if method == "tree" else SquareRoot(steps), ZCDP)
    found = (errors**2).mean(axis=0) / stated
    assert abs(found.mean() - 1) < 0.05 and np.abs(found - 1).max() < 0.2
    assert abs(0.9 * found.mean() - 1) > 0.05
    assert np.abs(errors.mean(axis=0)).max() < 5 * np.sqrt(stated.max() / runs)
