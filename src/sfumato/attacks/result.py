"""What an attack achieves: how often it succeeds, beside what guessing would; and how that changes with protection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, final

from sfumato.accounting.meaning.proportions import probability_bounds
from sfumato.charts.canvas import Chart
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, integer, positive, up
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table


class Violation(IntEnum):
    """How deep an attack goes; each level implies those below it (P3-072).

    Learning what holds for a whole population (smokers fall ill more often) is none of them: it can be learnt without
    anybody's own record.
    """

    MEMBERSHIP = 1
    RECONSTRUCTION = 2
    REIDENTIFICATION = 3

    @property
    def meaning(self) -> str:
        """What an attack of this depth does, in a few words."""
        return {
            Violation.MEMBERSHIP: "tells who is in the data",
            Violation.RECONSTRUCTION: "recovers records",
            Violation.REIDENTIFICATION: "puts names to records",
        }[self]


@final
@dataclass(frozen=True)
class Success:
    """How often something was right: hits among trials."""

    hits: int
    trials: int

    def __post_init__(self) -> None:
        if integer(self.hits, "hits", least=0) > integer(self.trials, "trials", least=0):
            raise BadArgument("hits", f"at most the number of trials, {self.trials}", self.hits)

    @property
    def rate(self) -> float:
        """The share of hits; 0 where nothing was tried."""
        return self.hits / self.trials if self.trials else 0.0

    def interval(self, confidence: Number = "0.95") -> tuple[float, float]:
        """Exact bounds on the chance of a hit, where trials are independent."""
        if not self.trials:
            return 0.0, 1.0
        low, high = probability_bounds(self.hits, self.trials, confidence)
        return down(low), up(high)

    def __str__(self) -> str:
        return f"{self.rate:.3g} ({self.hits} of {self.trials})"


@final
@dataclass(frozen=True)
class Attack(Displayed):
    """The outcome of an attack: its success against a baseline, and what it found.

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
    caveat: str = field(default="", repr=False)
    """What the outcome does not show, where that is easily misread."""

    @property
    def advantage(self) -> float:
        """How much more often the attack is right than guessing."""
        return self.success.rate - self.baseline

    def chart(self) -> Chart:
        return Comparison((self,)).chart()

    def document(self) -> Document:
        """The report, for any form."""
        return Comparison((self,)).document()


@final
@dataclass(frozen=True)
class Comparison(Displayed):
    """One attack against several protections: exact answers, ad-hoc ones, and differential privacy at several ε."""

    attacks: tuple[Attack, ...]

    def __post_init__(self) -> None:
        if not self.attacks:
            raise BadArgument("attacks", "one or more", ())

    @property
    def name(self) -> str:
        """What the attacks are called; all of their names, where they are several."""
        return ", ".join(dict.fromkeys(attack.name for attack in self.attacks))

    def chart(self) -> Chart:
        """Draws success against ε where there are several ε, with the other protections and the baseline as lines."""
        from sfumato.charts.attacks import attack_success

        rows = [
            (attack.against, attack.epsilon, attack.success.rate, *attack.success.interval(), attack.baseline)
            for attack in self.attacks
        ]
        return attack_success(rows, title=self.name)

    def document(self) -> Document:
        """The report, for any form."""
        rows = tuple(
            (
                attack.against,
                str(attack.success),
                "{:.3g} … {:.3g}".format(*attack.success.interval()),
                f"{attack.baseline:.3g}",
                f"{attack.advantage:+.3g}",
            )
            for attack in self.attacks
        )
        deepest = max(attack.violation for attack in self.attacks)
        head = ("against", "success", "95 % if independent", "guessing", "advantage")
        return Document(
            title=self.name,
            headline=self.name,
            aside=f"({deepest.meaning})",
            warnings=tuple(dict.fromkeys(attack.caveat for attack in self.attacks if attack.caveat)),
            tables=(Table(rows, head, right=frozenset({1, 2, 3, 4})),),
        )


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
    with reporting(progress, "attacking") as tell:
        for place, epsilon in enumerate(wanted):
            done.append(_at(attack(epsilon), epsilon))
            tell(place + 1, len(wanted))
    return Comparison(tuple(done))


def _at(outcome: Attack, epsilon: float) -> Attack:
    """An outcome with the ε that it was run at, where it does not say one."""
    if outcome.epsilon is not None:
        return outcome
    return replace(outcome, epsilon=epsilon, against=f"ε = {epsilon:g}")
