"""What an ε means: odds, beliefs and words."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.meaning.attacker import Attacker
from sfumato.accounting.meaning.guidance import (
    believed_in_hundred,
    epsilon_warning,
    explain_odds,
    explain_success,
    largest_epsilon,
    limit_for_success,
    odds_factor,
    posterior_cap,
    strength,
)
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


def test_A3_070_truth_probability_and_epsilon() -> None:
    assert [float(limit_for_success(p).epsilon) for p in ("0.75", "0.95")] == pytest.approx(
        [1.098612, 2.944439], abs=5e-7
    )
    for truth in ("0.5", "0.75", "0.95", "0.999999"):
        assert posterior_cap(limit_for_success(truth)) <= Fraction(truth) + Fraction(1, 10**30)
    assert limit_for_success("0.5") == Pure(0)


def test_A3_071_membership_accuracy() -> None:
    found = [float(Attacker(Pure(epsilon)).accuracy()) for epsilon in ("0.1", "0.2", 1, "4.8")]
    assert found == pytest.approx([0.5250, 0.5498, 0.7311, 0.9918], abs=5e-5)
    with_delta = (math.e + 0.01) / (1 + math.e)
    assert float(Attacker(Approx(1, "0.01")).accuracy()) == pytest.approx(with_delta, rel=1e-12)


@pytest.mark.parametrize("success", ["0.51", "0.6", "0.75", "0.95"])
@pytest.mark.parametrize("delta", [0, "1e-6", "0.01"])
def test_the_limit_for_a_success_rate_keeps_it_and_no_larger_one_does(success: str, delta: object) -> None:
    limit = limit_for_success(success, delta=delta)  # type: ignore[arg-type]
    assert Attacker(limit).accuracy() <= Fraction(success) + Fraction(1, 10**25)
    more = Approx(Fraction(limit.epsilon) + Fraction(1, 10**9), Fraction(delta))  # type: ignore[arg-type]
    assert Attacker(more).accuracy() > Fraction(success)
    assert largest_epsilon(Fraction(success), Fraction(0)) >= limit.epsilon


def test_success_rates_that_no_limit_has() -> None:
    for rate in ("0.4", 1, "1.5"):
        with pytest.raises(BadArgument, match="success"):
            limit_for_success(rate)
    with pytest.raises(BadArgument, match="alone it lets attacks succeed"):
        limit_for_success("0.6", delta="0.21")
    assert limit_for_success("0.6", delta="0.2") == Approx(0, "0.2")


def test_P3_110_the_warning_is_printed() -> None:
    text = explain_success("0.75", delta="1e-6")
    assert text.startswith("ε = 1.09861, δ = 1e-06: whoever guesses")
    assert "Known attacks are a lower bound" in text and "Stay well below this limit." in text


def test_A3_072_odds_out_of_a_hundred() -> None:
    assert believed_in_hundred(Pure(1)) == (73, 27)
    assert believed_in_hundred(Pure(1), count=True) == (70, 30)
    assert believed_in_hundred(Pure("0.5")) == (62, 38)
    assert believed_in_hundred(Pure("0.5"), count=True) == (61, 39)
    assert "70 of 100 possible outputs" in explain_odds(Pure(1), count=True) and "30 of 100 do" in explain_odds(
        Pure(1), count=True
    )


@pytest.mark.parametrize("count", [True, False])
def test_odds_at_the_ends(count: bool) -> None:
    assert believed_in_hundred(Pure(0), count=count) == (50, 50)
    assert believed_in_hundred(Pure(math.inf), count=count) == believed_in_hundred(Pure(10**9), count=count) == (100, 0)
    with pytest.raises(BadArgument, match="pure"):
        believed_in_hundred(ZCDP(1), count=count)  # type: ignore[arg-type]


def test_P3_099_epsilon_is_advised_and_never_forbidden() -> None:
    assert [epsilon_warning(Pure(epsilon)) for epsilon in ("0.01", "0.5", 1)] == [None] * 3
    assert epsilon_warning(Approx(1, "1e-6")) is None
    above, below = epsilon_warning(Pure("4.8")), epsilon_warning(Approx("0.001", "1e-9"))
    assert above is not None and "above the range" in above and "121.511 times" in above
    assert below is not None and "below the range" in below
    assert "inf times" in str(epsilon_warning(Pure(math.inf)))
    with pytest.raises(BadArgument, match="Pure or Approx"):
        epsilon_warning(ZCDP(1))  # type: ignore[arg-type]
