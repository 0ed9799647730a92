"""The game of DP-GAN: a discriminator that learns from rows under DP-SGD, a generator that learns from it alone."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from sfumato.accounting.events import Event, Sequence
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.synth.neural.calibrating import least_noise
from sfumato.synth.neural.coded_rows import Opened
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.generator import Generator, Judge, NetworkSettings, discriminator
from sfumato.synth.neural.heads import Codes
from sfumato.synth.neural.history import History
from sfumato.synth.neural.randomness import initialised
from sfumato.synth.neural.statistics import Statistics
from sfumato.train.batches import PoissonBatches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Flat
from sfumato.train.measured import event_of
from sfumato.train.plan import TrainingPlan
from sfumato.train.trainer import Private

PROOF = "proofs/neural_synthesis.md#generator"

AT_ONCE = 1024
"""How many units pass through a discriminator at once."""


@final
@dataclass(frozen=True, eq=False)
class PrivateGame:
    """What is trained on rows, and how: noisy counts, if any, then all steps of DP-SGD. All of it is public."""

    plan: TrainingPlan
    batches: PoissonBatches
    settings: NetworkSettings
    statistics: Statistics | None

    @staticmethod
    def within(
        loss: Loss, batches: PoissonBatches, settings: NetworkSettings, clip: float, statistics: Statistics | None
    ) -> PrivateGame:
        """The game with the least noise on gradients that keeps a loss together with its statistics."""
        if isinstance(loss, Pure) or (isinstance(loss, Approx) and not loss.delta):
            must = "one that Gaussian noise keeps, with a δ: loss=sf.Approx(1, 1e-6). For a pure ε, PATEGAN votes"
            raise BadArgument("loss", must, loss)
        one = Fraction(1)

        def build(scale: Fraction) -> Event:
            return game_event(batches, scale, statistics, one)

        def quick(scale: Fraction) -> Event:
            steps = event_of(batches, scale, one)
            return steps if statistics is None else Sequence(statistics.nearly, steps)

        plan = TrainingPlan(batches, Flat(clip), least_noise(build, quick, loss), Relation.ADD_REMOVE)
        return PrivateGame(plan, batches, settings, statistics)

    def event(self, units: Fraction) -> Event:
        """What runs, between rows that differ in so many units."""
        return game_event(self.batches, self.plan.multiplier, self.statistics, units)

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What is printed of it."""
        counted = () if self.statistics is None else (("noisy counts", str(self.statistics)),)
        return (
            *counted,
            ("steps", f"{self.plan.steps:,}"),
            ("batches", str(self.plan.batches)),
            ("clipping", str(self.plan.clipping)),
            ("noise", f"{self.plan.noise}; deviation {float(self.plan.multiplier):.4g} times the bound of clipping"),
        )

    @guarantee(
        claim="of rows, the discriminator's clipped and noisy steps are all that the generator and the history are "
        "made of",
        proof=PROOF,
        reviewed="a2ee4891f55f",
    )
    def played(self, opened: Opened, conditions: Conditions, entropy: Entropy) -> tuple[Any, History]:
        """Plays all steps; the weights of the generator, and what was written down."""
        training, made, side = self.begun(opened, conditions, entropy)
        for (places,) in training.batches():
            inputs, weights = real_inputs(opened.codes[places.numpy()], conditions, entropy)
            training.step(weights * nn.functional.softplus(-training.model(inputs)[:, 0]))
        return made.weights(), side.history()

    def begun(self, opened: Opened, conditions: Conditions, entropy: Entropy) -> tuple[Private, Generator, MadeUpSide]:
        """The training of a discriminator, under a permit, and the generator that learns from it after every step."""
        wide, made = conditions.heads.width + conditions.width, Generator(conditions, self.settings, entropy)
        network = initialised(discriminator(wide, self.settings.hidden), entropy)
        side = MadeUpSide(network, made, self.plan.clipping.bound)
        optimizer = torch.optim.Adam(network.parameters(), lr=self.settings.rate, betas=(0.5, 0.9))
        optimizer.register_step_pre_hook(lambda *_: side.add_gradients())
        training = Private(
            network, opened.units(), self.plan, optimizer, keep=None, largest=AT_ONCE, run=None, entropy=entropy,
            layout=check_model(network, (torch.zeros(2, wide),)),
        )  # fmt: skip
        training.watchers.append(side)
        return training, made, side


@guarantee(
    claim="noisy counts, then the steps of the training, one after another",
    proof="proofs/neural_synthesis.md#composition",
    reviewed="52614b878874",
)
def game_event(batches: PoissonBatches, multiplier: Fraction, statistics: Statistics | None, units: Fraction) -> Event:
    """What runs, between rows that differ in so many units."""
    steps = event_of(batches, multiplier, units)
    return steps if statistics is None else Sequence(statistics.event(units), steps)


@guarantee(
    claim="what a row becomes, its condition and its weight hang on that row, on noisy counts and on fresh randomness",
    proof=PROOF,
    reviewed="d89b3419d8ff",
)
def real_inputs(codes: Codes, conditions: Conditions, entropy: Entropy) -> tuple[Tensor, Tensor]:
    """Rows as a discriminator sees them, each with a condition that it meets; and how much each counts."""
    asked, weights = conditions.met_by(codes, entropy)
    return torch.cat([conditions.heads.encoded(codes), asked], dim=1), weights


@final
class MadeUpSide:
    """What happens on made-up rows in every step, whoever was drawn: no row of the data has a say in it.

    Gradients of made-up rows are clipped as those of rows are, so that both sides pull alike, and have no noise.
    """

    def __init__(self, network: nn.Module, made: Generator, clip: float) -> None:
        self._network, self._made, self._clip = network, made, clip
        self._shape = copy.deepcopy(network)  # which nobody taps
        self._lines: list[list[float]] = []
        self._length = 0.0

    @guarantee(
        claim="a function of weights and of made-up rows, equally many in each step; of no row of the data",
        proof=PROOF,
        reviewed="e8fc2effe7a0",
    )
    def add_gradients(self) -> None:
        """Adds the mean gradient of made-up rows to the noisy one of rows, before it moves the weights."""
        parameters = {name: each.detach() for name, each in self._network.named_parameters()}
        rows = self._made.rows(self._made.settings.made_up)

        def lost(now: dict[str, Tensor], row: Tensor) -> Tensor:
            return nn.functional.softplus(functional_call(self._shape, now, (row[None],))[0, 0])

        each = vmap(grad(lost), in_dims=(None, 0))(parameters, rows)
        norms = torch.stack([part.flatten(1).norm(dim=1) for part in each.values()]).norm(dim=0)
        weights = torch.clamp(self._clip / norms.clamp(min=1e-12), max=1.0)
        weights = torch.where(torch.isfinite(norms), weights, 0.0) / len(rows)
        mean = {name: torch.einsum("r,r...->...", weights, part).nan_to_num() for name, part in each.items()}
        self._length = float(torch.stack([part.norm() for part in mean.values()]).norm())
        for name, parameter in self._network.named_parameters():
            parameter.grad = mean[name] if parameter.grad is None else parameter.grad + mean[name]

    def after_step(self, private: Private, noise: float) -> None:
        """Lets the generator learn from the discriminator as it is now, and writes down how they stand."""
        judge = frozen_judge(self._network, self._shape)
        norms = [self._made.improve(judge) for _ in range(self._made.settings.generator_steps)]
        with torch.no_grad():
            said = judge(self._made.rows(self._made.settings.made_up))
        right, chance = float((said < 0).float().mean()), float(torch.sigmoid(said).mean())
        self._lines.append([right, chance, norms[-1], self._length])

    def history(self) -> History:
        """What was written down."""
        return History.of(np.array(self._lines))


def frozen_judge(network: nn.Module, shape: nn.Module) -> Judge:
    """A discriminator as a function of rows whose own weights get no gradients; ``shape`` is a copy that runs it."""
    held = {name: each.detach().clone() for name, each in network.named_parameters()}
    return lambda rows: functional_call(shape, held, (rows,))[:, 0]
