"""Ways to break how people come in: tables, estimators, files."""

from __future__ import annotations

from tests.mutants.mutant import Mutant
from tests.mutants.training_killers import AUDITED, FIRST_STEPS, OF_TABLES

TRAINING_DOORS = (
    Mutant(
        name="a loss that mixes rows",
        trap=AUDITED,
        path="train/guards.py",
        old="if not bool((one - other).abs() <= CLOSE",
        new="if False and not bool((one - other).abs() <= CLOSE",
        killers=(f"{FIRST_STEPS}test_a_loss_that_mixes_rows_is_found_on_made_up_ones_before_the_first_step",),
    ),
    Mutant(
        name="steps on batches of a loader",
        trap="C.4 ML: the loop trains on the loader that was not replaced",
        path="train/guards.py",
        old="        if not self._stepping:\n",
        new="        if False:\n",
        killers=(f"{FIRST_STEPS}test_P3_036_training_beside_the_batches_is_refused",),
    ),
    Mutant(
        name="parameters that were set free have gradients without noise",
        trap=AUDITED,
        path="train/guards.py",
        old="if len(now) != len(self._known) or any(",
        new="if False and any(",
        killers=(f"{FIRST_STEPS}test_a_model_that_was_changed_since_is_refused_before_a_batch",),
    ),
    Mutant(
        name="a step that was left is added to the next one",
        trap=AUDITED,
        path="train/trainer.py",
        old="self._chunk, self._sums, self._begun = None, {}, None",
        new="self._chunk, self._begun = None, None",
        killers=(f"{FIRST_STEPS}test_a_step_that_was_left_adds_nothing_to_the_next_one",),
    ),
    Mutant(
        name="a row of no class pulls at the first one",
        trap="C.4 ML: no data statistics",
        path="train/losses.py",
        old=".masked_fill(strange, 0)).masked_fill(strange, 0.0)",
        new=".masked_fill(strange, 0))",
        killers=(f"{FIRST_STEPS}test_a_row_whose_label_is_no_class_adds_nothing_where_nobody_looked_at_labels_before",),
    ),
    Mutant(
        name="a training that is resumed takes steps again",
        trap="C.4 accounting: what ran is what was paid",
        path="train/trainer.py",
        old='self.taken = max(before, int(held["taken"]))',
        new='self.taken = int(held["taken"])',
        killers=("tests/faults/test_killed_training.py",),
    ),
    Mutant(
        name="several rows of a person cost as much as one",
        trap="C.4 accounting: what ran is what was paid",
        path="train/measured.py",
        old="return Repeat(Gaussian(multiplier, units), batches.steps)",
        new="return batches.event(Gaussian(multiplier))",
        killers=(
            "tests/unit/train/test_estimators.py::test_where_rows_are_units_several_of_a_person_cost_as_much_more",
        ),
    ),
    Mutant(
        name="rows whose owners are mistaken",
        trap=AUDITED,
        path="query/plan/owned_rows.py",
        old="OWNER: [name for name, many in",
        new="OWNER: [0 for name, many in",
        killers=(f"{OF_TABLES}test_removing_a_person_removes_one_owner_and_changes_no_other_row",),
    ),
    Mutant(
        name="rows of a table for whoever asks",
        trap="C.4 data only behind a permit",
        path="train/tables.py",
        old="if kept and kept[0][0] is data:",
        new="if kept:",
        killers=(f"{OF_TABLES}test_no_attribute_of_a_training_leads_to_rows_also_after_it_broke_off",),
    ),
)
