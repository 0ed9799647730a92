"""What rows have a say in: clipped and noisy steps, noisy counts, one teacher's vote; and what that is accounted as."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import sfumato as sf
from sfumato.accounting.compose import total
from sfumato.accounting.events import Noise, Repeat, Sequence
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.plans.account import account
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import root
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.synth.neural.calibrating import price
from sfumato.synth.neural.coded_rows import Opened
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.generator import NetworkSettings
from sfumato.synth.neural.heads import Head, Heads
from sfumato.synth.neural.private_game import PrivateGame, real_inputs
from sfumato.synth.neural.statistics import Statistics
from sfumato.synth.neural.teacher_networks import TeacherNetworks, parts_of
from sfumato.synth.neural.voting_game import VotingGame, noisy_votes
from sfumato.train.batches import PoissonBatches
from sfumato.train.pate.aggregators import GNMax

HEADS = Heads.of((Head("a", 3), Head("b", 4)))
SMALL = NetworkSettings(hidden=8, latent=4, made_up=16)
LOSS = Approx(2, 1e-6)


def opened(codes: Any, people: list[Any] | None = None, max_rows: int = 1) -> Opened:
    return Opened(np.asarray(codes, dtype=np.int64), people, max_rows)


def some_codes(rows: int = 60) -> Any:
    return np.random.default_rng(3).integers(0, [3, 4], (rows, 2))


class Seen:
    """A watcher that keeps the gradients of every step."""

    def __init__(self) -> None:
        self.gradients: list[Any] = []

    def after_step(self, private: Any, noise: float) -> None:
        self.gradients.append(torch.cat([each.grad.flatten().clone() for each in private.model.parameters()]))


def first_gradient(codes: Any, clip: float) -> Any:
    game = PrivateGame.within(LOSS, PoissonBatches(Fraction(1), 1, 60), SMALL, clip, None)
    entropy = ReplayEntropy(5)
    conditions = Conditions.of(HEADS, [np.array([20.0, 20, 20]), np.array([15.0, 15, 15, 15])])
    held = opened(codes)
    training, _, _ = game.begun(held, conditions, entropy)
    training.watchers.insert(0, watcher := Seen())
    for (places,) in training.batches():
        inputs, weights = real_inputs(held.codes[places.numpy()], conditions, entropy)
        training.step(weights * torch.nn.functional.softplus(-training.model(inputs)[:, 0]))
    return watcher.gradients[0]


def test_no_row_moves_the_discriminator_by_more_than_the_bound() -> None:
    clip, codes = 0.01, some_codes()
    other = codes.copy()
    other[-1] = (codes[-1] + 1) % [3, 4]
    moved = float((first_gradient(codes, clip) - first_gradient(other, clip)).norm()) * 60
    assert 0 < moved <= 2 * clip * 1.001


def test_the_generator_takes_a_step_after_every_step_whoever_was_drawn() -> None:
    game = PrivateGame.within(LOSS, PoissonBatches(Fraction(1, 50), 12, 60), SMALL, 1.0, None)
    for codes in (some_codes(), some_codes(0)):  # of no rows every batch is empty
        weights, history = game.played(opened(codes), Conditions(HEADS), ReplayEntropy(1))
        assert len(history) == 12 and np.isfinite(weights).all()


def test_counts_have_their_noise_on_every_cell_and_no_exact_count_leaves() -> None:
    sizes = (600, 900)
    statistics = Statistics(sizes, 1, DiscreteGaussian(Fraction(20)))
    codes = np.random.default_rng(1).integers(0, sizes, (5_000, 2))
    noisy = statistics.measured(codes, ReplayEntropy(9))
    exact = [np.bincount(codes[:, place], minlength=size) for place, size in enumerate(sizes)]
    errors = np.concatenate([one - other for one, other in zip(noisy, exact, strict=True)])
    assert errors.std() == pytest.approx(20, rel=0.1) and abs(errors.mean()) < 3


def test_counts_move_by_the_root_of_the_number_of_columns_for_each_row() -> None:
    statistics = Statistics((3, 4, 5), 2, DiscreteGaussian(Fraction(20)))
    assert statistics.event(Fraction(1)) == Noise(DiscreteGaussian(Fraction(20)), root(12), coordinates=12)
    base = np.array([[0, 0, 0]])
    exact = Statistics((3, 4, 5), 2, DiscreteGaussian(Fraction(1)))
    more = np.concatenate([base, [[1, 1, 1], [1, 1, 1]]])  # one unit with two rows
    counts = [np.concatenate(exact.measured(rows, ReplayEntropy(1))) for rows in (base, more)]
    assert np.linalg.norm(counts[1] - counts[0]) == pytest.approx(12**0.5)
    pure = Statistics.within(Pure(1), (3, 4), 1)
    assert total(pure.event(Fraction(1)), Pure).within(Pure(1))


@pytest.mark.parametrize("loss", [Approx(2, 1e-6), ZCDP(Fraction(1, 10))])
def test_counts_and_steps_together_keep_the_loss_and_use_it_up(loss: Any) -> None:
    statistics = Statistics.within(loss.scaled(Fraction(1, 5)), (3, 4), 1)
    batches = PoissonBatches(Fraction(1), 10, 60)
    game = PrivateGame.within(loss, batches, SMALL, 1.0, statistics)
    event = game.event(Fraction(1))
    assert isinstance(event, Sequence) and len(event.parts) == 2
    if isinstance(loss, Approx):
        assert 1.9 < float(account(event, delta=loss.delta).epsilon) <= 2
    else:
        assert price(event, loss).within(loss) and float(price(event, loss).rho) > 0.099  # type: ignore[attr-defined]
    alone = PrivateGame.within(loss, batches, SMALL, 1.0, None)
    assert alone.plan.multiplier < game.plan.multiplier  # counts are not free


def test_steps_need_a_delta() -> None:
    with pytest.raises(BadArgument, match="PATEGAN"):
        PrivateGame.within(Pure(1), PoissonBatches(Fraction(1, 2), 1, 60), SMALL, 1.0, None)


def test_P3_063_parts_are_disjoint_and_all_rows_of_a_person_have_one_teacher() -> None:
    people = [row // 3 for row in range(300)]
    parts = parts_of(opened(some_codes(300), people, 3), 7, ReplayEntropy(2))
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))
    owners = [{people[row] for row in part} for part in parts]
    assert all(not one & other for place, one in enumerate(owners) for other in owners[:place])
    assert all(len(part) == 3 * len(whose) for part, whose in zip(parts, owners, strict=True))


def voters(codes: Any, parts: list[Any]) -> TeacherNetworks:
    conditions = Conditions(HEADS)
    made = TeacherNetworks(opened(codes), parts, conditions, ReplayEntropy(11))
    for turn in range(6):
        made.learn(HEADS.encoded(some_codes(20 + turn)))
    return made


def test_a_teacher_learns_from_its_own_rows_and_from_no_others() -> None:
    codes, parts = some_codes(), [np.arange(20), np.arange(20, 40), np.arange(40, 60), np.zeros(0, np.int64)]
    other = codes.copy()
    other[40:] = (codes[40:] + 1) % [3, 4]  # all rows of the third teacher
    before, after = voters(codes, parts)._weights, voters(other, parts)._weights
    for one, two in zip(before, after, strict=True):
        assert torch.equal(one[[0, 1, 3]], two[[0, 1, 3]])
    assert not torch.equal(before[0][2], after[0][2])
    less = voters(codes[:40], [parts[0], parts[1], parts[3], parts[3]])._weights
    assert torch.equal(before[0][:2], less[0][:2]) and torch.equal(before[0][3], less[0][3])


def test_every_teacher_has_one_vote_whatever_it_has_become() -> None:
    made, rows = (
        voters(some_codes(), [np.arange(30), np.arange(30, 60), np.zeros(0, np.int64)]),
        HEADS.encoded(some_codes()),
    )
    assert (made.votes(rows).sum(axis=1) == 3).all()
    with torch.no_grad():
        made._weights[0][0] = float("nan")
    assert (made.votes(rows).sum(axis=1) == 3).all()


def test_labels_are_made_of_votes_with_noise() -> None:
    made = voters(some_codes(), [np.arange(60)])
    same = HEADS.encoded(np.tile([[1, 2]], (2_000, 1)))
    assert len(np.unique(made.votes(same), axis=0)) == 1  # without noise they would all be alike
    labels = noisy_votes(made, same, GNMax(50), ReplayEntropy(3))
    assert 0.4 < float(labels.mean()) < 0.6


@pytest.mark.parametrize("loss", [Approx(3, 1e-6), Pure(3), ZCDP(Fraction(1, 4))])
def test_all_votes_are_planned_and_keep_the_loss(loss: Any) -> None:
    game = VotingGame.within(loss, 10, 40, 4, SMALL, Statistics.within(loss.scaled(Fraction(1, 5)), (3, 4), 1))
    event = game.event(Fraction(1))
    assert isinstance(event, Sequence) and isinstance(event.parts[1], Repeat) and event.parts[1].times == 40
    if isinstance(loss, Approx):
        assert 2.9 < float(account(event, delta=loss.delta).epsilon) <= 3
    else:
        assert total(event, type(loss)).within(loss)
    weights, history = game.played(opened(some_codes()), Conditions(HEADS), ReplayEntropy(4))
    assert len(history) == 4 and np.isfinite(weights).all()
    with pytest.raises(BadArgument, match="rounds"):
        VotingGame.within(loss, 10, 3, 4, SMALL, None)


def test_votes_of_several_units_reach_as_many_teachers() -> None:
    game = VotingGame.within(ZCDP(1), 10, 4, 2, SMALL, None)
    one, three = (float(total(game.event(Fraction(many)), sf.ZCDP).rho) for many in (1, 3))
    assert three == pytest.approx(9 * one)
