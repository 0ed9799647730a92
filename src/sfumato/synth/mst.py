"""MST: every column, and of the pairs those that hang together most: a maximum spanning tree, found privately.

After McKenna, Miklau and Sheldon 2021, "Winning the NIST contest" (arXiv 2108.04978). It looks at no workload.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number
from sfumato.release.progress import Progress
from sfumato.stats.shares import Spendable
from sfumato.synth.asking import Clique, Questions, check_cells
from sfumato.synth.graph.junction import cells_of
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer

ALONE, CHOOSING = Fraction(1, 10), Fraction(1, 10)
"""The parts of the loss that columns by themselves get, and all choices of pairs."""

BEYOND = Fraction(2, 5)
"""The part of what pairs get that those beyond the tree get, where there are any."""

HALF = 2
"""Beyond the tree, one pair for every two of the tree."""

MOST_NOISE = 0.1
"""Pairs beyond the tree are measured only if noise moves no more than this share of rows, on average; by simulation."""

MOST_CELLS = 60_000
"""The model with pairs beyond the tree has no more cells, so that it is fitted in a moment."""


@final
@dataclass(frozen=True, kw_only=True)
class MST(Synthesizer):
    """A tree of pairs of columns, the ones that hang together most, each pair measured once.

    Where noise is small next to the rows, as many as half of these pairs again are measured beyond the tree: those that
    it gets most wrong. ``tree_only`` leaves them out, which is the method as it was published.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``; ``tree_only``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss (proofs/synthesis.md#methods)
    Cost:       all pairs of columns, counted once in the engine
    """

    name: ClassVar[str] = "MST"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    tree_only: bool = False

    def check(self, schema: Schema, loss: Loss) -> None:
        """Refuses columns whose pairs are larger than memory."""
        super().check(schema, loss)
        check_cells(schema.domain, combinations(schema.domain.names, min(2, len(schema.domain.names))))

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Measures columns, chooses a tree of pairs, measures these, and so with pairs beyond it."""
        domain = questions.domain
        pairs = len(domain.names) - 1
        if not pairs:
            questions.noisy([(name,) for name in domain.names], questions.loss)
            return Made(questions.fitted(), ("one column, measured by itself",))
        questions.noisy([(name,) for name in domain.names], questions.share(ALONE))
        model = questions.fitted()
        many = 0 if self.tree_only else _many_beyond(questions, model.total)
        steps, choosing = pairs + many + 3, CHOOSING / (pairs + many)
        tree = _tree(questions, model, questions.share(choosing), lambda done: progress(done, steps))
        kept = 1 - ALONE - CHOOSING
        questions.noisy(tree, questions.share(kept * (1 - BEYOND) if many else kept))
        fitted = questions.fitted(model)
        notes = ["a tree of pairs: " + ", ".join(" – ".join(pair) for pair in tree)]
        if many:
            new = _beyond(questions, fitted, tree, many, questions.share(choosing))
            questions.noisy(new, questions.left)
            fitted = questions.fitted(fitted)
            notes.append("and beyond it: " + ", ".join(" – ".join(pair) for pair in new))
        progress(steps, steps)
        return Made(fitted, tuple(notes))


def _many_beyond(questions: Questions, rows: float) -> int:
    """How many pairs to measure beyond the tree: none where noise would move too large a share of the rows."""
    domain = questions.domain
    pairs = list(combinations(domain.names, 2))
    many = min((len(domain.names) - 1) // HALF, len(pairs) - len(domain.names) + 1)
    if not many:
        return 0
    share = questions.share((1 - ALONE - CHOOSING) * BEYOND / many)
    cells = sum(domain.size(pair) for pair in pairs) / len(pairs)
    return many if questions.deviation(share) * cells * 0.4 <= MOST_NOISE * rows else 0


def _tree(questions: Questions, model: Model, each: Spendable, tell: Callable[[int], None]) -> list[Clique]:
    """Chooses pair after pair, each the one of those that close no circle that independent columns fit worst."""
    names = questions.domain.names
    expected = {pair: product_of(model, pair) for pair in combinations(names, 2)}
    group = {name: place for place, name in enumerate(names)}
    tree: list[Clique] = []
    while len(tree) < len(names) - 1:
        open_pairs = [pair for pair in expected if group[pair[0]] != group[pair[1]]]
        chosen = open_pairs[questions.worst(open_pairs, [expected[pair] for pair in open_pairs], each)]
        tree.append(chosen)
        old, new = group[chosen[0]], group[chosen[1]]
        group = {name: new if place == old else place for name, place in group.items()}
        tell(len(tree))
    return tree


def _beyond(questions: Questions, model: Model, tree: list[Clique], many: int, each: Spendable) -> list[Clique]:
    """Chooses pairs that a tree gets most wrong, as long as the model stays small."""
    domain, new = questions.domain, list[Clique]()
    expected = {pair: model.marginal(pair) for pair in combinations(domain.names, 2) if pair not in tree}
    for _ in range(many):
        fitting = [one for one in expected if one not in new and cells_of(domain, [*tree, *new, one]) <= MOST_CELLS]
        if not fitting:
            break
        new.append(fitting[questions.worst(fitting, [expected[one] for one in fitting], each)])
    return new or [tree[0]]


def product_of(model: Model, pair: Clique) -> Floats:
    """What is expected of a pair of columns that have nothing to do with each other."""
    one, other = (model.marginal([name]) for name in pair)
    return np.asarray(np.outer(one, other) / max(model.total, 1.0))
