"""Long runs: charged once, counted in the book before they look, resumed by their key, ended with a release."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.adaptive.costs import Cost, spending_of
from sfumato.errors import BadArgument, ClaimRequired, LimitReached, NotKept, PermitUsed, RunFailed
from sfumato.ledger.entry import Entry
from sfumato.ledger.progress import RunPermit, Turn, steps_of
from sfumato.ledger.recount import charged_events
from sfumato.session.run import Run
from sfumato.session.session import Session

NOISE = sf.events.Gaussian(scale=10)
PLAN = sf.events.Repeat(NOISE, 5)
PRICE = sf.ZCDP("1/40")
CLAIM = sf.claim("each step adds Gaussian noise of scale 10 to a number that one row moves by 1")


def count(data: Any, _: Any) -> int:
    return len(data)


@pytest.fixture
def session() -> Session:
    data = sf.Dataset([1.0, 2.0, 3.0], name="scores", space=sf.vector(float), version="first")
    return data.session(limit=sf.ZCDP(1), ledger="memory:")


def started(session: Session, **said: Any) -> Run:
    return session.start(PLAN, **{"key": "run", "claim": CLAIM, **said})


def test_a_run_is_charged_once_and_ends_with_a_release(session: Session) -> None:
    with started(session) as run:
        assert (run.steps, run.left, run.state, session.spent) == (5, 5, None, PRICE)
        assert [run.step(count) for _ in range(5)] == [3] * 5
        release = run.finish({"weights": [1, 2]})
    assert (release.loss, release.receipt is not None, release.how.claims) == (PRICE, True, (CLAIM,))
    assert run.ended and session.spent == PRICE and session.ledger.verify()
    again = started(session)
    assert again.ended and again.release is not None and again.release.value == release.value
    with pytest.raises(PermitUsed, match="has 5 steps"):
        again.step(count)
    assert session.spent == PRICE


def test_a_run_is_resumed_with_the_steps_that_the_book_does_not_count(session: Session) -> None:
    run = started(session, ahead=2)
    for _ in range(3):
        run.step(count)
    run.checkpoint("weights after three")
    again = started(session, ahead=2)
    assert (again.taken, again.left) == (4, 1)  # the fourth was counted, and may have run
    assert (again.state, again.state_step, session.spent) == ("weights after three", 3, PRICE)
    again.step(count)
    again.finish(None)
    assert session.ledger.verify() and session.spent == PRICE


def test_no_step_runs_that_was_not_paid_for(session: Session) -> None:
    looks: list[int] = []
    run = started(session)
    for _ in range(run.left):
        run.step(lambda data, _: looks.append(len(data)))
    for resumed in (run, started(session)):
        with pytest.raises(PermitUsed, match="goes no further than it was paid for"):
            resumed.step(lambda data, _: looks.append(len(data)))
    assert len(looks) == 5


def test_who_takes_a_run_over_goes_on_alone(session: Session) -> None:
    first = started(session, ahead=2)
    first.step(count)
    second = started(session)
    first.step(count)  # which was counted before, and is not counted again
    for refused in (lambda: first.step(count), lambda: first.checkpoint("mine")):
        with pytest.raises(PermitUsed, match="taken over"):
            refused()
    with pytest.raises(NotKept):
        first.finish("mine")
    first.fail()
    assert not second.ended and second.left == 3
    second.step(count)
    second.finish("ours")
    assert session.ledger.verify()


def test_two_that_resume_at_once_do_not_both_go_on(session: Session) -> None:
    started(session).step(count)
    ledger = session.ledger
    charge = next(entry for entry in ledger.entries(kinds=("charged",)))
    last = Turn(1, 1, 0, None)
    make = lambda: RunPermit(ledger._replica, ledger.store, charge, PRICE, steps=5, ahead=1, turn=last)  # noqa: E731
    one, other = make(), make()
    one.take_over()
    with pytest.raises(PermitUsed, match="taken over"):
        other.take_over()


def test_a_step_that_breaks_off_says_nothing_and_ends_the_run(session: Session) -> None:
    run = started(session)

    def broken(data: Any, _: Any) -> None:
        raise ValueError(f"secret {data}")

    with pytest.raises(RunFailed) as caught:
        run.step(broken)
    assert "secret" not in str(caught.value) and caught.value.__context__ is None and caught.value.__cause__ is None
    assert run.ended and run.release is None and session.spent == PRICE
    with pytest.raises(PermitUsed, match="ended"):
        run.step(count)
    assert session.ledger.verify()


def test_an_interrupt_leaves_a_run_that_goes_on(session: Session) -> None:
    run = started(session)

    def interrupted(data: Any, _: Any) -> None:
        raise KeyboardInterrupt(data)

    with pytest.raises(KeyboardInterrupt) as caught:
        run.step(interrupted)
    assert not caught.value.args and not run.ended and started(session).left == 4


@pytest.mark.parametrize(
    ("start", "kind", "told"),
    [
        (lambda s: s.start(PLAN, key="run"), ClaimRequired, "each step of the run"),
        (lambda s: started(s, key=""), BadArgument, "key must be given"),
        (lambda s: started(s, loss=sf.ZCDP("1/100")), BadArgument, "loss must be at least what the event costs"),
        (lambda s: started(s, loss=sf.ZCDP(2)), LimitReached, "cannot pay"),
        (lambda s: started(s, ahead=0), BadArgument, "ahead must be"),
        (lambda s: s.start("five steps", key="run", claim=CLAIM), BadArgument, "event must be"),
        (lambda s: started(s).checkpoint("x" * 20_000_001), BadArgument, "state must be a text"),
    ],
)
def test_what_cannot_run_is_refused(
    session: Session, start: Callable[[Session], object], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        start(session)


def test_a_key_belongs_to_one_plan(session: Session) -> None:
    started(session)
    with pytest.raises(sf.errors.AccountRefused, match="this key belongs to another charge"):
        session.start(sf.events.Repeat(NOISE, 6), key="run", claim=CLAIM, loss=sf.ZCDP("6/200"))
    permit = session.ledger.charge("scores", sf.ZCDP("1/100"), key="other")
    assert not permit.used
    with pytest.raises(sf.errors.AccountRefused, match="this key belongs to another charge"):
        started(session, key="other")


def test_a_run_may_be_priced_by_an_exact_profile() -> None:
    data = sf.Dataset([1.0], name="scores", space=sf.vector(float))
    session = data.session(limit=sf.Approx(2, 1e-5), ledger="memory:")
    plan = sf.events.Repeat(sf.events.Gaussian(scale=30), 100)
    price = sf.account(plan, delta=1e-6, ways=(sf.GDP,)).loss
    run = session.start(plan, loss=price, key="run", claim=CLAIM)
    assert run.left == 100 and session.spent == price
    with pytest.raises(BadArgument, match="at least what the event costs"):
        session.start(plan, loss=sf.Approx("0.5", 1e-6), key="cheap", claim=CLAIM)
    assert session.spent == price


def test_a_run_is_counted_by_its_event_in_every_way() -> None:
    """The book holds the plan as it was charged: filter, recount and verification count it, and not only its loss."""
    data = sf.Dataset([1.0], name="scores", space=sf.vector(float))
    session = data.session(limit=sf.Approx(2, 1e-5), ledger="memory:")
    plan = sf.events.Repeat(sf.events.Gaussian(scale=150), 100)
    price = sf.account(plan, delta=1e-7, ways=(sf.GDP,)).loss
    runs = 0
    with pytest.raises(LimitReached):
        for runs in range(1000):
            session.start(plan, loss=price, key=f"run {runs}", claim=CLAIM)
    added_up = int(sf.Approx(2, 1e-5).epsilon / price.epsilon)
    assert runs > 2 * added_up > 0
    rule = session.ledger["scores"].rule
    assert isinstance(rule, ApproxFilter)
    one = spending_of(Cost(price, plan), rule.order)
    assert (one.square, rule.counted.square) == (Fraction(1, 225), runs * one.square)  # 100 steps, each 1/22500
    assert charged_events(session.ledger, session.ledger["scores"])[0] == sf.events.Sequence(
        sf.events.Repeat(plan, runs)
    )
    all_of_it = sf.account(sf.events.Repeat(plan, runs), delta=1e-5)
    assert session.account(delta=1e-5, claim=sf.claim("all runs were planned at the start")).loss == all_of_it.loss
    assert session.ledger.verify()


@pytest.mark.parametrize("limit", [sf.Approx(2, 1e-5), sf.GDP(1)], ids=str)
def test_a_run_may_state_its_loss_in_another_kind_than_the_limit(limit: sf.Loss) -> None:
    data = sf.Dataset([1.0], name="scores", space=sf.vector(float))
    session = data.session(limit=limit, ledger="memory:")
    run = session.start(PLAN, loss=PRICE, key="run", claim=CLAIM)
    assert run.left == 5 and session.ledger.verify()
    if isinstance(limit, sf.GDP):
        assert session.spent == sf.GDP.of_square(Fraction(5, 100))  # the event has it; a ρ by itself has no μ
    with pytest.raises(sf.errors.NoProvenRoute):
        data.session(limit=sf.Pure(1), ledger="memory:").start(PLAN, loss=PRICE, key="run", claim=CLAIM)


def test_a_run_on_samples_is_priced_for_the_neighbours_of_the_data() -> None:
    """Where one row is exchanged for another, a sampled step costs about twice what one row more costs."""
    plan = sf.events.Repeat(sf.events.Sampled(sf.events.Gaussian(scale=2), sf.events.Poisson("0.01")), 200)
    relations = (sf.accounting.Relation.ADD_REMOVE, sf.accounting.Relation.CHANGE_ONE)
    added, exchanged = (
        sf.account(plan, delta=1e-6, relation=relation, ways=(sf.Renyi,)).loss for relation in relations
    )
    assert added.epsilon < exchanged.epsilon
    data = sf.Dataset([1.0] * 5, name="scores", space=sf.vector(float, size=5))  # one row changed
    session = data.session(limit=sf.Approx(9, 1e-5), ledger="memory:")
    with pytest.raises(BadArgument, match="at least what the event costs"):
        session.start(plan, loss=added, key="run", claim=CLAIM)
    assert session.start(plan, loss=exchanged, key="run", claim=CLAIM).left == 200
    assert charged_events(session.ledger, session.ledger["scores"]) == (
        sf.events.Sequence(plan),
        sf.accounting.Relation.CHANGE_ONE,
    )
    rule = session.ledger["scores"].rule
    assert isinstance(rule, ApproxFilter)
    once, twice = (sf.total(plan, sf.Renyi, relation=one).at(rule.order) for one in relations)
    assert rule.counted.divergence >= twice > once


def test_runs_need_a_rule_for_mechanisms_asked_in_turns_and_data_without_members() -> None:
    data = sf.Dataset([1, 2], name="numbers", space=sf.vector(int))
    with pytest.raises(BadArgument, match="no theorem for steps in turns"):
        data.session(limit=sf.ApproxZCDP(1, 0), ledger="memory:").start(PLAN, key="run", claim=CLAIM)
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    counted = sf.Dataset([1, 2], name="counted", space=sf.vector(int), members=sf.Members(register, ["a", "b"]))
    run = counted.session(limit=sf.Pure(1), ledger="memory:").start(
        sf.events.Repeat(sf.events.Laplace(scale=10), 2), key="run", claim=CLAIM
    )
    with pytest.raises(BadArgument, match="without members"):
        run.step(count)


def test_a_run_of_another_ledger_or_data_set_opens_nothing(session: Session, tmp_path: Path) -> None:
    started(session).step(count)
    session.ledger.export(tmp_path / "book.jsonl")
    copied = sf.Ledger.imported(tmp_path / "book.jsonl", "memory:")
    foreign = copied.start("scores", PRICE, PLAN, key="run", what=first(session).body["what"], data="version first")
    with pytest.raises(BadArgument, match="let in"):
        session.dataset.step(foreign, count)
    other = sf.Dataset([1.0], name="others", space=sf.vector(float)).session(limit=sf.ZCDP(1), ledger=session.ledger)
    with pytest.raises(BadArgument, match="charged for"):
        session.dataset.step(other.ledger.start("others", PRICE, PLAN, key="run"), count)
    run = session.ledger.start("scores", PRICE, PLAN, key="new")
    assert copy.copy(run) is run and copy.deepcopy(run) is run
    with pytest.raises(PermitUsed):
        pickle.dumps(run)


def first(session: Session) -> Entry:
    return next(entry for entry in session.ledger.entries(kinds=("charged",)))


def test_a_book_with_runs_is_verified_exported_and_imported(session: Session, tmp_path: Path) -> None:
    run = started(session)
    run.step(count)
    run.checkpoint("one")
    session.ledger.checkpoint()
    run.step(count)
    session.ledger.export(tmp_path / "book.jsonl")
    copied = sf.Ledger.imported(tmp_path / "book.jsonl", f"sqlite:///{tmp_path / 'book.db'}")
    assert copied.verify() and [entry.kind for entry in copied.entries()].count("progress") == 3
    resumed = copied.start(
        "scores", PRICE, PLAN, key="run", what=str(first(session).body["what"]), data="version first"
    )
    assert (resumed.taken, resumed.checkpointed) == (2, (1, "one")) and copied["scores"].spent == PRICE
    copied.close()


@pytest.mark.parametrize(
    ("turn", "before", "follows"),
    [
        (Turn(1, 1), Turn(), True),
        (Turn(2, 3, 2, "two"), Turn(1, 2), True),
        (Turn(3, 3), Turn(1, 2), False),  # a turn is left out
        (Turn(2, 1), Turn(1, 2), False),  # steps are taken back
        (Turn(2, 6), Turn(1, 2), False),  # more than were charged for
        (Turn(2, 2, 3, "three"), Turn(1, 2), False),  # a checkpoint of a step that was not counted
        (Turn(2, 3, 1, "one"), Turn(1, 3, 2, "two"), False),
        (Turn(2, 2, 1, None), Turn(1, 2), False),
    ],
)
def test_what_may_follow_in_a_run(turn: Turn, before: Turn, *, follows: bool) -> None:
    assert turn.may_follow(before, 5) is follows


def test_verification_finds_progress_that_no_run_could_have_made(session: Session) -> None:
    run = started(session)
    run.step(count)
    wrong = Turn(2, 9)
    object.__setattr__(run._permit, "steps", 99)
    run._permit._write(wrong)
    found = session.ledger.verify()
    assert not found and "counts steps that a run had not left" in str(found)


def test_steps_are_those_of_the_event() -> None:
    assert steps_of(NOISE) == 1 and steps_of(PLAN) == 5
    assert steps_of(sf.events.Sequence(PLAN, NOISE, sf.events.Sequence())) == 6
