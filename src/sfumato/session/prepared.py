"""Questions made ready to be charged: read, checked, priced, and named; all from public facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

from sfumato.accounting.adaptive.charge import in_kind
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.restating import cost_of
from sfumato.core.unscaled import Unscaled
from sfumato.errors import BadArgument
from sfumato.ledger.accounts import Terms
from sfumato.ledger.entry import canonical, digest_of
from sfumato.ledger.rules import coarse, plain_loss
from sfumato.session.kinds import account_of

if TYPE_CHECKING:
    from sfumato.session.dataset import Dataset

Question: TypeAlias = Measurement | Partial[Measurement] | Unscaled
"""What a session runs: a measurement, one that waits for its space, or one with noise that waits for its scale."""


@final
@dataclass(frozen=True)
class Prepared:
    """A question that was read and checked, what to charge for it, and the digest by which it is known again.

    Without a digest it is never the same question: something in it has no name that a book could know it by.
    ``others`` are units of other kinds, by the names of their accounts, with what to charge for each.
    """

    measurement: Measurement
    cost: Cost
    digest: str | None
    others: Mapping[str, tuple[Unit, Cost]]


def prepare(dataset: Dataset, terms: Terms, question: object, loss: Loss | None, confidence: Fraction) -> Prepared:
    """Reads a question on a data set, and what to charge for it: decided once."""
    measurement, unit = dataset.read(question, loss), dataset.unit
    least = measurement.terms(unit, confidence).loss
    if loss is not None and not in_kind(least, type(loss)).within(loss):
        raise BadArgument("loss", f"at least {least}, which is what the question costs", loss)
    price = coarse(least) if loss is None else loss
    dataset.check_members(price)
    exact = (loss is None or loss == coarse(in_kind(least, type(loss)))) and not measurement.interactive
    cost = cost_of(measurement, unit, price) if exact else Cost.of(price)
    others = {account_of(dataset.name, kind): (one, _cost(measurement, one)) for kind, one in dataset.others.items()}
    return Prepared(measurement, cost, _digest(dataset, terms, measurement, price), others)


def _cost(measurement: Measurement, unit: Unit) -> Cost:
    """What to charge for a unit of another kind: what the measurement costs it, no more and no less."""
    price = coarse(measurement.map(unit))
    return Cost.of(price) if measurement.interactive else cost_of(measurement, unit, price)


def _digest(dataset: Dataset, terms: Terms, measurement: Measurement, price: Loss) -> str | None:
    """Names a question by all that decides its answer; None where something in it has no name."""
    if measurement.plan is None or measurement.interactive:
        return None
    data, unit = [dataset.name, *dataset.published], list(terms.protects)
    return digest_of(canonical({"plan": measurement.plan, "data": data, "loss": plain_loss(price), "unit": unit}))
