"""DP-GAN and DP-CTGAN: generators against discriminators that learn from rows by clipped and noisy steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.synth.neural.coded_rows import CodedRows
from sfumato.synth.neural.fitting import Game
from sfumato.synth.neural.generator import NetworkSettings
from sfumato.synth.neural.private_game import PrivateGame
from sfumato.synth.neural.recipe import NeuralSynthesizer
from sfumato.synth.neural.statistics import Statistics
from sfumato.train.batches import PoissonBatches

EPOCHS = 20
"""How often every unit is looked at, on average."""

TENTH = 10
"""A batch is one in so many of all units, unless it is said how large: large batches bear noise better."""

PROOFS = ("proofs/neural_synthesis.md#generator", "proofs/neural_synthesis.md#composition", "proofs/training.md#steps")


@final
@dataclass(frozen=True, kw_only=True)
class DPGAN(NeuralSynthesizer):
    """A generative network whose discriminator is trained by DP-SGD (Xie et al. 2018, arXiv 1802.06739).

    Takes:      ``loss``, an (ε, δ), or ``epsilon`` and ``delta``; ``epochs``; ``batch``, how many units a step has on
                average; ``clip``, the most that one unit adds to a gradient; ``size``, a public number of units
    Gives:      by ``fit`` a `Synthetic`
    Guarantee:  the stated loss, for whoever is protected; noise is drawn in floating point
                (proofs/neural_synthesis.md#generator)
    Cost:       seconds for thousands of rows

    Numbers are seen as places of their bins, within public bounds; nothing is known of how they are spread.
    """

    name: ClassVar[str] = "DP-GAN"
    sized: ClassVar[bool] = True
    proofs: ClassVar[tuple[str, ...]] = PROOFS
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    epochs: Number = EPOCHS
    batch: int | None = None
    clip: float = 1.0
    size: int | None = None
    settings: NetworkSettings = field(default_factory=NetworkSettings)
    detect: bool = True

    def game(self, rows: CodedRows, size: int, loss: Loss) -> Game:
        """DP-SGD, and nothing else."""
        return PrivateGame.within(loss, batches_of(size, self.batch, self.epochs), self.settings, self.clip, None)


@final
@dataclass(frozen=True, kw_only=True)
class DPCTGAN(NeuralSynthesizer):
    """A conditional generative network for tables, trained by DP-SGD (Rosenblatt et al. 2020, arXiv 2011.05537).

    Takes:      as `DPGAN`; ``share``, the part of the loss that noisy counts of each column have; ``modes``, how many
                hills the values of a number may have
    Gives:      by ``fit`` a `Synthetic`, which can be asked for rows with given values
    Guarantee:  the stated loss, counts and training together (proofs/neural_synthesis.md#composition)
    Cost:       seconds for thousands of rows

    Numbers are measured from the nearest of some modes, fitted to noisy counts. In training, values are asked for by
    the logarithm of their noisy counts, so that rare ones have their turn.
    """

    name: ClassVar[str] = "DP-CTGAN"
    sized: ClassVar[bool] = True
    proofs: ClassVar[tuple[str, ...]] = (*PROOFS, "proofs/neural_synthesis.md#statistics")
    loss: Loss | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    epochs: Number = EPOCHS
    batch: int | None = None
    clip: float = 1.0
    size: int | None = None
    share: Number = Fraction(1, 5)
    modes: int = 5
    settings: NetworkSettings = field(default_factory=NetworkSettings)
    detect: bool = True

    def game(self, rows: CodedRows, size: int, loss: Loss) -> Game:
        """Noisy counts of every column, and DP-SGD with what they leave."""
        statistics = Statistics.within(part_of(loss, self.share), rows.sizes, rows.each)
        batches = batches_of(size, self.batch, self.epochs)
        return PrivateGame.within(loss, batches, self.settings, self.clip, statistics)

    @property
    def _modes(self) -> int:
        return integer(self.modes, "modes", least=1)


def batches_of(size: int, batch: int | None, epochs: Number) -> PoissonBatches:
    """Poisson batches: of a stated size on average, or of a tenth of all units."""
    many = max(1, size // TENTH) if batch is None else integer(batch, "batch", least=1)
    if many > size:
        raise BadArgument("batch", f"at most {size:,}, the number of units", many)
    rate = Fraction(many, size)
    return PoissonBatches(rate, number_of_steps(rate, None, epochs), size)


def part_of(loss: Loss, share: Number) -> Loss:
    """A part of a loss: more than none of it, and less than all."""
    part = rational(share, "share")
    if not 0 < part < 1:
        raise BadArgument("share", "greater than 0 and less than 1: the rest is for training", share)
    return loss.scaled(part)
