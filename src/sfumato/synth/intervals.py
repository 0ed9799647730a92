"""Intervals for what is computed from synthetic rows that know of the noise: the whole way is redone from the model.

A plain interval takes synthetic rows for people and leaves out that counts had noise: it is too narrow. Here a table is
drawn from the fitted model, its counts get fresh noise of the known deviation, a model is fitted to them, and rows are
drawn from that; the spread of what is computed from these is the error of what was computed (a parametric bootstrap:
approximate, and right where the model is; proofs/synthetic_errors.md#bootstrap). No data is seen and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Literal, TypeAlias, final

import numpy as np
from scipy import stats

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, probability
from sfumato.learn.significance.draws import normals, uniforms
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Codes, Columns, Floats, Rows
from sfumato.synth.graph.measured import Measured
from sfumato.synth.graph.model import Model
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.noise_errors import Noise

Refit: TypeAlias = Callable[[Sequence[Measured]], Model]
"""Fits a model to noisy counts: the method's own way, without data."""

Statistic: TypeAlias = Callable[[Rows], float]

DRAWS = 60
"""So often the whole way is redone, where nothing is said."""

MOST_ROWS = 200_000
"""Of larger tables so many rows are drawn; how far counts stray is then scaled to the size of the table."""

POOL = 4
"""The population that tables are drawn from is so many times as large as they are, and drawn once."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class SyntheticInterval(Judgement):
    """An interval for a number that was computed from synthetic rows; noise, sampling and drawing of rows counted.

    ``plain`` is the interval of someone who takes the rows for people: too narrow, and shown for that. ``guessed`` are
    pairs of columns that were never measured together, where the number rests on what the model makes of them.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    of: str
    draws: int
    plain: tuple[float, float] | None = None
    guessed: tuple[Columns, ...] = ()
    basis: Basis = Basis.FREE

    def document(self) -> Document:
        """The number with its interval, beside the plain one, for any form."""
        rows = [("with the noise", f"{self.low:.4g} … {self.high:.4g}")]
        if self.plain is not None:
            rows.append(("as if rows were people, the noise left out", f"{self.plain[0]:.4g} … {self.plain[1]:.4g}"))
        rows.append(("for", f"the {self.of}"))
        rows.append(("made of", f"{self.draws} refits to redrawn noise; approximate"))
        pairs = ", ".join(" × ".join(pair) for pair in self.guessed)
        warned = f"Never measured together, so this rests on a guess that no interval counts: {pairs}."
        said = f"{self.estimate:.4g}, {self.low:.4g} … {self.high:.4g}"
        aside = f"with {self.confidence:.0%} confidence"
        return Document("Interval", said, aside, (warned,) if pairs else (), tables=(Table(tuple(rows)),))


def noisy_interval(
    statistic: Statistic,
    model: Model,
    measured: Sequence[Measured],
    refit: Refit,
    *,
    rows: int | None = None,
    synthetic: Codes | None = None,
    confidence: Number = "0.95",
    of: Literal["population", "table"] = "population",
    noise: Noise = Noise.GAUSSIAN,
    draws: int = DRAWS,
    columns: Sequence[str] = (),
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> SyntheticInterval:
    """An interval for a statistic of synthetic rows, by redoing noise, fit and sampling from the fitted model.

    Takes:      a function of rows of codes; the fitted model, the noisy counts it was fitted to, and how; ``synthetic``
                rows, or how many ``rows`` to draw; ``of``, whether it is for the people that the table is a sample of
                or for the table; ``columns`` that the statistic is of, to say which of them the model guesses together
    Gives:      a `SyntheticInterval`; approximate, and blind to what was never measured
    Cost:       a fit and a sample for each of ``draws``
    """
    source, asked = entropy or system(), integer(draws, "draws", least=8)
    if of not in ("population", "table"):
        raise BadArgument("of", "'population' or 'table'", of)
    level = float(probability(confidence, "confidence"))
    many = len(synthetic) if synthetic is not None else integer(rows or max(1, round(model.total)), "rows", least=1)
    codes = model.sample(many, source) if synthetic is None else synthetic
    estimate = float(statistic(Rows(model.domain, codes)))
    world = _World.around(model, measured, noise, source)
    truth = float(statistic(world.pool))
    errors = []
    with reporting(progress, "redrawing the noise") as tell:
        for place in range(asked):
            table, counts = world.measured_again(source)
            again = float(statistic(Rows(model.domain, refit(counts).sample(many, source))))
            errors.append(again - (truth if of == "population" else float(statistic(table))))
            tell(place + 1, asked)
    half = float(stats.t.ppf((1 + level) / 2, asked - 1)) * sqrt(float(np.mean(np.square(errors))))
    plain = _plain(statistic, Rows(model.domain, codes), asked, level, estimate, source)
    guessed = never_together(columns, [one.columns for one in measured])
    return SyntheticInterval(estimate, estimate - half, estimate + half, level, of, asked, plain, guessed)


def redrawn(
    model: Model,
    measured: Sequence[Measured],
    refit: Refit,
    *,
    times: int,
    noise: Noise = Noise.GAUSSIAN,
    entropy: Entropy | None = None,
) -> Iterator[Model]:
    """Models fitted to tables redrawn from one model with fresh noise: draw a data set of each to combine estimates."""
    source = entropy or system()
    world = _World.around(model, measured, noise, source)
    for _ in range(integer(times, "times", least=2)):
        yield refit(world.measured_again(source)[1])


def combined(
    estimates: Sequence[float], variances: Sequence[float] | None = None, *, confidence: Number = "0.95"
) -> SyntheticInterval:
    """Combines estimates from several data sets, each drawn from a refit of its own (`redrawn`), into one interval.

    With the variance of each (as if rows were people), the rules of Raghunathan, Reiter and Rubin (2003); without, the
    spread of the estimates alone, which is wider. Data sets of *one* fit differ too little: never combine those.

    >>> estimate = combined([0.48, 0.5, 0.52, 0.49, 0.51])
    >>> f"{estimate.low:.3f} {estimate.estimate:.3f} {estimate.high:.3f}"
    '0.452 0.500 0.548'
    """
    many = len(estimates)
    if many < 2 or (variances is not None and len(variances) != many):
        raise BadArgument("estimates", "two or more, each with its variance where there are any", many)
    level = float(probability(confidence, "confidence"))
    spread = (1 + 1 / many) * float(np.var(estimates, ddof=1))
    within = float(np.mean(variances)) if variances is not None else 0.0
    freedom = float(many - 1)
    if 0 < within < spread:
        freedom, spread = freedom * (1 - within / spread) ** 2, spread - within
        freedom = max(freedom, 1.0)
    middle = float(np.mean(estimates))
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * sqrt(spread)
    return SyntheticInterval(middle, middle - half, middle + half, level, "population", many)


def never_together(columns: Sequence[str], measured: Sequence[Columns]) -> tuple[Columns, ...]:
    """Pairs of columns that no measured marginal holds both of."""
    held = [frozenset(each) for each in measured]
    pairs = ((left, right) for place, left in enumerate(columns) for right in columns[place + 1 :])
    return tuple(pair for pair in pairs if not any(each.issuperset(pair) for each in held))


@final
@dataclass(frozen=True, eq=False)
class _World:
    """A population drawn from a model, of which all is known: where tables and their noisy counts are drawn again."""

    pool: Rows
    measured: tuple[Measured, ...]
    total: int
    noise: Noise

    @classmethod
    def around(cls, model: Model, measured: Sequence[Measured], noise: Noise, entropy: Entropy) -> _World:
        if not measured:
            raise BadArgument("measured", "at least one marginal: without any there is nothing to redraw", 0)
        total = max(1, round(model.total))
        drawn = model.sample(POOL * min(total, MOST_ROWS), entropy)
        return cls(Rows(model.domain, drawn), tuple(measured), total, noise)

    def measured_again(self, entropy: Entropy) -> tuple[Rows, list[Measured]]:
        """A table drawn from the population, row by row, and its counts with fresh noise."""
        many = min(self.total, MOST_ROWS)
        places = (uniforms(many, entropy) * len(self.pool.codes)).astype(np.int64)
        table = Rows(self.pool.domain, self.pool.codes[places])
        return table, [self._again(one, table, entropy) for one in self.measured]

    def _again(self, one: Measured, table: Rows, entropy: Entropy) -> Measured:
        usual = self.pool.marginal(one.columns) * (self.total / self.pool.total)
        drawn = table.marginal(one.columns) * (self.total / table.total)
        counts = usual + (drawn - usual) * sqrt(table.total / self.total)
        exact = counts if one.queries is None else one.queries @ counts.ravel()
        return replace(one, counts=exact + fresh_noise(exact.shape, one.deviation, self.noise, entropy))


def fresh_noise(shape: tuple[int, ...], deviation: float, noise: Noise, entropy: Entropy) -> Floats:
    """Noise of a family and a deviation, for simulations only: it is not exact and protects nobody."""
    if noise is not Noise.LAPLACE:
        return normals(shape, entropy) * deviation
    drawn = uniforms(int(np.prod(shape)), entropy).reshape(shape) - 0.5
    return np.asarray(-np.sign(drawn) * np.log1p(-2 * np.abs(drawn)) * deviation / sqrt(2))


def _plain(
    statistic: Statistic, table: Rows, draws: int, level: float, estimate: float, entropy: Entropy
) -> tuple[float, float]:
    """The interval of a bootstrap that takes synthetic rows for people."""
    many = len(table.codes)
    if many < 2:
        return -inf, inf
    again = [
        float(statistic(Rows(table.domain, table.codes[(uniforms(many, entropy) * many).astype(np.int64)])))
        for _ in range(draws)
    ]
    half = float(stats.norm.ppf((1 + level) / 2)) * float(np.std(again))
    return estimate - half, estimate + half
