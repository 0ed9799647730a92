"""Parallel composition: one mechanism for each part of a partition. A unit pays only for the parts that it is in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TypeVar

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Additive, Loss, Pure, lesser
from sfumato.combinators.composition import compatible, joint_error, joint_how
from sfumato.combinators.requirements import Component
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.law import Law, ProductLaw
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial, start
from sfumato.core.parts import PartDistance, Parts
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NoProvenRoute, SfumatoError
from sfumato.exact import Extended
from sfumato.guarantee import guarantee

L = TypeVar("L", bound=Loss)

FEW = 8
"""Up to this many rows, every way in which they can fall into parts is looked at."""


@guarantee(
    claim="at most L0 parts differ, each by at most L∞ rows: the widest of L0 losses at L∞",
    proof="proofs/parallel.md#largest",
    reviewed="5d88ba4cf231",
)
def largest_loss(spread: GroupedDistance, losses: Callable[[int | float], Sequence[L]], kind: type[L]) -> L:
    """What the parts cost together, from their losses at the largest number of rows in one."""
    return kind.widest(losses(spread.largest), count=int(spread.parts))


@guarantee(
    claim="some way to split L1 rows over at most L0 parts, at most L∞ in one, holds the rows that differ: the widest "
    "over all ways, of the widest losses at each number of rows, composed",
    proof="proofs/parallel.md#splits",
    reviewed="8adea4167cbc",
)
def split_loss(spread: GroupedDistance, losses: Callable[[int | float], Sequence[L]], kind: type[L]) -> L:
    """What the parts cost together, over all ways in which the rows can fall."""
    ways = [
        reduce(kind.then, (kind.widest(losses(rows), count=parts) for rows, parts in Counter(way).items()))
        for way in splits(int(spread.rows), int(spread.largest), int(spread.parts))
    ]
    return kind.widest(ways)


def splits(rows: int, largest: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write a number as a sum of at most ``parts`` numbers, in falling order, none above a largest.

    >>> list(splits(4, 3, 2))
    [(3, 1), (2, 2)]
    """
    if rows == 0:
        yield ()
    for first in range(min(rows, largest), 0, -1) if parts * largest >= rows else ():
        for rest in splits(rows - first, first, parts - 1):
            yield (first, *rest)


@guarantee(
    claim="for pure, concentrated and Gaussian losses: a group of L∞ rows in each of the q parts with the largest "
    "losses at one row, and of r rows in the next, where L1 = q L∞ + r",
    proof="proofs/parallel.md#groups",
    reviewed="068d7fc910a6",
)
def grouped_loss(spread: GroupedDistance, ones: Sequence[L], kind: type[L]) -> L:
    """What the parts cost together, from their losses at one row."""
    full, rest = divmod(int(spread.rows), int(spread.largest))
    ranked = sorted(ones, key=_amounts, reverse=True)
    groups = [loss.group(int(spread.largest)) for loss in ranked[:full]]
    groups += [loss.group(rest) for loss in ranked[full : full + bool(rest)]]
    return reduce(kind.then, groups, kind.nothing())


def _amounts(loss: Loss) -> tuple[Extended, ...]:
    if not isinstance(loss, Additive):
        raise NoProvenRoute(f"groups under {type(loss).__name__} do not add up over parts.")
    return loss.amounts


@guarantee(
    claim="the least of the proven bounds, where they can be compared; nothing where no part differs",
    proof="proofs/parallel.md#map",
    reviewed="b5cc9486a58c",
)
def parallel_loss(
    spread: GroupedDistance, losses: Callable[[int | float], Sequence[L]], kind: type[L], count: int
) -> L:
    """What ``count`` parts cost together, from what each costs at a number of rows."""
    real = GroupedDistance(min(spread.parts, count), spread.rows, spread.largest)
    if real.rows == 0:
        return kind.nothing()
    ways: list[Callable[[], L]] = [lambda: largest_loss(real, losses, kind)]
    if real.rows <= FEW and real.largest > 1 < real.parts:
        ways.append(lambda: split_loss(real, losses, kind))
    if kind in (Pure, ZCDP, GDP) and real.rows != math.inf:
        ways.append(lambda: grouped_loss(real, losses(1), kind))
    return reduce(lesser, _known_bounds(ways))


def _known_bounds(ways: list[Callable[[], L]]) -> list[L]:
    """The bounds that can be worked out: some parts may be priced at one row only, such as filters."""
    bounds: list[L] = []
    for way in ways:
        try:
            bounds.append(way())
        except SfumatoError:
            if way is ways[-1] and not bounds:
                raise
    return bounds


@constructor
def parallel(measurements: Component | Sequence[Component]) -> Partial[Measurement]:
    """Runs one mechanism on each part of partitioned data and releases all outcomes, in the order of the keys.

    Where one unit is in one part, all parts together cost what the dearest costs. That holds because which part a row
    goes to depends on that row alone (`group_by`) or on fresh randomness (`random_parts`), never on other rows. One
    vector of `sizes` or `sums` with noise is often better than a mechanism for each part.

    Takes:      data in parts; a mechanism for every part, or a list with one for each, all with one kind of loss
    Gives:      a tuple of outcomes
    Guarantee:  from a spread (L0, L1, L∞): the widest of L0 losses at L∞ rows; for few rows, over all ways they can
                fall; for Pure, ZCDP and GDP also by groups: L1 times the loss of one row where parts are alike under
                Pure, q L∞² + r² times under ZCDP, with L1 = q L∞ + r; the least of these  (proofs/parallel.md#map)
    Cost:       that of the mechanisms

    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.additive import laplace
    >>> from sfumato.transforms.aggregate import count
    >>> from sfumato.transforms.groups import group_by
    >>> parts = vector(str) >> group_by(keys=["a", "b", "c"])
    >>> counts = parts >> parallel(count() >> laplace(scale=10))
    >>> counts.map(1), (parts.target >> parallel(count() >> laplace(scale=10))).map((3, 5, 2))
    (Pure(epsilon=0.1), Pure(epsilon=0.5))
    """
    if not isinstance(measurements, Measurement | Partial | Sequence):
        raise BadArgument("the mechanisms of parallel()", "a measurement, or a list of them", measurements)

    def build(space: Space) -> Measurement:
        if not isinstance(space.domain, Parts) or not isinstance(space.metric, PartDistance):
            raise BadArgument("what parallel() works on", "data in parts: put group_by(…) before it", str(space))
        spaces = [Space(rows, space.metric.rows) for rows in space.domain.rows]
        return _parallel(space, _built(measurements, spaces))

    return Partial("parallel(…)", build)


def _built(measurements: Component | Sequence[Component], spaces: list[Space]) -> tuple[Measurement, ...]:
    if isinstance(measurements, Measurement | Partial):
        by_space = {space: start(space, measurements) for space in set(spaces)}
        return compatible([by_space[space] for space in spaces], "parallel")
    if len(measurements) != len(spaces):
        raise BadArgument("the mechanisms of parallel()", f"one for each of {len(spaces)} parts", len(measurements))
    pairs = zip(spaces, measurements, strict=True)
    return compatible([start(space, component) for space, component in pairs], "parallel")


def _parallel(space: Space, parts: tuple[Measurement, ...]) -> Measurement:
    kind = parts[0].measure
    distinct = tuple(dict.fromkeys(parts))

    def losses(rows: int | float) -> list[Loss]:
        by_part = {part: part.map(rows) for part in distinct}
        return [by_part[part] for part in parts]

    def run(data: Data, entropy: Entropy) -> tuple[Data, ...]:
        return tuple(part.function(rows, entropy) for part, rows in zip(parts, data, strict=True))

    return Measurement(
        source=space,
        measure=kind,
        function=run,
        privacy_map=lambda spread: parallel_loss(spread, losses, kind, len(parts)),
        how=joint_how(f"parallel on {len(parts)} parts", distinct, "proofs/parallel.md#map"),
        law=_law(parts),
        error=joint_error(parts),
        interactive=any(part.interactive for part in distinct),
    )


def _law(parts: tuple[Measurement, ...]) -> Callable[[Data], Law] | None:
    laws = [part.law for part in parts if part.law is not None and not part.interactive]
    if len(laws) < len(parts):
        return None
    return lambda data: ProductLaw(tuple(law(rows) for law, rows in zip(laws, data, strict=True)))
