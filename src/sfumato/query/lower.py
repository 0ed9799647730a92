"""Lowering: from a question to what the engine computes, the noise, and a measurement with its price."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sfumato.accounting.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.plan import Plain, Plan, planned, record_of
from sfumato.core.space import Space
from sfumato.core.spread import Whole
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, QueryRefused, Several
from sfumato.query.asked import asked as asked_text
from sfumato.query.catalog import Catalog
from sfumato.query.cells import Cells, Computed, Listed, Rows, Tally, Total, Units
from sfumato.query.cuts import cuts_of
from sfumato.query.dividing import choice_of, parts_of, recipes_at, weights_of
from sfumato.query.engines.engine import PrivateTables
from sfumato.query.exclusive import exclusive_sets
from sfumato.query.finish import Drawn, finished
from sfumato.query.keysets import KeySet
from sfumato.query.levels import Level, added_up, coarser, laid_out, noised, noises_in, shown_keys
from sfumato.query.opened import Opened
from sfumato.query.parts import NoisyAt
from sfumato.query.passes.bounds import THE_CODEBOOK, THE_QUESTION, Kept, placed, scales, wanted
from sfumato.query.passes.grounding import ground
from sfumato.query.passes.impossible import refuse_impossible
from sfumato.query.passes.keys import PublicKeys
from sfumato.query.passes.missing import without_gaps
from sfumato.query.passes.specials import special_ones, special_runs
from sfumato.query.passes.spelling import spelled
from sfumato.query.passes.work import Work, worked
from sfumato.query.post import check_released
from sfumato.query.pricing import Pricing, priced
from sfumato.query.questions import Question, Statistic
from sfumato.query.reach import Reach, reach_of
from sfumato.query.recipes import Recipe, all_tallies, recipes
from sfumato.query.rehearse import rehearse
from sfumato.query.relations import Keep, Relation
from sfumato.query.settings import Settings
from sfumato.query.sharing import same_by_bounds, shared
from sfumato.query.specials import SpecialAt, counted, expanded
from sfumato.query.targets import aimed
from sfumato.query.vectors import Array
from sfumato.query.words import mechanism_words, noise_words, tally_words
from sfumato.release.answer import Answer
from sfumato.release.record import Failure, How


@final
@dataclass(frozen=True, eq=False)
class _Known:
    """Is what is known of a question's rows: how far a unit reaches by facts, and as the codebook keeps it; keys."""

    reach: Reach
    kept: Reach
    keys: PublicKeys


@final
@dataclass(frozen=True, eq=False)
class Lowered:
    """Is a question that is ready to be asked: levels to compute, noise for each number, and what it all costs.

    ``asked`` is the question as it was asked; in ``question`` a list is one column for each of its cells.
    """

    asked: Question
    question: Question
    settings: Settings
    space: Space
    levels: tuple[Level, ...]
    recipes: Mapping[Statistic, Recipe]
    pricing: Pricing
    catalog: Catalog

    @property
    def who(self) -> str:
        """Names who is protected."""
        return self.catalog.codebook.protects

    @cached_property
    def noises(self) -> tuple[dict[Tally, NoisyAt], ...]:
        """Are the noises of each level, by tally."""
        return tuple(noises for noises, _ in self._priced)

    @cached_property
    def specials(self) -> tuple[tuple[SpecialAt, ...], ...]:
        """Are the mechanisms of each level for statistics that are not made of sums, one for each of its runs."""
        return tuple(specials for _, specials in self._priced)

    @cached_property
    def recipes_at(self) -> tuple[Mapping[Statistic, Recipe], ...]:
        """Are the recipes of each level, of the tallies that are bought there."""
        return tuple(recipes_at(level, self.recipes) for level in self.levels)

    @cached_property
    def _priced(self) -> tuple[tuple[dict[Tally, NoisyAt], tuple[SpecialAt, ...]], ...]:
        parts: Iterator[Any] = iter(self.pricing.parts)
        return tuple((noises_in(level.sets, parts), tuple(next(parts) for _ in level.runs)) for level in self.levels)

    def measurement(self, confidence: Fraction) -> Measurement:
        """Gives the measurement that asks it; the answer states its intervals at a confidence."""
        made = Measurement(
            source=self.space,
            measure=self.pricing.kind,
            function=lambda data, entropy: self.answer(self.draw(data, entropy), confidence),
            privacy=lambda distance: self._loss(int(distance)),
            how=self.how,
        )
        return planned(made, self._plan)

    def _loss(self, distance: int) -> Loss:
        """Gives what it costs at a distance; worked out once, for it is asked for at every step of a charge."""
        if distance not in self._losses:
            self._losses[distance] = self.pricing.loss(distance)
        return self._losses[distance]

    @cached_property
    def _losses(self) -> dict[int, Loss]:
        return {}

    def draw(self, data: Data, entropy: Entropy) -> tuple[Drawn, ...]:
        """Computes, chooses keys, and adds noise: all that is ever taken from the data."""
        found = []
        selections = iter(self.pricing.selections)
        computed = [
            None if level.summed is not None else laid_out(level, _run(level, data.engine)) for level in self.levels
        ]
        finest = next(one for one in computed if one is not None)
        for level, noises, specials, own in zip(self.levels, self.noises, self.specials, computed, strict=True):
            exact = added_up(level, finest) if own is None else own
            numbers = dict(zip(level.cells.tallies, exact.numbers, strict=True))
            keys, noisy = exact.keys, {}
            if level.chooser is not None:
                shown = shown_keys(exact, numbers[level.chooser], next(selections), entropy)
                keys, noisy[level.chooser] = shown.keys, shown.units
                numbers = dict(zip(level.cells.tallies, shown.numbers(exact), strict=True))
            noisy |= {tally: noised(numbers[tally], part, entropy) for tally, part in noises.items()}
            chosen: dict[Statistic, Array] = {}
            for run, special in zip(level.runs, specials, strict=True):
                counts = counted(run, data.engine.run(run.cells), keys)
                chosen |= zip(run.special.statistics, special.draw(counts, entropy), strict=True)
            found.append(Drawn(keys, noisy, chosen=chosen))
        return tuple(found)

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
                *dict.fromkeys(proof for level in self.specials for special in level for proof in special.proofs),
            ),
            failure=Failure.DISTINGUISHING if chosen else Failure.GRACEFUL if self.pricing.delta else Failure.NONE,
            asked=asked_text(self.asked, self.catalog.tables),
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
            "groups": settings.groups,
            "rows_each": settings.rows_each,
            "rows": settings.rows,
            "keys": keys,
            "weights": weights,
            "noise": settings.noise,
        }
        return {"space": begun["space"], "steps": [{"make": "query", "with": said}]}


def lowered(question: Question, settings: Settings, opened: Opened, *, limit: type[Loss], apart: int = 1) -> Lowered:
    """Settles everything about a question that can be settled without looking at the data.

    ``limit`` is the kind of loss that the account counts; ``apart`` how many rows one unit has, where units are rows.
    """
    for released in question.released:
        check_released(released)
    if settings.keys is not None:
        settings = replace(settings, keys=_given_keys(settings.keys, [name for name, _ in question.keys]))
    asked, work = question, _worked(question.source, opened)
    plain = spelled(replace(question, source=work.relation))
    refuse_impossible(plain, opened.engine)
    plain = _kept(without_gaps(plain), settings, opened.catalog)
    question = expanded(plain)
    others = special_ones(question.statistics)
    if others and settings.loss is None:
        raise QueryRefused(
            "how near quantiles, histograms and top values come cannot be asked for: say what to pay, loss=…"
        )
    numbers = (one for one in question.statistics if one not in others)
    sets = question.sets or (tuple(range(len(question.keys))),)
    known = _known(question, opened)
    fine = not opened.catalog.by_rows and any(_scales(question, places, settings, known) for places in sets)
    made = shared(recipes(numbers, alone=settings.loss is None, fine=fine))
    tallies = tuple(all_tallies(made.values()))
    if opened.catalog.by_rows and any(isinstance(tally, Units) for tally in tallies):
        raise QueryRefused("rows are the units here, and nothing says whose they are: count rows.")
    levels = tuple(
        replace(level, runs=special_runs(others, level.cells, level.placed, apart, known.keys))
        for level in _levels(question, sets, tallies, settings, opened, known)
    )
    levels = tuple(replace(level, placed=level.placed.also(work.cuts)) for level in levels)
    if settings.loss is None:
        pricing = aimed(question, made, levels, settings, limit)
    else:
        parts = [part for level in levels for part in parts_of(level, apart)]
        weights = [one for level in levels for one in weights_of(plain, recipes_at(level, made), level, settings)]
        choices = [choice_of(level, apart) for level in levels if level.chooser is not None]
        pricing = priced(parts, weights, settings.loss, choices=choices, noise=settings.noise, apart=apart)
    ready = Lowered(asked, question, settings, opened.space, levels, made, pricing, opened.catalog)
    rehearse(ready, opened.engine)
    return ready


def _given_keys(keys: KeySet, names: Sequence[str]) -> KeySet:
    """Gives keys of the columns that are grouped by, and of no others: that is what is answered, and recorded."""
    if not names:
        raise BadArgument("keys", "left out, where nothing is grouped by", keys)
    missing = [name for name in names if name not in keys.names]
    if missing:
        must = f"over all that is grouped by, under the names that the answer has: {', '.join(names)}"
        raise BadArgument("keys", must, Several(*keys.names))
    return keys.select(names)


def _worked(source: Relation, opened: Opened) -> Work:
    """Gives a relation whose joins cannot make too many rows of one unit."""
    return worked(source, lambda side: reach_of(side, opened.catalog.reaches, opened.matches).rows, opened.matches)


def _kept(question: Question, settings: Settings, catalog: Catalog) -> Question:
    """Gives the question with units cut to so many rows in all, where it says so, or else the codebook does."""
    said = settings.groups, settings.rows_each, settings.rows
    rows: Whole | None = settings.rows
    if rows is None and said == (None, None, None):
        kept = reach_of(question.source, catalog.kept, lambda _: math.inf)
        rows = None if kept.rows == math.inf or kept.groups or kept.rows_each else kept.rows
    if rows is None:
        return question
    if catalog.by_rows:
        raise QueryRefused("rows are the units here, and nothing says which of them belong together: leave out rows=.")
    return replace(question, source=Keep(question.source, int(rows)))


def _kept_before(question: Question, settings: Settings, opened: Opened) -> Kept | None:
    """Says that rows in all are cut, where they are: what a unit could have before that, and who says so."""
    match question.source:
        case Keep(source=source, rows=rows):
            before = reach_of(source, opened.catalog.reaches, opened.matches)
            return Kept(rows, before, THE_CODEBOOK if settings.rows is None else THE_QUESTION)
    return None


def _levels(
    question: Question,
    sets: Sequence[tuple[int, ...]],
    tallies: Sequence[Tally],
    settings: Settings,
    opened: Opened,
    known: _Known,
) -> tuple[Level, ...]:
    """Gives the levels; where one has all keys, and they are public, the others are sums of it: totals agree."""
    widest = max(sets, key=len)
    finest = _level(question, widest, tallies, settings, opened, known)
    add_up = all(isinstance(tally, Rows | Total) for tally in tallies) and not special_ones(question.statistics)
    if len(sets) == 1:
        return (finest,)
    if finest.listed is None or not add_up or any(not set(one) <= set(widest) for one in sets):
        return tuple(_level(question, places, tallies, settings, opened, known) for places in sets)
    return tuple(finest if places == widest else coarser(places, finest) for places in sets)


def _listed(question: Question, places: tuple[int, ...], settings: Settings, known: _Known) -> Listed | None:
    named = [question.keys[place] for place in places]
    given = settings.keys.select([name for name, _ in named]) if settings.keys is not None and named else None
    return known.keys.listed(named, given)


def _known(question: Question, opened: Opened) -> _Known:
    catalog = opened.catalog
    reach, kept = (reach_of(question.source, bounds, opened.matches) for bounds in (catalog.reaches, catalog.kept))
    return _Known(reach, kept, PublicKeys(opened.engine, ground(question.source), question.keys))


def _scales(question: Question, places: tuple[int, ...], settings: Settings, known: _Known) -> bool:
    keys = tuple(question.keys[place][1] for place in places)
    return scales(keys, known.reach, wanted(keys, settings.groups, settings.rows_each, known.kept))


def _level(
    question: Question,
    places: tuple[int, ...],
    tallies: Sequence[Tally],
    settings: Settings,
    opened: Opened,
    known: _Known,
) -> Level:
    keys, catalog = tuple(question.keys[place][1] for place in places), opened.catalog
    public = _listed(question, places, settings, known)
    bounded = placed(
        keys,
        (*tallies, Rows()) if special_ones(question.statistics) else tallies,
        known.reach,
        wanted(keys, settings.groups, settings.rows_each, known.kept),
        listed=None if public is None else len(public),
        by_rows=catalog.by_rows,
        who=catalog.codebook.protects,
        kept=_kept_before(question, settings, opened),
    )
    chooser = (Rows() if catalog.by_rows else Units()) if keys and public is None else None
    asked = tallies if chooser is None or chooser in tallies else (*tallies, chooser)
    standing = same_by_bounds(asked, bounded.bound, bounded.spread)
    bought = tuple(tally for tally in asked if tally not in dict(standing))
    cells = Cells(question.source, keys, bought, bounded.bound, public)
    noised = tuple(tally for tally in bought if tally != chooser)
    most = max((len(members) for members in exclusive_sets(noised)), default=1)
    if most > 1:
        why = f"of {most} numbers a row can count in one only: together they cost what one does"
        bounded = replace(bounded, facts=(*bounded.facts, why))
    return Level(places, cells, bounded, noised, chooser, standing=standing)


def _run(level: Level, engine: PrivateTables) -> Computed:
    """Computes the cells of a level; nothing, where all of its statistics are found otherwise."""
    return engine.run(level.cells) if level.cells.tallies else Computed(())
