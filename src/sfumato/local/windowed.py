"""One report of each person in any so many steps: streams of values, private for every window of time.

A window of w steps holds one report of each person: everybody draws one of w turns once, and reports in those steps
only. So each report has the whole loss; to report in all steps at a w-th of it each would be far worse (Ren et al.
2022, arXiv 2204.00526, population against loss division).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event, Repeat
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer
from sfumato.guarantee import guarantee
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import frequencies
from sfumato.local.protocol import Drawn, LocalProtocol, Tally, a_protocol
from sfumato.local.reports import Layout, Rejected, Reports
from sfumato.noise.uniform import below_many

MOST_TURNS = 1 << 20
"""The longest window."""


@final
@dataclass(frozen=True)
class Windowed(LocalProtocol[tuple[Any, ...]]):
    """Each person reports once in any ``turns`` steps of time, by another protocol; values are pairs (step, value).

    Takes:      a protocol for one step, and the number of steps in a window
    Guarantee:  any window of so many steps costs what one report does, between any two histories of values
                (proofs/local_again.md#turns); `window_loss` for others
    Cost:       that of a report; a tally has the cells of all turns
    Best:       values that change freely, for as long as one likes; a step is estimated from 1 person in ``turns``

    >>> weekly = windowed(range(4), turns=7, loss=1, users=70_000)
    >>> weekly.window_loss(steps=7), weekly.window_loss(steps=30)
    (Pure(epsilon=1.0), Pure(epsilon=5.0))
    """

    protocol: LocalProtocol[Any]
    turns: int

    def __post_init__(self) -> None:
        a_protocol(self.protocol)
        integer(self.turns, "turns", least=1, most=MOST_TURNS)

    @property
    def loss(self) -> Pure:
        """What one report costs, and so what any window costs."""
        return self.protocol.loss

    @property
    def layout(self) -> Layout:
        """The cells of the protocol, for each turn."""
        own = self.protocol.layout
        return Layout(self.turns * own.cells, own.bits, own.ones, parts=(own,) * self.turns if own.parts else ())

    @guarantee(
        claim="s steps in a row hold at most ceil(s / w) reports of one person, of independent coins",
        proof="proofs/local_again.md#turns",
        reviewed="49b4eed44b81",
    )
    def window_loss(self, *, steps: int) -> Pure:
        """What any so many steps in a row cost, between any two histories of values."""
        return self.protocol.loss.times(-(-integer(steps, "steps", least=0) // self.turns))

    def window_event(self, *, steps: int) -> Event:
        """The same, as the accountant knows it."""
        return Repeat(self.protocol.event, -(-integer(steps, "steps", least=0) // self.turns))

    def randomizer(self) -> dict[str, Any]:
        """The recipe of one step, and the number of turns."""
        layout = self.layout
        return {
            "kind": "in turn",
            "cells": layout.cells,
            "bits": layout.bits,
            "turns": self.turns,
            "of": self.protocol.recipe(),
        }

    def domain(self) -> dict[str, Any] | None:
        """Pairs of a step and a value of the protocol's domain."""
        own = self.protocol.domain()
        return None if own is None else {"in steps": own}

    def input_of(self, value: Any) -> list[Any]:
        """The step, and what the protocol's randomizer is given."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise BadArgument("the value", "a pair: the step, a whole number from 0 on, and the value in it", Unseen())
        return [integer(value[0], "the step", least=0, most=1 << 53), self.protocol.input_of(value[1])]

    def inputs_of(self, values: Any) -> tuple[NDArray[np.int64], Any]:
        """The same for many: one step for all, or a column of steps, and a column of values."""
        if not isinstance(values, list | tuple) or len(values) != 2:
            raise BadArgument("the values", "a pair: the step, or one for each person, and their values", Unseen())
        inner = self.protocol.inputs_of(values[1])
        people = len(inner[0]) if isinstance(inner, tuple) else len(inner)
        steps = np.asarray(values[0])
        if steps.dtype.kind not in "iu" or steps.ndim > 1 or (steps.ndim and len(steps) != people) or (steps < 0).any():
            raise BadArgument("the steps", "a whole number from 0 on, for all or for each person", Unseen())
        return np.broadcast_to(steps.astype(np.int64), people), inner

    def draw(self, inputs: tuple[NDArray[np.int64], Any], entropy: Entropy) -> Drawn:
        """Draws reports of people whose turn it is."""
        steps, inner = inputs
        cells, bits = self.protocol.draw(inner, entropy)
        return steps % self.turns * self.protocol.layout.cells + cells, bits

    def draw_turns(self, users: int, *, entropy: Entropy | None = None) -> NDArray[np.int64]:
        """A turn for each of so many people, as devices draw them once; for simulations."""
        return below_many(self.turns, count=integer(users, "users", least=0), entropy=entropy or system())

    def in_step(self, reports: Reports | Iterable[bytes] | Tally, *, step: int) -> Any:
        """The estimate of one step, from the reports that came in it; those of another turn count as invalid."""
        tally = reports if isinstance(reports, Tally) else self.tally(reports)
        own = self._part(tally, integer(step, "step", least=0) % self.turns)
        strays = Rejected(invalid=tally.users - own.users)
        return self.protocol.estimate(Tally(own.head, own.layout, own.sums, own.rejected + strays))

    def estimate(self, tally: Tally) -> tuple[Any, ...]:
        """The estimates of all turns, each from those who reported in it: of a whole window, one for each step."""
        return tuple(self.protocol.estimate(self._part(tally, turn)) for turn in range(self.turns))

    def _part(self, tally: Tally, turn: int) -> Tally:
        own = self.protocol.layout
        sums = tally.sums[turn * own.cells : (turn + 1) * own.cells]
        return Tally(self.protocol.head, own, sums, tally.rejected)


def windowed(
    values: Any,
    *,
    turns: int,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    other: Any = None,
    method: str | None = None,
) -> Windowed:
    """Counts of values in every step of time, where any ``turns`` steps in a row cost ``loss``.

    The protocol of a step is the best for the people of one turn, one in ``turns`` of all ``users``.

    >>> windowed(["on", "off"], turns=24, loss="0.5", users=10_000).loss
    Pure(epsilon=0.5)
    """
    cost, length = Pure(read_epsilon(loss, epsilon)), integer(turns, "turns", least=1, most=MOST_TURNS)
    people = max(1, integer(users, "users", least=1) // length)
    return Windowed(frequencies(values, loss=cost, users=people, other=other, method=method), length)
