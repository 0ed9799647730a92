"""Several kinds of units behind one session: who they are, their accounts, and a limit for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from sfumato.accounting.adaptive.charge import Rule, in_kind
from sfumato.accounting.losses.measures import Additive, Loss
from sfumato.codebook.book import Codebook
from sfumato.codebook.kinds import taken_by
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.errors import BadArgument, QueryRefused, did_you_mean, shown
from sfumato.exact import Number
from sfumato.ledger.accounts import Account
from sfumato.ledger.rules import stated_limit
from sfumato.query.build.settings import Settings

ROUNDS, FINEST = 12, 10**9
"""How often noise is made larger until every kind of unit is kept, and the least share of a loss that is tried."""

Limit: TypeAlias = Loss | Rule
"""What may be spent: a loss, or a rule that keeps one."""


def units_beside(codebook: Codebook, space: Space) -> dict[str, Unit]:
    """The units of all kinds but the first, as what one of them takes with it; twice that where it is exchanged."""
    many = 1 if all(table.size is None for table in codebook.tables if not table.public) else 2
    units = {}
    for kind in codebook.kinds[1:]:
        taken = taken_by(codebook, kind)
        bound = GroupedDistance(many * taken.parts, many * taken.rows, many * taken.largest)
        units[kind.name] = Unit(kind.protects, space.metric, bound)
    return units


def beside_words(unit: Unit) -> str:
    """Says what one unit of another kind than the first can change."""
    return f"{unit.protects}: {unit.metric.unit(unit.bound)}; facts, nothing is cut"


def account_of(dataset: str, kind: str) -> str:
    """Names the account of a kind of units beside that of the data set, which is the first kind's."""
    return f"{dataset} ({kind})"


def read_limits(
    limit: object, epsilon: Number | None, delta: Number | None, kinds: tuple[str, ...]
) -> tuple[Limit | None, dict[str, Limit]]:
    """Reads the limit, and those of further kinds of units by name; none of them where nothing is said."""
    if not kinds:
        if not isinstance(limit, Mapping):
            return stated_limit(limit, epsilon, delta), {}
        raise BadArgument("limit", "one: there is one kind of unit here", sorted(map(str, limit)))
    if limit is None and epsilon is None and delta is None:
        return None, {}
    wanted = f"one for each kind of unit: limit={{{', '.join(f'{kind!r}: sf.Pure(1)' for kind in kinds)}}}"
    if not isinstance(limit, Mapping) or epsilon is not None or delta is not None:
        raise BadArgument("limit", wanted, epsilon if limit is None else limit)
    for name in limit:
        if name not in kinds:
            raise BadArgument("limit", f"{wanted}.{did_you_mean(str(name), kinds)}", shown(name))
    if missing := [kind for kind in kinds if limit.get(kind) is None]:
        raise BadArgument("limit", f"{wanted}; what {missing[0]} may lose is not said", sorted(limit))
    first, *others = ((kind, stated_limit(limit[kind], None, None)) for kind in kinds)
    return first[1], {kind: own for kind, own in others if own is not None}


def kept_within(
    settings: Settings, units: Mapping[str, Unit], kinds: tuple[str, ...], measured: Callable[[Settings], Measurement]
) -> Settings:
    """Settings with one loss, that of the first kind: as large as stated, or less where others would lose too much."""
    stated = dict(settings.losses)
    if not stated:
        return settings
    if settings.loss is not None or not kinds or not {kinds[0]} <= stated.keys() <= set(kinds):
        named = (
            f"for kinds of units, {kinds[0]} among them: {', '.join(kinds)}"
            if kinds
            else "one: there is one kind of unit"
        )
        raise BadArgument("loss", named, sorted(stated))
    share = Fraction(1)
    for _ in range(ROUNDS):
        now = replace(settings, loss=stated[kinds[0]].scaled(share), losses=())
        measurement = measured(now)
        room = [_room(stated[kind], measurement.map(unit)) for kind, unit in units.items() if kind in stated]
        if min(room, default=Fraction(1)) >= 1:
            return now
        share = Fraction(math.floor(share * min(room) * FINEST), FINEST)
        if not share:
            break
    raise QueryRefused(
        "no noise was found with which all kinds of units lose as little as stated: state more for some of them; or "
        "say loss=sf.Pure(…), for the first kind alone, and read in session.explain(…) what the others lose."
    )


def _room(allowed: Loss, spent: Loss) -> Fraction:
    """By how much a loss may be larger, or must be smaller, to be what is allowed; 1 where it is within that."""
    own = in_kind(spent, type(allowed))
    if own.within(allowed):
        return Fraction(1)
    if not isinstance(allowed, Additive) or not isinstance(own, Additive):
        return Fraction(1, 2)
    pairs = zip(allowed.amounts, own.amounts, strict=True)
    return min(
        Fraction(0) if most == math.inf else Fraction(limit) / Fraction(most) for limit, most in pairs if most > limit
    )


def open_accounts(
    open_account: Callable[..., Account], name: str, limit: Limit, unit: Unit, others: Mapping[str, tuple[Limit, Unit]]
) -> Account:
    """Opens the account of a data set, which pays for nothing before those beside it are open, and these after it."""
    beside = {account_of(name, kind): own for kind, own in others.items()}
    opened = open_account(name, limit=limit, unit=unit, beside=tuple(beside))
    for other, (own, units) in beside.items():
        open_account(other, limit=own, unit=units)
    return opened
