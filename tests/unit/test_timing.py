"""Padding of running times, on a clock that does not wait."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from sfumato.accounting.facts.truncated_laplace import continuous_reach, continuous_truncated_laplace
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Custom, Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space, scalar, vector
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, ClaimRequired, NoProvenRoute
from sfumato.mechanisms.above_threshold import above_threshold
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.name_and_shame import name_and_shame
from sfumato.mechanisms.padding import NANOSECONDS, TICK, Clock, Padding, padded, padding_loss, release_moment
from sfumato.release.claim import claim
from sfumato.release.record import Failure, How
from sfumato.transforms.query_stream import query_stream

VOUCHED = claim("the loop runs once for each row, 10 ms at most")


@dataclass
class Watch:
    """A clock that moves when it is told to, and is woken up too early the first time."""

    moment: int = 0
    waits: list[float] = field(default_factory=list)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.moment += round(seconds * NANOSECONDS * (0.5 if len(self.waits) == 1 else 1))

    def clock(self) -> Clock:
        return Clock(lambda: self.moment, self.wait)


def slow_count(watch: Watch) -> Measurement:
    """Takes 10 ms for every row."""
    space: Space = vector(["a", "b"])

    def run(data: Data, _: Entropy) -> str:
        watch.moment += len(data) * 10_000_000
        return "done"

    return Measurement(space, Approx, run, lambda _: Approx(0, 0), How("slow"))


def test_A1_149_padding_of_a_hundredth_of_a_second() -> None:
    reach = continuous_reach("0.01", scale="0.01", delta="1e-6")
    assert float(reach) == pytest.approx(0.136637, rel=1e-5)
    assert continuous_truncated_laplace("0.01", scale="0.01", reach=reach).delta <= Fraction(1, 10**6)
    padding = Padding.read(sensitivity=Fraction(1, 100), scale=Fraction(1, 100), delta=Fraction(1, 10**6))
    assert float(padding.noise.high * TICK) == pytest.approx(0.136637, rel=1e-4), "on a grid of microseconds"
    loss = padding_loss(padding, Fraction(1))
    assert loss.epsilon == 1 and loss.delta <= Fraction(1, 10**6)


def test_the_outcome_leaves_when_the_padding_is_over() -> None:
    watch = Watch()
    measurement = padded(
        slow_count(watch),
        sensitivity_seconds="0.01",
        scale_seconds="0.01",
        delta=1e-6,
        claim=VOUCHED,
        clock=watch.clock(),
    )
    seen, entropy = set(), ReplayEntropy(1)  # fresh draws would end at the same tick once in 200 000 times
    for rows in (0, 3):
        watch.moment, watch.waits = 0, []
        assert measurement(["a"] * rows, entropy=entropy).value == "done"
        ticks, rest = divmod(watch.moment, 1000)
        assert rest == 0 and ticks >= rows * 10_000, "a whole number of ticks, never before the work is done"
        assert len(watch.waits) == 2, "woken up early, it goes back to sleep"
        seen.add(watch.moment)
    assert len(seen) == 2


def test_padding_costs_its_own_loss_on_top() -> None:
    watch = Watch()
    made = padded(
        vector(["a", "b"]) >> name_and_shame("0.001"),
        sensitivity_seconds="0.01",
        scale_seconds="0.02",
        delta=1e-6,
        claim=VOUCHED,
        clock=watch.clock(),
    )
    loss = made.map(1)
    assert isinstance(loss, Approx)
    assert loss.epsilon == Fraction(1, 2)
    assert Fraction(1, 1000) < loss.delta <= Fraction(1, 1000) + Fraction(1, 10**6)
    assert made.map(2).epsilon == 1 and made.map(2).delta > loss.delta  # type: ignore[attr-defined]
    assert made.map(0) == Approx(0, 0)
    assert made.map(math.inf).delta == 1  # type: ignore[attr-defined]
    assert VOUCHED in made.how.claims and made.how.failure is Failure.DISTINGUISHING


def test_the_time_alone_keeps_its_loss_by_enumeration() -> None:
    """Every release time on neighbours whose work differs by the most allowed, on coarse ticks."""
    padding = Padding.read(sensitivity=3 * TICK, scale=2 * TICK, delta=Fraction(1, 1000))
    loss = padding_loss(padding, Fraction(1))
    tick, reach = int(TICK * NANOSECONDS), padding.noise.high
    for work, other in ((0, 2999), (1, 3000), (500, 3500)):
        laws = [
            {release_moment(elapsed, reach + z): padding.noise.pmf(z) for z in range(-reach, reach + 1)}
            for elapsed in (work, other)
        ]
        assert all(moment >= work and moment % tick == 0 for moment in laws[0])
        for left, right in (laws, laws[::-1]):
            assert hockey_stick(left, right, loss.epsilon)[1] <= loss.delta + Fraction(1, 10**20)
    gaps = {abs(release_moment(a, 0) - release_moment(a + 3000, 0)) // tick for a in range(2000)}
    assert gaps == {3}


def test_the_real_clock_waits() -> None:
    clock = Clock()
    before = time.perf_counter_ns()
    clock.wait_until(clock.now() + 2_000_000)
    assert time.perf_counter_ns() - before >= 2_000_000
    clock.wait_until(0)


def test_what_cannot_be_padded_is_refused() -> None:
    sound = vector(["a", "b"]) >> name_and_shame(0)
    with pytest.raises(ClaimRequired, match="running times"):
        padded(sound, sensitivity_seconds=1, scale_seconds=1, delta=1e-6)
    with pytest.raises(BadArgument, match="rows of data"):
        padded(scalar(int) >> laplace(scale=1), sensitivity_seconds=1, scale_seconds=1, delta=1e-6, claim=VOUCHED)
    for bad in (0, 1, -1, math.nan):
        with pytest.raises(BadArgument, match="delta"):
            padded(sound, sensitivity_seconds=1, scale_seconds=1, delta=bad, claim=VOUCHED)
    for bad in (0, -1, math.inf):
        with pytest.raises(BadArgument, match="seconds"):
            padded(sound, sensitivity_seconds=bad, scale_seconds=1, delta=1e-6, claim=VOUCHED)


def test_what_answers_again_and_again_is_not_padded() -> None:
    asked = vector(int) >> query_stream() >> above_threshold(4, scale=1)
    with pytest.raises(NoProvenRoute, match="later answers"):
        padded(asked, sensitivity_seconds="0.01", scale_seconds="0.01", delta="1e-6", claim=VOUCHED)


def test_times_add_up_only_along_a_path_of_neighbours() -> None:
    padding = Padding.read(sensitivity=Fraction(1, 100), scale=Fraction(1, 100), delta=Fraction(1, 10**6))
    assert padding_loss(padding, Fraction(1), path=False) == padding_loss(padding, Fraction(1))
    assert padding_loss(padding, Fraction(2), path=False) == Approx(math.inf, 1)
    space = Space(Custom("an even number of rows", lambda rows: len(rows) % 2 == 0), AddRemove())
    made = Measurement(space, Approx, lambda data, entropy: 0, lambda d: Approx(0, 0), How("constant"))
    waits = padded(made, sensitivity_seconds="0.01", scale_seconds="0.01", delta="1e-6", claim=VOUCHED)
    assert waits.map(1).epsilon == 1 and waits.map(2) == Approx(math.inf, 1)
