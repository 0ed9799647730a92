"""Whether the lower end of a bracket speaks of the plan itself.

Dominating pairs bound mechanisms. Where some mechanism that fits a plan's description has exactly these pairs, no
smaller number is true of the description; where the pairs only bound it, their lower end says nothing.
"""

from __future__ import annotations

import math

from sfumato.accounting.amplify.bands import all_bands_fit
from sfumato.accounting.amplify.exchange import one_sample
from sfumato.accounting.events import (
    Event,
    Gaussian,
    GaussianMixture,
    Laplace,
    LastIterate,
    MatrixFactorization,
    Noise,
    Parallel,
    Poisson,
    Repeat,
    Response,
    Sampled,
    SampledFactorization,
    Sequence,
    Stated,
    Tree,
)
from sfumato.accounting.facts.strategies import is_reached
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.pld import MOST_ALTERNATIVES
from sfumato.accounting.pld.pairs.integer import shifted
from sfumato.accounting.relation import Relation
from sfumato.guarantee import guarantee


@guarantee(
    claim="where it says yes, some mechanism that fits the plan's description has the pairs that stand for it",
    proof="proofs/plan_loss.md#attained",
    reviewed="0ee614a3dddd",
)
def attained(event: Event, relation: Relation) -> bool:
    """Tells whether the dominating pairs of a plan are those of a mechanism that fits it; no where that is not known.

    >>> attained(Repeat(Laplace(2), 3), Relation.CHANGE_ONE)
    True
    """
    if isinstance(event, Parallel):
        parts = set(event.parts)
        alone = relation is Relation.ADD_REMOVE and event.overlap == 1 and len(parts) <= MOST_ALTERNATIVES
        return alone and all(_composed(part, relation) for part in parts)
    return _composed(event, relation)


def _composed(event: Event, relation: Relation) -> bool:
    waiting = [event]
    while waiting:
        match waiting.pop():
            case Sequence(parts=parts):
                waiting.extend(set(parts))
            case Repeat(event=inner):
                waiting.append(inner)
            case Sampled() as drawn:
                once = one_sample(drawn)
                if not (isinstance(once.sampling, Poisson) and _sampled(once.event, relation)):
                    return False
            case GaussianMixture():
                if relation is Relation.CHANGE_ONE:
                    return False
            case other:
                if not _basic(other):
                    return False
    return True


def _basic(event: Event) -> bool:
    match event:
        case Gaussian() | Laplace() | Response():
            return True
        case Noise(noise=noise, coordinates=1):
            return shifted(noise) is not None
        case Stated(loss=Pure() | Approx()):
            return True
        case Tree(separation=separation, branching=branching):
            while separation % branching == 0:
                separation //= branching
            return separation == 1
        case MatrixFactorization(strategy=strategy, participation=participation):
            return is_reached(strategy, participation)
        case SampledFactorization():
            return all_bands_fit(event)
        case LastIterate(diameter=diameter, contraction=contraction):
            return diameter == math.inf and contraction == 1 - event.learning_rate * event.strong_convexity
    return False


def _sampled(inner: Event, relation: Relation) -> bool:
    match inner:
        case Gaussian() | Tree() | MatrixFactorization() | Laplace() | Noise():
            return _basic(inner)
        case Response() | Stated():
            return relation is Relation.ADD_REMOVE and _basic(inner)
    return False
