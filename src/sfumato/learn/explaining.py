"""What a fit would cost and how it would be done, said before anything is paid or looked at."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.accounting.losses.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.learn.columns import Column, Number
from sfumato.learn.sources import Asked, Fit
from sfumato.query.answer.explanation import Explanation
from sfumato.query.build.settings import CONFIDENCE
from sfumato.release.render.words import width

if TYPE_CHECKING:
    from sfumato.learn.estimator import PrivateEstimator

MOST_VALUES = 8
"""How many values of a category are named."""


def explained_fit(model: PrivateEstimator, fit: Fit, loss: Loss) -> Explanation:
    """Explains a fit that was planned: on a table with what its account has left, on arrays without an account."""
    measurement, source = fit.measurement, fit.source
    if isinstance(source, Asked):
        made = source.frame.asker.explain_run(measurement, loss=loss)
    else:
        terms = measurement.terms(source.unit, CONFIDENCE)
        made = Explanation(measurement.how, terms.loss, source.unit.protects, terms.confidence)
    columns = (*model.columns_, *(() if model.target_ is None else (model.target_,)))
    return replace(
        made,
        how=replace(measurement.how, asked=model.about),
        tree=tuple(_steps(model, measurement, made)),
        bounds=(*made.bounds, *_counted(fit, made.unit), *(_known(column) for column in columns)),
        half_width=None,
    )


def _counted(fit: Fit, who: str) -> Iterator[str]:
    """How many rows of whom count, where that is said."""
    if isinstance(fit.source, Asked) and fit.source.max_rows is not None:
        most = fit.source.max_rows
        yield f"at most {most} rows of {who} count" if most > 1 else f"at most 1 row of {who} counts"


def _steps(model: PrivateEstimator, measurement: Measurement, made: Explanation) -> Iterator[tuple[str, str]]:
    """What is released, of what, how often rows are looked at, and the noise: of sums on all of them at once."""
    how, error = measurement.how, None if measurement.error is None else measurement.error(made.confidence)
    parameters = ", ".join(f"{name} {value}" for name, value in how.parameters)
    *before, last = how.steps or ("the rows",)
    if error is None:
        before, last = [*before, last], how.postprocessing[-1] if how.postprocessing else "the model"
    at_once = "" if error is None else f", ± {width(error)} on all at once, of columns scaled to [−1, 1]"
    yield "released", last
    yield "made of", " → ".join(before) or "the rows"
    yield "noise", how.mechanism + (f" ({parameters})" if parameters else "") + at_once
    if looks := cost_of(type(model)):
        yield "looks", looks
    yield "then", "the model is made of what was released, which costs nothing"


def cost_of(kind: type) -> str:
    """What a fit does with the rows, as the class says it.

    >>> from sfumato.learn import NaiveBayes
    >>> cost_of(NaiveBayes)
    'one pass in the engine'
    """
    line = re.search(r"^Cost:\s+(.*?)(?=\n\s*\n|\n[A-Z]\w*:|\Z)", inspect.getdoc(kind) or "", re.MULTILINE | re.DOTALL)
    return "" if line is None else " ".join(line[1].split())


def _known(column: Column) -> str:
    """What is public about a column, and what follows for values that do not fit."""
    if isinstance(column, Number):
        return f"{column.name} is moved into [{float(column.lower):g}, {float(column.upper):g}]"
    named = [str(value) for value in column.values[:MOST_VALUES]]
    more = len(column.values) - len(named)
    return f"{column.name} is one of {', '.join(named)}{f' and {more} more' if more else ''}, or none of them"
