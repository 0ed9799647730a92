"""What can be published from a book: its releases, the release table, an entry for a registry. None of it is typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number
from sfumato.guarantee import guarantee
from sfumato.ledger.accounts import Account
from sfumato.ledger.entry import Entry, moment_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.state import data_set_of
from sfumato.ledger.stored_release import read_kept
from sfumato.release.record import Release
from sfumato.release.registry import RegistryEntry
from sfumato.release.table import ReleaseTable


def releases_of(ledger: Ledger, account: str) -> Iterator[Release]:
    """The releases that are stored in a book, of one account and of all below it."""
    for row in ledger.store.rows(kinds=("released",)):
        entry = Entry.read(row.text, row.digest)
        below = entry.account == account or entry.account.startswith(f"{account}/")
        if below and (release := read_kept(row)) is not None:
            yield release


def releases_now(ledger: Ledger, account: str) -> list[Release]:
    """The stored releases that what an account has spent now stands for: in this period, if there are periods."""
    standing, releases = ledger[account], list(releases_of(ledger, account))
    period = standing.terms.period
    if period is None:
        return releases
    receipts = ((release, release.receipt) for release in releases)
    return [one for one, paid in receipts if paid is not None and period.label(moment_of(paid.time)) == standing.now]


def charged_in_all(ledger: Ledger, account: str) -> Loss:
    """What was charged to an account and to all parts of it that hold their limit, released or not."""
    standing = ledger[account]
    return all_charges(standing, [charged_in_all(ledger, part) for part in standing.parts])


@guarantee(
    claim="what was charged to the account and to open parts of it; the whole limit where the sum is of another kind",
    proof="proofs/ledger.md#held",
    reviewed="15520419a76b",
)
def all_charges(account: Account, parts: list[Loss]) -> Loss:
    """Composes what an account was charged with what its parts were."""
    rule = account.rule
    if isinstance(rule, AdvancedFilter) or (
        isinstance(rule, ApproxFilter) and not rule.counted.added.within(rule.limit)
    ):
        return account.limit
    return reduce(lambda so_far, part: so_far.then(part), parts, account.spent)


def release_table(ledger: Ledger, account: str, *, delta: Number | None = None) -> ReleaseTable:
    """Makes the release table of an account: what was released, and what was charged for it in all.

    Scope and address are those that the account was opened with. Charges count too if their release was lost. A limit
    that is no (ε, δ), such as ρ, needs the δ at which to state its ε. Of several kinds of units, each has a column.
    """
    standing, releases = ledger[account], releases_now(ledger, account)
    scope, url = _said(standing, "scope", account), _said(standing, "url", "None")

    def table(of: Account, own: list[Release]) -> ReleaseTable:
        unit, total = of.terms.unit or None, charged_in_all(ledger, of.name)
        return ReleaseTable.of(own, scope=scope, url=url, total=total, delta=delta, unit=unit, period=period_of(of))

    beside = [ledger[name] for name in ledger[data_set_of(account)].terms.beside]
    others = [(of, [_seen_by(of.terms.unit, release) for release in releases]) for of in beside]
    return table(standing, releases).beside(*(table(of, own) for of, own in others))


def _seen_by(unit: str, release: Release) -> Release:
    """A release as it is for another kind of unit: at the loss that one of them has."""
    return replace(release, unit=unit, loss=dict(release.others)[unit], others=())


def registry_entry(ledger: Ledger, account: str, **stated: str) -> RegistryEntry:
    """Makes the entry of an account for a registry of deployments; what the book does not know is stated."""
    standing = ledger[account]
    beside = [ledger[name] for name in ledger[data_set_of(account)].terms.beside]
    known = {
        "source": _said(standing, "url", ""),
        "curator": _said(standing, "contact", ""),
        "unit": "; ".join(
            [standing.terms.unit, *(f"{one.terms.unit}, at most {one.limit}" for one in beside if standing.terms.unit)]
        ),
    }
    return RegistryEntry.of(
        releases_now(ledger, account),
        name=_said(standing, "title", account),
        total=charged_in_all(ledger, account),
        limit=standing.limit,
        period=period_of(standing),
        **({name: text for name, text in known.items() if text} | stated),
    )


def period_of(account: Account) -> str:
    """Says for which time the limit of an account holds."""
    within = f"at most {account.limit}"
    if account.terms.period is None:
        return f"all releases together, for good; {within}"
    each = account.terms.period.value
    return f"the {each} {account.now}; {within} in any one {each}" if account.now else f"any one {each}; {within}"


def _said(account: Account, name: str, otherwise: str) -> str:
    return account.terms.about.get(name) or otherwise
