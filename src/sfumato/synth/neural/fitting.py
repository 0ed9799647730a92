"""A whole game as one measurement: it begins with rows of codes, ends with a generator, and knows its price before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy
from sfumato.release.record import How
from sfumato.synth.neural.calibrating import price
from sfumato.synth.neural.coded_rows import CodedRows, Opened, units_apart
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.generator import NetworkSettings
from sfumato.synth.neural.heads import Head, Heads
from sfumato.synth.neural.history import History
from sfumato.synth.neural.modes import fitted_modes, whole_range
from sfumato.synth.neural.statistics import Statistics

FEW = 8
"""Columns in order with up to so many values have an input for each; those with more are numbers in modes."""


class Game(Protocol):
    """A way to play: what runs on rows, what it is made with, and what it gives."""

    @property
    def settings(self) -> NetworkSettings:
        """The sizes of its networks."""

    @property
    def statistics(self) -> Statistics | None:
        """The noisy counts that it begins with, if any."""

    def event(self, units: Fraction) -> Event:
        """What runs, between rows that differ in so many units."""

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is printed of it."""

    def played(self, opened: Opened, conditions: Conditions, entropy: Entropy) -> tuple[Any, History]:
        """Plays all steps; the weights of the generator, and what was written down."""


@final
@dataclass(frozen=True, eq=False)
class Played:
    """What a game leaves: a generator, the noisy counts that it was told, and what was written down."""

    conditions: Conditions
    settings: NetworkSettings
    weights: NDArray[np.float32]
    counts: tuple[NDArray[np.float64], ...] | None
    history: History
    deviation: float = 0.0
    """That of the noise on each count."""

    @staticmethod
    def of(value: Any, game: Game, heads: Sequence[Head], modes: int) -> Played:
        """Reads what a measurement released."""
        counts = value.get("counts")
        sizes = [head.size for head in heads]
        split = None if counts is None else tuple(np.split(np.asarray(counts), np.cumsum(sizes)[:-1]))
        conditions = conditioned(heads, split, modes)
        weights, lines = np.asarray(value["weights"], dtype=np.float32), np.asarray(value["history"])
        deviation = 0.0 if game.statistics is None else game.statistics.deviation
        return Played(conditions, game.settings, weights, split, History.of(lines), deviation)


def conditioned(heads: Sequence[Head], counts: Sequence[NDArray[np.float64]] | None, modes: int) -> Conditions:
    """Columns with their modes, and conditions: by noisy counts; without any, one wide mode and no conditions."""
    made = []
    for place, head in enumerate(heads):
        if head.ordered <= FEW:
            made.append(Head(head.name, head.size))
            continue
        found = whole_range(head.ordered) if counts is None else fitted_modes(counts[place][: head.ordered], modes)
        made.append(Head(head.name, head.size, head.ordered, found))
    columns = Heads.of(made)
    return Conditions(columns) if counts is None else Conditions.of(columns, counts)


def measured_game(
    rows: CodedRows, game: Game, loss: Loss, *, name: str, modes: int, proofs: Sequence[str]
) -> Measurement:
    """A game on rows as one measurement.

    Takes:      rows of codes, of arrays or of a table behind a ledger, where all rows of a unit stay together
    Gives:      the weights of a generator, the noisy counts it was told, and what was written down of made-up rows
    Guarantee:  at most the loss, for whoever is protected; noise on gradients is drawn in floating point
                (proofs/neural_synthesis.md#composition)
    Cost:       that of training both sides
    """
    begin, space = rows.beginning()

    made = Measurement(
        source=space,
        measure=type(loss),
        function=_player(rows, game, modes),
        privacy_map=lambda d_in: price(game.event(units_apart(d_in)), loss),
        event=lambda d_in: game.event(units_apart(d_in)),
        how=How(name, game.facts(), proofs=tuple(proofs)),
    ).recorded()
    return made if begin is None else made.after(begin)


def _player(rows: CodedRows, game: Game, modes: int) -> Callable[[Data, Entropy], dict[str, Any]]:
    heads, sizes, each = rows.heads, rows.sizes, rows.each

    def play(data: Data, entropy: Entropy) -> dict[str, Any]:
        opened = Opened.of(data, sizes, each)
        counts = None if game.statistics is None else game.statistics.measured(opened.codes, entropy)
        weights, history = game.played(opened, conditioned(heads, counts, modes), entropy)
        value: dict[str, Any] = {"weights": weights, "history": history.lines}
        return value if counts is None else {**value, "counts": np.concatenate(counts)}

    return play
