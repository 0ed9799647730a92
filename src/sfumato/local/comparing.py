"""Which protocol wins where: the error of every candidate against the number of values, or against the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, final

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import Candidate, candidates
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

Read = TypeVar("Read")

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024)
"""Numbers of values to compare, unless others are named."""


@final
@dataclass(frozen=True)
class Compared:
    """All candidates for one number of values and one loss, best first."""

    size: int
    loss: Pure
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The one that `frequencies` takes."""
        return self.candidates[0]


@final
@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """The errors of all protocols in several situations: a table when printed, lines when drawn."""

    users: int
    rows: tuple[Compared, ...]

    @property
    def by_loss(self) -> bool:
        """Whether the situations differ in the loss; else they differ in the number of values."""
        return len({row.size for row in self.rows}) == 1 and len(self.rows) > 1

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """For each protocol its error, a share of people, at each number of values or at each ε."""
        found: dict[str, list[tuple[float, float]]] = {}
        for row in self.rows:
            at = float(row.loss.epsilon) if self.by_loss else float(row.size)
            for one in row.candidates:
                found.setdefault(one.name, []).append((at, one.error))
        return found

    def document(self) -> Document:
        """A row for each situation: the best protocol, its error and message, and the next best."""
        rows = tuple(self._told(row) for row in self.rows)
        head = ("values", "ε", "best", "error", "bytes", "next best", "error")
        told = f"{self.users:,} people; the error of a share, root of the mean square"
        return Document("Comparison", told, tables=(Table(rows, head, right=frozenset({0, 1, 3, 4, 6})),))

    def _told(self, row: Compared) -> tuple[str, ...]:
        best, *others = row.candidates
        after = (others[0].name, f"{others[0].error:.3g}") if others else ("", "")
        start = (f"{row.size:,}", f"{float(row.loss.epsilon):g}", best.name, f"{best.error:.3g}")
        return (*start, f"{best.message_bytes:,}", *after)

    def plot(self, *, title: str = "Which protocol wins where") -> Chart:
        """Draws the error of every protocol, lower is better, against the number of values or against ε."""
        from sfumato.charts.local import labelled_lines

        first = self.rows[0]
        rest = f"{first.size:,} values" if self.by_loss else f"{first.loss} a report"
        return labelled_lines(
            self.lines(),
            across_title="ε of a report" if self.by_loss else "number of values that people may have",
            upward_title="standard error of a share of people",
            title=title,
            said=[f"{self.users:,} people, {rest}; lower is better"],
            ticks=[float(row.loss.epsilon) for row in self.rows] if self.by_loss else None,
            percent=True,
        )


def compare(
    *,
    sizes: int | Sequence[int] = SIZES,
    loss: Pure | Number | Sequence[Pure | Number] | None = None,
    epsilon: Number | Sequence[Number] | None = None,
    users: int,
) -> Comparison:
    """Compares all protocols for several numbers of values at one loss, or at several losses for one number of values.

    >>> print(compare(sizes=[2, 100], loss=1, users=10_000).rows[0].best.name)
    response
    """
    counts = _several(sizes, partial(integer, name="sizes", least=2))
    if epsilon is None:
        losses = _several(loss, lambda each: Pure(read_epsilon(each)))
    else:
        losses = _several(epsilon, lambda each: Pure(read_epsilon(loss, each)))
    if len(counts) > 1 and len(losses) > 1:
        several = f"{len(counts)} sizes, {len(losses)} losses"
        raise BadArgument("sizes and loss", "several of one and a single one of the other", several)
    people = integer(users, "users", least=1)
    rows = (
        Compared(size, each, tuple(candidates(range(size), loss=each, users=people)))
        for size in counts
        for each in losses
    )
    return Comparison(people, tuple(rows))


def _several(given: object, read: Callable[[Any], Read]) -> list[Read]:
    """Reads one or several, the several in order and each once."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = list(dict.fromkeys(read(each) for each in several))
    if not found:
        raise BadArgument("sizes and loss", "at least one of each", 0)
    return found
