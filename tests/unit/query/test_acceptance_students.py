"""Acceptance cases on tables in which a student has one row, and on two classes that share students."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.unit.query.opened import MUCH, arrow, close, dataset_of, ready, session_of

import sfumato as sf
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Rows, Total
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

ONE = sf.Pure(1)


def students(limit: Any = MUCH) -> Session:
    return session_of(dataset_of("students"), limit)


def columns() -> dict[str, Any]:
    return dict(sf.datasets.students().columns)


@cache
def classes() -> Dataset:
    history, science = sf.datasets.history101(), sf.datasets.computer_science101()
    data = {"History101": arrow(history), "ComputerScience101": arrow(science)}
    return Dataset(data, codebook=history.codebook, name="classes")


def scales(planned: CompiledQuery) -> list[float]:
    return [float(part.noise.scale) for noises in planned.noises for part in noises.values()]  # type: ignore[attr-defined]


def moves(planned: CompiledQuery) -> list[float]:
    """Gives how far one unit moves each noisy number, in its own units (L1)."""
    return [float(part.influence.l1) for noises in planned.noises for part in noises.values()]


# A student, one row.


def test_A1_151_A3_104_a_count_of_students() -> None:
    session = students(ONE)
    text = "SELECT COUNT(*) AS n FROM students"
    planned = ready(session, text, loss=ONE)
    assert scales(planned) == moves(planned) == [1]
    release = session.sql(text, loss=ONE)
    assert close(release.value["n"], [649]) and release.loss == ONE and release.unit == "a student"
    assert "a student has at most 1 row of students" in str(release.facts)


def test_A1_152_A3_105_a_sum_of_absences() -> None:
    session = students(ONE)
    text = "SELECT SUM(absences) AS s FROM students"
    planned = ready(session, text, loss=ONE)
    assert scales(planned) == moves(planned) == [50]
    release = session.sql(text, loss=ONE)
    (low,), (high,) = release.value["s"].low, release.value["s"].high
    assert 149.8 <= (high - low) / 2 <= 150 and close(release.value["s"], [2255])


def test_A1_153_A3_106_a_mean_for_each_size_of_family() -> None:
    session = students(sf.Pure(2))
    for key, values in (("famsize", ["GT3", "LE3"]), ("school", ["GP", "MS"])):
        text = f"SELECT {key}, AVG(G3) AS m FROM students GROUP BY {key}"
        planned = ready(session, text, loss=ONE)
        # The sum is taken around 10, the middle of [0, 20]: one student moves it by 10, not by 20.
        assert moves(planned) == [1, 10] and scales(planned) == [2, 20]
        answer = session.sql(text, loss=ONE).value
        assert list(answer[key].values) == values
        made = columns()
        exact = [made["G3"][made[key] == value].astype(int).mean() for value in values]
        assert close(answer["m"], exact)


def test_A1_154_a_count_of_one_school() -> None:
    planned = ready(students(), "SELECT COUNT(*) AS n FROM students WHERE school = 'GP'", loss=sf.Pure(0.1))
    assert scales(planned) == [10]


def test_A1_155_a_mean_of_one_school_is_one_question() -> None:
    session = students(sf.Pure(3))
    text = "SELECT famsize, AVG(G3) AS m FROM students WHERE school = 'GP' GROUP BY famsize"
    assert session.sql(text, loss=ONE).loss == ONE and session.spent == ONE


@pytest.mark.parametrize("text", ["SELECT * FROM students", "SELECT G3 FROM students WHERE school = 'GP'"])
def test_A1_156_rows_are_refused_and_cost_nothing(text: str) -> None:
    session = students(ONE)
    with pytest.raises(sf.errors.QueryRefused, match="rows of private tables never leave"):
        session.sql(text, loss=ONE)
    assert session.spent == sf.Pure(0)


def test_A1_157_a_sum_without_bounds_is_refused() -> None:
    book = sf.datasets.students().codebook.to_plain()
    del book["tables"]["students"]["columns"]["absences"]["between"]  # type: ignore[index, call-overload]
    session = session_of(Dataset(arrow(sf.datasets.students()), codebook=book), ONE)  # type: ignore[arg-type]
    with pytest.raises(sf.errors.QueryRefused, match=r"SUM\(absences\) has no bounds.*CLAMP\(absences, lower, upper\)"):
        session.sql("SELECT SUM(absences) AS s FROM students", loss=ONE)
    assert session.spent == sf.Pure(0)


def test_A1_158_counts_and_sums_get_geometric_noise_also_those_of_floats() -> None:
    session = students()
    text = "SELECT COUNT(*) AS n, SUM(G3) AS whole, SUM(G3 / 2) AS parts FROM students"
    (noises,) = ready(session, text, loss=ONE).noises
    assert [type(tally) for tally in noises] == [Rows, Total, Total]
    assert all(isinstance(part.noise, DiscreteLaplace) for part in noises.values())


# Two classes.


def test_A3_101_both_classes_by_student() -> None:
    session = session_of(classes())
    both = "(SELECT student_id, grade FROM History101 UNION ALL SELECT student_id, grade FROM ComputerScience101)"
    text = f"SELECT COUNT(*) AS n, COUNT(DISTINCT student_id) AS students, AVG(grade) AS mean FROM {both}"
    planned = ready(session, text, loss=sf.Pure(10**5))
    (level,) = planned.levels
    assert level.influence(Rows()).l1 == 2  # nobody is in more than the two classes
    answer = session.sql(text, loss=sf.Pure(10**5)).value
    assert answer.to_dict() == {"n": [13], "students": [9], "mean": [pytest.approx(89.615, abs=0.02)]}


def test_A3_102_history_by_major() -> None:
    text = "SELECT major, COUNT(*) AS n, AVG(grade) AS mean FROM History101 GROUP BY major"
    answer = session_of(classes()).sql(text, loss=sf.Pure(10**5)).value
    assert answer.to_dict() == {
        "major": ["computer science", "english", "history", "physics"],
        "n": [1, 4, 2, 1],
        "mean": [pytest.approx(mean, abs=0.05) for mean in (90, 86.25, 95, 95)],
    }


@pytest.mark.parametrize("text", ["SELECT * FROM History101", "SELECT student_id FROM History101"])
def test_A3_103_students_are_not_listed(text: str) -> None:
    with pytest.raises(sf.errors.QueryRefused, match="would show rows"):
        session_of(classes()).sql(text, loss=ONE)


def test_A3_107_A3_108_questions_add_up_on_one_ledger() -> None:
    session = students(sf.Pure(4))
    for key in ("famsize", "school"):
        session.sql(f"SELECT {key}, AVG(G3) AS m FROM students GROUP BY {key}", loss=ONE)
    assert session.spent == sf.Pure(2)
    session.sql("SELECT COUNT(*) AS n FROM students", loss=ONE)
    session.sql("SELECT SUM(absences) AS s FROM students", loss=ONE)
    assert session.spent == sf.Pure(4)
    with pytest.raises(sf.errors.LimitReached):
        session.sql("SELECT SUM(G3) AS s FROM students", loss=ONE)


def test_A3_111_distances_between_classes() -> None:
    assert sf.AddRemove().distance([1, 2, 3], [1, 2, 3]) == sf.ChangeOne().distance([1, 2, 3], [1, 2, 3]) == 0
    assert sf.AddRemove().distance(list("ABC"), list("CAD")) == 2
    assert sf.ChangeOne().distance(list("ABC"), list("CAD")) == 1


# An analysis, from one end to the other.


def test_students_from_a_count_to_the_release_table() -> None:
    session = students(sf.Pure(3))
    rates = session.sql(
        "SELECT school, COUNT(*) AS n, SUM(absences) AS away, SUM(absences) / COUNT(*) AS each FROM students "
        "GROUP BY school ORDER BY each DESC",
        loss=ONE,
    )
    made = columns()
    exact = {
        school: [(made["school"] == school).sum(), made["absences"][made["school"] == school].astype(int).sum()]
        for school in ("GP", "MS")
    }
    for row, (count, total) in ((row, exact[row["school"]]) for row in rates.value):
        assert abs(row["n"] - count) < 60 and abs(row["away"] - total) < 3000
        assert row["each"] == pytest.approx(row["away"] / row["n"])
    wide = session.sql("SELECT STDDEV(G3) AS s, CORR(G3, absences) AS c FROM students", loss=ONE).value
    (spread,), (shared,) = wide["s"].values, wide["c"].values
    assert 0 <= spread <= 14.2 and (shared is None or -1 <= shared <= 1)  # none, where a spread comes out as 0
    table = str(session.release_table())
    assert session.spent == sf.Pure(2) and len(session.releases()) == 2 and "a student" in table
    assert np.isfinite(float(session.left.epsilon))
