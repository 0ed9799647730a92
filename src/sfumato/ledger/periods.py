"""Calendar periods after which a limit starts anew, in universal time."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from sfumato.errors import BadArgument


class Period(Enum):
    """A stretch of the calendar: a day, a week (from Monday), a month, a quarter or a year."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def label(self, moment: datetime) -> str:
        """Names the period of a moment; labels sort as periods do.

        >>> from datetime import datetime
        >>> [period.label(datetime(2026, 11, 16)) for period in Period]
        ['2026-11-16', '2026-W47', '2026-11', '2026-Q4', '2026']
        """
        match self:
            case Period.DAY:
                return f"{moment:%Y-%m-%d}"
            case Period.WEEK:
                year, week, _ = moment.isocalendar()
                return f"{year:04d}-W{week:02d}"
            case Period.MONTH:
                return f"{moment:%Y-%m}"
            case Period.QUARTER:
                return f"{moment:%Y}-Q{(moment.month + 2) // 3}"
            case Period.YEAR:
                return f"{moment:%Y}"

    @classmethod
    def named(cls, name: object) -> Period | None:
        """Reads a period by its name; None is no period."""
        if name is None or isinstance(name, Period):
            return name
        for period in cls:
            if period.value == name:
                return period
        raise BadArgument("period", f"one of {', '.join(repr(period.value) for period in cls)}", name)
