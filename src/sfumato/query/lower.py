"""Lowering: from a question to what the engine computes, the noise, and a measurement with its price."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sfumato.accounting.measures import Loss
from sfumato.core.domains import Data, Held, Tables
from sfumato.core.identifiers import Identifiers
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.plan import Plain, Plan, planned, record_of
from sfumato.core.space import Space
from sfumato.core.spread import Whole
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.catalog import Catalog
from sfumato.query.cells import Cells, Computed, Listed, Rows, Tally, Total, Units
from sfumato.query.engines.engine import Engine
from sfumato.query.expressions import Column, Expression
from sfumato.query.finish import Drawn, finished
from sfumato.query.kinds import Kind
from sfumato.query.levels import Level, added_up, coarser, laid_out, noised, shown_keys
from sfumato.query.operators import call
from sfumato.query.passes.bounds import placed, scales, wanted
from sfumato.query.passes.grounding import ground
from sfumato.query.passes.impossible import refuse_impossible
from sfumato.query.passes.keys import PublicKeys
from sfumato.query.passes.missing import without_gaps
from sfumato.query.passes.specials import special_ones, special_runs
from sfumato.query.passes.spelling import spelled
from sfumato.query.post import check_released
from sfumato.query.pricing import Choice, Noisy, NoisyAt, Part, Pricing, priced
from sfumato.query.questions import Question, Statistic, statistics_in
from sfumato.query.reach import Reach, reach_of
from sfumato.query.recipes import Recipe, all_tallies, recipes
from sfumato.query.relations import Join, Keep
from sfumato.query.settings import Settings
from sfumato.query.specials import Special, SpecialAt, counted, expanded
from sfumato.query.targets import aimed
from sfumato.query.vectors import Array
from sfumato.release.answer import Answer
from sfumato.release.record import Failure, How


@final
@dataclass(frozen=True, eq=False)
class Opened(Held):
    """Is data behind an engine, with the catalog that says what is public about it."""

    engine: Engine
    catalog: Catalog

    @property
    def digest(self) -> str:
        """Is that of the codebook."""
        return self.catalog.codebook.digest

    @cached_property
    def space(self) -> Space:
        """Is the space that questions are asked on: tables, and how far apart neighbours are."""
        catalog = self.catalog
        domain = Tables(tuple(catalog.tables), self.digest)
        if catalog.by_rows:
            return Space(domain, AddRemove())
        window = catalog.codebook.window
        id_column = next(scan.owner.id for scan in catalog.tables.values() if scan.owner is not None)
        return Space(domain, Identifiers(id_column, "" if window is None else f"one {window.every} of {window.column}"))


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
    who: str

    @cached_property
    def noises(self) -> tuple[dict[Tally, NoisyAt], ...]:
        """Are the noises of each level, by tally."""
        return tuple(noises for noises, _ in self._priced)

    @cached_property
    def specials(self) -> tuple[tuple[SpecialAt, ...], ...]:
        """Are the mechanisms of each level for statistics that are not made of sums, one for each of its runs."""
        return tuple(specials for _, specials in self._priced)

    @cached_property
    def _priced(self) -> tuple[tuple[dict[Tally, NoisyAt], tuple[SpecialAt, ...]], ...]:
        parts: Iterator[Any] = iter(self.pricing.parts)
        return tuple(
            ({tally: next(parts) for tally in level.tallies}, tuple(next(parts) for _ in level.runs))
            for level in self.levels
        )

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
        """Says how the answer is made."""
        chosen = bool(self.pricing.selections)
        return How(
            "query",
            tuple(self._parameters()),
            steps=tuple(dict.fromkeys(why for level in self.levels for why in level.placed.why)),
            proofs=(
                "proofs/query.md#loss",
                "proofs/query.md#influence",
                *dict.fromkeys(proof for level in self.specials for special in level for proof in special.proofs),
            ),
            failure=Failure.DISTINGUISHING if chosen else Failure.GRACEFUL if self.pricing.delta else Failure.NONE,
        )

    def _parameters(self) -> list[tuple[str, str]]:
        from sfumato.query.words import noise_words, tally_words

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
    if settings.keys is not None and not question.keys:
        raise BadArgument("keys", "left out, where nothing is grouped by", settings.keys)
    asked, plain = question, spelled(_kept(question, settings, opened.catalog))
    refuse_impossible(plain)
    plain = without_gaps(plain)
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
    made = recipes(numbers, alone=settings.loss is None, fine=fine)
    tallies = tuple(all_tallies(made.values()))
    if opened.catalog.by_rows and any(isinstance(tally, Units) for tally in tallies):
        raise QueryRefused("rows are the units here, and nothing says whose they are: count rows.")
    levels = tuple(
        replace(level, runs=special_runs(others, level.cells, level.placed, apart, known.keys))
        for level in _levels(question, sets, tallies, settings, opened, known)
    )
    if settings.loss is None:
        pricing = aimed(question, made, levels, settings, limit)
    else:
        parts = [part for level in levels for part in _parts(level, apart)]
        weights = [weight for level in levels for weight in _weights(plain, made, level, settings)]
        choices = [_choice(level, apart) for level in levels if level.chooser is not None]
        pricing = priced(parts, weights, settings.loss, choices=choices, noise=settings.noise)
    return Lowered(asked, question, settings, opened.space, levels, made, pricing, opened.catalog.codebook.protects)


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
    return tuple(
        finest if places == widest else coarser(places, _listed(question, places, settings, known), finest)
        for places in sets
    )


def _listed(question: Question, places: tuple[int, ...], settings: Settings, known: _Known) -> Listed | None:
    named = [question.keys[place] for place in places]
    given = settings.keys.select([name for name, _ in named]) if settings.keys is not None and named else None
    return known.keys.listed(named, given)


def _known(question: Question, opened: Opened) -> _Known:
    catalog = opened.catalog
    reach, kept = (
        reach_of(question.source, bounds, lambda join: _matches(join, opened))
        for bounds in (catalog.reaches, catalog.kept)
    )
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
    )
    chooser = (Rows() if catalog.by_rows else Units()) if keys and public is None else None
    counted = tallies if chooser is None or chooser in tallies else (*tallies, chooser)
    cells = Cells(question.source, keys, tuple(counted), bounded.bound, public)
    return Level(places, cells, bounded, tuple(tally for tally in tallies if tally != chooser), chooser)


def _choice(level: Level, apart: int) -> tuple[Choice, Fraction]:
    """Gives what choosing the keys of a level takes: how one unit's count in a key, and its keys, are bounded."""
    spread = level.placed.spread
    if isinstance(level.chooser, Units):
        return Choice(keys=max(1, int(spread.parts)), rows=1, apart=apart), Fraction(1)
    return Choice(keys=1, rows=max(1, int(spread.rows)), apart=apart), Fraction(1)


def _parts(level: Level, apart: int) -> list[Part]:
    """Gives what is released of a level: noisy numbers first."""
    return [*(Noisy(level.influence(tally), apart) for tally in level.tallies), *(run.special for run in level.runs)]


def _weights(question: Question, made: Mapping[Statistic, Recipe], level: Level, settings: Settings) -> list[Fraction]:
    """Gives the weight of each part: alike, or where columns have weights, what the columns it serves make of them."""
    parts: list[Tally | Special] = [*level.tallies, *(run.special for run in level.runs)]
    if not settings.weights:
        return [Fraction(1)] * len(parts)
    given, known = dict(settings.weights), {name for name, _ in question.columns}
    if unknown := sorted(set(given) - known):
        raise BadArgument("weights", f"for columns of the answer: {', '.join(sorted(known))}", unknown[0])
    found = dict.fromkeys(parts, Fraction(0))
    for name, column in question.columns:
        serving = [part for one in statistics_in(column) for part in _serving(one, made, level)]
        used = [part for part in serving if part in found]
        for part in used:
            found[part] += given.get(name, Fraction(1)) / len(used)
    return [found[part] or Fraction(1) for part in parts]


def _serving(one: Statistic, made: Mapping[Statistic, Recipe], level: Level) -> Sequence[Tally | Special]:
    """Gives what a statistic is made of, or found by."""
    if one in made:
        return made[one].tallies
    return [run.special for run in level.runs if run.special.serves(one)]


def _run(level: Level, engine: Engine) -> Computed:
    """Computes the cells of a level; nothing, where all of its statistics are found otherwise."""
    return engine.run(level.cells) if level.cells.tallies else Computed(())


def _matches(join: Join, opened: Opened) -> int:
    """Gives how many rows of a public relation one row can match at most: it is public, so it is counted."""
    pairs = [(join.left.field(ours), join.right.field(theirs)) for ours, theirs in join.on]
    keys = tuple(_compared(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None)
    found = opened.engine.run(Cells(join.right, keys, (Rows(),)))
    return max((int(number) for number in found.numbers[0]), default=0)


def _compared(ours: Column, theirs: Column) -> Expression:
    """Gives a column as a join compares it: where the other side is a float, several whole numbers may be alike."""
    return call("to_float", theirs) if (ours.kind, theirs.kind) == (Kind.FLOAT, Kind.INT) else theirs
