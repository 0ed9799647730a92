"""Runs a mechanism many times on two data sets, for auditors that only look at outcomes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outcomes import Many, Raised
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NotInDomain

Run: TypeAlias = Measurement | Callable[..., Any]
"""A measurement, a function of data, or, where that is said, of data and a number of runs."""

FIRST, MOST = 16, 1 << 16
"""Runs are made in pieces of the first size, doubled up to the second: the clock is looked at between them."""


@final
@dataclass(frozen=True)
class Runs:
    """A mechanism and the two data sets to run it on."""

    sample: Callable[[Data, int], Many]
    left: Data
    right: Data

    @classmethod
    def of(cls, run: Run, left: Data, right: Data, *, batched: bool, entropy: Entropy | None) -> Runs:
        """Reads what is to be run: a measurement, a function of data, or one of data and a number of runs."""
        if isinstance(run, Measurement):
            source, function, domain = entropy or system(), run.function, run.source.domain
            if run.interactive:
                must = "one that answers once; sf.analysis(measurement, strategy) makes one, and says who asks"
                raise BadArgument("the measurement", must, "an interactive one")
            if not (domain.member(left) and domain.member(right)):
                raise NotInDomain(domain)
            return cls(one_by_one(lambda data: function(data, source)), left, right)
        if not callable(run):
            raise BadArgument("run", "a measurement, or a function that takes data and gives an outcome", run)
        if entropy is not None:
            raise BadArgument("entropy", "left out, for a function draws its own randomness", type(entropy).__name__)
        return cls(run if batched else one_by_one(run), left, right)

    def draw(self, count: int, tell: Callable[[int], None], *, until: float = math.inf) -> tuple[Many, Many]:
        """Draws ``count`` outcomes on each side, or fewer where the clock says so, on both the same number."""
        pieces: list[tuple[Many, Many]] = []
        done, step = 0, FIRST
        while done < count and (done < FIRST or time.monotonic() < until):
            step = min(step, count - done)
            pieces.append((self._piece(self.left, step), self._piece(self.right, step)))
            done, step = done + step, min(2 * step, MOST)
            tell(done)
        lefts, rights = zip(*pieces, strict=True)
        return _join(lefts), _join(rights)

    def _piece(self, data: Data, count: int) -> Many:
        outcomes = self.sample(data, count)
        try:
            length = len(outcomes)
        except TypeError:
            length = -1
        if length != count:
            raise BadArgument(
                "what a batched run gives", f"an array or a sequence of {count} outcomes", type(outcomes).__name__
            )
        return outcomes


def one_by_one(run: Callable[[Data], Any]) -> Callable[[Data, int], list[Any]]:
    """Turns a function of data into one that runs it many times; an error is an outcome."""

    def outcome(data: Data) -> Any:
        try:
            return run(data)
        except Exception as error:  # whatever it is, an onlooker sees it
            return Raised.by(error)

    return lambda data, count: [outcome(data) for _ in range(count)]


def _join(pieces: tuple[Many, ...]) -> Many:
    arrays = one_kind(*pieces)
    return np.concatenate(arrays) if arrays else [outcome for piece in pieces for outcome in piece]


def one_kind(*pieces: Many) -> list[NDArray[Any]]:
    """Picks the pieces that are arrays, and refuses arrays of several kinds.

    The kind of an array depends on all of its outcomes, so that what is read of one would depend on the others.
    """
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    if arrays and (len(arrays) < len(pieces) or len({(array.dtype, array.shape[1:]) for array in arrays}) > 1):
        raise BadArgument("the arrays of a batched run", "of one kind and one width in every batch", "several")
    return arrays
