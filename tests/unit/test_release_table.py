"""The release table: eight facts from records, numbers from losses; and what is missing before publication."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.examples.releases import HOSTILE, hostile, linkedin, one_number, several
from tests.examples.rendered import GOLDEN, SUFFIXES

import sfumato as sf
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.noise import DiscreteLaplace
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import How, Release
from sfumato.release.table import FIELDS, ReleaseTable, composed
from sfumato.textbook.continuous import Laplace

SURE = Fraction(95, 100)


def microsoft() -> Release:
    noise = DiscreteLaplace(Fraction(5))
    return Release(
        value=812,
        loss=sf.Pure("0.2"),
        unit="Individual device",
        how=How("Laplace", (("scale", "5"),), proofs=("proofs/additive.md#laplace",)),
        half_width=noise.half_width(SURE),
        version="SmartNoise and OpenDP",
    )


LINKEDIN = {"scope": "Reports on top jobs and skills for recent hires in 3-month period"}
LINKEDIN |= {"url": "https://economicgraph.linkedin.com"}
MICROSOFT = {"scope": "Reports on broadband usage in the USA by zip code"}
MICROSOFT |= {"url": "https://github.com/microsoft/USBroadbandUsagePercentages"}


def tables() -> tuple[ReleaseTable, ReleaseTable]:
    return ReleaseTable.of(linkedin(), **LINKEDIN), ReleaseTable.of([microsoft()], **MICROSOFT)


def test_A3_085_four_reports_cost_four_times_as_much() -> None:
    total = composed([release.loss for release in linkedin()])
    assert total == sf.Approx("4.8", "4e-10")
    # The count's noise, continuous as in the text: scale 1/1.2, ±2.50. Ours is discrete, and ±2 holds it already.
    scale = 1 / Fraction("1.2")
    assert float(scale) == pytest.approx(0.833, abs=5e-4)
    assert float(Laplace(scale).quantile(Fraction(975, 1000))) == pytest.approx(2.50, abs=5e-3)
    noise = DiscreteLaplace(scale)
    assert noise.half_width(SURE) == 2
    assert float(2 * noise.upper_tail(3)) <= 0.05 < float(2 * noise.upper_tail(2))
    count = sf.vector(str) >> sf.count() >> sf.laplace(scale=scale)
    assert count.map(1) == sf.Pure("1.2") and count(["a"] * 9).half_width == 2


def test_A3_086_two_hires_cost_double() -> None:
    [row] = tables()[0].rows
    pair = row.loss.group(2)
    assert pair.epsilon == Fraction("9.6")
    # The δ of a group grows by 1 + e^ε, not by 2.
    assert float(pair.delta) == pytest.approx(4e-10 * (1 + math.exp(4.8)))


def test_A3_087_microsoft() -> None:
    count = sf.vector(str) >> sf.count() >> sf.laplace(scale=5)
    assert count.map(1) == sf.Pure("0.2")
    assert float(Laplace(Fraction(5)).quantile(Fraction(975, 1000))) == pytest.approx(14.98, abs=5e-3)
    assert count(["a"]).half_width == 15  # discrete noise: whole numbers


def test_A3_088_the_tables_of_the_book() -> None:
    first, second = (dict(zip(FIELDS, table.rows[0].cells, strict=True)) for table in tables())
    assert first == {
        "Project Scope": "Reports on top jobs and skills for recent hires in 3-month period",
        "Preprocessing methods": "Tf-idf on skills keyset",
        "ε": "4.8",
        "δ": "4e-10",
        "Unit of privacy": "Hire",
        "Mechanism": "Laplace",
        "Implementation": "UnkLap",
        "URL": "https://economicgraph.linkedin.com",
    }
    assert second == {
        "Project Scope": "Reports on broadband usage in the USA by zip code",
        "Preprocessing methods": "None",
        "ε": "0.2",
        "δ": "0.0",
        "Unit of privacy": "Individual device",
        "Mechanism": "Laplace",
        "Implementation": "SmartNoise and OpenDP",
        "URL": "https://github.com/microsoft/USBroadbandUsagePercentages",
    }


def test_tables_stand_side_by_side() -> None:
    first, second = tables()
    both = first.beside(second)
    assert both.rows == first.rows + second.rows
    lines = both.to_text().splitlines()
    assert next(line for line in lines if line.strip().startswith("ε")).split() == ["ε", "4.8", "0.2"]
    records = json.loads(both.to_json())
    assert [record["ε"] for record in records] == [4.8, 0.2] and [record["δ"] for record in records] == [4e-10, 0.0]
    assert all(list(record) == list(FIELDS) for record in records)
    assert both.to_csv().splitlines()[3] == "ε,4.8,0.2"
    assert "| ε | 4.8 | 0.2 |" in both.to_markdown()
    assert r"\ensuremath{\varepsilon} & 4.8 & 0.2 \\" in both.to_latex()
    assert both._repr_html_().count("<a href=") == 2 and str(both) == both.to_text()


def test_steps_are_an_extension() -> None:
    table = tables()[0]
    assert "preprocessing" not in table.to_text()
    shown = table.to_text(steps=True)
    assert shown.count("Laplace (scale 0.833334)") == 4
    [record] = json.loads(table.to_json(steps=True))
    assert [step["step"] for step in record["steps"]] == ["preprocessing", "mechanism"] * 4 + ["total"]
    assert record["steps"][1] == {
        "release": "1",
        "step": "mechanism",
        "what": "Laplace (scale 0.833334)",
        "loss": "ε = 1.2, δ = 1e-10",
        "error": "± 2 at 95%",
    }
    assert record["total"] == "ε = 4.8, δ = 4e-10"


def test_numbers_come_from_losses_and_round_up() -> None:
    release = replace(one_number(), loss=sf.ZCDP("0.5"))
    [row] = release.table(delta=1e-6).rows
    assert row.native == sf.ZCDP("0.5") and row.loss == sf.convert(sf.ZCDP("0.5"), sf.Approx, delta=1e-6)
    assert Fraction(row.cells[2]) >= row.epsilon and row.cells[2] == "5.22154"
    assert row.mechanism == "laplace (ρ = 0.5 (zCDP))"
    with pytest.raises(BadArgument, match="delta"):
        release.table()
    alike = [replace(release, unit="x", adjacency="y") for release in (several(), one_number())]
    mixed = ReleaseTable.of(alike, scope="s", url="None")
    assert mixed.rows[0].loss == sf.Approx("1.5", "1e-6")
    assert mixed.rows[0].mechanism == "stability histogram; laplace"


def test_a_total_of_the_ledger_is_taken_as_it_is() -> None:
    table = ReleaseTable.of(linkedin(), scope="s", url="None", total=sf.Approx(3, 1e-9), period="one quarter")
    assert table.rows[0].loss == sf.Approx(3, 1e-9) and table.rows[0].period == "one quarter"


def test_kinds_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(NoProvenRoute):
        composed([sf.Pure(1), sf.ZCDP(1)])
    with pytest.raises(NoProvenRoute):
        composed([sf.accounting.BoundedRange(1), sf.accounting.BoundedRange(1)])


def test_units_that_differ_are_refused() -> None:
    with pytest.raises(BadArgument, match="do not add up"):
        ReleaseTable.of([one_number(), several()], scope="s", url="None")
    with pytest.raises(BadArgument, match="do not add up"):
        ReleaseTable.of([one_number(), several()], scope="s", url="None", unit="one person")
    table = ReleaseTable.of(
        [one_number(), several()], scope="s", url="None", unit="one person", total=sf.Approx(2, 1e-6)
    )
    assert table.rows[0].unit == "one person"


def test_adjacencies_that_differ_are_refused() -> None:
    pair = [microsoft(), replace(microsoft(), adjacency="the add/remove distance")]
    with pytest.raises(BadArgument, match=r"adjacency.*do not add up"):
        ReleaseTable.of(pair, scope="s", url="None")
    with pytest.raises(BadArgument, match="do not add up"):
        ReleaseTable.of(pair, scope="s", url="None", total=sf.Pure(1))
    table = ReleaseTable.of(pair, scope="s", url="None", total=sf.Pure(1), unit="Individual device")
    assert table.rows[0].cells[4] == "Individual device" and table.rows[0].adjacency == "the add/remove distance"
    assert "the add/remove distance" in table.to_text(steps=True) and "add/remove" not in table.to_text()


def test_a_total_below_a_part_and_a_unit_of_nobody_are_refused() -> None:
    with pytest.raises(BadArgument, match=r"no less than the loss of release 1, ε = 0\.2"):
        ReleaseTable.of([microsoft()], scope="s", url="None", total=sf.Pure("0.1"))
    with pytest.raises(BadArgument, match="a loss"):
        ReleaseTable.of([microsoft()], scope="s", url="None", total=0.3)  # type: ignore[arg-type]
    assert ReleaseTable.of([microsoft()], scope="s", url="None", total=sf.Approx("0.1", "0.1")).rows  # another kind
    with pytest.raises(BadArgument, match="unit must be that of the releases"):
        ReleaseTable.of([microsoft()], scope="s", url="None", unit="Household")
    stated = ReleaseTable.of([microsoft()], scope="s", url="None", unit="Household", total=sf.Pure(1))
    assert stated.rows[0].unit == "Household"


@pytest.mark.parametrize("period", [None, 3, ["March"]])
def test_a_period_is_a_text(period: object) -> None:
    with pytest.raises(BadArgument, match="period"):
        ReleaseTable.of([microsoft()], scope="s", url="None", period=period)  # type: ignore[arg-type]


def test_a_total_below_a_part_is_not_published() -> None:
    table = ReleaseTable.of([publishable()], scope="s", url="None", period="March 2025")
    dear = replace(publishable(), loss=sf.Pure(2))
    [fault] = missing_for_publication(table, [publishable(), dear])
    assert fault == "total loss: ε = 0.5 is less than that of release 2, ε = 2."
    other = ReleaseTable.of([dear], scope="s", url="None", period="March 2025")
    assert missing_for_publication(table.beside(other), [publishable(), dear]) == []


def test_blanks_are_refused_and_none_is_an_answer() -> None:
    with pytest.raises(BadArgument, match="write 'None' where there is none"):
        one_number().table(scope=" ")
    with pytest.raises(BadArgument, match="one or more releases"):
        ReleaseTable.of([], scope="s", url="u")
    assert one_number().table().rows[0].cells[7] == "None"


def test_an_infinite_loss_is_shown_as_such() -> None:
    table = replace(one_number(), loss=sf.Pure(math.inf)).table()
    assert table.rows[0].cells[2] == "inf" and json.loads(table.to_json())[0]["ε"] == "inf"
    huge = replace(one_number(), loss=sf.Pure(10**400))
    assert json.loads(huge.to_json())["epsilon"] == "inf" and huge.table().rows[0].cells[2] == "1e+400"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_in_tables(text: str) -> None:
    table = hostile(text).table(scope=text.strip() or "x", url=text)
    for form in ("to_text", "to_html", "to_markdown", "to_latex", "to_json", "to_csv"):
        shown = getattr(table, form)(steps=True)
        assert shown.encode() and all(letter.isprintable() or letter == "\n" for letter in shown)
    assert "<script" not in table.to_html(steps=True) + table.to_json(steps=True)
    for line in table.to_csv(steps=True).splitlines():
        assert not re.search(r'(^|,)"?[=+@]', re.sub(r'"[^"]*"', '""', line))


def publishable() -> Release:
    return replace(one_number(), how=replace(one_number().how, claims=()))


def test_nothing_is_missing_from_a_complete_release() -> None:
    table = ReleaseTable.of([publishable()], scope="s", url="None", period="March 2025")
    assert missing_for_publication(table, [publishable()]) == []
    assert missing_for_publication(ReleaseTable.of(linkedin(), period="3 months", **LINKEDIN), linkedin()) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"loss": sf.Pure(math.inf)}, "total loss"),
        ({"loss": sf.Approx(1, 1)}, "total loss"),
        ({"receipt": None}, "total loss: release 1 was charged to no ledger"),
        ({"how": replace(one_number().how, mechanism="")}, "mechanisms"),
        ({"how": replace(one_number().how, proofs=())}, "method documentation"),
        ({"unit": "None"}, "unit of privacy"),
        ({"version": ""}, "libraries used"),
        ({"half_width": None}, "error bounds"),
        ({"replayable": True}, "seed"),
    ],
)
def test_what_is_missing_is_said(change: dict[str, object], word: str) -> None:
    release = replace(publishable(), **change)  # type: ignore[arg-type]
    table = ReleaseTable.of([release], scope="s", url="None", period="March 2025")
    [fault] = missing_for_publication(table, [release])
    assert word in fault


def test_the_period_is_asked_for_and_many_faults_are_one_sentence() -> None:
    releases = [replace(publishable(), half_width=None) for _ in range(12)]
    found = missing_for_publication(ReleaseTable.of(releases, scope="s", url="None"), releases)
    assert [fault.partition(":")[0] for fault in found] == ["period", "error bounds"]
    assert "release 1, 2, 3, 4, 5, 6, 7, 8, … 12 in all" in found[1]
    with pytest.raises(BadArgument):
        missing_for_publication(ReleaseTable(()), releases)
    with pytest.raises(BadArgument):
        missing_for_publication(tables()[0], [])


def test_golden_table() -> None:
    both = tables()[0].beside(tables()[1])
    for form, suffix in SUFFIXES.items():
        golden = GOLDEN / f"release_table.{suffix}"
        assert getattr(both, f"to_{form}")(steps=True) == golden.read_text(encoding="utf-8"), form
