"""Distributions on the integers: exact samplers, and masses, tails and quantiles with certified bounds."""

from sfumato.noise.bernoulli import Bernoulli, BernoulliExp, flip, flip_exp, flip_many
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Censored, Truncated
from sfumato.noise.categorical import Categorical
from sfumato.noise.coins import flip_exp_many
from sfumato.noise.cube import Cube
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise, enclosure
from sfumato.noise.geometric import Geometric
from sfumato.noise.negative_binomial import TruncatedNegativeBinomial
from sfumato.noise.poisson import Poisson
from sfumato.noise.sampling import Integers
from sfumato.noise.selection import (
    exponential_index,
    interval_index,
    permute_and_flip_index,
    top_k_indices,
)
from sfumato.noise.staircase import Staircase
from sfumato.noise.uniform import Uniform, choose, permutation, reservoir

__all__ = [
    "Bernoulli",
    "BernoulliExp",
    "Binomial",
    "Categorical",
    "Censored",
    "Cube",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Integers",
    "Noise",
    "Poisson",
    "Staircase",
    "Truncated",
    "TruncatedNegativeBinomial",
    "Uniform",
    "choose",
    "enclosure",
    "exponential_index",
    "flip",
    "flip_exp",
    "flip_exp_many",
    "flip_many",
    "interval_index",
    "permutation",
    "permute_and_flip_index",
    "reservoir",
    "top_k_indices",
]
