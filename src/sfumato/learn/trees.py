"""Decision trees, forests of them, and boosted trees: public questions chosen privately, leaves of noisy counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import ClassifierMixin

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.combinators.parallel import parallel
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Between, Bins, Categories, Category, Edges, Floats, Made, Number, binned
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import ways_to_spend
from sfumato.learn.sources import Fit, Source
from sfumato.learn.trees_growing import Grown, Growth, Wish, as_tree, restated, way_to_spend
from sfumato.learn.trees_rules import Questions, rules_of
from sfumato.release.render.document import Table
from sfumato.stats.shares import Spendable, spendable
from sfumato.transforms.parts import random_parts
from sfumato.transforms.residuals import SCORE_BITS
from sfumato.transforms.split_criteria import Criterion, Hits, Information
from sfumato.transforms.splits import Coded, Tree

BINS = 16
"""Numbers are cut into so many bins of one width, unless other edges are stated: questions lie between them."""

DEEPEST_ASKED = 12
"""The deepest tree that can be asked for: with 4096 leaves."""

SHOWN = 40
"""At most so many rules are printed."""

MOST_TREES = 10_000
"""So many trees may be asked for."""


class TreeModel(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """What trees and ensembles of them share: public questions, the fit, and the trees as rules."""

    classes: Sequence[Hashable] | None
    bins: Edges
    rows: int | None
    classes_: np.ndarray[Any, Any]
    made_: tuple[Made, ...]
    trees_: tuple[Tree, ...]
    counts_: tuple[Floats, ...]
    noise_: tuple[float, ...]
    counted_: tuple[bool, ...]
    rows_: float
    plan_: str

    @property
    @abstractmethod
    def _wish(self) -> Wish:
        """What is asked for, read and checked."""

    def _fit(self, source: Source, loss: Loss) -> Fit:
        wish, target = self._wish, self.target_
        if not isinstance(target, Category):
            raise TypeError(target)
        made = binned(self.columns_, self.bins)
        self.made_ = tuple(Bins.read(one, BINS) if isinstance(one, Number) else one for one in made)
        self.classes_ = np.array(target.values)
        if not self._coded.splits:
            must = "one with something to ask: a number between different bounds in two bins, or a category"
            raise BadArgument("the columns", must, [one.name for one in self.made_])
        coded = source.chosen([*enumerate(self.made_), (len(self.made_), target)])
        way = way_to_spend([spendable(one, type(self).__name__) for one in ways_to_spend(loss)])
        chain = coded.rows()
        d_in = chain.map(coded.unit) if isinstance(chain, Transformation) else coded.space.metric.read(coded.unit)
        grown = self._grown(Growth(coded.space, self._coded, wish, way, d_in))
        made_of_rows = chain >> grown if isinstance(chain, Transformation) else grown
        return Fit(coded, restated(made_of_rows, loss), self._learn)

    def _grown(self, growth: Growth) -> Any:
        """The measurement of the trees, on rows of codes."""
        return growth.measurement()

    def _learn(self, value: tuple[float, str, Sequence[Grown]]) -> None:
        rows, why, grown = value
        self.rows_, self.plan_ = float(rows), str(why)
        self.trees_ = tuple(as_tree(one) for one in grown)
        self.counts_ = tuple(np.array(one[1], dtype=np.float64) for one in grown)
        self.noise_ = tuple(float(one[2]) for one in grown)
        self.counted_ = tuple(bool(one[3]) for one in grown)

    @property
    def _coded(self) -> Coded:
        kinds = tuple(one.kind for one in self.made_)
        return Coded(kinds, tuple(isinstance(one, Bins) for one in self.made_), len(self.classes_))

    @property
    def _made(self) -> Sequence[Made]:
        return self.made_

    def _codes(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803  # scikit-learn's name
        """Codes of rows to predict for, a row for each column; −1 for what is missing or unknown."""
        return np.asarray(np.nan_to_num(self._encoded(X), nan=-1.0).astype(np.int64).T)

    @abstractmethod
    def _chances(self, codes: np.ndarray[Any, Any]) -> Floats:
        """The chance of each class, of each row by itself."""

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """The chance of each class, for rows that nothing protects; what is missing answers a question with no."""
        return self._chances(self._codes(X))

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The likeliest class of rows, which nothing protects."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def _alone(self, rows: Floats) -> np.ndarray[Any, Any]:
        """Predicts for rows as a source gives them; each by itself, for nothing is added up over rows."""
        parts = [
            made.encode(column.decode(values)) if isinstance(column, Number) else values
            for made, column, values in zip(self.made_, self.columns_, rows.T, strict=True)
        ]
        codes = np.array(parts, dtype=np.float64).reshape(len(parts), len(rows)).astype(np.int64)
        return np.asarray(self.classes_[self._chances(codes).argmax(axis=1)])

    def shares(self, tree: int = 0) -> Floats:
        """The share of each class in each leaf of one tree; where noise could be all of it, near to equal shares."""
        kept = np.clip(self.counts_[tree], 0.0, None) + self.noise_[tree]
        return np.asarray(kept / kept.sum(axis=1, keepdims=True))

    def rules(self, tree: int = 0) -> list[str]:
        """One tree as rules, a line for each leaf that a row can reach, with noisy counts of its classes."""
        return [f"{said} → {told} ({counted})" for said, told, counted in self._rules(tree)]

    def _rules(self, tree: int) -> list[tuple[str, str, str]]:
        names = [str(one) for one in self.classes_]
        asked = Questions(self.made_, self._coded.splits)
        counts = self.counts_[tree] if self.counted_[tree] else None
        return rules_of(asked, self.trees_[tree], self.shares(tree), counts, names)

    def _told(self) -> tuple[Table, ...]:
        used = [self._coded.splits[place].column for tree in self.trees_ for level in tree.levels for place in level]
        times = {one.name: used.count(place) for place, one in enumerate(self.made_) if place in used}
        named = ", ".join(f"{name} {many}" for name, many in sorted(times.items(), key=lambda one: -one[1]))
        asking = [place for place, tree in enumerate(self.trees_) if tree.levels]
        depth = max(len(tree.levels) for tree in self.trees_)
        many = "1 tree" if len(asking) == 1 else f"{len(asking)} trees"
        plan = (("trees", f"{many}, at most {depth} deep"), ("why", self.plan_), ("questions", named or "none"))
        rules = tuple(self._rules(asking[0])[:SHOWN])
        title = "Rules" if len(asking) == 1 else "Rules of the first tree"
        return (Table(plan, ("what", "how"), "Trees"), Table(rules, ("rows with", "class", "noisy counts"), title))


def _depth(depth: int | None) -> int | None:
    if depth is not None and integer(depth, "max_depth", least=1) > DEEPEST_ASKED:
        raise BadArgument("max_depth", f"at most {DEEPEST_ASKED}", depth)
    return depth


def _stated(number: int | None, name: str) -> int | None:
    return None if number is None else integer(number, name, least=1, most=10**15)


@final
class DecisionTreeClassifier(TreeModel):
    """A tree of questions, each the best of a public list by private selection; its leaves count classes, with noise.

    Questions are "below this edge?" of numbers, and "this value?" of categories. All of one level are chosen at once,
    for one price: a row is asked by one of them. With the usual criterion, hits, one row moves the score of a question
    by at most 1. A tree is as deep as its rows can pay for, unless ``max_depth`` is given.

    Takes:      ``between`` and ``categories`` of the columns and ``classes`` (or from a codebook); ``bins``, a number
                of bins for all numbers or edges for some; ``max_depth``; ``rows``, about how many rows there are, where
                that is public, else those of each class are bought with a twentieth of the loss; ``criterion``, "hits"
                or "entropy" (information gain), whose price grows with the logarithm of ``rows``
    Gives:      ``trees_``, ``counts_`` (noisy, by leaf and class), `rules()`, ``plan_``, ``rows_``, ``release_``
    Guarantee:  that of composed selections and noisy sums, Pure, ZCDP or (ε, δ)  (proofs/decision_trees.md#growth)
    Cost:       a pass over the rows for each level, column and part

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = DecisionTreeClassifier(epsilon=10, between=(0, 10), classes=["low", "high"], max_depth=1, bins=10)
    >>> model.fit(x, np.where(x[:, 0] < 5, "low", "high")).predict([[2], [9]]).tolist()
    ['low', 'high']
    >>> [rule.partition(" (")[0] for rule in model.rules()]
    ['x0 < 5 → low', 'x0 ≥ 5 → high']
    """

    takes: ClassVar[str] = "classes"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        bins: Edges = BINS,
        max_depth: int | None = None,
        rows: int | None = None,
        criterion: str = "hits",
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes, self.bins = between, categories, classes, bins
        self.max_depth, self.rows, self.criterion = max_depth, rows, criterion

    @property
    def _wish(self) -> Wish:
        return Wish(1, _depth(self.max_depth), _stated(self.rows, "rows"), self._criterion)

    @property
    def _criterion(self) -> Criterion:
        if self.criterion == "hits":
            return Hits()
        if self.criterion != "entropy":
            raise BadArgument("criterion", "'hits' or 'entropy'", self.criterion)
        if self.rows is None:
            must = "given with criterion='entropy': one row moves entropy times rows by about the logarithm of the rows"
            raise BadArgument("rows", must, None)
        return Information(self.rows)

    def _chances(self, codes: np.ndarray[Any, Any]) -> Floats:
        return np.asarray(self.shares()[self._coded.leaves(codes, self.trees_[0])])


@final
class RandomForestClassifier(TreeModel):
    """A forest of trees that have different rows each, dealt out at random; the shares in their leaves are averaged.

    A row is in one tree only, so that every tree may spend the whole loss (proofs/parallel.md#map). Each tree is one of
    `DecisionTreeClassifier`, on its own rows.

    Takes:      as `DecisionTreeClassifier`; ``n_estimators``, how many trees; ``max_features``, about how many columns
                each may ask, drawn at random
    Gives:      as there, of each tree
    Guarantee:  that of one tree, for each person's rows in whichever trees they are  (proofs/decision_trees.md#forests)
    Cost:       that of one tree on all rows, and a shuffle

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = RandomForestClassifier(3, epsilon=10, between=(0, 10), classes=["low", "high"], bins=10)
    >>> model.fit(x, np.where(x[:, 0] < 5, "low", "high")).predict([[2], [9]]).tolist()
    ['low', 'high']
    """

    takes: ClassVar[str] = "classes"

    def __init__(
        self,
        n_estimators: int = 5,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        bins: Edges = BINS,
        max_depth: int | None = None,
        max_features: int | None = None,
        rows: int | None = None,
    ) -> None:
        self.n_estimators, self.loss, self.epsilon, self.delta = n_estimators, loss, epsilon, delta
        self.between, self.categories, self.classes, self.bins = between, categories, classes, bins
        self.max_depth, self.max_features, self.rows = max_depth, max_features, rows

    @property
    def _wish(self) -> Wish:
        number, rows = integer(self.n_estimators, "n_estimators", least=1, most=MOST_TREES), _stated(self.rows, "rows")
        each = None if rows is None else max(1, rows // number)
        return Wish(1, _depth(self.max_depth), each, features=_stated(self.max_features, "max_features"))

    def _grown(self, growth: Growth) -> Any:
        parts = growth.space >> random_parts(self.n_estimators)
        one = Growth(growth.space, growth.coded, growth.wish, for_one_row(growth.loss, growth.d_in), Fraction(1))
        return parts >> parallel(one.measurement())

    def _learn(self, value: Any) -> None:
        why = "; ".join(dict.fromkeys(str(one[1]) for one in value))
        super()._learn((sum(float(one[0]) for one in value), why, [tree for one in value for tree in one[2]]))

    def _chances(self, codes: np.ndarray[Any, Any]) -> Floats:
        total = np.zeros((codes.shape[1], len(self.classes_)))
        for place, tree in enumerate(self.trees_):
            total = total + self.shares(place)[self._coded.leaves(codes, tree)]
        return np.asarray(total / len(self.trees_))


def for_one_row(loss: Spendable, d_in: Any) -> Spendable:
    """What one row may cost where so many may differ: they may all be in one tree, and be dealt out anyhow."""
    rows = max(1, int(d_in))
    return loss.scaled(Fraction(1, rows if isinstance(loss, Pure) else rows**2))


@final
class AdaBoostClassifier(TreeModel):
    """Boosted trees: each looks at the rows that those before get wrong, and adds its votes to theirs.

    How many small trees there are and how deep they are is settled by public numbers alone: the loss, and how many
    rows there are, which is stated or bought; ``plan_`` says so. With few rows or a small loss it is a single question,
    chosen well. Rows are weighed by the chance that the model gives to a wrong class, and by at most 1, so one row
    moves the score of a question by at most 1.

    Takes:      as `DecisionTreeClassifier`; ``n_estimators`` and ``max_depth``, where they are not to be settled
    Gives:      as there, of each tree; counts are weights of rows, and where the number of rows is bought the first
                tree asks nothing and counts the classes
    Guarantee:  that of composed selections and noisy sums, Pure, ZCDP or (ε, δ)  (proofs/decision_trees.md#growth)
    Cost:       some passes over the rows for each tree, each longer by the trees before

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = AdaBoostClassifier(epsilon=10, between=(0, 10), classes=["mid", "far"], bins=10)
    >>> model.fit(x, np.where(abs(x[:, 0] - 4.5) < 2, "mid", "far")).predict([[1], [5], [9]]).tolist()
    ['far', 'mid', 'far']
    """

    takes: ClassVar[str] = "classes"

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        bins: Edges = BINS,
        max_depth: int | None = None,
        rows: int | None = None,
    ) -> None:
        self.n_estimators, self.loss, self.epsilon, self.delta = n_estimators, loss, epsilon, delta
        self.between, self.categories, self.classes, self.bins = between, categories, classes, bins
        self.max_depth, self.rows = max_depth, rows

    @property
    def _wish(self) -> Wish:
        number, rows = _stated(self.n_estimators, "n_estimators"), _stated(self.rows, "rows")
        return Wish(number, _depth(self.max_depth), rows, boosted=True)

    def _scores(self, codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        total = np.zeros((codes.shape[1], len(self.classes_)), dtype=np.int64)
        for tree in self.trees_:
            total += np.array(tree.votes, dtype=np.int64)[self._coded.leaves(codes, tree)]
        return total

    def decision_function(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """What the trees add up to for each class, or of two classes for the second against the first."""
        scores = self._scores(self._codes(X)) / (1 << SCORE_BITS)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    def _chances(self, codes: np.ndarray[Any, Any]) -> Floats:
        scores = self._scores(codes)
        kept = np.exp((scores - scores.max(axis=1, keepdims=True)) / (1 << SCORE_BITS))
        return np.asarray(kept / kept.sum(axis=1, keepdims=True))
