"""Candidates for a model: each is trained and scored as one measurement, and all of them are joined to one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias, final

import torch
from torch import Tensor, nn

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Runs
from sfumato.accounting.events import Sequence as InTurn
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.calibration import calibrate_plan
from sfumato.accounting.relation import Relation
from sfumato.combinators.best_of import best_of, never_failing
from sfumato.combinators.composition import composition
from sfumato.combinators.tuning import best_of_all, random_candidate
from sfumato.core.domains import Custom
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import positive, rational
from sfumato.guarantee import guarantee
from sfumato.release.record import How
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.losses import by_rows
from sfumato.train.paying import Payer
from sfumato.train.plan import TrainingPlan
from sfumato.train.planning import STRICTER, poisson_batches
from sfumato.train.scoring import NoisyScore, ScoreFunction, public_score, scores_of
from sfumato.train.trainer import LossFunction, Private
from sfumato.train.units import Rows, Units

Given: TypeAlias = dict[str, Any]
"""The hyper-parameters of a candidate by their names."""

Make: TypeAlias = Callable[..., Any]
"""Makes a model, or a model and its optimizer, of hyper-parameters; it sees no rows."""

PLANNED = ("batch", "epochs", "steps", "clip", "noise_multiplier")
"""Hyper-parameters of the plan; all others are handed to whoever makes the model."""

PROOF = "proofs/tuning.md#tuning"

UNITS = Space(Custom("units to train on", lambda value: isinstance(value, Units)), AddRemove())
"""Where all candidates start; which neighbours there are, their plans say."""


def listed(candidates: object) -> list[Given]:
    """Reads candidates: a list of hyper-parameters by name, or one grid of values by name, of which all are tried.

    >>> listed({"lr": [0.1, 1], "clip": [1]})
    [{'lr': 0.1, 'clip': 1}, {'lr': 1, 'clip': 1}]
    """
    must = 'a list such as [{"lr": 0.1}, {"lr": 1}], or a grid such as {"lr": [0.1, 1], "width": [16, 64]}'
    if isinstance(candidates, Mapping):
        values = [tuple(each) if isinstance(each, list | tuple | range) else () for each in candidates.values()]
        if not values or not all(values):
            raise BadArgument("candidates", must, candidates)
        return [dict(zip(candidates, chosen, strict=True)) for chosen in itertools.product(*values)]
    read = list(candidates) if isinstance(candidates, Sequence) and not isinstance(candidates, str) else []
    if not read or not all(isinstance(each, Mapping) and each for each in read):
        raise BadArgument("candidates", must, candidates)
    if len({frozenset(each) for each in read}) > 1:
        raise BadArgument("candidates", "of the same names: each says what the others say", candidates)
    return [dict(each) for each in read]


def planned(settings: Given, size: int, session: Payer | None) -> TrainingPlan:
    """The plan of one candidate; where no noise is said, it is still to be found."""
    drawn = poisson_batches(size, settings["batch"], settings["epochs"], settings["steps"])
    clip, noise = settings["clip"], settings.get("noise_multiplier", 1)
    near = drawn.relation if session is None else max(drawn.relation, session.relation, key=STRICTER.index)
    clipping = clip if isinstance(clip, Clipping) else Flat(clip)
    return TrainingPlan(drawn, clipping, positive(noise, "noise_multiplier"), near)


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """What one run trains: a model made of hyper-parameters, under a plan."""

    given: Given
    make: Make
    loss_function: LossFunction
    plan: TrainingPlan
    largest: int | None = None

    def made(self) -> tuple[nn.Module, torch.optim.Optimizer]:
        """A new model and its optimizer."""
        made = self.make(**{name: value for name, value in self.given.items() if name not in PLANNED})
        model, *more = made if isinstance(made, tuple) else (made,)
        return model, more[0] if more else torch.optim.Adam(model.parameters())

    def tried(self, example: Rows, score: ScoreFunction) -> None:
        """Refuses what cannot run at all, on rows of zeros of the shapes that the data has."""
        model, optimizer = self.made()
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise BadArgument("make", "a function that gives a model, or (model, optimizer)", type(optimizer).__name__)
        check_model(model, example)
        if not example:
            return
        rows = tuple(torch.zeros_like(part) if isinstance(part, Tensor) else part for part in example)
        lost = by_rows(self.loss_function)(model(rows[0]), *rows[1:])
        if not isinstance(lost, Tensor) or lost.dim() == 0 or len(lost) != len(rows[0]):
            raise BadArgument("loss_function", "one that can give one number for each row", "another")
        scores_of(model, rows, score)

    def trained(self, units: Units, entropy: Entropy) -> nn.Module:
        """Trains a new model, and shows nothing on the way: how often this is done is a secret."""
        model, optimizer = self.made()
        run = Private(
            model,
            units,
            self.plan,
            optimizer,
            keep=None,
            largest=self.largest,
            run=None,
            entropy=entropy,
            layout=check_model(model, units.example()),
        )
        return run.fit(self.loss_function, progress=lambda done, steps: None).model


@final
class Tally:
    """How often a candidate was trained: a secret."""

    def __init__(self) -> None:
        self.runs = 0


@final
@dataclass(frozen=True, eq=False)
class Trials:
    """All candidates, what scores them, and by which law they are drawn (None: all of them run).

    ``holdout`` are public rows, by which they are scored without noise; ``score`` is for protected ones.
    """

    candidates: tuple[Candidate, ...]
    score: NoisyScore
    law: Runs | None
    relation: Relation
    scored: Units
    holdout: Units | None = None
    tally: Tally = field(default_factory=Tally)

    @guarantee(
        claim="the plan of the training, and then the noise of one score: none where public rows score",
        proof=PROOF,
        reviewed="77fe3f0b2194",
    )
    def event(self, candidate: Candidate) -> Event:
        """What one run of a candidate is."""
        plan = candidate.plan.event()
        return plan if self.holdout is not None else InTurn(plan, self.score.event(self.relation))

    def run(self, candidate: Candidate, units: Units, entropy: Entropy) -> tuple[Fraction, nn.Module]:
        """Trains and scores a candidate: the score is a part of what is released, and has its noise before it ranks."""
        self.tally.runs += 1
        model = candidate.trained(units, entropy)
        if self.holdout is not None:
            return public_score(model, self.holdout, self.score.score), model
        return self.score(model, self.scored, entropy), model

    def measurement(self, candidate: Candidate) -> Measurement:
        """One run of a candidate as a measurement, with an outcome (score, model)."""
        event, relation = self.event(candidate), self.relation

        def loss(d_in: Any) -> Loss:
            if d_in > 1:
                raise BadArgument("the distance", "one unit: nothing is said of more of them", d_in)
            return total(event, Renyi, relation=relation)

        return Measurement(
            source=UNITS,
            measure=Renyi,
            function=lambda units, entropy: self.run(candidate, units, entropy),
            privacy_map=loss,
            how=How("a training and its score", (("event", str(event)),), proofs=(PROOF,)),
            event=lambda d_in: event,
        )

    def joined(self) -> Measurement:
        """All candidates as one measurement, whose outcome is (score, (place, model)) of the best."""
        runs = [self.measurement(each) for each in self.candidates]
        if self.law is None:
            return UNITS >> best_of_all(runs)
        return UNITS >> best_of(random_candidate(runs), runs=self.law)

    def drawn(self) -> Measurement:
        """One run of a candidate that is drawn, which never fails."""
        return never_failing(UNITS >> random_candidate([self.measurement(each) for each in self.candidates]))

    def everything(self) -> Measurement:
        """All candidates, each once, as one measurement whose outcomes are all released: (score, model) of each."""
        return UNITS >> composition([never_failing(self.measurement(each)) for each in self.candidates])

    def whole(self) -> Event:
        """What all runs are, of which the best is released."""
        return self.joined().event_at(1)

    def with_noise(self, multipliers: Sequence[Fraction]) -> Trials:
        """The same under other noise, one multiplier for each candidate."""
        changed = (
            replace(each, plan=replace(each.plan, multiplier=multiplier))
            for each, multiplier in zip(self.candidates, multipliers, strict=True)
        )
        return replace(self, candidates=tuple(changed))

    def within(self, loss: Loss) -> Trials:
        """The same with the least noise at which the best of all runs keeps a loss.

        Where plans differ, each has noise in the proportion in which it would need it alone, so that no candidate pays
        for another.
        """
        plans = [each.plan for each in self.candidates]
        shapes = dict.fromkeys((plan.batches, plan.noise) for plan in plans)
        alone = {
            shape: Fraction(1)
            if len(shapes) == 1
            else TrainingPlan.within(loss, shape[0], plans[0].clipping, self.relation, shape[1]).multiplier
            for shape in shapes
        }
        bases = [alone[plan.batches, plan.noise] for plan in plans]

        def scaled(factor: float) -> Trials:
            return self.with_noise([rational(factor, "noise") * base for base in bases])

        return scaled(calibrate_plan(lambda factor: scaled(factor).whole(), limit=loss, relation=self.relation))
