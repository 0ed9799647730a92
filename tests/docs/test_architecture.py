"""The map of the house is the house: layers as imports keep to them, walks as questions and charges take them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.adaptive.costs import Cost

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sfumato"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = re.compile(r"^LAYERS: .*?^\)", re.MULTILINE | re.DOTALL)


def picture(heading: str) -> list[list[str]]:
    """The lines of the picture under a heading, each as its words before the explanation."""
    block = PAGE.partition(f"## {heading}\n")[2].partition("```text\n")[2].partition("```")[0]
    return [re.split(r" {2,}", line)[0].split() for line in block.splitlines()]


def test_the_layers_are_those_that_imports_keep_to() -> None:
    source = (ROOT / "tests" / "unit" / "test_layers.py").read_text(encoding="utf-8")
    found = LAYERS.search(source)
    assert found is not None
    layers = [re.findall(r'"(\w+)"', line) for line in found[0].splitlines()]
    assert picture("Layers") == [names for names in layers if names]


def files_of(run: Callable[[], object]) -> list[str]:
    """The files of the package that run, call by call."""
    calls: list[str] = []

    def see(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)):
            calls.append(path.removeprefix(f"{PACKAGE}/"))

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def missing(stops: list[str], calls: Iterator[str]) -> str | None:
    """The first stop that the calls do not come to, in the order of the picture."""
    return next((stop for stop in stops if stop not in calls), None)


def session() -> sf.Session:
    rows = {"user_id": [1, 1, 2, 3], "day": ["Mon", "Tue", "Mon", "Tue"], "minutes": [5.0, 7.0, 8.0, 90.0]}
    columns: dict[str, object] = {
        "user_id": {"type": "int"},
        "day": {"categories": ["Mon", "Tue"], "source": "the calendar"},
        "minutes": {"type": "float", "between": [0, 120], "source": "opening hours"},
    }
    unit = {"protects": "a person", "id": "user_id"}
    book: dict[str, object] = {
        "codebook": 1,
        "title": "Visits",
        "unit": unit,
        "tables": {"visits": {"columns": columns}},
    }
    data = sf.Dataset(rows, name="visits", codebook=book)
    return data.session(limit=sf.Approx(1, 1e-6), ledger="memory:")


def test_a_question_walks_as_drawn() -> None:
    asked = session()
    question = "SELECT day, AVG(minutes) AS mean FROM visits GROUP BY day"
    settings: dict[str, Any] = {"loss": sf.Pure("0.1"), "max_groups": 2, "max_rows_per_group": 2}
    calls = files_of(lambda: asked.sql(question, **settings))
    stops = [words[0] for words in picture("The walk of a question")]
    assert missing(stops, iter(calls)) is None
    assert missing(stops[::-1], iter(calls)) is not None  # the order is looked at


def test_a_charge_walks_as_drawn() -> None:
    ledger = sf.Ledger.open("memory:")
    ledger.open_account("visits", limit=sf.Approx(1, 1e-6))
    ledger.open_account("visits/ada", limit=sf.Approx(1, 1e-6))
    cost = Cost(sf.Approx("0.05", "1e-9"), sf.events.Noise(sf.noise.DiscreteGaussian(101), 1))
    calls = files_of(lambda: ledger.charge("visits/ada", cost))
    assert missing([words[0] for words in picture("The walk of a charge")], iter(calls)) is None


@pytest.mark.parametrize("heading", ["The walk of a question", "The walk of a charge"])
def test_every_stop_is_a_file(heading: str) -> None:
    stops = [words[0] for words in picture(heading)]
    assert len(stops) > 5 and [stop for stop in stops if not (PACKAGE / stop).is_file()] == []
