"""Correlated noise as it is drawn: exact laws of what is released, adaptive streams, variances as stated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.losses.divergence import renyi
from sfumato.accounting.losses.measures import ZCDP
from sfumato.core.branches import Fork, InteractiveLaw, Recorder
from sfumato.core.domains import Integers
from sfumato.core.queryable import Queryable
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, NoDistance
from sfumato.exact import ball, precision
from sfumato.mechanisms.prefix_sums import BinaryTree
from sfumato.noise import DiscreteGaussian
from sfumato.stats.correlated import CorrelatedPlan, noisy_steps
from sfumato.stats.streams import relative_variance

ev, stats = sf.events, sf.stats
TINY = Fraction(1, 10**6)
HALF = ev.Toeplitz([1, "1/2"], steps=3)


def planned(participation: ev.Participation, strategy: ev.Toeplitz = HALF) -> CorrelatedPlan:
    """Noise of scale 3/2 on entries that are counted in halves: all of it can be listed."""
    return CorrelatedPlan(Integers(), 1, strategy, participation, DiscreteGaussian(Fraction(3, 2)))


def built(plan: CorrelatedPlan) -> sf.Measurement:
    return noisy_steps(stats.step_vectors(1, participation=plan.participation), plan)


def transcripts(measurement: sf.Measurement, stream: object, steps: int) -> dict[tuple[int, ...], arb]:
    """The exact chance of every row of noisy entries for who asks with all answers so far, but for the unlikely."""

    def asked(queryable: Queryable) -> None:
        seen: tuple[float, ...] = ()
        for _ in range(steps):
            seen = (*seen, float(queryable(seen if callable(stream) else None)[0]))

    law = measurement.law(stream)  # type: ignore[misc]
    assert isinstance(law, InteractiveLaw)
    listed: dict[tuple[int, ...], arb] = {}
    waiting: list[tuple[tuple[int, ...], arb]] = [((), ball(1))]
    while waiting:
        script, chance = waiting.pop()
        try:
            asked(Queryable(law.open(Recorder(script))))
        except Fork as fork:
            with precision(64):
                waiting += [((*script, value), chance * one) for value, one in fork.law.items() if float(one) > 1e-4]
        else:
            listed[script] = chance
    return listed


def divergence(measurement: sf.Measurement, left: object, right: object, order: int, steps: int) -> Fraction:
    here, there = transcripts(measurement, left, steps), transcripts(measurement, right, steps)
    shared = [seen for seen in here if seen in there]
    return Fraction(
        renyi({seen: here[seen] for seen in shared}, {seen: there[seen] for seen in shared}, Fraction(order))[1]
    )


def entries_divergence(plan: CorrelatedPlan, left: Sequence[list[int]], right: Sequence[list[int]]) -> Fraction:
    """The exact divergence of order 2 of all noisy entries: they are independent, so that it adds up."""
    added, ours, theirs = Fraction(0), plan.mixing(), plan.mixing()
    for one, other in zip(left, right, strict=True):
        here, there = int(ours(np.array(one))[0]), int(theirs(np.array(other))[0])
        span = range(min(here, there) - 20, max(here, there) + 21)
        laws = [{value: plan.noise.pmf(value - entry) for value in span} for entry in (here, there)]
        added += Fraction(renyi(*laws, Fraction(2))[1]) if here != there else 0
    return added


@pytest.mark.parametrize("participation", [ev.MinSeparation(), ev.MinSeparation(2, times=2), ev.Cyclic(2)], ids=str)
def test_the_law_of_what_is_released_costs_what_is_claimed_and_not_less(participation: ev.Participation) -> None:
    for strategy in (HALF, ev.Toeplitz([1, "1/2", "1/2"], steps=3)):
        plan = planned(participation, strategy)
        measurement, base, worst = built(plan), [[0], [0], [0]], Fraction(0)
        for moves in itertools.product((-1, 0, 1), repeat=3):
            other = [[move] for move in moves]
            if measurement.source.metric.distance(base, other) == 1:
                worst = max(worst, entries_divergence(plan, base, other))
        claimed = measurement.map(1).rho  # type: ignore[union-attr]
        assert 2 * claimed * Fraction(999, 1000) < worst <= 2 * claimed + TINY
        if participation != ev.MinSeparation():
            forgetful = built(planned(ev.MinSeparation(), strategy)).map(1).rho  # type: ignore[union-attr]
            assert worst > 2 * forgetful + Fraction(1, 10)  # who forgets that a unit returns claims too little


@pytest.mark.parametrize(("first", "later"), [(1, 1), (0, 1), (-1, 1)])
def test_an_adaptive_stream_gains_nothing(first: int, later: int) -> None:
    """Vectors, and whether the unit takes part again, depend on what came out before."""

    def reacting(present: int) -> object:
        def following(seen: tuple[float, ...]) -> list[int]:
            if not seen:
                return [2 + present * first]
            return [(1 if seen[0] > 2 else -1) + (present * later if seen[0] > 1 else 0)]

        return following

    measurement = built(planned(ev.MinSeparation(1, times=2), ev.Toeplitz([1, "1/2"], steps=2)))
    claimed = measurement.map(1).rho  # type: ignore[union-attr]
    for order in (2, 8):
        assert 0 < divergence(measurement, reacting(0), reacting(1), order, 2) <= order * claimed + TINY


def test_who_is_a_neighbour() -> None:
    metric = stats.AtSteps(ev.MinSeparation(2, times=2))
    assert metric.distance([[0, 0]] * 3, [[3, 4], [0, 0], [0, 1]]) == 5
    assert metric.distance([[0]] * 3, [[1], [1], [0]]) == math.inf
    assert metric.distance([[0]] * 5, [[1], [0], [1], [0], [1]]) == math.inf
    assert stats.AtSteps(ev.Cyclic(2)).distance([[0]] * 5, [[1], [0], [1], [0], [1]]) == 1
    assert stats.AtSteps(ev.Cyclic(2)).distance([[0]] * 5, [[1], [0], [0], [1], [0]]) == math.inf
    with pytest.raises(NoDistance):
        metric.distance([[0]], [[0], [0]])
    assert built(planned(ev.MinSeparation())).map(math.inf) == ZCDP(math.inf)


def test_vectors_come_back_where_there_is_next_to_no_noise() -> None:
    space = stats.step_vectors(2, step=2**-10, participation=ev.Cyclic(2), between=(-4, 4))
    data = [[step * 512, -step * 256] for step in range(8)]
    for strategy in (ev.SquareRoot(8, band=3), ev.SquareRoot(8), ev.Toeplitz([2], steps=8)):
        measurement = space >> stats.correlated_noise(loss=sf.ZCDP(10**12), strategy=strategy)
        queryable = measurement(data, entropy=ReplayEntropy(1)).value
        assert np.allclose([queryable() for _ in data], np.array(data) / 1024, atol=1e-3)
        with pytest.raises(Exhausted):
            queryable()


def test_bounds_change_the_arithmetic_alone() -> None:
    answers = []
    for between in (None, (-1, 1)):
        space = stats.step_vectors(3, between=between)
        measurement = space >> stats.correlated_noise(loss=sf.ZCDP(0.5), strategy=ev.SquareRoot(4))
        queryable = measurement([[1, 0, -1]] * 4, entropy=ReplayEntropy(7)).value
        answers.append([queryable().tolist() for _ in range(4)])
    assert answers[0] == answers[1]


def test_sums_have_the_stated_error_and_a_band_helps_who_returns() -> None:
    steps, runs, pattern = 16, 1200, ev.MinSeparation(4, times=4)
    strategy, entropy = ev.SquareRoot(steps, band=4), ReplayEntropy(3)
    space = stats.step_vectors(runs, step=2**-10, participation=pattern)
    queryable = (space >> stats.correlated_noise(loss=sf.ZCDP(0.5), strategy=strategy))(
        [[0] * runs] * steps, entropy=entropy
    ).value
    totals = np.cumsum([queryable() for _ in range(steps)], axis=0)
    stated = stats.sums_error(strategy, participation=pattern)
    assert math.isclose(math.sqrt((totals**2).mean()), stated, rel_tol=0.05)
    assert stated < stats.sums_error(ev.SquareRoot(steps), participation=pattern)


def test_errors_of_matrices_that_are_written_out() -> None:
    pattern = ev.MinSeparation(3, times=2)
    column = ev.Toeplitz([1, "1/2", "1/4"], steps=6)
    rows = [[column.coefficients[row - step] if 0 <= row - step < 3 else 0 for step in range(6)] for row in range(6)]
    written = stats.sums_error(ev.Dense(rows), participation=pattern)
    assert math.isclose(written, stats.sums_error(column, participation=pattern))
    tree = np.array([BinaryTree(8).entries(row) for row in np.eye(8, dtype=np.int64)]).T
    in_hindsight = stats.sums_error(ev.Dense(tree.tolist()))
    assert in_hindsight < math.sqrt(relative_variance(BinaryTree(8), ZCDP).mean())


def test_what_cannot_be_done_is_refused() -> None:
    space = stats.step_vectors(3)
    with pytest.raises(BadArgument, match="strategy must be a matrix such as"):
        stats.correlated_noise(loss=sf.ZCDP(1), strategy=ev.Dense([[1]]))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="ZCDP, such as"):
        stats.correlated_noise(loss=sf.Pure(1), strategy=ev.SquareRoot(3))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="d_in must be more than 0"):
        space >> stats.correlated_noise(loss=sf.ZCDP(1), strategy=ev.SquareRoot(3), d_in=0)
    with pytest.raises(BadArgument, match="a stream of vectors on a grid"):
        sf.vector(int, size=3, metric=sf.L2()) >> stats.correlated_noise(loss=sf.ZCDP(1), strategy=ev.SquareRoot(3))
