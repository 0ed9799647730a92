"""Permits: a charge that is in the book lets one measurement look at the data, once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn, final

from sfumato.accounting.adaptive.charge import in_kind
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.events import Event, Stated
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Metric, Unit
from sfumato.core.outages import Outage
from sfumato.core.plan import record_of
from sfumato.core.queryable import shielded
from sfumato.entropy import Entropy, SystemEntropy, system
from sfumato.errors import BadArgument, PermitUsed, RunFailed
from sfumato.exact import Number
from sfumato.guarantee import guarantee
from sfumato.ledger.accounts import Account, Terms
from sfumato.ledger.beside import Beside
from sfumato.ledger.entry import canonical, digest_of
from sfumato.release.record import Fact, Receipt, Release

Keep = Callable[[Release], Release]


@final
class Purpose(NamedTuple):
    """A measurement that is to run, and the distance of neighbours that it is priced for.

    ``others`` are the units of other kinds, by the names of their accounts, with what each of them is charged.
    """

    measurement: Measurement
    d_in: DistanceLike | Unit
    others: Mapping[str, tuple[Unit, Cost]] = {}

    @property
    def beside(self) -> Beside:
        """What the accounts of other kinds of units are charged."""
        return {name: cost for name, (_, cost) in self.others.items()}

    def same(self, other: Purpose) -> bool:
        """Tells whether both are the very same objects: what is only alike is checked anew."""
        alike = self.measurement is other.measurement and self.d_in is other.d_in
        return alike and dict(self.others) == dict(other.others)


@final
class Permit:
    """Lets one measurement, of at most the loss that was charged, run once, in the process that was charged.

    There is no second copy of one. What runs under it is paid for, whether or not it succeeds.
    """

    def __init__(
        self,
        receipt: Receipt,
        cost: Cost,
        account: Account,
        *,
        keep: Keep,
        fail: Callable[[], None],
        stored: Callable[[], Release | None],
        interleaves: Callable[[], bool],
        spent: bool = False,
        purpose: Purpose | None = None,
        beside: Sequence[tuple[Account, Cost]] = (),
    ) -> None:
        self.beside = tuple(beside)
        self.receipt, self.cost, self.loss, self.account = receipt, cost, cost.loss, account
        self._purpose = purpose
        self._keep, self._fail, self._stored = keep, fail, stored
        self._interleaves = interleaves
        self._process, self._lock, self._used = os.getpid(), threading.Lock(), spent

    @property
    def used(self) -> bool:
        """Tells whether it cannot be used any more."""
        return self._used or self._process != os.getpid()

    @property
    def release(self) -> Release | None:
        """The release that was made under this charge, as it is stored; None while there is none."""
        return self._stored()

    def run(
        self,
        measurement: Measurement,
        data: Data,
        *,
        d_in: DistanceLike | Unit | None = None,
        confidence: Number = 0.95,
        entropy: Entropy | None = None,
        facts: tuple[Fact, ...] = (),
        name: str = "",
        units: Mapping[str, Unit] | None = None,
    ) -> Release:
        """Runs a measurement on the data, stores the release and gives it.

        ``d_in`` is the distance of neighbours in the unit of the account, ``units`` are those of the accounts beside
        it. What can be refused is refused before the data is touched, and leaves the permit as it was; afterwards there
        is only one error, that it failed.
        """
        source = entropy or system()
        if type(source) is not SystemEntropy:  # one for audits, say, writes down what is randomized
            must = "that of the system: what can be replayed, or is written down, is not private"
            raise BadArgument("entropy", must, type(source).__name__)
        distance = measurement.source.closest if d_in is None else d_in
        given = units or {}
        others = {one.name: (given[one.name], cost) for one, cost in self.beside if one.name in given}
        purpose = Purpose(measurement, distance, others)
        if self._purpose is None or not purpose.same(self._purpose):  # which was checked when it was charged for
            accounts = [account for account, _ in self.beside]
            free = self._interleaves()
            check_run(purpose, cost=self.cost, account=self.account, others=accounts, interleaves=free)
        terms = measurement.terms(distance, confidence)
        self._use()
        value = self._looked(lambda: _ran(measurement, data, source), measurement.how.mechanism)
        release = Release(
            value=value,
            loss=self.loss,
            unit=self.account.terms.unit or terms.unit,
            how=measurement.how,
            half_width=terms.half_width,
            confidence=terms.confidence,
            adjacency=str(measurement.source.metric),
            noise=measurement.noise,
            data=name,
            facts=facts,
            receipt=self.receipt,
            others=tuple((account.terms.unit, cost.loss) for account, cost in self.beside),
        )
        return self._keep(release)

    def _looked(self, run: Callable[[], Data], mechanism: str) -> Data:
        """Runs what looks at the data. Whatever goes wrong, nothing is said but that it did, or which server failed."""
        try:
            return shielded(run, mechanism)
        except KeyboardInterrupt:
            failed: BaseException = KeyboardInterrupt()
        except RunFailed as fault:
            failed = RunFailed(mechanism, fault.outage if isinstance(fault.outage, Outage) else None)
        except BaseException:
            failed = RunFailed(mechanism)
        self._fail()
        raise failed  # here, and not above, so that it does not carry what went wrong with it

    def _use(self) -> None:
        with self._lock:
            if self._used:
                raise PermitUsed(
                    f"the charge of entry {self.receipt.entry} has been used: a permit works once. If it broke off, or "
                    "its release was lost, it stays paid for, because something of it may have been seen. Its key "
                    "costs nothing more and has no answer any more: ask under another key, or none, and pay again."
                )
            if self._process != os.getpid():
                raise PermitUsed("a permit works only in the process that charged; this one has been forked off.")
            self._used = True

    def __copy__(self) -> Permit:
        return self

    def __deepcopy__(self, memo: object) -> Permit:
        return self

    def __reduce__(self) -> NoReturn:
        raise PermitUsed("a permit works only in the process that charged, and cannot be sent elsewhere.")

    def __repr__(self) -> str:
        return f"Permit({self.receipt}, {self.loss}, {'used' if self.used else 'unused'})"


def _ran(measurement: Measurement, data: Data, entropy: Entropy) -> Data:
    if not measurement.source.domain.member(data):
        raise RunFailed(measurement.how.mechanism)
    return measurement.function(data, entropy)


@guarantee(
    claim="what the measurement costs, in the kind that was charged, is within what was charged",
    proof="proofs/ledger.md#permits",
    reviewed="32f932af6c75",
)
def pays_for(paid: Loss, price: Loss) -> bool:
    """Tells whether a charge covers the price of a measurement."""
    return in_kind(price, type(paid)).within(paid)


@guarantee(
    claim="what runs is the event that was counted, or only the loss was",
    proof="proofs/ledger.md#permits",
    reviewed="f7166d3a0034",
)
def runs_as_charged(cost: Cost, event: Event) -> bool:
    """Tells whether a mechanism is the one that a charge was counted for."""
    return cost.event == event or isinstance(cost.event, Stated)


def terms_of(unit: object) -> Terms:
    """The terms that say who is protected, exactly; refuses what is no unit."""
    if not isinstance(unit, Unit):
        raise BadArgument("unit", "an sf.Unit, such as sf.Unit('a patient', sf.AddRemove(), bound=3)", unit)
    metric = unit.metric
    return Terms(unit=unit.protects, adjacency=str(metric), metric=exactly(metric), bound=str(metric.read(unit)))


def exactly(metric: Metric) -> str:
    """A fingerprint of a metric that no other has: names that are printed may be alike."""
    record = record_of(metric)
    if record is None:
        raise BadArgument("the metric of a unit", "one that sfumato can describe exactly", metric)
    return digest_of(canonical(record))


def check_unit(measurement: Measurement, d_in: DistanceLike | Unit, account: Account) -> None:
    """Refuses a measurement with other neighbours than those of the unit that the account protects."""
    metric, terms = measurement.source.metric, account.terms
    if (exactly(metric), str(metric.read(d_in))) != (terms.metric, terms.bound):
        raise BadArgument(
            "the measurement",
            f"priced for {terms.unit} ({terms.adjacency}, {terms.bound} apart), the unit that {account.name} protects",
            f"one for {metric.unit(metric.read(d_in))} ({metric})",
        )


def check_run(
    purpose: Purpose, *, cost: Cost, account: Account, interleaves: bool, others: Sequence[Account] = ()
) -> None:
    """Refuses what a charge of a cost to an account, and to ``others`` beside it, does not pay for: by public facts."""
    measurement = purpose.measurement
    _check_paid(measurement, purpose.d_in, cost, account)
    for other in others:
        if other.name not in purpose.others:
            raise PermitUsed(f"{other.terms.unit} is protected too, by {other.name}: say what one of them can change.")
        _check_paid(measurement, *purpose.others[other.name], other)
    if measurement.interactive and not interleaves:
        must = f"one that answers once: there is no theorem for more under {type(account.limit).__name__}"
        raise BadArgument("the measurement", must, "an interactive one")


def _check_paid(measurement: Measurement, d_in: DistanceLike | Unit, cost: Cost, account: Account) -> None:
    check_unit(measurement, d_in, account)
    price = measurement.map(d_in)
    if not pays_for(cost.loss, price):
        raise PermitUsed(f"what is paid is {cost.loss}, and the measurement costs {price}; charge that first.")
    if not runs_as_charged(cost, measurement.event_at(d_in)):
        raise PermitUsed("what is paid for is another mechanism of the same loss; charge for this one first.")
