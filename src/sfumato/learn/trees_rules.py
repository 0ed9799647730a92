"""Trees as rules that people read, and how much a public table of counts says about a class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.learn.columns import Bins, Floats, Made
from sfumato.transforms.splits import Split, Tree


@final
@dataclass(frozen=True)
class Questions:
    """The columns and the questions of a tree, in the words of the data."""

    made: Sequence[Made]
    splits: Sequence[Split]

    def path(self, tree: Tree, leaf: int) -> list[tuple[Split, bool]]:
        """The questions on the way to a leaf, with the answers."""
        depth = len(tree.levels)
        places = [(leaf >> (depth - level), leaf >> (depth - level - 1) & 1) for level in range(depth)]
        return [(self.splits[row[place]], not second) for row, (place, second) in zip(tree.levels, places, strict=True)]

    def words(self, tree: Tree, leaf: int) -> str | None:
        """What rows in a leaf have in common; None where no row can be in it."""
        path, said = self.path(tree, leaf), []
        for place, made in enumerate(self.made):
            answers = [(split, yes) for split, yes in path if split.column == place]
            told = self._ordered(made, answers) if isinstance(made, Bins) else self._listed(made, answers)
            if told is None:
                return None
            said += [told] if told else []
        return " and ".join(said) or "anything"

    @staticmethod
    def _ordered(made: Bins, answers: Sequence[tuple[Split, bool]]) -> str | None:
        low = max((split.code for split, yes in answers if not yes), default=-1)
        high = min((split.code for split, yes in answers if yes), default=len(made.edges))
        if low >= high:
            return None
        least = "" if low < 0 else f"{made.edges[low]:.6g}"
        most = "" if high >= len(made.edges) else f"{made.edges[high]:.6g}"
        if least and most:
            return f"{least} ≤ {made.name} < {most}"
        return f"{made.name} < {most}" if most else f"{made.name} ≥ {least}" if least else ""

    @staticmethod
    def _listed(made: Made, answers: Sequence[tuple[Split, bool]]) -> str | None:
        values = getattr(made, "values", ())
        same = {split.code for split, yes in answers if yes}
        other = {split.code for split, yes in answers if not yes}
        if len(same) > 1 or same & other:
            return None
        if same:
            return f"{made.name} = {values[same.pop()]}"
        return " and ".join(f"{made.name} ≠ {values[code]}" for code in sorted(other))


def rules_of(
    asked: Questions, tree: Tree, shares: Floats, counts: Floats | None, classes: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Of each leaf that a row can reach: what its rows have in common, its class, and the noisy counts of all."""
    made = []
    for leaf in range(tree.leaves):
        words = asked.words(tree, leaf)
        if words is not None:
            pairs = [] if counts is None else zip(classes, counts[leaf], strict=True)
            counted = ", ".join(f"{name} {count:.4g}" for name, count in pairs) or "not counted"
            made.append((words, classes[int(np.argmax(shares[leaf]))], counted))
    return made


def entropy(counts: object, *, base: float = math.e) -> float:
    """The entropy of shares in proportion to counts, in nats or to another base; a count below 0 counts as 0.

    >>> round(entropy([3, 4], base=2), 6)
    0.985228
    """
    kept = _counts(counts, 1)
    shares = kept[kept > 0] / max(float(kept.sum()), 1e-300)
    return float(-(shares * np.log(shares)).sum() / _log(base)) + 0.0


def mutual_information(table: object, *, base: float = math.e) -> float:
    """What one variable says of another, from a table of counts that are public or released (spec P2-108).

    Also called information gain. Counts below 0, which noise makes, count as 0; empty cells add nothing. It is a
    function of the counts alone: noisy counts have been paid for, and this costs nothing more.

    >>> round(mutual_information([[1, 3], [2, 1]]), 6), round(mutual_information([[1, 3], [2, 1]], base=2), 6)
    (0.088782, 0.128085)
    """
    kept = _counts(table, 2)
    total = entropy(kept.sum(axis=0), base=base) + entropy(kept.sum(axis=1), base=base)
    return max(total - entropy(kept.ravel(), base=base), 0.0)


def _counts(counts: object, dimensions: int) -> Floats:
    kept = np.asarray(counts, dtype=np.float64)
    if kept.ndim != dimensions or not np.isfinite(kept).all():
        what = "a list of counts" if dimensions == 1 else "a table of counts, a list for each value of one variable"
        raise BadArgument("counts", what, f"{kept.ndim} dimensions")
    return np.clip(kept, 0.0, None)


def _log(base: float) -> float:
    if not (base > 0 and base != 1 and math.isfinite(base)):
        raise BadArgument("base", "a positive number other than 1", base)
    return math.log(base)
