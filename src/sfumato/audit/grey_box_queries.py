"""The grey-box audit of questions in SQL and as data frames: one plan, asked of two neighbouring databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.audit.grey_box import grey_box
from sfumato.audit.record import Audit
from sfumato.codebook.book import Codebook
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.rows import canonical
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.query.build.settings import CONFIDENCE, Accuracy, Settings
from sfumato.query.engines.registry import EngineChoice, is_tabular
from sfumato.query.frame.queries import Query
from sfumato.query.nodes.keysets import KeySet
from sfumato.query.nodes.relations import Scan
from sfumato.query.nodes.worked_out import Finished
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.engine_plan import Cells, Rows
from sfumato.query.plan.open_tables import OpenTables, Unlocked
from sfumato.query.plan.together import measured_together, settings_of
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import open_tables, protects_people, unit_of

PLAN = "the plan of the question depends on the data"


def grey_box_query(
    question: str | Query,
    left: Data,
    right: Data,
    *,
    codebook: Codebook | Mapping[str, object] | str | Path | None = None,
    parameters: Sequence[object] | Mapping[str, object] = (),
    d_in: DistanceLike | Unit | None = None,
    entropy: Entropy | None = None,
    loss: Loss | None = None,
    accuracy: Accuracy | None = None,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_rows: int | None = None,
    max_matches: int | None = None,
    keys: KeySet | None = None,
    weights: Mapping[str, Number] | None = None,
    noise: str | None = None,
    engine: EngineChoice = None,
) -> Audit:
    """Records a question on one database, replays it on a neighbour, and compares what was randomized with its price.

    The question is planned once, on the first database; the second must come to the same plan. ``left`` and ``right``
    are tables that a codebook describes, in the hands of whoever audits: a `Dataset` is reached through a permit only,
    and is refused. ``d_in`` is how many units they differ by: one, unless given; who has other rows counts twice, and
    two that differ by more are refused. ``engine`` is that of `Dataset`, the other settings are those of `Session.sql`.
    """
    ours, theirs = (open_for_audit(data, codebook, engine) for data in (left, right))
    settings = Settings.read(
        loss=loss,
        accuracy=accuracy,
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        max_rows=max_rows,
        max_matches=max_matches,
        keys=keys,
        weights=weights,
        noise=noise,
    )
    return audit_question(question, ours, theirs, parameters, d_in, entropy, settings)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Audited:
    """Tables of an auditor, opened: what a plan is made with, what it runs on, and who is protected."""

    given: Data
    opened: OpenTables
    held: Unlocked
    unit: Unit


def open_for_audit(
    data: Data, codebook: Codebook | Mapping[str, object] | str | Path | None, engine: EngineChoice = None
) -> Audited:
    """Opens tables that are in the hands of whoever audits; a data set behind a ledger is refused."""
    if isinstance(data, Dataset):
        must = "tables: an audit looks at the data itself, and a data set is looked at through a permit only"
        raise BadArgument("left and right", must, "a Dataset")
    if codebook is None:
        raise BadArgument("codebook", "given: it describes the tables, and says who is protected", None)
    facts = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    by_rows = not is_tabular(data) and not protects_people(facts)
    given = {facts.table().name: data} if by_rows else data
    opened, held = open_tables(given, facts, rows_only=by_rows, engine=engine)
    unit = facts.unit if by_rows else unit_of(facts, opened.space, by_rows=opened.catalog.by_rows)
    return Audited(data, opened, held, unit)


def audit_question(
    question: str | Query,
    ours: Audited,
    theirs: Audited,
    parameters: Sequence[object] | Mapping[str, object],
    d_in: DistanceLike | Unit | None,
    entropy: Entropy | None,
    settings: Settings,
) -> Audit:
    """Audits a question on two databases that were opened for it."""
    asked, there = (_plan(question, data, parameters, settings) for data in (ours, theirs))
    name = question if isinstance(question, str) else str(asked.how)
    unit = ours.unit if d_in is None else d_in
    if fewest_units(ours.held, theirs.held) > ours.opened.space.metric.read(unit):
        raise BadArgument("left and right", "no further apart than d_in: one unit, unless given", "more units")
    audit = grey_box(asked, ours.held, theirs.held, d_in=unit, entropy=entropy, name=name)
    if audit.witness is not None:  # which shows the tables as they were given, and hands on nothing that opens them
        audit = replace(audit, witness=replace(audit.witness, left=ours.given, right=theirs.given))
    return audit if _alike(asked, there) else replace(audit, faults=(*audit.faults, PLAN))


def fewest_units(left: Unlocked, right: Unlocked) -> int:
    """Counts how many units two databases differ by at least: rows, or ids, where one with other rows counts twice.

    Tables that say whose their rows are through others are not looked at.
    """
    apart: dict[Hashable, int] = {}
    rows = 0
    for name, scan in left.catalog.tables.items():
        if scan.owner is None or scan.owner.hops:
            continue
        ours, theirs = (_count_rows(data, data.catalog.tables[name]) for data in (left, right))
        differing = (ours - theirs) + (theirs - ours)
        if not scan.owner.id:
            rows += differing.total()
            continue
        place = [column.name for column in scan.columns].index(scan.owner.id)
        here, there = ({row[place] for row in side} for side in (ours, theirs))
        for id in {row[place] for row in differing} - {canonical(None)}:
            apart[id] = max(apart.get(id, 0), 2 if id in here and id in there else 1)
    return rows or sum(apart.values())


def _count_rows(data: Unlocked, scan: Scan) -> Counter[tuple[Hashable, ...]]:
    """Counts each row of a table, as its codebook describes it."""
    cells = data.engine.run(Cells(scan, scan.columns, (Rows(),)))
    rows = (tuple(map(canonical, row)) for row in zip(*cells.keys, strict=True))
    return Counter({row: int(many) for row, many in zip(rows, cells.numbers[0], strict=True)})


def _plan(
    question: str | Query,
    data: Audited,
    parameters: Sequence[object] | Mapping[str, object],
    settings: Settings,
) -> Measurement:
    if isinstance(question, str):
        from sfumato.query.sql import read_sql  # which loads sqlglot

        parsed = read_sql(question, data.opened.catalog, parameters)
        settings, own = parsed.options.added_to(settings), parsed.question
        answers = [] if own is None else [Finished("answer", own)]
        answers = answers if parsed.worked is None else list(parsed.worked.answers)
    else:
        answers = [Finished("answer", question.question)]
    if not answers:
        raise BadArgument("the question", "one about private tables", question)
    limit = Pure if settings.loss is None else type(settings.loss)
    apart = int(data.unit.metric.read(data.unit))
    compiled = [
        compile_question(one.question, said.priced, data.opened, limit=limit, d_in=apart)
        for one, said in zip(answers, settings_of(answers, settings), strict=True)
    ]
    return measured_together(compiled, [one.name for one in answers], CONFIDENCE)


def _alike(left: Measurement, right: Measurement) -> bool:
    return left.how == right.how and left.plan == right.plan and left.map(1) == right.map(1)
