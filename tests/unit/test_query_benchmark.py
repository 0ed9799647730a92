"""The benchmark of queries: its data, its SQL by hand, how wrong an answer is, and what the last line says."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

import query as benchmark
from contenders.query import turns
from contenders.query.by_hand import COUNT, DAYS, DISTINCT, END, FIXED, GRID, JOIN, MEDIAN, MIDDLE, PEOPLE, STEP
from contenders.query.cases import MEASURES, MILLION, MOST_GROUPS, MOST_ROWS, SITES, SMALL, TRUTHS, Size, draw, errors
from side_by_side.contest import Contest, Facts

duckdb = pytest.importorskip("duckdb")
preparing = pytest.importorskip("contenders.query.preparing")

Visit = tuple[int, int | None, float | None]
TINY = Size("tiny", 3000, 60)
ODD = (math.nan, math.inf, -math.inf, -0.0, 1e308, -5.0, 200.0, 200.25, 5e-324, 0.5 / STEP, 1.5 / STEP, None)
NAMES = (
    *("rows_vs_fixed", "rows_vs_plain", "people_vs_hand", "opendp_rows_10m", "opendp_people_10m", "opendp_people_1m"),
    *("tumult_people_1m", "pipelinedp_people_1m", "error_vs_opendp", "million_groups_s", "small_per_s"),
    *("count_ms", "days_vs_hand", "median_vs_hand", "distinct_vs_hand", "join_vs_hand"),
)


def visits(seed: int) -> list[Visit]:
    """Draws visits of few people: some to very many sites, some very often to one, with odd minutes among them."""
    random = np.random.default_rng(seed)
    people = np.minimum(random.zipf(1.4, 600), 40).tolist()
    sites = np.where(random.random(600) < 0.5, 3, random.integers(0, 12, 600)).tolist()
    minutes = [
        ODD[place % len(ODD)] if place % 3 == 0 else value for place, value in enumerate(random.gamma(2, 20, 600))
    ]
    return list(zip(people, sites, minutes, strict=True))


def asked(question: str, rows: list[Visit]) -> dict[int, tuple[int, ...]]:
    """Answers a question by hand about these visits: whole numbers for each site."""
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE visits (user_id BIGINT, site BIGINT, minutes DOUBLE)")
        engine.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        found = engine.execute(question.format(visits="visits")).fetchall()
    return {site: tuple(int(number or 0) for number in numbers) for site, *numbers in found}


def on_grid(minutes: float | None) -> int | None:
    """Gives what the SQL should make of a value."""
    if minutes is None or not math.isfinite(minutes):
        return None
    return round((min(max(minutes, 0.0), 200.0) - MIDDLE) * STEP)


def bounded(rows: list[Visit]) -> dict[int, tuple[int, int]]:
    """Answers the question for bounded people, one person at a time."""
    cells: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, site, minutes in rows:
        cells[person][site].append(on_grid(minutes) or 0)
    with duckdb.connect() as engine:
        pairs = [(person, site) for person, sites in cells.items() for site in sites]
        hashes = {
            pair: engine.execute("SELECT hash(?::BIGINT, ?::BIGINT) >> 32", pair).fetchall()[0][0] for pair in pairs
        }
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for person, sites in cells.items():
        for site in sorted(sites, key=lambda each: (hashes[person, each], each))[:MOST_GROUPS]:
            values, total = sites[site], sum(sites[site])
            scaled = math.trunc(total * MOST_ROWS / len(values)) if len(values) > MOST_ROWS else total
            totals[site][0] += min(len(values), MOST_ROWS)
            totals[site][1] += scaled
    return {site: (count, total) for site, (count, total) in totals.items()}


def test_visits_are_the_same_every_time_and_few_people_make_many_of_them() -> None:
    first, again = draw(SMALL), draw(SMALL)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    counts = np.sort(np.bincount(first["user_id"], minlength=SMALL.people))[::-1]
    assert counts.sum() == SMALL.rows
    assert counts[0] > 50 * counts.mean() > 0
    assert np.median(counts) <= counts.mean()
    assert (first["site"].min(), first["site"].max()) == (0, SITES - 1)
    assert first["minutes"].min() >= 0


@pytest.mark.parametrize("minutes", ODD, ids=str)
def test_the_grid_by_hand_is_total_and_rounds_halves_to_even(minutes: float | None) -> None:
    with duckdb.connect() as engine:
        assert engine.execute(f"SELECT {GRID} FROM (SELECT ?::DOUBLE AS minutes)", [minutes]).fetchall()[0][
            0
        ] == on_grid(minutes)


def test_fixed_point_by_hand_adds_what_is_finite() -> None:
    rows = visits(7)
    found = asked(FIXED, rows)
    for site, (count, finite, total) in found.items():
        here = [on_grid(minutes) for _, at, minutes in rows if at == site]
        numbers = [number for number in here if number is not None]
        assert (count, finite, total) == (len(here), len(numbers), sum(numbers))


@pytest.mark.parametrize("seed", range(4))
def test_bounding_by_hand_is_what_bounding_one_by_one_gives(seed: int) -> None:
    rows = visits(seed)
    assert asked(PEOPLE, rows) == bounded(rows)


@pytest.mark.parametrize("person", [1, 2, 3, 40])
def test_one_person_moves_the_answer_by_hand_by_no_more_than_the_bounds(person: int) -> None:
    rows = visits(11)
    with_them, without = asked(PEOPLE, rows), asked(PEOPLE, [row for row in rows if row[0] != person])
    moved = [np.subtract(with_them.get(site, (0, 0)), without.get(site, (0, 0))) for site in {*with_them, *without}]
    changes = [change for change in moved if change.any()]
    assert 1 <= len(changes) <= MOST_GROUPS
    assert all(0 <= count <= MOST_ROWS and abs(total) <= MOST_ROWS * END for count, total in changes)


def test_the_truth_is_exact_for_all_rows_and_for_bounded_people(tmp_path: Path) -> None:
    preparing.write(tmp_path, TINY)
    preparing.write_truth(tmp_path, TINY)
    truth, columns = np.load(TINY.truth(tmp_path)), np.load(TINY.columns(tmp_path))
    counts = np.bincount(columns["site"], minlength=SITES)
    assert np.array_equal(truth["whole_count"], counts)
    assert truth["whole_sum"].sum() == pytest.approx(columns["minutes"].sum())
    assert 0 < truth["bounded_count"].sum() <= MOST_GROUPS * MOST_ROWS * TINY.people < counts.sum()
    assert np.all(truth["bounded_count"] <= counts)
    some = truth["bounded_count"] > 0
    assert truth["bounded_mean"][some] == pytest.approx((truth["bounded_sum"] / truth["bounded_count"].clip(1))[some])


def test_other_forms_by_hand_keep_of_each_person_what_they_should(tmp_path: Path) -> None:
    preparing.write_forms(tmp_path, TINY)
    visits, sites = preparing.forms(tmp_path)
    with duckdb.connect() as engine:
        engine.read_parquet(str(visits)).create_view("visits")
        engine.read_parquet(str(sites)).create_view("sites")
        asked = {
            name: engine.execute(text.format(visits="visits")).fetchall()
            for name, text in {
                "count": COUNT,
                "days": DAYS,
                "median": MEDIAN,
                "distinct": DISTINCT,
                "join": JOIN,
            }.items()
        }
        rows = engine.execute("SELECT user_id, page FROM visits").fetchall()
    each = Counter(person for person, _ in rows)
    values = Counter(person for person, _ in set(rows))
    kept = sum(min(many, MOST_ROWS) for many in each.values())
    assert asked["count"] == [(kept,)] and sum(many for _, many in asked["median"]) == kept
    assert 0 < asked["distinct"][0][0] <= sum(min(many, MOST_ROWS) for many in values.values())
    for name in ("days", "join"):
        assert 0 < sum(int(many) for _, many in asked[name]) <= MOST_GROUPS * MOST_ROWS * len(each)
    assert len(asked["join"]) == preparing.REGIONS


def test_errors_are_averaged_over_sites_and_taken_against_both_truths() -> None:
    truth = {f"{to}_{measure}": np.array([1.0, 2.0]) for to in TRUTHS for measure in MEASURES}
    truth["whole_sum"] = np.array([5.0, 5.0])
    found = errors(dict.fromkeys(MEASURES, np.array([2, 5])), truth)
    assert found["count", "bounded"] == found["sum", "bounded"] == 2
    assert found["sum", "whole"] == 1.5
    assert len(found) == len(MEASURES) * len(TRUTHS)


def test_a_mean_that_is_missing_or_out_of_bounds_is_moved_as_anyone_could_for_free() -> None:
    truth = {f"{to}_{measure}": np.zeros(4) for to in TRUTHS for measure in MEASURES}
    answer = {"count": np.zeros(4), "sum": np.zeros(4), "mean": np.array([math.nan, -7.0, 1e9, math.inf])}
    assert errors(answer, truth)["mean", "whole"] == (MIDDLE + 0 + 200 + 200) / 4


def test_ways_take_turns_and_the_best_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.1, 0.1, 5.0, 3.0, 4.0, 2.0, 5.5, 9.0])
    monkeypatch.setattr(turns, "seconds", lambda way, clock: (way(), next(times))[1])
    calls: list[str] = []
    turns.in_turns("1m", {name: lambda name=name: calls.append(name) for name in "ab"}, rounds=3)  # type: ignore[misc]
    assert calls == ["a", "b"] * 4, "the first round is not counted"
    a, b = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (a["case"], a["seconds"], a["share"]) == ("a", 4.0, 1.0)
    assert (b["case"], b["seconds"], b["size"]) == ("b", 2.0, "1m")


def test_memory_is_that_of_this_process(capsys: pytest.CaptureFixture[str]) -> None:
    turns.report_memory("1m", "hand")
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["case"]) == ("memory", "hand")
    assert 0.01 < found["gigabytes"] < 100


def timed(contender: str, size: str, way: str, seconds: float) -> Facts:
    return {"contender": contender, "kind": "time", "size": size, "case": way, "seconds": seconds}


def wrong(contender: str, measure: str, error: float, to: str = "whole") -> Facts:
    return {
        "contender": contender,
        "kind": "error",
        "size": MILLION.name,
        "case": measure,
        "to": to,
        "error": error,
    }


WHOLE = (
    *(
        timed(benchmark.OURS, "10m", way, each)
        for way, each in zip(benchmark.WAYS, (0.1, 0.2, 0.21, 1, 1.1), strict=True)
    ),
    timed(benchmark.OURS, "1m", "people", 0.2),
    timed(benchmark.OPENDP, "10m", "rows", 4.2),
    timed(benchmark.OPENDP, "10m", "people", 22),
    timed(benchmark.OPENDP, "1m", "people", 5),
    timed(benchmark.OPENDP, "1m", "people, mean by hand", 3),
    timed(benchmark.TUMULT, "1m", "people", 40),
    timed(benchmark.PIPELINEDP, "1m", "people", 20),
    *(wrong(benchmark.ALONE, measure, 2.0) for measure in MEASURES),
    *(wrong(benchmark.OPENDP, measure, error) for measure, error in zip(MEASURES, (2.0, 4.0, 8.0), strict=True)),
    wrong(benchmark.ALONE, "count", 70.0, "bounded"),
    {"contender": benchmark.ALONE, "kind": "groups", "case": "million groups", "seconds": 0.5},
    {"contender": benchmark.ALONE, "kind": "small", "case": "small questions", "per_second": 250.0},
    *(
        {"contender": benchmark.OURS, "kind": "form", "case": name, "way": way, "cpu": cpu}
        for name, both in {
            "count": (0.06, 0.05),
            "days": (3, 2),
            "median": (4, 5),
            "distinct": (1, 1),
            "join": (6, 4),
        }.items()
        for way, cpu in zip(("ours", "hand"), both, strict=True)
    ),
)


def test_the_last_line_says_what_was_agreed() -> None:
    found = benchmark.figures(Contest(WHOLE, ()))
    assert tuple(found) == NAMES
    assert list(found.values()) == pytest.approx(
        [1.05, 1.8, 1.1, 20, 20, 25, 200, 100, 0.5, 0.5, 250, 10, 1.5, 0.8, 1, 1.5]
    )
    assert benchmark.ratios_line(found).startswith("ratios: rows_vs_fixed=1.05 rows_vs_plain=1.8 people_vs_hand=1.1 ")


@pytest.mark.parametrize(
    ("gone", "unknown"),
    [
        (benchmark.TUMULT, {"tumult_people_1m"}),
        (benchmark.OPENDP, {"opendp_rows_10m", "opendp_people_10m", "opendp_people_1m", "error_vs_opendp"}),
        (benchmark.ALONE, {"error_vs_opendp", "million_groups_s", "small_per_s"}),
        (benchmark.OURS, {*NAMES[:8], *NAMES[11:]}),
    ],
)
def test_what_was_not_measured_is_a_question_mark(gone: str, unknown: set[str]) -> None:
    found = benchmark.figures(Contest(tuple(facts for facts in WHOLE if facts["contender"] != gone), (gone,)))
    assert {name for name, value in found.items() if value is None} == unknown


def test_the_tables_have_every_time_and_error() -> None:
    memory = {"contender": benchmark.OURS, "kind": "memory", "size": "10m", "case": "hand", "gigabytes": 0.625}
    more = tuple(
        wrong(who, measure, 3.0, "bounded") for who in (benchmark.ALONE, benchmark.OPENDP) for measure in MEASURES
    )
    contest = Contest((*WHOLE, *more, memory), ())
    table = benchmark.times_table(contest)
    assert table.row_count == sum(facts["kind"] == "time" for facts in WHOLE)
    assert "0.62" in list(table.columns[4].cells)
    assert "people as the unit, mean by hand" in list(table.columns[2].cells)
    assert benchmark.errors_table(contest).row_count == 4


def test_everyone_is_told_where_the_data_are(tmp_path: Path) -> None:
    everyone = benchmark.contenders(tmp_path)
    assert {each.arguments[0] for each in everyone} == {str(tmp_path)}
    memory = [each.arguments[2] for each in everyone if each.script == "query/memory.py"]
    assert memory == list(benchmark.WAYS), "each in a process of its own"
