"""Public maps: what changes columns by stated facts alone. Nothing is learnt from data, so they cost nothing.

In front of a private estimator, in a pipeline, they leave its price as it is: on arrays, and on tables, where the
engine works out what they make of each row when the estimator asks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations, combinations_with_replacement
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.dp.reading import as_list, is_missing, numbers
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import (
    Between,
    Categories,
    Category,
    Column,
    Floats,
    check_stated,
    known_column,
    stated_column,
    unstated,
)
from sfumato.learn.prepared import Prepared, prepared
from sfumato.learn.sources import columns_of
from sfumato.query.frame import Frame
from sfumato.query.nodes.catalog import column_named
from sfumato.query.nodes.expressions import Column as Field
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.plan.stable import Binned, Coded
from sfumato.transforms.gram import Coordinates

MOST_TERMS = 10_000
"""A row has at most this many products."""


class PublicMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that changes each row by itself, by what was stated: ``fit`` looks at the names of columns.

    Of a table of a session it changes the columns ``features`` (left out: all of which the codebook says enough, but
    for the id and the target that ``y`` names), and what it gives is a table again, for the next step of a pipeline.
    """

    n_features_in_: int

    def fit(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        features: Sequence[str] | None = None,
    ) -> Self:
        """Reads the names of the columns, and what was stated of them."""
        if isinstance(X, Frame | Prepared):
            frame, names = self._asked_of(X, y, features)
        elif features is not None:
            raise BadArgument("features", "left out, where arrays are given", "given")
        else:
            frame, (names, _) = None, columns_of(X)
        self._read(names, frame)
        self.n_features_in_ = len(names)
        if frame is not None or hasattr(X, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _asked_of(self, table: Frame | Prepared, y: object, features: Sequence[str] | None) -> tuple[Frame, list[str]]:
        """The table and the names of the columns to change."""
        if y is not None and not isinstance(y, str):
            raise BadArgument("y", "the name of the target, where X is a table: fit(table, 'income')", "given")
        frame = table.frame if isinstance(table, Prepared) else table
        if features is not None:
            chosen = [column_named(str(name), frame.relation.fields, "this table").name for name in features]
        elif isinstance(table, Prepared):
            chosen = list(table.features)
        else:
            fields = [one for one in frame.relation.fields if one.unit is None and one.name != y]
            chosen = [one.name for one in fields if self._knows(one.name, frame)]
        if not chosen or len(set(chosen)) != len(chosen) or y in chosen:
            raise BadArgument("features", "one or more columns, none twice, and not the target", chosen)
        return frame, chosen

    def _knows(self, name: str, frame: Frame) -> bool:
        """Tells whether enough is known of a column of a table to change it."""
        return known_column(name, frame.relation) is not None

    def transform(self, X: object) -> Any:  # noqa: N803
        """Changes every row by itself."""
        check_is_fitted(self, "n_features_in_")
        if isinstance(X, Frame | Prepared):
            return self._of_table(X)
        _, values = columns_of(X)
        if len(values) != self.n_features_in_:
            name, expected = type(self).__name__, self.n_features_in_
            raise ValueError(f"X has {len(values)} features, but {name} is expecting {expected} features as input")
        return self._changed(values)

    def _of_table(self, table: Frame | Prepared) -> Prepared:
        names: Sequence[str] | None = getattr(self, "feature_names_in_", None)
        if names is None:
            raise BadArgument("X", "rows as those that were fitted on: columns without names are no table's", "a table")
        held = prepared(table, list(names))
        fields = [column_named(name, held.frame.relation.fields, "this table") for name in held.features]
        return held.changed(dict(zip(self.get_feature_names_out().tolist(), self._expressed(fields), strict=True)))

    @abstractmethod
    def _read(self, names: Sequence[str], frame: Frame | None) -> None:
        """Reads what was stated of each column, or what the codebook of a table says."""

    @abstractmethod
    def _changed(self, columns: Sequence[Any]) -> np.ndarray[Any, Any]:
        """What rows become."""

    @abstractmethod
    def _expressed(self, fields: Sequence[Field]) -> list[Expression]:
        """The same for a table: expressions that the engine works out."""

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of the columns that `transform` gives; as a rule those that it took."""
        check_is_fitted(self, "n_features_in_")
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        return np.array(list(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@final
class Encoder(PublicMap):
    """Scales numbers by stated bounds to [−1, 1] and makes one column of 0 and 1 for each stated category.

    Values beyond bounds are moved to them, values that nobody stated are 0 in every column, and what is missing stays
    missing in numbers. Of a table, what the codebook says need not be stated again.

    >>> Encoder(between={"x0": (0, 10)}).fit_transform([[0.0], [5.0], [99.0]]).tolist()
    [[-1.0], [0.0], [1.0]]
    """

    columns_: tuple[Column, ...]

    def __init__(self, *, between: Between | None = None, categories: Categories | None = None) -> None:
        self.between, self.categories = between, categories

    def _knows(self, name: str, frame: Frame) -> bool:
        stated = stated_column(name, 0, self.between, self.categories)
        return stated is not None or super()._knows(name, frame)

    def _read(self, names: Sequence[str], frame: Frame | None) -> None:
        check_stated(self.between, self.categories, names)
        stated = [stated_column(name, place, self.between, self.categories) for place, name in enumerate(names)]
        if frame is not None:
            pairs = zip(names, stated, strict=True)
            stated = [known_column(name, frame.relation) if one is None else one for name, one in pairs]
        if missing := [name for name, one in zip(names, stated, strict=True) if one is None]:
            raise unstated(missing[0], table=frame is not None)
        self.columns_ = tuple(one for one in stated if one is not None)

    def _changed(self, columns: Sequence[Any]) -> Floats:
        return np.concatenate([_encoded(*pair) for pair in zip(self.columns_, columns, strict=True)], axis=1)

    def _expressed(self, fields: Sequence[Field]) -> list[Expression]:
        made: list[Expression] = []
        for column, field in zip(self.columns_, fields, strict=True):
            if isinstance(column, Category):
                coded = Coded(field, column.values)
                made += [call("case", coded.holds(value), literal(1.0), literal(0.0)) for value in column.values]
            else:
                made.append(column.entry_of(field).made())
        return made

    def inverse_transform(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The rows again, as far as they can be told: the category with the largest number, none where all are 0."""
        check_is_fitted(self, "n_features_in_")
        given, at, columns = np.asarray(X, dtype=np.float64), 0, []
        if given.ndim != 2 or given.shape[1] != len(self.get_feature_names_out()):
            raise ValueError(f"X must have {len(self.get_feature_names_out())} columns, as transform gives them")
        for column in self.columns_:
            part, at = given[:, at : at + max(1, column.kind)], at + max(1, column.kind)
            if isinstance(column, Category):
                values = [column.values[place] for place in part.argmax(axis=1)]
                columns.append(np.array([*values, None], dtype=object)[:-1])
                columns[-1][~(part > 0).any(axis=1)] = None
            else:
                columns.append(column.decode(part[:, 0]))
        return np.stack(columns, axis=1)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of the columns that `transform` gives."""
        check_is_fitted(self, "n_features_in_")
        return np.array([name for one in self.columns_ for name in one.names], dtype=object)


def _encoded(column: Column, values: object) -> Floats:
    encoded = column.encode(values)
    if not isinstance(column, Category):
        return encoded[:, None]
    return Coordinates((column.kind,)).rows(np.nan_to_num(encoded, nan=-1.0)[:, None])[:, 1:]


@final
class Binner(PublicMap):
    """Puts numbers into bins between stated edges: the number of the bin, from 0; what is missing stays missing.

    ``edges`` is one list for all columns, or one by the name of each; the first and the last bin are open. Of a table
    the columns with edges of their own are binned, or ``features``.

    >>> Binner(edges=[0, 10]).fit_transform([[-5.0], [0.0], [99.0]]).tolist()
    [[0.0], [1.0], [2.0]]
    """

    edges_: list[Floats]

    def __init__(self, *, edges: Sequence[AnyNumber] | Mapping[str, Sequence[AnyNumber]] = ()) -> None:
        self.edges = edges

    def _knows(self, name: str, frame: Frame) -> bool:
        if isinstance(self.edges, Mapping):
            return name in self.edges
        return column_named(name, frame.relation.fields, "this table").kind.numeric

    def _read(self, names: Sequence[str], frame: Frame | None) -> None:
        listed = [self.edges.get(name, ()) if isinstance(self.edges, Mapping) else self.edges for name in names]
        self.edges_ = [np.asarray(one, dtype=np.float64) for one in listed]
        for name, one in zip(names, self.edges_, strict=True):
            if one.ndim != 1 or not len(one) or not np.isfinite(one).all() or (np.diff(one) <= 0).any():
                raise BadArgument(f"the edges of {name}", "one or more numbers that rise", one.tolist())

    def _changed(self, columns: Sequence[Any]) -> Floats:
        given = np.stack([numbers(values) for values in columns], axis=1)
        bins = [np.searchsorted(edges, part, side="right") for edges, part in zip(self.edges_, given.T, strict=True)]
        return np.where(np.isnan(given), np.nan, np.stack(bins, axis=1).astype(np.float64))

    def _expressed(self, fields: Sequence[Field]) -> list[Expression]:
        pairs = zip(fields, self.edges_, strict=True)
        return [Binned(field, tuple(edges.tolist())).made() for field, edges in pairs]


@final
class SimpleImputer(PublicMap):
    """Puts stated values where something is missing: ``fill_value`` for all columns, or one by the name of each.

    It is scikit-learn's ``SimpleImputer(strategy="constant")``. A mean or a median of the data would tell about rows:
    buy one, ``sf.dp.median(…)``, and state it here. Estimators leave out rows in which something is missing; behind
    this step they are counted. Of a table the columns with a value of their own are filled, or ``features``; what is
    listed of a column of texts must be stated again behind this step.

    >>> SimpleImputer(fill_value=0).fit_transform([[1.5], [None]]).tolist()
    [[1.5], [0.0]]
    """

    values_: list[Any]

    def __init__(self, *, fill_value: object = 0, strategy: str = "constant") -> None:
        self.fill_value, self.strategy = fill_value, strategy

    def _knows(self, name: str, frame: Frame) -> bool:
        if isinstance(self.fill_value, Mapping):
            return name in self.fill_value
        return super()._knows(name, frame)

    def _read(self, names: Sequence[str], frame: Frame | None) -> None:
        if self.strategy != "constant":
            must = "'constant', with fill_value=…: what is worked out from rows tells about them. Buy it, and state it"
            raise BadArgument("strategy", must, self.strategy)
        if isinstance(self.fill_value, Mapping):
            if strange := [name for name in self.fill_value if name not in names]:
                raise BadArgument("fill_value", f"about columns that there are: {', '.join(names)}", strange[0])
            self.values_ = [self.fill_value.get(name) for name in names]
        else:
            self.values_ = [self.fill_value] * len(names)
        if any(isinstance(value, float) and not np.isfinite(value) for value in self.values_):
            raise BadArgument("fill_value", "finite", self.fill_value)

    def _changed(self, columns: Sequence[Any]) -> np.ndarray[Any, Any]:
        return np.stack([_filled(*pair) for pair in zip(columns, self.values_, strict=True)], axis=1)

    def _expressed(self, fields: Sequence[Field]) -> list[Expression]:
        pairs = zip(fields, self.values_, strict=True)
        return [field if value is None else call("coalesce", field, literal(value)) for field, value in pairs]


def _filled(values: Any, value: Any) -> np.ndarray[Any, Any]:
    """A column with a value where one is missing: of numbers a column of numbers, of anything else one of objects."""
    if (
        isinstance(kind := getattr(values, "dtype", None), np.dtype)
        and kind.kind in "iuf"
        and not isinstance(value, str)
    ):
        given = np.asarray(values, dtype=np.float64)
        return given if value is None else np.where(np.isnan(given), float(value), given)
    listed = [value if is_missing(one) else one for one in as_list(values)]
    whole = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, *listed))
    return np.array(listed, dtype=np.float64) if whole else np.array([*listed, None], dtype=object)[:-1]


@final
class PolynomialFeatures(PublicMap):
    """Products of up to ``degree`` columns, as scikit-learn's; of columns in [−1, 1], as `Encoder` makes them, all of
    them are in [−1, 1] again.

    There is no column of ones: estimators have their own constant. Of a table, the bounds of products follow from those
    of their factors; where these were never stated, the estimator asks for them.

    >>> from sklearn.pipeline import make_pipeline
    >>> make_pipeline(Encoder(between=(0, 10)), PolynomialFeatures(3)).fit_transform([[0.0], [7.5]]).tolist()
    [[-1.0, 1.0, -1.0], [0.5, 0.25, 0.125]]
    """

    terms_: list[tuple[int, ...]]

    def __init__(self, degree: int = 2, *, interaction_only: bool = False) -> None:
        self.degree, self.interaction_only = degree, interaction_only

    def _read(self, names: Sequence[str], frame: Frame | None) -> None:
        chosen = combinations if self.interaction_only else combinations_with_replacement
        self.terms_ = []
        for many in range(1, integer(self.degree, "degree", least=1) + 1):
            for term in chosen(range(len(names)), many):
                self.terms_.append(term)
                if len(self.terms_) > MOST_TERMS:
                    raise BadArgument("degree", f"such that there are at most {MOST_TERMS:,} products", self.degree)

    def _changed(self, columns: Sequence[Any]) -> Floats:
        given = [numbers(values) for values in columns]
        return np.stack([reduce(np.multiply, [given[place] for place in term]) for term in self.terms_], axis=1)

    def _expressed(self, fields: Sequence[Field]) -> list[Expression]:
        given = [_as_float(field) for field in fields]
        return [reduce(lambda one, other: call("mul", one, other), (given[at] for at in term)) for term in self.terms_]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of the products: x0, x0^2, x0 x1 and so on."""
        names = super().get_feature_names_out()
        powers = [{place: term.count(place) for place in term} for term in self.terms_]
        told = [
            " ".join(f"{names[at]}^{many}" if many > 1 else str(names[at]) for at, many in one.items())
            for one in powers
        ]
        return np.array(told, dtype=object)


def _as_float(field: Expression) -> Expression:
    if not (field.kind.numeric or field.kind is Kind.BOOL):
        raise BadArgument("the columns", "numbers: Encoder makes them of categories", field.kind.value)
    return call("to_float", call("to_int", field) if field.kind is Kind.BOOL else field)
