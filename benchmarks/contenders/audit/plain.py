"""The same sums by hand in NumPy: a least-squares solution, the largest ratio of a column, two histograms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from contenders.audit.cases import BITS, NOISE_SCALE, QUERIES, SAMPLES, SCALE, mechanism
from side_by_side.stopwatch import best_round, report, report_version


def main() -> None:
    """Times each of the three; none of them bounds its errors."""
    report_version("numpy")
    drawn = np.random.default_rng(1)
    secret = drawn.integers(0, 2, BITS)
    queries = drawn.integers(0, 2, (QUERIES, BITS)).astype(np.float64)
    answers = queries @ secret + np.rint(drawn.laplace(0, NOISE_SCALE, QUERIES))
    guessed = np.linalg.lstsq(queries, answers, rcond=None)[0] > 0.5
    told(
        "reconstruct",
        lambda: np.linalg.lstsq(queries, answers, rcond=None),
        f"{np.mean(guessed == secret):.3f} of the bits",
    )
    rows = mechanism()

    def largest() -> float:
        return float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())

    told("matrix", largest, f"ε ≈ {largest():.5f}")

    def counted() -> float:
        left, right = (np.rint(drawn.laplace(0, SCALE, SAMPLES // 2)) + value for value in (0, 1))
        shares = [np.histogram(side, bins=np.arange(-100, 101))[0] for side in (left, right)]
        often = np.minimum(*shares) > SAMPLES // 500
        return float(np.log(shares[0][often] / shares[1][often]).max())

    told("blackbox", counted, f"ε ≈ {counted():.4f}, and no confidence")


def told(case: str, work: Callable[[], object], found: str) -> None:
    """Times one of them and says what it found."""
    best = best_round(work, rounds=3)
    report(case, kind="time", seconds=best.seconds, share=best.share, found=found)


main()
