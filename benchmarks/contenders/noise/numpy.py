"""numpy's own samplers: neither exact nor secure, and so the floor that no private sampler goes below."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from contenders.noise.cases import SCALES, SIZE
from side_by_side.stopwatch import report_version, time_scalar, time_vector

GENERATOR = np.random.default_rng()


def laplace_int(success: float, size: int | None = None) -> object:
    """Draws a difference of two geometric variables, which has the discrete Laplace shape."""
    return GENERATOR.geometric(success, size) - GENERATOR.geometric(success, size)


def main() -> None:
    """Times what numpy has; it has no discrete Gaussian."""
    report_version("numpy")
    for scale in SCALES:
        draws: dict[str, Callable[..., object]] = {
            "laplace_int": partial(laplace_int, -math.expm1(-1 / scale)),
            "laplace_float": partial(GENERATOR.laplace, 0, scale),
            "gaussian_float": partial(GENERATOR.normal, 0, scale),
        }
        for case, draw in draws.items():
            time_vector(case, scale=scale, size=SIZE, work=partial(draw, size=SIZE))
            time_scalar(case, scale=scale, work=draw)


main()
