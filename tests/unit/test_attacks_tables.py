"""Attacks on tables: reading them, linkage, uniqueness, singling out, local microdata, coarsening, the gallery."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import attacks
from sfumato.attacks import protections
from sfumato.attacks.oracles import Oracle
from sfumato.attacks.tables import kinds, read_table, read_targets, shared_columns
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument

PLAIN = {"age": [31, 40, None], "sex": ["F", "M", "F"]}
KNOWN = ["school", "absences", "G3"]
CELLS = st.sampled_from([0, 1, 2, 1.0, True, False, None, math.nan, "1", "a"])


def same(one: object, other: object) -> bool:
    """Is the rule of equality, in the plainest words, to compare ours with."""
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def students() -> dict[str, object]:
    made = sf.datasets.students()
    return {**made.columns, "failed": made.columns["G3"] < 10}


def trick(protection: object, against: str = "a trick") -> object:
    return lambda secret: Oracle.protected(secret, protection, against=against)  # type: ignore[arg-type]


class TestReading:
    @pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "arrow", "rows", "arrays"])
    def test_every_form_of_a_table_reads_the_same(self, kind: str) -> None:
        made = {
            "mapping": lambda: PLAIN,
            "pandas": lambda: pd.DataFrame({"age": pd.array([31, 40, None], dtype="Int64"), "sex": PLAIN["sex"]}),
            "polars": lambda: pl.DataFrame(PLAIN),
            "arrow": lambda: pa.table(PLAIN),
            "rows": lambda: [dict(zip(PLAIN, row, strict=True)) for row in zip(*PLAIN.values(), strict=True)],
            "arrays": lambda: {name: np.array(column, dtype=object) for name, column in PLAIN.items()},
        }[kind]()
        assert read_table(made).columns == {name: tuple(column) for name, column in PLAIN.items()}

    def test_made_up_data_is_a_table(self) -> None:
        assert read_table(sf.datasets.students()).names == ("school", "famsize", "absences", "G3")

    def test_which_cells_are_the_same(self) -> None:
        held = read_table({"a": [math.nan, float("nan"), Decimal("NaN"), None, True, 1, 1.0, -0.0, 0, "1"]})
        assert list(held.classes(["a"]).values()) == [(0, 1, 2), (3,), (4,), (5, 6), (7, 8), (9,)]

    def test_numbers_beyond_floats_stay_apart(self) -> None:
        assert len(read_table({"a": [2**53 + 1, float(2**53)]}).classes(["a"])) == 2

    @given(st.lists(CELLS, min_size=1, max_size=8))
    def test_classes_agree_with_pairs(self, cells: list[object]) -> None:
        held = read_table({"a": cells})
        classes = held.classes(["a"])
        codes = held.codes("a")
        place = {row: key for key, rows in classes.items() for row in rows}
        for one in range(len(cells)):
            for other in range(len(cells)):
                assert (place[one] == place[other]) == same(cells[one], cells[other]) == (codes[one] == codes[other])

    @pytest.mark.parametrize(
        ("bad", "says"),
        [
            ({}, "at least one column"),
            ([], "at least one row"),
            ({"a": []}, "at least one row"),
            ({"a": [1], "b": [1, 2]}, "columns of one length"),
            ({"a": "xyz"}, "a sequence of cells"),
            ({"a": [[1], [2]]}, "single values"),
            ([{"a": 1}, {"b": 1}], "the same keys"),
            (3, "columns by name, a data frame"),
            (pd.DataFrame([[1, 2]], columns=["a", "a"]), "named once each"),
        ],
        ids=["nothing", "no-rows", "empty", "ragged", "a-text", "lists", "keys", "a-number", "twice"],
    )
    def test_what_is_no_table_is_said(self, bad: object, says: str) -> None:
        with pytest.raises(BadArgument, match=says):
            read_table(bad)

    def test_an_unknown_column_is_named_with_the_nearest(self) -> None:
        with pytest.raises(BadArgument, match=r"one of age, sex, such as 'age'; got 'agee'"):
            read_table(PLAIN).column("agee")

    def test_codes_are_not_labels(self) -> None:
        with pytest.raises(BadArgument, match=r"translate codes into labels first.*numbers here, texts there"):
            attacks.linkage({"sex": [1, 2]}, {"sex": ["F", "M"]})
        with pytest.raises(BadArgument, match="truth values there"):
            attacks.linkage({"ill": [1, 0]}, {"ill": [True, False]})

    def test_nothing_in_common_is_said(self) -> None:
        with pytest.raises(BadArgument, match=r"rename what means the same; got 'zip'"):
            attacks.linkage({"age": [1, 2]}, {"zip": ["02138"]})

    def test_missing_cells_are_of_no_kind(self) -> None:
        assert kinds([None, math.nan]) == frozenset()
        assert kinds([1, 2.5, date(2020, 1, 1)]) == {"numbers", "dates"}
        assert kinds([b"x", True]) == {"other values", "truth values"}
        assert shared_columns(read_table({"a": [None]}), read_table({"a": ["x"]})) == ("a",)

    def test_one_target_is_a_value_for_each_column(self) -> None:
        assert read_targets({"age": 31, "sex": "F"}).columns == {"age": (31,), "sex": ("F",)}


WELD = {
    "birth date": ["1945-07-31"] * 6 + ["1950-01-01"] * 4,
    "sex": ["M", "M", "M", "F", "F", "F", "M", "M", "F", "F"],
    "zip": ["02138", "02139", "02140", "02138", "02139", "02139", "02138", "02138", "02138", "02140"],
    "diagnosis": [f"case {place}" for place in range(10)],
}
GOVERNOR = {"name": "W.", "birth date": "1945-07-31", "sex": "M", "zip": "02138"}


class TestLinkage:
    def test_A1_164_six_share_a_birth_date_three_are_men_one_has_the_zip(self) -> None:
        left = attacks.refined(WELD, GOVERNOR, on=["birth date", "sex", "zip"])
        assert [len(one.found.matches[0].rows) for one in left.attacks] == [6, 3, 1]
        assert [one.success.hits for one in left.attacks] == [0, 0, 1]

    def test_columns_may_come_one_by_one(self) -> None:
        left = attacks.refined(WELD, GOVERNOR, on=iter(["birth date", "sex"]))
        assert [one.against for one in left.attacks] == ["birth date", "birth date + sex"]
        assert [one.against for one in attacks.refined(WELD, GOVERNOR, on="sex").attacks] == ["sex"]

    def test_A3_053_the_record_is_re_identified(self) -> None:
        found = attacks.linkage(WELD, GOVERNOR, sensitive="diagnosis", names="name", truth=[0])
        [match] = found.found.matches
        assert (match.name, match.unique, match.rows, match.chance("case 0")) == ("W.", True, (0,), 1)
        assert found.violation is attacks.Violation.REIDENTIFICATION
        assert (found.success.hits, found.baseline) == (1, 0.1)
        assert found.found.on == ("birth date", "sex", "zip")

    def test_A3_052_three_smokers_of_four_matches(self) -> None:
        table = {"age": [33, 33, 33, 33, 60], "smokes": [True, True, True, False, False]}
        [match] = attacks.linkage(table, {"age": 33}, sensitive="smokes").found.matches
        assert (match.chance(True), match.chance(False), match.chance(1)) == (Fraction(3, 4), Fraction(1, 4), 0)
        assert not match.unique
        assert not match.certain

    def test_a_wrong_unique_match_is_no_success(self) -> None:
        table, known = {"age": [30, 40]}, {"age": [30, 40, 50]}
        assert attacks.linkage(table, known).success == attacks.Success(2, 3)
        assert attacks.linkage(table, known, truth=[0, 0, None]).success == attacks.Success(1, 3)

    def test_the_share_of_the_population_is_kept_apart(self) -> None:
        found = attacks.linkage({"age": [1, 2, 3], "ill": ["a", "a", "b"]}, {"age": 1}, sensitive="ill").found
        assert found.prior == Fraction(2, 3)
        assert found.unique == found.matches

    @given(st.data())
    def test_unique_matches_agree_with_brute_force(self, data: st.DataObject) -> None:
        row = st.tuples(CELLS, CELLS)
        table = data.draw(st.lists(row, min_size=1, max_size=8))
        people = data.draw(st.lists(row, min_size=1, max_size=5))
        columns = [dict(zip("ab", zip(*rows, strict=True), strict=True)) for rows in (table, people)]
        try:
            found = attacks.linkage(*columns)
        except BadArgument:  # kinds that do not meet
            return
        for match, person in zip(found.found.matches, people, strict=True):
            assert match.rows == tuple(place for place, one in enumerate(table) if all(map(same, one, person)))
        assert found.success.hits == sum(match.unique for match in found.found.matches)

    @given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=10), st.tuples(*[st.integers(0, 3)] * 3))
    def test_tolerant_linkage_takes_the_rows_that_agree_most(
        self, table: list[tuple[int, ...]], person: tuple[int, ...]
    ) -> None:
        columns = dict(zip("abc", zip(*table, strict=True), strict=True))
        [match] = attacks.linkage(columns, dict(zip("abc", person, strict=True)), tolerant=True).found.matches
        agreed = [sum(map(int.__eq__, row, person)) for row in table]
        best = max(agreed)
        assert match.rows == (tuple(at for at, many in enumerate(agreed) if many == best) if best else ())

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"on": ["zip"]}, "a column of released must be one of age"),
            ({"on": []}, "one or more columns"),
            ({"on": ["age", "age"]}, "each named once"),
            ({"sensitive": "ill"}, "a column of released"),
            ({"names": "name"}, "a column of known"),
            ({"truth": [0, 1]}, "the row of each target; got '2 for 1 targets'"),
            ({"truth": [9]}, "a row of released, which has 2"),
            ({"truth": [-1]}, "a row in truth"),
            ({"truth": 3}, "the row of each target; got 3"),
            ({"truth": "0"}, "the row of each target; got '0'"),
        ],
        ids=["on", "none", "twice", "sensitive", "names", "length", "late", "negative", "number", "text"],
    )
    def test_bad_arguments(self, arguments: dict[str, object], says: str) -> None:
        with pytest.raises(BadArgument, match=says):
            attacks.linkage({"age": [1, 2]}, {"age": 1}, **arguments)  # type: ignore[arg-type]


class TestUniqueness:
    @given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12))
    def test_every_set_agrees_with_counting(self, rows: list[tuple[int, ...]]) -> None:
        report = attacks.uniqueness(dict(zip("abc", zip(*rows, strict=True), strict=True)), subsets_up_to=3)
        assert len(report.sets) == 7
        for one in report.sets:
            counted = Counter(tuple(row["abc".index(name)] for name in one.columns) for row in rows)
            assert one.sizes == Counter(counted.values())
            assert (one.unique, one.smallest) == (list(counted.values()).count(1), min(counted.values()))
            assert one.share == one.unique / len(rows)

    def test_more_columns_never_tell_fewer_apart(self) -> None:
        report = attacks.uniqueness(students(), ["school", "famsize", "absences", "G3"], subsets_up_to=4)
        shares = [report.of("school").share, report.of("absences", "school").share, report.sets[0].share]
        assert shares == sorted(shares)
        assert report.sets[0].unique == 202

    def test_progress_is_told(self) -> None:
        told: list[tuple[int, int]] = []
        attacks.uniqueness(students(), subsets_up_to=2, progress=lambda done, steps: told.append((done, steps)))
        assert told == [(done, 15) for done in range(1, 16)]

    def test_A3_054_studies_are_cited_as_estimates_and_the_report_is_the_curators(self) -> None:
        assert [one.share for one in attacks.UNIQUENESS_ESTIMATES] == [0.87, 0.63, 0.44]
        sweeney, golle, census = attacks.UNIQUENESS_ESTIMATES
        assert sweeney.attributes == golle.attributes == ("birth date", "sex", "ZIP code")
        assert census.attributes == ("census block", "age", "sex")
        report = attacks.uniqueness(students(), ["school"])
        shown = str(report)
        assert "For the curator only" in shown
        assert "For the curator only" in report._repr_html_()
        assert shown.count("(estimate: ") == 3

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="subsets_up_to"):
            attacks.uniqueness(students(), subsets_up_to=0)
        with pytest.raises(BadArgument, match="a set that was looked at"):
            attacks.uniqueness(students(), ["school"]).of("G3")

    def test_lone_keys_and_predicates(self) -> None:
        table = {"sex": ["F", "F", "M"], "ill": [True, True, False]}
        assert [(one.question, one.row) for one in attacks.lone_keys(table, ["sex"])] == [({"sex": "M"}, 2)]
        predicates = {"well": lambda row: not row["ill"], "ill": lambda row: row["ill"]}
        assert [one.question for one in attacks.lone_keys(table, predicates=predicates)] == ["well"]


class TestSinglingOut:
    def test_exact_answers_tell_and_small_groups_are_asked_around(self) -> None:
        told = attacks.singling_out(students(), on=KNOWN, secret="famsize", value="LE3")
        assert told.success == attacks.Success(138, 138)
        assert told.baseline == pytest.approx(457 / 649)  # so many of all have large families
        for value in ("LE3", "GT3"):
            refused = attacks.singling_out(
                students(),
                on=KNOWN,
                secret="famsize",
                value=value,
                curator=trick(protections.refusing(2)),  # type: ignore[arg-type]
            )
            assert refused.success == attacks.Success(93, 138)  # those of the targets who have large families
            assert refused.advantage < 0

    def test_one_target_is_not_guessed_from_itself(self) -> None:
        clinic = {"age": [31, 31, 40, 52], "smokes": [True, False, True, False]}
        told = attacks.singling_out(clinic, on=["age"], secret="smokes", most=1)
        assert (told.success, told.baseline) == (attacks.Success(1, 1), 0.5)
        stepped = attacks.stepping(Oracle.exact([1, 0, 0, 1]), targets=[0])
        assert (stepped.success, stepped.baseline) == (attacks.Success(1, 1), 0.5)
        curator = trick(protections.refusing(3, empty=False))
        one = attacks.refusals({"age": [20]}, {"age": [20]}, curator=curator)  # type: ignore[arg-type]
        assert (one.success, one.baseline) == (attacks.Success(1, 1), 0.5)
        stated = attacks.refusals({"age": [20]}, {"age": [20]}, curator=curator, baseline="0.01")  # type: ignore[arg-type]
        assert stated.baseline == 0.01
        with pytest.raises(BadArgument, match="baseline must be between 0 and 1"):
            attacks.refusals({"age": [20]}, {"age": [20]}, baseline=2)

    def test_progress_is_told(self) -> None:
        told: list[tuple[int, int]] = []
        attacks.singling_out(
            students(), on=KNOWN, secret="failed", most=3, progress=lambda done, steps: told.append((done, steps))
        )
        attacks.stepping(Oracle.exact([1, 0]), progress=lambda done, steps: told.append((done, steps)))
        assert told == [(1, 3), (2, 3), (3, 3), (1, 2), (2, 2)]

    @pytest.mark.parametrize("k", [2, 5, 50, 648])
    def test_differencing_beats_any_threshold(self, k: int) -> None:
        bits = (np.asarray(students()["famsize"]) == "LE3").astype(int)
        curator = Oracle.protected(bits, protections.refusing(k), against=f"refusal below {k}")
        total = curator.ask(np.ones(len(bits), dtype=bool))
        assert attacks.differencing(curator, total=total).success.rate == 1

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
    def test_A3_067f_whatever_is_known_besides_private_answers_give_no_more(self, epsilon: float) -> None:
        # The attacker knows the bits of everybody else: only the noise is left, and its law does not depend on them.
        source, best = ReplayEntropy(7), math.exp(epsilon) / (1 + math.exp(epsilon))
        for others in (0, 100):
            hits, trials = 0, 1_500
            for trial in range(trials):
                curator = Oracle.private([trial % 2] + [1] * others, epsilon=epsilon, questions=1, entropy=source)
                answer = curator.ask(np.ones(1 + others, dtype=bool))
                hits += (answer - others > 0.5) == (trial % 2)
            low, high = attacks.Success(hits, trials).interval("0.9999")
            assert low <= best <= high

    def test_the_attack_falls_to_guessing_with_epsilon(self) -> None:
        source = ReplayEntropy(3)

        def at(epsilon: float) -> attacks.Attack:
            return attacks.singling_out(
                students(),
                on=KNOWN,
                secret="famsize",
                value="LE3",
                curator=lambda bits: Oracle.private(bits, epsilon=epsilon, questions=1, entropy=source),
            )

        swept = attacks.sweep(at, [0.01, 1, 10])
        assert [one.epsilon for one in swept.attacks] == [0.01, 1, 10]
        weak, middle, strong = (one.success.rate for one in swept.attacks)
        assert weak < 0.62 < middle < 0.85 < strong

    def test_refusing_small_groups_tells_who_is_in(self) -> None:
        # P3-078: an answer of 0 and a refusal are told apart, so a refusal says that somebody is there.
        table, people = {"age": [20, 30, 40, 50]}, {"age": [20, 25, 30, 35, 45, 50]}
        curator = trick(protections.refusing(3, empty=False), "refusal")
        told = attacks.refusals(table, people, curator=curator)  # type: ignore[arg-type]
        assert (told.success, told.violation) == (attacks.Success(6, 6), attacks.Violation.MEMBERSHIP)
        silent = attacks.refusals(table, people, curator=trick(protections.refusing(3)))  # type: ignore[arg-type]
        assert silent.advantage == 0

    def test_private_counts_need_no_refusal(self) -> None:
        source = ReplayEntropy(5)
        people = {"age": [20 + place for place in range(400)]}
        table = {"age": people["age"][::2]}
        hidden = attacks.refusals(
            table, people, curator=lambda ones: Oracle.private(ones, epsilon=0.1, questions=1, entropy=source)
        )
        assert hidden.epsilon == pytest.approx(0.1)
        assert abs(hidden.advantage) < 0.1

    @given(st.lists(st.integers(0, 1), min_size=1, max_size=25), st.integers(1, 8))
    def test_stepping_finds_every_bit_once_a_boundary_is_reached(self, bits: list[int], step: int) -> None:
        rounded = Oracle.protected(bits, protections.rounded(step), against="rounding")
        reached = sum(bits) >= math.ceil(step / 2)
        found = attacks.stepping(rounded)
        assert [one.concluded for one in found.found] == [bool(bit and reached) for bit in bits]

    def test_stepping_beats_a_minimum_count(self) -> None:
        bits = [1, 0, 1, 1, 0, 1, 1]
        assert attacks.stepping(Oracle.protected(bits, protections.thresholded(5), against="")).success.rate == 1

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"on": ["G3", "failed"]}, "without the secret"),
            ({"on": ["school"]}, "tell at least one row apart"),
            ({"secret": "G3", "value": 99}, "no secret"),
            ({"most": 0}, "most"),
        ],
        ids=["secret-known", "nobody-alone", "constant", "most"],
    )
    def test_bad_arguments(self, arguments: dict[str, object], says: str) -> None:
        with pytest.raises(BadArgument, match=says):
            attacks.singling_out(students(), **{"on": ["absences"], "secret": "failed", **arguments})  # type: ignore[arg-type]

    def test_stepping_refuses_other_secrets(self) -> None:
        with pytest.raises(BadArgument, match="bits"):
            attacks.stepping(Oracle.exact([1, 2]))
        with pytest.raises(BadArgument, match="places between 0 and 1"):
            attacks.stepping(Oracle.exact([1, 0]), targets=[2])


BITS = {name: [False, True] for name in "abcdefghij"}


def ten_bits(rows: int = 300) -> dict[str, list[bool]]:
    source = ReplayEntropy(11)
    return {name: [bool(source.bits(1)) for _ in range(rows)] for name in BITS}


class TestLocalMicrodata:
    def test_the_total_is_the_sum_over_columns(self) -> None:
        made = attacks.local_microdata(ten_bits(5), BITS, epsilon=4, entropy=ReplayEntropy(1))
        assert made.epsilon == 4
        assert all(sf.convert(loss, sf.Pure).epsilon == Fraction(2, 5) for loss in made.losses.values())

    def test_numbers_get_noise_and_a_column_without_options_is_left_out(self) -> None:
        made = attacks.local_microdata(
            {"age": [30, 40], "pay": [1.5, 2.5], "name": ["x", "y"]},
            {"age": (18, 100), "pay": (0.0, 10.0)},
            epsilon=2,
            entropy=ReplayEntropy(2),
        )
        assert list(made.columns) == ["age", "pay"]
        assert made.epsilon == 2

    def test_A3_067a_linkage_falls_and_the_error_grows_with_columns(self) -> None:
        table = ten_bits()
        exact = attacks.linkage(table, table, truth=range(300))
        swept = attacks.sweep(
            lambda epsilon: attacks.local_linkage(table, BITS, epsilon=epsilon, entropy=ReplayEntropy(4)), [1, 10, 60]
        )
        rates = [one.success.rate for one in swept.attacks]
        assert rates == sorted(rates)
        assert exact.success.rate > 0.7
        assert rates[0] < 0.03  # one in 300 is guessing
        assert [one.epsilon for one in swept.attacks] == [1, 10, 60]
        costs = attacks.local_costs([1, 10], epsilon=1, people=10_000).costs
        assert costs[1].local_error > 10 * costs[0].local_error
        assert costs[1].local_error > 50 * costs[1].central_error
        assert costs[1].truth == pytest.approx(1 / (1 + math.exp(-0.1)))
        assert costs[1].whole_row == pytest.approx(costs[1].truth ** 10)

    def test_the_likeliest_row_is_found_more_often_than_an_equal_one(self) -> None:
        table = ten_bits()
        equal = attacks.linkage(
            attacks.local_microdata(table, BITS, epsilon=25, entropy=ReplayEntropy(4)), table, truth=range(300)
        )
        likeliest = attacks.local_linkage(table, BITS, epsilon=25, entropy=ReplayEntropy(4))
        assert likeliest.success.hits > equal.success.hits > 50

    def test_numbers_are_linked_to_the_nearest(self) -> None:
        table = {"income": [value * 1000.0 for value in range(10, 60)]}
        public: dict[str, list[Any] | tuple[Any, Any]] = {"income": (0.0, 100_000.0)}
        close = attacks.local_linkage(table, public, epsilon=10_000, entropy=ReplayEntropy(5))
        assert close.success == attacks.Success(50, 50)
        far = attacks.local_linkage(table, public, epsilon="0.01", entropy=ReplayEntropy(5))
        assert far.success.rate < 0.2

    @pytest.mark.parametrize("epsilon", [0.5, 4, 16])
    def test_the_likeliest_row_is_that_of_the_laws(self, epsilon: float) -> None:
        # The likelihood from its definition: log p or log (1 - p) / (k - 1) for lists, -|d| / scale for numbers.
        table = {"ward": list("abcabcab"), "age": [20, 30, 40, 50, 60, 70, 80, 90]}
        public: dict[str, list[Any] | tuple[Any, Any]] = {"ward": ["a", "b", "c"], "age": (18, 100)}
        made = attacks.local_microdata(table, public, epsilon=epsilon, entropy=ReplayEntropy(6))
        found = attacks.local_linkage(table, public, epsilon=epsilon, entropy=ReplayEntropy(6)).found
        each = epsilon / 2
        truth = math.exp(each) / (math.exp(each) + 2)
        for target, match in enumerate(found.matches):
            likelihoods = [
                math.log(truth if ward == table["ward"][target] else (1 - truth) / 2)
                - abs(age - table["age"][target]) * each / 82  # type: ignore[operator]
                for ward, age in zip(made.columns["ward"], made.columns["age"], strict=True)
            ]
            best = max(likelihoods)
            assert match.rows == tuple(
                at for at, one in enumerate(likelihoods) if math.isclose(one, best, abs_tol=1e-9)
            )

    def test_of_equally_likely_rows_one_is_drawn(self) -> None:
        same_for_all = {"ill": [True] * 400}
        found = attacks.local_linkage(same_for_all, {"ill": [False, True]}, epsilon=50, entropy=ReplayEntropy(7))
        assert len(found.found.matches[0].rows) == 400
        hits = [
            attacks.local_linkage({"ill": [True] * 4}, {"ill": [False, True]}, epsilon=50, entropy=ReplayEntropy(seed))
            for seed in range(150)
        ]
        low, high = attacks.Success(sum(one.success.hits for one in hits), 600).interval("0.9999")
        assert low < 0.25 < high  # as often as by guessing

    def test_aggregates_are_recommended(self) -> None:
        costs = attacks.local_costs([1, 2], epsilon=1, people=100)
        assert "Release counts, or synthetic data" in str(costs)
        assert "Release counts, or synthetic data" in costs._repr_html_()

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="a list of values, or a pair of bounds"):
            attacks.local_microdata({"a": [1]}, {"a": (1, 2, 3)}, epsilon=1)  # type: ignore[dict-item]
        with pytest.raises(BadArgument, match="epsilon"):
            attacks.local_microdata({"a": [1]}, {"a": [1, 2]}, epsilon=0)
        with pytest.raises(sf.errors.NotInDomain):
            attacks.local_microdata({"a": [3]}, {"a": [1, 2]}, epsilon=1)


class TestCoarsening:
    SCORES = sf.datasets.CLASSROOM.scores

    def test_a_departure_shifts_the_range(self) -> None:
        found = attacks.departures(self.SCORES, attacks.range_of_mean(5))
        assert {self.SCORES[one.row] for one in found.found} == {89, 92, 95, 100}
        assert all((one.before, one.after) == ((85, 90), (80, 85)) for one in found.found)

    @pytest.mark.parametrize(
        ("publish", "shows"),
        [
            (attacks.range_of_mean(10), 0),  # here nobody's leaving shows; in another class somebody's does
            (attacks.rounded_mean(1), 5),
            (attacks.offset_mean("3.7"), 8),
            (attacks.swapped_mean(), 8),  # two have the mean itself
        ],
        ids=["range", "rounding", "offset", "swapping"],
    )
    def test_coarsening_only_changes_for_whom(self, publish: object, shows: int) -> None:
        assert attacks.departures(self.SCORES, publish).success.hits == shows  # type: ignore[arg-type]

    def test_the_wider_range_shows_in_another_class(self) -> None:
        assert attacks.departures([90, 90, 90, 95, 80, 95], attacks.range_of_mean(10)).success.hits == 2

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="two or more"):
            attacks.departures([1], attacks.rounded_mean(1))
        with pytest.raises(BadArgument, match="width"):
            attacks.range_of_mean(0)

    def test_nothing_published_does_not_change(self) -> None:
        assert attacks.departures([1, 2, 3], lambda values: float("nan")).success.hits == 0
        assert attacks.departures([1, 2, 3], lambda values: np.float64("nan")).success.hits == 0
        several = attacks.departures([1, 2, 3], lambda values: math.nan if len(values) < 3 else 1.0)
        assert several.success.hits == 3


class TestProtections:
    def test_swapping_keeps_every_total_and_most_cells(self) -> None:
        table = {"a": list(range(100)), "b": list(range(100))}
        made = protections.swapped(table, "a", share=0.2, entropy=ReplayEntropy(1))
        assert sorted(made.columns["a"]) == table["a"]
        assert sum(one != other for one, other in zip(made.columns["a"], table["a"], strict=True)) == 20

    def test_columns_may_have_any_name(self) -> None:
        made = protections.swapped({"self": [1, 2]}, "self", share=1, entropy=ReplayEntropy(1))
        assert sorted(made.columns["self"]) == [1, 2]  # type: ignore[type-var]

    def test_a_refusal_stays_a_refusal_under_noise(self) -> None:
        groups, answers = np.zeros((3, 2), dtype=bool), np.array([math.nan, 5.0, math.nan])
        noisy = protections.noised(1, entropy=ReplayEntropy(2))(groups, answers)
        assert np.isnan(noisy).tolist() == [True, False, True]
        assert np.isnan(protections.noised(1)(groups[:1], answers[:1])).all()

    def test_a_sample_keeps_rows_whole(self) -> None:
        made = protections.sampled({"a": list(range(50)), "b": list(range(50))}, share=0.3, entropy=ReplayEntropy(1))
        assert len(made) == 15
        assert made.columns["a"] == made.columns["b"]

    def test_every_row_is_drawn_as_often(self) -> None:
        source = ReplayEntropy(1)
        drawn = Counter(
            cell
            for _ in range(600)
            for cell in protections.sampled({"a": [0, 1, 2, 3]}, share=0.5, entropy=source).columns["a"]
        )
        assert sum(drawn.values()) == 1200
        assert all(250 < count < 350 for count in drawn.values())  # 300 ± 4 standard deviations

    def test_answers(self) -> None:
        groups, answers = np.array([[True, False, False], [True, True, True], [False] * 3]), np.array([1.0, 7.0, 0.0])
        assert protections.rounded(5)(groups, answers).tolist() == [0, 5, 0]
        assert protections.offset(3)(groups, answers).tolist() == [4, 10, 3]
        assert protections.thresholded(5)(groups, answers).tolist() == [0, 7, 0]
        assert np.isnan(protections.refusing(2)(groups, answers)).tolist() == [True, False, True]
        assert np.isnan(protections.refusing(2, empty=False)(groups, answers)).tolist() == [True, False, False]
        assert protections.aggregates_only()(groups, answers).tolist() == [1, 7, 0]

    def test_bad_arguments(self) -> None:
        with pytest.raises(BadArgument, match="fewer than all"):
            protections.without_columns({"a": [1]}, "a")
        with pytest.raises(BadArgument, match="share"):
            protections.sampled({"a": [1]}, share=2)
        with pytest.raises(BadArgument, match="k must be"):
            protections.refusing(0)

    def test_every_protection_of_the_gallery_is_defeated(self) -> None:
        assert len(attacks.GALLERY) == 10
        for one in attacks.GALLERY:
            outcome = one.run(ReplayEntropy(1))
            assert outcome.advantage > 0.04, one.name
            assert outcome.success.hits > 0, one.name


def test_A3_069_the_history_names_what_was_released_and_where_it_is_told() -> None:
    by_name = {one.name: one for one in attacks.FAILED_ANONYMISATIONS}
    aol = by_name["AOL search logs"]
    assert aol.year == 2006
    assert aol.released == "20 million queries of more than 650,000 users over 3 months"
    assert (
        "6 people had his birth date, 3 of them were men" in by_name["Massachusetts Group Insurance Commission"].outcome
    )
    assert "52 million" in by_name["US census of 2010"].outcome
    assert all(one.source and one.protection for one in attacks.FAILED_ANONYMISATIONS)


# P3-073: one attack against exact answers, a trick, and differential privacy


def linked() -> attacks.Comparison:
    table = {name: students()[name] for name in ("school", "famsize", "absences", "G3")}
    options: dict[str, Any] = {name: sorted(set(np.asarray(column).tolist())) for name, column in table.items()}
    return attacks.before_and_after(
        lambda released: attacks.linkage(released, table, truth=range(649)),
        exact=read_table(table),
        protections={"swapping": protections.swapped(table, "absences", share=0.1, entropy=ReplayEntropy(1))},
        private=lambda epsilon: read_table(
            attacks.local_microdata(table, options, epsilon=epsilon, entropy=ReplayEntropy(2))
        ),
        epsilons=(0.1,),
    )


def singled_out() -> attacks.Comparison:
    source = ReplayEntropy(3)
    return attacks.before_and_after(
        lambda curator: attacks.singling_out(students(), on=KNOWN, secret="famsize", value="LE3", curator=curator),
        exact=Oracle.exact,
        protections={"aggregates only": trick(protections.aggregates_only())},  # type: ignore[dict-item]
        private=lambda epsilon: lambda bits: Oracle.private(bits, epsilon=epsilon, questions=1, entropy=source),
        epsilons=(0.1,),
    )


SECRET = [int(family == "LE3") for family in np.asarray(students()["famsize"])[:100].tolist()]


def differenced() -> attacks.Comparison:
    return attacks.before_and_after(
        lambda curator: attacks.differencing(curator, entropy=ReplayEntropy(4)),
        exact=Oracle.exact(SECRET),
        protections={"refusal": Oracle.protected(SECRET, protections.refusing(5), against="refusal")},
        private=lambda epsilon: Oracle.private(SECRET, epsilon=epsilon, questions=200, entropy=ReplayEntropy(5)),
        epsilons=(0.1,),
    )


def reconstructed() -> attacks.Comparison:
    groups = attacks.random_queries(100, 300, entropy=ReplayEntropy(6))
    return attacks.before_and_after(
        lambda curator: attacks.reconstruction(curator.ask_all(groups), groups, secret=SECRET),
        exact=Oracle.exact(SECRET),
        protections={"rounding": Oracle.protected(SECRET, protections.rounded(5), against="rounding")},
        private=lambda epsilon: Oracle.private(SECRET, epsilon=epsilon, questions=300, entropy=ReplayEntropy(7)),
        epsilons=(0.1,),
    )


def traced() -> attacks.Comparison:
    return attacks.before_and_after(
        lambda release: attacks.tracing_experiment(
            release, members=2, attributes=500, rounds=20, entropy=ReplayEntropy(8)
        ),
        exact=attacks.exact_means,
        protections={"rounding": lambda rows: np.round(rows.mean(axis=0), 1)},
        private=lambda epsilon: attacks.private_means(epsilon, entropy=ReplayEntropy(9)),
        epsilons=(0.1,),
    )


def classed() -> attacks.Comparison:
    quasi = ["school", "famsize", "absences"]
    table = {name: students()[name] for name in (*quasi, "failed")}
    rules: dict[str, attacks.Rule] = {
        "school": attacks.Prefix(0),
        "famsize": attacks.Prefix(0),
        "absences": attacks.Bands(2, 5, 10),
    }
    made = attacks.generalise(table, 3, rules, suppress="0.02")
    truth = np.asarray(table["failed"]).tolist()
    options: dict[str, Any] = {name: sorted(set(np.asarray(column).tolist())) for name, column in table.items()}

    def private(epsilon: float) -> tuple[object, list[bool]]:
        return attacks.local_microdata(table, options, epsilon=epsilon, entropy=ReplayEntropy(10)), truth

    return attacks.before_and_after(
        lambda released: attacks.homogeneity(released[0], quasi, sensitive="failed", truth=released[1]),
        exact=(table, truth),
        protections={"3-anonymity": (made, np.delete(truth, made.suppressed).tolist())},
        private=private,
        epsilons=(0.1,),
    )


@pytest.mark.parametrize(
    ("compared", "exact", "tricked"),
    [
        (linked, 0.3, 0.2),
        (singled_out, 1, 1),
        (differenced, 1, 1),
        (reconstructed, 1, 0.95),
        (traced, 1, 0.9),
        (classed, 0.09, 0.045),
    ],
    ids=["linkage", "singling-out", "differencing", "reconstruction", "tracing", "k-anonymity"],
)
def test_P3_073_each_attack_before_and_after(
    compared: Callable[[], attacks.Comparison], exact: float, tricked: float
) -> None:
    before, trusted, private = compared().attacks
    assert before.success.rate >= exact
    assert trusted.success.rate >= tricked
    assert min(before.advantage, trusted.advantage) > 0
    assert private.against == "ε = 0.1"
    # nothing is left of the attack: guessing lies in the interval of the success, or above it
    assert private.success.interval("0.999")[0] <= private.baseline
    assert private.success.rate < trusted.success.rate
