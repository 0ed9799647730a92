"""DP-SGD as a plan: from what people know about a training run to its event."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.events import Event, Gaussian, Poisson, Repeat, Sampled
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, positive, probability


def dp_sgd(
    multiplier: Number,
    *,
    rate: Number | None = None,
    steps: int | None = None,
    size: int | None = None,
    batch: int | None = None,
    epochs: Number | None = None,
) -> Event:
    """The event of DP-SGD: ``steps`` batches, each of every unit with probability ``rate``, each with Gaussian noise.

    The noise has ``multiplier`` times the scale of what one unit adds (the clipping norm). The rate may be given as
    ``batch`` of ``size`` units, on average; the steps as ``epochs``, counted as ⌈epochs / rate⌉, so that a last batch
    that is not whole counts as one. Batches of a fixed size, or in shuffled order, are other events.

    >>> dp_sgd(1.1, size=60_000, batch=256, epochs=20).times
    4688
    """
    share = sampling_rate(rate, size, batch)
    return training(positive(multiplier, "multiplier"), share, number_of_steps(share, steps, epochs))


def training(scale: Number, rate: Fraction, steps: int) -> Repeat:
    """The event of DP-SGD, by numbers that were read before."""
    return Repeat(Sampled(Gaussian(scale), Poisson(rate)), steps)


def sampling_rate(rate: Number | None, size: int | None, batch: int | None) -> Fraction:
    """Reads with which probability each unit is in a batch: as it is, or as ``batch`` of ``size``."""
    if (rate is None) == (size is None and batch is None) or (size is None) != (batch is None):
        raise BadArgument(
            "rate, or size and batch", "given: the rate alone, or both others", Several(rate, size, batch)
        )
    if rate is not None:
        share = probability(rate, "rate")
        if share == 0:
            raise BadArgument("rate", "greater than 0: what is never drawn needs no noise", rate)
        return share
    units, drawn = integer(size, "size", least=1), integer(batch, "batch", least=1)
    if drawn > units:
        raise BadArgument("batch", "at most the size", Several(drawn, units))
    return Fraction(drawn, units)


def number_of_steps(rate: Fraction, steps: int | None, epochs: Number | None) -> int:
    """Reads how many batches are drawn: as they are, or ⌈epochs / rate⌉."""
    if (steps is None) == (epochs is None):
        raise BadArgument("steps or epochs", "given, one of them", Several(steps, epochs))
    if steps is not None:
        return integer(steps, "steps", least=1)
    return math.ceil(positive(epochs or 0, "epochs") / rate)
