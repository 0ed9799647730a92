"""Plans: what statistics cost, how exact they are, what is dropped, in which order (P3-105 to 107, 129, 130)."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.planning.choosing import choose
from sfumato.planning.desk import Desk
from sfumato.planning.making import named
from sfumato.planning.sharing import best_shares, error_of
from sfumato.planning.wishes import Wanted, read_wanted

VISITS = sf.datasets.visits(rows=4_000, people=800, groups=6)
BOOK = VISITS.codebook
PEOPLE = "SELECT COUNT(DISTINCT user_id) AS people FROM visits"
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_DAY = "SELECT day, COUNT(*) AS n, AVG(minutes) AS m FROM visits GROUP BY day"


PAID = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) {PEOPLE.removeprefix('SELECT ')}"
BOUNDED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2, max_rows_per_group=1) day, COUNT(*) AS n"


def by_day(**said: Any) -> Wanted:
    return sf.wanted(BY_DAY, name="by day", max_groups=3, max_rows_per_group=1, **said)


def session(limit: sf.Loss) -> sf.Session:
    return sf.Dataset(dict(VISITS.columns), codebook=BOOK, name="visits").session(limit=limit, ledger="memory:")


def test_A3_077_a_count_within_10() -> None:
    """ε = Δ ln(1/α)/a = 0.29957 for continuous noise; whole numbers get by with a little less."""
    [step] = sf.plan(BOOK, [sf.wanted(PEOPLE, within=10)], epsilon=1).steps
    assert step.numbers[0].half_width == 10
    assert 0.284 < float(step.loss.epsilon) <= math.log(20) / 10
    dearer = sf.plan(BOOK, [sf.wanted(PEOPLE)], limit=sf.Pure(Fraction(step.loss.epsilon) * Fraction(99, 100)))
    assert dearer.steps[0].numbers[0].half_width == 11  # nothing cheaper meets the target


def test_A3_077_a_sum_within_50() -> None:
    """A student who is exchanged moves the sum of a class by 200 at most: ε = 200 ln(20)/50."""
    [step] = sf.plan(
        sf.datasets.CLASSROOM.codebook, [sf.wanted("SELECT SUM(score) AS t FROM scores", within=50)], epsilon=20
    ).steps
    assert float(step.loss.epsilon) == pytest.approx(200 * math.log(20) / 50, rel=0.015)
    assert step.numbers[0].half_width == 50


def test_A3_075_half_of_a_limit_for_five_equal_statistics() -> None:
    days = [f"{COUNT} WHERE day = DATE '2026-02-0{day}'" for day in range(1, 6)]
    made = sf.plan(BOOK, [sf.wanted(one, max_rows=1) for one in days], epsilon="0.5", share="even")
    assert [step.loss for step in made.steps] == [sf.Pure("0.1")] * 5
    assert made.totals["Pure"] == made.cost == sf.Pure("0.5")
    assert [step.name for step in made.steps] == [f"n ({place})" for place in range(1, 6)]


def test_A3_085_linkedin_has_four_reports_of_1_2() -> None:
    reports = [sf.wanted(PEOPLE, name=name) for name in ("country", "region", "country, industry", "region, industry")]
    made = sf.plan(BOOK, reports, epsilon="4.8", share="even")
    assert {step.loss for step in made.steps} == {sf.Pure("1.2")} and made.cost == sf.Pure("4.8")
    assert {step.numbers[0].half_width for step in made.steps} == {2.0}  # ± 2.50 for continuous noise


def test_A3_087_microsoft_counts_at_0_2() -> None:
    assert sf.plan(BOOK, [PEOPLE], epsilon="0.2").steps[0].numbers[0].half_width == pytest.approx(14.98, abs=0.5)


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.1, 10)), min_size=1, max_size=6), st.sampled_from([0.5, 1]))
def test_shares_follow_the_law_of_the_least_errors(parts: list[tuple[float, float]], power: float) -> None:
    """Σ w·c/sᵖ is least where s is proportional to (w·c)^(1/(p+1))."""
    errors = [lambda share, c=c: c / float(share) ** power for c, _ in parts]
    shares = best_shares(errors, [weight for _, weight in parts])
    law = [(weight * c) ** (1 / (1 + power)) for c, weight in parts]
    assert sum(shares) <= 1 + Fraction(len(parts), 10_000)
    for share, wanted in zip(shares, law, strict=True):
        assert float(share) == pytest.approx(wanted / sum(law), abs=3e-3)


def test_the_best_way_to_share_errs_less_than_others() -> None:
    desk = Desk.open(BOOK, rows=4_000)
    candidates = named([desk.candidate(one) for one in read_wanted([PEOPLE, by_day(), sf.wanted(COUNT, max_rows=20)])])
    errors = {share: choose(candidates, sf.Pure(1), share=share).error for share in ("best", "even", "ranked")}
    assert errors["best"] < 0.95 * min(errors["even"], errors["ranked"])


@pytest.mark.parametrize("limit", [sf.Pure(1), sf.Approx(1, 1e-6), sf.ZCDP("0.05"), sf.GDP("0.4")], ids=str)
def test_a_ledger_pays_for_all_of_a_plan_once(limit: sf.Loss) -> None:
    made = sf.plan(BOOK, [PEOPLE, by_day(within={"n": 60}), sf.wanted(COUNT, max_rows=5)], limit=limit, rows=4_000)
    asked = session(limit)
    releases = made.run(asked)
    assert list(releases) == [step.name for step in made.steps] and not made.dropped
    assert asked.spent == made.cost and asked.spent.within(limit)
    before = asked.ledger.head
    again = made.run(asked)
    assert asked.ledger.head == before and [one.receipt for one in again.values()] == [
        one.receipt for one in releases.values()
    ]
    for step in made.steps:
        assert releases[step.name].loss == step.price


def test_what_is_foretold_is_what_the_release_says() -> None:
    made = sf.plan(BOOK, [sf.wanted(PEOPLE, within=7)], epsilon=1)
    [release] = made.run(session(sf.Pure(1))).values()
    [column] = release.value.columns
    assert (column.high - column.low) / 2 == made.steps[0].numbers[0].half_width == 7


def test_many_small_statistics_cost_less_than_their_sum() -> None:
    """Bought one by one with equal parts of ε and δ, each count of 20 would be ± 60."""
    many = [sf.wanted(PEOPLE, name=f"count {place}") for place in range(20)]
    made = sf.plan(BOOK, many, limit=sf.Approx(1, 1e-6), share="even")
    assert max(step.numbers[0].half_width for step in made.steps) == 40
    asked = session(sf.Approx(1, 1e-6))
    made.run(asked)  # the ledger agrees, step after step
    assert made.totals["Approx"].within(sf.Approx(1, 1e-6))


def test_what_matters_least_is_dropped_first() -> None:
    wants = [
        sf.wanted(PEOPLE, name="third", within=5, priority=3),
        sf.wanted(PEOPLE, name="first", within=8, priority=1),
        sf.wanted(PEOPLE, name="second", within=6, priority=2),
        sf.wanted(PEOPLE, name="fourth, and cheap", within=100, priority=4),
    ]
    made = sf.plan(BOOK, wants, epsilon=1)
    assert [step.name for step in made.steps] == ["first", "second", "fourth, and cheap"]
    [gone] = made.dropped
    assert gone.name == "third" and gone.price is not None and not gone.price.within(made.left)
    assert made.factor is not None
    wider = [sf.wanted(PEOPLE, name=name, within=within * made.factor) for name, within in WIDTHS]
    closer = [sf.wanted(PEOPLE, name=name, within=within * made.factor * Fraction(4, 5)) for name, within in WIDTHS]
    assert not sf.plan(BOOK, wider, epsilon=1).dropped and sf.plan(BOOK, closer, epsilon=1).dropped


WIDTHS = (("third", 5), ("first", 8), ("second", 6), ("fourth", 100))


def test_cheap_ones_come_first_among_equals() -> None:
    wants = [sf.wanted(PEOPLE, name="dear", within=5), sf.wanted(PEOPLE, name="cheap", within=50)]
    assert [step.name for step in sf.plan(BOOK, wants, epsilon=1).steps] == ["cheap", "dear"]


def test_targets_come_first_and_the_rest_shares_what_is_left() -> None:
    made = sf.plan(
        BOOK, [sf.wanted(PEOPLE, name="free", priority=1), sf.wanted(PEOPLE, name="aimed", within=5)], epsilon=1
    )
    aimed, free = made["aimed"], made["free"]
    assert aimed.numbers[0].half_width == 5
    assert free.share == pytest.approx(1 - float(aimed.share), abs=1e-3)
    dropped = sf.plan(BOOK, [PEOPLE, sf.wanted(PEOPLE, name="aimed", within=5)], limit=aimed.price).dropped
    assert [one.why for one in dropped] == ["nothing is left for it: statistics with targets come first"]


def test_relative_targets_hang_on_sizes_that_are_public() -> None:
    at = {rows: sf.plan(BOOK, [sf.wanted(PEOPLE, within="5 %")], epsilon=2, rows=rows) for rows in (400, 4_000)}
    assert [made.steps[0].numbers[0].half_width for made in at.values()] == [20, 200]
    assert not at[400].guesses and sf.plan(BOOK, [PEOPLE], epsilon=1).guesses


def test_shares_of_a_mean_are_taken_of_what_it_is_about() -> None:
    """Of the middle of 0 to 240 a tenth is 12; of 30, which last year's mean was, it is 3."""
    mean = "SELECT AVG(minutes) AS stay FROM visits"
    wants = [sf.wanted(mean, within="10 %", max_rows=5, about=about) for about in (None, 30, {"stay": 30})]
    widths = [sf.plan(BOOK, [one], epsilon=1, rows=4_000).steps[0].numbers[0].half_width for one in wants]
    assert widths[0] == pytest.approx(12, rel=0.01) and widths[1] == widths[2] == pytest.approx(3, rel=0.01)


def test_bars_of_a_histogram_are_no_numbers_of_nothing() -> None:
    """Their errors are shares of rows spread evenly; a histogram does not take all that there is."""
    bars = "SELECT HISTOGRAM(minutes, [0, 60, 120, 240]) AS m FROM visits"
    made = sf.plan(BOOK, [sf.wanted(bars, max_rows=5), sf.wanted(COUNT, max_rows=5)], epsilon=1, rows=3_000)
    assert [one.value for one in made["m"].numbers] == [1_000] * 3
    assert made["n"].share > Fraction(1, 3)


def test_a_plan_is_stored_and_read_again(tmp_path: Path) -> None:
    keys = sf.KeySet.of(day=[VISITS.columns["day"][0].item()], site=[1, 2])
    grouped = "SELECT day, site, COUNT(*) AS n FROM visits GROUP BY day, site"
    made = sf.plan(
        BOOK,
        [
            sf.wanted(grouped, keys=keys, max_groups=2, max_rows_per_group=1, within={"n": 50}, noise="laplace"),
            sf.wanted(
                f"{COUNT} WHERE site = :site", parameters={"site": 3}, max_rows=4, weights={"n": 2}, confidence="0.9"
            ),
        ],
        limit=sf.Approx(1, 1e-6),
        rows=4_000,
    )
    path = made.save(tmp_path / "plan.json")
    read = sf.planning.Plan.read(path)
    assert read.to_json() == made.to_json() and read.steps == made.steps and read.cost == made.cost
    assert str(read) == str(made) and sf.planning.Plan.read(made.to_json()).totals == made.totals
    asked = session(sf.Approx(1, 1e-6))
    assert read.run(asked).keys() == made.run(asked).keys() and asked.spent == made.cost


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "other"},
        {"version": 2},
        {"limit": {"kind": "Pure"}},
        {"steps": [{}]},
        {"relation": "none"},
        {"delta": "many"},
    ],
)
def test_what_is_no_plan_is_refused(damage: dict[str, Any]) -> None:
    plain = {**json.loads(sf.plan(BOOK, [PEOPLE], epsilon=1).to_json()), **damage}
    with pytest.raises(sf.errors.UnknownFormat):
        sf.planning.Plan.read(json.dumps(plain))


def test_a_plan_that_is_pasted_spends_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table(dict(VISITS.columns)), tmp_path / "visits.parquet")
    (tmp_path / "visits.yaml").write_text(BOOK.to_yaml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = sf.plan(
        sf.Codebook.read(tmp_path / "visits.yaml"), [PEOPLE, by_day()], limit=sf.Approx("0.7", 1e-6), rows=4_000
    )
    space: dict[str, Any] = {}
    exec(made.code(data="visits.parquet", codebook="visits.yaml", ledger="memory:"), space)
    assert space["session"].spent == made.cost and len(space["session"].releases()) == 2


def test_frames_are_planned_as_sql_is() -> None:
    table = sf.planning.table(BOOK)
    query = table.group_by("day").agg(n=sf.count_rows(), m=table.minutes.mean())
    framed, written = (
        sf.plan(BOOK, [sf.wanted(one, max_groups=3, max_rows_per_group=1)], epsilon=1) for one in (query, BY_DAY)
    )
    assert framed.steps[0].loss == written.steps[0].loss and framed.steps[0].numbers == written.steps[0].numbers
    assert framed.run(session(sf.Pure(1)))["n, m by day"].value.names == ("day", "n", "m")


def test_bounds_in_the_text_are_kept() -> None:
    made = sf.plan(BOOK, [f"{BOUNDED} FROM visits GROUP BY day"], epsilon=1)
    assert made.steps[0].settings.max_groups == 2 and made.run(session(sf.Pure(1)))


def test_several_blocks_are_planned_as_one_statistic() -> None:
    shares = (
        "WITH per AS (SELECT day, COUNT(*) AS n FROM visits GROUP BY day) "
        "SELECT day, n / (SELECT SUM(n) FROM per) AS share FROM per"
    )
    made = sf.plan(BOOK, [sf.wanted(shares, max_groups=3, max_rows_per_group=1)], epsilon=1)
    assert made.cost == sf.Pure(1) and made.run(session(sf.Pure(1)))


def test_other_kinds_of_units_lose_what_the_plan_says() -> None:
    firms = {"rows": 500, "groups": {"worker": 500}, "source": "the register of firms"}
    columns = {"worker": {"type": "int"}, "firm": {"type": "int"}}
    book = {
        "codebook": 1,
        "title": "Jobs",
        "units": {"people": {"protects": "a worker", "id": "worker"}, "firms": {"protects": "a firm", "id": "firm"}},
        "tables": {
            "jobs": {
                "contributions": {"people": {"rows": 2, "source": "two jobs at most, by law"}, "firms": firms},
                "columns": columns,
            }
        },
    }
    made = sf.plan(book, ["SELECT COUNT(*) AS n FROM jobs"], epsilon=1)
    assert made.beside == (("a firm", sf.Pure(250)),)
    assert sf.planning.dry_run(made, book, rows=200, people=100, times=5).kept


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (lambda: sf.plan(BOOK, [PEOPLE]), "limit must be given"),
        (lambda: sf.plan(BOOK, [], epsilon=1), "a list of one or more"),
        (lambda: sf.plan(BOOK, PEOPLE, epsilon=1), "a list of one or more"),  # type: ignore[arg-type]
        (lambda: sf.plan(BOOK, [COUNT], epsilon=1), "COUNT.*any number of rows"),
        (lambda: sf.plan(BOOK, [sf.wanted(PEOPLE, unit="a visit")], epsilon=1), "'a person', which is who"),
        (lambda: sf.plan(BOOK, [sf.wanted(PEOPLE, within={"m": 5})], epsilon=1), "for numbers of the answer: people"),
        (lambda: sf.plan(BOOK, [sf.wanted(PEOPLE, within=1)], epsilon="0.1"), "pays for none of these"),
        (lambda: sf.plan(BOOK, [PEOPLE], limit=sf.Approx(1, 0.01), people=649), "0.01.*1/649"),
        (lambda: sf.plan(BOOK, [PEOPLE], epsilon=1, public={"visits": [1]}), "data of public tables alone"),
        (lambda: sf.plan(BOOK, [sf.wanted(PEOPLE, name="n")] * 2, epsilon=1), "different from each other"),
        (lambda: sf.plan(BOOK, [PEOPLE], epsilon=1, share="most"), "'best', 'even' or 'ranked'"),  # type: ignore[arg-type]
        (lambda: sf.wanted(PEOPLE, confidence=1), "above 0 and below 1"),
        (lambda: sf.wanted(VISITS), "a text in SQL, or a frame"),  # type: ignore[arg-type]
        (lambda: sf.plan(BOOK, ["SELECT day FROM visits"], epsilon=1), ""),
        (lambda: sf.plan(session(sf.Pure(1)), [PEOPLE], epsilon=1), "the codebook alone"),  # type: ignore[arg-type]
        (lambda: sf.plan(session(sf.Pure(1)).dataset, [PEOPLE], epsilon=1), "the codebook alone"),  # type: ignore[arg-type]
        (lambda: sf.plan(BOOK, [PAID], epsilon=1), "leave ε and δ out"),
    ],
)
def test_what_cannot_be_planned_is_refused(said: Any, why: str) -> None:
    with pytest.raises(sf.errors.SfumatoError, match=why or None):
        said()


def test_A3_074_a_delta_for_649_people() -> None:
    assert sf.plan(BOOK, [PEOPLE], limit=sf.Approx(1, 1e-6), people=649).steps


def test_a_session_on_other_data_is_refused() -> None:
    other = sf.datasets.hospital_visits()
    made = sf.plan(BOOK, [PEOPLE], epsilon=1)
    asked = sf.Dataset(dict(other.columns), codebook=other.codebook, name="visits").session(epsilon=1, ledger="memory:")
    with pytest.raises(sf.errors.BadArgument, match="the codebook of the plan"):
        made.run(asked)
    assert asked.spent == sf.Pure(0)


def test_P3_105_the_limit_of_a_plan_is_set_aside_before_anything_runs() -> None:
    made = sf.plan(BOOK, [PEOPLE, by_day()], epsilon="0.4")
    whole = session(sf.Pure(1))
    part = made.hold(whole, "plan")
    assert whole.left == sf.Pure("0.6")
    made.run(part)
    assert part.spent == made.cost


def test_errors_are_measured_by_targets_or_by_the_number_itself() -> None:
    desk = Desk.open(BOOK, rows=1_000)
    free, aimed = (desk.candidate(sf.wanted(PEOPLE, within=within)) for within in (None, 30))
    offer = free.at(sf.Pure("0.1"))
    assert offer.numbers[0].half_width == 30
    assert error_of(offer, free) == pytest.approx(0.03) and error_of(offer, aimed) == 1


def test_a_plan_shows_itself() -> None:
    made = sf.plan(
        BOOK, [sf.wanted(PEOPLE, within=10), by_day(), sf.wanted(PEOPLE, name="gone", within=1, priority=9)], epsilon=1
    )
    text = str(made)
    assert "it costs ε = 1.766" in text and "In the order of spending" in text
    assert {row["statistic"] for row in made.table()} == {"people", "by day"}
    assert made.table()[0]["half_width"] == 10.0 and made._repr_html_().startswith("<div")
    for what in ("errors", "shares", "people", "others"):
        assert made.chart(what).to_dict()["title"]["text"]
    with pytest.raises(sf.errors.BadArgument, match="'errors', 'shares'"):
        made.chart("prices")


def test_every_name_of_planning_is_on_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "planning.md").read_text(encoding="utf-8")
    assert {name for name in sf.planning.__all__ if f"{name}`" not in page} == set()
    folder = Path(sf.planning.__file__).parent
    assert not {path.stem for path in folder.glob("*.py")} & set(sf.planning.__all__)  # a module would hide the name
