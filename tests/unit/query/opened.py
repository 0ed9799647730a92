"""Opens made-up data for tests of whole questions: made once, asked by many."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.accounting.losses.measures import Loss
from sfumato.datasets.making import MadeUp
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

MUCH = sf.Approx(10**6, 0.5)
"""A loss at which noise is nearly 0: what is computed can be seen, in tests."""


def arrow(made: MadeUp) -> pa.Table:
    """Gives made-up columns as an Arrow table."""
    return pa.table(dict(made.columns))


@cache
def dataset_of(name: str) -> Dataset:
    """Gives a data set of the package behind an engine."""
    made = getattr(sf.datasets, name)()
    return Dataset({made.table: arrow(made)}, codebook=made.codebook, name=name)


def session_of(data: Dataset, limit: Loss = MUCH) -> Session:
    """Opens a session with a ledger of its own."""
    return data.session(limit=limit, ledger="memory:")


def ready(session: Session, text: str, **settings: Any) -> CompiledQuery:
    """Gives a question as it is planned in a session, to look at its noise."""
    from sfumato.query.build.settings import Settings

    planner = session._planner
    question = planner._read(text, ()).question
    assert question is not None
    return planner._planned(question, Settings.read(**settings).priced)


def close(column: Any, exact: Any) -> bool:
    """Tells whether released numbers are within 8 of their error bars of the exact ones: Laplace noise is further off
    once in 10¹⁰ times, for an error bar of 95 % is of 3 scales."""
    wide = [(high - low) / 2 for low, high in zip(column.low, column.high, strict=True)]
    pairs = zip(column.values, exact, wide, strict=True)
    return all(abs(value - true) <= 8 * half + 1e-9 for value, true, half in pairs)
