"""Rows by public trees: scored for one more split, and their weights added up by leaf and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array, Floats, Integers, Matrix, Vector
from sfumato.core.metrics import AddRemove, DatasetMetric, LInf, Range, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.transforms.gram import gram_reach
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.residuals import FARTHEST, PIECE, SCORE_BITS, chances
from sfumato.transforms.rows import as_rows, row_space
from sfumato.transforms.score_moves import rows_map
from sfumato.transforms.split_criteria import UNIT, Criterion, Hits, Information, split_moves
from sfumato.transforms.vectors import vector_sum_map


@final
@dataclass(frozen=True)
class Split:
    """A public question about one column: is its code this one (``equal``), or is it one up to this one."""

    column: int
    code: int
    equal: bool = False

    def yes(self, codes: Array) -> Array:
        """Whether codes, a row for each column, answer with yes; −1, which is no code, answers with no."""
        held = codes[self.column]
        return np.asarray(held == self.code if self.equal else (held >= 0) & (held <= self.code))


@final
@dataclass(frozen=True)
class Tree:
    """A public tree: level by level a question for each place, and for each leaf what it adds to the classes' scores.

    Questions are places in `Coded.splits`. Yes goes to the first of two places below, no to the second. Scores are
    whole numbers of steps of 2⁻¹².
    """

    levels: tuple[tuple[int, ...], ...] = ()
    votes: tuple[tuple[int, ...], ...] = ()

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 << len(self.levels)


Trees: TypeAlias = tuple[Tree, ...]
"""A public model: what its trees add to the scores of classes, added up."""


@final
@dataclass(frozen=True)
class Coded:
    """What rows of codes look like: how many codes each column has, whether they stand in order, how many classes.

    >>> Coded((3, 2), (True, False), 2).splits[1:3]
    (Split(column=0, code=1, equal=False), Split(column=1, code=0, equal=True))
    """

    kinds: tuple[int, ...]
    ordered: tuple[bool, ...]
    classes: int

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """Every public split: between two neighbouring codes of an ordered column, by one code of another."""
        listed: list[Split] = []
        for place, (kind, one) in enumerate(zip(self.kinds, self.ordered, strict=True)):
            listed += [Split(place, code, equal=not one) for code in range(kind - one)]
        return tuple(listed)

    def read(self, space: Space, verb: str) -> tuple[Matrix, DatasetMetric]:
        """Domain and metric of a space of such rows; refuses any other in the name of the verb."""
        domain, rows = row_space(space, verb)
        if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats):
            raise BadArgument(f"what {verb}() works on", "a matrix of floats", str(space))
        if domain.columns != len(self.kinds) + 1:
            raise BadArgument("the columns", f"{len(self.kinds)} codes and a class", domain.columns)
        return domain, rows

    @guarantee(
        claim="of each entry by itself, a code of its column, or -1",
        proof="proofs/decision_trees.md#parts",
        reviewed="4be439568b60",
    )
    def codes(self, held: Array) -> Array:
        """Codes of columns, each of them a row; −1 for what is no code."""
        with np.errstate(invalid="ignore"):
            whole = held.astype(np.int64)  # of what is no number this is any number, and unequal to it
        known = (whole == held) & (whole >= 0) & (whole < np.array(self.kinds)[:, None])
        return np.where(known, whole, -1)

    @guarantee(
        claim="of each row by itself, the leaf of a tree: at each level yes goes first, no second",
        proof="proofs/decision_trees.md#parts",
        reviewed="1db74f2f11dd",
    )
    def leaves(self, codes: Array, tree: Tree) -> Array:
        """The leaf of every row."""
        leaf = np.zeros(codes.shape[1], dtype=np.int64)
        for level in tree.levels:
            answer = self.splits[level[0]].yes(codes)
            for place, split in enumerate(level[1:], start=1):
                answer = np.where(leaf == place, self.splits[split].yes(codes), answer)
            leaf = 2 * leaf + ~answer
        return leaf

    @guarantee(
        claim="of each row by itself: a code of every column (-1: none), its class, and a whole number from 0 to 2^20",
        proof="proofs/decision_trees.md#weights",
        reviewed="a8a94f32ab7b",
    )
    def weighed(self, columns: Array, model: Trees) -> tuple[Array, Array, Array]:
        """Codes, classes and weights of rows; rows with something missing or of no known class are left out.

        A weight is 1 before there is a tree; then twice the chance that the model gives to the wrong class that it
        finds likeliest, against the right one, and at most 1.
        """
        held = np.ascontiguousarray(columns.T)
        known = (held[-1] >= 0) & (held[-1] < self.classes) & (held[-1] == np.floor(held[-1]))
        kept = held.compress(known & ~np.isnan(held).any(axis=0), axis=1)
        codes, labels = self.codes(kept[:-1]), kept[-1].astype(np.int64)
        if not model or self.classes == 1:
            return codes, labels, np.full(len(labels), UNIT, dtype=np.int64)
        scores = np.zeros((self.classes, len(labels)), dtype=np.int64)
        for tree in model:
            leaf = self.leaves(codes, tree)
            for score, votes in zip(scores, zip(*tree.votes, strict=True), strict=True):
                score += np.array(votes, dtype=np.int64).take(leaf)
        every, most = np.arange(len(labels)), FARTHEST << SCORE_BITS
        own = scores[labels, every]
        scores[labels, every] = np.iinfo(np.int64).min // 2
        lead = np.clip(scores.max(axis=0) - own, -most, most)
        return codes, labels, np.minimum(2 * chances()[lead + most], UNIT)


def _added(places: Array, weights: Array, count: int) -> Array:
    """Adds up whole numbers by place; of at most 2²⁴ below 2²¹ floats hold every sum exactly."""
    return np.bincount(places, weights=weights, minlength=count).astype(np.int64)


@constructor
def split_scores(
    coded: Coded,
    *,
    columns: Sequence[int] | None = None,
    model: Trees = (),
    criterion: Criterion | None = None,
    labelled: bool = False,
    metric: LInf | Range | None = None,
) -> Partial[Transformation]:
    """Scores all public splits, or those of some columns, by how well they tell classes apart, for a private selection.

    Takes:      a matrix of floats: codes of columns and a class; a model of trees whose mistakes weigh more (with
                `Hits`, which is the usual criterion); `Information` with a public number of rows; ``labelled`` asks for
                one candidate for each split and each pair of classes, of the side of yes and of that of no
    Gives:      one score for each candidate, under L∞ (monotonic where rows are added or removed) or, on request, range
    Guarantee:  one row moves all scores one way, by at most 1 with hits, by N log₂ N − (N − 1) log₂(N − 1) with
                information for N rows  (proofs/decision_trees.md#scores)
    Cost:       a pass over each column

    >>> from sfumato.core.space import matrix
    >>> coded = Coded((3,), (True,), 2)
    >>> (matrix(2) >> split_scores(coded)).map(1)
    Fraction(1, 1)
    >>> round(float((matrix(2) >> split_scores(coded, criterion=Information(7))).map(1)), 4)
    4.1417
    """
    listed, how = tuple(one for one in coded.splits if columns is None or one.column in columns), criterion or Hits()
    steps = UNIT if model or isinstance(how, Information) else 1
    if isinstance(how, Information) and (model or labelled):
        raise BadArgument("criterion", "Hits(), where rows have weights or sides have classes", how)
    size = len(listed) * (coded.classes**2 if labelled else 1)

    def build(space: Space) -> Transformation:
        domain, rows = coded.read(space, "split_scores")
        if not listed:
            raise BadArgument("the columns", "with at least one split: two bins, or a category", columns)
        one_way = isinstance(rows, AddRemove) and domain.size is None
        target = metric or LInf(monotonic=one_way)
        if isinstance(target, LInf) and target.monotonic and not one_way:
            raise BadArgument("metric", "LInf() or Range(): scores move one way where rows are added", target)
        moves = split_moves(how, target)
        return Transformation(
            space,
            Space(Vector(Integers(step=Fraction(1, steps)), size=size), target),
            lambda data, _: (
                scored(*side_sums(as_rows(data, domain), listed, coded, model), criterion=None if labelled else how)
                // (UNIT // steps)
            ),
            lambda d_in: rows_map(d_in, moves=moves, rows=rows, size=domain.size),
            (f"scores of {size} splits",),
            ("proofs/decision_trees.md#scores", "proofs/scores.md#rows"),
        )

    return Partial(f"split_scores({size} splits)", build)


@guarantee(
    claim="for every candidate the weights of each class among the rows that answer with yes, and among the others",
    proof="proofs/decision_trees.md#scores",
    reviewed="486027a44c9d",
)
def side_sums(columns: Array, candidates: tuple[Split, ...], coded: Coded, model: Trees) -> tuple[Array, Array]:
    """Class weights of both sides of candidates: by code of each column, added up over the codes that answer yes."""
    by_code = [np.zeros((kind + 1, coded.classes), dtype=np.int64) for kind in coded.kinds]
    for start in range(0, len(columns), PIECE):
        codes, labels, weights = coded.weighed(columns[start : start + PIECE], model)
        for place, table in enumerate(by_code):
            cells = np.where(codes[place] < 0, len(table) - 1, codes[place]) * coded.classes + labels
            table += _added(cells, weights, table.size).reshape(table.shape)
    upto = [table.cumsum(axis=0) for table in by_code]
    yes = np.stack([(by_code if one.equal else upto)[one.column][one.code] for one in candidates])
    return yes, by_code[0].sum(axis=0) - yes


@guarantee(
    claim="the criterion of both sides added up; without one, the weight of every class of the first side with that of "
    "every class of the second",
    proof="proofs/decision_trees.md#scores",
    reviewed="0dd9235b07b2",
)
def scored(yes: Array, no: Array, *, criterion: Criterion | None) -> Array:
    """Scores splits by the class weights of their sides, or splits with a class for each side."""
    if criterion is None:
        return np.asarray((yes[:, :, None] + no[:, None, :]).ravel())
    return np.asarray(criterion.of(yes) + criterion.of(no))


@constructor
def leaf_sums(
    tree: Tree, coded: Coded, *, model: Trees = (), metric: VectorMetric | None = None
) -> Partial[Transformation]:
    """Adds up the weights of rows by the leaf of a public tree and by class: counts, where there is no model.

    Takes:      a matrix of floats: codes of columns and a class; a model of trees whose mistakes weigh more
    Gives:      one number for each leaf and class, classes of one leaf together: a count, or with a model in steps of
                2⁻²⁰; under the L1 distance, or L2 or L∞ where asked
    Guarantee:  d_in, in each of them  (proofs/decision_trees.md#leaves)
    Cost:       one pass

    >>> from sfumato.core.space import matrix
    >>> (matrix(2) >> leaf_sums(Tree(((1,),)), Coded((3,), (True,), 2))).map(1)
    Fraction(1, 1)
    """
    norm, steps = read_norm(metric, "leaf_sums"), UNIT if model else 1

    def build(space: Space) -> Transformation:
        domain, rows = coded.read(space, "leaf_sums")
        return Transformation(
            space,
            Space(Vector(Integers(None, Fraction(1, steps)), tree.leaves * coded.classes), norm),
            lambda data, _: leaf_totals(as_rows(data, domain), tree, coded, model) // (UNIT // steps),
            lambda d_in: vector_sum_map(d_in, reach=gram_reach(1, norm), metric=rows, size=domain.size),
            (f"weights by {tree.leaves} leaves and {coded.classes} classes",),
            ("proofs/decision_trees.md#leaves",),
        )

    return Partial("leaf_sums(…)", build)


@guarantee(
    claim="each row adds one whole number from 0 to 2^20, a function of that row, to one cell or none",
    proof="proofs/decision_trees.md#leaves",
    reviewed="b56f3f49443f",
)
def leaf_totals(columns: Array, tree: Tree, coded: Coded, model: Trees) -> Array:
    """Adds up weights by leaf and class."""
    total = np.zeros(tree.leaves * coded.classes, dtype=np.int64)
    for start in range(0, len(columns), PIECE):
        codes, labels, weights = coded.weighed(columns[start : start + PIECE], model)
        total += _added(coded.leaves(codes, tree) * coded.classes + labels, weights, len(total))
    return total
