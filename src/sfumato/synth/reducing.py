"""Fewer codes: every column is capped at a few keys, the rest is "other"; rows that are drawn have the values again.

Which keys are kept is stated, or chosen by noisy counts that are paid for. A reduced column is a code of codes, so that
whatever can be coded can be reduced: of lists the commonest values stay, of bins neighbours are put together.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.learn.significance.draws import uniforms
from sfumato.learn.sources import check_held
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.plan.marginals import Code
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.synth.asking import asked_questions, coded_rows, held_questions, started
from sfumato.synth.columns import OTHER, Between, BinnedColumn, CodedColumn, Codes
from sfumato.synth.counting import Floats
from sfumato.synth.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

USUAL = 4
"""A column keeps so many keys, "other" among them, unless it is said how many."""


@final
@dataclass(frozen=True)
class ReducedColumn(CodedColumn):
    """A column whose codes are put into groups; a value of a group is drawn by the ``weights`` of its codes.

    ``groups`` has the group of each code of ``inner``, and ``weights`` how common each is, as far as that is known.
    """

    name: str
    kind: Kind
    inner: CodedColumn
    groups: tuple[int, ...]
    weights: tuple[float, ...]
    may_miss: bool = False

    @property
    def labels(self) -> list[str]:
        """What each group stands for: its only code, the ends of neighbours, or all the rest."""
        inner, words = self.inner.labels, []
        for group in range(max(self.groups) + 1):
            members = [inner[code] for code, one in enumerate(self.groups) if one == group]
            together = f"{members[0].split(' … ')[0]} … {members[-1].split(' … ')[-1]}" if self.inner.ordered else OTHER
            words.append(members[0] if len(members) == 1 else together)
        return words

    @property
    def ordered(self) -> bool:
        """Groups of an ordered column are neighbours, in order, but for what is missing."""
        return self.inner.ordered

    def code(self, column: Column) -> Code:
        """The group of the code of a row."""
        fine = self.inner.code(column)
        cases: list[Expression] = [call("is_null", fine.of), literal(None)]
        for place, group in enumerate(self.groups[:-1]):
            cases += [call("eq", fine.of, literal(place)), literal(group)]
        return Code(call("case", *cases, literal(self.groups[-1])), self.size)

    def encode(self, values: Sequence[object]) -> Codes:
        """The groups of values; −1 where a value has no code."""
        fine = self.inner.encode(values)
        coarse: Codes = np.where(fine < 0, -1, np.asarray(self.groups)[np.maximum(fine, 0)])
        return coarse

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """A value for each group, its code drawn by the weights of those in it."""
        weights, groups = np.asarray(self.weights), np.asarray(self.groups)
        fine = np.zeros(len(codes), dtype=np.int64)
        for group in range(self.size):
            rows = np.flatnonzero(codes == group)
            members = np.flatnonzero(groups == group)
            heavy = weights[members] if weights[members].sum() > 0 else np.ones(len(members))
            ends = np.cumsum(heavy) / heavy.sum()
            places = np.searchsorted(ends, uniforms(len(rows), entropy), side="right")
            fine[rows] = members[np.minimum(places, len(members) - 1)]
        return self.inner.decode(fine, entropy)

    def cut(self, ranges: Sequence[Between]) -> CodedColumn:
        """The column with finer codes where a range ends inside one, and groups parted that are partly in a range."""
        finer = self.inner.cut(ranges)
        places = list(range(self.inner.size))
        if isinstance(finer, BinnedColumn):
            places = [*self.inner.encode(finer.edges[:-1]).tolist(), *([self.inner.size - 1] * finer.may_miss)]
        inside = [finer.within([one]) for one in ranges]
        kinds = [(self.groups[place], *(bool(one[code]) for one in inside)) for code, place in enumerate(places)]
        order = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
        weights = tuple(self.weights[place] / places.count(place) for place in places)
        return ReducedColumn(self.name, self.kind, finer, tuple(order[kind] for kind in kinds), weights)

    def within(self, ranges: Sequence[Between]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tells of each group whether all of its codes are in one of some ranges."""
        inside, groups = self.inner.within(ranges), np.asarray(self.groups)
        return np.array([bool(inside[groups == group].all()) for group in range(self.size)])


@final
@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Displayed):
    """A schema with fewer codes, and what it cost to choose them: nothing where keys are stated."""

    schema: Schema
    paid: str = ""

    def document(self) -> Document:
        """The keys of each column, for any form."""
        rows = tuple(
            (one.name, f"{len(one.groups)}", f"{one.size}", ", ".join(one.labels))
            for one in self.schema.columns
            if isinstance(one, ReducedColumn)
        )
        table = Table(rows, ("column", "codes", "keys", "which"), right=frozenset({1, 2}))
        aside = self.paid or "stated, and free"
        return Document("Fewer keys", f"{len(rows)} columns reduced", aside, tables=(table,))


def reduced(
    schema: Schema,
    *,
    most: int = USUAL,
    keep: Mapping[str, Sequence[Hashable]] | None = None,
    shares: Mapping[str, Floats] | None = None,
) -> Reduction:
    """Caps every column at ``most`` keys, "other" among them, from what is public: stated keys, or shares of values.

    Takes:      ``keep``, by column, the values to keep; ``shares``, by column, how common each code is, by a public
                table or by what was released: the commonest stay, and bins are put together to be about as common
    Gives:      a `Reduction`, whose ``schema`` is for ``fit(..., schema=...)``; columns with few codes stay as they are
    """
    cap, known, named = integer(most, "most", least=2), dict(shares or {}), dict(keep or {})
    for name in (*known, *named):
        schema.domain.axes([name])
    columns = [_reduced(one, cap, named.get(one.name), known.get(one.name)) for one in schema.columns]
    return Reduction(Schema(tuple(columns)))


def bought_reduction(
    table: object,
    schema: Schema,
    *,
    loss: Loss,
    most: int = USUAL,
    max_rows: int | None = None,
    key: str | None = None,
    entropy: Entropy | None = None,
) -> Reduction:
    """Caps every column at ``most`` keys, chosen by noisy counts of each column that are paid for.

    Takes:      a table of a session, which is charged, or rows that one holds; a ``schema`` of it with all codes
    Gives:      a `Reduction`; noisy counts are released, so that the keys and how rows of "other" are drawn are free
    Guarantee:  the stated loss, beside that of the fit that follows (proofs/synthesis.md#methods)
    """
    cliques = [(name,) for name in schema.domain.names]
    if isinstance(table, Frame):
        coded = coded_rows(table, schema.columns, None if table.asker.opened.catalog.by_rows else max_rows)
        words = f"noisy counts to reduce {', '.join(schema.domain.names)}: {'; '.join(coded.words)}"
        answers = started(table, loss, key=f"synth keys {key or system().octets(16).hex()}", what=words)
        asked = asked_questions(coded, schema.domain, loss, rows=None, answers=answers)
        measured = asked.noisy(cliques, asked.loss)
        answers.finish()
    else:
        check_held(table)
        if max_rows is not None or key is not None:
            raise BadArgument("max_rows and key", "left out, where rows are held: each is one person's", "given")
        asked = held_questions(_present(schema, table), schema.domain, loss, rows=None, entropy=entropy)
        measured = asked.noisy(cliques, asked.loss)
    shares = {one.columns[0]: np.maximum(one.counts, 0.0) for one in measured}
    mark = "" if isinstance(table, Frame) else " [uncharged]"
    return Reduction(reduced(schema, most=most, shares=shares).schema, f"{loss} for {asked.unit.protects}{mark}")


def _present(schema: Schema, table: object) -> np.ndarray[Any, Any]:
    """The codes of rows that one holds, without rows that have none."""
    codes = schema.encode(table)
    return codes[(codes >= 0).all(axis=1)]


def _reduced(column: CodedColumn, most: int, keep: Sequence[Hashable] | None, shares: Floats | None) -> CodedColumn:
    """One column with at most so many keys; itself where it has no more."""
    weights = np.ones(column.size) if shares is None else np.maximum(np.asarray(shares, dtype=np.float64).ravel(), 0.0)
    if len(weights) != column.size:
        raise BadArgument(f"the shares of {column.name}", f"one for each of {column.size} codes", len(weights))
    if keep is not None:
        kept = [column.place(value) for value in keep]
        if not kept or len(set(kept)) != len(kept) or len(kept) > most:
            raise BadArgument(f"the values of {column.name} to keep", f"1 to {most}, none twice", len(kept))
        groups = _commonest(column.size, kept)
    elif column.size <= most:
        return column
    elif column.ordered:
        groups = _neighbours(column, most, weights)
    else:
        groups = _commonest(column.size, sorted(np.argsort(-weights, kind="stable")[: most - 1].tolist()))
    return ReducedColumn(column.name, column.kind, column, groups, tuple(weights.tolist()))


def _commonest(size: int, kept: Sequence[int]) -> tuple[int, ...]:
    """A group for each kept code, and one for the rest."""
    places = {code: place for place, code in enumerate(kept)}
    return tuple(places.get(code, len(kept)) for code in range(size))


def _neighbours(column: CodedColumn, most: int, weights: Floats) -> tuple[int, ...]:
    """Groups of neighbouring codes that are about as common; what is missing stays by itself."""
    inner = column.size - column.may_miss
    wanted = max(1, min(most - column.may_miss, inner))
    heavy = weights[:inner] if weights[:inner].sum() > 0 else np.ones(inner)
    middles = (np.cumsum(heavy) - heavy / 2) / heavy.sum()
    raw = np.minimum((middles * wanted).astype(np.int64), wanted - 1)
    groups = np.unique(raw, return_inverse=True)[1].tolist()
    return (*groups, *([max(groups) + 1] * column.may_miss))
