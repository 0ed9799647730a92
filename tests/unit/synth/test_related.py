"""Two related tables: keys, numbers of rows, what people and their rows have to do with each other, and the price."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth import AIM, MST, Independent, RelatedSynthetic, RelatedTables

BOOK = {
    "codebook": 1,
    "title": "a clinic",
    "unit": {"protects": "a person", "id": "id"},
    "tables": {
        "people": {
            "columns": {
                "id": {"type": "int"},
                "age": {"type": "int", "between": [0, 3], "source": "made up"},
                "sex": {"categories": ["f", "m"], "source": "made up"},
            }
        },
        "visits": {
            "id": "person",
            "columns": {
                "person": {"type": "int"},
                "kind": {"categories": ["a", "b", "c", "d"], "source": "made up"},
                "cost": {"type": "float", "between": [0, 100], "source": "made up"},
            },
        },
    },
}
PEOPLE = 1200
LOSS, LIMIT = sf.ZCDP(50), sf.ZCDP(100)


def tables(*, heavy: int = 0) -> dict[str, pl.DataFrame]:
    """People, who have about as many visits as their age says, of a kind that it says too; and one with very many."""
    ids = np.arange(PEOPLE)
    age, many = ids % 4, (ids % 4) + (ids % 3 == 0)
    owners = np.repeat(ids, many)
    kind = (age[owners] + (np.arange(len(owners)) % 5 == 0)) % 4
    people = {"id": ids, "age": age, "sex": np.array(["f", "m"])[ids // 4 % 2]}
    visits = {
        "person": owners,
        "kind": np.array(list("abcd"))[kind],
        "cost": (np.arange(len(owners)) * 7.0) % 100,
    }
    if heavy:
        more = {"id": [PEOPLE], "age": [1], "sex": ["f"]}, {"person": [PEOPLE] * heavy, "kind": ["b"] * heavy}
        people = {name: np.concatenate([own, more[0][name]]) for name, own in people.items()}
        more[1]["cost"] = [5.0] * heavy
        visits = {name: np.concatenate([own, more[1][name]]) for name, own in visits.items()}
    return {"people": pl.DataFrame(people), "visits": pl.DataFrame(visits)}


def opened(limit: sf.Loss = LIMIT, **given: int) -> sf.Session:
    return sf.Dataset(tables(**given), codebook=BOOK, version="1", name="clinic").session(limit=limit, ledger="memory:")


def fitted(session: sf.Session, recipe: RelatedTables, **settings: Any) -> RelatedSynthetic:
    return recipe.fit(session.table("people"), session.table("visits"), bins={"cost": 4}, **settings)


@pytest.fixture(scope="module")
def made() -> tuple[sf.Session, RelatedSynthetic]:
    session = opened()
    return session, fitted(session, RelatedTables(loss=LOSS, people=MST(), rows=AIM(), most=5), key="k")


def test_keys_are_consistent_and_columns_are_those_of_the_tables(made: tuple[sf.Session, RelatedSynthetic]) -> None:
    people, rows = made[1].sample(500, entropy=ReplayEntropy(1))
    assert people.columns == ["id", "age", "sex"] and rows.columns == ["person", "kind", "cost"]
    assert people["id"].to_list() == list(range(1, 501))
    assert set(rows["person"]) <= set(people["id"])
    assert rows.group_by("person").len()["len"].max() <= 5
    pandas = made[1].sample(10, form="pandas")
    assert len(pandas.people) == 10


def test_numbers_of_rows_and_what_the_tables_have_to_do_with_each_other_are_kept(
    made: tuple[sf.Session, RelatedSynthetic],
) -> None:
    people, rows = made[1].sample(entropy=ReplayEntropy(2))
    true = tables()
    assert abs(len(people) - PEOPLE) < 60
    for age in range(4):
        mine = _each(people, rows, age)
        theirs = _each(true["people"], true["visits"], age)
        assert abs(np.mean(mine) - np.mean(theirs)) < 0.2
        assert abs(np.mean(np.array(mine) == 0) - np.mean(np.array(theirs) == 0)) < 0.1
    for age in range(1, 4):
        made_up, real = _kinds(people, rows, age), _kinds(true["people"], true["visits"], age)
        assert all(abs(made_up.get(kind, 0) - real.get(kind, 0)) < 0.08 for kind in "abcd")
        assert max(real.values()) > 0.7  # of all rows together no kind has so many


def _kinds(people: pl.DataFrame, rows: pl.DataFrame, age: int) -> dict[str, float]:
    """The shares of the kinds of rows of people of an age."""
    joined = rows.join(people, left_on="person", right_on="id").filter(pl.col("age") == age)
    return dict(joined["kind"].value_counts(normalize=True).iter_rows())


def amount(loss: Any) -> Fraction:
    """The ρ of a loss, exactly."""
    return Fraction(loss.amounts[0])


def _each(people: pl.DataFrame, rows: pl.DataFrame, age: int) -> list[int]:
    """How many rows each person of an age has."""
    ids = people.filter(pl.col("age") == age)["id"].to_list()
    numbers = dict(rows.group_by("person").len().iter_rows())
    return [numbers.get(one, 0) for one in ids]


def test_the_price_is_the_loss_once_and_a_run_is_answered_again_from_the_book(
    made: tuple[sf.Session, RelatedSynthetic],
) -> None:
    session, first = made
    assert session.spent == LOSS
    parts = [sum(amount(loss) for _, loss in one.spent) for one in (first.people, first.rows)]
    assert parts == [LOSS.rho / 3, LOSS.rho * Fraction(2, 3)]
    assert first.people.release is first.rows.release is not None
    again = fitted(session, RelatedTables(loss=LOSS, people=MST(), rows=AIM(), most=5), key="k")
    assert session.spent == LOSS
    np.testing.assert_array_equal(first.rows.measured[-1].counts, again.rows.measured[-1].counts)


def test_a_person_with_very_many_rows_moves_no_more_than_most() -> None:
    recipe = RelatedTables(loss=sf.Pure(10**6), people=Independent(), rows=Independent(), most=3)
    without, beside = (fitted(opened(sf.Pure(10**7), heavy=heavy), recipe) for heavy in (0, 10_000))
    for mine, theirs in zip(without.people.measured, beside.people.measured, strict=True):
        assert np.abs(mine.counts - theirs.counts).sum() == 1
    for mine, theirs in zip(without.rows.measured, beside.rows.measured, strict=True):
        assert np.abs(mine.counts - theirs.counts).sum() == 3
    [number] = [one for one in beside.people.measured if one.columns == ("number of visits",)]
    assert number.counts[3] == without.people.measured[-1].counts[3] + 1


def test_noise_grows_with_how_many_rows_count() -> None:
    few, many = (
        fitted(opened(sf.Pure(10)), RelatedTables(epsilon=1, people=Independent(), rows=Independent(), most=most))
        for most in (2, 6)
    )
    assert many.rows.measured[0].deviation == pytest.approx(3 * few.rows.measured[0].deviation, rel=0.01)
    assert many.people.measured[0].deviation == few.people.measured[0].deviation


REFUSED = [
    ({"on": {"age": "person"}}, {}, "the ids of people in both tables"),
    ({"on": {"id": "kind"}}, {}, "the ids of people in both tables"),
    ({"columns": ["age"]}, {}, "one or more of each"),
    ({"columns": ["age", "kinds"]}, {}, "those of the two tables"),
    ({}, {"share": 1}, "between 0 and 1"),
    ({}, {"most": 0}, "most"),
    ({}, {"people": MST(epsilon=1)}, "left out"),
]


@pytest.mark.parametrize(("settings", "recipe", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_before_anything_is_charged(
    settings: dict[str, Any], recipe: dict[str, Any], message: str
) -> None:
    session = opened(sf.Pure(1))
    with pytest.raises(BadArgument, match=message):
        fitted(session, RelatedTables(**{"epsilon": 1, **recipe}), **settings)
    assert session.spent == sf.Pure(0)


def test_names_that_both_tables_have_are_refused() -> None:
    session = opened(sf.Pure(1))
    visits = session.table("visits").rename({"kind": "sex"})
    with pytest.raises(BadArgument, match="different names"):
        RelatedTables(epsilon=1).fit(session.table("people"), visits)
    with pytest.raises(BadArgument, match="one of a session"):
        RelatedTables(epsilon=1).fit(tables()["people"], visits)  # type: ignore[arg-type]
