"""Queries as data frames write them: groups, statistics of each, and what is made of the released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Unpack, final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, QueryRefused, Several, Unseen
from sfumato.exact import integer
from sfumato.query.build.question import build_question, cube, rollup
from sfumato.query.build.relation import all_of
from sfumato.query.build.settings import Said, Settings
from sfumato.query.frame.columns import Expr, col, count_rows, name_of
from sfumato.query.frame.drafts import AnswerScope, Draft, RowScope, made
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.fields import optional, renamed
from sfumato.query.nodes.questions import Order, Question
from sfumato.query.nodes.relations import Relation
from sfumato.release.record import Release

if TYPE_CHECKING:
    from sfumato.core.measurement import Measurement
    from sfumato.core.metrics import Unit
    from sfumato.query.answer.explanation import Explanation
    from sfumato.query.plan.open_tables import OpenTables


class Asker(Protocol):
    """Who answers questions: a session's planner."""

    def release(self, question: Question, settings: Settings) -> Release:
        """Pays for a question and answers it."""

    def write(self, question: Question, settings: Settings, *, to: str, form: str) -> Release:
        """Pays for a question and writes its answer as a table."""

    def explain(self, question: Question, settings: Settings) -> Explanation:
        """Says what a question would cost and how it would be answered."""

    def run(self, question: Measurement, *, loss: Loss | None, key: str | None) -> Release:
        """Pays for a measurement on the tables and runs it."""

    def explain_run(self, question: Measurement, *, loss: Loss | None) -> Explanation:
        """Says what such a measurement would cost."""

    @property
    def opened(self) -> OpenTables:
        """What may be known of the tables without paying."""

    @property
    def unit(self) -> Unit:
        """Who is protected."""


@final
@dataclass(frozen=True)
class Grouped:
    """A table with its rows put into groups. Get one from `Frame.group_by`."""

    source: Relation
    asker: Asker
    keys: tuple[tuple[str, Expression], ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None

    def rollup(self) -> Grouped:
        """Adds totals: over the last key, over the last two, … over all of them."""
        return replace(self, sets=rollup(len(self.keys)))

    def cube(self) -> Grouped:
        """Adds totals over every choice of keys."""
        return replace(self, sets=cube(len(self.keys)))

    def grouping_sets(self, *sets: Sequence[str]) -> Grouped:
        """Groups by several choices of keys: ``grouping_sets(["day", "site"], ["day"], [])``."""
        names = [name for name, _ in self.keys]
        for chosen in sets:
            if isinstance(chosen, str) or any(name not in names for name in chosen):
                raise BadArgument("a grouping set", f"a list of names among {', '.join(names)}", chosen)
        unused = [name for name in names if not any(name in chosen for chosen in sets)]
        if not sets or unused:
            raise BadArgument("grouping sets", "at least one, and such that every key is in one", Several(*sets))
        places = (tuple(sorted({names.index(name) for name in chosen})) for chosen in sets)
        return replace(self, sets=tuple(dict.fromkeys(places)))

    def agg(self, *statistics: Expr | Sequence[Expr], **named: Expr) -> Query:
        """Asks for statistics of each group, and for what is computed from them.

        ``t.group_by("day").agg(t.minutes.mean(), n=sf.count_rows(), hours=t.minutes.sum() / 60)``; without a name or
        an ``alias`` it is that of the column.
        """
        everywhere = set(range(len(self.keys))).intersection(*self.sets or ())
        known: dict[str, Expression] = {
            name: renamed(name, key) if place in everywhere else optional(renamed(name, key))
            for place, (name, key) in enumerate(self.keys)
        }
        taken = set(known)
        asked = [*((name_of(one), one) for one in each(statistics, "agg", names=False)), *named.items()]
        for name, _ in asked:
            if name in taken:
                what = f"{name!r} is grouped by" if name in known else f"two statistics are called {name!r}"
                raise QueryRefused(f"{what}: give one of them another name, as in {name}_2=….")
            taken.add(name)
        scope = AnswerScope(RowScope(self.source), known)
        columns = [(name, made(_draft(given, name), scope)) for name, given in asked]
        return Query(self, (*known.items(), *columns))

    def len(self) -> Query:
        """Asks for the number of rows of each group, as ``count``."""
        return self.agg(count_rows())


@final
@dataclass(frozen=True)
class Query:
    """A question that can be explained and released. Get one from `Frame.agg` or `Grouped.agg`.

    ``filter``, ``sort`` and ``head`` look at released numbers only, and so cost nothing.
    """

    groups: Grouped
    columns: tuple[tuple[str, Expression], ...]
    conditions: tuple[Expression, ...] = ()
    order: tuple[Order, ...] = ()
    most: int | None = None

    def __post_init__(self) -> None:
        self.question  # noqa: B018  # what cannot be asked is refused where it is written

    @cached_property
    def question(self) -> Question:
        """The same question that the equivalent SQL would make."""
        groups, having = self.groups, all_of(self.conditions) if self.conditions else None
        return build_question(
            groups.source,
            groups.keys,
            self.columns,
            sets=groups.sets,
            having=having,
            order=self.order,
            limit=self.most,
        )

    def filter(self, *conditions: Expr) -> Query:
        """Keeps the groups of the answer for which conditions about released numbers are true (HAVING)."""
        more = [made(_draft(one, "filter"), self._scope) for one in conditions]
        return replace(self, conditions=(*self.conditions, *more))

    def sort(
        self, *by: str | Expr | Sequence[str | Expr], descending: bool | Sequence[bool] = False, nulls_last: bool = True
    ) -> Query:
        """Sorts the answer by names of its columns, or by expressions: ``sort("n", "day", descending=[True, False])``.

        What is missing comes last.
        """
        if not nulls_last:
            raise BadArgument("nulls_last", "True: what is missing comes last", nulls_last)
        given = each(by, "sort")
        turned = [descending] * len(given) if isinstance(descending, bool) else list(descending)
        if len(turned) != len(given) or not all(isinstance(one, bool) for one in turned):
            raise BadArgument("descending", "True or False, or one of them for each column", descending)
        return replace(
            self, order=tuple(self._order(one, descending=down) for one, down in zip(given, turned, strict=True))
        )

    def head(self, most: int = 5) -> Query:
        """Keeps at most the first ``most`` groups of the answer, in its order (LIMIT)."""
        return replace(self, most=integer(most, "head", least=0))

    def release(
        self,
        **said: Unpack[Said],
    ) -> Release:
        """Pays for the question and gives its answer: ``release(epsilon=0.2)``, settings as of `Session.sql`."""
        return self.groups.asker.release(self.question, Settings.read(**said))

    def write(
        self,
        to: str,
        *,
        format: str = "parquet",
        **said: Unpack[Said],
    ) -> Release:
        """Pays for the question and writes its answer as a table in a new folder; see `Session.write`."""
        return self.groups.asker.write(self.question, Settings.read(**said), to=to, form=format)

    def explain(
        self,
        **said: Unpack[Said],
    ) -> Explanation:
        """Says what it would cost and how it would be answered; spends nothing."""
        return self.groups.asker.explain(self.question, Settings.read(**said))

    @property
    def _scope(self) -> AnswerScope:
        return AnswerScope(RowScope(self.groups.source), dict(self.columns))

    def _order(self, by: str | Expr, *, descending: bool) -> Order:
        given = col(by) if isinstance(by, str) else by
        return Order(made(_draft(given, "sort"), self._scope), descending)


def each(given: Sequence[Any], what: str, *, names: bool = True) -> list[Any]:
    """Reads expressions, or also names of columns, that stand one after another or in one list."""
    listed = len(given) == 1 and isinstance(given[0], list | tuple)
    members = list(given[0] if listed else given)
    must = "a column's name or an expression, such as t.day.month()" if names else EXPRESSION
    for one in members:
        if not isinstance(one, (str, Expr) if names else Expr):
            raise BadArgument(what, f"{must}; several in one list", Unseen() if listed else one)
    return members


EXPRESSION = "an expression, such as sf.count_rows() or t.minutes.mean()"


def _draft(given: Expr, what: str) -> Draft:
    if not isinstance(given, Expr):
        raise BadArgument(what, EXPRESSION, given)
    return given.draft
