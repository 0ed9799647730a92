"""Values that are reported again and again, with a permanent report of each: GRR, unary encoding, local hashing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.device import WHOLE
from sfumato.local.fields import fitting
from sfumato.local.frequency import Frequencies, FrequencyProtocol
from sfumato.local.hashing import MOST_CELLS, LocalHashing
from sfumato.local.lasting import LastingProtocol
from sfumato.local.protocol import Drawn
from sfumato.local.reports import Layout
from sfumato.local.response import Response
from sfumato.local.stages import (
    Again,
    BitsAgain,
    NumberAgain,
    SameAgain,
    largest_weight,
    seen_bits_loss,
    seen_number_loss,
)
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

Permanent: TypeAlias = Response | UnaryEncoding | LocalHashing
"""Protocols whose reports a device can remember, and randomize again with a loss that is known exactly."""


@final
@dataclass(frozen=True)
class Memoised(LastingProtocol[Frequencies], FrequencyProtocol):
    """A permanent report of each value by one protocol, and messages made of it by coins thrown anew.

    Takes:      a protocol for permanent reports: `Response`, `UnaryEncoding` or `LocalHashing` (whose hash function is
                then drawn once for each device, as in LOLOHA); and what is done before each message
    Guarantee:  loss of one message as stated, reached (proofs/local_again.md#one-report); `lifetime_loss` for all
                messages ever between histories that change alike; `history_loss` for any two
    Cost:       that of the permanent protocol, and of the coins of the second stage
    Best:       values that seldom change and are asked for often

    >>> often = memoised(Response(Values(["yes", "no"]), Pure(2)), report=Pure(1))
    >>> float(often.loss.epsilon) <= 1, often.lifetime_loss(), often.lifetime_loss(values=2)
    (True, Pure(epsilon=2.0), Pure(epsilon=4.0))
    """

    permanent: Permanent
    again: Again = SameAgain()  # noqa: RUF009  (frozen, without content)

    def __post_init__(self) -> None:
        if not isinstance(self.permanent, Response | UnaryEncoding | LocalHashing):
            raise BadArgument("permanent", "a Response, a UnaryEncoding or a LocalHashing", self.permanent)
        fits = (SameAgain, BitsAgain if self.options is None else NumberAgain)
        if not isinstance(self.again, fits) or getattr(self.again, "options", self.options) != self.options:
            raise BadArgument(
                "again", f"a {fits[1].__name__} that fits the permanent reports, or SameAgain", self.again
            )

    @property
    def values(self) -> Values:
        """The public list of values."""
        return self.permanent.values

    @property
    def options(self) -> int | None:
        """How many numbers a permanent report can be, given what is public; None where it is made of bits."""
        match self.permanent:
            case Response():
                return len(self.values)
            case LocalHashing(buckets=buckets):
                return buckets
        return None

    @property
    def layout(self) -> Layout:
        """That of permanent reports."""
        return self.permanent.layout

    @property
    def permanent_loss(self) -> Pure:
        """The loss of a permanent report."""
        return self.permanent.loss

    @property
    def most_values(self) -> int:
        """As many as there are values, or buckets of the device's hash function."""
        return min(len(self.values), self.options or len(self.values))

    @cached_property
    def loss(self) -> Pure:
        """The loss of one message: that of the chances through both stages, at most that of a permanent report."""
        if isinstance(self.again, SameAgain):
            return self.permanent.loss
        return _seen_loss(self.permanent, self.again).meet(self.permanent.loss)

    @property
    def supports_truth(self) -> Fraction:
        """The chance through both stages, for the true value."""
        return self.again.chance(self.permanent.supports_truth)

    @property
    def supports_other(self) -> Fraction:
        """The chance through both stages, for one other value."""
        return self.again.chance(self.permanent.supports_other)

    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """A message supports the values that a permanent report like it would."""
        return self.permanent.support(sums)

    def permanent_recipe(self) -> dict[str, Any]:
        """That of the permanent protocol; for local hashing, with a seed that is settled once for all values."""
        recipe = self.permanent.recipe()
        if not isinstance(self.permanent, LocalHashing):
            return recipe
        order, truth = recipe["order"], recipe["truth"]
        own = {"kind": "response", "cells": order, "bits": 0, "truth": truth}
        field = {entry: recipe[entry] for entry in ("order", "prime", "polynomial")}
        settled = {"kind": "settled", "cells": recipe["cells"], "bits": 0, "choices": self.permanent.seeds}
        return {**settled, "view": "hashed", "of": own, **field}

    def draw_permanent(self, inputs: NDArray[Any], entropy: Entropy) -> Drawn:
        """Draws reports of the permanent protocol."""
        return self.permanent.draw(inputs, entropy)


def _seen_loss(permanent: Permanent, again: Again) -> Pure:
    """The loss of one message by its chances."""
    truth = again.chance(permanent.supports_truth)
    match permanent:
        case UnaryEncoding():
            return seen_bits_loss(truth, again.chance(permanent.supports_other))
        case Response():
            return seen_number_loss(truth, len(permanent.values))
    return seen_number_loss(truth, permanent.buckets or 2)


def memoised(permanent: Permanent, *, report: Pure | Number | None = None) -> Memoised:
    """Reports of a protocol, remembered by devices; one message costs ``report``, or as much as all if none is given.

    >>> memoised(UnaryEncoding.symmetric(Values(range(8)), Pure(4)), report=1).permanent_loss
    Pure(epsilon=4.0)
    """
    if not isinstance(permanent, Response | UnaryEncoding | LocalHashing):
        raise BadArgument("permanent", "a Response, a UnaryEncoding or a LocalHashing", permanent)
    if report is None:
        return Memoised(permanent)
    epsilon = smaller_epsilon(report, permanent.loss)
    options = Memoised(permanent).options

    def stage(weight: int) -> Again:
        return BitsAgain(weight, WHOLE - weight) if options is None else NumberAgain(options, weight)

    def ratio(weight: int) -> Fraction:
        if options is None and 2 * weight <= WHOLE:
            return Fraction(1)
        truth, other = (stage(weight).chance(one) for one in (permanent.supports_truth, permanent.supports_other))
        return truth * (1 - other) / ((1 - truth) * other) if options is None else truth * (options - 1) / (1 - truth)

    weight = largest_weight(ratio, epsilon)
    if not weight or ratio(weight) <= 1:
        raise BadArgument("report", "so large that a message tells anything at all", float(epsilon))
    return Memoised(permanent, stage(weight))


def smaller_epsilon(report: Pure | Number, lifetime: Pure) -> Fraction:
    """The ε of one message, which must be less than that of a lifetime."""
    epsilon = read_epsilon(report)
    if epsilon >= lifetime.epsilon:
        raise BadArgument(
            "report", "less than the loss of a lifetime (or leave it out: then all messages are alike)", float(epsilon)
        )
    return epsilon


def loloha(
    values: Sequence[Hashable] | Values,
    *,
    lifetime: Pure | Number,
    report: Pure | Number,
    buckets: int | None = None,
) -> Memoised:
    """Longitudinal local hashing: a hash function drawn once for each device, and a permanent report of each bucket.

    ``lifetime`` is the loss of a permanent report, and ``report`` that of one message. Of so many buckets a device
    remembers no more reports, however many values its owner takes. Unless given, their number is the one with the least
    error; 2 (BiLOLOHA) costs least over many values.

    >>> loloha(range(100), lifetime=2, report=1, buckets=2).lifetime_loss(values=50)
    Pure(epsilon=4.0)
    """
    listed = values if isinstance(values, Values) else Values(values)
    permanent = Pure(read_epsilon(lifetime))
    smaller_epsilon(report, permanent)
    if buckets is not None:
        return memoised(LocalHashing(listed, permanent, integer(buckets, "buckets", least=2)), report=report)
    orders = (order for order, _ in fitting(len(listed), MOST_CELLS, extra=1))
    tried = []
    for order in orders:
        tried.append(memoised(LocalHashing(listed, permanent, order), report=report))
        if len(tried) > 2 and tried[-1].mean_squared_error(users=1) > 2 * min(
            one.mean_squared_error(users=1) for one in tried
        ):
            break
    return min(tried, key=lambda one: one.mean_squared_error(users=1))
