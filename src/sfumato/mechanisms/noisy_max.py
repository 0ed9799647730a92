"""Report noisy max with Laplace noise: which score is largest after noise on each, and by how much it leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import final

import numpy as np
from flint import arb

from sfumato.accounting.facts.selection import NoisyMaximum
from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Array, Data
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, ball, positive, precision
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add, nearest_float
from sfumato.mechanisms.scoring import score_grid, selection
from sfumato.noise.discrete_laplace import DiscreteLaplace


@constructor
def laplace_noisy_max(scale: Number) -> Partial[Measurement]:
    """Chooses the candidate whose score is largest after Laplace noise on each; the first of those that tie.

    Takes:      a vector of scores on a grid under L∞, monotonic L∞ or range
    Gives:      the index of the chosen candidate
    Guarantee:  Pure(epsilon = r / scale) for range distance r: 2 d_in under L∞, else d_in  (proofs/noisy_max.md#loss)
    Cost:       some 10 ns a candidate

    >>> from sfumato.core.metrics import LInf
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=3, metric=LInf()) >> laplace_noisy_max(scale=4)).map(1)
    Pure(epsilon=0.5)
    """
    size = positive(scale, "scale")

    def build(space: Space) -> Measurement:
        noise = DiscreteLaplace(size / score_grid(space, "laplace_noisy_max").step)
        return selection(
            space,
            NoisyMaximum(size),
            Pure,
            lambda scores, entropy: noisy_winner(scores, noise, entropy)[0],
            lambda scores: WinnerLaw(tuple(scores.tolist()), noise).winners(),
            ("laplace_noisy_max", "proofs/noisy_max.md#loss"),
        )

    return Partial(f"laplace_noisy_max(scale={scale})", build)


@constructor
def laplace_noisy_max_with_lead(scale: Number) -> Partial[Measurement]:
    """Chooses as `laplace_noisy_max`, and says what the winner's noisy score could lose and still win.

    Takes:      a vector of at least two scores on a grid under L∞, monotonic L∞ or range
    Gives:      the index and the lead; the lead is the gap to the runner-up, less one step where a tie would be lost
    Guarantee:  Pure(epsilon = r / scale) for range distance r: 2 d_in under L∞, else d_in  (proofs/noisy_max.md#lead)
    Cost:       some 10 ns a candidate; the lead costs no privacy

    >>> from sfumato.core.metrics import Range
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=3, metric=Range()) >> laplace_noisy_max_with_lead(scale=4)).map(1)
    Pure(epsilon=0.25)
    """
    size = positive(scale, "scale")

    def build(space: Space) -> Measurement:
        grid = score_grid(space, "laplace_noisy_max_with_lead")
        if grid.size < 2:
            raise BadArgument("the number of candidates", "at least 2: one alone leads nobody", grid.size)
        noise = DiscreteLaplace(size / grid.step)

        def draw(scores: Array, entropy: Entropy) -> Data:
            winner, lead = noisy_winner(scores, noise, entropy)
            return winner, lead if grid.step == 1 else nearest_float(lead, grid.step)

        return selection(
            space,
            NoisyMaximum(size),
            Pure,
            draw,
            lambda scores: WinnerLaw(tuple(scores.tolist()), noise),
            ("laplace_noisy_max_with_lead", "proofs/noisy_max.md#lead"),
        )

    return Partial(f"laplace_noisy_max_with_lead(scale={scale})", build)


@guarantee(
    claim="the first place of the largest of scores + independent noise, and how far it could fall and still be that",
    proof="proofs/noisy_max.md#lead",
    reviewed="1af79f20c34f",
)
def noisy_winner(scores: Array, noise: DiscreteLaplace, entropy: Entropy) -> tuple[int, int]:
    """Adds noise to every score and finds the winner and its lead in steps (0 for a single candidate)."""
    noisy = exact_add(scores, noise.samples(len(scores), entropy))
    winner = int(np.argmax(noisy))
    # A tie is lost to a candidate before, and won against one after.
    needed = [int(part.max()) + tie for part, tie in ((noisy[:winner], 1), (noisy[winner + 1 :], 0)) if len(part)]
    return winner, int(noisy[winner]) - max(needed, default=int(noisy[winner]))


@final
@dataclass(frozen=True)
class WinnerLaw(Law):
    """The exact distribution of the winner and its lead in steps, for auditing."""

    scores: tuple[int, ...]
    noise: DiscreteLaplace

    def probability(self, outcome: Data) -> arb:
        winner, lead = outcome
        return self._sum(winner, lambda least: self.noise.pmf(least + lead)) if lead >= 0 else ball(0)

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        reach = self.noise.quantile(1 - missed / (4 * len(self.scores))) if missed else 0
        return product(range(len(self.scores)), range(2 * reach + self._spread + 1))

    def winners(self) -> FiniteLaw:
        """The distribution of the winner alone."""
        return FiniteLaw({index: self._sum(index, self.noise.upper_tail) for index in range(len(self.scores))})

    @property
    def _spread(self) -> int:
        return max(self.scores) - min(self.scores)

    def _sum(self, winner: int, weight: Callable[[int], arb]) -> arb:
        """Sums a weight in [0, 1] over the law of the least noise with which the winner wins."""
        with precision(BITS):
            if len(self.scores) == 1:
                return ball(1)
            first, masses, missing = self._needed[winner]
            total = sum((mass * weight(first + place) for place, mass in enumerate(masses)), ball(0))
            return total + ball(0).union(missing)

    @cached_property
    def _needed(self) -> list[tuple[int, list[arb], arb]]:
        """For each candidate, the law of the least noise with which it wins, and the mass left out."""
        reach = self._spread + int(BITS * self.noise.scale) + 8
        with precision(BITS):
            return [self._steps(winner, reach) for winner in range(len(self.scores))]

    def _steps(self, winner: int, reach: int) -> tuple[int, list[arb], arb]:
        wins = [self._wins(winner, noise) for noise in range(-reach - 1, reach + 1)]
        masses = [later - earlier for earlier, later in pairwise(wins)]
        return -reach, masses, wins[0] + (1 - wins[-1])

    def _wins(self, winner: int, noise: int) -> arb:
        mine = self.scores[winner] + noise
        rivals = ((index, score) for index, score in enumerate(self.scores) if index != winner)
        return prod((self.noise.cdf(mine - score - (index < winner)) for index, score in rivals), start=ball(1))
