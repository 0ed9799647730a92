"""Relations: tables, and what row-by-row steps, joins, unions and sums per unit make of them.

A private relation carries, besides its fields, the identity of the unit that each row belongs to, hidden: no step can
lose it or make it up. Every step acts on the rows of each unit by themselves, so that data sets which differ in the
rows of one unit give relations that differ in the rows of that unit only (proofs/query.md#relations). The one exception
is `Meet`, whose rows belong to two units: what comes after it knows of no unit (proofs/meetings.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.fields import merged, optional, renamed
from sfumato.query.nodes.kinds import Value
from sfumato.query.plan.grids import Grid


class Relation(ABC):
    """A table or what was made of one: fields in order, with names that differ."""

    @property
    @abstractmethod
    def fields(self) -> tuple[Column, ...]:
        """The columns, as the next step sees them."""

    @property
    @abstractmethod
    def private(self) -> bool:
        """Tells whether its rows belong to units."""

    @property
    @abstractmethod
    def sources(self) -> tuple[Relation, ...]:
        """The relations it is made of; none for a table."""

    def field(self, name: str) -> Column | None:
        """Looks up a field by its exact name; None where there is none."""
        return next((column for column in self.fields if column.name == name), None)


@final
@dataclass(frozen=True)
class Hop:
    """One step from a table towards the ids of its rows: our column equals the key of another table."""

    column: str
    table: str
    key: str


@final
@dataclass(frozen=True)
class Owner:
    """Tells which unit a row of a private table belongs to: by an id, reached through other tables where need be.

    With ``window`` the unit is one id in one stretch of time: the column that holds the time, and its unit (``month``).
    Where ``id`` is empty, each row is a unit by itself.
    """

    id: str = ""
    hops: tuple[Hop, ...] = ()
    window: tuple[str, str] | None = None


@final
@dataclass(frozen=True)
class Items:
    """The items of a list column, each in a row of its own: the column, what an item is, and how many a row has.

    Of each row at most the ``most`` first items are used, where a number is given. A row without any is left out; if
    ``kept``, it stays, with a missing item.
    """

    column: str
    item: Column
    most: int | None = None
    kept: bool = False
    by_codebook: bool = True
    """Tells whether the codebook says how many, and not the question."""


@final
@dataclass(frozen=True)
class Scan(Relation):
    """A table as its codebook describes it: every value is moved into what the codebook says of its column.

    ``columns`` are those that are used. Rows of a private table with a missing id belong to nobody and are left out.
    Of ``unnested`` lists every item makes a row, each of one with each of another; ``lists`` are those that there are.
    """

    table: str
    columns: tuple[Column, ...]
    owner: Owner | None = None
    unnested: tuple[Items, ...] = ()
    lists: tuple[Items, ...] = ()

    @property
    def fields(self) -> tuple[Column, ...]:
        return (*self.columns, *(items.item for items in self.unnested))

    @property
    def private(self) -> bool:
        return self.owner is not None

    @property
    def sources(self) -> tuple[Relation, ...]:
        return ()


@final
@dataclass(frozen=True)
class Listed(Relation):
    """Rows that the question itself states (VALUES): public, and the same whatever the data is."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def fields(self) -> tuple[Column, ...]:
        return self.columns

    @property
    def private(self) -> bool:
        return False

    @property
    def sources(self) -> tuple[Relation, ...]:
        return ()


class OfOne(Relation):
    """Rows made of those of one other relation: with its fields, unless others are said, and as private as it is."""

    source: Relation

    @property
    def fields(self) -> tuple[Column, ...]:
        return self.source.fields

    @property
    def private(self) -> bool:
        return self.source.private

    @property
    def sources(self) -> tuple[Relation, ...]:
        return (self.source,)


@final
@dataclass(frozen=True)
class Where(OfOne):
    """Keeps the rows for which a condition is true: neither false nor missing."""

    source: Relation
    condition: Expression


@final
@dataclass(frozen=True)
class Select(OfOne):
    """Makes new columns of the old ones, row by row. What is not named is gone; the unit's identity never is."""

    source: Relation
    columns: tuple[tuple[str, Expression], ...]

    @property
    def fields(self) -> tuple[Column, ...]:
        return tuple(renamed(name, made) for name, made in self.columns)


class Match(Enum):
    """Says what becomes of rows on the left: each with every match, also with none, or once if it has one or none."""

    INNER = "inner"
    LEFT = "left"
    SEMI = "semi"
    ANTI = "anti"

    @property
    def filters(self) -> bool:
        """Tells whether rows of the left are kept or not, and nothing of the right is."""
        return self in (Match.SEMI, Match.ANTI)


COMPARISONS = {"ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
"""How columns on two sides of a join can be compared, besides being equal, as SQL writes it."""


@final
@dataclass(frozen=True)
class Join(Relation):
    """Joins on equal columns; missing values match nothing. Names of the two sides must differ.

    Private with public gives private rows, each as often as it matches. Private with private joins the rows of one unit
    with one another: equality of the units' identities is part of the condition, whatever ``on`` says. A join of public
    with private is written the other way round; a left join with a private right side keeps unmatched rows of the left
    one, which belong to their unit as before. The right side's columns may be missing after a left join. ``compared``
    are further comparisons (``lt``, ``ne`` …) of a column on the left with one on the right that a match must meet.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    match: Match = Match.INNER
    compared: tuple[tuple[str, str, str], ...] = ()

    @property
    def fields(self) -> tuple[Column, ...]:
        if self.match.filters:
            return self.left.fields
        right = (optional(column) if self.match is Match.LEFT else column for column in self.right.fields)
        return (*self.left.fields, *right)

    @property
    def private(self) -> bool:
        return self.left.private

    @property
    def sources(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@final
@dataclass(frozen=True)
class Meet(Relation):
    """Joins private relations on equal columns, rows of different units with one another; missing values match nothing.

    Of each side the rows with a key are put in order, by a hash of their values, and the first ``most`` of them are
    joined (``None``: not said yet, and never run). A row belongs to two units then, so that there is no identity: what
    one unit can move is a number of rows, anywhere (proofs/meetings.md#theorem).
    """

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    most: int | None = None

    @property
    def fields(self) -> tuple[Column, ...]:
        return tuple(replace(column, unit=None) for column in (*self.left.fields, *self.right.fields))

    @property
    def private(self) -> bool:
        return True

    @property
    def sources(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@final
@dataclass(frozen=True)
class Union(Relation):
    """Puts relations one below another (UNION ALL); their fields have the same names and kinds, in the same order."""

    parts: tuple[Relation, ...]

    @property
    def fields(self) -> tuple[Column, ...]:
        return tuple(merged(columns) for columns in zip(*(part.fields for part in self.parts), strict=True))

    @property
    def private(self) -> bool:
        return self.parts[0].private

    @property
    def sources(self) -> tuple[Relation, ...]:
        return self.parts


class Fold(Enum):
    """Says how the rows of one unit and group become one value."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    DISTINCT = "distinct"


@final
@dataclass(frozen=True)
class Folded:
    """One value for each unit and group: how it is made, of which expression (None: of the rows), as which column.

    COUNT and DISTINCT are whole numbers. SUM and MEAN add up steps of a grid with centre 0, so that the order of rows
    changes nothing: SUM is steps / 2^exponent (of whole numbers the sum itself, missing where it does not fit) and MEAN
    is that / count, as floats. MIN and MAX have the kind of what they look at. Missing values are passed over; of none
    at all SUM and COUNT are 0, and MEAN, MIN and MAX are missing.
    """

    fold: Fold
    of: Expression | None
    column: Column
    grid: Grid | None = None


@final
@dataclass(frozen=True)
class PerUnit(OfOne):
    """Makes one row of the rows of each unit, or of each unit and group: GROUP BY the id, and further columns.

    Of the unit's identity the columns that hold it are among ``by`` under the names they have. Public rows belong to
    nobody: of these it makes one row of each group, and one in all where there is nothing to group by.
    """

    source: Relation
    by: tuple[tuple[str, Expression], ...]
    folds: tuple[Folded, ...]

    @property
    def fields(self) -> tuple[Column, ...]:
        return (*(renamed(name, made) for name, made in self.by), *(folded.column for folded in self.folds))


class Placing(Enum):
    """Says what a row gets by its place among the rows of its unit."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    LAG = "lag"
    LEAD = "lead"
    FIRST = "first_value"
    LAST = "last_value"

    @property
    def numbers(self) -> bool:
        """Tells whether it is a number of rows, and no value of one."""
        return self in (Placing.ROW_NUMBER, Placing.RANK, Placing.DENSE_RANK)


@final
@dataclass(frozen=True)
class Placed:
    """One column by the place of a row: its number, or the value that another row of the unit has, ``steps`` away.

    Rows before the first and after the last have missing values. FIRST and LAST are those of all rows of the part.
    """

    placing: Placing
    of: Expression | None
    column: Column
    steps: int = 1


@final
@dataclass(frozen=True)
class Windowed(OfOne):
    """Adds columns to each row by the other rows of its unit: window functions with PARTITION BY the id.

    The rows of a unit that agree in ``by`` are put in order: by ``order`` (each with whether it descends), then by all
    fields of the source; missing values come last, and rows that are alike are interchangeable. RANK and DENSE_RANK
    look at ``order`` alone. Folds are of all rows of the part or, where there is an order, of those up to the row, with
    the ones that are equal in it.
    """

    source: Relation
    by: tuple[Expression, ...]
    order: tuple[tuple[Expression, bool], ...]
    added: tuple[Placed | Folded, ...]

    @property
    def fields(self) -> tuple[Column, ...]:
        return (*self.source.fields, *(one.column for one in self.added))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that it looks at in a row, besides that all fields break ties."""
        return (*self.by, *(made for made, _ in self.order), *(one.of for one in self.added if one.of is not None))


@final
@dataclass(frozen=True)
class Keep(OfOne):
    """Keeps at most ``rows`` rows of each unit: the first by a hash of the unit and all values of a row.

    Which ones is decided by the rows of that unit alone. Rows that are alike are interchangeable. With ``work`` it is
    there only so that joins stay small (plan/bound_joins.py): hardly anybody has as many, and no price rests on it.
    """

    source: Relation
    rows: int
    work: bool = False
