"""What shuffling saves: the textbook's numbers, the certified bound, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.amplify.shuffle import shuffled_delta, shuffled_epsilon, shuffled_epsilon_closed
from sfumato.accounting.compose import total
from sfumato.accounting.events import Gaussian, Response, Shuffled, Stated
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute


@pytest.mark.parametrize(
    ("epsilon0", "reports", "expected"),
    [(1, 10_000, 0.21403), (2, 100_000, 0.18619), (1, 1_000, 0.56620), (2, 1_000, 2)],
)
def test_A2_035_closed_form(epsilon0: int, reports: int, expected: float) -> None:
    found = float(shuffled_epsilon_closed(epsilon0, reports=reports, delta=1e-6))
    assert found == pytest.approx(expected, abs=5.1e-6)


def test_A2_035_outside_the_condition_the_local_guarantee_remains() -> None:
    limit = math.log(1000 / (16 * math.log(2e6)))
    assert limit == pytest.approx(1.4604, abs=5e-5)
    assert shuffled_epsilon_closed(1.4603, reports=1000, delta=1e-6) < Fraction(14603, 10_000)
    assert shuffled_epsilon_closed(1.4605, reports=1000, delta=1e-6) == Fraction(14605, 10_000)


@pytest.mark.parametrize(
    ("epsilon0", "reports", "delta", "expected"),
    [
        (1, 1_000, 1e-6, 0.1486706),
        (1, 10_000, 1e-6, 0.0432062),
        (2, 100_000, 1e-6, 0.0331873),
        (2, 1_000, 1e-6, 0.397087),
    ],
)
def test_the_certified_bound_is_several_times_smaller(
    epsilon0: int, reports: int, delta: float, expected: float
) -> None:
    found = shuffled_epsilon(epsilon0, reports=reports, delta=delta)
    assert float(found) == pytest.approx(expected, rel=2e-6)
    assert 3 * found < shuffled_epsilon_closed(epsilon0, reports=reports, delta=delta)
    assert Fraction(999, 1000) * Fraction(str(delta)) <= shuffled_delta(epsilon0, reports=reports, epsilon=found)
    assert shuffled_delta(epsilon0, reports=reports, epsilon=found) <= Fraction(str(delta))


def test_a_million_reports_and_tiny_deltas() -> None:
    found = shuffled_epsilon(1, reports=1_000_000, delta=1e-9)
    assert float(found) == pytest.approx(0.00563711, rel=2e-6)
    assert 0 < shuffled_delta(1, reports=1_000, epsilon=0.5) < Fraction(1, 10**20)


def test_edges() -> None:
    assert shuffled_delta(1, reports=10, epsilon=1) == 0
    assert shuffled_epsilon(0, reports=10, delta=0.1) == 0
    assert shuffled_epsilon(1, reports=100, delta=0.999) == 0
    assert shuffled_epsilon(1, reports=1, delta=1e-12) <= 1
    assert shuffled_delta(800, reports=50, epsilon=1) == pytest.approx(1, abs=1e-9)
    assert shuffled_epsilon(30, reports=2, delta=1e-6) <= 30
    assert shuffled_delta(1, reports=1, epsilon=0) == pytest.approx(math.tanh(0.5))


@pytest.mark.parametrize("function", [shuffled_epsilon, shuffled_epsilon_closed])
@pytest.mark.parametrize("delta", [0, 1, -0.5, 2, math.nan, math.inf, True, "x"])
def test_bad_delta(function: object, delta: object) -> None:
    with pytest.raises(BadArgument, match="delta must be"):
        function(1, reports=10, delta=delta)  # type: ignore[operator]


@pytest.mark.parametrize("reports", [0, -1, 2.5, True, "10", None])
def test_bad_reports(reports: object) -> None:
    with pytest.raises(BadArgument, match="reports must be"):
        shuffled_delta(1, reports=reports, epsilon=0.5)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="reports must be"):
        shuffled_epsilon(1, reports=reports, delta=0.5)  # type: ignore[arg-type]


def test_one_report_cannot_hide_in_the_closed_form() -> None:
    with pytest.raises(BadArgument, match="at least 2"):
        shuffled_epsilon_closed(1, reports=1, delta=0.1)


@pytest.mark.parametrize("epsilon", [-1, math.nan, math.inf, True, "x"])
def test_bad_epsilons(epsilon: object) -> None:
    with pytest.raises(BadArgument, match="epsilon0 must be"):
        shuffled_delta(epsilon, reports=10, epsilon=0.5)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="epsilon must be"):
        shuffled_delta(1, reports=10, epsilon=epsilon)  # type: ignore[arg-type]


def test_the_pure_loss_of_shuffled_reports_is_that_of_one() -> None:
    assert total(Shuffled(Response(1), 1000), Pure, relation=Relation.CHANGE_ONE) == Pure(1)


def test_the_profile_of_shuffled_reports() -> None:
    profile = total(Shuffled(Stated(Pure(1)), 1000), Profile, relation=Relation.CHANGE_ONE)
    assert profile.epsilon(0) == 1
    assert float(profile.epsilon(1e-6)) == pytest.approx(0.148671, rel=0.05)
    assert profile.epsilon(1e-6) >= shuffled_epsilon(1, reports=1000, delta=1e-6) * Fraction(999_999, 10**6)
    for epsilon in (0, 0.05, 0.17, 0.5):
        assert profile.delta(epsilon) >= shuffled_delta(1, reports=1000, epsilon=epsilon)


@pytest.mark.parametrize("kind", [Pure, Profile])
def test_one_unit_more_or_fewer_is_refused(kind: type[Pure]) -> None:
    with pytest.raises(NoProvenRoute, match="CHANGE_ONE"):
        total(Shuffled(Response(1), 1000), kind, relation=Relation.ADD_REMOVE)


def test_reports_that_are_not_pure_have_no_pure_loss() -> None:
    with pytest.raises(NoProvenRoute):
        total(Shuffled(Stated(Approx(1, 1e-6)), 1000), Pure, relation=Relation.CHANGE_ONE)


def test_reports_that_keep_a_delta_gain_by_being_shuffled() -> None:
    near, pure = (
        total(Shuffled(Stated(loss), 1000), Profile, relation=Relation.CHANGE_ONE)
        for loss in (Approx(1, 1e-12), Pure(1))
    )
    assert pure.epsilon(1e-6) < near.epsilon(1e-6) < pure.epsilon(1e-6) * 1.01
    assert near.epsilon(1e-12) == 1 and near.epsilon(1e-13) == math.inf
    noisy = total(Shuffled(Gaussian(5), 1000), Profile, relation=Relation.CHANGE_ONE)
    assert noisy.epsilon(1e-6) < total(Gaussian(5), Profile).epsilon(1e-6) / 3
