"""Training without a number of steps, stopping, and what was spent at any time."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting import Relation
from sfumato.accounting.adaptive.advanced import room_at
from sfumato.accounting.adaptive.step_filter import filter_for_steps
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, LimitReached, NoProvenRoute
from sfumato.train import AllocatedBatches, FixedBatches, PoissonBatches, Private, TruncatedPoissonBatches, private

LIMIT = sf.Approx(3, 1e-5)


def made_up(rows: int = 40) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(rows, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Linear(3, 2)


def started(**asked: Any) -> Private:
    return private(network(), made_up(), **({"noise_multiplier": 4, "batch": 10, "limit": LIMIT} | asked))


def take(training: Private, upto: int) -> Private:
    """Takes steps until so many are taken, empty ones too, or none is left."""
    for rows, labels in training.batches():
        training.step(nn.functional.cross_entropy(training.model(rows), labels, reduction="none"))
        if training.taken >= upto:
            break
    return training


def divergence(event: sf.events.Event, order: Fraction) -> Fraction:
    return Fraction(sf.total(event, sf.Renyi, relation=Relation.ADD_REMOVE).at(order))


def sampled(multiplier: int, rate: str) -> sf.events.Event:
    return sf.events.Sampled(sf.events.Gaussian(multiplier), sf.events.Poisson(rate))


def watched(training: Private) -> Fraction:
    """The one order at which an open-ended training counts."""
    assert training._length is not None
    (order,) = training._length._filter.limit.orders().listed  # type: ignore[attr-defined]
    return Fraction(order)


def test_P3_020_steps_are_taken_until_the_next_would_pass_the_limit() -> None:
    training = started().fit(nn.CrossEntropyLoss())
    order, step = watched(training), sampled(4, "1/4")
    room = room_at(Fraction(3), Fraction(1, 10**5), order)
    assert training.taken == room // divergence(step, order) > 50
    assert sf.events.Repeat(step, training.taken) == training.spent().event
    assert 2.5 < training.spent().epsilon <= 3 and list(training.batches()) == []
    assert training.release().loss == LIMIT and "open-ended" in str(training)


def test_P3_020_noise_and_batches_may_change_between_steps() -> None:
    training = take(started(), 20)
    order = watched(training)
    training.change(noise_multiplier=3)
    take(training, 30).change(batch=5).fit(nn.CrossEntropyLoss())
    ran = [(sampled(4, "1/4"), 20), (sampled(3, "1/4"), 10), (sampled(3, "1/8"), training.taken - 30)]
    assert training.spent().event == sf.events.Sequence(*(sf.events.Repeat(step, times) for step, times in ran))
    room = room_at(Fraction(3), Fraction(1, 10**5), order)
    spent = sum(divergence(step, order) * times for step, times in ran)
    assert watched(training) == order and spent <= room < spent + divergence(ran[-1][0], order)
    with pytest.raises(BadArgument, match="batch"):
        training.change(batch=41)
    with pytest.raises(BadArgument, match="noise_multiplier"):
        training.change(noise_multiplier=0)


def test_what_was_changed_is_what_runs() -> None:
    model = nn.Linear(200, 200)
    training = private(
        model, (torch.zeros(100, 200), torch.zeros(100, dtype=torch.long)), noise_multiplier=1000, batch=90,
        limit=LIMIT, clip=0.5, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(1),
    )  # fmt: skip
    for multiplier, batch in ((1000, 90), (3000, 20)):
        training.change(noise_multiplier=multiplier, batch=batch)
        before = model.weight.detach().clone()
        batches = training.batches()
        rows, labels = next(batches)
        assert abs(len(rows) - batch) < 20
        training.step(nn.functional.cross_entropy(model(rows), labels, reduction="none"))
        moved = float((model.weight.detach() - before).std())
        assert 0.98 < moved / (multiplier * 0.5 / batch) < 1.02


def test_a_limit_is_kept_over_what_was_saved_and_at_the_order_it_began_with(tmp_path: Path) -> None:
    training = take(started(), 12)
    training.save(tmp_path / "run.pt")
    later = started(noise_multiplier=1, batch=2).resume(tmp_path / "run.pt")
    assert later.taken == 12 and watched(later) == watched(training) != watched(started(noise_multiplier=1, batch=2))
    whole = started().fit(nn.CrossEntropyLoss()).taken
    later.change(noise_multiplier=4, batch=10).fit(nn.CrossEntropyLoss())
    assert later.taken == whole and later.spent().event == sf.events.Repeat(sampled(4, "1/4"), whole)
    with pytest.raises(BadArgument, match="the one that was saved"):
        started(limit=sf.Approx(4, 1e-5)).resume(tmp_path / "run.pt")


def test_limits_of_other_kinds_are_sums() -> None:
    whole: dict[str, Any] = {"batches": PoissonBatches(Fraction(1), 1, 40), "batch": None, "noise_multiplier": 2}
    assert take(started(limit=sf.ZCDP(1), **whole), 99).taken == 8
    assert take(started(limit=sf.GDP(2), **whole), 99).taken == 16
    assert take(started(limit=sf.Renyi({4: 1}), **whole), 99).taken == 2
    exact = take(started(limit=LIMIT, **whole), 99)
    one_more = sf.account(sf.events.Repeat(sf.events.Gaussian(2), exact.taken + 1), delta=1e-5)
    assert exact.spent().epsilon <= 3 < one_more.epsilon  # Gaussian losses add up without any loss
    with pytest.raises(NoProvenRoute):
        started(limit=sf.ZCDP(1))


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"batches": AllocatedBatches(2, 4, 40), "batch": None}, "drawn anew"),
        ({"batches": PoissonBatches(Fraction(1, 4), 5, 40), "batch": None}, "drawn anew"),
        ({"limit": sf.Approx("0.001", 1e-5), "noise_multiplier": "0.1"}, "enough for one step|no order leaves room"),
        ({"loss": LIMIT, "noise_multiplier": None, "limit": None}, "steps or epochs"),
        ({"limit": None}, "steps or epochs"),
        ({"steps": 5}, "without steps"),
        ({"epochs": 5}, "without steps"),
        ({"loss": LIMIT, "noise_multiplier": None}, "without steps"),
    ],
)
def test_what_cannot_run_without_a_length_is_refused(asked: dict[str, Any], word: str) -> None:
    with pytest.raises(BadArgument, match=word):
        started(**asked)


def test_batches_of_a_size_go_without_a_length_too() -> None:
    for batches in (FixedBatches(10, 1, 40), TruncatedPoissonBatches(Fraction(1, 4), 1, 40, 15)):
        training = started(batches=batches, batch=None, noise_multiplier=8)
        assert take(training, 3).taken == 3 and training.change(batch=5).plan.batches.expected == 5


def test_a_planned_training_that_is_stopped_costs_all_of_it_and_cannot_be_changed() -> None:
    asked: dict[str, Any] = {"noise_multiplier": None, "limit": None, "loss": LIMIT, "steps": 9}
    training = take(started(**asked), 3)
    with pytest.raises(BadArgument, match="or stop"):
        training.release()
    with pytest.raises(BadArgument, match="without a fixed number"):
        training.change(noise_multiplier=9)
    before = training.spent().epsilon
    training.stop()
    assert list(training.batches()) == [] and training.taken == 3
    assert before < training.spent().epsilon == training.plan.account(delta=1e-5).epsilon
    release = training.release()
    assert release.loss == LIMIT and release.value["steps"] == 3


def test_an_open_training_that_is_stopped_says_its_limit() -> None:
    training = take(started(), 3).stop()
    assert list(training.batches()) == [] and training.release().loss == LIMIT
    assert training.spent().epsilon < 1.5


def test_P3_037_what_was_spent_is_known_at_any_time() -> None:
    asked: dict[str, Any] = {"limit": None, "steps": 4, "noise_multiplier": 2}
    training, spent = started(**asked), []
    spent.append(training.spent(1e-5))
    assert (spent[0].epsilon.lower, spent[0].epsilon.upper) == (0, 0)
    for upto in range(1, 5):
        spent.append(take(training, upto).spent(1e-5))
    epsilons = [report.epsilon for report in spent]
    assert sorted(set(epsilons)) == epsilons and epsilons[-1] == training.plan.account(delta=1e-5).epsilon
    assert training.spent(1e-6).epsilon > epsilons[-1] > training.spent(1e-4).epsilon
    assert take(started(**asked | {"noise_multiplier": 3}), 4).spent(1e-5).epsilon < epsilons[-1]
    assert take(started(**asked | {"clip": 0.1}), 4).spent(1e-5).epsilon == epsilons[-1]
    assert all(report.epsilon.lower <= report.epsilon.upper for report in spent)


def opened(limit: sf.accounting.Loss) -> Any:
    table = {"person": list(range(40)), "x": made_up()[0][:, 0].tolist()}
    data = sf.Dataset(table, unit="person", between={"x": (-5, 5)})
    return data.session(limit=limit, ledger="memory:")


def test_a_session_pays_as_it_goes_and_keeps_what_was_never_charged() -> None:
    session = opened(sf.ZCDP("0.1"))
    asked = {"limit": None, "session": session, "key": "run", "ahead": 5, "noise_multiplier": 10, "batch": 40}
    training = started(**asked)
    assert session.spent == sf.ZCDP(0)
    take(training, 7)
    assert session.spent == sf.ZCDP("0.05")  # two charges of five steps, each 1/200
    release = training.stop().release()
    assert release.charged and release.loss == sf.ZCDP("0.05") == session.spent and release.value["steps"] == 7
    assert session.left == sf.ZCDP("0.05") and list(training.batches()) == []
    again = take(started(**asked), 1)  # the same key goes on after all that the book counts
    assert again.taken == 11 and session.spent == sf.ZCDP("0.075")
    again.change(noise_multiplier=20).fit(nn.CrossEntropyLoss())
    assert session.spent == sf.ZCDP("0.1") and again.taken == 11 + 20
    assert session.ledger.verify().sound


def test_a_session_with_a_delta_counts_steps_by_what_they_run() -> None:
    session = opened(LIMIT)
    asked = {"limit": None, "session": session, "key": "run", "ahead": 20}
    training = started(**asked).fit(nn.CrossEntropyLoss())
    assert 40 < training.taken < started().fit(nn.CrossEntropyLoss()).taken and training.taken % 20 == 0
    more = sf.events.Repeat(sampled(4, "1/4"), 20)
    with pytest.raises(LimitReached):
        session.start(more, loss=sf.Approx(3, 1e-6), key="more", proofs=("proofs/training.md#steps",))
    for wrong in ({"key": None}, {"limit": LIMIT}):
        with pytest.raises(BadArgument, match=r"key|session"):
            started(**(asked | wrong))


def test_any_step_under_a_filter_for_steps_keeps_the_limit() -> None:
    """A filter that was made for one step counts every other one at its own order, and is no better than a plan."""
    step = sampled(1, "1/100")
    rule = filter_for_steps(LIMIT, step, relation=Relation.ADD_REMOVE)
    (order,) = rule.limit.orders().listed  # type: ignore[attr-defined]
    fits = int(room_at(Fraction(3), Fraction(1, 10**5), order) / divergence(step, order))
    assert fits > 2_000 and sf.account(sf.events.Repeat(step, fits), delta=1e-5).epsilon <= 3
    for other in (Fraction(order) / 2 + Fraction(1, 2), 2 * Fraction(order)):
        assert room_at(Fraction(3), Fraction(1, 10**5), other) / divergence(step, other) < fits
    assert rule.admits(sf.total(sampled(2, "1/2"), sf.Renyi, relation=Relation.ADD_REMOVE))
    with pytest.raises(BadArgument, match="delta below 1"):
        filter_for_steps(sf.Approx(1, 1), step, relation=Relation.ADD_REMOVE)
