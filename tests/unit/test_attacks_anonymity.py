"""k-anonymity: the checker, the generaliser, and the attacks that it does not stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato import attacks
from sfumato.attacks import Bands, Prefix
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument

NAMES = ["Rick", "Nathan", "Yani", "Xiao", "Luciana", "Anastasia", "Marcia", "Yuki"]
MASKED = {
    "zip": ["19456", "30309", "19445", "30457", "19456", "30271", "19456", "19456"],
    "age": [67, 33, 64, 35, 67, 38, 31, 62],
}
EMPLOYEES = {
    "zip": ["19***", "30***", "19***", "30***", "19***", "30***", "30***", "19***"],
    "age": ["60-70", "30-40", "60-70", "30-40", "60-70", "30-40", "30-40", "60-70"],
    "score": [797, 650, 755, 590, 767, 597, 613, 775],
}
COMPANY = {"zip": ["30***"] * 4, "age": ["30-40"] * 4, "score": [815, 613, 376, 727]}
QUASI = ["zip", "age"]
MEDICINES = {
    "age": ["18-24", "80-85", "25-30", "55-60", "25-30", "60-65", "25-30", "18-24", "75-80", "45-50"],
    "sex": ["M", "M", "F", "F", "F", "M", "F", "F", "M", "F"],
    "zip": ["27529", "85224", "20735", "02368", "20735", "48127", "20735", "02138", "20735", "06514"],
    "medicine": [
        "Atorvastatin",
        "Omeprazole",
        "Etoposide",
        "Amlodipine",
        "Etoposide",
        "Albuterol",
        "Etoposide",
        "Atorvastatin",
        "Atorvastatin",
        "Hydrocodone",
    ],
}


def grade(score: int) -> str:
    """Gives the usual name of a credit score."""
    return "Poor" if score < 580 else "Fair" if score < 670 else "Good" if score < 740 else "Very good or better"


def rows_of(report: attacks.Anonymity) -> list[set[int]]:
    return [{row + 1 for row in one.rows} for one in report.classes]


class TestChecker:
    def test_A1_165_four_anonymous_and_only_one(self) -> None:
        report = attacks.anonymity(EMPLOYEES, QUASI)
        assert report.k == 4
        assert rows_of(report) == [{1, 3, 5, 8}, {2, 4, 6, 7}]
        assert report.below(4) == ()
        assert attacks.anonymity(MASKED, QUASI).k == 1

    def test_A3_065_the_table_called_three_anonymous_is_not(self) -> None:
        report = attacks.anonymity(MEDICINES, ["age", "sex", "zip"], sensitive="medicine")
        assert sorted(len(one.rows) for one in report.classes) == [1] * 7 + [3]
        assert report.k == 1
        assert len(report.below(3)) == 7

    def test_distinct_values_and_the_greatest_chance(self) -> None:
        table = {"q": [1, 1, 1, 1, 2, 2], "s": ["a", "a", "a", "b", "a", "c"]}
        report = attacks.anonymity(table, ["q"], sensitive="s")
        assert (report.k, report.distinct, report.greatest_chance) == (2, 2, Fraction(3, 4))
        assert report.classes[1].values == (("a", 3), ("b", 1))
        assert "k = 2 in 2 classes" in str(report)
        assert "For the curator only" in str(report)
        assert "For the curator only" in report._repr_html_()

    @given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 1)), min_size=1, max_size=15))
    def test_it_agrees_with_counting(self, rows: list[tuple[int, bool, int]]) -> None:
        a, b, secret = zip(*rows, strict=True)
        report = attacks.anonymity({"a": a, "b": b, "s": secret}, ["a", "b"], sensitive="s")
        counted = Counter(row[:2] for row in rows)
        secrets = Counter(rows)
        assert report.k == min(counted.values())
        assert {tuple(one.key.values()): len(one.rows) for one in report.classes} == counted
        assert report.greatest_chance == max(Fraction(many, counted[row[:2]]) for row, many in secrets.items())
        assert report.distinct == min(sum(row[:2] == key for row in secrets) for key in counted)

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="no quasi-identifier"):
            attacks.anonymity(EMPLOYEES, QUASI, sensitive="zip")
        with pytest.raises(BadArgument, match="one or more columns"):
            attacks.anonymity(EMPLOYEES, [])
        with pytest.raises(BadArgument, match="k must be"):
            attacks.anonymity(EMPLOYEES, QUASI).below(0)


class TestHomogeneity:
    def test_A1_166_a_class_whose_scores_are_all_fair(self) -> None:
        found = attacks.homogeneity(EMPLOYEES, QUASI, sensitive="score", reading=grade)
        [fair] = [one for one in found.found if one.values == (("Fair", 4),)]
        assert {row + 1 for row in fair.rows} == {2, 4, 6, 7}
        assert [EMPLOYEES["score"][row] for row in fair.rows] == [650, 590, 597, 613]
        assert (found.success.hits, found.baseline) == (8, 0)
        assert attacks.homogeneity(EMPLOYEES, QUASI, sensitive="score").success.hits == 0

    def test_A3_066_one_medicine_tells_an_illness(self) -> None:
        found = attacks.homogeneity(MEDICINES, ["age", "sex", "zip"], sensitive="medicine")
        [large] = [one for one in found.found if len(one.rows) == 3]
        assert large.key == {"age": "25-30", "sex": "F", "zip": "20735"}
        assert large.values == (("Etoposide", 3),)
        assert found.violation is attacks.Violation.RECONSTRUCTION

    def test_a_narrow_range_tells_as_much(self) -> None:
        narrow = attacks.homogeneity(EMPLOYEES, QUASI, sensitive="score", within=60)
        assert narrow.success.hits == 8
        assert attacks.homogeneity(EMPLOYEES, QUASI, sensitive="score", within=59).success.hits == 4
        with pytest.raises(BadArgument, match="not all numbers"):
            attacks.homogeneity({"q": [1, 1], "s": ["a", "b"]}, ["q"], sensitive="s", within=1)

    def test_a_class_that_tells_something_wrong_is_no_hit(self) -> None:
        released = {"q": [1, 1, 2, 2], "s": ["a", "a", "b", "b"]}
        found = attacks.homogeneity(released, ["q"], sensitive="s", truth=["a", "a", "a", "b"])
        assert (found.success, found.baseline) == (attacks.Success(3, 4), (2 * 0.75 + 2 * 0.25) / 4)
        read = attacks.homogeneity(released, ["q"], sensitive="s", reading=str.upper, truth=["a", "a", "a", "b"])
        assert read.success.hits == 3
        with pytest.raises(BadArgument, match="the sensitive value of each row"):
            attacks.homogeneity(released, ["q"], sensitive="s", truth=["a"])

    def test_what_everybody_shares_is_no_gain(self) -> None:
        assert attacks.homogeneity({"q": [1, 2], "s": ["a", "a"]}, ["q"], sensitive="s").advantage == 0


WARD = {"age": ["30-40"] * 4 + ["50-60"] * 2, "illness": ["flu", "flu", "measles", "heart", "heart", "flu"]}


class TestBackgroundKnowledge:
    def test_facts_that_exclude_values_leave_one(self) -> None:
        known = {"name": ["Ann", "Bo"], "age": ["30-40", "50-60"]}
        facts = {"Ann": ["measles", "heart"], "Bo": []}
        found = attacks.background_knowledge(
            WARD, known, sensitive="illness", excluded=facts, names="name", truth=["flu", "flu"]
        )
        ann, bo = found.found.matches
        assert (ann.chances, ann.rows) == ((("flu", 1),), (0, 1))
        assert bo.chance("flu") == Fraction(1, 2)
        assert (found.success, found.baseline) == (attacks.Success(1, 2), 0)

    def test_a_certain_and_wrong_value_is_no_hit(self) -> None:
        found = attacks.background_knowledge(
            WARD, {"age": "50-60"}, sensitive="illness", excluded=["flu"], truth=["flu"]
        )
        assert found.success.hits == 0

    def test_facts_that_exclude_everything_leave_nothing(self) -> None:
        found = attacks.background_knowledge(WARD, {"age": "50-60"}, sensitive="illness", excluded=["flu", "heart"])
        assert (found.success.hits, found.found.matches[0].chances) == (0, ())

    def test_columns_that_are_no_quasi_identifiers_separate_too(self) -> None:
        table = {**EMPLOYEES, "hobby": ["chess"] * 6 + ["golf"] * 2}
        assert attacks.linkage(table, {"zip": "30***", "age": "30-40"}).success.hits == 0
        assert attacks.linkage(table, {"zip": "30***", "age": "30-40", "hobby": "golf"}).success.hits == 1

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="a list of values"):
            attacks.background_knowledge(WARD, {"age": "50-60"}, sensitive="illness", excluded="flu")
        with pytest.raises(BadArgument, match="the sensitive value of each target"):
            attacks.background_knowledge(WARD, {"age": "50-60"}, sensitive="illness", excluded=[], truth=[])


class TestIntersection:
    def test_A1_167_two_releases_leave_one_score(self) -> None:
        marcia = {"zip": "30***", "age": "30-40"}
        found = attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", known=marcia, truth=[613])
        assert found.found[0].in_both == (613,)
        assert NAMES[EMPLOYEES["score"].index(613)] == "Marcia"
        assert (found.success, found.baseline) == (attacks.Success(1, 1), 0)
        assert attacks.anonymity(EMPLOYEES, QUASI).k == attacks.anonymity(COMPANY, QUASI).k == 4
        wrong = attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", known=marcia, truth=[650])
        assert wrong.success.hits == 0
        # without the truth it could be a coincidence: all of the second release is one class
        assert attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", known=marcia).baseline == 1

    def test_coincidences_are_in_the_baseline(self) -> None:
        source = ReplayEntropy(3)

        def release() -> dict[str, list[int]]:
            return {name: [source.below(most) for _ in range(3000)] for name, most in (("q", 300), ("score", 600))}

        strangers = attacks.intersection(release(), release(), sensitive="score", entropy=source)
        assert strangers.success.hits > 20
        assert abs(strangers.advantage) < 0.06
        first = release()
        same = {"q": first["q"], "score": first["score"]}
        fresh = release()
        second = {name: same[name][:300] + fresh[name][:300] for name in same}
        people = attacks.intersection(first, second, sensitive="score", entropy=source)
        assert people.advantage > 0.15

    def test_a_missing_value_can_be_the_right_one(self) -> None:
        first, second = {"q": [1, 1], "s": [nan, 2.0]}, {"q": [1, 1], "s": [nan, 3.0]}
        assert attacks.intersection(first, second, sensitive="s", truth=[float("nan")]).success.hits == 1
        [match] = attacks.linkage(first, {"q": 1}, sensitive="s").found.matches
        assert match.chance(float("nan")) == Fraction(1, 2)

    def test_the_first_release_alone_is_in_the_baseline(self) -> None:
        first, second = {"q": [1, 2, 2], "s": [5, 6, 7]}, {"q": [1, 2], "s": [5, 6]}
        told = attacks.intersection(first, second, sensitive="s", truth=[5, 6])
        assert (told.success, told.baseline) == (attacks.Success(2, 2), 0.5)
        assert attacks.intersection(first, second, sensitive="s").baseline >= 0.5

    def test_without_targets_every_class_in_common_is_one(self) -> None:
        assert attacks.intersection(EMPLOYEES, COMPANY, sensitive="score").success == attacks.Success(1, 1)

    def test_releases_that_describe_in_their_own_ways(self) -> None:
        second = {"zip": ["303**"] * 2, "age": ["30-35"] * 2, "score": [597, 700]}
        pair = ({"zip": "30***", "age": "30-40"}, {"zip": "303**", "age": "30-35"})
        assert attacks.intersection(EMPLOYEES, second, sensitive="score", known=pair).found[0].in_both == (597,)

    def test_bad_arguments(self) -> None:
        other = {"zip": ["9****"], "age": ["0-10"], "score": [1]}
        with pytest.raises(BadArgument, match="a class in common"):
            attacks.intersection(EMPLOYEES, other, sensitive="score")
        with pytest.raises(BadArgument, match="translate codes"):
            attacks.intersection(EMPLOYEES, {**COMPANY, "score": ["a", "b", "c", "d"]}, sensitive="score")
        with pytest.raises(BadArgument, match="one for each release; got '3 tables'"):
            attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", known=(COMPANY,) * 3)  # type: ignore[arg-type]
        with pytest.raises(BadArgument, match="as many targets"):
            attacks.intersection(
                EMPLOYEES,
                COMPANY,
                sensitive="score",
                known=({"zip": "30***", "age": "30-40"}, {"zip": ["30***"] * 2, "age": ["30-40"] * 2}),
            )
        with pytest.raises(BadArgument, match="translate codes"):
            attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", known={"zip": 30, "age": "30-40"})
        with pytest.raises(BadArgument, match="the sensitive value of each target; got '2 for 1 targets'"):
            attacks.intersection(EMPLOYEES, COMPANY, sensitive="score", truth=[1, 2])


RULES: dict[str, attacks.Bands | attacks.Prefix] = {"zip": Prefix(3, 2), "age": Bands(5, 10)}
PEOPLE = st.lists(
    st.tuples(st.sampled_from(["30309", "30311", "30457", "19456", "19445"]), st.integers(30, 49)),
    min_size=1,
    max_size=12,
)


def plain_loss(told: list[tuple[object, ...]], exact: list[tuple[object, ...]]) -> Fraction:
    """Works the loss out cell by cell, from its definition."""
    total = Fraction(0)
    for column in range(len(exact[0])):
        values = {row[column] for row in exact}
        for row in told:
            alike = {other[column] for other, shown in zip(exact, told, strict=True) if shown[column] == row[column]}
            total += Fraction(len(alike) - 1, max(1, len(values) - 1))
    return total / (len(exact) * len(exact[0]))


class TestGeneralising:
    def test_the_printed_table_but_for_one_zip(self) -> None:
        # S4 Table 1.1 prints 19456 for Marcia, and 30*** once generalised: with 30456 the right table follows.
        table = {**MASKED, "zip": [*MASKED["zip"][:6], "30456", MASKED["zip"][7]], "name": NAMES}
        made = attacks.generalise(table, 4, RULES)
        assert made.columns["zip"] == tuple(EMPLOYEES["zip"])
        assert set(made.columns["age"]) == {"[60, 70)", "[30, 40)"}
        assert made.columns["name"] == tuple(NAMES)
        assert dict(made.levels) == {"zip": 2, "age": 2}
        assert attacks.anonymity(made, QUASI).k == 4

    @given(PEOPLE, st.integers(1, 4))
    @settings(max_examples=examples(60))
    def test_it_reaches_k_with_the_least_loss_of_the_lattice(self, rows: list[tuple[str, int]], k: int) -> None:
        table = dict(zip(QUASI, zip(*rows, strict=True), strict=True))
        if k > len(rows):
            with pytest.raises(BadArgument, match="at most the number of rows"):
                attacks.generalise(table, k, RULES)
            return
        made = attacks.generalise(table, k, RULES)
        assert attacks.anonymity(made, QUASI).k >= k
        reached = {}
        for levels in product(range(4), range(4)):
            told = [
                tuple(RULES[name].coarsen(cell, level) for name, cell, level in zip(QUASI, row, levels, strict=True))
                for row in rows
            ]
            if min(Counter(told).values()) >= k:
                reached[levels] = plain_loss(told, [*rows])
        assert made.loss == min(reached.values())
        assert reached[made.levels["zip"], made.levels["age"]] == made.loss

    @given(PEOPLE, st.integers(1, 4), st.sampled_from(["0", "0.2", "0.5"]))
    @settings(max_examples=examples(60))
    def test_suppression_stays_within_its_share_and_never_loses_more(
        self, rows: list[tuple[str, int]], k: int, share: str
    ) -> None:
        if k > len(rows):
            return
        table = dict(zip(QUASI, zip(*rows, strict=True), strict=True))
        made = attacks.generalise(table, k, RULES, suppress=share)
        assert len(made.suppressed) <= Fraction(share) * len(rows)
        assert len(made.columns["zip"]) == len(rows) - len(made.suppressed)
        assert attacks.anonymity(made, QUASI).k >= k
        assert made.loss <= attacks.generalise(table, k, RULES).loss
        assert made.loss >= Fraction(len(made.suppressed), len(rows))

    @given(PEOPLE)
    @settings(max_examples=examples(30))
    def test_the_loss_grows_with_k(self, rows: list[tuple[str, int]]) -> None:
        table = dict(zip(QUASI, zip(*rows, strict=True), strict=True))
        losses = [loss for _, loss in attacks.generalisation_losses(table, range(1, len(rows) + 1), RULES)]
        assert losses == sorted(losses)
        assert losses[0] == 0

    def test_targets_are_told_in_the_same_way(self) -> None:
        made = attacks.generalise(MASKED, 2, RULES)
        told = made.coarsen({"name": "Nathan", "zip": "30309", "age": 33})
        assert told.columns["name"] == ("Nathan",)
        match = attacks.linkage(made, told).found.matches[0]
        assert 1 in match.rows
        assert len(match.rows) >= 2

    def test_rows_that_are_left_out(self) -> None:
        table = {"age": [30, 31, 32, 90]}
        made = attacks.generalise(table, 3, {"age": Bands(10)}, suppress="0.25")
        assert (made.suppressed, made.columns["age"]) == ((3,), ("[30, 40)",) * 3)
        assert made.loss == (3 * Fraction(2, 3) + 1) / 4

    def test_ages_in_listed_bands_that_do_not_overlap(self) -> None:
        # S2 Table 11-1 in bands like those of Table 11-2, whose 75-80 and 80-85 overlap (E3-16).
        bands = Bands([(18, 24), (25, 30), (45, 50), (55, 60), (61, 65), (75, 79), (80, 85)])
        ages = [24, 84, 27, 59, 27, 63, 27, 19, 77, 46]
        told = [str(bands.coarsen(age, 1)).strip("[]").replace(", ", "-") for age in ages]
        assert told == [*MEDICINES["age"][:5], "61-65", *MEDICINES["age"][6:8], "75-79", "45-50"]

    def test_a_prefix_of_no_letters_does_not_tell_the_length(self) -> None:
        assert [Prefix(2, 0).coarsen(text, 2) for text in ("", "GP", "30309")] == ["*", "*", "*"]
        assert dict(attacks.generalise({"a": ["x", "yy"]}, 2, {"a": Prefix(0)}).columns) == {"a": ("*", "*")}

    def test_a_rule_of_ones_own(self) -> None:
        @final
        class Initial(attacks.Rule):
            """Tells the first letter in capitals."""

            steps = 1

            def step(self, cell: object, level: int) -> str:
                return str(cell)[:1].upper()

        made = attacks.generalise({"name": ["ann", "Abe", "bo", "Bea"]}, 2, {"name": Initial()})
        assert made.columns["name"] == ("A", "A", "B", "B")

    def test_it_says_in_short_what_was_done(self) -> None:
        made = attacks.generalise({"age": [30, 31, 32, 90]}, 3, {"age": Bands(10)}, suppress="0.25")
        assert str(made) == "a table of 3 rows, k = 3: age at level 1 of 2; loss 0.75, rows left out: 1"
        assert "[30, 40)" not in repr(made)

    def test_progress_is_told_for_each_k(self) -> None:
        told: list[tuple[int, int]] = []
        attacks.generalisation_losses(MASKED, [1, 2, 4], RULES, progress=lambda done, steps: told.append((done, steps)))
        assert told == [(1, 3), (2, 3), (3, 3)]

    def test_too_many_combinations_are_refused(self) -> None:
        table = {name: ["abcdefgh"] for name in "abcdefgh"}
        with pytest.raises(BadArgument, match="at most 1000000 combinations"):
            attacks.generalise(table, 1, dict.fromkeys(table, Prefix(5, 4, 3, 2, 1)))

    def test_missing_and_infinite_cells_are_told_as_they_are(self) -> None:
        rule = Bands("0.5")
        assert rule.coarsen(None, 1) is None
        assert rule.coarsen(inf, 1) == inf
        assert rule.coarsen(-0.25, 1) == rule.coarsen(Decimal("-0.1"), 1) == "[-0.5, 0)"
        assert rule.coarsen(7, 2) == "*"
        made = attacks.generalise({"age": [nan, nan, None, None]}, 2, {"age": Bands(5)})
        assert dict(made.levels) == {"age": 0}

    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: Bands([(75, 80), (80, 85)]), "75-80 and 80-85 would share 80"),
            (lambda: Bands([(55, 60), (60, 65), (18, 24)]), "apart from each other"),
            (lambda: Bands([(30, 20)]), "a lower bound, then an upper one"),
            (lambda: Bands([(30,)]), "pairs of bounds"),  # type: ignore[list-item]
            (lambda: Bands(), "given a width"),
            (lambda: Bands(0), "a width must be greater than 0"),
            (lambda: Prefix(), "each less than the one before"),
            (lambda: Prefix(2, 3), "each less than the one before"),
            (lambda: Prefix(-1), "a number of letters"),
            (lambda: attacks.generalise(MASKED, 0, RULES), "k must be"),
            (lambda: attacks.generalise(MASKED, 9, RULES), "at most the number of rows, 8"),
            (lambda: attacks.generalise(MASKED, 2, {}), "one or more columns"),
            (lambda: attacks.generalise(MASKED, 2, {"zip": 3}), "Prefix"),  # type: ignore[dict-item]
            (lambda: attacks.generalise(MASKED, 2, {"age": Prefix(1)}), "texts"),
            (lambda: attacks.generalise(MASKED, 2, {"zip": Bands(5)}), "numbers; got 'str'"),
            (lambda: attacks.generalise(MASKED, 2, {"age": Bands([(0, 40)])}), "a number in none"),
            (lambda: attacks.generalise(MASKED, 2, RULES, suppress=2), "suppress"),
            (lambda: attacks.generalise(MASKED, 2, {"height": Bands(5)}), "one of zip, age"),
            (lambda: attacks.generalise(MASKED, 2, ["zip"]), "for each column, by its name"),  # type: ignore[arg-type]
        ],
        ids=[str(place) for place in range(19)],
    )
    def test_bad_arguments(self, make: Callable[[], object], says: str) -> None:
        with pytest.raises(BadArgument, match=says):
            make()
