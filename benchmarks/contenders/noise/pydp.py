"""PyDP's scalar Laplace mechanism (C++); its Gaussian does not take a scale."""

from __future__ import annotations

from functools import partial

from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

from contenders.noise.cases import SCALES
from side_by_side.stopwatch import report_version, time_scalar


def main() -> None:
    """Times integers and floats."""
    report_version("python-dp")
    for scale in SCALES:
        mechanism = LaplaceMechanism(epsilon=1 / scale, sensitivity=1)
        time_scalar("laplace_int", scale=scale, work=partial(mechanism.add_noise, 0))
        time_scalar("laplace_float", scale=scale, work=partial(mechanism.add_noise, 0.0))


main()
