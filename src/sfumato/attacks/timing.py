"""Tells data apart by how long an answer takes, on a clock that is passed in.

Data may decide how long a measurement works (Haeberlen, Pierce, Narayan 2011), and so may the noise that is drawn: then
the clock takes back what the noise had hidden (Jin, McMurtry, Rubinstein, Ohrimenko 2022, arXiv 2112.05307).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from sfumato.accounting.meaning.attacker import Attacker
from sfumato.attacks.membership import epsilon_of, membership
from sfumato.attacks.reach import stated_loss, two
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.entropy import Entropy, system
from sfumato.exact import integer, up
from sfumato.mechanisms.padding import NANOSECONDS, Clock
from sfumato.release.progress import Progress, reporting


@final
@dataclass(frozen=True)
class Timed:
    """How long a measurement took on either data set, on average, and how often the stated loss lets one be right.

    The loss of a measurement speaks of its outcome. Only that of a padded one speaks of its running time too.
    """

    seconds: tuple[float, float]
    most_accurate: float


def timing(
    measurement: Measurement,
    data: Data,
    neighbour: Data,
    *,
    clock: Clock | None = None,
    d_in: DistanceLike | Unit | None = None,
    runs: int = 200,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Runs a measurement many times on each of two data sets, looks at the clock only, and says which one it was.

    The attacker knows of every second run which data it was on, and learns from those how long is long. ``clock`` must
    be the one by which the measurement waits, where that was passed in. The loss beside which the success is put is the
    one stated for the distance of the two data sets, or for a larger one, ``d_in``.
    """
    source, watch, count = entropy or system(), clock or Clock(), integer(runs, "runs", least=4)
    loss = stated_loss(measurement, data, neighbour, d_in)
    times: tuple[list[float], list[float]] = ([], [])
    with reporting(progress, "timing") as tell:
        for done in range(count):
            for spent, rows in zip(times, (data, neighbour), strict=True):
                start = watch.now()
                measurement.function(rows, source)
                spent.append((watch.now() - start) / NANOSECONDS)
            tell(done + 1, count)
    slower, faster = (times[0], times[1]) if sum(times[0][::2]) >= sum(times[1][::2]) else (times[1], times[0])
    seen = membership(slower, faster)
    return Attack(
        name="timing",
        violation=Violation.MEMBERSHIP,
        against=str(measurement.how),
        success=seen.success,
        baseline=seen.baseline,
        epsilon=epsilon_of(loss),
        found=Timed((sum(times[0]) / count, sum(times[1]) / count), up(Attacker(loss).accuracy())),
    )


def sampler_timing(
    draw: Callable[[int, Entropy], int],
    *,
    clock: Clock,
    values: tuple[int, int] = (0, 1),
    lessons: int = 10_000,
    trials: int = 1000,
    against: str = "a sampler",
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Tells which of two values was noised, from the noisy value and the time that drawing the noise took.

    The attacker first draws noise on 0 many times (``lessons``), and learns how often each noise takes each time. The
    baseline is the same attacker without the clock, on the same draws: only what the clock adds is an advantage.
    """
    source, inputs = entropy or system(), two(values, lambda value: integer(value, "a value"))
    learnt, count = integer(lessons, "lessons", least=1), integer(trials, "trials", least=1)
    by_both, by_noise = Counter[tuple[int, int]](), Counter[int]()
    right = blind = 0
    with reporting(progress, "timing") as tell:
        for done in range(learnt):
            noise, spent = _timed(draw, 0, clock, source)
            by_both[noise, spent] += 1
            by_noise[noise] += 1
            tell(done + 1, learnt + count)
        for done in range(count):
            side = source.below(2)
            seen, spent = _timed(draw, inputs[side], clock, source)
            right += side == _likelier([by_both[seen - value, spent] for value in inputs])
            blind += side == _likelier([by_noise[seen - value] for value in inputs])
            tell(learnt + done + 1, learnt + count)
    return Attack(
        name="timing of a sampler",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=Success(right, count),
        baseline=blind / count,
    )


def _timed(draw: Callable[[int, Entropy], int], value: int, clock: Clock, entropy: Entropy) -> tuple[int, int]:
    start = clock.now()
    return draw(value, entropy), clock.now() - start


def _likelier(seen: list[int]) -> int:
    """The place of the value under which more was seen; of the second, where it is as much."""
    return 0 if seen[0] > seen[1] else 1
