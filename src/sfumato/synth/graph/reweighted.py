"""Rows that are known, with weights that make them fit noisy marginals: multiplicative weights on a public table.

After Liu et al. 2021, "Leveraging public data for practical private query release" (arXiv 2102.08598).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.conditioning import checked_codes
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats, Measured, deviations, total_of
from sfumato.synth.graph.misfit import merged
from sfumato.synth.graph.mixture import Mixture
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import Integers, flattened, grouped_draws, room

SWEEPS = 400
"""Weights are moved so often, at most."""

FIRST_STEP = 0.05
"""How far the logarithm of a weight moves at first: little, so that weights do not run past where noise begins."""


@final
@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows with weights; a share of ``smoothing`` of all rows is drawn from another model, ``rest``, in their place.

    No row outside ``codes`` can come but by ``rest``.
    """

    domain: Domain
    total: float
    codes: Codes
    weights: Floats
    rest: Mixture
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.domain.names) or not len(self.codes):
            raise BadArgument("codes", f"rows of {len(self.domain.names)} columns, at least one", self.codes.shape)
        if self.weights.shape != self.codes.shape[:1] or not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise BadArgument("weights", "a number of at least 0 for each row, not all 0", "others")
        if not 0 <= self.smoothing <= 1:
            raise BadArgument("smoothing", "a share of 0 … 1", self.smoothing)
        if abs(self.weights.sum() - 1) > 1e-12:
            object.__setattr__(self, "weights", self.weights / self.weights.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns."""
        shape, axes = self.domain.shape(columns), self.domain.axes(columns)
        flat = flattened(self.codes, axes, shape)
        counts = np.bincount(flat, weights=self.weights, minlength=math.prod(shape)).reshape(shape)
        return np.asarray(self.total * (1 - self.smoothing) * counts + self.smoothing * self._apart(columns))

    def marginals(self, asked: Sequence[Sequence[str]]) -> list[Floats]:
        """The expected counts of many sets of columns."""
        return [self.marginal(columns) for columns in asked]

    def _apart(self, columns: Sequence[str]) -> Floats:
        return self.rest.marginal(columns) * (self.total / self.rest.total)

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows of codes; a row of weight w comes ⌊mw⌋ or ⌈mw⌉ times in m rows, and mw times in expectation.

        ``given`` fixes columns, to one code for all rows or one for each: rows that have these codes are drawn by their
        weights, or, where there is none, a row of ``rest``.
        """
        codes = room(self.domain, rows)
        for name, values in (given or {}).items():
            codes[:, self.domain.axes([name])[0]] = checked_codes(self.domain, name, values, len(codes))
        fixed = list(self.domain.axes(self.domain.sorted(given or {})))
        conditions, which = np.unique(codes[:, fixed], axis=0, return_inverse=True)
        which = which.reshape(-1) if fixed else np.zeros(len(codes), np.int64)
        for number in range(len(conditions) if fixed else min(1, len(codes))):
            inside = np.flatnonzero(which == number)
            condition = dict(zip(fixed, conditions[number].tolist() if fixed else (), strict=True))
            codes[inside] = self._drawn(len(inside), condition, entropy)
        return codes

    def _drawn(self, rows: int, condition: Mapping[int, int], entropy: Entropy) -> Codes:
        matching = np.ones(len(self.codes), bool)
        others = self.smoothing
        for axis, code in condition.items():
            matching &= self.codes[:, axis] == code
        if condition:
            table = self.rest.marginal([self.domain.names[axis] for axis in condition]) / self.rest.total
            others *= float(table[tuple(condition.values())])
        held = np.flatnonzero(matching)
        mass = np.array([[(1 - self.smoothing) * self.weights[held].sum(), others]])
        apart = grouped_draws(mass if mass.sum() > 0 else np.array([[0.0, 1.0]]), np.zeros(rows, np.int64), entropy)
        made = room(self.domain, rows)
        own, rest = np.flatnonzero(apart == 0), np.flatnonzero(apart == 1)
        if len(own):
            drawn = grouped_draws(self.weights[held][None, :], np.zeros(len(own), np.int64), entropy)
            made[own] = self.codes[held[drawn]]
        given = {self.domain.names[axis]: code for axis, code in condition.items()}
        made[rest] = self.rest.sample(len(rest), entropy, given)
        return made

    def plain(self) -> dict[str, Any]:
        """The model as lists and numbers that JSON keeps exactly."""
        return {
            "total": self.total,
            "codes": self.codes.tolist(),
            "weights": self.weights.tolist(),
            "rest": self.rest.plain(),
            "smoothing": self.smoothing,
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> WeightedRows:
        """Reads what `plain` wrote."""
        try:
            rest, weights = Mixture.from_plain(plain["rest"]), np.array(plain["weights"], np.float64)
            codes = np.array(plain["codes"], np.int64).reshape(len(weights), len(rest.domain.names))
            kept = room(rest.domain, len(codes))
            kept[:] = codes
            return WeightedRows(rest.domain, float(plain["total"]), kept, weights, rest, float(plain["smoothing"]))
        except (KeyError, TypeError, ValueError) as fault:
            raise BadArgument("plain", "what WeightedRows.plain() gave", type(fault).__name__) from None


def rows_of(domain: Domain, codes: Codes, rest: Mixture, *, smoothing: float) -> WeightedRows:
    """Rows with the weights that they have in a table, each row once."""
    if not len(codes):
        raise BadArgument("the public table", "one or more rows of values that the columns can have", 0)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    kept = room(domain, len(distinct))
    kept[:] = distinct
    return WeightedRows(domain, rest.total, kept, counts / counts.sum(), rest, smoothing)


def reweighted(
    start: WeightedRows, measured: Sequence[Measured], *, total: float | None = None, sweeps: int = SWEEPS
) -> WeightedRows:
    """Moves weights until the marginals are as far from what was measured as noise is, and no further.

    Each weight is multiplied by the exponential of what the misfit would fall by; steps that lead upwards are halved.
    """
    known = merged(start.domain, measured)
    rows = max(1.0, total_of(known) if total is None else total)
    fit = Reweighting.of(replace(start, total=rows), known, rows)
    weights, length = np.log(np.maximum(start.weights, 1e-300)), FIRST_STEP
    value, slope = fit.at(weights)
    for _ in range(sweeps):
        if value <= fit.noise or length < 1e-9:
            break
        trial = weights - length * slope / max(float(np.abs(slope).max()), 1e-300)
        after, turned = fit.at(trial)
        if after < value:
            weights, value, slope, length = trial, after, turned, 1.3 * length
        else:
            length /= 2
    return replace(start, total=rows, weights=np.exp(weights - weights.max()))


@final
@dataclass(frozen=True, eq=False)
class Reweighting:
    """The misfit of weighted rows, as a function of the logarithms of their weights."""

    rows: WeightedRows
    measured: Sequence[Measured]
    spreads: Sequence[float]
    apart: Sequence[Floats]
    places: Sequence[Integers]

    @staticmethod
    def of(rows: WeightedRows, measured: Sequence[Measured], total: float) -> Reweighting:
        """Works out which cell of each table every row is in, and what the other model adds."""
        domain = rows.domain
        spreads = [max(one, total * 1e-6) for one in deviations(measured)]
        apart = [rows.smoothing * rows._apart(one.columns) for one in measured]
        places = [flattened(rows.codes, domain.axes(one.columns), domain.shape(one.columns)) for one in measured]
        return Reweighting(rows, measured, spreads, apart, places)

    @cached_property
    def noise(self) -> float:
        """The misfit that noise alone makes; nothing, where there is none."""
        noisy = any(one.deviation > 0 for one in self.measured)
        return 0.5 * sum(one.counts.size for one in self.measured) if noisy else 0.0

    def at(self, logarithms: Floats) -> tuple[float, Floats]:
        """The misfit, and how it would change with each row's weight."""
        weights = np.exp(logarithms - logarithms.max())
        weights /= weights.sum()
        scale, value = self.rows.total * (1 - self.rows.smoothing), 0.0
        slope = np.zeros(len(weights))
        for one, spread, apart, place in zip(self.measured, self.spreads, self.apart, self.places, strict=True):
            cells = np.bincount(place, weights=weights, minlength=apart.size).reshape(apart.shape)
            expected = (scale * cells + apart).reshape(-1)
            answers = expected if one.queries is None else one.queries @ expected
            misfit = (answers - one.counts.reshape(-1)) / spread
            value += 0.5 * float(misfit @ misfit)
            turned = misfit / spread if one.queries is None else (misfit / spread) @ one.queries
            slope += scale * turned[place]
        return value, slope - weights @ slope
