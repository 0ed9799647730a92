"""The numbers inside the charts of local privacy, read back from their JSON, and the tables beside them."""

from __future__ import annotations

import base64
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.chart_reading import headline, parts, tables

from sfumato import charts
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.losses.measures import Pure
from sfumato.charts.tones import DARK, ENLARGED, LIGHT, tone_image
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import up
from sfumato.local.choosing import candidates, frequencies
from sfumato.local.comparing import compare
from sfumato.local.drawing import plot_value
from sfumato.local.frequency import Frequencies
from sfumato.local.shuffle_gains import shuffle_gains
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_choice import ChoiceSurvey
from sfumato.local.survey_plans import survey_sizes

VALUES = [0] * 500 + [1] * 300 + [2] * 200


def counted(epsilon: float = 1, size: int = 3) -> Frequencies:
    protocol = frequencies(range(size), loss=epsilon, users=1000)
    return protocol.aggregate(protocol.randomize_many(VALUES, entropy=ReplayEntropy(4)))


def test_estimates_are_drawn_on_their_intervals_beside_the_truth() -> None:
    found = counted()
    chart = found.plot(truth={0: 500, 1: 300, 2: 200}, confidence="0.9")
    low, high = found.interval("0.9")
    rows = tables(chart)["intervals"]
    assert [row["name"] for row in rows] == ["0", "1", "2"]
    assert [row["share"] for row in rows] == found.shares.tolist()
    assert [(row["low"], row["high"]) for row in rows] == list(zip(low / 1000, high / 1000, strict=True))
    assert [row["truth"] for row in tables(chart)["truth"]] == [0.5, 0.3, 0.2]
    assert "1,000 people, ε = 1 a report; bars hold each share with 0.9 confidence" in headline(chart)
    assert "Diamonds" in headline(chart) and "Diamonds" not in headline(found.plot())
    assert [row["truth"] for row in tables(found.plot(truth=[5, 3, 2]))["truth"]] == [0.5, 0.3, 0.2]


def test_of_many_values_the_largest_are_drawn() -> None:
    protocol = frequencies(range(100), loss=4, users=1000)
    found = protocol.aggregate(protocol.randomize_many(VALUES, entropy=ReplayEntropy(1)))
    chart = found.plot()
    assert len(tables(chart)["estimates"]) == 30 and "70 smaller estimates are not drawn" in headline(chart)
    assert {"0", "1", "2"} <= {row["name"] for row in tables(chart)["estimates"]}
    assert "80 more values" in str(found) and str(found).count("…") == 20


def test_estimates_that_cannot_be_drawn_are_refused() -> None:
    empty = frequencies(range(3), loss=1, users=10).aggregate([])
    with pytest.raises(BadArgument, match="of one report at least"):
        empty.plot()
    with pytest.raises(BadArgument, match="of one report at least"):
        plot_value([empty], 1)
    with pytest.raises(BadArgument, match="a count for each of the 3 values"):
        counted().plot(truth=[1, 2])
    with pytest.raises(BadArgument, match="at least one loss"):
        plot_value([], 1)
    assert "3 values of 0 people" in str(empty)


def test_one_value_at_several_losses() -> None:
    found = [counted(epsilon) for epsilon in (2, 0.5)]
    chart = plot_value(found, 1, truth=0.3)
    rows = tables(chart)["intervals"]
    assert [row["x"] for row in rows] == [0.5, 2]
    assert [row["y"] for row in rows] == [float(each.shares[1]) for each in reversed(found)]
    assert rows[0]["high"] - rows[0]["low"] > rows[1]["high"] - rows[1]["low"]
    assert tables(chart)["truth"] == [{"y": 0.3}]


def test_protocols_are_compared_by_size_and_by_loss() -> None:
    by_size = compare(sizes=[2, 100], loss=1, users=5000)
    assert [row.best.name for row in by_size.rows] == [
        candidates(range(size), loss=1, users=5000)[0].name for size in (2, 100)
    ]
    drawn = {(row["series"], row["x"]): row["y"] for row in tables(by_size.plot())["lines"]}
    expected = {one.name: one.error for one in candidates(range(100), loss=1, users=5000)}
    assert {name: drawn[name, 100] for name in expected} == expected
    by_loss = compare(sizes=100, loss=["0.5", Pure(4)], users=5000)
    assert by_loss.by_loss and not by_size.by_loss
    assert {row["x"] for row in tables(by_loss.plot())["lines"]} == {0.5, 4}
    assert "5,000 people" in str(by_loss) and "best" in by_loss._repr_html_()
    with pytest.raises(BadArgument, match="several of one and a single one of the other"):
        compare(sizes=[2, 3], loss=[1, 2], users=10)
    with pytest.raises(BadArgument, match="at least one of each"):
        compare(sizes=[], loss=1, users=10)


def test_every_line_has_its_name_at_its_end_and_none_touch() -> None:
    lines = {f"line {place}": [(1.0, 1.0 + place / 1000), (10.0, 2.0 + place / 1000)] for place in range(8)}
    chart = charts.labelled_lines(lines, across_title="x", upward_title="y", title="t")
    names = tables(chart)["names"]
    assert {row["series"] for row in names} == set(lines) and {row["x"] for row in names} == {10.0}
    heights = sorted(np.log([row["at"] for row in names]))
    spread = np.log(2.007) - np.log(1.0)
    assert min(np.diff(heights)) > 0.95 * charts.local.LINE_HEIGHT / 320 * spread
    looks = [part for part in parts(chart.to_dict()) if isinstance(part.get("strokeDash"), dict)]
    assert len(looks[0]["strokeDash"]["scale"]["range"]) == 8
    with pytest.raises(BadArgument, match="positive finite"):
        charts.labelled_lines({"a": [(0, 1), (1, float("inf"))]}, across_title="x", upward_title="y", title="t")


def test_what_a_shuffler_buys() -> None:
    gains = shuffle_gains(losses=[1, 2], users=[1_000, 10_000], delta="1e-6")
    for gain in gains.gains:
        assert gain.central.epsilon == min(
            Fraction(gain.local.epsilon), shuffled_epsilon(gain.local.epsilon, reports=gain.users, delta="1e-6")
        )
    drawn = tables(gains.plot())["lines"]
    assert {(row["series"], row["x"], row["y"]) for row in drawn} == {
        (f"{gain.local} a report", gain.users, up(gain.central.epsilon)) for gain in gains.gains
    }
    other = tables(gains.plot("loss"))["lines"]
    assert {row["series"] for row in other} == {"1,000 people", "10,000 people"} and {row["x"] for row in other} == {
        1,
        2,
    }
    assert "δ = 1e-06" in headline(gains.plot()) and "10,000" in str(gains)
    with pytest.raises(BadArgument, match="'users' or 'loss'"):
        gains.plot("people")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="at least one of each"):
        shuffle_gains(losses=[], users=[10], delta=1e-6)


def test_few_people_are_never_charged_more_than_a_report() -> None:
    assert [gain.central.epsilon for gain in shuffle_gains(losses=[1], users=[1, 2], delta=1e-8).gains] == [1, 1]


def test_people_against_error_for_several_coins() -> None:
    sizes = survey_sizes([CoinSurvey("?", "1/2")], errors=["0.1", "0.2"])
    rows = {(row["series"], row["x"]): row["y"] for row in tables(sizes.plot())["lines"]}
    assert rows["truth with 1/2 (odds × 3)", 0.1] == 402 and rows["asked directly", 0.1] == 104


def test_choices_are_drawn() -> None:
    found = ChoiceSurvey("How?", ["bus", "car"]).estimate({"bus": 60, "car": 40})
    chart = found.plot(truth={"bus": 0.7, "car": 0.3})
    assert [row["share"] for row in tables(chart)["estimates"]] == [0.7, pytest.approx(0.3)]
    assert headline(chart).startswith("How?")


def unpacked(image: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Reads back a PNG of one part, true colours and no filters."""
    width, height = struct.unpack(">II", image[16:24])
    size = struct.unpack(">I", image[33:37])[0]
    lines = np.frombuffer(zlib.decompress(image[41 : 41 + size]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 3)


def test_tones_become_the_pixels_of_an_image() -> None:
    pixels = unpacked(tone_image(np.array([[0.0, 1.0, 0.5], [-3.0, 2.0, 0.25]])))
    assert pixels.shape == (2 * ENLARGED, 3 * ENLARGED, 3)
    assert tuple(pixels[0, 0]) == DARK == tuple(pixels[-1, 0])
    assert tuple(pixels[0, ENLARGED]) == LIGHT == tuple(pixels[-1, ENLARGED])
    with pytest.raises(BadArgument, match="finite"):
        tone_image(np.array([[np.nan]]))


def test_a_gallery_holds_every_picture_in_its_place() -> None:
    tones = [np.full((4, 3), share) for share in (0.0, 0.5, 1.0)]
    first, *others = (charts.Captioned(each, f"words {place}") for place, each in enumerate(tones))
    chart = charts.tone_gallery(first, [("row", others)], heads=["left", "right"], title="Side by side")
    found = tables(chart)
    images = [row for name, rows in found.items() if name.startswith("pictures") for row in rows]
    assert [row["name"] for row in images] == ["large", "row, left", "row, right"]
    for row, tone in zip(images, tones, strict=True):
        assert base64.b64decode(row["image"].partition(",")[2]) == tone_image(tone)
    assert images[1]["x"] < images[2]["x"] and images[1]["y"] == images[2]["y"]
    assert {row["words"] for row in found["captions"]} == {"left, words 1", "right, words 2"}
    with pytest.raises(BadArgument, match="a picture for each of the 2 heads"):
        charts.tone_gallery(first, [("row", others[:1])], heads=["left", "right"], title="t")
