"""Compiled queries: what the engine computes, the noise, and a measurement with its price."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.measurement import Measurement
from sfumato.core.plan import Plan, planned, record_of
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.plain import Plain
from sfumato.query.answer.assemble import Drawn, LevelColumns, finished
from sfumato.query.answer.normal_text import normal_text
from sfumato.query.answer.words import mechanism_words, noise_words, tally_words
from sfumato.query.build.settings import Settings
from sfumato.query.engines.protocol import PrivateTables
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.questions import Question, Statistic, statistics_in
from sfumato.query.plan.cuts import cuts_of
from sfumato.query.plan.decomposition import Recipe
from sfumato.query.plan.engine_plan import Computed, ExactAggregate
from sfumato.query.plan.grouping_sets import Level, added_up, drawn_of, laid_out, noises_in
from sfumato.query.plan.parts import PricedCells
from sfumato.query.plan.price import recipes_at
from sfumato.query.plan.pricing import Pricing
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.selection_statistics import SpecialAt, counted
from sfumato.query.plan.taken_rows import copies_of, taken_price
from sfumato.release.answer import Answer
from sfumato.release.record import Failure, How
from sfumato.release.vectors import Array


@final
@dataclass(frozen=True, eq=False)
class CompiledQuery:
    """A question that is ready to be asked: levels to compute, noise for each number, and what it all costs.

    ``asked`` is the question as it was asked; in ``question`` a list is one column for each of its cells. ``copies`` is
    how many rows one row becomes, where other kinds of units are protected too and rows alone decide what they lose.
    """

    asked: Question
    question: Question
    settings: Settings
    space: Space
    levels: tuple[Level, ...]
    recipes: Mapping[Statistic, Recipe]
    pricing: Pricing
    catalog: Catalog
    copies: int | None = None

    @staticmethod
    def of(plan: QueryPlan) -> CompiledQuery:
        """Takes from a finished plan what is asked, drawn and paid; the plan must be priced."""
        if plan.pricing is None:
            raise ValueError("the plan was not priced")
        return CompiledQuery(
            plan.asked,
            plan.question,
            plan.settings,
            plan.opened.space,
            plan.levels,
            plan.recipes,
            plan.pricing,
            plan.catalog,
            copies_of(plan) if plan.catalog.codebook.kinds else None,
        )

    @cached_property
    def finishing(self) -> Hashable:
        """All that decides how answers are made of what was drawn, and how far off they are: everything here but which
        rows are asked about. Questions that differ in nothing else have it in common."""
        asked = self.question
        levels = tuple((*one.finishing, one.placed.spread, one.placed.values) for one in self.levels)
        made = (asked.keys, asked.columns, asked.sets, asked.having, asked.order, asked.limit)
        recipes = tuple((statistic, recipe.tallies) for statistic, recipe in self.recipes.items())
        return self.asked.keys, self.asked.columns, made, self.settings, levels, recipes, self.pricing

    @property
    def who(self) -> str:
        """Names who is protected."""
        return self.catalog.codebook.protects

    @cached_property
    def noises(self) -> tuple[dict[ExactAggregate, PricedCells], ...]:
        """The noises of each level, by tally."""
        return tuple(noises for noises, _ in self._priced)

    @cached_property
    def specials(self) -> tuple[tuple[SpecialAt, ...], ...]:
        """The mechanisms of each level for statistics that are not made of sums, one for each of its runs."""
        return tuple(specials for _, specials in self._priced)

    @cached_property
    def recipes_at(self) -> tuple[Mapping[Statistic, Recipe], ...]:
        """The recipes of each level, of the tallies that are bought there."""
        return tuple(recipes_at(level, self.recipes) for level in self.levels)

    @cached_property
    def together(self) -> Mapping[Statistic, int]:
        """The most statistics, itself included, that any one column uses together with a statistic; not for others."""
        used = [set(statistics_in(made)) for _, made in self.question.columns]
        most: dict[Statistic, int] = {}
        for here in used:
            most |= {one: max(most.get(one, 1), len(here)) for one in here}
        return most

    @cached_property
    def _priced(self) -> tuple[tuple[dict[ExactAggregate, PricedCells], tuple[SpecialAt, ...]], ...]:
        parts: Iterator[Any] = iter(self.pricing.parts)
        return tuple((noises_in(level.sets, parts), tuple(next(parts) for _ in level.runs)) for level in self.levels)

    @cached_property
    def columns_at(self) -> tuple[LevelColumns, ...]:
        """How the columns of each level are made of what was drawn for it."""
        selections = iter(self.pricing.selections)
        each = zip(self.levels, self.recipes_at, self.noises, self.specials, strict=True)
        return tuple(
            LevelColumns(
                self.question,
                level,
                recipes,
                self.together,
                noises,
                specials,
                None if level.chooser is None else next(selections),
            )
            for level, recipes, noises, specials in each
        )

    def measurement(self, confidence: Fraction) -> Measurement:
        """The measurement that asks it; the answer states its intervals at a confidence."""
        known = self._measurements.get(confidence)
        if known is not None:
            return known
        made = Measurement(
            source=self.space,
            measure=self.pricing.kind,
            function=lambda data, entropy: self.answer(self.draw(data, entropy), confidence),
            privacy_map=self._loss,
            how=self.how,
            event=self._event,
        )
        ready = planned(made, self._plan)
        if not self._measurements:  # of the first confidence alone: hardly anybody asks for another
            self._measurements[confidence] = ready
        return ready

    def _loss(self, distance: AnyDistance) -> Loss:
        """The loss at a distance; worked out once, for it is asked for at every step of a charge."""
        if distance not in self._losses:
            pricing, apart = self._priced_at(distance)
            self._losses[distance] = pricing.loss(apart)
        return self._losses[distance]

    def _event(self, distance: AnyDistance) -> Event:
        pricing, apart = self._priced_at(distance)
        return pricing.event(apart)

    def _priced_at(self, distance: AnyDistance) -> tuple[Pricing, int]:
        if isinstance(distance, GroupedDistance):
            return taken_price(self.pricing, self.copies, distance)
        return self.pricing, int(distance)

    @cached_property
    def _measurements(self) -> dict[Fraction, Measurement]:
        return {}

    @cached_property
    def _losses(self) -> dict[AnyDistance, Loss]:
        return {}

    def draw(self, data: Data, entropy: Entropy) -> tuple[Drawn, ...]:
        """Computes, chooses keys, adds noise: all that is ever taken from the data, of which all see the same rows."""
        with data.engine.at_once():
            return self._drawn(data, entropy)

    def _drawn(self, data: Data, entropy: Entropy) -> tuple[Drawn, ...]:
        drawn = []
        computed = [
            None if level.summed is not None else laid_out(level, _run(level, data.engine)) for level in self.levels
        ]
        finest = next(one for one in computed if one is not None)
        for level, columns, own in zip(self.levels, self.columns_at, computed, strict=True):
            exact = added_up(level, finest) if own is None else own
            noisy = drawn_of(exact, level, columns.noises, columns.selection, entropy)
            chosen: dict[Statistic, Array] = {}
            for run, special in zip(level.runs, columns.specials, strict=True):
                counts = counted(run, data.engine.run(run.cells), noisy.keys)
                chosen |= zip(run.special.statistics, special.draw(counts, entropy), strict=True)
            drawn.append(Drawn(noisy.keys, noisy.numbers, chosen=chosen))
        return tuple(drawn)

    def answer(self, drawn: Sequence[Drawn], confidence: Fraction) -> Answer:
        """Makes the answer of what was drawn: post-processing, which sees nothing else."""
        return finished(self, drawn, confidence)

    @cached_property
    def how(self) -> How:
        """Says what is asked, what is cut, and how the answer is made."""
        chosen = bool(self.pricing.selections)
        return How(
            "; ".join(dict.fromkeys(self._mechanisms())),
            tuple(self._parameters()),
            steps=tuple(dict.fromkeys(fact for level in self.levels for fact in level.placed.facts)),
            proofs=(
                "proofs/query.md#loss",
                "proofs/query.md#influence",
                *(("proofs/query.md#kinds",) if self.catalog.codebook.kinds else ()),
                *dict.fromkeys(proof for level in self.specials for special in level for proof in special.proofs),
            ),
            failure=Failure.DISTINGUISHING if chosen else Failure.GRACEFUL if self.pricing.delta else Failure.NONE,
            asked=normal_text(self.asked, self.catalog.tables),
            cuts=tuple(dict.fromkeys(cuts_of(self))),
        )

    def _mechanisms(self) -> Iterator[str]:
        """Names every mechanism that adds noise, or makes a private choice."""
        if self.pricing.selections:
            yield "choice of keys by noisy counts"
        for noises, specials in zip(self.noises, self.specials, strict=True):
            yield from (mechanism_words(part.noise) for part in noises.values())
            yield from (special.mechanism for special in specials)

    def _parameters(self) -> list[tuple[str, str]]:
        said = [
            (tally_words(tally), noise_words(part.noise, tally))
            for level in self.noises
            for tally, part in level.items()
        ]
        said += [special.words for level in self.specials for special in level]
        said += [("least number of units shown", str(one.noise.least_shown)) for one in self.pricing.selections]
        return said

    @cached_property
    def _plan(self) -> Plan | None:
        question = record_of(self.asked)
        settings = replace(self.settings, keys=None)
        price = record_of(self.settings.loss) if self.settings.loss is not None else None
        begun = self.space.plan
        if question is None or begun is None:
            return None
        keys = None if self.settings.keys is None else self.settings.keys.digest
        weights: list[Plain] = [[name, str(weight)] for name, weight in settings.weights]
        said: dict[str, Plain] = {
            "question": question,
            "loss": price,
            "accuracy": repr(settings.accuracy),
            "max_groups": settings.max_groups,
            "max_rows_per_group": settings.max_rows_per_group,
            "max_rows": settings.max_rows,
            **({} if settings.max_matches is None else {"max_matches": settings.max_matches}),
            "keys": keys,
            "weights": weights,
            "noise": [list(one) for one in settings.noise] if isinstance(settings.noise, tuple) else settings.noise,
        }
        return {"space": begun["space"], "steps": [{"make": "query", "with": said}]}


def _run(level: Level, engine: PrivateTables) -> Computed:
    """Computes the cells of a level; nothing, where all of its statistics are found otherwise."""
    return engine.run(level.computed) if level.cells.tallies else Computed(())
