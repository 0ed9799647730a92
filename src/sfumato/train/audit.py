"""The audit of a training: canaries in one run bound its ε from below, next to what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.train.canaries import FOLDED, Canaries, GradientCanaries, Look, Numbers, Task, folded
from sfumato.train.checks import check_model
from sfumato.train.plan import TrainingPlan
from sfumato.train.trainer import Private
from sfumato.train.units import Units

if TYPE_CHECKING:
    from sfumato.audit.record import Audit

Train: TypeAlias = Callable[[Task], object]
"""A trainer that is audited: it trains the model of a task on its rows, and need not return anything."""


def audit_training(
    train: Train | TrainingPlan,
    *,
    claim: Loss | Number | None = None,
    delta: Number = 0,
    canaries: int | Canaries = 1_000,
    confidence: Number = "0.95",
    relation: Relation = Relation.ADD_REMOVE,
    looks: Sequence[str] | None = None,
    epoch: int | None = None,
    guesses: int | Sequence[int] | None = None,
    entropy: Entropy | None = None,
) -> Audit:
    """Audits a trainer, anybody's, with canaries: a lower bound on its ε from one run, next to its claim.

    Takes:      ``train``, a function that trains ``task.model`` on ``task.data`` with ``task.loss``, or a plan, which
                is carried out here; what it claims; ``canaries``, how many there are or of which kind; ``relation``,
                which neighbours the claim speaks of; ``looks``, what is looked for, in order of importance; ``epoch``,
                after how many steps batches may come again, if that is to be looked for too
    Gives:      an `sf.audit.Audit`: the claim, the bound and a verdict. It needs no data of anybody
    Guarantee:  the bound is above the true ε with probability 1 - confidence at most  (proofs/audit.md#one-run)
    Cost:       one run; and one more where two are compared

    The bound is of the trainer as it is given: what it does only for other models or other data is not seen.

    >>> from sfumato.accounting.losses.measures import Approx
    >>> from sfumato.entropy import ReplayEntropy
    >>> def train(task):  # forgets the noise
    ...     task.loss(task.model(task.data[0]), task.data[1]).sum().backward()
    ...     torch.optim.SGD(task.model.parameters(), lr=0.1).step()
    >>> str(audit_training(train, claim=Approx(2, 1e-5), canaries=500, entropy=ReplayEntropy(1)).verdict)
    'violated'
    """
    from sfumato.audit.canaries import canaries as coins
    from sfumato.audit.canaries import one_run

    source = system() if entropy is None else entropy
    planted = canaries if isinstance(canaries, Canaries) else GradientCanaries(canaries)
    if isinstance(train, TrainingPlan):
        run, relation, claim = _carried_out(train), train.relation, claim or train.account(delta=delta).loss
    elif callable(train):
        run = train
    else:
        raise BadArgument("train", "a function of a task, which trains its model, or a plan", type(train).__name__)
    looked = _looks(planted, looks, epoch)
    drawn = coins(planted.count, entropy=source)
    blank = np.zeros(planted.count)  # what is wrong is refused before anything runs
    one_run(blank, drawn, claim=claim, delta=delta, confidence=confidence, guesses=guesses)
    shown = _shown(run, planted, drawn.included, relation, source)
    both = any(name.startswith("two ") for name in looked)
    with_all = _shown(run, planted, [True] * planted.count, relation, source) if both else shown
    scores = {name: look(shown, with_all) for name, look in looked.items()}
    name = "a plan of training" if isinstance(train, TrainingPlan) else str(getattr(train, "__name__", "a trainer"))
    return _best(scores, drawn.included, claim, delta, confidence, guesses, name, runs=1 + both)


def _carried_out(plan: TrainingPlan) -> Train:
    """Our own trainer, on a plan."""

    def train(task: Task) -> None:
        model = task.model
        rows = max(np.bincount(task.people).max(initial=0), 1)
        units = Units(task.data, people=task.people, max_rows=int(rows))
        steps = torch.optim.SGD(model.parameters(), lr=1.0)
        layout = check_model(model, units.example())
        run = Private(model, units, plan, steps, keep=None, largest=None, run=None, entropy=task.entropy, layout=layout)
        run.fit(task.loss)

    return train


def _looks(canaries: Canaries, names: Sequence[str] | None, epoch: int | None) -> Mapping[str, Look]:
    known = dict(canaries.looks)
    if epoch is not None:
        known[FOLDED] = folded(integer(epoch, "epoch", least=1))
    wanted = list(known) if names is None else list(dict.fromkeys(names))
    if not wanted or not set(wanted) <= set(known):
        raise BadArgument("looks", "some of " + ", ".join(known), wanted)
    return {name: known[name] for name in wanted}


def _shown(run: Train, canaries: Canaries, included: Sequence[bool], relation: Relation, entropy: Entropy) -> Numbers:
    task = canaries.task(included, relation, entropy)
    run(task)
    return canaries.seen(task)


def _best(
    scores: Mapping[str, Numbers],
    included: Sequence[bool],
    claim: Loss | Number | None,
    delta: Number,
    confidence: Number,
    guesses: int | Sequence[int] | None,
    subject: str,
    *,
    runs: int,
) -> Audit:
    """The best bound of all looks: the first has half of what may be missed, the others share the other half."""
    from sfumato.audit.canaries import one_run
    from sfumato.audit.claims import certainty
    from sfumato.audit.record import Audit

    missed = 1 - certainty(confidence)
    others = len(scores) - 1
    shares = [missed / 2, *[missed / (2 * others)] * others] if others else [missed]
    audits = {
        name: one_run(of, included, claim=claim, delta=delta, confidence=1 - share, guesses=guesses, subject=subject)
        for (name, of), share in zip(scores.items(), shares, strict=True)
    }
    best = max(audits, key=lambda name: audits[name].lines[0].low)
    facts = dict(audits[best].facts) | {"confidence": str(float(Fraction(1 - missed)))}
    return Audit(
        subject=subject,
        method="guesses which canaries were in one run of training",
        lines=audits[best].lines,
        facts=(*facts.items(), ("looked at", best), ("tried", ", ".join(audits)), ("runs", str(runs))),
    )
