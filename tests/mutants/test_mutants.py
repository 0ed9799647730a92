"""That the suite notices when sfumato is broken: every mutant is killed, and by tests that pass where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.mutant import Mutant
from tests.mutants.mutants import FIRST, MUTANTS
from tests.mutants.runner import ROOT, SOURCE, Fate, broken, fate_of, killers, link_around, whole

NOT_BEHAVIOUR = ("test_guarantees", "test_style", "test_layers", "tests/docs", "tests/mutants")
"""Tests that would notice nearly any change, whatever it does."""


def test_there_are_enough_of_them_and_no_two_are_alike() -> None:
    assert len(MUTANTS) >= 30
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.path, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_a_mutant_changes_is_there_once_and_it_is_python_still(mutant: Mutant) -> None:
    compile(broken(mutant), mutant.path, "exec")
    assert mutant.killers
    assert mutant.trap


def test_behaviour_kills() -> None:
    for test in killers():
        assert not any(name in test for name in NOT_BEHAVIOUR)
        assert Path(ROOT / test.partition("::")[0]).is_file()


def test_a_mutant_that_changes_nothing_survives_and_one_that_cannot_be_imported_decides_nothing() -> None:
    test = ("tests/unit/test_exact.py::test_up_and_down_enclose_and_touch",)
    same = Mutant("same", "none", "exact.py", "near / 2", "near / 2 ", test)
    assert fate_of(same, same.killers)[0] is Fate.SURVIVED
    no_module = Mutant("no module", "none", "exact.py", "import math\n", "import nothing_of_that_name\n", test)
    assert fate_of(no_module, no_module.killers)[0] is Fate.UNDECIDED


def test_only_the_file_that_changes_is_no_link(tmp_path: Path) -> None:
    """What is compiled of a broken file must not come from, nor go to, the package itself."""
    link_around(SOURCE, tmp_path / "sfumato", Path("noise/uniform.py"))
    real = {path.relative_to(tmp_path) for path in (tmp_path / "sfumato").rglob("*") if not path.is_symlink()}
    folders = {Path("sfumato"), Path("sfumato/noise")}
    assert real == {
        Path("sfumato/noise"),
        *(folder / "__pycache__" for folder in folders if (tmp_path / folder / "__pycache__").exists()),
    }
    names = {path.name for path in (SOURCE / "noise").iterdir()}
    assert {path.name for path in (tmp_path / "sfumato" / "noise").iterdir()} == names - {"uniform.py"}
    assert not list((tmp_path / "sfumato").rglob("uniform.*.pyc"))


def test_killers_of_the_first_pass_where_nothing_is_broken() -> None:
    passed, said = whole(sorted({test for mutant in FIRST for test in mutant.killers}))
    assert passed, said


@pytest.mark.parametrize("mutant", FIRST, ids=lambda mutant: mutant.name)
def test_the_first_of_every_family_is_killed(mutant: Mutant) -> None:
    fate, said = fate_of(mutant, mutant.killers)
    assert fate is Fate.KILLED, said


@pytest.mark.nightly
def test_all_killers_pass_where_nothing_is_broken() -> None:
    passed, said = whole(killers())
    assert passed, said


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_killed(mutant: Mutant) -> None:
    for tests in (mutant.killers, mutant.audits):
        fate, said = fate_of(mutant, tests) if tests else (Fate.KILLED, "")
        assert fate is Fate.KILLED, said
