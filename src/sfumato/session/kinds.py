"""Several kinds of units behind one session: who they are, their accounts, and a limit for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from sfumato.accounting.adaptive.charge import Rule
from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.codebook.kinds import taken_by
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import Unit
from sfumato.core.space import Space
from sfumato.errors import BadArgument, did_you_mean, shown
from sfumato.exact import Number
from sfumato.ledger.accounts import Account
from sfumato.ledger.rules import stated_limit

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


def open_accounts(
    open_account: Callable[..., Account], name: str, limit: Limit, unit: Unit, others: Mapping[str, tuple[Limit, Unit]]
) -> Account:
    """Opens the account of a data set, which pays for nothing before those beside it are open, and these after it."""
    beside = {account_of(name, kind): own for kind, own in others.items()}
    opened = open_account(name, limit=limit, unit=unit, beside=tuple(beside))
    for other, (own, units) in beside.items():
        open_account(other, limit=own, unit=units)
    return opened
