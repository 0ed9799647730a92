"""One example or more of everything public in accounting: what the laws and the codec are tried on."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting import events as ev
from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.odometers import AnytimeOdometer, SumOdometer
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve
from sfumato.accounting.amplify.curves_poisson import PoissonCurve, SampledGaussianCurve
from sfumato.accounting.facts.selection import ExponentialSelection, NoisyMaximum, PermuteAndFlip, TopSelection
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.plans.account import CostReport, Way
from sfumato.accounting.pld.pairs.allocated import AllocatedPair
from sfumato.accounting.pld.pairs.blanked import BlankedGaussianPair
from sfumato.accounting.pld.pairs.either import EitherPair, RangePair
from sfumato.accounting.pld.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.gaussian_mixture import GaussianMixturePair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.accounting.pld.pairs.table import TablePair
from sfumato.accounting.relation import Relation
from sfumato.accounting.renyi.mechanism_curves import LaplaceCurve, Linear, PureCurve
from sfumato.accounting.renyi.mixed_curve import MixedCurve
from sfumato.accounting.renyi.selected_curves import PoissonSelectedCurve, SelectedCurve
from sfumato.exact import Root
from sfumato.noise import Binomial, DiscreteGaussian, DiscreteLaplace, Staircase, Truncated

HALF = Fraction(1, 2)

BASIC: tuple[ev.Event, ...] = (
    ev.Gaussian(3),
    ev.Gaussian(Root(Fraction(7)), shift=Root(Fraction(2))),
    ev.GaussianMixture(3, [0, 1, 2], chances=["1/2", "1/4", "1/4"]),
    ev.Laplace(4, shift=2),
    ev.Noise(DiscreteLaplace(Fraction(5)), shift=2),
    ev.Noise(DiscreteLaplace(Fraction(5)), shift=2, coordinates=3),
    ev.Noise(DiscreteGaussian(Fraction(5)), shift=Root(Fraction(3)), coordinates=2),
    ev.Noise(DiscreteGaussian.from_square(8)),
    ev.Noise(Staircase(HALF, width=2, step=1), shift=1),
    ev.Noise(Truncated(DiscreteLaplace(Fraction(2)), -40, 40), shift=1),
    ev.Selection(ExponentialSelection(Fraction(4))),
    ev.Selection(TopSelection(3, Fraction(8)), shift=2),
    ev.Selection(PermuteAndFlip(Fraction(4))),
    ev.Selection(NoisyMaximum(Fraction(4))),
    ev.Response(0.5),
    ev.Response(1, options=5),
    ev.Stated(Pure(0.25), "a survey"),
    ev.Stated(Approx(0.25, 1e-9)),
    ev.Stated(ZCDP(0.01)),
    ev.Stated(ApproxZCDP(0.01, 1e-9)),
    ev.Stated(GDP(0.2)),
    ev.Stated(Renyi({2: 0.1, 8: 0.5, 32: 2})),
    ev.Stated(BoundedRange(0.5)),
    ev.Tree(10, steps=9, participations=3, separation=2),
    ev.CompletedNodes(ev.Tree(10, steps=9)),
    ev.MatrixFactorization(10, ev.SquareRoot(9), participation=ev.MinSeparation(2, times=3)),
    ev.MatrixFactorization(10, ev.Toeplitz([1, HALF], steps=9), participation=ev.Cyclic(3), shift=2),
    ev.MatrixFactorization(10, ev.Dense([[1], [HALF, 1]])),
    ev.LastIterate(10, steps=50, learning_rate=HALF, smoothness=2, diameter=3),
)

COMPOSITE: tuple[ev.Event, ...] = (
    ev.Sequence(ev.Gaussian(3), ev.Laplace(4), ev.Gaussian(3)),
    ev.Repeat(ev.Laplace(20), 7),
    ev.Parallel(ev.Laplace(4), ev.Laplace(3), ev.Gaussian(5)),
    ev.Parallel(ev.Laplace(4), ev.Laplace(3), ev.Laplace(2), overlap=2),
    ev.Mixture(ev.Laplace(4), ev.Laplace(3), weights=(HALF, HALF)),
    ev.Sampled(ev.Gaussian(2), ev.Poisson(0.1)),
    ev.Sampled(ev.Laplace(2), ev.Poisson(0.1)),
    ev.Sampled(ev.Laplace(2), ev.WithoutReplacement(10, 100)),
    ev.Sampled(ev.Stated(Pure(0.5)), ev.WithReplacement(3, 100)),
    ev.Sampled(ev.Laplace(2), ev.TruncatedPoisson(0.01, most=40, population=1000)),
    ev.SampledFactorization(2, ev.SquareRoot(9, band=3), period=3, rate=0.1),
    ev.Allocated(ev.Gaussian(2), 20),
    ev.Allocated(ev.Laplace(2), 8, participations=3),
    ev.Shuffled(ev.Response(1), 1000),
    ev.ShuffledProtocol(ev.Response(1, options=5), 1000, ev.Hiding.of_response(5, Fraction(2, 5))),
    ev.ShuffledProtocol(
        ev.Response(1), 500, ev.HidingOneOf((ev.Hiding.of_hadamard(0.6), ev.Hiding.of_response(2, 0.7)), (1, 2))
    ),
    ev.ShuffledProtocol(
        ev.Response(2), 500, ev.HidingAllOf((ev.Hiding.of_hadamard(0.6), ev.Hiding.of_response(3, 0.5)))
    ),
    ev.RepeatAndSelect(ev.Laplace(2), ev.TruncatedNegativeBinomial(0, 0.1)),
    ev.RepeatAndSelect(ev.Gaussian(5), ev.TruncatedNegativeBinomial(1, 0.01)),
    ev.RepeatAndSelect(ev.Stated(Approx(0.1, 0.001)), ev.PoissonRuns(5)),
)

EXAMPLES = BASIC + COMPOSITE
"""Every class of event, of sampling and of runs is here; a test says so."""

BARE = (
    Pure(math.inf),
    CostReport(
        ev.Laplace(4),
        Relation.CHANGE_ONE,
        Bracket(Fraction(1, 8), Fraction(1, 4)),
        Bracket(Fraction(0), Fraction(0)),
        (Way("Pure", Approx(0.25, 0), "basic composition", Bracket(Fraction(0), Fraction(1, 4))),),
    ),
    BoundedRange(0.5),
    GDP(Root(Fraction(3))),
    Binomial(trials=20),
    Profile.of(Approx(1, 0.01), Pure(3)),
    Renyi.widest([Renyi.of(PureCurve(1)), Renyi.of(LaplaceCurve(2))], count=1).group(3).times(4),
    Renyi.of(SampledGaussianCurve(Fraction(1, 10), Fraction(2))),
    Renyi.of(PoissonCurve(Renyi.of(LaplaceCurve(1)), Fraction(1, 10))),
    Renyi.of(FixedSizeCurve(Renyi.of(LaplaceCurve(1)), Fraction(1, 10))),
    Renyi.of(SelectedCurve(Renyi.of(Linear(1)), ev.TruncatedNegativeBinomial(0, 0.1))),
    Renyi.concentrated(HALF, 2),
    Renyi.of(MixedCurve((Renyi.of(Linear(1)), Renyi.of(PureCurve(1))), (HALF, HALF))),
    Renyi.of(PoissonSelectedCurve(Renyi.of(Linear(1)), ev.PoissonRuns(3))),
    GaussianPair(HALF),
    BlankedGaussianPair(HALF, HALF),
    GaussianMixturePair([1, 2], ["1/4", "1/4"], turned=True),
    ExchangedGaussianPair(HALF, HALF),
    ExchangedNoisePair(IntegerNoisePair(DiscreteLaplace(Fraction(3)), 2), HALF),
    LaplacePair(HALF),
    ResponsePair(1, 3),
    ApproxPair(1, HALF),
    IntegerNoisePair(DiscreteLaplace(Fraction(3)), 2),
    RemovedPair(GaussianPair(1), HALF),
    AllocatedPair(GaussianPair(1), 10, turned=True),
    AddedPair(LaplacePair(1), HALF),
    ExchangedPair(GaussianPair(1), Fraction(1, 3)),
    FinitePair(((-1, Fraction(1, 4)), (HALF, HALF)), Fraction(1, 4)),
    MixedPair((GaussianPair(1), GaussianPair(4)), (Fraction(99, 100), Fraction(1, 100))),
    EitherPair((GaussianPair(1), LaplacePair(1))),
    TablePair((HALF, HALF), (Fraction(1, 4), Fraction(3, 4))),
    RangePair(1),
    PLD.of(GaussianPair(1)).then(PLD.of(RemovedPair(LaplacePair(1), HALF)).times(3)),
    TradeOff([(0, 1), (0.25, 0.25), (1, 0)]),
    SumFilter(Approx(1, 1e-6), spent=Approx(0.25, 1e-7)),
    AdvancedFilter(Approx(1, 1e-6), reserve=5e-7, order=22, divergence=0.25, delta=1e-9),
    Slots((Pure(0.5), Pure(0.25)), used=1),
    SumOdometer(ZCDP(0.1)),
    AnytimeOdometer(delta=1e-6, orders=[(2, HALF), (16, HALF)], spent=ZCDP(0.01)),
    ev.Poisson(0),
    ev.Stated(Pure(1), note="Größe ≤ 3 “quoted”\n"),
)
"""Public records that are no event, and texts that are hard to write."""


def final_classes(base: type) -> set[type]:
    """Gives every class below a base that has none below itself."""
    below: set[type] = set()
    for kind in base.__subclasses__():
        below |= final_classes(kind) or {kind}
    return below


def kinds_of_loss() -> list[type[Loss]]:
    """Gives every kind of loss, by name."""
    return sorted(
        (kind for kind in final_classes(Loss) if kind.__module__.startswith("sfumato.")), key=lambda kind: kind.__name__
    )
