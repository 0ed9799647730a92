"""Clocks that go back, and moments at which something begins or ends: nothing is charged to the wrong period."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.space import vector
from sfumato.errors import AccountRefused, ClockWentBack, LimitReached, NotKept, RunFailed
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.state import SLACK
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.mechanisms.additive import laplace
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
SCORES = [71.5, 64.0, 88.0, 93.5, 55.0] * 10
TENTH = Pure("0.1")


class Clock:
    """Is a clock that is set by hand."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    return Ledger(MemoryStore(), clock=clock)


def question(*, before: Callable[[], object] = lambda: None) -> Measurement:
    """Gives a question that does something just before it looks."""
    asked = vector(float, size=len(SCORES)) >> clamp(0, 100) >> mean() >> laplace(scale=20)
    assert isinstance(asked, Measurement)
    return replace(asked, function=lambda data, entropy: (before(), asked.function(data, entropy))[1])


def unit_of(asked: Measurement) -> Unit:
    """Gives the unit that a question is priced for."""
    metric, closest = asked.source.metric, asked.source.closest
    return Unit(metric.unit(metric.read(closest)), metric, closest)


# A clock that goes back

ACTS: dict[str, Callable[[Ledger], object]] = {
    "charge": lambda ledger: ledger.charge("visits", TENTH),
    "open": lambda ledger: ledger.open_account("others", limit=Pure(1)),
    "close": lambda ledger: ledger.close_account("visits"),
    "note": lambda ledger: ledger.note("visits", "topic", "said"),
    "checkpoint": lambda ledger: ledger.checkpoint(),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_clock_that_goes_back_far_stops_everything(
    act: Callable[[Ledger], object], ledger: Ledger, clock: Clock
) -> None:
    ledger.open_account("visits", limit=Pure(1))
    before = ledger.head
    clock.now = NOON - SLACK - TICK
    with pytest.raises(ClockWentBack, match="nothing was charged: set the clock right"):
        act(ledger)
    assert ledger.head == before
    assert ledger["visits"].spent == Pure(0)
    clock.now = NOON
    act(ledger)
    assert ledger.verify().sound


def test_a_clock_that_goes_back_a_little_keeps_times_in_order(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=Pure(10))
    for seconds in (5, 3, 4, -20, 6, -50, 0, 7):
        clock.now = NOON + timedelta(seconds=seconds)
        ledger.charge("visits", TENTH)
    times = [entry.time for entry in ledger.entries()]
    assert times == sorted(times)
    assert times[-2:] == ["2026-11-16T12:00:06.000000Z", "2026-11-16T12:00:07.000000Z"]
    assert ledger.verify().sound


def test_going_back_by_just_the_slack_is_let_pass(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=Pure(1))
    clock.now = NOON - SLACK
    assert ledger.charge("visits", TENTH).receipt.time == "2026-11-16T12:00:00.000000Z"


def test_another_process_with_a_clock_far_behind_charges_nothing(ledger: Ledger) -> None:
    ledger.open_account("visits", limit=Pure(1))
    behind = Ledger(ledger.store, clock=Clock(NOON - timedelta(days=40)))
    with pytest.raises(ClockWentBack):
        behind.charge("visits", TENTH)
    assert behind["visits"].spent == Pure(0), "it can still be looked at"


def test_a_clock_that_goes_back_during_a_run_does_not_lose_the_release(ledger: Ledger, clock: Clock) -> None:
    asked = question(before=lambda: setattr(clock, "now", NOON - timedelta(hours=1)))
    ledger.open_account("visits", limit=Pure(1), unit=unit_of(asked))
    permit = ledger.charge("visits", asked.map(asked.source.closest))
    with pytest.raises(NotKept) as kept:
        permit.run(asked, SCORES)
    assert isinstance(kept.value.release.value, float)  # type: ignore[attr-defined]
    assert permit.used
    assert ledger["visits"].spent == permit.loss


def test_a_clock_that_goes_back_during_a_run_that_fails_hides_nothing(ledger: Ledger, clock: Clock) -> None:
    def breaks() -> None:
        clock.now = NOON - timedelta(hours=1)
        raise OverflowError

    asked = question(before=breaks)
    ledger.open_account("visits", limit=Pure(1), unit=unit_of(asked))
    permit = ledger.charge("visits", asked.map(asked.source.closest))
    with pytest.raises(RunFailed):
        permit.run(asked, SCORES)
    assert ledger["visits"].spent == permit.loss


# Periods


@pytest.mark.parametrize(
    ("period", "last", "first"),
    [
        ("day", datetime(2026, 11, 16, 23, 59, 59, 999999), datetime(2026, 11, 17)),
        ("week", datetime(2026, 11, 15, 23, 59, 59, 999999), datetime(2026, 11, 16)),
        ("week", datetime(2027, 1, 3, 23, 59, 59, 999999), datetime(2027, 1, 4)),  # the last of week 53 of 2026
        ("week", datetime(2024, 12, 29, 23, 59, 59, 999999), datetime(2024, 12, 30)),  # the first of week 1 of 2025
        ("month", datetime(2026, 11, 30, 23, 59, 59, 999999), datetime(2026, 12, 1)),
        ("month", datetime(2028, 2, 29, 23, 59, 59, 999999), datetime(2028, 3, 1)),
        ("quarter", datetime(2026, 12, 31, 23, 59, 59, 999999), datetime(2027, 1, 1)),
        ("year", datetime(2026, 12, 31, 23, 59, 59, 999999), datetime(2027, 1, 1)),
    ],
)
def test_a_period_begins_at_its_moment_and_no_other(period: str, last: datetime, first: datetime) -> None:
    clock = Clock(last.replace(tzinfo=UTC))
    ledger = Ledger(MemoryStore(), clock=clock)
    ledger.open_account("visits", limit=TENTH, period=period)
    ledger.charge("visits", TENTH)
    with pytest.raises(LimitReached):
        ledger.charge("visits", Pure("0.01"))
    clock.now = first.replace(tzinfo=UTC)
    assert ledger["visits"].left == TENTH
    ledger.charge("visits", TENTH)
    with pytest.raises(LimitReached):
        ledger.charge("visits", Pure("0.01"))
    assert ledger.verify().sound


def test_week_53_goes_over_the_end_of_the_year(ledger: Ledger, clock: Clock) -> None:
    clock.now = datetime(2026, 12, 28, tzinfo=UTC)
    ledger.open_account("visits", limit=TENTH, period="week")
    ledger.charge("visits", TENTH)
    assert ledger["visits"].now == "2026-W53"
    for day in (datetime(2026, 12, 31), datetime(2027, 1, 1), datetime(2027, 1, 3)):
        clock.now = day.replace(tzinfo=UTC)
        with pytest.raises(LimitReached):
            ledger.charge("visits", TENTH)
    clock.now = datetime(2027, 1, 4, tzinfo=UTC)
    ledger.charge("visits", TENTH)
    assert ledger["visits"].now == "2027-W01"


@pytest.mark.parametrize("period", Period)
def test_labels_sort_as_periods_do(period: Period) -> None:
    days = [datetime(2023, 12, 1, tzinfo=UTC) + timedelta(days=day) for day in range(1200)]
    labels = [period.label(day) for day in days]
    assert labels == sorted(labels)


def test_a_period_that_is_over_does_not_come_back(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=TENTH, period="month")
    clock.now = datetime(2026, 12, 1, 0, 0, 20, tzinfo=UTC)
    ledger.charge("visits", TENTH)
    clock.now = datetime(2026, 11, 30, 23, 59, 50, tzinfo=UTC)  # within the slack, but in November again
    with pytest.raises(LimitReached):
        ledger.charge("visits", TENTH)
    assert ledger["visits"].now == "2026-12"
    assert ledger["visits"].left == Pure(0)


def test_what_was_spent_in_a_period_is_there_after_the_book_is_opened_anew(ledger: Ledger, clock: Clock) -> None:
    ledger.open_account("visits", limit=TENTH, period="month")
    ledger.charge("visits", TENTH)
    ledger.checkpoint()
    again = Ledger(ledger.store, clock=clock)
    with pytest.raises(LimitReached):
        again.charge("visits", TENTH)
    clock.now = datetime(2027, 11, 16, tzinfo=UTC)  # the same month, a year later
    again.charge("visits", TENTH)
    assert again.verify().sound


@pytest.mark.parametrize("hours", [-12, 14])
def test_periods_are_those_of_universal_time_wherever_the_clock_is(hours: int, clock: Clock, ledger: Ledger) -> None:
    there = timezone(timedelta(hours=hours))
    ledger.open_account("visits", limit=TENTH, period="day")
    clock.now = datetime(2026, 11, 17, 11, tzinfo=UTC).astimezone(there)
    ledger.charge("visits", TENTH)
    assert ledger["visits"].now == "2026-11-17"
    clock.now = datetime(2026, 11, 17, 13, tzinfo=UTC).astimezone(there)
    with pytest.raises(LimitReached):
        ledger.charge("visits", TENTH)
    assert ledger.verify().sound


# Accounts that expire


def test_an_account_expires_at_its_moment(ledger: Ledger, clock: Clock) -> None:
    end = NOON + timedelta(hours=1)
    ledger.open_account("visits", limit=Pure(1))
    ledger.open_account("visits/ada", limit=Pure(1), until=end)
    clock.now = end - TICK
    ledger.charge("visits/ada", TENTH)
    clock.now = end
    with pytest.raises(AccountRefused, match="expired at 2026-11-16T13:00:00"):
        ledger.charge("visits/ada", TENTH)
    assert ledger.left("visits/ada") == Pure(0)
    assert ledger["visits"].spent == TENTH
    clock.now = end - timedelta(seconds=30)  # within the slack: the book has not yet seen the end
    ledger.charge("visits/ada", TENTH)
    assert ledger.verify().sound


def test_an_expired_account_stays_so_once_the_book_has_seen_its_end(ledger: Ledger, clock: Clock) -> None:
    end = NOON + timedelta(hours=1)
    ledger.open_account("visits", limit=Pure(1))
    ledger.open_account("visits/ada", limit=Pure(1), until=end)
    clock.now = end
    ledger.charge("visits", TENTH)
    clock.now = end - timedelta(seconds=30)
    with pytest.raises(AccountRefused, match="expired"):
        ledger.charge("visits/ada", TENTH)


def test_what_an_expired_part_held_is_free_at_its_moment(ledger: Ledger, clock: Clock) -> None:
    end = NOON + timedelta(hours=1)
    ledger.open_account("visits", limit=Pure(1))
    ledger.open_account("visits/ada", limit=Pure("0.9"), holds=True, until=end)
    ledger.charge("visits/ada", TENTH)
    clock.now = end - TICK
    with pytest.raises(LimitReached):
        ledger.charge("visits", Pure("0.2"))
    clock.now = end
    ledger.charge("visits", Pure("0.9"))
    with pytest.raises(LimitReached):
        ledger.charge("visits", TENTH)
    assert ledger["visits"].spent == Pure(1)
    assert ledger.verify().sound
