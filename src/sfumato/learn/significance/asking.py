"""What tests are asked of: samples that one holds, or columns of a table behind a ledger; and what is paid for it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any, Self, TypeAlias, TypedDict, cast, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1
from sfumato.dp.reading import numbers
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Category, Floats, Made, Number, known_column, unstated
from sfumato.learn.noising import least_noise
from sfumato.learn.significance.draws import NoiseLaw
from sfumato.learn.sources import Asked, Held, Source
from sfumato.query.frame import Frame
from sfumato.release.record import Release
from sfumato.transforms.gram import Cell, Coordinates

Bounds: TypeAlias = tuple[AnyNumber, AnyNumber] | None
"""Public bounds of the numbers that are tested; None where a codebook states them."""

SIMULATIONS = 1_999
"""How many releases are drawn under a null hypothesis, unless it is said: p-values are multiples of 1/2,000."""


class Paying(TypedDict, total=False):
    """What is paid, and what else every test takes.

    ``loss``, or ``epsilon`` (and ``delta``); of a table ``max_rows`` of each person, and a ``key`` for retries;
    ``simulations`` of the null; ``entropy`` for tests only.
    """

    loss: Loss | None
    epsilon: AnyNumber | None
    delta: AnyNumber | None
    max_rows: int | None
    key: str | None
    simulations: int
    entropy: Entropy | None


@final
@dataclass(frozen=True)
class Terms:
    """The same, read."""

    paid: Loss
    max_rows: int | None
    key: str | None
    simulations: int
    entropy: Entropy | None

    @classmethod
    def read(cls, given: Paying) -> Self:
        """Reads what was given by name; refuses names that there are not."""
        strange = sorted(set(given) - set(Paying.__annotations__))
        if strange:
            raise TypeError(f"unexpected arguments: {', '.join(strange)}")
        rows = given.get("max_rows")
        return cls(
            needed_loss(given.get("loss"), given.get("epsilon"), given.get("delta")),
            None if rows is None else integer(rows, "max_rows", least=1),
            given.get("key"),
            integer(given.get("simulations", SIMULATIONS), "simulations", least=99),
            given.get("entropy"),
        )

    @property
    def drawing(self) -> Entropy:
        """Where simulations draw from."""
        return system() if self.entropy is None else self.entropy

    def measured(
        self, source: Source, pairs: Sequence[Cell] | None = None, *, by_class: bool = False
    ) -> tuple[Measurement, NoiseLaw]:
        """The measurement of the sums of some products of columns, and the law of its noise."""
        layout = Coordinates(source.layout.kinds, None if pairs is None else tuple(pairs))
        pieces = layout.by_class if by_class else 1
        sums = least_noise(partial(source.gram, pairs=pairs), self.paid, source.unit, pieces=pieces)
        return sums.measurement, NoiseLaw.of(sums, len(layout.cells), pieces, rows_together(source))

    def released(
        self, source: Source, pairs: Sequence[Cell] | None = None, *, by_class: bool = False
    ) -> tuple[Release, Floats, NoiseLaw]:
        """Pays for these sums: the release, its numbers, and the law of their noise."""
        measurement, law = self.measured(source, pairs, by_class=by_class)
        release = source.run(measurement, loss=self.paid)
        return release, np.asarray(release.value, dtype=np.float64), law

    def source(self, data: object, columns: Sequence[Made], values: Sequence[object]) -> Source:
        """Columns of a table, or values that are held."""
        if isinstance(data, Frame):
            return Asked(tuple(columns), data, self.max_rows, self.key)
        if (self.max_rows, self.key) != (None, None):
            raise BadArgument("max_rows and key", "left out, where arrays are given", "given")
        return Held(tuple(columns), tuple(values), self.entropy)


def rows_together(source: Source) -> int:
    """How many rows may be of one person: how far the number of rows moves with them."""
    rows = source.gram(L1(), pairs=[(0, 0)]).map(source.unit)
    return max(ceil(rows) if isinstance(rows, int | Fraction) else 1, 1)


def number_column(data: object, column: object, between: Bounds, default: str) -> Number:
    """The numbers that are tested: their bounds are stated, or come from the codebook of a table."""
    if not isinstance(data, Frame):
        if column is not None:
            raise BadArgument("column", "left out, where arrays are given", column)
        if between is None:
            raise unstated(default, table=False)
        return Number.read(default, between)
    name = column_name(column, "column")
    known = Number.read(name, between) if between is not None else known_column(name, data.relation)
    if not isinstance(known, Number):
        raise unstated(name, table=True)
    return known


def column_name(column: object, what: str) -> str:
    """The name of a column of a table."""
    if not isinstance(column, str):
        raise BadArgument(what, f"the name of a column of the table: {what}='score'", column)
    return column


def category_column(data: object, by: object, groups: Sequence[Hashable] | None, default: str) -> Category:
    """The groups that are compared: all that there can be, stated or from the codebook of a table."""
    name = column_name(by, "by") if isinstance(data, Frame) else default
    known: object = None
    if groups is not None:
        known = Category.read(name, groups)
    elif isinstance(data, Frame):
        known = known_column(name, data.relation)
    if not isinstance(known, Category):
        must = f"given for {name}: all values that there can be, from what anybody knows: groups=['control', 'treated']"
        raise BadArgument("groups", must, None)
    return known


def one_array(values: object, what: str = "x") -> Floats:
    """A sample that is held, as numbers; NaN where one is missing."""
    made = numbers(values)
    if made.ndim != 1:
        raise BadArgument(what, "numbers in one dimension", f"{made.ndim} dimensions")
    return made


def samples(
    data: object,
    others: Sequence[object],
    *,
    column: object,
    by: object,
    between: Bounds,
    groups: Sequence[Hashable] | None,
    terms: Terms,
) -> tuple[Source, Number, Category]:
    """Numbers in groups: samples one after another, one with a label for each number, or two columns of a table."""
    number = number_column(data, column, between, "x")
    if isinstance(data, Frame):
        if others:
            raise BadArgument("samples", "left out, where a table is given: by='arm' names the groups", "arrays")
        category = category_column(data, by, groups, "by")
        return terms.source(data, (number, category), ()), number, category
    if others:
        if by is not None or groups is not None:
            raise BadArgument("by and groups", "left out, where each sample is an array of its own", by)
        arrays = [one_array(one) for one in (data, *others)]
        category = Category("sample", tuple(range(1, len(arrays) + 1)))
        labels: Any = np.repeat(category.values, [len(one) for one in arrays])
        return terms.source(None, (number, category), (np.concatenate(arrays), labels)), number, category
    category = category_column(data, by, groups, "by")
    return terms.source(None, (number, category), aligned(one_array(data), by)), number, category


def aligned(values: Any, labels: object) -> tuple[Any, Any]:
    """Two columns of one length."""
    other = cast(Any, labels) if hasattr(labels, "__len__") else np.asarray(labels)
    if len(values) != len(other):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(values), len(other)]}")
    return values, other
