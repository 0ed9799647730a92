"""Everything that can be said of synthetic rows beside a table that one may look at: one's own, or a public one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.learn.sources import check_held
from sfumato.query.frame import Frame
from sfumato.release.render.document import Document, Table
from sfumato.synth.associating import Associations, associations
from sfumato.synth.comparing import MarginalErrors, marginal_errors
from sfumato.synth.counting import Rows
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.learning_from import TrainedOnSynthetic, trained_on_synthetic
from sfumato.synth.nearest import PROVES_NOTHING, NearestRecords, nearest_records
from sfumato.synth.schema import Schema
from sfumato.synth.telling_apart import Propensity, propensity, some_rows
from sfumato.synth.workloads import Workload


@final
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Judgement):
    """How synthetic rows compare with others: marginals, associations, propensities, nearest records, learning."""

    columns: MarginalErrors
    pairs: MarginalErrors | None
    associations: Associations | None
    propensity: Propensity
    nearest: NearestRecords
    learnt: TrainedOnSynthetic | None = None
    basis: Basis = Basis.HELD

    def document(self) -> Document:
        """One line for each measure, and what each of them lists, for any form."""
        parts = [self.columns, self.pairs, self.associations, self.propensity, self.learnt, self.nearest]
        told = [part.document() for part in parts if part is not None]
        lines = tuple((one.title, f"{one.headline}{f' {one.aside}' if one.aside else ''}") for one in told)
        said = f"columns are off by {self.columns.mean:.3g} in the mean"
        said += "" if self.pairs is None else f", pairs by {self.pairs.mean:.3g}"
        tables = (Table(lines), *(table for one in told for table in one.tables if table.head))
        aside = f"total variation, against {self.basis.value}"
        return Document("Evaluation", said, aside, (PROVES_NOTHING, *self.basis.marks), tables=tables)


def evaluate(
    real: Rows,
    synthetic: Rows,
    *,
    ordered: Mapping[str, int] | None = None,
    workload: Workload | None = None,
    target: str | None = None,
    basis: Basis = Basis.HELD,
    entropy: Entropy | None = None,
) -> Evaluation:
    """Compares synthetic rows with others in every way; with a ``target``, by learning that column too.

    Half of the real rows are then kept to test on; those that the synthetic ones were made of may be among them.
    """
    source, several = entropy or system(), len(real.domain.names) > 1
    pairs = marginal_errors(real, synthetic, workload=workload, basis=basis) if several or workload else None
    learnt = None
    if target is not None:
        order = some_rows(real, len(real.codes) - 1, source).codes
        halves = [Rows(real.domain, order[place::2]) for place in (0, 1)]
        learnt = trained_on_synthetic(synthetic, halves[1], target, trained=halves[0], basis=basis)
    return Evaluation(
        marginal_errors(real, synthetic, ways=1, basis=basis),
        pairs,
        associations(real, synthetic, ordered=ordered, basis=basis) if several else None,
        propensity(real, synthetic, basis=basis, entropy=source),
        nearest_records(real, synthetic, basis=basis, entropy=source),
        learnt,
        basis,
    )


def held_rows(schema: Schema, rows: object, name: str) -> Rows:
    """Rows that one holds, as codes of a schema; those with a value that has no code are left out."""
    if isinstance(rows, Frame):
        raise BadArgument(name, "rows that may be looked at; what a session guards is asked with private_error()", rows)
    check_held(rows)
    codes = schema.encode(rows)
    kept = codes[(codes >= 0).all(axis=1)]
    if not len(kept):
        raise BadArgument(name, "a table with at least one row whose values the columns can have", 0)
    return Rows(schema.domain, kept.astype(np.int64, copy=False))
