"""The release table: eight facts that anyone who publishes private statistics should state, read off what ran.

ε and δ are converted from losses and never typed. Several tables stand side by side, to be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, final

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, digits_up
from sfumato.guarantee import guarantee
from sfumato.release.answer import Answer
from sfumato.release.record import Cutting, How, Release
from sfumato.release.render import rendered
from sfumato.release.render.answers import errors_of
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import headline
from sfumato.release.render.words import clean, never_below, percent

FIELDS = (
    "Project Scope",
    "Preprocessing methods",
    "ε",
    "δ",
    "Unit of privacy",
    "Mechanism",
    "Implementation",
    "URL",
)
"""What a release table states, all of it: "None" and 0.0 are answers, and a blank is none."""

STEP_FIELDS = ("release", "step", "what", "loss", "error")
"""What the longer table states about each step on the way."""


@final
@dataclass(frozen=True)
class Step:
    """One step on the way to a release; a step that is no mechanism has no loss of its own."""

    release: int
    kind: str
    what: str
    loss: str = ""
    error: str = ""


@final
@dataclass(frozen=True)
class Row:
    """The statement of one project about its releases; the loss is their total, as (ε, δ).

    ``native`` is the total as it was composed, ``period`` the time for which the guarantee holds, and ``adjacency``
    what counts as a change of one unit. ``asked`` is the question of each release, empty where it has none in words.
    """

    scope: str
    preprocessing: str
    loss: Approx
    unit: str
    mechanism: str
    implementation: str
    url: str
    native: Loss
    period: str = ""
    adjacency: str = ""
    steps: tuple[Step, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def epsilon(self) -> Extended:
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        return self.loss.delta

    @property
    def cells(self) -> tuple[str, ...]:
        """The eight facts as texts, in the order of `FIELDS`; ε and δ are rounded up."""
        numbers = (digits_up(self.epsilon), digits_up(self.delta) if self.delta else "0.0")
        return (self.scope, self.preprocessing, *numbers, self.unit, self.mechanism, self.implementation, self.url)


@final
@dataclass(frozen=True)
class ReleaseTable:
    """The release table of one project, or of several side by side.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.release.record import How
    >>> count = Release(812, Pure(0.2), "one device", How("laplace", (("scale", "5"),)), half_width=15)
    >>> print(count.table(scope="Broadband use by zip code").to_text())
    DP release table
    <BLANKLINE>
      Name                   Value
      ─────────────────────  ─────────────────────────
      Project Scope          Broadband use by zip code
      Preprocessing methods  None
      ε                      0.2
      δ                      0.0
      Unit of privacy        one device
      Mechanism              laplace
      Implementation         sfumato ...
      URL                    None
    <BLANKLINE>
    """

    rows: tuple[Row, ...]

    @classmethod
    def of(
        cls,
        releases: Sequence[Release],
        *,
        scope: str,
        url: str,
        total: Loss | None = None,
        delta: Number | None = None,
        unit: str | None = None,
        period: str = "",
    ) -> ReleaseTable:
        """Makes the table of the releases of one project, which are about the same data.

        ``total`` is what they cost together, as a ledger knows it; left out, their losses are composed. A total that is
        no (ε, δ), such as ρ, needs the δ at which to state its ε. A total below the loss of one of them is refused.
        """
        published = tuple(releases)
        if not published or not all(isinstance(release, Release) for release in published):
            raise BadArgument("releases", "one or more releases", releases)
        protected = one_unit(published, stated=unit, total=total)
        native = composed([release.loss for release in published]) if total is None else _total(total, published)
        stated = _as_approx(native, delta)
        native_words = "" if isinstance(native, Pure | Approx) else f" ({native})"
        row = Row(
            scope=_check_text(scope, "scope"),
            preprocessing=_each(_before(release.how) for release in published),
            loss=stated,
            unit=protected,
            mechanism=_each(part for release in published for part in release.how.mechanism.split("; ")) + native_words,
            implementation=_each(release.version for release in published),
            url=_check_text(url, "url"),
            native=native,
            period=_check_text(period, "period", blank=True),
            adjacency="; ".join(dict.fromkeys(release.adjacency for release in published if release.adjacency)),
            steps=tuple(step for place, release in enumerate(published, start=1) for step in _steps(place, release)),
            asked=tuple(release.how.asked for release in published),
        )
        return cls((row,))

    def beside(self, *others: ReleaseTable) -> ReleaseTable:
        """Puts tables side by side, so that projects can be compared fact by fact."""
        return ReleaseTable(sum((table.rows for table in others), self.rows))

    def document(self, *, steps: bool = False) -> Document:
        """The table for any form; with ``steps``, one more row for each step on the way."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        facts = [(name, *cells) for name, cells in zip(FIELDS, columns, strict=True)]
        head = ("Name", *(["Value"] if len(self.rows) == 1 else [str(place + 1) for place in range(len(self.rows))]))
        tables = [Table(tuple(facts), head=head), *(_question_table(row) for row in self.rows if any(row.asked))]
        if steps:
            tables += [Table(_step_rows(row), head=STEP_FIELDS, title=f"Steps: {row.scope}") for row in self.rows]
        return Document(
            "DP release table", tables=tuple(tables), record=lambda: [_record(row, steps=steps) for row in self.rows]
        )

    def to_text(self, *, steps: bool = False) -> str:
        return rendered(self.document(steps=steps), "text")

    def to_html(self, *, steps: bool = False) -> str:
        """Writes a fragment of HTML, without scripts."""
        return rendered(self.document(steps=steps), "html")

    def to_markdown(self, *, steps: bool = False) -> str:
        return rendered(self.document(steps=steps), "markdown")

    def to_latex(self, *, steps: bool = False) -> str:
        """Writes LaTeX; it needs the package booktabs."""
        return rendered(self.document(steps=steps), "latex")

    def to_json(self, *, steps: bool = False) -> str:
        """Writes a list of flat JSON objects, one for each project."""
        return rendered(self.document(steps=steps), "json")

    def to_csv(self, *, steps: bool = False) -> str:
        """Writes comma-separated values that a spreadsheet opens without running anything."""
        return rendered(self.document(steps=steps), "csv")

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()


@guarantee(
    claim="the composition of the losses, one after another; pure ones count as approximate ones where both occur",
    proof="proofs/losses.md#several",
    reviewed="eaae2b3668e7",
)
def composed(losses: Sequence[Loss]) -> Loss:
    """Composes the losses of several releases about the same data."""
    kinds = {type(loss) for loss in losses}
    alike = [convert(loss, Approx) for loss in losses] if kinds == {Pure, Approx} else losses
    return reduce(lambda first, second: first.then(second), alike)


def _as_approx(loss: Loss, delta: Number | None) -> Approx:
    """States a loss as (ε, δ), at ``delta`` where it has an ε for each δ."""
    try:
        return convert(loss, Approx, delta=delta)
    except NoProvenRoute:
        if delta is not None:
            raise
        must = f"stated, since {loss} gives one ε for each δ: write delta=1e-6, say"
        raise BadArgument("the delta of a release table", must, delta) from None


def one_unit(releases: Sequence[Release], *, stated: str | None, total: Loss | None) -> str:
    """Who is protected, which must be the same for all, for losses of different units do not add up."""
    units = list(dict.fromkeys(release.unit for release in releases))
    adjacencies = list(dict.fromkeys(release.adjacency for release in releases))
    if (len(units) > 1 or len(adjacencies) > 1) and (stated is None or total is None):
        raise BadArgument(
            "the releases of one table",
            "about one unit of privacy and one adjacency, since losses for different ones do not add up; make one "
            "table for each, or state the total and the unit that it holds for: total=…, unit=…",
            units if len(units) > 1 else adjacencies,
        )
    if stated is not None and total is None and stated != units[0]:
        must = f"that of the releases, {units[0]!r}, unless the total for it is stated too: total=…"
        raise BadArgument("unit", must, stated)
    return _check_text(units[0] if stated is None else stated, "unit")


def exceeds(loss: Loss, total: Loss) -> bool:
    """Tells whether a total is certainly less than one of its parts; not said of two kinds of loss, nor of PLDs."""
    return type(loss) is type(total) and not isinstance(loss, PLD) and not loss.within(total)


def _total(total: Loss, releases: Sequence[Release]) -> Loss:
    if not isinstance(total, Loss):
        raise BadArgument("total", "a loss, such as sf.Approx(1, 1e-6)", total)
    for place, release in enumerate(releases, start=1):
        if exceeds(release.loss, total):
            raise BadArgument("total", f"no less than the loss of release {place}, {release.loss}", str(total))
    return total


def _check_text(text: str, name: str, *, blank: bool = False) -> str:
    if not isinstance(text, str) or not (blank or text.strip()):
        raise BadArgument(name, "a text" if blank else "a text; write 'None' where there is none", text)
    return text.strip()


def _each(parts: Iterable[str]) -> str:
    """Lists what differs, once each; "None" where there is nothing."""
    return "; ".join(dict.fromkeys(part for part in parts if part)) or "None"


def _before(how: How) -> str:
    """Says what was done before the noise; which rows were asked about is said by the question."""
    cuts = (str(cut) for cut in how.cuts if cut.cutting is not Cutting.ROWS)
    return " → ".join((*cuts, *how.steps))


def _question_table(row: Row) -> Table:
    rows = tuple((str(place), said) for place, said in enumerate(row.asked, start=1) if said)
    return Table(
        rows,
        head=("release", "asked"),
        title="What was asked" if row.scope == "None" else f"What was asked: {row.scope}",
    )


def _steps(place: int, release: Release) -> list[Step]:
    how = release.how
    parameters = ", ".join(f"{name} {value}" for name, value in how.parameters)
    mechanism = Step(
        place,
        "mechanism",
        f"{how.mechanism} ({parameters})" if parameters else how.mechanism,
        str(release.loss),
        _error(release),
    )
    before = [Step(place, "asked", how.asked)] if how.asked else []
    before += [Step(place, "cut", str(cut)) for cut in how.cuts]
    before += [Step(place, "preprocessing", step) for step in how.steps]
    return [*before, mechanism, *(Step(place, "post-processing", step) for step in how.postprocessing)]


def _error(release: Release) -> str:
    if isinstance(release.value, Answer):
        said = errors_of(release.value)
        return "; ".join(filter(None, (said, release.how.uncovered))) if said else said
    if release.half_width is None:
        return ""
    return f"± {headline(release).rpartition(' ± ')[2]} at {percent(release.confidence)}"


def _step_rows(row: Row) -> tuple[tuple[str, ...], ...]:
    rows = [(str(step.release), step.kind, step.what, step.loss, step.error) for step in row.steps]
    stated = [("", name, said, "", "") for name, said in (("adjacency", row.adjacency), ("period", row.period)) if said]
    return (*rows, ("", "total", "", str(row.native), ""), *stated)


def _record(row: Row, *, steps: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {name: clean(cell) for name, cell in zip(FIELDS, row.cells, strict=True)}
    facts |= {"ε": never_below(row.epsilon), "δ": never_below(row.delta)}
    if any(row.asked):
        facts["asked"] = [clean(said) for said in row.asked]
    if steps:
        named = [dict(zip(STEP_FIELDS, map(clean, cells), strict=True)) for cells in _step_rows(row)]
        facts |= {"total": str(row.native), "period": clean(row.period), "steps": named}
    return facts
