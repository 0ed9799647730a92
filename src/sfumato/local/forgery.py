"""How far false reports can move estimates: exact bounds, and the report that attains them.

Nothing in a report tells an honest one from a false one, so whoever controls devices can send whatever a collector
accepts. Bounds are those of the estimator: what one accepted report can add to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.reports import Layout, Reports

MOST_PAIRS: Final = 1 << 25
"""The worst report is searched for where cells, or bits, times values are at most so many: for some seconds."""
TOGETHER: Final = 16
"""So many units are sent through a linear map at a time, each with a digit of its own in base 4."""


@guarantee(
    claim="a report adds (1 - q)/(p - q) to the count of a value that it supports, and -q/(p - q) to any other",
    proof="proofs/local.md#forgery",
    reviewed="7cbd105dd1f7",
)
def added_by_report(truth: Fraction, other: Fraction) -> tuple[Fraction, Fraction]:
    """What one report adds to the estimated count of a value: if it supports the value, and if it does not.

    >>> added_by_report(Fraction(1, 2), Fraction(1, 4))
    (Fraction(3, 1), Fraction(-1, 1))
    """
    return (1 - other) / (truth - other), -other / (truth - other)


@final
@dataclass(frozen=True)
class Worst:
    """The accepted report that moves something most: by how much, how many values it supports, and its message."""

    moves: Fraction
    supports: int
    message: bytes


@final
@dataclass(frozen=True)
class Manipulation:
    """What ``liars`` of ``users`` who report can do to estimates, at most; each bound is attained.

    Bounds on counts are against the honest people's counts, in expectation over their reports: false reports add
    a fixed number, whatever it is that honest devices draw. Bounds on shares are against the honest people's shares.
    """

    protocol: FrequencyProtocol
    users: int
    liars: int
    targets: tuple[Hashable, ...]

    @property
    def rise(self) -> Fraction:
        """How far the estimated count of any one value can be raised."""
        return self.liars * self._added[0]

    @property
    def fall(self) -> Fraction:
        """How far the estimated count of any one value can be lowered."""
        return -self.liars * self._added[1]

    @property
    def share_rise(self) -> Fraction:
        """How far the estimated share of a value can rise above its share of honest people: that of nobody's value."""
        return Fraction(self.rise, self.users)

    @property
    def share_fall(self) -> Fraction:
        """How far the estimated share of a value can fall below its share of honest people: that of everybody's."""
        return Fraction(self.fall + self.liars, self.users)

    @property
    def total(self) -> Fraction:
        """How far all estimated counts together can be moved: the largest sum of distances."""
        return self.liars * self.worst.moves

    @property
    def promotion(self) -> Fraction:
        """How far the sum of the estimated counts of the targets can be raised."""
        return self.liars * self.best.moves

    @cached_property
    def worst(self) -> Worst:
        """The report that moves all counts most, in the sum of distances: it supports the most values, or the least."""
        gain, loss = self._added
        every = np.ones(len(self.protocol.values), dtype=np.int64)
        ends = [_extreme(self.protocol, every * sign) for sign in (1, -1)]
        moved = [
            Worst(many * gain - (len(every) - many) * loss, many, message)
            for many, message in ((abs(signed), message) for signed, message in ends)
        ]
        return max(moved, key=lambda one: one.moves)

    @cached_property
    def best(self) -> Worst:
        """The report that raises the targets most: of all accepted ones, it supports the most of them."""
        gain, loss = self._added
        wanted = np.zeros(len(self.protocol.values), dtype=np.int64)
        wanted[[self.protocol.values.place(target) for target in self.targets]] = 1
        many, message = _extreme(self.protocol, wanted)
        return Worst(many * gain + (len(self.targets) - many) * loss, many, message)

    @cached_property
    def _added(self) -> tuple[Fraction, Fraction]:
        return added_by_report(self.protocol.supports_truth, self.protocol.supports_other)

    def __str__(self) -> str:
        size = len(self.protocol.values)
        lines = [
            f"{self.liars:,} of {self.users:,} people who send what they like can, at most,",
            f"raise the count of a value by {float(self.rise):,.4g}, or lower it by {float(self.fall):,.4g}",
            f"raise the counts of {len(self.targets)} of {size} values by {float(self.promotion):,.4g} together",
            f"move all counts by {float(self.total):,.4g} together (sum of distances)",
            "and nothing in their reports would show it.",
        ]
        return "\n  ".join(lines[:-1]) + "\n" + lines[-1]


def manipulation(
    protocol: FrequencyProtocol, *, users: int, liars: int, targets: Iterable[Hashable] | None = None
) -> Manipulation:
    """Bounds what so many liars among the people who report can do to estimates; ``targets`` are values to promote.

    >>> from sfumato.local.unary import UnaryEncoding
    >>> from sfumato.local.values import Values
    >>> protocol = UnaryEncoding.optimized(Values(range(4)), 1)
    >>> bound = manipulation(protocol, users=1000, liars=10)
    >>> round(float(bound.rise), 3), round(float(bound.fall), 3), bound.worst.supports
    (31.64, 11.64, 4)
    """
    if FrequencyProtocol not in type(protocol).__mro__:
        raise BadArgument("protocol", "one that counts values, such as sf.local.frequencies(…) gives", protocol)
    people = integer(users, "users", least=1)
    false = integer(liars, "liars", least=0)
    if false > people:
        raise BadArgument("liars", f"at most the people who report, {people:,}", liars)
    listed = protocol.values
    wanted = tuple(dict.fromkeys([listed[0]] if targets is None else targets))
    if not wanted:
        raise BadArgument("targets", "at least one value", wanted)
    for target in wanted:
        listed.place(target)
    return Manipulation(protocol, people, false, wanted)


def _extreme(protocol: FrequencyProtocol, weights: NDArray[np.int64]) -> tuple[int, bytes]:
    """The largest weight that the values supported by an accepted report have together, and such a report."""
    layout = protocol.layout
    pairs = layout.cells * (1 + layout.bits) * len(protocol.values)
    if pairs > MOST_PAIRS:
        raise BadArgument("cells, or bits, times values", f"at most {MOST_PAIRS:,} to search all reports", pairs)
    gains = _adjoint(protocol, weights)
    cell, bits = _best_bits(gains, layout)
    words = np.packbits(np.pad(bits, (0, 64 * layout.words - layout.bits)), bitorder="little").view("<u8")
    report = Reports(
        protocol.head, layout, np.array([cell]), words.astype(np.uint64, copy=False).reshape(1, layout.words)
    )
    return int(gains[cell, 0] + gains[cell, 1:] @ bits), report.messages()[0]


def _best_bits(gains: NDArray[np.int64], layout: Layout) -> tuple[int, NDArray[np.uint8]]:
    """The cell and the bits of the largest gain, of reports that a collector accepts."""
    order = np.sort(gains[:, 1:], axis=1)[:, ::-1]
    added = order[:, : layout.ones].sum(axis=1) if layout.ones is not None else np.maximum(order, 0).sum(axis=1)
    cell = int(np.argmax(gains[:, 0] + added))
    own, bits = gains[cell, 1:], np.zeros(layout.bits, dtype=np.uint8)
    if layout.ones is None:
        bits[own > 0] = 1
    else:
        bits[np.argsort(-own, kind="stable")[: layout.ones]] = 1
    return cell, bits


def _adjoint(protocol: FrequencyProtocol, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each unit of a tally adds to the weighted support: support is linear, and adds −1, 0 or 1 to each value."""
    layout = protocol.layout
    units = layout.cells * (1 + layout.bits)
    gains = np.zeros(units, dtype=np.int64)
    digits = np.int64(4) ** np.arange(TOGETHER, dtype=np.int64)
    for first in range(0, units, TOGETHER):
        many = min(TOGETHER, units - first)
        sums = np.zeros(units, dtype=np.int64)
        sums[first : first + many] = digits[:many]
        packed: NDArray[Any] = protocol.support(sums.reshape(layout.cells, 1 + layout.bits)) + digits.sum()
        apart = (packed[:, None] >> (2 * np.arange(many))) & 3
        gains[first : first + many] = weights @ (apart - 1)
    return gains.reshape(layout.cells, 1 + layout.bits)
