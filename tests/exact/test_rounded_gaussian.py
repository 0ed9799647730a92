"""Rounded normal numbers: what the tables decide is within the law, cell by cell, and nearly all of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.special import ndtr
from tests.exact.scripted_entropy import ScriptedEntropy, halves, words

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, precision
from sfumato.noise.gaussian_sums import direct_sum
from sfumato.noise.inversion import CELLS, OPEN
from sfumato.noise.rounded_gaussian import BLOCKS, RoundedGaussian, accepted, block_law, block_table


def integral(start: Fraction, end: Fraction) -> arb:
    """The integral of exp(-y² / 2·64²), in blocks."""
    unit = BLOCKS * arb(2).sqrt()
    return unit * arb.pi().sqrt() / 2 * ((ball(end) / unit).erf() - (ball(start) / unit).erf())


@pytest.mark.parametrize("power", [5, 7])
def test_no_table_keeps_more_of_any_number_than_the_law_and_all_of_them_nearly_all(power: int) -> None:
    """All 2^48 beginnings of a draw, counted: those that tables decide, by the number that they decide on."""
    sampler = RoundedGaussian.of(power)
    wide = 1 << sampler.shift
    kept: dict[int, int] = {}
    for base, sure in zip(sampler.bases.tolist(), sampler.sure.tolist(), strict=True):
        for place in range(wide):
            kept[base ^ place] = kept.get(base ^ place, 0) + (sure >> sampler.shift)
    with precision(128):
        beginnings = (1 << 48) / (2 * direct_sum(Fraction(BLOCKS**2), start=0))
        for half, count in kept.items():
            near = half if half >= 0 else -1 - half
            cell = integral(Fraction(near, wide), Fraction(near + 1, wide))
            assert count <= cell * beginnings
    assert 0.97 < sum(kept.values()) / 2**48 < 0.99


@pytest.mark.parametrize("power", [5, 13, 25])
def test_words_that_are_sure_are_kept_wherever_the_place_is_and_hardly_any_is_left_out(power: int) -> None:
    """The farthest place of a block is kept least often: by no coin that is sure is it rejected."""
    sampler = RoundedGaussian.of(power)
    coins = 1 << (32 - sampler.shift)
    known = {int(base): int(sure) for base, sure in zip(sampler.bases, sampler.sure, strict=True) if sure}
    with precision(128):
        for base, sure in known.items():
            block = (base if base >= 0 else -1 - base) >> sampler.shift
            least = ball(-Fraction(2 * block + 1, 2 * BLOCKS**2)).exp() * coins
            assert sure >> sampler.shift <= least and least - (sure >> sampler.shift) < 1 + coins * 2.0**-38
    assert len(known) > 400


def test_blocks_have_their_masses() -> None:
    law, table = block_law(), block_table()
    with precision(128):
        total = 2 * direct_sum(Fraction(BLOCKS**2), start=0)
        for index in (0, 1, 2, 77, 640, 1241):
            mass = law.mass_below(index + 1) - law.mass_below(index)
            assert abs(mass - ball(-Fraction((index // 2) ** 2, 2 * BLOCKS**2)).exp() / total) < arb(2) ** -100
            below = table.limits[index] / 2.0**64
            assert abs(law.mass_below(index + 1) - below) < arb(2) ** -52
    assert len(table.cells) == CELLS and 0.005 < np.mean(table.cells == OPEN) < 0.03


class Undecided(Exception):
    """Raised where more bits are asked for."""


class NoMore(ReplayEntropy):  # type: ignore[misc]
    def bits(self, count: int) -> int:
        raise Undecided


@pytest.mark.parametrize("block", [0, 1, 60, 600])
def test_a_place_is_kept_with_its_probability(block: int) -> None:
    """All beginnings of place and coin: those that are kept, and those not yet decided, enclose the integral."""
    bits, yes, unknown = 6, 0, 0
    for place in range(1 << bits):
        for coin in range(1 << bits):
            try:
                yes += accepted(block, place, bits, coin, bits, NoMore(1))
            except Undecided:
                unknown += 1
    with precision(128):
        true = integral(Fraction(block), Fraction(block + 1)) / ball(-Fraction(block**2, 2 * BLOCKS**2)).exp()
        assert arb(yes) <= true * 4**bits <= yes + unknown
    assert unknown < 3 * 2**bits


@pytest.mark.parametrize("block", [0, 60, 600])
def test_more_bits_settle_it_as_the_real_numbers_say(block: int) -> None:
    """Both ways, at 1, 2 and 3 words beyond what is known."""
    for more in (1, 2, 3):
        for up in (False, True):
            place, digits = 1 << 3, 4
            inside = Fraction(place, 1 << digits)
            with precision(512):
                level = ball(-inside * (2 * block + inside) / (2 * BLOCKS**2)).exp()
                exact = int((level * (arb(2) ** (64 * more + 4))).floor().unique_fmpz())
            coin = exact + (1 if up else -(1 << 60))
            prefix, rest = coin >> (64 * more), [(coin >> (64 * each)) & (2**64 - 1) for each in range(more)][::-1]
            script = b"".join(words(0) + words(word) for word in rest)
            assert accepted(block, place, digits, prefix, 4, ScriptedEntropy(script)) is not up


def chi_square(drawn: NDArray[np.int64], scale: float) -> float:
    """The statistic of 64 bins that are equally likely, but for whole numbers."""
    edges = np.unique(np.round(np.linspace(-2.5, 2.5, 64) * scale)) + 0.5
    masses = np.diff(ndtr(np.concatenate(([-np.inf], edges, [np.inf])) / scale))
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=len(masses))
    return float(((counts - len(drawn) * masses) ** 2 / (len(drawn) * masses)).sum())


@pytest.mark.parametrize("power", [5, 16, 25])
def test_draws_have_the_law_and_one_percent_off_is_noticed(power: int) -> None:
    """Replayed; 63 or 64 bins: the statistic is 63 or so with a deviation of 11."""
    drawn = RoundedGaussian.of(power).samples(600_000, ReplayEntropy(power))
    assert chi_square(drawn, 2.0**power) < 120
    assert chi_square(drawn, 1.01 * 2.0**power) > 150
    assert chi_square(drawn, 0.99 * 2.0**power) > 150
    assert chi_square(drawn + (1 << power) // 32, 2.0**power) > 150


def test_what_tables_leave_open_has_the_law_too() -> None:
    """The same without tables of what is sure, and one by one."""
    sampler = RoundedGaussian.of(20)
    slow = replace(sampler, sure=np.zeros_like(sampler.sure)).samples(400_000, ReplayEntropy(1))
    assert chi_square(slow, 2.0**20) < 120
    assert abs(float(np.abs(slow).mean()) / 2**20 - math.sqrt(2 / math.pi)) < 4 * 0.603 / math.sqrt(400_000)
    entropy = ReplayEntropy(2)
    assert chi_square(np.array([sampler.sample(entropy) for _ in range(4_000)]), 2.0**20) < 120


def test_a_draw_beyond_the_table_is_made_all_the_same() -> None:
    """The leading 16 bits are the highest, the next 48 too, and then a few more: beyond 9.7 deviations."""
    sampler = RoundedGaussian.of(10)
    place_and_coin = (0).to_bytes(4, "little")
    script = halves(0xFFFF) + place_and_coin + words(2**64 - 1) + words(2**64 - 1)
    drawn = sampler.samples(1, ScriptedEntropy(script))
    assert 9.5 < abs(int(drawn[0])) / 2**10 < 14


def test_no_draws_and_scales_that_are_refused() -> None:
    assert len(RoundedGaussian.of(5).samples(0, ReplayEntropy(1))) == 0
    for power in (4, 26):
        with pytest.raises(BadArgument, match="power"):
            RoundedGaussian.of(power)
