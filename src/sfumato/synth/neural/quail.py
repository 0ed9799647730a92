"""QUAIL: any synthesizer for the features, and a private classifier for the one column that has to be right."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.guards import needed_loss
from sfumato.learn.naive_bayes import NaiveBayes
from sfumato.learn.prepared import Prepared
from sfumato.learn.sources import check_held
from sfumato.query.frame import Frame
from sfumato.release.progress import Progress
from sfumato.synth.columns import ListedColumn
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.model import Codes, Given, Model
from sfumato.synth.neural.dp_gan import part_of
from sfumato.synth.schema import Bins, Schema, Stated
from sfumato.synth.synthetic import Synthetic

LOOKED_AT = 20_000
"""Marginals are those of so many rows."""

TRIES = 20
"""How often features are drawn anew until they have the label that was asked for."""


class Recipe(Protocol):
    """A method of synthesis that stores its loss: any of this package."""

    def fit(
        self,
        table: object,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        key: str | None = None,
        progress: Progress | None = None,
        entropy: Entropy | None = None,
    ) -> Synthetic:
        """Makes a model of a table."""


@final
@dataclass(frozen=True, kw_only=True)
class QUAIL:
    """Synthetic features by any method, labelled by a private classifier (Rosenblatt et al. 2020, arXiv 2011.05537).

    Takes:      ``target``, the column that models will be trained to predict; ``synthesizer``, a recipe without a loss
                of its own, such as ``AIM()``; ``classifier``, one of `sfumato.learn` (left out: `NaiveBayes`); a
                ``loss`` for both, of which the classifier has a ``share``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss: the sum of both parts (proofs/neural_synthesis.md#quail)
    Cost:       that of both fits

    The parts are charged one after the other; under a key, neither is paid for twice.
    """

    name: ClassVar[str] = "QUAIL"
    target: str
    synthesizer: Recipe
    classifier: PrivateEstimator | None = None
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    share: Number = Fraction(1, 2)

    def fit(
        self,
        table: object,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        key: str | None = None,
        progress: Progress | None = None,
        entropy: Entropy | None = None,
    ) -> Synthetic:
        """Makes a model of a table of a session, which is charged; or of rows that one holds, which is not.

        Arguments are as for other methods; those of days and moments do not help the classifier.
        """
        loss = needed_loss(self.loss, self.epsilon, self.delta)
        for_features, for_labels = split(loss, self.share)
        stated, table = (
            Stated(columns, bins, between, categories),
            table.frame if isinstance(table, Prepared) else table,
        )
        if not isinstance(table, Frame):
            check_held(table)
        schema = stated.of_table(table) if isinstance(table, Frame) else stated.of_rows(table)
        features = self._features(schema)
        recipe = replace(self.synthesizer, loss=for_features, epsilon=None, delta=None)  # type: ignore[type-var]
        made: Synthetic = recipe.fit(
            table,
            columns=features,
            max_rows=max_rows,
            rows=rows,
            bins=_without(bins, self.target),
            between=_without(between, self.target),
            categories=_without(categories, self.target),
            key=None if key is None else f"{key} features",
            progress=progress,
            entropy=entropy,
        )
        labels = None if key is None else f"{key} labels"
        fitted = self._classified(table, schema, for_labels, stated, max_rows, labels, entropy)
        model = LabelledModel(schema.domain, made.schema, made.model, schema, self.target, fitted)
        notes = (
            f"features by {made.method}, for {for_features}",
            f"{self.target} by {type(fitted).__name__} of them, for {for_labels}",
            *made.notes,
        )
        spent = (*made.spent, (f"{type(fitted).__name__} of {self.target}", for_labels))
        return Synthetic(self.name, schema, model, made.measured, loss, made.unit, made.release, notes, spent)

    def _features(self, schema: Schema) -> list[str]:
        """All columns but the target, which must be a list of values."""
        if self.target not in schema.domain.names or not isinstance(schema[self.target], ListedColumn):
            raise BadArgument("target", "a column of listed values, among those that are synthesised", self.target)
        features = [name for name in schema.domain.names if name != self.target]
        if not features:
            raise BadArgument("columns", "the target and one or more others", 1)
        return features

    def _classified(
        self,
        table: object,
        schema: Schema,
        loss: Loss,
        stated: Stated,
        max_rows: int | None,
        key: str | None,
        entropy: Entropy | None,
    ) -> PrivateEstimator:
        """The classifier, fitted on the features that it can read."""
        names = told_by(schema, self.target)
        made = clone(NaiveBayes() if self.classifier is None else self.classifier)
        made.set_params(loss=loss, epsilon=None, delta=None)
        for what, said in (("between", stated.between), ("categories", stated.categories)):
            about = {name: one for name, one in (said or {}).items() if name in names}
            if about and getattr(made, what) is None:
                made.set_params(**{what: about})
        if isinstance(table, Frame):
            fitted: PrivateEstimator = made.fit(table, features=names, target=self.target, max_rows=max_rows, key=key)
            return fitted
        held: Any = table
        target = schema[self.target]
        if isinstance(target, ListedColumn) and getattr(made, "classes", None) is None:
            made.set_params(classes=list(target.values))
        rows = held.select(names) if hasattr(held, "select") else held[names]
        return made.fit(rows, held[self.target], entropy=entropy)  # type: ignore[no-any-return]


@guarantee(
    claim="two losses that compose to the loss: a share of it, and the rest",
    proof="proofs/neural_synthesis.md#quail",
    reviewed="da95c9725e45",
)
def split(loss: Loss, share: Number) -> tuple[Loss, Loss]:
    """What the features may cost, and what the labels may."""
    labels = part_of(loss, share)
    return loss.minus(labels), labels


def told_by(schema: Schema, target: str) -> list[str]:
    """The features that a classifier reads: all but days and moments."""
    names = [one.name for one in schema.columns if one.name != target and not one.kind.temporal]
    if not names:
        raise BadArgument("columns", "one or more features that are no days or moments", "none")
    return names


def _without(stated: Any, name: str) -> Any:
    return {one: value for one, value in stated.items() if one != name} if isinstance(stated, Mapping) else stated


@final
@dataclass(frozen=True, eq=False)
class LabelledModel:
    """A model of features with labels that a classifier gives them."""

    domain: Domain
    features_schema: Schema
    features: Model
    schema: Schema
    target: str
    classifier: PrivateEstimator

    @property
    def total(self) -> float:
        """The expected number of rows."""
        return self.features.total

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws features, and labels them; features are drawn anew where a label is given and they have another."""
        many = integer(rows, "rows", least=0)
        fixed = dict(given or {})
        wanted = fixed.pop(self.target, None)
        made = self._drawn(many, entropy, fixed)
        place = self.domain.axes([self.target])[0]
        if wanted is not None:
            label = np.broadcast_to(np.asarray(wanted, dtype=np.int64), (many,))
            for _ in range(TRIES):
                wrong = np.flatnonzero(made[:, place] != label)
                if not len(wrong):
                    break
                now = {
                    name: codes if np.ndim(codes) == 0 else np.asarray(codes)[wrong] for name, codes in fixed.items()
                }
                made[wrong] = self._drawn(len(wrong), entropy, now)
            made[:, place] = label
        return made.astype(np.min_scalar_type(max(self.domain.sizes) - 1))

    def marginal(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """The expected counts of some columns, as they are in rows that are drawn, scaled to the total."""
        places, shape = self.domain.axes(columns), self.domain.shape(columns)
        flat = np.ravel_multi_index(tuple(self._looked_at[:, place] for place in places), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        return np.asarray(counts * (self.total / len(self._looked_at)))

    @cached_property
    def _looked_at(self) -> NDArray[np.int64]:
        return self.sample(LOOKED_AT, ReplayEntropy(b"marginals")).astype(np.int64)

    def _drawn(self, rows: int, entropy: Entropy, given: Mapping[str, Any]) -> NDArray[np.int64]:
        codes = self.features.sample(rows, entropy, given or None).astype(np.int64)
        made = np.zeros((rows, len(self.domain.names)), dtype=np.int64)
        made[:, list(self.domain.axes(self.features_schema.domain.names))] = codes
        if rows:
            made[:, self.domain.axes([self.target])[0]] = self._labels(codes, entropy)
        return made

    def _labels(self, codes: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        """The codes of what the classifier says of features."""
        values = self.features_schema.decode(codes, entropy)
        names = told_by(self.schema, self.target)
        rows = np.empty((len(codes), len(names)), dtype=object)
        for place, name in enumerate(names):
            rows[:, place] = values.column(name).to_pylist()
        said: Any = self.classifier
        return np.asarray(self.schema[self.target].encode(said.predict(rows).tolist()), dtype=np.int64)
