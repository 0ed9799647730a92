"""Units of privacy: a metric and a bound, with a name that is printed (P1-026, P1-027)."""

from __future__ import annotations

import pytest

import sfumato as sf


def test_a_unit_goes_where_a_distance_goes_and_is_printed() -> None:
    patient = sf.Unit("a patient with up to 3 visits", sf.AddRemove(), bound=3)
    visits = sf.vector(str) >> sf.count() >> sf.laplace(scale=6)
    assert visits.map(patient) == visits.map(3) == sf.Pure(0.5)
    assert visits.check(patient, sf.Pure(0.5))
    release = visits(["a", "b"], d_in=patient)
    assert release.unit == "a patient with up to 3 visits" and release.loss == sf.Pure(0.5)
    assert "for a patient with up to 3 visits" in str(release)
    build = sf.calibrate(lambda s: sf.vector(str) >> sf.count() >> sf.laplace(s), d_in=patient, loss=sf.Pure(1))
    assert build.map(3) <= sf.Pure(1)


def test_a_unit_of_another_metric_is_refused() -> None:
    student = sf.Unit("a student", sf.ChangeOne())
    with pytest.raises(sf.errors.CannotJoin, match=r"change-one.*add/remove"):
        (sf.vector(str) >> sf.count() >> sf.laplace(scale=1)).map(student)


@pytest.mark.parametrize("bound", [0, -1, 1.5, True])
def test_bounds_of_units_are_whole_and_positive(bound: object) -> None:
    with pytest.raises(sf.errors.BadArgument):
        sf.Unit("a person", sf.AddRemove(), bound=bound)  # type: ignore[arg-type]
    with pytest.raises(sf.errors.BadArgument, match="say who is protected"):
        sf.Unit(" ", sf.AddRemove())


def test_three_granularities_of_a_trajectory() -> None:
    """P1-027: a whole trajectory, one location and w consecutive locations are three promises at three prices."""
    places = ["home", "work", "shop"]
    day = sf.vector(places, size=24, metric=sf.metrics.Hamming())
    week = sf.vector(places, size=24, metric=sf.metrics.Windows(length=5))
    user = sf.vector(places, size=24, metric=sf.metrics.Discrete())
    hours = sf.count(sf.is_in(["shop"]))
    assert (day >> hours >> sf.laplace(scale=1)).map(1) == sf.Pure(1)
    assert (week >> hours >> sf.laplace(scale=1)).map(1) == sf.Pure(5)
    assert (user >> sf.randomized_response(epsilon=1)).map(1) == sf.Pure(24)
    assert week.metric.unit(sf.metrics.Windows(5).read(1)) == "any 5 consecutive rows changed"


@pytest.mark.parametrize(
    ("length", "changed", "windows"),
    [(1, [0, 1, 2], 3), (2, [0, 1, 2], 2), (3, [0, 2, 4], 2), (5, [0, 4], 1), (2, [], 0)],
)
def test_windows_are_counted_greedily(length: int, changed: list[int], windows: int) -> None:
    left = ["a"] * 6
    right = ["b" if place in changed else "a" for place in range(6)]
    assert sf.metrics.Windows(length=length).distance(left, right) == windows
    with pytest.raises(sf.errors.NoDistance):
        sf.metrics.Windows(length=length).distance(left, right[1:])


def test_a_release_states_the_loss_between_the_closest_data_sets() -> None:
    """With a public size, rows are added and removed in pairs: a distance of 1 would be no distance at all."""
    sized = sf.vector(float, size=10, metric=sf.AddRemove()) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=10)
    assert sized.source.closest == 2 and sized.map(1) == sf.Pure(0)
    release = sized([50.0] * 10)
    assert release.loss == sf.Pure(1) and release.unit == "2 rows added or removed"
    assert (sf.vector(float) >> sf.count() >> sf.laplace(scale=1))([1.0]).loss == sf.Pure(1)


def test_counting_by_declared_categories() -> None:
    counts = sf.vector(["a", "b"]) >> sf.count_by()
    assert counts(["a", "a", "b"]).tolist() == [2, 1]
    with pytest.raises(sf.errors.BadArgument, match="no declared categories"):
        sf.vector(str) >> sf.count_by()
