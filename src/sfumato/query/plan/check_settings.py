"""Checks what is said besides a question against it, before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.errors import BadArgument, QueryRefused, Several
from sfumato.query.answer.released_expressions import check_released
from sfumato.query.nodes.keysets import KeySet
from sfumato.query.nodes.questions import Deviation, Histogram, Item, Quantile, TopValues
from sfumato.query.plan.query_plan import QueryPlan

CHOSEN = Quantile | Deviation | Histogram | TopValues | Item
"""Statistics whose errors hang on the data."""


def check_settings(plan: QueryPlan) -> QueryPlan:
    """Before: any question and settings. After: its answer can be made, and ``keys`` are of what it groups by."""
    question, settings = plan.question, plan.settings
    for released in question.released:
        check_released(released)
    if settings.keys is not None:
        settings = replace(settings, keys=_given_keys(settings.keys, [name for name, _ in question.keys]))
    if settings.loss is None and any(isinstance(one, CHOSEN) for one in question.statistics):
        raise QueryRefused(
            "how near quantiles, histograms and top values come cannot be asked for: say what to pay, loss=…"
        )
    return replace(plan, settings=settings)


def _given_keys(keys: KeySet, names: Sequence[str]) -> KeySet:
    """Checks that keys cover all columns that are grouped by, and drops others: these are answered, and recorded."""
    if not names:
        raise BadArgument("keys", "left out, where nothing is grouped by", keys)
    missing = [name for name in names if name not in keys.names]
    if missing:
        must = f"over all that is grouped by, under the names that the answer has: {', '.join(names)}"
        raise BadArgument("keys", must, Several(*keys.names))
    return keys.select(names)
