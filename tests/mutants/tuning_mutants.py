"""Ways to break searches among trainings, sweeps and reports."""

from __future__ import annotations

from tests.mutants.mutant import Mutant
from tests.mutants.training_killers import AUDITED, CHOSEN, IN_TUNING, SCHEDULED, SEARCHED

TUNING = (
    Mutant(
        name="a score without noise",
        trap=CHOSEN,
        path="train/scoring.py",
        old="centred_sum(model, units, self.score) + self.noise.sample(entropy)",
        new="centred_sum(model, units, self.score)",
        killers=(f"{IN_TUNING}test_a_score_has_noise_of_the_stated_deviation",),
    ),
    Mutant(
        name="scores that an exchanged unit moves like one that goes",
        trap=AUDITED,
        path="train/scoring.py",
        old="GRID // 2 if relation is Relation.ADD_REMOVE else GRID",
        new="GRID // 2",
        killers=(f"{IN_TUNING}test_scores_move_by_half_of_the_grid_and_the_worst_unit_does",),
    ),
    Mutant(
        name="a score that is not paid for",
        trap=CHOSEN,
        path="train/candidates.py",
        old="return plan if self.holdout is not None else InTurn(plan, self.score.event(self.relation))",
        new="return plan",
        killers=(f"{IN_TUNING}test_a_run_is_the_training_and_the_score_between_the_neighbours_there_are",),
    ),
    Mutant(
        name="the price of the winner alone",
        trap=CHOSEN,
        path="train/candidates.py",
        old="return self.joined().event_at(1)",
        new="return self.event(self.candidates[0])",
        killers=(f"{IN_TUNING}test_A3_032_and_P3_025_all_candidates_cost_all_of_them",),
    ),
    Mutant(
        name="a public number of runs at the price of a secret one",
        trap=CHOSEN,
        path="combinators/best_of.py",
        old="for _ in range(number.sample(entropy)):",
        new="for _ in range(20):",
        killers=(f"{IN_TUNING}test_P3_030_the_number_of_runs_is_drawn_from_its_law_and_candidates_are_drawn",),
    ),
    Mutant(
        name="a search that broke off and runs again for nothing",
        trap=CHOSEN,
        path="train/searching.py",
        old="        if run.taken:\n",
        new="        if run.taken < 0:\n",
        killers=(f"{IN_TUNING}test_a_session_is_charged_once_before_anything_runs_and_a_broken_search_is_lost",),
    ),
    Mutant(
        name="hyper-parameters that were tuned on the rows, released",
        trap=CHOSEN,
        path="train/trainer.py",
        old="        self.origins.check()\n",
        new="",
        killers=(
            f"{IN_TUNING}test_P3_024_every_hyper_parameter_says_where_it_comes_from_and_unpaid_tuning_is_no_release",
        ),
    ),
    Mutant(
        name="a sweep at the price of its first setting",
        trap=CHOSEN,
        path="train/sweeps.py",
        old="    event = together.event_at(1)\n",
        new="    event = trials.event(trials.candidates[0])\n",
        killers=(
            "tests/unit/train/test_reports.py::"
            "test_P3_041_a_sweep_on_private_rows_pays_for_every_setting_and_shows_no_gap",
        ),
    ),
    Mutant(
        name="a search that takes times for rows",
        trap="C.4 ML: rows of one unit taken for another's",
        path="train/candidates.py",
        old="layout=check_model(model, units.example()),",
        new="layout=__import__('sfumato.train.taps', fromlist=['Layout']).Layout(),",
        killers=(SEARCHED,),
    ),
    Mutant(
        name="a learning rate that no step moves",
        trap="C.4 ML: no data statistics",
        path="train/trainer.py",
        old="[] if scheduler is None else [Scheduled(scheduler)]",
        new="[]",
        killers=(SCHEDULED,),
    ),
)
