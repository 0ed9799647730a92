"""Counts of ranges of ordered values: each person tells of one level of a tree, drawn in public.

A range of a list of 1024 values, added up of 1024 noisy counts, has the noise of all of them. A tree has the range in a
few nodes (Cormode, Kulkarni and Srivastava 2019, arXiv 1812.10942): trees of several branchings, and differences of
halves as in a Haar wavelet, are compared by the exact error of ranges, and the best one is taken.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import CLOSE
from sfumato.local.device import HEAD
from sfumato.local.frequency import Frequencies
from sfumato.local.one_of import OneOf
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.range_estimates import Level, RangeEstimate, range_variance
from sfumato.local.range_trees import Haar, Tree, widths_of
from sfumato.local.reports import Layout
from sfumato.local.response import Response
from sfumato.local.signed import SignedResponse
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

BRANCHINGS = (2, 3, 4, 5, 6, 8, 11, 16)
"""Trees that are compared."""

ENDS = 7
"""Errors are compared as a mean over all ranges between so many places, from the first to the last."""


@final
@dataclass(frozen=True)
class Ranges(LocalProtocol[RangeEstimate]):
    """Counts of ranges of ordered values: a report on the node of one level of a tree; `ranges` makes one.

    Takes:      the values in order, the widths of the nodes of all levels, and a protocol for each level
    Guarantee:  the largest loss of the levels  (proofs/local.md#one-of)
    Cost:       that of one report
    Best:       ranges and quantiles; for counts of single values, `frequencies` err less
    """

    values: Values
    widths: tuple[int, ...]
    asked: OneOf

    def __post_init__(self) -> None:
        parts: tuple[Any, ...] = self.asked.parts
        if not all(isinstance(part, Response | UnaryEncoding | SignedResponse) for part in parts):
            raise BadArgument("asked", "one of Response, UnaryEncoding or SignedResponse for each level", parts)
        fitting = [-(-len(self.values) // width) for width in self.widths]
        if [len(part.values) for part in parts] != fitting or self.widths[-1] != 1:
            raise BadArgument(
                "widths", "those of nodes that the protocols are about, down to single values", self.widths
            )
        if any(above % below for above, below in zip(self.widths, self.widths[1:], strict=False)):
            raise BadArgument("widths", "multiples of those below them", self.widths)
        if self._signed and any(isinstance(part, SignedResponse) != self._signed for part in parts):
            raise BadArgument("asked", "signs on all levels or on none", parts)

    @property
    def _signed(self) -> bool:
        return any(isinstance(part, SignedResponse) for part in self.asked.parts)

    @property
    def loss(self) -> Pure:
        """The largest loss of the levels."""
        return self.asked.loss

    @property
    def layout(self) -> Layout:
        """The cells of all levels."""
        return self.asked.layout

    def randomizer(self) -> dict[str, Any]:
        """That of one of several questions."""
        return self.asked.recipe()

    def domain(self) -> dict[str, Any]:
        """The list of values, and the widths of nodes."""
        return {"levels": list(self.widths), "of": listed_domain(self.values)}

    def input_of(self, value: Any) -> list[int]:
        """The node of each level."""
        place = self.values.place(value)
        return [place // width for width in self.widths]

    def inputs_of(self, values: Any) -> tuple[NDArray[np.int64], ...]:
        """The nodes of many values."""
        places = self.values.places(values)
        return tuple(places // width for width in self.widths)

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws the level of each person, and a report on the node."""
        return self.asked.draw(inputs, entropy)

    def tree(self, asked: Sequence[float]) -> Tree | Haar:
        """The tree, for so many people on each level."""
        if self._signed:
            return Haar(len(self.values), self.widths)
        return Tree(len(self.values), self.widths, tuple(_variance(part) / told for part, told in self._told(asked)))

    def variance(self, first: int, after: int, *, asked: Sequence[float], shares: NDArray[np.float64]) -> float:
        """The exact variance of the share of a range of places, if people have such shares of all values."""
        parts: tuple[Any, ...] = self.asked.parts
        return range_variance(parts, self.tree(asked), asked, shares, range(first, after))

    def estimate(self, tally: Tally) -> RangeEstimate:
        """Shares of all values that fit what was told of all levels."""
        tallies = self.asked.split(tally)
        asked = tuple(own.users for own in tallies)
        measured = tuple(_measured(part, own) for part, own in zip(self.asked.parts, tallies, strict=True))
        parts: tuple[Any, ...] = self.asked.parts
        tree = self.tree([max(told, 1) for told in asked])
        return RangeEstimate(self.values, parts, tree, asked, measured, self.loss, tally.rejected)

    def _told(self, asked: Sequence[float]) -> list[tuple[Any, float]]:
        return list(zip(self.asked.parts, asked, strict=True))


def _variance(part: Any) -> float:
    """The mean over nodes of the variance of a share, of one report."""
    return float(part.mean_squared_error(users=1))


def _measured(part: Any, tally: Tally) -> NDArray[np.float64]:
    estimate: Frequencies | NDArray[np.float64] = part.estimate(tally)
    return estimate.shares if isinstance(estimate, Frequencies) else estimate


@final
@dataclass(frozen=True)
class RangePlan:
    """One way to ask for ranges: its mean error for ranges as a share of people, and the length of its messages."""

    how: str
    protocol: Ranges
    error: float
    message_bytes: int


def range_plans(
    values: Sequence[Hashable] | Values, *, loss: Pure | Number | None = None, epsilon: Number | None = None, users: int
) -> list[RangePlan]:
    """All trees for ordered values, best first.

    Errors are the root of the mean of the exact variances of ranges between 7 places, for people who have all values
    alike and are spread over all levels alike.

    >>> [plan.how for plan in range_plans(range(5), loss=1, users=1000)][0]
    'tree of 5'
    """
    listed = values if isinstance(values, Values) else Values(values)
    epsilon, people = read_epsilon(loss, epsilon), integer(users, "users", least=1)
    built = {f"tree of {fan}": _tree(listed, fan, epsilon) for fan in sorted({*BRANCHINGS, len(listed)})}
    built = {how: one for how, one in built.items() if how == f"tree of {len(listed)}" or len(one.widths) > 1}
    built["haar"] = _haar(listed, epsilon)
    plans = [RangePlan(how, one, _mean_error(one, people), HEAD + one.layout.size) for how, one in built.items()]
    least = min(plan.error for plan in plans) * float(CLOSE)
    return sorted(plans, key=lambda plan: (plan.error > least, plan.message_bytes * (plan.error <= least), plan.error))


def ranges(
    values: Sequence[Hashable],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    how: int | str | None = None,
) -> Ranges:
    """The protocol that counts ranges of ordered values with the least error.

    ``how`` takes a tree of a given branching instead, or ``"haar"``.

    >>> ranges(range(1024), loss=Pure(1), users=100_000, how=4).widths
    (256, 64, 16, 4, 1)
    """
    listed, kept = Values(values), read_epsilon(loss, epsilon)
    if how is None:
        return range_plans(listed, loss=loss, epsilon=epsilon, users=users)[0].protocol
    if how == "haar":
        return _haar(listed, kept)
    if isinstance(how, str):
        raise BadArgument("how", 'the branching of a tree, or "haar"', how)
    return _tree(listed, integer(how, "how", least=2), kept)


def _tree(values: Values, branching: int, epsilon: Fraction) -> Ranges:
    widths, loss = widths_of(len(values), branching), Pure(epsilon)
    parts = []
    for width in widths:
        nodes = Values(range(-(-len(values) // width)))
        tried: list[Level] = [Response(nodes, loss), UnaryEncoding.optimized(nodes, loss)]
        parts.append(min(tried, key=_variance))
    return Ranges(values, widths, OneOf(tuple(parts)))


def _haar(values: Values, epsilon: Fraction) -> Ranges:
    widths = widths_of(len(values), 2)
    nodes = [Values(range(-(-len(values) // width))) for width in widths]
    return Ranges(values, widths, OneOf(tuple(SignedResponse(own, Pure(epsilon)) for own in nodes)))


def _mean_error(protocol: Ranges, users: int) -> float:
    size = len(protocol.values)
    asked = [users / len(protocol.widths)] * len(protocol.widths)
    shares, tree = np.full(size, 1 / size), protocol.tree(asked)
    parts: tuple[Any, ...] = protocol.asked.parts
    ends = sorted({round(size * end / (ENDS - 1)) for end in range(ENDS)})
    spans = [range(first, after) for first, after in combinations(ends, 2) if after - first < size]
    return math.sqrt(np.mean([range_variance(parts, tree, asked, shares, span) for span in spans]))
