from .columns import Category, Number
from .estimator import PrivateEstimator
from .risk_models import LinearSVC, LogisticRegression, PoissonRegressor

__all__ = ["Category", "LinearSVC", "LogisticRegression", "Number", "PoissonRegressor", "PrivateEstimator"]
