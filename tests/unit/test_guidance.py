"""What an ε means: odds, beliefs and words."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.guidance import odds_factor, posterior_cap, strength
from sfumato.accounting.measures import ZCDP, Pure
from sfumato.errors import BadArgument
from sfumato.exact import log_down, up


def test_A1_089_smaller_is_stronger() -> None:
    assert Pure("0.1") <= Pure(1)
    assert not Pure(1) <= Pure("0.1")
    assert strength(Pure("0.1")).startswith("very strong")
    assert strength(Pure(1)).startswith("good")
    assert strength(Pure(5)).startswith("weak")
    assert strength(Pure(20)).startswith("very weak")


def test_A1_090_odds() -> None:
    assert [up(odds_factor(Pure(e))) for e in ("0.1", 1, 5)] == pytest.approx([1.10517, 2.71828, 148.413], rel=3e-6)
    assert up(odds_factor(Pure(5))) > 140
    assert odds_factor(Pure(0)) == 1
    assert odds_factor(Pure(math.inf)) == odds_factor(Pure(10**30)) == math.inf


def test_A1_091_posterior_cap() -> None:
    caps = [up(posterior_cap(Pure(e))) for e in ("0.1", 1, log_down(Fraction(3)), 5)]
    assert caps == pytest.approx([0.524979, 0.731059, 0.75, 0.993307], abs=6e-7)


@pytest.mark.parametrize("prior", [0, 1])
def test_certainty_stays(prior: int) -> None:
    assert posterior_cap(Pure(3), prior=prior) == prior
    assert posterior_cap(Pure(math.inf), prior="0.2") == 1
    assert posterior_cap(Pure(0), prior="0.2") == Fraction(1, 5)


def test_cap_is_reached_by_randomized_response() -> None:
    """Truth with probability e^ε / (1 + e^ε): the posterior after a 'yes' is the cap, for any prior."""
    for prior in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        truth = 3 / Fraction(4)
        exact = prior * truth / (prior * truth + (1 - prior) * (1 - truth))
        assert up(posterior_cap(Pure(log_down(Fraction(3))), prior=prior)) == pytest.approx(float(exact), rel=1e-12)


def test_other_losses_are_refused() -> None:
    with pytest.raises(BadArgument, match="pure"):
        odds_factor(ZCDP(1))
    with pytest.raises(BadArgument, match="prior"):
        posterior_cap(Pure(1), prior=2)
