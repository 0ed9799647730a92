"""Bounds that err least: narrow ones cut values away, wide ones take more noise; from public or bought facts alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.codebook.book import Codebook
from sfumato.codebook.tables import Table as DeclaredTable
from sfumato.core.atoms import Bounds
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.planning.desk import Book, Desk
from sfumato.planning.record import amount_words
from sfumato.planning.wishes import Wanted, wanted
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.templates.template import quoted

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

Facts: TypeAlias = "Sequence[float] | NDArray[Any] | Mapping[float, float] | Release"
"""Public values, shares of the rows by value, or a histogram that was paid for."""

TAILS = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2)
"""The shares of values beyond each bound that are tried."""

STEPS = 6
"""So many upper bounds are tried besides, evenly spaced."""

MOST_ROWS = 64
"""So many rows of a person are tried as a bound, at most."""


@final
@dataclass(frozen=True)
class Candidate:
    """Bounds to try: what cutting values away adds to the error at most, and what noise adds, at 95 % confidence.

    What is cut at the two ends is added up, not set off: that they cancel would rest on the facts alone.
    """

    bounds: tuple[Fraction, Fraction]
    bias: float
    noise: float

    @property
    def error(self) -> float:
        """Both together."""
        return self.bias + self.noise


@final
@dataclass(frozen=True, eq=False, repr=False)
class BoundsAdvice(Displayed):
    """Candidate bounds for one column, or for the rows of a person, with their errors; the ``best`` has the least.

    ``source`` is where the facts are from; what comes out of them may be published as they may.
    """

    of: str
    statistic: str
    source: str
    loss: Loss
    rows: int
    candidates: tuple[Candidate, ...]
    contributions: bool = False

    @property
    def best(self) -> Candidate:
        """The candidate with the least error."""
        return min(self.candidates, key=lambda one: one.error)

    def document(self) -> Document:
        """All candidates with their errors, the best one named first."""
        rows = tuple(
            (
                f"{self._named(one)}{' ← least' * (one is self.best)}",
                amount_words(one.bias),
                f"± {amount_words(one.noise)}",
                f"± {amount_words(one.error)}",
            )
            for one in self.candidates
        )
        told = (
            ("statistic", self.statistic),
            ("at", f"{self.loss}, about {self.rows:,} rows"),
            ("known from", self.source),
            ("mind", "write what is chosen into the codebook with this source: bounds are never read off private data"),
        )
        head = ("bounds" if not self.contributions else "to keep of each", "cut away", "noise", "together")
        return Document(
            "Bounds that err least",
            f"{self.of}: {self._named(self.best)}",
            f"± {amount_words(self.best.error)}",
            tables=(Table(rows, head, right=frozenset({1, 2, 3})), Table(told)),
        )

    def _named(self, one: Candidate) -> str:
        low, high = one.bounds
        return f"{high}" if self.contributions else f"{amount_words(float(low))} to {amount_words(float(high))}"

    def chart(self) -> Chart:
        """Draws what is cut away and what noise adds, over the candidates."""
        from sfumato.charts.planning import bias_and_noise

        lows = {one.bounds[0] for one in self.candidates}
        shown = [one for one in self.candidates if len(lows) == 1 or one.bounds[0] == self.best.bounds[0]]
        return bias_and_noise(
            [(float(one.bounds[1]), one.bias, one.noise) for one in shown],
            float(self.best.bounds[1]),
            across_title="what is kept of each" if self.contributions else f"upper bound of {self.of}",
            title=f"Bounds that err least: {self.of}",
        )


def bounds_advice(
    codebook: Book,
    column: str,
    facts: Facts,
    *,
    source: str = "",
    rows: int,
    statistic: Literal["mean", "sum"] = "mean",
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    max_rows: int | None = None,
    between: Sequence[tuple[Number, Number]] = (),
) -> BoundsAdvice:
    """Finds bounds of a column with which a mean or a sum errs least, at a loss and about so many rows.

    Takes:      ``column``, as in "visits.minutes", or "minutes" where there is one table; ``facts`` on how its values
                are spread: public values (of other years, other places), shares by value ({30: 0.2, 60: 0.8}), or a
                release with a HISTOGRAM of it, which was paid for; ``source``, where public facts are from;
                ``between``, bounds to try, which are picked from the facts where none are named
    Gives:      a `BoundsAdvice`, which prints itself

    What is cut away is counted on the facts; the noise is that of the query itself, planned with each bounds in turn.

    >>> from sfumato.datasets import visits
    >>> shares = {5: 0.3, 20: 0.4, 60: 0.28, 240: 0.02}
    >>> advice = bounds_advice(
    ...     visits().codebook, "minutes", shares, source="last year's report", rows=2000, epsilon="0.1", max_rows=5
    ... )
    >>> [float(end) for end in advice.best.bounds]
    [5.0, 60.0]
    """
    book = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    table, _, name = column.rpartition(".")
    declared = book.table(table or None)
    described = declared[name]
    if described.type not in ("int", "float"):
        raise BadArgument("column", "one of numbers", column)
    values, shares, said = read_facts(facts, source, name)
    price, many = needed_loss(loss, epsilon, delta), integer(rows, "rows", least=1)
    if statistic not in ("mean", "sum"):
        raise BadArgument("statistic", "'mean' or 'sum'", statistic)
    tried = [(rational(low), rational(high)) for low, high in between] or list(
        _ends(values, shares, described.between, whole=described.type == "int")
    )
    function = "AVG" if statistic == "mean" else "SUM"
    question = f"SELECT {function}({quoted(name)}) AS it FROM {quoted(declared.name)}"
    candidates = []
    for low, high in tried:
        desk = Desk.open(with_bounds(book, declared.name, name, (low, high), said), rows=many)
        offer = desk.candidate(wanted(question, max_rows=max_rows, size=many)).at(price)
        noise = offer.numbers[0].half_width
        cut = float((np.abs(np.clip(values, float(low), float(high)) - values) * shares).sum())
        bias = cut if statistic == "mean" else many * cut
        candidates.append(Candidate((low, high), bias, math.inf if noise is None else float(noise)))
    return BoundsAdvice(name, f"{statistic} of {name}", said, price, many, tuple(candidates))


def rows_advice(
    codebook: Book,
    facts: Facts,
    *,
    source: str = "",
    people: int,
    table: str | None = None,
    by: str | None = None,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
) -> BoundsAdvice:
    """Finds how many rows of a person to keep so that a count of rows errs least, or in how many groups to keep them.

    ``facts`` say how many rows people have: public numbers, or shares by number ({1: 0.6, 5: 0.4}). Rows beyond the
    bound are cut away, which makes the count too small; the noise grows with the bound. With ``by``, a column whose
    values are public, facts and bounds are about in how many of its groups a person is, and the count is of people in
    one group.

    >>> from sfumato.datasets import visits
    >>> rows = {1: 0.5, 3: 0.4, 30: 0.1}
    >>> book, source = visits().codebook, "the gates of another town"
    >>> [rows_advice(book, rows, source=source, people=1000, epsilon=one).best.bounds[1] for one in ("0.1", "0.01")]
    [Fraction(30, 1), Fraction(3, 1)]
    """
    desk = Desk.open(codebook)
    values, shares, said = read_facts(facts, source, "rows of a person")
    price, heads = needed_loss(loss, epsilon, delta), integer(people, "people", least=1)
    private = [one.name for one in desk.book.tables if not one.public]
    declared = desk.book.table(private[0] if table is None and len(private) == 1 else table)
    if not declared.id:
        raise BadArgument("table", "one with ids: elsewhere each row is somebody by itself", declared.name)
    whole, candidates = int(heads * float((values * shares).sum())), list[Candidate]()
    for most in sorted({max(1, math.ceil(float(value))) for value in _quantiles(values, shares)})[:MOST_ROWS]:
        asked, groups = _counted(desk, declared, by, most)
        noise = desk.candidate(replace(asked, size=max(1, whole // groups))).at(price).numbers[0].half_width
        lost = heads * float((np.maximum(values - most, 0) * shares).sum()) / groups
        candidates.append(Candidate((Fraction(0), Fraction(most)), lost, math.inf if noise is None else float(noise)))
    what = f"count of rows of {declared.name}" if by is None else f"count of people by {by}"
    return BoundsAdvice(desk.book.protects, what, said, price, whole, tuple(candidates), contributions=True)


def _counted(desk: Desk, declared: DeclaredTable, by: str | None, most: int) -> tuple[Wanted, int]:
    """A count with a bound on the rows of a person, or on their groups; and how many groups there are."""
    if by is None:
        return wanted(f"SELECT COUNT(*) AS it FROM {quoted(declared.name)}", max_rows=most), 1
    question = f"SELECT {quoted(by)}, COUNT(*) AS it FROM {quoted(declared.name)} GROUP BY {quoted(by)}"
    asked = wanted(question, max_groups=most, max_rows_per_group=1)
    listed = desk.candidate(asked).parts[0][1].levels[0].listed
    if listed is None:
        raise BadArgument("by", "a column whose values are public: categories, or days between bounds", by)
    return asked, len(listed)


def read_facts(facts: Facts, source: str, of: str) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Reads how values are spread, with their shares, and where that is known from; refuses what is private."""
    if isinstance(facts, Release):
        return (*_bars(facts, of), f"a release of {facts.data or 'the data'}, which was paid for: {facts.loss}")
    if not isinstance(source, str) or not source.strip():
        must = "given: where these facts are from, such as 'the report of 2024'; what is private must be paid for"
        raise BadArgument("source", must, source)
    if isinstance(facts, Mapping):
        pairs = sorted((float(rational(value)), float(rational(share))) for value, share in facts.items())
        values, shares = (
            (np.array(part, dtype=np.float64) for part in zip(*pairs, strict=True)) if pairs else (_NONE, _NONE)
        )
    elif isinstance(facts, list | tuple | np.ndarray):
        values = np.sort(np.asarray(facts, dtype=np.float64).ravel())
        shares = np.ones(len(values))
    else:
        must = "public values, shares by value, or a release with a HISTOGRAM; nothing private is looked at unpaid"
        raise BadArgument("facts", must, type(facts).__name__)
    good = len(values) and np.isfinite(values).all() and np.isfinite(shares).all() and (shares >= 0).all()
    if not good or not shares.sum():
        raise BadArgument("facts", "finite numbers, one or more, with shares of at least 0", of)
    return values, shares / shares.sum(), source.strip()


_NONE: NDArray[np.float64] = np.zeros(0)


def _bars(release: Release, of: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reads the bars of a released histogram: each as so many values spread over it; noise below 0 counts as none."""
    answer = release.value
    bars = [one for one in answer.columns if one.bin is not None] if isinstance(answer, Answer) else []
    if not bars:
        raise BadArgument("facts", f"a release with a HISTOGRAM of {of}", release.how.asked)
    values, shares = [], []
    for column in bars:
        if column.bin is not None:
            count = max(0.0, float(sum(cell for cell in column.values.tolist() if cell is not None)))
            ends = np.linspace(column.bin.low, column.bin.high, 11)
            values += ((ends[1:] + ends[:-1]) / 2).tolist()
            shares += [count / 10] * 10
    whole = np.array(shares)
    if not whole.sum():
        raise BadArgument("facts", "a histogram with rows in it, by more than noise", "none")
    return np.array(values), whole / whole.sum()


def _quantiles(values: NDArray[np.float64], shares: NDArray[np.float64]) -> Iterator[float]:
    """The values beyond which each of the tails lies, the greatest first."""
    reached = np.cumsum(shares)
    for tail in (*TAILS, 0.3, 0.5):
        yield float(values[min(int(np.searchsorted(reached, 1 - tail - 1e-12)), len(values) - 1)])


def _ends(
    values: NDArray[np.float64], shares: NDArray[np.float64], stated: object, *, whole: bool
) -> Iterator[tuple[Fraction, Fraction]]:
    """Candidates for both bounds: what the codebook states, and quantiles of the facts."""
    highs = sorted({_round(one, up=True, whole=whole) for one in _quantiles(values, shares)})
    mirrored = _quantiles(-values[::-1], shares[::-1])
    lows = sorted({_round(-one, up=False, whole=whole) for one in mirrored})[:3]
    if isinstance(stated, Bounds):
        lows, highs = sorted({*lows, Fraction(stated.lower)}), sorted({*highs, Fraction(stated.upper)})
    between = np.linspace(float(highs[0]), float(highs[-1]), STEPS)
    highs = sorted({*highs, *(_round(one, up=True, whole=whole) for one in between[1:-1].tolist())})
    for low in lows:
        yield from ((low, high) for high in highs if low < high)


def _round(value: float, *, up: bool, whole: bool) -> Fraction:
    """A bound that people would write: a whole number, or three digits, on the outer side."""
    step = 1.0 if whole or abs(value) >= 100 else 10.0 ** (math.floor(math.log10(abs(value))) - 2) if value else 1.0
    count = value / step
    return Fraction(str(round((math.ceil(count - 1e-9) if up else math.floor(count + 1e-9)) * step, 12)))


def with_bounds(book: Codebook, table: str, column: str, ends: tuple[Fraction, Fraction], source: str) -> Codebook:
    """A codebook with other bounds of one column, to plan with."""
    if ends[0] >= ends[1]:
        raise BadArgument("between", "pairs, the lower bound first", [float(end) for end in ends])
    declared = book.table(table)
    columns = tuple(
        replace(one, between=Bounds(*ends), source=one.source or source) if one.name == column else one
        for one in declared.columns
    )
    tables = tuple(replace(one, columns=columns) if one.name == table else one for one in book.tables)
    return replace(book, tables=tables)
