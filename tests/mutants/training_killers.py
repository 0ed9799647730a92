"""Tests that notice broken trainings, and traps that stand for them."""

from __future__ import annotations

IN_TRAINING = "tests/unit/train/test_training.py::"
OF_UNITS = "tests/unit/train/test_unit_gradients.py::test_norms_and_sums_are_those_of_units_one_by_one"
BOUND = (f"{IN_TRAINING}test_no_unit_adds_more_than_the_bound_and_the_worst_adds_nearly_as_much",)
AUDITED = "C.1 arXiv 2202.12219: a step whose sensitivity is off"
SAMPLED = "C.1 arXiv 2403.17673: batches accounted as what they are not"
ROUNDED = "tests/exact/test_rounded_gaussian.py::"
EXACT = "tests/unit/train/test_exact_noise.py::"
CORRELATED = "tests/unit/train/test_correlated_noise.py::"
OF_BATCHES = "tests/unit/train/test_batches.py::"
OF_CLIPPING = "tests/unit/train/test_clipping.py::"
OPEN = "tests/unit/train/test_open_ended.py::"
ACCOUNTED = (f"{OF_BATCHES}test_batches_are_accounted_as_they_are_drawn",)
IN_PATE = "tests/unit/train/test_pate.py::"
CHOSEN = "C.1 arXiv 2110.03620: hyper-parameters that cost nothing"
IN_TUNING = "tests/unit/train/test_tuning.py::"
PROMISE = "tests/unit/train/test_audit.py::test_our_trainer_keeps_its_promise"
GUESSES = "tests/unit/test_audit_guesses.py::"
TOGETHER = "tests/unit/train/test_together.py::"
FIRST_STEPS = "tests/unit/train/test_first_steps.py::"
OF_TABLES = "tests/unit/train/test_tables.py::"
SCHEDULED = "tests/unit/train/test_ways.py::test_a_schedule_moves_once_a_step_whoever_was_drawn"
SEARCHED = (
    "tests/unit/train/test_tuning.py::test_a_search_trains_each_candidate_as_private_does_wherever_rows_are_in_a_layer"
)
