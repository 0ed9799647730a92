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
)
