"""Detectors fire on games that went wrong, and stay silent on others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sfumato.errors import NoConvergence, VanishingGradients
from sfumato.synth.collapse import Collapse, collapse
from sfumato.synth.counting import Rows
from sfumato.synth.graph.domain import Domain
from sfumato.synth.neural.detectors import ModeCollapse, check_balance, check_gradients, warn_of_collapse
from sfumato.synth.neural.history import History

STEPS = 80


def history(right: object = 0.5, generator: object = 0.3, discriminator: object = 0.2) -> History:
    parts = [
        np.broadcast_to(np.asarray(part, dtype=float), (STEPS,)) for part in (right, 0.5, generator, discriminator)
    ]
    return History.of(np.stack(parts, axis=1))


def test_A3_047_flat_gradients_are_an_error() -> None:
    check_gradients(history())
    dying = np.concatenate([np.full(STEPS // 2, 0.5), np.zeros(STEPS // 2)])
    for side in ("generator", "discriminator"):
        with pytest.raises(VanishingGradients, match=side) as raised:
            check_gradients(history(**{side: dying}))
        assert raised.value.side == side
    check_gradients(history(generator=dying[::-1]))  # it came back
    with pytest.raises(VanishingGradients):
        check_gradients(history(generator=np.nan))


def test_A3_047_a_dominated_game_is_an_error() -> None:
    check_balance(history())
    with pytest.raises(NoConvergence, match="nearly all made-up rows \\(100%\\)"):
        check_balance(history(right=np.concatenate([np.full(20, 0.5), np.ones(60)])))
    with pytest.raises(NoConvergence, match="deceived by nearly all"):
        check_balance(history(right=0.0))


def test_P3_066_a_game_that_hardly_moves_to_its_end_is_an_error() -> None:
    with pytest.raises(NoConvergence, match="too slow"):
        check_balance(history(right=0.96))
    check_balance(history(right=np.linspace(1.0, 0.93, STEPS)))  # near enough, and on its way
    check_balance(history(right=np.linspace(1.0, 0.6, STEPS)))


def looked_over(codes: object, sizes: tuple[int, ...]) -> Collapse:
    names = tuple(f"column {place}" for place in range(len(sizes)))
    return collapse(Rows(Domain(names, sizes), np.asarray(codes, dtype=np.int64)))


def test_A3_047_a_generator_that_emits_one_value_is_warned_of() -> None:
    with pytest.warns(ModeCollapse, match="column 0: 1 of 2 values occur, the commonest in 100% of rows"):
        warn_of_collapse(looked_over(np.zeros((500, 3)), (2, 40, 3)))


def test_P3_067_few_values_of_many_and_copies_are_warned_of() -> None:
    drawn = np.random.default_rng(1)
    few = np.stack([drawn.integers(0, 2, 900), drawn.choice([3, 17], 900)], axis=1)
    with pytest.warns(ModeCollapse, match="column 1: 2 of 40 values"):
        warn_of_collapse(looked_over(few, (2, 40)))
    copies = np.repeat(drawn.integers(0, 9, (5, 6)), 100, axis=0)
    with pytest.warns(ModeCollapse, match="repeat an earlier one"):
        warn_of_collapse(looked_over(copies, (9,) * 6))


def test_a_healthy_generator_is_not_warned_of() -> None:
    drawn = np.random.default_rng(2)
    rows = np.stack([drawn.choice(2, 900, p=[0.9, 0.1]), drawn.integers(0, 40, 900), np.zeros(900, int)], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_collapse(looked_over(rows, (2, 40, 1)))
        warn_of_collapse(looked_over(drawn.integers(0, 2, (5_000, 2)), (2, 2)))  # few rows are possible
