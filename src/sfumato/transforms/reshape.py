"""Changing how many rows there are: to a public size, or each row several times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.core.domains import Array, Data, Frame, Matrix, column
from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric, Hamming, Windows
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, integer
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import choose
from sfumato.transforms.distances import exchanged_rows, times
from sfumato.transforms.rows import Rows, as_rows, count_rows, each_column, row_space


@guarantee(
    claim="at most min(e, N) rows are exchanged, where e is d_in, or the exchanged rows of a source of public size; "
    "the add/remove distance is twice that; places keep their order, so positions and stretches stay d_in",
    proof="proofs/resize.md#map",
    reviewed="2cd7b7b8cd3c",
)
def resize_map(
    d_in: Distance, *, source: DatasetMetric, before: int | None, target: DatasetMetric, size: int
) -> Distance:
    """The distance after resizing, for some way to draw both subsets together."""
    if isinstance(target, Hamming | Windows):
        return d_in
    moved = d_in if before is None else exchanged_rows(d_in, metric=source, size=before)
    exchanged = exchanged_rows(moved, metric=ChangeOne(), size=size)
    return times(exchanged, 2) if isinstance(target, AddRemove) else exchanged


@constructor
def resize(size: int, constant: Data, *, metric: DatasetMetric | None = None) -> Partial[Transformation]:
    """Brings the data to a public size: pads with a constant row, or keeps a uniformly random subset.

    Takes:      rows under any distance that counts rows; a constant (one value, one matrix row, or a mapping of values)
    Gives:      exactly ``size`` rows, in their old order; the distance stays of its kind, or is the one asked for
    Guarantee:  d_out = 2 d_in from add/remove to add/remove, d_in to change-one, d_in from change-one; never more than
                all rows  (proofs/resize.md#map)
    Cost:       one copy; random bits for each row when there are too many

    >>> from sfumato.core.metrics import ChangeOne
    >>> from sfumato.core.space import vector
    >>> (vector(float) >> resize(10, 0.0)).map(1), (vector(float) >> resize(10, 0.0, metric=ChangeOne())).map(1)
    (Fraction(2, 1), Fraction(1, 1))
    """
    wanted = integer(size, "size", least=0)

    def build(space: Space) -> Transformation:
        domain, source = row_space(space, "resize")
        target = source if metric is None else _check_metric(metric, source)
        filler = _single_row(constant, domain)
        return Transformation(
            space,
            Space(replace(domain, size=wanted, least=0), target),
            lambda data, entropy: pad_or_sample(data, domain, filler, wanted, entropy),
            lambda d_in: resize_map(d_in, source=source, before=domain.size, target=target, size=wanted),
            (f"resize to {wanted} rows",),
            ("proofs/resize.md#map",),
            randomized=True,
        )

    return Partial(f"resize({size}, …)", build)


def _check_metric(metric: DatasetMetric, source: DatasetMetric) -> DatasetMetric:
    if not isinstance(metric, AddRemove | ChangeOne) and metric != source:
        raise BadArgument("the metric after resize()", f"AddRemove, ChangeOne or {source}", metric)
    return metric


def _single_row(constant: Data, domain: Rows) -> Data:
    single: Data = {name: [constant[name]] for name in constant} if isinstance(constant, dict) else [constant]
    if not replace(domain, size=1, least=0).member(single):
        raise BadArgument("the constant", f"a row of {domain}", constant)
    if isinstance(domain, Frame):
        return {name: column(single[name], element) for name, element in domain.columns}
    return as_rows(single, domain) if isinstance(domain, Matrix) else column(single, domain.element)


@guarantee(
    claim="all rows, and copies of the constant up to N; of more than N rows, every subset of N is equally likely",
    proof="proofs/resize.md#subset",
    reviewed="f81b0f115ce7",
)
def pad_or_sample(data: Data, domain: Rows, filler: Data, size: int, entropy: Entropy) -> Data:
    """Pads or subsamples a member to a size, keeping the order of rows."""
    rows = count_rows(data, domain)
    if rows > size:
        chosen = np.sort(choose(rows, k=size, entropy=entropy))
        return each_column(data, domain, lambda values: values[chosen])
    if isinstance(domain, Frame):
        columns = each_column(data, domain, np.copy)
        return {name: _pad(columns[name], filler[name], size - rows) for name in columns}
    return _pad(each_column(data, domain, np.copy), filler, size - rows)


def _pad(values: Array, filler: Array, missing: int) -> Array:
    return np.concatenate([values, np.repeat(filler, missing, axis=0)]) if missing else values


@guarantee(
    claim="k copies of every row: d_out = k d_in",
    proof="proofs/resize.md#repeat",
    reviewed="61ba0bd86603",
)
def repeat_map(d_in: Distance, *, copies: int) -> Distance:
    """The distance after copying every row."""
    return times(d_in, copies)


@constructor
def repeat(copies: int) -> Partial[Transformation]:
    """Puts several copies of the data one after another.

    Takes:      rows under any distance that counts rows
    Gives:      every row ``copies`` times, under the same distance
    Guarantee:  d_out = copies d_in  (proofs/resize.md#repeat)
    Cost:       one larger copy

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> repeat(2)).map(1)
    Fraction(2, 1)
    """
    times_over = integer(copies, "copies", least=1)

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "repeat")
        size = None if domain.size is None else domain.size * times_over

        def tiled(values: Array) -> Array:
            return np.concatenate([values] * times_over)

        return Transformation(
            space,
            Space(replace(domain, size=size, least=domain.least * times_over), space.metric),
            lambda data, _: each_column(data, domain, tiled),
            lambda d_in: repeat_map(d_in, copies=times_over),
            (f"{times_over} copies of every row",),
            ("proofs/resize.md#repeat",),
        )

    return Partial(f"repeat({copies})", build)
