"""What an attack achieves: how often it succeeds, beside what guessing would; and how that changes with protection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, final

from sfumato.accounting.proportions import probability_bounds
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, integer, positive, up
from sfumato.release.charts.canvas import Chart
from sfumato.release.progress import Progress, shown
from sfumato.release.render import written
from sfumato.release.render.document import Document, Table


class Violation(IntEnum):
    """Is how deep an attack goes; each level implies those below it (P3-072).

    Learning what holds for a whole population (smokers fall ill more often) is none of them: it can be learnt without
    anybody's own record.
    """

    MEMBERSHIP = 1
    RECONSTRUCTION = 2
    REIDENTIFICATION = 3

    @property
    def meaning(self) -> str:
        """Says it in a few words."""
        return {
            Violation.MEMBERSHIP: "tells who is in the data",
            Violation.RECONSTRUCTION: "recovers records",
            Violation.REIDENTIFICATION: "puts names to records",
        }[self]


@final
@dataclass(frozen=True)
class Success:
    """Is how often something was right: so many hits in so many trials."""

    hits: int
    trials: int

    def __post_init__(self) -> None:
        if integer(self.hits, "hits", least=0) > integer(self.trials, "trials", least=0):
            raise BadArgument("hits", f"at most the number of trials, {self.trials}", self.hits)

    @property
    def rate(self) -> float:
        """Is the share of hits; 0 where nothing was tried."""
        return self.hits / self.trials if self.trials else 0.0

    def interval(self, confidence: Number = "0.95") -> tuple[float, float]:
        """Gives exact bounds on the chance of a hit, where trials are independent."""
        if not self.trials:
            return 0.0, 1.0
        low, high = probability_bounds(self.hits, self.trials, confidence)
        return down(low), up(high)

    def __str__(self) -> str:
        return f"{self.rate:.3g} ({self.hits} of {self.trials})"


@final
@dataclass(frozen=True)
class Attack:
    """Is the outcome of an attack: its success against a baseline, and what it found.

    ``against`` says what was attacked: "exact answers", "rounding", "ε = 1". ``baseline`` is the share of hits that
    somebody reaches who never saw the release. ``epsilon`` is the whole loss of what was attacked, where it has one.
    ``found`` is what the attack brought to light; the class of each is that attack's own.
    """

    name: str
    violation: Violation
    against: str
    success: Success
    baseline: float
    epsilon: float | None = None
    found: Any = field(default=None, repr=False)

    @property
    def advantage(self) -> float:
        """Is how much more often the attack is right than guessing."""
        return self.success.rate - self.baseline

    def chart(self) -> Chart:
        """Draws the success beside the baseline."""
        return Comparison((self,)).chart()

    def __str__(self) -> str:
        return str(Comparison((self,)))

    def _repr_html_(self) -> str:
        return Comparison((self,))._repr_html_()


@final
@dataclass(frozen=True)
class Comparison:
    """Is one attack against several protections: exact answers, ad-hoc ones, and differential privacy at several ε."""

    attacks: tuple[Attack, ...]

    def __post_init__(self) -> None:
        if not self.attacks:
            raise BadArgument("attacks", "one or more", ())

    @property
    def name(self) -> str:
        """Is what the attacks are called; all of their names, where they are several."""
        return ", ".join(dict.fromkeys(one.name for one in self.attacks))

    def chart(self) -> Chart:
        """Draws success against ε where there are several ε, with the other protections and the baseline as lines."""
        from sfumato.release.charts.attacks import attack_success

        rows = [
            (one.against, one.epsilon, one.success.rate, *one.success.interval(), one.baseline) for one in self.attacks
        ]
        return attack_success(rows, title=self.name)

    def document(self) -> Document:
        """Says all of it, free of any form."""
        rows = tuple(
            (
                one.against,
                str(one.success),
                "{:.3g} … {:.3g}".format(*one.success.interval()),
                f"{one.baseline:.3g}",
                f"{one.advantage:+.3g}",
            )
            for one in self.attacks
        )
        deepest = max(one.violation for one in self.attacks)
        head = ("against", "success", "95 % if independent", "guessing", "advantage")
        return Document(
            title=self.name,
            headline=self.name,
            aside=f"({deepest.meaning})",
            tables=(Table(rows, head, right=frozenset({1, 2, 3, 4})),),
        )

    def __str__(self) -> str:
        return written(self.document(), "text")

    def _repr_html_(self) -> str:
        return written(self.document(), "html")


def sweep(
    attack: Callable[[float], Attack],
    epsilons: Iterable[float],
    *,
    besides: Iterable[Attack] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Runs an attack once for each ε and puts the outcomes side by side, after those that were run already."""
    wanted = [float(positive(epsilon, "an ε of a sweep")) for epsilon in epsilons]
    done = list(besides)
    with shown(progress, "attacking") as tell:
        for place, epsilon in enumerate(wanted):
            done.append(_at(attack(epsilon), epsilon))
            tell(place + 1, len(wanted))
    return Comparison(tuple(done))


def _at(outcome: Attack, epsilon: float) -> Attack:
    """Gives an outcome with the ε that it was run at, where it does not say one."""
    if outcome.epsilon is not None:
        return outcome
    return replace(outcome, epsilon=epsilon, against=f"ε = {epsilon:g}")
