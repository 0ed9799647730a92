"""Which noise a question gets: the one that errs less, or the one asked for; and noise is fresh in every key."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import BadArgument

BOOK = {
    "codebook": 1,
    "title": "visits",
    "unit": {"protects": "a person", "id": "who"},
    "tables": {
        "visits": {
            "columns": {
                "who": {"type": "int"},
                "day": {"type": "int", "between": [0, 399], "nullable": False, "source": "the calendar"},
                "minutes": {"type": "float", "between": [0, 100], "source": "opening hours"},
            }
        }
    },
}
BY_DAY = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"


def session() -> sf.Session:
    data = {"who": [1, 1, 2, 3], "day": [0, 1, 1, 2], "minutes": [5.0, 10.0, 20.0, 30.0]}
    return sf.Dataset(data, codebook=BOOK).session(limit=sf.Approx(1000, "0.01"), ledger="memory:")


def noise(release: sf.Release) -> str:
    return dict(release.how.parameters)["rows"]


def test_A1_156_who_asks_may_choose_the_noise_and_it_is_told_truthfully() -> None:
    asked = session()
    loss = sf.Approx(1, "1e-6")
    assert noise(asked.sql(BY_DAY, loss=loss, max_groups=1, max_rows_per_group=1)).startswith("Laplace")
    assert noise(asked.sql(BY_DAY, loss=loss, max_groups=200, max_rows_per_group=1)).startswith("Gaussian")
    forced = asked.sql(BY_DAY, loss=loss, max_groups=1, max_rows_per_group=1, noise="gaussian")
    assert noise(forced).startswith("Gaussian")
    assert forced.loss.within(loss)
    assert noise(asked.sql(BY_DAY, loss=loss, max_groups=200, max_rows_per_group=1, noise="laplace")).startswith(
        "Laplace"
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"loss": sf.Pure(1), "noise": "gaussian"}, "noise must be 'laplace' for a loss of kind Pure"),
        ({"loss": sf.ZCDP(1), "noise": "laplace"}, "noise must be 'gaussian' for a loss of kind ZCDP"),
        ({"loss": sf.Approx(1, 0), "noise": "gaussian"}, "noise must be 'laplace' where δ is 0"),
        ({"loss": sf.Approx(1, "1e-6"), "noise": "uniform"}, "noise must be 'laplace' or 'gaussian'"),
        ({"accuracy": (5, 0.9), "noise": "laplace"}, "noise must be left out with accuracy="),
    ],
    ids=["pure", "concentrated", "no delta", "unknown", "accuracy"],
)
def test_noise_that_does_not_fit_is_refused(settings: dict[str, object], text: str) -> None:
    with pytest.raises(BadArgument, match="^" + text.replace("(", r"\(")):
        session().sql(BY_DAY, max_groups=1, max_rows_per_group=1, **settings)


def test_every_empty_key_gets_noise_of_its_own() -> None:
    """Keys without rows are as noisy as the others, each for itself (one draw for all of them was a trap, #2344)."""
    release = session().sql(BY_DAY, loss=sf.Pure("0.1"), max_groups=1, max_rows_per_group=1)
    empty = release.value["n"].values[3:]
    assert len(empty) == 397
    assert len(set(empty.tolist())) > 30
    assert abs(float(empty.mean())) < 5  # 397 draws of scale 10: the mean is off by 0.7 or so


def test_settings_that_there_are_not_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'group'"):
        session().sql(BY_DAY, loss=sf.Pure(1), group=1)


def test_rows_as_units_are_not_cut() -> None:
    book = {**BOOK, "unit": {"protects": "a visit"}}
    book["tables"] = {"visits": {**BOOK["tables"]["visits"], "contributions": {"rows": 1, "source": "each is one"}}}
    data = {"visits": {"who": [1], "day": [0], "minutes": [5.0]}}
    import pyarrow as pa

    asked = sf.Dataset(pa.table(data["visits"]), codebook=book).session(limit=sf.Pure(10), ledger="memory:")
    with pytest.raises(sf.errors.QueryRefused, match=r"^rows are the units here"):
        asked.sql(BY_DAY, loss=sf.Pure(1), max_groups=2)
    assert len(asked.sql(BY_DAY, loss=sf.Pure(1)).value) == 400
