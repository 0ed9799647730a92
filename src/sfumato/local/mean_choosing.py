"""Which protocol for a mean: all are built, and the one with the smallest error for the worst of all data wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import CLOSE
from sfumato.local.device import HEAD
from sfumato.local.dithered import DitheredMean
from sfumato.local.hybrid import HybridMean
from sfumato.local.mean_reports import MeanProtocol
from sfumato.local.numbers import STEPS, Numbers, read_bounds
from sfumato.local.piecewise import PiecewiseMean
from sfumato.local.two_valued import TwoValuedMean

MEANS: dict[str, Callable[[Numbers, Pure], MeanProtocol]] = {
    "two-valued": TwoValuedMean,
    "piecewise": PiecewiseMean,
    "hybrid": HybridMean.published,
    "dithered": DitheredMean.best,
}
"""Every protocol for means, by its name."""


@final
@dataclass(frozen=True)
class MeanCandidate:
    """One protocol that could be taken: the error of the mean (root of the mean square, worst data), its message."""

    name: str
    protocol: MeanProtocol
    error: float
    message_bytes: int


def mean_candidates(
    *,
    between: tuple[Number, Number],
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    steps: int = STEPS,
) -> list[MeanCandidate]:
    """All protocols for the mean of such numbers, best first.

    >>> [one.name for one in mean_candidates(between=(0, 1), loss=2, users=1000)]
    ['dithered', 'hybrid', 'piecewise', 'two-valued']
    """
    people, cost, numbers = integer(users, "users", least=1), Pure(read_epsilon(loss, epsilon)), _grid(between, steps)
    found = []
    for name, build in MEANS.items():
        protocol = build(numbers, cost)
        error = float(protocol.mean_squared_error(users=people)) ** 0.5
        found.append(MeanCandidate(name, protocol, error, HEAD + protocol.layout.size))
    near = min(one.error for one in found) * float(CLOSE)
    return sorted(found, key=lambda one: (one.error > near, one.message_bytes if one.error <= near else 0, one.error))


def mean(
    *,
    between: tuple[Number, Number],
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    steps: int = STEPS,
    method: str | None = None,
) -> MeanProtocol:
    """The protocol for a mean with the least error in the worst case, or that of a given name.

    Numbers stand at the nearest of ``steps`` + 1 equidistant places between the bounds: take one step for each unit of
    whole numbers, or as many as there are unless told otherwise, which moves nobody's number by more than 2·10⁻⁵ of
    the range. Within 1 % of the least error the shorter message comes first.

    >>> protocol = mean(between=(0, 100), loss=Pure(1), users=10_000)
    >>> round(float(protocol.mean_squared_error(users=10_000)) ** 0.5, 3)
    1.002
    """
    if method is not None:
        if method not in MEANS:
            raise BadArgument("method", f"one of {', '.join(MEANS)}", method)
        integer(users, "users", least=1)
        return MEANS[method](_grid(between, steps), Pure(read_epsilon(loss, epsilon)))
    return mean_candidates(between=between, loss=loss, epsilon=epsilon, users=users, steps=steps)[0].protocol


def why_mean(
    *,
    between: tuple[Number, Number],
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    steps: int = STEPS,
) -> str:
    """Says in words which protocol fits best, by how much, and what the others would do.

    >>> print(why_mean(between=(0, 100), loss=1, users=10_000).splitlines()[0])
    dithered: the mean is off by 1 at worst (root mean square), in messages of 7 bytes
    """
    return "\n".join(
        f"{one.name}: the mean is off by {one.error:.3g} at worst (root mean square),"
        f" in messages of {one.message_bytes} bytes"
        for one in mean_candidates(between=between, loss=loss, epsilon=epsilon, users=users, steps=steps)
    )


def _grid(between: tuple[Number, Number], steps: int) -> Numbers:
    return Numbers(*read_bounds(between, integer(steps, "steps", least=1)), steps)
