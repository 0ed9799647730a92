"""How far a mixture of products is from noisy marginals, and which way it should move.

With the shares of all columns side by side in a matrix Q, one row a component, the marginals of all pairs of columns
are the blocks of Qᵀ diag(weights) Q, and the slopes of a sum of squares over them are Q times the residuals: one
product of matrices each, however many pairs were measured. Larger tables are gathered by all columns but the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats, Measured, deviations
from sfumato.synth.graph.mixture import parts_of, products

Singles: TypeAlias = NDArray[np.float32]
"""Numbers of which seven digits are right: noise leaves fewer, and the work takes half the time."""

MOST_CODES, LEAST_SHARE = 4096, 0.05
"""Pairs are fitted all at once if all columns together have at most so many codes, and so much of all was measured."""

LEAST_SPREAD = 1e-6
"""No deviation counts as smaller than this share of all rows: single numbers tell no more apart."""


@final
@dataclass(frozen=True, eq=False)
class Gathered:
    """Tables that have all columns but the last in common, side by side; or answers to queries about one table."""

    before: tuple[int, ...]
    after: NDArray[np.int64]
    target: Singles
    weight: Singles
    queries: Singles | None = None

    def residuals(self, expected: Singles) -> tuple[float, Singles]:
        """Half the sum of squares of a table's misfits, and its slopes by the table's cells."""
        if self.queries is None:
            apart = expected - self.target
            slopes = self.weight * apart
            return 0.5 * float(np.vdot(slopes, apart)), slopes
        apart = self.queries @ expected.reshape(-1) - self.target
        slopes = self.weight * apart
        return 0.5 * float(np.vdot(slopes, apart)), (slopes @ self.queries).reshape(expected.shape)


@final
@dataclass(frozen=True, eq=False)
class Misfit:
    """Σ over measured marginals of ‖counts − total · marginal‖² / (2 deviation²), of a mixture's weights and shares."""

    parts: tuple[slice, ...]
    alone: tuple[Singles, Singles]
    pairs: tuple[Singles, Singles] | None
    gathered: tuple[Gathered, ...]
    answers: int = field(default=0)

    def at(self, weights: Singles, shares: Singles) -> tuple[float, Singles, Singles]:
        """The misfit, and its slopes by the weights and by the shares."""
        expected = weights @ shares
        apart = expected - self.alone[0]
        slopes = self.alone[1] * apart
        value = 0.5 * float(np.vdot(slopes, apart))
        by_weights, by_shares = shares @ slopes, weights[:, None] * slopes[None, :]
        if self.pairs is not None:
            table = shares.T @ (weights[:, None] * shares)
            table -= self.pairs[0]
            across = self.pairs[1] * table
            # Every pair of codes is in the matrix twice.
            value += 0.25 * float(np.vdot(across, table))
            moved = shares @ across
            by_weights += 0.5 * np.einsum("ks,ks->k", moved, shares)
            moved *= weights[:, None]
            by_shares += moved
        for one in self.gathered:
            value += self._add(one, weights, shares, by_weights, by_shares)
        return value, by_weights, by_shares

    def _add(self, one: Gathered, weights: Singles, shares: Singles, by_weights: Singles, by_shares: Singles) -> float:
        columns = [shares[:, self.parts[axis]] for axis in one.before]
        before = np.ones((len(weights), 1), np.float32)
        for column in columns:
            before = products(before, column)
        after = shares[:, one.after]
        value, slopes = one.residuals(before.T @ (weights[:, None] * after))
        by_after = before @ slopes
        by_weights += np.einsum("ka,ka->k", by_after, after)
        by_shares[:, one.after] += weights[:, None] * by_after
        by_before = weights[:, None] * (after @ slopes.T)
        for place, axis in enumerate(one.before):
            # From the left, what lies before a column is summed out; from the right, what lies after it.
            cells = by_before.reshape(len(weights), *(column.shape[1] for column in columns))
            for column in columns[:place]:
                cells = np.einsum("ka,ka...->k...", column, cells)
            for column in reversed(columns[place + 1 :]):
                cells = np.einsum("k...a,ka->k...", cells, column)
            by_shares[:, self.parts[axis]] += cells
        return value


def misfit_of(domain: Domain, measured: Sequence[Measured], total: float) -> Misfit:
    """The misfit to noisy marginals, each marginal once (see `merged`)."""
    spreads = [max(one, total * LEAST_SPREAD) for one in deviations(measured)]
    size, parts = sum(domain.sizes), parts_of(domain)
    alone = np.zeros((2, size), np.float32)
    plain = [(one, spread) for one, spread in zip(measured, spreads, strict=True) if one.queries is None]
    paired = sum(domain.size(one.columns) for one, _ in plain if len(one.columns) == 2)
    at_once = size <= MOST_CODES and 2 * paired >= LEAST_SHARE * size**2
    pairs = np.zeros((2, size, size), np.float32) if at_once else None
    others: dict[tuple[int, ...], list[tuple[Measured, float]]] = {}
    for one, spread in plain:
        axes, filled = domain.axes(one.columns), (one.counts / total, np.float64(total / spread) ** 2)
        if len(axes) == 1:
            alone[0, parts[axes[0]]], alone[1, parts[axes[0]]] = filled
        elif len(axes) == 2 and pairs is not None:
            for table, value in zip(pairs, filled, strict=True):
                table[parts[axes[0]], parts[axes[1]]] = value
                table[parts[axes[1]], parts[axes[0]]] = value.T
        elif axes:
            others.setdefault(axes[:-1], []).append((one, spread))
    gathered = [_gathered(domain, before, tables, total) for before, tables in others.items()]
    for one, spread in zip(measured, spreads, strict=True):
        if one.queries is not None and one.columns:
            gathered.append(_queried(domain, one, spread, total))
    many = sum(one.counts.size for one in measured)
    return Misfit(parts, (alone[0], alone[1]), None if pairs is None else (pairs[0], pairs[1]), tuple(gathered), many)


def _gathered(
    domain: Domain, before: tuple[int, ...], tables: Sequence[tuple[Measured, float]], total: float
) -> Gathered:
    cells = [one.counts.reshape(-1, one.counts.shape[-1]) / total for one, _ in tables]
    last = [parts_of(domain)[domain.axes(one.columns)[-1]] for one, _ in tables]
    after = [np.arange(part.start, part.stop) for part in last]
    weight = [np.full(table.shape, (total / spread) ** 2) for table, (_, spread) in zip(cells, tables, strict=True)]
    return Gathered(before, np.concatenate(after), _single(np.hstack(cells)), _single(np.hstack(weight)))


def _queried(domain: Domain, one: Measured, spread: float, total: float) -> Gathered:
    axes, last = domain.axes(one.columns), parts_of(domain)[domain.axes(one.columns)[-1]]
    weight = np.full(one.counts.shape, (total / spread) ** 2)
    target = _single(one.counts / total)
    return Gathered(axes[:-1], np.arange(last.start, last.stop), target, _single(weight), _single(one.queries))


def _single(values: Any) -> Singles:
    return np.asarray(values, dtype=np.float32)


def merged(domain: Domain, measured: Sequence[Measured]) -> list[Measured]:
    """What was measured, each set of columns once and in the order of the domain, checked against the domain.

    Several answers about one table are averaged, each with a weight of one over its variance.
    """
    found: dict[tuple[str, ...], tuple[Floats, float]] = {}
    rest: list[Measured] = []
    for one, spread in zip(measured, deviations(measured), strict=True):
        one.check(domain)
        if one.queries is not None:
            rest.append(replace(one, deviation=spread))
            continue
        columns = domain.sorted(one.columns)
        counts = one.counts.transpose([one.columns.index(name) for name in columns])
        summed, precision = found.get(columns, (np.zeros(counts.shape), 0.0))
        found[columns] = summed + counts / spread**2, precision + 1 / spread**2
    made = [Measured(columns, summed / precision, precision**-0.5) for columns, (summed, precision) in found.items()]
    return made + rest
