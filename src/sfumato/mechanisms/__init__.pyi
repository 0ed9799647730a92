from .cube import coordinate_variances, k_norm
from .estimators import (
    estimated_count,
    estimated_mean,
    estimated_precision,
    estimated_recall,
    estimated_share,
    estimated_shares,
    noisy_mode,
    valid_counts,
)
from .integer_noise import binomial, censored_laplace, staircase
from .local_reports import local_laplace, local_mean_response
from .matrix_mechanism import channel, channel_delta, channel_epsilon, matrix_mechanism
from .noisy_max import laplace_noisy_max, laplace_noisy_max_with_lead
from .padding import padded
from .propose_test_release import private_mode
from .quantile import quantile_among
from .randomized_response import coin_flip_response
from .selection import candidate_of, exponential_of, gumbel_noisy_max
from .smooth_sensitivity import smooth_trimmed_mean
from .truncated import lower_estimate, truncated_laplace, upper_estimate

__all__ = [
    "binomial",
    "candidate_of",
    "censored_laplace",
    "channel",
    "channel_delta",
    "channel_epsilon",
    "coin_flip_response",
    "coordinate_variances",
    "estimated_count",
    "estimated_mean",
    "estimated_precision",
    "estimated_recall",
    "estimated_share",
    "estimated_shares",
    "exponential_of",
    "gumbel_noisy_max",
    "k_norm",
    "laplace_noisy_max",
    "laplace_noisy_max_with_lead",
    "local_laplace",
    "local_mean_response",
    "lower_estimate",
    "matrix_mechanism",
    "noisy_mode",
    "padded",
    "private_mode",
    "quantile_among",
    "smooth_trimmed_mean",
    "staircase",
    "truncated_laplace",
    "upper_estimate",
    "valid_counts",
]
