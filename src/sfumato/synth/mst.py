"""MST: every column, and of the pairs those that hang together most: a maximum spanning tree, found privately.

After McKenna, Miklau and Sheldon 2021, "Winning the NIST contest" (arXiv 2108.04978). It looks at no workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number
from sfumato.release.progress import Progress
from sfumato.synth.asking import Clique, Questions
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Model
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Made, Synthesizer

ALONE, CHOOSING = Fraction(1, 10), Fraction(1, 10)
"""The parts of the loss that columns by themselves get, and the choice of pairs; the pairs get the rest."""


@final
@dataclass(frozen=True, kw_only=True)
class MST(Synthesizer):
    """A tree of pairs of columns, the ones that hang together most, each pair measured once.

    Takes:      ``loss``, or ``epsilon`` and perhaps ``delta``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss (proofs/synthesis.md#methods)
    Cost:       all pairs of columns, counted once in the engine
    """

    name: ClassVar[str] = "MST"
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None

    def build(self, questions: Questions, schema: Schema, progress: Progress) -> Made:
        """Measures columns, chooses a tree of pairs, and measures these."""
        domain = questions.domain
        pairs = len(domain.names) - 1
        if not pairs:
            measured = questions.noisy([(name,) for name in domain.names], questions.loss)
            return Made(estimate(domain, measured, total=questions.rows), ("one column, measured by itself",))
        steps = pairs + 3
        alone = questions.noisy([(name,) for name in domain.names], questions.share(ALONE))
        progress(1, steps)
        model = estimate(domain, alone, total=questions.rows)
        tree = _tree(questions, model, lambda done: progress(done + 1, steps))
        measured = alone + questions.noisy(tree, questions.share(1 - ALONE - CHOOSING))
        progress(steps - 1, steps)
        fitted = estimate(domain, measured, total=questions.rows, start=model)
        progress(steps, steps)
        return Made(fitted, ("a tree of pairs: " + ", ".join(" – ".join(pair) for pair in tree),))


def _tree(questions: Questions, model: Model, tell: object) -> list[Clique]:
    """Chooses pair after pair, each the one of those that close no circle that independent columns fit worst."""
    names = questions.domain.names
    expected = {pair: product_of(model, pair) for pair in combinations(names, 2)}
    group = {name: place for place, name in enumerate(names)}
    each, tree = questions.share(CHOOSING / (len(names) - 1)), list[Clique]()
    while len(tree) < len(names) - 1:
        open_pairs = [pair for pair in expected if group[pair[0]] != group[pair[1]]]
        chosen = open_pairs[questions.worst(open_pairs, [expected[pair] for pair in open_pairs], each)]
        tree.append(chosen)
        old, new = group[chosen[0]], group[chosen[1]]
        group = {name: new if place == old else place for name, place in group.items()}
        tell(len(tree))  # type: ignore[operator]
    return tree


def product_of(model: Model, pair: Clique) -> Floats:
    """What is expected of a pair of columns that have nothing to do with each other."""
    one, other = (model.marginal([name]) for name in pair)
    return np.asarray(np.outer(one, other) / max(model.total, 1.0))
