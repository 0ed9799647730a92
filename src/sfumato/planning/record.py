"""Plans as records: statistics in the order of spending, what each costs and how exact it will be, and the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Sequence
from sfumato.accounting.losses.concentrated import COMMON_KINDS
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import CostReport, account
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.planning.desk import Foretold
from sfumato.planning.wishes import Parameters, Target
from sfumato.query.build.settings import CONFIDENCE, Settings
from sfumato.release.progress import Progress, reporting
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import percent

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.planning.forms import Forms
    from sfumato.planning.rehearsing import DryRun
    from sfumato.session.session import Session

STEPS_HEAD = ("", "statistic", "price", "error to expect", "wanted", "priority")

GUESSED = "sizes of groups that nobody stated are guessed: state size=… (or rows=… of the table) for better errors"

FOUR = 4
"""So many numbers of a statistic are shown: a histogram has many."""


@final
@dataclass(frozen=True)
class Step:
    """One statistic of a plan: what is asked, what to pay, and the errors to expect.

    ``loss`` is what is stated when it is asked, ``price`` what the ledger is then charged; ``share`` is how much of the
    limit was set aside for it. ``size`` is how many rows a group was taken to have, a guess where it is ``guessed``.
    """

    name: str
    sql: str
    loss: Loss
    price: Loss
    event: Event
    numbers: tuple[Foretold, ...]
    targets: tuple[tuple[str, Target], ...] = ()
    confidence: Fraction = CONFIDENCE
    priority: int = 1
    weight: Fraction = Fraction(1)
    share: Fraction = Fraction(0)
    size: int = 0
    guessed: bool = False
    mechanism: str = ""
    key: str = ""
    parameters: Parameters = ()
    settings: Settings = field(default_factory=Settings)

    def target(self, column: str) -> Target | None:
        """How near a column must come; None where nothing is asked of it."""
        named = dict(self.targets)
        return named.get(column, named.get(""))

    @property
    def worst(self) -> Foretold | None:
        """The number with the largest error beside what it is measured by."""
        known = [one for one in self.numbers if one.half_width is not None]
        return max(known, key=lambda one: one.share or 0.0, default=None)

    def arguments(self, label: str = "") -> dict[str, Any]:
        """The arguments of `Session.sql` with which it is asked, the key with a label where there is one."""
        own = self.settings
        said = {
            "loss": self.loss,
            "max_groups": own.max_groups,
            "max_rows_per_group": own.max_rows_per_group,
            "max_rows": own.max_rows,
            "max_matches": own.max_matches,
            "keys": own.keys,
            "weights": dict(own.weights) or None,
            "noise": dict(own.noise) if isinstance(own.noise, tuple) else own.noise,
            "confidence": None if self.confidence == CONFIDENCE else self.confidence,
            "key": f"{self.key} {label}".strip(),
        }
        return {name: value for name, value in said.items() if value is not None}


@final
@dataclass(frozen=True)
class Dropped:
    """A statistic that the limit does not pay for: what it would cost, where that is known, and why it is left out."""

    name: str
    sql: str
    price: Loss | None
    priority: int
    why: str


@final
@dataclass(frozen=True, eq=False, repr=False)
class Plan(Displayed):
    """What a list of statistics costs under a limit, in the order of spending. Make one with `plan`.

    Nothing was spent, and no data was seen: all of it follows from the codebook, whose ``digest`` it carries. With
    ``exchanges`` units come for one another, and are not added or removed. ``delta`` is the δ at which totals are told
    as (ε, δ). ``factor`` is by how much all error bars with targets would have to grow for nothing to be dropped.
    """

    title: str
    protects: str
    digest: str
    limit: Loss
    relation: Relation
    exchanges: bool
    delta: Fraction
    steps: tuple[Step, ...]
    dropped: tuple[Dropped, ...] = ()
    factor: Fraction | None = None
    left: Loss | None = None
    beside: tuple[tuple[str, Loss], ...] = ()
    not_protected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    forms: Forms | None = None

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise BadArgument("the name of a statistic", f"one of {', '.join(step.name for step in self.steps)}", name)

    @cached_property
    def event(self) -> Event:
        """All that would run, as one event."""
        return Sequence(*(step.event for step in self.steps))

    @property
    def cost(self) -> Loss:
        """What a ledger counts for all of it, as it charges one statistic after another: within the limit."""
        from sfumato.accounting.adaptive.costs import Cost
        from sfumato.ledger.rules import rule_for
        from sfumato.planning.sharing import charged_to

        rule = charged_to(rule_for(self.limit), [Cost(one.price, one.event, self.relation) for one in self.steps])
        spent: Loss = getattr(rule, "spent", self.limit)
        return spent

    @cached_property
    def totals(self) -> Mapping[str, Loss]:
        """What all of it costs together in every kind of loss in which a theorem says so, by the name of the kind.

        The plan is fixed in advance, so it is composed as a whole: (ε, δ) is the tightest that `sf.account` proves.
        """
        sums: dict[str, Loss] = {}
        for kind in COMMON_KINDS:
            try:
                sums[kind.__name__] = (
                    self.report().loss if kind is Approx else total(self.event, kind, relation=self.relation)
                )
            except (NoProvenRoute, OverflowError):
                continue
        return sums

    def report(self, *, delta: Fraction | None = None) -> CostReport:
        """Accounts for the whole plan at a δ, by every way of accounting that gives an answer."""
        return account(self.event, delta=self.delta if delta is None else delta, relation=self.relation)

    def document(self) -> Document:
        """The steps, the total in every kind of loss, and what was dropped."""
        rows = tuple(row for place, step in enumerate(self.steps, 1) for row in step_rows(step, place))
        tables = [
            Table(rows, STEPS_HEAD, "In the order of spending"),
            Table(self._drops(), ("left out", "it would cost", "priority", "why"), "What the limit does not pay for"),
            Table(tuple(self._whole()), title="All together"),
            Table(tuple((note,) for note in (*self.notes, *self.guesses)), title="Notes"),
        ]
        told = f"{len(self.steps)} statistic{'s' * (len(self.steps) != 1)} for {self.cost}"
        return Document(
            "Plan",
            f"{self.title}: {told}",
            f"of {self.limit} for {self.protects}; nothing was spent",
            tables=tuple(one for one in tables if one.rows),
        )

    def _drops(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (one.name, "" if one.price is None else str(one.price), str(one.priority), one.why) for one in self.dropped
        )

    def _whole(self) -> list[tuple[str, str]]:
        rows = [("the ledger counts", f"{self.cost} of {self.limit}")]
        rows += [(f"as {name}", str(loss)) for name, loss in self.totals.items()]
        rows += [] if self.left is None else [("left", self.left.str_down())]
        rows += [(f"for {who}", str(loss)) for who, loss in self.beside]
        if self.factor is not None:
            rows.append(
                (
                    "to drop nothing",
                    f"all error bars with targets would have to be {float(self.factor):.3g} times as wide",
                )
            )
        return rows

    @property
    def guesses(self) -> tuple[str, ...]:
        """Says what of the plan rests on sizes that nobody stated."""
        return (GUESSED,) if any(step.guessed for step in self.steps) else ()

    def table(self) -> tuple[dict[str, object], ...]:
        """The numbers of all statistics as rows of plain data: a frame of pandas or Polars takes them as they are."""
        return tuple(
            {
                "place": place,
                "statistic": step.name,
                "number": one.column,
                "loss": str(step.loss),
                "about": one.value,
                "half_width": None if one.half_width is None else float(one.half_width),
                "of": "rank, in rows" if one.rank else "value",
                "wanted": str(step.target(one.column) or ""),
                "confidence": float(step.confidence),
                "priority": step.priority,
            }
            for place, step in enumerate(self.steps, 1)
            for one in step.numbers
        )

    def chart(self, what: str = "errors") -> Chart:
        """Draws the ``"errors"`` to expect, the ``"shares"`` of the limit, or of 1,000 ``"people"`` what is learnt."""
        from sfumato.charts import planning
        from sfumato.planning.drawn import drawn

        return drawn(self, what, planning)

    def html(self, run: DryRun | None = None) -> str:
        """A report for people who decide: a page of its own in plain words, with charts, that loads nothing.

        With a dry ``run`` it shows what answers may look like, and the errors that came out.
        """
        from sfumato.planning.report import page

        return page(self, run)

    def save(self, path: str | Path, run: DryRun | None = None) -> Path:
        """Writes the plan to a file: the report (.html), or what `Plan.read` reads (.json); also .md and .txt."""
        target = Path(path)
        writers = {
            ".html": lambda: self.html(run),
            ".json": self.to_json,
            ".md": self.to_markdown,
            ".txt": self.to_text,
        }
        if target.suffix not in writers:
            raise BadArgument("the suffix of a plan's file", ", ".join(writers), target.suffix)
        text = writers[target.suffix]()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        except OSError:
            raise BadArgument("the path of a plan", "a place that can be written to", str(target)) from None
        return target

    def to_json(self) -> str:
        """Writes the plan as JSON, from which `read` makes the same plan."""
        from sfumato.planning.stored import to_plain

        return json.dumps(to_plain(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @staticmethod
    def read(given: str | Path) -> Plan:
        """Reads a plan from a file, or from its JSON."""
        from sfumato.planning.stored import from_json

        return from_json(given)

    def code(
        self,
        *,
        data: str = "DATA",
        codebook: str = "CODEBOOK",
        ledger: str = "sqlite:///spent.db",
        period: str = "",
        label: str = "",
    ) -> str:
        """Writes the plan as Python to paste, with a key for each step, so that each runs at most once.

        With a ``period`` the limit begins anew with each; ``label`` is that of `run`.
        """
        from sfumato.planning.pasted import code_of

        return code_of(self, data=data, codebook=codebook, ledger=ledger, period=period, label=label)

    def run(self, session: Session, *, label: str = "", progress: Progress | None = None) -> dict[str, Release]:
        """Asks all statistics in order, and returns their releases by name.

        Each has a key: a step that was paid for before is answered from the book, so that a run that broke off is
        simply run again. A ``label`` makes it another run, which is paid anew: of the next month, say. The session must
        be on data with the codebook that the plan was made from.
        """
        self.check(session)
        releases: dict[str, Release] = {}
        with reporting(progress, "asking") as tell:
            for place, step in enumerate(self.steps):
                tell(place, len(self.steps))
                releases[step.name] = session.sql(step.sql, step.parameters, **step.arguments(label))
            tell(len(self.steps), len(self.steps))
        return releases

    def check(self, session: Session) -> None:
        """Refuses a session on data of another codebook: prices and errors would be others there."""
        book = session.dataset.codebook
        if book is None or book.digest != self.digest:
            must = f"one on data with the codebook of the plan, {self.title!r}, as it was: plan anew where it changed"
            raise BadArgument("the session", must, "another codebook" if book is not None else "none")

    def hold(self, session: Session, name: str, *, until: Any = None) -> Session:
        """Sets the limit of the plan aside in a part of a session before anything runs; `run` in that part."""
        self.check(session)
        return session.part(name, limit=self.limit, holds=True, until=until)


def step_rows(step: Step, place: int) -> list[tuple[str, ...]]:
    """The rows of a step under `STEPS_HEAD`, one for each number; the first few of very many."""
    every = alike(step.numbers)
    shown, rest = every[:FOUR], len(every) - FOUR
    rows: list[tuple[str, ...]] = [
        (
            str(place) if first else "",
            f"{step.name}: {name}" if name != step.name else step.name,
            str(step.loss) if first else "",
            error_words(one),
            "" if (target := step.target(one.column)) is None else f"{target} ({percent(step.confidence)})",
            str(step.priority) if first else "",
        )
        for first, (name, one) in zip((True, *[False] * FOUR), shown, strict=False)
    ]
    return [*rows, ("", f"… {rest} more", "", "", "", "")] if rest > 0 else rows


def alike(numbers: tuple[Foretold, ...]) -> list[tuple[str, Foretold]]:
    """The numbers under their names; those of which the same is foretold, such as bars of a histogram, are one."""
    groups: dict[tuple[float | None, float | None, bool], list[Foretold]] = {}
    for one in numbers:
        groups.setdefault((one.value, one.half_width, one.rank), []).append(one)
    named = []
    for same in groups.values():
        if len(same) > 2:
            named.append((f"{same[0].column} and {len(same) - 1} more", same[0]))
        else:
            named += [(one.column, one) for one in same]
    return named


def error_words(one: Foretold) -> str:
    """The error of a number in words, and what share of the number that is."""
    if one.half_width is None:
        return "hangs on the data"
    if one.rank:
        share = "" if one.share is None else f"{share_words(one.share)} in rank: "
        return f"± {share}{one.half_width:,.0f} of {one.value or 0:,.0f} rows"
    beside = "" if one.share is None else f", {share_words(one.share)} of about {amount_words(one.value)}"
    return f"± {amount_words(one.half_width)}{beside}"


def amount_words(value: float | None) -> str:
    """A number with four digits or so, and commas where it is large.

    >>> amount_words(2_400_000.0), amount_words(15.6251), amount_words(0.000123)
    ('2,400,000', '15.63', '0.000123')
    """
    if value is None:
        return "an unknown number"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 or value == int(value) else f"{value:.4g}"


def share_words(share: float) -> str:
    """A share in percent, short.

    >>> share_words(0.0312), share_words(0.000012), share_words(3.4)
    ('3.1 %', 'under 0.01 %', '340 %')
    """
    return "under 0.01 %" if share < 1e-4 else f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"
