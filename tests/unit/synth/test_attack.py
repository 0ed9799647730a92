"""Membership of a synthetic table: copies are caught, private tables are not caught beyond what their ε allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato import synth
from sfumato.attacks.synthetic import nearest_synthetic, shadow_synthesis
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument

COLUMNS, CODES = 6, 8
NAMES = [f"c{place}" for place in range(COLUMNS)]
KNOWN: dict[str, Any] = {"categories": {name: [str(code) for code in range(CODES)] for name in NAMES}}


def people(rows: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, CODES, (rows, 1))
    return np.where(rng.random((rows, COLUMNS)) < 0.4, first, rng.integers(0, CODES, (rows, COLUMNS)))


def copied(rows: np.ndarray[Any, Any], entropy: Entropy) -> np.ndarray[Any, Any]:
    """A table that hands out half of its rows as they are."""
    return rows[np.argsort(entropy.words(len(rows)))[: len(rows) // 2]]


def private(rows: np.ndarray[Any, Any], entropy: Entropy) -> np.ndarray[Any, Any]:
    frame = pl.DataFrame({name: rows[:, place].astype(str) for place, name in enumerate(NAMES)})
    fitted = synth.MST(loss=sf.Pure(1)).fit(frame, entropy=entropy, **KNOWN)
    return np.minimum(fitted.sample_codes(len(rows), entropy=entropy), CODES - 1)


def test_a_table_that_copies_rows_is_broken() -> None:
    members, outsiders = people(300, 1), people(300, 2)
    near = nearest_synthetic(copied(members, ReplayEntropy(1)), members, outsiders)
    assert near.success.interval()[0] > near.baseline + 0.1
    assert nearest_synthetic(members, members, outsiders).advantage > 0.4
    shadow = shadow_synthesis(copied, members, outsiders, auxiliary=people(600, 3), shadows=8, entropy=ReplayEntropy(2))
    assert shadow.success.interval()[0] > shadow.baseline + 0.1


def test_a_private_table_is_not_broken_beyond_what_epsilon_allows() -> None:
    members, outsiders = people(300, 1), people(300, 2)
    near = nearest_synthetic(private(members, ReplayEntropy(3)), members, outsiders, loss=sf.Pure(1))
    shadow = shadow_synthesis(
        private, members, outsiders, auxiliary=people(600, 3), shadows=4, loss=sf.Pure(1), entropy=ReplayEntropy(4)
    )
    for attack in (near, shadow):
        low, _ = attack.success.interval("0.999")
        assert low <= attack.baseline  # guessing would do
        assert attack.found.advantage <= attack.found.most_advantage
        assert attack.epsilon == 1 and "Failure shows only that this attack failed" in attack.to_text()


@pytest.mark.parametrize("wrong", [[], [[0.5, 1.0]], [1, 2], [[1]]])
def test_bad_tables_are_refused(wrong: Any) -> None:
    with pytest.raises(BadArgument):
        nearest_synthetic([[0, 1]], [[0, 1]], wrong)
