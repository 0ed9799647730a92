"""What a shuffler buys: the central ε of reports of several losses, of several numbers of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, final

from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, up
from sfumato.local.chances import read_epsilon
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

PEOPLE = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOSSES = ("0.5", "1", "2", "4")


@final
@dataclass(frozen=True)
class ShuffleGain:
    """What reports of a loss cost together when so many people's are mixed."""

    local: Pure
    users: int
    central: Approx


@final
@dataclass(frozen=True, repr=False)
class ShuffleGains(Displayed):
    """The central losses of shuffled reports, for several local losses and numbers of people; certified."""

    delta: Fraction
    gains: tuple[ShuffleGain, ...]

    def document(self) -> Document:
        """A row for each number of people, a column for each local loss."""
        losses = list(dict.fromkeys(gain.local for gain in self.gains))
        users = list(dict.fromkeys(gain.users for gain in self.gains))
        found = {(gain.users, gain.local): f"{up(gain.central.epsilon):.3g}" for gain in self.gains}
        rows = tuple((f"{people:,}", *(found[people, loss] for loss in losses)) for people in users)
        head = ("people", *(f"{loss} each" for loss in losses))
        told = f"ε of all reports together, at δ = {float(self.delta):.3g}, once a shuffler has mixed them"
        return Document("Shuffled reports", told, tables=(Table(rows, head, right=frozenset(range(len(head)))),))

    def plot(self, against: Literal["users", "loss"] = "users", *, title: str | None = None) -> Chart:
        """Draws the central ε against the number of people, a line for each local loss; or the other way around."""
        from sfumato.charts.local import labelled_lines

        if against not in ("users", "loss"):
            raise BadArgument("against", "'users' or 'loss'", against)
        lines: dict[str, list[tuple[float, float]]] = {}
        for gain in self.gains:
            name = f"{gain.local} a report" if against == "users" else f"{gain.users:,} people"
            at = float(gain.users) if against == "users" else float(gain.local.epsilon)
            lines.setdefault(name, []).append((at, up(gain.central.epsilon)))
        return labelled_lines(
            lines,
            across_title="people whose reports are shuffled" if against == "users" else "ε of a report, as sent",
            upward_title="central ε of all reports together",
            title=title or "The more people are mixed, the less each of them risks",
            said=[
                f"δ = {float(self.delta):.3g}, between data sets in which one person's value is exchanged; certified"
            ],
            ticks=sorted({float(gain.local.epsilon) for gain in self.gains}) if against == "loss" else None,
        )


def shuffle_gains(
    *, losses: Sequence[Pure | Number] = LOSSES, users: Sequence[int] = PEOPLE, delta: Number
) -> ShuffleGains:
    """Tabulates what a shuffler buys, whatever the pure randomizer; `Shuffled` knows more of a protocol at hand.

    >>> [round(float(gain.central.epsilon), 2) for gain in shuffle_gains(losses=[1], users=[100_000], delta=1e-8).gains]
    [0.02]
    """
    if not losses or not users:
        raise BadArgument("losses and users", "at least one of each", (len(losses), len(users)))
    gains = []
    for people in sorted({integer(each, "users", least=1) for each in users}):
        for local in sorted({read_epsilon(loss) for loss in losses}):
            central = min(local, shuffled_epsilon(local, reports=people, delta=delta))
            gains.append(ShuffleGain(Pure(local), people, Approx(central, delta)))
    return ShuffleGains(Fraction(gains[0].central.delta), tuple(gains))
