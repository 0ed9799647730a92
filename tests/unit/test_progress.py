"""Progress: what the caller passes, a bar on a terminal, silence elsewhere."""

from __future__ import annotations

import io

import pytest

from sfumato.release.progress import reporting


def test_the_caller_is_told() -> None:
    told: list[tuple[int, int]] = []
    with reporting(lambda done, steps: told.append((done, steps)), "working") as tell:
        tell(1, 2)
    assert told == [(1, 2)]


def test_it_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting(None, "working") as tell:
        tell(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with reporting(None, "counting sheep") as tell:
        tell(1, 2)
    assert "counting sheep" in screen.getvalue()
    assert "50%" in screen.getvalue()
