"""How near made rows are to the real ones: distances of marginals, and how well a learner does that saw only them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

from contenders.synth.cases import Array, Table

TRIPLES = 200
"""So many marginals of three columns are looked at, the same for everybody."""

REAL, INDEPENDENT, BOOTSTRAP = "real", "independent", "bootstrap"


def shares(codes: Array, sizes: list[int], columns: Iterable[int]) -> Array:
    """The share of rows in every cell of a marginal."""
    chosen = list(columns)
    cells = np.ravel_multi_index([codes[:, place].astype(np.int64) for place in chosen], [sizes[p] for p in chosen])
    return np.bincount(cells, minlength=int(np.prod([sizes[place] for place in chosen]))) / len(codes)


def distance(table: Table, codes: Array, ways: int) -> float:
    """The mean total variation distance of all marginals of so many columns; of three, over a sample of them."""
    width = len(table.sizes)
    sets = list(combinations(range(width), ways))
    if ways > 2 and comb(width, ways) > TRIPLES:
        sets = [sets[place] for place in np.random.default_rng(20).choice(len(sets), TRIPLES, replace=False)]
    apart = [np.abs(shares(table.rows, table.sizes, s) - shares(codes, table.sizes, s)).sum() / 2 for s in sets]
    return float(np.mean(apart))


def area(table: Table, codes: Array) -> float:
    """The area under the curve, on held-out real rows, of a logistic regression that was fitted to made ones."""
    target = table.names.index(table.target)
    rest = [place for place in range(len(table.names)) if place != target]
    labels, truth = codes[:, target] >= table.threshold, table.test[:, target] >= table.threshold
    if labels.all() or not labels.any():
        return 0.5
    encoder = OneHotEncoder(categories=[range(table.sizes[place]) for place in rest], handle_unknown="ignore")
    model = LogisticRegression(C=1.0, max_iter=300).fit(encoder.fit_transform(codes[:, rest]), labels)
    return float(roc_auc_score(truth, model.decision_function(encoder.transform(table.test[:, rest]))))


def judged(table: Table, codes: Array) -> dict[str, float]:
    """All that is asked of made rows."""
    return {"pairs": distance(table, codes, 2), "triples": distance(table, codes, 3), "area": area(table, codes)}


def without_privacy(table: Table) -> dict[str, dict[str, float]]:
    """What is best and worst to be had: the rows themselves drawn again, and each column for itself."""
    random = np.random.default_rng(20)
    again = table.rows[random.integers(0, len(table.rows), len(table.rows))]
    alone = np.stack([random.permutation(column) for column in table.rows.T], axis=1)
    return {
        BOOTSTRAP: judged(table, again),
        INDEPENDENT: judged(table, alone),
        REAL: {"pairs": 0.0, "triples": 0.0, "area": area(table, table.rows)},
    }
