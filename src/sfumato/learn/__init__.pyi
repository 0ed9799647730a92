from .columns import Category, Number
from .components import PCA, Covariance
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .risk_models import HuberRegressor, LinearSVC, LogisticRegression, PoissonRegressor
from .saving import load, save
from .scaling import Binner, Encoder

__all__ = [
    "PCA",
    "Binner",
    "Category",
    "Covariance",
    "Encoder",
    "HuberRegressor",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Number",
    "PoissonRegressor",
    "PrivateEstimator",
    "load",
    "save",
]
