"""One average, one interval: from SQL, and from releases of its sum and its count that are divided by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.examples.sql import catalog
from tests.reference.planning import planned

import sfumato as sf
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.query.answer.assemble import Drawn
from sfumato.query.plan.decomposition import step_of
from sfumato.query.plan.engine_plan import Rows
from sfumato.release.estimate import Estimate
from sfumato.release.record import How, Noised, Release

MIDDLE = 45
"""Minutes lie between 0 and 90, and are added up around the middle."""


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.5")], ids=str)
@pytest.mark.parametrize(("rows", "mean"), [(1000, 45), (1000, 80), (200, 10), (50, 30)])
def test_sql_and_estimates_give_one_average_one_interval(loss: Loss, rows: int, mean: int) -> None:
    ready = planned("SELECT AVG(minutes) AS m FROM visits", catalog(), loss=loss, limit=type(loss), max_rows=1)
    estimates: dict[bool, Estimate] = {}
    numbers = {}
    for tally, part in ready.noises[0].items():
        exact, step = rows if isinstance(tally, Rows) else rows * (mean - MIDDLE), step_of(tally)
        numbers[tally] = np.array([int(exact / step)])
        noised = Noised(part.noise, step)
        estimates[isinstance(tally, Rows)] = Release(exact, Pure(1), "a row", How("noise"), noise=noised).estimate()
    answer = ready.answer([Drawn((), numbers)], Fraction(95, 100))["m"]
    by_hand = (estimates[False] / estimates[True] + MIDDLE).interval()
    assert by_hand is not None and answer.low is not None and answer.high is not None
    low, high = max(by_hand.low, 0), min(by_hand.high, 90)
    close = 0.04 * (high - low)
    assert answer.values[0] == pytest.approx(mean)
    assert answer.low[0] == pytest.approx(low, abs=close) and answer.high[0] == pytest.approx(high, abs=close)
