from .columns import Category, Number
from .estimator import PrivateEstimator
from .linear import LinearRegression
from .naive_bayes import NaiveBayes

__all__ = ["Category", "LinearRegression", "NaiveBayes", "Number", "PrivateEstimator"]
