"""Window functions over the rows of one unit, written as SQL."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.query.answer.spelled import Leaf, spelled
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.relations import Fold, Folded, Placed, Placing, Windowed


def over_text(window: Windowed, spell: Callable[[Expression], str]) -> Callable[[Placed | Folded], str]:
    """Writes what stands in OVER (…): the unit's id, what else parts its rows, their order, and for LAST_VALUE all."""
    ids = [column for column in window.source.fields if column.unit == 0]
    parts = [f"PARTITION BY {', '.join(map(spell, (*ids[:1], *window.by)))}"] if ids or window.by else []
    order = ", ".join(spell(made) + " DESC" * down for made, down in window.order)
    parts += [f"ORDER BY {order}"] if order else []

    def over(one: Placed | Folded) -> str:
        last = isinstance(one, Placed) and one.placing is Placing.LAST and bool(window.order)
        return " ".join([*parts, *(["ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"] if last else [])])

    return over


def placed_text(placed: Placed, spell: Callable[[Expression], str]) -> str:
    """Writes a function of a row's place."""
    of = "" if placed.of is None else spell(placed.of)
    beyond = f", {placed.steps}" if placed.placing in (Placing.LAG, Placing.LEAD) and placed.steps != 1 else ""
    return f"{placed.placing.value.upper()}({of}{beyond})"


FOLDS = {Fold.COUNT: "COUNT", Fold.SUM: "SUM", Fold.MEAN: "AVG", Fold.MIN: "MIN", Fold.MAX: "MAX"}


def fold_text(folded: Folded, leaf: Leaf) -> str:
    """Writes what a unit's rows are folded into."""
    of = "*" if folded.of is None else spelled(folded.of, leaf).text
    return f"COUNT(DISTINCT {of})" if folded.fold is Fold.DISTINCT else f"{FOLDS[folded.fold]}({of})"
