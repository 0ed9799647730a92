"""Contingency tables in Polars: the rows are coded and bounded once, and every table is counted from the codes."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.query.engines.polars.relations import Relations
from sfumato.query.engines.polars.running import collected
from sfumato.query.engines.polars.scope import chosen
from sfumato.query.plan.engine_plan import Marginals


def counted(marginals: Marginals, relations: Relations, *, streaming: bool) -> NDArray[np.int64]:
    """The counts of all tables, one after another. Cells are worked out from codes alone."""
    source = relations.source(marginals.source)
    names = [source.fields[field.name] for field in marginals.source.fields]
    narrow = {name: pl.col(name).cast(pl.UInt32) for name in names}
    coded = collected(chosen(source.frame, narrow), streaming=streaming)
    columns = [coded[name].to_numpy() for name in names]
    counts = np.zeros(sum(marginals.sizes), np.int64)
    firsts = accumulate(marginals.sizes, initial=0)
    for clique, first, size in zip(marginals.cliques, firsts, marginals.sizes, strict=False):
        cell = np.zeros(coded.height, np.int64)
        for place in clique:
            cell = cell * marginals.codes[place] + columns[place]
        counts[first : first + size] = np.bincount(cell, minlength=size)
    return counts
