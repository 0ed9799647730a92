"""From votes to one label: ways to add noise to them, each with the event that it is accounted as.

One unit changes the vote of one teacher: one count falls by 1, another rises by 1, so that the counts move by 2 in L1
and by √2 in L2. Noise is drawn on a grid of `FINE` steps a vote, so that ties are rare and favour nobody.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event, ExponentialSelection, Noise, Repeat, Selection
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.metrics import L1, L2, ChangeOne
from sfumato.entropy import Entropy
from sfumato.exact import Number, integer, positive
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.selection import exponential_index
from sfumato.transforms.distances import times
from sfumato.transforms.histogram import count_by_map

FINE = 1 << 10
"""Steps of the grid to one vote."""

Counts = NDArray[np.int64]
"""How many teachers vote for each class, a line for each question."""


class Aggregator(ABC):
    """A way to choose a label by noisy votes."""

    natural: ClassVar[type[Loss]]
    """The kind of loss that it costs least in, where nothing else is said."""

    def check_event(self, touched: int) -> Event | None:
        """The event of one check whether teachers agree, where that is asked before a label is given."""
        return None

    @abstractmethod
    def event(self, classes: int, touched: int) -> Event:
        """The event of one label, where a unit may reach so many teachers."""

    def passes(self, scores: Counts, entropy: Entropy) -> NDArray[np.bool_]:
        """Which questions get a label; all of them, where nothing is asked first."""
        return np.ones(len(scores), dtype=np.bool_)

    @abstractmethod
    def choose(self, votes: Counts, entropy: Entropy) -> NDArray[np.int64]:
        """The place of a class for each question."""


@final
@dataclass(frozen=True)
class LNMax(Aggregator):
    """The class with the most votes after Laplace noise of a ``scale`` on each count.

    Guarantee:  Pure(2 / scale) a label  (proofs/pate.md#laplace)

    >>> from sfumato.accounting.compose import total
    >>> total(LNMax(20).event(10, 1), Pure)
    Pure(epsilon=0.1)
    """

    scale: Fraction
    natural = Pure

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))

    def event(self, classes: int, touched: int) -> Event:
        return moved_votes(DiscreteLaplace(self.scale * FINE), classes, touched)

    def choose(self, votes: Counts, entropy: Entropy) -> NDArray[np.int64]:
        return noisy_winners(votes, DiscreteLaplace(self.scale * FINE), entropy)

    def __str__(self) -> str:
        return f"LNMax: Laplace noise of scale {float(self.scale):.4g} votes, then the largest"


@final
@dataclass(frozen=True)
class GNMax(Aggregator):
    """The class with the most votes after Gaussian noise of deviation ``sigma`` on each count.

    Guarantee:  ZCDP(1 / sigma²) a label  (proofs/pate.md#gaussian)

    >>> from sfumato.accounting.compose import total
    >>> total(GNMax(40).event(10, 1), ZCDP)
    ZCDP(rho=0.000625)
    """

    sigma: Fraction
    natural = ZCDP

    def __init__(self, sigma: Number) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))

    def event(self, classes: int, touched: int) -> Event:
        return moved_votes(DiscreteGaussian(self.sigma * FINE), classes, touched)

    def choose(self, votes: Counts, entropy: Entropy) -> NDArray[np.int64]:
        return noisy_winners(votes, DiscreteGaussian(self.sigma * FINE), entropy)

    def __str__(self) -> str:
        return f"GNMax: Gaussian noise of deviation {float(self.sigma):.4g} votes, then the largest"


@final
@dataclass(frozen=True)
class GumbelMax(Aggregator):
    """A class with probability proportional to exp(votes / scale): the exponential mechanism, or noise of Gumbel's law.

    It errs less than Laplace noise at every pure loss.

    Guarantee:  Pure(2 / scale) and ZCDP(1 / (2 scale²)) a label  (proofs/pate.md#gumbel)

    >>> from sfumato.accounting.compose import total
    >>> total(GumbelMax(20).event(10, 1), Pure), total(GumbelMax(20).event(10, 1), ZCDP)
    (Pure(epsilon=0.1), ZCDP(rho=0.00125))
    """

    scale: Fraction
    natural = Pure

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))

    @guarantee(
        claim="a choice by scores that move by a range of 2 for each teacher that a unit reaches",
        proof="proofs/pate.md#gumbel",
        reviewed="5483c477d0c8",
    )
    def event(self, classes: int, touched: int) -> Event:
        """The event of one label, where a unit may reach so many teachers."""
        return Selection(ExponentialSelection(self.scale), 2 * touched)

    def choose(self, votes: Counts, entropy: Entropy) -> NDArray[np.int64]:
        unit = 1 / self.scale
        return np.array([exponential_index(line, unit=unit, entropy=entropy) for line in votes], dtype=np.int64)

    def __str__(self) -> str:
        return f"GumbelMax: Gumbel noise of scale {float(self.scale):.4g} votes, then the largest"


@final
@dataclass(frozen=True)
class ConfidentGNMax(Aggregator):
    """GNMax for questions on which teachers agree: a label only where the largest count, with noise, is at a threshold.

    The check has noise of deviation ``sigma_check`` votes and is paid for by every question, ``sigma`` by those alone
    that get a label. What it is checked against may have a student's guesses taken off (the interactive variant).

    Guarantee:  ZCDP(1 / (2 sigma_check²)) a check, ZCDP(1 / sigma²) a label  (proofs/pate.md#confident)
    """

    threshold: int
    sigma_check: Fraction
    sigma: Fraction
    natural = ZCDP

    def __init__(self, threshold: int, *, sigma_check: Number, sigma: Number) -> None:
        object.__setattr__(self, "threshold", integer(threshold, "threshold", least=1))
        object.__setattr__(self, "sigma_check", positive(sigma_check, "sigma_check"))
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))

    @guarantee(
        claim="the largest of scores moves by at most 1 for each teacher that a unit reaches",
        proof="proofs/pate.md#confident",
        reviewed="4f935d19c4c8",
    )
    def check_event(self, touched: int) -> Event:
        """The event of one check, where a unit may reach so many teachers."""
        return Noise(DiscreteGaussian(self.sigma_check), touched)

    def event(self, classes: int, touched: int) -> Event:
        return moved_votes(DiscreteGaussian(self.sigma * FINE), classes, touched)

    @guarantee(
        claim="whether the largest score plus discrete Gaussian noise is at least the threshold, question by question",
        proof="proofs/pate.md#confident",
        reviewed="b420794ecaae",
    )
    def passes(self, scores: Counts, entropy: Entropy) -> NDArray[np.bool_]:
        """Which questions get a label: those whose largest score, with noise, is at the threshold."""
        noisy = exact_add(scores.max(axis=1), DiscreteGaussian(self.sigma_check).samples(len(scores), entropy))
        return np.asarray(noisy >= self.threshold, dtype=np.bool_)

    def choose(self, votes: Counts, entropy: Entropy) -> NDArray[np.int64]:
        return noisy_winners(votes, DiscreteGaussian(self.sigma * FINE), entropy)

    def __str__(self) -> str:
        return (
            f"Confident GNMax: at least {self.threshold} votes by noise of {float(self.sigma_check):.4g}, "
            f"then Gaussian noise of deviation {float(self.sigma):.4g} votes"
        )


@guarantee(
    claim="counts move by √2 k in L2 and by 2k in L1 where a unit reaches k teachers; for k = 1 two move by 1 each",
    proof="proofs/pate.md#sensitivity",
    reviewed="443185c41da2",
)
def moved_votes(noise: DiscreteLaplace | DiscreteGaussian, classes: int, touched: int) -> Event:
    """What it costs to show all counts with noise: the label is a function of these."""
    if isinstance(noise, DiscreteLaplace) and touched == 1:
        return Repeat(Noise(noise, FINE), 2)  # as exact as 2 in L1, and composes better
    norm = L1() if isinstance(noise, DiscreteLaplace) else L2()
    # The votes are a column of one row a teacher, of which so many are exchanged.
    moved = count_by_map(Fraction(touched), norm=norm, metric=ChangeOne(), size=touched, bins=classes)
    return Noise(noise, times(moved, FINE), coordinates=classes)


@guarantee(
    claim="the first place of the largest of counts + independent noise, question by question",
    proof="proofs/pate.md#sensitivity",
    reviewed="c6bef7ad225d",
)
def noisy_winners(votes: Counts, noise: DiscreteLaplace | DiscreteGaussian, entropy: Entropy) -> NDArray[np.int64]:
    """Adds noise to every count, and then looks which is largest."""
    noisy = exact_add((votes * FINE).ravel(), noise.samples(votes.size, entropy)).reshape(votes.shape)
    return np.asarray(noisy.argmax(axis=1), dtype=np.int64)
