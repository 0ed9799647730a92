"""Charts of attacks: how often one succeeds, beside guessing, and how that falls with ε."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from sfumato.charts.canvas import (
    BLUE,
    HEIGHT,
    INK,
    MUTED,
    ORANGE,
    SERIES,
    WIDTH,
    Chart,
    across,
    altair,
    columns_of,
    finished,
    table,
    titled,
    upward,
)
from sfumato.charts.curves import Row, short
from sfumato.errors import BadArgument

Outcome: TypeAlias = tuple[str, float | None, float, float, float, float]
"""What was attacked, its ε where it has one, the rate of success, an interval around it, and the rate of guessing."""

GUESSING, PRIVATE = "guessing", "differential privacy"


def attack_success(outcomes: Sequence[Outcome], *, title: str) -> Chart:
    """Draws an attack's success against ε where there are several, with everything else as lines across; else bars.

    What was attacked without an ε (exact answers, an ad-hoc protection) is a line of its own, and so is guessing.
    """
    if not outcomes:
        raise BadArgument("outcomes", "one or more", [])
    rows: list[Row] = [
        {"against": against, "epsilon": epsilon, "y": rate, "low": low, "high": high, "baseline": baseline}
        for against, epsilon, rate, low, high, baseline in outcomes
    ]
    private = [row for row in rows if row["epsilon"] is not None]
    if len({row["epsilon"] for row in private}) < 2:
        return _bars(rows, title)
    return _against_epsilon(private, [row for row in rows if row["epsilon"] is None], title)


def _against_epsilon(private: list[Row], others: list[Row], title: str) -> Chart:
    alt = altair()
    x = across("ε", field="epsilon", type="log", padding=14)
    x = x.axis(values=sorted({row["epsilon"] for row in private}), format="~g", grid=False)
    y = upward("success", domain=[0, 1.02])
    drawn = alt.Chart(table("success", private))
    layers = [
        _lines_across(private, others, y),
        drawn.mark_rule(color=BLUE, strokeWidth=1.5).encode(x=x, y=upward("success", field="low"), y2="high:Q"),
        drawn.mark_line(color=BLUE, strokeWidth=2.5).encode(x=x, y=y),
        drawn.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=x, y=y),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle=f"Blue: {PRIVATE}, with 95 % intervals if trials are independent"))


def _lines_across(private: list[Row], others: list[Row], y: Any) -> Any:
    """Draws a line for guessing, and one for each rate of success without an ε; those that are alike share a line."""
    alt = altair()
    alike: dict[float, list[str]] = {}
    for row in others:
        alike.setdefault(round(row["y"], 3), []).append(row["against"])
    levels = [{"series": ", ".join(dict.fromkeys(names)), "y": rate} for rate, names in alike.items()]
    baselines = {round(row["baseline"], 12) for row in (*private, *others)}
    levels += [{"series": GUESSING, "y": baseline} for baseline in sorted(baselines)]
    names = list(dict.fromkeys(str(level["series"]) for level in levels))
    # The first colour is that of the points.
    colours = [MUTED if name == GUESSING else SERIES[1 + place % (len(SERIES) - 1)] for place, name in enumerate(names)]
    colour = alt.Color("series:N", sort=None, scale=alt.Scale(domain=names, range=colours))
    colour = colour.legend(title=None, symbolType="stroke", columns=columns_of(names))
    rules = alt.Chart(table("levels", levels)).mark_rule(strokeWidth=2, strokeDash=[6, 4])
    return rules.encode(y=y, color=colour)


def _bars(rows: list[Row], title: str) -> Chart:
    alt = altair()
    for place, row in enumerate(rows):
        row |= {"words": short(row["y"]), "place": place}
    x = across("success", field="y", domain=[0, 1.12]).axis(values=[0, 0.25, 0.5, 0.75, 1], format="~g")
    # Rows are told apart by their places: two may be called alike, and bars that share a row are stacked.
    called = [row["against"] for row in rows]
    axis = alt.Axis(labelLimit=260, labelExpr=f"{json.dumps(called)}[datum.value]")
    names = alt.Y("place:O", title=None, axis=axis)
    drawn = alt.Chart(table("success", rows))
    ends = {"x": alt.X("low:Q"), "x2": "high:Q"}
    layers = [
        drawn.mark_bar(color=BLUE, height={"band": 0.55}).encode(x=x, y=names),
        drawn.mark_rule(color=INK, strokeWidth=1.5).encode(y=names, **ends),
        drawn.mark_tick(color=ORANGE, thickness=3).encode(x=alt.X("baseline:Q"), y=names),
        drawn.mark_text(align="left", dx=8, color=INK, fontSize=12).encode(x=alt.X("high:Q"), y=names, text="words:N"),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=max(60, 44 * len(rows)))
    return finished(titled(chart, title, subtitle="Blue: the attack, with a 95 % interval. Orange: guessing"))
