"""One value, or a few rows, for each person; conditions before truncation; variances of columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.audit.brute_force import brute_sensitivity
from sfumato.errors import BadArgument

LOG = sf.frame({"id": int, "site": str, "n": int, "x": sf.Floats((0, 8))}, metric=sf.Identifiers("id"))
DATA = {
    "id": [1, 2, 1, 1, 2, 3],
    "site": ["b", "a", "a", "b", "a", "c"],
    "n": [5, 7, 1, 1, 8, 4],
    "x": [0.5, 1.0, 2.0, 3.5, 8.0, 4.0],
}
VOUCHED = sf.claim("for this test")


def each(*arguments: Any, **named: Any) -> list[Any]:
    """What people are summarized by, in order of value."""
    return sorted((LOG >> sf.one_each(*arguments, **named))(DATA).tolist())


def test_P2_068_means_quantiles_and_modes() -> None:
    assert each("mean", "x") == [2.0, 4.0, 4.5]
    assert each("mean", "n") == pytest.approx([7 / 3, 4, 7.5], abs=2**-20)
    assert each("quantile", "n", alpha=0.5) == [1, 4, 7]
    assert each("quantile", "n", alpha=1) == each("max", "n") and each("quantile", "n", alpha=0) == each("min", "n")
    assert each("mode", "site") == ["a", "b", "c"]
    assert each("mode", "n") == [1, 4, 7]  # of values that tie, the least
    for summary in (("mean", "x"), ("mode", "site")):
        assert (LOG >> sf.one_each(*summary)).map(3) == 3


def test_P2_068_means_stay_within_bounds() -> None:
    bounded = sf.frame({"id": int, "x": sf.Floats((0, "0.1"))}, metric=sf.Identifiers("id")) >> sf.one_each("mean", "x")
    found = bounded.image({"id": [1, 1, 2], "x": [0.1, 0.1, 0.0]})
    assert bounded.target.domain.member(found)
    assert (bounded >> sf.sum()).map(1) == Fraction(1, 10)


def test_P2_068_draws_are_as_likely_as_frequent() -> None:
    drawn = LOG >> sf.one_each("draw", "site")
    alone = {name: [values[place] for place in (0, 2, 3)] for name, values in DATA.items()}
    seen = [drawn(alone)[0] for _ in range(600)]
    assert drawn.randomized and drawn.map(1) == 1
    assert 320 < seen.count("b") < 480  # 2 of 3; outside with probability below 1e-10
    assert set(seen) == {"a", "b"}


def test_P2_068_refusals() -> None:
    for wrong in (
        lambda: sf.one_each("quantile", "n"),
        lambda: sf.one_each("mean", "n", alpha=0.5),
        lambda: LOG >> sf.one_each("mean", "site"),
        lambda: sf.one_each("average", "n"),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadArgument):
            wrong()


def test_P2_067_a_function_of_your_own_is_cut_and_never_fails() -> None:
    seen: list[list[dict[str, Any]]] = []

    def own(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        seen.append(rows)
        if rows[0]["id"] == 3:
            raise ValueError("secret")
        return [{"n": row["n"]} for row in rows] * 5 if rows[0]["id"] == 1 else [{"n": 2}, {"n": "?"}, 7, {"n": 3}]

    made = LOG >> sf.transforms.summarize(own, {"n": int}, rows=3, claim=VOUCHED)
    assert sorted(made(DATA)["n"].tolist()) == [1, 1, 2, 5]  # cut to three, then without those that are none
    assert made.map(2) == 6
    assert [row["n"] for row in seen[0]] == [1, 1, 5]  # one person's rows alone, in an order of their own
    turned = {name: values[::-1] for name, values in DATA.items()}
    assert made.target.distance(made(DATA), made(turned)) == 0
    with pytest.raises(BadArgument):
        sf.transforms.summarize(own, {"n": int}, rows=0, claim=VOUCHED)
    with pytest.raises(sf.errors.SfumatoError, match="claim"):
        sf.transforms.summarize(own, {"n": int})


def test_P2_084_conditions_and_columns_before_truncation() -> None:
    chain = LOG >> sf.keep(sf.between(5, 9, column="n")) >> sf.project("id", "n") >> sf.truncate(1, keep="last", by="n")
    assert chain.map(1) == 1
    assert sorted(chain(DATA)["n"].tolist()) == [5, 8]  # rows that are not asked about take nobody's place
    after = LOG >> sf.truncate(1, keep="first", by="n") >> sf.keep(sf.between(5, 9, column="n"))
    assert after(DATA)["n"].tolist() == [7]
    assert (LOG >> sf.keep(sf.between(5, 9, column="n")) >> sf.count_identifiers())(DATA) == 2
    assert str((LOG >> sf.keep(sf.between(0, 9, column="n"))).target.metric) == "the distance in id"


def test_P2_084_whose_a_row_is_must_stay() -> None:
    with pytest.raises(BadArgument, match="whose a row is"):
        LOG >> sf.project("n")
    with pytest.raises(BadArgument, match="truncate"):
        LOG >> sf.select("n")
    with pytest.raises(BadArgument, match="truncate"):
        LOG >> sf.transforms.mark(sf.between(0, 1, column="n"))


def test_P2_084_filters_are_stable_on_all_small_tables() -> None:
    people = sf.frame({"id": int, "n": int}, metric=sf.Identifiers("id"))
    rows = [(who, n) for who in (1, 2) for n in (0, 5)]
    tables = [[row for place, row in enumerate(rows) if number >> place & 1] for number in range(16)]
    members = [{"id": [who for who, _ in table], "n": [n for _, n in table]} for table in tables]
    for step in (sf.keep(sf.between(3, 9, column="n")), sf.project("id")):
        made = people >> step
        assert all(brute_sensitivity(made, members, d_in=d) <= made.map(d) for d in (1, 2, 4))
        assert brute_sensitivity(made, members) == made.map(1)


@pytest.mark.parametrize("ddof", [0, 1])
def test_P1_052_variances_of_columns(ddof: int) -> None:
    """Scalar analogues for each coordinate, in every norm, reached."""
    rows = [(a, b) for a in (0, 3) for b in (0, 3)]
    members = [[list(x), list(y), list(z)] for x in rows for y in rows for z in rows]
    for metric, factor in ((sf.L1(), 2), (sf.L2(), None), (sf.LInf(), 1)):
        made = sf.Space(
            sf.domains.Matrix(2, sf.Integers(between=(0, 3)), size=3), sf.ChangeOne()
        ) >> sf.transforms.vector_variance(ddof=ddof, metric=metric)
        alone = sf.vector(int, between=(0, 3), size=3) >> sf.variance(ddof=ddof)
        assert brute_sensitivity(made, members) == made.map(1)
        if factor is not None:
            assert made.map(1) == factor * alone.map(1)
        columns = [[0, 3, 3], [0, 0, 3]]
        assert made([list(row) for row in zip(*columns, strict=True)]).tolist() == [alone(column) for column in columns]
    assert (sf.matrix(4, between=(0, 10), size=100) >> sf.variance()).map(1) == 4
    for wrong in (lambda: sf.matrix(2) >> sf.variance(), lambda: sf.matrix(2, between=(0, 1)) >> sf.variance()):
        with pytest.raises(sf.errors.SfumatoError):
            wrong()
