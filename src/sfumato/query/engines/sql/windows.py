"""Window functions over the rows of one unit, as SQL: parts and order are the unit's own, and ties are broken."""

from __future__ import annotations

from sfumato.query.engines.sql.folds import fold, key
from sfumato.query.engines.sql.source import Source, made_source
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Folded, Placed, Placing, Windowed


def windowed(window: Windowed, below: Source, statement: Statement) -> Source:
    """The rows of a source with further columns, each by the rows of one unit that agree in what it is parted by."""
    if not below.units:
        raise TypeError(window)
    scope, above = below.scope(statement), Scope(statement, {})
    made = [f"{key(of, scope).text} AS k{place}" for place, of in enumerate(window.by)]
    made += [f"{key(of, scope).text} AS o{place}" for place, (of, _) in enumerate(window.order)]
    over, results = [], []
    for one in window.added:
        looks = _placed(one, window, scope) if isinstance(one, Placed) else _folded(one, scope)
        inputs, shapes, template = looks
        names, numbers = ([statement.name(letter) for _ in many] for letter, many in (("v", inputs), ("g", shapes)))
        made += [f"{piece.text} AS {name}" for piece, name in zip(inputs, names, strict=True)]
        over += [f"{shape.format(*names)} AS {name}" for shape, name in zip(shapes, numbers, strict=True)]
        result = above.fill(template, *map(Piece, numbers))
        results.append(above.fill(statement.dialect.finite, result) if one.column.kind is Kind.FLOAT else result)
    fields = [*below.identity, *below.fields.values()]
    rows = f"SELECT {listing([*fields, *made])} FROM ({scope.over(below.text)}) AS q"
    numbered = f"SELECT {listing([*fields, *over])} FROM ({rows}) AS q{_windows(window, below)}"
    added = [f"{piece.text} AS f{len(below.fields) + place}" for place, piece in enumerate(results)]
    text = f"SELECT {listing([*fields, *added])} FROM ({above.over(numbered)}) AS q"
    return made_source(text, below.units, window.fields, below.held)


def _windows(window: Windowed, below: Source) -> str:
    """The rows of a unit in order: with their peers, one by one, and all of them from first to last."""
    parts = f"PARTITION BY {listing([*below.identity, *(f'k{place}' for place in range(len(window.by)))])}"
    order = [f"o{place}{' DESC' * down} NULLS LAST" for place, (_, down) in enumerate(window.order)]
    ties = [f"{name} NULLS LAST" for name in below.fields.values()]
    apart = f"{parts} ORDER BY {listing([*order, *ties] or below.identity)}"  # some engines number no rows without one
    peers = parts + (f" ORDER BY {listing(order)}" if order else "")
    whole = f"{apart} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    return f" WINDOW peers AS ({peers}), apart AS ({apart}), whole AS ({whole})"


def _placed(placed: Placed, window: Windowed, scope: Scope) -> tuple[list[Piece], list[str], str]:
    word = placed.placing.value
    if placed.placing in (Placing.RANK, Placing.DENSE_RANK) and not window.order:  # all are peers
        return [], [], f"CAST(1 AS {scope.statement.dialect.types[Kind.INT]})"
    if placed.of is None:
        return [], [f"{word}() OVER {'apart' if placed.placing is Placing.ROW_NUMBER else 'peers'}"], "{0}"
    if placed.placing in (Placing.LAG, Placing.LEAD):
        return [key(placed.of, scope)], [f"{word}({{0}}, {int(placed.steps)}) OVER apart"], "{0}"
    return [key(placed.of, scope)], [f"{word}({{0}}) OVER whole"], "{0}"


def _folded(folded: Folded, scope: Scope) -> tuple[list[Piece], list[str], str]:
    inputs, shapes, template = fold(folded, scope)
    dialect = scope.statement.dialect
    over = [dialect.wide_sum_over if shape == dialect.wide_sum else f"{shape} OVER peers" for shape in shapes]
    return inputs, over, template
