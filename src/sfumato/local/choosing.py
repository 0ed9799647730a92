"""Which protocol to take: all that fit are built, and the one with the smallest error for so many people wins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.chances import read_epsilon
from sfumato.local.device import HEAD
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.geometry import GeometryResponse, HadamardResponse
from sfumato.local.hashing import LocalHashing
from sfumato.local.optimum import least_error
from sfumato.local.response import Response
from sfumato.local.subsets import SubsetSelection
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

CLOSE = Fraction(102, 100)
"""Squared errors within 2 % of the least (so errors within 1 %) count as equal; then the shortest message decides."""

CANDIDATES: dict[str, Callable[[Values, Pure], FrequencyProtocol]] = {
    "response": Response,
    "subset selection": SubsetSelection,
    "geometry response": GeometryResponse,
    "hadamard response": HadamardResponse,
    "local hashing": LocalHashing,
    "optimized unary encoding": UnaryEncoding.optimized,
    "symmetric unary encoding": UnaryEncoding.symmetric,
    "thresholded histogram": UnaryEncoding.thresholded,
}
"""Every protocol for frequencies, by its name."""


@final
@dataclass(frozen=True)
class Candidate:
    """One protocol that could be taken: its error as a share of people (root of the mean square), and its message.

    ``least`` is the error that no private protocol can do without (`least_error`).
    """

    name: str
    protocol: FrequencyProtocol
    error: float
    message_bytes: int
    least: float


def candidates(
    values: Sequence[Hashable] | Values, *, loss: Pure | Number | None = None, epsilon: Number | None = None, users: int
) -> list[Candidate]:
    """All protocols for such values, best first.

    >>> [one.name for one in candidates(range(3), loss=Pure(1), users=1000)][0]
    'response'
    """
    listed = values if isinstance(values, Values) else Values(values)
    people, cost = integer(users, "users", least=1), Pure(read_epsilon(loss, epsilon))
    protocols = {name: build(listed, cost) for name, build in CANDIDATES.items()}
    errors = {name: protocol.mean_squared_error(users=people) for name, protocol in protocols.items()}
    enough, least = CLOSE * min(errors.values()), float(least_error(len(listed), loss=cost, users=people)) ** 0.5
    found = [
        Candidate(name, protocol, float(errors[name]) ** 0.5, HEAD + protocol.layout.size, least)
        for name, protocol in protocols.items()
    ]
    return sorted(
        found,
        key=lambda one: (0, one.message_bytes, one.error) if errors[one.name] <= enough else (1, one.error),
    )


def frequencies(
    values: Sequence[Hashable],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    other: Hashable = None,
    method: str | None = None,
) -> FrequencyProtocol:
    """The protocol that counts values of people with the least error, or that of a given name.

    ``why`` says how the choice fell. ``other`` names the value that stands for whatever is not listed.

    >>> frequencies(["yes", "no"], loss=Pure(1), users=500).loss
    Pure(epsilon=1.0)
    """
    listed = Values(values, other)
    if method is not None:
        if method not in CANDIDATES:
            raise BadArgument("method", f"one of {', '.join(CANDIDATES)}", method)
        return CANDIDATES[method](listed, Pure(read_epsilon(loss, epsilon)))
    return candidates(listed, loss=loss, epsilon=epsilon, users=users)[0].protocol


def why(
    values: Sequence[Hashable], *, loss: Pure | Number | None = None, epsilon: Number | None = None, users: int
) -> str:
    """Says in words which protocol fits best, by how much, and what the others would do.

    Next to each error stands what it is times the least that any private protocol can have (`least_error`).

    >>> print(why(range(3), loss=1, users=1000).splitlines()[0])
    response: each share is off by .0381 (root mean square), 1.000 times the least possible, in messages of 6 bytes
    """
    return "\n".join(
        f"{one.name}: each share is off by {one.error:.3g}".replace("0.", ".")
        + f" (root mean square), {one.error / one.least:.3f} times the least possible,"
        + f" in messages of {one.message_bytes} bytes"
        for one in candidates(values, loss=loss, epsilon=epsilon, users=users)
    )
