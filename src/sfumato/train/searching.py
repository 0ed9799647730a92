"""A search for the best candidate: paid for before anything runs, and released with where its numbers come from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from torch import nn

from sfumato.accounting.events import Event, Repeat
from sfumato.accounting.events import Sequence as InTurn
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import CostReport, account
from sfumato.accounting.relation import Relation
from sfumato.combinators.best_of import law_text, number_of
from sfumato.combinators.tuning import drawn_event
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, RunFailed
from sfumato.exact import Number
from sfumato.noise.negative_binomial import TruncatedNegativeBinomial
from sfumato.noise.uniform import permutation
from sfumato.release.claim import Claim
from sfumato.release.record import How, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.batches import PoissonBatches
from sfumato.train.candidates import PROOF, Candidate, Given, Trials
from sfumato.train.origins import Origin, Origins, Stated, of_plan
from sfumato.train.paying import Payer, Run
from sfumato.train.plan import TrainingPlan
from sfumato.train.scoring import ScoreFunction, public_score
from sfumato.train.sums import digest
from sfumato.train.units import Units, readable

PROOFS = (PROOF, "proofs/training.md#steps")
WHAT = "the best of several private trainings"

HELD_OUT = 3
"""One in so many public rows is kept to score what was trained on the others."""


@final
@dataclass(frozen=True, eq=False)
class Tuned(Displayed):
    """The best of many trainings: its score, its model, its hyper-parameters, and what the whole search cost.

    ``deviation`` is about how far noise alone moves the score. Nothing is kept of what lost, nor how often it ran.
    """

    model: nn.Module
    score: float
    deviation: float
    parameters: Given
    origins: Origins
    plan: TrainingPlan
    release: Release
    way: str
    event: Event
    """What all runs are, as it was paid for."""
    each: tuple[Event, ...]
    """What one run of each candidate is."""
    runs: float
    """How many runs there are, in the mean."""
    candidates: int
    """How many candidates there were."""

    def costs(self, delta: Number | None = None) -> dict[str, CostReport]:
        """What was paid, beside what it is not: one run alone; all candidates; as many runs as there are in the mean.

        The price of one run, the winner's, is none of the best of many. The last two would allow to release every one
        of the runs.
        """
        kept = self.release.loss
        asked = delta if delta is not None else kept.delta if isinstance(kept, Approx) else None
        if not asked:
            raise BadArgument("delta", "given: the loss to keep has none", delta)
        once, many = drawn_event(self.each, [Fraction(1, len(self.each))] * len(self.each)), math.ceil(self.runs)
        events = {
            "the best of all runs, as paid": self.event,
            "one run, of which nothing else is tried": once,
            f"all {len(self.each)} candidates, each once": InTurn(*self.each),
            f"{many} runs, as many as in the mean": Repeat(once, many),
        }
        return {what: account(event, delta=asked, relation=self.plan.relation) for what, event in events.items()}

    def document(self) -> Document:
        """What won, what it cost, and where every hyper-parameter comes from, for any form."""
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        noisy = f" ± {self.deviation:.2g} by noise" if self.deviation else ", on public rows"
        about = (("chosen", chosen), ("score", f"{self.score:.3f}{noisy}"), ("how", self.way))
        came = tuple((name, stated.value, stated.origin.value) for name, stated in self.origins.items())
        tables = (Table(about), Table(came, ("hyper-parameter", "value", "comes from")))
        loss = f"{self.release.loss} for {self.release.unit}"
        return Document("Tuned training", f"the best of {self.candidates} candidates", loss, tables=tables)


@final
@dataclass(frozen=True, eq=False)
class Search:
    """What a search trains on, what it may cost, who pays, and what draws its noise and its candidates."""

    units: Units
    keep: Loss | None
    delta: Number | None
    multiplier: Fraction | None
    pad: int | None
    session: Payer | None
    key: str | None
    entropy: Entropy

    def of(self, trials: Trials) -> Tuned:
        """Runs candidates on protected rows, as one measurement."""
        return self._released(self._noisy(trials), self._way(trials), Origin.CHOSEN, trials)

    def by_public_rows(self, trials: Trials, public: object) -> Tuned:
        """Tries all candidates on public rows, and trains the best of them once on the protected ones."""
        alone = self._alone(trials)
        parts = split(public, self.entropy)
        scores = [public_trial(one.candidates[0], *parts, trials.score.score, self.entropy) for one in alone]
        best = max(range(len(alone)), key=lambda place: scores[place])
        way = f"all {len(alone)} candidates were tried on public rows, for nothing; the best was trained once"
        return self._released(alone[best], way, Origin.PUBLIC, trials)

    def _alone(self, trials: Trials) -> list[Trials]:
        """Each candidate as the only one that is trained, with noise for that; found once for plans that are alike."""
        known: dict[Any, Fraction] = {}
        alone = []
        for each in trials.candidates:
            one, alike = replace(trials, candidates=(each,), law=None), (each.plan.batches, each.plan.noise)
            if alike not in known:
                known[alike] = self._noisy(one).candidates[0].plan.multiplier
            alone.append(one.with_noise([known[alike]]))
        return alone

    def _noisy(self, trials: Trials) -> Trials:
        if self.keep is not None:
            return trials.within(self.keep)
        if self.multiplier is None or self.delta is None:
            raise BadArgument("delta", "given beside noise_multiplier: a loss is stated at a δ", None)
        return trials.with_noise([self.multiplier] * len(trials.candidates))

    def _way(self, trials: Trials) -> str:
        many = len(trials.candidates)
        if trials.law is None:
            return f"all {many} candidates ran, and all are paid for"
        said = f"a secret number of runs ({law_text(trials.law)}), each of one of {many} candidates, drawn"
        if self.pad is None:
            return f"{said}; how long it took tells how many: keep it"
        left = float(number_of(trials.law).upper_tail(self.pad + 1))
        return f"{said}; padded to {self.pad} runs: with probability {left:.2g} there were more, and time tells"

    def _released(self, trials: Trials, way: str, origin: Origin, asked: Trials) -> Tuned:
        """Pays for all runs, runs them, and releases the best."""
        event = trials.whole()
        loss = self.keep or account(event, delta=self.delta or 0, relation=trials.relation).loss
        run, outcome = self.ran(lambda entropy: self.searched(trials, entropy), event, loss, WHAT)
        if outcome is None or outcome[1][1] is None:
            raise RunFailed("every run of the search")
        score, (place, model) = outcome
        won = trials.candidates[place]
        came = tried_origins(won, origin, kept=self.keep is not None)
        value = {"score": float(score), "weights (SHA-256)": digest(model)}
        value |= {name: str(each) for name, each in won.given.items()}
        facts = (("how", way), ("hyper-parameters", str(came)), ("event", str(event)))
        release = self.kept(run, value, loss, How(WHAT, facts, proofs=PROOFS), trials.relation)
        return Tuned(
            model=model,
            score=float(score),
            deviation=0.0 if trials.holdout is not None else float(trials.score.deviation),
            parameters=won.given,
            origins=came,
            plan=won.plan,
            release=release,
            way=way,
            event=event,
            each=tuple(trials.event(each) for each in trials.candidates),
            runs=mean_runs(trials),
            candidates=len(asked.candidates),
        )

    def searched(self, trials: Trials, entropy: Entropy) -> Any:
        """Runs the search, and then goes on for nothing up to a public number of runs."""
        one = trials.drawn()
        best = trials.joined().function(self.units, entropy)
        while trials.law is not None and self.pad is not None and trials.tally.runs < self.pad:
            one.function(self.units, entropy)
        return best

    def ran(self, search: Callable[[Entropy], Any], event: Event, loss: Loss, what: str) -> tuple[Run | None, Any]:
        """Pays for an event, and runs what it stands for, once."""
        if self.session is None:
            return None, search(self.entropy)
        claim = Claim("the rows that were trained on are those of the data set, each of the unit it is said to be")
        run = self.session.start(event, loss=loss, key=self.key or "", claim=claim, proofs=PROOFS, what=what)
        if run.taken:
            must = "that of a new search: this one has ended, or broke off, and what it paid for is lost"
            raise BadArgument("key", must, self.key)
        return run, run.step(lambda data, entropy: search(entropy))

    def kept(self, run: Run | None, value: Any, loss: Loss, how: How, relation: Relation) -> Release:
        """The release of what came out: kept in the book where there is one."""
        if run is not None:
            return run.finish(value)
        replayable, near = self.entropy.replayable, relation.value
        return Release(value, loss, "one unit of the rows given", how, replayable=replayable, adjacency=near)


def split(public: object, entropy: Entropy) -> tuple[Units, Units]:
    """Public rows to train on, and others to score."""
    take, many = readable(public)
    if many < HELD_OUT:
        raise BadArgument("public", f"at least {HELD_OUT} rows", many)
    order = permutation(many, entropy=entropy)
    kept = many // HELD_OUT
    return Units(take(order[kept:])), Units(take(order[:kept]))


def public_trial(candidate: Candidate, trained: Units, held: Units, score: ScoreFunction, entropy: Entropy) -> Fraction:
    """Trains a candidate on some public rows and scores it on others.

    Steps, clipping and the noise on a mean gradient are those that it will have, and so is the batch, where there are
    as many rows: a good learning rate depends on all of them.
    """
    plan = candidate.plan
    rate = min(Fraction(1), plan.batches.expected / trained.count)
    drawn = PoissonBatches(rate, plan.steps, trained.count)
    multiplier = plan.multiplier * drawn.expected / plan.batches.expected
    public = replace(candidate, plan=replace(plan, batches=drawn, multiplier=multiplier))
    return public_score(public.trained(trained, entropy), held, score)


def tried_origins(won: Candidate, origin: Origin, *, kept: bool) -> Origins:
    """Every hyper-parameter of a training that was searched for: those that were tried, and those of the plan."""
    tried = {name: Stated(str(value), origin) for name, value in won.given.items()}
    return Origins({**of_plan(won.plan, kept=kept), **tried})


def mean_runs(trials: Trials) -> float:
    """How many runs there are in the mean."""
    if trials.law is None:
        return float(len(trials.candidates))
    number = number_of(trials.law)
    return float(number.mean()) if isinstance(number, TruncatedNegativeBinomial) else float(number.mean)
