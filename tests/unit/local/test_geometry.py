"""Points and hyperplanes: numbered without gaps, counted without error, drawn by the law that estimates use."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import GeometryResponse, HadamardResponse, Values, fields
from sfumato.local.fields import codes_of, field, hyperplane_counts, leading, places_of, plane_counts, points_of

ORDERS = ((2, 5), (3, 3), (4, 3), (5, 2), (8, 2), (9, 3))


@pytest.mark.parametrize(("order", "length"), ORDERS)
def test_points_are_numbered_without_gaps(order: int, length: int) -> None:
    places = np.arange(points_of(order, length))
    codes = codes_of(order, places)
    assert np.array_equal(codes, fields.point_codes(order, len(places)))
    assert np.array_equal(places_of(order, codes), places)
    assert np.all((codes >= leading(order, codes)) & (codes < 2 * leading(order, codes)))


def on_plane(order: int, length: int, point: int, value: int) -> bool:
    """By the definition, digit by digit: the entry at the place of the value against those above it."""
    of = field(order)
    code, vector = (int(one) for one in codes_of(order, np.array([value, point])))
    block = int(leading(order, np.array([code]))[0])
    below = order ** (length - 1) // block
    later, entry = vector // (below * order), vector // below % order
    return int(of.inner(np.array([later]), np.array([code - block]), length)[0]) == int(entry)


@pytest.mark.parametrize("gathered", [0, 1 << 40])
@pytest.mark.parametrize(("order", "length"), ORDERS)
def test_counts_over_planes_are_those_of_the_definition(
    order: int, length: int, gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all vectors are worked out at once or each by itself, and for some of the points too."""
    monkeypatch.setattr(fields, "GATHERED", gathered)
    points = points_of(order, length)
    counts = np.random.default_rng(order).integers(0, 1000, points)
    holds = np.array([[on_plane(order, length, point, value) for point in range(points)] for value in range(points)])
    assert set(holds.sum(axis=1)) == {points_of(order, length - 1)}
    shared = (holds[:, None, :] & holds[None, :, :]).sum(axis=2)[~np.eye(points, dtype=bool)]
    assert set(shared) == {points_of(order, length - 2)}
    for wanted in (points, points - 1, 2):
        assert np.array_equal(plane_counts(counts, field(order), length, wanted), (holds @ counts)[:wanted])


@pytest.mark.parametrize("gathered", [0, 1 << 40])
@pytest.mark.parametrize(("order", "length"), ORDERS)
def test_counts_over_hashes_are_alike_both_ways(
    order: int, length: int, gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, points = field(order), points_of(order, length)
    counts = np.random.default_rng(order).integers(0, 50, order ** (length + 1))
    codes, seeds = codes_of(order, np.arange(points)), np.arange(order**length)
    every = [
        counts.reshape(-1, order)[seeds, of.inner(seeds, np.full_like(seeds, code), length)].sum() for code in codes
    ]
    monkeypatch.setattr(fields, "GATHERED", gathered)
    assert hyperplane_counts(counts, of, length, points - 1).tolist() == every[:-1]


@pytest.mark.parametrize("order", [2, 3, 4, 9, 64, 127])
def test_draws_of_many_support_as_often_as_stated(order: int) -> None:
    """6 standard deviations of all three chances, for values of every block of points."""
    size = 2000
    protocol = GeometryResponse(Values(range(size)), Pure(2), order)
    for value in (0, 1, order, order + 1, size - 1):
        people = 20_000
        reports = protocol.randomize_many(np.full(people, value), entropy=ReplayEntropy(value))
        assert reports.cells.min() >= 0 and reports.cells.max() < protocol.layout.cells
        support = protocol.tally(reports).sums
        counts = protocol.support(support) / people
        for chance, seen in (
            (float(protocol.supports_truth), counts[value]),
            (float(protocol.supports_other), np.delete(counts, value).mean()),
        ):
            assert abs(seen - chance) < 6 * (chance * (1 - chance) / people) ** 0.5


def test_hadamard_responses_come_from_both_halves() -> None:
    protocol = HadamardResponse(Values(range(1000)), Pure(1))
    reports = protocol.randomize_many(np.full(50_000, 999), entropy=ReplayEntropy(4))
    estimate = protocol.aggregate(reports)
    assert abs(estimate.counts[999] - 50_000) < 6 * estimate.deviations[999]
    assert np.all(np.abs(np.delete(estimate.counts, 999)) < 6 * estimate.deviations[0])
    assert len(np.unique(reports.cells)) == 1024


def test_what_is_no_field_is_refused() -> None:
    with pytest.raises(BadArgument, match="the order of a field"):
        GeometryResponse(Values(range(10)), Pure(1), 6)
    with pytest.raises(BadArgument, match="at least 2"):
        GeometryResponse(Values(range(10)), Pure(1), 1)
