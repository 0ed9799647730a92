"""Detectors of games that went wrong: gradients that vanish, a game without an end, a generator with few ideas.

They look at what was written down of made-up rows and of weights that are private already, and at made-up rows: so
they cost nothing, and what they say may be published. They never look at a row of the data.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import NoConvergence, VanishingGradients
from sfumato.synth.collapse import Collapse
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


def warn_of_collapse(found: Collapse) -> None:
    """Warns with `ModeCollapse` where made-up rows are too much alike."""
    if found.flags:
        warnings.warn(
            f"this generator may have collapsed: {'; '.join(found.flags)}. Its rows say little of how others are "
            "spread. Train with a larger loss, fewer steps or another method: AIM and MST have no such fault.",
            ModeCollapse,
            stacklevel=3,
        )


def _last(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[-max(1, len(values) // LAST) :] if len(values) else values


def _first(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[: max(1, len(values) // LAST)]
