"""Intervals that know of the noise hold the truth as often as they say; those that take rows for people do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest

from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn.significance.draws import uniforms
from sfumato.synth.counting import Floats, Rows
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured
from sfumato.synth.intervals import combined, fresh_noise, never_together, noisy_interval, redrawn
from sfumato.synth.noise_errors import Noise

DOMAIN = Domain(("a", "b"), (2, 5))
TRUE = np.array([[0.24, 0.2, 0.1, 0.04, 0.02], [0.02, 0.05, 0.08, 0.1, 0.15]])
ROWS, DEVIATION = 1000, 15.0


@final
@dataclass(frozen=True, eq=False)
class Written:
    """A model that is its table of expected counts; rows are its cells, rounded by one uniform number."""

    counts: Floats
    domain: Domain = DOMAIN

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        kept = self.domain.axes(columns)
        summed = self.counts.sum(axis=tuple(axis for axis in range(self.counts.ndim) if axis not in kept))
        return summed if list(kept) == sorted(kept) else summed.T

    def sample(self, rows: int, entropy: Entropy, given: Mapping[str, Any] | None = None) -> np.ndarray[Any, Any]:
        ends = np.cumsum(self.counts.ravel()) / self.total
        places = (np.arange(rows) + uniforms(1, entropy)) / rows
        cells = np.minimum(np.searchsorted(ends, places), self.counts.size - 1)
        return np.stack(np.unravel_index(cells, self.counts.shape), axis=1).astype(np.uint8)


def refitted(measured: Sequence[Measured]) -> Written:
    """Noisy counts, without negative ones."""
    (one,) = measured
    kept = np.maximum(one.counts, 0.0)
    return Written(kept * max(1.0, one.counts.sum()) / max(kept.sum(), 1.0))


def share(table: Rows) -> float:
    return float(np.mean((table.codes[:, 0] == 1) & (table.codes[:, 1] >= 3)))


def mean(table: Rows) -> float:
    return float(np.mean(table.codes[:, 1]))


def slope(table: Rows) -> float:
    left, right = table.codes.astype(float).T
    return float(np.cov(left, right)[0, 1] / max(np.var(left), 1e-9))


def truth(statistic: Any) -> float:
    cells = np.round(TRUE * 100_000).astype(int)
    codes = np.stack(np.unravel_index(np.repeat(np.arange(10), cells.ravel()), (2, 5)), axis=1)
    return float(statistic(Rows(DOMAIN, codes)))


@pytest.mark.parametrize("noise", [Noise.GAUSSIAN, Noise.LAPLACE])
@pytest.mark.parametrize("statistic", [share, mean, slope])
def test_the_interval_holds_the_truth_and_the_plain_one_does_not(statistic: Any, noise: Noise) -> None:
    rng, entropy, rounds = np.random.default_rng(5), ReplayEntropy(5), 120
    held, plain, real = 0, 0, truth(statistic)
    for _ in range(rounds):
        exact = rng.multinomial(ROWS, TRUE.ravel()).reshape(2, 5).astype(float)
        noisy = exact + fresh_noise((2, 5), DEVIATION, noise, entropy)
        measured = [Measured(("a", "b"), noisy, DEVIATION)]
        found = noisy_interval(
            statistic, refitted(measured), measured, refitted, draws=30, noise=noise, entropy=entropy
        )
        held += found.low <= real <= found.high
        assert found.plain is not None
        plain += found.plain[0] <= real <= found.plain[1]
    assert held >= 0.95 * rounds - 2.5 * np.sqrt(rounds * 0.95 * 0.05)
    assert plain < held
    if statistic is not slope:
        assert plain < 0.85 * rounds


def test_the_interval_for_the_table_leaves_out_that_people_are_a_sample() -> None:
    measured = [Measured(("a", "b"), 200 * TRUE * 5, 2.0)]
    model = refitted(measured)
    population, table = (
        noisy_interval(mean, model, measured, refitted, of=of, draws=60, entropy=ReplayEntropy(1))
        for of in ("population", "table")
    )
    assert table.high - table.low < 0.5 * (population.high - population.low)


def test_large_tables_are_redrawn_with_the_spread_of_their_size() -> None:
    measured = [Measured(("a", "b"), 4e8 * TRUE, 1.0)]
    found = noisy_interval(
        share, refitted(measured), measured, refitted, rows=100_000, draws=20, entropy=ReplayEntropy(2)
    )
    assert found.high - found.low < 2e-4  # of 4e8 people, a share strays by 2e-5


def test_estimates_of_several_data_sets_are_combined_by_known_rules() -> None:
    plain = combined([1.0, 2.0, 3.0])
    assert plain.estimate == 2
    assert plain.high - plain.estimate == pytest.approx(4.302653 * np.sqrt(4 / 3))
    known = combined([1.0, 2.0, 3.0], [0.1, 0.1, 0.1])
    assert known.high - known.estimate == pytest.approx(4.994 * np.sqrt(4 / 3 - 0.1), rel=0.1)
    assert combined([1.0, 1.0], [5.0, 5.0]).high == 1.0


def test_data_sets_of_refits_combined_hold_the_truth_and_those_of_one_fit_do_not() -> None:
    rng, entropy, rounds = np.random.default_rng(6), ReplayEntropy(6), 100
    held, alike, real = 0, 0, truth(share)
    for _ in range(rounds):
        exact = rng.multinomial(ROWS, TRUE.ravel()).reshape(2, 5)
        measured = [Measured(("a", "b"), exact + fresh_noise((2, 5), DEVIATION, Noise.GAUSSIAN, entropy), DEVIATION)]
        model = refitted(measured)
        sets = [each.sample(5000, entropy) for each in redrawn(model, measured, refitted, times=10, entropy=entropy)]
        found = combined([share(Rows(DOMAIN, codes)) for codes in sets])
        held += found.low <= real <= found.high
        same = combined([share(Rows(DOMAIN, model.sample(5000, entropy))) for _ in range(10)])
        alike += same.low <= real <= same.high
    assert held >= 88 and alike < 50


def test_columns_never_measured_together_are_named() -> None:
    assert never_together(["a", "b", "c"], [("a", "b"), ("c",)]) == (("a", "c"), ("b", "c"))
    measured = [Measured(("a", "b"), 1000 * TRUE, 5.0)]
    found = noisy_interval(mean, refitted(measured), measured, refitted, columns=["a", "b"], draws=8)
    assert not found.guessed
    lone = [Measured(("a",), np.array([10.0, 5.0]), 1.0)]
    narrow = noisy_interval(mean, refitted(measured), lone, lambda _: refitted(measured), columns=["a", "b"], draws=8)
    assert narrow.guessed == (("a", "b"),)
    assert "Never measured together" in narrow.to_text()


@pytest.mark.parametrize("wrong", [{"draws": 2}, {"of": "sample"}, {"confidence": 1.5}, {"measured": []}])
def test_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    measured = [Measured(("a", "b"), 1000 * TRUE, 5.0)]
    given = {"measured": measured, **wrong}
    with pytest.raises(BadArgument):
        noisy_interval(mean, refitted(measured), given.pop("measured"), refitted, **given)
