"""What Opacus's own tests state (`accountants_test.py`), where it is a fact about DP-SGD; it need not be installed.

Its Rényi accountant takes the best of a list of orders; its PRV accountant gives an upper end, 0.02 above at most;
its calibration stops within 0.01 of ε. Its Gaussian accountant is a limit theorem and no bound: both of its vectors are
below the truth.
"""

from __future__ import annotations

import pytest

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.training import dp_sgd

RIGHT_TO = 0.01


def epsilon(multiplier: str, steps: int, kind: type[PLD] | type[Renyi] = PLD) -> Bracket:
    return account(dp_sgd(multiplier, rate=0.04, steps=steps), delta=1e-5, ways=(kind,)).epsilon


def test_the_renyi_accountant() -> None:
    assert 6.7 < epsilon("1.5", 2250, Renyi) <= 7.32911117143


def test_the_prv_accountant() -> None:
    found = epsilon("1.5", 2249)
    assert found.lower <= 6.777395712150674 <= found.upper + 2 * RIGHT_TO


@pytest.mark.parametrize(
    ("multiplier", "steps", "kind"),
    [("1.416", 2250, Renyi), ("1.3562", 2000, Renyi), ("1.34765625", 2250, PLD), ("1.2915", 2000, PLD)],
)
def test_noise_for_an_epsilon_of_8(multiplier: str, steps: int, kind: type[PLD] | type[Renyi]) -> None:
    """Their multipliers are rounded to four places: 0.0001 of it moves ε by less than 0.001."""
    assert 8 - 3 * RIGHT_TO <= epsilon(multiplier, steps, kind) <= 8.001


def test_the_gaussian_accountant_counts_too_little() -> None:
    """It says less than 6.6, and that a multiplier of 1.3232 keeps ε = 8."""
    assert epsilon("1.5", 2249).lower > 6.7
    assert epsilon("1.3232421875", 2250).lower > 8.1
