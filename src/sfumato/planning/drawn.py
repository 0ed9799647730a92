"""Which chart of a plan shows what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.accounting.losses.measures import Approx
from sfumato.errors import BadArgument
from sfumato.planning.limits import comparable, epsilon_of, right_of_thousand
from sfumato.planning.record import FOUR, alike

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.planning.record import Plan

CHARTS = ("errors", "shares", "people", "others")


def drawn(plan: Plan, what: str, charts: Any) -> Chart:
    """Draws one chart of a plan."""
    made: Chart
    match what:
        case "errors":
            made = charts.planned_errors(error_rows(plan))
        case "shares":
            made = charts.planned_shares(*share_rows(plan))
        case "people":
            made = charts.people_of_thousand(right_of_thousand(plan.cost, delta=plan.delta))
        case "others":
            others = [(f"{one.name}, {one.curator}", float(epsilon)) for one, epsilon in comparable()]
            own = epsilon_of(plan.cost, delta=plan.delta)
            made = charts.beside_deployments(others, None if own is None else float(own))
        case _:
            raise BadArgument("what", f"one of {', '.join(map(repr, CHARTS))}", what)
    return made


def share_rows(plan: Plan) -> tuple[list[tuple[str, float]], str]:
    """What each statistic takes: of the limit, where shares add up; or else of all that is spent."""
    adds_up = not isinstance(plan.limit, Approx)
    whole = 1.0 if adds_up else float(sum(step.share for step in plan.steps))
    shares = [(step.name, float(step.share) / whole) for step in plan.steps]
    return shares, f"share of the limit, {plan.limit}" if adds_up else f"share of what is spent of {plan.limit}"


def error_rows(plan: Plan) -> list[tuple[str, float, float | None]]:
    """For each number its name, its error as a share of itself, and the share that is wanted, where one is."""
    rows = []
    for step in plan.steps:
        every = alike(step.numbers)
        for label, one in every[:FOUR]:
            share = one.half_width / one.value if one.rank and one.value and one.half_width is not None else one.share
            if share is None:
                continue
            target = step.target(one.column)
            allowed = None if target is None else target.width(one.value)
            name = step.name if label == step.name or len(every) == 1 else f"{step.name}: {label}"
            rows.append((name, share, allowed / abs(one.value) if allowed and one.value else None))
    return rows
