"""Levels: what the engine computes for one grouping set, and how its whole numbers become noisy ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.rows import canonical
from sfumato.entropy import Entropy
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.query.plan.bounds import Placed
from sfumato.query.plan.engine_plan import Cells, Computed, ExactAggregate, PublicKeys
from sfumato.query.plan.exclusive import exclusive_sets
from sfumato.query.plan.kept_counts import without_picking
from sfumato.query.plan.parts import ExclusiveAt, Priced, PricedCells, Selection
from sfumato.query.plan.selection_statistics import Run
from sfumato.query.plan.sensitivity import Influence, influence
from sfumato.release.vectors import Array


@final
@dataclass(frozen=True)
class Level:
    """One grouping set: which keys it has, the cells to compute, how units are bounded, and the tallies to noise.

    Where keys are not listed, they are chosen by the tally ``chooser``: the units (or rows) of each group. A level
    that is ``summed`` is not computed by the engine: its numbers are sums of those of the finest level, where
    ``summed`` says for each key of that one to which key of this one it adds. ``runs`` are its statistics that are
    not made of sums. ``standing`` names tallies that are the same numbers as others here, and which others.
    """

    places: tuple[int, ...]
    cells: Cells
    placed: Placed
    tallies: tuple[ExactAggregate, ...]
    chooser: ExactAggregate | None = None
    summed: tuple[int, ...] | None = None
    runs: tuple[Run, ...] = ()
    standing: tuple[tuple[ExactAggregate, ExactAggregate], ...] = ()

    @cached_property
    def computed(self) -> Cells:
        """What the engine is asked for: the same numbers as those of ``cells``, of which everything else is told."""
        return without_picking(self.cells)

    @property
    def listed(self) -> PublicKeys | None:
        """The public keys, if there are any."""
        return self.cells.listed

    @property
    def sets(self) -> tuple[tuple[ExactAggregate, ...], ...]:
        """The tallies to noise, in sets where one row moves only one tally: each set is priced as one."""
        return exclusive_sets(self.tallies)

    @property
    def finishing(self) -> tuple[Hashable, ...]:
        """What is done with the numbers of its cells, whichever rows these are of."""
        specials = tuple(run.special for run in self.runs)
        cells = self.cells.keys, self.cells.tallies, self.cells.listed, self.cells.inner
        return self.places, cells, self.tallies, self.chooser, self.summed, specials, self.standing

    def influence(self, tally: ExactAggregate) -> Influence:
        """How far one unit moves a tally here."""
        return influence(tally, self.placed.spread_of(tally))


@final
@dataclass(frozen=True, eq=False)
class Exact:
    """What the engine computed, laid out for noise: keys of each group, and a whole number of each tally. Private."""

    keys: tuple[Array, ...]
    numbers: tuple[Array, ...]


def laid_out(level: Level, computed: Computed) -> Exact:
    """Lays out the numbers of every listed key, 0 where no row has it; or those of the keys that occur."""
    if not computed.numbers:
        return Exact(() if level.listed is None else listed_keys(level.listed), ())
    numbers = [np.asarray(cells) for cells in computed.numbers]
    listed = level.listed
    if listed is None:
        return Exact(tuple(_column(cells) for cells in computed.keys), tuple(numbers))
    places = np.asarray(computed.places, dtype=np.intp)
    return Exact(
        tuple(_column(column) for column in listed.columns),
        tuple(dense(cells, places, len(listed)) for cells in numbers),
    )


def added_up(level: Level, finest: Exact) -> Exact:
    """Adds up the groups of the finest level into those of a coarser one, exactly."""
    size, places = (1 if level.listed is None else len(level.listed)), np.array(level.summed, dtype=np.intp)
    keys = () if level.listed is None else listed_keys(level.listed)
    return Exact(keys, tuple(_sums(numbers, places, size) for numbers in finest.numbers))


def _sums(numbers: Array, places: Array, size: int) -> Array:
    wide = numbers.dtype == object or (len(numbers) and int(np.abs(numbers).max()) * len(numbers) >= 1 << 62)
    sums = np.zeros(size, dtype=object if wide else np.int64)
    np.add.at(sums, places, numbers.astype(sums.dtype))
    return sums


def noises_in(sets: Sequence[Sequence[ExactAggregate]], parts: Iterator[Priced]) -> dict[ExactAggregate, PricedCells]:
    """Takes the noise of every tally from the priced parts, of which there is one for each set."""
    by_tally: dict[ExactAggregate, PricedCells] = {}
    for members in sets:
        part = next(parts)
        noises = part.members if isinstance(part, ExclusiveAt) else (part,)
        by_tally |= {
            tally: noise for tally, noise in zip(members, noises, strict=True) if isinstance(noise, PricedCells)
        }
    return by_tally


def coarser(places: tuple[int, ...], finest: Level) -> Level:
    """Makes a level of unions of the finest one's groups: all rows that a unit has there may fall into one."""
    listed = _parts_of_keys(places, finest)
    size = 1 if listed is None else len(listed)
    spread = finest.placed.spread
    within = GroupedDistance(min(spread.parts, size), spread.rows, spread.rows)
    keys = tuple(finest.cells.keys[finest.places.index(at)] for at in places)
    placed = Placed(finest.placed.bound, within, ("totals are sums of the finest groups, so that they agree",))
    cells = replace(finest.cells, keys=keys, listed=listed)
    return Level(places, cells, placed, finest.tallies, None, _targets(places, listed, finest))


def _parts_of_keys(places: tuple[int, ...], finest: Level) -> PublicKeys | None:
    """The keys that those of the finest level are parts of; None where nothing is grouped by."""
    if finest.listed is None or not places:
        return None
    columns = (finest.listed.columns[finest.places.index(at)] for at in places)
    return PublicKeys(tuple(zip(*dict.fromkeys(zip(*columns, strict=True)), strict=True)), finest.listed.certain)


def _targets(places: tuple[int, ...], listed: PublicKeys | None, finest: Level) -> tuple[int, ...]:
    """For each key of the finest level, the place of the key that it is part of."""
    if listed is None or finest.listed is None:
        return (0,) * (1 if finest.listed is None else len(finest.listed))
    chosen = [finest.listed.columns[finest.places.index(at)] for at in places]
    known = {key: place for place, key in enumerate(zip(*listed.columns, strict=True))}
    return tuple(known[key] for key in zip(*chosen, strict=True))


def listed_keys(listed: PublicKeys) -> tuple[Array, ...]:
    """Public keys as arrays, column by column."""
    return tuple(_column(column) for column in listed.columns)


def dense(numbers: Array, places: Array, size: int) -> Array:
    """Puts numbers at their places among zeros."""
    made = np.zeros(size, dtype=numbers.dtype if numbers.dtype == object else np.int64)
    made[places] = numbers
    return made


def _column(values: Sequence[object]) -> Array:
    if isinstance(values, np.ndarray):
        return values
    made = np.empty(len(values), dtype=object)
    made[:] = list(values)
    return made


@guarantee(
    claim="a key is shown if its units, with noise, are more than the least count shown less one; nothing else is said",
    proof="proofs/query.md#selection",
    reviewed="59e79443a108",
)
def choose(units: Array, selection: Selection, entropy: Entropy) -> tuple[Array, Array]:
    """Draws which keys are shown: their places, and their noisy numbers of units."""
    noise = selection.noise
    noisy = exact_add(units + noise.reach[0], noise.index.samples(len(units), entropy))
    shown = np.flatnonzero(noisy > noise.least_shown - 1)
    return shown, noisy[shown]


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """The keys that were chosen, with their noisy numbers of units, and their places in what they were chosen from."""

    keys: tuple[Array, ...]
    units: Array
    places: Array
    of: Exact

    def numbers(self, exact: Exact) -> tuple[Array, ...]:
        """The numbers of these keys; 0 for a key that does not occur, when a choice is replayed on other data."""
        if self.of is exact:
            return tuple(values[self.places] for values in exact.numbers)
        known = {key: place for place, key in enumerate(_tuples(exact.keys))}
        places = np.array([known.get(key, -1) for key in _tuples(self.keys)], dtype=np.intp)
        return tuple(np.append(values, 0)[places] for values in exact.numbers)


def _tuples(keys: tuple[Array, ...]) -> list[Hashable]:
    return [tuple(map(canonical, key)) for key in zip(*keys, strict=True)]


def shown_keys(exact: Exact, units: Array, selection: Selection, entropy: Entropy) -> Shown:
    """Chooses the keys that are shown, by their numbers of units."""

    def draw() -> Shown:
        places, noisy = choose(units, selection, entropy)
        return Shown(tuple(column[places] for column in exact.keys), noisy, places, exact)

    return entropy.perform(selection.act(exact.keys, units), draw)


def noised(numbers: Array, part: PricedCells, entropy: Entropy) -> Array:
    """Adds fresh noise to every number."""
    return entropy.perform(part.act(numbers), lambda: exact_add(numbers, part.noise.samples(len(numbers), entropy)))


@final
@dataclass(frozen=True, eq=False)
class Noisy:
    """What was drawn for groups: the keys that are shown, and the noisy numbers of each."""

    keys: tuple[Array, ...]
    numbers: Mapping[ExactAggregate, Array]


@guarantee(
    claim="what is drawn for a group is a function of its own numbers and of fresh bits: in batches it is the same",
    proof="proofs/query.md#batches",
    reviewed="d2a0b0a77209",
)
def drawn_of(
    exact: Exact,
    level: Level,
    noises: Mapping[ExactAggregate, PricedCells],
    selection: Selection | None,
    entropy: Entropy,
) -> Noisy:
    """Chooses keys, and adds noise to the numbers of those that are shown: group by group, with noise of its own.

    What is drawn for a group depends on that group's numbers alone. So it is one mechanism, whether the groups are
    all here or some of them are drawn elsewhere, each of them once (proofs/query.md#batches).
    """
    numbers = dict(zip(level.cells.tallies, exact.numbers, strict=True))
    keys, noisy = exact.keys, dict[ExactAggregate, Array]()
    if level.chooser is not None and selection is not None:
        shown = shown_keys(exact, numbers[level.chooser], selection, entropy)
        keys, noisy[level.chooser] = shown.keys, shown.units
        numbers = dict(zip(level.cells.tallies, shown.numbers(exact), strict=True))
    noisy |= {tally: noised(numbers[tally], part, entropy) for tally, part in noises.items()}
    return Noisy(keys, noisy)
