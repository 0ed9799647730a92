"""Two related tables: people, and the rows of each of them (visits, orders, jobs), with the person as the unit.

People get one more column, how many rows they have, and a model of their own; the rows get a model together with what
is known of whose they are. People are drawn first, and then, for each of them, as many rows as were drawn, given what
the person is. What is kept: attributes of both tables, how many rows people have, what the attributes of a person and
of their rows have to do with each other. What is lost: the order of a person's rows, and what rows of one person have
in common beyond the person's attributes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.query.frame import Frame
from sfumato.query.frame.columns import col, count_rows
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.marginals import CodedRows
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.synth.aim import AIM
from sfumato.synth.asking import Answers, asked_questions, coded_rows, spendable_of, started
from sfumato.synth.columns import ListedColumn
from sfumato.synth.schema import Bins, Schema, schema_of_table
from sfumato.synth.synthesizer import Synthesizer
from sfumato.synth.synthetic import Form, Synthetic, in_form

if TYPE_CHECKING:
    import pyarrow as pa

PEOPLE = Fraction(1, 3)
"""The part of the loss that the table of people gets: it is the smaller one, and each of them has one row there."""

MOST_ROWS_EACH = 1000


@final
class Drawn(NamedTuple):
    """Rows of two tables; the key of the second one is an id of the first."""

    people: Any
    rows: Any


@final
@dataclass(frozen=True, kw_only=True)
class RelatedTables:
    """Synthesises people and the rows of each of them, in two tables, for one loss.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``; the methods for ``people`` and for their ``rows``, whose
                own losses are left out; ``share``, the part of the loss that people get (a third); ``most``, how many
                rows of each person count
    Gives:      by ``fit`` a `RelatedSynthetic`
    Guarantee:  the stated loss, for a person with all their rows in both tables (proofs/synthesis.md#related)
    Cost:       that of the two methods, one after the other
    """

    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    people: Synthesizer = field(default_factory=AIM)
    rows: Synthesizer = field(default_factory=AIM)
    share: Number = PEOPLE
    most: int = 8

    def fit(
        self,
        people: Frame,
        rows: Frame,
        *,
        on: Mapping[str, str] | None = None,
        columns: Sequence[str] | None = None,
        bins: Bins | None = None,
        between: Mapping[str, object] | None = None,
        categories: Mapping[str, Sequence[Hashable]] | None = None,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> RelatedSynthetic:
        """Makes models of two tables of a session, which is charged the loss once.

        ``on`` says which column of the people is which of the rows: ``on={"id": "person"}``; left out, their ids.
        Of each person one row counts among the people, and ``most`` of theirs. ``columns`` are those of both tables to
        synthesise; they must have different names. Bins and the rest, and ``key``, are as in ``fit`` of one table.
        """
        paid, share = needed_loss(self.loss, self.epsilon, self.delta), self._share()
        asked = _Joined.of(people, rows, on, self._most())
        wanted = None if columns is None else list(columns)
        ours, both = asked.schemas(wanted, bins, between, categories)
        methods = self._methods(ours, both)
        for method, schema in zip(methods, (ours, both), strict=True):
            if method.loss is not None or method.epsilon is not None:
                raise BadArgument("the loss of a method", "left out: that of the two tables is shared", method.loss)
            method.check(schema, paid)
        tables = coded_rows(asked.people, ours.columns, 1), coded_rows(asked.rows, both.columns, asked.most)
        words = "; ".join(word for coded in tables for word in coded.words)
        answers = started(people, paid, key=f"synth {key or system().octets(16).hex()}", what=f"two tables: {words}")
        spent, made = spendable_of(paid), list[Synthetic]()
        for place, (coded, part) in enumerate(zip(tables, (share, 1 - share), strict=True)):
            schema = (ours, both)[place]
            made.append(_made(methods[place], coded, schema, spent.scaled(part), answers, progress))
        release = answers.finish()
        first, second = (replace(one, release=release) for one in made)
        return RelatedSynthetic(first, second, asked.key, asked.foreign, asked.count, paid)

    def _share(self) -> Fraction:
        share = rational(self.share, "share")
        if not 0 < share < 1:
            raise BadArgument("share", "between 0 and 1, both excluded: the part of the loss for people", self.share)
        return Fraction(share)

    def _most(self) -> int:
        most = integer(self.most, "most", least=1)
        if most > MOST_ROWS_EACH:
            raise BadArgument("most", f"at most {MOST_ROWS_EACH}: noise grows with it", most)
        return most

    def _methods(self, ours: Schema, both: Schema) -> tuple[Synthesizer, Synthesizer]:
        """The methods; the one of rows asks for no table of people alone, unless its workload is stated."""
        if isinstance(self.rows, AIM) and self.rows.workload is None:
            own = set(ours.domain.names)
            pairs = [pair for pair in combinations(both.domain.names, 2) if not set(pair) <= own]
            return self.people, replace(self.rows, workload=pairs)
        return self.people, self.rows


def _made(
    method: Synthesizer,
    coded: CodedRows,
    schema: Schema,
    loss: Loss,
    answers: Answers,
    progress: Progress | None,
) -> Synthetic:
    asked = asked_questions(coded, schema.domain, loss, rows=None, answers=answers)
    with reporting(progress, f"{method.name} of {len(schema.columns)} columns") as tell:
        made = method.build(asked, schema, tell)
    measured, spent = tuple(asked.measured), tuple(asked.asked)
    return Synthetic(method.name, schema, made.model, measured, loss, answers.unit.protects, None, made.notes, spent)


@final
@dataclass(frozen=True, eq=False)
class _Joined:
    """The people with how many rows they have, and the rows with whose they are."""

    people: Frame
    rows: Frame
    key: str
    foreign: str
    count: str
    most: int

    @staticmethod
    def of(people: Frame, rows: Frame, on: Mapping[str, str] | None, most: int) -> _Joined:
        """Joins two tables on the ids of people, in both directions."""
        for frame in (people, rows):
            if not isinstance(frame, Frame):
                raise BadArgument("a table", "one of a session, such as session.table('people')", type(frame).__name__)
        if people.asker.opened.catalog.by_rows:
            raise BadArgument(
                "the tables", "of people with ids: the codebook says whose a row is", "rows by themselves"
            )
        key, foreign = _key(people, rows, on)
        table = rows.relation.table if isinstance(rows.relation, Scan) else "rows"
        common = (set(people.columns) & set(rows.columns)) - ({key} if key == foreign else set())
        count = f"number of {table}"
        if common or count in (*people.columns, *rows.columns):
            twice = min(common, default=count)
            raise BadArgument("columns of two related tables", "of different names: rename(…) one of them", twice)
        counted = rows.per_unit(number_of_rows=count_rows()).rename({"number_of_rows": count})
        known = people.join(counted, on={key: foreign}, how="left")
        known = known if key == foreign else known.drop(foreign)
        ready = known.with_columns(**{count: col(count).fill_null(0).clip(0, most)})
        return _Joined(ready, rows.join(ready, on={foreign: key}), key, foreign, count, most)

    def schemas(
        self,
        columns: Sequence[str] | None,
        bins: Bins | None,
        between: Mapping[str, object] | None,
        categories: Mapping[str, Sequence[Hashable]] | None,
    ) -> tuple[Schema, Schema]:
        """The codes of people, with how many rows they have, and of rows with what their people are."""
        taken = {self.count, self.key, self.foreign}
        names = [one.name for one in self.people.relation.fields if one.unit is None and one.name not in taken]
        others = [
            one.name for one in self.rows.relation.fields if one.unit is None and one.name not in (*taken, *names)
        ]
        for name in columns or ():
            if name not in (*names, *others):
                raise BadArgument("columns", f"those of the two tables: {', '.join((*names, *others))}", name)
        ours, theirs = ([one for one in own if columns is None or one in columns] for own in (names, others))
        if not ours or not theirs:
            raise BadArgument("columns", "one or more of each of the two tables", columns)

        def coded(frame: Frame, wanted: Sequence[str]) -> Schema:
            said = [_only(stated, wanted) for stated in (between, categories)]
            own = _only(bins, wanted) if isinstance(bins, Mapping) else bins
            return schema_of_table(frame, columns=wanted, bins=own, between=said[0], categories=said[1])

        number = ListedColumn(self.count, Kind.INT, tuple(range(self.most + 1)), may_miss=False)
        people = Schema((*coded(self.people, ours).columns, number))
        return people, Schema((*people.columns, *coded(self.rows, theirs).columns))


def _only(stated: Any, names: Sequence[str]) -> Any:
    return None if stated is None else {name: said for name, said in stated.items() if name in names}


def _key(people: Frame, rows: Frame, on: Mapping[str, str] | None) -> tuple[str, str]:
    """The columns that hold the ids of people in both tables."""
    ids = [[one.name for one in frame.relation.fields if one.unit == 0] for frame in (people, rows)]
    if on is None:
        on = dict(zip(*ids, strict=False))
    if not isinstance(on, Mapping) or len(on) != 1:
        raise BadArgument("on", "the id of the people and the column of the rows that holds it: {'id': 'person'}", on)
    [(key, foreign)] = on.items()
    if key not in ids[0] or foreign not in ids[1]:
        must = f"the ids of people in both tables: one of {', '.join(ids[0])}, and of {', '.join(ids[1])}"
        raise BadArgument("on", must, dict(on))
    return key, foreign


@final
@dataclass(frozen=True, eq=False, repr=False)
class RelatedSynthetic(Displayed):
    """Models of two related tables: get one from `RelatedTables`.

    ``people`` has a column ``count``, how many rows each has; ``rows`` has the columns of both tables.
    """

    people: Synthetic
    rows: Synthetic
    key: str
    foreign: str
    count: str
    loss: Loss

    def sample(self, people: int | None = None, *, form: Form = "polars", entropy: Entropy | None = None) -> Drawn:
        """Draws people, as many as there are unless said otherwise, and the rows of each; it costs nothing.

        People are numbered from 1 in the column of ids, and each row has the number of its person.
        """
        source = entropy or system()
        drawn = self.people.sample_codes(people, entropy=source)
        place = self.people.schema.domain.axes([self.count])[0]
        owners = np.repeat(np.arange(len(drawn)), drawn[:, place].astype(np.int64))
        own = self.people.schema.domain.names
        given = {name: drawn[owners, at].astype(np.int64) for at, name in enumerate(own)}
        rows = self.rows.model.sample(len(owners), source, given)
        first = self.people.schema.decode(drawn, source).drop_columns([self.count])
        second = self.rows.schema.decode(rows, source).drop_columns(list(own))
        return Drawn(
            in_form(_keyed(first, self.key, np.arange(len(drawn))), form),
            in_form(_keyed(second, self.foreign, owners), form),
        )

    def document(self) -> Document:
        """What was made, of what, and at which price, for any form."""
        about = (
            ("people", f"about {self.people.rows:,}, by {self.people.method}"),
            ("rows of each", f"by {self.rows.method}, {len(self.rows.columns) - len(self.people.columns)} columns"),
            ("key", f"{self.key} = {self.foreign}"),
            ("loss", f"{self.loss} for {self.people.unit}"),
            ("lost", "the order of a person's rows, and what they share beyond the person's attributes"),
        )
        tables = (Table(about), *self.people.document().tables[1:], *self.rows.document().tables[1:])
        return Document("Synthetic data", "two related tables", tables=tables)


def _keyed(table: pa.Table, name: str, numbers: np.ndarray[Any, Any]) -> pa.Table:
    import pyarrow as pa

    return table.add_column(0, name, pa.array(numbers + 1, pa.int64()))
