"""k-anonymity, measured and attacked: classes that share a secret, and two releases that share a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.linkage import read_truths
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.attacks.tables import (
    Cell,
    Given,
    Key,
    Rows,
    matched,
    read_table,
    read_targets,
    same_cell,
    shared_columns,
    unmatched,
)
from sfumato.attacks.uniqueness import CURATOR_ONLY
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, non_negative
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

SHOWN = 20
"""How many classes a printed report lists."""

EXCHANGES = 50
"""How often values are exchanged at random, to see how many hits are coincidence."""


@final
@dataclass(frozen=True)
class EquivalenceClass:
    """A group of rows that agree on the quasi-identifiers: what they have, which they are, their sensitive values.

    ``values`` counts the rows of each sensitive value, the most common first; it is empty where none was named.
    """

    key: Mapping[str, Cell]
    rows: tuple[int, ...] = field(repr=False)
    values: tuple[tuple[Cell, int], ...]

    @property
    def distinct(self) -> int:
        """Counts the different sensitive values: what l-diversity asks to be at least l."""
        return len(self.values)

    @property
    def greatest_chance(self) -> Fraction:
        """The probability of the most likely sensitive value, for whoever knows that a target is in the class."""
        return Fraction(self.values[0][1], len(self.rows)) if self.values else Fraction(0)


@final
@dataclass(frozen=True)
class Anonymity(Displayed):
    """What k-anonymity amounts to in a table: its classes, the smallest first. For the curator only."""

    quasi: tuple[str, ...]
    sensitive: str | None
    classes: tuple[EquivalenceClass, ...] = field(repr=False)

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return len(self.classes[0].rows)

    @property
    def distinct(self) -> int:
        """The least number of different sensitive values in a class: l; 0 where no column was named."""
        return min(group.distinct for group in self.classes)

    @property
    def greatest_chance(self) -> Fraction:
        """The highest probability with which a class tells a sensitive value; 1 is certainty, whatever k is."""
        return max(group.greatest_chance for group in self.classes)

    def below(self, k: int) -> tuple[EquivalenceClass, ...]:
        """The classes of fewer than k rows."""
        least = integer(k, "k", least=1)
        return tuple(group for group in self.classes if len(group.rows) < least)

    def document(self) -> Document:
        """The report, for any form; of the classes the smallest."""
        rows = tuple(
            (
                ", ".join(str(cell) for cell in group.key.values()),
                str(len(group.rows)),
                str(group.distinct) if self.sensitive else "",
                f"{float(group.greatest_chance):.3g}" if self.sensitive else "",
            )
            for group in self.classes[:SHOWN]
        )
        head = (", ".join(self.quasi), "rows", "distinct", "greatest chance")
        rest = len(self.classes) - SHOWN
        return Document(
            title="anonymity",
            headline=f"k = {self.k} in {len(self.classes)} classes",
            aside=f"the smallest {SHOWN}; {rest} more" if rest > 0 else "",
            warnings=(CURATOR_ONLY,),
            tables=(Table(rows, head, right=frozenset({1, 2, 3})),),
        )


def anonymity(table: Given, quasi: Iterable[str], *, sensitive: str | None = None) -> Anonymity:
    """Measures the true k of a table on its quasi-identifiers, and what each class tells of a sensitive column.

    >>> ward = {"age": ["60-70", "60-70", "30-40"], "illness": ["flu", "flu", "asthma"]}
    >>> report = anonymity(ward, ["age"], sensitive="illness")
    >>> report.k, report.distinct, report.greatest_chance
    (1, 1, Fraction(1, 1))
    """
    held = read_table(table)
    names = held.chosen(quasi, "quasi")
    if sensitive in names:
        raise BadArgument("sensitive", "no quasi-identifier", sensitive)
    cells = None if sensitive is None else held.column(sensitive)
    groups = [
        EquivalenceClass(
            dict(zip(names, map(unmatched, key), strict=True)),
            rows,
            () if cells is None else _count_values(cells[row] for row in rows),
        )
        for key, rows in held.classes(names).items()
    ]
    return Anonymity(names, sensitive, tuple(sorted(groups, key=lambda group: len(group.rows))))


def _count_values(cells: Iterable[Cell]) -> tuple[tuple[Cell, int], ...]:
    return tuple((unmatched(value), count) for value, count in Counter(map(matched, cells)).most_common())


def homogeneity(
    released: Given,
    quasi: Iterable[str],
    *,
    sensitive: str,
    reading: Callable[[Any], Cell] | None = None,
    within: Number | None = None,
    truth: Sequence[Cell] | None = None,
    against: str = "k-anonymity",
) -> Attack:
    """Counts the rows whose class tells their sensitive value: all of the class share it.

    ``reading`` says what an attacker takes a value for (a score for a grade, a medicine for an illness); ``within`` is
    how far apart numbers may lie that tell as much as one. Where the release may be wrong, ``truth`` has the true value
    of each row, read in the same way, and a class that does not have it is no hit. The baseline is how often one is as
    certain without the classes: never, or always where all rows share it, for then it is known of everybody and nobody
    is exposed. With ``truth`` it is how many hits there would be if true values were exchanged between rows at random.

    >>> ward = {"age": ["20-30", "20-30", "60-70", "60-70"], "illness": ["flu", "flu", "asthma", "flu"]}
    >>> homogeneity(ward, ["age"], sensitive="illness").success
    Success(hits=2, trials=4)
    """
    held = read_table(released, "released")
    cells = held.column(sensitive)
    if reading is not None:
        held = held.replaced({sensitive: [reading(cell) for cell in cells]})
    report = anonymity(held, quasi, sensitive=sensitive)
    width = None if within is None else non_negative(within, "within")
    certain = [group for group in report.classes if _is_certain(group, width)]
    whole = EquivalenceClass({}, tuple(range(len(held))), _count_values(held.column(sensitive)))
    hits, baseline = sum(len(group.rows) for group in certain), float(_is_certain(whole, width))
    truths = read_truths(truth, len(held), "the sensitive value of each row")
    if truths is not None:
        hits, baseline = _verified(certain, [reading(cell) if reading else cell for cell in truths])
    return Attack(
        name="homogeneity",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=Success(hits, len(held)),
        baseline=baseline,
        found=tuple(certain),
    )


def _verified(certain: Sequence[EquivalenceClass], truths: Sequence[Cell]) -> tuple[int, float]:
    """Counts the rows that have their true value in their class; and the share that it would be by coincidence."""
    right = [matched(cell) for cell in truths]
    counts, hits, chance = Counter(right), 0, Fraction(0)
    for group in certain:
        values = {matched(value) for value, _ in group.values}
        hits += sum(right[row] in values for row in group.rows)
        chance += len(group.rows) * Fraction(sum(counts[value] for value in values), len(right))
    return hits, float(chance / len(right))


def _is_certain(group: EquivalenceClass, width: Fraction | None) -> bool:
    if width is None or group.distinct == 1:
        return group.distinct == 1
    values = [value for value, _ in group.values]
    if not all(isinstance(value, Real) and not isinstance(value, bool) and value == value for value in values):
        raise BadArgument("within", "left out where sensitive values are not all numbers", float(width))
    numbers: list[Any] = values
    return bool(max(numbers) - min(numbers) <= width)


@final
@dataclass(frozen=True)
class Candidates:
    """What two releases leave of one target: the sensitive values that both have in the target's class."""

    target: int
    in_first: tuple[Cell, ...]
    in_both: tuple[Cell, ...]


def intersection(
    first: Given,
    second: Given,
    *,
    sensitive: str,
    on: Iterable[str] | None = None,
    known: Given | tuple[Given, Given] | None = None,
    truth: Sequence[Cell] | None = None,
    against: str = "two k-anonymous releases",
    entropy: Entropy | None = None,
) -> Attack:
    """Intersects what two releases say of a person who is in both: one sensitive value left is a hit.

    ``known`` are targets, described as the releases do; a pair where each describes them in its own way. Without it,
    every class of the first release that the second has too is one target.

    ``truth`` has the sensitive value of each target: a wrong one is then no hit, and the baseline is how often the
    first release alone leaves the right one. Without it a hit is not verified: two releases that have nobody in common
    share values by coincidence. The baseline is then how often one value is left by the first release alone, or if the
    sensitive values of the second are exchanged at random between its rows; it is 1 for a hit in a second release that
    is all one class, where no exchange changes anything, and coincidence cannot be told from a person.

    >>> salaries = {"age": ["30-40"] * 3, "score": [650, 590, 613]}
    >>> clients = {"age": ["30-40"] * 3, "score": [815, 613, 727]}
    >>> intersection(salaries, clients, sensitive="score").found[0].in_both
    (613,)
    """
    first_rows, second_rows = read_table(first, "first"), read_table(second, "second")
    names = shared_columns(first_rows, second_rows, on, but=(sensitive,))
    shared_columns(first_rows, second_rows, (sensitive,))
    here, there = _values(first_rows, names, sensitive), _values(second_rows, names, sensitive)
    described = _described(known, names, first_rows, second_rows, here, there)
    truths, candidates = read_truths(truth, len(described)), []
    for target, (mine, theirs) in enumerate(described):
        values, others = here.get(mine, {}), there.get(theirs, {})
        both = tuple(cell for value, cell in values.items() if value in others)
        candidates.append(Candidates(target, tuple(values.values()), both))
    alone = [_hit(each.in_first, truths, each.target) for each in candidates]
    if truths is None:
        chances = _coincidences(described, here, second_rows, names, sensitive, entropy or system())
    else:
        chances = np.zeros(len(candidates))
    return Attack(
        name="intersection",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=Success(sum(_hit(each.in_both, truths, each.target) for each in candidates), len(candidates)),
        baseline=float(np.mean(np.where(alone, 1.0, chances))),
        found=tuple(candidates),
    )


def _hit(values: tuple[Cell, ...], truths: Sequence[Cell] | None, target: int) -> bool:
    """Tells whether one value is left, and the right one where that is known."""
    return len(values) == 1 and (truths is None or same_cell(values[0], truths[target]))


def _coincidences(
    described: Sequence[tuple[Key, Key]],
    here: Mapping[Key, Mapping[Cell, Cell]],
    second: Rows,
    names: tuple[str, ...],
    sensitive: str,
    entropy: Entropy,
) -> NDArray[np.float64]:
    """How often each target has one value left if the second release's values are exchanged between rows."""
    numbers: dict[Cell, int] = {}
    values = np.array([numbers.setdefault(matched(cell), len(numbers)) for cell in second.column(sensitive)])
    places: dict[Key, int] = {}
    classes = np.array([places.setdefault(key, len(places)) for key in second.keys(names)])
    pairs = [
        (target, places[theirs] * len(numbers) + numbers[value])
        for target, (mine, theirs) in enumerate(described)
        if theirs in places
        for value in here.get(mine, {})
        if value in numbers
    ]
    whom, wanted = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    hits = np.zeros(len(described))
    for _ in range(EXCHANGES):
        exchanged = values[np.argsort(entropy.words(len(values)))]
        left = whom[np.isin(wanted, classes * len(numbers) + exchanged)]
        hits += np.bincount(left, minlength=len(described)) == 1
    return hits / EXCHANGES


def _values(table: Rows, names: tuple[str, ...], sensitive: str) -> dict[Key, dict[Cell, Cell]]:
    cells = table.column(sensitive)
    return {key: {matched(cells[row]): cells[row] for row in rows} for key, rows in table.classes(names).items()}


def _described(
    known: Given | tuple[Given, Given] | None,
    names: tuple[str, ...],
    first: Rows,
    second: Rows,
    here: Mapping[Key, object],
    there: Mapping[Key, object],
) -> list[tuple[Key, Key]]:
    """The class of each target in the first and in the second release."""
    if known is None:
        shared = [(key, key) for key in here if key in there]
        if not shared:
            raise BadArgument("the two releases", "such that they have a class in common; else give known", "none")
        return shared
    pair = known if isinstance(known, tuple) else (known, known)
    if len(pair) != 2:
        raise BadArgument("known", "a table of targets, or one for each release", f"{len(pair)} tables")
    people = tuple(read_targets(part) for part in pair)
    for release, part in zip((first, second), people, strict=True):
        shared_columns(release, part, names)
    mine, theirs = (part.keys(names) for part in people)
    if len(mine) != len(theirs):
        raise BadArgument("known", "as many targets for the one release as for the other", (len(mine), len(theirs)))
    return list(zip(mine, theirs, strict=True))
