"""The numbers inside the charts of losses and of many uses, read back from their Vega-Lite JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from tests.unit.chart_reading import headline, parts, tables

from sfumato import charts
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Gaussian, Repeat
from sfumato.accounting.facts.gaussian import gaussian_delta
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff, gaussian_trade_off, trade_off
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.comparison import compare_accounting
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import up


def named(rows: list[dict[str, Any]], name: str) -> dict[float, float]:
    return {row["x"]: row["y"] for row in rows if row["series"] == name}


def test_P1_072_profiles_show_what_is_promised() -> None:
    profile = Profile.of(Approx(1, "1e-6"))
    bracket = {1.0: Bracket(Fraction(1, 20), Fraction(1, 10)), 2.0: Bracket(Fraction(0), Fraction(1, 100))}
    rows = tables(charts.profiles({"promise": profile, "bracket": bracket}))["profiles"]
    promised = named(rows, "promise")
    assert promised[0.0] == pytest.approx(math.tanh(0.5), rel=1e-5)
    assert promised[1.0] == promised[2.0] == pytest.approx(1e-6)
    assert all(later <= earlier for earlier, later in pairwise(promised.values()))
    low = {row["x"]: row["low"] for row in rows if row["series"] == "bracket"}
    assert (low[1.0], low[2.0]) == pytest.approx((0.05, 1e-12))
    drawn = named(rows, "bracket")
    assert (drawn[1.0], drawn[2.0], min(drawn), max(drawn)) == pytest.approx((0.1, 0.01, 1.0, 2.0))


def test_points_are_joined_by_what_they_promise() -> None:
    """Two points promise the chord in exp(ε), which on a logarithmic axis is above the straight line between them."""
    points = {1.0: 0.1, 2.0: 1e-6}
    rows = tables(charts.profiles({"points": points}))["profiles"]
    promised = Profile(list(points.items()))
    drawn = named(rows, "points")
    assert len(drawn) > 100
    assert all(height >= promised.delta(x) for x, height in drawn.items())
    assert drawn[1.5] == pytest.approx(0.1 * (math.exp(2) - math.exp(1.5)) / (math.exp(2) - math.exp(1)), rel=1e-4)
    assert all(row["low"] == row["y"] for row in rows)


def test_bands_enclose_the_truth() -> None:
    exact = {step / 4: gaussian_delta(step / 4, scale=1) for step in range(17)}
    brackets = {x: Bracket(delta * Fraction(99, 100), delta) for x, delta in exact.items()}
    rows = tables(charts.profiles({"brackets": brackets}))["profiles"]
    for row in rows:
        truth = float(gaussian_delta(row["x"], scale=1))
        assert row["low"] * (1 - 1e-9) <= truth <= row["y"] * (1 + 1e-9)
        assert row["low"] > 0.4 * row["y"]


LOSSES: dict[str, Tested] = {
    "Pure": Pure(1),
    "Approx": Approx(1, "1e-3"),
    "GDP": GDP(1),
    "Profile": Profile.gaussian(1),
    "TradeOff": TradeOff.gaussian(1),
    "PLD": convert(GDP(1), PLD),
}


@pytest.mark.parametrize("name", LOSSES)
def test_charts_take_losses(name: str) -> None:
    """What is drawn is what the loss says of itself."""
    loss = LOSSES[name]
    drawn = named(tables(charts.profiles({name: loss}, least=1e-6))["profiles"], name)
    assert drawn[0.0] == pytest.approx(float(Attacker(loss).advantage()), rel=1e-3)
    misses = named(tables(charts.trade_offs({name: loss}))["curves"], name)
    assert misses[0.05] == pytest.approx(1 - float(Attacker(loss).detects("0.05")), rel=2e-3)
    lines = named(tables(charts.trade_off_lines(loss, [Pure(1)]))["curves"], "the whole curve")
    assert lines[0.05] == misses[0.05]


def test_posteriors_look_for_the_best_test_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def detects(self: Attacker, rate: Fraction) -> Fraction:
        asked.append(rate)
        return Fraction(1, 2)

    monkeypatch.setattr(Attacker, "detects", detects)
    charts.posteriors({"DP-SGD": convert(GDP(1), PLD)})
    assert len(asked) == 1


@pytest.mark.parametrize(
    "curve", [Pure(3), trade_off(Pure(3)), TradeOff.of(Pure(3))], ids=["loss", "function", "curve"]
)
def test_corners_are_not_cut_off(curve: Any) -> None:
    corner = 1 / (1 + math.exp(3))
    drawn = named(tables(charts.trade_offs({"a": curve}))["curves"], "a")
    nearest = min(drawn, key=lambda x: abs(x - corner))
    assert nearest == pytest.approx(corner, abs=1e-9)
    assert drawn[nearest] == pytest.approx(corner, abs=1e-9)


def test_profiles_stop_at_the_least_delta() -> None:
    rows = tables(charts.profiles({"Gaussian": Profile.gaussian(1)}, least=1e-6))["profiles"]
    assert min(row["y"] for row in rows) >= 1e-6
    assert max(row["x"] for row in rows) == pytest.approx(4.8866, abs=0.03)


def test_P1_178_lines_below_a_curve() -> None:
    losses = [Approx(epsilon, gaussian_delta(epsilon, scale=1)) for epsilon in (0, 1, 2)]
    found = tables(charts.trade_off_lines(gaussian_trade_off(1), losses))
    whole, together = named(found["curves"], "the whole curve"), named(found["curves"], "3 promises (ε, δ)")
    assert whole[0.5] == pytest.approx(0.1586553, abs=1e-7)
    assert all(together[x] <= whole[x] for x in whole)
    assert max(whole[x] - together[x] for x in whole) < 0.05
    single = [row for row in found["promises"] if row["line"] == 1]
    assert all(row["y"] <= together[row["x"]] for row in single)


def test_P1_071_masses_and_the_gaussian_law() -> None:
    law = NormalDist(0.5, 1)
    masses = [(step / 10, 0.1 * law.pdf(step / 10)) for step in range(-60, 71)]
    chart = charts.loss_masses(masses, gaussian=0.5, loss=Pure(1))
    found = tables(chart)
    assert sum(row["y"] for row in found["losses"]) == pytest.approx(1, abs=1e-4)
    assert all(row["y"] == pytest.approx(0.1 * law.pdf(row["x"])) for row in found["gaussian"])
    assert {row["series"] for row in found["losses"] if row["x"] > 1} == {"loss above ε"}
    assert "δ(ε) = 0.127" in headline(chart)  # A1-084, by cells of 0.1


def test_infinite_loss_is_told_and_counted() -> None:
    pair = Profile.of(Approx("0.5", "0.01")).pair()
    laws: list[Any] = [pair, [*pair.atoms, (math.inf, pair.infinite)]]
    for law in laws:
        chart = charts.loss_masses(law, loss=Pure("0.5"))
        assert "δ(ε) = 0.01 Infinite loss has mass 0.01" in headline(chart)
        assert [row["x"] for row in tables(chart)["losses"]] == [-0.5, 0.5]
    with pytest.raises(BadArgument, match=r"add up to 1; .* add \(math.inf, pair.infinite\); got 0.99"):
        charts.loss_masses(pair.atoms)


def test_posteriors() -> None:
    rows = tables(charts.posteriors({"ε = 1": Pure(1), "μ = 1": GDP(1)}))["beliefs"]
    line = named(rows, "ε = 1")
    assert line[0.5] == pytest.approx(math.e / (1 + math.e))
    assert line[0.0] == 0
    assert line[1.0] == 1
    assert named(rows, "μ = 1")[0.1] == pytest.approx(0.1 * 0.25951 / (0.1 * 0.25951 + 0.9 * 0.05), abs=1e-4)


def test_growth_and_its_bands() -> None:
    ways: dict[str, dict[int, Any]] = {
        "basic": {1: Fraction(1, 10), 100: Fraction(10)},
        "numerical": {1: Bracket(Fraction(9, 100), Fraction(1, 10)), 100: Bracket(Fraction(4), Fraction(5))},
        "unbounded": {100: math.inf},
    }
    rows = tables(charts.growth(ways))["growth"]
    assert named(rows, "basic") == {1: 0.1, 100: 10}
    assert [row["low"] for row in rows if row["series"] == "numerical"] == [0.09, 4]
    assert not [row for row in rows if row["series"] == "unbounded"]
    assert any(part.get("type") == "log" for part in parts(charts.growth(ways, log=True).to_dict()))


def test_growth_takes_losses_and_accounts_and_shows_single_counts() -> None:
    found = account(Repeat(Gaussian(scale=3), 4), delta="1e-6")
    chart = charts.growth({"pure": {1: Pure(1), 3: Pure(3)}, "account": {4: found}, "none": {1: 0, 2: 0}})
    rows = tables(chart)["growth"]
    assert named(rows, "pure") == {1: 1, 3: 3}
    assert named(rows, "account") == {4: up(found.epsilon.upper)}
    marks = [part["mark"]["type"] for part in parts(chart.to_dict()) if isinstance(part.get("mark"), dict)]
    assert "circle" in marks
    assert [part["tickMinStep"] for part in parts(chart.to_dict()) if "tickMinStep" in part]
    nothing = charts.growth({"none": {1: 0, 2: 0}}).to_dict()
    assert [part["domain"] for part in parts(nothing) if part.get("domain") == [0, 1.06]]


def test_A1_139_scales() -> None:
    compared = compare_accounting(Approx(1, "1e-6"), counts=[1, 10])
    for rows in (compared, compared.rows, compared.series()):
        found = tables(charts.scales(rows))["scales"]
        assert named(found, "exact") == pytest.approx({1: 4.22468, 10: 13.3596}, rel=1e-5)
        assert named(found, "zCDP") == pytest.approx({1: 5.34998, 10: 16.9181}, rel=1e-5)


DRAWN: dict[str, Callable[[], Any]] = {
    "profiles": lambda: charts.profiles({"a": Profile.of(Pure(1))}),
    "lines": lambda: charts.trade_off_lines(gaussian_trade_off(1), [Pure(1)]),
    "masses": lambda: charts.loss_masses([(0, 1)]),
    "posteriors": lambda: charts.posteriors({"a": Pure(1)}),
    "growth": lambda: charts.growth({"a": {1: Fraction(1), 2: Fraction(2)}}),
    "scales": lambda: charts.scales([(1, "a", 1.0), (2, "a", 2.0)]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_can_be_drawn(name: str, tmp_path: Path) -> None:
    assert charts.save(DRAWN[name](), tmp_path / f"{name}.svg").stat().st_size > 3000


wrong: Any = charts
"""What no type checker would let pass."""


@pytest.mark.parametrize(
    "draw",
    [
        lambda: charts.profiles({}),
        lambda: charts.profiles({"a": Profile.nothing()}),
        lambda: charts.trade_off_lines(gaussian_trade_off(1), []),
        lambda: charts.loss_masses([]),
        lambda: charts.loss_masses([(0, -1)]),
        lambda: charts.posteriors({}),
        lambda: charts.posteriors({"a": Pure(1)}, false_alarms=0),
        lambda: charts.growth({"a": {1: math.inf}}),
        lambda: charts.growth({"a": {0: Fraction(0)}}, log=True),
        lambda: charts.scales([]),
        lambda: charts.scales([(1, "a", 0.0)]),
        lambda: charts.scales([(0, "a", 1.0)]),
        lambda: wrong.scales([(1, "x", "a")]),
        lambda: wrong.scales([1]),
        lambda: wrong.scales(1),
        lambda: wrong.growth({"a": {1: math.nan}}),
        lambda: wrong.growth({"a": {1: -1}}),
        lambda: wrong.growth({"a": {1: ZCDP(1)}}),
        lambda: wrong.growth({"a": 1}),
        lambda: wrong.growth(Pure(1)),
        lambda: wrong.profiles(Pure(1)),
        lambda: wrong.profiles({"a": ZCDP(1)}),
        lambda: wrong.profiles({"a": {1: math.nan}}),
        lambda: wrong.profiles({"a": {1: 2}}),
        lambda: wrong.profiles({"a": {-1: 0.5}}),
        lambda: wrong.trade_offs({"a": 3}),
        lambda: wrong.trade_offs({"a": ZCDP(1)}),
        lambda: wrong.trade_offs(Pure(1)),
        lambda: wrong.trade_off_lines(3, [Pure(1)]),
        lambda: wrong.trade_off_lines(GDP(1), Pure(1)),
        lambda: wrong.loss_masses([(0, math.nan)]),
        lambda: wrong.loss_masses([(math.nan, 1)]),
        lambda: wrong.loss_masses([(math.inf, 1)]),
        lambda: wrong.loss_masses([(0, "0.99")]),
        lambda: wrong.loss_masses([1]),
        lambda: wrong.loss_masses(1),
        lambda: wrong.posteriors(Pure(1)),
    ],
    ids=lambda draw: None,
)
def test_bad_arguments_are_refused(draw: Callable[[], Any]) -> None:
    with pytest.raises(BadArgument):
        draw()


def test_losses_without_a_test_are_refused() -> None:
    with pytest.raises(NoProvenRoute):
        charts.posteriors({"a": ZCDP(1)})  # type: ignore[dict-item]
