"""The stages of a mean without bounds, enumerated: size, radius, and centre and radius in one filter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.exact.enumerated import farthest, multisets

from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.audit.brute_force import brute_epsilon, brute_renyi
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import privacy_filter
from sfumato.core.domains import Floats
from sfumato.core.measurement import Measurement
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space, vector
from sfumato.entropy import Entropy
from sfumato.mechanisms.quantile import quantile_among
from sfumato.mechanisms.selection import exponential_of
from sfumato.stats.means import median_radius, octaves_around
from sfumato.transforms.deviations import LARGEST, deviations
from sfumato.transforms.radius_scores import moved_up, radius_scores
from sfumato.transforms.scores import quantile_scores

pytestmark = pytest.mark.sharp_balls

VALUES = [-1.0, 0.0, 1e300]
RADII = [0.25, 1.0, 4.0]
PENALTIES = [0, 1, 2]
SLACK = Fraction(1, 10**25)


def test_values_are_moved_up_to_the_next_radius() -> None:
    odd = [-np.inf, -1.0, -0.0, 5e-324, 0.25, np.nextafter(0.25, 1), 4.0, 5.0, LARGEST, np.inf]
    moved = vector(Floats(infinite=True)) >> moved_up(RADII)
    assert moved(odd).tolist() == [0.25] * 5 + [1.0, 4.0, LARGEST, LARGEST, LARGEST]
    assert moved([]).tolist() == []
    assert moved.map(3) == 3


@pytest.mark.parametrize("size", [None, 2])
@pytest.mark.parametrize("measure", [Pure, ZCDP])
def test_the_size_keeps_its_map_over_every_octave(size: int | None, measure: type[Pure] | type[ZCDP]) -> None:
    """Rows at the centre are left out, so that for a public size an exchange adds a row and removes one."""
    octaves = octaves_around(0)
    nats = [abs(octave) / 100 for octave in octaves]

    def chosen(heat: Fraction) -> Measurement:
        return vector(float, size=size) >> median_radius(deviations(0.0), octaves, nats, heat, measure)

    members = multisets(VALUES, range(3) if size is None else range(2, 3))
    moved = Fraction(1 if size is None else 2)
    if measure is Pure:
        low, high = brute_epsilon(chosen(Fraction(2)), members)
        assert chosen(Fraction(2)).map(1) == Pure(moved / 2)
        assert moved / 4 < low <= high <= moved / 2 + SLACK
        assert brute_epsilon(chosen(Fraction(1, 2)), members)[0] > moved / 2
        return
    assert chosen(Fraction(2)).map(1) == ZCDP(moved**2 / 32)
    for order in (Fraction(3, 2), Fraction(8)):
        assert brute_renyi(chosen(Fraction(2)), members, order=order)[1] <= order * moved**2 / 32 + SLACK


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("penalties", [[0, 0, 0], [0, Fraction(3, 4), 5], [7, 0, Fraction(1, 3)]])
@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(3, 4), Fraction(1)])
def test_radius_scores_move_as_quantile_scores_do(size: int | None, penalties: list[Fraction], alpha: Fraction) -> None:
    scores = vector(float, size=size) >> radius_scores(RADII, alpha=alpha, penalties=penalties)
    members = multisets([0.0, 0.25, 0.5, 3.0, 9.0], range(4) if size is None else range(3, 4))
    each = 1 if alpha == 1 else 2 * max(alpha, 1 - alpha) if size is None else 2
    claimed = [scores.map(d_in) for d_in in range(3)]
    reached = farthest(scores, members, 2)
    assert claimed == [0, each, 2 * each]
    assert all(apart <= most for apart, most in zip(reached, claimed, strict=True))
    if alpha == 1 or (alpha == Fraction(1, 2) and size is None):
        assert reached == claimed


def test_radius_scores_count_rows_beyond_and_the_penalty() -> None:
    scores = vector(float) >> radius_scores(RADII, alpha=1, penalties=[0, "0.5", 1])
    assert scores([0.25, 0.5, 3.0, 9.0, 10.0]).tolist() == [-4, -3 - 0.5, -2 - 1]


def test_rows_that_are_all_the_same_give_one_radius_the_best_score() -> None:
    """Without moving rows up first, all radii above them would be as good as the next one."""
    rows = [0.5] * 10
    assert (vector(float) >> radius_scores(RADII, alpha=Fraction(1, 2), penalties=[0] * 3))(rows).tolist() == [
        -5,
        0,
        -5,
    ]
    assert (vector(float) >> quantile_scores(RADII, alpha=Fraction(1, 2)))(rows).tolist() == [-5, -5, -5]


@pytest.mark.parametrize("measure", [Pure, ZCDP])
def test_the_radius_keeps_its_map_and_reaches_it(measure: type[Pure] | type[ZCDP]) -> None:
    def radius(temperature: Fraction) -> Measurement:
        scores = vector(float) >> deviations(1.0) >> radius_scores(RADII, alpha=1, penalties=PENALTIES)
        return scores >> exponential_of(RADII, temperature=temperature, measure=measure)

    members = multisets([1.0, 1.5, 4.0, 9.0], range(6))
    if measure is Pure:
        claimed = radius(Fraction(2)).map(1).epsilon  # type: ignore[attr-defined]
        low, high = brute_epsilon(radius(Fraction(2)), members)
        assert claimed * Fraction(3, 4) < low <= high <= claimed + SLACK
        assert brute_epsilon(radius(Fraction(1)), members)[0] > claimed  # half the temperature does not keep it
        return
    claimed = radius(Fraction(2)).map(1).rho  # type: ignore[attr-defined]
    for order in (Fraction(3, 2), Fraction(2), Fraction(8)):
        assert brute_renyi(radius(Fraction(2)), members, order=order)[1] <= order * claimed + SLACK


def adaptive(space: Space, limit: Pure, cold: Fraction) -> Measurement:
    """Puts a centre and then a radius around it to one filter, as the mean does, on coarse grids."""

    def stages(ask: Queryable, entropy: Entropy) -> tuple[float, float]:
        centre = ask(quantile_among([-0.5, 0.5], alpha=Fraction(1, 2), temperature=2))
        scores = deviations(centre) >> radius_scores(RADII, alpha=1, penalties=PENALTIES)
        return centre, ask(scores >> exponential_of(RADII, temperature=cold))

    return analysis(space >> privacy_filter(limit), stages)


def test_centre_and_radius_together_keep_the_limit() -> None:
    """The whole joint law, by replaying the strategy; what costs more than is left is refused for every data set."""
    whole = adaptive(vector(float), Pure(1), Fraction(2))
    members = multisets([-1.0, 0.5, 3.0], range(4))
    low, high = brute_epsilon(whole, members)
    assert Fraction(1, 2) < low <= high <= 1 + SLACK
    with pytest.raises(Exception, match="limit"):
        adaptive(vector(float), Pure("0.9"), Fraction(2))([0.5])
