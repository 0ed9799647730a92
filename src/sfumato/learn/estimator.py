"""What all estimators share: parameters that are only stored, two ways in, public facts of columns, a release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import (
    Between,
    Categories,
    Category,
    Column,
    Floats,
    Made,
    Number,
    check_stated,
    decoded,
    known_column,
    stated_column,
    unstated,
)
from sfumato.learn.guards import ONE_ROW, all_or_nothing, for_one_row, name_of, needed_loss, own
from sfumato.learn.scoring import Score, score_of
from sfumato.learn.sources import Asked, Fit, Held, Source
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.relations import Relation
from sfumato.release.record import Release
from sfumato.release.render import rendered
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import sheet
from sfumato.release.render.words import clean
from sfumato.transforms.gram import Coordinates


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """A model of scikit-learn's shape whose fit is one private measurement.

    The constructor only stores. `fit` takes a table of a session, ``fit(session.table("census"), features=[…],
    target="income")``, which is charged; or arrays that one holds oneself, ``fit(X, y)``, which are not, and the
    release says so. A row with something missing is left out. Afterwards ``release_`` is what left the data, with its
    loss, ``columns_`` what is public about the features, ``target_`` about the target.
    """

    loss: Loss | None
    epsilon: AnyNumber | None
    delta: AnyNumber | None
    between: Between | None
    categories: Categories | None

    takes: ClassVar[str]
    """What the target is: a "number", one of some "classes", or "nothing"."""

    columns_: tuple[Column, ...]
    target_: Column | None
    release_: Release
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    @all_or_nothing
    def fit(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        features: Sequence[str] | None = None,
        target: str | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
    ) -> Self:
        """Fits the model on a table of a session, or on arrays; see the class.

        Of a table, ``features`` are the columns to learn from (left out: all of which the codebook says enough) and
        ``target`` is the one to predict; of each person ``max_rows`` rows count, and ``key`` makes a retry safe.
        ``entropy`` is for tests: what is made with one that can be replayed is marked, and no ledger takes it.
        """
        loss = needed_loss(self.loss, self.epsilon, self.delta)
        if isinstance(X, Frame):
            if y is not None:
                raise BadArgument("y", "left out, where X is a table: name the target, target='income'", "given")
            source = self._of_table(X, features, target, max_rows, key)
            self.feature_names_in_ = np.array([column.name for column in self.columns_], dtype=object)
        else:
            if (features, target, max_rows, key) != (None, None, None, None):
                raise BadArgument("features, target, max_rows and key", "left out, where arrays are given", "given")
            source = self._of_arrays(X, y, entropy)
        self.n_features_in_ = len(self.columns_)
        self.release_ = self._fit(source, loss).run(loss)
        return self

    @abstractmethod
    def _fit(self, source: Source, loss: Loss) -> Fit:
        """The one measurement that the model needs, for at most a loss, and what makes the model of its value."""

    def _of_table(
        self, frame: Frame, features: Sequence[str] | None, target: str | None, max_rows: int | None, key: str | None
    ) -> Source:
        most = None if max_rows is None else integer(max_rows, "max_rows", least=1)
        if (target is None) != (self.takes == "nothing"):
            must = (
                "the name of the column to predict" if target is None else "left out: this learns from features alone"
            )
            raise BadArgument("target", must, target)
        if isinstance(features, str):
            raise BadArgument("features", f"a list of the names of columns: features=[{features!r}]", features)
        names = self._feature_names(frame, target) if features is None else [str(name) for name in features]
        if not names or len(set(names)) != len(names) or target in names:
            raise BadArgument("features", "one or more columns, none twice, and not the target", names)
        check_stated(self.between, self.categories, [*names, *([] if target is None else [target])])
        self.columns_ = tuple(self._column(name, place, frame) for place, name in enumerate(names))
        self.target_ = None if target is None else self._target_column(target, len(names), frame)
        columns = (*self.columns_, *(() if self.target_ is None else (self.target_,)))
        return Asked(columns, frame, most, key, f"{type(self).__name__} {self.get_params(deep=False)}")

    def _feature_names(self, frame: Frame, target: str | None) -> list[str]:
        """All columns of which enough is known, but the id and the target."""
        fields = [one for one in frame.relation.fields if one.unit is None and one.name != target]
        return [one.name for one in fields if self._known(one.name, 0, frame) is not None]

    def _known(self, name: str, place: int, frame: Frame | None) -> Column | None:
        stated = stated_column(name, place, self.between, self.categories)
        return known_column(name, frame.relation) if stated is None and frame is not None else stated

    def _column(self, name: str, place: int, frame: Frame | None) -> Column:
        known = self._known(name, place, frame)
        if known is None:
            raise unstated(name, table=frame is not None)
        return known

    def _target_column(self, name: str, place: int, frame: Frame | None) -> Column:
        if self.takes == "number":
            stated = getattr(self, "target_between", None)
            known = Number.read(name, stated) if stated is not None else self._column(name, place, frame)
            if not isinstance(known, Number):
                raise BadArgument("the target", "a number between bounds: of classes, ask a classifier", name)
            return known
        classes: Sequence[Hashable] | None = getattr(self, "classes", None)
        if classes is not None:
            return Category.read(name, classes)
        known_class = None if frame is None else known_column(name, frame.relation)
        if known_class is None and self.categories is not None and name in self.categories:
            known_class = Category.read(name, self.categories[name])
        if not isinstance(known_class, Category):
            must = "given, all that there can be, from what anybody knows: classes=['no', 'yes']"
            raise BadArgument("classes", must, None)
        return known_class

    def _of_arrays(self, X: object, y: object, entropy: Entropy | None) -> Source:  # noqa: N803
        names, values = columns_of(X)
        if y is None and self.takes != "nothing":
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        target = None if self.takes == "nothing" else str(getattr(y, "name", None) or "y")
        check_stated(self.between, self.categories, [*names, *([] if target is None else [target])])
        self.columns_ = tuple(self._column(name, place, None) for place, name in enumerate(names))
        self.target_ = None if target is None else self._target_column(target, len(names), None)
        if self.target_ is None:
            return Held(self.columns_, tuple(values), entropy)
        labels = _one_column(y, len(values[0]))
        return Held((*self.columns_, self.target_), (*values, labels), entropy)

    def _coordinates(self, X: object) -> Floats:  # noqa: N803
        """The coordinates of rows to predict for, the constant 1 first: what is missing is the middle of its bounds."""
        rows = np.nan_to_num(self._encoded(X))
        return Coordinates(tuple(column.kind for column in self.columns_)).rows(rows)

    @property
    def _made(self) -> Sequence[Made]:
        """What is made of each column to predict from it: as a rule the column as it is."""
        return self.columns_

    def _encoded(self, X: object) -> Floats:  # noqa: N803
        """Rows to predict for, a column for each of `_made`; NaN where something is missing."""
        check_is_fitted(self, "release_")
        names, values = columns_of(X)
        expected = [column.name for column in self.columns_]
        if hasattr(X, "columns") and hasattr(self, "feature_names_in_") and names != expected:
            raise BadArgument(
                "the columns", f"those that the model was fitted on, in order: {', '.join(expected)}", names
            )
        if len(values) != len(expected):
            must = f"expecting {len(expected)} features as input"
            raise ValueError(f"X has {len(values)} features, but {type(self).__name__} is {must}")
        return np.stack([one.encode(part) for one, part in zip(self._made, values, strict=True)], axis=1)

    def private_score(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
    ) -> Score:
        """How good the model is on rows that must be protected, at a loss of its own: R², or the accuracy of classes.

        Of a table of a session, which is charged, the columns that the model was fitted on count; or of arrays. Rows
        with something missing are left out. `score` of the same rows would tell about each of them.
        """
        check_is_fitted(self, "release_")
        if self.target_ is None:
            raise BadArgument("a model to score", "one that predicts a target", type(self).__name__)
        paid, columns = needed_loss(loss, epsilon, delta), (*self.columns_, self.target_)
        if not isinstance(X, Frame):
            names, values = columns_of(X)
            if y is None or len(values) != len(self.columns_):
                raise BadArgument("X and y", f"{len(self.columns_)} columns, and the target", f"{len(names)} columns")
            source: Source = Held(columns, (*values, _one_column(y, len(values[0]))), entropy)
            return score_of(source, self.target_, self._alone, paid, line=None)
        if y is not None:
            raise BadArgument("y", f"left out, where X is a table: it is {self.target_.name} there", "given")
        most = None if max_rows is None else integer(max_rows, "max_rows", least=1)
        asked = Asked(columns, X, most, key, name_of(self), () if own(self) else (ONE_ROW,))
        return score_of(asked, self.target_, self._alone, paid, line=self._line(X.relation))

    def _alone(self, rows: Floats) -> np.ndarray[Any, Any]:
        """Predicts for rows as a source gives them, one at a time: no prediction may depend on other rows, even in
        its last bit, as it does where a library adds up in an order that hangs on how many rows there are."""
        made = [cast(Any, for_one_row(self)).predict(decoded(row, self.columns_)) for row in rows]
        return np.concatenate(made) if made else np.array([], dtype=np.float64)

    def _line(self, source: Relation) -> Expression | None:
        """The prediction as an expression of a table's columns, where it is one that an engine can work out."""
        return None

    def _told(self) -> tuple[Table, ...]:
        """What the model says of itself when it is printed, such as its coefficients; nothing, unless it says so."""
        return ()

    def document(self) -> Document:
        """The model, its loss and how it was made, for any form: `print` shows it as text."""
        check_is_fitted(self, "release_")
        released, names = sheet(self.release_), ", ".join(column.name for column in self.columns_)
        about = f"of {names}" if self.target_ is None else f"of {self.target_.name} on {names}"
        loss = f"{self.release_.loss} for {self.release_.unit}"
        headline = f"{type(self).__name__} {about}:"
        return Document(type(self).__name__, clean(headline, most=200), loss, tables=(*self._told(), *released.tables))

    def __str__(self) -> str:
        return rendered(self.document(), "text") if hasattr(self, "release_") else repr(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def columns_of(X: object) -> tuple[list[str], list[Any]]:  # noqa: N803
    """Names and columns of a table or of an array with two dimensions; x0, x1, … where there are no names."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        given = getattr(X, "column_names", None) or list(X.columns)
        return [str(name) for name in given], [X[name] for name in given]
    if hasattr(X, "toarray"):
        raise TypeError("sparse matrices are not taken here: X.toarray() makes a dense one")
    array = each_by_itself(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must be numbers, texts or truth values")
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X.reshape(-1, 1)")
    if not array.shape[1]:
        raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return [f"x{place}" for place in range(array.shape[1])], [array[:, place] for place in range(array.shape[1])]


def each_by_itself(values: object) -> np.ndarray[Any, Any]:
    """An array as it is, or one of a list whose entries stay what they are: one text makes no texts of the others."""
    return np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)


def _one_column(y: object, rows: int) -> Any:
    """The target as one column, as long as the features."""
    labels: Any = y if hasattr(y, "__len__") and not isinstance(y, list | tuple) else each_by_itself(y)
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {getattr(labels, 'shape', None)} instead.")
    if len(labels) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, len(labels)]}")
    return labels
