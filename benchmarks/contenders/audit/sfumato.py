"""sfumato: reconstruct secret bits, audit a matrix, audit a black box."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from contenders.audit.cases import BITS, INPUTS, NOISE_SCALE, QUERIES, SAMPLES, SCALE, mechanism
from sfumato.noise import DiscreteLaplace
from side_by_side.stopwatch import best_round, report, report_version


def main() -> None:
    """Times each of the three."""
    report_version("sfumato")
    entropy = sf.entropy.ReplayEntropy(1)
    secret = (entropy.words(BITS) % 2).astype(np.int64)
    queries = sf.attacks.random_queries(BITS, QUERIES, entropy=entropy)
    noise = DiscreteLaplace(Fraction(NOISE_SCALE)).samples(QUERIES, entropy)
    answers = queries.astype(np.int64) @ secret + noise
    found = sf.attacks.reconstruction(answers, queries, secret=secret, against=f"Laplace noise of scale {NOISE_SCALE}")
    told(
        "reconstruct",
        lambda: sf.attacks.reconstruction(answers, queries, secret=secret),
        f"{found.success.rate:.3f} of the bits",
    )
    rows = mechanism()
    claim = sf.Approx(5, 1)  # so that δ is asked for too, over all pairs of inputs, which takes longest
    found_delta, found_epsilon = (float(line.low) for line in sf.audit.matrix(rows, claim=claim).lines)
    said = f"{INPUTS} inputs: ε = {found_epsilon:.5f}, δ(5) = {found_delta:.5f}"
    told("matrix", lambda: sf.audit.matrix(rows, claim=claim), said)
    bound = audited().lines[0].low
    told("blackbox", audited, f"ε ≥ {float(bound):.4f}, truly {1 / SCALE:g}")


def audited() -> sf.audit.Audit:
    """Audits Laplace noise from samples of it, drawing included."""
    noise, source = DiscreteLaplace(Fraction(SCALE)), sf.entropy.ReplayEntropy(2)

    def run(value: int, count: int) -> NDArray[np.int64]:
        return np.asarray(value + noise.samples(count, source))

    return sf.audit.black_box(run, 0, 1, claim=sf.Pure("0.1"), samples=SAMPLES, batched=True)


def told(case: str, work: Callable[[], object], found: str) -> None:
    """Times one of them and says what it found."""
    best = best_round(work, rounds=3)
    report(case, kind="time", seconds=best.seconds, share=best.share, found=found)


main()
