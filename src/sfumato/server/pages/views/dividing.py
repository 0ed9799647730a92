"""An amount that is divided among several people, on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.server.pages.shell import address_of
from sfumato.server.pages.views.amounts import Gauge, LossForm
from sfumato.server.pages.views.granting import gauge_of_whole
from sfumato.service.limits import Line

LONGEST, MOST = 20, 200


@final
@dataclass(frozen=True)
class DivideForm:
    """Who is to get how much, as somebody filled it in."""

    loss: LossForm
    names: str = ""
    how: str = "equally"
    reason: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class DivideView:
    """The page on which an amount is divided: the form, and what each would get."""

    whole: Gauge
    form: DivideForm
    shares: tuple[tuple[str, str], ...]
    action: str
    back: str
    ways: Sequence[tuple[str, str]] = (
        ("equally", "equally, or by the weights beside the names"),
        ("rank", "by rank: the first gets most"),
    )


def divide_view(lines: Sequence[Line], data_set: str, form: DivideForm, shares: Mapping[str, Loss]) -> DivideView:
    """Makes the page."""
    action, back = address_of(data_set, "/limits/divide"), address_of(data_set, "/limits")
    rows = tuple((name, share.str_down()) for name, share in shares.items())
    return DivideView(gauge_of_whole(lines[0], lines[1:]), form, rows, action, back)


def read_names(text: str) -> tuple[list[str] | dict[str, str], str]:
    """Reads names, one a line, each perhaps with a weight; what is wrong with them, where something is."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or len(lines) > MOST:
        return [], f"Write a name on each line, at most {MOST}."
    if not any(":" in line for line in lines):
        return lines, ""
    pairs = [(name.strip(), weight.strip()) for name, _, weight in (line.partition(":") for line in lines)]
    if not all(weight.isascii() and weight.isdigit() and len(weight) <= LONGEST for _, weight in pairs):
        return [], "Write a whole number after each name, as in ada: 2; or after none."
    if len({name for name, _ in pairs}) < len(pairs):
        return [], "Each name stands once."
    return dict(pairs), ""
