"""Public maps: what changes columns by stated facts alone. Nothing is learnt from data, so they cost nothing.

In front of a private estimator, in a pipeline, they leave its price as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.dp.reading import numbers
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.learn.columns import Between, Categories, Category, Column, Floats, check_stated, stated_column, unstated
from sfumato.learn.estimator import columns_of
from sfumato.transforms.gram import Coordinates


class PublicMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that changes each value by itself, by what was stated: ``fit`` looks at the names of columns."""

    n_features_in_: int

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803  # scikit-learn's name
        """Reads the names of the columns, and what was stated of them."""
        names, _ = columns_of(X)
        self._read(names)
        self.n_features_in_ = len(names)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X: object) -> Floats:  # noqa: N803
        """Changes every value by itself."""
        check_is_fitted(self, "n_features_in_")
        _, values = columns_of(X)
        if len(values) != self.n_features_in_:
            name, expected = type(self).__name__, self.n_features_in_
            raise ValueError(f"X has {len(values)} features, but {name} is expecting {expected} features as input")
        return np.concatenate([self._changed(place, part) for place, part in enumerate(values)], axis=1)

    @abstractmethod
    def _read(self, names: Sequence[str]) -> None:
        """Reads what was stated of each column."""

    @abstractmethod
    def _changed(self, place: int, values: object) -> Floats:
        """The columns that one column becomes."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@final
class Encoder(PublicMap):
    """Scales numbers by stated bounds to [−1, 1] and makes one column of 0 and 1 for each stated category.

    Values beyond bounds are moved to them, values that nobody stated are 0 in every column, and what is missing stays
    missing in numbers.

    >>> Encoder(between={"x0": (0, 10)}).fit_transform([[0.0], [5.0], [99.0]]).tolist()
    [[-1.0], [0.0], [1.0]]
    """

    columns_: tuple[Column, ...]

    def __init__(self, *, between: Between | None = None, categories: Categories | None = None) -> None:
        self.between, self.categories = between, categories

    def _read(self, names: Sequence[str]) -> None:
        check_stated(self.between, self.categories, names)
        stated = [stated_column(name, place, self.between, self.categories) for place, name in enumerate(names)]
        if missing := [name for name, one in zip(names, stated, strict=True) if one is None]:
            raise unstated(missing[0], table=False)
        self.columns_ = tuple(one for one in stated if one is not None)

    def _changed(self, place: int, values: object) -> Floats:
        column = self.columns_[place]
        encoded = column.encode(values)
        if not isinstance(column, Category):
            return encoded[:, None]
        return Coordinates((column.kind,)).rows(np.nan_to_num(encoded, nan=-1.0)[:, None])[:, 1:]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of the columns that `transform` gives."""
        return np.array([name for one in self.columns_ for name in one.names], dtype=object)


@final
class Binner(PublicMap):
    """Puts numbers into bins between stated edges: the number of the bin, from 0; what is missing stays missing.

    ``edges`` is one list for all columns, or one by the name of each; the first and the last bin are open.

    >>> Binner(edges=[0, 10]).fit_transform([[-5.0], [0.0], [99.0]]).tolist()
    [[0.0], [1.0], [2.0]]
    """

    edges_: list[Floats]

    def __init__(self, *, edges: Sequence[AnyNumber] | Mapping[str, Sequence[AnyNumber]] = ()) -> None:
        self.edges = edges

    def _read(self, names: Sequence[str]) -> None:
        listed = [self.edges.get(name, ()) if isinstance(self.edges, Mapping) else self.edges for name in names]
        self.edges_ = [np.asarray(one, dtype=np.float64) for one in listed]
        for name, one in zip(names, self.edges_, strict=True):
            if one.ndim != 1 or not len(one) or not np.isfinite(one).all() or (np.diff(one) <= 0).any():
                raise BadArgument(f"the edges of {name}", "one or more numbers that rise", one.tolist())

    def _changed(self, place: int, values: object) -> Floats:
        given = numbers(values)
        bins = np.searchsorted(self.edges_[place], given, side="right").astype(np.float64)
        return np.asarray(np.where(np.isnan(given), np.nan, bins)[:, None])

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of the columns, which stay as they are."""
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        return np.array(list(names), dtype=object)
