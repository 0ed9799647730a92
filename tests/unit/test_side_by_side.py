"""The benchmarks' machinery: contenders run in their own interpreters, and what is missing is said."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import noise as benchmark
from side_by_side import contest, stopwatch
from side_by_side.contest import Contender, Contest, hold, ratios_line
from side_by_side.stopwatch import PATIENCE, best_round

SCRIPT = """
import sys
from side_by_side.stopwatch import report
report("laplace_int", kind="vector", scale=1.0, size=10, nanoseconds=5.0, path=sys.path[0])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives an empty stand-in for the folder of the benchmarks, with the real machinery in it."""
    (tmp_path / "contenders").mkdir()
    (tmp_path / "side_by_side").symlink_to(contest.BENCHMARKS / "side_by_side")
    monkeypatch.setattr(contest, "BENCHMARKS", tmp_path)
    return tmp_path


def held(*contenders: Contender) -> tuple[Contest, str]:
    console = Console(file=io.StringIO(), width=200)
    result = hold(contenders, console=console, label=lambda facts: str(facts["case"]))
    assert isinstance(console.file, io.StringIO)
    return result, console.file.getvalue()


def test_measurements_come_from_the_contenders_process(folder: Path) -> None:
    (folder / "contenders" / "one.py").write_text(SCRIPT)
    result, _ = held(Contender("one", "one.py"))
    [facts] = result.where(contender="one", case="laplace_int")
    assert facts["nanoseconds"] == 5.0
    assert facts["path"] == str(folder), "the script's own folder would shadow the packages it is named after"


def test_a_contender_that_is_not_installed_is_named_with_the_way_to_get_it(folder: Path) -> None:
    result, text = held(Contender("absent", "one.py", environment="never-made"))
    assert result.missing == ("absent",)
    assert "Not installed: absent" in text
    assert "make peers" in text


def test_a_contender_that_fails_is_named(folder: Path) -> None:
    (folder / "contenders" / "broken.py").write_text("raise SystemExit(3)")
    result, text = held(Contender("broken", "broken.py"))
    assert result.missing == ("broken",)
    assert "exit status 3" in text
    assert "make peers" not in text


def measured(contender: str, kind: str, case: str, scale: float, nanoseconds: float) -> contest.Facts:
    facts = {"contender": contender, "kind": kind, "case": case, "scale": scale}
    return {**facts, "size": 1, "nanoseconds": nanoseconds, "entropy_bytes": 8.0}


def test_the_ratio_is_the_smallest_over_the_scales() -> None:
    ours = [measured("sfumato", "vector", "laplace_int", scale, 50.0) for scale in benchmark.SCALES]
    theirs = [
        measured("OpenDP", "vector", "laplace_int", scale, 50.0 * times)
        for scale, times in zip(benchmark.SCALES, (300, 120, 250), strict=True)
    ]
    whole = Contest((*ours, *theirs), ())
    assert benchmark.smallest_ratio(whole, "laplace_int") == 120
    assert benchmark.smallest_ratio(Contest((*ours, *theirs[1:]), ()), "laplace_int") is None


def test_the_scalar_figure_is_the_slowest_call() -> None:
    scalars = [measured("sfumato", "scalar", case, 1.0, 1000.0 * (1 + i)) for i, case in enumerate(benchmark.CASES)]
    assert benchmark.slowest_scalar(Contest(tuple(scalars), ())) == 4.0
    assert benchmark.slowest_scalar(Contest((), ())) is None


def test_the_last_line_can_be_read_by_a_program() -> None:
    line = ratios_line({"laplace_int": 134.56, "gaussian_int": 1234.5, "scalar_us": None})
    assert line == "ratios: laplace_int=135 gaussian_int=1234 scalar_us=?"
    assert re.fullmatch(r"ratios:( \w+=[\d.?]+)+", line)


class Watch:
    """Shows the times that work says it took."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0

    def perf_counter(self) -> float:
        return self.wall

    def process_time(self) -> float:
        return self.processor

    def work(self, wall: float, processor: float) -> None:
        self.wall, self.processor = self.wall + wall, self.processor + processor


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    monkeypatch.setattr(stopwatch, "time", made)
    return made


def test_the_fastest_round_counts(watch: Watch) -> None:
    rounds = iter([0.03, 0.001, 0.02])
    best = best_round(lambda: watch.work(seconds := next(rounds), seconds), seconds=0, rounds=3)
    assert best == pytest.approx((0.001, 1))


def test_a_round_that_waited_for_a_processor_is_tried_again_and_told(watch: Watch) -> None:
    calls: list[None] = []

    def wait() -> None:
        calls.append(None)
        watch.work(0.002, 0.0018)

    assert best_round(wait, seconds=0, rounds=2).share == pytest.approx(0.9)
    assert len(calls) == 2 * PATIENCE


def test_a_busy_machine_is_named(folder: Path) -> None:
    (folder / "contenders" / "one.py").write_text(SCRIPT.replace("size=10", "size=10, share=0.4"))
    result, text = held(Contender("one", "one.py"))
    assert result.disturbed == {"one": 1}
    assert "do not quote the ratios" in text
    (folder / "contenders" / "one.py").write_text(SCRIPT.replace("size=10", "size=10, share=0.99"))
    assert "do not quote" not in held(Contender("one", "one.py"))[1]
