from .columns import Category, Number
from .components import PCA, Covariance
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .saving import load, save
from .scaling import Binner, Encoder
from .scoring import Score

__all__ = [
    "PCA",
    "Binner",
    "Category",
    "Covariance",
    "Encoder",
    "LinearRegression",
    "Number",
    "PrivateEstimator",
    "Score",
    "load",
    "save",
]
