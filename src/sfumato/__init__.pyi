"""The public names and where they live: read by type checkers, and at run time to load each on first use."""

from . import attacks, audit, datasets, errors, ledger, noise, stats
from .accounting import events
from .accounting.account import Account, account
from .accounting.adaptive.advanced import AdvancedFilter
from .accounting.adaptive.filters import SumFilter, filter_for
from .accounting.adaptive.odometers import AnytimeOdometer, SumOdometer
from .accounting.adaptive.slots import Slots
from .accounting.advanced import advanced_composition, basic_composition, classic_advanced_epsilon, mixture_of_losses
from .accounting.amplify.curves_poisson import simplified_sampled_bound
from .accounting.amplify.population import chance_drawn, cluster_amplified, population_amplified
from .accounting.amplify.shuffle import shuffled_delta, shuffled_epsilon, shuffled_epsilon_closed
from .accounting.bracket import Bracket
from .accounting.codec import from_json, to_json
from .accounting.comparison import compare_accounting
from .accounting.compose import total
from .accounting.concentrated import GDP, ApproxZCDP
from .accounting.convert import convert, explain_route, routes, strength_graph
from .accounting.gaussian import (
    analytic_sigma,
    classical_sigma,
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    gaussian_delta,
    gaussian_epsilon,
)
from .accounting.guidance import odds_factor, posterior_cap, strength
from .accounting.meaning import Attacker, explain
from .accounting.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from .accounting.optimal import mixed_delta, mixed_epsilon, optimal_delta, optimal_epsilon
from .accounting.plans import calibrate_plan, greatest_rate, most_steps, noise_multiplier
from .accounting.pld import PLD
from .accounting.profile import Profile
from .accounting.relation import Relation
from .accounting.renyi import Renyi
from .accounting.renyi_conversion import (
    approx_zcdp_delta,
    approx_zcdp_epsilon,
    preserved_probability,
    renyi_delta,
    renyi_epsilon,
    renyi_order,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_epsilon_simple,
    zcdp_rho,
    zcdp_rho_simple,
)
from .accounting.shares import split
from .accounting.trade_off import TradeOff, gaussian_trade_off, trade_off
from .codebook.book import Codebook
from .combinators.best_of import best_of
from .combinators.interaction import adaptive_composition, concurrent_composition, filtered
from .combinators.odometer import Odometer, odometer
from .combinators.parallel import parallel
from .combinators.questions import Left, Spent
from .combinators.restated import measured_in
from .combinators.sampling import known_sample, on_fixed_sample, on_poisson_sample
from .combinators.strategy import asked_by
from .combinators.together import composition
from .combinators.tuning import best_of_all, random_candidate
from .core.brute import (
    brute_delta,
    brute_epsilon,
    brute_renyi,
    brute_sensitivity,
    neighbours,
    outcome_probabilities,
)
from .core.calibrate import calibrate, calibrate_parameter, calibrate_to_accuracy
from .core.custom import measurement, transformation
from .core.domains import Categories, Custom, Domain, Floats, Frame, Integers, Matrix, Stream, Texts, Vector
from .core.identifiers import Identifiers
from .core.measurement import Measurement
from .core.metrics import (
    L1,
    L2,
    Absolute,
    AddRemove,
    ChangeOne,
    Discrete,
    Hamming,
    LInf,
    Lp,
    Metric,
    Range,
    Unit,
    Windows,
    adjacent,
)
from .core.partial import Partial
from .core.parts import PartDistance, Parts
from .core.queryable import Queryable
from .core.space import Space, frame, matrix, scalar, vector
from .core.spread import Spread
from .core.transformation import Transformation
from .entropy import Entropy, ReplayEntropy, SystemEntropy
from .ledger.book import Ledger
from .ledger.register import Register
from .mechanisms.above_threshold import above_threshold, below_threshold
from .mechanisms.accuracy import accuracy, chance_of, error_of, scale_for_accuracy
from .mechanisms.additive import gaussian, laplace
from .mechanisms.direct import (
    dp_mean,
    exponential_mechanism,
    gaussian_mechanism,
    laplace_mechanism,
    randomized_answer,
)
from .mechanisms.estimators import (
    estimated_count,
    estimated_mean,
    estimated_precision,
    estimated_recall,
    estimated_share,
    estimated_shares,
    noisy_mode,
    valid_counts,
)
from .mechanisms.integer_noise import binomial, censored_laplace, staircase
from .mechanisms.local_reports import local_laplace, local_mean_response
from .mechanisms.matrix import channel, channel_delta, channel_epsilon, matrix_mechanism
from .mechanisms.matrix_comparison import compare
from .mechanisms.name_and_shame import delta_warning, name_and_shame
from .mechanisms.noisy_max import laplace_noisy_max, laplace_noisy_max_with_lead
from .mechanisms.propose_test_release import private_mode, propose_test_release
from .mechanisms.quantile import median, quantile, quantile_among
from .mechanisms.randomized_response import coin_flip_response, randomized_response
from .mechanisms.response_accuracy import plan_response, response_error, response_variance
from .mechanisms.selection import (
    candidate_of,
    exponential,
    exponential_error,
    exponential_of,
    gumbel_noisy_max,
    permute_and_flip,
    top_k,
)
from .mechanisms.sparse_vector import sparse_vector
from .mechanisms.stability import stability_histogram
from .mechanisms.timing import padded
from .mechanisms.truncated import lower_estimate, truncated_laplace, upper_estimate
from .query.engines.data_check import check_data
from .query.frame.columns import col, count_rows, count_units, lit, when
from .query.keysets import KeySet
from .release import charts
from .release.checklist import Checklist
from .release.claim import Claim, claim
from .release.estimate import Estimate
from .release.interval import Interval
from .release.publication import missing_for_publication
from .release.record import Failure, How, Release
from .release.registry import RegistryEntry
from .release.table import ReleaseTable
from .transforms.aggregate import count, count_distinct, mean, sum
from .transforms.bands import log_bands
from .transforms.casts import absolute, bin_by, cast, log
from .transforms.columns import project, select
from .transforms.conditions import between, is_in, is_nan, satisfies
from .transforms.confusion import positives, true_positives
from .transforms.filters import drop_nan, keep, mark
from .transforms.groups import group_by
from .transforms.histogram import count_by, count_each, rows_from_counts
from .transforms.identifiers import count_identifiers, one_each
from .transforms.keyed import sizes, sums
from .transforms.linear import linear
from .transforms.lookup import local_sensitivity, sensitivity_table
from .transforms.mode_gap import mode_gap
from .transforms.moments import standard_deviation, variance
from .transforms.norms import norm_clamp
from .transforms.parts import equal_parts, random_parts
from .transforms.query_stream import query_stream
from .transforms.reshape import repeat, resize
from .transforms.rowwise import clamp, impute_nan, map_rows
from .transforms.sample_and_aggregate import sample_and_aggregate
from .transforms.scalars import lipschitz, round_to, scale_by, shift_by, square
from .transforms.scores import (
    accuracy_scores,
    as_range,
    mode_scores,
    quantile_scores,
    revenue_scores,
    threshold_accuracy_scores,
)
from .transforms.streams import batches, negated, sum_stream
from .transforms.truncate import truncate
from .transforms.truncate_groups import truncate_groups
from .transforms.vectors import vector_mean, vector_sum

__version__: str
from .session.dataset import Dataset
from .session.members import Members
from .session.session import Session
from .session.tables import Person

__all__ = [
    "GDP",
    "L1",
    "L2",
    "PLD",
    "ZCDP",
    "Absolute",
    "Account",
    "AddRemove",
    "AdvancedFilter",
    "AnytimeOdometer",
    "Approx",
    "ApproxZCDP",
    "Attacker",
    "BoundedRange",
    "Bracket",
    "Categories",
    "ChangeOne",
    "Checklist",
    "Claim",
    "Codebook",
    "Custom",
    "Dataset",
    "Discrete",
    "Domain",
    "Entropy",
    "Estimate",
    "Failure",
    "Floats",
    "Frame",
    "Hamming",
    "How",
    "Identifiers",
    "Integers",
    "Interval",
    "KeySet",
    "LInf",
    "Ledger",
    "Left",
    "Loss",
    "Lp",
    "Matrix",
    "Measurement",
    "Members",
    "Metric",
    "Odometer",
    "PartDistance",
    "Partial",
    "Parts",
    "Person",
    "Profile",
    "Pure",
    "Queryable",
    "Range",
    "Register",
    "RegistryEntry",
    "Relation",
    "Release",
    "ReleaseTable",
    "Renyi",
    "ReplayEntropy",
    "Session",
    "Slots",
    "Space",
    "Spent",
    "Spread",
    "Stream",
    "SumFilter",
    "SumOdometer",
    "SystemEntropy",
    "Texts",
    "TradeOff",
    "Transformation",
    "Unit",
    "Vector",
    "Windows",
    "above_threshold",
    "absolute",
    "account",
    "accuracy",
    "accuracy_scores",
    "adaptive_composition",
    "adjacent",
    "advanced_composition",
    "analytic_sigma",
    "approx_zcdp_delta",
    "approx_zcdp_epsilon",
    "as_range",
    "asked_by",
    "attacks",
    "audit",
    "basic_composition",
    "batches",
    "below_threshold",
    "best_of",
    "best_of_all",
    "between",
    "bin_by",
    "binomial",
    "brute_delta",
    "brute_epsilon",
    "brute_renyi",
    "brute_sensitivity",
    "calibrate",
    "calibrate_parameter",
    "calibrate_plan",
    "calibrate_to_accuracy",
    "candidate_of",
    "cast",
    "censored_laplace",
    "chance_drawn",
    "chance_of",
    "channel",
    "channel_delta",
    "channel_epsilon",
    "charts",
    "check_data",
    "claim",
    "clamp",
    "classic_advanced_epsilon",
    "classical_sigma",
    "cluster_amplified",
    "coin_flip_response",
    "col",
    "compare",
    "compare_accounting",
    "composition",
    "concurrent_composition",
    "convert",
    "count",
    "count_by",
    "count_distinct",
    "count_each",
    "count_identifiers",
    "count_rows",
    "count_units",
    "datasets",
    "delta_warning",
    "discrete_gaussian_delta",
    "discrete_gaussian_epsilon",
    "dp_mean",
    "drop_nan",
    "equal_parts",
    "error_of",
    "errors",
    "estimated_count",
    "estimated_mean",
    "estimated_precision",
    "estimated_recall",
    "estimated_share",
    "estimated_shares",
    "events",
    "explain",
    "explain_route",
    "exponential",
    "exponential_error",
    "exponential_mechanism",
    "exponential_of",
    "filter_for",
    "filtered",
    "frame",
    "from_json",
    "gaussian",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mechanism",
    "gaussian_trade_off",
    "greatest_rate",
    "group_by",
    "gumbel_noisy_max",
    "impute_nan",
    "is_in",
    "is_nan",
    "keep",
    "known_sample",
    "laplace",
    "laplace_mechanism",
    "laplace_noisy_max",
    "laplace_noisy_max_with_lead",
    "ledger",
    "linear",
    "lipschitz",
    "lit",
    "local_laplace",
    "local_mean_response",
    "local_sensitivity",
    "log",
    "log_bands",
    "lower_estimate",
    "map_rows",
    "mark",
    "matrix",
    "matrix_mechanism",
    "mean",
    "measured_in",
    "measurement",
    "median",
    "missing_for_publication",
    "mixed_delta",
    "mixed_epsilon",
    "mixture_of_losses",
    "mode_gap",
    "mode_scores",
    "most_steps",
    "name_and_shame",
    "negated",
    "neighbours",
    "noise",
    "noise_multiplier",
    "noisy_mode",
    "norm_clamp",
    "odds_factor",
    "odometer",
    "on_fixed_sample",
    "on_poisson_sample",
    "one_each",
    "optimal_delta",
    "optimal_epsilon",
    "outcome_probabilities",
    "padded",
    "parallel",
    "permute_and_flip",
    "plan_response",
    "population_amplified",
    "positives",
    "posterior_cap",
    "preserved_probability",
    "private_mode",
    "project",
    "propose_test_release",
    "quantile",
    "quantile_among",
    "quantile_scores",
    "query_stream",
    "random_candidate",
    "random_parts",
    "randomized_answer",
    "randomized_response",
    "renyi_delta",
    "renyi_epsilon",
    "renyi_order",
    "repeat",
    "resize",
    "response_error",
    "response_variance",
    "revenue_scores",
    "round_to",
    "routes",
    "rows_from_counts",
    "sample_and_aggregate",
    "satisfies",
    "scalar",
    "scale_by",
    "scale_for_accuracy",
    "select",
    "sensitivity_table",
    "shift_by",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_epsilon_closed",
    "simplified_sampled_bound",
    "sizes",
    "sparse_vector",
    "split",
    "square",
    "stability_histogram",
    "staircase",
    "standard_deviation",
    "stats",
    "strength",
    "strength_graph",
    "sum",
    "sum_stream",
    "sums",
    "threshold_accuracy_scores",
    "to_json",
    "top_k",
    "total",
    "trade_off",
    "transformation",
    "true_positives",
    "truncate",
    "truncate_groups",
    "truncated_laplace",
    "upper_estimate",
    "valid_counts",
    "variance",
    "vector",
    "vector_mean",
    "vector_sum",
    "when",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_epsilon_simple",
    "zcdp_rho",
    "zcdp_rho_simple",
]
