"""Pictures of fitted models, made of what was released and of public facts alone: they cost nothing.

What a column does to a prediction is drawn over a public grid, its bounds or its list of values, with the others held
where that is public or was released: never over rows of the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number as AnyNumber
from sfumato.exact import probability
from sfumato.learn.columns import Bins, Column, Floats, Number

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.charts.models import Effect
    from sfumato.learn.shown import ShownModel

POINTS = 101
"""How many places between its bounds a number is drawn at."""

NO_BAND = "No band: how far the noise moves this model was not released"


def drawn(
    model: ShownModel,
    what: str | None,
    *,
    features: Sequence[str] | None = None,
    at: Mapping[str, object] | None = None,
    confidence: AnyNumber = 0.95,
    title: str | None = None,
) -> Chart:
    """Draws a fitted model; ``features`` are the columns to draw, ``at`` says where others are held (middles else)."""
    ways = [name for name, can in CAN.items() if can(model)]
    if not ways or (what is not None and what not in ways):
        must = f"one of {', '.join(ways) or 'none: this model has no picture'}{did_you_mean(str(what), ways)}"
        raise BadArgument("what to draw", must, what)
    sure = float(probability(confidence, "confidence"))
    match what or ways[0]:
        case "coefficients":
            return _coefficients(model, sure, title)
        case "dependence":
            return _dependence(model, features, at or {}, sure, title)
    return _components(model, title)


CAN: dict[str, Any] = {
    "coefficients": lambda model: hasattr(model, "coef_"),
    "dependence": lambda model: hasattr(model, "curves_") or (hasattr(model, "predict") and model.target_ is not None),
    "components": lambda model: any(hasattr(model, name) for name in ("components_", "correlation_")),
}
"""What can be drawn, what says most first."""


def _coefficients(model: Any, sure: float, title: str | None) -> Chart:
    from sfumato.charts.models import coefficients

    slopes = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    parts = [str(one) for one in model.classes_] if len(slopes) > 1 else [""]
    sizes, names = _ranges(model.columns_), [name for column in model.columns_ for name in _labels(column)]
    plain, ends = [name for column in model.columns_ for name in column.names], intervals_of(model, sure)
    rows: list[tuple[str, str, float, float, float]] = []
    for part, line in zip(parts, slopes, strict=True):
        for name, key, slope, size in zip(names, plain, line, sizes, strict=True):
            low, high = ends.get(key, (math.nan, math.nan))
            rows.append((part, name, float(slope * size), float(low * size), float(high * size)))
    held = f"Bars hold the coefficient of the population, each with {sure:.0%} confidence, noise counted"
    if not any(math.isfinite(low) for low, _ in ends.values()):
        held = "No intervals: the noise hides what they could be" if ends else "No intervals are stated"
    said = [held, "Of numbers, what the way from one bound to the other adds"]
    headline = title or f"{type(model).__name__} of {model.target_.name}"
    measured = f"adds to {_scale(model)}"
    return coefficients(rows, measured=measured, release=model.release_, said=said, title=headline)


def intervals_of(model: Any, sure: float) -> dict[str, tuple[float, float]]:
    """The intervals of coefficients by their names; none, where a model states none."""
    try:
        stated = model.intervals(sure) if hasattr(model, "intervals") else {}
    except BadArgument:
        return {}
    named = {name for column in model.columns_ for name in column.names}
    return dict(stated) if isinstance(stated, Mapping) and set(stated) <= named else {}


def _scale(model: Any) -> str:
    """What coefficients and curves add to, in words."""
    target, name = model.target_, getattr(model.target_, "name", "")
    if is_classifier(model):
        of = f" of {name} = {target.values[1]}" if len(target.values) == 2 else ""
        return f"the log-odds{of}" if hasattr(model, "predict_proba") else f"the score{of}"
    return f"log {name}" if model.link == "log" else str(name)


def _ranges(columns: Sequence[Column]) -> Floats:
    """How far each coordinate can go: from one bound to the other, and from 0 to 1 for a value of a category."""
    parts = [[2 * one.half] if isinstance(one, Number) else [1.0] * one.kind for one in columns]
    return np.array([size for part in parts for size in part])


def _labels(column: Column) -> list[str]:
    if not isinstance(column, Number):
        return column.names
    return [f"{column.name}, {float(column.lower):g} to {float(column.upper):g}"]


def _dependence(
    model: Any, features: Sequence[str] | None, at: Mapping[str, object], sure: float, title: str | None
) -> Chart:
    from sfumato.charts.models import effects

    named = [column.name for column in model.columns_]
    for name in (*(features or ()), *at):
        if name not in named:
            raise BadArgument("features", f"of the model: {', '.join(named)}{did_you_mean(name, named)}", name)
    asked, measured = list(features or named), f"adds to {_scale(model)}"
    if hasattr(model, "curves_"):
        columns = [_curve(model, name, sure) for name in asked]
        said = [f"Bands: where {sure:.0%} of fits would lie by the noise alone, about; what was shrunk is not covered"]
    elif hasattr(model, "moments_") and intervals_of(model, sure):
        columns = [_line(model, name, sure) for name in asked]
        said = [f"Compared with the mean, as released; bands hold with {sure:.0%} confidence, noise counted"]
    else:
        columns, held, measured = _grid(model, asked, at)
        said = [*([f"Others held at {held}"] if held else []), NO_BAND]
    headline = title or f"{type(model).__name__}: what each column does to {model.target_.name}"
    return effects(columns, measured=measured, release=model.release_, said=said, title=headline)


def _curve(model: Any, name: str, sure: float) -> Effect:
    """The curve of a column in an additive model, in the units of the target, in the band of its noise."""
    from sfumato.charts.models import Effect

    made = next(one for one in model.made_ if one.name == name)
    unit = model.target_.half if isinstance(model.target_, Number) else 1.0
    curve, reach = unit * model.curves_[name], unit * _z(sure) * model.deviations_[name]
    values, bands = curve.tolist(), list(zip((curve - reach).tolist(), (curve + reach).tolist(), strict=True))
    if not isinstance(made, Bins):
        return Effect(name, made.values, {"": values}, {"": bands})
    places = (float(made.of.lower), *made.edges, float(made.of.upper))
    return Effect(name, places, {"": [*values, values[-1]]}, {"": [*bands, bands[-1]]}, steps=True)


def _line(model: Any, name: str, sure: float) -> Effect:
    """The line of a column in a linear model around the released mean, between the lines of its interval."""
    from sfumato.charts.models import Effect

    place = [column.name for column in model.columns_].index(name)
    column, mean = model.columns_[place], float(model.moments_.means[place])
    scaled = np.linspace(-1.0, 1.0, POINTS)
    apart, slope = (scaled - mean) * column.half, float(model.coef_[place])
    low, high = intervals_of(model, sure)[name]
    ends = (
        np.sort(np.stack([apart * low, apart * high]), axis=0) if math.isfinite(low) else np.full((2, POINTS), np.nan)
    )
    bands = list(zip(*ends.tolist(), strict=True))
    return Effect(name, tuple(column.decode(scaled).tolist()), {"": (slope * apart).tolist()}, {"": bands})


def _grid(model: Any, asked: Sequence[str], at: Mapping[str, object]) -> tuple[list[Effect], str, str]:
    """What is predicted over the public range of each column, others held; how, and what that is."""
    from sfumato.charts.models import Effect

    held = {
        one.name: at.get(one.name, one.middle if isinstance(one, Number) else one.values[0]) for one in model.columns_
    }
    columns, measured = [], ""
    for name in asked:
        place = [column.name for column in model.columns_].index(name)
        column = model.columns_[place]
        places = _places(column)
        rows = np.empty((len(places), len(held)), dtype=object)
        rows[:] = list(held.values())
        rows[:, place] = places
        values, measured = _predicted(model, rows)
        columns.append(Effect(name, tuple(places), values, {}))
    shown = [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in held.items()]
    return columns, ", ".join(shown) if len(held) > 1 else "", measured


def _places(column: Column) -> Sequence[Any]:
    """The public places of a column: a grid between its bounds, or all its values."""
    if not isinstance(column, Number):
        return column.values
    grid: list[float] = np.linspace(float(column.lower), float(column.upper), POINTS).tolist()
    return grid


def _predicted(model: Any, rows: np.ndarray[Any, Any]) -> tuple[dict[str, list[float]], str]:
    """What a model says of rows that are made up: chances of the second class or of each, a score, or a number."""
    target = model.target_
    if not is_classifier(model):
        return {"": np.asarray(model.predict(rows), dtype=np.float64).tolist()}, f"predicted {target.name}"
    second = f"{target.name} = {target.values[1]}" if len(target.values) == 2 else target.name
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(rows)
        if chances.shape[1] == 2:
            return {"": chances[:, 1].tolist()}, f"chance of {second}"
        return {str(one): chances[:, place].tolist() for place, one in enumerate(target.values)}, "chance"
    if hasattr(model, "decision_function") and len(target.values) == 2:
        return {"": np.asarray(model.decision_function(rows)).tolist()}, f"score of {second}"
    places = {value: place for place, value in enumerate(target.values)}
    return {"": [float(places[one]) for one in model.predict(rows).tolist()]}, f"class of {target.name}"


def _components(model: Any, title: str | None) -> Chart:
    from sfumato.charts.models import matrix

    names = [column.name for column in model.columns_]
    if not hasattr(model, "components_"):
        cells = [
            (one, other, float(model.correlation_[i, j]))
            for i, one in enumerate(names)
            for j, other in enumerate(names)
        ]
        return matrix(cells, measured="correlation", release=model.release_, title=title or "Correlations")
    shares = model.explained_variance_ratio_
    cells = [
        (f"{place + 1}: {shares[place]:.0%}", name, float(weight))
        for place, line in enumerate(model.components_)
        for name, weight in zip(names, line, strict=True)
    ]
    error = f"The sine of the angle that noise turned them by is at most about {model.subspace_error_:.2g}"
    said = ["Components with the share of the variance that each explains", error]
    return matrix(cells, measured="weight", release=model.release_, said=said, title=title or "Principal components")


def _z(sure: float) -> float:
    return NormalDist().inv_cdf((1 + sure) / 2)
