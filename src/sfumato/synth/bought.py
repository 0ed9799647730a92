"""Codes that nobody knows beforehand, bought for a part of the loss: frequent categories, and bins of about equal size.

Every purchase is a question of its own, charged and stored as any other; what is made of the answers costs nothing.
What is left of the loss goes to the method, so that all losses add up to the one that was stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import integer, rational
from sfumato.query.answer.explanation import Explanation
from sfumato.query.frame import Frame, Query, col, count_rows
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.release.record import Release
from sfumato.synth.columns import BinnedColumn, CodedColumn, Edge, ListedColumn, even_edges
from sfumato.synth.schema import MOST_CODES, USUAL_BINS, check_names, few_values

Buy: TypeAlias = "Sequence[str] | Mapping[str, int]"
"""Columns whose codes are bought; or, by their names, how many codes."""

SHARE = Fraction(1, 10)
"""The part of the loss that all purchases together get."""

NEARLY = 1 - Fraction(1, 2**30)
"""What a question is charged may be its stated loss rounded up; so much less is stated that it fits."""

USUAL_KEYS = 32
"""So many categories are kept, unless it is said how many; the rest is one category."""

NO_DELTA = (
    "an (ε, δ), epsilon=1, delta=1e-9: categories that nobody listed can only be shown with a δ. Or list them, "
    "categories={{{name!r}: [...]}}; or leave the column out"
)


@final
@dataclass(frozen=True)
class Purchases:
    """What was bought: the codes of columns, the releases that they are from, and what is left of the loss."""

    columns: Mapping[str, CodedColumn]
    releases: tuple[Release, ...]
    notes: tuple[str, ...]
    left: Loss


@final
@dataclass(frozen=True)
class Purchase:
    """One column to buy codes of: how many of them, and the loss of its question."""

    column: Column
    many: int
    loss: Loss

    @property
    def opens(self) -> bool:
        """Tells whether the values are such that nobody listed."""
        return self.column.facts.keys is None and self.column.kind is Kind.TEXT

    @property
    def listed(self) -> bool:
        """Tells whether all values are public, and only too many."""
        return self.column.facts.keys is not None

    def question(self, table: Frame) -> Query:
        """What is asked: which values people have, which are most frequent, or quantiles."""
        value = col(self.column.name)
        if self.opens:
            there = table.filter(~value.is_null()).select(value=value)
            return there.group_by("value").agg(people=count_rows())
        if self.listed:
            return table.agg(value=value.top_values(self.many))
        return table.agg(**{f"q{place}": value.quantile(Fraction(place, self.many)) for place in range(1, self.many)})

    def explained(self, table: Frame) -> Explanation:
        """Says what the question would cost; refuses what cannot be asked."""
        once = self._once(table)
        if self.opens:
            return self.question(table).explain(loss=self.loss, max_groups=once, max_rows_per_group=once)
        return self.question(table).explain(loss=self.loss, max_rows=once)

    def bought(self, table: Frame, key: str | None) -> tuple[CodedColumn, Release]:
        """Pays for the codes; under a key that was used for it before, they are recalled."""
        under, once = None if key is None else f"synth {key} codes of {self.column.name}", self._once(table)
        if self.opens:
            asked = self.question(table)
            release = asked.release(loss=self.loss, max_groups=once, max_rows_per_group=once, key=under)
        else:
            release = self.question(table).release(loss=self.loss, max_rows=once, key=under)
        return self.coded(release), release

    def expected(self) -> CodedColumn:
        """As many codes as the answer may make at most, for what must be refused beforehand."""
        if self.opens:
            return self._listed([f"{place}" for place in range(self.many)])
        if self.listed:
            return self._listed((self.column.facts.keys or ())[: self.many])
        edges = even_edges(*ends_of(self.column), self.many, self.column.kind)
        return BinnedColumn(self.column.name, self.column.kind, edges, self.column.facts.nullable)

    def coded(self, release: Release) -> CodedColumn:
        """The codes that an answer makes."""
        answer = release.value.to_dict()
        if self.opens:
            found = sorted(zip(answer["people"], answer["value"], strict=True), key=lambda one: (-one[0], str(one[1])))
            return self._listed(sorted(value for _, value in found[: self.many] if value is not None))
        found = [values[0] for values in answer.values() if values[0] is not None]
        if self.listed:
            return self._listed([value for value in self.column.facts.keys or () if value in set(found)])
        edges = rising_edges(found, ends_of(self.column), self.column.kind)
        return BinnedColumn(self.column.name, self.column.kind, edges, self.column.facts.nullable)

    def _once(self, table: Frame) -> int | None:
        """Each person counts once; where rows are the units nothing needs to be said."""
        return None if table.asker.opened.catalog.by_rows else 1

    def _listed(self, values: Sequence[Any]) -> CodedColumn:
        return ListedColumn(self.column.name, self.column.kind, tuple(values), self.column.facts.nullable, other=True)


def rising_edges(found: Sequence[Any], ends: tuple[Any, Any], kind: Kind) -> tuple[Edge, ...]:
    """Noisy quantiles as edges: in rising order, strictly within the bounds, which are the outermost ones.

    >>> rising_edges([3.0, 2.5, 3.0, 12.0], (Fraction(0), Fraction(10)), Kind.INT)
    (Fraction(0, 1), Fraction(3, 1), Fraction(10, 1))
    """
    low, high = ends
    match kind:
        case Kind.INT:
            made = [Fraction(-(-rational(edge, "an edge") // 1)) for edge in found]
        case Kind.FLOAT:
            made = [rational(edge, "an edge") for edge in found]
        case _:
            made = list(found)
    return (low, *sorted({edge for edge in made if low < edge < high}), high)


def ends_of(column: Column) -> tuple[Any, Any]:
    """The public bounds of a column; refuses one that has none."""
    ends = column.facts.between
    if ends is None or any(abs(end) == float("inf") for end in ends if isinstance(end, Fraction | float)):
        must = (
            f"of columns with public bounds; {column.name} has none. State them in the codebook, or buy them first: "
            f"session.buy_bounds(columns=[{column.name!r}], ...); of days and times they must be known"
        )
        raise BadArgument("buy", must, column.name)
    return ends


def plan_purchases(
    fields: Mapping[str, Column], buy: Buy | None, loss: Loss, *stated: object
) -> tuple[tuple[Purchase, ...], Loss]:
    """Divides a loss among purchases and the method; refuses, before anything is paid, what cannot be bought."""
    if not buy:
        return (), loss
    names = list(buy)
    check_names(list(fields), list(fields), dict.fromkeys(names) if not isinstance(buy, str) else {buy: None})
    if isinstance(buy, str) or len(set(names)) != len(names):
        raise BadArgument("buy", "a list of columns, none twice; or how many codes of each, by name", buy)
    for name in names:
        if any(isinstance(one, Mapping) and name in one for one in stated):
            raise BadArgument("buy", f"of columns of which nothing is stated; {name} is stated besides", name)
    wanted = {name: _many(name, buy[name] if isinstance(buy, Mapping) else None, fields[name]) for name in names}
    opens = [name for name in names if Purchase(fields[name], wanted[name], loss).opens]
    return _divided(loss, {name: name in opens for name in names}, fields, wanted)


def _divided(
    loss: Loss, opens: Mapping[str, bool], fields: Mapping[str, Column], wanted: Mapping[str, int]
) -> tuple[tuple[Purchase, ...], Loss]:
    """Equal parts of the share for all purchases; of δ only for those that need one."""
    each, needing = SHARE / len(opens), sum(opens.values())
    match loss:
        case Approx() if loss.delta > 0:
            delta = SHARE * loss.delta / needing if needing else Fraction(0)
            epsilon = Fraction(loss.epsilon) * each
            parts: dict[str, Loss] = {name: Approx(epsilon, delta) if opens[name] else Pure(epsilon) for name in opens}
            left: Loss = Approx(Fraction(loss.epsilon) * (1 - SHARE), loss.delta - delta * needing)
        case Pure() | ZCDP() | Approx():
            if needing:
                name = next(name for name, one in opens.items() if one)
                raise BadArgument("loss", NO_DELTA.format(name=name), loss)
            plain = Pure(loss.epsilon) if isinstance(loss, Approx) else loss
            parts, left = {name: plain.scaled(each * NEARLY) for name in opens}, plain.scaled(1 - SHARE)
        case _:
            raise BadArgument("loss", "Pure, ZCDP or Approx: sf.ZCDP(0.05), or epsilon=1, delta=1e-9", loss)
    return tuple(Purchase(fields[name], wanted[name], parts[name]) for name in opens), left


def _many(name: str, stated: object, column: Column) -> int:
    """How many codes are bought of a column; refuses columns of which none can be."""
    numbers = column.facts.keys is None and column.kind is not Kind.TEXT
    if column.kind is Kind.BOOL:
        raise BadArgument("buy", f"of columns whose codes are not known; {name} is true or false", name)
    many = (USUAL_BINS if numbers else USUAL_KEYS) if stated is None else integer(stated, f"buy of {name}", least=1)
    if many > MOST_CODES:
        raise BadArgument(f"buy of {name}", f"at most {MOST_CODES:,} codes", many)
    if numbers:
        ends = ends_of(column)
        if few_values(column.kind, ends, many) is not None:
            raise BadArgument("buy", f"of columns with more values than codes; {name} has few, which are known", name)
        return max(many, 2)
    if column.facts.keys is not None and len(column.facts.keys) <= many:
        raise BadArgument("buy", f"of columns with more categories than {many}; those of {name} are public", name)
    return many


def make_purchases(table: Frame, purchases: Sequence[Purchase], left: Loss, key: str | None, whole: Loss) -> Purchases:
    """Pays for all purchases, one after another; refuses before the first one where the whole loss does not fit."""
    if not purchases:
        return Purchases({}, (), (), left)
    explained = [one.explained(table) for one in purchases]  # what cannot be asked is refused here
    if not explained[0].known:
        check_fits(table, whole)
    made = {one.column.name: one.bought(table, key) for one in purchases}
    notes = tuple(
        f"{made[one.column.name][0].size} codes of {one.column.name} were bought for {one.loss}, a part of {whole}"
        for one in purchases
    )
    columns = {name: column for name, (column, _) in made.items()}
    return Purchases(columns, tuple(release for _, release in made.values()), notes, left)


def check_fits(table: Frame, loss: Loss) -> None:
    """Refuses a loss that the session cannot pay now; nothing is charged."""
    once = None if table.asker.opened.catalog.by_rows else 1
    explanation = table.agg(rows=count_rows()).explain(loss=loss, max_rows=once)
    if explanation.refusal is not None and not explanation.known:
        raise QueryRefused(explanation.refusal)
