"""What all contenders are asked: how many counts of equal error a limit answers."""

from __future__ import annotations

EPSILONS = (1, 4)
DELTA = 1e-6
QUESTIONS = 1000
"""Noise is such that our own rule answers this many; the others answer what they can with the same noise."""

MOST = 10_000
"""Nobody is asked more than this."""

LAPLACE, GAUSSIAN, MIXED = "laplace", "gaussian", "mixed"
KINDS = (LAPLACE, GAUSSIAN, MIXED)
