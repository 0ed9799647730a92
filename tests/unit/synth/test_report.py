"""The report: what it says, in which forms, what it costs (nothing), and who may see it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.unit.chart_reading import headline, tables

import sfumato as sf
from sfumato import synth
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.evaluation import held_rows
from sfumato.synth.noise_errors import Noise
from sfumato.synth.private_errors import noise_family
from sfumato.synth.report import codes_in_order
from sfumato.synth.synthetic import Synthetic
from sfumato.synth.synthetic_interval import refit_of

KNOWN: dict[str, Any] = {
    "between": {"age": (18, 78)},
    "categories": {"sex": ["f", "m"], "city": ["Vinci", "Milan", "Rome"]},
    "bins": {"age": 4},
}


@cache
def people(rows: int = 3000, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.uniform(18, 78, rows)
    city = np.where(rng.random(rows) < 0.6, np.where(age < 50, "Milan", "Vinci"), rng.choice(["Vinci", "Rome"], rows))
    return pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], rows), "city": city})


@cache
def made(kind: str = "MST", rho: str = "0.1") -> Synthetic:
    recipe: Any = getattr(synth, kind)
    return recipe(loss=sf.ZCDP(rho)).fit(people(), entropy=ReplayEntropy(1), **KNOWN)  # type: ignore[no-any-return]


def test_a_report_says_what_was_measured_and_what_it_is_and_is_not_good_for() -> None:
    report = made().report(entropy=ReplayEntropy(2))
    text = " ".join(report.to_text().split())
    assert "MST: about" in text and "ρ = 0.1 (zCDP)" in text and "[uncharged]" in text
    assert "of rows are in a wrong cell" in text
    alone = " ".join(made("Independent").report().to_text().split())
    assert "3 of 3 pairs of columns were never measured together" in alone
    assert "below the noise" in text and "No row is a person" in text and "Use .interval()" in text
    assert "say no more than the bin: age" in text
    assert report.private and "holder" not in text
    assert report.errors is not None and {each.columns for each in report.errors.errors} >= {("age",), ("age", "city")}


def test_bounds_in_a_report_hold_on_the_real_table() -> None:
    synthetic = made()
    report = synthetic.report(private=people(), entropy=ReplayEntropy(3))
    assert report.errors is not None and report.held is not None and report.held.pairs is not None
    for pair in report.held.pairs.errors:
        if any(set(each.columns) == set(pair.columns) for each in report.errors.errors):
            known = report.errors.of(*pair.columns)
            assert known.low - 0.01 <= pair.total_variation <= known.high + 0.01  # rows are drawn anew


def test_what_the_holder_saw_is_marked_and_what_is_public_is_not() -> None:
    held, public = (made().report(**{side: people(500, 9)}) for side in ("private", "public"))
    assert not held.private and "for the holder's eyes: not private" in repr(held)
    assert "For the holder's eyes" in held.to_html().replace("&#x27;", "'")
    assert public.private and "holder" not in public.to_text()
    assert public.public is not None and "public rows" in public.to_text()
    assert "holder" in headline(held.plot("pairs")) and "holder" not in headline(public.plot("pairs"))


def test_tables_of_a_workload_that_no_measured_one_holds_are_guesses() -> None:
    report = made("Independent").report(workload=[("age", "city"), ("sex",)])
    text = " ".join(report.to_text().split())
    assert "Of the workload, no measured table holds age × city: these are guesses too" in text


def test_charts_show_what_is_known_and_leave_grey_what_is_not() -> None:
    report = made().report()
    drawn = tables(report.plot("pairs"))
    measured = {one.columns for one in made().measured if len(one.columns) == 2}
    assert len(drawn["pairs"]) == 2 * len(measured) and len(drawn["unknown"]) == 2 * (3 - len(measured))
    bars = tables(report.plot())
    assert sum(row["y"] for row in bars["bars_0"]) == pytest.approx(1)
    assert all(row["low"] < row["y"] < row["high"] for row in bars["dots_1"])
    with pytest.raises(BadArgument, match="'columns' or 'pairs'"):
        report.plot("triples")  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".html", ".md", ".txt", ".png", ".svg"])
def test_reports_are_saved_in_every_form(tmp_path: Path, suffix: str) -> None:
    target = made().report().save(tmp_path / "new" / f"report{suffix}")
    assert target.stat().st_size > 1000
    if suffix == ".html":
        page = target.read_text()
        assert page.startswith("<!doctype html>") and page.count("<figure>") == 2 and "<script" not in page
    with pytest.raises(BadArgument, match="suffix"):
        made().report().save(tmp_path / "report.docx")


def test_names_that_are_hostile_stay_harmless() -> None:
    hostile = "<script>alert(1)</script>"
    frame = pl.DataFrame({hostile: ["a", "b"] * 50, "x": ["a", "a"] * 50})
    fitted = synth.Independent(loss=sf.ZCDP(1)).fit(frame, categories={hostile: ["a", "b"], "x": ["a", "<b>"]})
    assert "<script>alert" not in fitted.report().html() and "<b>" not in fitted.report().html()


def test_private_errors_hold_and_are_marked_as_paid() -> None:
    fitted = made()
    found = fitted.private_error(people(), loss=sf.ZCDP("0.5"), entropy=ReplayEntropy(5))
    assert found.private and "paid: ρ = 0.5" in found.to_text() and "[uncharged]" in found.to_text()
    real = held_rows(fitted.schema, people(), "real")
    for each in found.errors:
        truth = np.abs(real.marginal(each.columns) - fitted.model.marginal(each.columns)).sum() / 2 / fitted.model.total
        assert each.low <= truth <= each.high
    one = fitted.private_error(people(), loss=sf.Pure(1), workload=[("sex",)], entropy=ReplayEntropy(6))
    assert [each.columns for each in one.errors] == [("sex",)]


def test_private_errors_of_a_session_are_charged_once_for_a_key() -> None:
    frame = people(400, 3).with_row_index("id")
    data = sf.Dataset(frame, unit="id", between=KNOWN["between"], categories=KNOWN["categories"])
    session = data.session(limit=sf.ZCDP(1), ledger="memory:")
    fitted = synth.Independent(loss=sf.ZCDP("0.1")).fit(session.table(), max_rows=1, key="fit")
    spent = session.spent
    asked = {"loss": sf.ZCDP("0.2"), "max_rows": 1, "key": "error", "workload": [("sex", "city")]}
    first, again = (fitted.private_error(session.table(), **asked) for _ in range(2))
    assert session.spent == sf.ZCDP(spent.rho + sf.ZCDP("0.2").rho)  # type: ignore[union-attr]
    assert first.errors == again.errors and "[uncharged]" not in first.to_text()
    with pytest.raises(BadArgument, match="private_error"):
        fitted.report(private=session.table())


def test_intervals_take_tables_of_values_and_need_a_method_that_can_be_redone() -> None:
    found = made().interval(
        lambda table: (table["city"] == "Rome").mean(), draws=8, columns=["city"], entropy=ReplayEntropy(7)
    )
    assert found.low < float((people()["city"] == "Rome").mean()) < found.high
    bayes = made("PrivBayes").interval(lambda table: (table["sex"] == "f").mean(), draws=8, entropy=ReplayEntropy(7))
    assert 0.4 < bayes.low < 0.5 < bayes.high < 0.6
    alone = made("Independent")
    guess = alone.interval(lambda table: table["age"].mean(), draws=8, columns=alone.columns, form="pandas")
    assert len(guess.guessed) == 3


def test_a_method_that_measured_no_tables_says_that_no_error_is_known() -> None:
    unmeasured = replace(made(), measured=())
    report = unmeasured.report()
    assert report.errors is None and "no error is known" in report.to_text()
    assert tables(report.plot("pairs"))["pairs"] == [] and "dots_0" not in tables(report.plot())
    with pytest.raises(BadArgument, match="MST or AIM"):
        unmeasured.interval(lambda table: 0.0)


def test_a_stated_number_of_rows_stays_what_it_is_when_noise_is_redrawn() -> None:
    recipe = synth.Independent(loss=sf.ZCDP("0.001"))
    fitted = recipe.fit(people(), rows=3000, entropy=ReplayEntropy(8), **KNOWN)
    assert refit_of(fitted)(fitted.measured).total == 3000
    assert refit_of(made())(made().measured).total == pytest.approx(made().model.total)


def test_noise_has_the_family_of_the_loss() -> None:
    assert noise_family(sf.Pure(1)) is Noise.LAPLACE
    assert noise_family(sf.ZCDP(1)) is noise_family(sf.Approx(1, 1e-6)) is Noise.GAUSSIAN
    assert codes_in_order(made()) == {"age": 4}


@pytest.mark.parametrize("wrong", [pl.DataFrame({"age": [1.0]}), pl.DataFrame()])
def test_tables_without_the_columns_are_refused(wrong: pl.DataFrame) -> None:
    with pytest.raises(BadArgument):
        made().report(public=wrong)
