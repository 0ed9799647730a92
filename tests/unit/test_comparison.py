"""How much noise several queries need, by each way of accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.plans.comparison import AccountingComparison, Way, compare_accounting
from sfumato.errors import BadArgument
from sfumato.exact import root

COUNTS = (1, 10, 30, 100, 1000)

EXPECTED = {
    Way.BASIC: (4.22468, 41.3295, 123.780, 412.357, 4122.63),  # A1-137
    Way.ADVANCED: (21.9030, 73.2019, 130.113, 244.170, 811.409),  # A1-138
    Way.ZCDP: (5.34998, 16.9181, 29.3030, 53.4998, 169.181),  # A1-139
    Way.EXACT: (4.22468, 13.3596, 23.1395, 42.2468, 133.596),  # A1-139
}


@pytest.fixture(scope="module")
def compared() -> AccountingComparison:
    return compare_accounting(Approx(1, "1e-6"), counts=COUNTS)


@pytest.mark.parametrize("way", EXPECTED, ids=lambda way: way.name)
def test_A1_137_to_139_noise_for_a_total(compared: AccountingComparison, way: Way) -> None:
    for count, scale in zip(COUNTS, EXPECTED[way], strict=True):
        assert f"{float(compared.scale(count, way)):.6g}" == f"{scale:.6g}"


def test_every_way_keeps_the_total_and_says_how_it_split(compared: AccountingComparison) -> None:
    for row in compared.rows:
        assert exact_gaussian_delta(Fraction(1), root(row.count), row.scale) <= compared.total.delta
        assert (row.loss is not None) == (row.way in (Way.BASIC, Way.ADVANCED))
    split = next(row.loss for row in compared.rows if (row.count, row.way) == (10, Way.ADVANCED))
    assert split is not None
    assert split.delta == Fraction(1, 2 * 10**7)


def test_the_order_of_ways(compared: AccountingComparison) -> None:
    """Exact beats Rényi beats the closed form; basic wins over advanced for few queries only."""
    for count in COUNTS:
        scale = {way: compared.scale(count, way) for way in Way}
        assert scale[Way.EXACT] < scale[Way.RENYI] < scale[Way.ZCDP]
        assert scale[Way.EXACT] <= scale[Way.BASIC]
        assert (scale[Way.BASIC] < scale[Way.ADVANCED]) == (count <= 30)


def test_the_table_and_the_series(compared: AccountingComparison) -> None:
    lines = str(compared).splitlines()
    assert lines[0].split() == ["queries", "basic", "advanced", "zCDP", "Rényi", "exact"]
    assert lines[2].split() == ["10", "41.3295", "73.2019", "16.9182", "14.3279", "13.3597"]
    assert len(compared.series()) == 25
    assert compared.series()[0][:2] == (1, "basic")
    assert str(compared.rows[0]) == "basic: scale 4.22468 for each of 1 (each ε = 1, δ = 1e-06)"


@pytest.mark.parametrize("total", [Approx(1, 0), Approx(0, "1e-6"), Approx(math.inf, "1e-6"), Approx(1, 1), 1.0])
def test_totals_that_make_no_sense_are_refused(total: object) -> None:
    with pytest.raises(BadArgument, match="total"):
        compare_accounting(total, counts=[1])  # type: ignore[arg-type]


def test_bad_counts_are_refused(compared: AccountingComparison) -> None:
    for counts in ([], [0], [1.5], [True]):
        with pytest.raises(BadArgument):
            compare_accounting(Approx(1, "1e-6"), counts=counts)  # type: ignore[arg-type]
    for counts in (10, "10", None):
        with pytest.raises(BadArgument, match=r"a list of numbers of queries, such as \[1, 10, 100\]"):
            compare_accounting(Approx(1, "1e-6"), counts=counts)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="compared"):
        compared.scale(7, Way.EXACT)
