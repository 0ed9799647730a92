"""OpenDP's exact noise on vectors and scalars."""

from __future__ import annotations

from functools import partial

import opendp.prelude as dp

from contenders.noise.cases import SCALES
from side_by_side.stopwatch import report_version, time_scalar, time_vector

SIZE = 50_000  # its time grows in proportion to the size, so this says the same as a million and ends in seconds
NOISES = {"laplace": (dp.m.make_laplace, dp.l1_distance), "gaussian": (dp.m.make_gaussian, dp.l2_distance)}


def main() -> None:
    """Times every noise, type and scale."""
    report_version("opendp")
    dp.enable_features("contrib")
    for noise, (make, metric) in NOISES.items():
        for kind in (int, float):
            atom = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
            for scale in SCALES:
                vector = make(dp.vector_domain(atom), metric(T=kind), scale=scale)
                scalar = make(atom, dp.absolute_distance(T=kind), scale=scale)
                case = f"{noise}_{kind.__name__}"
                time_vector(case, scale=scale, size=SIZE, work=partial(vector, [kind(0)] * SIZE))
                time_scalar(case, scale=scale, calls=200, work=partial(scalar, kind(0)))


main()
