"""Times: what SQL does with days and times, said with the operators there are."""

from __future__ import annotations

from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.sql.constants import moment
from sfumato.query.sql.refusals import refused


def alike(*parts: Expression) -> tuple[Expression, ...]:
    """Makes operands one kind where a text is written for a day or a time, or a day stands beside a time."""
    kinds = {part.kind for part in parts if part.kind.temporal}
    if not kinds:
        return parts
    return tuple(_as_moment(part, Kind.TIME if Kind.TIME in kinds else Kind.DATE) for part in parts)


def _as_moment(part: Expression, kind: Kind) -> Expression:
    if isinstance(part, Literal) and isinstance(part.value, str):
        return moment(part.value, kind)
    return call("to_time", part) if part.kind is Kind.DATE and kind is Kind.TIME else part


def part_of_time(word: str, value: Expression) -> Expression:
    """Reads a part of a day or a time, as EXTRACT names it; ``dow`` counts days of the week from Sunday, 0."""
    match word.lower():
        case "year" | "quarter" | "month" | "day" | "hour" | "minute" as known:
            return call(known, value)
        case "isodow":
            return call("weekday", value)
        case "dow" | "dayofweek" | "weekday":
            return call("mod", call("weekday", value), Literal(7, Kind.INT))
    raise refused(
        word.upper()[:40], "known parts of a date are year, quarter, month, day, isodow, dow, hour and minute"
    )


def difference(word: str, end: Expression, start: Expression) -> Expression:
    """Counts the days, months or years that begin between two dates."""
    end, start = (_as_moment(one, one.kind if one.kind.temporal else Kind.DATE) for one in (end, start))
    match word.lower():
        case "day":
            return call("sub", *(call("to_date", one) if one.kind is Kind.TIME else one for one in (end, start)))
        case "month":
            return call("sub", _months(end), _months(start))
        case "year":
            return call("sub", call("year", end), call("year", start))
    raise refused(f"DATE_DIFF in {word.upper()[:40]}", "days, months and years are known")


def _months(value: Expression) -> Expression:
    return call("add", call("mul", call("year", value), Literal(12, Kind.INT)), call("month", value))
