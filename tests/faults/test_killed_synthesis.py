"""A synthesis whose process is killed anywhere goes on under its key: it pays once, and what was answered stays."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import AccountRefused, BadArgument, PermitUsed
from sfumato.ledger.stores.sqlite import SqliteStore
from sfumato.session.run import Run
from sfumato.synth import AIM, MST, Independent, Synthesizer, Synthetic
from sfumato.synth.asking import Answers

LIMIT, PRICE = sf.ZCDP(1), sf.ZCDP("1/2")
TABLE = {
    "person": list(range(60)),
    "a": [one % 3 for one in range(60)],
    "b": [one % 3 for one in range(60)],
    "c": [one % 2 for one in range(60)],
}
RECIPE = MST(loss=PRICE)
POINTS = 20
"""How many points the way of a worker has."""
LAST = range(16, 18)
"""Those of them between the count of its last question and the keeping of the answer."""


def opened(folder: Path, limit: sf.Loss = LIMIT) -> sf.Session:
    facts = {"a": (0, 2), "b": (0, 2), "c": (0, 1)}
    data = sf.Dataset(TABLE, name="people", unit="person", between=facts, version="1")
    return data.session(limit=limit, ledger=folder / "ledger.db")


def fitted(session: sf.Session, recipe: Synthesizer = RECIPE, key: str = "k") -> Synthetic:
    return recipe.fit(session.table(), max_rows=1, key=key)


def amount(loss: Any) -> Fraction:
    """The ρ of a loss, exactly."""
    return Fraction(loss.amounts[0])


def forked(work: Callable[[], object]) -> int:
    """Runs something in a child process; gives how it ended, 0 for well."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def worker(folder: Path, deadly: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Fits, and is killed at a point: before and after each entry of the book and each look; gives how many passed."""
    count = 0

    def point() -> None:
        nonlocal count
        count += 1
        if count == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    def pointed(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*words: Any, **settings: Any) -> Any:
            point()
            found = call(*words, **settings)
            point()
            return found

        return wrapped

    session = opened(folder)
    monkeypatch.setattr(SqliteStore, "append", pointed(SqliteStore.append))
    monkeypatch.setattr(Run, "step", told(folder, Run.step))
    fitted(session)
    monkeypatch.undo()
    return count


def told(folder: Path, step: Callable[..., Any]) -> Callable[..., Any]:
    """Writes down, outside of the book, what each step gave as soon as it did."""

    def wrapped(self: Run, function: Callable[..., Any]) -> Any:
        value = step(self, function)
        with (folder / "looks").open("a", encoding="utf-8") as file:
            file.write(json.dumps([self.taken, np.asarray(value).tolist()]) + "\n")
        return value

    return wrapped


def looks(folder: Path) -> list[Any]:
    path = folder / "looks"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    "deadly", [pytest.param(one, marks=[] if one % 4 == 1 else [pytest.mark.nightly]) for one in range(1, POINTS + 1)]
)
def test_a_synthesis_that_is_killed_anywhere_goes_on_pays_once_and_keeps_its_answers(
    quick_folder: Path, deadly: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert forked(lambda: worker(quick_folder, deadly, monkeypatch)) == -signal.SIGKILL
    before = looks(quick_folder)
    session = opened(quick_folder)
    try:
        made = fitted(session)
    except PermitUsed as fault:  # the last question had all that was left, and was asked when the process ended
        assert "last question" in str(fault) and deadly in LAST and session.spent == PRICE
        return
    assert session.spent == PRICE and session.ledger.verify() and deadly not in LAST
    shares = [amount(loss) for _, loss in made.spent]
    assert sum(shares) == PRICE.rho  # also of answers that were lost: nothing is looked at for more
    kept = kept_answers(session)
    assert all(value in kept for _, value in before[:-1])  # the last one may have been lost on its way to the book
    entries = session.ledger.head.entry
    again = fitted(session)
    assert session.ledger.head.entry == entries and session.spent == PRICE
    same(made, again)
    session.ledger.close()


def kept_answers(session: sf.Session) -> list[Any]:
    [release] = session.releases()
    return list(json.loads(release.value))


def same(one: Synthetic, other: Synthetic) -> None:
    assert [measured.columns for measured in one.measured] == [measured.columns for measured in other.measured]
    for mine, theirs in zip(one.measured, other.measured, strict=True):
        np.testing.assert_array_equal(mine.counts, theirs.counts)
    np.testing.assert_array_equal(one.marginal(["a", "b"]), other.marginal(["a", "b"]))


def test_every_point_of_the_way_kills(quick_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker(quick_folder, 0, monkeypatch) == POINTS


class Broken(Exception):
    """A way to end a process in the middle that can be watched."""


def breaking(monkeypatch: pytest.MonkeyPatch, lost: Sequence[int]) -> None:
    """Loses the answers of some steps: the book has counted them, and what they gave is never kept."""
    checkpoint = Run.checkpoint

    def losing(self: Run, state: str) -> None:
        if self.taken in lost:
            raise Broken
        checkpoint(self, state)

    monkeypatch.setattr(Run, "checkpoint", losing)


@pytest.mark.parametrize("lost", [[1], [3], [1, 2, 3], [1, 3, 5]])
@pytest.mark.parametrize("recipe", [MST(loss=PRICE), AIM(loss=PRICE)], ids=["MST", "AIM"])
def test_lost_answers_stay_paid_for_and_the_run_still_comes_to_its_end(
    recipe: Synthesizer, lost: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = opened(tmp_path)
    with monkeypatch.context() as patched:
        breaking(patched, lost)
        for _ in lost:
            with pytest.raises(Broken):
                fitted(session, recipe)
        made = fitted(session, recipe)
    gone = [loss for what, loss in made.spent if "lost" in what]
    assert len(gone) == len(lost)
    assert sum(amount(loss) for _, loss in made.spent) == PRICE.rho
    assert session.spent == PRICE
    same(made, fitted(session, recipe))
    session.ledger.close()


def test_lost_answers_are_counted_where_they_were_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A large share that was lost early is not taken for a small one when the run breaks off again, later."""
    session = opened(tmp_path)
    with monkeypatch.context() as patched:
        breaking(patched, [1])
        with pytest.raises(Broken):
            fitted(session)
    with monkeypatch.context() as patched:
        breaking(patched, [4])
        with pytest.raises(Broken):
            fitted(session)
    made = fitted(session)
    first, second = (place for place, (what, _) in enumerate(made.spent) if "lost" in what)
    assert (first, second) == (0, 3)
    assert made.spent[0][1] == PRICE.scaled(Fraction(1, 10)) and amount(made.spent[1][1]) < PRICE.rho / 10
    session.ledger.close()


def test_a_run_that_lost_its_only_answer_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session, recipe = opened(tmp_path), Independent(loss=PRICE)
    with monkeypatch.context() as patched:
        breaking(patched, [1])
        with pytest.raises(Broken):
            fitted(session, recipe)
    with pytest.raises(PermitUsed, match="nothing is left to ask again"):
        fitted(session, recipe)
    assert session.spent == PRICE
    session.ledger.close()


def test_counting_lost_answers_as_none_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same run with a wrong count of what was lost spends more than it paid for."""
    session = opened(tmp_path)
    with monkeypatch.context() as patched:
        breaking(patched, [1])
        with pytest.raises(Broken):
            fitted(session)
    monkeypatch.setattr(Answers, "lost", lambda self: 0)
    made = fitted(session)
    looked = sum(amount(loss) for _, loss in made.spent) + amount(made.spent[0][1])
    assert looked > PRICE.rho
    session.ledger.close()


@pytest.mark.parametrize("inside", [True, False])
def test_an_interrupt_leaves_a_run_that_goes_on(
    *, inside: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session, step = opened(tmp_path), Run.step

    def interrupted(self: Run, function: Callable[..., Any]) -> Any:
        def look(data: Any, entropy: Any) -> Any:
            if self.taken == 3 and inside:
                raise KeyboardInterrupt
            return function(data, entropy)

        value = step(self, look)
        if self.taken == 2 and not inside:
            raise KeyboardInterrupt
        return value

    with monkeypatch.context() as patched:
        patched.setattr(Run, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted(session)
    assert session.spent == PRICE and session.ledger.verify()
    made = fitted(session)
    assert session.spent == PRICE and sum("lost" in what for what, _ in made.spent) == 1
    session.ledger.close()


def test_another_key_pays_anew_and_another_recipe_or_loss_under_a_key_is_refused(tmp_path: Path) -> None:
    session = opened(tmp_path)
    first = fitted(session, AIM(loss=sf.ZCDP("1/4")))
    second = fitted(session, AIM(loss=sf.ZCDP("1/4")), key="another")
    assert session.spent == sf.ZCDP("1/2")
    assert any(
        (mine.counts.shape != theirs.counts.shape) or (mine.counts != theirs.counts).any()
        for mine, theirs in zip(first.measured, second.measured, strict=False)
    )
    with pytest.raises(AccountRefused, match="key belongs to another charge"):
        fitted(session, AIM(loss=sf.ZCDP("1/3")))
    with pytest.raises(AccountRefused, match="key belongs to another charge"):
        fitted(session, MST(loss=sf.ZCDP("1/4")))
    with pytest.raises(BadArgument, match="same recipe"):
        fitted(session, AIM(loss=sf.ZCDP("1/4"), workload=[("a", "b", "c")]))
    assert session.spent == sf.ZCDP("1/2")
    session.ledger.close()


KINDS = [
    (sf.Pure(5), sf.Pure(1), sf.Pure(4)),
    (sf.ZCDP(1), sf.ZCDP("1/4"), sf.ZCDP("3/4")),
    (sf.Approx(5, 1e-6), sf.Approx(1, 1e-9), None),
    (sf.Approx(5, 1e-6), sf.Pure(1), None),
    (sf.Approx(5, 1e-6), sf.ZCDP("1/10"), None),
    (sf.ZCDP(1), sf.Approx(1, 1e-9), None),
    (sf.ZCDP(1), sf.Pure("1/2"), None),
]


@pytest.mark.parametrize(("limit", "loss", "left"), KINDS, ids=str)
def test_a_fit_is_charged_its_loss_once_in_every_kind_of_limit(
    limit: sf.Loss, loss: sf.Loss, left: sf.Loss | None, tmp_path: Path
) -> None:
    session = opened(tmp_path, limit)
    recipe = MST(loss=loss)
    explained = recipe.explain(session.table(), max_rows=1)
    assert explained.refusal is None and not session.releases()
    made = fitted(session, recipe)
    spent = session.spent
    if left is not None:
        assert spent == loss and session.left == left
    if type(loss) is type(limit):
        assert made.release is not None and made.release.loss == loss and spent == loss
    fitted(session, recipe)
    assert session.spent == spent
    session.ledger.close()


def test_what_a_limit_cannot_pay_for_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    session = opened(tmp_path, sf.Pure(1))
    with pytest.raises(sf.errors.NoProvenRoute, match="limit in Pure has no δ"):
        fitted(session, MST(loss=sf.Approx(1, 1e-9)))
    with pytest.raises(sf.errors.LimitReached):
        fitted(session, MST(loss=sf.Pure(2)))
    assert session.spent == sf.Pure(0) and not list(session.ledger.entries(kinds=("charged",)))
    session.ledger.close()
