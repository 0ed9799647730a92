"""Made-up students and two small classes, in the shape of those that textbooks ask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.making import MadeUp, Maker

STUDENTS, ABSENCES = 649, 2255
SCHOOLS, FAMILIES = ("GP", "MS"), ("GT3", "LE3")
MOST_ABSENCES, BEST = 50, 20

CLASSES = {
    "ComputerScience101": (
        ("58394", "Doy", "Easterbrook", "computer science", 80),
        ("29485", "Merridie", "Blockwell", "history", 85),
        ("92554", "Denys", "Phorsby", "physics", 95),
        ("02359", "Coreen", "Otley", "english", 90),
        ("02945", "Merci", "Wiszniewski", "history", 95),
    ),
    "History101": (
        ("09528", "Teodoro", "Anscombe", "english", 85),
        ("10394", "Kala", "Tidcombe", "english", 85),
        ("85422", "Theodosia", "Kelson", "computer science", 90),
        ("25925", "Saunderson", "Dunlap", "english", 90),
        ("29485", "Merridie", "Blockwell", "history", 95),
        ("92554", "Denys", "Phorsby", "physics", 95),
        ("02359", "Coreen", "Otley", "english", 85),
        ("02945", "Merci", "Wiszniewski", "history", 95),
    ),
}
"""Two classes: Cowan, Shoemate, Pereira 2024, Hands-On Differential Privacy, Tables D-1 and D-2; nobody exists."""


def students(*, seed: int = 0) -> MadeUp:
    """Makes up 649 students (school, famsize, absences, G3) with 2,255 absences in all, whatever the seed.

    They resemble the Portuguese students of Cortez and Silva 2008 (UCI, "Student Performance"): as many at each school
    and from families of each size, with grades from 0 to 20 that are better at one of the schools.

    >>> made = students()
    >>> len(made), int(made.columns["absences"].sum())
    (649, 2255)
    """
    maker = Maker.seeded("students", seed)
    school = np.repeat([0, 1], [423, 226])
    family = np.repeat([0, 1], [457, 192])[maker.order(STUDENTS)]
    luck = maker.fractions(STUDENTS) + maker.fractions(STUDENTS) + maker.fractions(STUDENTS) - 1.5
    grade = np.rint(12.5 - 1.9 * school + 6 * luck).astype(np.int64)
    missed = (26 * maker.fractions(STUDENTS) ** 2 * maker.fractions(STUDENTS)).astype(np.int64)
    columns = {
        "school": np.array(SCHOOLS)[school],
        "famsize": np.array(FAMILIES)[family],
        "absences": _with_total(missed, ABSENCES),
        "G3": np.clip(grade, 0, BEST),
    }
    return MadeUp("students", columns, "students")


def _with_total(values: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Moves values by one, from the first on, until their sum is right."""
    moved = values.copy()
    while (gap := total - int(moved.sum())) != 0:
        step = 1 if gap > 0 else -1
        places = np.flatnonzero(moved < MOST_ABSENCES if gap > 0 else moved > 0)[: abs(gap)]
        moved[places] += step
    return moved


def history101() -> MadeUp:
    """A class of eight (student_id, first_name, last_name, major, grade); ids are texts.

    >>> history101().columns["grade"].mean().item()
    90.0
    """
    return _class("History101")


def computer_science101() -> MadeUp:
    """A class of five; four of them are in `history101` too.

    >>> computer_science101().columns["grade"].mean().item()
    89.0
    """
    return _class("ComputerScience101")


def _class(name: str) -> MadeUp:
    names = ("student_id", "first_name", "last_name", "major", "grade")
    columns = (np.array(column) for column in zip(*CLASSES[name], strict=True))
    return MadeUp(name, dict(zip(names, columns, strict=True)), "classes")
