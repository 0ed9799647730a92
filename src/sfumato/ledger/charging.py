"""Charges: written down in one step with all that speaks against them, or only tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from sfumato.accounting.adaptive.charge import in_kind, kind_of
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import AccountRefused, SfumatoError
from sfumato.ledger.beside import Beside, losses_beside
from sfumato.ledger.checklists import check_settled
from sfumato.ledger.entry import Body, Entry
from sfumato.ledger.permit import Purpose, check_run
from sfumato.ledger.recall import known_answer, owing, paid_in
from sfumato.ledger.replica import Replica
from sfumato.ledger.rules import plain_cost
from sfumato.ledger.state import charge_key
from sfumato.ledger.store import Pen, Row, Store
from sfumato.ledger.transaction import Transaction
from sfumato.ledger.validation import check_texts


@final
@dataclass(frozen=True)
class Trial:
    """What a charge would come to: is the answer known already, does it cost, what is left before, what forbids it?"""

    known: bool
    costs: bool
    left: Loss | None
    refusal: str | None = None


def charged(
    replica: Replica,
    account: str,
    cost: Cost,
    said: Body,
    *,
    by: str,
    check: Callable[[Transaction], None] | None = None,
    beside: Beside | None = None,
) -> tuple[Entry, bool]:
    """Charges an account, all above it and those ``beside`` it, in one step; gives the entry, and whether it is new.

    What a ``check`` refuses is refused in the same step, and with one also everything while the checklist of the data
    set is open. A key that is in the book already gives the charge that it belongs to.
    """
    check_texts(what=said["what"], question=said["question"], key=said["key"], data=said["data"])
    key, before = said["key"], list[Row]()

    def write(transaction: Transaction, pen: Pen) -> None:
        before.clear()
        if check is not None:
            check_settled(transaction.state, account)
            check(transaction)
        if isinstance(key, str) and (row := pen.by_key(charge_key(account, key))) is not None:
            before.append(row)
        else:
            transaction.charge(account, cost, {**said, "mark": replica.new_mark()}, beside)

    entries = replica.append(write, by=by)
    if not before:
        return entries[-1], True
    entry = Entry.read(before[0].text, before[0].digest)
    paid = {**said, **plain_cost(cost), **losses_beside(beside or {})}
    if any(entry.body.get(name) != text for name, text in paid.items()):
        raise AccountRefused(
            "this key belongs to another charge: of another loss, for another question, or of another version of "
            "the data (without version='…' each opening is one). A retry repeats a charge; a new one has a new key."
        )
    return entry, False


def check_payable(transaction: Transaction, account: str, cost: Cost, purpose: Purpose) -> None:
    """Refuses what no charge of a cost to an account could pay for, before anything is charged."""
    costs = {account: cost, **purpose.beside}
    for name, own in costs.items() if purpose.measurement.interactive else ():
        for payer in transaction.payers(name):
            in_kind(own.loss, kind_of(payer.rule))  # such a one is counted in the kind of the limit, or not at all
    interleaves = all(payer.rule.interleaves for name in costs for payer in transaction.payers(name))
    others = [transaction[name] for name in purpose.beside]
    check_run(purpose, cost=cost, account=transaction[account], others=others, interleaves=interleaves)


def tried(
    replica: Replica,
    store: Store,
    account: str,
    cost: Cost,
    *,
    question: str | None = None,
    purpose: Purpose | None = None,
) -> Trial:
    """Says whether a charge would be admitted, and whether the question is answered already; charges nothing."""
    with replica.looking() as transaction:
        answer = None if question is None else known_answer(replica, store, question)
        answer = None if answer is None or not answer.of(transaction[account]) else answer
        left = transaction.left(account) if account in transaction.state.accounts else None
        if purpose is not None:
            check_payable(transaction, account, cost, purpose)
        try:
            if purpose is not None:
                check_settled(transaction.state, account)
            if answer is None:
                transaction.charge(account, cost, {}, None if purpose is None else purpose.beside)
            else:
                unpaid = owing(transaction, paid_in(replica, store), account, answer)
                transaction.share(unpaid, Cost.of(answer.release.loss), {})
        except SfumatoError as refusal:
            return Trial(known=answer is not None, costs=False, left=left, refusal=str(refusal))
        costs = any(draft.kind == "charged" for draft in transaction.drafts)
        return Trial(known=answer is not None, costs=costs, left=left)
