"""PATE-GAN and PATE-CTGAN: generators against a student of teachers, each of whom knows units of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, final

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number, integer
from sfumato.synth.neural.coded_rows import CodedRows
from sfumato.synth.neural.dp_gan import part_of
from sfumato.synth.neural.fitting import Game
from sfumato.synth.neural.generator import NetworkSettings
from sfumato.synth.neural.recipe import NeuralSynthesizer
from sfumato.synth.neural.statistics import Statistics
from sfumato.synth.neural.voting_game import VotingGame

TEACHERS = 50
"""How many parts the units are dealt into: more of them bear more noise, and know less each."""

QUERIES = 400
"""On how many made-up rows teachers vote: fewer votes have less noise each."""

ROUNDS = 40
"""How often teachers are asked."""

PROOFS = ("proofs/neural_synthesis.md#votes", "proofs/neural_synthesis.md#composition", "proofs/pate.md#sensitivity")


@final
@dataclass(frozen=True, kw_only=True)
class PATEGAN(NeuralSynthesizer):
    """A generative network whose discriminator learns from noisy votes of teachers (Jordon et al. 2019).

    Takes:      ``loss``, also a pure ε, or ``epsilon`` and perhaps ``delta``; how many ``teachers``; on how many
                made-up rows they vote, ``queries``, and in how many ``rounds``
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss, whatever the data is: no part of it is worked out from votes
                (proofs/neural_synthesis.md#votes)
    Cost:       seconds for thousands of rows

    For a pure ε votes have Laplace noise, as in the original; else Gaussian, which is less.
    """

    name: ClassVar[str] = "PATE-GAN"
    sized: ClassVar[bool] = True
    proofs: ClassVar[tuple[str, ...]] = PROOFS
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    teachers: int = TEACHERS
    queries: int = QUERIES
    rounds: int = ROUNDS
    size: int | None = None
    settings: NetworkSettings = field(default_factory=NetworkSettings)
    detect: bool = True

    def game(self, rows: CodedRows, size: int, loss: Loss) -> Game:
        """Votes, and nothing else."""
        return voting_game(self, rows, loss, None)


@final
@dataclass(frozen=True, kw_only=True)
class PATECTGAN(NeuralSynthesizer):
    """A conditional generative network for tables, against a student of teachers (Rosenblatt et al. 2020).

    Takes:      as `PATEGAN`; ``share``, the part of the loss that noisy counts of each column have; ``modes``, how many
                hills the values of a number may have
    Gives:      by ``fit`` a `Synthetic`, which can be asked for rows with given values
    Guarantee:  the stated loss, counts and votes together (proofs/neural_synthesis.md#composition)
    Cost:       seconds for thousands of rows

    Every teacher draws rows and conditions from its own part; what the generator is asked for comes from noisy counts.
    """

    name: ClassVar[str] = "PATE-CTGAN"
    sized: ClassVar[bool] = False
    proofs: ClassVar[tuple[str, ...]] = (*PROOFS, "proofs/neural_synthesis.md#statistics")
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    teachers: int = TEACHERS
    queries: int = QUERIES
    rounds: int = ROUNDS
    size: int | None = None
    share: Number = Fraction(1, 5)
    modes: int = 5
    settings: NetworkSettings = field(default_factory=NetworkSettings)
    detect: bool = True

    def game(self, rows: CodedRows, size: int, loss: Loss) -> Game:
        """Noisy counts of every column, and votes with what they leave."""
        return voting_game(self, rows, loss, Statistics.within(part_of(loss, self.share), rows.sizes, rows.each))

    @property
    def _modes(self) -> int:
        return integer(self.modes, "modes", least=1)


def voting_game(recipe: PATEGAN | PATECTGAN, rows: CodedRows, loss: Loss, statistics: Statistics | None) -> VotingGame:
    """The game of a recipe."""
    teachers = integer(recipe.teachers, "teachers", least=2)
    queries, rounds = integer(recipe.queries, "queries", least=1), integer(recipe.rounds, "rounds", least=1)
    return VotingGame.within(loss, teachers, queries, rounds, recipe.settings, statistics)
