"""Breaks copies of sfumato on purpose, one at a time, and sees whether the suite notices.

A package of links, with one line of one file changed, stands first on the path, and the tests that should notice run
against it, each in a process of its own. `python -m tests.mutants.runner` runs all of them and prints how many were
killed; with the word `training` it runs those of private training only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.mutants import MUTANTS
from tests.mutants.trainings import TRAINING

from sfumato.release.progress import Progress, reporting

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sfumato"

LONGEST = 600
"""Seconds after which the tests are given up."""

PYTEST = (
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "tests.mutants.imported",
    # Found by chance is not found: hypothesis tries the same examples each time, and remembers none.
    "--hypothesis-profile=ci",
)


class Fate(Enum):
    """Says what became of a broken copy."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNDECIDED = "undecided"


def broken(mutant: Mutant) -> str:
    """Gives the text of the file as the mutant has it; refuses where what it changes is not there exactly once."""
    text = (SOURCE / mutant.path).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: {mutant.path} holds what is to be changed {text.count(mutant.old)} times")
    return text.replace(mutant.old, mutant.new)


@contextmanager
def laid_over(mutant: Mutant | None) -> Iterator[Path]:
    """Gives a folder with the package, broken by a mutant where one is given: links, but for what it changes."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        package = Path(folder) / "sfumato"
        if mutant is None:
            package.symlink_to(SOURCE)
        else:
            link_around(SOURCE, package, Path(mutant.path))
            (package / mutant.path).write_text(broken(mutant), encoding="utf-8")
        yield Path(folder)


def link_around(source: Path, target: Path, changed: Path) -> None:
    """Makes a folder of links to all in another one, but for a file somewhere in it and what was compiled from it."""
    target.mkdir()
    inside = changed.parts[0]
    for entry in source.iterdir():
        if entry.name == "__pycache__":
            link_compiled(entry, target / entry.name, changed)
        elif entry.name != inside:
            (target / entry.name).symlink_to(entry)
    if len(changed.parts) > 1:
        link_around(source / inside, target / inside, changed.relative_to(inside))


def link_compiled(source: Path, target: Path, changed: Path) -> None:
    """Links what is compiled already, so that it need not be again. Python puts new files beside, never into these."""
    target.mkdir()
    for entry in source.iterdir():
        if len(changed.parts) > 1 or not entry.name.startswith(f"{changed.stem}."):
            (target / entry.name).symlink_to(entry)


def run(tests: Iterable[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs tests against the package in a folder."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "CI"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PYTEST, *tests],
        cwd=ROOT,
        env={**ours, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


def fate_of(mutant: Mutant, tests: Iterable[str]) -> tuple[Fate, str]:
    """Runs tests against a broken copy; gives its fate, and the end of what pytest said.

    Only a test that fails kills. A copy that cannot be imported, tests that are not there and a run that takes too long
    decide nothing.
    """
    with laid_over(mutant) as folder:
        try:
            done = run(tests, folder)
        except subprocess.TimeoutExpired:
            return Fate.UNDECIDED, f"gave up after {LONGEST} seconds"
    fates = {0: Fate.SURVIVED, 1: Fate.KILLED}
    return fates.get(done.returncode, Fate.UNDECIDED), (done.stdout or done.stderr)[-2000:]


def killers(mutants: Iterable[Mutant] = MUTANTS) -> list[str]:
    """Names every test that is to kill something, once."""
    return sorted({test for mutant in mutants for test in (*mutant.killers, *mutant.audits)})


def whole(tests: Iterable[str]) -> tuple[bool, str]:
    """Tells whether tests pass on a copy that is not broken; if not, a kill by them means nothing."""
    with laid_over(None) as folder:
        done = run(tests, folder)
    return done.returncode == 0, (done.stdout or done.stderr)[-2000:]


def kill_all(progress: Progress | None = None, mutants: Sequence[Mutant] = MUTANTS) -> tuple[int, int]:
    """Gives how many mutants are killed, of how many; each by all the tests that should."""
    passed, said = whole(killers(mutants))
    if not passed:
        raise RuntimeError(f"the killers do not pass on the package as it is:\n{said}")
    killed = 0
    with reporting(progress, "mutants") as tell:
        for done, mutant in enumerate(mutants, start=1):
            found = [fate_of(mutant, tests)[0] for tests in (mutant.killers, mutant.audits) if tests]
            killed += all(fate is Fate.KILLED for fate in found)
            tell(done, len(mutants))
    return killed, len(mutants)


def main() -> None:
    """Prints the number of mutants killed, and of all."""
    killed, mutants = kill_all(mutants=TRAINING if sys.argv[1:] == ["training"] else MUTANTS)
    print(f"{killed}/{mutants}")  # noqa: T201
    sys.exit(killed != mutants)


if __name__ == "__main__":
    main()
