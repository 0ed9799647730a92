"""The noise in a written table is the stated one, over all of its batches: as wide as it says, and new in each cell.

A test accepts what lies within 6 standard deviations: a false alarm in 10⁹.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.reference.planning import Fixed, catalog_of, planned

import sfumato as sf
from sfumato.entropy import system
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.engines import protocol
from sfumato.query.engines.protocol import in_batches
from sfumato.query.plan.spreading import Finish

GROUPS, COUNTED, BATCH = 20_000, 5_000, 700
CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Groups",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {"t": {"columns": {"u": {"type": "int"}, "f": {"type": "str"}}}},
    }
)


def noise_in(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, DiscreteLaplace]:
    """The noise of many counts of which the exact number is known, batch by batch, and what it is said to be."""
    monkeypatch.setattr(protocol, "BATCH", BATCH)
    ready = planned(
        "SELECT f, COUNT(*) AS n FROM t GROUP BY f",
        CATALOG,
        limit=sf.Approx,
        loss=sf.Approx(1, "1e-6"),
        max_groups=1,
        max_rows_per_group=3,
        noise="laplace",
    )
    tallies = ready.levels[0].cells.tallies
    cells = Fixed(GROUPS, [COUNTED] * len(tallies)).run(ready.levels[0].cells)
    finish = Finish(ready.columns_at[0], Fraction(95, 100), system())
    numbers = np.concatenate([finish(batch)["n"].to_numpy() for batch in in_batches(cells)])
    [part] = ready.noises[0].values()
    assert isinstance(part.noise, DiscreteLaplace) and len(numbers) == GROUPS
    return numbers - COUNTED, part.noise


def is_of(drawn: np.ndarray, noise: DiscreteLaplace) -> bool:
    """Tells whether numbers are as far off as the noise says, and equal to each other as seldom as it says."""
    scale = float(noise.scale)
    absolute, alike = np.abs(drawn).mean(), (drawn[1:] == drawn[:-1]).mean()
    spread = scale / math.sqrt(len(drawn))
    expected = 2 * math.exp(-1 / scale) / ((1 - math.exp(-1 / scale)) * (1 + math.exp(-1 / scale)))
    masses = [float(noise.pmf(z).mid()) for z in range(-40 * round(scale), 40 * round(scale) + 1)]
    equal = sum(mass**2 for mass in masses)
    within = 6 * math.sqrt(equal / len(drawn)) * 2
    return bool(abs(absolute - expected) < 6 * spread * 1.1 and abs(alike - equal) < within)


def test_the_noise_is_the_stated_one(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, noise = noise_in(monkeypatch)
    assert is_of(drawn, noise)
    assert not is_of(drawn, DiscreteLaplace(noise.scale * Fraction(11, 10)))
    assert not is_of(drawn, DiscreteLaplace(noise.scale * Fraction(9, 10)))


def test_noise_that_is_used_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, noise = noise_in(monkeypatch)
    assert not is_of(np.repeat(drawn[::2], 2), noise)
    one = drawn[:BATCH]
    repeated = [float(np.corrcoef(one, part)[0, 1]) for part in drawn[BATCH : 20 * BATCH].reshape(-1, BATCH)]
    assert max(map(abs, repeated)) < 6.5 / math.sqrt(BATCH)  # no batch has the noise of the first one
