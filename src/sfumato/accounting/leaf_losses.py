"""What one use of a basic event costs, by kind of loss: the leaf rows of the accountant's table."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from sfumato.accounting.amplify.curves_poisson import SampledGaussianCurve
from sfumato.accounting.events import (
    CompletedNodes,
    Gaussian,
    GaussianMixture,
    Laplace,
    LastIterate,
    MatrixFactorization,
    Noise,
    Response,
    Selection,
    Tree,
)
from sfumato.accounting.facts.iterates import iterate_square
from sfumato.accounting.facts.strategies import reach_square
from sfumato.accounting.facts.table import IN_VECTORS, loss_of
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.pld.pairs.finite import ResponsePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.gaussian_mixture import GaussianMixturePair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair, shifted
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.sampled import RemovedPair
from sfumato.accounting.renyi.mechanism_curves import LaplaceCurve, Linear, ResponseCurve
from sfumato.accounting.tables import leaf
from sfumato.errors import NoProvenRoute
from sfumato.exact import Distance, rational_up, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

GaussianNoise: TypeAlias = Gaussian | Tree | CompletedNodes | MatrixFactorization | LastIterate
"""What comes down to one Gaussian vector."""


FIRST_SQUARE = 4
"""An L2 distance² below this is that of whole numbers which all move by at most one."""


def ratio(event: Laplace) -> Fraction:
    """How far the answer moves in scales of the noise, rounded up."""
    return Fraction(rational_up(_bounded(event.shift))) / event.scale


def square(event: GaussianNoise) -> Fraction:
    """The squared distance between neighbours in scales of the noise; never below it."""
    leaf_event = event.tree if isinstance(event, CompletedNodes) else event
    moved = Fraction(squared(_bounded(leaf_event.shift))) / Fraction(squared(leaf_event.scale))
    match event:
        case Gaussian():
            return moved
        case MatrixFactorization(strategy=strategy, participation=participation):
            return moved * reach_square(strategy, participation)
        case LastIterate():
            return last_iterate_square(event)
    return moved * tree_square(event)


@guarantee(
    claim="mu² = (shift / scale)² times `iterate_square` of the steps, their contraction and diameter / (rate · shift)",
    proof="proofs/last_iterate.md#bound",
    reviewed="51db2a233247",
)
def last_iterate_square(event: LastIterate) -> Fraction:
    """μ² of the last iterate of noisy gradient descent."""
    if not event.shift:
        return Fraction(0)
    apart = math.inf if event.diameter == math.inf else Fraction(event.diameter) / (event.learning_rate * event.shift)
    return iterate_square(event.steps, event.contraction, apart) * (event.shift / event.scale) ** 2


@guarantee(
    claim="the sum of squared node counts over any leaves allowed to one unit is at most this; equal where the "
    "separation is a power of the branching; of nodes in part beyond the steps none where only completed ones count",
    proof="proofs/events.md#tree",
    reviewed="dd4b37918270",
)
def tree_square(event: Tree | CompletedNodes) -> int:
    """The largest sum over the nodes of the squared number of a unit's leaves below them.

    >>> tree_square(Tree(1, steps=8)), tree_square(Tree(1, steps=8, participations=8))
    (4, 120)
    >>> tree_square(Tree(1, steps=2047)), tree_square(CompletedNodes(Tree(1, steps=2047)))
    (12, 11)
    """
    tree, completed = (event.tree, True) if isinstance(event, CompletedNodes) else (event, False)
    squares, width = 0, 1
    while True:
        covered = tree.steps // width * width if completed else tree.steps
        if covered == 0:
            return squares
        used = min(tree.participations, -(-covered // tree.separation))
        room = -(-min(width, tree.steps) // tree.separation)
        full, rest = divmod(used, room)
        squares += full * room**2 + rest**2
        if width >= tree.steps:
            return squares
        width *= tree.branching


@leaf(Gaussian, GDP)
@leaf(Tree, GDP)
@leaf(CompletedNodes, GDP)
@leaf(MatrixFactorization, GDP)
@leaf(LastIterate, GDP)
@guarantee(claim="mu = L2 distance / scale", proof="proofs/events.md#gaussian", reviewed="394a57119687")
def gaussian_gdp(event: GaussianNoise) -> GDP:
    """The Gaussian loss of Gaussian noise, exactly."""
    return GDP.of_square(square(event))


@leaf(Gaussian, ZCDP)
@leaf(Tree, ZCDP)
@leaf(CompletedNodes, ZCDP)
@leaf(MatrixFactorization, ZCDP)
@leaf(LastIterate, ZCDP)
@guarantee(claim="rho = L2 distance² / (2 scale²)", proof="proofs/events.md#gaussian", reviewed="36edd6c1e60c")
def gaussian_zcdp(event: GaussianNoise) -> ZCDP:
    """The zCDP loss of Gaussian noise, exactly."""
    return ZCDP(square(event) / 2)


@leaf(Gaussian, Renyi)
@leaf(Tree, Renyi)
@leaf(CompletedNodes, Renyi)
@leaf(MatrixFactorization, Renyi)
@leaf(LastIterate, Renyi)
@guarantee(claim="order · L2 distance² / (2 scale²)", proof="proofs/events.md#gaussian", reviewed="9da752ecfa34")
def gaussian_renyi(event: GaussianNoise) -> Renyi:
    """The Rényi curve of Gaussian noise, exactly."""
    return Renyi.of(Linear(square(event) / 2))


@leaf(Gaussian, PLD)
@leaf(Tree, PLD)
@leaf(CompletedNodes, PLD)
@leaf(MatrixFactorization, PLD)
@leaf(LastIterate, PLD)
@guarantee(claim="N(mu, 1) against N(0, 1)", proof="proofs/events.md#gaussian", reviewed="dee075774e77")
def gaussian_pld(event: GaussianNoise) -> PLD:
    """The dominating pair of Gaussian noise."""
    moved = square(event)
    return PLD.of(GaussianPair(moved)) if moved else PLD.nothing()


@leaf(GaussianMixture, PLD)
@guarantee(
    claim="sum of p_i N(mu_i, 1) against N(0, 1), mu_i = shift / scale: the worst where all moves go one way",
    proof="proofs/events.md#gaussian-mixture",
    reviewed="c67ed4b4e7ea",
)
def gaussian_mixture_pld(event: GaussianMixture) -> PLD:
    """The dominating pair of Gaussian noise on what a unit moves by chance, the unit's presence first."""
    drawn = {shift / event.scale: chance for shift, chance in event.drawn.items()}
    match list(drawn.items()):
        case []:
            return PLD.nothing()
        case [(moved, chance)]:
            alone = GaussianPair(moved**2)
            return PLD.of(alone if chance == 1 else RemovedPair(alone, chance))
    return PLD.of(GaussianMixturePair(drawn.keys(), drawn.values()))


@leaf(GaussianMixture, Renyi)
@guarantee(
    claim="the sampled Gaussian curve at the largest shift and the chance of any",
    proof="proofs/events.md#gaussian-mixture",
    reviewed="14db0827bbd7",
)
def gaussian_mixture_renyi(event: GaussianMixture) -> Renyi:
    """A bound of the Rényi curve: as if every move were the largest."""
    drawn = event.drawn
    if not drawn:
        return Renyi.nothing()
    return Renyi.of(SampledGaussianCurve(sum(drawn.values(), Fraction(0)), (max(drawn) / event.scale) ** 2))


@leaf(Laplace, Pure)
@guarantee(claim="epsilon = shift / scale", proof="proofs/events.md#laplace", reviewed="161a3827ce1e")
def laplace_pure(event: Laplace) -> Pure:
    """The pure loss of Laplace noise."""
    return Pure(ratio(event))


@leaf(Laplace, Renyi)
@guarantee(claim="the exact curve at shift / scale", proof="proofs/events.md#laplace", reviewed="c555af3ef204")
def laplace_renyi(event: Laplace) -> Renyi:
    """The Rényi curve of Laplace noise."""
    moved = ratio(event)
    return Renyi.of(LaplaceCurve(moved)) if moved else Renyi.nothing()


@leaf(Laplace, PLD)
@guarantee(claim="Laplace noise about 0 and shift / scale", proof="proofs/events.md#laplace", reviewed="cdc822bbc064")
def laplace_pld(event: Laplace) -> PLD:
    """The dominating pair of Laplace noise."""
    moved = ratio(event)
    return PLD.of(LaplacePair(moved)) if moved else PLD.nothing()


@leaf(Response, Pure)
@guarantee(claim="epsilon, by definition of the event", proof="proofs/events.md#response", reviewed="19ecbfe604d6")
def response_pure(event: Response) -> Pure:
    """The pure loss of randomized response."""
    return Pure(event.epsilon)


@leaf(Response, Renyi)
@guarantee(claim="the exact curve between two options", proof="proofs/events.md#response", reviewed="304140ab6fba")
def response_renyi(event: Response) -> Renyi:
    """The Rényi curve of randomized response."""
    return Renyi.of(ResponseCurve(event.epsilon, event.options)) if event.epsilon else Renyi.nothing()


@leaf(Response, PLD)
@guarantee(claim="the answers to two options", proof="proofs/events.md#response", reviewed="059f9baebfe5")
def response_pld(event: Response) -> PLD:
    """The dominating pair of randomized response."""
    return PLD.of(ResponsePair(event.epsilon, event.options)) if event.epsilon else PLD.nothing()


@leaf(Noise, PLD)
@guarantee(
    claim="one coordinate of symmetric log-concave noise: the largest whole shift is the worst; discrete Laplace "
    "vectors: the whole L1 distance in one coordinate; discrete Gaussian ones, L2 distance² below 4: shifts of 1",
    proof="proofs/events.md#noise",
    reviewed="0662a7489c94",
)
def noise_pld(event: Noise) -> PLD:
    """The dominating pair of integer noise on one whole number, or on a vector where the worst direction is known."""
    noise: Any = event.noise
    if shifted(noise) is None:
        raise NoProvenRoute(f"no dominating pair is on file for {type(noise).__name__} noise.")
    whole = math.floor(rational_up(_bounded(event.shift)))
    if event.coordinates == 1 or isinstance(noise, DiscreteLaplace):
        return PLD.of(IntegerNoisePair(noise, whole)) if whole else PLD.nothing()
    steps = math.floor(Fraction(squared(event.shift)))
    if not isinstance(noise, DiscreteGaussian) or steps >= FIRST_SQUARE:
        raise NoProvenRoute(
            "a dominating pair of noise on vectors is known for discrete Laplace noise, and discrete Gaussian noise "
            "where they move by less than 2 in L2: describe each coordinate as an event of its own."
        )
    moved = min(steps, event.coordinates)
    return PLD.of(IntegerNoisePair(noise, 1), moved) if moved else PLD.nothing()


def _of_noise(kind: type[Loss]) -> Callable[[Noise], Loss]:
    """The row that asks the facts about a noise, one kind of loss."""

    def row(event: Noise) -> Loss:
        loss = loss_of(event.noise, kind, event.shift)
        if event.coordinates > 1 and (type(event.noise), kind) not in IN_VECTORS:
            raise NoProvenRoute(
                f"the {kind.__name__} loss of {type(event.noise).__name__} noise is on file for one number only: "
                "describe each coordinate as an event of its own."
            )
        return loss

    return row


def _of_selection(kind: type[Loss]) -> Callable[[Selection], Loss]:
    """The row that asks the facts about a selection, one kind of loss."""
    return lambda event: loss_of(event.selection, kind, event.shift)


NOISE_KINDS: tuple[type[Loss], ...] = (Pure, ZCDP, Approx, Renyi, GDP)
SELECTION_KINDS: tuple[type[Loss], ...] = (BoundedRange, Pure, ZCDP, Renyi, PLD)

for _kind in NOISE_KINDS:
    leaf(Noise, _kind)(_of_noise(_kind))
for _kind in SELECTION_KINDS:
    leaf(Selection, _kind)(_of_selection(_kind))


def _bounded(shift: Distance) -> Distance:
    if shift == math.inf:
        raise NoProvenRoute(
            "neighbours may differ without limit here, so no noise protects them. Bound the values first."
        )
    return shift
