"""Acceptance cases where people are protected with all of their rows: distances, bounds, thresholds, and analyses."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.reference.planning import catalog_of, planned
from tests.unit.query.opened import close, dataset_of, ready, session_of

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.identifiers import Identifiers
from sfumato.exact import squared
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound, Rows, Units
from sfumato.query.plan.parts import Choice, selecting
from sfumato.query.plan.sensitivity import Influence
from sfumato.session.bounds import _first
from sfumato.session.open_data import open_tables

SAID = {"source": "the case"}
SURE = {"nullable": False, **SAID}


def book(unit: dict[str, Any] | None = None, **tables: dict[str, Any]) -> dict[str, Any]:
    unit = unit or {"protects": "a person", "id": "id"}
    return {"codebook": 1, "title": "A case", "unit": unit, "tables": tables}


def keyed(count: int) -> dict[str, Any]:
    return {"categories": [f"key {place}" for place in range(count)], **SURE}


def only(ready: CompiledQuery) -> Influence:
    """Gives how far one unit moves the only noisy number of a question."""
    (level,) = ready.levels
    (tally,) = level.cells.tallies
    return level.influence(tally)


# Distances and group privacy.


def test_A2_039_events_of_one_person_add_up() -> None:
    assert sf.Pure(Fraction(1, 10)).group(1000) == sf.Pure(100)
    assert math.exp(0.1) == pytest.approx(1.105, abs=1e-3)


def test_A2_040_noise_for_single_visits_hides_no_employee() -> None:
    """One row a unit, ε = 1/10: noise of scale 10 cannot mask that 380 and 2126 visits of one person are gone."""
    rows = book({"protects": "a visit"}, logs={"columns": {"site": keyed(4)}, "contributions": {"rows": 1, **SAID}})
    plan = planned("SELECT site, COUNT(*) AS n FROM logs GROUP BY site", catalog_of(rows), loss=sf.Pure("1/10"))
    (noises,) = plan.noises
    (part,) = noises.values()
    deviation = math.sqrt(float(part.noise.variance().mid()))
    assert deviation == pytest.approx(14.1, abs=0.1) and 20 * deviation < 380 and 100 * deviation < 2126
    # With employees as units one person's visits of a month are masked, or left out.
    session = session_of(dataset_of("browser_logs"))
    text = "SELECT domain, COUNT(*) AS n FROM logs WHERE date < DATE '2020-11-01' GROUP BY domain"
    bounded = ready(session, text, loss=sf.Pure("1/10"), max_groups=4, max_rows_per_group=10)
    assert only(bounded).l1 == 40


def test_A2_041_one_employee_with_all_rows_is_one_apart() -> None:
    before = {"id": [872, 867, 934, 872, 867, 14], "site": list("abcdef")}
    after = {"id": [872, 934, 872, 14], "site": list("acdf")}
    assert Identifiers("id").distance(before, after) == 1
    rows = [list(zip(data["id"], data["site"], strict=True)) for data in (before, after)]
    assert sf.AddRemove().distance(*rows) == 2


def test_A2_056_who_is_adjacent() -> None:
    first = {"id": [1, 4, 5, 7, 10]}
    assert Identifiers("id").distance(first, {"id": [1, 4, 5, 7, 9]}) == 2
    assert Identifiers("id").distance(first, {"id": [1, 4, 5, 6, 9]}) == 4
    assert sf.ChangeOne().distance(first["id"], [1, 4, 5, 7, 9]) == 1


def test_A2_043_groups_of_people() -> None:
    ten = sf.Approx("1/10", "1e-8").group(10)
    assert (float(ten.epsilon), float(ten.delta)) == (1, pytest.approx(1.634e-7, rel=1e-3))
    three = sf.Approx(1, "1e-6").group(3)
    assert (float(three.epsilon), float(three.delta)) == (3, pytest.approx(1.1107e-5, rel=1e-3))
    assert sf.ZCDP("1/100").group(5) == sf.ZCDP("1/4")


# How far one person moves numbers.


def test_A2_042_distinct_visitors_for_each_site_and_month() -> None:
    session = session_of(dataset_of("browser_logs"))
    sites = only(ready(session, "SELECT domain, COUNT(DISTINCT employee_id) AS n FROM logs GROUP BY domain", loss=ONE))
    assert (sites.l1, squared(sites.l2)) == (4, 4)
    month = "DATE_TRUNC('month', date)"
    text = f"SELECT domain, {month} AS m, COUNT(DISTINCT employee_id) AS n FROM logs GROUP BY domain, m"
    cells = only(ready(session, text, loss=ONE))
    assert cells.l1 == 20 and math.sqrt(squared(cells.l2)) == pytest.approx(4.472, abs=1e-3)


ONE = sf.Pure(1)


def test_A2_045_forty_rows_of_each() -> None:
    session = session_of(dataset_of("browser_logs"))
    plan = ready(session, "SELECT COUNT(*) AS n FROM logs", loss=sf.Pure(40), max_rows_per_group=40)
    assert only(plan).l1 == 40
    (noises,) = plan.noises
    (part,) = noises.values()
    assert part.noise == DiscreteLaplace(1)  # so that a loss is a distance in rows
    assert [plan.pricing.loss(people) for people in (1, 3)] == [sf.Pure(40), sf.Pure(120)]


def test_A2_046_bounds_tighten_one_another() -> None:
    assert GroupedDistance(3, math.inf, 2) == GroupedDistance(3, 6, 2)
    assert GroupedDistance(4, 3, 5) == GroupedDistance(3, 3, 3)
    assert GroupedDistance(math.inf, 5, 3) == GroupedDistance(5, 5, 3)
    contributions = {"rows": 3, "groups": {"k": 4}, "rows_each": {"k": 5}, **SAID}
    plain = book(t={"columns": {"id": {"type": "int"}, "k": {"type": "str"}}, "contributions": contributions})
    text = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
    plan = planned(text, catalog_of(plain), loss=sf.Approx(1, 1e-6), limit=sf.Approx)
    assert plan.levels[0].placed.spread == GroupedDistance(3, 3, 3) and plan.levels[0].cells.bound == Bound()


def test_A2_048_thresholds_and_noise() -> None:
    session = session_of(dataset_of("hospital_visits"))
    for rows, scale in ((22, 89.8146), (50, 204.1241), (5, 20.4124)):
        plan = ready(session, "SELECT COUNT(*) AS n FROM visits", loss=sf.ZCDP("3/100"), max_rows_per_group=rows)
        (noises,) = plan.noises
        (part,) = noises.values()
        assert math.sqrt(squared(part.noise.scale)) == pytest.approx(scale, abs=1e-4)  # type: ignore[attr-defined]


def test_A2_049_a_threshold_from_bands() -> None:
    counts = [273449, 118348, 43548, 15783, 5960]
    shares = np.cumsum(counts) / sum(counts)
    assert shares == pytest.approx([0.5982, 0.8572, 0.9524, 0.9870, 1], abs=1e-4)
    columns = {"band": SimpleNamespace(values=[10, 20, 30, 40, 50]), "units": SimpleNamespace(values=counts)}
    released: Any = SimpleNamespace(value=columns)
    assert _first(released, Fraction(95, 100), 50) == 30 and _first(released, Fraction(98, 100), 50) == 40


def test_A2_050_forty_rows_over_all_domains() -> None:
    session = session_of(dataset_of("browser_logs"))
    text = "SELECT domain, COUNT(*) AS n FROM logs GROUP BY domain"
    assert only(ready(session, text, loss=ONE, max_groups=4, max_rows_per_group=10)).l1 == 40


@pytest.mark.parametrize(
    "epsilon, delta, keys, threshold",
    [("1", "1e-6", 1, 14.1224), ("1", "1e-6", 5, 74.6590), ("0.1", "1e-6", 1, 132.2236), ("1", "1e-9", 1, 21.0301)],
)
def test_A2_052_keys_are_shown_no_later_than_with_a_threshold(
    epsilon: str, delta: str, keys: int, threshold: float
) -> None:
    amount, chance = Fraction(epsilon), Fraction(delta)
    assert 1 + keys / float(amount) * math.log(keys / (2 * float(chance))) == pytest.approx(threshold, abs=1e-4)
    selection = selecting(sf.Approx(amount, chance), Choice(keys=keys, rows=1))
    assert selection.noise.least_shown <= threshold
    assert selection.noise.chance_shown(1) * keys <= chance and selection.noise.chance_shown(0) == 0
    assert selection.loss(1).within(sf.Approx(amount, chance))


def test_A2_053_nine_groups() -> None:
    plain = book(t={"columns": {"id": {"type": "int"}, "k": keyed(9), "x": {"type": "int"}}})
    catalog = catalog_of(plain)
    text = "SELECT k, COUNT(DISTINCT id) AS n FROM t GROUP BY k"
    everywhere, four = (only(planned(text, catalog, loss=ONE, max_groups=groups)) for groups in (None, 4))
    assert everywhere.l1 == 9 and squared(everywhere.l2) == 9 and squared(four.l2) == 4


def test_A2_054_three_sets_with_two_rows_each() -> None:
    one = {"columns": {"id": {"type": "int"}}, "contributions": {"rows": 2, **SAID}}
    catalog = catalog_of(book(a=one, b=one, c=one))
    union = " UNION ALL ".join(f"SELECT id FROM {name}" for name in "abc")
    plan = planned(f"SELECT COUNT(*) AS n FROM ({union})", catalog, loss=ONE)
    assert only(plan).l1 == 6 and plan.space.metric == Identifiers("id")  # one person more or less is still one
    each = planned("SELECT COUNT(*) AS n FROM a", catalog, loss=sf.Pure("1/5"))
    assert each.pricing.loss(3) == sf.Pure("3/5")


def test_A2_055_a_public_table_with_repeated_keys() -> None:
    rates = {"public": True, "columns": {"k": {"type": "str"}, "rate": {"type": "int"}}}
    data: dict[str, Any] = {"rates": {"k": ["x"] * 4 + ["y"], "rate": [1, 2, 3, 4, 5]}, "t": {"id": [1], "k": ["x"]}}
    table = {"columns": {"id": {"type": "int"}, "k": {"type": "str"}}, "contributions": {"rows": 1, **SAID}}
    text = "SELECT COUNT(*) AS n FROM t JOIN rates ON t.k = rates.k"
    by_rows = sf.Codebook.read(book({"protects": "a row"}, t=table, rates=rates))
    opened, _ = open_tables(data, by_rows)
    assert only(planned(text, opened.catalog, engine=opened.engine, loss=ONE)).l1 == 4
    opened, _ = open_tables(data, sf.Codebook.read(book(t={"columns": table["columns"]}, rates=rates)))
    plan = planned(text, opened.catalog, engine=opened.engine, loss=ONE, max_rows_per_group=1)
    assert plan.space.metric == Identifiers("id") and only(plan).l1 == 1


def test_A2_057_one_location_or_many_domains() -> None:
    columns = {"id": {"type": "int"}, "location": keyed(3), "domain": keyed(5)}
    table = {"columns": columns, "contributions": {"groups": {"location": 1}, **SAID}}
    catalog = catalog_of(book(t=table))
    place, domain = (
        only(planned(f"SELECT {key}, COUNT(DISTINCT id) AS n FROM t GROUP BY {key}", catalog, loss=ONE))
        for key in ("location", "domain")
    )
    assert (place.l1, domain.l1) == (1, 5)


# Analyses, from one end to the other.


def test_A2_047_visits_of_six_patients_cut_to_five() -> None:
    made = sf.datasets.hospital_visits(patients=6)
    data = sf.Dataset({"visits": pa.table(dict(made.columns))}, codebook=made.codebook, name="six")
    session, much = session_of(data), sf.Pure(10**5)
    for rows, total in ((7, 20), (5, 18)):
        assert session.sql("SELECT COUNT(*) AS n FROM visits", loss=much, max_rows_per_group=rows).value.only() == total
    each = "(SELECT patient, specialty, COUNT(*) AS n FROM visits GROUP BY patient, specialty)"
    text = f"SELECT patient, COUNT(*) AS groups, SUM(n) AS rows, MAX(n) AS most FROM {each} GROUP BY patient"
    for name, exact in (("groups", 6), ("rows", 7), ("most", 2)):
        above, at = (
            session.sql(f"SELECT COUNT(*) AS n FROM ({text}) WHERE {name} {which} {exact}", loss=much).value.only()
            for which in (">", "=")
        )
        assert above == 0 and at > 0
    mean = session.sql(
        "SELECT specialty, AVG(minutes) AS m FROM visits GROUP BY specialty", loss=much, max_rows_per_group=2
    )
    means = dict(zip(mean.value["specialty"].values, mean.value["m"].values, strict=True))
    assert means["Cardiology"] == pytest.approx(95.5, abs=0.4)  # noise of scale 0.017


def test_the_hospital_in_four_questions() -> None:
    made = sf.datasets.hospital_visits()
    session = session_of(dataset_of("hospital_visits"), sf.Approx(10, 1e-6))
    bought = session.contributions("visits", upto=50, loss=sf.Pure(1), share=0.95)
    assert bought.max_groups == 1 and 5 <= bought.max_rows_per_group <= 30 and len(bought.releases) == 1
    asked = {"loss": sf.Pure(2), "max_groups": 6, "max_rows_per_group": bought.max_rows_per_group}
    counts = session.sql("SELECT specialty, COUNT(*) AS n, AVG(minutes) AS m FROM visits GROUP BY specialty", **asked)
    kinds = made.columns["specialty"]
    assert list(counts.value["specialty"].values) == sorted(set(kinds.tolist()))
    assert counts.unit == "a patient" and counts.loss == sf.Pure(2)
    assert "the hospital's own list" in counts.to_text()
    each = session.sql(
        "SELECT AVG(n) AS visits FROM (SELECT patient, CLAMP(COUNT(*), 0, 22) AS n FROM visits GROUP BY patient)",
        loss=sf.Pure(1),
    )
    assert close(each.value["visits"], [len(kinds) / 3000])
    assert session.spent == sf.Approx(4, 0)


def test_the_browser_logs_in_three_questions() -> None:
    made = sf.datasets.browser_logs()
    session = session_of(dataset_of("browser_logs"), sf.Approx(10, 1e-5))
    month = made.columns["date"].astype("datetime64[M]").astype(str)
    cells = list(zip(made.columns["domain"].tolist(), month.tolist(), strict=True))
    pairs = set(zip(made.columns["employee_id"].tolist(), cells, strict=True))
    text = (
        "SELECT domain, DATE_TRUNC('month', date) AS month, COUNT(DISTINCT employee_id) AS people FROM logs "
        "GROUP BY domain, month"
    )
    visitors = session.sql(text, loss=sf.Approx(2, 1e-6)).value
    keys = list(zip(visitors["domain"].values, (str(day)[:7] for day in visitors["month"].values), strict=True))
    exact = [sum(1 for _, cell in pairs if cell == key) for key in keys]
    assert len(keys) == 20 and close(visitors["people"], exact)
    hours = session.sql(
        "SELECT hour, COUNT(*) AS n FROM logs GROUP BY hour", loss=ONE, max_groups=24, max_rows_per_group=20
    ).value
    counts = np.bincount(made.columns["hour"].astype(int), minlength=24)
    assert list(hours["hour"].values) == list(range(24)) and close(hours["n"], counts)
    assert session.spent.within(sf.Approx(3, 1e-6))


def test_domains_that_nobody_listed() -> None:
    plain = sf.datasets.browser_logs().codebook.to_plain()
    plain["tables"]["logs"]["columns"]["domain"] = {"type": "str"}  # type: ignore[index, call-overload]
    made = sf.datasets.browser_logs()
    data = sf.Dataset(pa.table(dict(made.columns)), codebook=plain, name="unlisted")  # type: ignore[arg-type]
    session = session_of(data, sf.Approx(5, 1e-5))
    text = "SELECT domain, COUNT(DISTINCT employee_id) AS people, COUNT(*) AS n FROM logs GROUP BY domain"
    with pytest.raises(sf.errors.BadArgument, match="keys that are not listed can only be shown with a δ"):
        session.sql(text, loss=ONE, max_groups=4, max_rows_per_group=100)
    release = session.sql(text, loss=sf.Approx(4, 1e-9), max_groups=4, max_rows_per_group=100)
    shown = list(release.value["domain"].values)
    assert {"bank.com", "mail.com"} <= set(shown) and "social.com" not in shown  # one visitor: shown once in 10⁹
    assert shown == sorted(shown) and "least number of units shown" in release.to_text()
    exact = [len(set(made.columns["employee_id"][made.columns["domain"] == domain].tolist())) for domain in shown]
    assert close(release.value["people"], exact)


def test_asylum_by_country_and_year() -> None:
    made = sf.datasets.asylum()
    session = session_of(dataset_of("asylum"), sf.ZCDP(1))
    text = "SELECT country, year, COUNT(*) AS n FROM records GROUP BY ROLLUP (country, year)"
    plan = ready(session, text, loss=sf.ZCDP("1/10"))
    # By facts: a person has one country, one record a year, four at most. One a year is held by cutting, all the same.
    assert all(level.cells.bound == Bound(rows=1) for level in plan.levels)
    assert [level.influence(Rows()).l1 for level in plan.levels] == [4, 4, 4]
    answer = session.sql(text, loss=sf.ZCDP("1/10")).value
    whole = next(row["n"] for row in answer if row["country"] is None and row["year"] is None)
    assert len(answer) == 90 + 9 + 1 and abs(whole - len(made)) < 200
    people = only(
        ready(session, "SELECT country, COUNT(DISTINCT person_id) AS n FROM records GROUP BY country", loss=ONE)
    )
    assert people.l1 == 1


def test_visits_with_everything_at_once() -> None:
    made = sf.datasets.visits(rows=20_000, people=2_000, groups=8)
    data = sf.Dataset({made.table: pa.table(dict(made.columns))}, codebook=made.codebook, name="all")
    session = session_of(data, sf.Approx(10, 1e-5))
    name = made.table
    text = f"SELECT site, COUNT(*) AS n, COUNT(DISTINCT user_id) AS people, AVG(minutes) AS m FROM {name} GROUP BY site"
    bought = session.contributions(name, by="site", upto=100, loss=sf.Pure(1))
    release = session.sql(
        text,
        loss=sf.Approx(4, 1e-6),
        max_groups=bought.max_groups,
        max_rows_per_group=bought.max_rows_per_group,
        weights={"m": 2},
    )
    assert Units() in release_units(session, text, bought) and len(release.value) >= 8
    assert release.loss.within(sf.Approx(4, 1e-6))


def release_units(session: Any, text: str, bought: Any) -> tuple[Any, ...]:
    plan = ready(
        session,
        text,
        loss=sf.Approx(4, 1e-6),
        max_groups=bought.max_groups,
        max_rows_per_group=bought.max_rows_per_group,
    )
    return plan.levels[0].cells.tallies
