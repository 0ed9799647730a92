from .boosting import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from .columns import Category, Number
from .components import PCA, Covariance
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .naive_bayes import NaiveBayes
from .risk_models import HuberRegressor, LinearSVC, LogisticRegression, PoissonRegressor
from .saving import load, save
from .scaling import Binner, Encoder
from .scoring import Score
from .significance.counts import chi_square_test
from .significance.finding import Finding, IntervalEstimate
from .significance.intervals import mean_interval
from .significance.means import anova, power_of_t_test, t_test
from .significance.quantiles import quantile_interval
from .significance.ranks import rank_test, signed_rank_test
from .significance.relations import correlation_test
from .significance.shares import proportion_interval, proportion_test
from .significance.spreads import variance_interval

__all__ = [
    "PCA",
    "Binner",
    "Category",
    "Covariance",
    "Encoder",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "Finding",
    "HuberRegressor",
    "IntervalEstimate",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "NaiveBayes",
    "Number",
    "PoissonRegressor",
    "PrivateEstimator",
    "Score",
    "anova",
    "chi_square_test",
    "correlation_test",
    "load",
    "mean_interval",
    "power_of_t_test",
    "proportion_interval",
    "proportion_test",
    "quantile_interval",
    "rank_test",
    "save",
    "signed_rank_test",
    "t_test",
    "variance_interval",
]
