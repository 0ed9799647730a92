"""Cuts: everything that a question may leave out, move or scale down before noise is added, and who said so.

A cut is recorded where it may happen: whether it did is private. Rows that a condition leaves out are what was asked
about; what reading and bounds take away is an error of the answer that no error bar holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sfumato.query.answer.spelled import constant, end_text, named, spelled
from sfumato.query.build.relation import scans
from sfumato.query.nodes.expressions import Call, Expression
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind
from sfumato.query.nodes.questions import Histogram, Question
from sfumato.query.nodes.relations import Join, Match, Meet, Owner, PerUnit, Relation, Scan, Select, Where, Windowed
from sfumato.query.plan.bounds import THE_CODEBOOK, THE_QUESTION
from sfumato.query.plan.drop_incomplete import gaps
from sfumato.release.record import Cut, Cutting

if TYPE_CHECKING:
    from sfumato.query.nodes.keysets import KeySet
    from sfumato.query.plan.compiled_query import CompiledQuery

FEW = 12
"""Up to this many public keys are written out; of more, their number and their digest."""


def cuts_of(compiled: CompiledQuery) -> Iterator[Cut]:
    """Lists the cuts of a question, in the order in which they are made."""
    question = compiled.asked
    for scan in dict.fromkeys(scans(question.source)):
        yield from _reading(scan)
    for made in _expressions(question):
        yield from _clamped(made)
    yield from _rows(question.source)
    for needed in gaps(compiled.question):
        said = f"rows without {spelled(needed).text} are left out, though a fact says that there are none"
        yield Cut(Cutting.UNUSABLE, said, THE_CODEBOOK)
    for one in question.statistics:
        if isinstance(one, Histogram):
            of, first, last = spelled(one.of).text, end_text(one.edges[0]), end_text(one.edges[-1])
            yield Cut(Cutting.ROWS, f"rows with {of} outside {first} to {last} are not counted in it", THE_QUESTION)
    if compiled.settings.keys is not None:
        yield _keys(compiled.settings.keys)
    for level in compiled.levels:
        yield from level.placed.cuts
    for selection in compiled.pricing.selections:
        least = selection.noise.least_shown
        said = f"groups are shown if {least:,} or more are in them, by a noisy count"
        yield Cut(Cutting.GROUPS, said, "the price of keys that are not public")


def _reading(scan: Scan) -> Iterator[Cut]:
    """What reading a table changes, in the columns that the question looks at."""
    if scan.owner is not None and scan.owner.id:
        said = f"rows of {named(scan.table)} without {_whose(scan.owner)} belong to nobody"
        yield Cut(Cutting.UNUSABLE, said, THE_CODEBOOK)
    for items in scan.unnested:
        if items.most is not None:
            said = f"at most {items.most:,} items of {named(scan.table)}.{named(items.column)} count in each row"
            yield Cut(Cutting.ROWS, said, THE_CODEBOOK if items.by_codebook else THE_QUESTION)
    lists = {items.item: items.column for items in scan.unnested}
    for column in scan.fields:
        name, facts = f"{named(scan.table)}.{named(lists.get(column, column.name))}", column.facts
        if facts.numbers is not None and column.kind.numeric and facts.keys is None:
            low, high = map(end_text, facts.numbers)
            yield Cut(Cutting.VALUES, f"{name} is moved into {low} to {high}", THE_CODEBOOK)
        elif facts.keys is not None:
            yield Cut(Cutting.VALUES, f"{name} is missing where it is no listed value", THE_CODEBOOK)
        elif column.kind.temporal and facts.between is not None:
            first, last = facts.between
            yield Cut(Cutting.VALUES, f"{name} is missing outside {first} to {last}", THE_CODEBOOK)
        elif column.kind is Kind.TEXT and column.unit is None:
            yield Cut(Cutting.VALUES, f"{name} is cut to {LONGEST_TEXT:,} characters", THE_CODEBOOK)


def _whose(owner: Owner) -> str:
    """Says what a row must have to be somebody's: an id, its own or along foreign keys, and in windows a time."""
    way = f"a way to {named(owner.hops[-1].table)}.{named(owner.id)}" if owner.hops else named(owner.id)
    return way if owner.window is None else f"{way} or {named(owner.window[0])}"


def _expressions(question: Question) -> Iterator[Expression]:
    """Every expression that looks at rows."""
    yield from _of_rows(question.source)
    yield from question.of_rows


def _of_rows(relation: Relation) -> Iterator[Expression]:
    for source in relation.sources:
        yield from _of_rows(source)
    match relation:
        case Where(condition=condition):
            yield condition
        case Select(columns=columns):
            yield from (made for _, made in columns)
        case Windowed():
            yield from relation.expressions
        case PerUnit(by=by, folds=folds):
            yield from (made for _, made in by)
            yield from (folded.of for folded in folds if folded.of is not None)


def _clamped(made: Expression) -> Iterator[Cut]:
    for part in made.parts:
        yield from _clamped(part)
    match made:
        case Call("clamp", (of, low, high)):
            ends = f"{spelled(low).text} to {spelled(high).text}"
            yield Cut(Cutting.VALUES, f"{spelled(of).text} is moved into {ends}", THE_QUESTION)


def _rows(relation: Relation) -> Iterator[Cut]:
    """Says which rows are not asked about."""
    for source in relation.sources:
        yield from _rows(source)
    match relation:
        case Where(source=source, condition=condition):
            what = "units" if isinstance(source, PerUnit) and source.private else "rows"
            yield Cut(Cutting.ROWS, f"{what} are kept where {spelled(condition).text}", THE_QUESTION)
        case Meet(left=left, right=right):
            tables = " or ".join(dict.fromkeys(named(scan.table) for side in (left, right) for scan in scans(side)))
            yield Cut(Cutting.ROWS, f"rows of {tables} that match none on the other side are left out", THE_QUESTION)
        case Join(right=right, match=match) if match is not Match.LEFT:
            tables = (
                " and ".join(dict.fromkeys(named(scan.table) for scan in scans(right))) or "the question's own rows"
            )
            which = "a row" if match is Match.ANTI else "none"
            yield Cut(Cutting.ROWS, f"rows that match {which} of {tables} are left out", THE_QUESTION)


def _keys(keys: KeySet) -> Cut:
    """Says which groups are answered: the keys themselves where they are few, else how many and their digest."""
    names = ", ".join(map(named, keys.names))
    if len(keys) <= FEW:
        listed = ", ".join(_key(key) for key in keys)
        return Cut(Cutting.GROUPS, f"rows whose {names} is none of {listed} are left out", THE_QUESTION)
    said = f"rows whose {names} is none of {len(keys):,} public keys ({keys.digest[:16]}) are left out"
    return Cut(Cutting.GROUPS, said, THE_QUESTION)


def _key(key: Sequence[object]) -> str:
    texts = [constant(value).text for value in key]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
