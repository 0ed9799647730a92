"""Outcomes of small mechanisms, listed one by one as pairs of chances, and how a claimed pair is compared with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from flint import arb

from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.exact import ball, precision

Outcomes = list[tuple[arb, arb]]
"""The masses of every outcome under the two distributions."""

Profile = Callable[[arb], arb]

BITS = 256
"""Oracles are worked out with twice the precision of what they judge."""

TIE = arb(2) ** -90
"""What a test may be wrong about points on its edge, relative to the mass that it rejects."""


def profile_of(outcomes: Outcomes) -> Profile:
    """The definition: h(x) is the sum of the positive parts of p − xq."""
    return lambda x: sum(((p - x * q).max(arb(0)) for p, q in outcomes), arb(0))


def check_lines(pair: Pair, profile: Profile, losses: Sequence[Fraction], *, close: arb = TIE) -> None:
    """Each line meets the profile at its own point and lies below it at every other one."""
    with precision(128):
        lines = pair.lines()
        found = [lines(ball(loss)) for loss in losses]
    with precision(BITS):
        ratios = [ball(loss).exp() for loss in losses]
        heights = [profile(ratio) for ratio in ratios]
        for here, ratio, height in zip(found, ratios, heights, strict=True):
            near = close * (abs(here.here) + abs(here.there) * ratio) + arb(2) ** -190
            assert abs((here.here - ratio * here.there) - height).lower() <= near
            assert (here.here - ratio * here.there).rad() <= arb(2) ** -80 * (1 + ratio) and height.rad() <= near
            assert here.here.upper() >= 0 and here.here.lower() <= 1 and here.there.lower() <= 1
            for other, bound in zip(ratios, heights, strict=True):
                slack = close * (abs(here.here) + abs(here.there) * other) + arb(2) ** -190
                assert not here.here - other * here.there > bound + slack


def below(pair: Pair, outcomes: Outcomes, losses: Sequence[Fraction]) -> Iterator[arb]:
    """How far the listed profile stays below that of the pair, at each loss."""
    with precision(128):
        lines = pair.lines()
        found = [lines(ball(loss)) for loss in losses]
    with precision(BITS):
        true = profile_of(outcomes)
        for line, loss in zip(found, losses, strict=True):
            x = ball(loss).exp()
            yield line.here - x * line.there - true(x)


LOSSES = [Fraction(place, 5) for place in (-9, -4, -1, 0, 1, 2, 4, 6, 9)]
TINY = arb(2) ** -85


def laplace_mass(scale: Fraction, place: int, *, beyond: int = 0) -> arb:
    """P(Z = place) of discrete Laplace noise; with ``beyond`` = ±1 of everything from there on outwards."""
    decay = (-1 / ball(scale)).exp()
    if beyond * place < 0:
        return 1 - laplace_mass(scale, place - beyond, beyond=-beyond)
    return decay ** abs(place) / (1 + decay) * (1 if beyond else 1 - decay)


def noisy_sums(laws: Sequence[dict[int, Fraction]], scale: Fraction) -> Outcomes:
    """Discrete Laplace noise on two random sums, outcome by outcome; the ends stand for everything beyond."""
    reach = range(-3, 8)
    rows = []
    for place in reach:
        outer = (place == reach[-1]) - (place == reach[0])
        rows.append(
            [
                sum((ball(w) * laplace_mass(scale, place - s, beyond=outer) for s, w in law.items()), arb(0))
                for law in laws
            ]
        )
    return [(p, q) for p, q in rows]


def poisson_sums(data: Sequence[int], rate: Fraction) -> dict[int, Fraction]:
    law = {0: Fraction(1)}
    for value in data:
        moved: dict[int, Fraction] = {}
        for total, weight in law.items():
            for step, share in ((0, 1 - rate), (value, rate)):
                moved[total + step] = moved.get(total + step, Fraction(0)) + weight * share
        law = moved
    return law
