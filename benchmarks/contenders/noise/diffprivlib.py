"""diffprivlib's scalar mechanisms; its API has no vectors."""

from __future__ import annotations

import math
from functools import partial

from diffprivlib.mechanisms import Gaussian, Geometric, Laplace

from contenders.noise.cases import SCALES
from side_by_side.stopwatch import report_version, time_scalar

DELTA = 1e-5


def main() -> None:
    """Times each mechanism at the scale that its privacy parameters give."""
    report_version("diffprivlib")
    for scale in SCALES:
        # Its Gaussian takes ε = 1 and works the scale out from the sensitivity.
        sensitivity = scale / math.sqrt(2 * math.log(1.25 / DELTA))
        mechanisms = {
            "laplace_int": partial(Geometric(epsilon=1 / scale, sensitivity=1).randomise, 0),
            "laplace_float": partial(Laplace(epsilon=1 / scale, sensitivity=1).randomise, 0.0),
            "gaussian_float": partial(Gaussian(epsilon=1, delta=DELTA, sensitivity=sensitivity).randomise, 0.0),
        }
        for case, draw in mechanisms.items():
            time_scalar(case, scale=scale, work=draw)


main()
