"""The grey-box audit of questions in SQL and as data frames: one plan, asked of two neighbouring databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from sfumato.accounting.measures import Loss
from sfumato.audit.grey_box import grey_box
from sfumato.audit.record import Audit
from sfumato.codebook.book import Codebook
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.rows import canonical
from sfumato.core.spread import Stated
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.query.cells import Cells, Rows
from sfumato.query.frame.queries import Query
from sfumato.query.lower import lowered
from sfumato.query.opened import Opened, Unlocked
from sfumato.query.questions import Question
from sfumato.query.relations import Scan
from sfumato.query.settings import Settings
from sfumato.session.asking import with_options
from sfumato.session.dataset import Dataset
from sfumato.session.tables import is_tabular, open_tables, protects_people, unit_of

CONFIDENCE = Fraction(95, 100)
PLAN = "the plan of the question depends on the data"


def grey_box_query(
    question: str | Query,
    left: Data,
    right: Data,
    *,
    codebook: Codebook | Mapping[str, object] | str | Path | None = None,
    parameters: Sequence[object] | Mapping[str, object] = (),
    loss: Loss | None = None,
    d_in: Stated | Unit | None = None,
    entropy: Entropy | None = None,
    **settings: Any,
) -> Audit:
    """Records a question on one database, replays it on a neighbour, and compares what was randomized with its price.

    The question is planned once, on the first database; the second must come to the same plan. ``left`` and ``right``
    are tables that a codebook describes, in the hands of whoever audits: a `Dataset` is reached through a permit only,
    and is refused. ``d_in`` is how many units they differ by: one, unless given; who has other rows counts twice, and
    two that differ by more are refused. ``loss`` and further settings are those of `Session.sql`.
    """
    ours, theirs = (audited(data, codebook) for data in (left, right))
    return replayed_question(question, ours, theirs, parameters, d_in, entropy, {"loss": loss, **settings})


@final
@dataclass(frozen=True, eq=False, repr=False)
class Audited:
    """Tables of an auditor, opened: what a plan is made with, what it runs on, and who is protected."""

    given: Data
    opened: Opened
    held: Unlocked
    unit: Unit


def audited(data: Data, codebook: Codebook | Mapping[str, object] | str | Path | None) -> Audited:
    """Opens tables that are in the hands of whoever audits; a data set behind a ledger is refused."""
    if isinstance(data, Dataset):
        must = "tables: an audit looks at the data itself, and a data set is looked at through a permit only"
        raise BadArgument("left and right", must, "a Dataset")
    if codebook is None:
        raise BadArgument("codebook", "given: it describes the tables, and says who is protected", None)
    facts = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    by_rows = not is_tabular(data) and not protects_people(facts)
    opened, held = open_tables({facts.table().name: data} if by_rows else data, facts, rows_only=by_rows)
    unit = facts.unit if by_rows else unit_of(facts, opened.space, by_rows=opened.catalog.by_rows)
    return Audited(data, opened, held, unit)


def replayed_question(
    question: str | Query,
    ours: Audited,
    theirs: Audited,
    parameters: Sequence[object] | Mapping[str, object],
    d_in: Stated | Unit | None,
    entropy: Entropy | None,
    settings: dict[str, Any],
) -> Audit:
    """Audits a question on two databases that were opened for it."""
    asked, there = (_planned(question, data, parameters, settings) for data in (ours, theirs))
    name = question if isinstance(question, str) else str(asked.how)
    unit = ours.unit if d_in is None else d_in
    if fewest_units(ours.held, theirs.held) > ours.opened.space.metric.read(unit):
        raise BadArgument("left and right", "no further apart than d_in: one unit, unless given", "more units")
    made = grey_box(asked, ours.held, theirs.held, d_in=unit, entropy=entropy, name=name)
    if made.witness is not None:  # which shows the tables as they were given, and hands on nothing that opens them
        made = replace(made, witness=replace(made.witness, left=ours.given, right=theirs.given))
    return made if _alike(asked, there) else replace(made, faults=(*made.faults, PLAN))


def fewest_units(left: Unlocked, right: Unlocked) -> int:
    """Gives how many units two databases differ by at least: rows, or ids, of which one with other rows counts twice.

    Tables that say whose their rows are through others are not looked at.
    """
    apart: dict[Hashable, int] = {}
    rows = 0
    for name, scan in left.catalog.tables.items():
        if scan.owner is None or scan.owner.hops:
            continue
        ours, theirs = (_counted(data, data.catalog.tables[name]) for data in (left, right))
        differing = (ours - theirs) + (theirs - ours)
        if not scan.owner.id:
            rows += differing.total()
            continue
        place = [column.name for column in scan.columns].index(scan.owner.id)
        here, there = ({row[place] for row in side} for side in (ours, theirs))
        for one in {row[place] for row in differing} - {canonical(None)}:
            apart[one] = max(apart.get(one, 0), 2 if one in here and one in there else 1)
    return rows or sum(apart.values())


def _counted(data: Unlocked, scan: Scan) -> Counter[tuple[Hashable, ...]]:
    """Counts each row of a table, as its codebook describes it."""
    found = data.engine.run(Cells(scan, scan.columns, (Rows(),)))
    rows = (tuple(map(canonical, row)) for row in zip(*found.keys, strict=True))
    return Counter({row: int(many) for row, many in zip(rows, found.numbers[0], strict=True)})


def _planned(
    question: str | Query,
    data: Audited,
    parameters: Sequence[object] | Mapping[str, object],
    settings: dict[str, Any],
) -> Measurement:
    said, unit = dict(settings), data.unit
    asked: Question | None
    if isinstance(question, str):
        from sfumato.query.sql import read_sql  # which loads sqlglot

        read = read_sql(question, data.opened.catalog, parameters)
        asked, said = read.question, with_options(said, read.options)
    else:
        asked = question.question
    if asked is None:
        raise BadArgument("the question", "one about private tables", question)
    limit = type(said["loss"]) if isinstance(said.get("loss"), Loss) else Loss
    apart = int(unit.metric.read(unit))
    return lowered(asked, Settings.read(**said), data.opened, limit=limit, apart=apart).measurement(CONFIDENCE)


def _alike(one: Measurement, other: Measurement) -> bool:
    return one.how == other.how and one.plan == other.plan and one.map(1) == other.map(1)
