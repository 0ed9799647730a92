"""Ways to break networks that make up rows."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FOLDER = "tests/unit/synth/neural/test_private_games.py::"
HOME = "synth/neural/"

NEURAL = (
    Mutant(
        name="a discriminator that sees rows unclipped",
        trap="C.1 arXiv 2202.12219: a step whose sensitivity is off",
        path=f"{HOME}private_game.py",
        old="network, opened.units(), self.plan, optimizer",
        new="network, opened.units(), TrainingPlan(self.batches, Flat(100 * self.plan.clipping.bound), "
        "self.plan.multiplier / 100, self.plan.relation), optimizer",
        killers=(f"{FOLDER}test_no_row_moves_the_discriminator_by_more_than_the_bound",),
    ),
    Mutant(
        name="conditions by exact counts",
        trap="C.4 noise: what is released has noise",
        path=f"{HOME}statistics.py",
        old="noisy = exact_add(np.concatenate(exact), self.noise.samples(sum(self.sizes), entropy))",
        new="noisy = np.concatenate(exact)",
        killers=(f"{FOLDER}test_counts_have_their_noise_on_every_cell_and_no_exact_count_leaves",),
    ),
    Mutant(
        name="counts of which only one column is paid for",
        trap="C.1 arXiv 2202.12219: a step whose sensitivity is off",
        path=f"{HOME}statistics.py",
        old="root(moved * moved * columns)",
        new="root(moved * moved)",
        killers=(f"{FOLDER}test_counts_move_by_the_root_of_the_number_of_columns_for_each_row",),
    ),
    Mutant(
        name="counts that are not charged",
        trap="C.4 accounting: all that looks at the data is charged",
        path=f"{HOME}private_game.py",
        old="    return steps if statistics is None else Sequence(statistics.event(units), steps)\n\n\n@guarantee",
        new="    return steps\n\n\n@guarantee",
        killers=(f"{FOLDER}test_counts_and_steps_together_keep_the_loss_and_use_it_up",),
    ),
    Mutant(
        name="teachers that share rows",
        trap="C.4 ML: one unit reaches one teacher",
        path=f"{HOME}teacher_networks.py",
        old="np.flatnonzero(of == teacher)",
        new="np.flatnonzero(of != teacher)",
        killers=(f"{FOLDER}test_P3_063_parts_are_disjoint_and_all_rows_of_a_person_have_one_teacher",),
    ),
    Mutant(
        name="teachers that draw from all rows",
        trap="C.4 ML: one unit reaches one teacher",
        path=f"{HOME}teacher_networks.py",
        old="places[teacher] = own[np.minimum((shares[teacher] * len(own)).astype(np.int64), len(own) - 1)]",
        new="places[teacher] = (shares[teacher] * len(self._opened.codes)).astype(np.int64)",
        killers=(f"{FOLDER}test_a_teacher_learns_from_its_own_rows_and_from_no_others",),
    ),
    Mutant(
        name="votes that are counted without noise",
        trap="C.4 noise: what is released has noise",
        path=f"{HOME}voting_game.py",
        old="torch.from_numpy(aggregator.choose(teachers.votes(rows), entropy)).float()",
        new="torch.from_numpy(teachers.votes(rows).argmax(axis=1)).float()",
        killers=(f"{FOLDER}test_labels_are_made_of_votes_with_noise",),
    ),
)
