"""What a fitted pipeline cost in all: the losses of its steps, added up by the one fold over events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.preprocessing import PolynomialFeatures as PlainPolynomials
from sklearn.utils import get_tags

from sfumato.accounting.compose import total
from sfumato.accounting.events import Sequence, Stated
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument
from sfumato.learn.scaling import PublicMap
from sfumato.release.record import Release

KINDS: tuple[type[Loss], ...] = (Pure, ZCDP, Approx)
"""The kinds in which losses are added up, each of which holds what the ones before can say."""


def total_loss(model: object, *, kind: type[Loss] | None = None) -> Loss:
    """The loss of a fitted pipeline: that of every private step in it, composed. Public maps cost nothing.

    Pipelines, unions and `ColumnTransformer` are looked into. A step that learnt from rows without noise is refused: no
    loss covers it. ``kind`` is the kind of the sum, if not the first that can say it.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sfumato.learn import KMeans, StandardScaler
    >>> scaled = StandardScaler(epsilon=1, between=(0, 1), clip=4)
    >>> total_loss(make_pipeline(scaled, KMeans(2, epsilon=2, between=(-4, 4))).fit([[0.5], [0.75]]))
    Pure(epsilon=3.0)
    """
    releases = list(_releases(model))
    if len({release.unit for release in releases}) > 1:
        raise BadArgument("the steps", "about one unit: losses of different ones do not add up", "several")
    losses = [release.loss for release in releases]
    least = max((_place(loss) for loss in losses), default=0)
    return total(Sequence(*(Stated(loss) for loss in losses)), kind or KINDS[least])


def _place(loss: Loss) -> int:
    return KINDS.index(type(loss)) if type(loss) in KINDS else len(KINDS) - 1


def _releases(model: Any) -> Iterator[Release]:
    """The releases of all steps; refuses one that learnt from rows and has none."""
    if isinstance(release := getattr(model, "release_", None), Release):
        yield release
    elif isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from _releases(step)
    elif isinstance(model, ColumnTransformer | FeatureUnion):
        listed = getattr(model, "transformers_", None) or model.transformer_list
        for _, step, *_ in listed:
            yield from _releases(step)
    elif not _looks_at_nothing(model):
        must = "a fitted estimator or public map of sfumato.learn: no loss covers what others learn from rows"
        raise BadArgument("every step", must, type(model).__name__)


def _looks_at_nothing(model: Any) -> bool:
    if model is None or isinstance(model, str | PublicMap | FunctionTransformer | PlainPolynomials):
        return True
    return hasattr(model, "get_params") and hasattr(model, "transform") and not get_tags(model).requires_fit
