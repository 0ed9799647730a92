"""Ways to break sfumato, each in the style of a mistake that was really made somewhere.

A mutant changes one place of one file. ``old`` stands there exactly once, which a test checks, so that no mutant can
stop meaning anything unseen. ``killers`` are tests that must fail on the broken copy: tests of behaviour, never of
fingerprints or style. ``audits``, where there are any, are tests by which an auditor must notice it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Mutant:
    """Is one way to break one file of the package, the trap it stands for, and the tests that must notice."""

    name: str
    trap: str
    path: str
    old: str
    new: str
    killers: tuple[str, ...]
    audits: tuple[str, ...] = ()


RANDOMNESS = (
    Mutant(
        name="a remainder instead of another draw",
        trap="C.2 #2638: biased sampler",
        path="entropy.py",
        old="while (draw := entropy.bits(width)) >= bound:\n        pass\n    return draw",
        new="return entropy.bits(width) % bound",
        killers=("tests/unit/test_found_by_mutants.py::test_numbers_beyond_a_bound_are_drawn_again",),
    ),
    Mutant(
        name="a buffer that survives a fork",
        trap="C.3 Tumult Core 0.20: parent and child share a buffer",
        path="entropy.py",
        old='self._block, self._next = b"", 0',
        new='self._block = getattr(self, "_block", b"")',
        killers=(
            "tests/unit/test_entropy.py::test_parent_and_child_draw_different_bytes",
            "tests/unit/test_entropy.py::test_a_changed_process_id_alone_drops_the_buffer",
        ),
    ),
    Mutant(
        name="a sample of the smallest",
        trap="C.2 #2638: biased sampler",
        path="noise/uniform.py",
        old="return drawn[np.sort(first)[:k]]",
        new="return drawn[first[:k]]",
        killers=("tests/statistical/test_noise_choices.py::test_choices_are_uniform",),
    ),
    Mutant(
        name="half the scale in the sampler",
        trap="C.3 Qrlew 0.9.23: noise multiplier",
        path="noise/discrete_laplace.py",
        old="_sampler(self.scale.numerator, self.scale.denominator).one(entropy)",
        new="_sampler(self.scale.numerator, 2 * self.scale.denominator).one(entropy)",
        killers=("tests/statistical/test_noise_samplers.py::test_single_draws_follow_the_law[laplace 2/5]",),
    ),
    Mutant(
        name="a tail without its atom",
        trap="C.2 #2922: the tail excludes the atom",
        path="noise/discrete_laplace.py",
        old="return ball(-value / self.scale).exp() / (1 +",
        new="return ball(-(value + 1) / self.scale).exp() / (1 +",
        killers=("tests/exact/test_noise_laws_exact.py::test_masses_add_up_and_agree_with_cdf_and_tails[laplace 1]",),
        audits=("tests/exact/test_audit_exact.py::test_our_own_mechanisms_keep_their_promises",),
    ),
)
"""Entropy and noise."""

ACCOUNTS = (
    Mutant(
        name="δ forgotten in composition",
        trap="C.3 SmartNoise: δ of a homogeneous odometer",
        path="accounting/losses/measures.py",
        old="min(Fraction(1), self.delta + other.delta)",
        new="max(self.delta, other.delta)",
        killers=("tests/exact/test_filters.py::test_approx_filter_holds",),
    ),
    Mutant(
        name="overlapping parts for the price of one",
        trap="C.2 #2945: margin used as the most that can change",
        path="accounting/losses/amounts.py",
        old="total(sorted(amounts, reverse=True)[:count])",
        new="total(sorted(amounts, reverse=True)[:1])",
        killers=(
            "tests/unit/test_losses.py::test_parallel_parts",
            "tests/exact/test_parallel.py::test_a1_118_disjoint_groups_cost_the_sum_of_the_two_largest_under_change_one",
        ),
        audits=("tests/exact/test_audit_exact.py::test_our_own_mechanisms_keep_their_promises",),
    ),
    Mutant(
        name="a filter that looks before it charges",
        trap="C.4 accounting: only proven filters",
        path="accounting/adaptive/filters.py",
        old="return total if total.within(limit) else None",
        new="return total if spent.within(limit) else None",
        killers=("tests/unit/test_filters.py::test_A2_017_a_filter_in_a_slot_goes_on_when_its_parent_is_exhausted",),
    ),
    Mutant(
        name="curves as stopping rules",
        trap="C.1 arXiv 2602.06756: the natural PLD filter is invalid",
        path="accounting/adaptive/filters.py",
        old="if type(limit) not in ADDS:",
        new='if type(limit) not in ADDS and type(limit).__name__ not in ("PLD", "Profile"):',
        killers=("tests/unit/test_filters.py::test_curves_are_refused_as_stopping_rules_and_taken_as_slots",),
    ),
    Mutant(
        name="losses rounded to the nearest",
        trap="C.2 #2802, #2820: rounding against privacy",
        path="exact.py",
        old="return near if Fraction(near) >= exact else math.nextafter(near, math.inf)",
        new="return near",
        killers=("tests/unit/test_exact.py::test_up_and_down_enclose_and_touch",),
    ),
    Mutant(
        name="what is cut off is forgotten",
        trap="PRV: truncation that is not counted",
        path="accounting/pld/inversion.py",
        old="self.summed(place) - self.aliases(place)[0] + self.beyond_ends(place)[1]",
        new="self.summed(place) - self.aliases(place)[0]",
        killers=("tests/exact/test_contour.py::test_any_end_encloses_the_same[3]",),
    ),
    Mutant(
        name="nodes that miss nothing",
        trap="dp_accounting: the transform's own error is not counted",
        path="accounting/pld/envelopes.py",
        old="both = arb(float(np.sum(row))) * 2 / turns +",
        new="both = 0 / turns +",
        killers=("tests/exact/test_contour.py::test_a_coarse_line_misses_no_more_than_it_says",),
    ),
    Mutant(
        name="a logarithm of another branch",
        trap="C.2: floating point decides",
        path="accounting/pld/float_balls.py",
        old=" & (np.abs(guess.mid.imag) <= 4)",
        new="",
        killers=("tests/exact/test_float_balls.py::test_a_wrong_logarithm_is_not_believed",),
    ),
    Mutant(
        name="one direction of two",
        trap="C.1 shuffled batches: only one side of a pair",
        path="accounting/pld/pairs/either.py",
        old="if best is NONE or value > height:",
        new="if best is NONE:",
        killers=("tests/exact/test_pairs.py::test_lines_of_discrete_pairs_meet_the_listed_distributions",),
    ),
    Mutant(
        name="an exchange that moves a sum as one unit more does",
        trap="dp_accounting #378: replace-one read with the sensitivity of add/remove",
        path="accounting/peers/reading.py",
        old="return 2 if self.relation is Relation.CHANGE_ONE and not self.sampled else 1",
        new="return 1",
        killers=(
            "tests/unit/test_peers.py::test_read_and_written_in_every_form",
            "tests/oracle/test_dp_accounting_events.py::test_an_exchange_moves_a_sum_by_two_norms",
        ),
    ),
    Mutant(
        name="a curve looked at where it was asked, and nowhere between",
        trap="dp_accounting get_gdp_parameter_estimate: a grid, optimistic by its own text",
        path="accounting/plans/least_mu.py",
        old="        high = mu_of(corners)[1]\n",
        new="        high = low\n",
        killers=("tests/exact/test_least_mu.py::test_the_whole_curve_is_below_and_no_smaller_mu_will_do",),
    ),
    Mutant(
        name="an answer that is printed below itself",
        trap="C.2 #2802, #2820: rounding against the reader",
        path="accounting/losses/bracket.py",
        old="    return near if kept else math.nextafter(near, away)\n",
        new="    return math.nextafter(near, -away)\n",
        killers=("tests/unit/test_account.py::test_answers_are_floats_that_know_the_exact_bracket",),
    ),
    Mutant(
        name="a shape too little in the best of several runs",
        trap="C.4 accounting: the number of runs is paid for",
        path="accounting/facts/selected_profile.py",
        old="    return (1 + runs.shape) * log_up(ratio)\n",
        new="    return abs(runs.shape) * log_up(ratio)\n",
        killers=("tests/exact/test_repeat_and_select.py::test_curves_and_profiles_hold_for_random_laws",),
    ),
    Mutant(
        name="runs that all fall short are free",
        trap="C.4 accounting: the number of runs is paid for",
        path="accounting/facts/selected_profile.py",
        old="some + lost",
        new="some",
        killers=("tests/exact/test_repeat_and_select.py::test_runs_that_all_fall_short_are_paid_for",),
    ),
    Mutant(
        name="the cheaper half of a draw",
        trap="C.4 accounting: weights",
        path="accounting/renyi/mixed_curve.py",
        old="most = max(losses)\n        if most",
        new="most = min(losses)\n        if most",
        killers=("tests/exact/test_compose.py::test_P1_127_a_public_draw_costs_the_mean_of_its_parts",),
    ),
    Mutant(
        name="a group of responses by its size less one",
        trap="C.4 accounting: groups",
        path="accounting/pld/pairs/grouped.py",
        old="IntegerNoisePair(DiscreteLaplace(1 / epsilon), size)",
        new="IntegerNoisePair(DiscreteLaplace(1 / epsilon), max(1, size - 1))",
        killers=("tests/exact/test_groups.py::test_groups_of_stepped_pairs_are_chains_of_their_curves",),
    ),
    Mutant(
        name="a last iterate that forgets where it began",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/facts/iterates.py",
        old="return (steps + apart) ** 2 / steps",
        new="return Fraction(steps)",
        killers=("tests/exact/test_last_iterate.py::test_in_a_set_no_run_exceeds_the_bound",),
    ),
    Mutant(
        name="a sample of fixed size as a Poisson one",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/pld/pairs/blanked.py",
        old="return blank_first(loss) if turned else unit_first(loss)",
        new="return blank_first(loss)",
        killers=("tests/exact/test_zero_out.py::test_no_subset_exceeds_the_pair_and_some_reach_it",),
    ),
    Mutant(
        name="a unit that moves by chance, by the least",
        trap="C.4 accounting: weights",
        path="accounting/leaf_losses.py",
        old="(max(drawn) / event.scale) ** 2",
        new="(min(drawn) / event.scale) ** 2",
        killers=("tests/exact/test_gaussian_mixture.py::test_renyi_curves_bound_both_directions",),
    ),
    Mutant(
        name="a unit that returns counts once",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/facts/strategies.py",
        old="return Fraction(falling_square(column, strategy.length, participation), bottom**2)",
        new="return Fraction(falling_square(column, strategy.length, MinSeparation()), bottom**2)",
        killers=("tests/exact/test_factorization.py::test_one_factorisation_costs_one_gaussian_vector",),
    ),
    Mutant(
        name="bands without the last draw",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/amplify/bands.py",
        old="-(-event.strategy.length // event.period)",
        new="event.strategy.length // event.period",
        killers=(
            "tests/exact/test_factorization.py::test_sampled_bands_cost_no_more_than_is_claimed_and_as_much_where_they_fit",
        ),
    ),
    Mutant(
        name="a unit drawn often moves answers half as far",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/pld/pairs/redrawn.py",
        old=".min(middle + shift)",
        new=".min(middle + shift / 2)",
        killers=(
            "tests/exact/test_sampling_pairs.py::test_no_draws_with_replacement_exceed_the_pair_and_some_reach_it",
        ),
    ),
    Mutant(
        name="a cut that spares a unit too often",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="accounting/amplify/pld_rows.py",
        old="rate * Fraction(most, size + 1)",
        new="rate * Fraction(most, size + most + 1)",
        killers=("tests/exact/test_exchanged.py::test_samples_that_are_cut_never_exceed_their_pair",),
    ),
    Mutant(
        name="steps in which a unit comes up large are left out",
        trap="C.1 shuffled batches: tails of few steps",
        path="accounting/pld/allocated_profile.py",
        old="        for count, parts in counted.items():\n",
        new="        for count, parts in list(counted.items())[:1]:\n",
        killers=("tests/exact/test_allocation.py::test_two_steps_of_gaussian_noise_agree_with_the_integral",),
    ),
    Mutant(
        name="a unit in one step more than it is",
        trap="C.1 shuffled batches accounted as something else",
        path="accounting/amplify/allocation.py",
        old="steps, longer = divmod(event.steps, event.participations)",
        new="steps, longer = divmod(event.steps + event.participations, event.participations)",
        killers=("tests/exact/test_allocation.py::test_several_participations_cost_at_most_as_many_allocations",),
    ),
)
"""Losses, filters, amplification, rounding."""

CORE = (
    Mutant(
        name="a map that skips the first step",
        trap="C.1 arXiv 2202.12219: sensitivity off by a factor",
        path="core/measurement.py",
        old="privacy_map=lambda d_in: self.privacy_map(first.stability_map(d_in))",
        new="privacy_map=lambda d_in: self.privacy_map(d_in)",
        killers=("tests/unit/test_chaining.py::test_maps_compose_and_so_do_functions",),
        audits=("tests/exact/test_audit_exact.py::test_our_own_mechanisms_keep_their_promises",),
    ),
    Mutant(
        name="an error that carries its cause",
        trap="C.4 service: data-independent errors",
        path="core/queryable.py",
        old="    except (Exception, SystemExit, GeneratorExit):\n        failed = RunFailed(name)\n    raise failed",
        new=(
            "    except (Exception, SystemExit, GeneratorExit) as error:\n"
            "        raise RunFailed(name) from error\n"
            "    raise failed"
        ),
        killers=(
            "tests/unit/test_interaction.py::test_E2_06_a_run_that_fails_is_charged_and_says_nothing_about_the_data",
        ),
    ),
)
"""Chains, distances and errors."""

TRANSFORMS = (
    Mutant(
        name="no clamp",
        trap="C.1 arXiv 2602.17454: sensitivity on unclipped data",
        path="transforms/rowwise.py",
        old="return np.asarray(np.clip(values, *float_bounds(bounds)))",
        new="return np.asarray(values)",
        killers=("tests/exact/test_transforms_rows.py::test_A1_034_A1_035_clamp",),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[clamp]",),
    ),
    Mutant(
        name="NaN clamped",
        trap="C.1 arXiv 2602.17454: NaN injection",
        path="transforms/rowwise.py",
        old="if not isinstance(element, Floats | Integers) or (isinstance(element, Floats) and element.nan):",
        new="if not isinstance(element, Floats | Integers):",
        killers=("tests/unit/test_transforms_messages.py::test_first_mistakes",),
    ),
    Mutant(
        name="a row that stops the run",
        trap="C.3 diffprivlib #107: crash by data",
        path="transforms/rowwise.py",
        old="    except Exception:\n        return default",
        new="    except ZeroDivisionError:\n        return default",
        killers=(
            "tests/unit/test_found_by_mutants.py::test_a_row_on_which_a_function_fails_gets_the_default_whatever_it_raises",
        ),
    ),
    Mutant(
        name="NaN told apart",
        trap="C.4 stability: every operator states what NaN does",
        path="transforms/rowwise.py",
        old='return np.where(np.isnan(values), np.nan, values) if values.dtype.kind == "f" else values',
        new="return values",
        killers=("tests/unit/test_found_by_mutants.py::test_functions_of_a_row_cannot_tell_one_nan_from_another",),
    ),
    Mutant(
        name="sums that wrap",
        trap="C.1 arXiv 2207.10635, C.2 #2925",
        path="transforms/grids.py",
        old="    if most * len(offsets) < 2**63:\n        return int(offsets.sum())",
        new="    if len(offsets) < 2**63:\n        return int(offsets.sum())",
        killers=(
            "tests/unit/test_transforms_grids.py::test_totals_are_exact_at_every_width",
            "tests/exact/test_traps.py::test_sums_of_the_largest_integers_do_not_wrap",
        ),
    ),
    Mutant(
        name="a last bit outside the bounds",
        trap="C.2 #2707: last bit unprotected",
        path="transforms/grids.py",
        old="low, high = math.ceil(bounds.lower / step), math.floor(bounds.upper / step)",
        new="low, high = math.floor(bounds.lower / step), math.ceil(bounds.upper / step)",
        killers=("tests/unit/test_transforms_grids.py::test_a_float_lands_within_the_exact_bounds",),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[sum]",),
    ),
    Mutant(
        name="rounding of a mean forgotten",
        trap="C.2 #2923: mean rounding ignored",
        path="transforms/aggregate.py",
        old="lambda d_in: ceil_to(least_mean_map(d_in, bounds=bounds, least=least), step)",
        new="lambda d_in: least_mean_map(d_in, bounds=bounds, least=least)",
        killers=("tests/exact/test_transforms_scalar.py::test_mean_with_a_least_size_is_exact_for_every_distance",),
    ),
    Mutant(
        name="shares of a row that make up more than one",
        trap="C.4 stability: each part alone is within its bounds, all together are not",
        path="transforms/bernstein.py",
        old="return collect([rows * span**2 - middle - squares, middle, squares]",
        new="return collect([rows * span**2 - squares, middle, squares]",
        killers=(
            "tests/exact/test_bernstein.py::test_shares_are_those_of_the_polynomials_and_know_number_sum_and_squares",
        ),
    ),
    Mutant(
        name="one side of an exchange",
        trap="C.4 stability: replace-one is twice add/remove",
        path="transforms/histogram.py",
        old="return Fraction(rows) * sides if isinstance(norm, L1)",
        new="return Fraction(rows) if isinstance(norm, L1)",
        killers=("tests/exact/test_transforms_vector.py::test_claimed_spreads_are_sound_and_reached",),
    ),
    Mutant(
        name="a size that survives a filter",
        trap="C.1 arXiv 2602.17454: data set size used as public",
        path="transforms/rows.py",
        old="return Space(replace(domain, size=None, least=0), AddRemove())",
        new="return Space(domain, AddRemove())",
        killers=("tests/exact/test_transforms_rows.py::test_A1_040_filters",),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[drop_nan]",),
    ),
    Mutant(
        name="one row more than the bound",
        trap="C.3 Qrlew 0.9.26: contributions not limited",
        path="transforms/owners.py",
        old="marks[order] = place < rows",
        new="marks[order] = place <= rows",
        killers=(
            "tests/unit/test_session.py::test_of_a_member_with_more_rows_than_the_unit_allows_only_the_first_are_used",
        ),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[one_each]",),
    ),
    Mutant(
        name="a cast that wraps",
        trap="C.2 #2937, C.3 Tumult 0.18",
        path="transforms/casts.py",
        old="if not len(replaced) or float(np.abs(replaced).max()) < 2.0**62 > abs(default):",
        new="if not len(replaced) or float(np.abs(replaced).max()) < 2.0**70 > abs(default):",
        killers=("tests/unit/test_found_by_mutants.py::test_floats_just_beyond_64_bits_are_cast_exactly",),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[cast]",),
    ),
    Mutant(
        name="the first rows instead of a sample",
        trap="C.2 #2927: resize shuffles only sometimes",
        path="transforms/reshape.py",
        old="chosen = np.sort(choose(rows, k=size, entropy=entropy))",
        new="chosen = np.arange(size)",
        killers=("tests/statistical/test_resize.py::test_resize_draws_every_subset_equally_often",),
    ),
    Mutant(
        name="scores of quantiles that move less",
        trap="C.3 diffprivlib #34: bounds of a quantile",
        path="transforms/score_moves.py",
        old="return Moves(factor * max(alpha, 1 - alpha), Fraction(factor))",
        new="return Moves(factor * min(alpha, 1 - alpha), Fraction(factor))",
        killers=("tests/exact/test_selection_scores.py::test_quantile_scores_by_rows_added",),
        audits=("tests/fuzz/test_every_transform.py::test_transformations_keep_their_maps[quantile_scores]",),
    ),
)
"""What is computed before noise."""

MECHANISMS = (
    Mutant(
        name="a threshold that shows its own atom",
        trap="C.2 #2922",
        path="mechanisms/stability.py",
        old="zip(counts, noisy, strict=True) if value > threshold)",
        new="zip(counts, noisy, strict=True) if value >= threshold)",
        killers=(
            "tests/exact/test_delta_mechanisms.py::test_trap_2922_the_atom_on_the_threshold_counts_the_same_on_both_sides",
        ),
    ),
    Mutant(
        name="half the price of an exchange",
        trap="C.4 stability: replace-one is twice add/remove",
        path="mechanisms/unknown_keys.py",
        old="return side.then(side) if exchanged else side",
        new="return side",
        killers=("tests/exact/test_unknown_keys.py::test_exchanged_rows_are_sound",),
    ),
    Mutant(
        name="one draw for all cells",
        trap="C.2 #2344: empty keys share one draw",
        path="mechanisms/additive.py",
        old="exact_add(whole, noise.samples(len(whole), entropy))",
        new="exact_add(whole, noise.samples(1, entropy).repeat(len(whole)))",
        killers=("tests/exact/test_traps.py::test_empty_keys_get_noise_of_their_own",),
    ),
    Mutant(
        name="float noise on float values",
        trap="C.1 Mironov 2012, arXiv 2207.13793",
        path="mechanisms/additive.py",
        old="return grid.value(whole + noise.sample(entropy))",
        new="return grid.value(whole) + grid.value(noise.sample(entropy))",
        killers=(
            "tests/unit/test_found_by_mutants.py::test_noise_is_added_to_whole_numbers_of_steps_and_not_to_floats",
        ),
    ),
    Mutant(
        name="rounding left out of an L2 distance",
        trap="C.1 arXiv 2207.10635",
        path="mechanisms/gridding.py",
        old="return Fraction(rational_up(steps)) + Fraction(rational_up(root(coordinates)))",
        new="return Fraction(rational_up(steps))",
        killers=("tests/unit/test_found_by_mutants.py::test_rounding_vectors_l2_is_within_its_map",),
    ),
    Mutant(
        name="noise that wraps",
        trap="C.2 #2925, C.4 noise: never wrapping",
        path="mechanisms/gridding.py",
        old="return in_64_bits(whole.astype(object) + noise.astype(object)) if wrapped.any() else total",
        new="return total",
        killers=("tests/exact/test_additive.py::test_adding_is_exact_and_never_wraps",),
    ),
    Mutant(
        name="permute-and-flip under another proof",
        trap="C.2 #2911",
        path="mechanisms/selection.py",
        old="exponential_index(drawable(scores), unit=unit, entropy=entropy)",
        new="permute_and_flip_index(drawable(scores), unit=unit, entropy=entropy)",
        killers=("tests/statistical/test_selection_draws.py::test_choices_follow_their_law[exponential]",),
    ),
    Mutant(
        name="hits that are not paid for",
        trap="known wrong sparse vectors",
        path="mechanisms/sparse_vector.py",
        old="(1 if monotonic else 2) * count * moved",
        new="(1 if monotonic else 2) * moved",
        killers=("tests/exact/test_above_threshold.py::test_every_hit_is_paid_for[general]",),
    ),
    Mutant(
        name="reports in the order of rows",
        trap="C.2 #2930: local reports show more than their entries",
        path="mechanisms/randomized_response.py",
        old="if not entries.ordered:",
        new="if entries.size is None:",
        killers=("tests/exact/test_randomized_response.py::test_order_is_hidden_where_the_distance_does_not_see_it",),
    ),
)
"""What is drawn."""

COMBINATORS = (
    Mutant(
        name="batches that are not Poisson samples",
        trap="C.1 arXiv 2403.17673",
        path="combinators/sampling.py",
        old=(
            "    drawn = Bernoulli(rate).samples(count_rows(data, domain), entropy)\n"
            "    return select_rows(data, domain, drawn.astype(np.bool_))"
        ),
        new=(
            "    rows = count_rows(data, domain)\n"
            "    return select_rows(data, domain, choose(rows, k=int(rate * rows), entropy=entropy))"
        ),
        killers=("tests/unit/test_found_by_mutants.py::test_the_size_of_a_poisson_sample_is_random",),
    ),
    Mutant(
        name="amplification without a sampler",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="combinators/sampling.py",
        old="inner.function(poisson_sample(data, domain, chance, entropy), entropy)",
        new="inner.function(data, entropy)",
        killers=("tests/unit/test_found_by_mutants.py::test_the_size_of_a_poisson_sample_is_random",),
    ),
    Mutant(
        name="queries that fail are free",
        trap="C.4 accounting: failed runs are charged",
        path="combinators/interaction.py",
        old="        self._rule = charged\n        return self._questions.run(asked)",
        new="        found = self._questions.run(asked)\n        self._rule = charged\n        return found",
        killers=(
            "tests/unit/test_interaction.py::test_E2_06_a_run_that_fails_is_charged_and_says_nothing_about_the_data",
        ),
    ),
)
"""Sampling and interaction."""

LEDGER = (
    Mutant(
        name="a permit that works twice",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/permit.py",
        old="            self._used = True",
        new="            self._used = self._process != os.getpid()",
        killers=("tests/unit/test_ledger.py::test_a_permit_works_once",),
    ),
    Mutant(
        name="noise that can be replayed",
        trap="C.4 service: no debug modes on private handles",
        path="ledger/permit.py",
        old="if type(source) is not SystemEntropy:",
        new="if source is None:",
        killers=("tests/unit/test_ledger.py::test_a_permit_pays_for_no_more_than_was_charged",),
    ),
    Mutant(
        name="a second look for a retry",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/ledger.py",
        old="self._permit(entry, whole, purpose, fresh=fresh)",
        new="self._permit(entry, whole, purpose, fresh=True)",
        killers=("tests/unit/test_ledger.py::test_a_retried_charge_is_one_charge",),
    ),
    Mutant(
        name="a permit that was checked for another measurement",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/permit.py",
        old="alike = self.measurement is other.measurement and self.d_in is other.d_in",
        new="alike = type(self.measurement) is type(other.measurement)",
        killers=("tests/unit/test_ledger.py::test_a_permit_for_one_measurement_checks_any_other",),
    ),
    Mutant(
        name="steps that are counted when they have looked",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/progress.py",
        old="if self._taken >= self._turn.upto:",
        new="if self._taken > self._turn.upto:",
        killers=("tests/unit/test_runs.py::test_a_run_is_resumed_with_the_steps_that_the_book_does_not_count",),
    ),
    Mutant(
        name="every way of counting with all of δ",
        trap="C.1 arXiv 2602.17454: double spending",
        path="accounting/adaptive/approx_filter.py",
        old="ADDED, ASIDE, RENYI, GAUSSIAN = Fraction(1, 2), Fraction(1, 8), Fraction(1, 8), Fraction(1, 4)",
        new="ADDED = ASIDE = RENYI = GAUSSIAN = Fraction(1)",
        killers=(
            "tests/exact/test_approx_filter.py::test_counting_in_any_way_holds_with_shares_of_delta_and_fails_without",
        ),
    ),
    Mutant(
        name="a part that gives back what its other ways of counting still need",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/accounts.py",
        old="return type(rule.limit).nothing() if rule == anew(rule) else rule.limit",
        new="return rule.spent",
        killers=(
            "tests/exact/test_approx_filter.py::test_what_a_part_gives_back_cannot_be_spent_beside_what_it_might_have_asked",
        ),
    ),
    Mutant(
        name="a charge that is counted for another mechanism",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/permit.py",
        old="return cost.event == event or isinstance(cost.event, Stated)",
        new="return cost.event == event or isinstance(cost.loss, Loss)",
        killers=("tests/unit/test_ledger.py::test_many_gaussian_questions_cost_about_the_root_of_their_number",),
    ),
    Mutant(
        name="a run that is priced for other neighbours",
        trap="C.1 arXiv 2202.12219: sensitivity off by a factor",
        path="ledger/progress.py",
        old="if terms.metric == exactly(AddRemove()) else Relation.CHANGE_ONE",
        new="if terms.metric else Relation.CHANGE_ONE",
        killers=("tests/unit/test_runs.py::test_a_run_on_samples_is_priced_for_the_neighbours_of_the_data",),
    ),
    Mutant(
        name="a run that is counted by its loss alone",
        trap="C.1 arXiv 2202.12219: composition that is not that of what ran",
        path="ledger/progress.py",
        old="cost = Cost(loss, event, relation_in(transaction[account].terms))",
        new="cost = Cost.of(loss)",
        killers=("tests/unit/test_runs.py::test_a_run_is_counted_by_its_event_in_every_way",),
    ),
    Mutant(
        name="a run that goes on in two places",
        trap="C.1 arXiv 2602.17454: double spending",
        path="ledger/progress.py",
        old="if pen.by_key(following) is not None:",
        new="if pen.by_key(following) == following:",
        killers=("tests/unit/test_runs.py::test_who_takes_a_run_over_goes_on_alone",),
    ),
    Mutant(
        name="charges that stop below the data set",
        trap="C.4 service: a cap per data set across users",
        path="ledger/state.py",
        old="while account.above and not account.terms.holds:",
        new="while account.above and account.terms.holds:",
        killers=("tests/unit/test_ledger.py::test_an_analyst_never_gets_more_than_the_data_set_has_left",),
    ),
    Mutant(
        name="names that begin alike",
        trap="C.4 service: replay of the same release",
        path="ledger/state.py",
        old='return (payer + "/").startswith(account + "/")',
        new="return payer.startswith(account)",
        killers=(
            "tests/unit/test_found_by_mutants.py::test_accounts_whose_names_begin_alike_are_not_above_one_another",
        ),
    ),
    Mutant(
        name="charges rounded down",
        trap="C.4 accounting: exact ledger arithmetic",
        path="ledger/rules.py",
        old="return Fraction(math.ceil(value * (1 << power)), 1 << power)",
        new="return Fraction(math.floor(value * (1 << power)), 1 << power)",
        killers=("tests/unit/test_ledger.py::test_losses_are_charged_with_few_digits_and_never_less",),
    ),
    Mutant(
        name="all rows of a member",
        trap="C.3 Qrlew 0.9.26: contributions not limited",
        path="session/members.py",
        old=" & first_rows(distinct(ids).place, rows)",
        new="",
        killers=(
            "tests/unit/test_session.py::test_of_a_member_with_more_rows_than_the_unit_allows_only_the_first_are_used",
        ),
    ),
    Mutant(
        name="members of data whose size is public",
        trap="C.1 arXiv 2602.17454: data set size used as public",
        path="session/members.py",
        old="if known or not isinstance(space.metric, AddRemove):",
        new="if not isinstance(space.metric, AddRemove):",
        killers=("tests/unit/test_found_by_mutants.py::test_members_are_not_left_out_of_data_whose_size_is_public",),
    ),
    Mutant(
        name="versions by a digest without a key",
        trap="C.4 stability: hashes are salted",
        path="session/fingerprint.py",
        old='hmac.new(key, digestmod="sha256")',
        new='hmac.new(b"", digestmod="sha256")',
        killers=("tests/unit/test_session.py::test_versions_tell_data_apart",),
    ),
)
"""Charges, permits, members, versions."""

QUERIES = (
    Mutant(
        name="sums bounded by one end",
        trap="C.1 arXiv 2202.12219: sensitivity off by a factor",
        path="query/plan/sensitivity.py",
        old="math.prod(max(abs(low), abs(high)) for low, high in ends)",
        new="math.prod(abs(high) for low, high in ends)",
        killers=(
            "tests/unit/test_found_by_mutants.py::test_a_product_is_bounded_by_the_end_that_is_further_from_zero",
        ),
    ),
    Mutant(
        name="a deviation that costs one median",
        trap="C.4: what is chosen first is part of the budget",
        path="query/plan/deviations.py",
        old="measure, bin_sensitivity).times(2)",
        new="measure, bin_sensitivity).times(1)",
        killers=(
            "tests/exact/test_query_specials.py::test_a_deviation_loses_no_more_than_is_charged_and_half_the_temperature_is_caught",
        ),
    ),
    Mutant(
        name="totals that move no more than their groups",
        trap="C.2 #2945",
        path="query/plan/grouping_sets.py",
        old="GroupedDistance(min(spread.parts, size), spread.rows, spread.rows)",
        new="GroupedDistance(min(spread.parts, size), spread.rows, spread.largest)",
        killers=("tests/unit/query/test_acceptance_people.py::test_asylum_by_country_and_year",),
    ),
    Mutant(
        name="no noise for empty groups",
        trap="C.4 stability: fill values are noised for each key",
        path="query/plan/grouping_sets.py",
        old="exact_add(numbers, part.noise.samples(len(numbers), entropy))",
        new="exact_add(numbers, part.noise.samples(len(numbers), entropy) * (numbers != 0))",
        killers=("tests/unit/test_found_by_mutants.py::test_groups_that_nobody_is_in_get_noise_of_their_own",),
    ),
    Mutant(
        name="one draw for all groups",
        trap="C.2 #2344",
        path="query/plan/grouping_sets.py",
        old="exact_add(numbers, part.noise.samples(len(numbers), entropy))",
        new="exact_add(numbers, part.noise.samples(1, entropy).repeat(len(numbers)))",
        killers=("tests/unit/test_found_by_mutants.py::test_groups_that_nobody_is_in_get_noise_of_their_own",),
    ),
    Mutant(
        name="NaN read as it is",
        trap="C.1 arXiv 2602.17454: NaN injection",
        path="query/engines/duckdb/dialect.py",
        old="CAST('-inf' AS DOUBLE) THEN {1} END\"",
        new="CAST('-inf' AS DOUBLE) THEN {1} ELSE {0} END\"",
        killers=("tests/unit/test_found_by_mutants.py::test_what_is_no_number_is_missing_from_a_column_with_bounds",),
    ),
    Mutant(
        name="ids that are read before they are compared",
        trap="C.3: two people taken for one",
        path="query/engines/duckdb/identity.py",
        old="        exact = scope.fill(EXACT, trimmed)",
        new='        exact = scope.fill(f"CAST({reading(kind)} AS VARCHAR)", trimmed)',
        killers=("tests/unit/query/test_identity.py::test_texts_that_are_numbers_are_told_apart_exactly",),
    ),
    Mutant(
        name="foreign keys that are rounded",
        trap="C.3: two people taken for one",
        path="query/engines/duckdb/identity.py",
        old="CAST({0} AS DOUBLE) + CAST(0 AS DOUBLE) END",
        new="CAST(round({0}) AS DOUBLE) + CAST(0 AS DOUBLE) END",
        killers=("tests/unit/query/test_identity.py::test_a_foreign_key_is_not_rounded",),
    ),
    Mutant(
        name="a reader that passes over broken rows",
        trap="C.4 service: data-independent errors",
        path="query/engines/inputs/text_files.py",
        old='if whole.find(b"\\0") >= 0:\n            return False',
        new='if whole.find(b"\\0") >= -1:\n            return True',
        killers=("tests/unit/query/test_text_files.py::test_the_quick_way_is_taken_for_files_without_damage_only",),
    ),
    Mutant(
        name="sums of groups that wrap",
        trap="C.2 #2925",
        path="query/engines/duckdb/engine.py",
        old="if np.array_equal(high, low >> 63):",
        new="if len(high) == len(low):",
        killers=("tests/unit/test_found_by_mutants.py::test_sums_of_groups_that_nobody_listed_do_not_wrap",),
    ),
    Mutant(
        name="the words of the engine",
        trap="C.4 service: data-independent errors",
        path="query/engines/duckdb/engine.py",
        old="        except duckdb.Error:\n            return None, False",
        new="        except duckdb.Error as error:\n            raise RuntimeError(str(error)) from None",
        killers=("tests/unit/query/test_duckdb_sources.py::test_a_failure_is_told_without_its_reason",),
    ),
    Mutant(
        name="plans by what a file says of its rows",
        trap="C.1 arXiv 2602.17454: NaN injection, by way of minimum and maximum",
        path="query/engines/duckdb/connection.py",
        old="SET GLOBAL disabled_optimizers = '{off}'",
        new="SET GLOBAL disabled_optimizers = ''",
        killers=("tests/unit/query/test_parquet_cells.py::test_the_weight_of_somebody_else_is_not_in_the_scales",),
        audits=("tests/fuzz/test_every_source.py::test_nobody_else_is_read_otherwise[Parquet by polars]",),
    ),
    Mutant(
        name="charged before it is known to run",
        trap="C.4 service: data-independent errors",
        path="query/plan/compile.py",
        old="    rehearse(ready, opened.engine)\n",
        new="",
        killers=("tests/unit/query/test_known_before.py::test_deep_questions_are_answered_or_refused[200]",),
    ),
    Mutant(
        name="a sum over people taken for one within each",
        trap="C.2: an aggregate that mixes people before noise",
        path="query/sql/finished.py",
        old="is_grouped(select) and not _by_unit(select, names.tables)",
        new="is_grouped(select) and _by_unit(select, names.tables)",
        killers=("tests/unit/query/test_worked_out.py::test_within_a_person_it_still_means_a_sum_within_each",),
    ),
    Mutant(
        name="every answer paid as if it were alone",
        trap="C.4 accounting: what is bought together adds up",
        path="query/plan/together.py",
        old="settings.loss.scaled(part / sum(parts))",
        new="settings.loss",
        killers=("tests/unit/query/test_worked_out.py::test_several_answers_are_one_charge",),
    ),
    Mutant(
        name="an engine for answers that reads files",
        trap="C.4 service: analyst code never runs near raw data",
        path="query/engines/duckdb/scratch.py",
        old='    "enable_external_access": "false",\n',
        new="",
        killers=("tests/unit/query/test_worked_out.py::test_the_engine_reaches_nothing_but_its_tables",),
    ),
    Mutant(
        name="joins without end",
        trap="C.4 service: one person's rows stop everybody's questions",
        path="query/plan/bound_joins.py",
        old="return side if rows(relation) <= most else Keep(side, int(most), work=True)",
        new="return side",
        killers=("tests/unit/query/test_work.py::test_each_side_keeps_what_makes_a_million_together[6-10]",),
    ),
    Mutant(
        name="rows that come but never go",
        trap="C.3 joins of private tables: what is displaced is moved too",
        path="transforms/meetings.py",
        old="else 2 * rows * most",
        new="else rows * most",
        killers=("tests/exact/test_meetings.py::test_a_join_moves_as_the_theorem_says_for_all_changes_of_both_sides",),
    ),
    Mutant(
        name="keys of any size meet",
        trap="C.3 joins of private tables: one row meets any number",
        path="query/engines/sql/relations.py",
        old="FirstRows(Incoming(keys + rows), (), keys, rows, meet.most)",
        new="Incoming(keys + rows)",
        killers=("tests/exact/test_meetings.py::test_the_engine_moves_no_further_either",),
    ),
    Mutant(
        name="two counts of which one row leaves the first and another comes into the second",
        trap="C.3 joins of private tables: priced as one, by what comes alone",
        path="query/plan/bound_units.py",
        old="for members in sets if len(members) == 1]",
        new="for members in sets]",
        killers=(
            "tests/exact/test_meetings.py::test_numbers_of_which_a_row_moves_one_move_by_what_comes_and_by_what_goes",
        ),
    ),
    Mutant(
        name="rows that match somebody else's",
        trap="C.3 joins of private tables: rows of two people",
        path="query/engines/sql/relations.py",
        old='same = [f"{ours}.{name} = {theirs}.{name}" for name in right.identity]',
        new="same: list[str] = []",
        killers=("tests/exact/test_within_units.py::test_joins_mean_what_sqlite_says",),
    ),
    Mutant(
        name="a window over everybody",
        trap="C.2 #2944: a step that is taken to be by row looks at other rows",
        path="query/engines/sql/windows.py",
        old="PARTITION BY {listing([*below.identity, *",
        new="PARTITION BY {listing(['1', *",
        killers=("tests/exact/test_within_units.py::test_joins_mean_what_sqlite_says",),
    ),
    Mutant(
        name="a right side that filters is cut as well",
        trap="C.4 stability: what is cut decides what is kept",
        path="query/plan/bound_joins.py",
        old="return join.match.filters and not join.compared",
        new="return False",
        killers=("tests/unit/query/test_work.py::test_a_side_that_only_filters_is_not_cut",),
    ),
    Mutant(
        name="groups in the order of the data",
        trap="C.2 #2944: order from the data",
        path="query/engines/sql/cells.py",
        old='(f" ORDER BY {order}" if order else "")',
        new='""',
        killers=("tests/unit/query/test_traps.py::test_2944_codes_of_categories_are_never_seen",),
    ),
    Mutant(
        name="groups chosen by the keys of others",
        trap="C.4 stability: truncation independent of others",
        path="query/engines/sql/cells.py",
        old='self._bounded(rows, ("place",), ("h",))',
        new='self._bounded(rows, ("place",), ("place",))',
        killers=(
            "tests/unit/test_found_by_mutants.py::test_which_groups_of_a_unit_are_kept_does_not_depend_on_the_keys_of_others",
        ),
    ),
    Mutant(
        name="one group more than the bound",
        trap="C.3 Qrlew 0.9.26: contributions not limited",
        path="query/engines/bounding.py",
        old="columns.hashed, bound.groups)",
        new="columns.hashed, bound.groups + 1)",
        killers=("tests/unit/query/test_traps.py::test_2939_every_bin_of_a_unit_counts_towards_its_groups",),
        audits=("tests/fuzz/test_every_plan.py::test_questions_on_nasty_tables[case]",),
    ),
    Mutant(
        name="facts that survive a new definition",
        trap="C.2 #2949",
        path="query/nodes/fields.py",
        old="return Column(name, made.kind, made.facts)",
        new='return Column(name, made.kind, made.facts, next((one.origin for one in made.columns()), ""))',
        killers=("tests/unit/query/test_traps.py::test_2949_a_column_defined_anew_has_new_facts",),
    ),
    Mutant(
        name="bounds that survive a new definition",
        trap="C.2 #2949",
        path="query/engines/sql/relations.py",
        old=(
            "name: below.held[of.name] for name, of in select.columns if isinstance(of, Column) and "
            "of.name in below.held"
        ),
        new="name: below.held[name] for name, of in select.columns if name in below.held",
        killers=("tests/unit/test_found_by_mutants.py::test_a_column_defined_anew_is_clamped_again",),
    ),
    Mutant(
        name="a union no larger than its largest part",
        trap="C.2 #2949: facts of parts taken for the whole",
        path="query/plan/contribution_facts.py",
        old="rows: Whole = sum(part.rows for part in parts)",
        new="rows: Whole = max(part.rows for part in parts)",
        killers=("tests/unit/test_found_by_mutants.py::test_rows_of_a_union_add_up",),
    ),
)
"""SQL and frames."""

OTHERS = (
    Mutant(
        name="steps that nobody paid for",
        trap="C.4 accounting: all is charged",
        path="stats/streams.py",
        old="        left -= 1\n        return total(",
        new="        return total(",
        killers=("tests/unit/test_found_by_mutants.py::test_a_stream_ends_after_the_steps_that_were_paid_for",),
    ),
    Mutant(
        name="a sample that is no secret",
        trap="C.4 accounting: the assumption is bound to the sampler",
        path="codebook/sampling.py",
        old="        if not self.secret:\n",
        new="        if not self.secret and self.sample is None:\n",
        killers=("tests/unit/test_codebook.py::test_P3_101_P3_102_other_designs_save_nothing",),
    ),
    Mutant(
        name="a category counted twice",
        trap="C.1 arXiv 2602.17454: domains",
        path="codebook/columns.py",
        old="        if category in values:\n",
        new="        if type(category) is str and category in values:\n",
        killers=("tests/unit/test_codebook.py::test_what_a_codebook_must_not_say",),
    ),
    Mutant(
        name="intervals rounded inward",
        trap="C.2 #2802, #2820: rounding against the reader",
        path="release/interval.py",
        old="down(low), math.inf if high == math.inf else up(high), confidence",
        new="up(low), math.inf if high == math.inf else down(high), confidence",
        killers=("tests/unit/test_estimates.py::test_huge_numbers_and_scales_have_intervals",),
    ),
    Mutant(
        name="a sensitivity that is smooth towards one side only",
        trap="Nissim, Raskhodnikova and Smith 2007: noise in proportion to a bound that jumps",
        path="mechanisms/smooth_sensitivity.py",
        old="    for low in range(min(most + 1, trim + 1) + 1):",
        new="    for low in range(1):",
        killers=("tests/exact/test_smooth_sensitivity.py::test_the_bound_is_the_least_smooth_one_on_all_small_data",),
    ),
    Mutant(
        name="a smooth sensitivity that fades too fast",
        trap="Nissim, Raskhodnikova and Smith 2007: noise in proportion to a bound that jumps",
        path="mechanisms/smooth_sensitivity.py",
        old="    fading = np.exp(-float(beta) * np.arange(most + 1))",
        new="    fading = np.exp(-2 * float(beta) * np.arange(most + 1))",
        killers=("tests/exact/test_smooth_sensitivity.py::test_the_bound_is_the_least_smooth_one_on_all_small_data",),
    ),
    Mutant(
        name="a change of scale that is not paid for",
        trap="heavy tails cost (2γ + 1)β for the scale beside the place",
        path="mechanisms/smooth_sensitivity.py",
        old="    return max(place, both)",
        new="    return place",
        killers=(
            "tests/exact/test_smooth_sensitivity.py::test_the_loss_of_place_and_scale_together_is_never_more_and_reached",
        ),
    ),
    Mutant(
        name="tests of means that trust rows to be normal",
        trap="a null hypothesis with less in it than the data may have",
        path="learn/significance/means.py",
        old="        leans = LEANS.get(groups, ((0,) * groups, (1,) * groups, (-1,) * groups))",
        new="        leans = ((0,) * groups,)",
        killers=(
            "tests/unit/learn/test_significance.py::test_no_true_null_hypothesis_is_rejected_more_often_than_the_level_says",
        ),
    ),
    Mutant(
        name="rows of one person drawn as if they were of many",
        trap="a null hypothesis with less in it than the data may have",
        path="learn/significance/means.py",
        old="        return np.asarray(np.maximum(self.counts[0] / law.together, 2.0))",
        new="        return np.asarray(np.maximum(self.counts[0], 2.0))",
        killers=(
            "tests/unit/learn/test_significance.py::test_no_true_null_hypothesis_is_rejected_more_often_than_the_level_says",
        ),
    ),
    Mutant(
        name="an interval of a quantile that begins at the last edge that passes",
        trap="many tests where one was paid for",
        path="learn/significance/quantiles.py",
        old="    low = int(np.argmin(np.append(few, False)))",
        new="    low = int(few.sum())",
        killers=("tests/unit/learn/test_intervals.py::test_one_edge_alone_ends_an_interval",),
    ),
)
"""Streams, codebooks, intervals."""

FAMILIES: tuple[tuple[Mutant, ...], ...] = (
    RANDOMNESS,
    ACCOUNTS,
    CORE,
    TRANSFORMS,
    MECHANISMS,
    COMBINATORS,
    LEDGER,
    QUERIES,
    OTHERS,
)
MUTANTS: tuple[Mutant, ...] = tuple(mutant for family in FAMILIES for mutant in family)
FIRST: tuple[Mutant, ...] = tuple(family[0] for family in FAMILIES)
"""One of each family: what every run looks at. The others, and all audits, have their time at night."""
