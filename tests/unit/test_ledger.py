"""The ledger: accounts, charges, permits, shares, periods, stored releases."""

from __future__ import annotations

import dataclasses
import os
import pickle
import sys
import threading
from collections.abc import Callable
from copy import copy, deepcopy
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.adaptive.costs import Cost
from sfumato.audit.recorder import Recorder
from sfumato.errors import (
    AccountRefused,
    BadArgument,
    LedgerDamaged,
    LedgerUnavailable,
    LimitReached,
    NoProvenRoute,
    NotKept,
    PermitUsed,
    RunFailed,
)
from sfumato.ledger.entry import Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.requests import ask_for_share, decide_on, requests
from sfumato.ledger.rules import coarse, few_digits, kept_short
from sfumato.ledger.state import State, row_of
from sfumato.ledger.store import Store
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.verify import verified

COUNT = sf.vector(int) >> sf.count() >> sf.laplace(scale=10)
TENTH = sf.Pure("0.1")


class Clock:
    """Is a clock that tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def on(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    return Ledger(MemoryStore(), clock=clock)


def test_ten_tenths_fit_a_limit_of_one(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    for _ in range(10):
        ledger.charge("visits", TENTH)
    assert ledger["visits"].left == sf.Pure(0)
    with pytest.raises(LimitReached, match="ε = 1 of ε = 1 is spent, and ε = 0 is left") as caught:
        ledger.charge("visits", sf.Pure("1/1000000000000"))
    assert caught.value.limit == sf.Pure(1)
    assert caught.value.left == sf.Pure(0)


@pytest.mark.parametrize(
    ("limit", "fits", "too_much"),
    [
        (sf.Pure(1), sf.Pure("0.25"), sf.Pure("0.2500001")),
        (sf.Approx(1, 1e-6), sf.Approx("0.25", "2.5e-7"), sf.Approx("0.25", "2.6e-7")),
        (sf.ZCDP(1), sf.ZCDP("0.25"), sf.ZCDP("0.2500001")),
        (sf.GDP(2), sf.GDP(1), sf.GDP("1.00001")),
        (sf.ApproxZCDP(1, "0.4"), sf.ApproxZCDP("0.25", "0.05"), sf.ApproxZCDP("0.26", "0.05")),
        (sf.Renyi({2: 1, 8: 4}), sf.Renyi({2: "0.25", 8: 1}), sf.Renyi({2: "0.1", 8: "1.1"})),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_limits_of_every_kind_that_adds_up(ledger: Ledger, limit: sf.Loss, fits: sf.Loss, too_much: sf.Loss) -> None:
    ledger.open_account("visits", limit=limit)
    for _ in range(3):
        ledger.charge("visits", fits)
    with pytest.raises(LimitReached):
        ledger.charge("visits", too_much)
    ledger.charge("visits", fits)
    with pytest.raises(LimitReached):
        ledger.charge("visits", fits)
    assert ledger.verify()


def test_kinds_whose_sums_stop_nothing_are_refused_as_limits(ledger: Ledger) -> None:
    with pytest.raises(NoProvenRoute, match="not valid if mechanisms are chosen after seeing answers"):
        ledger.open_account("visits", limit=sf.Profile([(0, 1), (1, 0)]))


def test_a_plan_that_is_fixed_in_advance_may_be_of_any_kind_that_composes(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.accounting.Slots([sf.Pure(0.3), sf.Pure(0.2)]))
    ledger.charge("visits", sf.Pure(0.3))
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.Pure(0.3))
    ledger.charge("visits", sf.Pure(0.2))
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.Pure(0))
    assert ledger.verify()


def test_many_small_losses_under_an_advanced_filter(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.accounting.AdvancedFilter(sf.Approx(1, 1e-6), reserve=1e-6))
    for _ in range(57):
        ledger.charge("visits", sf.Approx("0.03", 0))
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.Approx("0.03", 0))
    again = Ledger(ledger.store, clock=clock)
    assert again["visits"].rule == ledger["visits"].rule
    assert ledger.verify()


def test_a_loss_of_another_kind_counts_by_a_theorem(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Approx(1, 1e-9))
    ledger.charge("visits", sf.Pure(0.5))
    assert ledger["visits"].spent == sf.Approx(0.5, 0)
    ledger.open_account("pure", limit=sf.Pure(1))
    with pytest.raises(NoProvenRoute, match="which no theorem turns into Pure by itself"):
        ledger.charge("pure", sf.ZCDP(0.1))
    assert ledger["visits"].spent == sf.Approx(0.5, 0)


def test_a_limit_in_epsilon_and_delta_takes_losses_of_every_kind(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Approx(1, 1e-9))
    for loss in (sf.Pure("0.01"), sf.ZCDP("0.001"), sf.Approx("0.01", "1e-12"), sf.Renyi({64: "0.01"})):
        ledger.charge("visits", loss)
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.ZCDP(0.1))
    assert ledger["visits"].spent.within(sf.Approx(1, 1e-9)) and ledger["visits"].left.epsilon > 0
    assert ledger.verify().sound


def test_many_gaussian_questions_cost_about_the_root_of_their_number(ledger: Ledger) -> None:
    """Each costs (0.05, 1e-9) by itself: added up, 20 would fit."""
    ledger.open_account("visits", limit=sf.Approx(1, 1e-6))
    noise = sf.noise.DiscreteGaussian(100)
    cost = Cost(sf.Approx("0.05", "1e-9"), sf.events.Noise(noise, 1))
    for _ in range(200):
        ledger.charge("visits", cost)
    assert ledger["visits"].admits(cost) and ledger["visits"].spent.within(sf.Approx(1, 1e-6))
    other = sf.vector(int) >> sf.count() >> sf.gaussian(scale=1000)
    with pytest.raises(PermitUsed, match="another mechanism of the same loss"):
        ledger.charge("visits", cost).run(sf.convert_measure(other, sf.Approx, delta="1e-9"), [3])
    assert ledger.verify().sound


def test_an_analyst_never_gets_more_than_the_data_set_has_left(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    for name in ("ada", "bob", "eve"):
        ledger.open_account(f"visits/{name}", limit=sf.Pure(0.5))
    ledger.charge("visits/ada", sf.Pure(0.5))
    ledger.charge("visits/bob", sf.Pure(0.4))
    assert ledger.left("visits/eve") == sf.Pure(0.1)
    with pytest.raises(LimitReached, match=r"^visits cannot pay") as caught:
        ledger.charge("visits/eve", sf.Pure(0.2))
    assert caught.value.account == "visits"
    with pytest.raises(LimitReached, match=r"^visits/ada cannot pay"):
        ledger.charge("visits/ada", sf.Pure("0.01"))
    ledger.charge("visits/eve", TENTH)
    assert ledger["visits"].spent == sf.Pure(1)


def test_limits_of_different_kinds_above_each_other(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.ZCDP("0.02"))
    ledger.open_account("visits/ada", limit=sf.Pure(1))
    left = ledger.left("visits/ada")
    assert isinstance(left, sf.Pure)
    assert sf.Pure("0.1999") <= left <= sf.Pure("0.21")
    ledger.charge("visits/ada", left)
    with pytest.raises(LimitReached):
        ledger.charge("visits/ada", sf.Pure("0.01"))
    assert ledger.verify()


def test_a_part_that_holds_has_its_limit_to_itself(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.6), holds=True)
    assert ledger["visits"].left == sf.Pure(0.4)
    with pytest.raises(LimitReached, match=r"ε = 0.6 is held by parts of it, and ε = 0.4 is left"):
        ledger.charge("visits", sf.Pure(0.5))
    with pytest.raises(LimitReached):
        ledger.open_account("visits/bob", limit=sf.Pure(0.5), holds=True)
    ledger.charge("visits/ada", sf.Pure(0.2))
    assert ledger["visits"].spent == sf.Pure(0)
    ledger.charge("visits", sf.Pure(0.4))
    ledger.close_account("visits/ada")
    assert ledger["visits"].spent == sf.Pure(0.6)
    assert ledger["visits"].left == sf.Pure(0.4)
    with pytest.raises(AccountRefused, match="is closed"):
        ledger.charge("visits/ada", TENTH)
    assert ledger.verify()


def test_parts_of_parts_are_closed_with_them(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/lab", limit=sf.Pure(0.8), holds=True)
    ledger.open_account("visits/lab/ada", limit=sf.Pure(0.5), holds=True)
    ledger.charge("visits/lab/ada", sf.Pure(0.3))
    ledger.charge("visits/lab", sf.Pure(0.2))
    ledger.close_account("visits/lab")
    assert ledger["visits"].spent == sf.Pure(0.5)
    assert ledger["visits/lab/ada"].closed
    assert ledger.verify()


def test_what_expires_goes_back(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.6), holds=True, until=clock.now + timedelta(days=7))
    ledger.charge("visits/ada", sf.Pure(0.1))
    clock.on(days=7)
    with pytest.raises(AccountRefused, match="expired"):
        ledger.charge("visits/ada", sf.Pure(0.1))
    ledger.charge("visits", sf.Pure(0.9))
    assert ledger["visits"].spent == sf.Pure(1)
    assert ledger.verify()


def test_a_monthly_limit_starts_anew_and_says_what_it_promises(ledger: Ledger, clock: Clock) -> None:
    account = ledger.open_account("visits", limit=sf.Pure(1), period="month")
    assert "of any one month together" in account.promise
    assert account.over(12) == sf.Pure(12)
    ledger.charge("visits", sf.Pure(1))
    with pytest.raises(LimitReached, match="in 2026-11"):
        ledger.charge("visits", TENTH)
    clock.on(days=15)
    assert ledger["visits"].left == sf.Pure(1)
    ledger.charge("visits", sf.Pure(0.7))
    assert ledger["visits"].spent == sf.Pure(0.7)  # what was left in November has not been carried over
    assert Ledger(ledger.store, clock=clock)["visits"].spent == sf.Pure(0.7)
    assert ledger.verify()


def test_a_monthly_allowance_under_a_limit_that_is_set_once(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.4), period="month")
    for _ in range(2):
        ledger.charge("visits/ada", sf.Pure(0.4))
        clock.on(days=31)
    assert ledger.left("visits/ada") == sf.Pure(0.2)
    with pytest.raises(LimitReached, match=r"^visits cannot pay"):
        ledger.charge("visits/ada", sf.Pure(0.3))


def test_a_part_that_holds_counts_in_the_period_in_which_it_is_closed(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), period="month")
    ledger.open_account("visits/ada", limit=sf.Pure(0.6), holds=True)
    clock.on(days=31)
    ledger.charge("visits/ada", sf.Pure(0.6))
    ledger.close_account("visits/ada")
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.Pure(0.5))
    assert ledger.verify()


def test_a_period_that_begins_with_parts_adds_up_from_the_start(ledger: Ledger, clock: Clock) -> None:
    """Parts may answer before its first charge, which then must not choose between rules in the light of that."""
    limit = sf.Approx(1, 1e-6)
    ledger.open_account("visits", limit=limit, period="month")
    ledger.charge("visits", sf.Pure(0.1))
    ledger.open_account("visits/ada", limit=sf.Approx(0.2, 0), holds=True)
    assert isinstance(ledger["visits"].rule, ApproxFilter)
    clock.on(days=31)
    ledger.charge("visits", sf.Pure(0.1))
    assert ledger["visits"].rule == sf.accounting.SumFilter(limit, spent=sf.Approx(0.1, 0))
    assert ledger.verify()


def test_a_limit_is_set_once(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(AccountRefused, match="A limit is set once, for good"):
        ledger.open_account("visits", limit=sf.Pure(2))


@pytest.mark.parametrize("name", ["", "/", "a/", "/a", "a//b", " a", "a\n", "x" * 201, None, 3])
def test_names_of_accounts(ledger: Ledger, name: str) -> None:
    with pytest.raises(BadArgument, match="name of an account"):
        ledger.open_account(name, limit=sf.Pure(1))


def test_what_cannot_be_opened_or_charged(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(AccountRefused, match="no account 'visitors'"):
        ledger.charge("visitors", TENTH)
    with pytest.raises(AccountRefused, match="no account"):
        ledger.open_account("nowhere/ada", limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="privacy loss"):
        ledger.charge("visits", 0.1)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="holds"):
        ledger.open_account("other", limit=sf.Pure(1), holds=True)
    with pytest.raises(BadArgument, match="without periods"):
        ledger.open_account("visits/ada", limit=sf.Pure(1), holds=True, period="month")
    with pytest.raises(BadArgument, match="period"):
        ledger.open_account("visits/ada", limit=sf.Pure(1), period="fortnight")
    with pytest.raises(BadArgument, match="time zone"):
        ledger.open_account("visits/ada", limit=sf.Pure(1), until=datetime(2027, 1, 1))
    with pytest.raises(BadArgument, match="nothing is spent yet"):
        ledger.open_account("visits/ada", limit=sf.accounting.SumFilter(sf.Pure(1)).after(TENTH))
    with pytest.raises(BadArgument, match="limit"):
        ledger.open_account("visits/ada", limit=1)  # type: ignore[arg-type]


def test_a_permit_works_once(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH)
    release = permit.run(COUNT, [1, 2, 3])
    assert release.charged
    assert release.receipt is not None
    assert (release.receipt.entry, release.receipt.account) == (3, "visits")
    with pytest.raises(PermitUsed, match="works once"):
        permit.run(COUNT, [1, 2, 3])
    assert permit.release is not None
    assert permit.release.value == release.value


def test_a_permit_works_once_among_threads(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit, outcomes = ledger.charge("visits", TENTH), []

    def use() -> None:
        try:
            outcomes.append(permit.run(COUNT, [1, 2, 3]))
        except PermitUsed:
            outcomes.append(None)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is not None for outcome in outcomes) == 1


def test_a_permit_has_no_second_copy(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH)
    assert copy(permit) is permit
    assert deepcopy(permit) is permit
    with pytest.raises(PermitUsed):
        pickle.dumps(permit)
    child = os.fork()
    if child == 0:
        try:
            permit.run(COUNT, [1, 2, 3])
        except PermitUsed:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class Written(sf.entropy.Entropy):
    """Says that it cannot be replayed, and writes down what is randomized."""

    replayable, drawn = False, 0

    def octets(self, count: int) -> bytes:
        return bytes(count)

    def perform(self, act: object, draw: Any) -> Any:
        raise AssertionError("it was shown what is randomized")


def test_a_permit_pays_for_no_more_than_was_charged(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH)
    dear = sf.vector(int) >> sf.count() >> sf.laplace(scale=9)
    with pytest.raises(PermitUsed, match=r"paid is ε = 0\.1, and the measurement costs ε = 0\.11"):
        permit.run(dear, [1])
    with pytest.raises(NoProvenRoute):
        permit.run(sf.vector(int) >> sf.count() >> sf.gaussian(scale=1000), [1])
    with pytest.raises(BadArgument, match="unit that"):
        permit.run(COUNT, [1], d_in=2)
    with pytest.raises(BadArgument, match="unit that"):
        permit.run(sf.vector(float, size=2) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=100), [1.0, 2.0])
    for source in (sf.entropy.ReplayEntropy(1), Recorder(sf.entropy.SystemEntropy()), Written()):
        with pytest.raises(BadArgument, match="that of the system"):
            permit.run(COUNT, [1], entropy=source)
    assert not permit.used
    permit.run(COUNT, [1])


def test_a_permit_for_one_measurement_checks_any_other(ledger: Ledger) -> None:
    """What was checked when it was charged for is not checked again; what only looks like it is."""
    unit = sf.Unit("one row added or removed", sf.AddRemove(), bound=1)
    ledger.open_account("visits", limit=sf.Pure(1), unit=unit)
    dear = sf.vector(int) >> sf.count() >> sf.laplace(scale=9)
    with pytest.raises(PermitUsed, match="the measurement costs"):
        ledger.ask("visits", TENTH, dear, unit)
    with pytest.raises(BadArgument, match="unit that"):
        ledger.ask("visits", TENTH, COUNT, sf.Unit("two rows", sf.AddRemove(), bound=2))
    assert ledger["visits"].spent == sf.Pure(0)
    permit = ledger.ask("visits", TENTH, COUNT, unit)
    assert isinstance(permit, sf.ledger.Permit)
    with pytest.raises(PermitUsed, match="the measurement costs"):
        permit.run(dear, [1], d_in=unit)
    with pytest.raises(BadArgument, match="unit that"):
        permit.run(COUNT, [1], d_in=2)
    assert permit.run(COUNT, [1], d_in=unit).loss == TENTH and ledger["visits"].spent == TENTH


def test_a_run_that_fails_is_paid_for_and_tells_nothing(ledger: Ledger) -> None:
    def explode(data: list[int], entropy: sf.entropy.Entropy) -> int:
        raise ValueError(f"secret {data}")

    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH)
    broken = dataclasses.replace(COUNT, function=explode)
    with pytest.raises(RunFailed) as caught:
        permit.run(broken, [1, 2])
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert ledger["visits"].spent == TENTH
    assert [entry.kind for entry in ledger.entries()][-1] == "failed"
    with pytest.raises(RunFailed):  # data that is not what was declared is no different
        ledger.charge("visits", TENTH).run(COUNT, ["not", "numbers"])
    assert ledger.verify()


def test_a_retried_charge_is_one_charge(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH, key="monday")
    assert ledger.charge("visits", TENTH, key="monday") is permit
    assert ledger["visits"].spent == TENTH
    with pytest.raises(AccountRefused, match="another loss"):
        ledger.charge("visits", sf.Pure(0.2), key="monday")
    release = permit.run(COUNT, [1, 2, 3])
    elsewhere = Ledger(ledger.store, clock=clock).charge("visits", TENTH, key="monday")
    assert elsewhere.used
    assert elsewhere.release is not None
    assert elsewhere.release.value == release.value
    with pytest.raises(PermitUsed, match="no answer any more: ask under another key, or none, and pay again"):
        elsewhere.run(COUNT, [1, 2, 3])
    ledger.open_account("visits/ada", limit=sf.Pure(1))
    assert ledger.charge("visits/ada", TENTH, key="monday") is not permit  # keys belong to accounts
    assert ledger["visits"].spent == sf.Pure(0.2)


def test_a_stored_release_is_free_for_who_paid_and_charged_to_others(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.5))
    ledger.open_account("visits/bob", limit=sf.Pure("0.15"))
    release = ledger.charge("visits/ada", TENTH, question="how many").run(COUNT, [1, 2, 3])
    for account in ("visits/ada", "visits", "visits/bob", "visits/bob"):
        found = ledger.recall(account, "how many")
        assert found is not None
        assert found.value == release.value
    assert ledger["visits"].spent == TENTH
    assert ledger["visits/bob"].spent == TENTH
    other = ledger.charge("visits/ada", TENTH, question="how many more").run(COUNT, [1, 2, 3])
    with pytest.raises(LimitReached, match=r"^visits/bob cannot pay"):
        ledger.recall("visits/bob", "how many more")
    assert other.charged
    assert ledger.recall("visits", "something else") is None
    assert ledger.verify()


def test_a_release_that_cannot_be_stored_is_not_lost(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    permit = ledger.charge("visits", TENTH)

    def full(*_: object) -> None:
        raise LedgerUnavailable("the disk is full")

    monkeypatch.setattr(ledger.store, "append", full)
    with pytest.raises(NotKept) as caught:
        permit.run(COUNT, [1, 2, 3])
    assert isinstance(caught.value.release, sf.Release)
    assert caught.value.release.charged


def test_what_goes_on_answering_is_charged_at_once_and_not_stored(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    asked = sf.vector(int) >> sf.privacy_filter(sf.Pure(0.5))
    release = ledger.charge("visits", sf.Pure(0.5)).run(asked, [1, 2, 3])
    assert isinstance(release.value(COUNT), int)
    ledger.open_account("other", limit=sf.ApproxZCDP(1, 0))
    permit = ledger.charge("other", sf.ApproxZCDP("0.5", 0))
    with pytest.raises(BadArgument, match="answers once"):
        permit.run(sf.vector(int) >> sf.privacy_filter(sf.ApproxZCDP("0.5", 0)), [1])


def test_a_long_book_opens_from_its_last_balance(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1000))
    ledger.open_account("visits/ada", limit=sf.Pure(5), holds=True)
    for _ in range(1500):
        ledger.charge("visits", TENTH)
    ledger.charge("visits/ada", sf.Pure(1))
    read: list[int] = []
    rows = ledger.store.rows

    def counted(after: int = 0, *, kinds: tuple[str, ...] = ()) -> object:
        for row in rows(after, kinds=kinds):
            read.append(row.number)
            yield row

    ledger.store.rows = counted  # type: ignore[method-assign, assignment]
    again = Ledger(ledger.store, clock=clock)
    assert len(read) < 600
    assert again["visits"] == ledger["visits"]
    assert again["visits/ada"] == ledger["visits/ada"]
    assert again.close_account("visits/ada").closed
    assert again.verify()


def test_two_handles_see_each_other(ledger: Ledger, clock: Clock) -> None:
    other = Ledger(ledger.store, clock=clock)
    ledger.open_account("visits", limit=sf.Pure(1))
    other.charge("visits", sf.Pure(0.5))
    ledger.charge("visits", sf.Pure(0.5))
    with pytest.raises(LimitReached):
        other.charge("visits", TENTH)


def test_export_and_import(ledger: Ledger, tmp_path: Path) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), about={"scope": "visits «per» day"})
    ledger.charge("visits", TENTH, question="how many").run(COUNT, [1, 2, 3])
    ledger.note("visits", "memo", {"said": ["a", 1, None, True]})
    head = ledger.head
    assert ledger.export(tmp_path / "book.jsonl") == 5
    lines = (tmp_path / "book.jsonl").read_text().splitlines()
    copied = Ledger.imported(lines, tmp_path / "copy.db")
    assert copied.head == head
    assert copied.verify(receipts=[head])
    assert copied.recall("visits", "how many") is not None
    with pytest.raises(LedgerUnavailable, match="empty store"):
        Ledger.imported(lines, tmp_path / "copy.db")
    ledger.export(tmp_path / "public.jsonl", values=False)
    public = Ledger.imported((tmp_path / "public.jsonl").read_text().splitlines(), "memory:")
    assert public.verify(receipts=[head])
    assert public.recall("visits", "how many") is None


@pytest.mark.parametrize("address", ["mysql://x:secret@host/db", "", 3, "sqlite:///"])
def test_addresses(address: str) -> None:
    with pytest.raises(BadArgument, match="address of a ledger") as caught:
        Ledger.open(address)
    assert "secret" not in str(caught.value)


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_shares_are_asked_for_and_decided_on_in_the_open(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    request = ask_for_share(ledger, "visits", "lab", sf.Pure(0.3), purpose="a pilot", by="applicant 7", needed=2)
    with pytest.raises(AccountRefused, match="not for applicant 7 to decide"):
        decide_on(ledger, request, grants=True, reason="I like it", by="applicant 7")
    assert decide_on(ledger, request, grants=True, reason="useful", by="board one") is None
    with pytest.raises(AccountRefused):
        decide_on(ledger, request, grants=True, reason="useful", by="board one")
    account = decide_on(ledger, request, grants=True, reason="worth it", by="board two")
    assert account is not None
    assert account.name == "visits/lab"
    assert ledger["visits"].left == sf.Pure(0.7)
    refused = ask_for_share(ledger, "visits", "more", sf.Pure(0.3), purpose="curiosity", by="applicant 8")
    decide_on(ledger, refused, grants=False, reason="not for curiosity", by="board one")
    found = requests(ledger, "visits")
    assert found[refused.number].declined
    assert found[request.number].granted
    assert found[refused.number].decisions[0].reason == "not for curiosity"
    third = ask_for_share(ledger, "visits", "third", sf.Pure(0.3), purpose="a pilot", by="applicant 9")
    with pytest.raises(BadArgument, match="reason"):
        decide_on(ledger, third, grants=True, reason=" ", by="board two")


def test_losses_are_charged_with_few_digits_and_never_less() -> None:
    awkward = Fraction(1, 3**60)
    assert awkward <= few_digits(awkward) <= awkward * (1 + Fraction(1, 2**64))
    assert few_digits(Fraction(1, 3)) == Fraction(1, 3)
    assert coarse(sf.Pure(0.1)) == sf.Pure(0.1)
    long = sum((Fraction(1, prime) for prime in range(3, 2000, 2)), Fraction(0))
    assert long < kept_short(long) < long + Fraction(1, 2**512)


def test_awkward_losses_do_not_make_the_book_grow(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(10))
    for prime in range(10**9 + 7, 10**9 + 407, 2):
        ledger.charge("visits", sf.Pure(Fraction(1, prime)))
    assert len(list(ledger.entries())[-1].text) < 3000
    assert ledger.verify()


def test_the_head_names_the_last_entry(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    assert ledger.head.entry == 2
    assert isinstance(ledger.store, Store)


def test_a_query_dated_in_a_closed_period_is_refused(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), period="day")
    clock.now = datetime(2026, 11, 17, 0, 0, 10, tzinfo=UTC)
    ledger.charge("visits", TENTH)
    clock.now -= timedelta(seconds=30)  # a clock that is a little behind: the book's time stands still
    ledger.charge("visits", TENTH)
    assert ledger["visits"].spent == sf.Pure(0.2)


@pytest.mark.parametrize("make", [lambda: None, lambda: "x" * 5])
def test_by_must_be_a_name(ledger: Ledger, make: Callable[[], object]) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="by must be"):
        ledger.charge("visits", TENTH, by="a\nb" if make() else None)  # type: ignore[arg-type]


# What a sceptical reader found: each of these once counted too little, or broke a healthy book.


def test_a_part_that_holds_under_a_cap_is_counted_above_the_cap(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/lab", limit=sf.Pure(1))
    ledger.open_account("visits/lab/ada", limit=sf.Pure(0.7), holds=True)
    with pytest.raises(LimitReached, match=r"^visits/lab cannot pay"):
        ledger.open_account("visits/lab/bob", limit=sf.Pure(0.7), holds=True)
    ledger.open_account("visits/other", limit=sf.Pure(1))
    with pytest.raises(LimitReached, match=r"^visits cannot pay"):
        ledger.open_account("visits/other/bob", limit=sf.Pure(0.7), holds=True)
    ledger.charge("visits/lab/ada", sf.Pure(0.7))
    with pytest.raises(LimitReached):
        ledger.charge("visits", sf.Pure(0.4))
    ledger.close_account("visits/lab/ada")
    assert ledger["visits"].spent == ledger["visits/lab"].spent == sf.Pure(0.7)
    assert ledger.verify()


def test_closing_a_data_set_closes_what_holds_under_its_caps(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/lab", limit=sf.Pure(1))
    ledger.open_account("visits/lab/ada", limit=sf.Pure(0.7), holds=True)
    ledger.close_account("visits")
    with pytest.raises(AccountRefused):
        ledger.charge("visits/lab/ada", TENTH)
    assert ledger.verify()


def test_expiry_of_a_data_set_ends_its_parts(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), until=clock.now + timedelta(days=1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.7), holds=True)
    clock.on(days=2)
    with pytest.raises(AccountRefused, match="visits expired"):
        ledger.charge("visits/ada", TENTH)
    assert ledger.left("visits/ada") == sf.Pure(0)


def test_parts_protect_the_unit_of_the_whole(ledger: Ledger) -> None:
    patient = sf.Unit("a patient", sf.AddRemove(), bound=3)
    ledger.open_account("visits", limit=sf.Pure(1), unit=patient)
    with pytest.raises(BadArgument, match="the unit must be that of visits, a patient"):
        ledger.open_account("visits/ada", limit=sf.Pure(1), unit=sf.Unit("a row", sf.AddRemove()))
    assert ledger.open_account("visits/ada", limit=sf.Pure(1)).terms.unit == "a patient"
    request = ask_for_share(ledger, "visits", "lab", sf.Pure(0.3), purpose="a pilot", by="x")
    account = decide_on(ledger, request, grants=True, reason="fine", by="y")
    assert account is not None
    assert account.terms.bound == "3"
    with pytest.raises(BadArgument, match="unit"):
        ledger.open_account("other", limit=sf.Pure(1), unit="row")  # type: ignore[arg-type]


def test_a_part_is_opened_in_a_new_period_and_the_book_goes_on(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), period="month")
    ledger.charge("visits", sf.Pure(1))
    clock.on(days=31)
    ledger.open_account("visits/ada", limit=sf.Pure(0.5), holds=True)
    ledger.charge("visits/ada", sf.Pure(0.5))
    ledger.charge("visits", sf.Pure(0.5))
    with pytest.raises(LimitReached):
        ledger.charge("visits", TENTH)
    assert Ledger(ledger.store, clock=clock)["visits"] == ledger["visits"]
    assert ledger.verify()


def test_a_book_with_closed_parts_of_other_periods_opens_from_a_balance(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), period="month")
    for name in ("one", "two", "three"):
        ledger.open_account(f"visits/{name}", limit=sf.Pure(0.9), holds=True)
        ledger.charge(f"visits/{name}", sf.Pure(0.9))
        ledger.close_account(f"visits/{name}")
        clock.on(days=31)
    ledger.charge("visits", TENTH)
    ledger.open_account("visits/four", limit=sf.Pure(0.9), holds=True)
    ledger.checkpoint()
    again = Ledger(ledger.store, clock=clock)
    assert again["visits"] == ledger["visits"]
    assert again.verify()


def test_rounding_leaves_room_for_what_is_held(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    for prime in range(10**9 + 7, 10**9 + 107, 2):
        ledger.charge("visits", sf.Pure(Fraction(1, prime)))
    ledger.open_account("visits/ada", limit=sf.Pure(0.5), holds=True)
    ledger.charge("visits", ledger.left("visits"))
    assert ledger.left("visits") == sf.Pure(0)
    ledger.close_account("visits/ada")
    assert ledger.left("visits") == sf.Pure(0.5)
    assert ledger.verify()


def test_an_account_pays_once_for_a_release_of_another_whoever_below_it_asks(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(2))
    for name in ("bob", "ada", "ada/x", "ada/y"):
        ledger.open_account(f"visits/{name}", limit=sf.Pure(0.6))
    ledger.charge("visits/bob", sf.Pure(0.5), question="q").run(sf.vector(int) >> sf.count() >> sf.laplace(2), [1, 2])
    for name in ("ada/x", "ada/y", "ada", "ada/x"):
        assert ledger.recall(f"visits/{name}", "q") is not None
    assert [ledger[f"visits/{name}"].spent for name in ("ada", "ada/x", "ada/y")] == [sf.Pure(0.5)] * 3
    assert ledger["visits"].spent == sf.Pure(0.5)
    assert ledger.verify()


def test_a_data_set_owes_nothing_for_what_its_parts_asked(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.5), holds=True)
    ledger.charge("visits/ada", sf.Pure(0.5), question="q").run(sf.vector(int) >> sf.count() >> sf.laplace(2), [1, 2])
    assert ledger.recall("visits", "q") is not None
    ledger.close_account("visits/ada")
    assert ledger.recall("visits", "q") is not None
    assert ledger["visits"].spent == sf.Pure(0.5)


@pytest.mark.parametrize("key", [5, True, b"key", "x" * 1001, "a\0b", "\ud800"])
def test_keys_are_texts_that_every_store_can_find(ledger: Ledger, key: object) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="key"):
        ledger.charge("visits", TENTH, key=key)  # type: ignore[arg-type]


def test_a_key_belongs_to_one_question_on_one_version_of_the_data(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.charge("visits", TENTH, key="monday", what="count", data="v1")
    with pytest.raises(AccountRefused, match="belongs to another charge"):
        ledger.charge("visits", TENTH, key="monday", what="sum", data="v1")
    with pytest.raises(AccountRefused, match="belongs to another charge"):
        ledger.charge("visits", TENTH, key="monday", what="count", data="v2")


def test_a_grant_that_does_not_fit_is_not_written_down(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    request = ask_for_share(ledger, "visits", "lab", sf.Pure(3), purpose="a pilot", by="x")
    with pytest.raises(LimitReached):
        decide_on(ledger, request, grants=True, reason="fine", by="y")
    assert not requests(ledger, "visits")[request.number].decisions


def test_forged_books_do_not_verify(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.charge("visits", sf.Pure(1)).run(COUNT, [1])

    def forged(*bodies: tuple[str, str, dict[str, object]]) -> list[str]:
        rows = list(ledger.store.rows())
        for kind, account, body in bodies:
            before = rows[-1]
            made = Entry.made(
                before.number + 1,
                before.digest,
                kind=kind,
                time=ledger.head.time,
                by="x",
                account=account,
                body=body,  # type: ignore[arg-type]
            )
            rows.append(row_of(made, None))
        store = MemoryStore()
        store._rows = rows
        return [fault.what for fault in verified(store).faults]

    opened = next(entry for entry in ledger.entries() if entry.kind == "opened")
    charged = next(entry for entry in ledger.entries() if entry.kind == "charged")
    assert forged(("opened", "visits", dict(opened.body)))
    assert forged(("begun", "", {"format": "sfumato/ledger", "version": 1, "book": "x"}))
    own = {**charged.body, "shares": 5, "states": {}}
    assert forged(("charged", "visits", own), ("released", "visits", {"charge": 5, "question": None, "value": None}))
    assert forged(("opened", "visits/h", {**opened.body, "holds": True, "period": "month"}))
    assert forged(("released", "visits", {"charge": 3, "question": None, "value": None}))
    nothing_spent = {"visits": [{"kind": "Pure", "epsilon": "0"}, ""]}
    assert forged(("noted", "visits", {"topic": "x", "said": None, "states": nothing_spent}))
    assert forged(("failed", "visits", {"charge": 3, "states": nothing_spent}))
    assert forged(("opened", "visits/new", {**opened.body, "states": nothing_spent}))
    assert forged(("charged", "", {**charged.body, "key": None}))
    assert forged(("opened", " visits", dict(opened.body)))


def test_every_receipt_must_be_right(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    head = ledger.head
    old = dataclasses.replace(head, digest="0" * 64)
    assert ledger.verify(receipts=[head])
    assert not ledger.verify(receipts=[old, head])
    assert not ledger.verify(receipts=[head, old])
    with pytest.raises(BadArgument, match="receipts"):
        ledger.verify(receipts=[None])  # type: ignore[list-item]
    with pytest.raises(BadArgument, match="signer"):
        ledger.verify(signer="abc")  # type: ignore[arg-type]


def test_an_account_is_opened_again_by_the_same_rule_only(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Approx(1, 1e-6))
    with pytest.raises(AccountRefused, match=r"other terms \(limit\)"):
        ledger.open_account("visits", limit=sf.accounting.AdvancedFilter(sf.Approx(1, 1e-6), reserve=1e-6))
    with pytest.raises(AccountRefused, match=r"other terms \(period\)"):
        ledger.open_account("visits", limit=sf.Approx(1, 1e-6), period="month")


def test_an_account_is_opened_again_after_a_charge_that_made_it_add_up(ledger: Ledger) -> None:
    for epsilon in ("1", "2"):  # which takes more of δ than of ε, and which takes less
        name, limit = f"visits {epsilon}", sf.Approx(20, 1e-4)
        ledger.open_account(name, limit=limit)
        ledger.charge(name, sf.Approx(epsilon, 1e-5 if epsilon == "1" else 1e-7))
        left = ledger.left(name)
        assert ledger.open_account(name, limit=limit).spent.epsilon == int(epsilon)
        assert ledger.left(name) == left
        with pytest.raises(AccountRefused, match=r"other terms \(limit\)"):
            ledger.open_account(name, limit=sf.Approx(20, 1e-5))


def test_renyi_limits_at_different_orders(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Renyi({2: 1, 8: 4}))
    ledger.open_account("visits/ada", limit=sf.Renyi({2: 1}))
    left = ledger.left("visits/ada")
    ledger.charge("visits/ada", left)
    assert isinstance(left, sf.Renyi)
    assert left.at(8) == 4


def test_many_parts_that_expire_at_once_take_no_long_time(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1000))
    for number in range(400):
        ledger.open_account(
            f"visits/{number}", limit=sf.Pure(1), holds=True, until=clock.now + timedelta(days=1), about={"n": "x"}
        )
    clock.on(days=2)
    assert ledger.left("visits") == sf.Pure(1000)
    ledger.charge("visits", sf.Pure(1000))
    assert ledger.verify()


def test_an_interrupt_while_a_book_is_read_leaves_nothing_half_done(
    ledger: Ledger, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Ledger(ledger.store, clock=clock)
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.open_account("visits/ada", limit=sf.Pure(0.5), holds=True)
    folds = State.stand_at

    def interrupted(self: State, entry: Entry) -> None:
        monkeypatch.setattr(State, "stand_at", folds)
        raise KeyboardInterrupt

    monkeypatch.setattr(State, "stand_at", interrupted)
    with pytest.raises(KeyboardInterrupt):
        other["visits"]
    assert other["visits"].held == sf.Pure(0.5)


@pytest.mark.parametrize("address", ["memory", ":memory:"])
def test_memory_is_spelled_in_one_way(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadArgument, match="'memory:'"):
        Ledger.open(address)
    with pytest.raises(BadArgument, match=r"Ledger\.open"):
        Ledger("ledger.db")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("about", ["x", 3, {"scope": 3}, {3: "x"}])
def test_what_is_said_about_an_account_is_texts(ledger: Ledger, about: object) -> None:
    with pytest.raises(BadArgument, match="about"):
        ledger.open_account("visits", limit=sf.Pure(1), about=about)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [object(), float("nan"), {1, 2}])
def test_what_is_noted_can_be_written_down(ledger: Ledger, said: object) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="noted"):
        ledger.note("visits", "memo", said)  # type: ignore[arg-type]


def test_a_refused_import_leaves_nothing_behind(ledger: Ledger, tmp_path: Path) -> None:
    ledger.open_account("visits", limit=sf.Pure(1000))
    for _ in range(50):
        ledger.charge("visits", TENTH)
    ledger.export(tmp_path / "book.jsonl")
    lines = (tmp_path / "book.jsonl").read_text().splitlines()
    lines[40] = lines[40].replace("analyst", "someone")
    with pytest.raises(LedgerDamaged, match="entry 41"):
        Ledger.imported(lines, tmp_path / "copy.db")
    assert Ledger.imported(tmp_path / "book.jsonl", tmp_path / "copy.db").head == ledger.head
    with pytest.raises(BadArgument, match="lines"):
        Ledger.imported(str(tmp_path / "book.jsonl"), "memory:")  # type: ignore[arg-type]


def test_a_function_that_leaves_the_program_tells_nothing(ledger: Ledger) -> None:
    def leave(data: list[int], entropy: sf.entropy.Entropy) -> int:
        raise SystemExit(data)

    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(RunFailed):
        ledger.charge("visits", TENTH).run(dataclasses.replace(COUNT, function=leave), [1, 2])


@pytest.mark.parametrize("name", ["", None, 0, (), False, "nowhere"])
def test_nobody_is_not_an_account(ledger: Ledger, name: str) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.charge("visits", TENTH, question="q").run(COUNT, [1, 2])
    for ask in (
        lambda: ledger.charge(name, TENTH),
        lambda: ledger.left(name),
        lambda: ledger[name],
        lambda: ledger.note(name, "memo", "x"),
        lambda: ledger.close_account(name),
    ):
        with pytest.raises((AccountRefused, BadArgument)):
            ask()
    with pytest.raises((AccountRefused, BadArgument)):
        ledger.recall(name, "q")
    assert ledger.trial(name, TENTH).refusal is not None
    assert ledger.head.entry == 4
    assert ledger.verify()


def interrupted_at(line: int, work: Callable[[], object]) -> bool:
    """Interrupts something at so-and-so many lines of the ledger; tells whether it came that far."""
    seen, before = 0, sys.gettrace()

    def tracer(frame: FrameType, event: str, _: object) -> object:
        nonlocal seen
        if "sfumato/ledger" not in frame.f_code.co_filename:
            return None
        if event == "line":
            seen += 1
            if seen == line:
                raise KeyboardInterrupt
        return tracer

    sys.settrace(tracer)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_of_a_charge_leaves_a_ledger_that_goes_on(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(10**6))
    line = 1
    while interrupted_at(line, partial(ledger.charge, "visits", TENTH, key=str(line))):
        permit = ledger.charge("visits", TENTH, key=f"after {line}")
        assert not permit.used
        assert ledger["visits"] == Ledger(ledger.store, clock=clock)["visits"]
        line += 1
    assert line > 100
    assert ledger.verify()


def test_a_release_of_another_data_set_is_not_given_out(ledger: Ledger) -> None:
    ledger.open_account("one", limit=sf.Pure(1))
    ledger.open_account("two", limit=sf.Pure(1), unit=sf.Unit("a patient", sf.AddRemove(), bound=10))
    ledger.charge("one", TENTH, question="q").run(COUNT, [1, 2])
    assert ledger.recall("one", "q") is not None
    assert ledger.recall("two", "q") is None


def test_requests_are_decided_as_they_are_in_the_book(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(BadArgument, match="without '/'"):
        ask_for_share(ledger, "visits", "team/x", sf.Pure(0.1), purpose="a pilot", by="x")
    request = ask_for_share(ledger, "visits", "lab", sf.Pure(0.1), purpose="a pilot", by="x")
    with pytest.raises(BadArgument, match="grants"):
        decide_on(ledger, request, grants="no", reason="no", by="y")  # type: ignore[arg-type]
    account = decide_on(ledger, dataclasses.replace(request, share="mallory"), grants=True, reason="fine", by="y")
    assert account is not None
    assert account.name == "visits/lab"
    ledger.note("visits", "request", {"share": "x", "loss": 3, "purpose": "p", "needed": 1})
    assert list(requests(ledger, "visits")) == [request.number]


def test_who_decides_must_have_seen_the_last_decision(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    ledger.note("visits", "decision", {"request": 1, "grants": True, "reason": "x"}, expecting=0)
    with pytest.raises(AccountRefused, match="in the meantime"):
        ledger.note("visits", "decision", {"request": 1, "grants": True, "reason": "x"}, expecting=0)
    with pytest.raises(AccountRefused, match="in the meantime"):
        ledger.open_account("visits/a", limit=TENTH, holds=True, note=("decision", "x"), expecting=0)
    assert "visits/a" not in ledger.accounts


@pytest.mark.parametrize(
    "error", [sf.errors.QueryRefused("row 123"), sf.errors.Exhausted("row 123"), MemoryError("123")]
)
def test_whatever_goes_wrong_in_a_run_it_says_no_more(ledger: Ledger, error: Exception) -> None:
    def breaks(data: list[int], entropy: sf.entropy.Entropy) -> int:
        raise error

    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(RunFailed) as caught:
        ledger.charge("visits", TENTH).run(dataclasses.replace(COUNT, function=breaks), [1, 2])
    assert "123" not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_interrupted_run_passes_on_that_it_was_interrupted_and_no_more(ledger: Ledger) -> None:
    def stopped(data: list[int], entropy: sf.entropy.Entropy) -> int:
        raise KeyboardInterrupt("row 123")

    ledger.open_account("visits", limit=sf.Pure(1))
    with pytest.raises(KeyboardInterrupt) as caught:
        ledger.charge("visits", TENTH).run(dataclasses.replace(COUNT, function=stopped), [1, 2])
    assert caught.value.args == ()
    assert [entry.kind for entry in ledger.entries()][-1] == "failed"


def test_notes_that_nobody_could_read_again_are_refused(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(1))
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    for said in (deep, 1.5, 10**5000, {"x": {1: 2}}, "a\0b"):
        with pytest.raises(BadArgument, match="noted"):
            ledger.note("visits", "memo", said)  # type: ignore[arg-type]


def test_an_account_that_has_expired_is_as_good_as_closed(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=sf.Pure(1), until=clock.now + timedelta(days=1))
    clock.on(days=1)
    assert ledger["visits"].closed
    assert ledger["visits"].left == ledger.left("visits") == sf.Pure(0)


def test_a_trial_prices_what_is_stored(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=sf.Pure(2))
    ledger.open_account("visits/ada", limit=sf.Pure(1))
    ledger.open_account("visits/bob", limit=sf.Pure(0.2))
    ledger.charge("visits/ada", sf.Pure(1), question="q").run(sf.vector(int) >> sf.count() >> sf.laplace(1), [1])
    trial = ledger.trial("visits/bob", TENTH, question="q")
    assert trial.known
    assert trial.refusal is not None


def test_the_receipt_of_a_note_is_that_of_the_note_where_a_balance_follows_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request is known by the entry of its note: the number of a balance would be that of no request."""
    monkeypatch.setattr("sfumato.ledger.replica.BALANCE_EVERY", 3)
    ledger.open_account("visits", limit=sf.Pure(1))
    for name in ("ada", "ben", "cleo"):
        asked = ask_for_share(ledger, "visits", name, TENTH, purpose="to learn", by=name)
        assert asked.number in requests(ledger, "visits")
        decide_on(ledger, asked, grants=True, reason="fine", by="olga")
        permit = ledger.charge(f"visits/{name}", sf.Pure("0.01"))
        kinds = {entry.number: entry.kind for entry in ledger.entries()}
        assert kinds[permit.receipt.entry] == "charged"
    assert "balance" in kinds.values()
    assert ledger.verify().sound
