"""What all methods of synthesis share: a recipe that is only stored, two ways in, one loss for everything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.losses.stated import needed_loss
from sfumato.core.metrics import L1, L2
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.learn.noising import restated
from sfumato.learn.prepared import Prepared
from sfumato.learn.sources import check_held
from sfumato.query.answer.explanation import Explanation
from sfumato.query.frame import Frame
from sfumato.release.claim import Claim
from sfumato.release.progress import Progress, reporting
from sfumato.stats.shares import noise_of, parameter_for
from sfumato.synth.asking import (
    Answers,
    Questions,
    asked_questions,
    charged_as,
    coded_rows,
    held_questions,
    spendable_of,
    started,
)
from sfumato.synth.bought import Buy, make_purchases, plan_purchases
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Bins, Impossible, Schema, Stated
from sfumato.synth.synthetic import Synthetic
from sfumato.transforms.contingency import tables_at


@final
@dataclass(frozen=True)
class Made:
    """What a method ends with: a model, and what it did, in words."""

    model: Model
    notes: tuple[str, ...] = ()


class Synthesizer(ABC):
    """A recipe for synthetic data: it stores what to spend and how, and `fit` makes a model of a table.

    The loss is stated as ``loss=sf.ZCDP(0.05)``, or ``epsilon=1, delta=1e-9``; an (ε, δ) is spent as the ρ that it pays
    for, an ε alone as an ε.
    """

    name: ClassVar[str]
    loss: Loss | None
    epsilon: Number | None
    delta: Number | None

    def fit(
        self,
        table: object,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        schema: Schema | None = None,
        impossible: Impossible | None = None,
        buy: Buy | None = None,
        key: str | None = None,
        progress: Progress | None = None,
        entropy: Entropy | None = None,
    ) -> Synthetic:
        """Makes a model of a table of a session, which is charged; or of rows that one holds, which is not.

        ``columns`` are those to synthesise (left out: all but ids), of each person ``max_rows`` rows count. ``rows`` is
        the number of rows, where that is public (else it is measured with the rest). ``bins``, ``between`` and
        ``categories`` say what codes columns have where the codebook does not, ``impossible`` which combinations no row
        can have: ``[{"age": {"between": (0, 14)}, "married": True}]``. Of columns to ``buy``, by name or with a number
        of codes, a tenth of the loss buys what nobody knows: frequent categories, or quantiles as edges of bins. A
        ``schema`` says all that is public at once. Under a ``key`` a run that broke off goes on where it was, and one
        that ended is answered from the book, at no cost. ``entropy`` is for tests.
        """
        paid = needed_loss(self.loss, self.epsilon, self.delta)
        stated = None if rows is None else float(integer(rows, "rows", least=1))
        max_rows = None if max_rows is None else integer(max_rows, "max_rows", least=1)
        if isinstance(table, Prepared):
            table = table.frame
        known = Stated(columns, bins, between, categories, impossible, schema)
        if isinstance(table, Frame):
            return self._of_table(table, known, buy, paid, max_rows, stated, key, progress)
        check_held(table)
        if max_rows is not None or key is not None or buy is not None:
            must = "left out, where rows are held: nothing is charged, and each row is one person's"
            raise BadArgument("max_rows, key and buy", must, "given")
        coded = known.of_rows(table)
        self.check(coded, paid)
        codes = coded.encode(table)
        asked = held_questions(codes, coded.domain, paid, rows=stated, entropy=entropy, zeros=coded.zeros)
        return self._made(asked, coded, paid, None, progress)

    def explain(
        self,
        table: Frame,
        *,
        columns: Sequence[str] | None = None,
        max_rows: int | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        impossible: Impossible | None = None,
    ) -> Explanation:
        """Says what `fit` of a table would cost, and whether that fits; spends nothing and looks at no row."""
        paid = needed_loss(self.loss, self.epsilon, self.delta)
        schema = Stated(columns, bins, between, categories, impossible).of_table(table)
        self.check(schema, paid)
        spend, every = spendable_of(paid), [(place,) for place in range(len(schema.columns))]
        most = None if table.asker.opened.catalog.by_rows else max_rows
        norm = L1() if isinstance(spend, Pure) else L2()
        tables = coded_rows(table, schema.columns, most).tables(every) >> tables_at(range(len(every)), metric=norm)
        scale = parameter_for(lambda one: tables >> noise_of(type(spend), one), spend, table.asker.unit)
        charged = charged_as(table, paid)
        return table.asker.explain_run(restated(tables >> noise_of(type(spend), scale), charged), loss=charged)

    def claimed(self) -> Claim | None:
        """What a method rests on that nothing here can check, for the release to show; most methods rest on nothing."""
        return None

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses, before anything is paid, what this method cannot do with such columns."""
        spendable_of(loss)

    @abstractmethod
    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Asks for what the method needs, and makes a model of the answers."""

    def _of_table(
        self,
        table: Frame,
        known: Stated,
        buy: Buy | None,
        loss: Loss,
        max_rows: int | None,
        rows: float | None,
        key: str | None,
        progress: Progress | None,
    ) -> Synthetic:
        purchases, left = plan_purchases(known.fields(table), buy, loss, known.bins, known.between, known.categories)
        most = None if table.asker.opened.catalog.by_rows else max_rows
        if purchases:  # all else is refused before the first of them is paid for
            others = known.of_table(table, {one.column.name: one.expected() for one in purchases})
            self.check(others, left)
            coded_rows(table, others.columns, most)
        bought = make_purchases(table, purchases, left, key, loss)
        schema = known.of_table(table, bought.columns)
        self.check(schema, left)
        coded = coded_rows(table, schema.columns, most)  # refused here, before it is charged
        words = f"synthetic data by {self.name} of {', '.join(schema.domain.names)}: {'; '.join(coded.words)}"
        run = f"synth {key or system().octets(16).hex()}"
        answers = started(table, left, key=run, what=words, claim=self.claimed())
        asked = asked_questions(coded, schema.domain, left, rows=rows, answers=answers, zeros=schema.zeros)
        return replace(self._made(asked, schema, loss, answers, progress, bought.notes), bought=bought.releases)

    def _made(
        self,
        asked: Questions,
        schema: Schema,
        loss: Loss,
        answers: Answers | None,
        progress: Progress | None,
        notes: tuple[str, ...] = (),
    ) -> Synthetic:
        with reporting(progress, f"{self.name} of {len(schema.columns)} columns") as tell:
            made = self.build(asked, schema, tell)
        return Synthetic(
            self.name,
            schema,
            made.model,
            tuple(asked.measured),
            loss,
            asked.unit.protects,
            None if answers is None else answers.finish(),
            (*notes, *made.notes),
            tuple(asked.asked),
        )
