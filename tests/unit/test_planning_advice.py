"""Advice before a plan: limits, δ, bounds, periods, overlaps, forms (P3-104, 109 to 113, 120, 121, 123 to 125, 130)."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.planning import Datasheet, Forms, PreferenceStudy, bounds_advice, default_release, limit_advice, overlap
from sfumato.planning.bounds import with_bounds
from sfumato.planning.limits import beside_others, comparable, epsilon_of, right_of_thousand
from sfumato.release.context import ContextRecord

BOOK = sf.datasets.visits().codebook
PEOPLE = "SELECT COUNT(DISTINCT user_id) AS people FROM visits"
SPREAD = {5: 0.3, 20: 0.4, 60: 0.28, 240: 0.02}


def planned(epsilon: str, **said: Any) -> sf.planning.Plan:
    return sf.plan(BOOK, [PEOPLE], epsilon=epsilon, **said)


# Limits


@pytest.mark.parametrize(("success", "epsilon"), [("0.75", "1.09861"), ("0.95", "2.94443")])
def test_A3_070_a_limit_from_the_success_of_attacks(success: str, epsilon: str) -> None:
    assert limit_advice(success=success).limit == sf.Pure(epsilon)
    assert limit_advice(odds=float(success) * 100).limit == sf.Pure(epsilon)


def test_A3_071_of_a_thousand_people() -> None:
    """Membership accuracy 0.5250, 0.5498, 0.7311, 0.9918, as people."""
    assert [right_of_thousand(sf.Pure(epsilon)) for epsilon in ("0.1", "0.2", 1, "4.8")] == [525, 550, 732, 992]
    assert right_of_thousand(sf.ZCDP(0), delta=Fraction(1, 10**9)) == 501  # δ, rounded up to a whole person


def test_A3_072_the_advice_says_odds() -> None:
    text = str(limit_advice(justified=1))
    assert "73 of 100 possible outputs" in text and "27 of 100" in text


def test_P3_113_no_preference_exceeds_the_ceiling() -> None:
    study = PreferenceStudy("patients of one clinic", ceiling=Fraction(1, 2))
    assert limit_advice(justified=3, ceiling=study.ceiling).limit == sf.Pure("0.5")
    assert limit_advice(justified="0.3", ceiling=study.ceiling).limit == sf.Pure("0.3")


def test_a_delta_comes_with_the_number_of_people() -> None:
    advice = limit_advice(success="0.75", people=649)
    assert advice.limit.delta == Fraction(1, 10**6) and advice.limit.epsilon < sf.Pure("1.098612").epsilon
    for people in (1, 649, 10**5, 3 * 10**8):
        assert sf.planning.delta_for(people) * people <= Fraction(1, 1000)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "rests on something"),
        ({"ceiling": 1}, "no reason by itself"),
        ({"success": "0.4"}, "at least 0.5"),
        ({"odds": 50}, "more than 50"),
        ({"success": "0.75", "people": 649, "delta": "0.01"}, "below 1/649"),  # A3-074
        ({"success": "0.5"}, "above 0 keeps it"),
    ],
)
def test_limits_without_grounds_are_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(sf.errors.BadArgument, match=why):
        limit_advice(**said)


def test_deployments_stand_beside_a_plan() -> None:
    known = comparable()
    assert [epsilon for _, epsilon in known] == sorted(epsilon for _, epsilon in known) and len(known) == 27
    table = beside_others(sf.Pure(1))
    assert len(table.rows) == 6 and table.title == "Of 27 deployments that state an ε, 21 spend more"
    assert beside_others(sf.Pure("1e-9")).rows[0][0] == known[0][0].name
    assert epsilon_of(sf.ZCDP(1)) == sf.convert(sf.ZCDP(1), sf.Approx, delta=1e-6).epsilon


def test_what_was_chosen_is_drawn_for_a_thousand_people() -> None:
    drawn = limit_advice(justified=1).chart().to_dict()
    dots = [layer["data"]["values"] for layer in drawn["layer"]]
    assert [len(one) for one in dots] == [500, 232, 268]


# Bounds


def test_P3_104_narrow_bounds_cut_and_wide_ones_take_noise() -> None:
    advice = bounds_advice(BOOK, "minutes", SPREAD, source="last year", rows=2_000, epsilon="0.1", max_rows=5)
    assert [float(end) for end in advice.best.bounds] == [5, 60]
    from_five = [one for one in advice.candidates if one.bounds[0] == 5]
    assert all(one.bias > other.bias or one.bias == 0 for one, other in pairwise(from_five))
    assert all(one.noise < other.noise for one, other in pairwise(from_five))
    assert from_five[0].bias == pytest.approx(0.28 * 40 + 0.02 * 220)  # what lies above 20


def test_the_noise_of_bounds_is_that_of_a_plan() -> None:
    advice = bounds_advice(
        BOOK,
        "minutes",
        SPREAD,
        source="last year",
        rows=2_000,
        epsilon=1,
        max_rows=5,
        statistic="sum",
        between=[(0, 60)],
    )
    book = with_bounds(BOOK, "visits", "minutes", (Fraction(0), Fraction(60)), "last year")
    asked = sf.wanted("SELECT SUM(minutes) AS it FROM visits", max_rows=5, size=2_000)
    assert advice.best.noise == sf.plan(book, [asked], epsilon=1).steps[0].numbers[0].half_width
    assert advice.best.bias == pytest.approx(2_000 * 0.02 * 180)


def test_more_loss_affords_wider_bounds() -> None:
    said: dict[str, Any] = {"source": "here", "rows": 2_000, "max_rows": 5, "between": [(0, 20), (0, 60), (0, 240)]}
    ends = [bounds_advice(BOOK, "minutes", SPREAD, epsilon=one, **said).best.bounds[1] for one in ("0.02", "0.1", 5)]
    assert ends == [20, 60, 240]


def test_bounds_from_a_histogram_that_was_paid_for() -> None:
    made = sf.datasets.visits(rows=4_000, people=800)
    asked = sf.Dataset(dict(made.columns), codebook=BOOK, name="visits").session(epsilon=2, ledger="memory:")
    bought = asked.sql("SELECT HISTOGRAM(minutes, [0, 30, 60, 120, 240]) AS m FROM visits", epsilon=1, max_rows=5)
    tried = [(0, 60), (0, 120), (0, 240)]
    advice = bounds_advice(BOOK, "minutes", bought, rows=4_000, epsilon="0.05", max_rows=5, between=tried)
    assert advice.source == "a release of visits, which was paid for: ε = 1" and asked.spent == sf.Pure(1)
    assert advice.best.bounds[1] < 240 and advice.chart().to_dict()["layer"]


@pytest.mark.parametrize(
    ("facts", "said", "why"),
    [
        ([1.0, 2.0], {}, "source must be given"),
        (sf.datasets.visits(), {"source": "here"}, "nothing private is looked at unpaid"),
        ([], {"source": "here"}, "finite numbers, one or more"),
        ([float("nan")], {"source": "here"}, "finite numbers, one or more"),
        ({1: -1}, {"source": "here"}, "shares of at least 0"),
        (SPREAD, {"source": "here", "statistic": "median"}, "'mean' or 'sum'"),
        (SPREAD, {"source": "here", "between": [(5, 5)]}, "the lower bound first"),
    ],
)
def test_facts_without_a_source_are_refused(facts: Any, said: dict[str, Any], why: str) -> None:
    with pytest.raises(sf.errors.BadArgument, match=why):
        bounds_advice(BOOK, "minutes", facts, rows=100, epsilon=1, max_rows=5, **said)


def test_a_session_is_no_public_fact() -> None:
    asked = sf.Dataset(dict(sf.datasets.visits().columns), codebook=BOOK, name="v").session(epsilon=1, ledger="memory:")
    for private in (asked, asked.dataset, asked.table()):
        with pytest.raises(sf.errors.BadArgument, match="unpaid"):
            bounds_advice(BOOK, "minutes", private, source="here", rows=100, epsilon=1, max_rows=5)  # type: ignore[arg-type]


def test_how_many_rows_of_a_person_to_keep() -> None:
    rows = {1: 0.5, 3: 0.4, 30: 0.1}
    kept = [
        sf.planning.rows_advice(BOOK, rows, source="another town", people=1_000, epsilon=epsilon)
        for epsilon in ("0.1", "0.01")
    ]
    assert [one.best.bounds[1] for one in kept] == [30, 3]
    assert kept[1].best.bias == pytest.approx(1_000 * 0.1 * 27) and "3 ← least" in str(kept[1])


def test_in_how_many_groups_to_keep_a_person() -> None:
    groups = {1: 0.5, 4: 0.45, 28: 0.05}
    advice = sf.planning.rows_advice(BOOK, groups, source="another town", people=1_000, epsilon="0.2", by="day")
    assert advice.best.bounds[1] == 4 and advice.best.bias == pytest.approx(1_000 * 0.05 * 24 / 28)
    asked = sf.wanted("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", max_groups=4, max_rows_per_group=1)
    assert advice.best.noise == sf.plan(BOOK, [asked], epsilon="0.2").steps[0].numbers[0].half_width
    with pytest.raises(sf.errors.SfumatoError):
        sf.planning.rows_advice(BOOK, groups, source="another town", people=1_000, epsilon="0.2", by="site")


# Over time


def test_P3_123_each_month_is_a_run_of_its_own() -> None:
    moment = [datetime(2026, 3, 1, tzinfo=UTC)]
    ledger, plan = Ledger(MemoryStore(), clock=lambda: moment[0]), planned("0.5")

    def month(version: str) -> sf.Session:
        data = sf.Dataset(dict(sf.datasets.visits().columns), codebook=BOOK, name="visits", version=version)
        return data.session(epsilon="0.5", ledger=ledger, period="month")

    march = plan.run(month("March"), label="March")["people"]
    assert month("March").left == sf.Pure(0)
    assert plan.run(month("March"), label="March")["people"].receipt == march.receipt
    with pytest.raises(sf.errors.LimitReached):
        plan.run(month("April"), label="April")
    moment[0] = datetime(2026, 4, 1, tzinfo=UTC)
    with pytest.raises(sf.errors.AccountRefused, match="belongs to another charge"):
        plan.run(month("April"), label="March")  # new data is another run
    assert plan.run(month("April"), label="April")["people"].receipt != march.receipt
    assert month("April").left == sf.Pure(0)
    code = plan.code(period="month", label="April")
    assert "period='month'" in code and f"key='{plan.steps[0].key} April'" in code


def test_P3_123_a_limit_for_each_month() -> None:
    over = sf.planning.plan_over_time(BOOK, [PEOPLE], limit=sf.Approx(1, 1e-6), period="month", periods=12)
    assert over.added(12) == sf.Approx(12, Fraction(12, 10**6))
    losses = [over.loss(many).epsilon for many in (1, 2, 3, 6, 12)]
    assert losses == sorted(losses) and losses[-1] < 12 * losses[0]  # composed, and not added up
    assert (
        over.loss(12) == sf.account(sf.events.Repeat(over.plan.event, 12), delta=1e-6, relation=over.plan.relation).loss
    )
    assert "does not go over" in str(over) or "does not go over" in over.to_markdown()


def test_P3_124_one_limit_for_all_months_buys_less_in_each() -> None:
    over = sf.planning.plan_over_time(BOOK, [PEOPLE], limit=sf.Pure(1), period="month", periods=12)
    month, year = (made.steps[0].numbers[0].half_width for made in (over.plan, over.once))
    assert (month, year) == (3, 36) and over.once.limit == sf.Pure(Fraction(1, 12))
    drawn = over.chart().to_dict()
    assert {row["series"] for row in drawn["data"]["values"]} == {"this plan, composed", "limits, added up"}


# The same people


def test_A3_081_partitions_of_0_3_and_0_7_and_0_5() -> None:
    plans = {name: planned(epsilon) for name, epsilon in (("a", "0.3"), ("b", "0.7"), ("c", "0.5"))}
    assert overlap(plans, at_most=1).total == sf.Pure("0.7")
    assert overlap(plans, at_most=1, moving=True).total == sf.Pure("1.2")
    assert overlap(plans).total == overlap(plans, at_most=3).total == sf.Pure("1.5")


def test_A3_080_a_student_in_two_universities() -> None:
    plans = {name: planned("0.5") for name in ("north", "south", "east")}
    assert overlap(plans, at_most=2).total == sf.Pure(1)


def test_A3_086_a_member_with_two_hires() -> None:
    reports = [sf.wanted(PEOPLE, name=name) for name in ("country", "region", "country, industry", "region, industry")]
    hires = sf.plan(BOOK, reports, epsilon="4.8", share="even")
    assert overlap({"hires": hires}, rows={"hires": 2}).total == sf.Pure("9.6")


def test_P3_125_small_overlaps_are_cut_and_large_ones_bounded() -> None:
    plans = {"a": planned("0.3"), "b": planned("0.7")}
    assert "drop each person from all data sets but one" in str(overlap(plans, share="0.03"))
    assert "bound in how many" in str(overlap(plans, share="0.4"))
    assert "must be a fact" in str(overlap(plans, at_most=1))


def test_P3_130_plans_for_different_units_are_no_whole() -> None:
    trips = sf.Codebook.read({**BOOK.to_plain(), "unit": {"protects": "a trip", "id": "user_id"}})
    plans = {"people": planned("0.5"), "trips": sf.plan(trips, [PEOPLE], epsilon="0.1")}
    with pytest.raises(sf.errors.BadArgument, match="protect the same unit"):
        overlap(plans)
    assert overlap(plans, rows={"trips": 20}).total == sf.Pure("2.5")


def test_whoever_is_exchanged_may_come_into_other_data_sets() -> None:
    score = sf.wanted("SELECT COUNT(*) AS n FROM scores WHERE score > 50")
    classes = {name: sf.plan(sf.datasets.CLASSROOM.codebook, [score], epsilon=epsilon) for name, epsilon in CLASSES}
    assert overlap(classes, at_most=1).total == sf.Pure("0.9")


CLASSES = (("a", "0.4"), ("b", "0.5"), ("c", "0.1"))


def test_gaussian_plans_are_composed_as_one() -> None:
    made = sf.plan(BOOK, [PEOPLE], limit=sf.ZCDP("0.1"))
    both = overlap({"a": made, "b": made}).total
    assert both == sf.account(sf.events.Repeat(made.event, 2), delta=made.delta, relation=made.relation).loss
    assert both.epsilon < 2 * made.totals["Approx"].epsilon


# Forms

CARE = ContextRecord("a user", "the app", "their care provider", "heart rate, hourly", "with consent, for care")
SOLD = ContextRecord(
    "a user", "the app", "an insurer", "heart rate, aggregates", "sold", challenges=(("ε says little", "odds"),)
)


def test_A3_078_a_flow_does_not_become_right_by_noise() -> None:
    forms = Forms(now=CARE, proposed=SOLD)
    text = forms.to_markdown()
    assert "their care provider → an insurer" in text and "does not make an inappropriate flow appropriate" in text
    assert "ε says little" in text and "datasheet" in forms.missing


def test_forms_are_kept_beside_the_checklist() -> None:
    study = PreferenceStudy(
        "users", ("who may see it?",), ("all of it for less noise",), ("the ill",), Fraction(1, 3), ("rules",)
    )
    forms = Forms(CARE, SOLD, Datasheet(uses="research", preprocessing="none"), study)
    ledger = Ledger.open("memory:")
    ledger.open_account("heart", limit=sf.Pure(1))
    assert sf.planning.forms_of(ledger, "heart") is None
    sf.planning.keep_forms(ledger, "heart", Forms(proposed=SOLD))
    sf.planning.keep_forms(ledger, "heart", forms)
    assert sf.planning.forms_of(ledger, "heart") == forms == Forms.from_plain(forms.to_plain())
    assert "the privacy paradox" in str(forms)
    with pytest.raises(sf.errors.BadArgument):
        sf.planning.keep_forms(ledger, "heart", CARE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "damage", [{"format": "x"}, {"version": 2}, {"now": {"sender": "a"}}, {"later": {}}, {"study": 3}]
)
def test_what_are_no_forms_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(sf.errors.UnknownFormat):
        Forms.from_plain({**Forms(now=CARE).to_plain(), **damage})


def test_P3_109_a_datasheet_begins_with_the_codebook() -> None:
    sheet = Datasheet.of(BOOK)
    assert "user_id" in sheet.composition and "2026-02-01" in sheet.collection and "census" in sheet.collection
    assert "longer stays are moved" in sheet.preprocessing and sheet.missing == ("uses", "distribution", "maintenance")
    book = sf.Codebook.read({**BOOK.to_plain(), "datasheet": {"uses": "opening hours"}})
    assert Datasheet.of(book).uses == "opening hours"


def test_P3_109_the_default_release_of_every_codebook_runs() -> None:
    use = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
    wants = default_release(BOOK, rows_each=5, uses=[sf.wanted(use, name="use", max_groups=2, max_rows_per_group=1)])
    assert [one.name for one in wants] == [
        "use",
        "how many people",
        "how many rows",
        "how day is spread",
        "how minutes is spread",
    ]
    assert "HISTOGRAM" in str(wants[-1].question)
    for made in (sf.datasets.students(), sf.datasets.hospital_visits()):
        book = made.codebook
        statistics = default_release(book, made.table, rows_each=3 if book.id else None)
        plan = sf.plan(book, statistics, epsilon=1, rows=300)
        run = sf.planning.dry_run(plan, book, rows=300, people=100, times=2)
        assert len(run.numbers) >= len(statistics) - 1 and run.spent == plan.cost
    with pytest.raises(sf.errors.BadArgument, match="how many to keep"):
        default_release(BOOK)


def test_names_with_blanks_and_quotes_are_planned() -> None:
    columns = {
        "who": {"type": "str"},
        "on": {"type": "date", "format": "%d/%m/%Y", "between": ["2026-01-01", "2026-01-31"], "source": "the calendar"},
        'x "y': {"type": "float", "decimal": ",", "between": [0, 10], "source": "the form"},
    }
    unit = {"protects": "a person", "id": "who"}
    book = {"codebook": 1, "title": "Odd", "unit": unit, "tables": {'a "b': {"columns": columns}}}
    plan = sf.plan(book, default_release(book, rows_each=2), epsilon=1, rows=300)
    assert sf.planning.dry_run(plan, book, rows=300, people=100, times=2).spent == plan.cost
    advice = bounds_advice(
        book, 'x "y', [1, 2, 9], source="the form", rows=100, epsilon=1, max_rows=2, between=[(0, 9)]
    )
    assert advice.best.bias == 0


def test_public_values_may_be_an_array() -> None:
    values = np.concatenate([np.full(900, 10.0), np.full(100, 200.0)])
    tried = [(0, 50), (0, 200)]
    advice = bounds_advice(BOOK, "minutes", values, source="a survey", rows=500, epsilon=1, max_rows=2, between=tried)
    assert [one.bias for one in advice.candidates] == [pytest.approx(0.1 * 150), 0]
