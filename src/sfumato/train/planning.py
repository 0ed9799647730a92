"""From what is asked for to a plan that is paid: batches, noise, and who pays, at once or as steps come."""

from __future__ import annotations

from functools import partial

from torch import nn

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.train.batches import Batches, PoissonBatches, TruncatedPoissonBatches, rate_of
from sfumato.train.exact_noise import Exact
from sfumato.train.noise import Independent, Noise
from sfumato.train.open_ended import ROWS, Charged, Filtered, OpenEnded
from sfumato.train.paying import Payer, Run
from sfumato.train.plan import INDEPENDENT, TrainingPlan
from sfumato.train.together import Together
from sfumato.train.trainer import PROOF


def poisson_batches(
    size: int, batch: int | None, epochs: Number | None, steps: int | None, most: int | None = None
) -> Batches:
    """Poisson batches of a size on average, out of a public number of units; ``most`` cuts larger ones."""
    rate = rate_of(batch, size)
    many = number_of_steps(rate, steps, epochs)
    return PoissonBatches(rate, many, size) if most is None else TruncatedPoissonBatches(rate, many, size, most)


def noise_of(model: nn.Module, batches: Batches, noise: Noise | None, largest: int | None, *, exact: bool) -> Noise:
    """The noise that is asked for: fresh floats where nothing else is."""
    if noise is not None and not isinstance(noise, Noise):
        raise BadArgument("noise", "a kind of noise, such as sf.train.Correlated(band=16)", noise)
    if not exact:
        return INDEPENDENT if noise is None else noise
    if noise is not None:
        raise BadArgument("noise or exact=True", "given, one of them: exact noise is a kind of its own", str(noise))
    return Exact.of([each for each in model.parameters() if each.requires_grad], batches, largest)


def pays_as_it_goes(
    plan: TrainingPlan, limit: Loss | None, session: Payer | None, key: str | None, ahead: int
) -> OpenEnded:
    """Who pays for a training without a number of steps; refuses what has to be planned as a whole."""
    if not (plan.batches.anew and plan.steps == 1 and isinstance(plan.noise, Independent)):
        must = "drawn anew in each step, with steps=1: without a length, each step is priced by itself"
        raise BadArgument("batches and noise", must, str(plan.batches))
    if session is None and limit is not None:
        return Filtered(limit, plan.one_step, plan.relation)
    if session is None or limit is not None:
        must = "given without a session, which has a limit of its own: session.part(name, limit=…) has another"
        raise BadArgument("limit", must, limit)
    return Charged(session, _named(key), plan.one_step, ahead=ahead, relation=plan.relation)


def paid(
    session: Payer | None, plan: TrainingPlan, loss: Loss | None, key: str | None, together: Together | None
) -> Run | None:
    """Pays for all steps of a plan, if somebody is to; of several processes, in the first."""
    pay = None if session is None else partial(_charged, session, plan, loss, key)
    if together is not None:
        return together.paid(pay)
    return pay() if pay is not None else None


def _charged(session: Payer, plan: TrainingPlan, loss: Loss | None, key: str | None) -> Run:
    what, named = f"private training, {plan.steps:,} steps", _named(key)
    return session.start(plan.event(), loss=loss, key=named, claim=ROWS, proofs=(PROOF,), what=what, steps=plan.steps)


def _named(key: str | None) -> str:
    if not key:
        raise BadArgument("key", "a name of this training, under which it can be resumed", key)
    return key
