"""Demands: what several questions with a wanted accuracy cost together, and which must relax where that is too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

from sfumato.accounting.adaptive.charge import in_kind
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.service.asking import Asked
from sfumato.session.session import Session

MOST = 100


@final
@dataclass(frozen=True)
class Demand:
    """The price of each question, that of all of them, and the questions (by place) that must relax to fit."""

    prices: tuple[Loss, ...]
    total: Loss
    within: Loss
    relax: tuple[int, ...]

    @property
    def fits(self) -> bool:
        """Tells whether all of them can be answered as well as is wanted."""
        return not self.relax


def demand_of(session: Session, asked: Sequence[Asked], within: Loss) -> Demand:
    """Works a demand out. Questions are taken in the order in which they are given: the first matter most."""
    if not isinstance(asked, Sequence) or not 0 < len(asked) <= MOST:
        raise BadArgument("the questions", f"a list of 1 to {MOST}", type(asked).__name__)
    if not all(isinstance(one, Asked) and one.priced for one in asked):
        raise BadArgument("each question", "one that says how near to come, or what to pay", "another")
    kind = type(within)
    prices = [in_kind(session.explain(one.text, one.parameters, **one.said).price, kind) for one in asked]
    total, relax, so_far = reduce(lambda a, b: a.then(b), prices), list[int](), within.nothing()
    for place, price in enumerate(prices):
        with_it = so_far.then(price)
        if with_it.within(within):
            so_far = with_it
        else:
            relax.append(place)
    return Demand(tuple(prices), total, within, tuple(relax))
