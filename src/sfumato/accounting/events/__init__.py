"""Events: public, frozen descriptions of what ran, for one accountant to add up.

An event holds public numbers only: it may be printed, stored and published. The format is versioned (`codec`): an event
is never removed, never gains a required field, never changes its meaning; an unknown one is refused.

A *shift* is the largest distance between the exact answers of two neighbours, in the unit of the noise. It belongs to
the relation that the plan is held to, with four exceptions. Inside `Sampled` and `Allocated`, and in `GaussianMixture`,
it is what the presence of one unit changes, whatever the relation. Inside `Parallel` it covers both, the presence of a
unit in the part and, where units may be exchanged, its replacement. Inside `Shuffled` and `ShuffledProtocol` it lies
between any two inputs of one unit's local event.
"""

from sfumato.accounting.events.composed import MOST_TIMES, Mixture, Parallel, Repeat, Sequence
from sfumato.accounting.events.event import Event
from sfumato.accounting.events.hiding import Hiding, HidingAllOf, HidingOneOf
from sfumato.accounting.events.iterates import LastIterate
from sfumato.accounting.events.noises import Gaussian, GaussianMixture, Laplace, Noise, Response, Selection, Stated
from sfumato.accounting.events.runs import PoissonRuns, RepeatAndSelect, Runs, TruncatedNegativeBinomial
from sfumato.accounting.events.samples import (
    Allocated,
    Poisson,
    Sampled,
    Sampling,
    Shuffled,
    ShuffledProtocol,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.events.streams import CompletedNodes, MatrixFactorization, SampledFactorization, Tree
from sfumato.accounting.facts.selection import ExponentialSelection, NoisyMaximum, PermuteAndFlip, TopSelection
from sfumato.accounting.facts.strategies import (
    Cyclic,
    Dense,
    MinSeparation,
    Participation,
    SquareRoot,
    Strategy,
    Toeplitz,
)

__all__ = [
    "MOST_TIMES",
    "Allocated",
    "CompletedNodes",
    "Cyclic",
    "Dense",
    "Event",
    "ExponentialSelection",
    "Gaussian",
    "GaussianMixture",
    "Hiding",
    "HidingAllOf",
    "HidingOneOf",
    "Laplace",
    "LastIterate",
    "MatrixFactorization",
    "MinSeparation",
    "Mixture",
    "Noise",
    "NoisyMaximum",
    "Parallel",
    "Participation",
    "PermuteAndFlip",
    "Poisson",
    "PoissonRuns",
    "Repeat",
    "RepeatAndSelect",
    "Response",
    "Runs",
    "Sampled",
    "SampledFactorization",
    "Sampling",
    "Selection",
    "Sequence",
    "Shuffled",
    "ShuffledProtocol",
    "SquareRoot",
    "Stated",
    "Strategy",
    "Toeplitz",
    "TopSelection",
    "Tree",
    "TruncatedNegativeBinomial",
    "TruncatedPoisson",
    "WithReplacement",
    "WithoutReplacement",
]
