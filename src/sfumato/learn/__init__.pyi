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
from .significance.finding import Finding
from .significance.means import anova, power_of_t_test, t_test
from .significance.ranks import rank_test, signed_rank_test
from .significance.relations import correlation_test
from .significance.shares import proportion_test
from .trees import AdaBoostClassifier, DecisionTreeClassifier, RandomForestClassifier
from .trees_rules import entropy, mutual_information

__all__ = [
    "PCA",
    "AdaBoostClassifier",
    "Binner",
    "Category",
    "Covariance",
    "DecisionTreeClassifier",
    "Encoder",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "Finding",
    "HuberRegressor",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "NaiveBayes",
    "Number",
    "PoissonRegressor",
    "PrivateEstimator",
    "RandomForestClassifier",
    "Score",
    "anova",
    "chi_square_test",
    "correlation_test",
    "entropy",
    "load",
    "mutual_information",
    "power_of_t_test",
    "proportion_test",
    "rank_test",
    "save",
    "signed_rank_test",
    "t_test",
]
