"""Conversions: the numbers of the texts, the order of strength, and what is refused and how."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from sfumato.accounting.convert.convert import convert, converts, explain_route, routes, strength_graph
from sfumato.accounting.convert.routes import CONVERSIONS, Step
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.plans.optimal import optimal_epsilon
from sfumato.accounting.renyi.mechanism_curves import RangeCurve
from sfumato.errors import BadArgument, NoProvenRoute

EVERY_STEP = [step for row in CONVERSIONS.values() for step in row.values()]
MILLIONTH = Fraction(1, 10**6)
ROUNDING = Fraction(1, 10**12)


def path(steps: tuple[Step, ...]) -> list[str]:
    return [steps[0].source.__name__, *(step.target.__name__ for step in steps)]


def test_A1_130_pure_loss_as_others() -> None:
    """The texts say ρ = ε²/2 = 0.5; the least that holds for every mechanism is ε·tanh(ε/2)."""
    rho = convert(Pure(1), ZCDP).rho
    assert Fraction("0.4621171") < rho < Fraction("0.4621172") < Fraction(1, 2)
    assert convert(Pure(1), BoundedRange) == BoundedRange(2)


def test_A1_131_exponential_mechanism() -> None:
    """The texts say ρ = η²/8 = 0.125; the least that holds for every range is a little less."""
    assert convert(BoundedRange(1), Pure) == Pure(1)
    assert Fraction("0.123301") < convert(BoundedRange(1), ZCDP).rho < Fraction("0.123302") < Fraction(1, 8)
    assert loss_of(ExponentialSelection(Fraction(1)), ZCDP, 1) == ZCDP("0.125")


@pytest.mark.parametrize(("eta", "rho"), [(1, 0.1233), (2, 0.4745), (4, 1.670), (8, 4.923)])
def test_range_as_zcdp_is_the_least(eta: int, rho: float) -> None:
    """It covers the curve of the range at every order, and is reached as the order falls to 1."""
    found, curve = convert(BoundedRange(eta), ZCDP).rho, RangeCurve(eta)
    assert abs(float(found) - rho) < 1e-3
    orders = [1 + Fraction(2) ** power for power in range(-30, 20)]
    assert all(curve.bound(order) <= order * found + ROUNDING for order in orders)
    assert curve.bound(orders[0]) > orders[0] * found * (1 - Fraction(1, 10**6))


@pytest.mark.parametrize("eta", ["1e-300", "1e-25", "1e-12", "1e-3", "30", "1e6", "1e300"])
def test_range_as_zcdp_stays_below_both_simple_bounds(eta: str) -> None:
    found = convert(BoundedRange(eta), ZCDP).rho
    width = Fraction(eta)
    assert 0 < found <= min(width, width * width / 8)
    assert found >= RangeCurve(eta).bound(1 + Fraction(1, 10**9)) / 2


@pytest.mark.parametrize(
    ("scale", "closed_form", "tight", "exact"),
    [
        (1, 5.756522, 5.222429, 4.886554),
        (5, 1.071304, 0.8999385, 0.8341175),
        (10, 0.5306522, 0.4299515, 0.3968574),
    ],
)
def test_A1_134_gaussian_noise_at_a_millionth(scale: int, closed_form: float, tight: float, exact: float) -> None:
    """Of the three only the exact curve is the Gaussian's own; zCDP alone gives the tight form over real orders."""
    loss = GDP(Fraction(1, scale))
    assert abs(float(convert(loss, Approx, delta="1e-6").epsilon) - exact) < 1e-6
    concentrated = convert(convert(loss, ZCDP), Approx, delta="1e-6").epsilon
    # Whole orders, as in the table, are at most a little worse than real ones.
    assert tight * 0.999 < concentrated <= tight
    assert concentrated < closed_form


def test_A2_003_paths() -> None:
    assert ["BoundedRange", "Pure", "ZCDP", "Renyi", "Approx"] in [path(way) for way in routes(BoundedRange, Approx)]
    for source, target in ((Renyi, ZCDP), (ZCDP, Pure), (Renyi, Pure), (GDP, Pure), (Profile, ZCDP)):
        assert routes(source, target) == () or any(step.only for way in routes(source, target) for step in way)
    with pytest.raises(NoProvenRoute):
        convert(Renyi({2: 1}), ZCDP)
    with pytest.raises(NoProvenRoute):
        convert(ZCDP(1), Pure)


def test_A1_140_and_A2_001_trade_off_of_a_loss() -> None:
    curve = convert(Approx(1, "1e-6"), TradeOff)
    assert round(float(curve.at("0.2")), 7) == 0.4563426
    assert round(float(curve.at("0.5")), 7) == 0.1839394


def test_A2_002_gaussian_of_scale_one_half_exactly() -> None:
    assert round(float(convert(GDP(2), Approx, delta="1e-6").epsilon), 5) == 10.99715
    assert round(float(convert(GDP(2), Approx, delta="1e-8").epsilon), 5) == 12.74925


def test_A2_015_laplace() -> None:
    assert convert(Pure("0.1"), Approx) == Approx("0.1", 0)


def test_A2_016_gaussian_of_scale_one_half() -> None:
    loss = ZCDP(2)
    assert convert(loss, Renyi).at(3) == 6
    with pytest.raises(BadArgument, match="greater than 1"):
        convert(loss, Renyi).at(1)
    assert round(float(convert(loss, Approx, delta="1e-6").epsilon), 4) == 11.6886
    assert round(float(convert(loss, Approx, delta="1e-8").epsilon), 4) == 13.3861


def test_A1_142_weaker_to_stronger_is_refused() -> None:
    for kind in (Pure, ZCDP, Renyi, BoundedRange, GDP):
        with pytest.raises(NoProvenRoute, match="δ > 0 allows outcomes of any loss"):
            convert(Approx(1, "1e-6"), kind)
    with pytest.raises(NoProvenRoute, match=r"ZCDP implies Renyi.*Pure follows from BoundedRange.*from the start"):
        convert(ZCDP(1), Pure)


def test_A1_143_graph_of_strengths() -> None:
    graph = strength_graph()
    chain = [BoundedRange, Pure, ZCDP, Renyi, Approx, Profile, TradeOff]
    for strong, weak in pairwise(chain):
        assert graph.implies(strong, weak)
    assert graph.implies(TradeOff, Approx)
    for weak, strong in ((Approx, Renyi), (Renyi, ZCDP), (ZCDP, Pure), (Approx, Pure), (ApproxZCDP, ZCDP)):
        assert not graph.implies(weak, strong)
    assert graph.implies(Pure, BoundedRange)
    assert set(chain) <= set(graph.kinds)
    assert all(not step.only for step in graph.steps)


def test_delta_zero_is_pure() -> None:
    assert convert(Approx(1, 0), Pure) == Pure(1)
    assert convert(ApproxZCDP(1, 0), ZCDP) == ZCDP(1)
    with pytest.raises(NoProvenRoute, match="no finite ρ"):
        convert(ApproxZCDP(1, "1e-9"), ZCDP)
    assert explain_route(Approx(1, 0), Pure).lossless


def test_the_tightest_way_wins() -> None:
    """The direct way from a range is tight, and below the way through pure ε."""
    wide = explain_route(BoundedRange(20), ZCDP)
    assert [step.target for step in wide.steps] == [ZCDP]
    assert wide.tight
    assert wide.loss.within(convert(Pure(20), ZCDP))
    # At a δ the profile of a range beats its curve, pure ε and zCDP.
    small = explain_route(BoundedRange(1), Approx, delta="1e-2")
    assert [step.target for step in small.steps] == [PLD, Approx]
    for way in (Pure, ZCDP, Renyi):
        assert small.loss.within(convert(convert(BoundedRange(1), way), Approx, delta="1e-2"))


@pytest.mark.parametrize("epsilon", [1, 10**5, 10**9])
def test_lossless_ways_are_taken_first(epsilon: int) -> None:
    way = explain_route(Approx(epsilon, 0), TradeOff)
    assert [step.target for step in way.steps] == [Profile, TradeOff]
    assert way.lossless
    through = [step.target for step in explain_route(Pure(epsilon), TradeOff).steps]
    assert through == [Approx, Profile, TradeOff]


def test_huge_gaussians() -> None:
    """Promises of an astronomical ε are dropped from a curve, and an ε beyond the floats comes by zCDP."""
    assert convert(GDP(1000), TradeOff).at("0.5") == 0
    found = convert(GDP(1e300), Approx, delta=1e-6).epsilon
    assert Fraction(10) ** 600 / 2 < found < Fraction(10) ** 600


def test_a_table_that_ends_too_low_for_its_group_is_refused_with_advice() -> None:
    with pytest.raises(NoProvenRoute, match="for groups of k units at orders above k"):
        convert(Renyi({2: 0.5}).group(2), Approx, delta=1e-6)


def test_delta_is_asked_for_where_it_is_needed() -> None:
    for loss in (ZCDP(1), Renyi({2: 1}), GDP(1), ApproxZCDP(1, "1e-9"), Profile([(1, "1e-6")])):
        with pytest.raises(NoProvenRoute, match="Choose the δ"):
            convert(loss, Approx)
    assert convert(BoundedRange(1), Approx) == Approx(1, 0)
    with pytest.raises(NoProvenRoute, match=r"Choose the δ.* and convert that to TradeOff"):
        convert(ZCDP(1), TradeOff)
    with pytest.raises(BadArgument, match="left out"):
        convert(Pure(1), ZCDP, delta="1e-6")


@pytest.mark.parametrize("bad", [-1, 2, math.nan, math.inf, True, "much"])
def test_bad_delta_is_refused(bad: object) -> None:
    with pytest.raises(BadArgument):
        convert(ZCDP(1), Approx, delta=bad)  # type: ignore[arg-type]


def test_bad_losses_and_kinds_are_refused() -> None:
    with pytest.raises(BadArgument, match=r"sf\.Pure"):
        convert(1.0, Approx)  # type: ignore[arg-type]
    for kind in (float, "Pure", Pure(1)):
        with pytest.raises(BadArgument, match="kind"):
            convert(Pure(1), kind)  # type: ignore[arg-type, type-var]
        with pytest.raises(BadArgument, match="kind"):
            routes(Pure, kind)  # type: ignore[arg-type]


def test_one_delta_to_another() -> None:
    assert convert(Approx(1, "1e-6"), Approx) == Approx(1, "1e-6")
    assert convert(Approx(1, "1e-6"), Approx, delta="1e-6") == Approx(1, "1e-6")
    assert convert(Approx(1, "1e-6"), Approx, delta="1e-7").epsilon == math.inf
    assert convert(Approx(1, "1e-6"), Approx, delta=1).epsilon == 0
    assert convert(Approx(math.inf, 0), Approx, delta=1).epsilon == 0
    looser = convert(Pure(1), Approx, delta="0.01").epsilon
    assert round(float(looser), 6) == round(math.log(math.e - 0.01 * (1 + math.e)), 6) == 0.986227


def test_extreme_losses() -> None:
    assert convert(Pure(math.inf), ZCDP) == ZCDP(math.inf)
    assert convert(Pure(math.inf), GDP) == GDP(math.inf)
    assert convert(GDP(math.inf), Approx, delta="0.5") == Approx(math.inf, "0.5")
    assert convert(ZCDP(1), Approx, delta=0).epsilon == math.inf
    assert convert(ZCDP(0), Approx, delta=0) == Approx(0, 0)
    assert convert(GDP(1), Approx, delta=1) == Approx(0, 1)
    assert convert(GDP(math.inf), Profile) == Profile([(0, 1)])
    assert convert(Pure("1e-30"), ZCDP).rho <= Fraction("5e-61")
    assert convert(Pure(10_000), ZCDP).rho <= 10_000


def test_pure_loss_as_gaussian() -> None:
    """The trade-off curves touch at one corner: there the Gaussian one must not be above, and may not be far below."""
    mu = convert(Pure(1), GDP).mu
    corner = 1 / (1 + math.e)
    assert abs(gaussian_misses(corner, float(mu)) - corner) < 1e-12
    assert gaussian_misses(corner, float(mu) * 0.999) > corner + 1e-6


def gaussian_misses(alarms: float, mu: float) -> float:
    from scipy.stats import norm

    return float(norm.cdf(norm.ppf(1 - alarms) - mu))


def test_distributions_agree_with_optimal_composition() -> None:
    """A hundred pure losses as distributions: the bracket holds the exact answer of Kairouz, Oh and Viswanath."""
    composed = convert(Pure("0.1"), PLD).times(100)
    exact = optimal_epsilon("0.1", count=100, delta="1e-6")
    found = convert(composed, Approx, delta="1e-6").epsilon
    assert exact - ROUNDING <= found <= exact * (1 + Fraction(1, 10**4))
    leaky = convert(Approx("0.1", "1e-8"), PLD).times(100)
    exact = optimal_epsilon("0.1", count=100, delta="2e-6", delta0="1e-8")
    assert exact - ROUNDING <= convert(leaky, Approx, delta="2e-6").epsilon <= exact * (1 + Fraction(1, 10**4))


def test_gaussian_distribution_is_exact() -> None:
    direct = convert(GDP(1), Approx, delta="1e-6").epsilon
    assert abs(convert(convert(GDP(1), PLD), Approx, delta="1e-6").epsilon - direct) < ROUNDING
    assert [step.target for step in explain_route(GDP(1), TradeOff).steps] == [TradeOff]


def test_distributions_of_nothing_and_of_everything() -> None:
    for loss in (Pure(0), Approx(0, 0), GDP(0), Profile.nothing()):
        assert convert(loss, PLD) == PLD.nothing()
        assert convert(PLD.nothing(), Approx, delta="1e-6") == Approx(0, "1e-6")
    for everything in (Pure(math.inf), Approx(math.inf, 0), GDP(math.inf)):
        assert convert(convert(everything, PLD), Approx, delta="0.5").epsilon == math.inf
    assert convert(convert(Pure(1), PLD), Approx, delta=0).epsilon == math.inf
    assert convert(convert(Pure(1), PLD), Approx, delta=1).epsilon == 0
    profile = convert(convert(Pure(1), PLD), Profile)
    assert Fraction("0.462") < profile.delta(0) < Fraction("0.463")


def test_a_route_explains_itself() -> None:
    route = explain_route(BoundedRange(20), GDP)
    text = str(route)
    assert text.splitlines()[0] == "η = 20 (bounded range)"
    assert "Durfee and Rogers" in text
    assert "proofs/conversions.md#pure-gaussian" in text
    assert not route.lossless
    assert explain_route(ZCDP(1), Renyi).lossless
    assert explain_route(Pure(1), Pure).steps == ()
    assert str(CONVERSIONS[ZCDP][Renyi]).startswith("ZCDP → Renyi (lossless): Bun and Steinke")


@pytest.mark.parametrize("step", EVERY_STEP, ids=lambda step: f"{step.source.__name__}-{step.target.__name__}")
def test_every_step_names_its_theorem_and_proof(step: Step) -> None:
    assert step.theorem.strip()
    assert step.proof.startswith(("proofs/conversions.md#", "proofs/pairs.md#"))
    assert step.tight or not step.lossless
    nothing = step.source.nothing()
    given = MILLIONTH if step.at_delta else None
    assert step.apply(nothing, given).within(_nothing(step.target, given))


def _nothing(kind: type[Loss], delta: Fraction | None) -> Loss:
    return Approx(0, delta) if kind is Approx and delta is not None else kind.nothing()


def test_a_row_needs_a_guarantee_and_is_filed_once() -> None:
    def bare(loss: Pure, _delta: Fraction | None) -> Renyi:
        raise NotImplementedError

    with pytest.raises(BadArgument, match="guarantee"):
        converts(GDP, BoundedRange, theorem="none")(bare)
    assert BoundedRange not in CONVERSIONS[GDP]
    with pytest.raises(BadArgument, match="filed once"):
        converts(ZCDP, Renyi, theorem="again")(CONVERSIONS[ZCDP][Renyi].apply)
