"""Scores for a radius: how well it splits the rows into those within and those beyond, less a public penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Bounds, Data, Floats, Integers, Vector, column
from sfumato.core.metrics import Range
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, common_step, non_negative
from sfumato.guarantee import guarantee
from sfumato.transforms.deviations import LARGEST, floats_of
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import collect, rowwise
from sfumato.transforms.scores import quantile_scores


@constructor
def radius_scores(radii: Sequence[float], *, alpha: Number, penalties: Sequence[Number]) -> Partial[Transformation]:
    """Scores increasing public radii by how close they are to a quantile of the rows, less a penalty to each.

    Every row is first moved up to the next radius, so that one radius has the score 0 even if all rows are the same. At
    alpha 1 the score is minus the rows beyond the radius, minus its penalty.

    Takes:      a column of floats without NaN; floats that increase; penalties in rows, one to each, at least 0
    Gives:      one exact score to each radius under the range distance
    Guarantee:  that of quantile_scores: 2 max(alpha, 1 − alpha) for each row added or removed, 2 for each exchanged, at
                alpha 0 and 1 always 1  (proofs/unbounded_means.md#radii)
    Cost:       two binary searches among the radii for each row

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> radius_scores([1, 2, 4], alpha=1, penalties=[0, 3, 6])).map(1)
    Fraction(1, 1)
    """
    each = [non_negative(penalty, "each penalty") for penalty in penalties]
    if len(each) != len(radii):
        raise BadArgument("penalties", f"one for each of the {len(radii)} radii", len(each))
    return moved_up(radii) >> quantile_scores(radii, alpha=alpha, metric=Range()) >> _subtract_penalties(each)


@constructor
def moved_up(radii: Sequence[float]) -> Partial[Transformation]:
    """Moves every value up to the next of some public values, and what is beyond the last to the largest float.

    Takes:      a column of floats without NaN under any distance that counts rows; finite floats that increase
    Gives:      a column of these floats
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one binary search for each row

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> moved_up([1.0, 2.0, 4.0]))([0.0, 1.0, 1.5, 9.0]).tolist()[:3]
    [1.0, 1.0, 2.0]
    """
    steps = np.append(np.asarray(radii, dtype=np.float64), LARGEST)
    if not (np.isfinite(steps).all() and (np.diff(steps) > 0).all()):
        raise BadArgument("radii", "finite floats, each larger than the one before", f"{len(radii)} values")

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "moved_up")
        element = floats_of(space, "moved_up")

        def move(data: Data) -> Array:
            places = np.searchsorted(steps, column(data, element), side="left")
            return np.asarray(steps[np.minimum(places, len(steps) - 1)])

        target = Floats(Bounds.read((float(steps[0]), LARGEST)))
        return rowwise(space, replace(domain, element=target), move, f"moved up to the next of {len(radii)} values")

    return Partial(f"moved_up({len(radii)} values)", build)


@guarantee(
    claim="the same public vector taken from all score vectors leaves every distance as it is",
    proof="proofs/unbounded_means.md#radii",
    reviewed="4ba7ce2076bf",
)
def penalised_map(d_in: Distance) -> Distance:
    """The distance after public penalties."""
    return d_in


def _subtract_penalties(each: Sequence[Fraction]) -> Partial[Transformation]:
    def build(space: Space) -> Transformation:
        if not isinstance(space.domain, Vector) or not isinstance(space.domain.element, Integers):
            raise BadArgument("what is penalised", "a vector of exact scores", str(space))
        step = common_step(space.domain.element.step, *each)
        finer, taken = int(space.domain.element.step / step), [int(penalty / step) for penalty in each]

        def lower(data: Data) -> Array:
            return collect([int(score) * finer - less for score, less in zip(data, taken, strict=True)], Integers())

        return Transformation(
            space,
            Space(Vector(Integers(step=step), space.domain.size), space.metric),
            lambda data, _: lower(data),
            penalised_map,
            ("minus a public penalty each",),
            ("proofs/unbounded_means.md#radii",),
        )

    return Partial("penalised", build)
