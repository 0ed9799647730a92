"""Keeping some rows and marking rows, by a condition on each row alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sfumato.core.domains import BOOLEANS, Array, Atom, Data, Floats, Frame, Vector
from sfumato.core.identifiers import Identifiers
from sfumato.core.metrics import DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.transforms.conditions import Condition, is_nan, read_condition
from sfumato.transforms.distances import exchanged_rows, times
from sfumato.transforms.owners import aligned_map, owned_space
from sfumato.transforms.rows import Rows, column_space, each_column, row_space, unsized
from sfumato.transforms.rowwise import rowwise

PROOF = "proofs/row_filter.md#map"


@guarantee(
    claim="d_out = d_in where rows are added and removed, twice the exchanged rows where the size is public",
    proof=PROOF,
    reviewed="f46ecb53f8c3",
)
def filter_map(d_in: Distance, *, metric: DatasetMetric, size: int | None) -> Distance:
    """The add/remove distance after keeping the rows that meet a condition."""
    return d_in if size is None else times(exchanged_rows(d_in, metric=metric, size=size), 2)


@constructor
def keep(condition: Condition) -> Partial[Transformation]:
    """Keeps the rows that meet a condition.

    Takes:      rows under any distance that counts rows, or in identifiers; a condition like between(0, 10) or
                is_in([…], column="city")
    Gives:      the matching rows, in any number, under the add/remove distance or that in identifiers
    Guarantee:  d_out = d_in from add/remove, 2 d_in from change-one, where the size was public
                (proofs/row_filter.md#map); d_out = d_in in identifiers, so that it may stand before
                truncate  (proofs/identifiers.md#aligned)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.conditions import between
    >>> (vector(float) >> keep(between(0, 1))).map(1), (vector(float, size=9) >> keep(between(0, 1))).map(1)
    (Fraction(1, 1), Fraction(2, 1))
    """
    wanted = read_condition(condition)

    def build(space: Space) -> Transformation:
        if isinstance(space.metric, Identifiers):
            domain, unit = owned_space(space, "keep")
            wanted.check(domain)
            target = Space(replace(_narrowed(domain, wanted), size=None, least=0), unit)
            return _filtered(space, target, domain, aligned_map, wanted, "proofs/identifiers.md#aligned")
        rows, metric = row_space(space, "keep")
        wanted.check(rows)
        return _kept(space, _narrowed(rows, wanted), rows, metric, wanted)

    return Partial(f"keep({wanted.text})", build)


@constructor
def drop_nan() -> Partial[Transformation]:
    """Drops the rows that are NaN.

    Takes:      a column of floats under any distance that counts rows
    Gives:      the other rows, in any number, under the add/remove distance
    Guarantee:  d_out = d_in from add/remove, 2 d_in from change-one  (proofs/row_filter.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.domains import Floats
    >>> from sfumato.core.space import vector
    >>> (vector(Floats(nan=True)) >> drop_nan()).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain, metric = column_space(space, "drop_nan")
        element = domain.element
        if not isinstance(element, Floats):
            raise BadArgument("what drop_nan() works on", "a column of floats", str(element))
        return _kept(space, replace(domain, element=replace(element, nan=False)), domain, metric, ~is_nan())

    return Partial("drop_nan()", build)


@constructor
def mark(condition: Condition) -> Partial[Transformation]:
    """Turns each row into the truth of a condition.

    Takes:      rows under any distance that counts rows
    Gives:      a column of truth values, as many rows, under the same distance
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.conditions import between
    >>> (vector(float, size=9) >> mark(between(0, 1))).map(1)
    Fraction(1, 1)
    """
    wanted = read_condition(condition)

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "mark")
        wanted.check(domain)
        target = Vector(BOOLEANS, domain.size, domain.least)
        return rowwise(
            space, target, lambda data: wanted.test(data, domain), f"mark {wanted.text}", claims=wanted.claims
        )

    return Partial(f"mark({wanted.text})", build)


def _kept(space: Space, narrowed: Rows, domain: Rows, metric: DatasetMetric, condition: Condition) -> Transformation:
    return _filtered(
        space,
        unsized(narrowed),
        domain,
        lambda d_in: filter_map(d_in, metric=metric, size=domain.size),
        condition,
        PROOF,
    )


def _filtered(
    space: Space,
    target: Space,
    domain: Rows,
    stability_map: Callable[[Distance], Distance],
    condition: Condition,
    proof: str,
) -> Transformation:
    def run(data: Data) -> Data:
        kept = condition.test(data, domain)

        def pick(values: Array) -> Array:
            return values[kept]

        return each_column(data, domain, pick)

    return Transformation(
        space,
        target,
        lambda data, _: run(data),
        stability_map,
        (f"keep rows {condition.text}",),
        (proof,),
        condition.claims,
    )


def _narrowed(domain: Rows, condition: Condition) -> Rows:
    narrowed = condition.narrowed
    if narrowed is None:
        return domain
    if isinstance(domain, Frame):
        columns = tuple(
            (name, narrowed(element) if name == condition.column else element) for name, element in domain.columns
        )
        return replace(domain, columns=columns)
    element: Atom = domain.element
    return replace(domain, element=narrowed(element)) if isinstance(domain, Vector) else domain
