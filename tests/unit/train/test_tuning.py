"""Tuning: the whole search is paid for, before anything runs, and one candidate comes out and nothing of the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting.compose import total
from sfumato.accounting.events import Noise, RepeatAndSelect, Sequence
from sfumato.accounting.relation import Relation
from sfumato.combinators.best_of import number_of
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, RunFailed
from sfumato.noise import DiscreteLaplace
from sfumato.train import Flat, Origin, PoissonBatches, TrainingPlan, private, tune
from sfumato.train.candidates import Candidate, Trials, listed, planned
from sfumato.train.scoring import GRID, NoisyScore, accuracy, centred_sum
from sfumato.train.searching import Search, Tuned
from sfumato.train.units import Units

RATES = [1e-6, 3.0, 1e-5, 1e-4]
FEW: dict[str, Any] = {"noise_multiplier": 1, "delta": 1e-5, "batch": 60, "steps": 5}
CROSS = nn.CrossEntropyLoss()


def rows(many: int = 120, seed: int = 0) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(seed).normal(size=(many, 2))).float()
    return inputs, (inputs[:, 0] > 0).long()


def make(lr: float) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(3)
    model = nn.Linear(2, 2)
    nn.init.constant_(model.weight, 0.1)
    return model, torch.optim.SGD(model.parameters(), lr=lr)


def tuned(rates: list[float] | None = None, **given: Any) -> Tuned:
    asked = {"loss_function": CROSS, **FEW, "entropy": ReplayEntropy(5), **given}
    return tune(make, rows(), {"lr": rates or RATES}, **asked)


@pytest.fixture(scope="module")
def drawn() -> Tuned:
    return tuned()


def test_A3_109_one_score_model_and_setting_come_out_at_the_price_of_the_search(drawn: Tuned) -> None:
    """P3-028 of (training + scoring), more than the winner's price and less than that of E[K] runs."""
    assert drawn.parameters == {"lr": 3.0} and drawn.score > 0.8
    assert float(accuracy(drawn.model(rows()[0]), rows()[1]).mean()) > 0.8
    score = NoisyScore(accuracy, Fraction(1, 100), 120)
    once = Sequence(sf.accounting.dp_sgd(1, rate="1/2", steps=5), score.event(Relation.ADD_REMOVE))
    law = sf.events.TruncatedNegativeBinomial(1, Fraction(1, 20))
    assert drawn.event == RepeatAndSelect(once, law) and drawn.runs == pytest.approx(20)
    paid, alone, all_once, mean = drawn.costs().values()
    assert drawn.release.loss == paid.loss
    assert alone.epsilon < paid.epsilon < all_once.epsilon < mean.epsilon
    assert alone.epsilon > sf.account(sf.accounting.dp_sgd(1, rate="1/2", steps=5), delta=1e-5).epsilon


def test_A3_032_and_P3_025_all_candidates_cost_all_of_them() -> None:
    few = tuned([1e-6, 3.0])
    each = few.each[0]
    assert few.event == Sequence(each, each) and few.parameters == {"lr": 3.0} and "all are paid for" in few.way
    assert few.release.loss == sf.account(Sequence(each, each), delta=1e-5).loss
    five = Sequence(*[Noise(DiscreteLaplace(Fraction(10)), 1)] * 5)
    assert total(five, sf.Pure) == sf.Pure("0.5")  # five candidates at ε = 0.1 each


def test_a_loss_is_kept_by_the_whole_search_and_not_by_one_run() -> None:
    keep = sf.Approx(3, 1e-5)
    few = tuned([1e-6, 3.0], noise_multiplier=None, delta=None, loss=keep)
    costs = list(few.costs().values())
    assert few.release.loss == keep and costs[0].loss.within(keep) and costs[0].epsilon > 2.99
    assert costs[1].epsilon < 2
    assert few.origins["noise_multiplier"].origin is Origin.RULE


def test_plans_that_differ_share_one_price_and_each_has_its_own_noise() -> None:
    keep = sf.Approx(3, 1e-5)
    asked: dict[str, Any] = {"loss_function": CROSS, "loss": keep, "entropy": ReplayEntropy(5), "steps": 2}
    made = tune(make, rows(), {"lr": [3.0], "batch": [30, 60]}, **asked, holdout=rows(60, seed=1))
    first, second = (event.event.event.scale for event in made.each)  # type: ignore[attr-defined]
    cost = sf.account(made.event, delta=1e-5)
    assert first < second and cost.loss.within(keep) and cost.epsilon > 2.99


def test_a_score_has_noise_of_the_stated_deviation() -> None:
    model, units, score = make(1.0)[0], Units(rows()), NoisyScore(accuracy, Fraction(1, 5), 120)
    drawn = np.array([float(score(model, units, ReplayEntropy(seed))) for seed in range(400)])
    exact = 0.5 + centred_sum(model, units, accuracy) / (GRID * 120)
    assert abs(drawn.mean() - exact) < 0.04 and 0.17 < drawn.std() < 0.23


def test_scores_move_by_half_of_the_grid_and_the_worst_unit_does() -> None:
    model = nn.Linear(2, 2)
    nn.init.zeros_(model.weight)
    model.bias.data = torch.tensor([1.0, 0.0])  # always the first class

    def exact(labels: list[int]) -> int:
        held = torch.zeros(len(labels), 2), torch.tensor(labels, dtype=torch.long)
        return centred_sum(model, Units(held), accuracy)

    base = exact([0, 1, 1])
    assert {abs(exact([0, 1, 1, label]) - base) for label in (0, 1)} == {GRID // 2}
    assert abs(exact([0, 1, 0]) - base) == GRID
    score = NoisyScore(accuracy, Fraction(1, 10), 100)
    assert score.event(Relation.ADD_REMOVE) == Noise(score.noise, GRID // 2)
    for near, moved in ((Relation.ADD_REMOVE, Fraction(GRID, 2)), (Relation.CHANGE_ONE, Fraction(GRID))):
        assert total(score.event(near), sf.Pure, relation=near) == sf.Pure(moved / score.noise.scale)


def test_a_run_is_the_training_and_the_score_between_the_neighbours_there_are() -> None:
    plan = planned({"batch": 60, "steps": 1, "epochs": None, "clip": 1.0}, 120, None)
    one = Candidate({"lr": 1.0}, make, CROSS, plan)
    for near, shift in ((Relation.ADD_REMOVE, GRID // 2), (Relation.CHANGE_ONE, GRID)):
        score = NoisyScore(accuracy, Fraction(1, 100), 120)
        trials = Trials((one,), score, None, near, Units(rows()))
        assert trials.event(one) == Sequence(plan.event(), Noise(score.noise, shift))


def test_a_person_scores_once_and_what_is_no_number_is_the_worst() -> None:
    model, held = nn.Identity(), (torch.ones(6, 1), torch.zeros(6))
    many = Units(held, people=["a"] * 5 + ["b"], max_rows=5)
    ones = lambda output, labels: output[:, 0]  # noqa: E731
    assert centred_sum(model, many, ones) == 2 * GRID // 2
    for value in (float("nan"), -5.0, float("-inf")):
        assert centred_sum(model, many, lambda output, labels, value=value: output[:, 0] * value) == -2 * GRID // 2
    assert centred_sum(model, many, lambda output, labels: output[:, 0] * 1e9) == 2 * GRID // 2
    assert centred_sum(model, Units((torch.ones(0, 1), torch.zeros(0))), ones) == 0


def counted(seed: int, law: sf.events.Runs, pad: int | None = None) -> list[float]:
    """Which candidates were trained in one search, without what it costs."""
    seen: list[float] = []

    def counting(lr: float) -> Any:
        seen.append(lr)
        return make(lr)

    units = Units(rows())
    plan = planned({"batch": 60, "steps": 1, "epochs": None, "clip": 1.0}, 120, None)
    tried = tuple(Candidate({"lr": lr}, counting, CROSS, plan) for lr in RATES)
    trials = Trials(tried, NoisyScore(accuracy, Fraction(1, 100), 120), law, Relation.ADD_REMOVE, units)
    entropy = ReplayEntropy(seed)
    Search(units, None, None, None, pad, None, None, entropy).searched(trials, entropy)
    return seen


def test_P3_030_the_number_of_runs_is_drawn_from_its_law_and_candidates_are_drawn() -> None:
    """Runs are counted from outside: as many as the exact sampler draws of the same entropy."""
    law = sf.events.PoissonRuns(4)
    runs = [counted(seed, law) for seed in range(20)]
    assert [len(seen) for seen in runs] == [number_of(law).sample(ReplayEntropy(seed)) for seed in range(20)]
    assert len({len(seen) for seen in runs}) > 3 and len({tuple(seen[:2]) for seen in runs}) > 5


def test_padding_hides_the_number_of_runs_up_to_a_public_one(drawn: Tuned) -> None:
    law = sf.events.TruncatedNegativeBinomial(1, "0.5")
    assert [len(counted(seed, law, pad=30)) for seed in (1, 2, 3)] == [30] * 3
    assert max(len(counted(seed, law, pad=1)) for seed in (1, 2, 3)) > 1  # nothing is cut off
    assert "tells how many" in drawn.way
    assert not {"tally", "trials", "losers"} & set(vars(drawn))


def test_P3_026_public_rows_choose_for_nothing() -> None:
    asked: dict[str, Any] = {"public": rows(300, seed=1), "noise_multiplier": None, "delta": None}
    made = tuned(loss=sf.Approx(2, 1e-5), **asked)
    plan = private(nn.Linear(2, 2), rows(), loss=sf.Approx(2, 1e-5), batch=60, steps=5).plan
    assert made.parameters == {"lr": 3.0} and made.event == Sequence(plan.event())
    assert made.origins["lr"].origin is Origin.PUBLIC and made.deviation == 0 and made.candidates == 4
    held = tuned([1e-6, 3.0], holdout=rows(300, seed=1))
    assert held.event == Sequence(*held.each) and held.each[0] == sf.accounting.dp_sgd(1, rate="1/2", steps=5)
    assert held.parameters == {"lr": 3.0} and held.deviation == 0 and held.origins["lr"].origin is Origin.CHOSEN


def test_runs_that_fail_are_the_worst_and_say_nothing() -> None:
    def broken(lr: float) -> Any:
        model, optimizer = make(lr)
        if lr == 1e-6:
            model.register_forward_hook(lambda layer, given, output: 1 / int(len(given[0]) in (2, 120)) and output)
        return model, optimizer

    asked: dict[str, Any] = {"loss_function": CROSS, **FEW, "entropy": ReplayEntropy(1)}
    made = tune(broken, rows(), {"lr": [1e-6, 3.0]}, **asked)
    assert made.parameters == {"lr": 3.0}
    with pytest.raises(RunFailed, match="broke off"):
        tune(broken, rows(), {"lr": [1e-6]}, **asked)


def session(limit: sf.Approx) -> Any:
    table = {"person": list(range(120)), "x": rows()[0][:, 0].tolist()}
    data = sf.Dataset(table, unit="person", between={"x": (-5, 5)})
    return data.session(limit=limit, ledger="memory:")


def test_a_session_is_charged_once_before_anything_runs_and_a_broken_search_is_lost() -> None:
    held = session(sf.Approx(50, 1e-4))

    def stopping(lr: float) -> Any:
        if held.spent != sf.Approx(0, 0):
            raise KeyboardInterrupt
        return make(lr)

    asked: dict[str, Any] = {"loss_function": CROSS, **FEW, "session": held}
    with pytest.raises(KeyboardInterrupt):
        tune(stopping, rows(), {"lr": [1e-6, 3.0]}, **asked, key="one")
    spent = held.spent
    assert spent != sf.Approx(0, 0)
    with pytest.raises(BadArgument, match="what it paid for is lost"):
        tune(make, rows(), {"lr": [1e-6, 3.0]}, **asked, key="one")
    assert held.spent == spent
    made = tune(make, rows(), {"lr": [1e-6, 3.0]}, **asked, key="two")
    assert made.release.charged and made.parameters == {"lr": 3.0} and held.spent != spent
    with pytest.raises(BadArgument, match="a name of this search"):
        tune(make, rows(), {"lr": [1e-6, 3.0]}, **asked)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no candidates": ({"candidates": []}, "candidates"),
    "one value": ({"candidates": {"lr": 0.1}}, "a grid such as"),
    "a text": ({"candidates": {"lr": "fast"}}, "a grid such as"),
    "other names": ({"candidates": [{"lr": 1}, {"clip": 1}]}, "of the same names"),
    "loss and noise": ({"loss": sf.Approx(1, 1e-5)}, "one of them"),
    "no delta": ({"delta": None}, "a loss is stated at a δ"),
    "one run": ({"runs": 1}, "runs"),
    "a score of none": ({"score": lambda output, labels: output}, "one number a row"),
    "no deviation": ({"score_deviation": 0}, "score_deviation"),
    "a wrong shape": ({"make": lambda lr: nn.Linear(3, 2)}, "cannot be multiplied"),
    "an averaged loss": ({"loss_function": lambda output, labels: output.mean()}, "one number for each row"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_run_is_refused_before_anything_is_paid(name: str) -> None:
    held = session(sf.Approx(50, 1e-4))
    changed, match = WRONG[name]
    asked: dict[str, Any] = {"make": make, "candidates": {"lr": RATES}, "loss_function": CROSS, **FEW, **changed}
    with pytest.raises((BadArgument, RuntimeError), match=match):
        tune(asked.pop("make"), rows(), asked.pop("candidates"), **asked, session=held, key="run")
    assert held.spent == sf.Approx(0, 0)


def test_P3_024_every_hyper_parameter_says_where_it_comes_from_and_unpaid_tuning_is_no_release(drawn: Tuned) -> None:
    assert {name: stated.origin for name, stated in drawn.origins.items()} == {
        "batch": Origin.GIVEN, "steps": Origin.GIVEN, "clip": Origin.GIVEN, "noise_multiplier": Origin.GIVEN,
        "lr": Origin.CHOSEN,
    }  # fmt: skip
    assert "lr 3.0 (chosen privately, and paid for)" in str(drawn.release.how) and "lr=3.0" in str(drawn)
    training = private(nn.Linear(2, 2), rows(), noise_multiplier=1, batch=60, steps=1, entropy=ReplayEntropy(1))
    training.fit(CROSS)
    training.origins = training.origins.stated(lr=Origin.PUBLIC, initial_weights=Origin.PUBLIC)
    assert "lr 0.001 (tuned on public rows)" in str(training.release(delta=1e-5).how)
    training.origins = training.origins.stated(clip=Origin.UNPAID)
    with pytest.raises(BadArgument, match=r"clip.*sf\.train\.tune, which pays"):
        training.release(delta=1e-5)
    with pytest.raises(BadArgument, match="some of"):
        training.origins.stated(colour=Origin.GIVEN)
    with pytest.raises(BadArgument, match="Origin"):
        training.origins.stated(clip="given")  # type: ignore[arg-type]


def test_grids_and_lists() -> None:
    assert listed([{"lr": 1}, {"lr": 2}]) == listed({"lr": (1, 2)}) == listed({"lr": range(1, 3)})


class TimeFirst(nn.Module):
    """A layer that sees times before rows, as many as there are rows: taken for rows, they would mix people."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2)

    def forward(self, rows: Tensor) -> Tensor:
        return self.layer(rows.transpose(0, 1)).transpose(0, 1).mean(dim=1)  # type: ignore[no-any-return]


def test_a_search_trains_each_candidate_as_private_does_wherever_rows_are_in_a_layer() -> None:
    torch.manual_seed(1)
    data = torch.randn(4, 4, 3), torch.tensor([0, 1, 0, 1])
    plan = TrainingPlan(PoissonBatches(Fraction(1), 3, 4), Flat(0.1), Fraction(1), Relation.ADD_REMOVE)

    def make() -> tuple[nn.Module, torch.optim.Optimizer]:
        model = TimeFirst()
        return model, torch.optim.SGD(model.parameters(), lr=1.0)

    searched = Candidate({}, make, nn.CrossEntropyLoss(), plan).trained(Units(data), ReplayEntropy(5))
    model, optimizer = make()
    alone = private(
        model, data, noise_multiplier=1, batches=plan.batches, clip=0.1, optimizer=optimizer, entropy=ReplayEntropy(5)
    )
    alone.fit(nn.CrossEntropyLoss())
    for one, other in zip(searched.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one, other)
