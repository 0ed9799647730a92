"""A mixture of products: rows of a few kinds, with independent columns within each kind.

It has a marginal for every set of columns, however many columns there are and however many marginals were measured;
a junction tree may be too large for that. The relaxed rows of RAP (Aydore et al. 2021, arXiv 2103.06641) and the
generator of GEM (Liu, Vietri and Wu 2021, arXiv 2106.07153) are such mixtures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.conditioning import checked_codes
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import Integers, grouped_draws, room

PIECE = 1 << 22
"""Products of components and cells are made in pieces of about so many numbers."""

ROUNDING = 1e-12
"""Shares whose sum is this close to 1 sum to 1."""


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """P(row) = Σ weight of a component × Π over columns of its share of the column's code.

    ``shares`` has a row for each component; the shares of the codes of all columns lie side by side in it, in the order
    of the domain, and those of each column sum to 1.
    """

    domain: Domain
    total: float
    weights: Floats
    shares: Floats

    def __post_init__(self) -> None:
        weights, shares = np.array(self.weights, np.float64), np.array(self.shares, np.float64)
        if not self.domain.names:
            raise BadArgument("domain", "one or more columns", 0)
        if weights.ndim != 1 or not len(weights) or shares.shape != (len(weights), sum(self.domain.sizes)):
            raise BadArgument("shares", "a row for each weight and a column for each code", shares.shape)
        if not (
            np.isfinite(weights).all() and np.isfinite(shares).all() and (weights >= 0).all() and weights.sum() > 0
        ):
            raise BadArgument("weights and shares", "numbers of at least 0, not all of them 0", "others")
        sums = np.stack([shares[:, part].sum(axis=1) for part in self.parts], axis=1)
        if (shares < 0).any() or not (sums > 0).all():
            raise BadArgument("shares", "at least 0, and not all 0 in any column", "others")
        # What sums to 1 already is kept to the bit, so that a model that was stored draws the same rows.
        if not np.allclose(sums, 1, rtol=0, atol=ROUNDING):
            shares = shares / np.repeat(sums, self.domain.sizes, axis=1)
        if abs(weights.sum() - 1) > ROUNDING:
            weights = weights / weights.sum()
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "shares", shares)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the codes of each column lie in ``shares``."""
        return parts_of(self.domain)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns; any will do, if their table fits into memory."""
        shape, axes = self.domain.shape(columns), self.domain.axes(columns)
        if len(set(axes)) != len(axes):
            raise BadArgument("columns", "different columns", list(columns))
        if not axes:
            return np.array(self.total)
        table = np.zeros((self.domain.size(columns[:-1]), shape[-1]))
        many = max(1, PIECE // len(table))
        for start in range(0, len(self.weights), many):
            piece = slice(start, start + many)
            before = self.weights[piece, None]
            for axis in axes[:-1]:
                before = products(before, self.shares[piece, self.parts[axis]])
            table += before.T @ self.shares[piece, self.parts[axes[-1]]]
        return self.total * table.reshape(shape)

    def marginals(self, asked: Sequence[Sequence[str]]) -> list[Floats]:
        """The expected counts of many sets of columns; all pairs of columns are one product of matrices."""
        if sum(len(columns) == 2 for columns in asked) < len(self.domain.names) or sum(self.domain.sizes) > 8192:
            return [self.marginal(columns) for columns in asked]
        every = self.total * (self.shares.T @ (self.weights[:, None] * self.shares))
        made: list[Floats] = []
        for columns in asked:
            axes = self.domain.axes(columns)
            pair = len(set(axes)) == len(axes) == 2
            made.append(every[self.parts[axes[0]], self.parts[axes[1]]].copy() if pair else self.marginal(columns))
        return made

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows of codes: components for rows, then codes of each column for the rows of a component.

        Both are rounded and not drawn one by one: of m rows of a component, a code with share p gets ⌊mp⌋ or ⌈mp⌉, mp
        in expectation, and chance decides which. ``given`` fixes columns, to one code for all rows or one for each: the
        components then have the weights that they have among such rows.
        """
        codes, free = room(self.domain, rows), set(range(len(self.domain.names)))
        for name, values in (given or {}).items():
            [axis] = self.domain.axes([name])
            codes[:, axis] = checked_codes(self.domain, name, values, len(codes))
            free.discard(axis)
        chosen = self._components(codes, sorted(set(range(len(self.domain.names))) - free), entropy)
        for axis in sorted(free):
            codes[:, axis] = grouped_draws(self.shares[:, self.parts[axis]], chosen, entropy)
        return codes

    def _components(self, codes: Codes, fixed: Sequence[int], entropy: Entropy) -> Integers:
        """Draws for each row a component, by what its fixed columns say."""
        if not fixed or not len(codes):
            return grouped_draws(self.weights[None, :], np.zeros(len(codes), np.int64), entropy)
        conditions, which = np.unique(codes[:, list(fixed)], axis=0, return_inverse=True)
        which, chosen = which.reshape(-1), np.empty(len(codes), np.int64)
        many = max(1, PIECE // len(self.weights))
        for start in range(0, len(conditions), many):
            inside = np.flatnonzero((which >= start) & (which < start + many))
            weights = self._weights_given(conditions[start : start + many], fixed)
            chosen[inside] = grouped_draws(weights, which[inside] - start, entropy)
        return chosen

    def _weights_given(self, conditions: Codes, fixed: Sequence[int]) -> Floats:
        """The weights of components among rows with some codes, a row for each condition.

        Logarithms keep products of many small shares apart; a share of 0 counts as the smallest number there is.
        """
        tiny = np.finfo(np.float64).tiny
        logarithms = np.repeat(np.log(np.maximum(self.weights, tiny))[None, :], len(conditions), axis=0)
        for place, axis in enumerate(fixed):
            codes = conditions[:, place].astype(np.int64) + self.parts[axis].start
            logarithms += np.log(np.maximum(self.shares[:, codes], tiny)).T
        return np.asarray(np.exp(logarithms - logarithms.max(axis=1, keepdims=True)))

    def plain(self) -> dict[str, Any]:
        """The model as lists and numbers that JSON keeps exactly."""
        return {
            "names": list(self.domain.names),
            "sizes": list(self.domain.sizes),
            "total": self.total,
            "weights": self.weights.tolist(),
            "shares": self.shares.tolist(),
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Mixture:
        """Reads what `plain` wrote."""
        try:
            domain = Domain(tuple(plain["names"]), tuple(plain["sizes"]))
            weights, shares = np.array(plain["weights"], np.float64), np.array(plain["shares"], np.float64)
            return Mixture(domain, float(plain["total"]), weights, shares.reshape(len(weights), -1))
        except (KeyError, TypeError, ValueError) as fault:
            raise BadArgument("plain", "what Mixture.plain() gave", type(fault).__name__) from None


def parts_of(domain: Domain) -> tuple[slice, ...]:
    """Where the codes of each column lie, when those of all columns lie side by side."""
    ends = np.cumsum((0, *domain.sizes)).tolist()
    return tuple(slice(start, end) for start, end in pairwise(ends))


def products(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """All products of a number of ``left`` and one of ``right``, row by row."""
    made: np.ndarray[Any, Any] = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    return made


def joined(mixtures: Sequence[Mixture]) -> Mixture:
    """The average of several mixtures, which is one of all their components."""
    first = mixtures[0]
    weights = np.concatenate([one.weights for one in mixtures]) / len(mixtures)
    return Mixture(first.domain, first.total, weights, np.concatenate([one.shares for one in mixtures]))
