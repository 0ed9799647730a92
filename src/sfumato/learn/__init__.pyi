from .boosting import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from .columns import Category, Number
from .components import PCA, Covariance
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .naive_bayes import NaiveBayes
from .risk_models import HuberRegressor, LinearSVC, LogisticRegression, PoissonRegressor
from .saving import load, save
from .scaling import Binner, Encoder

__all__ = [
    "PCA",
    "Binner",
    "Category",
    "Covariance",
    "Encoder",
    "ExplainableBoostingClassifier",
    "ExplainableBoostingRegressor",
    "HuberRegressor",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "NaiveBayes",
    "Number",
    "PoissonRegressor",
    "PrivateEstimator",
    "load",
    "save",
]
