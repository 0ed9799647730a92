"""Structural zeros: which combinations of codes no row can have, by a codebook or by what somebody states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.codebook.entries import Entries
from sfumato.codebook.impossible import Span, Values, read_values
from sfumato.errors import BadArgument, BadCodebook, did_you_mean
from sfumato.query.frame import Frame
from sfumato.query.nodes.kinds import Kind
from sfumato.synth.columns import Between, CodedColumn, ListedColumn
from sfumato.synth.graph.domain import Domain

Combination: TypeAlias = Mapping[str, Values]
"""Columns, each with some of its values, which no row has all together."""

Zeros: TypeAlias = Mapping[tuple[str, ...], NDArray[np.bool_]]
"""By columns, in the order of the domain: True where no row can be."""

MOST_CELLS = 4_000_000
"""A combination of columns with more codes than this is not kept track of."""

HINT = "; did you mean {!r}?"

TYPES = {
    Kind.BOOL: "bool",
    Kind.INT: "int",
    Kind.FLOAT: "float",
    Kind.TEXT: "str",
    Kind.DATE: "date",
    Kind.TIME: "time",
}
"""What a codebook calls the kinds of values."""


def stated_combinations(
    stated: Sequence[Mapping[str, object]] | None, columns: Sequence[CodedColumn]
) -> list[Combination]:
    """Reads combinations as people write them: ``[{"age": {"between": [0, 14]}, "married": True}]``."""
    if stated is None:
        return []
    if isinstance(stated, Mapping | str) or not all(isinstance(one, Mapping) and one for one in stated):
        must = "a list of combinations of columns and values, such as [{'age': {'between': [0, 14]}, 'married': True}]"
        raise BadArgument("impossible", must, stated)
    known, made = {column.name: column for column in columns}, list[Combination]()
    for one in stated:
        for name in one:
            if name not in known:
                must = (
                    f"about columns that are synthesised: {', '.join(known)}{did_you_mean(str(name), [*known], HINT)}"
                )
                raise BadArgument("impossible", must, name)
        made.append({name: _values(known[name], value) for name, value in one.items()})
    return made


def codebook_combinations(table: Frame, names: Sequence[str]) -> list[Combination]:
    """The combinations that a codebook has for columns that a table holds unchanged, under the names they have there.

    Those with a column that is not among ``names``, or that is there twice, are left out.
    """
    origins: dict[str, list[str]] = {}
    for field in table.relation.fields:
        if field.origin and field.name in names:
            origins.setdefault(field.origin, []).append(field.name)
    made = []
    for described in table.asker.opened.catalog.codebook.tables:
        for one in described.impossible:
            held = [origins.get(f"{described.name}.{name}", []) for name, _ in one.where]
            if all(len(under) == 1 for under in held):
                made.append({under[0]: values for under, (_, values) in zip(held, one.where, strict=True)})
    return made


def cut_columns(columns: Sequence[CodedColumn], combinations: Sequence[Combination]) -> tuple[CodedColumn, ...]:
    """Columns whose bins end where combinations begin and end, so that no bin is partly impossible."""
    ranges: dict[str, list[Between]] = {}
    for one in combinations:
        for name, values in one.items():
            ranges.setdefault(name, []).extend(_ranges(values))
    return tuple(column.cut(ranges[column.name]) if column.name in ranges else column for column in columns)


def zeros_of(columns: Sequence[CodedColumn], combinations: Sequence[Combination]) -> Zeros:
    """The combinations as codes; refuses such as leave a column without a value."""
    domain = Domain(tuple(one.name for one in columns), tuple(one.size for one in columns))
    known, zeros = {column.name: column for column in columns}, dict[tuple[str, ...], Any]()
    for one in combinations:
        clique = domain.sorted(one)
        if domain.size(clique) > MOST_CELLS:
            must = f"of columns with at most {MOST_CELLS:,} combinations of codes: state fewer bins for {clique[0]}"
            raise BadArgument("impossible", must, domain.size(clique))
        inside = [known[name].within(_ranges(one[name])) for name in clique]
        table = reduce(np.logical_and.outer, inside)
        zeros[clique] = zeros[clique] | table if clique in zeros else table
    for clique, table in zeros.items():
        if table.all():
            raise BadArgument("impossible", f"such that some row is possible; of {', '.join(clique)} none is", "all")
    return zeros


def breaks(codes: NDArray[Any], domain: Domain, zeros: Zeros) -> NDArray[np.bool_]:
    """Tells of each row of codes whether it has a combination that cannot occur."""
    broken = np.zeros(len(codes), dtype=bool)
    for clique, table in zeros.items():
        broken |= table[tuple(codes[:, axis] for axis in domain.axes(clique))]
    return broken


def _ranges(values: Values) -> list[Between]:
    return [(values.lower, values.upper)] if isinstance(values, Span) else [(one, one) for one in values]


def _values(column: CodedColumn, value: object) -> Values:
    """Reads values of a column as a codebook does."""
    listed = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(listed, Mapping) and isinstance(listed.get("between"), tuple):
        listed = {**listed, "between": list(listed["between"])}
    whole = isinstance(column, ListedColumn) and not column.ordered and not column.other
    words = column.values if isinstance(column, ListedColumn) and whole else ()
    try:
        return read_values(Entries({}, column.name), TYPES[column.kind], words, column.name, listed)
    except BadCodebook as wrong:
        raise BadArgument(f"impossible values of {column.name}", f"readable: {wrong.why}", value) from None
