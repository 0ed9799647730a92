"""One line for synthetic data: the method that public facts recommend."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.entropy import Entropy
from sfumato.exact import Number
from sfumato.learn.prepared import Prepared
from sfumato.query.frame import Frame
from sfumato.release.progress import Progress
from sfumato.synth.advising import advise
from sfumato.synth.aim import AIM
from sfumato.synth.independent import Independent
from sfumato.synth.mst import MST
from sfumato.synth.schema import Bins, Impossible, Schema
from sfumato.synth.stated import Stated
from sfumato.synth.synthesizer import Synthesizer
from sfumato.synth.synthetic import Synthetic
from sfumato.synth.workloads import Workload


def fit(
    table: object,
    loss: Loss | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    workload: Workload | None = None,
    columns: Sequence[str] | None = None,
    max_rows: int | None = None,
    rows: int | None = None,
    bins: Bins | None = None,
    between: Mapping[str, object] | None = None,
    categories: Mapping[str, Sequence[Hashable]] | None = None,
    impossible: Impossible | None = None,
    key: str | None = None,
    progress: Progress | None = None,
    entropy: Entropy | None = None,
) -> Synthetic:
    """Makes a model of a table by the method that suits its columns, its size where that is stated, and the loss.

    Which one is decided from public facts alone (`advise`); the rest is as in ``fit`` of a method.
    """
    paid = needed_loss(loss, epsilon, delta)
    held = table.frame if isinstance(table, Prepared) else table
    known = Stated(columns, bins, between, categories, impossible)
    schema = known.of_table(held) if isinstance(held, Frame) else known.of_rows(held)
    made = recommended(schema, paid, workload, rows).fit(
        held, schema=schema, max_rows=max_rows, rows=rows, key=key, progress=progress, entropy=entropy
    )
    return replace(made, notes=(f"{made.method} was chosen for these columns and this loss", *made.notes))


def recommended(schema: Schema, loss: Loss, workload: Workload | None, rows: int | None) -> Synthesizer:
    """The method that `advise` names, among those that keep to marginals."""
    named = [one.method for one in advise(schema, rows=rows, loss=loss, workload=workload).choices]
    made: dict[str, Synthesizer] = {
        "AIM": AIM(loss=loss, workload=workload),
        "MST": MST(loss=loss),
        "Independent": Independent(loss=loss),
    }
    return next((made[name] for name in named if name in made), made["MST"])
