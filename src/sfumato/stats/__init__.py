"""Algorithms on data: bounds, quantiles, hierarchies, histograms, means, clusters and streams, built from the core."""

from sfumato.mechanisms.unknown_keys import histogram, select_keys
from sfumato.stats.bounds import bounds_by_histogram
from sfumato.stats.clustering import Clustering, clustering_score, k_means, scored_k_means
from sfumato.stats.consistency import consistent_layers
from sfumato.stats.correlated import AtSteps, correlated_noise, step_vectors, sums_error
from sfumato.stats.hierarchies import hierarchical_counts
from sfumato.stats.histograms import consistent_counts
from sfumato.stats.keys import top_keys
from sfumato.stats.means import LocatedMean, mean_without_bounds
from sfumato.stats.quantiles import bounds_by_quantiles, quantiles
from sfumato.stats.robust import smooth_median, trimmed_mean
from sfumato.stats.streams import running_counts
from sfumato.stats.trees import Tree, tree
from sfumato.stats.truncation import TruncationError, covering, mape, truncation_errors
from sfumato.transforms.bands import log_bands

__all__ = [
    "AtSteps",
    "Clustering",
    "LocatedMean",
    "Tree",
    "TruncationError",
    "bounds_by_histogram",
    "bounds_by_quantiles",
    "clustering_score",
    "consistent_counts",
    "consistent_layers",
    "correlated_noise",
    "covering",
    "hierarchical_counts",
    "histogram",
    "k_means",
    "log_bands",
    "mape",
    "mean_without_bounds",
    "quantiles",
    "running_counts",
    "scored_k_means",
    "select_keys",
    "smooth_median",
    "step_vectors",
    "sums_error",
    "top_keys",
    "tree",
    "trimmed_mean",
    "truncation_errors",
]
