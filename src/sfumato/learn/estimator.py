"""What all estimators share: parameters that are only stored, two ways in, public facts of columns, a release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
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
from sfumato.learn.curves import BINS, Curves, curves_of, read_edges
from sfumato.learn.explaining import explained_fit
from sfumato.learn.guards import ONE_ROW, all_or_nothing, for_one_row, name_of, needed_loss, own
from sfumato.learn.prepared import Prepared
from sfumato.learn.scoring import Score, score_of
from sfumato.learn.shown import ShownModel
from sfumato.learn.sources import Asked, Fit, Held, Source, check_held, columns_of, each_by_itself
from sfumato.query.answer.explanation import Explanation
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.relations import Relation
from sfumato.release.record import Release
from sfumato.transforms.gram import Coordinates


class PrivateEstimator(ShownModel, BaseEstimator):  # type: ignore[misc]
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
        ``target`` is the one to predict, which may also stand second, ``fit(table, "income")``, as in a pipeline; of
        each person ``max_rows`` rows count, and ``key`` makes a retry safe. ``entropy`` is for tests: what is made with
        one that can be replayed is marked, and no ledger takes it.
        """
        loss = needed_loss(self.loss, self.epsilon, self.delta)
        source = self._source(X, y, features, target, max_rows, key, entropy)
        self.release_ = self._fit(source, loss).run(loss)
        return self

    def explain(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        features: Sequence[str] | None = None,
        target: str | None = None,
        max_rows: int | None = None,
    ) -> Explanation:
        """Says what `fit` of the same would cost, with which noise, and what would be left; spends nothing.

        Nothing is looked at, and the model stays as it is.
        """
        planned, loss = clone(self), needed_loss(self.loss, self.epsilon, self.delta)
        source = planned._source(X, y, features, target, max_rows, None, None)
        return explained_fit(planned, planned._fit(source, loss), loss)

    def _source(
        self,
        X: object,  # noqa: N803
        y: object,
        features: Sequence[str] | None,
        target: str | None,
        max_rows: int | None,
        key: str | None,
        entropy: Entropy | None,
    ) -> Source:
        """Reads what is public about what `fit` was given, and gives the rows to begin with; looks at none."""
        if isinstance(X, Frame | Prepared):
            frame, names, target = self._asked_of(X, y, features, target)
            source = self._of_table(frame, names, target, max_rows, key)
            self.feature_names_in_ = np.array([column.name for column in self.columns_], dtype=object)
        else:
            check_held(X)
            if (features, target, max_rows, key) != (None, None, None, None):
                raise BadArgument("features, target, max_rows and key", "left out, where arrays are given", "given")
            source = self._of_arrays(X, y, entropy)
        self.n_features_in_ = len(self.columns_)
        return source

    @abstractmethod
    def _fit(self, source: Source, loss: Loss) -> Fit:
        """The one measurement that the model needs, for at most a loss, and what makes the model of its value."""

    def _asked_of(
        self, table: Frame | Prepared, y: object, features: Sequence[str] | None, target: str | None
    ) -> tuple[Frame, Sequence[str] | None, str | None]:
        """The table, its features and its target: y may name it, as a pipeline does to steps that predict nothing."""
        named = y if isinstance(y, str) else None
        if (y is not None and named is None) or (named is not None and target not in (None, named)):
            raise BadArgument("y", "left out, where X is a table: name the target, target='income'", "given")
        frame = table.frame if isinstance(table, Prepared) else table
        if features is None and isinstance(table, Prepared):
            features = table.features
        if self.takes == "nothing":
            if features is None and named is not None:
                features = self._feature_names(frame, named)
            return frame, features, target
        return frame, features, named if target is None else target

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
        """The coordinates of rows to predict for, the constant 1 first.

        Of what is missing, a number is the middle of its bounds, and a category none of its values.
        """
        encoded = self._encoded(X)
        none = np.array([0.0 if isinstance(column, Number) else -1.0 for column in self.columns_])
        rows = np.where(np.isnan(encoded), none, encoded)
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
        source = self._to_score(X, y, max_rows, key, entropy)
        paid, line = needed_loss(loss, epsilon, delta), self._line(X.relation) if isinstance(X, Frame) else None
        return score_of(source, cast(Column, self.target_), self._alone, paid, line=line)

    def private_curves(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        of: Hashable | None = None,
        bins: int | Sequence[AnyNumber] = BINS,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
    ) -> Curves:
        """How well a classifier tells one class from the rest, on rows that must be protected: ROC, calibration, AUC.

        All of it comes from one histogram of scores by class, at a loss of its own; ``of`` is the class that is looked
        for (left out: the second of two). Rows are given as to `private_score`.
        """
        source, paid = self._to_score(X, y, max_rows, key, entropy), needed_loss(loss, epsilon, delta)
        return curves_of(self, source, of, read_edges(bins), paid)

    def _to_score(
        self,
        X: object,  # noqa: N803
        y: object,
        max_rows: int | None,
        key: str | None,
        entropy: Entropy | None,
    ) -> Source:
        """Rows that a fitted model is to be judged by, the target last."""
        check_is_fitted(self, "release_")
        if self.target_ is None:
            raise BadArgument("a model to score", "one that predicts a target", type(self).__name__)
        columns = (*self.columns_, self.target_)
        if not isinstance(X, Frame):
            names, values = columns_of(X)
            if y is None or len(values) != len(self.columns_):
                raise BadArgument("X and y", f"{len(self.columns_)} columns, and the target", f"{len(names)} columns")
            return Held(columns, (*values, _one_column(y, len(values[0]))), entropy)
        if y is not None:
            raise BadArgument("y", f"left out, where X is a table: it is {self.target_.name} there", "given")
        most = None if max_rows is None else integer(max_rows, "max_rows", least=1)
        return Asked(columns, X, most, key, name_of(self), () if own(self) else (ONE_ROW,))

    def _alone(self, rows: Floats) -> np.ndarray[Any, Any]:
        """Predicts for rows as a source gives them, one at a time: no prediction may depend on other rows, even in
        its last bit, as it does where a library adds up in an order that hangs on how many rows there are."""
        made = [cast(Any, for_one_row(self)).predict(decoded(row, self.columns_)) for row in rows]
        return np.concatenate(made) if made else np.array([], dtype=np.float64)

    def _line(self, source: Relation) -> Expression | None:
        """The prediction as an expression of a table's columns, where it is one that an engine can work out."""
        return None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


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
