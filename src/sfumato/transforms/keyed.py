"""One number for each part: sizes and sums, with the least distance that the spread of a unit's rows allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.core.domains import Array, Bounds, Data, Floats, Integers, Vector
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import L1, AddRemove, ChangeOne, DatasetMetric, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.parts import PartDistance, Parts
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, root
from sfumato.guarantee import guarantee
from sfumato.transforms.aggregate import grid_total
from sfumato.transforms.distances import times
from sfumato.transforms.grids import row_grid
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.rows import Rows, atom_of, column_space, count_rows, values_of
from sfumato.transforms.rowwise import clamp, clamp_values, collect


@guarantee(
    claim="entries that move by at most c for each row that their part is apart: L1 = c L1, L∞ = c L∞, L2 = "
    "c √(q L∞² + r²) with L1 = q L∞ + r",
    proof="proofs/parts.md#norms",
    reviewed="916645b42ec2",
)
def keyed_map(spread: GroupedDistance, *, norm: VectorMetric, each: Fraction) -> Distance:
    """How far a vector of one number a part can move."""
    if isinstance(norm, L1):
        return times(spread.rows, each)
    if isinstance(norm, LInf):
        return times(spread.largest, each)
    squares = spread.squares
    return times(math.inf if squares == math.inf else root(Fraction(squares)), each)


def part_space(space: Space, verb: str) -> tuple[Parts, DatasetMetric]:
    """The parts of a space and the distance inside them; refuses any other space in the name of the verb."""
    if not isinstance(space.domain, Parts) or not isinstance(space.metric, PartDistance):
        raise BadArgument(
            f"what {verb}() works on", "data in parts: put group_by(…) or random_parts(…) before it", str(space)
        )
    return space.domain, space.metric.rows


@constructor
def sizes(*, metric: VectorMetric | None = None) -> Partial[Transformation]:
    """Counts the rows of each part, in the order of the keys; 0 for a key that no row has.

    Takes:      data in parts
    Gives:      a vector of whole numbers under the L1 distance, or L2 or L∞ where asked
    Guarantee:  from a spread (L0, L1, L∞): L1; L∞; in L2 √(q L∞² + r²) with L1 = q L∞ + r, never more than
                min(L1, √L0 L∞, √(L1 L∞)); 0 where the sizes are public  (proofs/parts.md#norms)
    Cost:       none

    >>> from sfumato.core.metrics import L2
    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.groups import group_by
    >>> counts = (vector(str) >> group_by(keys=["a", "b", "c"])).target >> sizes(metric=L2())
    >>> counts.map((3, 5, 2)), counts.map(1)
    (Fraction(3, 1), Fraction(1, 1))
    """
    norm = read_norm(metric, "sizes")

    def build(space: Space) -> Transformation:
        _, rows = part_space(space, "sizes")
        each = Fraction(int(isinstance(rows, AddRemove)))
        return _one_number_a_part(space, norm, Integers(), each, "sizes of parts", count_rows)

    return Partial("sizes()", build)


@constructor
def sums(
    lower: Number, upper: Number, *, column: str | None = None, metric: VectorMetric | None = None
) -> Partial[Transformation]:
    """Adds up a column of each part, every value moved into [lower, upper] first; exact.

    Takes:      data in parts: columns of numbers, or frames and the name of a column; NaN must be imputed or dropped
                before
    Gives:      a vector of exact sums under the L1 distance, or L2 or L∞ where asked
    Guarantee:  c times the distance of sizes, with c = max(|lower|, |upper|); where the sizes are public and rows are
                exchanged, c = upper − lower  (proofs/parts.md#sums)
    Cost:       one pass

    >>> from sfumato.core.space import frame
    >>> from sfumato.transforms.groups import group_by
    >>> (frame({"sex": ["f", "m"], "pay": float}) >> group_by("sex") >> sums(0, 100, column="pay")).map(1)
    Fraction(100, 1)
    """
    bounds = Bounds.read((lower, upper))
    norm = read_norm(metric, "sums")

    def build(space: Space) -> Transformation:
        domain, rows = part_space(space, "sums")
        element = _common_element(domain, column)
        clamped, _ = column_space((Space(Vector(element), AddRemove()) >> clamp(lower, upper)).target, "sums")
        grid = row_grid(clamped.element, "sums")

        def add(part: Data, own: Rows) -> int:
            return grid_total(clamp_values(values_of(part, own, column), Vector(element), element, bounds), grid)

        each = sum_reach(bounds, exchanged=isinstance(rows, ChangeOne))
        return _one_number_a_part(space, norm, Integers(None, grid.step), each, f"sums of parts within {bounds}", add)

    return Partial(f"sums({lower}, {upper})", build)


@guarantee(
    claim="a row within bounds adds at most max(|L|, |U|) to a sum; exchanged for another, at most U − L",
    proof="proofs/parts.md#sums",
    reviewed="aa1549fb60da",
)
def sum_reach(bounds: Bounds, *, exchanged: bool) -> Fraction:
    """How far one row can move the sum of its part."""
    return bounds.width if exchanged else bounds.magnitude


def _common_element(domain: Parts, column: str | None) -> Floats | Integers:
    kinds = {atom_of(rows, column, "sums") for rows in domain.rows}
    element = kinds.pop()
    if kinds or not isinstance(element, Floats | Integers):
        raise BadArgument("what sums() works on", "numbers of one kind in every part", str(domain))
    return element


def _one_number_a_part(
    space: Space,
    norm: VectorMetric,
    element: Integers,
    each: Fraction,
    name: str,
    number: Callable[[Data, Rows], int],
) -> Transformation:
    domain, _ = part_space(space, name)

    def run(data: Data) -> Array:
        return collect([number(part, rows) for part, rows in zip(data, domain.rows, strict=True)], Integers())

    return Transformation(
        space,
        Space(Vector(element, len(domain.keys)), norm),
        lambda data, _: run(data),
        lambda spread: keyed_map(spread, norm=norm, each=each),
        (name,),
        ("proofs/parts.md#norms",),
    )
