"""Tables of cells that were randomised one by one: private, and of little use. Better paths: counts, synthetic data.

Each row has its own noise, so rows cost nothing together; the cells of one row are about one person, so the losses of
the columns add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.attacks.linkage import Links, Match
from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.attacks.tables import Cell, Given, Rows, read_table
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Hamming
from sfumato.core.space import vector
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, integer, positive, rational, up
from sfumato.mechanisms.local_reports import local_laplace
from sfumato.mechanisms.randomized_response import randomized_response
from sfumato.mechanisms.response_accuracy import response_variance, truth_probability
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.table import composed

ADVICE = "Release counts, or synthetic data made from them: their error does not grow with the number of people."

Options: TypeAlias = Mapping[str, list[Cell] | tuple[Number, Number]]
"""What is public of each column: a list of all its values, or a pair of bounds between which its numbers lie."""


@final
@dataclass(frozen=True)
class LocalTable:
    """A table of randomised cells, the loss of each column, and their sum: what the whole row of a person costs."""

    columns: Mapping[str, tuple[Cell, ...]] = field(repr=False)
    losses: Mapping[str, Loss]
    loss: Loss

    @property
    def epsilon(self) -> Extended:
        return convert(self.loss, Pure).epsilon


def local_microdata(table: Given, options: Options, *, epsilon: Number, entropy: Entropy | None = None) -> LocalTable:
    """Randomises each cell on its own, the columns sharing ε evenly: a whole row costs ε. Discouraged.

    Listed values are answered by `randomized_response`, numbers between bounds get the noise of `local_laplace`.
    Columns without options are left out.

    >>> clinic, public = {"sex": ["F", "M", "M"], "age": [31, 40, 52]}, {"sex": ["F", "M"], "age": (18, 100)}
    >>> made = local_microdata(clinic, public, epsilon=2)
    >>> made.loss, made.losses["sex"]
    (Pure(epsilon=2.0), Pure(epsilon=1.0))
    """
    held = read_table(table)
    names = held.chosen(options, "options")
    each = positive(epsilon, "epsilon") / len(names)
    columns, losses = {}, {}
    for name in names:
        cells, measure = held.column(name), _randomiser(options[name], name, len(held), each)
        value = measure(list(cells), entropy=entropy).value
        columns[name] = read_table({name: value}).columns[name]
        losses[name] = measure.map(1)
    return LocalTable(columns, losses, composed(list(losses.values())))


def _randomiser(public: list[Cell] | tuple[Number, Number], name: str, rows: int, epsilon: Fraction) -> Measurement:
    if isinstance(public, list):
        return vector(public, size=rows, metric=Hamming()) >> randomized_response(epsilon=epsilon)
    if not isinstance(public, tuple) or len(public) != 2:
        raise BadArgument(f"the options of {name!r}", "a list of values, or a pair of bounds", public)
    kind = int if all(isinstance(bound, int) for bound in public) else float
    return vector(kind, between=public, size=rows, metric=Hamming()) >> local_laplace(epsilon=epsilon)


def local_linkage(table: Given, options: Options, *, epsilon: Number, entropy: Entropy | None = None) -> Attack:
    """Links people to a table of their own randomised cells: each, for themselves, to the likeliest row.

    The attacker knows every cell of every target. Where columns share ε evenly, a cell that agrees makes a row e^ε₁
    times as likely as one that does not, with ε₁ the share of one column, and a number that is off by d makes it
    e^(ε₁ d / width) times less likely; so the weight of a row is the number of cells that agree, less what numbers are
    off by in widths of their bounds. Of equally likely rows one is drawn.
    """
    held, source = read_table(table), entropy or system()
    released = local_microdata(held, options, epsilon=epsilon, entropy=source)
    loss, names = up(released.epsilon), tuple(released.columns)
    columns = [_coded(held.column(name), released.columns[name], options[name]) for name in names]
    matches = tuple(Match(target, _likeliest(columns, target), ()) for target in range(len(held)))
    drawn = [match.rows[source.below(len(match.rows))] for match in matches]
    return Attack(
        name="record linkage",
        violation=Violation.REIDENTIFICATION,
        against=f"local, ε = {loss:.6g}",
        success=Success(sum(row == match.name for row, match in zip(drawn, matches, strict=True)), len(held)),
        baseline=1 / len(held),
        epsilon=loss,
        found=Links(names, matches, None),
    )


@final
@dataclass(frozen=True, eq=False)
class _Column:
    """A column as it is known and as it was released, in numbers; ``width`` is that of its bounds, 0 for a list."""

    known: NDArray[np.float64]
    released: NDArray[np.float64]
    width: float


def _coded(known: Sequence[Cell], released: Sequence[Cell], public: list[Cell] | tuple[Number, Number]) -> _Column:
    if isinstance(public, list):
        codes = Rows({"cells": (*known, *released)}).codes("cells").astype(np.float64)
        return _Column(codes[: len(known)], codes[len(known) :], 0.0)
    low, high = (rational(bound, "a bound") for bound in public)
    return _Column(floats(known, "known"), floats(released, "released"), float(high - low))


def _likeliest(columns: Sequence[_Column], target: int) -> tuple[int, ...]:
    """The rows that are most likely to be a target's."""
    weights = np.zeros(len(columns[0].released))
    for column in columns:
        off = np.abs(column.released - column.known[target])
        weights += -off / column.width if column.width else off == 0
    return tuple(np.flatnonzero(weights == weights.max()).tolist())


@final
@dataclass(frozen=True)
class LocalCost:
    """What a table of yes-or-no columns is worth when its cells share one ε.

    ``truth`` is the chance that a cell is true, ``whole_row`` that all cells of a row are; the errors are standard
    deviations of a count of people: from the table, and where a curator adds noise to one count for each column.
    """

    columns: int
    each: float
    truth: float
    whole_row: float
    local_error: float
    central_error: float


@final
@dataclass(frozen=True)
class LocalCosts(Displayed):
    """How the cost of a table of randomised cells grows with the number of its columns."""

    epsilon: float
    people: int
    costs: tuple[LocalCost, ...]

    def document(self) -> Document:
        """The report, for any form, and what to do instead."""
        rows = tuple(
            (
                str(cost.columns),
                f"{cost.each:.3g}",
                f"{cost.truth:.3f}",
                f"{cost.whole_row:.3g}",
                f"{cost.local_error:.3g}",
                f"{cost.central_error:.3g}",
            )
            for cost in self.costs
        )
        head = ("columns", "ε each", "cell true", "row true", "error of a count", "central")
        return Document(
            title="local microdata",
            headline=f"a table of randomised cells: {self.people} people, ε = {self.epsilon:.6g} in all",
            warnings=(ADVICE,),
            tables=(Table(rows, head, right=frozenset(range(6))),),
        )


def local_costs(columns: Iterable[int], *, epsilon: Number, people: int) -> LocalCosts:
    """Computes what a table of randomised yes-or-no cells is worth, for several numbers of columns that share ε.

    >>> [round(one.local_error) for one in local_costs([1, 4, 16], epsilon=1, people=10_000).costs]
    [96, 399, 1600]
    """
    loss, size = positive(epsilon, "epsilon"), integer(people, "people", least=1)
    counts: Sequence[int] = [integer(count, "a number of columns", least=1) for count in columns]
    costs = []
    for count in counts:
        truth = truth_probability(loss / count)
        local = size * float(response_variance(truth, size=size)) ** 0.5
        costs.append(LocalCost(count, float(loss / count), truth, truth**count, local, 2**0.5 * float(count / loss)))
    return LocalCosts(float(loss), size, tuple(costs))
