"""Intervals for what is computed from the rows of a `Synthetic`, as tables with values instead of codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any, Literal

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.progress import Progress
from sfumato.synth.bayesian_network import BayesianNetwork
from sfumato.synth.counting import Rows
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import total_of
from sfumato.synth.intervals import DRAWS, MOST_ROWS, Refit, SyntheticInterval, noisy_interval
from sfumato.synth.private_errors import noise_family
from sfumato.synth.privbayes import fitted_network
from sfumato.synth.synthetic import Form, Synthetic, in_form


def interval_of(
    synthetic: Synthetic,
    statistic: Callable[[Any], float],
    *,
    rows: int | None = None,
    confidence: Number = "0.95",
    of: Literal["population", "table"] = "population",
    draws: int | None = None,
    columns: Sequence[str] = (),
    form: Form = "polars",
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> SyntheticInterval:
    """An interval for a function of a table of rows; see `Synthetic.interval`."""
    source = entropy or system()
    named = synthetic.schema.domain.sorted(columns)

    def of_codes(table: Rows) -> float:
        return float(statistic(in_form(synthetic.schema.decode(table.codes, source), form)))

    return noisy_interval(
        of_codes,
        synthetic.model,
        synthetic.measured,
        refit_of(synthetic),
        rows=min(synthetic.rows, MOST_ROWS) if rows is None else rows,
        confidence=confidence,
        of=of,
        noise=noise_family(synthetic.loss),
        draws=DRAWS if draws is None else draws,
        columns=named,
        entropy=source,
        progress=progress,
    )


def refit_of(synthetic: Synthetic) -> Refit:
    """How a model is fitted again to redrawn counts: to the tables that were measured, beginning at the model there is.

    The choice of tables is not redone: intervals are for a table of which these were measured.
    """
    model = synthetic.model
    if not synthetic.measured or not isinstance(model, GraphicalModel | BayesianNetwork):
        must = "made by a method that fits a model to noisy tables, such as MST or AIM: of others no refit is known"
        raise BadArgument("synthetic data", must, synthetic.method)
    # Where the number of rows was stated, it is not what the counts say, and stays as it is.
    stated = None if isclose(total_of(synthetic.measured), model.total, rel_tol=1e-9) else model.total

    if isinstance(model, BayesianNetwork):
        return lambda measured: fitted_network(model.network, measured, stated, model.most_cells)
    return lambda measured: estimate(model.domain, measured, total=stated, start=model)
