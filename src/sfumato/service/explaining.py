"""Explanations for people: with what is left, for those who may know; for all others with price and errors alone."""

from __future__ import annotations

from dataclasses import replace

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.errors import NotAllowed
from sfumato.ledger.accounts import Account
from sfumato.query.answer.explanation import Explanation
from sfumato.service.asking import Asked
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.rights import Action
from sfumato.service.shares import paying

ASSUMED = (Pure("0.1"), Approx("0.1", "1e-9"))
"""What is explained for somebody without a share who says no price: of these the kind that the limit can count."""

CANNOT = " cannot pay "
"""What a refusal says of the account that has too little left, before the amounts."""

SHORT = "too little is left of the limit of the data set: tell its budget owner"


def explained_to(house: House, person: Person, data_set: str, asked: Asked) -> Explanation:
    """Explains a question to somebody; spends nothing."""
    sees = person.may(Action.SEE_LIMITS, data_set).allowed
    try:
        share: str | None = paying(house.ledger, data_set, person.name)
    except NotAllowed:
        share = None
    if share is not None:
        session = house.data_sets.share(data_set, share)
        said = session.explain(asked.text, asked.parameters, **asked.said)
        return said if sees else of_own(said, house.ledger[f"{data_set}/{share}"])
    session = house.data_sets.session(data_set)
    if sees:
        return session.explain(asked.text, asked.parameters, **asked.said)
    assumed = {} if asked.priced else {"loss": _assumed(session.own_limit)}
    return _without_limits(session.explain(asked.text, asked.parameters, **{**assumed, **asked.said}))


def _assumed(limit: Loss) -> Loss:
    """A price that depends on no limit, only on its kind: a tenth of what is left would tell what is left."""
    return ASSUMED[1] if isinstance(limit, Approx) else ASSUMED[0]


def _without_limits(said: Explanation) -> Explanation:
    """An explanation without what is left, what forbids it, and whether somebody has asked it before."""
    return replace(_with_prices(said), left=None, refusal=None, known=False, costs=True)


def of_own(said: Explanation, share: Account) -> Explanation:
    """An explanation with what is left of the share itself; of limits above it only whether they have too little."""
    short = said.refusal is not None and CANNOT in said.refusal and not said.refusal.startswith(share.name + CANNOT)
    left = said.left if share.terms.holds else share.left
    return replace(_with_prices(said), left=left, refusal=SHORT if short else said.refusal)


def _with_prices(said: Explanation) -> Explanation:
    """An explanation with the prices for other kinds of units, and without what is left of their limits."""
    prices = tuple(f"{who}: the price is {price}" for who, price, _ in said.beside)
    return replace(said, beside=(), bounds=(*said.bounds, *prices))
