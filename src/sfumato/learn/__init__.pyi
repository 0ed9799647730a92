from .columns import Category, Number
from .estimator import PrivateEstimator
from .linear import LinearRegression

__all__ = ["Category", "LinearRegression", "Number", "PrivateEstimator"]
