"""How estimates of frequencies show themselves: as a table, and as charts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sfumato.charts.local import Estimated, estimated_shares, estimates_by_epsilon
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.local.frequency import Frequencies

SURE = Fraction(95, 100)

MOST = 20
"""So many values stand in a printed table, those with the largest counts."""


def frequency_sheet(found: Frequencies) -> Document:
    """The largest counts with their intervals, what a report cost, and what was left out."""
    low, high = found.interval(SURE)
    order = np.argsort(-found.counts, kind="stable")[:MOST]
    rows = tuple(
        (str(found.values[int(place)]), f"{found.counts[place]:,.0f}", f"{low[place]:,.0f} … {high[place]:,.0f}")
        for place in order.tolist()
    )
    many, left = len(found.values), len(found.values) - len(rows)
    facts = [("cost", f"{found.loss} for one report, to whoever sees it")]
    if left:
        facts.append(("rest", f"{left:,} more value{'s' * (left > 1)}, with smaller estimates"))
    if found.rejected.total:
        facts.append(("left out", f"{found.rejected.total:,} messages that are none of this protocol"))
    counted = Table(rows, ("value", "people", "95%"), right=frozenset({1, 2}))
    headline = f"{many:,} values of {found.users:,} people"
    return Document("Frequencies", headline, tables=(counted, Table(tuple(facts))))


def plot_frequencies(
    found: Frequencies,
    *,
    truth: Mapping[Hashable, Number] | ArrayLike | None = None,
    confidence: Number = SURE,
    title: str | None = None,
) -> Chart:
    """Draws the estimated shares; ``truth`` is how many people have each value, where that is known."""
    if not found.users:
        raise BadArgument("the estimate", "of one report at least, to be drawn", 0)
    low, high = (ends / found.users for ends in found.interval(confidence))
    known = None if truth is None else _true_shares(found, truth)
    estimates = [
        Estimated(str(found.values[place]), share, low[place], high[place], None if known is None else known[place])
        for place, share in enumerate(found.shares.tolist())
    ]
    said = (
        f"{found.users:,} people, {found.loss} a report; bars hold each share with {float(confidence):.4g} confidence"
    )
    return estimated_shares(estimates, said=[said], title=title or "Shares, estimated from reports that prove nothing")


def _true_shares(found: Frequencies, truth: Mapping[Hashable, Number] | ArrayLike) -> list[float]:
    """Reads true counts by value, or one after the other, as shares."""
    if isinstance(truth, Mapping):
        counts = [float(truth.get(found.values[place], 0)) for place in range(len(found.values))]
    else:
        counts = np.asarray(truth, dtype=np.float64).ravel().tolist()
    if len(counts) != len(found.values) or not np.isfinite(counts).all() or min(counts) < 0:
        raise BadArgument("truth", f"a count for each of the {len(found.values)} values, or a mapping", len(counts))
    return [count / sum(counts) for count in counts] if sum(counts) else counts


def plot_value(
    estimates: Sequence[Frequencies],
    value: Hashable,
    *,
    truth: Number | None = None,
    confidence: Number = SURE,
    title: str | None = None,
) -> Chart:
    """Draws the share of one value with its interval against ε, from estimates at several losses.

    ``truth`` is the true share, where that is known.
    """
    if not estimates:
        raise BadArgument("estimates", "of at least one loss", 0)
    points = []
    for found in estimates:
        if not found.users:
            raise BadArgument("each of the estimates", "of one report at least, to be drawn", 0)
        place = found.values.place(value)
        low, high = (float(ends[place]) / found.users for ends in found.interval(confidence))
        points.append((float(found.loss.epsilon), float(found.shares[place]), low, high))
    people = {found.users for found in estimates}
    who = f"{min(people):,} people" if len(people) == 1 else f"{min(people):,} to {max(people):,} people"
    said = f"{who}; bars hold the share with {float(confidence):.4g} confidence"
    drawn = None if truth is None else float(truth)
    return estimates_by_epsilon(
        points, truth=drawn, said=[said], title=title or f"The share of {value!s}, the surer the larger ε"
    )
