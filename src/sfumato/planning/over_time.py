"""Plans over time: a limit that begins anew in each period, or one for all of them; what somebody loses who stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.accounting.events import Repeat
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import CostReport, account
from sfumato.exact import digits_up, integer, up
from sfumato.ledger.periods import Period
from sfumato.planning.choosing import Share
from sfumato.planning.desk import Book
from sfumato.planning.making import plan as made_plan
from sfumato.planning.record import FOUR, Plan, alike, amount_words
from sfumato.planning.shape import Tables
from sfumato.planning.wishes import Wanted
from sfumato.query.frame.queries import Query
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

TOLD = (1, 2, 3, 6, 12, 24, 60)
"""For so many periods a total is told, as far as they are asked for."""

RENEWED = (
    "The guarantee is for one {period}: the limit begins anew with each, and what is not spent in one does not go over "
    "to the next. Somebody who is in the data in several of them loses in all what the table says."
)
ONCE = (
    "The limit is for ever: what was spent never comes back, and once it is spent every further question is refused, "
    "in this process and in all later ones."
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class OverTime(Displayed):
    """What a plan that is run anew in each period costs somebody who is there in several, and what one limit would buy.

    ``reports`` account for so many periods together, ``added`` is the limits of them, added up; ``once`` is the plan of
    one period where one limit must do for all of them.
    """

    plan: Plan
    period: Period
    periods: int
    reports: tuple[tuple[int, CostReport], ...]
    once: Plan

    def loss(self, periods: int) -> Approx:
        """What somebody loses in all who is there in so many periods, where that was worked out."""
        return dict(self.reports)[periods].loss

    def added(self, periods: int) -> Loss:
        """The limits of so many periods, added up: what somebody loses at most, whatever is asked in each."""
        return self.plan.limit.times(periods)

    def document(self) -> Document:
        """Totals over periods, and the errors of the two ways."""
        name = self.period.value
        rows = tuple(
            (f"{many}", f"ε = {digits_up(one.epsilon.upper)}", str(self.added(many))) for many, one in self.reports
        )
        errors = tuple(
            (f"{step.name}: {one.column}", _error(one.half_width), _error(_same(self.once, step.name, one.column)))
            for step in self.plan.steps
            for _, one in alike(step.numbers)[:FOUR]
        )
        head = (f"{name}s", f"in all, at δ = {digits_up(self.plan.delta)}", "limits, added up")
        return Document(
            "Over time",
            f"{self.plan.limit} in each {name}",
            RENEWED.format(period=name),
            tables=(
                Table(rows, head, "Somebody who is there in so many"),
                Table(
                    errors,
                    ("statistic", f"a limit for each {name}", f"one limit for all {self.periods}"),
                    "Errors to expect",
                ),
                Table((("one limit", ONCE),)),
            ),
        )

    def chart(self) -> Chart:
        """Draws what somebody loses over the periods: the whole composed, and limits added up."""
        from sfumato.charts.planning import over_periods

        composed = [(many, up(one.epsilon.upper)) for many, one in self.reports]
        limit = self.plan.limit
        lines = [("this plan, composed", composed)]
        if hasattr(limit, "epsilon"):
            lines.append(("limits, added up", [(many, float(self.added(many).epsilon)) for many, _ in self.reports]))  # type: ignore[attr-defined]
        return over_periods(lines, period=self.period.value)


def _error(half_width: float | None) -> str:
    return "hangs on the data" if half_width is None else f"± {amount_words(half_width)}"


def _same(plan: Plan, name: str, column: str) -> float | None:
    for step in plan.steps:
        for one in step.numbers:
            if (step.name, one.column) == (name, column):
                return one.half_width
    return None


def plan_over_time(
    codebook: Book,
    statistics: Sequence[str | Query | Wanted],
    *,
    limit: Loss,
    period: Period | str,
    periods: int = 12,
    rows: int | None = None,
    people: int | None = None,
    share: Share = "best",
    unit: str | None = None,
    public: Tables | None = None,
) -> OverTime:
    """Plans the same statistics in every period: under a limit for each, and under one limit for all of them.

    ``limit`` is what may be spent in each period (as `Dataset.session` takes it, with ``period``), and then what may be
    spent in all ``periods`` together. ``rows`` and ``people`` are those of one period.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.datasets import visits
    >>> count = "SELECT COUNT(DISTINCT user_id) AS people FROM visits"
    >>> years = plan_over_time(visits().codebook, [count], limit=Pure(1), period="month", periods=12)
    >>> years.plan.steps[0].numbers[0].half_width, years.once.steps[0].numbers[0].half_width
    (3.0, 36.0)
    """
    many, named = integer(periods, "periods", least=1), Period.named(period) or Period.MONTH

    def planned(own: Loss) -> Plan:
        return made_plan(
            codebook, statistics, limit=own, rows=rows, people=people, share=share, unit=unit, public=public
        )

    each = planned(limit)
    told = sorted({one for one in TOLD if one <= many} | {many})
    reports = tuple((one, account(Repeat(each.event, one), delta=each.delta, relation=each.relation)) for one in told)
    return OverTime(each, named, many, reports, planned(limit.scaled(Fraction(1, many))))
