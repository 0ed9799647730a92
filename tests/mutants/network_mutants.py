"""Ways to break MWEM and PrivBayes: scores that move further than is said, rounds that cost more."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SCORES, ROUNDS = "tests/exact/test_dependence.py", "tests/exact/test_mwem.py"

NETWORKS = (
    Mutant(
        name="half the sensitivity of a departure",
        trap="PrivBayes: the product of the sides moves as well as the table",
        path="transforms/dependence.py",
        old="return 2 * UNIT",
        new="return UNIT",
        killers=(f"{SCORES}::test_a_row_moves_a_departure_by_less_than_two_and_by_all_that_so_few_rows_can",),
    ),
    Mutant(
        name="bits of rows beyond the stated number forgotten",
        trap="spec P3-056: a public bound on rows that data need not keep",
        path="transforms/dependence.py",
        old="int(self._sums[known].sum()) + beyond * int(self.steps[-1])",
        new="int(self._sums[known].sum()) + 0 * beyond",
        killers=(f"{SCORES}::test_a_row_moves_shared_bits_by_no_more_than_stated_also_beyond_the_stated_rows",),
    ),
    Mutant(
        name="counts below nothing in scores",
        trap="C.1: a map that holds for the data one thinks of",
        path="transforms/dependence.py",
        old="table = np.maximum(exact[start:end], 0)",
        new="table = exact[start:end]",
        killers=(f"{SCORES}::test_negative_counts_count_as_none_and_huge_ones_are_exact",),
    ),
    Mutant(
        name="one side of the range of dependence",
        trap="scores of which one rises while another falls",
        path="transforms/dependence.py",
        old="sides = 2 if isinstance(metric, Range) else 1",
        new="sides = 1",
        killers=(f"{SCORES}::test_a_range_is_priced_for_scores_that_go_both_ways",),
    ),
    Mutant(
        name="errors of cells that move one way",
        trap="P3-050: |q(A) − q(x)| rises for one query and falls for another",
        path="transforms/cells.py",
        old="Space(Vector(Integers(step=Fraction(1, STEPS)), size), LInf()),",
        new="Space(Vector(Integers(step=Fraction(1, STEPS)), size), LInf(monotonic=True)),",
        killers=(
            f"{ROUNDS}::test_the_law_of_a_choice_keeps_its_loss_and_comes_near_it",
            f"{ROUNDS}::test_A3_041_each_choice_and_each_answer_cost_a_twentieth_of_a_tenth",
        ),
    ),
    Mutant(
        name="rounds for half their price",
        trap="P3-052: 2 T releases, and not T",
        path="synth/mwem_rounds.py",
        old="self._each = loss.scaled(Fraction(1, 2 * self._rounds))",
        new="self._each = loss.scaled(Fraction(1, self._rounds))",
        killers=(f"{ROUNDS}::test_rounds_cost_the_stated_loss",),
    ),
    Mutant(
        name="a table that is compared with itself",
        trap="E3-09: one sweep, whatever the answers",
        path="synth/multiplicative.py",
        old="before = moved.copy()",
        new="before = moved",
        killers=("tests/unit/synth/test_mwem.py::test_A3_040_sweeps_go_on_until_the_table_stands_still_E3_09",),
    ),
    Mutant(
        name="several tables at the price of one",
        trap="P3-045: m marginals have joint sensitivity m",
        path="transforms/contingency.py",
        old="return times(d_in, tables if isinstance(metric, L1) else root(tables))",
        new="return times(d_in, 1 if isinstance(metric, L1) else root(tables))",
        killers=("tests/exact/test_contingency.py::test_some_tables_side_by_side_move_as_far_as_the_map_says",),
    ),
    Mutant(
        name="weighted misfits at the least weight",
        trap="A3: hand-typed sensitivity",
        path="transforms/contingency.py",
        old="        most = max(weighed)\n",
        new="        most = min(weighed)\n",
        killers=("tests/exact/test_contingency.py::test_misfits_move_by_at_most_the_largest_weight_and_reach_it",),
    ),
    Mutant(
        name="people with several rows at the price of one",
        trap="P3-045: the unit is a person, not a row",
        path="query/plan/marginals.py",
        old="lambda d_in: units_moved(d_in, self.most),",
        new="lambda d_in: units_moved(d_in, Fraction(1)),",
        killers=("tests/unit/synth/test_methods.py::test_noise_grows_with_the_rows_of_a_person",),
    ),
    Mutant(
        name="questions beyond the whole loss",
        trap="A8: hidden spend",
        path="synth/asking.py",
        old="        if loss.amounts[0] > self.left.amounts[0]:\n",
        new="        if not loss.amounts[0]:\n",
        killers=("tests/unit/synth/test_methods.py::test_questions_stop_where_the_loss_ends",),
    ),
)
