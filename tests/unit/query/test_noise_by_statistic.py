"""Noise that is chosen by statistic: what is asked for is what is added, charged and reported."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.errors import BadArgument
from sfumato.query.plan.engine_plan import Rows
from sfumato.query.plan.parts import NoisyCells, PricedCells
from sfumato.query.plan.pricing import GAUSSIAN, LAPLACE, priced
from sfumato.query.plan.sensitivity import influence

polars = pytest.importorskip("polars")
QUESTION = "SELECT day, COUNT(*) AS n, SUM(minutes) AS m, AVG(minutes) AS a FROM visits GROUP BY day"
CHOSEN = {"count": "laplace", "sum": "gaussian"}
BOUNDS = {"max_groups": 2, "max_rows_per_group": 2}


def session(limit: sf.Loss) -> sf.Session:
    """Asks about made-up visits."""
    made = sf.datasets.visits(rows=600, people=200, groups=3)
    frame = polars.DataFrame(dict(made.columns))
    return sf.Dataset(frame, unit=sf.Person("user_id"), codebook=made.codebook).session(limit=limit, ledger="memory:")


@pytest.mark.parametrize("loss", [sf.Approx(1, 1e-6), sf.ZCDP("0.1")], ids=str)
def test_P1_156_noise_by_statistic_is_reported_truthfully(loss: sf.Loss) -> None:
    asked = session(loss)
    release = asked.sql(QUESTION, loss=loss, noise=CHOSEN, **BOUNDS)  # type: ignore[arg-type]
    said = dict(release.how.parameters)
    assert "Laplace" in said["rows"] and "Gaussian" in next(text for name, text in said.items() if "sum" in name)
    assert "Laplace noise" in str(release.how) and "Gaussian noise" in str(release.how)
    assert release.loss.within(loss) and asked.spent.within(loss)
    with pytest.raises(sf.errors.LimitReached):
        asked.sql(QUESTION, loss=loss, noise={"count": "gaussian", "sum": "laplace"}, **BOUNDS)  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [{"n": "laplace"}, {"count": "triangle"}, {"count": "laplace", "sum": "gaussian"}])
def test_P1_156_what_cannot_be_chosen(noise: dict[str, str]) -> None:
    with pytest.raises(BadArgument):
        session(sf.Pure(1)).sql(QUESTION, loss=sf.Pure(1), noise=noise, **BOUNDS)  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", [sf.Approx(1, 1e-6), sf.ZCDP("0.1")], ids=str)
@pytest.mark.parametrize("kinds", [(LAPLACE, GAUSSIAN), (GAUSSIAN, LAPLACE), (GAUSSIAN, GAUSSIAN)])
def test_parts_of_both_kinds_keep_the_loss_together(loss: sf.Loss, kinds: tuple[str, str]) -> None:
    parts = [NoisyCells(influence(Rows(), GroupedDistance(2, rows, 2))) for rows in (3, 4)]
    pricing = priced(parts, [Fraction(1), Fraction(2)], loss, noise=kinds)
    cells = [part for part in pricing.parts if isinstance(part, PricedCells)]
    assert [LAPLACE if part.pure else GAUSSIAN for part in cells] == list(kinds)
    assert pricing.loss(1).within(loss) and not pricing.loss(2).within(loss)
    assert pricing.loss(0) == type(loss).nothing()
