"""What every estimator is kept from: half a fit, a loss that buys no model, predictions that remember rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from sklearn.base import BaseEstimator

from sfumato.accounting.losses import stated
from sfumato.accounting.losses.measures import Additive, Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.claim import Claim

LEAST = Fraction(1, 10**100)
"""A loss that is less buys no model: its noise, or the square of it, is no float."""

ONE_ROW = Claim("what this model predicts for a row is a function of that row alone, and leaves no trace elsewhere")
"""What has to hold of estimators that are not sfumato's own, and is printed with their scores."""

Model = TypeVar("Model")
Given = ParamSpec("Given")
Outcome = TypeVar("Outcome")


def all_or_nothing(fit: Callable[Concatenate[Model, Given], Outcome]) -> Callable[Concatenate[Model, Given], Outcome]:
    """Lets a fit that is refused leave the model as it was: new columns beside old numbers would predict nonsense."""

    @wraps(fit)
    def fitting(model: Model, /, *args: Given.args, **kwargs: Given.kwargs) -> Outcome:
        before = dict(vars(model))
        try:
            return fit(model, *args, **kwargs)
        except BaseException:
            vars(model).clear()
            vars(model).update(before)
            raise

    return fitting


def needed_loss(loss: object, epsilon: Number | None, delta: Number | None) -> Loss:
    """Reads the loss that a model is bought for; refuses nothing, next to nothing, and infinity, before all else."""
    paid = stated.needed_loss(loss, epsilon, delta)
    if isinstance(paid, Additive) and not LEAST <= paid.amounts[0] < math.inf:
        raise BadArgument("loss", "finite, and at least 1e-100: of less, noise is more than floats hold", paid)
    return paid


def own(model: BaseEstimator) -> bool:
    """Tells whether a model is of a class of sfumato's own, whose predictions are known to look at one row each."""
    return type(model).__module__.startswith("sfumato.learn.")


def for_one_row(model: BaseEstimator) -> BaseEstimator:
    """The model that predicts for one row: of classes that others wrote a copy, so that it remembers no row."""
    return model if own(model) else deepcopy(model)


def name_of(model: BaseEstimator) -> str:
    """Tells a model from others by all that it holds; one that holds what cannot be written, by itself."""
    from sfumato.learn.saving import SAVED  # which knows all estimators

    try:
        return repr([(name, SAVED.write(held)) for name, held in sorted(vars(model).items())])
    except BadArgument:
        return f"{type(model).__qualname__} {id(model)}"
