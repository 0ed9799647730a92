"""How a method of synthesis asks the data: noisy contingency tables, and which of them fits a model worst.

A method is handed `Questions`, and never sees a row. Behind a ledger, the whole loss is charged before the first
question; every question is a step of that run, and its answer is kept in the book, so that a run that broke off goes on
where it was, and what it had paid for is not paid for again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, cast, final

import numpy as np

from sfumato.accounting.convert.renyi import zcdp_rho
from sfumato.accounting.events import Event, Stated
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.combinators.interaction import privacy_filter
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.domains import Matrix
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, AddRemove, Unit
from sfumato.core.partial import Partial
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, PermitUsed
from sfumato.guarantee import guarantee
from sfumato.learn.sources import ROW
from sfumato.mechanisms.selection import exponential, permute_and_flip
from sfumato.query.frame import Frame
from sfumato.query.plan.marginals import CodedRows
from sfumato.release.claim import Claim
from sfumato.release.record import Release
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for
from sfumato.synth.columns import CodedColumn
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.zeros import Zeros
from sfumato.transforms.contingency import MOST_CELLS, STEPS, contingency, misfits, tables_at

Clique = tuple[str, ...]
"""Columns of which every combination of codes is counted."""

PROOF = "proofs/synthesis.md#methods"

LEAST = Fraction(1, 2**100)
"""A loss that is less buys nothing but noise beyond all counts."""

CONTENTS = re.compile('"sha256": "[0-9a-f]*"')
"""Where a plan says what is in an array."""

MOST_QUESTIONS = 100_000
"""A run asks no more often than this; what it may spend ends it long before."""

Begin = Callable[[Sequence[tuple[int, ...]]], Transformation]
Answer = Callable[[Measurement], Any]


@final
@dataclass(frozen=True, eq=False)
class Questions:
    """Asks for noisy tables of a domain, and for the one that fits worst; all of it within a loss.

    ``rows`` is the number of rows, where that is public, and ``zeros`` says where none can be. ``asked`` keeps what
    each question was paid, also those whose answers a crash ``lost``: what is left is then divided as the whole was to
    be, so that a run comes to its end.
    """

    domain: Domain
    loss: Spendable
    unit: Unit
    begin: Begin
    answer: Answer
    rows: float | None = None
    lost: Callable[[], int] = lambda: 0
    asked: list[tuple[str, Spendable]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    zeros: Zeros = field(default_factory=dict)
    shares: list[Spendable] = field(default_factory=list)

    @property
    def left(self) -> Spendable:
        """The part of the whole loss that is not shared out yet."""
        shared = sum((share.amounts[0] for share in self.shares), Fraction(0))
        return type(self.loss)(self.loss.amounts[0] - shared)

    def share(self, part: Fraction | int) -> Spendable:
        """A part of the whole loss."""
        return self.loss.scaled(Fraction(part))

    def worth(self, share: Spendable) -> Spendable:
        """The loss that a share of the whole comes to: itself, or less once a crash has lost answers."""
        return self._tries(share)[-1]

    @guarantee(
        claim="all tries of all questions, those whose answers were lost too, are paid no more than the whole together",
        proof="proofs/synthesis.md#lost",
        reviewed="bc808a284100",
    )
    def _tries(self, share: Spendable) -> list[Spendable]:
        """What each try of the next question is paid: those whose answers are lost, and then the one that is to run."""
        kind, part, left = type(self.loss), share.amounts[0], self.left.amounts[0]
        rest = self.loss.amounts[0] - sum((loss.amounts[0] for _, loss in self.asked), Fraction(0))
        tries: list[Spendable] = []
        for _ in range(self.lost() + 1):
            each = part if rest == left else part * rest / left
            tries.append(kind(each))
            rest -= each
        if not tries[-1].amounts[0] and part:
            raise PermitUsed(
                "the run broke off between its last question and the answer, which is lost and stays paid for; nothing "
                "is left to ask again. Start another run, with a new key."
            )
        return tries

    def noisy(self, cliques: Sequence[Clique], loss: Spendable) -> list[Measured]:
        """Buys tables with noise of one deviation on every cell: Laplace for ε, Gaussian for ρ."""
        kind, norm = type(loss), L1() if isinstance(loss, Pure) else L2()
        worth = self.worth(loss)
        every = tables_at(range(len(cliques)), metric=norm)
        tables = self.begin(self._places(cliques))
        scale = parameter_for(lambda one: tables >> every >> noise_of(kind, one), worth, self.unit)
        noisy = np.asarray(self._paid(tables >> every >> noise_of(kind, scale), loss, "tables"), dtype=np.float64)
        parts = np.split(noisy, np.cumsum([self.domain.size(clique) for clique in cliques])[:-1])
        made = [
            Measured(tuple(clique), part.reshape(self.domain.shape(clique)), deviation_of(kind, scale))
            for clique, part in zip(cliques, parts, strict=True)
        ]
        self.measured.extend(made)
        return made

    def fitted(self, start: GraphicalModel | None = None) -> GraphicalModel:
        """The graphical model that fits all that was bought so far."""
        return estimate(self.domain, self.measured, total=self.rows, zeros=self.zeros, start=start)

    def deviation(self, loss: Spendable) -> float:
        """The deviation of the noise on every cell of one table that is bought for a loss."""
        kind, norm = type(loss), L1() if isinstance(loss, Pure) else L2()
        table = self.begin([(0,)]) >> tables_at([0], metric=norm)
        worth = self.worth(loss)
        return deviation_of(kind, parameter_for(lambda one: table >> noise_of(kind, one), worth, self.unit))

    def worst(
        self,
        candidates: Sequence[Clique],
        expected: Sequence[Floats],
        loss: Spendable,
        *,
        weights: Sequence[float] | None = None,
        penalties: Sequence[float] | None = None,
    ) -> int:
        """Chooses, privately, the table that is furthest from what a model expects: its place among the candidates.

        It is likely to be one with a large weight × (L1 distance − penalty).
        """
        steps = np.concatenate([np.rint(np.clip(table.ravel(), 0, 2.0**50) * STEPS) for table in expected])
        heavy = None if weights is None else [Fraction(round(weight * 1024), 1024) for weight in weights]
        taken = None if penalties is None else [round(penalty * STEPS) for penalty in penalties]
        scores = self.begin(self._places(candidates)) >> misfits(steps.astype(np.int64), weights=heavy, penalties=taken)
        return int(self.choose(scores, loss))

    def choose(self, scores: Transformation, loss: Spendable) -> Any:
        """Chooses, privately, the place of a large score."""
        heat = parameter_for(lambda one: scores >> self._choice(one), self.worth(loss), self.unit)
        return self._paid(scores >> self._choice(heat), loss, "a choice")

    def tables(self, cliques: Sequence[Clique]) -> Transformation:
        """The exact tables, for scores and mechanisms of a method's own to follow."""
        return self.begin(self._places(cliques))

    def ask(self, measurement: Measurement, loss: Spendable, what: str) -> Any:
        """Runs a measurement of `tables` that costs at most what a share of the loss is `worth`."""
        return self._paid(measurement, loss, what)

    def _choice(self, scale: Fraction) -> Partial[Measurement]:
        return permute_and_flip(scale) if isinstance(self.loss, Pure) else exponential(scale, measure=ZCDP)

    @guarantee(
        claim="a question runs only if its loss is within what its share is worth, and its share within what is left",
        proof="proofs/synthesis.md#methods",
        reviewed="7fc69e266ceb",
    )
    def _paid(self, measurement: Measurement, loss: Spendable, what: str) -> Any:
        """Runs what costs no more than a share is worth, once that is taken off what is left."""
        if loss.amounts[0] > self.left.amounts[0]:
            raise BadArgument("the loss of a question", f"at most what is left, {self.left}", loss)
        *lost, worth = self._tries(loss)
        if not measurement.map(self.unit).within(worth):
            raise BadArgument("a question", f"one that costs at most what its share is worth, {worth}", loss)
        value = self.answer(measurement)
        self.asked.extend([*(("an answer that was lost", one) for one in lost), (what, worth)])
        self.shares.append(loss)
        return value

    def _places(self, cliques: Sequence[Clique]) -> list[tuple[int, ...]]:
        places = [self.domain.axes(clique) for clique in cliques]
        if any(list(one) != sorted(set(one)) for one in places):
            raise BadArgument("columns of a table", "each once, in the order of the domain", "others")
        check_cells(self.domain, cliques)
        return places


def check_cells(domain: Domain, cliques: Iterable[Clique]) -> None:
    """Refuses tables that together are larger than memory, and names the columns that make them so."""
    cells = sum(domain.size(clique) for clique in cliques)
    if cells > MOST_CELLS:
        largest = sorted(zip(domain.sizes, domain.names, strict=True), reverse=True)[:3]
        named = ", ".join(f"{name} with {size:,} codes" for size, name in largest)
        must = (
            f"of at most {MOST_CELLS:,} cells together. The largest columns are {named}: state fewer bins, "
            f"bins={{{largest[0][1]!r}: 16}}, or fewer categories; buy=[{largest[0][1]!r}]; or leave one out, "
            "columns=[...]"
        )
        raise BadArgument("the tables of columns", must, cells)


def spendable_of(loss: Loss) -> Spendable:
    """The loss that adds up, of all that a loss pays for: an (ε, δ) is spent as the ρ that it pays for.

    >>> spendable_of(Pure(1))
    Pure(epsilon=1.0)
    """
    match loss:
        case Approx(delta=delta) if delta > 0:
            spent: Loss = ZCDP(zcdp_rho(loss.epsilon, delta=delta))
        case Approx():
            spent = Pure(loss.epsilon)
        case _:
            spent = loss
    if not isinstance(spent, Pure | ZCDP):
        raise BadArgument("loss", "Pure, ZCDP or Approx: sf.ZCDP(0.05), or epsilon=1, delta=1e-9", loss)
    if not LEAST <= spent.amounts[0] < math.inf:
        raise BadArgument("loss", "finite, and enough to buy anything: noise must be no larger than 2⁵³", loss)
    return spent


def held_questions(
    codes: np.ndarray[Any, Any],
    domain: Domain,
    loss: Loss,
    *,
    rows: float | None,
    entropy: Entropy | None,
    zeros: Zeros | None = None,
) -> Questions:
    """Questions on rows that one holds oneself: nothing is charged, and a filter keeps the loss."""
    paid, space = spendable_of(loss), Space(Matrix(len(domain.names), FloatAtoms()), AddRemove())
    ask = (space >> privacy_filter(paid, d_in=ROW))(np.asarray(codes, np.float64), d_in=ROW, entropy=entropy).value
    begin = lambda cliques: space >> contingency(domain.sizes, cliques)  # noqa: E731
    return Questions(domain, paid, ROW, begin, ask, rows, zeros=zeros or {})


class Paid(Protocol):
    """A run that was charged once, whose steps are counted before they look: a session has it."""

    @property
    def taken(self) -> int:
        """How many steps have run, or may have."""

    @property
    def states(self) -> tuple[str, ...]:
        """What was kept of each step, in their order."""

    @property
    def release(self) -> Release | None:
        """The release that the run ended with."""

    def step(self, function: Callable[[Any, Entropy], Any]) -> Any:
        """Counts the next step in the book, and then runs it."""

    def checkpoint(self, state: str) -> None:
        """Keeps what a step gave."""

    def finish(self, value: Any) -> Release:
        """Ends the run with a release."""


class Payer(Protocol):
    """Who charges a run: a session, which this layer does not know."""

    @property
    def kind(self) -> type[Loss]:
        """The kind of loss that is counted."""

    def start(
        self,
        event: Event,
        *,
        loss: Loss,
        key: str,
        claim: Claim | None,
        proofs: Sequence[str],
        what: str,
        steps: int,
    ) -> Paid:
        """Charges all steps of a run once, or goes on with the run that has this key."""


@final
class Answers:
    """The answers of a run behind a ledger: those that the book has, and then new ones, each kept at once.

    Where a process ended between a look at the data and the keeping of its answer, that answer is ``lost``.
    """

    def __init__(self, run: Paid, unit: Unit) -> None:
        self._run, self.unit = run, unit
        self._known = [json.loads(state) for state in run.states]
        self._given = 0

    def lost(self) -> int:
        """How often the next question was asked before in vain: its answer was never kept."""
        known, given = self._known, self._given
        before = known[given - 1]["step"] if given else 0
        return int(known[given]["step"] - 1 if given < len(known) else self._run.taken) - int(before)

    def answer(self, measurement: Measurement) -> Any:
        """Answers a question: from the book, where it was asked before, else from the data."""
        question = _digest(measurement)
        if self._given < len(self._known):
            kept = self._known[self._given]
            if kept["question"] != question:
                must = "that of a run on the same data with the same recipe, or a new one: other questions were asked"
                raise BadArgument("key", must, "another run's")
            self._given += 1
            return kept["value"]
        value = self._run.step(lambda data, entropy: measurement(data, d_in=self.unit, entropy=entropy).value)
        plain = np.asarray(value).tolist()
        kept = {"step": self._run.taken, "question": question, "value": plain}
        self._run.checkpoint(json.dumps(kept))
        self._known.append(kept)
        self._given += 1
        return plain

    def finish(self) -> Release:
        """Ends the run with a release of all answers."""
        return self._run.release or self._run.finish(json.dumps([kept["value"] for kept in self._known]))


def _digest(measurement: Measurement) -> str:
    """Tells a question from others by how it was built.

    What a model expects counts by its size alone: a fit that is done again may differ in the last bits, and the
    question is the same.
    """
    built = json.dumps(measurement.plan, sort_keys=True) if measurement.plan is not None else str(measurement.how)
    return hashlib.sha256(CONTENTS.sub("", built).encode()).hexdigest()[:24]


def started(table: Frame, loss: Loss, *, key: str, what: str, claim: Claim | None = None) -> Answers:
    """Charges a loss for all questions of a run, or goes on with the one of this key; the book keeps the claim."""
    if table.asker.opened.catalog.codebook.kinds:
        raise BadArgument("the table", "of one kind of units: there is no theorem for runs on several", "several")
    payer, spent = cast(Payer, table.asker), spendable_of(loss)
    run = payer.start(
        Stated(spent),
        loss=charged_as(table, loss),
        key=key,
        claim=claim,
        proofs=(PROOF,),
        what=what,
        steps=MOST_QUESTIONS,
    )
    return Answers(run, table.asker.unit)


def charged_as(table: Frame, loss: Loss) -> Loss:
    """A loss as the account of a table counts it: only a limit in (ε, δ) can be charged an (ε, δ), others its ρ."""
    return loss if cast(Payer, table.asker).kind is Approx else spendable_of(loss)


def asked_questions(
    coded: CodedRows,
    domain: Domain,
    loss: Loss,
    *,
    rows: float | None,
    answers: Answers,
    zeros: Zeros | None = None,
) -> Questions:
    """Questions on a table of a session, of a run that was charged."""
    paid, answer = spendable_of(loss), answers.answer
    return Questions(domain, paid, answers.unit, coded.tables, answer, rows, lost=answers.lost, zeros=zeros or {})


def coded_rows(table: Frame, columns: Sequence[CodedColumn], max_rows: int | None) -> CodedRows:
    """The rows of a table as codes."""
    fields = {field.name: field for field in table.relation.fields}
    codes = [column.code(fields[column.name]) for column in columns]
    return CodedRows.of(table.relation, codes, table.asker.opened, max_rows=max_rows)
