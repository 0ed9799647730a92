"""Long runs: charged once, then step by step under the same charge, with progress that is kept in the book.

Before a step looks at the data, an entry that counts it is in the book; what the last of these entries counts has run,
or may have. So a run that crashed goes on, under the same key, with the steps that were not counted yet: some may be
lost, none runs twice. Each of these entries takes the next *turn* of its charge, and only one process can: who does not
hold the last turn any more cannot go on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn, final

from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.adaptive.filters import check_loss
from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, MatrixFactorization, Repeat, SampledFactorization, Sequence
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.relation import Relation
from sfumato.core.domains import Data
from sfumato.core.identifiers import Identifiers
from sfumato.core.metrics import AddRemove, Metric
from sfumato.core.queryable import shielded
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, PermitUsed, RunFailed
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.ledger.accounts import Terms
from sfumato.ledger.charging import charged
from sfumato.ledger.entry import Body, Entry
from sfumato.ledger.permit import exactly
from sfumato.ledger.replica import Replica
from sfumato.ledger.settling import keep_release, note_failure
from sfumato.ledger.state import progress_key
from sfumato.ledger.store import Pen, Store, storable
from sfumato.ledger.stored_release import read_kept
from sfumato.ledger.transaction import Draft, Transaction
from sfumato.release.record import Receipt, Release

LONGEST_STATE = 20_000_000
"""Letters of a checkpoint: what steps gave, the digest of a file or its name; what is larger belongs into a file."""

Step = Callable[[Data, Entropy], Data]
"""What looks at the data once: it is handed the data and what draws noise, and gives what may leave."""


@final
class Turn(NamedTuple):
    """How far a run is by one of its entries: how many steps count as taken, and the last checkpoint with its step."""

    number: int = 0
    upto: int = 0
    done: int = 0
    state: str | None = None

    @staticmethod
    def read(entry: Entry) -> Turn:
        """Reads what an entry says of a run."""
        match entry.body:
            case {"turn": int(number), "upto": int(upto), "done": int(done), "state": (str() | None) as state}:
                return Turn(number, upto, done, state)
        raise BadArgument("an entry of progress", "one with a turn, steps and a checkpoint", "another")

    def may_follow(self, before: Turn, steps: int) -> bool:
        """Tells whether this can be the next entry of a run: nothing is taken back, and nothing runs over."""
        kept = before.upto <= self.upto <= steps and before.done <= self.done <= self.upto
        return kept and self.number == before.number + 1 and (self.state is not None or self.done == 0)


@final
class RunPermit:
    """Lets each step of a plan that was charged once look at the data, once, in the process that holds the run."""

    def __init__(
        self,
        replica: Replica,
        store: Store,
        charge: Entry,
        loss: Loss,
        *,
        steps: int,
        ahead: int,
        turn: Turn,
    ) -> None:
        self.receipt = Receipt(charge.number, charge.digest, charge.account, charge.time)
        self.loss, self.account, self.steps = loss, replica.state[charge.account], steps
        self._replica, self._store, self._charge, self._ahead = replica, store, charge, ahead
        self._turn, self._taken = turn, turn.upto
        self._process, self._lock = os.getpid(), threading.Lock()

    @property
    def taken(self) -> int:
        """How many steps have run, or may have, as far as this process knows."""
        return self._taken

    @property
    def checkpointed(self) -> tuple[int, str | None]:
        """The step of the last checkpoint, and what it says; 0 and None before the first."""
        return self._turn.done, self._turn.state

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """What all checkpoints of the run say, in their order."""
        said: dict[int, str] = {}
        for number in range(1, self._turn.number + 1):
            row = self._store.by_key(progress_key(self._charge.account, self._charge.number, number))
            turn = Turn() if row is None else Turn.read(Entry.read(row.text, row.digest))
            if turn.state is not None:
                said[turn.done] = turn.state
        return tuple(said[done] for done in sorted(said))

    @property
    def ended(self) -> bool:
        """Tells whether the run has ended, with a release or as one that failed."""
        return self._store.settled(self._charge.number) is not None

    @property
    def release(self) -> Release | None:
        """The release that the run ended with, as it is stored; None where there is none."""
        row = self._store.settled(self._charge.number)
        return None if row is None else read_kept(row)

    def step(self, function: Step, data: Data) -> Data:
        """Runs the next step on the data: counted in the book first, and once. Whatever breaks it off ends the run."""
        with self._lock:
            self._check_process()
            if self._taken >= self.steps:
                raise PermitUsed(
                    f"the plan that entry {self.receipt.entry} was charged for has {self.steps} steps, and all of them "
                    "are taken: a run goes no further than it was paid for. Start another, with a new key."
                )
            if self._taken >= self._turn.upto:
                self._write(self._turn._replace(upto=min(self.steps, self._taken + self._ahead)))
            self._taken += 1
        try:
            return shielded(lambda: function(data, system()), "a step of a run")
        except KeyboardInterrupt:  # which says nothing about the data: the run can be resumed
            failed: BaseException = KeyboardInterrupt()
        except BaseException:
            failed = RunFailed("a step of a run")
            self.fail()
        raise failed  # here, and not above, so that it does not carry what went wrong with it

    def checkpoint(self, state: str) -> None:
        """Writes down what the run can be resumed from: a public text, such as the digest of a file with the model."""
        if not isinstance(state, str) or not storable(state) or len(state) > LONGEST_STATE:
            raise BadArgument("state", f"a text of at most {LONGEST_STATE} letters, without NUL", type(state).__name__)
        with self._lock:
            self._check_process()
            self._write(self._turn._replace(done=self._taken, state=state))

    def keep(self, release: Release) -> Release:
        """Ends the run with a release, which is stored beside the charge."""
        self._check_process()
        return keep_release(self._replica, release, self._charge, check=self._check_turn)

    def fail(self) -> None:
        """Ends the run as one that failed. What was charged stays charged."""
        note_failure(self._replica, self._charge, check=self._check_turn)

    def take_over(self) -> None:
        """Takes the next turn of a run that was begun elsewhere: whoever held it before cannot go on."""
        self._write(self._turn)

    def _write(self, turn: Turn) -> None:
        number, upto, done, state = following = turn._replace(number=self._turn.number + 1)
        body: Body = {"charge": self._charge.number, "turn": number, "upto": upto, "done": done, "state": state}

        def write(transaction: Transaction, pen: Pen) -> None:
            if pen.settled(self._charge.number) is not None:
                raise PermitUsed(
                    f"the run of entry {self.receipt.entry} has ended: nothing more runs under its charge."
                )
            self._check_turn(pen)
            transaction.add(Draft("progress", self._charge.account, body))

        self._replica.append(write, by=self._charge.by)
        self._turn = following

    def _check_turn(self, pen: Pen) -> None:
        following = progress_key(self._charge.account, self._charge.number, self._turn.number + 1)
        if pen.by_key(following) is not None:
            raise PermitUsed(
                f"the run of entry {self.receipt.entry} was taken over by another process, or by another start with "
                "its key: it goes on there, and not here."
            )

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise PermitUsed("a run goes on only in the process that started it; this one has been forked off.")

    def __copy__(self) -> RunPermit:
        return self

    def __deepcopy__(self, memo: object) -> RunPermit:
        return self

    def __reduce__(self) -> NoReturn:
        raise PermitUsed("a run goes on only in the process that started it, and cannot be sent elsewhere.")

    def __repr__(self) -> str:
        return f"RunPermit({self.receipt}, {self.loss}, {self.taken} of {self.steps} steps)"


def begin(
    replica: Replica,
    store: Store,
    account: str,
    loss: Loss,
    event: Event,
    *,
    key: str,
    ahead: int,
    what: str,
    data: str,
    by: str,
    metric: Metric | None = None,
    steps: int | None = None,
) -> RunPermit:
    """Charges a plan of steps, once for a key, and gives the permit for those that are left.

    ``metric`` is that of the account's unit, whose terms know it by its exact description alone. ``steps`` says how
    many there are where the event has not a part for each.
    """
    if not isinstance(key, str) or not key:
        raise BadArgument("key", "given: a run that broke off is resumed by it", key)
    check_loss(loss, "loss")
    together = integer(ahead, "ahead", least=1)
    count = steps_of(event) if steps is None else integer(steps, "steps", least=1)
    said: Body = {"what": what, "question": None, "key": key, "data": data, "run": {"steps": count}}
    with replica.looking() as transaction:
        cost = Cost(loss, event, relation_in(transaction[account].terms, metric))
    check = partial(_check_plan, account=account, cost=cost)
    charge, fresh = charged(replica, account, cost, said, by=by, check=check)
    turn = Turn() if fresh else last_turn(store, charge)
    permit = RunPermit(replica, store, charge, loss, steps=count, ahead=together, turn=turn)
    if not fresh and not permit.ended:
        permit.take_over()
    return permit


def steps_of(event: Event) -> int:
    """Counts the steps of a plan: the times of a `Repeat`, those of all parts of a `Sequence`, of a stream, or one.

    >>> from sfumato.accounting.events import Gaussian
    >>> steps_of(Sequence(Repeat(Gaussian(scale=2), 100), Gaussian(scale=9)))
    101
    """
    match event:
        case Repeat(times=times):
            return times
        case Sequence(parts=parts):
            return sum(map(steps_of, parts))
        case MatrixFactorization(strategy=strategy) | SampledFactorization(strategy=strategy):
            return strategy.length
        case Event():
            return 1
    raise BadArgument("event", "an event such as sf.events.Repeat(sf.events.Gaussian(scale=1), 1000)", event)


@guarantee(
    claim="the composed loss of all steps of the plan, chosen adaptively, is within what was charged",
    proof="proofs/ledger.md#runs",
    reviewed="5fe44a8bc009",
)
def pays_for_plan(paid: Loss, event: Event, relation: Relation) -> bool:
    """Tells whether a charge covers a plan of steps, between the neighbours that its account speaks of."""
    if isinstance(paid, Approx) and paid.delta > 0:
        from sfumato.accounting.plans.account import account as cost_report  # which loads every kind of accounting

        return cost_report(event, delta=paid.delta, relation=relation).loss.within(paid)
    return total(event, type(paid), relation=relation).within(paid)


def relation_in(terms: Terms, metric: Metric | None = None) -> Relation:
    """Which data sets are neighbours to the unit of an account: one unit exchanged, unless it is added or removed.

    It is where rows are units, and where a unit is an identifier with all its rows, if that is the account's metric.
    """
    by_identifier = isinstance(metric, Identifiers) and terms.metric == exactly(metric)
    return Relation.ADD_REMOVE if by_identifier or terms.metric == exactly(AddRemove()) else Relation.CHANGE_ONE


def last_turn(store: Store, charge: Entry) -> Turn:
    """Finds how far a run is: turns are taken one after another, so that the last is found by halving."""

    def at(number: int) -> Entry | None:
        row = store.by_key(progress_key(charge.account, charge.number, number))
        return None if row is None else Entry.read(row.text, row.digest)

    high = 1
    while at(high) is not None:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) is not None else (low, middle)
    last = at(low) if low else None
    return Turn() if last is None else Turn.read(last)


def _check_plan(transaction: Transaction, account: str, cost: Cost) -> None:
    """Refuses a run that its charge does not pay for, or that a payer has no theorem for: it stays open."""
    if not pays_for_plan(cost.loss, cost.event, cost.relation):
        must = "at least what the event costs; sf.account(event, delta=…, relation=…) says how much"
        raise BadArgument("loss", must, cost.loss)
    for payer in transaction.payers(account):
        if not payer.rule.interleaves:
            must = f"asked all at once: there is no theorem for steps in turns under {type(payer.limit).__name__}"
            raise BadArgument("the plan", must, "a run")
