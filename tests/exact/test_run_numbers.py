"""Numbers of runs: closed forms against sums, tables against inversion, the sampler's law against the accountant's."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from sfumato.accounting import events
from sfumato.accounting.facts.repeat_and_select import mean_runs
from sfumato.entropy import ReplayEntropy, SystemEntropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, precision
from sfumato.noise import Poisson, TruncatedNegativeBinomial, enclosure
from sfumato.noise import negative_binomial as runs_of
from sfumato.noise import poisson as poisson_of
from sfumato.noise.digits import DigitSampler
from sfumato.noise.inversion import WORD, locate

CASES = [
    (Fraction(1), Fraction(1, 100)),
    (Fraction(0), Fraction(1, 50)),
    (Fraction(-1, 2), Fraction(1, 20)),
    (Fraction(1, 1000), Fraction(1, 30)),
    (Fraction(7, 3), Fraction(1, 10)),
    (Fraction(100), Fraction(9, 10)),
]
every_case = pytest.mark.parametrize(("shape", "stop"), CASES)


@every_case
def test_the_generating_function_sums_the_masses(shape: Fraction, stop: Fraction) -> None:
    noise = TruncatedNegativeBinomial(shape, stop)
    with precision(128):
        for x in (Fraction(0), Fraction(1, 3), Fraction(3, 4)):
            total = sum((noise.pmf(z) * ball(x) ** z for z in range(1, 400)), arb(0))
            assert abs(total - noise.mean_power(ball(x))) < arb(2) ** -100
        assert noise.mean_power(ball(1)).contains(1)


@every_case
def test_tails_sum_the_masses(shape: Fraction, stop: Fraction) -> None:
    noise = TruncatedNegativeBinomial(shape, stop)
    with precision(128):
        for value in (1, 2, 7, 300):
            total = sum((noise.pmf(z) for z in range(value, 2 * value + 50)), arb(0))
            assert abs(total + noise.upper_tail(2 * value + 50) - noise.upper_tail(value)) < arb(2) ** -80


@every_case
def test_the_sampler_and_the_accountant_mean_the_same_law(shape: Fraction, stop: Fraction) -> None:
    low, high = enclosure(TruncatedNegativeBinomial(shape, stop).mean())
    expected = mean_runs(events.TruncatedNegativeBinomial(shape, stop))
    assert low <= expected and expected - high < Fraction(1, 10**9)


@every_case
def test_tables_and_inversion_agree(shape: Fraction, stop: Fraction) -> None:
    """One draw for each of many leading words: the table's index is the one that the law gives."""
    sampler = runs_of._sampler(shape, stop).table()
    assert isinstance(sampler, DigitSampler)
    _agree(sampler)


@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(7), Fraction(900)])
def test_poisson_tables_and_inversion_agree(mean: Fraction) -> None:
    sampler = poisson_of._sampler(mean).table()
    assert isinstance(sampler, DigitSampler)
    _agree(sampler)
    with precision(128):
        total = sum((Poisson(mean).pmf(z) * ball(Fraction(1, 2)) ** z for z in range(1500)), arb(0))
        assert abs(total - Poisson(mean).mean_power(ball(Fraction(1, 2)))) < arb(2) ** -100


def _agree(sampler: DigitSampler) -> None:
    table = sampler.leading
    for word in range(1 << 56, (1 << WORD) - (1 << 56), (1 << WORD) // 211):
        found = locate(table.law, word, WORD)
        assert found is not None
        assert table.decide(word, ReplayEntropy(0)) == found


def test_the_recurrence_of_the_table_is_the_law() -> None:
    with precision(192):
        for shape, stop in CASES:
            law = runs_of.runs_law(shape, stop)
            for index, mass in zip(range(1, 60), runs_of.runs_masses(shape, stop), strict=False):
                assert law.mass_below(index).overlaps(mass)


@pytest.mark.parametrize(
    "noise",
    [
        TruncatedNegativeBinomial(Fraction(0), Fraction(1, 10**9)),
        TruncatedNegativeBinomial(Fraction(1) + Fraction(1, 10**20), Fraction(1, 10**6)),
        TruncatedNegativeBinomial(Fraction(1, 10**12), Fraction(1, 100)),
        TruncatedNegativeBinomial(Fraction(300), Fraction(1, 2)),
        Poisson(Fraction(10**5) + Fraction(1, 7)),
    ],
    ids=repr,
)
def test_far_parameters_draw_in_time(noise: TruncatedNegativeBinomial | Poisson) -> None:
    assert noise.sample(SystemEntropy()) >= 0
    low, high = noise.quantile(Fraction(1, 10**9)), noise.quantile(1 - Fraction(1, 10**9))
    assert low <= noise.sample(SystemEntropy()) <= high


def test_numbers_are_checked() -> None:
    for shape, stop in [(-1, "0.5"), (1001, "0.5"), (1, 0), (1, 1), ("wide", "0.5"), (True, "0.5")]:
        with pytest.raises(BadArgument):
            TruncatedNegativeBinomial(shape, stop)  # type: ignore[arg-type]
    for mean in (0, -1, 2**21, "many"):
        with pytest.raises(BadArgument):
            Poisson(mean)  # type: ignore[arg-type]
