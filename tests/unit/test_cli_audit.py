"""The command ``sfumato audit``, and auditing whatever there is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.errors import BadArgument

Run = Callable[..., tuple[int, str, str]]

REPORTS = """
from dataclasses import replace

import sfumato as sf

coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
liar = replace(coin, privacy_map=lambda d_in: sf.Pure("0.55"))
total = sf.vector(int, between=(0, 5)) >> sf.sum()
zero = sf.audit.Trial(lambda data: data, 4711, 4712, claim=sf.Pure(1))


class Shelf:
    coin = coin


def everything():
    return {"coin": coin, "more": [total]}


def wanting(argument):
    return coin


def torn():
    raise TypeError("torn")


nothing = 3
none = []
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    (tmp_path / "audited_reports.py").write_text(REPORTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sfumato", "audit", *arguments, "--tries", "10", "--samples", "1000"])
        with pytest.raises(SystemExit) as left:
            main()
        sys.modules.pop("audited_reports", None)
        return int(left.value.code or 0), *capsys.readouterr()

    return ran


@pytest.mark.parametrize("what", ["audited_reports:coin", "audited_reports.py:coin", "audited_reports:Shelf.coin"])
def test_a_measurement_is_audited_by_its_law_and_by_replay(run: Run, what: str) -> None:
    code, out, err = run(what)
    assert (code, err) == (0, "")
    assert "exact, from the output law" in out
    assert "neighbour fuzzing" in out
    assert "tight" in out


def test_a_function_may_give_several(run: Run) -> None:
    code, out, _ = run("audited_reports:everything")
    assert code == 0
    assert "randomized response" in out
    assert "sum" in out


def test_a_broken_promise_ends_with_6_and_a_report(run: Run) -> None:
    code, out, err = run("audited_reports:liar", "--html", "found/report.html")
    assert code == 6
    assert "violated" in out
    assert err == "Written: found/report.html\n"
    page = Path("found/report.html").read_text(encoding="utf-8")
    assert "violated" in page
    assert "<svg" in page


def test_private_data_is_shown_only_where_it_is_asked_for(run: Run) -> None:
    code, out, _ = run("audited_reports:zero")
    assert code == 6
    assert "4711" not in out
    assert "4711" in run("audited_reports:zero", "--witness")[1]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("audited_reports", "write MODULE:OBJECT"),
        (":coin", "write MODULE:OBJECT"),
        ("audited_reports:", "write MODULE:OBJECT"),
        ("no_such_module:coin", "there is no module no_such_module"),
        ("no_such_file.py:coin", "there is no file no_such_file.py"),
        ("audited_reports:tossed", "audited_reports has no tossed"),
    ],
)
def test_what_is_not_there_is_said(run: Run, what: str, said: str) -> None:
    code, _, err = run(what)
    assert code == 2
    assert said in err


@pytest.mark.parametrize("name", ["nothing", "wanting", "none", "Shelf"])
def test_what_cannot_be_audited_is_refused(run: Run, name: str) -> None:
    code, _, err = run(f"audited_reports:{name}")
    assert code == 3
    assert "what is audited must be a measurement" in err


def test_what_a_module_lacks_itself_is_not_hidden(run: Run, tmp_path: Path) -> None:
    (tmp_path / "audited_wanting.py").write_text("import no_such_package\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        run("audited_wanting:coin")


def test_what_a_function_raises_is_not_hidden(run: Run) -> None:
    with pytest.raises(TypeError, match="torn"):
        run("audited_reports:torn")


def test_a_path_that_cannot_be_written_to_is_refused_before_the_work(run: Run) -> None:
    code, out, err = run("audited_reports:torn", "--html", "report.pdf")
    assert (code, out) == (3, "")
    assert ".html" in err


def test_a_measurement_is_sampled_too() -> None:
    """What it draws is none of its law's business: only samples show a sampler that differs from its law."""
    coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
    stuck = replace(coin, function=lambda data, entropy: data).recorded()
    *before, sampled = sf.audit.examine(stuck, samples=2_000, tries=10)
    assert [str(found.verdict) for found in before] != []
    assert all(found.verdict is not sf.audit.Verdict.VIOLATED for found in before)
    assert sampled.verdict is sf.audit.Verdict.VIOLATED


def test_audits_that_were_made_already_are_taken_over() -> None:
    coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
    made = sf.audit.exact(coin)
    assert sf.audit.examine(one for one in [made]) == (made,)


def test_functions_that_give_functions_are_refused() -> None:
    with pytest.raises(BadArgument, match="a function that gives a function"):
        sf.audit.examine(lambda: lambda: None)
