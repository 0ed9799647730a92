"""What every contender is asked for; standard library only, since it is imported in all their environments."""

from __future__ import annotations

CASES = ("laplace_int", "gaussian_int", "laplace_float", "gaussian_float")
SCALES = (1.0, 10.0, 1e4)
SIZE = 1_000_000
