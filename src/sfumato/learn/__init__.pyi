from .boosting import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from .clusters import KMeans
from .columns import Category, Number
from .comparing import EstimatorComparison, compare
from .components import PCA, Covariance
from .curves import Curves
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .naive_bayes import NaiveBayes
from .risk_models import HuberRegressor, LinearSVC, LogisticRegression, PoissonRegressor
from .saving import load, save
from .scaling import Binner, Encoder, PolynomialFeatures, SimpleImputer
from .scoring import Score
from .search import GridSearch, RandomizedSearch
from .significance.counts import chi_square_test
from .significance.finding import Finding, IntervalEstimate
from .significance.intervals import mean_interval
from .significance.means import anova, power_of_t_test, t_test
from .significance.quantiles import quantile_interval
from .significance.ranks import rank_test, signed_rank_test
from .significance.relations import correlation_test
from .significance.shares import proportion_interval, proportion_test
from .significance.spreads import variance_interval
from .standardizing import QuantileTransformer, StandardScaler
from .theil_sen import TheilSenRegressor
from .totals import total_loss
from .trees import AdaBoostClassifier, DecisionTreeClassifier, RandomForestClassifier
from .trees_rules import entropy, mutual_information

__all__ = [
    "PCA",
    "AdaBoostClassifier",
    "Binner",
    "Category",
    "Covariance",
    "Curves",
    "DecisionTreeClassifier",
    "Encoder",
    "EstimatorComparison",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "Finding",
    "GridSearch",
    "HuberRegressor",
    "IntervalEstimate",
    "KMeans",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "NaiveBayes",
    "Number",
    "PoissonRegressor",
    "PolynomialFeatures",
    "PrivateEstimator",
    "QuantileTransformer",
    "RandomForestClassifier",
    "RandomizedSearch",
    "Score",
    "SimpleImputer",
    "StandardScaler",
    "TheilSenRegressor",
    "anova",
    "chi_square_test",
    "compare",
    "correlation_test",
    "entropy",
    "load",
    "mean_interval",
    "mutual_information",
    "power_of_t_test",
    "proportion_interval",
    "proportion_test",
    "quantile_interval",
    "rank_test",
    "save",
    "signed_rank_test",
    "t_test",
    "total_loss",
    "variance_interval",
]
