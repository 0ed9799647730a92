"""The game of PATE-GAN: teachers vote on made-up rows, a student learns from their votes, a generator from it."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.accounting.events import Event, Gaussian, Repeat, Sequence
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import root
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import below_many
from sfumato.synth.neural.calibrating import least_noise
from sfumato.synth.neural.coded_rows import Opened
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.generator import Generator, NetworkSettings, discriminator
from sfumato.synth.neural.history import History
from sfumato.synth.neural.private_game import frozen_judge
from sfumato.synth.neural.randomness import initialised
from sfumato.synth.neural.statistics import Statistics
from sfumato.synth.neural.teacher_networks import TeacherNetworks, parts_of
from sfumato.train.pate.aggregators import Aggregator, GNMax, LNMax
from sfumato.train.pate.plan import VotingPlan

CLASSES = 2
"""Rows are made up, or real."""

LESSONS = 8
"""How many steps student and generator take in a round, each."""

TEACHING = 3
"""How many steps teachers take in a round: those who tell all made-up rows teach nothing."""

REMEMBERED = 256
"""How many rows of those that were voted on the student looks at in a step."""


@final
@dataclass(frozen=True, eq=False)
class VotingGame:
    """What is played on rows: noisy counts, if any, then ``rounds`` of votes. All of it is public."""

    plan: VotingPlan
    teachers: int
    rounds: int
    settings: NetworkSettings
    statistics: Statistics | None

    @staticmethod
    def within(
        loss: Loss, teachers: int, queries: int, rounds: int, settings: NetworkSettings, statistics: Statistics | None
    ) -> VotingGame:
        """The game with the least noise on votes that keeps a loss together with its statistics.

        Votes have Laplace noise for a pure loss, else Gaussian.
        """
        if rounds > queries:
            raise BadArgument("rounds", f"at most {queries:,}, the number of votes that are asked for", rounds)
        noise = LNMax if isinstance(loss, Pure) else GNMax

        def build(scale: Fraction) -> Event:
            plan = VotingPlan(noise(scale), queries, queries, CLASSES)
            return voting_event(plan, statistics, Fraction(1), teachers)

        def quick(scale: Fraction) -> Event:
            if noise is LNMax:
                return build(scale)
            votes = Repeat(Gaussian(scale, root(2)), queries)
            return votes if statistics is None else Sequence(statistics.nearly, votes)

        plan = VotingPlan(noise(least_noise(build, quick, loss)), queries, queries, CLASSES)
        return VotingGame(plan, teachers, rounds, settings, statistics)

    def event(self, units: Fraction) -> Event:
        """What runs, between rows that differ in so many units."""
        return voting_event(self.plan, self.statistics, units, self.teachers)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is printed of it."""
        counted = () if self.statistics is None else (("noisy counts", str(self.statistics)),)
        return (
            *counted,
            ("teachers", f"{self.teachers:,}, each with units of its own"),
            ("votes", f"on {self.plan.queries:,} made-up rows, in {self.rounds:,} rounds"),
            ("noise", str(self.plan.aggregator)),
        )

    @guarantee(
        claim="of rows, noisy votes of teachers are all that the student, the generator and the history are made of",
        proof="proofs/neural_synthesis.md#votes",
        reviewed="665e975ed183",
    )
    def played(self, opened: Opened, conditions: Conditions, entropy: Entropy) -> tuple[Any, History]:
        """Plays all rounds; the weights of the generator, and what was written down."""
        made = Generator(conditions, self.settings, entropy)
        teachers = TeacherNetworks(opened, parts_of(opened, self.teachers, entropy), conditions, entropy)
        student, lines = Student(conditions, self.settings, entropy), []
        shares = np.diff(np.linspace(0, self.plan.queries, self.rounds + 1).astype(np.int64)).tolist()
        for questions in shares:
            for _ in range(TEACHING):
                teachers.learn(made.rows(self.settings.made_up))
            half = questions // 2  # so that the student hears of others than the generator makes
            rows = torch.cat([made.rows(questions - half), conditions.independent(half, entropy)])
            student.told(rows, noisy_votes(teachers, rows, self.plan.aggregator, entropy))
            lengths = [student.learn() for _ in range(LESSONS)]
            norms = [made.improve(student.judge()) for _ in range(LESSONS)]
            lines.append([*student.view(made.rows(self.settings.made_up)), norms[-1], lengths[-1]])
        return made.weights(), History.of(np.array(lines))


@guarantee(
    claim="noisy counts, then all votes one after another; so many units reach at most as many teachers",
    proof="proofs/neural_synthesis.md#composition",
    reviewed="879da72e3eeb",
)
def voting_event(plan: VotingPlan, statistics: Statistics | None, units: Fraction, teachers: int) -> Event:
    """What runs, between rows that differ in so many units."""
    touched = min(max(1, math.ceil(units)), teachers)
    votes = Repeat(plan.aggregator.event(plan.classes, touched), plan.queries)
    return votes if statistics is None else Sequence(statistics.event(units), votes)


@guarantee(
    claim="the label of each row is chosen by counts of votes with noise, by the aggregator that is paid for",
    proof="proofs/neural_synthesis.md#votes",
    reviewed="8b2a586da5a6",
)
def noisy_votes(teachers: TeacherNetworks, rows: Tensor, aggregator: Aggregator, entropy: Entropy) -> Tensor:
    """Whether teachers take each row for real, by noisy votes."""
    return torch.from_numpy(aggregator.choose(teachers.votes(rows), entropy)).float()


@final
class Student:
    """A discriminator that learns from made-up rows and noisy votes on them, and remembers all of them."""

    def __init__(self, conditions: Conditions, settings: NetworkSettings, entropy: Entropy) -> None:
        wide = conditions.heads.width + conditions.width
        self._network = initialised(discriminator(wide, settings.hidden), entropy)
        self._shape, self._entropy = copy.deepcopy(self._network), entropy
        self._optimizer = torch.optim.Adam(self._network.parameters(), lr=settings.rate, betas=(0.5, 0.9))
        self._rows, self._labels = torch.zeros(0, wide), torch.zeros(0)

    def told(self, rows: Tensor, labels: Tensor) -> None:
        """Remembers what teachers said of rows."""
        self._rows, self._labels = torch.cat([self._rows, rows]), torch.cat([self._labels, labels])

    def learn(self) -> float:
        """Takes one step on some of the rows that it remembers; how long its gradient was."""
        some = torch.from_numpy(below_many(len(self._rows), count=REMEMBERED, entropy=self._entropy))
        lost = nn.functional.binary_cross_entropy_with_logits(self._network(self._rows[some])[:, 0], self._labels[some])
        self._optimizer.zero_grad(set_to_none=True)
        lost.backward()
        parts = [each.grad.norm() for each in self._network.parameters() if each.grad is not None]
        self._optimizer.step()
        return float(torch.stack(parts).norm())

    def judge(self) -> Any:
        """The student as it is now, as a function of rows."""
        return frozen_judge(self._network, self._shape)

    def view(self, rows: Tensor) -> tuple[float, float]:
        """The share of made-up rows that it calls made up, and how real it thinks they are."""
        with torch.no_grad():
            said = self.judge()(rows)
        return float((said < 0).float().mean()), float(torch.sigmoid(said).mean())
