from .columns import Category, Number
from .estimator import PrivateEstimator

__all__ = ["Category", "Number", "PrivateEstimator"]
