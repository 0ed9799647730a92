"""Whatever is opened, charged, held, closed and left to expire, in whatever order: every limit holds, in every period.

The oracle knows nothing of rules, holding or states: it has the list of charges that went through, and adds up those of
each account and all accounts below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

import sfumato as sf
from sfumato.errors import AccountRefused, BadArgument, LimitReached
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.stores.memory import MemoryStore

NAMES = ("a", "a/b", "a/c", "a/b/d", "a/b/e", "a/c/f")
START = datetime(2026, 11, 28, tzinfo=UTC)

MAKE: dict[str, Callable[[Fraction], sf.Loss]] = {
    "pure": sf.Pure,
    "approximate": lambda amount: sf.Approx(amount, amount / 1000),
    "concentrated": sf.ZCDP,
    "gaussian": lambda amount: sf.GDP.of_square(amount),
    "renyi": lambda amount: sf.Renyi({2: amount, 5: 3 * amount}),
}


@dataclass(frozen=True)
class Step:
    do: str
    name: str
    amount: Fraction
    period: str | None
    days: int


amounts = st.integers(1, 40).map(lambda n: Fraction(n, 10))
steps = st.builds(
    Step,
    do=st.sampled_from(["open", "hold", "hold", "charge", "charge", "charge", "charge", "close", "wait", "share"]),
    name=st.sampled_from(NAMES),
    amount=amounts,
    period=st.sampled_from([None, None, "day", "month"]),
    days=st.integers(0, 9),
)


class World:
    """Is a ledger beside the list of what went through."""

    def __init__(self, make: Callable[[Fraction], sf.Loss]) -> None:
        self.make, self.now = make, START
        self.ledger = Ledger(MemoryStore(), clock=lambda: self.now)
        self.charges: list[tuple[str, sf.Loss, datetime]] = []
        self.ledger.open_account("a", limit=make(Fraction(5)))
        self.ledger.open_account("a/c", limit=make(Fraction(4)))  # a cap, under which parts may hold

    def take(self, step: Step) -> None:
        loss = self.make(step.amount)
        try:
            match step.do:
                case "open":
                    self.ledger.open_account(step.name, limit=loss, period=step.period)
                case "hold":
                    until = self.now + timedelta(days=step.days) if step.days else None
                    self.ledger.open_account(step.name, limit=loss, holds=True, until=until)
                case "charge":
                    self.ledger.charge(step.name, loss)
                    self.charges.append((step.name, loss, self.now))
                case "close":
                    self.ledger.close_account(step.name)
                case "wait":
                    self.now += timedelta(days=step.days)
                case "share":
                    self.ledger = Ledger(self.ledger.store, clock=lambda: self.now)  # another process goes on
        except (LimitReached, AccountRefused, BadArgument):
            return

    def check(self) -> None:
        for name in self.ledger.accounts:
            account = self.ledger[name]
            period: Period | None = account.terms.period
            sums: dict[str, sf.Loss] = {}
            for payer, loss, moment in self.charges:
                if payer == name or payer.startswith(f"{name}/"):
                    label = "" if period is None else period.label(moment)
                    sums[label] = loss if label not in sums else sums[label].then(loss)
            for label, total in sums.items():
                assert total.within(account.limit), (name, label, total, account.limit)


@pytest.mark.parametrize("kind", MAKE)
@settings(deadline=None, max_examples=examples(30))
@given(taken=st.lists(steps, min_size=8, max_size=30))
def test_every_limit_holds(kind: str, taken: list[Step]) -> None:
    world = World(MAKE[kind])
    for step in taken:
        world.take(step)
    world.check()
    assert world.ledger.verify()


@settings(deadline=None, max_examples=examples(30))
@given(taken=st.lists(steps, min_size=8, max_size=24))
def test_what_a_ledger_says_is_left_is_what_fits(taken: list[Step]) -> None:
    world = World(MAKE["pure"])
    for step in taken:
        world.take(step)
    for name in world.ledger.accounts:
        left = world.ledger.left(name)
        assert isinstance(left, sf.Pure)
        copied = Ledger.imported(_lines(world.ledger), "memory:")
        fresh = Ledger(copied.store, clock=lambda: world.now)
        with pytest.raises((LimitReached, AccountRefused)):
            fresh.charge(name, sf.Pure(Fraction(left.epsilon) + Fraction(1, 10**6)))
        if left.epsilon > 0:
            fresh.charge(name, left)


def _lines(ledger: Ledger) -> list[str]:
    from sfumato.ledger.export import as_lines

    return list(as_lines(ledger.store))


def test_a_rule_that_forgets_what_parts_hold_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.ledger import accounts

    monkeypatch.setattr(accounts, "within_with_held", lambda rule, cost, held: True)
    world = World(MAKE["pure"])
    plan = [
        Step("hold", "a/b", Fraction(4), None, 0),
        Step("charge", "a", Fraction(4), None, 0),
        Step("charge", "a/b", Fraction(4), None, 0),
    ]
    for step in plan:
        world.take(step)
    with pytest.raises(AssertionError):
        world.check()


def test_parts_that_come_back_whole_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.ledger import accounts

    monkeypatch.setattr(accounts, "cost_of_part", lambda rule: type(rule.limit).nothing())
    world = World(MAKE["pure"])
    plan = [
        Step("hold", "a/b", Fraction(4), None, 0),
        Step("charge", "a/b", Fraction(4), None, 0),
        Step("close", "a/b", Fraction(4), None, 0),
        Step("charge", "a", Fraction(4), None, 0),
    ]
    for step in plan:
        world.take(step)
    with pytest.raises(AssertionError):
        world.check()


def test_ledger_sums_equal_the_fold_of_accounting() -> None:
    ledger = Ledger(MemoryStore())
    ledger.open_account("a", limit=sf.ZCDP(10))
    losses = [sf.ZCDP(Fraction(n, 7)) for n in range(1, 8)]
    for loss in losses:
        ledger.charge("a", loss)
    assert ledger["a"].spent == reduce(lambda total, loss: total.then(loss), losses)
