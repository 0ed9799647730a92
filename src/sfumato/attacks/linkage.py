"""Record linkage: what is known of people, laid beside a release without names, finds their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.result import Attack, Comparison, Success, Violation
from sfumato.attacks.tables import (
    Cell,
    Given,
    Rows,
    matched,
    plain_cell,
    read_table,
    read_targets,
    same_cell,
    shared_columns,
    unmatched,
)
from sfumato.errors import BadArgument
from sfumato.exact import integer

Places = tuple[int, ...]


@final
@dataclass(frozen=True)
class Match:
    """What linkage says of one target: which rows may be theirs, and how likely each sensitive value is then."""

    name: Cell
    rows: Places = field(repr=False)
    chances: tuple[tuple[Cell, Fraction], ...] = field(repr=False)

    @property
    def unique(self) -> bool:
        """Tells whether one row is left: the target's, if the target is in the release."""
        return len(self.rows) == 1

    @property
    def certain(self) -> bool:
        """Tells whether all rows that are left have one sensitive value, be they one or several."""
        return len(self.chances) == 1

    def chance(self, value: Cell) -> Fraction:
        """The probability that the target has a sensitive value, every row that is left equally likely."""
        return next((share for cell, share in self.chances if same_cell(cell, value)), Fraction(0))


@final
@dataclass(frozen=True)
class Links:
    """What linkage found: a match for each target, by the columns ``on``.

    ``prior`` is the share of the most common sensitive value in the whole release: what holds for everybody is known
    without a match, and is no violation.
    """

    on: tuple[str, ...]
    matches: tuple[Match, ...] = field(repr=False)
    prior: Fraction | None

    @property
    def unique(self) -> tuple[Match, ...]:
        """The targets with exactly one row left."""
        return tuple(match for match in self.matches if match.unique)


def linkage(
    released: Given,
    known: Given,
    *,
    on: Iterable[str] | None = None,
    sensitive: str | None = None,
    names: str | None = None,
    truth: Sequence[int | None] | None = None,
    tolerant: bool = False,
    against: str = "a table without names",
    epsilon: float | None = None,
) -> Attack:
    """Joins what is known of targets to a release, on the columns that both have or those that are named.

    One row left is a hit. ``truth`` has the row of each target (None: not in the release): a wrong row is then no hit.
    ``known`` may be one target, a value for each column; ``names`` is its column of names. Where cells may be wrong,
    ``tolerant`` takes the rows that agree in the most columns: the likeliest ones under randomized response with the
    same ε in each.

    >>> roll = {"sex": ["F", "M", "M"], "zip": ["02138", "02138", "02139"], "illness": ["flu", "asthma", "flu"]}
    >>> found = linkage(roll, {"sex": "M", "zip": "02139"}, sensitive="illness")
    >>> found.success.hits, found.found.matches[0].chance("flu")
    (1, Fraction(1, 1))
    """
    table, people = read_table(released, "released"), read_targets(known)
    shared = shared_columns(table, people, on, but=(sensitive, names))
    matches = _matches(table, people, shared, sensitive, names, tolerant=tolerant)
    right = _truth(truth, len(people), len(table))
    hits = sum(
        1 for place, match in enumerate(matches) if match.unique and (right is None or right[place] == match.rows[0])
    )
    return Attack(
        name="record linkage",
        violation=Violation.REIDENTIFICATION,
        against=against,
        success=Success(hits, len(people)),
        baseline=1 / len(table),
        epsilon=epsilon,
        found=Links(shared, matches, None if sensitive is None else _most_common(table.column(sensitive))),
    )


def refined(
    released: Given, known: Given, *, on: Iterable[str], truth: Sequence[int | None] | None = None
) -> Comparison:
    """Links on the first of some columns, then on the first two, and so on: no attribute leaves more rows."""
    names = read_table(released, "released").chosen(on, "on")
    steps = [names[: count + 1] for count in range(len(names))]
    return Comparison(
        tuple(linkage(released, known, on=step, truth=truth, against=" + ".join(map(str, step))) for step in steps)
    )


def background_knowledge(
    released: Given,
    known: Given,
    *,
    sensitive: str,
    excluded: Collection[Cell] | Mapping[Cell, Collection[Cell]],
    on: Iterable[str] | None = None,
    names: str | None = None,
    truth: Sequence[Cell] | None = None,
    against: str = "a table without names",
) -> Attack:
    """Links, and leaves out the sensitive values that facts from outside exclude: one value left is a hit.

    ``excluded`` has the values that no target can have, or those of each target by name. ``truth`` has the sensitive
    value of each target; a wrong one is then no hit. The baseline is how often the release leaves one value without
    such facts.

    >>> ward = {"ward": ["A", "A", "A"], "illness": ["measles", "flu", "flu"]}
    >>> background_knowledge(ward, {"ward": "A"}, sensitive="illness", excluded=["measles"]).success.hits
    1
    """
    table, people = read_table(released, "released"), read_targets(known)
    shared = shared_columns(table, people, on, but=(sensitive, names))
    before = _matches(table, people, shared, sensitive, names, tolerant=False)
    after = tuple(_without(match, table.column(sensitive), excluded) for match in before)
    truths = read_truths(truth, len(people))

    def hits(matches: Sequence[Match]) -> int:
        answers = [None if truths is None else match.chance(truths[place]) for place, match in enumerate(matches)]
        return sum(match.certain and answer != 0 for match, answer in zip(matches, answers, strict=True))

    return Attack(
        name="background knowledge",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=Success(hits(after), len(people)),
        baseline=hits(before) / len(people),
        found=Links(shared, after, _most_common(table.column(sensitive))),
    )


def _without(
    match: Match, cells: Sequence[Cell], excluded: Collection[Cell] | Mapping[Cell, Collection[Cell]]
) -> Match:
    gone = excluded.get(match.name, ()) if isinstance(excluded, Mapping) else excluded
    if isinstance(gone, str) or not isinstance(gone, Collection):
        raise BadArgument("excluded", "a list of values, or one for each name", type(gone).__name__)
    out = {matched(value) for value in gone}
    left = tuple(row for row in match.rows if matched(cells[row]) not in out)
    return Match(match.name, left, _chances(cells, left))


def _matches(
    table: Rows, people: Rows, shared: Sequence[str], sensitive: str | None, names: str | None, *, tolerant: bool
) -> tuple[Match, ...]:
    cells = () if sensitive is None else table.column(sensitive)
    called = range(len(people)) if names is None else people.column(names)
    candidates = _agreeing(table, people, shared) if tolerant else _equal(table, people, shared)
    return tuple(Match(name, rows, _chances(cells, rows)) for name, rows in zip(called, candidates, strict=True))


def _equal(table: Rows, people: Rows, shared: Sequence[str]) -> list[Places]:
    classes = table.classes(shared)
    return [classes.get(key, ()) for key in people.keys(shared)]


def _agreeing(table: Rows, people: Rows, shared: Sequence[str]) -> list[Places]:
    """Finds for each target the rows that agree in the most columns; none where no row agrees in any."""
    columns: list[tuple[NDArray[np.int64], list[int]]] = []
    for name in shared:
        seen: dict[Cell, int] = {}
        ours = np.array([seen.setdefault(matched(cell), len(seen)) for cell in table.column(name)], dtype=np.int64)
        columns.append((ours, [seen.get(matched(cell), -1) for cell in people.column(name)]))
    matches: list[Places] = []
    for target in range(len(people)):
        agreed = np.sum([ours == theirs[target] for ours, theirs in columns], axis=0)
        best = int(agreed.max())
        matches.append(tuple(np.flatnonzero(agreed == best).tolist()) if best else ())
    return matches


def _chances(cells: Sequence[Cell], rows: Places) -> tuple[tuple[Cell, Fraction], ...]:
    counted = Counter(matched(cells[row]) for row in rows) if cells else Counter[Cell]()
    return tuple((unmatched(value), Fraction(count, len(rows))) for value, count in counted.most_common())


def _most_common(cells: Sequence[Cell]) -> Fraction:
    [(_, most)] = Counter(map(matched, cells)).most_common(1)
    return Fraction(most, len(cells))


def _truth(truth: Sequence[int | None] | None, targets: int, rows: int) -> list[int | None] | None:
    listed = read_truths(truth, targets, "the row of each target")
    if listed is None:
        return None
    rows_of = [None if place is None else integer(place, "a row in truth", least=0) for place in listed]
    if any(place is not None and place >= rows for place in rows_of):
        raise BadArgument("a row in truth", f"a row of released, which has {rows}, counted from 0", "a later one")
    return rows_of


def read_truths(
    truth: Iterable[Cell] | None, targets: int, must: str = "the sensitive value of each target"
) -> list[Cell] | None:
    """Reads what is true of each target, where that is known."""
    if truth is None:
        return None
    if isinstance(truth, str | bytes) or not isinstance(truth, Iterable):
        raise BadArgument("truth", must, truth)
    listed = [plain_cell(cell) for cell in truth]
    if len(listed) != targets:
        raise BadArgument("truth", must, f"{len(listed)} for {targets} targets")
    return listed
