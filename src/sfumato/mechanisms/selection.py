"""Private selection: which of a public list of candidates fits the data best.

All of these take a vector of exact scores and give an index (or several). What they cost depends on the scores' range
distance alone, so a constant added to every score changes neither the choice nor the price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.facts.selection import ExponentialSelection, PermuteAndFlip, TopSelection
from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Loss, Pure, check_kind
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, integer, log_up, non_negative, positive, rational
from sfumato.guarantee import guarantee
from sfumato.mechanisms.scoring import drawable, exponents_of, law_of_pairs, score_grid, selection
from sfumato.noise.selection import exponential_index, permute_and_flip_index, top_k_indices
from sfumato.noise.selection_laws import exponential_probabilities, permute_and_flip_probabilities, top_k_probabilities

EXPONENTIAL = "proofs/exponential.md#pure"


@constructor
def exponential(temperature: Number, *, measure: type[Loss] = Pure) -> Partial[Measurement]:
    """Chooses a candidate with probability proportional to exp(score / temperature): the exponential mechanism.

    Takes:      a vector of scores on a grid under L∞, monotonic L∞ or range
    Gives:      the index of the chosen candidate, and nothing about its score
    Guarantee:  epsilon = eta = r / temperature, rho = (r / temperature)² / 8, for range distance r: 2 d_in under L∞,
                else d_in  (proofs/exponential.md#pure, #bounded-range, #zcdp)
    Cost:       some 30 ns a candidate

    >>> from sfumato.core.metrics import LInf
    >>> from sfumato.core.space import vector
    >>> scores = vector(int, size=4, metric=LInf())
    >>> (scores >> exponential(temperature=2)).map(1), (scores >> exponential(temperature=2, measure=ZCDP)).map(1)
    (Pure(epsilon=1.0), ZCDP(rho=0.125))
    """
    return _exponential("exponential", positive(temperature, "temperature"), measure)


@constructor
def gumbel_noisy_max(scale: Number, *, measure: type[Loss] = Pure) -> Partial[Measurement]:
    """Chooses the candidate whose score is largest after Gumbel noise on each: the same law as `exponential`.

    Takes:      a vector of scores on a grid under L∞, monotonic L∞ or range
    Gives:      the index of the chosen candidate
    Guarantee:  that of exponential(temperature=scale)  (proofs/exponential.md#gumbel)
    Cost:       some 30 ns a candidate

    >>> from sfumato.core.metrics import LInf
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=4, metric=LInf(monotonic=True)) >> gumbel_noisy_max(scale=2)).map(1)
    Pure(epsilon=0.5)
    """
    return _exponential("gumbel_noisy_max", positive(scale, "scale"), measure)


@constructor
def exponential_of(
    candidates: Sequence[Data], *, temperature: Number, measure: type[Loss] = Pure
) -> Partial[Measurement]:
    """Chooses as `exponential` and gives the candidate itself instead of its index.

    Takes:      a vector of scores on a grid, one to each candidate, under L∞, monotonic L∞ or range
    Gives:      the chosen candidate
    Guarantee:  that of exponential(temperature)  (proofs/exponential.md#pure)
    Cost:       some 30 ns a candidate

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.scores import mode_scores
    >>> colours = ["red", "blue"]
    >>> (vector(colours) >> mode_scores() >> exponential_of(colours, temperature=2)).map(1)
    Pure(epsilon=0.5)
    """
    choose, pick = exponential(temperature, measure=measure), candidate_of(candidates)

    def build(space: Space) -> Measurement:
        size = score_grid(space, "exponential_of").size
        if size != len(candidates):
            raise BadArgument("candidates", f"one for each of the {size} scores", len(candidates))
        return choose.build(space).then(pick)

    return Partial(f"exponential_of({len(candidates)} candidates, temperature={temperature})", build)


@constructor
def permute_and_flip(scale: Number) -> Partial[Measurement]:
    """Chooses the candidate whose score is largest after exponential noise on each; never worse than `exponential`.

    Takes:      a vector of scores on a grid under L∞, monotonic L∞ or range
    Gives:      the index of the chosen candidate
    Guarantee:  Pure(epsilon = r / scale) for range distance r: 2 d_in under L∞, else d_in; no better zCDP loss than
                that of Pure is known  (proofs/permute_and_flip.md#loss)
    Cost:       one permutation, and coins until the first head

    >>> from sfumato.core.metrics import LInf
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=4, metric=LInf()) >> permute_and_flip(scale=2)).map(1)
    Pure(epsilon=1.0)
    """
    size = positive(scale, "scale")

    def build(space: Space) -> Measurement:
        unit = score_grid(space, "permute_and_flip").step / size
        return selection(
            space,
            PermuteAndFlip(size),
            Pure,
            lambda scores, entropy: permute_and_flip_index(drawable(scores), unit=unit, entropy=entropy),
            lambda scores: law_of_pairs(enumerate(permute_and_flip_probabilities(exponents_of(scores, unit)))),
            ("permute_and_flip", "proofs/permute_and_flip.md#loss"),
        )

    return Partial(f"permute_and_flip(scale={scale})", build)


@constructor
def top_k(count: int, *, temperature: Number, measure: type[Loss] = Pure) -> Partial[Measurement]:
    """Chooses several candidates, best first: each as `exponential` does among those that are left.

    Takes:      a vector of at least ``count`` scores on a grid under L∞, monotonic L∞ or range
    Gives:      a tuple of ``count`` different indices, in order of choice
    Guarantee:  epsilon = count r / temperature, rho = count (r / temperature)² / 8, for range distance r: 2 d_in
                under L∞, else d_in  (proofs/top_k.md#pure, #zcdp)
    Cost:       that of ``count`` choices; the law is that of adding Gumbel noise once and taking the largest

    >>> from sfumato.core.metrics import Range
    >>> from sfumato.core.space import vector
    >>> (vector(int, size=5, metric=Range()) >> top_k(3, temperature=5)).map(1)
    Pure(epsilon=0.6)
    """
    picks, heat = integer(count, "count", least=1), positive(temperature, "temperature")
    check_kind(measure, (Pure, ZCDP), "top_k")

    def build(space: Space) -> Measurement:
        grid = score_grid(space, "top_k")
        if picks > grid.size:
            raise BadArgument("count", f"at most the number of candidates, {grid.size}", count)
        unit = grid.step / heat
        return selection(
            space,
            TopSelection(picks, heat),
            measure,
            lambda scores, entropy: tuple(top_k_indices(drawable(scores), k=picks, unit=unit, entropy=entropy)),
            lambda scores: law_of_pairs(top_k_probabilities(exponents_of(scores, unit), k=picks).items()),
            ("top_k", "proofs/top_k.md#pure"),
        )

    return Partial(f"top_k({count}, temperature={temperature})", build)


def candidate_of(candidates: Sequence[Data]) -> Callable[[Data], Data]:
    """The post-processing function from an index, or a tuple of indices, to candidates.

    >>> candidate_of(["red", "blue"])(1), candidate_of(["red", "blue"])((1, 0))
    ('blue', ('blue', 'red'))
    """
    listed = tuple(candidates)
    if not listed:
        raise BadArgument("candidates", "a list of at least one", candidates)

    def candidate(index: Data) -> Data:
        return tuple(listed[each] for each in index) if isinstance(index, tuple) else listed[index]

    return candidate


def largest(candidates: Sequence[Data]) -> Callable[[Data], Data]:
    """The post-processing function from noisy scores to the candidate with the largest, the first where they tie.

    The mode from a noisy histogram: ``histogram >> laplace(…) >> largest(categories)`` costs what the histogram costs.

    >>> largest(["red", "blue"])([3, 7])
    'blue'
    """
    listed = tuple(candidates)

    def winner(noisy: Data) -> Data:
        values = list(noisy)
        if len(values) != len(listed):
            raise BadArgument("candidates", f"one for each of the {len(values)} noisy scores", len(listed))
        return listed[max(range(len(values)), key=values.__getitem__)]

    return winner


@final
@dataclass(frozen=True)
class SelectionError:
    """How far below the best the chosen score may be: by no more than ``shortfall``, with a confidence.

    ``vacuous`` marks a bound that says nothing, for scores never differ by more than that.
    """

    shortfall: Extended
    confidence: Fraction
    vacuous: bool

    def __str__(self) -> str:
        said = f"at most {float(self.shortfall):.6g} below the best score ({float(self.confidence):.4g} confidence)"
        return said + (": vacuous, for no two scores differ by more" if self.vacuous else "")


@guarantee(
    claim="the score is within temperature · ln(candidates / (best · beta)) of the best, with probability ≥ 1 − beta",
    proof="proofs/exponential.md#utility",
    reviewed="e4c297ff272d",
)
def exponential_shortfall(candidates: int, temperature: Fraction, beta: Fraction, best: int) -> Extended:
    """Bounds how far below the best the score of an exponential selection is."""
    return max(Fraction(0), temperature * log_up(candidates / (best * beta)))


def exponential_error(
    candidates: int, *, temperature: Number, beta: Number, best: int = 1, span: Number | None = None
) -> SelectionError:
    """Says how good the choice of `exponential` (and so of `permute_and_flip`) is, with probability 1 − beta.

    ``best`` is how many candidates are known to share the best score; ``span`` is the most that two scores can differ,
    and lets a bound that says nothing be marked as vacuous.

    >>> str(exponential_error(4, temperature=8, beta=0.05, span=12))
    'at most 35.0562 below the best score (0.95 confidence): vacuous, for no two scores differ by more'
    """
    size, shared = integer(candidates, "candidates", least=1), integer(best, "best", least=1)
    missed = rational(beta, "beta")
    if not 0 < missed <= 1:
        raise BadArgument("beta", "greater than 0 and at most 1", beta)
    if shared > size:
        raise BadArgument("best", f"at most the number of candidates, {size}", best)
    shortfall = exponential_shortfall(size, positive(temperature, "temperature"), missed, shared)
    return SelectionError(shortfall, 1 - missed, span is not None and shortfall >= non_negative(span, "span"))


def _exponential(name: str, temperature: Fraction, measure: type[Loss]) -> Partial[Measurement]:
    check_kind(measure, (Pure, BoundedRange, ZCDP), name)

    def build(space: Space) -> Measurement:
        unit = score_grid(space, name).step / temperature
        return selection(
            space,
            ExponentialSelection(temperature),
            measure,
            lambda scores, entropy: exponential_index(drawable(scores), unit=unit, entropy=entropy),
            lambda scores: law_of_pairs(enumerate(exponential_probabilities(exponents_of(scores, unit)))),
            (name, EXPONENTIAL),
        )

    return Partial(f"{name}({temperature})", build)
