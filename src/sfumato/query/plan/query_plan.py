"""The record that the passes of the compiler fill in, from a question as it was asked to levels with their noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.questions import Deviation, Item, Quantile, Question, Statistic
from sfumato.query.nodes.relations import Join
from sfumato.query.nodes.walks import meetings
from sfumato.query.plan.bounds import Wanted, wanted
from sfumato.query.plan.contribution_facts import Reach
from sfumato.query.plan.decomposition import Recipe, all_tallies
from sfumato.query.plan.engine_plan import ExactAggregate, PublicKeys
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.open_tables import Matched, OpenTables
from sfumato.query.plan.pricing import Pricing
from sfumato.release.record import Cut


@final
@dataclass(frozen=True)
class GroupingSet:
    """Which of a question's keys are grouped by together, and the values that these can have, where they are public.

    A set that is ``summed`` is not asked of the engine: its numbers are sums of those of the finest set.
    """

    places: tuple[int, ...]
    public: PublicKeys | None = None
    summed: bool = False


@final
@dataclass(frozen=True, eq=False)
class QueryPlan:
    """A question on its way through the passes (`compile.PASSES`); each of them states what it fills in.

    ``asked`` is the question as it was asked, ``question`` what is left to do. ``limit`` is the kind of loss that the
    account counts, ``d_in`` how many rows one unit has, where units are rows. ``reach`` is what one unit can have by
    facts, ``kept`` what the codebook says to keep of it. ``cuts`` are made before rows become groups.
    """

    asked: Question
    question: Question
    settings: Settings
    opened: OpenTables
    limit: type[Loss]
    d_in: int = 1
    cuts: tuple[Cut, ...] = ()
    reach: Reach = field(default_factory=Reach)
    kept: Reach = field(default_factory=Reach)
    recipes: Mapping[Statistic, Recipe] = field(default_factory=dict)
    sets: tuple[GroupingSet, ...] = ()
    levels: tuple[Level, ...] = ()
    pricing: Pricing | None = None
    matched: Matched = field(default_factory=dict, repr=False, compare=False)

    @property
    def catalog(self) -> Catalog:
        """What is public about the tables."""
        return self.opened.catalog

    def matches(self, join: Join) -> int:
        """The most rows of a public relation that one row can match, counted once for a question."""
        return self.opened.matches(join, self.matched)

    @property
    def meets(self) -> bool:
        """Tells whether rows belong to several units, because a join put rows of different ones together."""
        return any(True for _ in meetings(self.question.source))

    @property
    def by_rows(self) -> bool:
        """Tells whether nothing says which rows belong together: rows are units, or belong to several of them."""
        return self.catalog.by_rows or self.meets

    @property
    def chosen(self) -> tuple[Statistic, ...]:
        """The statistics that are no sums: private choices and histograms, once lists are expanded."""
        return tuple(one for one in self.question.statistics if isinstance(one, Quantile | Deviation | Item))

    @cached_property
    def tallies(self) -> tuple[ExactAggregate, ...]:
        """The exact numbers that the other statistics are made of, each once."""
        return tuple(all_tallies(self.recipes.values()))

    def keys(self, places: Sequence[int]) -> tuple[Expression, ...]:
        """The expressions that a grouping set groups by."""
        return tuple(self.question.keys[place][1] for place in places)

    def wanted(self, places: Sequence[int]) -> Wanted:
        """How much of a unit to keep in the groups of a set: as the question says, or else the codebook."""
        return wanted(self.keys(places), self.settings.max_groups, self.settings.max_rows_per_group, self.kept)
