"""What goes wrong without differential privacy, and that it stops with it."""

from sfumato.attacks import protections, toy_models
from sfumato.attacks.anonymity import Anonymity, Candidates, EquivalenceClass, anonymity, homogeneity, intersection
from sfumato.attacks.attribute import Guessed, attribute
from sfumato.attacks.averaging import (
    Averages,
    SeededNoise,
    Stripped,
    averaged_deviation,
    averaging,
    rephrasing,
    seed_recovery,
)
from sfumato.attacks.before_after import Tolerable, before_and_after, tolerable_epsilon
from sfumato.attacks.coarsening import Departure, departures, offset_mean, range_of_mean, rounded_mean, swapped_mean
from sfumato.attacks.differencing import (
    Differences,
    DifferenceVariance,
    difference,
    difference_variance,
    differencing,
    differencing_over_time,
    recommender,
    unanimous_groups,
    value_from_means,
)
from sfumato.attacks.exposure import Canary, Exposure, canary, exposure
from sfumato.attacks.fitting import divided
from sfumato.attacks.floating_point import DoubleLaplace, combined_laplace, floating_point, textbook_laplace
from sfumato.attacks.gallery import GALLERY, Defeat
from sfumato.attacks.history import FAILED_ANONYMISATIONS, UNIQUENESS_ESTIMATES
from sfumato.attacks.inversion import Inverted, inversion
from sfumato.attacks.k_anonymity import Bands, Generalised, Prefix, Rule, generalisation_losses, generalise
from sfumato.attacks.linkage import Links, Match, background_knowledge, linkage, refined
from sfumato.attacks.local_tables import LocalCosts, LocalTable, local_costs, local_linkage, local_microdata
from sfumato.attacks.membership import Detection, confidence, membership
from sfumato.attacks.memorisation import Memorisation, memorisation
from sfumato.attacks.oracles import Oracle
from sfumato.attacks.queries import HashedPredicates, random_queries, table_queries
from sfumato.attacks.reach import Beyond, Excluded, support
from sfumato.attacks.reconstruction import Reconstruction, reconstruct, reconstruction
from sfumato.attacks.response import Broken, broken_response
from sfumato.attacks.result import Attack, Comparison, Success, Violation, sweep
from sfumato.attacks.shadow import lira, shadow_models
from sfumato.attacks.singling_out import Isolated, refusals, singling_out, stepping
from sfumato.attacks.synthetic import nearest_synthetic, shadow_synthesis
from sfumato.attacks.timing import Timed, sampler_timing, timing
from sfumato.attacks.tracing import (
    Trace,
    Traced,
    exact_means,
    private_means,
    tracing,
    tracing_experiment,
    tracing_threshold,
)
from sfumato.attacks.uniqueness import ClassSizes, Lone, Uniqueness, lone_keys, uniqueness

__all__ = [
    "FAILED_ANONYMISATIONS",
    "GALLERY",
    "UNIQUENESS_ESTIMATES",
    "Anonymity",
    "Attack",
    "Averages",
    "Bands",
    "Beyond",
    "Broken",
    "Canary",
    "Candidates",
    "ClassSizes",
    "Comparison",
    "Defeat",
    "Departure",
    "Detection",
    "DifferenceVariance",
    "Differences",
    "DoubleLaplace",
    "EquivalenceClass",
    "Excluded",
    "Exposure",
    "Generalised",
    "Guessed",
    "HashedPredicates",
    "Inverted",
    "Isolated",
    "Links",
    "LocalCosts",
    "LocalTable",
    "Lone",
    "Match",
    "Memorisation",
    "Oracle",
    "Prefix",
    "Reconstruction",
    "Rule",
    "SeededNoise",
    "Stripped",
    "Success",
    "Timed",
    "Tolerable",
    "Trace",
    "Traced",
    "Uniqueness",
    "Violation",
    "anonymity",
    "attribute",
    "averaged_deviation",
    "averaging",
    "background_knowledge",
    "before_and_after",
    "broken_response",
    "canary",
    "combined_laplace",
    "confidence",
    "departures",
    "difference",
    "difference_variance",
    "differencing",
    "differencing_over_time",
    "divided",
    "exact_means",
    "exposure",
    "floating_point",
    "generalisation_losses",
    "generalise",
    "homogeneity",
    "intersection",
    "inversion",
    "linkage",
    "lira",
    "local_costs",
    "local_linkage",
    "local_microdata",
    "lone_keys",
    "membership",
    "memorisation",
    "nearest_synthetic",
    "offset_mean",
    "private_means",
    "protections",
    "random_queries",
    "range_of_mean",
    "recommender",
    "reconstruct",
    "reconstruction",
    "refined",
    "refusals",
    "rephrasing",
    "rounded_mean",
    "sampler_timing",
    "seed_recovery",
    "shadow_models",
    "shadow_synthesis",
    "singling_out",
    "stepping",
    "support",
    "swapped_mean",
    "sweep",
    "table_queries",
    "textbook_laplace",
    "timing",
    "tolerable_epsilon",
    "toy_models",
    "tracing",
    "tracing_experiment",
    "tracing_threshold",
    "unanimous_groups",
    "uniqueness",
    "value_from_means",
]
