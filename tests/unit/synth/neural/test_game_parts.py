"""The parts of a game: columns as networks see them, modes, conditions, its value."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.neural.conditions import HEAVIEST, Conditions
from sfumato.synth.neural.fitting import conditioned
from sfumato.synth.neural.generator import Generator, NetworkSettings
from sfumato.synth.neural.heads import Head, Heads
from sfumato.synth.neural.modes import Mode, fitted_modes, whole_range
from sfumato.synth.neural.network_model import NetworkModel
from sfumato.synth.neural.randomness import gumbels, uniforms
from sfumato.synth.neural.value import game_value, is_over

HEADS = (Head("sex", 3), Head("age", 41, 40), Head("job", 4))


def test_A3_046_the_value_of_the_game_is_minus_2_ln_2_where_the_discriminator_guesses() -> None:
    assert game_value([0.5] * 7, [0.5] * 3) == pytest.approx(-2 * math.log(2), abs=1e-15)
    assert game_value([0.9], [0.1]) > -2 * math.log(2) > game_value([0.1], [0.9])  # D raises it
    assert game_value([1.0], [1.0]) == -math.inf


@pytest.mark.parametrize("said", [[], [1.5], [-0.1], [math.nan]])
def test_the_value_is_one_of_chances(said: list[float]) -> None:
    with pytest.raises(BadArgument):
        game_value(said, [0.5])


def test_E3_10_a_game_is_over_at_chance_and_not_where_made_up_rows_are_told_from_others() -> None:
    assert is_over(0.5) and is_over(0.45)
    assert not is_over(1.0) and not is_over(0.9) and not is_over(0.0)


def test_codes_are_read_back_from_what_networks_see_of_them() -> None:
    heads = Heads.of((Head("sex", 3), Head("age", 41, 40, (Mode(8.0, 2.5), Mode(30.0, 2.0))), Head("job", 4)))
    codes = np.stack([np.arange(41) % 3, np.arange(41), np.arange(41) % 4], axis=1)
    near = (np.abs(codes[:, 1] - 8) <= 10) | (np.abs(codes[:, 1] - 30) <= 8) | (codes[:, 1] == 40)
    made = heads.encoded(codes)
    assert made.shape == (41, heads.width) and heads.width == 3 + (1 + 2 + 1) + 4
    assert made.abs().max() <= 1
    assert np.array_equal(heads.decoded(made)[near], codes[near])
    assert np.array_equal(Heads.of(HEADS).decoded(Heads.of(HEADS).encoded(codes)), codes)


def test_without_counts_a_number_reaches_over_its_whole_range() -> None:
    heads = conditioned(HEADS, None, 5).heads
    codes = np.stack([np.zeros(41, np.int64), np.arange(41), np.zeros(41, np.int64)], axis=1)
    assert np.array_equal(heads.decoded(heads.encoded(codes)), codes)


def test_modes_are_the_hills_of_counts_and_survive_any_noise() -> None:
    places = np.arange(40)
    counts = 900 * np.exp(-((places - 8) ** 2) / 18) + 400 * np.exp(-((places - 30) ** 2) / 8)
    assert [round(mode.centre) for mode in fitted_modes(counts, 5)] == [8, 30]
    for strange in (np.zeros(40), np.full(40, -3.0), np.ones(1), np.array([5.0, -1.0])):
        found = fitted_modes(strange, 5)
        assert found and all(mode.spread > 0 for mode in found)
    assert fitted_modes(counts, 1) == whole_range(40)


def test_conditions_are_drawn_by_logarithms_in_training_and_by_counts_for_rows() -> None:
    conditions = Conditions.of(
        Heads.of((Head("sex", 2), Head("job", 3))), [np.array([990.0, 10]), np.array([5.0, -9, 5])]
    )
    entropy = ReplayEntropy(1)
    for training, shares in ((True, conditions.evenly), (False, conditions.often)):
        asked, drawn = conditions.drawn(20_000, entropy, training=training)
        assert torch.equal(asked.sum(dim=1), torch.ones(20_000))
        rare = drawn[drawn[:, 0] == 0, 1].mean()
        assert rare == pytest.approx(shares[0][1], abs=0.02)
        assert 1 not in drawn[drawn[:, 0] == 1, 1]  # of which there is none, as far as is known
    assert conditions.evenly[0][1] > 20 * conditions.often[0][1]


def test_rows_meet_the_conditions_they_are_shown_with_and_rare_ones_count_for_more() -> None:
    conditions = Conditions.of(
        Heads.of((Head("sex", 2), Head("job", 3))), [np.array([990.0, 10]), np.array([5.0, 5, 5])]
    )
    codes = np.array([[0, 2], [1, 1]] * 100)
    asked, weights = conditions.met_by(codes, ReplayEntropy(2))
    at = asked.argmax(dim=1).numpy()
    assert all(place == row[0] or place == 2 + row[1] for place, row in zip(at, codes, strict=True))
    assert float(weights.max()) == HEAVIEST and float(weights.min()) < 1


def test_a_conditional_generator_learns_to_give_what_it_is_asked_for() -> None:
    conditions = Conditions.of(
        Heads.of((Head("sex", 2), Head("job", 3))), [np.array([50.0, 50]), np.array([5.0, 5, 5])]
    )
    settings = NetworkSettings(hidden=16, latent=4, generator_rate=1e-2, made_up=64)
    made = Generator(conditions, settings, ReplayEntropy(3))
    for _ in range(150):
        made.improve(lambda rows: torch.zeros(len(rows)))
    model = NetworkModel(Domain(("sex", "job"), (2, 3)), conditions, settings, made.weights(), 100.0)
    wanted = np.arange(300) % 3
    free = model._made(300, {1: wanted}, ReplayEntropy(4))  # before anything is made anew
    assert (free[:, 1] == wanted).mean() > 0.9
    rows = model.sample(300, ReplayEntropy(4), {"job": wanted, "sex": 1})
    assert np.array_equal(rows[:, 1], wanted) and (rows[:, 0] == 1).all() and rows.dtype == np.uint8
    assert model.marginal(["job", "sex"]).shape == (3, 2) and model.marginal(["sex"]).sum() == pytest.approx(100)
    assert np.array_equal(model.marginal(["sex"]), model.marginal(["sex"]))


def test_random_tensors_have_their_laws() -> None:
    drawn, random = uniforms((50_000,), ReplayEntropy(5)), gumbels((50_000,), ReplayEntropy(6))
    assert float(drawn.min()) > 0 and float(drawn.max()) < 1 and float(drawn.mean()) == pytest.approx(0.5, abs=0.01)
    assert float(random.mean()) == pytest.approx(0.5772, abs=0.03)
    assert float(random.var()) == pytest.approx(math.pi**2 / 6, abs=0.08)


@pytest.mark.parametrize(
    "wrong", [{"latent": 0}, {"hidden": -1}, {"rate": 0.0}, {"remembered": 1.0}, {"temperature": math.inf}]
)
def test_settings_are_read(wrong: dict[str, float]) -> None:
    with pytest.raises(BadArgument, match=next(iter(wrong))):
        NetworkSettings(**wrong)  # type: ignore[arg-type]
