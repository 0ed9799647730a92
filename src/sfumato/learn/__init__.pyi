from .columns import Category, Number
from .components import PCA, Covariance
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .scaling import Binner, Encoder

__all__ = ["PCA", "Binner", "Category", "Covariance", "Encoder", "LinearRegression", "Number", "PrivateEstimator"]
