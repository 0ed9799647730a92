"""Detectors of games that went wrong: gradients that vanish, a game without an end, a generator with few ideas.

They look at what was written down of made-up rows and of weights that are private already, and at made-up rows: so
they cost nothing, and what they say may be published. They never look at a row of the data.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, NoConvergence, VanishingGradients
from sfumato.synth.neural.heads import Codes
from sfumato.synth.neural.history import History
from sfumato.synth.neural.value import CHANCE

FLAT = 1e-6
"""A gradient of this length or less moves nothing."""

DOMINANT = 0.98
"""Who is right about so many made-up rows, or wrong about so many, has won: from there nobody learns."""

FAR = 0.45
"""How far from chance a discriminator may be at the end, unless it comes nearer as fast as is needed."""

LAST = 4
"""The last part of a game that is looked at: one in so many steps."""


class ModeCollapse(UserWarning):
    """A generator that makes few of the rows that there could be, over and over."""


def check_gradients(history: History) -> None:
    """Raises `VanishingGradients` where either side has had a flat gradient over the last quarter of the steps."""
    for side, norms in (("generator", history.generator), ("discriminator", history.discriminator)):
        last = _last(norms)
        if len(last) and np.median(last) <= FLAT:
            raise VanishingGradients(side, len(history))


def check_balance(history: History) -> None:
    """Raises `NoConvergence` where one side has won, or where the game is far from its end and hardly moves to it.

    The game ends where the discriminator is right about as many made-up rows as by chance, and not where it is right
    about most of them.
    """
    last = _last(history.right)
    if not len(last):
        return
    right = float(last.mean())
    if right >= DOMINANT:
        raise NoConvergence(f"the discriminator told nearly all made-up rows ({right:.0%}) from others to the end")
    if right <= 1 - DOMINANT:
        raise NoConvergence(f"the discriminator was deceived by nearly all made-up rows ({1 - right:.0%}) to the end")
    away = abs(right - CHANCE)
    before = abs(float(_first(history.right).mean()) - CHANCE)
    if away > FAR and before - away < away - FAR:
        raise NoConvergence(
            f"the discriminator was right about {right:.0%} of made-up rows at the end, and {before - away:.0%} nearer "
            "to chance than at the beginning: that is too slow for this number of steps"
        )


@final
@dataclass(frozen=True)
class Variety:
    """How many ideas a generator has, as its rows show: by column, and over all."""

    names: tuple[str, ...]
    most_frequent: tuple[float, ...]
    """The share of the most frequent value of each column."""
    distinct: tuple[int, ...]
    """How many values each column has in made-up rows."""
    possible: tuple[int, ...]
    """How many there could be, publicly."""
    repeated: float
    """The share of rows that are copies of others."""
    expected_repeats: float
    """The share of copies there would be if columns had nothing to do with each other, as far as that is known."""

    @property
    def collapsed(self) -> tuple[str, ...]:
        """What speaks for a collapse, in words; nothing where all is well."""
        found = []
        for name, share, seen, could in zip(self.names, self.most_frequent, self.distinct, self.possible, strict=True):
            if could > 1 and (seen == 1 or share >= 0.999):
                found.append(f"{name} has one value in {share:.1%} of made-up rows, of {could} that there could be")
            elif could >= 10 and seen <= max(2, could // 10):
                found.append(f"{name} has {seen} values in made-up rows, of {could} that there could be")
        if self.repeated - self.expected_repeats > 0.5:
            found.append(f"{self.repeated:.0%} of made-up rows are copies of others")
        return tuple(found)


def variety(codes: Codes, names: Sequence[str], sizes: Sequence[int]) -> Variety:
    """Counts what made-up rows hold: nothing but these rows and the public lists of values is looked at."""
    rows = np.asarray(codes, dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != len(sizes) or not len(rows):
        raise BadArgument("codes", f"one or more rows of {len(sizes)} columns", rows.shape)
    counts = [np.bincount(rows[:, place], minlength=size) for place, size in enumerate(sizes)]
    shares = [each / len(rows) for each in counts]
    return Variety(
        tuple(names),
        tuple(float(each.max()) for each in shares),
        tuple(int((each > 0).sum()) for each in counts),
        tuple(sizes),
        1 - len(np.unique(rows, axis=0)) / len(rows),
        _expected_repeats(shares, len(rows)),
    )


def warn_of_collapse(found: Variety) -> None:
    """Warns with `ModeCollapse` where made-up rows show one."""
    if found.collapsed:
        warnings.warn(
            f"this generator may have collapsed: {'; '.join(found.collapsed)}. Its rows say little of how others are "
            "spread. Train with a larger loss, fewer steps or another method: AIM and MST have no such fault.",
            ModeCollapse,
            stacklevel=3,
        )


def _expected_repeats(shares: Sequence[NDArray[np.float64]], rows: int) -> float:
    """The share of copies among independent columns with these shares, at least: each row of the likeliest is one.

    The chance that two rows agree is the product of the sums of squares; as if all rows were that likely, of so many
    that there are 1 / chance.
    """
    chance = float(np.prod([float((each**2).sum()) for each in shares]))
    different = 1 / max(chance, 1e-300)
    return max(0.0, 1 - different * -math.expm1(-rows / different) / rows)


def _last(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[-max(1, len(values) // LAST) :] if len(values) else values


def _first(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[: max(1, len(values) // LAST)]
