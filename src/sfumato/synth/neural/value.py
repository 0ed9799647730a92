"""The game of a generator and a discriminator: its value, and when it is over."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import BadArgument

CHANCE = 0.5
"""The share of rows that a discriminator gets right by guessing: there the game is over."""


def game_value(real: ArrayLike, made_up: ArrayLike) -> float:
    """V(G, D) = E[ln D(x)] + E[ln(1 − D(G(z)))], from what D says of real rows and of made-up ones.

    D raises it and G lowers it. Not private: with rows that somebody protects, it tells of them.

    >>> round(game_value([0.5], [0.5]), 6)
    -1.386294
    """
    told, invented = np.asarray(real, dtype=np.float64), np.asarray(made_up, dtype=np.float64)
    for said in (told, invented):
        if not said.size or not ((said >= 0) & (said <= 1)).all():
            raise BadArgument("what a discriminator says", "one or more chances, between 0 and 1", said.shape)
    with np.errstate(divide="ignore"):
        return float(np.log(told).mean() + np.log1p(-invented).mean())


def is_over(right: float, *, within: float = 0.1) -> bool:
    """Tells whether a discriminator does no better than chance: only then do made-up rows look like the others.

    ``right`` is the share that it gets right. One that still calls most made-up rows made up has *not* been beaten.

    >>> is_over(0.5), is_over(0.97), is_over(0.03)
    (True, False, False)
    """
    return abs(right - CHANCE) <= within
