"""What an audit says: verdicts from numbers, text, pages and charts."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from tests.unit.chart_reading import headline, tables

from sfumato.audit.record import Audit, Curve, Line, Verdict, Witness, worst
from sfumato.audit.report import report, save_report
from sfumato.errors import BadArgument, PromiseBroken
from sfumato.exact import Extended

HALF, ONE, TWO = Fraction(1, 2), Fraction(1), Fraction(2)


@pytest.mark.parametrize(
    ("claimed", "low", "high", "verdict"),
    [
        (ONE, ONE, ONE, "tight"),
        (ONE, ONE - Fraction(1, 10**7), ONE, "tight"),
        (ONE, HALF, HALF, "sound"),
        (ONE, HALF, ONE, "sound"),
        (ONE, HALF, TWO, "open"),
        (ONE, HALF, None, "open"),
        (ONE, ONE, None, "tight"),
        (ONE, ONE, TWO, "tight"),
        (ONE, ONE + Fraction(1, 10**12), None, "violated"),
        (ONE, math.inf, math.inf, "violated"),
        (math.inf, HALF, HALF, "sound"),
        (math.inf, math.inf, math.inf, "tight"),
        (Fraction(0), Fraction(0), Fraction(0), "tight"),
        (Fraction(0), Fraction(0), None, "open"),
        (Fraction(0), Fraction(1, 10**9), None, "violated"),
        (None, TWO, TWO, "open"),
    ],
)
def test_a_verdict_follows_from_the_numbers(
    claimed: Extended | None, low: Extended, high: Extended | None, verdict: str
) -> None:
    assert str(Line("ε", claimed, low, high).verdict) == verdict


def made(*lines: Line, **facts: object) -> Audit:
    return Audit("a mean", "exact", lines, **facts)  # type: ignore[arg-type]


SOUND, TIGHT, BROKEN = Line("ρ", TWO, ONE, ONE), Line("ε", ONE, ONE, ONE), Line("δ", HALF, ONE)
TOLD = Line("ε, pure", None, TWO)


def test_the_worst_line_decides_and_lines_without_a_claim_do_not_count() -> None:
    assert made(TIGHT, TOLD).verdict is Verdict.TIGHT
    assert made(TIGHT, SOUND).verdict is Verdict.SOUND
    assert made(TIGHT, Line("δ", ONE, HALF)).verdict is Verdict.OPEN
    assert made(TIGHT, BROKEN, SOUND).verdict is Verdict.VIOLATED
    assert made(TOLD).verdict is Verdict.OPEN
    assert made(TIGHT, faults=("the release depends on the data",)).verdict is Verdict.VIOLATED
    assert worst([made(TIGHT), made(SOUND)]) is Verdict.SOUND
    assert worst([made(TIGHT), made(BROKEN)]) is Verdict.VIOLATED


def test_numbers_of_any_size_are_written() -> None:
    found = str(made(Line("ε", Fraction(10**400), Fraction(3 * 10**400))))
    assert "≥ 3.00000e+400" in found
    assert "1.00000e+400" in found


def test_check_raises_what_was_found() -> None:
    kept = made(TIGHT)
    assert kept.check() is kept
    with pytest.raises(PromiseBroken, match=r"a mean does not keep its promise: δ is at least 1, claimed 0\.5"):
        made(BROKEN).check()
    with pytest.raises(AssertionError, match="control flow"):
        made(TIGHT, faults=("control flow depends on the data",)).check()


def test_data_is_shown_only_where_it_is_asked_for() -> None:
    found = made(TIGHT, witness=Witness([4711], [], "outcome 3"))
    for said in (str(found), repr(found), found.to_html(), found.to_markdown(), found._repr_html_(), report([found])):
        assert "4711" not in said
    for said in (found.to_html(witness=True), found.to_markdown(witness=True), report([found], witness=True)):
        assert "4711" in said
        assert "outcome 3" in said


def test_a_report_is_one_page_that_loads_nothing(tmp_path: Path) -> None:
    curve = Curve("ε", "δ", ((0.0, 0.3), (1.0, 0.0)), ((0.0, 0.2), (1.0, 0.0)))
    page = save_report([made(SOUND, curves=(curve,)), made(BROKEN)], tmp_path / "deep" / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "violated" in page
    assert "<script" not in page
    assert 'src="http' not in page
    assert "δ is at least 1, claimed 0.5" in page
    assert made(TIGHT).save(tmp_path / "one.html").exists()


def test_a_report_escapes_what_a_subject_is_called() -> None:
    page = report([Audit("<script>alert(1)</script>", "exact", (TIGHT,))])
    assert "<script>" not in page


def test_a_report_is_refused_clearly(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match=r"\.html"):
        made(TIGHT).save(tmp_path / "report.pdf")
    with pytest.raises(BadArgument, match="written to"):
        made(TIGHT).save("/proc/none/report.html")
    for nothing in ([], [3], made(TIGHT)):
        with pytest.raises(BadArgument, match="a list of one audit or more"):
            report(nothing)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="one of ε"):
        made(TIGHT).line("δ")


def test_charts_show_multiples_of_the_claim() -> None:
    chart = made(SOUND, BROKEN, TOLD, Line("ε", ONE, math.inf, math.inf)).chart()
    rows = {row["what"]: row for row in tables(chart)["lines"]}
    assert (rows["ρ"]["low"], rows["ρ"]["high"], rows["ρ"]["series"]) == (0.5, 0.5, "kept")
    assert (rows["δ"]["low"], rows["δ"]["series"]) == (2.0, "broken")
    assert rows["ε"]["words"] == "∞, claimed 1"
    assert "ε, pure" not in rows
    huge = tables(made(SOUND, Line("ε", ONE, Fraction(3 * 10**400))).chart())["lines"]
    assert [(row["low"] < 2, row["words"]) for row in huge][1] == (True, "≥ over 1e+300, claimed 1")
    assert "violated" in headline(chart)


def test_charts_of_curves_have_both() -> None:
    curve = Curve("ε", "δ", ((0.0, 0.3), (math.inf, 0.0)), ((0.0, 0.2),))
    rows = tables(made(SOUND, curves=(curve,)).chart())["curves"]
    assert [(row["series"], row["x"], row["y"]) for row in rows] == [("claimed", 0.0, 0.3), ("measured", 0.0, 0.2)]
    with pytest.raises(BadArgument, match="with a claim"):
        made(TOLD).chart()
