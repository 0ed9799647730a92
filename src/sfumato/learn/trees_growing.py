"""How trees grow: their questions by private selection, their leaves by noisy sums, all planned from public numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.converted import convert_measure
from sfumato.combinators.interaction import privacy_filter
from sfumato.combinators.parallel import parallel
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.learn.columns import Floats
from sfumato.mechanisms.selection import exponential, permute_and_flip
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for
from sfumato.transforms.residuals import SCORE_BITS
from sfumato.transforms.split_criteria import Criterion, Hits, Information
from sfumato.transforms.split_parts import split_parts
from sfumato.transforms.splits import Coded, Tree, Trees, leaf_sums, split_scores

COUNTING = Fraction(1, 20)
"""The part of the loss that buys the number of rows of each class, where it is not stated how many there are."""

LEAVES = Fraction(2, 5)
"""The part of a tree's loss that its leaves get; its levels share the rest."""

DEEPEST = 6
"""Trees are no deeper than this, unless that is asked for: 64 rules are as many as anybody reads."""

MOST_TREES = 16
"""Boosting stops at so many trees, unless more are asked for: in simulations more of them brought nothing."""

HITS = Hits()

ENOUGH = 200.0
"""With fewer rows, times what one may cost, boosting asks a single question, whose classes are chosen with it."""

ASKED = 12
"""About how often a model asks: that decides whether an (ε, δ) is spent as an ε or as a ρ."""

Grown: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...], float, bool]
"""A tree as it is released: the places of its splits by level, weights by leaf and class, the deviation of the noise on
them, and whether they were counted: else they are 1 for the class that was chosen with the question, and 0."""


@final
@dataclass(frozen=True)
class Plan:
    """How many trees there are, how deep each is, and why."""

    trees: int
    depth: int
    why: str
    labelled: bool = False


@final
@dataclass(frozen=True)
class Wish:
    """What was asked for; None: as public numbers suggest. ``boosted`` trees look at the mistakes of those before."""

    trees: int | None = 1
    depth: int | None = None
    rows: int | None = None
    criterion: Criterion = HITS
    features: int | None = None
    boosted: bool = False

    @property
    def counts(self) -> bool:
        """Whether the number of rows is to be bought."""
        return self.rows is None and None in (self.trees, self.depth)

    def plan(self, rows: float, loss: Spendable, d_in: float) -> Plan:
        """Settles the trees by the number of rows times what one may cost (proofs/decision_trees.md#plans)."""
        strength = strength_of(loss) / max(d_in, 1.0)
        known = max(rows, 0.0) * strength
        if self.boosted:
            few = math.sqrt(known) / 9 if isinstance(loss, Pure) else (known / 40) ** (2 / 3)
            trees, depth = min(max(1, round(few)), MOST_TREES), 1 if known < ENOUGH else 2
        else:
            trees, depth = 1, min(max(1, 1 + math.floor(math.log(max(known, 1.0) / 50, 4))), DEEPEST)
        number, levels = trees if self.trees is None else self.trees, depth if self.depth is None else self.depth
        asked = [name for name, one in (("trees", self.trees), ("depth", self.depth)) if one is not None]
        if None not in (self.trees, self.depth):
            return Plan(number, levels, "as asked for")
        bought = "about" if self.rows is None else "a stated number of"
        told = f"{bought} {max(rows, 0.0):.3g} rows, each of which may move the model by {strength:.3g}"
        alone = self.boosted and known < ENOUGH and (number, levels) == (1, 1)
        told += "; so one question, chosen together with its two classes" if alone else ""
        return Plan(number, levels, told + (f"; {' and '.join(asked)} as asked for" if asked else ""), alone)


def strength_of(loss: Spendable) -> float:
    """What one choice may cost: ε, or the range √(8ρ) that an exponential selection pays for."""
    amount = float(loss.amounts[0])
    return amount if isinstance(loss, Pure) else math.sqrt(8 * amount)


def way_to_spend(ways: Sequence[Spendable]) -> Spendable:
    """Of losses that pay for the same, the one that leaves most to each of about a dozen questions."""
    return max(ways, key=lambda one: strength_of(one) / (ASKED if isinstance(one, Pure) else math.sqrt(ASKED)))


@final
@dataclass(frozen=True)
class Growth:
    """Asks for the number of rows, then for questions and leaves tree by tree; it sees noisy answers alone."""

    space: Space
    coded: Coded
    wish: Wish
    loss: Spendable
    d_in: AnyDistance

    @property
    def norm(self) -> VectorMetric:
        """The norm of the noise."""
        return L1() if isinstance(self.loss, Pure) else L2()

    def measurement(self) -> Measurement:
        """All of it as one measurement, whose loss is the stated one."""
        asked = self.space >> privacy_filter(self.loss, d_in=self.d_in)
        return analysis(asked, self.run, name="trees by selection")

    def run(self, ask: Queryable, entropy: Entropy) -> tuple[float, str, tuple[Grown, ...]]:
        """Grows all trees: about how many rows there are, why it is these trees, and the trees."""
        rows, left, begun = float(self.wish.rows or 0), self.loss, list[Grown]()
        if self.wish.counts:
            begun, left = [self._classes(ask)], self.loss.scaled(1 - COUNTING)
            rows = sum(begun[0][1][0])
        many = self.d_in.rows if isinstance(self.d_in, GroupedDistance) else self.d_in
        plan = self.wish.plan(rows, left, float(many))
        if plan.labelled:
            return rows, plan.why, (self._question(ask, left),)
        scales = self._scales(left.scaled(Fraction(1, plan.trees)), plan.depth)
        grown, model = [*begun], tuple(as_tree(one) for one in begun)
        for _ in range(plan.trees):
            grown.append(self._tree(ask, entropy, plan.depth, scales, model))
            model = (*model, as_tree(grown[-1])) if self.wish.boosted else model
        return rows, plan.why, tuple(grown if self.wish.boosted else grown[len(begun) :])

    def _question(self, ask: Queryable, loss: Spendable) -> Grown:
        """A tree of one question, chosen with a class for each answer: nothing of the loss is left for leaves."""
        scores, classes = split_scores(self.coded, labelled=True), self.coded.classes
        scale = parameter_for(lambda one: self.space >> scores >> self._choice(one), loss, self.d_in)
        place, both = divmod(int(ask(scores >> self._choice(scale))), classes**2)
        told = [[float(one == label) for one in range(classes)] for label in divmod(both, classes)]
        return ((place,),), (tuple(told[0]), tuple(told[1])), 1.0, False

    def _classes(self, ask: Queryable) -> Grown:
        """A tree without a question: how many rows there are of each class."""
        part = self.loss.scaled(COUNTING)
        return self._leaves(ask, Tree(), self._noise(part), ())

    def _noise(self, loss: Spendable) -> Fraction:
        """The scale of the noise on leaves."""
        seen = leaf_sums(Tree(), self.coded, metric=self.norm)
        return parameter_for(lambda one: self.space >> seen >> noise_of(type(loss), one), loss, self.d_in)

    def _scales(self, loss: Spendable, depth: int) -> tuple[Fraction, Fraction]:
        """The scales of a choice and of the noise on leaves."""
        level, scores = loss.scaled((1 - LEAVES) / depth), self._scores(None, ())
        choice = parameter_for(lambda one: self.space >> scores >> self._choice(one), level, self.d_in)
        return choice, self._noise(loss.scaled(LEAVES))

    def _choice(self, scale: Fraction) -> Partial[Measurement]:
        return permute_and_flip(scale) if isinstance(self.loss, Pure) else exponential(scale, measure=ZCDP)

    def _scores(self, columns: Sequence[int] | None, model: Trees) -> Partial[Transformation]:
        weighed = () if isinstance(self.wish.criterion, Information) else model
        return split_scores(self.coded, columns=columns, model=weighed, criterion=self.wish.criterion)

    def _tree(
        self, ask: Queryable, entropy: Entropy, depth: int, scales: tuple[Fraction, Fraction], model: Trees
    ) -> Grown:
        columns = self._columns(entropy)
        listed = [place for place, one in enumerate(self.coded.splits) if one.column in columns]
        tree, choose = Tree(), self._scores(columns, model) >> self._choice(scales[0])
        for _ in range(depth):
            winners = ask(split_parts(tree, self.coded) >> parallel(choose)) if tree.levels else (ask(choose),)
            tree = Tree((*tree.levels, tuple(listed[place] for place in winners)))
        return self._leaves(ask, tree, scales[1], model if self.wish.boosted else ())

    def _leaves(self, ask: Queryable, tree: Tree, scale: Fraction, model: Trees) -> Grown:
        """A tree with noisy weights by leaf and class."""
        seen = leaf_sums(tree, self.coded, model=model, metric=self.norm)
        noisy = np.asarray(ask(seen >> noise_of(type(self.loss), scale)), dtype=np.float64)
        weights = tuple(tuple(leaf) for leaf in noisy.reshape(tree.leaves, -1).tolist())
        return tree.levels, weights, deviation_of(type(self.loss), scale), True

    def _columns(self, entropy: Entropy) -> tuple[int, ...]:
        """The columns that one tree may ask about: all that have a split, or some of them, drawn at random."""
        columns = sorted({one.column for one in self.coded.splits})
        while self.wish.features is not None and len(columns) > self.wish.features:
            columns.pop(entropy.below(len(columns)))
        return tuple(columns)


def as_tree(grown: Grown) -> Tree:
    """A released tree with its votes: logarithms of the weights of classes, less their mean."""
    levels, weights, noise, _ = grown
    kept: Floats = np.log(np.clip(np.array(weights), 0.0, None) + noise + 1.0)
    votes = np.rint((kept - kept.mean(axis=1, keepdims=True)) * (1 << SCORE_BITS)).astype(np.int64)
    return Tree(tuple(tuple(level) for level in levels), tuple(tuple(leaf) for leaf in votes.tolist()))


def restated(made: Measurement, loss: Loss) -> Measurement:
    """A measurement priced in the kind of loss that was asked for."""
    if not isinstance(loss, Approx) or made.measure is Approx:
        return made
    return convert_measure(made, Approx, delta=loss.delta if made.measure is ZCDP else None)
