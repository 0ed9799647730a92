"""The same question asked twice: the stored release that answers it, and who must still pay before they may see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from sfumato.errors import LedgerDamaged
from sfumato.ledger.accounts import Account
from sfumato.ledger.entry import Body, Entry
from sfumato.ledger.replica import Replica
from sfumato.ledger.rules import read_cost
from sfumato.ledger.state import State, data_set_of, has_counted, shared_key
from sfumato.ledger.store import Pen, Row, Store
from sfumato.ledger.stored_release import SHORT, read_kept
from sfumato.ledger.transaction import Transaction
from sfumato.ledger.validation import check_texts
from sfumato.release.answer import Answer
from sfumato.release.record import Release


@final
@dataclass(frozen=True)
class Answered:
    """A stored release that answers a question, the account that was charged for it, and the entry of that charge."""

    release: Release
    payer: str
    charge: int

    @staticmethod
    def read(row: Row) -> Answered | None:
        """Reads what is kept with an entry; None where there is no release."""
        release = read_kept(row)
        if release is None:
            return None
        if row.settles is None:
            raise LedgerDamaged("a release has no charge")
        return Answered(release, Entry.read(row.text, row.digest).account, row.settles)

    def of(self, account: Account) -> bool:
        """Tells whether it is about the data set that an account belongs to."""
        return data_set_of(account.name) == data_set_of(self.payer)


def answer_to(store: Store, question: str) -> tuple[Answered | None, bool]:
    """Finds the stored release that answers a question; and tells whether to remember it: what is short, and what
    nobody who is given it can change. So is that there is none."""
    check_texts(question=question)
    row = store.by_question(question)
    found = None if row is None else Answered.read(row)
    if row is None or found is None:
        return None, True
    return found, len(row.value or "") <= SHORT and isinstance(found.release.value, Answer)


def owing(transaction: Transaction, paid: Callable[[str], bool], account: str, answer: Answered) -> list[str]:
    """Names the accounts that must still pay before an account may see what another one was charged for.

    ``paid`` tells whether a key is in the book.
    """
    uncounted = [one.name for one in transaction.payers(account) if not has_counted(one.name, answer.payer)]
    return [name for name in uncounted if not paid(shared_key(name, answer.charge))]


def known_answer(replica: Replica, store: Store, question: str) -> Answered | None:
    """The stored release that answers a question; whoever looks at the book may ask."""
    found = replica.answers.find(question, lambda: answer_to(store, question))
    return found if isinstance(found, Answered) else None


def paid_in(replica: Replica, store: Store) -> Callable[[str], bool]:
    """Tells whether keys are in the book; whoever looks at it may ask."""
    return lambda key: replica.answers.has_key(store, key)


def recalled(
    replica: Replica,
    store: Store,
    account: str,
    question: str,
    *,
    by: str,
    check: Callable[[State, str], None] | None = None,
) -> Release | None:
    """The stored release that answers a question, once all that owe something for it have paid."""
    with replica.looking() as transaction:
        answer = known_answer(replica, store, question)
        if answer is None:
            return None
        if check is not None:
            check(transaction.state, account)
        if not answer.of(transaction[account]):
            return None
        unpaid = owing(transaction, paid_in(replica, store), account, answer)
    if unpaid:
        _share(replica, store, account, answer, by)
    return answer.release


def _share(replica: Replica, store: Store, account: str, answer: Answered, by: str) -> None:
    row = store.get(answer.charge)
    if row is None:
        raise LedgerDamaged("a release has no charge")
    charge = Entry.read(row.text, row.digest)
    said: Body = {"what": charge.body["what"], "question": charge.body["question"], "shares": charge.number}
    cost = read_cost(charge.body)

    def write(transaction: Transaction, pen: Pen) -> None:
        unpaid = owing(transaction, lambda key: pen.by_key(key) is not None, account, answer)
        transaction.share(unpaid, cost, {**said, "mark": replica.new_mark()})

    replica.append(write, by=by)
