"""What a loss means: rates, beliefs, surprises and words."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import pytest

from sfumato.accounting.compose import total
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Gaussian, Poisson, Repeat, Response, Sampled
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.accounting.meaning.explanation import Rivals, explain, known_losses, scientific
from sfumato.accounting.plans.account import account
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import log_down, log_up

THREE = Fraction(3)
SAME: list[Tested] = [
    Approx(1, "0.01"),
    Profile.of(Approx(1, "0.01")),
    TradeOff.of(Approx(1, "0.01")),
]


@pytest.mark.parametrize("loss", SAME, ids=lambda loss: type(loss).__name__)
def test_equal_losses_mean_the_same(loss: Tested) -> None:
    best, other = Attacker(loss), Attacker(SAME[0])
    for step in range(11):
        rate = Fraction(step, 10)
        assert float(best.detects(rate)) == pytest.approx(float(other.detects(rate)), abs=1e-15)
    assert float(best.advantage()) == pytest.approx((math.e - 1 + 0.02) / (math.e + 1))
    assert best.belief(prior="0.3") == 1


def test_A2_001_true_alarms() -> None:
    assert float(Attacker(Approx(1, "1e-6")).detects("0.2")) == pytest.approx(1 - 0.4563426, abs=5e-8)


def test_randomized_response_meets_every_bound() -> None:
    """Truth with probability 3/4: true alarms 3/4 at false alarms 1/4, and a posterior of 3/4 after a yes."""
    best = Attacker(Pure(log_up(THREE)))
    assert float(best.detects("0.25")) == pytest.approx(0.75, abs=1e-15)
    assert float(best.advantage()) == pytest.approx(0.5, abs=1e-15)
    assert float(best.accuracy()) == pytest.approx(0.75, abs=1e-15)
    for prior in (Fraction(1, 10), Fraction(1, 2)):
        posterior = prior * 3 / (prior * 3 + 1 - prior)
        assert posterior <= best.certainty("0.25", prior=prior) < posterior + Fraction(1, 10**15)
        assert posterior <= best.belief(prior=prior) < posterior + Fraction(1, 10**15)
    assert best.surprises(3 + Fraction(1, 10**9)) == 0
    # The truth is told three times in four, and then multiplies odds by 3.
    assert best.surprises(Fraction(29, 10)) >= Fraction(3, 4)
    timid = Attacker(Pure(Fraction(99, 100) * log_down(THREE)))
    assert timid.detects("0.25") < Fraction(3, 4)
    assert timid.advantage() < Fraction(1, 2)
    assert timid.belief() < Fraction(3, 4)


def most_surprising(factor: float) -> float:
    """Gives the largest t with t ≤ 1 − f(t / factor), f the curve of unit Gaussians 1 apart: an alarm of that ratio."""
    normal, low, high = NormalDist(), 1e-15, 1 - 1e-15
    for _ in range(200):
        middle = (low + high) / 2
        possible = middle <= normal.cdf(normal.inv_cdf(middle / factor) + 1)
        low, high = (middle, high) if possible else (low, middle)
    return low


def test_gaussian_rates() -> None:
    normal = NormalDist()
    best = Attacker(GDP(1))
    for rate in (0.01, 0.2, 0.7):
        exact = 1 - normal.cdf(normal.inv_cdf(1 - rate) - 1)
        assert float(best.detects(rate)) == pytest.approx(exact, rel=1e-9)
    assert float(best.advantage()) == pytest.approx(2 * normal.cdf(0.5) - 1)
    for factor in (3, 10, 1000):
        noise_itself = 1 - normal.cdf(math.log(factor) - 0.5)
        attained = most_surprising(factor)
        assert noise_itself < attained <= float(best.surprises(factor)) < attained * 1.001
    assert best.belief() == 1
    assert Attacker(GDP(0)).belief() == Fraction(1, 2)
    assert Attacker(GDP(math.inf)).detects(0) == 1
    assert Attacker(GDP(math.inf)).advantage() == 1


def test_surprises_of_an_open_secret() -> None:
    """With probability δ the truth is published: odds become infinite that often, and no bound may be below."""
    best = Attacker(Approx(1, "0.01"))
    assert Fraction(1, 100) <= best.surprises(1000) < Fraction("0.0101")
    assert best.surprises(1) == 1
    assert best.surprises("0.5") == 1


def test_certainty_falls_with_false_alarms() -> None:
    best = Attacker(Approx(1, "0.001"))
    found = [best.certainty(Fraction(step, 20), prior="0.1") for step in range(21)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 1
    assert found[-1] == Fraction(1, 10)
    assert best.certainty("0.2", prior=0) == 0
    assert best.certainty("0.2", prior=1) == 1


@pytest.mark.parametrize("loss", [Pure(1), Profile.of(Pure(1)), TradeOff.of(Pure(1))], ids=lambda loss: str(loss))
def test_certainty_without_false_alarms_is_that_of_every_test(loss: Tested) -> None:
    """Randomized response raises alarms that are right three times in four, and 0 is a rate that it exceeds."""
    best = Attacker(loss)
    for prior in (0, Fraction(1, 10), Fraction(1, 2), 1):
        assert best.certainty(0, prior=prior) == best.belief(prior=prior) >= best.certainty("1e-9", prior=prior)
    assert float(best.certainty(0)) == pytest.approx(math.e / (1 + math.e))
    assert Attacker(Approx(1, "1e-9")).certainty(0, prior="0.01") == 1
    assert Attacker(GDP(1)).certainty(0, prior=0) == 0
    assert "10 % becomes one of at most 23.2 %, if such a test" in explain(loss, false_alarms=0)


def test_words_compute_with_what_they_print() -> None:
    rounded = explain(Pure(1), prior="0.334", false_alarms="0.112")
    assert explain(Pure(1), prior=Fraction(1, 3), false_alarms=Fraction(1, 9)) == rounded
    assert "accuses 11.2 % of the innocent finds at most 30.5 %" in rounded  # e · 0.112 = 0.30444


def test_small_numbers_are_not_printed_as_none() -> None:
    assert scientific(Fraction(2, 3 * 10**400)) == "6.67e-401"
    assert explain(Pure("1e-400")).startswith("ε = 1e-400: ")


PLAN = Repeat(Sampled(Gaussian(scale=1), Poisson(0.01)), 1000)


def test_the_meaning_of_a_plan() -> None:
    """What an attacker of DP-SGD does: the same by its privacy-loss distribution and by many promises."""
    distribution = total(PLAN, PLD, relation=Relation.ADD_REMOVE)
    many = Profile([(Fraction(step, 20), distribution.delta(Fraction(step, 20)).upper) for step in range(50)])
    best, other = Attacker(distribution), Attacker(many)
    for rate in ("0.001", "0.05", "0.3"):
        assert float(best.detects(rate)) == pytest.approx(float(other.detects(rate)), rel=2e-3)
    assert float(best.surprises(4)) == pytest.approx(float(other.surprises(4)), rel=1e-2)
    assert best.belief() == 1
    assert explain(account(PLAN, delta="1e-6")).startswith("ε = 2.12")


def test_a_distribution_of_a_pure_loss_means_what_the_loss_does() -> None:
    best = Attacker(convert(Pure(1), PLD))
    assert float(best.detects("0.05")) == pytest.approx(0.05 * math.e, rel=1e-6)
    assert best.surprises(10) < Fraction(1, 10**11)


@pytest.mark.parametrize("ask", [explain, lambda loss: Attacker(loss).surprises(10)])
def test_a_curve_is_turned_into_promises_once(ask: Callable[[Tested], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its corners are false-alarm rates; looking for the best promise among them took a minute."""
    curve, turns = TradeOff.gaussian(1), []

    def turned(self: TradeOff) -> Profile:
        turns.append(self)
        return Profile.gaussian(1)

    monkeypatch.setattr(TradeOff, "profile", turned)
    ask(curve)
    assert len(turns) == 1
    monkeypatch.undo()
    exact = float(Attacker(GDP(1)).surprises(100))
    assert exact <= float(Attacker(curve).surprises(100)) < 1.01 * exact


def test_words_never_say_less_than_the_numbers() -> None:
    text = explain(Pure("0.5"), prior="0.25", false_alarms="0.01")
    assert "accuses 1 % of the innocent finds at most 1.65 %" in text  # e^0.5 = 1.6487
    assert "right at most 62.3 %" in text  # 0.62246
    assert "No outcome whatsoever can raise it above 35.5 %" in text  # 0.35466
    assert "more than 10 have probability at most 1.38e-06" in explain(Approx(1, "1e-6"))
    assert "Nothing is promised about single outcomes" in explain(Approx(1, "0.5"))
    assert explain(GDP(1)).startswith("μ = 1 (Gaussian): ")


def test_losses_that_do_not_say_are_refused() -> None:
    with pytest.raises(NoProvenRoute, match="Approx, delta="):
        Attacker(ZCDP(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0.5, None, "x", Pure])
def test_what_is_no_loss_is_refused(wrong: object) -> None:
    with pytest.raises(BadArgument, match="must be a privacy loss, such as"):
        Attacker(wrong)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="must be a privacy loss, such as"):
        explain(wrong)  # type: ignore[arg-type]


def test_bad_arguments_are_refused() -> None:
    best = Attacker(Pure(1))
    with pytest.raises(BadArgument, match="false alarms"):
        best.detects(1.5)
    with pytest.raises(BadArgument, match="prior"):
        best.certainty("0.1", prior=-1)
    with pytest.raises(BadArgument, match="factor"):
        best.surprises(0)
    with pytest.raises(BadArgument, match="prior"):
        explain(Pure(1), prior=2)


def test_a_report_is_read_by_its_whole_curve() -> None:
    """A hundred uses of noise: the one (ε, δ) of the report alone would allow 21.3 % true alarms, not 9.49 %."""
    found = account(Repeat(Gaussian(30), 100), delta=1e-6)
    exact = 1 - NormalDist().cdf(NormalDist().inv_cdf(0.95) - 1 / 3)
    best = Rivals(tuple(map(Attacker, known_losses(found))))
    assert exact - 1e-12 <= best.detects("0.05") < exact + 1e-6
    assert 0.21 < Attacker(found.loss).detects("0.05") < 0.22
    assert "finds at most 9.49 % of the others" in explain(found)
    by_curve = Rivals(tuple(map(Attacker, known_losses(account(Repeat(Gaussian(30), 100), delta=1e-6, ways=(Renyi,))))))
    assert exact <= by_curve.detects("0.05") < 0.11
    assert best.surprises(10) <= by_curve.surprises(10) < 1e-8


def test_a_report_keeps_what_its_pure_loss_promises() -> None:
    """The distribution says more at 5 % false alarms, the pure loss alone says something of single outcomes."""
    found = account(Repeat(Response(Fraction(1, 10)), 10), delta=1e-6)
    best = Rivals(tuple(map(Attacker, known_losses(found))))
    assert best.belief(prior="0.5") == Attacker(Pure(1)).belief(prior="0.5")
    assert best.detects("0.05") < Attacker(Pure(1)).detects("0.05") * Fraction(9, 10)
    assert best.after_alarm("0.05")("0.1") < Attacker(found.loss).after_alarm("0.05")("0.1")
    assert best.accuracy() < Attacker(found.loss).accuracy()
