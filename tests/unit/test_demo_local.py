"""The stories of local privacy: the portrait, whose pixels report, and the survey with two coins."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from sfumato.accounting.losses.measures import Pure
from sfumato.demo.mona_lisa import COLUMNS, CROWD, LOSSES, ROWS, WHITE, mona_lisa, portray, shades_for
from sfumato.demo.mona_lisa_story import draw_figure
from sfumato.demo.painting import Stroke, paint, smoked
from sfumato.demo.survey import COPIED, QUESTION, STUDENTS, ask_students, interview, three_questions
from sfumato.demo.survey_story import ask
from sfumato.demo.terminal_pictures import letters_of, shrunk
from sfumato.entropy import ReplayEntropy
from sfumato.local.survey import CoinSurvey

NO_CHARTS = "import sys; sys.modules['altair'] = None"


def run(*arguments: str, folder: Path, before: str = "pass") -> subprocess.CompletedProcess[str]:
    """Runs a story in a fresh interpreter, after some statements, without a terminal."""
    asked = f"sys.argv = ['sfumato', 'demo', *{list(arguments)!r}]"
    script = f"{before}; import sys; from sfumato.cli.main import main; {asked}; main()"
    command = [sys.executable, "-X", "utf8", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, encoding="utf-8")


def test_the_portrait_has_a_face_eyes_hands_and_that_smile() -> None:
    tones = mona_lisa() / WHITE
    unit = COLUMNS / 100

    def tone(x: float, y: float) -> float:
        return float(tones[int(y * unit), int(x * unit)])

    assert tones.shape == (ROWS, COLUMNS) and 0 <= tones.min() < 0.15 and 0.85 < tones.max() <= 1
    forehead, hair, dress, sky, hand = (tone(*place) for place in ((48, 27), (35, 24), (50, 100), (20, 8), (40, 118)))
    assert min(forehead, hand) > sky > dress and hair < 0.35 and dress < 0.2
    assert tone(42.0, 36.7) < 0.3 < tone(40.3, 36.9)  # a pupil beside the white of the eye
    lips = tones[int(49 * unit) : int(53.5 * unit)]
    corner, middle = (int(np.argmin(lips[:, int(x * unit)])) for x in (53, 48))
    assert corner < middle  # the corners of the mouth are raised


def test_strokes_are_soft_and_cover_what_they_outline() -> None:
    square = Stroke(((30, 30), (70, 30), (70, 70), (30, 70)), 1.0, soft=2.0)
    painted = paint(np.zeros((100, 100)), [square])
    assert painted[50, 50] > 0.99 and painted[5, 5] < 0.01
    assert 0.2 < painted[50, 26] < 0.8 or 0.2 < painted[50, 24] < 0.9  # the edge is smoked away
    line = paint(np.zeros((100, 100)), [Stroke(((10, 50), (90, 50)), 1.0, soft=0.1, width=4.0)])
    assert line[50, 50] == pytest.approx(1) and line[60, 50] == pytest.approx(0) and 3 < line[:, 50].sum() < 5
    assert smoked(np.full((20, 30), 0.4), 5.0) == pytest.approx(np.full((20, 30), 0.4))


def test_shades_are_right_on_average_and_as_far_off_as_stated() -> None:
    # 40,000 draws of each with a replayed key; means within 6 deviations.
    for epsilon in ("0.5", "1", "4", "8"):
        shades = shades_for(Pure(epsilon))
        for tone in (0, 77, 128, 255):
            tones = np.full((200, 200), tone)
            found = shades.estimated(shades.reports(tones, entropy=ReplayEntropy(7)))
            error = shades.error(tones)
            assert abs(found.mean() - tone / WHITE) < 6 * error / 200
            assert np.sqrt(np.mean((found - tone / WHITE) ** 2)) == pytest.approx(error, rel=0.1)


def test_no_other_number_of_shades_is_better() -> None:
    assert [shades_for(loss).count for loss in LOSSES] == [2, 2, 3, 3, 6, 19]
    assert all(shades_for(loss).protocol.loss == loss for loss in LOSSES)


def test_a_report_of_a_tone_keeps_the_loss() -> None:
    """Rounding comes before the response, so the law of a report is a mixture of laws that keep the loss."""
    for loss in LOSSES:
        shades = shades_for(loss)
        kept, other = shades.protocol.supports_truth, shades.protocol.supports_other
        laws = []
        for tone in (0, 1, 100, 254, 255):
            low, part = divmod(tone * (shades.count - 1), WHITE)
            law = [other] * shades.count
            law[low] += (kept - other) * Fraction(WHITE - part, WHITE)
            if part:
                law[low + 1] += (kept - other) * Fraction(part, WHITE)
            assert sum(law) == 1
            laws.append(law)
        worst = max(a / b for one in laws for two in laws for a, b in zip(one, two, strict=True))
        assert math.log(worst) <= float(loss.epsilon) + 1e-12


def test_softening_costs_nothing_and_a_crowd_helps() -> None:
    tones = mona_lisa(108, 75)
    found = portray(tones, losses=LOSSES[1:5], people=30, entropy=ReplayEntropy(2))
    for each in found:
        assert each.errors[0] > each.errors[1] > each.errors[2]
        assert each.softened.min() >= 0 and each.softened.max() <= 1
    assert [each.errors[2] for each in found] == sorted((each.errors[2] for each in found), reverse=True)
    assert len(np.unique(found[0].arrived)) == 2


def test_pictures_shrink_by_averages() -> None:
    picture = np.arange(12.0).reshape(3, 4) / 11
    assert shrunk(picture, 3, 4) == pytest.approx(picture)
    assert shrunk(picture, 1, 1)[0, 0] == pytest.approx(picture.mean())
    assert shrunk(picture, 2, 3).mean() == pytest.approx(picture.mean())


def test_pictures_are_letters_or_coloured_blocks() -> None:
    picture = np.array([[0.0, 1.0]] * 4)
    plain = letters_of(Console(file=StringIO()), picture, width=2)
    assert str(plain).splitlines() == ["@ "] * 2
    terminal = Console(file=StringIO(), force_terminal=True, color_system="truecolor")
    assert terminal.encoding.startswith("utf")
    coloured = letters_of(terminal, picture, width=2)
    assert str(coloured).splitlines() == ["▀▀"] * 2
    assert {str(span.style) for span in coloured.spans} >= {"rgb(38,26,20) on rgb(38,26,20)"}


def test_the_portrait_is_told_on_eighty_columns(tmp_path: Path) -> None:
    ran = run("mona-lisa", folder=tmp_path, before=NO_CHARTS)
    assert (ran.returncode, ran.stderr) == (0, "")
    said = " ".join(ran.stdout.split())
    assert "32,400 pixels" in said and f"{CROWD} people a pixel" in said and "8 × 2,981 19" in said
    assert "pip install 'sfumato[plot]'" in said
    assert all(len(line.rstrip()) <= 80 for line in ran.stdout.splitlines())


def test_the_figure_has_a_picture_for_every_loss(tmp_path: Path) -> None:
    tones = mona_lisa(36, 25)
    found = portray(tones, losses=LOSSES[2:4], people=2, entropy=ReplayEntropy(1))
    written = draw_figure(tones, found, output=tmp_path)
    assert written.name == "mona-lisa.png" and written.read_bytes().startswith(b"\x89PNG")


def test_coins_fall_as_they_do_on_a_table() -> None:
    survey = CoinSurvey(QUESTION)
    # 20,000 interviews with a replayed key; each share within 6 deviations of 1/2, 1/4, 1/4.
    entropy = ReplayEntropy(9)
    seen = Counter(
        (each.heads, each.second) for each in (interview(True, survey=survey, entropy=entropy) for _ in range(20_000))
    )
    for coins, chance in (((True, None), 0.5), ((False, True), 0.25), ((False, False), 0.25)):
        assert abs(seen[coins] - 20_000 * chance) < 6 * math.sqrt(20_000 * chance * (1 - chance))
    assert sum(seen.values()) == 20_000 and len(seen) == 3
    for _ in range(50):
        each = interview(False, survey=survey, entropy=entropy)
        assert each.said is (False if each.heads else each.second)


def test_a_thousand_answers_find_the_share() -> None:
    found = ask_students(CoinSurvey(QUESTION), entropy=ReplayEntropy(3))
    assert found.truth == Fraction(COPIED, STUDENTS) and found.estimate.answers == STUDENTS
    assert abs(found.estimate.share - found.truth) < Fraction(1, 8)
    assert three_questions().loss <= Pure("1.0986123")


def test_the_survey_is_told_and_drawn(tmp_path: Path) -> None:
    ran = run("survey", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    said = " ".join(ran.stdout.split())
    for words in (
        "1,000 said yes",
        "A yes proves nothing",
        "more refused to answer",
        "1,574",
        "3 questions, ε = 1.0981",
    ):
        assert words in said
    assert all(len(line.rstrip()) <= 80 for line in ran.stdout.splitlines())
    folder = tmp_path / "sfumato-demo"
    assert sorted(path.name for path in folder.iterdir()) == ["survey-people.png", "survey-sheet.md"]
    assert "it falls heads" in (folder / "survey-sheet.md").read_text(encoding="utf-8")


def asked(typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the survey says to somebody who types this."""
    monkeypatch.setattr(sys, "stdin", StringIO(typed))
    ask(Console(width=80))
    return capsys.readouterr().out


@pytest.mark.parametrize("typed", ["yes\n", " N \n", "hm\nja\n"])
def test_the_survey_asks_whoever_is_there(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = asked(typed, monkeypatch, capsys)
    assert QUESTION in said and "factor of 3 at most" in said
    coins = said.partition("First coin: ")[2]
    second = coins.partition("Second coin: ")[2]
    truth = "no" if "N" in typed else "yes"
    sent = truth if coins.startswith("heads") else "yes" if second.startswith("heads") else "no"
    assert f"This would be sent: {sent}." in said
    assert "holds it for 25.0% likely now" in said if sent == "yes" else "holds it for 3.6% likely now" in said


@pytest.mark.parametrize(("typed", "times"), [("", 1), ("\n", 1), ("perhaps\nhm\nwell\n", 3)])
def test_nobody_has_to_answer(
    typed: str, times: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = asked(typed, monkeypatch, capsys)
    assert said.count("(yes/no)") == times and "Nothing was tossed" in said and "First coin" not in said


def test_only_a_survey_asks(tmp_path: Path) -> None:
    ran = run("visits", "--ask", folder=tmp_path)
    assert ran.returncode == 2 and "sfumato demo survey --ask" in ran.stderr


@pytest.mark.parametrize("story", ["mona-lisa", "survey"])
def test_a_folder_that_cannot_be_made_is_refused_in_one_line(story: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run(story, "--output", "file", folder=tmp_path)
    assert ran.returncode == 3
    [line] = ran.stderr.splitlines()
    assert line.startswith("sfumato: ") and "written to" in line


def test_breaking_off_leaves_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sfumato", "demo", "survey", "--ask"]
    pipe = subprocess.PIPE
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests in the background ignores it
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, preexec_fn=heard) as process:
        assert process.stdout is not None
        seen = b""
        while b"(yes/no)" not in seen:
            letter = process.stdout.read(1)
            assert letter, "it ended before it asked"
            seen += letter
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and b"Traceback" not in said
