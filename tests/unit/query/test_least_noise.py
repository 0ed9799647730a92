"""Gaussian noise of questions: no more than (ε, δ) or μ needs, by the exact profile and not by way of ρ."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.facts.gaussian import exact_discrete_delta
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.exact import ball, precision, root
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.query.plan.parts import Exclusive, NoisyCells, PricedCells, priced_as_one
from sfumato.query.plan.pricing import GAUSSIAN, Pricing, priced
from sfumato.query.plan.sensitivity import Influence

ASKED = sf.Approx(1, "1e-6")


def influence(l1: int, square: int) -> Influence:
    return Influence(GroupedDistance(l1, l1, 1), 1, Fraction(l1), root(square))


def gaussian(*squares: int, loss: sf.Loss = ASKED, d_in: int = 1) -> Pricing:
    """Prices vectors that move by so much in L2, squared."""
    parts = [NoisyCells(influence(square, square), d_in) for square in squares]
    return priced(parts, [Fraction(1)] * len(parts), loss, noise=GAUSSIAN, d_in=d_in)


def scales(pricing: Pricing) -> list[float]:
    return [float(part.noise.square) ** 0.5 for part in pricing.parts if isinstance(part, PricedCells)]  # type: ignore[attr-defined]


def test_a_count_gets_the_noise_that_the_exact_profile_allows() -> None:
    [scale] = scales(gaussian(1))
    assert scale == pytest.approx(4.2308, abs=1e-4)  # continuous noise: 4.2247; by way of ρ: 4.531
    [part] = gaussian(1).parts
    less = DiscreteGaussian.from_square(part.noise.square * Fraction(999, 1000))  # type: ignore[attr-defined]
    assert exact_discrete_delta(less, 1, Fraction(1)) > ASKED.delta


@pytest.mark.parametrize(("square", "most"), [(4, 1.006), (100, 1.0003), (10**12, 1.0000001)])
def test_vectors_need_hardly_more_than_continuous_noise(square: int, most: float) -> None:
    [scale] = scales(gaussian(square))
    assert 4.224678 < scale / square**0.5 < 4.22468 * most


def test_several_vectors_share_what_there_is() -> None:
    found = gaussian(10**6, 10**8, 10**10)
    assert [scale / 10**n for scale, n in zip(scales(found), (3, 4, 5), strict=True)] == pytest.approx(
        [4.22468 * 3**0.5] * 3, rel=1e-5
    )


@pytest.mark.parametrize("squares", [(1,), (2,), (1, 1), (25, 1, 10**6)])
@pytest.mark.parametrize("d_in", [1, 3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_the_price_is_what_was_asked_and_more_further_apart(squares: tuple[int, ...], d_in: int, epsilon: str) -> None:
    asked = sf.Approx(epsilon, "1e-6")
    found = gaussian(*squares, loss=asked, d_in=d_in)
    price = found.loss(d_in)
    assert (
        isinstance(price, sf.Approx) and price.within(asked) and price.epsilon > asked.epsilon * Fraction(9999, 10**4)
    )
    further = found.loss(2 * d_in)
    assert isinstance(further, sf.Approx) and further.epsilon > asked.epsilon
    assert found.loss(0) == sf.Approx(0, 0)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "8", "40"])
def test_there_is_never_more_noise_than_by_way_of_concentrated_loss(epsilon: str) -> None:
    for squares in ((1,), (3,), (1, 10**6)):
        found = gaussian(*squares, loss=sf.Approx(epsilon, "1e-6"))
        rho = sum((Fraction(part.loss(1).rho) for part in found.parts), Fraction(0))  # type: ignore[union-attr]
        assert convert(sf.ZCDP(rho), sf.Approx, delta="1e-6").epsilon >= Fraction(epsilon) * Fraction(9999999, 10**7)


def test_two_counts_together_keep_what_was_asked_in_every_cell() -> None:
    """The whole law of two noisy numbers that both move by 1, at a δ that can be listed."""
    asked = sf.Approx(1, "0.01")
    noises = [part.noise for part in gaussian(1, 1, loss=asked).parts]  # type: ignore[attr-defined]
    with precision(128):
        here = [{z: noise.pmf(z) for z in range(-30, 31)} for noise in noises]
        factor, delta = ball(Fraction(1)).exp(), arb(0)
        for x, y in product(range(-29, 30), repeat=2):
            gain = here[0][x] * here[1][y] - factor * here[0][x - 1] * here[1][y - 1]
            delta += gain if gain > 0 else arb(0)
    assert ball(asked.delta) * ball(Fraction(3, 4)) < delta <= ball(asked.delta)


def test_exclusive_vectors_cost_what_one_does_also_in_gaussian_terms() -> None:
    pivot = priced_as_one([influence(1, 1)] * 5, 1)
    assert isinstance(pivot, Exclusive)
    found = priced([pivot], [Fraction(1)], ASKED, noise=GAUSSIAN)
    assert found.loss(1) == ASKED
    [part] = found.parts
    alone = [float(member.noise.square) ** 0.5 for member in part.members]  # type: ignore[attr-defined]
    assert max(alone) < 4.31 < 4.531


BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "t",
    "unit": {"protects": "a person", "id": "u"},
    "tables": {
        "t": {
            "contributions": {"rows": 1, "source": "s"},
            "columns": {"u": {"type": "int"}, "x": {"type": "float", "between": [0, 10], "source": "s"}},
        }
    },
}


def session(limit: sf.Loss) -> sf.Session:
    import polars as pl

    data = pl.DataFrame({"u": range(100), "x": [float(one % 10) for one in range(100)]})
    return sf.Dataset(data, codebook=BOOK, name="t").session(limit=limit, ledger="memory:")


def test_gaussian_limits_pay_for_questions() -> None:
    asked = session(sf.GDP(2))
    release = asked.sql("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", loss=sf.GDP(1))
    assert isinstance(release.loss, sf.GDP) and 0.999 < float(release.loss.square) <= 1
    assert release.how.parameters[1][1].startswith("Gaussian, scale 14.")
    assert asked.left.within(sf.GDP.of_square(Fraction(3001, 1000)))


def test_gaussian_limits_pay_for_accuracy_and_explain_it() -> None:
    asked = session(sf.GDP(2))
    release = asked.sql("SELECT COUNT(*) AS n FROM t", accuracy=(20, 0.95))
    assert release.how.mechanism == "Gaussian noise"
    assert release.loss.within(sf.GDP("0.11"))
    told = str(asked.explain("SELECT COUNT(*) AS n FROM t", loss=sf.GDP("0.5")))
    assert "μ = 0.25" in told and "μ = 1" in told


@pytest.mark.parametrize("noise", [None, "laplace", "gaussian"])
def test_any_kind_that_noise_can_be_restated_in_pays_for_questions(noise: str | None) -> None:
    allowed = sf.Renyi({2: "0.5", 8: 2})
    asked = session(sf.Renyi({2: 1, 8: 4}))
    release = asked.sql("SELECT COUNT(*) AS n FROM t", loss=allowed, noise=noise)
    assert isinstance(release.loss, sf.Renyi) and release.loss.within(allowed)
    assert max(release.loss.at(order) / allowed.at(order) for order in (2, 8)) > Fraction(999, 1000)
    assert asked.left.within(sf.Renyi({2: 1, 8: 4}))


def test_what_has_no_gaussian_loss_is_refused_before_it_is_charged() -> None:
    asked = session(sf.GDP(2))
    with pytest.raises(sf.errors.QueryRefused, match="have no Gaussian loss on file"):
        asked.sql("SELECT MEDIAN(x) AS m FROM t", loss=sf.GDP(1))
    assert asked.spent == sf.GDP(0)


def test_choices_beside_gaussian_noise_are_priced_by_way_of_concentrated_loss() -> None:
    release = session(sf.Approx(10, "1e-3")).sql(
        "SELECT COUNT(*) AS n, MEDIAN(x) AS m FROM t", loss=ASKED, noise="gaussian"
    )
    assert release.loss.within(ASKED)
