"""Ways to break local privacy: what devices send, what is made of it, and what a shuffler is said to buy."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LOSS_KEPT = "tests/exact/test_local.py::test_the_loss_is_kept_and_reached"
MANY_ALIKE = "tests/exact/test_local.py::test_many_at_once_follow_the_law_of_one"
EVERY = "tests/unit/local/test_every_protocol.py::"
EXAMPLES = "tests/exact/test_shuffled_examples.py::"
PROTOCOLS = "tests/exact/test_shuffle_protocols.py::"
SHUFFLING = "tests/unit/local/test_shuffling.py::"
PLACES = "tests/unit/local/test_places.py::"

LOCAL = (
    Mutant(
        name="a chance of the truth that is rounded up",
        trap="a report that loses more than it says, by a rounding",
        path="local/chances.py",
        old="math.floor(Fraction(lower(compute)) * WHOLE)",
        new="math.ceil(Fraction(upper(compute)) * WHOLE)",
        killers=(f"{LOSS_KEPT}[response, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="a chance of a lie that is rounded down",
        trap="a report that loses more than it says, by a rounding",
        path="local/chances.py",
        old="math.ceil(Fraction(upper(compute)) * WHOLE)",
        new="math.floor(Fraction(lower(compute)) * WHOLE)",
        killers=(f"{LOSS_KEPT}[optimized unary encoding, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="a bit of the value that is thrown twice",
        trap="the law of a device is not the one that was proved",
        path="local/device/choices.py",
        old='coins.many(recipe["bits"], recipe["lie"]) & ~(1 << value)',
        new='coins.many(recipe["bits"], recipe["lie"])',
        killers=(f"{LOSS_KEPT}[optimized unary encoding, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="a bit of the value that is thrown twice in arrays",
        trap="many at once have another law than one",
        path="local/unary.py",
        old="(words[rows, columns] & ~own) |",
        new="words[rows, columns] |",
        killers=(f"{MANY_ALIKE}[optimized unary encoding, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="one seed for all devices",
        trap="a hash function that is not drawn anew",
        path="local/hashing.py",
        old="seeds = below_many(self.seeds, count=len(inputs), entropy=entropy)",
        new="seeds = np.repeat(below_many(self.seeds, count=1, entropy=entropy), len(inputs))",
        killers=(f"{MANY_ALIKE}[local hashing, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="a lie that is never the last value",
        trap="the law of a device is not the one that was proved",
        path="local/device/choices.py",
        old='coins.below(recipe["cells"])',
        new='coins.below(recipe["cells"] - 1)',
        killers=("tests/exact/test_local.py::test_support_has_the_chances_that_estimates_use[response-3]",),
    ),
    Mutant(
        name="a coin that also falls heads at its weight",
        trap="a chance that is off by one part",
        path="local/device/coins.py",
        old=">> 3 < weight",
        new=">> 3 <= weight",
        killers=("tests/exact/test_local.py::test_coins_of_octets_compare_53_bits[1]",),
    ),
    Mutant(
        name="the least loss of the questions",
        trap="a report on one of several questions may be on the one that tells most",
        path="local/one_of.py",
        old="return Pure(max(part.loss.epsilon",
        new="return Pure(min(part.loss.epsilon",
        killers=(f"{LOSS_KEPT}[one of three questions]",),
    ),
    Mutant(
        name="questions without their weights",
        trap="the law of a device is not the one that estimates use",
        path="local/device/compound.py",
        old='    for weight, part, own in zip(recipe["weights"],',
        new='    for weight, part, own in zip(sorted(recipe["weights"]),',
        killers=(f"{MANY_ALIKE}[one of three questions]",),
    ),
    Mutant(
        name="messages of any protocol",
        trap="reports are read by parameters with which they were not made",
        path="local/reports.py",
        old="own = np.all(rows[:, :HEAD] == np.frombuffer(head, dtype=np.uint8), axis=1)",
        new="own = rows[:, 0] == head[0]",
        killers=(
            f"{EVERY}test_messages_of_single_devices_are_counted_and_foreign_ones_are_not"
            "[response, 3 values, epsilon 1]",
        ),
    ),
    Mutant(
        name="bits beyond the last one",
        trap="a message that no device could have sent is counted",
        path="local/reports.py",
        old="good &= own[:, -1] >> np.uint64(layout.bits % 64) == 0",
        new="good &= own[:, -1] >> np.uint64(layout.bits % 64) >= 0",
        killers=("tests/unit/local/test_frequencies.py::test_what_no_device_sent_is_rejected_and_counted",),
    ),
    Mutant(
        name="the two chances exchanged in the estimate",
        trap="an estimate with a bias",
        path="local/frequency.py",
        old="self.support.astype(np.float64) - float(self.users * other)",
        new="self.support.astype(np.float64) - float(self.users * truth)",
        killers=("tests/unit/local/test_frequencies.py::test_counts_of_a_table_that_nobody_here_made[response]",),
    ),
    Mutant(
        name="own sets of bits that have more in common than they do",
        trap="reports hide each other less than is said",
        path="accounting/events/hiding.py",
        old="return cls(own, share=share, overlap=share * share)",
        new="return cls(own, share=share, overlap=share)",
        killers=(f"{EXAMPLES}test_examples_hide_as_well_as_they_say[optimized unary encoding, 3 values, epsilon 1]",),
    ),
    Mutant(
        name="questions that all reports hide",
        trap="reports hide each other less than is said",
        path="accounting/events/hiding.py",
        old="(share * hide, share * one, share * other) for share",
        new="(hide / 2, share * one, share * other) for share",
        killers=(f"{EXAMPLES}test_several_questions_hide_as_well_as_they_say[one of two, seldom]",),
    ),
    Mutant(
        name="the largest loss of all questions together",
        trap="losses of one report add up",
        path="accounting/events/hiding.py",
        old="return sum((part.epsilon0 for part in self.parts), Fraction(0))",
        new="return max(part.epsilon0 for part in self.parts)",
        killers=(f"{EXAMPLES}test_several_questions_hide_as_well_as_they_say[all of two]",),
    ),
    Mutant(
        name="a report that hides itself",
        trap="n others where there are n - 1",
        path="accounting/amplify/blanket.py",
        old="Hidden(epsilon0, reports - 1, least)",
        new="Hidden(epsilon0, reports, least)",
        killers=("tests/exact/test_shuffle.py::test_one_report_is_randomized_response_itself",),
    ),
    Mutant(
        name="a sum without its tilt",
        trap="an integral along a line is weighed by where the line lies",
        path="accounting/amplify/tilted_sum.py",
        old="/ (2 * arb.pi() * count * tilt)",
        new="/ (2 * arb.pi() * count)",
        killers=(f"{PROTOCOLS}test_the_tilted_sum_is_the_sum_one_by_one[100-epsilon0]",),
    ),
    Mutant(
        name="a line that is cut after its first points",
        trap="what is left out is bounded, not forgotten",
        path="accounting/amplify/tilted_sum.py",
        old="np.arange(1, math.ceil(REACH / (self.noise * self.step)) + 1, dtype=np.float64)",
        new="np.arange(1, 2, dtype=np.float64)",
        killers=(f"{PROTOCOLS}test_the_tilted_sum_is_the_sum_one_by_one[100-epsilon0]",),
    ),
    Mutant(
        name="the first local loss that was too much",
        trap="a search hands back what it did not check",
        path="accounting/amplify/local_search.py",
        old="    return low  # always a point that was checked",
        new="    return high  # always a point that was checked",
        killers=(f"{SHUFFLING}test_calibrated_protocols_keep_the_central_loss[20000]",),
    ),
    Mutant(
        name="people who tell what they sent, counted on",
        trap="only honest reports hide",
        path="local/shuffling.py",
        old="shuffled_epsilon(local if hiding is None else hiding, reports=self.honest, delta=delta)",
        new="shuffled_epsilon(local if hiding is None else hiding, reports=self.users, delta=delta)",
        killers=(f"{SHUFFLING}test_only_honest_reports_hide",),
    ),
    Mutant(
        name="several questions at the price of one",
        trap="the same people answer all of them",
        path="local/shuffling.py",
        old="plan = events.Sequence(*(one.event for one in questions))",
        new="plan = events.Parallel(*(one.event for one in questions))",
        killers=(f"{SHUFFLING}test_several_questions_compose_and_cost_less_than_their_sum",),
    ),
    Mutant(
        name="noise in metres on a grid of cells",
        trap="a rate for one unit of length, noise in another",
        path="local/place_reports.py",
        old="return PlanarLaplace(self.epsilon * self.grid.step)",
        new="return PlanarLaplace(self.epsilon)",
        killers=(f"{PLACES}test_the_mean_error_is_what_happens",),
    ),
    Mutant(
        name="places that are not put into cells",
        trap="rounding to a grid moves two places apart",
        path="local/place_reports.py",
        old="min(self.grid.stretch * way + _snapping(self.grid.step), longest)",
        new="min(self.grid.stretch * way, longest)",
        killers=("tests/exact/test_places.py::test_places_lose_at_most_what_is_claimed_for_their_distance[False]",),
    ),
    Mutant(
        name="an Earth that ends where dates change",
        trap="185 and -175 degrees are one place",
        path="local/grids.py",
        old="if axis == 1 and self.turn is not None:\n            read -=",
        new="if axis == 0 and self.turn is not None:\n            read -=",
        killers=(f"{PLACES}test_a_region_may_cross_the_line_where_dates_change",),
    ),
    Mutant(
        name="twice the rate for a few values",
        trap="the normaliser moves with the truth, too",
        path="local/metric_responses.py",
        old="return [-self.epsilon * way / 2 for way in self.distances[truth]]",
        new="return [-self.epsilon * way for way in self.distances[truth]]",
        killers=("tests/exact/test_places.py::test_metric_response_over_all_triples",),
    ),
)
