"""Cases of planning a deployment that the parts, grouped counts and units answer (A3-079 to A3-084)."""

from __future__ import annotations

import pytest

import sfumato as sf

STATIONS = ["harbour", "market", "station"]
TRIPS = {"origin": STATIONS, "destination": STATIONS}
ENDS = [sf.is_in([name], column=end) for end in TRIPS for name in STATIONS]
ONE_EACH = sf.claim("a trip has one origin and one destination")


def histograms(metric: sf.L1 | sf.L2) -> sf.Transformation:
    return sf.frame(TRIPS) >> sf.transforms.count_each(ENDS, most=2, claim=ONE_EACH, metric=metric)  # type: ignore[arg-type]


def test_A3_079_origins_and_destinations() -> None:
    assert histograms(sf.L1()).map(1) == 2
    assert float(histograms(sf.L2()).map(1)) == pytest.approx(1.41421, abs=5e-6)
    rows = sf.frame(TRIPS)
    members = [
        {"origin": [a for a, _ in trips], "destination": [b for _, b in trips]}
        for trips in (
            [],
            [("harbour", "market")],
            [("harbour", "harbour")],
            [("harbour", "market"), ("market", "station")],
        )
    ]
    assert sf.audit.brute_sensitivity(histograms(sf.L1()), members) == 2
    assert float(sf.audit.brute_sensitivity(histograms(sf.L2()), members)) == pytest.approx(2**0.5)
    released = histograms(sf.L1()) >> sf.laplace(scale=2)
    assert released.map(1) == sf.Pure(1)  # the stations are public: no δ
    rider = sf.Unit("a rider with up to 4 trips", sf.AddRemove(), bound=4)
    assert histograms(sf.L1()).map(rider) == 8
    assert rows.metric == sf.AddRemove()


def test_A3_080_a_student_in_two_universities() -> None:
    enrolled = sf.frame({"university": ["a", "b", "c"]}) >> sf.group_by(
        "university",
        max_groups=2,
        max_rows_per_group=1,
        claim=sf.claim("a student enrols at most twice, at two universities"),
    )
    assert (enrolled >> sf.transforms.sizes(metric=sf.L1())).map(2) == 2
    assert float((enrolled >> sf.transforms.sizes(metric=sf.L2())).map(2)) == pytest.approx(1.41421, abs=5e-6)
    assert (enrolled >> sf.transforms.sizes(metric=sf.LInf())).map(2) == 1
    each = enrolled >> sf.parallel(sf.count() >> sf.laplace(scale=2))
    assert each.map(1) == sf.Pure(0.5) and each.map(2) == sf.Pure(1)


def test_A3_081_three_partitions() -> None:
    losses = ["0.3", "0.7", "0.5"]
    mechanisms = [sf.count() >> sf.laplace(scale=1 / sf.Pure(loss).epsilon) for loss in losses]
    parted = sf.vector(["a", "b", "c"]) >> sf.group_by()
    assert (parted >> sf.parallel(mechanisms)).map(1) == sf.Pure("0.7")
    exchanged = sf.vector(["a", "b", "c"], size=9) >> sf.group_by() >> sf.parallel(mechanisms)
    assert exchanged.map(1) == sf.Pure("1.2")
    assert (sf.vector(["a", "b", "c"]) >> sf.composition(mechanisms)).map(1) == sf.Pure("1.5")


def test_A3_082_the_class() -> None:
    mean = sf.vector(float, size=10) >> sf.clamp(0, 100) >> sf.mean()
    assert mean.map(1) == 10
    released = mean >> sf.laplace(scale=10)
    assert released.map(1) == sf.Pure(1)
    assert sf.accuracy(released) == pytest.approx(29.957, abs=5e-4)
    chosen = sf.calibrate(lambda scale: mean >> sf.laplace(scale), d_in=1, loss=sf.Pure(1))
    assert float(sf.accuracy(chosen)) == pytest.approx(29.957, abs=5e-4)
    book = sf.datasets.CLASSROOM.codebook
    declared = book.space() >> sf.select("score") >> sf.mean()
    assert declared.map(book.unit) == 10


def test_A3_083_one_row_cannot_be_added_to_a_known_number_of_rows() -> None:
    """E3-21: the sensitivity is 0 and the least scale next to 0; so the distance is refused, or one row is changed."""
    mean = sf.vector(float, size=10, metric=sf.AddRemove()) >> sf.clamp(0, 100) >> sf.mean()
    assert mean.map(1) == 0 and mean.map(2) == 10
    for distance in (1, sf.Unit("a student", sf.AddRemove())):
        with pytest.raises(sf.errors.BadArgument, match=r"d_in must be at least 2.*sf\.ChangeOne\(\)"):
            sf.calibrate(lambda scale: mean >> sf.laplace(scale), d_in=distance, loss=sf.Pure(1))
    assert sf.calibrate(lambda scale: mean >> sf.laplace(scale), d_in=2, loss=sf.Pure(1)).map(2) <= sf.Pure(1)
    assert sf.datasets.CLASSROOM.codebook.space().metric == sf.ChangeOne()


def test_A3_084_a_sum_with_two_contributions() -> None:
    total = sf.vector(float, size=10, metric=sf.AddRemove()) >> sf.clamp(50, 100) >> sf.sum()
    assert total.map(2) == 50
    released = sf.calibrate(lambda scale: total >> sf.laplace(scale), d_in=2, loss=sf.Pure(1))
    assert float(sf.accuracy(released)) == pytest.approx(50 * 2.995732, rel=1e-5)
    assert (total >> sf.laplace(scale=50)).map(2) == sf.Pure(1)
