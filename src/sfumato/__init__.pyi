"""The public names and where they live: read by type checkers, and at run time to load each on first use."""

from . import (
    accounting,
    attacks,
    audit,
    charts,
    codebook,
    combinators,
    datasets,
    dp,
    entropy,
    errors,
    learn,
    ledger,
    local,
    mechanisms,
    noise,
    planning,
    release,
    stats,
    synth,
    templates,
    textbook,
    train,
    transforms,
)
from .accounting import events, meaning
from .accounting.compose import total
from .accounting.convert.convert import convert
from .accounting.losses.concentrated import GDP, ApproxZCDP
from .accounting.losses.measures import ZCDP, Approx, Loss, Pure
from .accounting.losses.pld import PLD
from .accounting.losses.profile import Profile
from .accounting.losses.renyi import Renyi
from .accounting.plans.account import account
from .accounting.plans.calibration import noise_multiplier
from .accounting.plans.shares import split
from .codebook.book import Codebook
from .combinators.analysis import analysis
from .combinators.best_of import best_of
from .combinators.composition import composition
from .combinators.converted import convert_measure
from .combinators.interaction import adaptive_composition, privacy_filter
from .combinators.odometer import odometer
from .combinators.parallel import parallel
from .combinators.sampling import on_fixed_sample, on_poisson_sample
from .core import domains, metrics
from .core.calibrate import accuracy, calibrate, calibrate_parameter, calibrate_to_accuracy
from .core.custom import measurement, transformation
from .core.domains import Categories, Floats, Integers
from .core.grouped_distance import GroupedDistance
from .core.identifiers import Identifiers
from .core.measurement import Measurement
from .core.metrics import L1, L2, AddRemove, ChangeOne, LInf, Unit
from .core.partial import Partial
from .core.parts import PartDistance, Parts
from .core.queryable import Left, Queryable, Spent
from .core.space import Space, frame, matrix, scalar, vector
from .core.targets import fit_targets
from .core.transformation import Transformation
from .ledger.ledger import Ledger
from .mechanisms.above_threshold import above_threshold, below_threshold
from .mechanisms.additive import gaussian, laplace
from .mechanisms.propose_test_release import propose_test_release
from .mechanisms.quantile import median, quantile
from .mechanisms.randomized_response import randomized_response
from .mechanisms.selection import exponential, permute_and_flip, top_k
from .mechanisms.sparse_vector import sparse_vector
from .mechanisms.stability import stability_histogram
from .planning.making import plan
from .planning.wishes import wanted
from .query import engines
from .query.engines.data_check import check_data
from .query.frame.columns import col, count_rows, count_units, lit, when
from .query.nodes.keysets import KeySet
from .release.claim import claim
from .release.record import Release
from .remote.session import connect
from .session.dataset import Dataset
from .session.members import Members
from .session.open_data import Person
from .session.session import Session
from .transforms.aggregate import count, count_distinct, mean, sum
from .transforms.casts import bin_by, cast
from .transforms.columns import project, select
from .transforms.conditions import between, is_in, is_nan, satisfies
from .transforms.filters import drop_nan, keep
from .transforms.groups import group_by
from .transforms.histogram import count_by
from .transforms.identifiers import count_identifiers, one_each
from .transforms.linear import linear
from .transforms.moments import standard_deviation, variance
from .transforms.norms import norm_clamp
from .transforms.query_stream import query_stream
from .transforms.reshape import resize
from .transforms.rowwise import clamp, impute_nan, map_rows
from .transforms.sample_and_aggregate import sample_and_aggregate
from .transforms.streams import batches
from .transforms.truncate import truncate
from .transforms.truncate_groups import truncate_groups

__version__: str

__all__ = [
    "GDP",
    "L1",
    "L2",
    "PLD",
    "ZCDP",
    "AddRemove",
    "Approx",
    "ApproxZCDP",
    "Categories",
    "ChangeOne",
    "Codebook",
    "Dataset",
    "Floats",
    "GroupedDistance",
    "Identifiers",
    "Integers",
    "KeySet",
    "LInf",
    "Ledger",
    "Left",
    "Loss",
    "Measurement",
    "Members",
    "PartDistance",
    "Partial",
    "Parts",
    "Person",
    "Profile",
    "Pure",
    "Queryable",
    "Release",
    "Renyi",
    "Session",
    "Space",
    "Spent",
    "Transformation",
    "Unit",
    "above_threshold",
    "account",
    "accounting",
    "accuracy",
    "adaptive_composition",
    "analysis",
    "attacks",
    "audit",
    "batches",
    "below_threshold",
    "best_of",
    "between",
    "bin_by",
    "calibrate",
    "calibrate_parameter",
    "calibrate_to_accuracy",
    "cast",
    "charts",
    "check_data",
    "claim",
    "clamp",
    "codebook",
    "col",
    "combinators",
    "composition",
    "connect",
    "convert",
    "convert_measure",
    "count",
    "count_by",
    "count_distinct",
    "count_identifiers",
    "count_rows",
    "count_units",
    "datasets",
    "domains",
    "dp",
    "drop_nan",
    "engines",
    "entropy",
    "errors",
    "events",
    "exponential",
    "fit_targets",
    "frame",
    "gaussian",
    "group_by",
    "impute_nan",
    "is_in",
    "is_nan",
    "keep",
    "laplace",
    "learn",
    "ledger",
    "linear",
    "lit",
    "local",
    "map_rows",
    "matrix",
    "mean",
    "meaning",
    "measurement",
    "mechanisms",
    "median",
    "metrics",
    "noise",
    "noise_multiplier",
    "norm_clamp",
    "odometer",
    "on_fixed_sample",
    "on_poisson_sample",
    "one_each",
    "parallel",
    "permute_and_flip",
    "plan",
    "planning",
    "privacy_filter",
    "project",
    "propose_test_release",
    "quantile",
    "query_stream",
    "randomized_response",
    "release",
    "resize",
    "sample_and_aggregate",
    "satisfies",
    "scalar",
    "select",
    "sparse_vector",
    "split",
    "stability_histogram",
    "standard_deviation",
    "stats",
    "sum",
    "synth",
    "templates",
    "textbook",
    "top_k",
    "total",
    "train",
    "transformation",
    "transforms",
    "truncate",
    "truncate_groups",
    "variance",
    "vector",
    "wanted",
    "when",
]
