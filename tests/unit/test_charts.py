"""The numbers inside every chart, read back from its Vega-Lite JSON, against formulas written out here."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import altair
import numpy as np
import pytest
from tests.unit.chart_reading import headline, parts, tables

from sfumato import charts
from sfumato.accounting.losses.measures import Approx, BoundedRange, Pure
from sfumato.accounting.losses.trade_off import gaussian_trade_off, trade_off
from sfumato.accounting.meaning.realised_loss import gaussian_realised, laplace_realised
from sfumato.charts import canvas
from sfumato.charts.curves import label, loss_atoms, profile_point, realised_loss, uncovered
from sfumato.charts.picture import flipped
from sfumato.charts.releases import histogram
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.datasets import portrait
from sfumato.entropy import ReplayEntropy, system
from sfumato.errors import BadArgument, MissingExtra
from sfumato.mechanisms.additive import laplace
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.textbook.continuous import Gaussian, Laplace
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

ONE, TWO = Fraction(1), Fraction(2)


def by_series(rows: list[dict[str, Any]]) -> dict[str, dict[float, float]]:
    found: dict[str, dict[float, float]] = {}
    for row in rows:
        found.setdefault(row["series"], {})[row["x"]] = row["y"]
    return found


def private_mean(scale: float) -> Measurement:
    return vector(float, size=10) >> clamp(0, 100) >> mean() >> laplace(scale)


def test_laplace_densities_of_two_scales() -> None:
    lines = by_series(tables(charts.noise_densities([Laplace(ONE), Laplace(TWO)]))["lines"])
    assert list(lines) == ["Laplace, scale 1", "Laplace, scale 2"]
    for scale, line in zip((1, 2), lines.values(), strict=True):
        assert line[0.0] == 1 / (2 * scale)
        assert all(y == pytest.approx(math.exp(-abs(x) / scale) / (2 * scale)) for x, y in line.items())


def test_discrete_laplace_stands_on_whole_numbers_beside_the_density() -> None:
    found = tables(charts.noise_densities({"line": Laplace(TWO), "points": DiscreteLaplace(TWO)}))
    [points] = by_series(found["points"]).values()
    assert all(x == int(x) for x in points)
    assert all(y == pytest.approx(math.tanh(0.25) * math.exp(-abs(x) / 2)) for x, y in points.items())
    assert list(by_series(found["lines"])) == ["line"]


def test_noise_on_many_integers_becomes_a_line() -> None:
    found = tables(charts.noise_densities([DiscreteGaussian(Fraction(1000))]))
    assert "points" not in found
    assert len(found["lines"]) < 1000


def test_gaussian_tails_fall_below_laplace_tails_on_the_logarithmic_chart() -> None:
    chart = charts.noise_densities([Laplace(ONE), Gaussian(Fraction("1.4142"))], log=True)
    thick, thin = by_series(tables(chart)["lines"]).values()
    end = max(thick)
    assert thin[end] < thick[end] / 10
    assert any(part.get("type") == "log" for part in parts(chart.to_dict()))


def test_accuracy_shades_what_lies_beyond_the_error() -> None:
    found = tables(charts.accuracy(Laplace(Fraction(10)), confidence=0.95))
    alpha = 10 * math.log(20)
    assert [row["x"] for row in found["limits"]] == [pytest.approx(-alpha), pytest.approx(alpha)]
    assert min(row["x"] for row in found["right_tail"]) == pytest.approx(alpha)
    assert max(row["x"] for row in found["left_tail"]) == pytest.approx(-alpha)


def test_accuracy_of_discrete_noise_leaves_at_most_beta_in_the_tails() -> None:
    noise = DiscreteLaplace(Fraction(5))
    chart = charts.accuracy(noise, confidence=0.95)
    found = tables(chart)
    tails = [row["y"] for row in found["left_tail"] + found["right_tail"]]
    edge = max(row["x"] for row in found["within"])
    assert sum(tails) <= 0.05 < sum(tails) + 2 * float(noise.pmf(int(edge)))
    assert "at most 15" in headline(chart)


def test_A1_090_odds() -> None:
    marked = tables(charts.odds([Pure(0.1), Pure(1), Pure(5)]))["losses"]
    assert [row["y"] for row in marked] == [pytest.approx(value, rel=1e-5) for value in (1.10517, 2.71828, 148.413)]
    assert all(row["y"] == pytest.approx(math.exp(row["x"])) for row in tables(charts.odds([Pure(2)]))["curve"])
    with pytest.raises(BadArgument):
        charts.odds([])
    with pytest.raises(BadArgument):
        charts.odds([Pure(math.inf)])


def test_neighbours_never_differ_by_more_than_the_loss() -> None:
    found = tables(charts.neighbours(Laplace(Fraction(10)), centres=(85, 95)))
    left, right = by_series(found["outcomes"]).values()
    gaps = [abs(math.log(left[x] / right[x])) for x in left]
    assert max(gaps) == pytest.approx(1)
    assert left[85.0] == pytest.approx(1 / 20)
    assert found["gap_size"][0]["text"] == "gap 1"
    assert math.log(found["gap"][0]["y2"] / found["gap"][0]["y"]) == pytest.approx(1)


def test_A1_084_delta_is_the_area_above() -> None:
    delta = 0.1269367
    assert uncovered(Gaussian(ONE), centres=(0, 1), epsilon=1) == pytest.approx(delta, rel=2e-5)
    assert uncovered(Laplace(ONE), centres=(0, 1), epsilon=1) == pytest.approx(0, abs=1e-12)
    chart = charts.delta_area(Gaussian(ONE), centres=(0, 1), loss=Pure(1))
    assert "δ = 0.127" in headline(chart)
    factor = math.e
    density = NormalDist().pdf
    for row in tables(chart)["above"]:
        low = min(density(row["x"]), factor * density(row["x"] - 1))
        assert (row["y"], row["y2"]) == (pytest.approx(density(row["x"])), pytest.approx(low))


def test_delta_of_discrete_noise_counts_every_outcome() -> None:
    for scale in (100, 1000, 5000):  # many outcomes are summed up in strides, and each stands for those beside it
        found = uncovered(DiscreteGaussian(Fraction(scale)), centres=(0, scale), epsilon=1)
        assert found == pytest.approx(0.1269367, rel=1e-4)


def test_delta_of_discrete_noise_is_drawn_outcome_by_outcome() -> None:
    chart = charts.delta_area(DiscreteGaussian(TWO), centres=(0, 1), loss=Pure("0.3"))
    marks = [part["mark"]["type"] for part in parts(chart.to_dict()) if isinstance(part.get("mark"), dict)]
    assert "bar" in marks
    assert "area" not in marks
    above = sum(row["y"] - row["y2"] for row in tables(chart)["above"])
    assert above == pytest.approx(uncovered(DiscreteGaussian(TWO), centres=(0, 1), epsilon=0.3), rel=1e-2)
    assert "bars add up" in headline(chart)


def test_a_delta_of_zero_is_called_zero() -> None:
    assert "δ = 0" in headline(charts.delta_area(Laplace(ONE), centres=(0, 1), loss=Pure(1)))


def test_A1_076_realised_loss_of_laplace_noise() -> None:
    found = [realised_loss(Laplace(ONE), outcome, centres=(10, 11)) for outcome in (7, 10.5, 13)]
    assert found == [1, 0, -1]


def test_A1_088_realised_loss_of_gaussian_noise() -> None:
    found = [realised_loss(Gaussian(ONE), outcome, centres=(0, 1)) for outcome in (0, 0.5, 3)]
    assert found == [0.5, 0, -2.5]


def test_realised_losses_are_clipped_for_laplace_and_straight_for_gaussian() -> None:
    clipped, straight = by_series(
        tables(charts.realised_losses([Laplace(TWO), Gaussian(TWO)], centres=(0, 1)))["losses"]
    ).values()
    for outcome, loss in clipped.items():
        assert loss == pytest.approx(float(laplace_realised(outcome, here=0, there=1, scale=2)), abs=1e-9)
    for outcome, loss in straight.items():
        assert loss == pytest.approx(float(gaussian_realised(outcome, here=0, there=1, scale=2)), abs=1e-9)
    assert max(clipped.values()) == 0.5
    assert max(straight.values()) > 1


def test_centres_are_two() -> None:
    with pytest.raises(BadArgument, match="two neighbours"):
        charts.neighbours(Laplace(ONE), centres=(1, 2, 3))


def test_discrete_noise_has_no_outcomes_between_whole_numbers() -> None:
    with pytest.raises(BadArgument, match="whole number"):
        realised_loss(DiscreteLaplace(ONE), 0.5, centres=(0, 1))


def test_truncated_windows_colour_what_only_one_neighbour_can_give() -> None:
    noise = Truncated(DiscreteLaplace(Fraction(4)), -12, 12)
    chart = charts.truncated_windows(noise, shift=4)
    rows = tables(chart)["outcomes"]
    alone = [row for row in rows if row["series"] == "possible on x only"]
    assert sorted(row["x"] for row in alone) == [-12, -11, -10, -9]
    assert sorted(row["x"] for row in rows if row["series"] == "possible on x′ only") == [13, 14, 15, 16]
    assert sum(row["y"] for row in alone) == pytest.approx(sum(float(noise.pmf(z)) for z in range(-12, -8)))
    assert f"{sum(row['y'] for row in alone):.3g}" in headline(chart)
    with pytest.raises(BadArgument, match="bounded"):
        charts.truncated_windows(DiscreteLaplace(ONE), shift=1)


def test_truncated_windows_approach_the_continuous_formula() -> None:
    # With b = 1, r = 3, Δ = 1 the mass out of reach is (exp(Δ/b) - 1) / (2 (exp(r/b) - 1)); here in steps of 1/100.
    noise = Truncated(DiscreteLaplace(Fraction(100)), -300, 300)
    rows = tables(charts.truncated_windows(noise, shift=100))["outcomes"]
    alone = sum(row["y"] for row in rows if row["series"] == "possible on x only")
    assert alone == pytest.approx((math.e - 1) / (2 * (math.exp(3) - 1)), rel=1e-2)


def test_range_windows_have_one_length_and_include_zero() -> None:
    pure, *windows = tables(charts.range_windows(BoundedRange(2), windows=5))["windows"]
    assert (pure["low"], pure["high"]) == (-2, 2)
    assert [row["high"] - row["low"] for row in windows] == [2] * 5
    assert all(row["low"] <= 0 <= row["high"] for row in windows)
    assert [row["high"] for row in windows] == [2, 1.5, 1, 0.5, 0]


def test_loss_distribution_of_laplace_noise() -> None:
    noise = DiscreteLaplace(Fraction(4))
    losses = {row["x"]: row["y"] for row in tables(charts.loss_distribution(noise, shift=4))["losses"]}
    assert sorted(losses) == [-1, -0.5, 0, 0.5, 1]
    assert losses[1] == pytest.approx(float(noise.cdf(0)), abs=1e-8)
    assert losses[-1] == pytest.approx(float(noise.upper_tail(4)), abs=1e-8)
    assert losses[0] == pytest.approx(float(noise.pmf(2)))


def test_A1_084_loss_distribution_of_gaussian_noise() -> None:
    noise = DiscreteGaussian(Fraction(100))
    atoms = loss_atoms(noise, shift=100)
    total = sum(atoms.values())
    average = sum(loss * mass for loss, mass in atoms.items())
    assert total == pytest.approx(1, abs=2e-9)
    assert average == pytest.approx(0.5, abs=1e-6)
    assert sum((loss - average) ** 2 * mass for loss, mass in atoms.items()) == pytest.approx(1, abs=1e-5)
    assert sum(math.exp(-loss) * mass for loss, mass in atoms.items()) == pytest.approx(1, abs=1e-6)
    assert float(profile_point(noise, shift=100, epsilon=1).delta) == pytest.approx(0.1269367, abs=1e-5)
    chart = charts.loss_distribution(noise, shift=100, loss=Pure(1))
    above = sum(row["y"] for row in tables(chart)["losses"] if row["series"] == "loss above ε")
    assert above == pytest.approx(0.3085375, abs=4e-3)
    assert "δ at this ε is 0.1269" in headline(chart)


def test_loss_distribution_of_truncated_noise_counts_infinite_losses_in_delta() -> None:
    noise = Truncated(DiscreteLaplace(Fraction(4)), -12, 12)
    assert loss_atoms(noise, shift=4)[math.inf] == pytest.approx(sum(float(noise.pmf(z)) for z in range(-12, -8)))


def test_A1_140_A1_141_trade_off_curves_are_drawn_as_computed() -> None:
    curves = {"approximate": trade_off(Approx(1, 1e-6)), "gaussian": gaussian_trade_off(1)}
    drawn = by_series(tables(charts.trade_offs(curves))["curves"])
    assert drawn["approximate"][0.2] == pytest.approx(0.4563426, abs=5e-8)
    assert drawn["gaussian"][0.2] == pytest.approx(0.4370792, abs=5e-8)
    assert drawn["gaussian"][0.5] == pytest.approx(0.1586553, abs=5e-8)


def test_finitely_many_lines_stay_below_the_curve_they_approximate() -> None:
    noise = DiscreteGaussian(Fraction(100))
    lines = trade_off(*(profile_point(noise, shift=100, epsilon=epsilon) for epsilon in (0, 0.5, 1, 2)))
    exact = gaussian_trade_off(1)
    gaps = [exact(Fraction(step, 50)) - lines(Fraction(step, 50)) for step in range(1, 50)]
    assert min(gaps) > -1e-4  # the discrete and the continuous Gaussian differ a little
    assert max(gaps) < 0.03


def test_per_query_losses_are_drawn_as_given() -> None:
    splits = {"basic": {count: Pure(Fraction(1, count)) for count in (1, 10, 100)}}
    assert by_series(tables(charts.per_query(splits))["splits"]) == {"basic": {1: 1.0, 10: 0.1, 100: 0.01}}
    with pytest.raises(BadArgument):
        charts.per_query({"none": {1: Pure(0)}})


def test_A1_068_picture_flips_a_quarter_and_states_ln_3() -> None:
    chart = charts.randomized_picture(portrait(), entropy=ReplayEntropy(1))
    assert f"ε = ln 3 = {math.log(3):.4g}" in headline(chart)
    found = tables(chart)
    shown = np.zeros_like(portrait())
    for row in found["flipped"]:
        shown[row["row"], row["columns"]] = True
    assert (shown == flipped(portrait(), entropy=ReplayEntropy(1))).all()
    original = np.zeros_like(portrait())
    for row in found["original"]:
        original[row["row"], row["columns"]] = True
    assert (original == portrait()).all()


def test_pixels_flip_with_probability_a_quarter() -> None:
    # |z| > 5.5 has probability 4e-8; a rate that is 5 % off lies 16 standard deviations away.
    picture = np.tile(portrait(), (20, 1))
    flips, pixels = int((flipped(picture, entropy=system()) != picture).sum()), picture.size

    def z(rate: float) -> float:
        return (flips - pixels * rate) / math.sqrt(pixels * rate * (1 - rate))

    assert abs(z(0.25)) < 5.5
    assert abs(z(0.2375)) > 5.5
    assert abs(z(0.2625)) > 5.5


@pytest.mark.parametrize("truthful", [0.4, 1, 2])
def test_a_picture_that_lies_or_never_lies_is_refused(truthful: float) -> None:
    with pytest.raises(BadArgument):
        flipped(portrait(), truthful=truthful)


def test_error_bars_are_the_releases_own() -> None:
    releases = {"strict": private_mean(20)([50.0] * 10), "loose": private_mean(1)([50.0] * 10)}
    rows = tables(charts.error_bars(releases))["releases"]
    for row, release in zip(rows, releases.values(), strict=True):
        assert row["x"] == release.value
        assert row["high"] - row["x"] == pytest.approx(release.half_width)
        assert row["x"] - row["low"] == pytest.approx(release.half_width)
    assert rows[0]["high"] - rows[0]["x"] == pytest.approx(20 * math.log(20))
    assert rows[0]["loss"] == "ε = 0.5"


def test_error_bars_need_errors_at_one_confidence() -> None:
    made = private_mean(10)
    with pytest.raises(BadArgument):
        charts.error_bars({})
    with pytest.raises(BadArgument, match="one confidence"):
        charts.error_bars({"a": made([1.0] * 10), "b": made([1.0] * 10, confidence=0.5)})
    with pytest.raises(BadArgument, match="state their error"):
        charts.error_bars({"a": (made >> (lambda value: value))([1.0] * 10)})


def test_histogram_keeps_the_middle_98_per_cent() -> None:
    rows = histogram([float(value) for value in range(1000)], bins=10)
    assert sum(row["y"] for row in rows) == pytest.approx(98)
    assert (rows[0]["x"], rows[-1]["x2"]) == (10, pytest.approx(989))
    assert all(row["y"] == pytest.approx(9.8, abs=0.2) for row in rows)


def test_guesses_mark_the_truth() -> None:
    found = tables(charts.guesses([60.0, 67.0, 80.0, 500.0], truth=67, possible=(0, 100)))
    assert found["truth"] == [{"series": "the truth: 67", "x": 67}]
    assert found["possible"] == [{"series": "possible: 0 to 100", "x": 0, "x2": 100}]


def horizontal(chart: Any) -> dict[str, Any]:
    """The horizontal axis of a chart's first layer that names one."""
    return next(part["encoding"]["x"] for part in parts(chart.to_dict()) if "encoding" in part)


def test_guesses_and_all_that_was_possible_are_in_the_picture() -> None:
    for found in ([66.0, 67.0, 68.0], [-500.0, 67.0, 500.0], [67.0, 67.0]):
        low, high = horizontal(charts.guesses(found, truth=67, possible=(0, 100)))["scale"]["domain"]
        assert low == min(0, *found)
        assert high == max(100, *found)


def test_guesses_say_how_many_lie_outside_the_picture() -> None:
    few, many = ([67.0 + place for place in range(size)] for size in (50, 1000))
    assert "further out" not in horizontal(charts.guesses(few, truth=67, possible=(0, 100)))["title"]
    assert "2% of them lie further out" in horizontal(charts.guesses(many, truth=67, possible=(0, 100)))["title"]


def test_errors_are_drawn_in_order_of_loss() -> None:
    rows = tables(charts.errors_by_loss({"ten": {Pure(2): 15.0, Pure(1): 30.0}}))["errors"]
    assert [(row["x"], row["y"]) for row in rows] == [(1, 30), (2, 15)]
    with pytest.raises(BadArgument):
        charts.errors_by_loss({"ten": {Pure(1): math.inf}})


def test_labels_name_kind_and_parameters() -> None:
    assert label(Laplace(Fraction(5, 2))) == "Laplace, scale 2.5"
    assert label(Truncated(DiscreteLaplace(TWO), -3, 3)) == "truncated discrete Laplace, scale 2, low −3, high 3"
    assert label(DiscreteGaussian.from_square(2)) == "discrete Gaussian, scale 1.414"


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<svg"), (".html", b"<!DOCTYPE html>"), (".json", b"{")]
)
def test_charts_are_saved_by_suffix(suffix: str, start: bytes, tmp_path: Path) -> None:
    written = charts.save(charts.odds([Pure(1)]), tmp_path / "new" / f"odds{suffix}")
    content = written.read_bytes()
    assert content.lstrip().lower().startswith(start.lower())
    if suffix == ".json":
        assert json.loads(content)["title"]["text"].startswith("Small ε")


def test_other_suffixes_and_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadArgument, match="suffix"):
        charts.save(charts.odds([Pure(1)]), tmp_path / "odds.gif")
    with pytest.raises(BadArgument, match="written to"):
        charts.save(charts.odds([Pure(1)]), tmp_path / "file" / "odds.json")


@pytest.mark.parametrize(("package", "act"), [("altair", "drawing"), ("vl_convert", "saving")])
def test_a_missing_extra_says_what_to_install(package: str, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = charts.odds([Pure(1)])
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{act} charts needs .*pip install 'sfumato\[plot\]'"):
        charts.odds([Pure(1)]) if package == "altair" else charts.save(chart, "never.png")


def test_drawing_changes_nothing_global() -> None:
    before = (altair.theme.active, altair.data_transformers.active, altair.renderers.active)
    first = charts.neighbours(Laplace(ONE), centres=(0, 1)).to_dict()
    assert (altair.theme.active, altair.data_transformers.active, altair.renderers.active) == before
    assert charts.neighbours(Laplace(ONE), centres=(0, 1)).to_dict() == first


def test_importing_charts_loads_no_plotting_package() -> None:
    script = "import sys, sfumato.charts; print({'altair', 'vl_convert', 'pandas'} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert ran.stdout.strip() == "set()"


def test_colours_are_distinct_and_every_series_gets_one() -> None:
    assert len(set(canvas.SERIES)) == len(canvas.SERIES) == len(canvas.DASHES)
    many = [f"series {place}" for place in range(8)]
    told = {name: encoding.to_dict()["scale"]["range"] for name, encoding in canvas.series(many, dashed=True).items()}
    looks = {(colour, tuple(dash)) for colour, dash in zip(told["color"], told["strokeDash"], strict=True)}
    assert len(looks) == 8
