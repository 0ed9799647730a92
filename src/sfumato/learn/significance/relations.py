"""The test of correlation, from the noisy sums of products of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.learn.columns import Between, Floats, Number, known_column, stated_column, unstated
from sfumato.learn.significance.asking import Paying, Terms, aligned, one_array
from sfumato.learn.significance.draws import NoiseLaw, chi_squares, normals
from sfumato.learn.significance.finding import Finding, chance_of, read_alternative, unknown
from sfumato.learn.significance.means import FLOOR
from sfumato.query.frame import Frame


def correlation_test(
    data: object,
    other: object = None,
    *,
    columns: Sequence[str] | None = None,
    between: Between | None = None,
    alternative: str = "two-sided",
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether two columns of numbers are independent, by their correlation (Pearson), privately.

    ``correlation_test(x, y, between=[(0, 100), (0, 9)], epsilon=1)`` on numbers that one holds, or
    ``correlation_test(table, columns=["age", "income"], …)`` behind the ledger. The number of rows and the sums of
    numbers, squares and products are released with noise, once; ``statistic`` is their correlation. Its p-value is that
    of the correlation over the deviation that rows and noise give it, by drawing releases of independent normal numbers
    (proofs/significance.md#correlation).
    """
    terms, side = Terms.read(paying), read_alternative(alternative)
    names = ["x", "y"] if columns is None else [str(name) for name in columns]
    if isinstance(data, Frame) == (columns is None) or isinstance(data, Frame) == (other is not None):
        raise BadArgument("what is compared", "two arrays, or a table and columns=['age', 'income']", names)
    if len(set(names)) != 2:
        raise BadArgument("columns", "two", names)
    first, second = (_number(name, place, between, data) for place, name in enumerate(names))
    values = () if isinstance(data, Frame) else aligned(one_array(data), one_array(other, "y"))
    release, sums, law = terms.released(terms.source(data, (first, second), values))
    asked, rows = f"are {first.name} and {second.name} independent, by their correlation?", float(sums[0])
    if rows < 3:
        return unknown(asked, release, rows)
    correlation, statistic, under = correlation_statistic(sums, law, terms.simulations, terms.drawing)
    chance = chance_of(statistic, under, side)
    return Finding(asked, correlation, chance, release, correlation, rows=rows)


def _number(name: str, place: int, between: Between | None, data: object) -> Number:
    known = stated_column(name, place, between, None)
    if known is None and isinstance(data, Frame):
        known = known_column(name, data.relation)
    if not isinstance(known, Number):
        raise unstated(name, table=isinstance(data, Frame))
    return known


def correlation_statistic(sums: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, float, Floats]:
    """The correlation, its size beside what rows and noise make of it, and draws of that without correlation."""
    rows, means, scatter, shared = _scatter(sums[None], law)
    size, spread = float(rows[0]), np.sqrt((scatter[0] + law.deviation) / (rows[0] - 1))
    people = max(size / law.together, 3.0)
    each = size / people
    spread = spread * np.sqrt((size - 1) / (size - each))
    first, second = chi_squares(np.array([people - 1, people - 2]), count, entropy).T
    crossed = normals((count, 3), entropy)
    centres = means[0] + spread * crossed[:, :2] / np.sqrt(people)
    across = crossed[:, 2]
    squares = np.stack([first, across**2 + second], axis=1) * each * spread**2 + size * centres**2
    products = np.sqrt(first) * across * each * spread.prod() + size * centres.prod(axis=1)
    whole = np.stack(
        [np.full(count, size), size * centres[:, 0], size * centres[:, 1], squares[:, 0], products, squares[:, 1]]
    ).T
    drawn = _scatter(whole + law.draw(count, entropy), law)
    correlation = float(np.clip(shared[0] / np.sqrt(scatter[0].prod()), -1.0, 1.0))
    return correlation, float(_standard((rows, means, scatter, shared), law)[0]), _standard(drawn, law)


def _scatter(sums: Floats, law: NoiseLaw) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows, means, sums of squares around them, and the sum of products around them, of released sums."""
    rows = np.maximum(sums[:, 0], 3.0)
    means = np.clip(sums[:, 1:3] / rows[:, None], -1.0, 1.0)
    scatter = np.maximum(sums[:, [3, 5]] - rows[:, None] * means**2, FLOOR * law.deviation)
    return rows, means, scatter, np.asarray(sums[:, 4] - rows * means.prod(axis=1))


def _standard(parts: tuple[Floats, Floats, Floats, Floats], law: NoiseLaw) -> Floats:
    """The sum of products over its deviation without correlation, by drawing rows and by the noise on it."""
    rows, means, scatter, shared = parts
    added = 1 + (means**2).sum(axis=1) + means.prod(axis=1) ** 2
    return np.asarray(shared / np.sqrt(scatter.prod(axis=1) / rows + law.variance * added))
