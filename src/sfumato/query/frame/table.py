"""Tables to ask questions of: each step gives a new one, and none looks at data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

from sfumato.errors import BadArgument, QueryRefused, did_you_mean, shown
from sfumato.exact import integer
from sfumato.query.build.lists import list_named, unnested
from sfumato.query.build.relation import all_of, joined, kept, per_unit, selected, stacked
from sfumato.query.frame.columns import Expr, Given, col, count_rows, name_of, read
from sfumato.query.frame.drafts import RowScope, fold_of, made
from sfumato.query.frame.queries import Asker, Grouped, Query, each
from sfumato.query.nodes.catalog import column_named, names_of
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.relations import Match, Relation, Scan

How: TypeAlias = Literal["inner", "left", "semi", "anti"]
"""What becomes of rows by a join."""


@final
@dataclass(frozen=True, repr=False)
class Frame:
    """A table, or what steps made of one. Get one from `Session.table`.

    A column is ``t.minutes``, or ``t["minutes"]`` where its name is also that of a method or has blanks in it. Columns
    are looked up by name in the table that a step is used on, as it then stands. Nothing is read or paid before
    ``release``.
    """

    relation: Relation
    asker: Asker

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.relation.fields)

    def __getitem__(self, name: str) -> Expr:
        if not isinstance(name, str):
            raise BadArgument("a column", "named, as in t['minutes']; rows of private tables cannot be reached", name)
        return col(column_named(name, self.relation.fields, "this table").name)

    def __getattr__(self, name: str) -> Expr:
        # Names with an underscore in front are Python's own; asking for them must not look at fields.
        if name.startswith("_") or name not in self.columns:
            raise AttributeError(f"a frame has no column or method {name!r}{self._near(name)}")
        return col(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.columns if name.isidentifier())]

    def __repr__(self) -> str:
        said = ", ".join(f"{column.name} {column.kind.value}" for column in self.relation.fields)
        return f"Frame({said}; {'private' if self.relation.private else 'public'})"

    def filter(self, *conditions: Expr) -> Frame:
        """Keeps the rows for which all conditions are true."""
        if not conditions:
            raise BadArgument("filter", "given at least one condition, such as t.minutes > 0", "none")
        condition = all_of([self._made(one) for one in conditions])
        return self._with(kept(self.relation, condition))

    def select(self, *columns: str | Expr | Sequence[str | Expr], **named: Given) -> Frame:
        """Keeps some columns, and makes others under new names: ``t.select("day", hours=t.minutes / 60)``."""
        return self._with(selected(self.relation, self._named(each(columns, "select"), named)))

    def with_columns(self, *columns: Expr | Sequence[Expr], **named: Given) -> Frame:
        """Adds columns, or puts new ones in the place of old ones, of which nothing that was known is then kept."""
        new = dict(self._named(each(columns, "with_columns", names=False), named))
        old = {column.name: column for column in self.relation.fields}
        return self._with(selected(self.relation, list({**old, **new}.items())))

    def rename(self, names: Mapping[str, str]) -> Frame:
        """Renames columns: ``t.rename({"minutes": "duration"})``."""
        if not isinstance(names, Mapping):
            raise BadArgument("rename", "given old names and new ones, as in {'minutes': 'duration'}", names)
        new = {self._column(old).name: name for old, name in names.items()}
        return self._with(selected(self.relation, [(new.get(one.name, one.name), one) for one in self.relation.fields]))

    def drop(self, *names: str) -> Frame:
        """Leaves columns out."""
        gone = {self._column(name).name for name in names}
        return self._with(
            selected(self.relation, [(one.name, one) for one in self.relation.fields if one.name not in gone])
        )

    def join(self, other: Frame, *, on: str | Sequence[str] | Mapping[str, str], how: How = "inner") -> Frame:
        """Joins another table where columns are equal: of one name, or ``on={"site": "site_id"}`` for ours and theirs.

        The other table is public, or both belong to the same units and ``on`` says so; else rows of different units
        meet, which takes ``max_matches`` when it is released. A column that both have under one name is kept once if it
        is joined on, and must be renamed otherwise. With ``"semi"`` the rows are kept that
        match something, with ``"anti"`` those that match nothing; neither adds columns.
        """
        try:
            match = Match(how)
        except ValueError:
            raise BadArgument("how", "'inner', 'left', 'semi' or 'anti'", how) from None
        self._check_same(other)
        given = on if isinstance(on, Mapping) else {name: name for name in names_of(on)}
        pairs = {self._column(ours).name: other._column(theirs).name for ours, theirs in given.items()}
        merged = {theirs: _apart(other, theirs, self) for ours, theirs in pairs.items() if ours == theirs}
        right = other.rename(merged) if merged else other
        if not pairs:
            raise QueryRefused("a join needs columns that are equal: without them, every row would meet every other.")
        on_names = [(ours, merged.get(theirs, theirs)) for ours, theirs in pairs.items()]
        both = joined(self.relation, right.relation, on_names, match)
        return self._with(both).drop(*merged.values()) if merged and not match.filters else self._with(both)

    def union(self, *others: Frame) -> Frame:
        """Puts the rows of other tables with the same columns below (UNION ALL)."""
        self._check_same(*others)
        parts = [other.select(*self.columns) if set(other.columns) == set(self.columns) else other for other in others]
        return self._with(stacked([self.relation, *(part.relation for part in parts)]))

    def explode(self, column: str, *, max_items: int | None = None) -> Frame:
        """Makes a row for each item of a list column, under its name, as UNNEST does: a row without items is left out.

        At most ``max_items`` of each row count, the first ones, or as many as the codebook says.
        """
        items = list_named(self.relation, column)
        if items is None:
            raise QueryRefused(
                f"there is no list column {shown(column)} in this table: it has type: list in the codebook."
            )
        most = None if max_items is None else integer(max_items, "max_items", least=1)
        return self._with(unnested(self.relation, items, items.column, most))

    def per_unit(self, *, by: str | Sequence[str] = (), **folds: Expr) -> Frame:
        """Makes one row of the rows of each unit (each person, say), or of each unit and group of further columns.

        ``t.per_unit(total=t.minutes.sum())`` is SELECT user_id, SUM(minutes) AS total … GROUP BY user_id.
        """
        units = [(one.name, one) for one in self.relation.fields if one.unit is not None]
        groups = [(one.name, one) for one in map(self._column, names_of(by))]
        scope = RowScope(self.relation)
        made_of = [fold_of(name, read(given).draft, scope) for name, given in folds.items()]
        keys = dict[str, Expression]([*units, *groups])
        return self._with(per_unit(self.relation, list(keys.items()), made_of))

    def group_by(self, *keys: str | Expr | Sequence[str | Expr], **named: Expr) -> Grouped:
        """Puts rows into groups, by columns and by named expressions: ``group_by("site", month=t.day.month())``."""
        return Grouped(self.relation, self.asker, tuple(self._named(each(keys, "group_by"), named)))

    def agg(self, *statistics: Expr | Sequence[Expr], **named: Expr) -> Query:
        """Asks for statistics of all rows: ``t.agg(t.minutes.mean(), n=sf.count_rows())``."""
        return Grouped(self.relation, self.asker).agg(*statistics, **named)

    def len(self) -> Query:
        """Asks for the number of rows, as ``count``."""
        return Grouped(self.relation, self.asker).len()

    def value_counts(self, *columns: str | Expr) -> Query:
        """Asks how many rows each value has, or each of several together, the most frequent first."""
        return self.group_by(*columns).agg(count_rows()).sort("count", descending=True)

    def describe(self, *columns: str) -> Query:
        """Asks for the count, mean, deviation, least, quartiles and greatest of columns: ``minutes_mean`` and so on.

        Without names, of all columns of numbers that have bounds. They share a loss, so name the few that matter.
        """
        numbers = [one.name for one in self.relation.fields if one.kind.numeric and one.facts.numbers is not None]
        named = [self._column(name).name for name in columns] or numbers
        if not named:
            raise QueryRefused("no column of numbers has bounds: state them in the codebook, or clip(…) one.")
        asked = {f"{name}_{what}": ask(col(name)) for name in named for what, ask in SUMMARY.items()}
        return self.agg(**asked)

    def _near(self, name: str) -> str:
        if name.startswith("_") or name in INSTEAD:
            return f".{INSTEAD.get(name, '')}"
        methods = [one for one in dir(type(self)) if not one.startswith("_")]
        hint = did_you_mean(OTHER_WORDS.get(name, name), [*self.columns, *methods])
        return f"; there are the columns {', '.join(self.columns)}.{hint}"

    def _with(self, relation: Relation) -> Frame:
        return replace(self, relation=relation)

    def _check_same(self, *others: Frame) -> None:
        if strange := [other for other in others if not isinstance(other, Frame)]:
            raise BadArgument("a table", "one of this session, such as session.table('sites')", strange[0])
        if any(other.asker != self.asker for other in others):
            raise QueryRefused(
                "these tables are of different sessions; a question is answered by one: open both there."
            )

    def _column(self, name: str) -> Column:
        return column_named(name, self.relation.fields, "this table")

    def _made(self, given: Given) -> Expression:
        return made(read(given).draft, RowScope(self.relation))

    def _named(self, columns: Sequence[str | Expr], named: Mapping[str, Given]) -> list[tuple[str, Expression]]:
        """Reads columns under the names they have, and others under the names given."""
        pairs: list[tuple[str, Expression]] = []
        for one in columns:
            given = col(one) if isinstance(one, str) else one
            made_one = self._made(given)
            name = made_one.name if isinstance(made_one, Column) and not given.name else name_of(given)
            pairs.append((name, made_one))
        pairs += [(name, self._made(given)) for name, given in named.items()]
        names = [name for name, _ in pairs]
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise QueryRefused(f"two columns are called {twice[0]!r}: give one of them another name, as in b=….")
        return pairs


SUMMARY: dict[str, Callable[[Expr], Expr]] = {
    "count": Expr.count,
    "mean": Expr.mean,
    "std": Expr.std,
    "min": Expr.min,
    "25%": lambda one: one.quantile(0.25),
    "50%": Expr.median,
    "75%": lambda one: one.quantile(0.75),
    "max": Expr.max,
}
"""What `Frame.describe` asks of each column."""

OTHER_WORDS = {
    **dict.fromkeys(("where", "query", "loc"), "filter"),
    **dict.fromkeys(("groupby", "groupBy"), "group_by"),
    **dict.fromkeys(("assign", "mutate", "withColumn"), "with_columns"),
    **dict.fromkeys(("count", "size", "height", "shape"), "len"),
    **dict.fromkeys(("aggregate", "summarise", "summarize"), "agg"),
    **dict.fromkeys(("merge",), "join"),
    **dict.fromkeys(("concat", "vstack"), "union"),
    **dict.fromkeys(("unnest", "flat_map"), "explode"),
}
"""What other libraries call methods that are here under another name."""

ROWS_STAY = " Rows never leave: ask with agg(…) or group_by(…).agg(…), and release(…) the answer."
INSTEAD = {
    **dict.fromkeys(
        ("head", "tail", "limit", "sample", "collect", "show", "to_pandas", "to_polars", "rows"), ROWS_STAY
    ),
    **dict.fromkeys(("release", "explain"), " Nothing is asked yet: agg(…) or group_by(…).agg(…) comes first."),
    **dict.fromkeys(("schema", "dtypes", "info"), " The session, printed, shows what is public of each column."),
    **dict.fromkeys(("drop_nulls", "dropna"), " Write filter(~t.minutes.is_null())."),
    "unique": " Write value_counts(…).",
    "sort": " An answer is sorted: agg(…).sort(…).",
}
"""What to write in place of methods that frames of other libraries have."""


def _apart(right: Frame, name: str, left: Frame) -> str:
    """Renames a column of the right table which the left one has too as SQL would: ``sites.site``."""
    free, table = name, right.relation.table if isinstance(right.relation, Scan) else "right"
    while free in (*left.columns, *right.columns):
        free = f"{table}.{free}"
    return free
