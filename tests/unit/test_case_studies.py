"""Cases of the texts that no other file has: an app, a place, votes of slices, weekdays, classes, public rows."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.unit.query.opened import arrow, session_of

import sfumato as sf
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import How, Noised, Release

VOUCHED = sf.claim("for this case")


def test_A3_094_a_multiset_difference_counts_copies() -> None:
    first, second = Counter("aab"), Counter("ac")
    left_over = (first - second) + (second - first)
    assert sorted(left_over.elements()) == ["a", "b", "c"]
    assert sf.AddRemove().distance(list("aab"), list("ac")) == left_over.total() == 3


# People of an app, by where and when they were born, and by day (P1-183).


def test_P1_183_people_by_country_and_decade_move_one_count_and_by_day_as_many_as_days() -> None:
    days = 30
    people = sf.frame({"country": ["fr", "it"], "decade": [1980, 1990], "day": range(days)})
    born = people >> sf.group_by("country", "decade")
    assert [(born >> sf.transforms.sizes(metric=norm)).map(1) for norm in (sf.L1(), sf.L2())] == [1, 1]
    once = {"max_groups": days, "max_rows_per_group": 1, "claim": VOUCHED}
    daily = people >> sf.group_by("country", "decade", "day", **once)
    found = [(daily >> sf.transforms.sizes(metric=norm)).map(days) for norm in (sf.L1(), sf.L2())]
    assert found[0] == 30 and float(found[1]) == pytest.approx(5.477226, abs=5e-7)
    # Days of training, by country and decade: all thirty rows of a person are in one cell.
    assert [(born >> sf.transforms.sizes(metric=norm)).map(days) for norm in (sf.L1(), sf.L2())] == [30, 30]


def test_P1_183_convictions_by_type_are_one_vector() -> None:
    """How many people were convicted of each, and how many convictions there were: three types, at most 2 of each."""
    rows = list(product((0, 1, 2), repeat=3))
    members = [np.array(table, dtype=float).reshape(-1, 3) for size in (0, 1) for table in product(rows, repeat=size)]
    total = sf.matrix(3, between=(0, 2)) >> sf.sum()
    for norm, most in ((sf.L1(), 6), (sf.L2(), math.sqrt(12)), (sf.LInf(), 2)):
        made = sf.matrix(3, between=(0, 2)) >> sf.transforms.vector_sum(metric=norm)
        assert (
            float(made.map(1)) == pytest.approx(most) == pytest.approx(float(sf.audit.brute_sensitivity(made, members)))
        )
    assert total([[2, 0, 1], [0, 0, 2]]).tolist() == [2, 0, 3]
    apart = [sf.Pure(1).scaled(Fraction(1, 3))] * 3  # three questions share ε = 1; each moves by 2 and has scale 6
    assert 2 / apart[0].epsilon == 6 == total.map(1) / sf.Pure(1).epsilon  # in pure terms one vector has as much noise
    joint = sf.matrix(3, between=(0, 2)) >> sf.transforms.vector_sum(metric=sf.LInf()) >> sf.mechanisms.k_norm(scale=2)
    assert joint.map(1) == sf.Pure(1)  # and shared by the largest coordinate less: the scale is that of one question
    people = sf.frame({kind: [False, True] for kind in ("theft", "fraud", "arson")})
    kinds = [sf.is_in([True], column=kind) for kind in ("theft", "fraud", "arson")]
    assert (people >> sf.transforms.count_each(kinds)).map(1) == 3


@pytest.mark.parametrize("places", [2, 3, 10])
@pytest.mark.parametrize("truth", ["0.6", "0.9"])
def test_P1_193_a_place_told_with_chance_p_costs_what_its_formula_says(places: int, truth: str) -> None:
    """q = (1 − p)/(n − 1), ε = ln(p (n − 1)/(1 − p)); of two places this is binary randomized response."""
    p = Fraction(truth)
    told = sf.scalar([f"place {number}" for number in range(places)]) >> sf.randomized_response(p=truth)
    stated = math.log(p * (places - 1) / (1 - p))
    assert float(told.map(1).epsilon) == pytest.approx(stated, rel=1e-12)
    low, high = sf.audit.brute_epsilon(told, [f"place {number}" for number in range(places)])
    assert float(low) == pytest.approx(stated) == pytest.approx(float(high))
    law = sf.audit.outcome_probabilities(told, "place 0")
    assert float(law["place 1"]) == pytest.approx(float((1 - p) / (places - 1)))
    if places == 2:
        assert told.map(1) == (sf.scalar(bool) >> sf.randomized_response(p=truth)).map(1)


# Which statistics to publish, chosen from what independent slices propose (P3-114).

STATISTICS = ["mean", "median", "by region", "by sex"]


def proposed(rows: Any) -> str:
    """Explores a slice, and knows nothing of the others."""
    return "median" if max(rows) > 2 * sorted(rows)[len(rows) // 2] else "mean"


def test_P3_114_slices_propose_and_a_private_choice_decides() -> None:
    explored = sf.vector(int) >> sf.sample_and_aggregate(proposed, STATISTICS, parts=40, default="mean", claim=VOUCHED)
    votes = explored >> sf.transforms.mode_scores(metric=sf.LInf())
    assert explored.map(1) == 1 and votes.map(1) == 1  # a person is in one slice, and changes one proposal
    chosen = votes >> sf.mechanisms.exponential_of(STATISTICS, temperature=2)
    assert chosen.map(1) == sf.Pure(1)
    two = votes >> sf.top_k(2, temperature=4) >> sf.mechanisms.candidate_of(STATISTICS)
    assert two.map(1) == sf.Pure(1)
    skewed = [1, 2, 3] * 300 + [100] * 200
    found = [chosen(skewed, entropy=sf.entropy.ReplayEntropy(seed)).value for seed in range(50)]
    assert found.count("median") == 50  # some 39 of 40 slices: another wins with a chance below e⁻¹⁵
    with pytest.raises(sf.errors.ClaimRequired):
        sf.sample_and_aggregate(proposed, STATISTICS, parts=40, default="mean")


# Averages for each weekday (A2-051).

VISITS = (232366, 233873, 146003, 145656, 232830, 232038, 232574)
PEOPLE = (232381, 233867, 146040, 145640, 232746, 232071, 232576)
PRINTED = (1.230472, 1.233458, 1.147276, 1.144335, 1.232094, 1.231370, 1.232915)


def noisy(value: int, scale: int) -> Release:
    return Release(
        value, sf.Pure(1), "a person", How("laplace"), noise=Noised(DiscreteLaplace(Fraction(scale)), Fraction(1))
    )


def test_A2_051_averages_follow_from_their_two_releases_and_the_printed_ones_do_not() -> None:
    """E2-27: visits over people of each weekday, as printed, and the interval that noise of scale 40 leaves."""
    averages = [
        noisy(top, 40).estimate() / noisy(bottom, 40).estimate() for top, bottom in zip(VISITS, PEOPLE, strict=True)
    ]
    found = [round(average.value, 5) for average in averages]
    assert found == [0.99994, 1.00003, 0.99975, 1.00011, 1.00036, 0.99986, 0.99999]
    for average, printed in zip(averages, PRINTED, strict=True):
        interval = average.interval()
        assert interval is not None and average.value in interval and printed not in interval


# Naive Bayes without sums: how far its parameters would move (A2-071).


@pytest.mark.parametrize(("least", "share"), [(1, Fraction(1, 2)), (5, Fraction(1, 6)), (10, Fraction(1, 11))])
def test_A2_071_a_share_of_a_class_moves_by_one_over_its_least_size_and_one(least: int, share: Fraction) -> None:
    members = [[0] * (size - ones) + [1] * ones for size in (least, least + 1) for ones in range(size + 1)]
    space = sf.Space(sf.domains.Vector(sf.Floats((0, 1)), least=least), sf.AddRemove())
    step = Fraction(1, 10**9)
    assert share <= (space >> sf.mean()).map(1) <= share + step
    assert abs(sf.audit.brute_sensitivity(space >> sf.mean(), members) - share) <= step
    with pytest.raises(sf.errors.UnknownSize):  # without a least size there is no such bound
        sf.vector(float, between=(0, 1)) >> sf.mean()
    assert (sf.vector(int, between=(0, 1)) >> sf.sum()).map(1) == 1  # and the counts themselves move by 1


@pytest.mark.parametrize(("size", "moved"), [(2, 0.4714), (5, 0.3727), (10, 0.2875)])
def test_A2_071_a_deviation_of_a_class_moves_by_the_root_of_its_size(size: int, moved: float) -> None:
    """√n (u − l)/(n + 1), reached where n equal values meet one at the other end; the mean moves by (u − l)/(n + 1)."""

    def deviation(rows: list[int]) -> Fraction:
        mean = Fraction(sum(rows), len(rows))
        squares = sum((row - mean) ** 2 for row in rows) / len(rows)
        return Fraction(math.isqrt(squares.numerator * 10**24 // squares.denominator), 10**12)

    members = [[0] * (each - ones) + [1] * ones for each in (size, size + 1) for ones in range(each + 1)]
    claimed = Fraction(math.isqrt(size * 10**24) + 1, 10**12 * (size + 1))
    spread = sf.transformation(
        sf.Space(sf.domains.Vector(sf.Integers((0, 1)), least=size), sf.AddRemove()),
        sf.Space(sf.Floats(), sf.metrics.Absolute()),
        function=lambda rows: float(deviation(list(rows))),
        map=lambda d_in: d_in * claimed,
        claim=VOUCHED,
    )
    assert float(claimed) == pytest.approx(moved, abs=5e-5)
    assert float(sf.audit.brute_sensitivity(spread, members)) == pytest.approx(float(claimed), abs=1e-9)


# Two classes whose tables are public, read with plain SQL (A3-095 to A3-100).


@pytest.fixture(scope="module")
def public() -> sf.Session:
    """A session in which both classes are public tables, beside a private one."""
    history, science = sf.datasets.history101(), sf.datasets.computer_science101()
    book = {**history.codebook.to_plain(), "unit": {"protects": "a person", "id": "person"}}
    tables: Any = book["tables"]
    for name in ("History101", "ComputerScience101"):
        tables[name] = {"public": True, "columns": tables[name]["columns"]}
    tables["absences"] = {"columns": {"person": {"type": "int"}}}
    data = {"History101": arrow(history), "ComputerScience101": arrow(science), "absences": {"person": [1]}}
    return session_of(sf.Dataset(data, codebook=book, name="classes"))


def listed(session: sf.Session, text: str) -> list[tuple[Any, ...]]:
    answer = session.sql(text).value.to_dict()
    return list(zip(*answer.values(), strict=True))


def test_A3_096_ids_keep_the_zeros_in_front_of_them(public: sf.Session) -> None:
    found = listed(public, "SELECT student_id FROM History101;")
    ids = ["09528", "10394", "85422", "25925", "29485", "92554", "02359", "02945"]
    assert [one for (one,) in found] == sorted(ids)  # no order was asked for: rows come in that of their values
    every = listed(public, "select * from History101")
    assert len(every) == 8 and every[0][0] == "02359"
    assert public.spent == sf.Approx(0, 0)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        pytest.param("major = 'computer science'", ["85422"], id="A3_097"),
        pytest.param("grade >= 90", ["85422", "25925", "29485", "92554", "02945"], id="A3_098"),
        pytest.param("major = 'history' AND grade >= 90", ["29485", "02945"], id="A3_099"),
    ],
)
def test_A3_097_A3_098_A3_099_conditions_keep_rows(public: sf.Session, condition: str, ids: list[str]) -> None:
    assert [one for (one,) in listed(public, f"SELECT student_id FROM History101 WHERE {condition}")] == sorted(ids)


def test_A3_095_A3_100_exact_aggregates_of_public_tables(public: sf.Session) -> None:
    text = "SELECT COUNT(*) AS n, AVG(grade) AS mean FROM "
    assert listed(public, text + "History101") == [(8, 90)]
    assert listed(public, text + "ComputerScience101") == [(5, 89)]
    assert public.spent == sf.Approx(0, 0)
