"""What people give a ledger, read and checked before anything is written down."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.adaptive.charge import Rule
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.errors import AccountRefused, BadArgument
from sfumato.ledger.accounts import Account, Terms
from sfumato.ledger.rules import anew, plain_rule
from sfumato.ledger.store import storable
from sfumato.ledger.transaction import Transaction
from sfumato.plain import DEEPEST

MOST_BITS = 1024
"""How large numbers of a note may be."""

LONGEST_TEXT = 1000
"""Letters of a key or a question."""


def read_texts(about: object) -> dict[str, str]:
    """Reads what is said about an account."""
    texts = {} if about is None else about
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for pair in texts.items() for text in pair):
        raise BadArgument("about", "texts by name, such as {'scope': '…', 'url': '…'}", about)
    return dict(texts)


def check_texts(**texts: object) -> None:
    """Refuses what cannot be written down, or found again, in every store."""
    for name, text in texts.items():
        if text is None or text == "":
            continue
        if not isinstance(text, str) or not storable(text):
            raise BadArgument(name, "a text without NUL or halves of characters, or left out", text)
        if name in ("key", "question") and len(text) > LONGEST_TEXT:
            raise BadArgument(name, f"a text of at most {LONGEST_TEXT} letters", text)


def check_said(topic: object, said: object) -> None:
    """Refuses a note that cannot be written down."""
    check_texts(topic=topic)
    if not isinstance(topic, str) or not _plain(said, DEEPEST):
        must = f"texts, whole numbers, and lists and dictionaries of these, at most {DEEPEST} deep"
        raise BadArgument("what is noted", must, type(said).__name__)


def _plain(said: object, depth: int) -> bool:
    """Tells whether something can be written into an entry, and read again anywhere."""
    match said:
        case None | bool():
            return True
        case int():
            return said.bit_length() <= MOST_BITS
        case str():
            return storable(said)
        case list():
            return depth > 0 and all(_plain(part, depth - 1) for part in said)
        case dict():
            return depth > 0 and all(
                isinstance(name, str) and storable(name) and _plain(part, depth - 1) for name, part in said.items()
            )
    return False


def check_expected(transaction: Transaction, account: str, topic: str, expecting: int | None) -> None:
    """Refuses to note something where somebody else has noted something since the caller has looked."""
    last = transaction.state.notes.get((account, topic))
    if expecting is not None and (0 if last is None else last.number) != expecting:
        raise AccountRefused("somebody else has decided something in the meantime; look at it, and then decide again.")


def check_same(opened: Account, rule: Rule, terms: Terms) -> None:
    """Refuses to open an account again on other terms, and says which differ."""
    differ = [name for name, own in vars(opened.terms).items() if own != getattr(terms, name)]
    differ += ["limit"] * (not _became(opened.rule, rule))
    if differ:
        raise AccountRefused(
            f"the account {opened.name} was opened on other terms ({', '.join(differ)}): {opened.promise}. A limit is "
            "set once, for good; open it on the same terms, or open another."
        )


def _became(now: Rule, stated: Rule) -> bool:
    """Tells whether the rule of an account is what a stated one has become by what was charged.

    An (ε, δ) limit adds up from its first charge on, where that takes more of δ than of ε (`ApproxFilter`).
    """
    added_up = isinstance(now, SumFilter) and isinstance(stated, ApproxFilter) and now.limit == stated.limit
    return added_up or plain_rule(anew(now)) == plain_rule(stated)


def aware(moment: datetime) -> datetime:
    """Reads a moment; refuses one that could be meant in any time zone."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise BadArgument("until", "a moment with its time zone", moment)
    return moment
