"""What an audit finds: each claim beside what was measured, the pair that shows it, and what it took."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from sfumato.charts.canvas import Chart
from sfumato.errors import BadArgument, PromiseBroken
from sfumato.exact import Extended
from sfumato.release.render import rendered
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import clean

NEAR = Fraction(1, 10**6)
"""A claim that is larger than the truth by no more than this share of it is tight."""


ROUNDING = Fraction(1, 1 << 100)
"""A bound from above by less than this is 0 but for the rounding of the arithmetic that found it."""


class Verdict(StrEnum):
    """What an audit says of a claim."""

    TIGHT = "tight"
    SOUND = "sound"
    OPEN = "open"
    VIOLATED = "violated"

    @property
    def meaning(self) -> str:
        """What the verdict says of a claim, in a sentence."""
        return {
            Verdict.TIGHT: "the claim is reached, and nothing smaller would hold",
            Verdict.SOUND: "the claim holds on all that was looked at",
            Verdict.OPEN: "nothing found speaks against the claim, and nothing proves it",
            Verdict.VIOLATED: "the claim is broken: the witness shows how",
        }[self]


@final
@dataclass(frozen=True)
class Line:
    """One number of a claim beside what was measured: the truth lies between ``low`` and ``high``.

    ``high`` is None where the measurement is a lower bound only, ``claimed`` where nothing was claimed.
    """

    what: str
    claimed: Extended | None
    low: Extended
    high: Extended | None = None

    @property
    def verdict(self) -> Verdict:
        if self.claimed is None:
            return Verdict.OPEN
        if self.low > self.claimed:
            return Verdict.VIOLATED
        if self.high is None or self.high > self.claimed:
            # That 0 is reached from below says nothing, unless from above it is as near as arithmetic comes.
            meaningful = self.low > 0 or (self.high is not None and self.high < ROUNDING)
            return Verdict.TIGHT if self._reached and meaningful else Verdict.OPEN
        return Verdict.TIGHT if self._reached else Verdict.SOUND

    @property
    def _reached(self) -> bool:
        if self.claimed is None:
            return False
        if math.inf in (self.claimed, self.low):
            return self.claimed == self.low
        return Fraction(self.claimed) - Fraction(self.low) <= NEAR * Fraction(self.claimed)


@final
@dataclass(frozen=True)
class Witness:
    """A pair of neighbours, and where they can be told apart best: for the curator's eyes, so `repr` hides it."""

    left: Any = field(repr=False)
    right: Any = field(repr=False)
    event: str = field(default="", repr=False)


@final
@dataclass(frozen=True)
class Curve:
    """What was claimed and what was measured at several places: δ by ε, misses by false alarms, and so on."""

    across: str
    upward: str
    claimed: tuple[tuple[float, float], ...]
    measured: tuple[tuple[float, float], ...]


@final
@dataclass(frozen=True)
class Audit:
    """The outcome of an audit: the lines of the claim, a verdict on all of them, the worst pair, and the facts.

    What is in a witness may be private data; it is shown where it is asked for, and stands in no report unless the
    report is made with it.
    """

    subject: str
    method: str
    lines: tuple[Line, ...]
    witness: Witness | None = None
    curves: tuple[Curve, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst that is said of any line; a fault breaks every promise."""
        if self.faults:
            return Verdict.VIOLATED
        order = (Verdict.VIOLATED, Verdict.OPEN, Verdict.SOUND, Verdict.TIGHT)
        said = {line.verdict for line in self.lines if line.claimed is not None}
        return next((verdict for verdict in order if verdict in said), Verdict.OPEN)

    def line(self, what: str) -> Line:
        """Looks a line up by its name."""
        for line in self.lines:
            if line.what == what:
                return line
        raise BadArgument("a line of this audit", "one of " + ", ".join(line.what for line in self.lines), what)

    def check(self) -> Audit:
        """Raises `PromiseBroken` where a claim is violated, and returns the audit otherwise."""
        if self.verdict is Verdict.VIOLATED:
            raise PromiseBroken(self.subject, "; ".join(self._breaches()))
        return self

    def _breaches(self) -> list[str]:
        broken = [line for line in self.lines if line.verdict is Verdict.VIOLATED]
        return [
            *self.faults,
            *(f"{line.what} is at least {in_words(line.low)}, claimed {in_words(line.claimed)}" for line in broken),
        ]

    def chart(self, *, place: int = 0) -> Chart:
        """Draws what was claimed beside what was measured: one of the curves, or the lines where there is none."""
        from sfumato.charts.audits import claimed_and_measured, measured_lines

        if self.curves:
            curve = self.curves[place]
            title = f"{curve.upward} by {curve.across}: {self.subject}"
            return claimed_and_measured(
                curve.claimed, curve.measured, across_title=curve.across, upward_title=curve.upward, title=title
            )
        return measured_lines(
            [(line.what, line.claimed, line.low, line.high) for line in self.lines], title=self._title
        )

    @property
    def _title(self) -> str:
        return f"{self.subject}: {self.verdict}"

    def __str__(self) -> str:
        return rendered(self.document(), "text")

    def to_html(self, *, witness: bool = False) -> str:
        """Writes it as a fragment of HTML; with the witness only where that is asked for."""
        return rendered(self.document(witness=witness), "html")

    def to_markdown(self, *, witness: bool = False) -> str:
        return rendered(self.document(witness=witness), "markdown")

    def _repr_html_(self) -> str:
        return self.to_html()

    def save(self, path: str | Path, *, witness: bool = False) -> Path:
        """Writes a page of HTML with charts, that needs nothing else; returns its path."""
        from sfumato.audit.report import save_report

        return save_report((self,), path, witness=witness)

    def document(self, *, witness: bool = False) -> Document:
        """The report, for any form; with the witness only where that is asked for."""
        rows = tuple(
            (line.what, in_words(line.claimed), measured_text(line), "" if line.claimed is None else str(line.verdict))
            for line in self.lines
        )
        tables = [Table(rows, ("", "claimed", "measured", "verdict"), title=self.method)]
        if witness and self.witness is not None:
            pair = (("one", clean(repr(self.witness.left))), ("other", clean(repr(self.witness.right))))
            tables.append(Table((*pair, ("told apart by", self.witness.event)), title="Witness"))
        if self.facts:
            tables.append(Table(self.facts, title="How"))
        return Document(
            title=self._title,
            headline=self._title,
            aside=f"({self.verdict.meaning})",
            warnings=tuple(self._breaches()) if self.verdict is Verdict.VIOLATED else (),
            tables=tuple(tables),
        )


def in_words(number: Extended | None) -> str:
    """Writes a number of an audit."""
    if number is None:
        return "—"
    if number == math.inf:
        return "∞"
    try:
        return f"{float(number):.6g}"
    except OverflowError:
        return f"{Decimal(int(number)):.5e}"


def measured_text(line: Line) -> str:
    """Writes what was measured: a number, an interval, or a bound from below."""
    if line.high is None:
        return f"≥ {in_words(line.low)}"
    low, high = in_words(line.low), in_words(line.high)
    if low == high:
        return low
    return f"≤ {high}" if line.low == 0 else f"{low} … {high}"


def worst(audits: Iterable[Audit]) -> Verdict:
    """The worst verdict of several audits; `Verdict.OPEN` where there are none."""
    order = (Verdict.VIOLATED, Verdict.OPEN, Verdict.SOUND, Verdict.TIGHT)
    said = {audit.verdict for audit in audits}
    return next((verdict for verdict in order if verdict in said), Verdict.OPEN)
