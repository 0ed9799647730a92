"""Noise in floats: as near to ideal normal numbers as the proof says, far out too."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from flint import arb
from scipy.special import erfc, ndtri
from tests.exact.scripted_entropy import ScriptedEntropy

from sfumato.entropy import ReplayEntropy
from sfumato.train.noise import EDGE, PAIRS, normal_like, sharper_logs


def ideal_pairs(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same draws in floats of 64 bits, with the bits that are not drawn in the middle; the rare ones left out."""
    octets = ReplayEntropy(seed).octets(8 * count)
    bits = np.frombuffer(octets, dtype="<u4")
    digits, turn = (bits[:count] >> 1).astype(np.float64), bits[count:].view("<i4").astype(np.float64)
    usual = (digits >= int(EDGE)) & (digits <= 2**31 - int(EDGE))
    away, angle = np.sqrt(-2 * np.log((digits + 0.5) / 2**31)), turn * (math.pi / 2**31)
    return np.stack([away * np.cos(angle), away * np.sin(angle)]), away, usual


@pytest.mark.parametrize("deviation", [1.0, 1e-30, 4e5])
def test_numbers_are_as_near_to_normal_ones_as_stated(deviation: float) -> None:
    count = PAIRS
    drawn = normal_like(torch.Size([2 * count]), deviation, ReplayEntropy(3)).double().numpy().reshape(2, count)
    ideal, away, usual = ideal_pairs(count, 3)
    off = np.abs(drawn / deviation - ideal) - (2.0**-15 * np.abs(ideal) + 2.0**-20 * away)
    assert (off[:, usual] <= 0).all() and 0.99 < usual.mean() < 0.995
    near = np.abs(drawn[:, ~usual] / deviation - ideal[:, ~usual])
    assert (near <= 1e-3 * away[~usual]).all()  # these have more digits than the ideal ones here


def test_logarithms_at_the_edges_have_all_their_digits() -> None:
    """Of 63 digits: near 0, which decides how far noise reaches, and near 1."""
    for digits, more in [(0, 0), (0, 1), (0, 2**32 - 1), (5, 7), (2**31 - 1, 2**32 - 1), (2**31 - 9, 3), (1 << 22, 0)]:
        whole = (digits << 32) + more
        true = float(((2 * arb(whole) + 1) / arb(2) ** 64).log())
        known = sharper_logs(np.array([digits], dtype=np.uint32), ScriptedEntropy(more.to_bytes(4, "little")))
        assert known[0] == pytest.approx(true, rel=2.0**-23)
    farthest = math.sqrt(-2 * float(sharper_logs(np.zeros(1, dtype=np.uint32), ScriptedEntropy(bytes(4)))[0]))
    assert 9.41 < farthest < 9.42


def test_tails_and_scale_are_those_of_normal_numbers() -> None:
    """Replayed: 4 million numbers, with counts far out within 5 of their deviations; 1 % off is noticed."""
    many = 4_000_000
    drawn = normal_like(torch.Size([many]), 1.0, ReplayEntropy(9))
    for far in (0.01, 1.0, 3.0, 4.0, 4.75):
        expected = many * erfc(far / math.sqrt(2))
        counts = [int((drawn.abs() > scale * far).sum()) for scale in (1, 1.01, 0.99)]
        assert abs(counts[0] - expected) < 5 * math.sqrt(expected)
        if 0.01 < far < 4:
            assert min(abs(count - expected) for count in counts[1:]) > 5 * math.sqrt(expected)
    assert int((drawn == 0).sum()) == 0
    middle = float((drawn.abs() < ndtri(0.75)).float().mean())
    assert abs(middle - 0.5) < 0.002


def test_odd_numbers_of_numbers_and_none_are_drawn() -> None:
    for size in (0, 1, 3, 2 * PAIRS + 5):
        drawn = normal_like(torch.Size([size]), 1.0, ReplayEntropy(1))
        assert drawn.shape == (size,) and bool(torch.isfinite(drawn).all())
    assert normal_like(torch.Size([2, 3, 4]), 1.0, ReplayEntropy(1)).shape == (2, 3, 4)
    blocks = normal_like(torch.Size([4 * PAIRS]), 1.0, ReplayEntropy(1)).reshape(4, PAIRS)
    for one in range(4):
        for other in range(one):
            assert abs(float(torch.corrcoef(blocks[[one, other]])[0, 1])) < 0.03
