"""Made-up data: the numbers that textbooks print, the same on every machine, within its own codebook."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.examples.calls import calls

import sfumato as sf
from sfumato.core.domains import Bounds
from sfumato.datasets import MadeUp

MAKERS: dict[str, Callable[..., MadeUp]] = {
    "visits": sf.datasets.visits,
    "browser_logs": sf.datasets.browser_logs,
    "hospital_visits": sf.datasets.hospital_visits,
    "asylum": sf.datasets.asylum,
    "students": sf.datasets.students,
    "history101": sf.datasets.history101,
    "computer_science101": sf.datasets.computer_science101,
}
SEEDED = [name for name in MAKERS if not name.endswith("101")]
KINDS = {"int": "i", "float": "f", "str": "U", "date": "M", "categories": "Ui"}


def counts(column: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.unique(column, return_counts=True)[1]


def fingerprint(made: MadeUp) -> str:
    parts = (column.tobytes() for column in made.columns.values())
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


@pytest.mark.parametrize("name", MAKERS)
def test_data_is_as_its_codebook_says(name: str) -> None:
    made = MAKERS[name]()
    table = made.codebook.table(made.table)
    assert list(made.columns) == [column.name for column in table.columns]
    assert {len(column) for column in made.columns.values()} == {len(made)}
    for column in table.columns:
        values = made.columns[column.name]
        assert values.dtype.kind in KINDS[column.type]
        if column.categories:
            assert set(np.unique(values).tolist()) <= set(column.categories)
        elif isinstance(column.between, Bounds):
            assert column.between.lower <= values.min() and values.max() <= column.between.upper
        elif column.between is not None:
            assert column.between[0] <= values.min().item() and values.max().item() <= column.between[1]
    assert not any("created" in flag for flag in made.codebook.flags)
    assert sf.Codebook.read(made.codebook.to_yaml()) == made.codebook


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_says_all(name: str) -> None:
    make = MAKERS[name]
    assert fingerprint(make()) == fingerprint(make(seed=0)) != fingerprint(make(seed=1))
    with pytest.raises(sf.errors.BadArgument, match="seed"):
        make(seed="x")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("visits", "f9036614fea1"),
        ("browser_logs", "bd05ce5f7580"),
        ("hospital_visits", "def08302ced5"),
        ("asylum", "e189752500cb"),
        ("students", "b3db46205f54"),
    ],
)
def test_the_data_is_the_same_on_every_machine(name: str, expected: str) -> None:
    """The bytes are part of what is promised: a demonstration printed once stays true."""
    assert fingerprint(MAKERS[name]()) == expected


# Visits.


def test_visits_are_skewed() -> None:
    made = sf.datasets.visits(rows=50_000, people=5_000, groups=20)
    assert len(made) == 50_000
    each = np.bincount(made.columns["user_id"], minlength=5_001)[1:]
    harmonic = sum(1 / k for k in range(1, 5_001))
    for k in (1, 2, 10, 100):
        assert each[k - 1] == pytest.approx(50_000 / (k * harmonic), abs=1)
    assert (np.unique(made.columns["site"]) == np.arange(1, 21)).all()
    assert len(np.unique(made.columns["day"])) == 28
    stay, site = made.columns["minutes"].astype(float), made.columns["site"]
    assert stay[site == 20].mean() > 1.5 * stay[site == 1].mean()
    assert (np.diff(made.columns["user_id"].astype(int)) < 0).any()  # in no order


def test_a_million_visits_are_not_made_one_by_one() -> None:
    made, count = calls(lambda: sf.datasets.visits(rows=1_000_000, people=100_000, groups=1_000))
    assert count < 200_000
    assert len(made) == 1_000_000 and len(counts(made.columns["site"])) == 1_000


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"people": 0}, {"groups": 0}, {"rows": 2.5}, {"groups": "x"}])
def test_visits_that_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(sf.errors.BadArgument, match=next(iter(wrong))):
        sf.datasets.visits(**wrong)


def test_one_of_everything_is_enough() -> None:
    assert len(sf.datasets.visits(rows=1, people=1, groups=1)) == 1
    assert len(sf.datasets.visits(rows=3, people=100, groups=9)) == 3
    assert len(sf.datasets.asylum(people=1)) >= 1


# The book's tables.


def test_A2_040_monthly_visits_to_four_domains() -> None:
    columns = sf.datasets.browser_logs().columns
    month = columns["date"].astype("datetime64[M]")
    told = {
        "bank.com": [32465, 32687, 32495, 32406, 32879],
        "games.com": [346, 398, 412, 32, 41],
        "mail.com": [70567, 73640, 72857, 71948, 71954],
        "social.com": [2305, 1726, 2126, 0, 0],
    }
    months = np.arange("2020-08", "2021-01", dtype="datetime64[M]")
    for domain, expected in told.items():
        assert [int(((columns["domain"] == domain) & (month == one)).sum()) for one in months] == expected
    away = columns["employee_id"] == 867
    fall = away & (month == months[2])
    assert int((fall & (columns["domain"] == "games.com")).sum()) == 380
    assert int((fall & (columns["domain"] == "social.com")).sum()) >= 2126
    assert not (away & (month >= months[3])).any()
    assert len(np.unique(columns["employee_id"])) == 1234


def test_A2_047_visits_of_six_patients() -> None:
    columns = sf.datasets.hospital_visits(patients=6).columns
    assert Counter(columns["patient"].tolist()) == {
        "Steven Patrick": 7,
        "Nicole Rogers": 5,
        "Judith Berry": 3,
        "Cynthia Mejia MD": 3,
        "Brittany Robinson": 1,
        "Dr. Sean Gonzalez": 1,
    }
    assert np.minimum(counts(columns["patient"]), 5).sum() == 18
    by_specialty = Counter(columns["specialty"].tolist())
    assert sorted(by_specialty.values()) == [1] * 8 + [2] * 6
    assert columns["minutes"].astype(int)[columns["specialty"] == "Cardiology"].mean() == 95.5
    pairs = Counter(zip(columns["patient"].tolist(), columns["specialty"].tolist(), strict=True))
    assert max(pairs.values()) == 2
    assert max(Counter(patient for patient, _ in pairs).values()) == 6


def test_A2_048_most_patients_come_five_times_at_most() -> None:
    columns = sf.datasets.hospital_visits().columns
    each = counts(columns["patient"])
    assert len(each) == 3000 and each.max() == 22
    assert (each <= 5).mean() == pytest.approx(0.85, abs=0.02)
    by_specialty = counts(columns["specialty"])
    errors = {
        bound: (1 - np.minimum(each, bound).sum() / each.sum())
        + np.mean(bound / np.sqrt(0.06) * np.sqrt(2 / np.pi) / by_specialty)
        for bound in (5, 22, 50)
    }
    assert errors[22] == pytest.approx(0.0983, abs=0.01)  # as printed
    assert errors[22] < min(errors[5], errors[50])


def test_hospitals_have_at_least_the_printed_patients() -> None:
    with pytest.raises(sf.errors.BadArgument, match="patients must be a whole number of at least 6"):
        sf.datasets.hospital_visits(patients=5)


def test_A2_026_asylum_has_one_country_a_person_and_one_row_a_year() -> None:
    made = sf.datasets.asylum()
    rows = list(zip(*(made.columns[name].tolist() for name in ("person_id", "country", "year")), strict=True))
    people = Counter(person for person, _, _ in rows)
    assert len(people) == 5000 and max(people.values()) == 4
    assert len({(person, country) for person, country, _ in rows}) == 5000
    assert len({(person, year) for person, _, year in rows}) == len(rows)
    bounds = made.codebook.table().contributions
    assert bounds is not None and (bounds.rows, bounds.by) == (4, "fact")
    assert bounds.groups == ((("country",), 1),) and bounds.rows_each == ((("year",), 1),)
    assert len(counts(made.columns["year"])) == 10 and len(counts(made.columns["country"])) == 9


@pytest.mark.parametrize("seed", range(8))
def test_A1_152_A3_105_students_and_their_absences(seed: int) -> None:
    columns = sf.datasets.students(seed=seed).columns
    absences = columns["absences"].astype(int)
    assert len(absences) == 649 and absences.sum() == np.clip(absences, 0, 50).sum() == 2255


def test_A1_153_A3_106_grades_by_family_and_school() -> None:
    columns = sf.datasets.students().columns
    grades = columns["G3"].astype(int)
    means = {
        key: {value: grades[columns[key] == value].mean() for value in np.unique(columns[key]).tolist()}
        for key in ("famsize", "school")
    }
    assert means["famsize"] == {"GT3": pytest.approx(11.8, abs=0.5), "LE3": pytest.approx(12.0, abs=0.5)}
    assert means["school"] == {"GP": pytest.approx(12.75, abs=0.5), "MS": pytest.approx(10.7, abs=0.5)}


def test_A3_095_to_A3_102_two_classes() -> None:
    history, science = sf.datasets.history101(), sf.datasets.computer_science101()
    grades, major = history.columns["grade"].astype(int), history.columns["major"]
    assert " ".join(history.columns["student_id"].tolist()) == "09528 10394 85422 25925 29485 92554 02359 02945"
    assert (len(history), grades.mean()) == (8, 90)
    assert (len(science), science.columns["grade"].astype(int).mean()) == (5, 89)
    both = [*history.columns["student_id"].tolist(), *science.columns["student_id"].tolist()]
    assert len(both) == 13 and len(set(both)) == 9
    assert sorted(one for one, times in Counter(both).items() if times == 2) == ["02359", "02945", "29485", "92554"]
    united = np.concatenate([grades, science.columns["grade"].astype(int)])
    assert united.mean() == pytest.approx(89.615, abs=0.001)
    told = {"computer science": (1, 90), "english": (4, 86.25), "history": (2, 95), "physics": (1, 95)}
    assert {one: (int((major == one).sum()), grades[major == one].mean()) for one in np.unique(major).tolist()} == told
    assert [table.name for table in history.codebook.tables] == ["History101", "ComputerScience101"]
    assert history.codebook == science.codebook


def test_nothing_that_is_made_up_is_compared_by_chance() -> None:
    """Equality of arrays is an array; data compares as itself."""
    made = sf.datasets.history101()
    assert made == made and made != sf.datasets.history101()
