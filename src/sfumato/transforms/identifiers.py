"""How many identifiers there are, in all or in each group, and one value for each of them: no truncation is needed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Frame, Integers, Vector, categories
from sfumato.core.metrics import L2, Absolute, AddRemove, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import Distance, Number, probability, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import times
from sfumato.transforms.groups import group_codes, group_keys
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.owners import holders, owned_space
from sfumato.transforms.rows import values_of
from sfumato.transforms.summaries import (
    Summarizer,
    chosen_by,
    drawn_from,
    means_of,
    modes_of,
    quantiles_of,
    totals_of,
)

Summary = Literal["rows", "sum", "mean", "quantile", "mode", "draw", "first", "last", "min", "max"]


@guarantee(
    claim="one identifier moves each of m counts by at most 1: L1 = m d_in, L2 = √m d_in, L∞ = d_in",
    proof="proofs/identifiers.md#counts",
    reviewed="25abb20d3d2a",
)
def identifiers_map(d_in: Distance, *, norm: VectorMetric, groups: int) -> Distance:
    """How far the numbers of identifiers in some groups can move."""
    if isinstance(norm, LInf):
        return d_in
    return times(d_in, root(Fraction(groups)) if isinstance(norm, L2) else groups)


@constructor
def count_identifiers(
    *columns: str, keys: Sequence[Hashable] | None = None, metric: VectorMetric | None = None
) -> Partial[Transformation]:
    """Counts the different identifiers, however many rows each has: in all, or in each group by public keys.

    Takes:      a frame under the distance in identifiers; with columns, by group: for the listed keys, or for all
                declared categories
    Gives:      a whole number under the absolute distance; by group, a vector of them under the L1 distance, or L2 or
                L∞ where asked
    Guarantee:  d_out = d_in; for m groups m d_in in L1, √m d_in in L2, d_in in L∞  (proofs/identifiers.md#counts)
    Cost:       a sort of the rows

    An identifier that should count in fewer groups is cut first:
    truncate_groups(…, max_groups=…, max_rows_per_group=1) >> sizes().

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> log = frame({"id": int, "site": ["bank", "games", "mail", "social"]}, metric=Identifiers("id"))
    >>> (log >> count_identifiers()).map(3), (log >> count_identifiers("site", metric=L2())).map(1)
    (Fraction(3, 1), Fraction(2, 1))
    """
    listed = None if keys is None else categories(keys).values
    norm = read_norm(metric, "count_identifiers")
    if not columns and (keys is not None or metric is not None):
        raise BadArgument("keys and metric", "left out: without columns there is one number", Several(keys, metric))

    def build(space: Space) -> Transformation:
        domain, unit = owned_space(space, "count_identifiers")
        public = group_keys(domain, columns, listed) if columns else ()

        def run(data: Data) -> Data:
            whose, many = holders(values_of(data, domain, unit.column))
            if not columns:
                return many
            codes = group_codes(data, domain, columns, public, other=False)
            pairs = np.unique((whose * len(public) + codes)[codes >= 0])
            return np.bincount(pairs % len(public), minlength=len(public)).astype(np.int64)

        target = Space(Vector(Integers(), len(public)), norm) if columns else Space(Integers(), Absolute())
        by = f" by {', '.join(columns)}" if columns else ""
        return Transformation(
            space,
            target,
            lambda data, _: run(data),
            lambda d_in: identifiers_map(d_in, norm=norm, groups=len(public) if columns else 1),
            (f"count each {unit.column}{by}",),
            ("proofs/identifiers.md#counts",),
        )

    return Partial(f"count_identifiers({', '.join(map(repr, columns))})", build)


@guarantee(
    claim="one row for each identifier, made of that identifier's rows alone: d_out = d_in",
    proof="proofs/identifiers.md#one-each",
    reviewed="0ea6208e99e6",
)
def one_each_map(d_in: Distance) -> Distance:
    """The add/remove distance between tables of one row for each identifier."""
    return d_in


@constructor
def one_each(
    summary: Summary, column: str | None = None, *, by: str | None = None, alpha: Number | None = None
) -> Partial[Transformation]:
    """Takes one value for each identifier: how many rows it has, or a summary of one column of its rows.

    Takes:      a frame under the distance in identifiers. "rows" counts them; "sum" adds up a column, exactly, and
                "mean" averages it, to a fine grid (one of floats must have declared bounds); "quantile" takes the value
                at the place ``alpha`` in order, "mode" the most frequent one (the least of several), "draw" a random
                one, each as likely as it is frequent; "first" and "last" take the value of the row that comes first or
                last by the column ``by``, "min" and "max" by the column itself; NaN only where there is nothing else
    Gives:      a column of so many values as there are identifiers, in no order, under the add/remove distance
    Guarantee:  d_out = d_in  (proofs/identifiers.md#one-each)
    Cost:       a sort of the rows; for first, last, min and max one for each column

    Numbers of rows and sums have no bounds: clamp(…) them before they are added up or averaged.

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> log = frame({"id": int, "minutes": int}, metric=Identifiers("id"))
    >>> (log >> one_each("rows")).map(2), (log >> one_each("max", "minutes")).map(1)
    (Fraction(2, 1), Fraction(1, 1))
    """
    if summary not in get_args(Summary):
        raise BadArgument("summary", f"one of {', '.join(get_args(Summary))}", summary)
    if (column is None) != (summary == "rows"):
        raise BadArgument("column", "named, but for 'rows' only", column)
    if (by is not None) != (summary in ("first", "last")):
        raise BadArgument("by", "a column with 'first' or 'last', and left out otherwise", by)

    if (alpha is not None) != (summary == "quantile"):
        raise BadArgument("alpha", "which quantile, with 'quantile' and only there", alpha)
    level = None if alpha is None else probability(alpha, "alpha")

    def build(space: Space) -> Transformation:
        domain, unit = owned_space(space, "one_each")
        element, run = _summarizer(domain, summary, column, by, level)

        def made(data: Data, entropy: Entropy) -> Array:
            whose, many = holders(values_of(data, domain, unit.column))
            return run(data, whose, many, entropy)

        kind = summary if level is None else f"{level} quantile of"
        what = "rows" if column is None else f"{kind} {column}" + ("" if by is None else f" by {by}")
        return Transformation(
            space,
            Space(Vector(element), AddRemove()),
            made,
            one_each_map,
            (f"{what} of each {unit.column}",),
            ("proofs/identifiers.md#one-each",),
            randomized=summary == "draw",
        )

    return Partial(f"one_each({summary!r})", build)


def _summarizer(
    domain: Frame, summary: Summary, column: str | None, by: str | None, level: Fraction | None
) -> tuple[Atom, Summarizer]:
    if column is None:
        return Integers(), lambda data, whose, many, _: np.bincount(whose, minlength=many).astype(np.int64)
    element, order = domain[column], column if by is None else by
    domain[order]  # which refuses a column that is not there
    match summary:
        case "sum":
            return totals_of(element, column, domain)
        case "mean":
            return means_of(element, column, domain)
        case "quantile":
            return element, quantiles_of(domain, column, level or Fraction(0))
        case "mode":
            return element, modes_of(domain, column)
        case "draw":
            return element, drawn_from(domain, column)
        case _:
            return element, chosen_by(domain, column, order, latest=summary in ("last", "max"))
