"""sfumato's exact noise: the whole measurement as its public API runs it, and the sampler alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from contenders.noise.cases import SCALES, SIZE
from sfumato.core.metrics import L1, L2
from sfumato.core.space import scalar, vector
from sfumato.entropy import Entropy, SystemEntropy
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from side_by_side.stopwatch import report_version, time_scalar, time_vector

ENTROPY = SystemEntropy()


def bytes_per_sample(draw: Callable[[Entropy], object]) -> float:
    """Counts the entropy that one vector takes."""
    before = ENTROPY.drawn
    draw(ENTROPY)
    return (ENTROPY.drawn - before) / SIZE


def time_measurement(case: str, scale: float, *, kind: type, noise: str) -> None:
    """Times a measurement on a vector of zeros, and on a single zero."""
    add = (laplace if noise == "laplace" else gaussian)(scale=scale)
    many = vector(kind, size=SIZE, metric=L1() if noise == "laplace" else L2()) >> add
    one = scalar(kind) >> add
    zeros = np.zeros(SIZE, dtype=np.int64 if kind is int else np.float64)
    entropy_bytes = bytes_per_sample(lambda entropy: many(zeros, entropy=entropy))
    time_vector(case, scale=scale, size=SIZE, work=partial(many, zeros), entropy_bytes=entropy_bytes)
    time_scalar(case, scale=scale, work=partial(one, kind(0)))


def time_sampler(case: str, scale: float, *, noise: str) -> None:
    """Times the noise alone."""
    law = (DiscreteLaplace if noise == "laplace" else DiscreteGaussian)(Fraction(scale))
    draw = partial(law.samples, SIZE)
    entropy_bytes = bytes_per_sample(draw)
    work = partial(draw, ENTROPY)
    time_vector(case, scale=scale, size=SIZE, kind="sampler", work=work, entropy_bytes=entropy_bytes)
    time_scalar(case, scale=scale, kind="scalar sampler", work=partial(law.sample, ENTROPY))


def main() -> None:
    """Times every noise, type and scale."""
    report_version("sfumato")
    for noise in ("laplace", "gaussian"):
        for scale in SCALES:
            time_measurement(f"{noise}_int", scale, kind=int, noise=noise)
            time_measurement(f"{noise}_float", scale, kind=float, noise=noise)
            time_sampler(f"{noise}_int", scale, noise=noise)


main()
