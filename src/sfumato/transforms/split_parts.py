"""Rows in parts by the leaves of a public tree."""

from __future__ import annotations

from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.exact import Distance
from sfumato.transforms.groups import grouped_distance
from sfumato.transforms.parts import moved_rows, parts_space, split_rows
from sfumato.transforms.rows import as_rows
from sfumato.transforms.splits import Coded, Tree


@constructor
def split_parts(tree: Tree, coded: Coded) -> Partial[Transformation]:
    """Puts every row into the part of the leaf that it falls into.

    Takes:      a matrix of floats: codes of columns and a class; a public tree
    Gives:      one data set a leaf, under the grouped add/remove distance
    Guarantee:  b rows ↦ (b, b, b), in no more parts than leaves; from change-one twice that
                (proofs/decision_trees.md#parts)
    Cost:       one look at a column for each level, and one sort of the rows

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> split_parts(Tree(((1,),)), Coded((3,), (True,), 2))).map(1)
    GroupedDistance(parts=1, rows=1, largest=1)
    """

    def build(space: Space) -> Transformation:
        domain, rows = coded.read(space, "split_parts")

        def spread(d_in: Distance) -> GroupedDistance:
            moved, sides = moved_rows(d_in, metric=rows, size=domain.size)
            every = float("inf")
            return grouped_distance(
                moved, sides=sides, groups=every, each=every, units=1, parts=tree.leaves, alike=False
            )

        return Transformation(
            space,
            parts_space(tuple(range(tree.leaves)), domain),
            lambda data, _: split_rows(
                data, domain, coded.leaves(coded.codes(as_rows(data, domain).T[:-1]), tree), tree.leaves
            ),
            spread,
            (f"{tree.leaves} parts by a tree",),
            ("proofs/decision_trees.md#parts", "proofs/parts.md#group-by"),
        )

    return Partial("split_parts(…)", build)
