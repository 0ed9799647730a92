"""Ways to break private training, each a mistake that was made somewhere."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

IN_TRAINING = "tests/unit/train/test_training.py::"
OF_UNITS = "tests/unit/train/test_unit_gradients.py::test_norms_and_sums_are_those_of_units_one_by_one"
BOUND = (f"{IN_TRAINING}test_no_unit_adds_more_than_the_bound_and_the_worst_adds_nearly_as_much",)
AUDITED = "C.1 arXiv 2202.12219: a step whose sensitivity is off"
SAMPLED = "C.1 arXiv 2403.17673: batches accounted as what they are not"

TRAINING = (
    Mutant(
        name="gradients that are only ever lengthened",
        trap=AUDITED,
        path="train/clipping.py",
        old="_known(torch.clamp(SLACK * self.bound / norms, max=1.0), norms)",
        new="_known(torch.clamp(SLACK * self.bound / norms, min=1.0), norms)",
        killers=BOUND,
    ),
    Mutant(
        name="gradients that are multiplied instead of divided",
        trap=AUDITED,
        path="train/clipping.py",
        old="(norms + self.stability)",
        new="(norms * self.stability)",
        killers=BOUND,
    ),
    Mutant(
        name="layers that each have the whole bound",
        trap=AUDITED,
        path="train/clipping.py",
        old="each = SLACK * self.bound / math.sqrt(len(squared))",
        new="each = SLACK * self.bound",
        killers=BOUND,
    ),
    Mutant(
        name="norms without the bias",
        trap=AUDITED,
        path="train/layers/products.py",
        old="return norms + _of_bias(back) if bias else norms",
        new="return norms",
        killers=(OF_UNITS,),
    ),
    Mutant(
        name="norms that trust floats where large parts cancel",
        trap="C.1 arXiv 2207.10635: sensitivity of floats",
        path="train/layers/products.py",
        old="    off = (positions + wide + out) * _unsure(back)\n",
        new="    off = 0\n",
        killers=(f"{IN_TRAINING}test_large_parts_that_cancel_hide_nothing",),
    ),
    Mutant(
        name="shared parameters counted apart",
        trap=AUDITED,
        path="train/unit_gradients.py",
        old="count[place.parameter][place] == 1",
        new="count[place.parameter][place] >= 1",
        killers=(OF_UNITS,),
    ),
    Mutant(
        name="frozen parameters that hide what is trained",
        trap=AUDITED,
        path="train/unit_gradients.py",
        old="if not self._is_trained(call, place):",
        new="if self._is_trained(call, place):",
        killers=(OF_UNITS,),
    ),
    Mutant(
        name="rows of a person clipped one by one",
        trap=AUDITED,
        path="train/trainer.py",
        old="clipped_sum(self._notes, chunk.units, self._clipper)",
        new="clipped_sum(self._notes, len(chunk.weights), self._clipper)",
        killers=(f"{IN_TRAINING}test_a_person_with_many_rows_adds_no_more_than_one_with_one",),
    ),
    Mutant(
        name="noise without the bound",
        trap=AUDITED,
        path="train/clipping.py",
        old="return self._multiplier * self._clipping.bound",
        new="return self._multiplier",
        killers=(f"{IN_TRAINING}test_a_step_divides_by_the_expected_batch_and_has_noise_of_the_stated_size",),
    ),
    Mutant(
        name="steps without noise",
        trap="C.1 arXiv 2602.17454: a noise scale that collapses to 0",
        path="train/noise.py",
        old="noise = flat.view(parameter.shape).to(parameter)",
        new="noise = torch.zeros_like(parameter)",
        killers=(f"{IN_TRAINING}test_a_step_divides_by_the_expected_batch_and_has_noise_of_the_stated_size",),
    ),
    Mutant(
        name="sums divided by how many there are",
        trap="C.4 ML: divide by the expected batch size",
        path="train/trainer.py",
        old="expected = float(self.plan.batches.expected)",
        new="expected = float(self._units.count)",
        killers=(f"{IN_TRAINING}test_a_step_divides_by_the_expected_batch_and_has_noise_of_the_stated_size",),
    ),
    Mutant(
        name="units drawn twice as often as accounted",
        trap=SAMPLED,
        path="train/batches.py",
        old="np.flatnonzero(Bernoulli(self.rate).samples(units, entropy))",
        new="np.flatnonzero(Bernoulli(min(2 * self.rate, Fraction(1))).samples(units, entropy))",
        killers=(f"{IN_TRAINING}test_batches_are_drawn_at_their_rate_and_fixed_ones_have_their_size",),
    ),
    Mutant(
        name="batches of one size accounted as Poisson",
        trap=SAMPLED,
        path="train/batches.py",
        old="Sampled(noise, WithoutReplacement(self.batch, self.size))",
        new="Sampled(noise, Poisson(Fraction(self.batch, self.size)))",
        killers=(f"{IN_TRAINING}test_batches_are_drawn_at_their_rate_and_fixed_ones_have_their_size",),
    ),
    Mutant(
        name="batches cut in order",
        trap=SAMPLED,
        path="train/batches.py",
        old="np.sort(permutation(units, entropy=entropy)[: self.batch])",
        new="np.arange(self.batch)",
        killers=(f"{IN_TRAINING}test_batches_are_drawn_at_their_rate_and_fixed_ones_have_their_size",),
    ),
    Mutant(
        name="one step too many",
        trap="C.4 accounting: what ran is what was paid",
        path="train/trainer.py",
        old="while self.taken < self.plan.steps:",
        new="while self.taken <= self.plan.steps:",
        killers=(f"{IN_TRAINING}test_a_plan_is_calibrated_and_its_event_has_what_runs",),
    ),
    Mutant(
        name="one step charged for all",
        trap="C.4 accounting: what ran is what was paid",
        path="train/start.py",
        old="return session.start(plan.event(), ",
        new="return session.start(plan.event(1), ",
        killers=(f"{IN_TRAINING}test_a_session_is_charged_before_the_first_batch_and_counts_steps",),
    ),
    Mutant(
        name="rows that are mixed are not looked for",
        trap="C.4 ML: no data statistics",
        path="train/checks.py",
        old="return bool(apart <= CLOSE",
        new="return True or bool(apart <= CLOSE",
        killers=(f"{IN_TRAINING}test_a_model_that_mixes_rows_in_its_own_way_is_found",),
    ),
)
