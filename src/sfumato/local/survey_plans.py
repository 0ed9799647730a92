"""How many people surveys take, for several errors and several coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sfumato.errors import BadArgument
from sfumato.exact import Number, digits_up
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_estimates import SURE, SurveyPlan
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

ERRORS = ("0.01", "0.02", "0.05", "0.1", "0.2")


@final
@dataclass(frozen=True, repr=False)
class SurveySizes(Displayed):
    """Plans of several surveys, for several errors each; the last plans are of direct questions, without privacy."""

    surveys: tuple[CoinSurvey, ...]
    plans: tuple[tuple[SurveyPlan, ...], ...]

    def document(self) -> Document:
        """A row for each error, a column for each coin."""
        rows = tuple(
            (f"± {float(each[0].error):.3g}", *(f"{plan.people:,}" for plan in each), f"{each[0].direct:,}")
            for each in zip(*self.plans, strict=True)
        )
        head = ("error", *(f"truth {survey.truth}, {survey.loss}" for survey in self.surveys), "direct")
        sure = float(self.plans[0][0].confidence)
        told = f"people to ask, for intervals that reach no further than the error, with confidence {sure:.4g}"
        return Document("Surveys", told, tables=(Table(rows, head, right=frozenset(range(len(head)))),))

    def plot(self, *, title: str = "Privacy is paid for with people") -> Chart:
        """Draws the number of people against the error, a line for each coin and one for a direct question."""
        from sfumato.charts.local import labelled_lines

        lines = {
            f"truth with {survey.truth} (odds × {digits_up(survey.deniability().factor, 3)})": [
                (float(plan.error), float(plan.people)) for plan in plans
            ]
            for survey, plans in zip(self.surveys, self.plans, strict=True)
        }
        lines["asked directly"] = [(float(plan.error), float(plan.direct)) for plan in self.plans[0]]
        return labelled_lines(
            lines,
            across_title="error of the share: half the length of an interval",
            upward_title="people to ask",
            title=title,
            said=[f"With confidence {float(self.plans[0][0].confidence):.4g}, whatever the answers"],
            ticks=sorted({float(plan.error) for plan in self.plans[0]}),
        )


def survey_sizes(
    surveys: Sequence[CoinSurvey], *, errors: Sequence[Number] = ERRORS, confidence: Number = SURE
) -> SurveySizes:
    """Plans the number of people for each survey and each error.

    >>> survey_sizes([CoinSurvey("Did you?")], errors=["0.05", "0.1"]).plans[0][0].people
    1574
    """
    if not surveys or not errors:
        raise BadArgument("surveys and errors", "at least one of each", (len(surveys), len(errors)))
    plans = tuple(
        tuple(survey.people_for(error=error, confidence=confidence) for error in errors) for survey in surveys
    )
    return SurveySizes(tuple(surveys), plans)
